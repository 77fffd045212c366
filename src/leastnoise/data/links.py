"""The public shape of a database: whose rows are protected, how tables lead to them, which tables are public.

A **link** says that a column of one table names a row of another. Links lead from every private table to the column
that identifies the unit, along exactly one way. That the target of a link is a key is what the curator asserts; no
promise rests on it (docs/theory/joins.md), and only `leastnoise.data.verify` looks, for the curator.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from leastnoise.data.columns import Column, Kind
from leastnoise.data.identity import fitting, quoted_parts, table_parts
from leastnoise.errors import BadParameter, UnknownColumn, shown
from leastnoise.model import suggest

__all__ = ["ColumnPlace", "DatabaseShape", "Link", "named_tables", "read_place", "read_shape", "require_comparable"]

_EXAMPLE = 'links={"orders.customer_id": "customers.id"}'


@dataclass(frozen=True, order=True)
class ColumnPlace:
    """A column of a table of the database."""

    table: str
    column: str

    def __str__(self) -> str:
        """As it is declared: table.column."""
        return f"{self.table}.{quoted_parts([self.column])}"


@dataclass(frozen=True, order=True)
class Link:
    """The values of one column name rows of another table."""

    start: ColumnPlace
    end: ColumnPlace

    def __str__(self) -> str:
        """As an equation."""
        return f"{self.start} = {self.end}"


@dataclass(frozen=True)
class DatabaseShape:
    """What is declared about a database, with the columns of its tables. Public.

    Args:
        unit: The column that identifies the person.
        links: The links, in a fixed order.
        public: The tables that hold nothing private.
        tables: The columns of each table by name.
    """

    unit: ColumnPlace
    links: tuple[Link, ...]
    public: frozenset[str]
    tables: Mapping[str, Mapping[str, Column]]

    def way(self, table: str) -> Link | None:
        """The link of a private table towards the unit; None where the table has none: it is that of the unit."""
        return next((link for link in self.links_of(table) if not self._is_public(link)), None)

    def links_of(self, table: str) -> Iterable[Link]:
        """All links of a table."""
        return (link for link in self.links if link.start.table == table)

    def carried(self, table: str) -> str | None:
        """The column of a private table whose value is the unit itself; None where it must be looked up elsewhere."""
        way = self.way(table)
        if way is None:
            return self.unit.column
        return way.start.column if way.end == self.unit else None

    def column(self, place: ColumnPlace) -> Column:
        """A column of a table.

        Raises:
            BadParameter: There is no such table.
            UnknownColumn: There is no such column; the nearest name is in the text.
        """
        columns = self.tables[self.table(place.table)]
        if place.column not in columns:
            raise _unknown(UnknownColumn, f"{place.table!r} has no such column", place.column, columns)
        return columns[place.column]

    def table(self, name: str) -> str:
        """A table of the database.

        Raises:
            BadParameter: There is none of this name; the nearest one is in the text.
        """
        if name not in self.tables:
            raise _unknown(BadParameter, "there is no such table in the declared database", name, self.tables)
        return name

    @property
    def protected(self) -> str:
        """The unit and the ways to it in one line: what a ledger keeps, for another way is another promise."""
        ways = [str(link) for link in self.links if not self._is_public(link)]
        return fitting(f"{self.unit}" + (f" by {', '.join(ways)}" if ways else ""))

    def _is_public(self, link: Link) -> bool:
        return link.end.table in self.public


def read_place(text: object, what: str) -> ColumnPlace:
    """A column with its table, from "table.column".

    Raises:
        BadParameter: It is no such text.
    """
    parts = table_parts(text) if isinstance(text, str) and text.isprintable() else None
    if parts is None or len(parts) < 2:
        raise BadParameter(f"{what} names a table and its column", given=text, fix='write for example "customers.id"')
    return ColumnPlace(quoted_parts(parts[:-1]), parts[-1])


def named_tables(links: object, public: object) -> tuple[dict[ColumnPlace, ColumnPlace], tuple[str, ...]]:
    """The links and the public tables as they were declared, read but not compared with the database yet.

    Raises:
        BadParameter: Links that are no pairs of places, or public tables that are no names.
    """
    if not isinstance(links, Mapping):
        raise BadParameter("links lead from columns to columns", given=type(links).__name__, fix=f"pass {_EXAMPLE}")
    if isinstance(public, str) or not isinstance(public, Collection):
        raise BadParameter("public tables are a list of names", given=public, fix='pass public=["products"]')
    read = {read_place(start, "a link"): read_place(end, "a link") for start, end in links.items()}
    if len(read) < len(links):
        raise BadParameter("a column has one link", given=shown(links), fix="leave out the second spelling")
    names = []
    for name in public:
        parts = table_parts(name) if isinstance(name, str) and name.isprintable() else None
        if parts is None:
            raise BadParameter("a public table is a name", given=name, fix='pass public=["products"]')
        names.append(quoted_parts(parts))
    return read, tuple(dict.fromkeys(names))


def read_shape(
    unit: ColumnPlace,
    links: Mapping[ColumnPlace, ColumnPlace],
    public: Iterable[str],
    tables: Mapping[str, Mapping[str, Column]],
) -> DatabaseShape:
    """The shape of a database, if every private row leads to a unit along one way. No row is read.

    Raises:
        BadParameter: A table that no link connects with the unit, a second way, a circle, or kinds that do not agree.
        UnknownColumn: A column that is not there.
    """
    ordered = tuple(Link(*pair) for pair in sorted(links.items()))
    shape = DatabaseShape(unit, ordered, frozenset(public), tables)
    _name_unit(shape, unit)
    if unit.table in shape.public:
        raise BadParameter(
            "the table of the privacy unit can't be public", given=unit.table, fix="take it off the list"
        )
    for link in ordered:
        require_comparable(shape, link.start, link.end)
        if link.end == unit:
            _name_unit(shape, link.start)
        if link.start.table in shape.public and link.end.table not in shape.public:
            raise BadParameter(
                "a public table can't belong to somebody",
                given=str(link),
                fix="leave out the link, or take the table off the public ones",
            )
    for table in tables:
        _require_no_circle(shape, table)
        _require_one_way(shape, table)
    return shape


def require_comparable(shape: DatabaseShape, one: ColumnPlace, other: ColumnPlace) -> None:
    """See that two columns can be compared by their types, so that no row can make it fail.

    Raises:
        BadParameter: They are of different kinds, or of a kind that names no rows.
    """
    first, second = shape.column(one), shape.column(other)
    for place, column in ((one, first), (other, second)):
        if column.kind in (Kind.REAL, Kind.OTHER):
            raise BadParameter(
                f"{place} can't be joined on", given=column.native, fix="join on whole numbers, text, dates or decimals"
            )
    digits = {(column.precision, column.scale) for column in (first, second)}
    if first.kind is not second.kind or (first.kind is Kind.DECIMAL and len(digits) > 1):
        raise BadParameter(
            f"{one} and {other} hold different kinds of values",
            given=f"{first.native} and {second.native}",
            fix="give both columns one type where the tables are made",
        )


def _name_unit(shape: DatabaseShape, place: ColumnPlace) -> None:
    column = shape.column(place)
    if column.kind is Kind.OTHER or column.coarse:
        raise BadParameter(
            f"{place} does not tell all ids apart: {column.coarse or 'its type can not be used'}",
            given=column.native,
            fix="name another column as the privacy unit, or store its ids as whole numbers",
        )


def _require_no_circle(shape: DatabaseShape, table: str) -> None:
    seen, waiting = set[str](), [table]
    while waiting:
        here = waiting.pop()
        ends = {link.end.table for link in shape.links if link.start.table == here}
        if table in ends:
            raise BadParameter(
                "links lead in a circle",
                given=", ".join(str(link) for link in shape.links if link.start.table in {*seen, here}),
                fix="leave out one of them: every row must lead to one unit",
            )
        waiting += ends - seen
        seen |= {here, *ends}


def _require_one_way(shape: DatabaseShape, table: str) -> None:
    ways = [link for link in shape.links if link.start.table == table and link.end.table not in shape.public]
    if table == shape.unit.table:
        if ways:
            raise BadParameter(
                "the table of the privacy unit leads to another private one",
                given=str(ways[0]),
                fix="leave out the link, or make the unit that of the other table",
            )
        return
    if table in shape.public:
        return
    if len(ways) > 1:
        raise BadParameter(
            f"a row of {table!r} would belong to several units",
            given=", ".join(map(str, ways)),
            fix="declare one link towards the unit; other columns can still be joined on where the unit agrees",
        )
    end = table
    while (way := shape.way(end)) is not None:
        end = way.end.table
    if end != shape.unit.table:
        raise BadParameter(
            f"no link leads from {table!r} to the privacy unit",
            given=str(shape.unit),
            fix=f"declare one, such as {_EXAMPLE}, or list {end!r} among the public tables if it is public",
        )


def _unknown(
    kind: type[BadParameter] | type[UnknownColumn], problem: str, name: str, known: Collection[str]
) -> Exception:
    return kind(problem, given=name, fix=suggest(name, known, "name"))

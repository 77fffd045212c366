"""Which joins count: those of which every joined row depends on the private rows of one unit.

A row of the unit's table, and of a table that links to the unit's id, *belongs* to the unit that it names. Any other
private row belongs to every unit to which a row belongs that its link matches. A join is let through where the columns
that it equates prove, whatever the tables hold, that all private rows of a joined row belong to the unit that the
joined row carries:

- a table joined by `JOIN` leads to the unit by equations of the inner joins: its link column equals the link's target
  in another table of the join that leads there, or the unit that it carries equals that of the joined row;
- a table joined by `LEFT JOIN` is connected by its own condition with a table before it that leads to the unit: by its
  declared link, or by the unit that both carry. Then whether a row has no partner depends on rows of its unit only;
- a public table may be joined on anything: its rows belong to nobody and never change.

Tables on the way from the first private table to the unit are joined where they are not written. The theorem and its
proof are in docs/theory/joins.md. Only the declared shape is looked at here, never a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from leastnoise.data.columns import cut_name, engine_name
from leastnoise.data.links import ColumnPlace, DatabaseShape, Link, require_comparable
from leastnoise.errors import BadParameter, TooLarge, UnsafeJoin

__all__ = ["End", "Join", "Source", "plan_join", "plan_view"]

End = tuple[str, str]
"""A column in a join: (alias, column)."""

_MOST_SOURCES = 30


@dataclass(frozen=True)
class Source:
    """A table of a join, as a FROM clause names it.

    Args:
        table: Its name in the declared database.
        alias: What its columns are qualified with.
        on: The pairs of columns that are equal, each ((alias, column), (alias, column)); none for the first table.
        left: Whether rows without a partner stay (LEFT JOIN).
        optional: Whether it is joined only where a question names one of its columns.
    """

    table: str
    alias: str
    on: tuple[tuple[End, End], ...] = ()
    left: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Join:
    """A join that counts.

    Args:
        sources: The tables in order, with those that were added on the way to the unit.
        unit: What the column is called that carries the unit.
        columns: From each name of a column to its alias and its column there.
        free: Names whose values the join does not restrict, so that any of them may occur; the unit is among them
            where any number of units may have rows of their own.
    """

    sources: tuple[Source, ...]
    unit: str
    columns: Mapping[str, End]
    free: frozenset[str]


def plan_join(shape: DatabaseShape, sources: Sequence[Source]) -> Join:
    """The join of a FROM clause; its columns are named "alias.column", and the unit as it was declared.

    Raises:
        UnsafeJoin: A joined row could depend on several units; the alias at fault is in the error.
        BadParameter: Unknown tables or aliases, no condition, or kinds that can't be compared.
        UnknownColumn: A column that is not there.
    """
    given = _read(shape, sources)
    names = {
        f"{source.alias}.{column}": (source.alias, column) for source in given for column in shape.tables[source.table]
    }
    if len(names) < sum(len(shape.tables[source.table]) for source in given):
        raise _one_name(*(source.alias for source in given))
    return _proven(shape, given, names)


def plan_view(shape: DatabaseShape, table: str) -> Join:
    """The rows of one private table with what its links lead to; the table's own columns have their own names.

    Public tables, and the table of the unit where the unit is known without it, are joined only where a question names
    one of their columns. A table that two links lead to is called by the column of each link.

    Raises:
        UnsafeJoin: The table is public.
        BadParameter: There is no such table, or two columns would have one name.
        TooLarge: The links lead to too many tables.
    """
    if shape.table(table) in shape.public:
        raise _only_public(table)
    ends = [link.end.table for link in _links_from(shape, table)]
    reached, names = [Source(table, "")], {column: ("", column) for column in shape.tables[table]}
    for before in reached:
        for link in shape.links_of(before.table):
            target, column = link.end.table, link.start.column
            start = f"{before.alias}.{column}" if before.alias else column
            alias = target if ends.count(target) == 1 else start
            optional = target in shape.public or shape.carried(before.table) is not None
            on = (((before.alias, column), (alias, link.end.column)),)
            reached.append(Source(target, alias, on, left=optional, optional=optional))
            added = {f"{alias}.{name}": (alias, name) for name in shape.tables[target]}
            if added.keys() & names.keys():
                raise _one_name(*sorted(added.keys() & names.keys())[:1])
            names.update(added)
    return _proven(shape, reached, names)


def _links_from(shape: DatabaseShape, table: str) -> list[Link]:
    """All links on all ways that begin at a table; there is no circle."""
    found = list(shape.links_of(table))
    for link in found:
        found += shape.links_of(link.end.table)
        if len(found) >= _MOST_SOURCES:
            raise TooLarge("links lead to too many tables", given=table, fix="leave out links that are not needed")
    return found


def _read(shape: DatabaseShape, sources: Sequence[Source]) -> list[Source]:
    """The sources, if every name in them is known and each is joined on something."""
    if not 1 <= len(sources) <= _MOST_SOURCES:
        raise TooLarge(f"a join has from 1 to {_MOST_SOURCES} tables", given=len(sources), fix="join fewer tables")
    known: dict[str, str] = {}
    for number, source in enumerate(sources):
        shape.table(source.table)
        if not source.alias or source.alias in known:
            raise BadParameter(
                "every table of a join needs a name of its own", given=source.alias, fix="give it another alias"
            )
        known[source.alias] = source.table
        for pair in source.on:
            places = [_place(known, end) for end in pair]
            require_comparable(shape, *places)
        if not number and source.on:
            raise BadParameter("the first table has nothing to be joined on", given=source.alias, fix="leave out `on`")
        if number and not any(source.alias in {one, other} and one != other for (one, _), (other, _) in source.on):
            raise UnsafeJoin(
                f"{source.alias!r} is joined with nothing: every row would meet every row",
                given=source.table,
                fix="join it with ON a.column = b.column",
                alias=source.alias,
            )
    return list(sources)


def _place(known: Mapping[str, str], end: End) -> ColumnPlace:
    alias, column = end
    if alias not in known:
        raise BadParameter(
            "a condition names a table that is not joined yet", given=alias, fix=f"there are {', '.join(known)}"
        )
    return ColumnPlace(known[alias], column)


def _proven(shape: DatabaseShape, sources: list[Source], names: dict[str, End]) -> Join:
    """The join with the tables on the way to its unit, if all its private rows belong to that unit."""
    first = next((number for number, source in enumerate(sources) if source.table not in shape.public), None)
    if first is None:
        raise _only_public(sources[0].alias or sources[0].table)
    complete, unit = _with_way(shape, sources, first)
    proof = _Proof(shape, {source.alias: source for source in complete}, _equations(complete), unit)
    for source in complete:
        if source.table not in shape.public and not proof.leads(source):
            raise UnsafeJoin(
                f"a row of {source.alias!r} could belong to another unit than the rest of the joined row",
                given=source.table,
                fix=_advice(shape, source),
                alias=source.alias,
            )
    called, asked_for = str(shape.unit), {source.alias for source in complete if source.optional}
    while (end := names.get(called)) and end not in proof.equal_to(unit) and end[0] not in asked_for:
        called = f"unit {called}"
    names[called] = unit
    _require_distinct(names, called)
    base, paired = complete[first].alias, {end for source in complete for pair in source.on for end in pair}
    free = {called, *(name for name, end in names.items() if end[0] == base and end not in paired and end != unit)}
    if any(source.alias != base and not source.left for source in complete):
        free = set()  # which rows there can be depends on what other tables hold
    return Join(tuple(complete), called, names, frozenset(free))


def _require_distinct(names: Mapping[str, End], unit: str) -> None:
    """Refuse names of different columns that an engine could take for one: by their capitals, or by their beginning.

    Columns of one table may differ in capitals alone where its engine tells them apart; the unit stands for itself.
    """
    seen: dict[str, str] = {}
    for name, (alias, _) in names.items():
        before = seen.setdefault(engine_name(name), name)
        together = alias == names[before][0] and unit not in (name, before) and cut_name(name) != cut_name(before)
        if names[before] != names[name] and not together:
            raise _one_name(before, name)


def _one_name(*names: str) -> BadParameter:
    return BadParameter(
        "two columns would have one name",
        given=", ".join(names),
        fix="rename one, or join the tables with aliases that differ in more than capitals",
    )


def _with_way(shape: DatabaseShape, sources: Sequence[Source], first: int) -> tuple[list[Source], End]:
    """The sources with all tables from the first private one to the unit, and the column that carries the unit.

    Rows without a unit do not count, so that on this way `LEFT JOIN` is `JOIN`.
    """
    complete, here = list(sources), first
    while True:
        complete[here] = source = replace(complete[here], left=False)
        carried, way = shape.carried(source.table), shape.way(source.table)
        if carried is not None or way is None:
            return complete, (source.alias, carried or shape.unit.column)
        start, equal = (source.alias, way.start.column), _equations(complete)
        ends = [(number, (other.alias, way.end.column)) for number, other in enumerate(complete)
                if other.table == way.end.table]  # fmt: skip
        inner = (number for number, end in ends if end in equal.get(start, ()))
        left = (number for number, end in ends if {(start, end), (end, start)} & set(complete[number].on))
        found = next(inner, next(left, None))
        if found is None:
            alias = f"way to {way.end.table}"
            while alias in {other.alias for other in complete}:
                alias = f"{alias}'"
            complete.append(Source(way.end.table, alias, ((start, (alias, way.end.column)),)))
            found = len(complete) - 1
        here = found


def _equations(sources: Sequence[Source]) -> dict[End, frozenset[End]]:
    """The columns that are equal in every joined row, by the conditions of the inner joins."""
    equal: dict[End, frozenset[End]] = {}
    for one, other in (pair for source in sources if not source.left for pair in source.on):
        together = equal.get(one, frozenset([one])) | equal.get(other, frozenset([other]))
        equal.update(dict.fromkeys(together, together))
    return equal


@dataclass(frozen=True)
class _Proof:
    """That the private rows of a joined row belong to its unit, from the equations of the join."""

    shape: DatabaseShape
    sources: Mapping[str, Source]
    equal: Mapping[End, frozenset[End]]
    unit: End

    def equal_to(self, end: End) -> frozenset[End]:
        return self.equal.get(end, frozenset([end]))

    def leads(self, source: Source, seen: frozenset[str] = frozenset()) -> bool:
        """Whether a row of this table, where there is one in a joined row, belongs to the unit of the joined row."""
        if source.alias in seen:
            return False
        seen |= {source.alias}
        if source.left:
            return any(self._connects(source, *pair, seen) or self._connects(source, *pair[::-1], seen)
                       for pair in source.on)  # fmt: skip
        carried, way = self.shape.carried(source.table), self.shape.way(source.table)
        if carried is not None and self.unit in self.equal_to((source.alias, carried)):
            return True
        if way is None:
            return False
        ends = self.equal_to((source.alias, way.start.column))
        return any(
            self.sources[alias].table == way.end.table and column == way.end.column
            and self.leads(self.sources[alias], seen)
            for alias, column in ends
        )  # fmt: skip

    def _connects(self, source: Source, own: End, other: End, seen: frozenset[str]) -> bool:
        """Whether an equation connects a table with one that leads to the unit, by a link or by the unit itself."""
        partner = self.sources[other[0]]
        if own[0] != source.alias or partner is source or partner.table in self.shape.public:
            return False
        linked = Link(ColumnPlace(source.table, own[1]), ColumnPlace(partner.table, other[1])) == self.shape.way(
            source.table
        )
        same = (self.shape.carried(source.table), self.shape.carried(partner.table)) == (own[1], other[1])
        return (linked or same) and self.leads(partner, seen)


def _advice(shape: DatabaseShape, source: Source) -> str:
    way, carried = shape.way(source.table), shape.carried(source.table)
    if source.left and way is not None and carried is None:
        return f"join it ON {source.alias}.{way.start.column} = {way.end} with a table before it, or write JOIN"
    if carried is not None:
        return f"let ON say that {source.alias}.{carried} is the {shape.unit} of the other tables"
    return f"join it along its link: {way}"


def _only_public(name: str) -> UnsafeJoin:
    return UnsafeJoin(
        "only public tables are asked, and nothing in them is to be protected",
        given=name,
        fix="read them directly, or begin with a private table",
        alias=name,
    )

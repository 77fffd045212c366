"""The innermost part of every query: the plain columns, the filter, the privacy unit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from leastnoise.data.columns import Column, Kind
from leastnoise.data.contribution import Contribution
from leastnoise.data.dialect import Dialect, Fragment, RowsOf, SourceRows, join, select
from leastnoise.data.predicates.to_sql import to_sql
from leastnoise.data.predicates.typecheck import typed
from leastnoise.errors import BadParameter, UnknownColumn

if TYPE_CHECKING:
    from leastnoise.data.cell_index import CellIndex
    from leastnoise.data.predicates import Predicate

__all__ = ["Relation", "Rows"]


@dataclass(frozen=True)
class Rows:
    """Rows on their way to a query.

    Args:
        text: The rows that belong to a unit, pass the filter and lie on the axes.
        every: All rows, with the same outputs, and each test of the filters as an output of its own: every expression
            that a row could meet, met by every row. For rehearsals.
    """

    text: Fragment
    every: Fragment


@dataclass(frozen=True)
class Relation:
    """A table as queries see it.

    Args:
        dialect: The engine's words.
        columns: The columns by name.
        table: The private rows themselves, from the names of columns.
    """

    dialect: Dialect
    columns: Mapping[str, Column]
    table: RowsOf

    def column(self, name: str, *, numeric: bool = False, summed: bool = False) -> Column:
        """A usable column.

        Raises:
            UnknownColumn: It is not there; the nearest name is in the text.
            BadParameter: It is of a kind that can't be used here.
        """
        if name not in self.columns:
            near = get_close_matches(str(name), self.columns, 1)
            fix = f"did you mean {near[0]!r}?" if near else f"the columns are {', '.join(self.columns)}"
            raise UnknownColumn("there is no such column", given=name, fix=fix)
        column = self.columns[name]
        if (numeric or (summed and column.kind is not Kind.BOOLEAN)) and not column.kind.numeric:
            raise BadParameter(
                f"{name!r} holds no numbers", given=column.kind.value, fix=column.hint or "pass a numeric column"
            )
        if column.kind is Kind.OTHER:
            raise BadParameter(f"{name!r} is of a type that can't be used", given=column.native, fix="pass another one")
        return column

    def unit_kind(self, contribution: Contribution) -> Kind:
        """The kind of the unit column."""
        unit = contribution.privacy_unit
        return Kind.OTHER if unit is None else self.unit_column(unit).kind

    def rows(
        self,
        contribution: Contribution,
        where: Predicate | None,
        needed: Iterable[str],
        outputs: Sequence[Fragment | str],
        cells: CellIndex | None = None,
        options: Sequence[Predicate] = (),
    ) -> Rows:
        """SELECT unit, outputs from the plain columns (as `base`) of rows that belong to a unit and pass the filter.

        Args:
            contribution: Names the unit.
            where: The filter.
            needed: The columns of the outputs.
            outputs: What is computed of a row.
            cells: The axes that the outputs refer to.
            options: Filters inside of the outputs.
        """
        dialect, unit = self.dialect, contribution.privacy_unit
        names, conditions, given = set(needed), list[Fragment | str](), list(outputs)
        tests = [test for option in options for test in option.tests()]
        if where is not None:
            where = typed(where, self.columns)
            names |= where.columns
            conditions.append(to_sql(where, dialect))
            tests += where.tests()
        if unit is not None:
            names.add(unit)
            conditions.append(self.somebody(self.unit_column(unit)))
            given.append(f"{self.unit_value(self.column(unit))} AS unit")
        base = self.base(names)
        passed = select("*", base, "plain", "WHERE " + join(" AND ", conditions)) if conditions else base
        hints = "".join(dialect.small.format(alias) for alias in (cells.joined if cells else ()))
        shown = ["CASE WHEN " + to_sql(test, dialect) + f" THEN 1 END AS t{i}" for i, test in enumerate(tests)]
        return Rows(
            select(hints + join(", ", given), passed, "base", cells.joins if cells else ""),
            select(
                join(", ", [*given, *shown, "1 AS one"]),
                self.base(names, every=True),
                "base",
                cells.outer_joins if cells else "",
            ),
        )

    def base(self, names: Iterable[str], *, every: bool = False) -> Fragment:  # noqa: ARG002 - for views with filters
        """The rows with these columns in plain form.

        Args:
            names: The columns.
            every: For rehearsals: every expression is met by every row.
        """
        dialect, listed = self.dialect, tuple(sorted(names))
        plain = [f"{dialect.plain(self.column(name))} AS {dialect.quote(name)}" for name in listed]
        return select(", ".join(plain) or "1 AS one", Fragment((SourceRows(listed),)), "native")

    def unit_column(self, name: str) -> Column:
        """A column that can name units.

        Raises:
            BadParameter: Two different ids could be the same in plain form.
        """
        column = self.column(name)
        if column.coarse:
            raise BadParameter(
                f"{name!r} does not tell all ids apart: {column.coarse}",
                given=column.native,
                fix="name another column as the privacy unit, or store its ids as whole numbers",
            )
        return column

    def somebody(self, column: Column) -> str:
        """The test that a row belongs to a unit: its id is there, and is none in which several ids meet.

        Where two ids were one, taking away one of them could change which groups the other keeps. They meet at an end
        of the calendar, and in text where a sign stands for bytes that could not be read.
        """
        dialect, value = self.dialect, self.dialect.quote(column.name)
        if column.kind not in (Kind.DATE, Kind.TIMESTAMP):
            whole = f" AND strpos({value}, '{column.replaced}') = 0" if column.replaced else ""
            return f"NOT {dialect.missing(value, column)}{whole}"
        first, last = dialect.calendar(column)
        return f"({value} > {first} AND {value} < {last})"

    def unit_value(self, column: Column) -> str:
        """The unit's identity in its one canonical form: equal ids are the same value for grouping and for hashing."""
        value = f"base.{self.dialect.quote(column.name)}"
        if column.kind is Kind.DECIMAL:
            return self.dialect.trimmed(value)
        if column.kind is not Kind.REAL:
            return value
        zero = self.dialect.number(0.0)
        return f"CASE WHEN {value} = {zero} THEN {zero} ELSE {value} END"

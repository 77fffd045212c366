"""The innermost part of every query: the plain columns, the filter, the privacy unit, and tests on native columns.

Such tests let an engine leave out rows before anything is computed of them. Filters are written over plain forms and
are TRUE or FALSE on every row; no index and no statistics of a file helps to find the rows that pass. Where a part of a
filter compares a column with a literal, the innermost query tests the native column instead. WHERE drops a row both on
FALSE and on NULL, so that a test may be NULL there.

**No row can make a test fail.** Each compares a column with literals of the column's own type, or asks whether it is
NULL: DuckDB, Postgres and Spark do that without a cast, a calculation or an error, infinities included. A literal is
cast from what is found to fit here, and depends on no row. Rehearsals run each test on all made-up rows.

**A row passes the test just where it passes the part of the filter.** With x the native value, p(x) its plain form and
c the literal: a part is false where p(x) is missing, and so where x is NULL; there the test is NULL. Else

- dates, and times without a zone, in the type of the plain form: p brings x into the calendar [a, b] and changes
  nothing else. So for a < c < b and each comparison, p(x) ∘ c where x ∘ c;
- whole numbers of up to 64 bits: p(x) = x; c is in the range of the native type;
- decimals X/10^s of at most 15 digits: the filter compares doubles, those nearest to X/10^s (a quotient of two whole
  numbers that doubles hold, so rounded once) and to c. Both increase, so that the X which pass form a run, whose ends
  are found here in the same doubles. X of more digits than declared are missing, and lie outside of the run;
- text whose encoding was checked: the test is the part itself, without making NULL false.

All other tests of a column with a literal are false where it is NULL: then the test is `IS NOT NULL`, which rows pass
that fail the part, and the part stays in the filter. The same holds for columns whose values place a row in a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from leastnoise.data.columns import Axis, Column, Contribution, Kind
from leastnoise.data.dialect import FIRST_DAY, LAST_DAY, Dialect, Fragment, RowsOf, SourceRows, bound, join, select, sql
from leastnoise.data.predicates.nodes import (
    And,
    ComparisonTest,
    IsIn,
    IsMissing,
    Literal,
    Name,
    Not,
    Predicate,
    TextTest,
)
from leastnoise.data.predicates.to_sql import to_sql
from leastnoise.data.predicates.typecheck import typed
from leastnoise.errors import BadParameter, UnknownColumn
from leastnoise.model import suggest

if TYPE_CHECKING:
    from leastnoise.data.predicates import Predicate
    from leastnoise.data.sql_queries import CellIndex

__all__ = ["Relation", "Rows", "Sieve", "counted", "parts_of", "placed_by"]

_MIRROR = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_MOST_DIGITS = 15
_MOST_VALUES = 100  # of a list; a longer one is looked up after the rows are read
_DAYS = date.fromisoformat(FIRST_DAY), date.fromisoformat(LAST_DAY)
_MOMENTS = datetime.fromisoformat(FIRST_DAY), datetime.fromisoformat(f"{LAST_DAY} 23:59:59.999999")


def parts_of(predicate: Predicate | None) -> Iterator[Predicate]:
    """The parts that a row has to pass, each and all."""
    if isinstance(predicate, And):
        for part in predicate.parts:
            yield from parts_of(part)
    elif predicate is not None:
        yield predicate


def placed_by(axes: Sequence[Axis], looked_up: Collection[str]) -> list[Predicate]:
    """What holds of every row that has a place on all the axes.

    Args:
        axes: The axes.
        looked_up: Columns of tables that are joined for them: there it is worth while to list the keys.
    """
    found = list[Predicate]()
    for axis in axes:
        keys = getattr(axis, "keys", ())
        few = axis.column in looked_up and 0 < len(keys) <= _MOST_VALUES
        if few and all(isinstance(key, str) for key in keys):
            found.append(IsIn(Name(axis.column), tuple(map(Literal, keys))))
        elif None not in keys:
            found.append(~IsMissing(Name(axis.column)))
    return found


@dataclass(frozen=True)
class Sieve:
    """The tests for typed parts of a filter.

    Args:
        columns: The native columns; of other ones nothing is known.
        dialect: The engine's words.
    """

    columns: Mapping[str, Column]
    dialect: Dialect

    def tests(self, parts: Sequence[Predicate]) -> list[Fragment]:
        """Tests that every row passes which passes the parts, each once."""
        found = (self._exact(part) or self._there(part) for part in parts)
        return list(dict.fromkeys(test for test in found if test is not None))

    def undecided(self, parts: Sequence[Predicate]) -> list[Predicate]:
        """The parts that rows may fail which pass the tests."""
        return [part for part in parts if self._exact(part) is None]

    def _exact(self, part: Predicate) -> Fragment | None:
        """The test that says the same as a part."""
        match part:
            case ComparisonTest(symbol, Name(name), Literal() as literal) if name in self.columns:
                return self._compared(symbol, self.columns[name], literal)
            case ComparisonTest(symbol, Literal() as literal, Name(name)) if name in self.columns:
                return self._compared(_MIRROR.get(symbol, symbol), self.columns[name], literal)
            case IsIn(Name(name), values) if self._is_sound(name) and len(values) <= _MOST_VALUES:
                listed = join(", ", [self._cast(value.value, self.dialect.text) for value in values])
                return self._text(name) + " IN (" + listed + ")"
            case TextTest(test, Name(name), text) if self._is_sound(name):
                return self.dialect.text_test(test, self._text(name), text)
        return None

    def _there(self, part: Predicate) -> Fragment | None:
        match part:
            case (
                ComparisonTest(_, Name(name), Literal())
                | ComparisonTest(_, Literal(), Name(name))
                | IsIn(Name(name))
                | TextTest(_, Name(name))
                | Not(IsMissing(Name(name)))
            ) if name in self.columns:
                return sql(f"{self.dialect.quote(name)} IS NOT NULL")
        return None

    def _compared(self, symbol: str, column: Column, literal: Literal) -> Fragment | None:
        if symbol == "!=":
            return None
        if column.kind is Kind.TEXT:
            told = self._cast(literal.value, self.dialect.text)
            return self._text(column.name) + f" {symbol} " + told if self._is_sound(column.name) else None
        if column.kind is Kind.DECIMAL:
            return self._run(symbol, column, float(cast(Decimal, literal.value)))
        value = self._native(column, literal)
        return None if value is None else sql(f"{self.dialect.quote(column.name)} {symbol} ") + value

    def _native(self, column: Column, literal: Literal) -> Fragment | None:
        """The literal in the column's native type."""
        value, plain = literal.value, column.native.lower() == self.dialect.plain_type(column).lower()
        match column.kind:
            case Kind.DATE if plain and _DAYS[0] < cast(date, value) < _DAYS[1]:
                return self._cast(cast(date, value).isoformat(), "DATE")
            case Kind.TIMESTAMP if plain and not column.zoned and _MOMENTS[0] < cast(datetime, value) < _MOMENTS[1]:
                return self._cast(cast(datetime, value).isoformat(" "), self.dialect.timestamp)
            case Kind.INTEGER if not column.wide and column.can_hold(value):
                return self._cast(value, column.native)
        return None

    def _run(self, symbol: str, column: Column, bar: float) -> Fragment | None:
        """The decimals whose nearest doubles compare so with a double, between the ends of their run."""
        limits = self.dialect.limits(column)
        if limits is None or (column.precision or _MOST_DIGITS + 1) > _MOST_DIGITS:
            return None
        scale, (low, high) = 10 ** (column.scale or 0), limits
        reached = _first(lambda digits: digits / scale >= bar, low, high)
        passed = _first(lambda digits: digits / scale > bar, low, high)
        low = {">": passed, ">=": reached, "=": reached}.get(symbol, low)
        high = {"<": reached - 1, "<=": passed - 1, "=": passed - 1}.get(symbol, high)
        if low > high:
            return sql("FALSE")
        ends = (self.dialect.exact(digits, column) for digits in (low, high))
        return sql(f"{self.dialect.quote(column.name)} BETWEEN {' AND '.join(ends)}")

    def _is_sound(self, name: str) -> bool:
        return name in self.columns and self.columns[name].kind is Kind.TEXT and self.columns[name].sound

    def _text(self, name: str) -> Fragment:
        return sql(f"({self.dialect.plain(self.columns[name])})")

    def _cast(self, value: object, to: str) -> Fragment:
        return "CAST(" + bound(value) + f" AS {to})"


def _first(passes: Callable[[int], bool], low: int, high: int) -> int:
    """The first whole number from low to high that passes, as all after it do; high + 1 where none does.

    >>> _first(lambda digits: digits / 100 >= 0.07, -999, 999)
    7
    """
    while low <= high:
        middle = (low + high) // 2
        low, high = (low, middle - 1) if passes(middle) else (middle + 1, high)
    return low


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
            fix = suggest(name, self.columns, "column")
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
        present: Iterable[Predicate] = (),
    ) -> Rows:
        """SELECT unit, outputs from the plain columns (as `base`) of rows that belong to a unit and pass the filter.

        Args:
            contribution: Names the unit.
            where: The filter.
            needed: The columns of the outputs.
            outputs: What is computed of a row.
            cells: The axes that the outputs refer to.
            options: Filters inside of the outputs.
            present: What holds of every row that is not dropped later on.
        """
        dialect, unit = self.dialect, contribution.privacy_unit
        names, conditions, given = set(needed), list[Fragment | str](), list(outputs)
        tests = [test for option in options for test in option.tests()]
        passing = list(present)
        if where is not None:
            where = typed(where, self.columns)
            names |= where.columns
            passing += (parts := list(parts_of(where)))
            conditions += [to_sql(part, dialect) for part in self.undecided(parts)]
            tests += where.tests()
        if unit is not None:
            names.add(unit)
            conditions.append(self.somebody(self.unit_column(unit)))
            given.append(f"{self.unit_value(self.column(unit))} AS unit")
        base = self.base(names, passing)
        passed = select("*", base, "plain", "WHERE " + join(" AND ", conditions)) if conditions else base
        hints = "".join(dialect.small.format(alias) for alias in (cells.joined if cells else ()))
        shown = ["CASE WHEN " + to_sql(test, dialect) + f" THEN 1 END AS t{i}" for i, test in enumerate(tests)]
        return Rows(
            select(hints + join(", ", given), passed, "base", cells.joins if cells else ""),
            select(
                join(", ", [*given, *shown, *self.met_by_every_row(passing), "1 AS one"]),
                self.base(names, every=True),
                "base",
                cells.outer_joins if cells else "",
            ),
        )

    def base(self, names: Iterable[str], passing: Sequence[Predicate] = (), *, every: bool = False) -> Fragment:
        """The rows with these columns in plain form.

        Args:
            names: The columns.
            passing: Parts of a typed filter; rows that fail one may be left out, and are where it is not `undecided`.
            every: For rehearsals: no row is left out.
        """
        dialect, listed = self.dialect, tuple(sorted(names))
        plain = [f"{dialect.plain(self.column(name))} AS {dialect.quote(name)}" for name in listed]
        tests = [] if every else self._sieve.tests(passing)
        rest = "WHERE " + join(" AND ", tests) if tests else ""
        return select(", ".join(plain) or "1 AS one", Fragment((SourceRows(listed),)), "native", rest)

    def undecided(self, passing: Sequence[Predicate]) -> list[Predicate]:
        """The parts of a filter that rows of `base` may still fail."""
        return self._sieve.undecided(passing)

    def met_by_every_row(self, passing: Sequence[Predicate]) -> list[Fragment]:
        """For rehearsals: values that need each test inside of `base` on every row."""
        tests = self._sieve.tests(passing)
        names = {name for part in passing for name in part.columns if name in self.columns}
        return [counted(tests, Fragment((SourceRows(tuple(sorted(names))),)))] if tests else []

    @property
    def _sieve(self) -> Sieve:
        return Sieve(self.columns, self.dialect)

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
            return f"{dialect.present(value, column)}{whole}"
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


def counted(tests: Sequence[Fragment], rows: Fragment) -> Fragment:
    """How often tests hold, all together, as one value that needs each of them on every row."""
    counts = join(" + ", ["count(CASE WHEN " + test + " THEN 1 END)" for test in tests])
    return "(" + select(counts, rows, "met") + ")"

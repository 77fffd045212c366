"""A private table in its engine: what may be asked of it, and how its answers leave the engine.

The answers here are exact and **not private**: they are for mechanisms, never for people.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import partial
from itertools import count as whole_numbers, pairwise
from math import prod
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from leastnoise.data.canary import Canary
from leastnoise.data.columns import Axis, BinAxis, Column, Contribution, CountRows, CountUnits, Kind, Measure, SumOf
from leastnoise.data.composite_keys import code_expression, read_code
from leastnoise.data.dialect import Dialect, Fragment, RowsOf, Secret, select, sql
from leastnoise.data.identity import Identity
from leastnoise.data.predicates.to_sql import to_sql
from leastnoise.data.predicates.typecheck import typed
from leastnoise.data.relation import Relation, Rows, placed_by
from leastnoise.data.sql_queries import BoundedQueries, index_cells, packed_words, table_lengths
from leastnoise.data.values import ReachedThresholds, condition_value, row_value, total_type
from leastnoise.errors import (
    BadParameter,
    BadSource,
    Closed,
    ForeignProcess,
    LeastNoiseError,
    TooLarge,
    UnsafeQuestion,
    engine_failure,
)
from leastnoise.exact import read_rational, system_source
from leastnoise.model import MOST_RANK_CELLS

if TYPE_CHECKING:
    from leastnoise.data.predicates import Predicate

__all__ = ["Table", "TooLittleMemory"]

_OPTIONS_AT_ONCE = 200
_TABLES_AT_ONCE, _CELLS_AT_ONCE = 200, 1 << 21  # of one statement: the engine and we hold what it finds
_ON_THE_AXES = "WHERE cell IS NOT NULL"
_numbers = whole_numbers()  # no two tables of a session keep rows under one name
_mode: ContextVar[Literal["ask", "check", "rehearse"]] = ContextVar("mode", default="ask")


class TooLittleMemory(Exception):
    """An engine ran out of memory; within this room only, it never leaves it."""


class Table(ABC):
    """One table: a public name, a public schema, and four questions whose contributions are bounded in the engine.

    Every rule about single rows (missing values, rounding, keys) is the same in every engine. An error of the engine
    becomes `EngineFailure` without its words; a wrong column or key is reported before the data is touched. So is a
    question that fails on made-up rows full of extremes (`leastnoise.data.canary`): each text is rehearsed there first.

    Attributes:
        name: Public and stable: what a ledger calls the dataset.
        identity: The name, where it tells this table from every other one; None for a frame that nobody named.
        former_names: What version 0.1 called it, or may have called it.
        overlapping: What tables are called that hold some of its rows.
        columns: The kind of each column.
        types: What is known of each column's type.
        hints: What to do about a column whose kind is not the one that is needed, for columns where there is something.
        place: What the database that holds it is called; "" where it is in none.
        joined_from: What its rows are joined from, in words that tell it from every other join; "" for a table itself.
        tied: Columns whose values other columns or public tables restrict.
        looked_up: Columns of tables that are joined by LEFT JOIN.
        views: How derived columns and per-unit rows are made, in the order in which they were, as plain data.
    """

    dialect: Dialect
    smaller_parts: tuple[int, ...] = ()  # into how many parts to cut the units where memory does not do
    joined_from: str = ""
    tied: frozenset[str] = frozenset()
    looked_up: frozenset[str] = frozenset()
    views: tuple[Mapping[str, Any], ...] = ()

    def __init__(self, identity: Identity, columns: Iterable[Column], rows: str | RowsOf) -> None:
        self.name = identity.name
        self.identity = identity.name if identity.known else None
        self.former_names, self.overlapping, self.place = identity.former_names, identity.overlapping, identity.place
        self._process, self._closed = os.getpid(), False
        known = {column.name: column for column in columns}
        self._relation = Relation(
            self.dialect, known, (lambda _: sql(f"TABLE {rows}")) if isinstance(rows, str) else rows
        )
        kinds = {column.name: column.kind for column in known.values()}
        self.columns: Mapping[str, Kind] = MappingProxyType(kinds)
        self.types: Mapping[str, Column] = MappingProxyType(known)
        hints = {column.name: column.hint for column in known.values() if column.hint}
        self.hints: Mapping[str, str] = MappingProxyType(hints)
        self._canary = Canary(self.dialect, known)

    def aggregate(
        self,
        contribution: Contribution,
        axes: tuple[Axis, ...],
        measures: tuple[Measure, ...],
        where: Predicate | None = None,
        *,
        earliest: bool = False,
    ) -> tuple[NDArray[Any], ...]:
        """Exact bounded totals per cell of public axes.

        Rows outside the axes or the filter are dropped first; then each unit keeps at most `groups_per_unit` of its
        groups, chosen by a fresh secret, and counts in each as at most `rows_per_unit` rows.

        Args:
            contribution: What a unit may add.
            axes: The public keys or bins.
            measures: What is added up.
            where: Which rows count.
            earliest: Whether a unit keeps the first of its groups, in the order of the cells, and no random ones. Then
                the same groups are kept whenever more cells follow at the end.

        Returns:
            One array per measure, of the axes' lengths; whole numbers (int64, or Python's where 64 bits may not do).

        Raises:
            UnknownColumn: A column that is not there.
            BadParameter: A column of the wrong kind, or a key that does not fit it.
            UnsafeQuestion: The engine failed on made-up rows; no private row was read.
            EngineFailure: The engine failed.
        """
        return self._aggregate(contribution, axes, measures, where, _fresh_secret(), earliest)

    def marginals(
        self,
        contribution: Contribution,
        axes: tuple[Axis, ...],
        tables: Sequence[Sequence[int]],
        measure: CountRows | CountUnits,
        where: Predicate | None = None,
    ) -> list[NDArray[np.int64]]:
        """Exact bounded counts of several tables over some of the axes each, of the rows that lie on all of them.

        Each unit keeps at most `groups_per_unit` cells of the big table over all axes, chosen by a fresh secret, and
        counts in each as at most `rows_per_unit` rows. The tables are sums of that one big table, which is never
        formed: they agree. They are read in one pass, or in a few where there are many.

        Args:
            contribution: What a unit may add.
            axes: The public keys or bins.
            tables: The places of the axes of each table, in order; none for the number of all rows.
            measure: What is counted.
            where: Which rows count.

        Raises:
            UnknownColumn: A column that is not there.
            BadParameter: A column of the wrong kind, or a key that does not fit it.
            UnsafeQuestion: The engine failed on made-up rows; no private row was read.
            EngineFailure: The engine failed.
        """
        return self._marginals(contribution, axes, tables, measure, where, _fresh_secret())

    def discover(
        self, contribution: Contribution, columns: tuple[str, ...], where: Predicate | None = None
    ) -> dict[tuple[Hashable, ...], int]:
        """Units per key that occurs, each unit in at most `groups_per_unit` of them; the keys themselves are private.

        Raises:
            BadParameter: A column of doubles (bin it instead).
        """
        return self._discover(contribution, columns, where, _fresh_secret())

    def totals_by_key(
        self,
        contribution: Contribution,
        columns: tuple[str, ...],
        measures: tuple[Measure, ...],
        where: Predicate | None = None,
    ) -> dict[tuple[Hashable, ...], tuple[int, ...]]:
        """One total per measure for each key that occurs; bounded as by `aggregate`. The keys themselves are private.

        Raises:
            BadParameter: A column of doubles (bin it instead).
        """
        return self._totals_by_key(contribution, columns, measures, where, _fresh_secret())

    def units_by_rows(
        self, contribution: Contribution, axes: tuple[Axis, ...], most: int, where: Predicate | None = None
    ) -> NDArray[np.int64]:
        """Units by the number of rows in their largest group: 1, 2, 3 and 4, 5 to 8, …, more than 2^(most − 1).

        One unit is in one of the most + 1 numbers, and changes it by one.
        """
        return self._units_on_scale(contribution, axes, most, where, groups=False)

    def units_by_groups(
        self, contribution: Contribution, axes: tuple[Axis, ...], most: int, where: Predicate | None = None
    ) -> NDArray[np.int64]:
        """Units by the number of groups that they are in: 1, 2, 3 and 4, 5 to 8, …, more than 2^(most − 1).

        One unit is in one of the most + 1 numbers, and changes it by one.
        """
        return self._units_on_scale(contribution, axes, most, where, groups=True)

    def _units_on_scale(
        self, contribution: Contribution, axes: tuple[Axis, ...], most: int, where: Predicate | None, *, groups: bool
    ) -> NDArray[np.int64]:
        cells = index_cells(axes, self._relation.columns, self.dialect, "base")
        outputs = [f"{cells.expression} AS cell"]
        rows = self._relation.rows(contribution, where, {axis.column for axis in axes}, outputs, cells)
        shape = partial(self._queries(contribution, (0, 0)).units_on_scale, most=most, groups=groups)
        answers = self._answers(contribution, rows, _ON_THE_AXES if axes else "", shape)
        return _dense([(found, counts) for found, counts in answers], (most + 1,))

    def ranks(
        self,
        contribution: Contribution,
        column: str,
        grid: Sequence[Fraction],
        where: Predicate | None = None,
        axes: tuple[Axis, ...] = (),
    ) -> NDArray[np.int64]:
        """Rows nearest to each point of a public increasing grid (halfway goes up, missing values are dropped).

        With axes, in each of their cells: the last axis of the array is the grid. A unit keeps at most
        `groups_per_unit` cells, and at most `rows_per_unit` rows of a unit count in each; which ones is a uniform
        choice by a fresh secret.
        """
        return self._ranks(contribution, column, grid, where, _fresh_secret(), axes)

    def scores(
        self, contribution: Contribution, options: Sequence[Predicate], where: Predicate | None = None
    ) -> NDArray[np.int64]:
        """For each option Σ over units of min(rows of the unit for which it holds, rows_per_unit)."""
        shapes, found = self._queries(contribution, (0, 0)), list[int]()
        for start in range(0, len(options), _OPTIONS_AT_ONCE):
            tests = [typed(option, self.types) for option in options[start : start + _OPTIONS_AT_ONCE]]
            outputs = ["CASE WHEN " + to_sql(t, self.dialect) + f" THEN 1 END AS o{i}" for i, t in enumerate(tests)]
            named = {name for test in tests for name in test.columns}
            rows = self._relation.rows(contribution, where, named, outputs, options=tests)
            answers = self._answers(contribution, rows, "", partial(shapes.scores, options=len(tests)))
            found += [sum(int(column[0]) for column in columns) for columns in zip(*answers, strict=True)]
        return np.array(found, dtype=np.int64)

    def check(self, question: Callable[[], object]) -> None:
        """Write the texts of a question without running them: what the schema refuses is refused here.

        Args:
            question: Asks this table, by any of its methods, in the same thread; it gets empty answers.
        """
        with _asked("check"):
            question()

    def rehearse(self, question: Callable[[], object]) -> None:
        """Let an empty table with the same columns answer, in the same engine; no private row is read.

        All texts of the question run on the made-up rows, too. What can be wrong with a question for public reasons is
        wrong here. So whoever charges for a question rehearses it before, and an error that comes after a rehearsal is
        never a refusal.

        Args:
            question: Asks this table, by any of its methods, in the same thread.
        """
        with _asked("rehearse"):
            question()

    def private_rows(self, names: tuple[str, ...]) -> Fragment:
        """The text of the rows themselves, with at least these columns in their native types."""
        return self._relation.table(names)

    def require_ready(self) -> None:
        """See that the table can be asked at all; the engine is not touched.

        Raises:
            Closed: It was closed.
            ForeignProcess: It was opened in another process, of which this one is a fork.
        """
        if self._closed:
            raise Closed("the table was closed", given=self.name, fix="open it again, and ask inside its `with` block")
        if os.getpid() != self._process:
            raise ForeignProcess("the table was opened in another process", given=self.name, fix="open it in this one")

    def close(self) -> None:
        """Let go of the engine; the table can't be used afterwards. A second time does nothing."""
        closed, self._closed = self._closed, True
        if not closed and os.getpid() == self._process:
            self._release()

    @abstractmethod
    def _release(self) -> None:
        """Let go of what the engine holds; called once, in the process that opened the table."""

    @abstractmethod
    def _execute(self, text: str, values: list[object]) -> Sequence[Sequence[Any]]:
        """Run a query; the result column by column. May raise anything."""

    def __enter__(self) -> Self:
        """Open already."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def __repr__(self) -> str:
        """Public facts only."""
        return f"<{type(self).__name__} {self.name!r}: {len(self.columns)} columns>"

    def _answers(
        self, contribution: Contribution, rows: Rows, rest: str, shape: Callable[[Fragment], Fragment]
    ) -> list[Sequence[Sequence[Any]]]:
        """The answer for all units at once, or, if memory runs out, one for each of several parts of them.

        What a unit adds depends on its own rows alone, so that the answers for the parts add up to the whole. All texts
        are rehearsed before the first of them reads private rows.
        """
        self.require_ready()
        parts = (1,) if contribution.privacy_unit is None else (1, *self.smaller_parts)
        placed = select("*", rows.text, "located", rest) if rest else rows.text

        def query(number: int, count: int) -> Fragment:
            return shape(self._part(contribution, placed, number, count))

        if _mode.get() == "check":
            self.dialect.render(query(0, 1), self._relation.table)
            return []
        self._rehearse([rows.every, query(0, 1), *(query(0, count) for count in parts[1:][-1:])])
        for count in parts:
            try:
                return [self._run(query(number, count)) for number in range(count)]
            except TooLittleMemory:
                continue
        raise engine_failure()

    def _part(self, contribution: Contribution, rows: Fragment, number: int, count: int) -> Fragment:
        if count == 1:
            return rows
        kind = self._relation.unit_kind(contribution)
        place = self.dialect.hash((count, count), ("unit", kind), (self.dialect.number(0), Kind.INTEGER))
        return select("*", rows, "parts", "WHERE mod(" + place + f", {count}) = {number}")

    def _rehearse(self, queries: Sequence[Fragment]) -> None:
        """Run texts that were not run before on the canary's rows.

        Raises:
            UnsafeQuestion: The engine failed on one of them.
        """
        failed = False
        try:
            if not self._canary.made:
                self._canary.made = True
                made = self.dialect.render(self._canary.all_rows())
                self._canary.keep(self._keep(*made, f"made_up_{next(_numbers)}", tuple(self.types.values())))
            for text, values in self._canary.unseen(queries):
                self._execute(text, values)
        except LeastNoiseError:
            raise
        except Exception:  # also too little memory for a few hundred rows
            failed = True
        if failed:  # outside of `except`, as in `_run`
            raise UnsafeQuestion(
                "the engine failed on made-up rows that hold the extremes of the columns' types",
                fix="no private row was read and nothing is charged: see that the engine is there, or ask with other "
                "bounds, edges or filters and report it, for this question was thought to be safe",
            )
        self._canary.remember(queries)

    def _keep(self, text: str, values: list[object], name: str, columns: Iterable[Column]) -> str:  # noqa: ARG002
        """Keep made-up rows in the engine and return where; "" where it can't: they are then made anew each time.

        Args:
            text: Makes the rows.
            values: What is bound in it.
            name: What they may be called.
            columns: The columns that they are for.
        """
        return ""

    def find(self, parts: Sequence[str]) -> tuple[Identity, list[Column], str]:
        """Another table of the same database: what it is called, its columns, and its name in the engine.

        Raises:
            BadSource: There is none, or the source is no database.
        """
        raise BadSource(
            "this source is one table, and no database",
            given=".".join(parts),
            fix="links need a DuckDB file, 'postgresql://…' or a Spark session",
        )

    def _run(self, query: Fragment) -> Sequence[Sequence[Any]]:
        rows = self._canary.empty if _mode.get() == "rehearse" else self._relation.table
        text, values = self.dialect.render(query, rows)
        try:
            return self._execute(text, values)
        except (LeastNoiseError, TooLittleMemory):
            raise
        except Exception:
            failed = True
        if failed:  # outside of `except`, so that the engine's error is not kept as the context of ours
            raise engine_failure()
        return []

    def _queries(self, contribution: Contribution, secret: Secret, earliest: bool = False) -> BoundedQueries:
        return BoundedQueries(self.dialect, contribution, self._relation.unit_kind(contribution), secret, earliest)

    def _aggregate(
        self,
        contribution: Contribution,
        axes: tuple[Axis, ...],
        measures: tuple[Measure, ...],
        where: Predicate | None,
        secret: Secret,
        earliest: bool = False,
    ) -> tuple[NDArray[Any], ...]:
        reading = self._relation
        for axis in axes:
            reading.column(axis.column, numeric=isinstance(axis, BinAxis))
        cells = index_cells(axes, reading.columns, self.dialect, "base")
        values, summed, conditions = self._row_values(measures)
        needed = {axis.column for axis in axes} | summed
        outputs = [f"{cells.expression} AS cell", *values]
        rows = reading.rows(
            contribution, where, needed, outputs, cells, options=conditions, present=placed_by(axes, self.looked_up)
        )
        shape = partial(self._queries(contribution, secret, earliest).totals, cells=cells.count, measures=measures)
        answers = self._answers(contribution, rows, _ON_THE_AXES if axes else "", shape)
        wide = [isinstance(m, SumOf) and total_type(m, self.dialect) != self.dialect.long for m in measures]
        return tuple(
            _dense([(place, totals[number]) for place, *totals in answers], cells.shape, big)
            for number, big in enumerate(wide)
        )

    def _marginals(
        self,
        contribution: Contribution,
        axes: tuple[Axis, ...],
        tables: Sequence[Sequence[int]],
        measure: CountRows | CountUnits,
        where: Predicate | None,
        secret: Secret,
    ) -> list[NDArray[np.int64]]:
        reading, found = self._relation, list[NDArray[np.int64]]()
        for axis in axes:
            reading.column(axis.column, numeric=isinstance(axis, BinAxis))
        cells = index_cells(axes, reading.columns, self.dialect, "base")
        outputs = [f"{place} AS p{number}" for number, place in enumerate(cells.places)]
        rows = reading.rows(contribution, where, {axis.column for axis in axes}, outputs, cells)
        inside = "WHERE " + " AND ".join(f"p{number} IS NOT NULL" for number in range(len(axes)))
        queries = self._queries(contribution, secret)
        for asked in _at_once(tables, cells.shape):  # the same secret: a unit keeps the same cells
            shape = partial(queries.marginals, cells=cells, tables=asked, measure=measure)
            found += _dense_tables(self._answers(contribution, rows, inside, shape), asked, cells.shape)
        return found

    def _discover(
        self, contribution: Contribution, columns: tuple[str, ...], where: Predicate | None, secret: Secret
    ) -> dict[tuple[Hashable, ...], int]:
        found = self._totals_by_key(contribution, columns, (CountUnits(),), where, secret)
        return {key: units for key, (units,) in found.items()}

    def _totals_by_key(
        self,
        contribution: Contribution,
        columns: tuple[str, ...],
        measures: tuple[Measure, ...],
        where: Predicate | None,
        secret: Secret,
    ) -> dict[tuple[Hashable, ...], tuple[int, ...]]:
        keys = [self._relation.column(name) for name in columns]
        for key in keys:
            if key.kind is Kind.REAL:
                raise BadParameter(f"{key.name!r} holds doubles, which are no keys", fix="group it by bins instead")
        if not keys:
            raise BadParameter("there is no column to find keys in", fix="name at least one")
        values, needed, conditions = self._row_values(measures)
        outputs = [f"{code_expression(keys, self.dialect, 'base')} AS code", *values]
        rows = self._relation.rows(contribution, where, {*columns, *needed}, outputs, options=conditions)
        shape = partial(self._queries(contribution, secret).totals_by_code, measures=measures)
        found: dict[tuple[Hashable, ...], tuple[int, ...]] = {}
        for codes, *totals in self._answers(contribution, rows, "", shape):
            for code, *numbers in zip(codes, *totals, strict=True):
                named = read_code(code, keys)
                before = found.get(named, (0,) * len(numbers))
                found[named] = tuple(int(n) + m for n, m in zip(numbers, before, strict=True))
        return found

    def _row_values(self, measures: tuple[Measure, ...]) -> tuple[list[Fragment | str], set[str], list[Predicate]]:
        """What each row adds to the sums among the measures, v0, v1, …; the columns that takes, and the conditions."""
        values: list[Fragment | str] = []
        needed: set[str] = set()
        conditions: list[Predicate] = []
        for i, measure in ((i, m) for i, m in enumerate(measures) if isinstance(m, SumOf)):
            if isinstance(measure.column, str):
                column = self._relation.column(measure.column, summed=True)
                values.append(f"{row_value(measure, column, self.dialect, 'base')} AS v{i}")
                needed.add(measure.column)
            else:
                condition = typed(measure.column, self.columns)
                values.append(condition_value(measure, to_sql(condition, self.dialect), self.dialect) + f" AS v{i}")
                needed |= condition.columns
                conditions.append(condition)
        return values, needed, conditions

    def _ranks(
        self,
        contribution: Contribution,
        column: str,
        grid: Sequence[Fraction],
        where: Predicate | None,
        secret: Secret,
        axes: tuple[Axis, ...] = (),
    ) -> NDArray[np.int64]:
        reading, ranked = self._relation, self._relation.column(column, numeric=True)
        points = [point if isinstance(point, Fraction) else read_rational(point, "grid") for point in grid]
        if not points or any(not low < high for low, high in pairwise(points)):
            raise BadParameter("grid must hold points that increase", given=column, fix="pass grid=range(0, 121)")
        for axis in axes:
            reading.column(axis.column, numeric=not hasattr(axis, "keys"))
        parts = index_cells(axes, reading.columns, self.dialect, "base")
        cells = parts.count * len(points)
        if cells > MOST_RANK_CELLS:
            fix = "take fewer keys, or a larger step"
            raise TooLarge(f"keys times grid points are at most {MOST_RANK_CELLS}", given=cells, fix=fix)
        value = f"base.{self.dialect.quote(column)}"
        middles = [(low + high) / 2 for low, high in pairwise(points)]
        place = ReachedThresholds(middles, ranked, value, self.dialect).count_reached()
        spread = f"({parts.expression}) * {self.dialect.number(len(points))} + " if axes else ""
        present = f"CASE WHEN NOT {self.dialect.missing(value, ranked)} THEN {spread}{place} END AS cell"
        outputs = [present, f"{parts.expression} AS part"] if axes else [present]
        needed = {column, *(axis.column for axis in axes)}
        rows = reading.rows(contribution, where, needed, outputs, parts)
        shape = partial(self._queries(contribution, secret).chosen_rows, parts=parts.count, cells=cells)
        answers = self._answers(contribution, rows, _ON_THE_AXES, shape)
        return _dense([(found, counts) for found, counts in answers], (*parts.shape, len(points)))


@contextmanager
def _asked(mode: Literal["check", "rehearse"]) -> Iterator[None]:
    before = _mode.set(mode)
    try:
        yield
    finally:
        _mode.reset(before)


def _fresh_secret() -> Secret:
    return system_source.bits(63), system_source.bits(63)


def _dense(
    answers: Iterable[tuple[Sequence[Any], Sequence[Any]]], shape: tuple[int, ...], wide: bool = False
) -> NDArray[Any]:
    """The totals at their cells, zero elsewhere, summed up: the shape is public, whatever was found."""
    dense = np.zeros(shape, dtype=object if wide else np.int64)
    for cells, totals in answers:
        added = [int(total) for total in totals] if wide else totals
        dense.reshape(-1)[np.asarray(cells, dtype=np.int64)] += np.asarray(added, dtype=dense.dtype)
    return dense


def _at_once(tables: Sequence[Sequence[int]], shape: tuple[int, ...]) -> Iterator[list[Sequence[int]]]:
    """The tables of each statement, in order: a few of them, or one that is large."""
    asked, held = list[Sequence[int]](), 0
    for table in tables:
        cells = prod(shape[i] for i in table)
        if asked and (len(asked) == _TABLES_AT_ONCE or held + cells > _CELLS_AT_ONCE):
            yield asked
            asked, held = [], 0
        asked.append(table)
        held += cells
    yield asked


def _dense_tables(
    answers: Iterable[Sequence[Sequence[Any]]], tables: Sequence[Sequence[int]], shape: tuple[int, ...]
) -> list[NDArray[np.int64]]:
    """The counts of tables at their cells: a row belongs to the table whose columns have places, and no others."""
    dense = [np.zeros([shape[i] for i in table], dtype=np.int64) for table in tables]
    lengths = table_lengths(tables, shape)
    for *packed, totals in answers:
        found = _PlacedRows([np.asarray(word, dtype=np.int64) for word in packed], lengths)
        which = _tables_of_rows((found.places(axis) > 0 for axis in lengths), tables, list(lengths), len(totals))
        order, added = np.argsort(which, kind="stable"), np.asarray(totals, dtype=np.int64)
        ends = np.searchsorted(which[order], np.arange(len(tables) + 1))
        for number, table in enumerate(tables):
            rows = order[ends[number] : ends[number + 1]]
            spots = np.zeros(len(rows), dtype=np.int64)
            for i in table:
                spots = spots * shape[i] + found.places(i, rows) - 1
            dense[number].reshape(-1)[spots] += added[rows]
    return dense


class _PlacedRows:
    """Rows whose places on some axes are packed into a few whole numbers."""

    def __init__(self, words: Sequence[NDArray[np.int64]], lengths: Mapping[int, int]) -> None:
        self._words, self._lengths, self._at = words, lengths, dict[int, tuple[int, int]]()
        for number, axes in enumerate(packed_words(lengths)):
            for k, axis in enumerate(axes):
                self._at[axis] = number, prod(lengths[i] for i in axes[k + 1 :])

    def places(self, axis: int, rows: NDArray[np.int64] | slice = slice(None)) -> NDArray[np.int64]:
        """Where rows lie on an axis, from one on; zero where they are not on it."""
        number, stride = self._at[axis]
        return (self._words[number][rows] // stride) % self._lengths[axis]


def _tables_of_rows(
    present: Iterable[NDArray[np.bool_]], tables: Sequence[Sequence[int]], axes: Sequence[int], rows: int
) -> NDArray[np.int32]:
    """The number of the table that has just the axes which are present in a row; one axis after the other."""
    kinds = [tuple(axis in table for axis in axes) for table in tables]
    reached, states = np.zeros(rows, dtype=np.int32), dict[tuple[bool, ...], int]({(): 0})
    for depth, there in enumerate(present, start=1):
        following = {kind: place for place, kind in enumerate(dict.fromkeys(kind[:depth] for kind in kinds))}
        moves = np.zeros((len(states), 2), dtype=np.int32)
        for kind, place in following.items():
            moves[states[kind[:-1]], int(kind[-1])] = place
        reached, states = moves[reached, there.astype(np.int8)], following
    numbers = np.zeros(len(states), dtype=np.int32)
    for number, kind in enumerate(kinds):
        numbers[states[kind]] = number
    return np.asarray(numbers[reached])

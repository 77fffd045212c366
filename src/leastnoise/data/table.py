"""A private table in its engine: what may be asked of it, and how its answers leave the engine.

The answers here are exact and **not private**: they are for mechanisms, never for people.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from fractions import Fraction
from functools import partial
from itertools import pairwise
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from leastnoise.data.axes import Axis
from leastnoise.data.codes import code_expression, read_code
from leastnoise.data.columns import Column, Kind
from leastnoise.data.contribution import Contribution
from leastnoise.data.dialects import Dialect, Secret
from leastnoise.data.fragments import Fragment, select
from leastnoise.data.measures import Measure, SumOf
from leastnoise.data.places import cells_of
from leastnoise.data.reading import Reading
from leastnoise.data.shapes import Shapes
from leastnoise.data.thresholds import Thresholds
from leastnoise.data.values import row_value, total_type
from leastnoise.errors import BadParameter, EngineFailure, LeastNoiseError
from leastnoise.exact.parameters import read_rational
from leastnoise.exact.sources import system_source

if TYPE_CHECKING:
    from leastnoise.data.predicates import Predicate

__all__ = ["Table", "TooLittleMemory", "engine_failure"]

_OPTIONS_AT_ONCE = 200
_only_checked: ContextVar[bool] = ContextVar("_only_checked", default=False)


class TooLittleMemory(Exception):
    """An engine ran out of memory; within this room only, it never leaves it."""


class Table(ABC):
    """One table: a public name, a public schema, and four questions whose contributions are bounded in the engine.

    Every rule about single rows (missing values, rounding, keys) is the same in every engine. An error of the engine
    becomes `EngineFailure` without its words; a wrong column or key is reported before the data is touched.

    Attributes:
        name: Public and stable: what a ledger calls the dataset.
        columns: The kind of each column.
    """

    dialect: ClassVar[Dialect]
    smaller_parts: ClassVar[tuple[int, ...]] = ()  # into how many parts to cut the units where memory does not do

    def __init__(self, name: str, columns: Iterable[Column], source: str) -> None:
        self.name = name
        self._reading = Reading(self.dialect, {column.name: column for column in columns}, source)
        kinds = {column.name: column.kind for column in self._reading.columns.values()}
        self.columns: Mapping[str, Kind] = MappingProxyType(kinds)

    def aggregate(
        self,
        contribution: Contribution,
        axes: tuple[Axis, ...],
        measures: tuple[Measure, ...],
        where: Predicate | None = None,
    ) -> tuple[NDArray[Any], ...]:
        """Exact bounded totals per cell of public axes.

        Rows outside the axes or the filter are dropped first; then each unit keeps at most `groups_per_unit` of its
        groups, chosen by a fresh secret, and counts in each as at most `rows_per_unit` rows.

        Returns:
            One array per measure, of the axes' lengths; whole numbers (int64, or Python's where 64 bits may not do).

        Raises:
            UnknownColumn: A column that is not there.
            BadParameter: A column of the wrong kind, or a key that does not fit it.
            EngineFailure: The engine failed.
        """
        return self._aggregate(contribution, axes, measures, where, _fresh_secret())

    def discover(
        self, contribution: Contribution, columns: tuple[str, ...], where: Predicate | None = None
    ) -> dict[tuple[Hashable, ...], int]:
        """Units per key that occurs, each unit in at most `groups_per_unit` of them; the keys themselves are private.

        Raises:
            BadParameter: A column of doubles (bin it instead).
        """
        return self._discover(contribution, columns, where, _fresh_secret())

    def ranks(
        self, contribution: Contribution, column: str, grid: Sequence[Fraction], where: Predicate | None = None
    ) -> NDArray[np.int64]:
        """Rows nearest to each point of a public increasing grid (halfway goes up, missing values are dropped).

        At most `rows_per_unit` rows of a unit count in total; which ones is a uniform choice by a fresh secret.
        """
        return self._ranks(contribution, column, grid, where, _fresh_secret())

    def scores(
        self, contribution: Contribution, options: Sequence[Predicate], where: Predicate | None = None
    ) -> NDArray[np.int64]:
        """For each option Σ over units of min(rows of the unit for which it holds, rows_per_unit)."""
        shapes, found = self._shapes(contribution, (0, 0)), list[int]()
        for start in range(0, len(options), _OPTIONS_AT_ONCE):
            tests = [option.typed(self.columns) for option in options[start : start + _OPTIONS_AT_ONCE]]
            outputs = ["CASE WHEN " + t.fragment(self.dialect) + f" THEN 1 END AS o{i}" for i, t in enumerate(tests)]
            named = {name for test in tests for name in test.columns}
            rows = self._reading.rows(contribution, where, named, outputs)
            answers = self._answers(contribution, rows, partial(shapes.scores, options=len(tests)))
            found += [sum(int(column[0]) for column in columns) for columns in zip(*answers, strict=True)]
        return np.array(found, dtype=np.int64)

    def check(self, ask: Callable[[], object]) -> None:
        """Let a question be asked of this table without running it: what it would refuse, it refuses now.

        The texts of all its queries are written, from the schema alone; no row is read.

        Args:
            ask: Asks the question: calls `aggregate`, `discover`, `ranks` or `scores`, and gets empty answers.
        """
        before = _only_checked.set(True)
        try:
            ask()
        finally:
            _only_checked.reset(before)

    @abstractmethod
    def close(self) -> None:
        """Let go of the engine; the table can't be used afterwards."""

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
        self, contribution: Contribution, rows: Fragment, shape: Callable[[Fragment], Fragment]
    ) -> list[Sequence[Sequence[Any]]]:
        """The answer for all units at once, or, where memory does not do, one for each of several parts of them.

        What a unit adds depends on its own rows alone, so that the answers for the parts add up to the whole.
        """
        if _only_checked.get():
            self.dialect.render(shape(rows))
            return []
        parts = (1,) if contribution.privacy_unit is None else (1, *self.smaller_parts)
        for count in parts:
            try:
                return [self._run(shape(self._part(contribution, rows, number, count))) for number in range(count)]
            except TooLittleMemory:
                continue
        raise engine_failure()

    def _part(self, contribution: Contribution, rows: Fragment, number: int, count: int) -> Fragment:
        if count == 1:
            return rows
        kind = self._reading.unit_kind(contribution)
        place = self.dialect.hash((count, count), ("unit", kind), (self.dialect.number(0), Kind.INTEGER))
        return select("*", rows, "parts", f"WHERE mod({place}, {count}) = {number}")

    def _run(self, query: Fragment) -> Sequence[Sequence[Any]]:
        text, values = self.dialect.render(query)
        try:
            return self._execute(text, values)
        except (LeastNoiseError, TooLittleMemory):
            raise
        except Exception:
            failed = True
        if failed:  # outside of `except`, so that the engine's error is not kept as the context of ours
            raise engine_failure()
        return []

    def _shapes(self, contribution: Contribution, secret: Secret) -> Shapes:
        return Shapes(self.dialect, contribution, self._reading.unit_kind(contribution), secret)

    def _aggregate(
        self,
        contribution: Contribution,
        axes: tuple[Axis, ...],
        measures: tuple[Measure, ...],
        where: Predicate | None,
        secret: Secret,
    ) -> tuple[NDArray[Any], ...]:
        reading = self._reading
        for axis in axes:
            reading.column(axis.column, numeric=not hasattr(axis, "keys"))
        cells = cells_of(axes, reading.columns, self.dialect, "base")
        sums = {i: measure for i, measure in enumerate(measures) if isinstance(measure, SumOf)}
        values = [
            f"{row_value(m, reading.column(m.column, numeric=True), self.dialect, 'base')} AS v{i}"
            for i, m in sums.items()
        ]
        needed = {axis.column for axis in axes} | {measure.column for measure in sums.values()}
        outputs = [f"{cells.expression} AS cell", *values]
        rows = reading.rows(contribution, where, needed, outputs, cells.joins, cells.joined)
        placed = select("*", rows, "located", "WHERE cell IS NOT NULL") if axes else rows
        shape = partial(self._shapes(contribution, secret).totals, cells=cells.count, measures=measures)
        answers = self._answers(contribution, placed, shape)
        wide = [isinstance(m, SumOf) and total_type(m, self.dialect) != self.dialect.long for m in measures]
        return tuple(
            _dense([(place, totals[number]) for place, *totals in answers], cells.shape, big)
            for number, big in enumerate(wide)
        )

    def _discover(
        self, contribution: Contribution, columns: tuple[str, ...], where: Predicate | None, secret: Secret
    ) -> dict[tuple[Hashable, ...], int]:
        keys = [self._reading.column(name) for name in columns]
        for key in keys:
            if key.kind is Kind.REAL:
                raise BadParameter(f"{key.name!r} holds doubles, which are no keys", fix="group it by bins instead")
        if not keys:
            raise BadParameter("there is no column to find keys in", fix="name at least one")
        code = f"{code_expression(keys, self.dialect, 'base')} AS code"
        rows = self._reading.rows(contribution, where, columns, [code])
        found = Counter[tuple[Hashable, ...]]()
        for codes, units in self._answers(contribution, rows, self._shapes(contribution, secret).units_by_code):
            found.update({read_code(code, keys): int(count) for code, count in zip(codes, units, strict=True)})
        return dict(found)

    def _ranks(
        self,
        contribution: Contribution,
        column: str,
        grid: Sequence[Fraction],
        where: Predicate | None,
        secret: Secret,
    ) -> NDArray[np.int64]:
        reading, ranked = self._reading, self._reading.column(column, numeric=True)
        points = [point if isinstance(point, Fraction) else read_rational(point, "grid") for point in grid]
        if not points or any(not low < high for low, high in pairwise(points)):
            raise BadParameter("grid must hold points that increase", given=column, fix="pass grid=range(0, 121)")
        value = f"base.{self.dialect.quote(column)}"
        middles = [(low + high) / 2 for low, high in pairwise(points)]
        place = Thresholds(middles, ranked, value, self.dialect).count_reached()
        present = f"CASE WHEN NOT {self.dialect.missing(value, ranked)} THEN {place} END AS cell"
        rows = reading.rows(contribution, where, [column], [present])
        placed = select("*", rows, "located", "WHERE cell IS NOT NULL")
        shape = partial(self._shapes(contribution, secret).chosen_rows, cells=len(points))
        answers = self._answers(contribution, placed, shape)
        return _dense([(found, counts) for found, counts in answers], (len(points),))


def engine_failure() -> EngineFailure:
    """The one error for whatever went wrong in an engine."""
    return EngineFailure(
        "the engine that holds the data could not answer",
        fix="its own words are not shown since they may quote private values: see the engine's log, or ask whoever "
        "runs it; too little memory or disk, a lost connection and a changed table are the usual causes",
    )


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

"""All two-way tables of some columns, released together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce
from itertools import combinations, product
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.data import Axis, BinAxis, Contribution, CountRows, CountUnits, Predicate, col
from leastnoise.exact.numbers import Exact
from leastnoise.ledger.record import Json
from leastnoise.mechanisms import confidence_interval
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.model.sensitivity import Sensitivity
from leastnoise.release.axes import axis_labels, axis_size
from leastnoise.release.consistency import Pair, PairTable, agree
from leastnoise.release.counts import common_parameters, described, noise_method, shown_number
from leastnoise.release.method import Method
from leastnoise.release.query import Query
from leastnoise.release.tidy import TidyTable, measure_names

if TYPE_CHECKING:
    from leastnoise.release.asking import Asking

__all__ = ["Marginals"]

_ALL = "*"  # stands in the columns that a table does not have


@dataclass(frozen=True, repr=False)
class Marginals(Query):
    """The counts by each pair of columns.

    Attributes:
        dataset: The table with its ledger.
        contribution: What one unit may add to each of the tables.
        axes: The columns with their public keys or bins, at least two.
        of: "rows" or "units".
        where: Which rows count; None for all.
    """

    dataset: Asking
    contribution: Contribution
    axes: tuple[Axis, ...]
    of: str
    where: Predicate | None

    @property
    def pairs(self) -> list[tuple[Axis, Axis]]:
        """The tables."""
        return list(combinations(self.axes, 2))

    @property
    def question(self) -> str:
        """What is asked."""
        return described(f"two-way tables of the count of {self.of}", self.axes, self.where)

    def parameters(self) -> dict[str, Json]:
        """As JSON."""
        return {**common_parameters(self.contribution, self.axes, self.where), "of": self.of, "ways": 2}

    def method(self, epsilon: Exact, delta: Fraction) -> Method:
        """Noise on each cell of each table."""
        each = 1 if self.of == "units" else self.contribution.rows_per_unit
        sizes = [axis_size(first) * axis_size(second) for first, second in self.pairs]
        cells = sum(min(self.contribution.groups_per_unit, size) for size in sizes)
        who = "a row" if self.contribution.privacy_unit is None else f"one {self.contribution.privacy_unit}"
        why = f"{who} counts in each of {len(sizes)} tables, in at most {cells} cells in all, by at most {each} in each"
        note = "only rows on all axes count; consistent() makes the tables agree at no cost and lowers the error"
        return noise_method(epsilon, delta, sum(sizes), Sensitivity(cells, each, why), self.show, (note,))

    def read(self) -> NDArray[Any]:
        """The counts of all tables, one after the other, each of the rows that lie on all axes."""
        measure, where = CountUnits() if self.of == "units" else CountRows(), self._on_all_axes()
        tables = [self.dataset.table.aggregate(self.contribution, pair, (measure,), where)[0] for pair in self.pairs]
        return np.concatenate([np.ravel(table) for table in tables])

    def _on_all_axes(self) -> Predicate:
        """The filter that makes all tables count the same rows, so that their totals can agree."""
        parts = [_on_axis(axis) for axis in self.axes]
        inside = reduce(and_, parts).typed(self.dataset.table.columns)
        return inside if self.where is None else self.where & inside

    def show(self, noise: IntegerNoise, drawn: list[int]) -> TidyTable:
        """One row per cell; `table` says of which pair."""
        names = tuple(axis.column for axis in self.axes)
        keys = (_free("table", names), *names)
        rows = []
        for first, second in self.pairs:
            for one, other in product(axis_labels(first), axis_labels(second)):
                labels = {first.column: one, second.column: other}
                rows.append((f"{first.column} × {second.column}", *(labels.get(name, _ALL) for name in names)))
        columns: dict[str, tuple[Any, ...]] = {key: tuple(row[i] for row in rows) for i, key in enumerate(keys)}
        around = confidence_interval(noise, 0)
        for name, shift in zip(measure_names(keys), (0, int(around.low), int(around.high)), strict=True):
            columns[name] = tuple(k + shift for k in drawn)
        return TidyTable(columns, keys)

    @property
    def adjust(self) -> Callable[[TidyTable], TidyTable]:
        """Make the tables agree; it knows their sizes and nothing of the data."""
        sizes = {(first.column, second.column): (axis_size(first), axis_size(second)) for first, second in self.pairs}
        return partial(make_consistent, sizes)


def make_consistent(sizes: dict[Pair, tuple[int, int]], table: TidyTable) -> TidyTable:
    """The values by exact least squares; the error bars stay those of the single cells."""
    value = measure_names(table.keys)[0]
    numbers, tables = [Fraction(x) for x in table[value]], dict[Pair, PairTable]()
    for pair, (rows, columns) in sizes.items():
        part, numbers = numbers[: rows * columns], numbers[rows * columns :]
        tables[pair] = [part[i * columns : (i + 1) * columns] for i in range(rows)]
    flat = [shown_number(x) for found in agree(tables).values() for row in found for x in row]
    return table.with_columns(**{value: tuple(flat)})


def _on_axis(axis: Axis) -> Predicate:
    value = col(axis.column)
    if isinstance(axis, BinAxis):
        return (value >= _literal(axis.edges[0])) & (value <= _literal(axis.edges[-1]))
    known = [key for key in axis.keys if key is not None]
    if len(known) == len(axis.keys):
        return value.is_in(known)
    return value.is_in(known) | value.is_missing() if known else value.is_missing()


def _literal(edge: Fraction) -> int | Decimal | float:
    """An edge as a filter reads it: exact where it has finitely many digits."""
    if edge.denominator == 1:
        return int(edge)
    digits = Decimal(edge.numerator) / Decimal(edge.denominator)
    return digits if Fraction(digits) == edge else float(edge)


def _free(name: str, taken: tuple[str, ...]) -> str:
    while name in taken:
        name += "_"
    return name

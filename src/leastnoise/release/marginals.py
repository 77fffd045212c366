"""All two-way tables of some columns, released together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial, reduce
from itertools import combinations, product
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.data import Axis, BinAxis, Contribution, Predicate, col
from leastnoise.exact.numbers import Exact
from leastnoise.ledger.record import Json
from leastnoise.mechanisms import confidence_interval
from leastnoise.mechanisms.histogram.linear_noise import reach_of
from leastnoise.mechanisms.histogram.noisy_cells import CellsProblem
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.release.axes import axis_labels, axis_size, cell_count
from leastnoise.release.consistency import Pair, PairTable, Shape, agree, shares_left
from leastnoise.release.counts import common_parameters, count_measure, described, noise_method, shown_number
from leastnoise.release.method import Method
from leastnoise.release.query import Query
from leastnoise.release.reachable import cells_reachable
from leastnoise.release.sensitivity import sensitivity_of
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
    def sizes(self) -> tuple[int, ...]:
        """How many cells each table has."""
        return tuple(cell_count(pair) for pair in self.pairs)

    @property
    def question(self) -> str:
        """What is asked."""
        return described(f"two-way tables of the count of {self.of}", self.axes, self.where)

    def parameters(self) -> dict[str, Json]:
        """As JSON."""
        return {**common_parameters(self.contribution, self.axes, self.where), "of": self.of, "ways": 2}

    @cached_property
    def reachable(self) -> bool:
        """Whether any number of units can be in each cell."""
        return cells_reachable(self.dataset.table.columns, self.contribution, self.axes, self.where)

    def method(self, epsilon: Exact, delta: Fraction) -> Method:
        """Noise on each cell of each table."""
        sensitivity = sensitivity_of(self.contribution, count_measure(self.of), self.sizes)
        note = "only rows on all axes count; consistent() makes the tables agree at no cost and lowers the error"
        problem = CellsProblem(epsilon, delta, sum(self.sizes), sensitivity, self.reachable)
        return noise_method(problem, self.show, (note,))

    def read(self) -> NDArray[Any]:
        """The counts of all tables, one after the other, each of the rows that lie on all axes."""
        measure, where = count_measure(self.of), self._on_all_axes()
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
    def adjust(self) -> Callable[[TidyTable, IntegerNoise], TidyTable]:
        """Make the tables agree; it knows their sizes and the law of the noise, and nothing of the data."""
        sizes = {(first.column, second.column): (axis_size(first), axis_size(second)) for first, second in self.pairs}
        return partial(make_consistent, sizes)


def make_consistent(sizes: dict[Pair, Shape], table: TidyTable, noise: IntegerNoise) -> TidyTable:
    """The values by exact least squares, with intervals for the noise that is left in them."""
    value, low, high = measure_names(table.keys)
    numbers, tables = [Fraction(x) for x in table[value]], dict[Pair, PairTable]()
    for pair, (rows, columns) in sizes.items():
        part, numbers = numbers[: rows * columns], numbers[rows * columns :]
        tables[pair] = [part[i * columns : (i + 1) * columns] for i in range(rows)]
    shares = shares_left(sizes)
    reaches = {pair: reach_of(noise, shares[pair], Fraction(1)) for pair in sizes}
    found = [(x, reaches[pair]) for pair, rows_of in agree(tables).items() for row in rows_of for x in row]
    return table.with_columns(
        **{
            value: tuple(shown_number(x) for x, _ in found),
            low: tuple(shown_number(x - far) for x, far in found),
            high: tuple(shown_number(x + far) for x, far in found),
        }
    )


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

"""All two-way tables of some columns, released together, and made to agree on every total they share.

They agree by least squares, exact in rational numbers.

A table of the pair (A, B) splits into orthogonal parts: its total, what A does alone, what B does alone, and the rest.
The total is shared by all tables, what A does by all tables with A; the rest by none. In a table with n_A·n_B cells of
equal variance the total T adds T²/(n_A·n_B) to the squares, and what A does, a vector of row sums that sums to zero,
adds its squares over n_B. So the least squares estimate of a shared part is its average over the tables that have it,
weighted by 1/(n_A·n_B) for the total and by 1/n_B for what A does. Proof: docs/theory/releasing.md; the weights are
those of Barak et al., PODS 2007, and Qardaji, Yang and Li (PriView), SIGMOD 2014.

The parts are orthogonal, so their variances add up: with noise of variance one on every cell, a cell of a table with
n rows and m columns keeps (n − 1)(m − 1)/(nm) of its own, (1 − 1/n)/(m²·Σ 1/m') of its row, summed over all tables
with this axis, the same for its column, and 1/((nm)²·Σ 1/(n'm')) of the total.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce
from itertools import combinations, product
from operator import and_
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from leastnoise.data import Axis, BinAxis, Predicate, col, typed
from leastnoise.ledger.record import Json
from leastnoise.mechanisms.histogram.independent_noise import HistogramProblem
from leastnoise.mechanisms.histogram.mapped_noise import reach_of
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.model.mechanism import LEVEL
from leastnoise.model.privacy import Privacy
from leastnoise.release.arguments import axis_labels, cell_count
from leastnoise.release.plan import AnswerPlan
from leastnoise.release.queries.counts import bars_around, noise_plan, shown_number
from leastnoise.release.queries.query import CountQuery
from leastnoise.release.sensitivity import sensitivity_of
from leastnoise.release.tables import TidyTable, measure_names

__all__ = ["Marginals", "Pair", "PairTable", "Shape", "agree", "shares_left"]

Pair = tuple[str, str]
Shape = tuple[int, int]
PairTable = list[list[Fraction]]
_ALL = "*"  # stands in the columns that a table does not have


class Marginals(CountQuery):
    """The counts by each pair of columns; a unit may add so much to each of the tables."""

    recorded_as: ClassVar[str] = "Marginals"

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
        return self.described(f"two-way tables of the count of {self.of}")

    def parameters(self) -> dict[str, Json]:
        return {**super().parameters(), "ways": 2}

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """Noise on each cell of each table."""
        sensitivity = sensitivity_of(self.contribution, self.counted, self.sizes)
        note = "only rows on all axes count; consistent() makes the tables agree at no cost and lowers the error"
        problem = HistogramProblem(price, sum(self.sizes), sensitivity, self.reachable)
        how = noise_plan(problem, self.to_table, note)
        sizes = {(first.column, second.column): (len(first), len(second)) for first, second in self.pairs}
        noise = cast(IntegerNoise, how.noise)
        return replace(how, adjust=partial(make_consistent, sizes, noise))

    def read(self) -> NDArray[Any]:
        """The counts of all tables, one after the other, each of the rows that lie on all axes."""
        table, where = self.dataset.table, self._on_all_axes()
        tables = [table.aggregate(self.contribution, pair, (self.counted,), where)[0] for pair in self.pairs]
        return np.concatenate([np.ravel(table) for table in tables])

    def _on_all_axes(self) -> Predicate:
        """The filter that makes all tables count the same rows, so that their totals can agree."""
        parts = [_on_axis(axis) for axis in self.axes]
        inside = typed(reduce(and_, parts), self.dataset.table.columns)
        return inside if self.where is None else self.where & inside

    def to_table(self, noise: IntegerNoise, drawn: list[int], level: Fraction) -> TidyTable:
        """One row per cell; `table` says of which pair."""
        names = tuple(axis.column for axis in self.axes)
        keys = (_free("table", names), *names)
        rows = []
        for first, second in self.pairs:
            for one, other in product(axis_labels(first), axis_labels(second)):
                labels = {first.column: one, second.column: other}
                rows.append((f"{first.column} × {second.column}", *(labels.get(name, _ALL) for name in names)))
        columns: dict[str, tuple[Any, ...]] = {key: tuple(row[i] for row in rows) for i, key in enumerate(keys)}
        return TidyTable({**columns, **bars_around(noise, drawn, level, keys)}, keys)


def make_consistent(
    sizes: dict[Pair, Shape], noise: IntegerNoise, table: TidyTable, level: Fraction = LEVEL
) -> TidyTable:
    """The values by exact least squares, with intervals for the noise that is left in them."""
    value, low, high = measure_names(table.keys)
    numbers, tables = [Fraction(x) for x in table[value]], dict[Pair, PairTable]()
    for pair, (rows, columns) in sizes.items():
        part, numbers = numbers[: rows * columns], numbers[rows * columns :]
        tables[pair] = [part[i * columns : (i + 1) * columns] for i in range(rows)]
    shares = shares_left(sizes)
    reaches = {pair: reach_of(noise, shares[pair], Fraction(1), level) for pair in sizes}
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


def agree(tables: Mapping[Pair, PairTable]) -> dict[Pair, PairTable]:
    """The nearest tables, in squares, with equal totals and equal row and column sums wherever they share them.

    >>> one, other = [[Fraction(1), Fraction(3)]], [[Fraction(6)]]
    >>> both = agree({("A", "B"): one, ("A", "C"): other})
    >>> sum(both["A", "B"][0]) == both["A", "C"][0][0]
    True
    """
    total = _average([(_sum(table), Fraction(1, _cells(table))) for table in tables.values()])
    columns = sorted({column for pair in tables for column in pair})
    effects = {column: _effect(column, tables) for column in columns}
    return {pair: _with(table, total, effects[pair[0]], effects[pair[1]]) for pair, table in tables.items()}


def shares_left(sizes: Mapping[Pair, Shape]) -> dict[Pair, Fraction]:
    """How much of the variance of one cell's noise is left in the cells of each table after `agree`.

    It is the sum of the squared weights with which all noises enter, and each weight is at most one.

    >>> shares_left({("A", "B"): (2, 2), ("A", "C"): (2, 2)})
    {('A', 'B'): Fraction(3, 4), ('A', 'C'): Fraction(3, 4)}
    """

    def along(column: str) -> Fraction:
        """Σ 1/m over the tables with this column, m the number of cells beside it."""
        beside = [shape[1 - pair.index(column)] for pair, shape in sizes.items() if column in pair]
        return sum((Fraction(1, m) for m in beside), Fraction(0))

    total = sum((Fraction(1, n * m) for n, m in sizes.values()), Fraction(0))
    return {
        (rows, columns): Fraction((n - 1) * (m - 1), n * m)
        + Fraction(n - 1, n) / (m**2 * along(rows))
        + Fraction(m - 1, m) / (n**2 * along(columns))
        + 1 / ((n * m) ** 2 * total)
        for (rows, columns), (n, m) in sizes.items()
    }


def _with(table: PairTable, total: Fraction, rows: list[Fraction], columns: list[Fraction]) -> PairTable:
    """The same table with its three shared parts replaced."""
    n, m = len(table), len(table[0])
    shift = (total - _sum(table)) / (n * m)
    down = [(new - old) / m for new, old in zip(rows, _centred(_row_sums(table)), strict=True)]
    across = [(new - old) / n for new, old in zip(columns, _centred(_column_sums(table)), strict=True)]
    return [[table[i][j] + shift + down[i] + across[j] for j in range(m)] for i in range(n)]


def _effect(column: str, tables: Mapping[Pair, PairTable]) -> list[Fraction]:
    """What a column does alone, averaged over the tables that have it."""
    found = []
    for (first, second), table in tables.items():
        if column == first:
            found.append((_centred(_row_sums(table)), Fraction(1, len(table[0]))))
        if column == second:
            found.append((_centred(_column_sums(table)), Fraction(1, len(table))))
    return [_average([(effect[i], weight) for effect, weight in found]) for i in range(len(found[0][0]))]


def _average(weighted: list[tuple[Fraction, Fraction]]) -> Fraction:
    return sum((value * weight for value, weight in weighted), Fraction(0)) / sum(weight for _, weight in weighted)


def _centred(numbers: list[Fraction]) -> list[Fraction]:
    mean = sum(numbers, Fraction(0)) / len(numbers)
    return [entry - mean for entry in numbers]


def _row_sums(table: PairTable) -> list[Fraction]:
    return [sum(row, Fraction(0)) for row in table]


def _column_sums(table: PairTable) -> list[Fraction]:
    return [sum(column, Fraction(0)) for column in zip(*table, strict=True)]


def _sum(table: PairTable) -> Fraction:
    return sum(_row_sums(table), Fraction(0))


def _cells(table: PairTable) -> int:
    return len(table) * len(table[0])

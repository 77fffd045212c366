"""Two-way tables that agree on every total they share: exact least squares, in rational numbers.

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
from fractions import Fraction

__all__ = ["Pair", "PairTable", "Shape", "agree", "shares_left"]

Pair = tuple[str, str]
Shape = tuple[int, int]
PairTable = list[list[Fraction]]


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

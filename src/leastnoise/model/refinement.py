"""Refinement: whether one channel is another one with more noise, decided exactly and with a proof.

A ⊑ B ("A is refined by B") if B = A·R for a stochastic matrix R. Then B loses at least as much as A for every prior and
every loss, so B is at least as private and at most as useful. The converse holds too (Blackwell 1951; the coriaceous
theorem of McIver et al. 2014): if there is no such R, there are a prior and a loss for which B loses strictly less.

A proof of either is found among candidates, and verified. R ≥ 0, R·1 = 1, A·R = B is a linear program. By Farkas' lemma
it has no solution exactly if some matrix Y has Σ_xj Y_xj·B_xj < Σ_i min_j Σ_x A_xi·Y_xj. The candidates, in order of
cost:

1. A·R = B has no solution at all, or the columns of A are independent and R is unique: linear algebra decides;
2. a float solver guesses which entries of R are positive, or guesses Y; both are made rational;
3. the exact simplex method decides, guided by the same guess. The last candidate is always right.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact import Optimum, RationalMatrix, minimise
from leastnoise.model.float_programs import guess_optimum
from leastnoise.model.losses import Loss, from_matrix

__all__ = ["Prices", "Remapping", "candidates", "proof_of", "separating_loss"]

_POSITIVE = (1e-9, 1e-7, 1e-12)  # what a float solver may mean by zero
_DENOMINATORS = (1, 2, 6, 60, 10**3, 10**6, 10**9, 10**15)


@dataclass(frozen=True)
class Remapping:
    """A matrix R that may prove A ⊑ B."""

    matrix: RationalMatrix

    def proves(self, left: RationalMatrix, right: RationalMatrix) -> bool:
        """Whether R is stochastic and A·R = B."""
        stochastic = self.matrix.is_nonnegative() and all(total == 1 for total in self.matrix.row_sums())
        return stochastic and left @ self.matrix == right


@dataclass(frozen=True)
class Prices:
    """A matrix Y, a row per input and a column per output of B, that may prove that A ⊑ B fails."""

    matrix: RationalMatrix

    def proves(self, left: RationalMatrix, right: RationalMatrix) -> bool:
        """Whether Σ Y·B < Σ_i min_j (Aᵀ·Y)_ij."""
        paid = sum(
            (y * p for ys, ps in zip(self.matrix.rows, right.rows, strict=True) for y, p in zip(ys, ps, strict=True)),
            start=Fraction(0),
        )
        least = (self.matrix.transposed() @ left).column_minima()
        return paid < sum((value for value, _ in least), start=Fraction(0))


Evidence = Remapping | Prices


def candidates(left: RationalMatrix, right: RationalMatrix) -> Iterator[Evidence]:
    """Candidates for A = `left` and B = `right`; at least one of them proves."""
    groups = _equal_posteriors(left)
    merged = RationalMatrix(
        [[sum((row[i] for i in group), start=Fraction(0)) for group in groups] for row in left.rows]
    )
    for candidate in _candidates_of_merged(merged, right):
        yield _spread(candidate.matrix, groups, left.shape[1]) if isinstance(candidate, Remapping) else candidate


def _equal_posteriors(left: RationalMatrix) -> list[list[int]]:
    """Groups of columns that differ only by a factor: A may treat them as one. Zero columns are in none."""
    columns = left.transposed()
    groups: dict[tuple[Fraction, ...], list[int]] = {}
    for i, (column, total) in enumerate(zip(columns.rows, columns.row_sums(), strict=True)):
        if total:
            groups.setdefault(tuple(entry / total for entry in column), []).append(i)
    return list(groups.values())


def _spread(matrix: RationalMatrix, groups: Sequence[Sequence[int]], height: int) -> Remapping:
    """Give every column of a group the group's row, and any row at all to outputs that never happen."""
    place = {i: g for g, group in enumerate(groups) for i in group}
    return Remapping(matrix.take_rows([place.get(i, 0) for i in range(height)]))


def _candidates_of_merged(left: RationalMatrix, right: RationalMatrix) -> Iterator[Evidence]:
    solution = left.solve(right)
    if solution is None:
        yield _unreachable_column(left, right)
        return
    if left.rank() == left.shape[1]:
        yield Remapping(solution)
        yield from _negative_entry(left, solution)
        return
    guess = _guess(left, right)
    order: list[int] = []
    if guess is not None:
        likely, prices = guess
        order = np.argsort(-likely, axis=None, kind="stable").tolist()
        for positive in _POSITIVE:
            remap = _solve_on(left, right, likely > positive)
            if remap is not None:
                yield Remapping(remap)
        yield from _round(prices)
    yield _exactly(left, right, order)


def _unreachable_column(left: RationalMatrix, right: RationalMatrix) -> Prices:
    """Y from a vector y with y·A = 0 and y·b ≠ 0 for some column b of B."""
    vectors = left.transposed().nullspace().transposed()
    products = (vectors @ right).rows
    v, j = next((v, j) for v, row in enumerate(products) for j, product in enumerate(row) if product)
    sign = -1 if products[v][j] > 0 else 1
    return _one_column([sign * entry for entry in vectors.rows[v]], j, right.shape[1])


def _negative_entry(left: RationalMatrix, solution: RationalMatrix) -> Iterator[Prices]:
    """Y from the most negative entry (i, j) of the only R: the y with y·A = (1 at i, 0 elsewhere), in column j."""
    rows = solution.rows
    i, j = min(
        ((i, j) for i, row in enumerate(rows) for j in range(len(row))), key=lambda place: rows[place[0]][place[1]]
    )
    unit = RationalMatrix([[int(row == i)] for row in range(left.shape[1])])
    vector = left.transposed().solve(unit)
    if vector is not None:  # always, because the columns of A are independent
        yield _one_column([row[0] for row in vector.rows], j, solution.shape[1])


def _one_column(column: Sequence[Fraction], place: int, width: int) -> Prices:
    return Prices(RationalMatrix([[entry if j == place else 0 for j in range(width)] for entry in column]))


def _guess(left: RationalMatrix, right: RationalMatrix) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Minimise how far A·R is from B, in floats: R with entries to the scale of posteriors, and the prices Y.

    Columns are divided by their sums, so that rare outputs are not lost in the solver's tolerance.
    """
    from scipy import sparse  # half a second to import, and seldom needed

    a, b = (np.array([[float(entry) for entry in row] for row in matrix.rows]) for matrix in (left, right))
    (height, many), width = a.shape, b.shape[1]
    a_mass, b_mass = (np.where(m.sum(axis=0) > 0, m.sum(axis=0), 1.0) for m in (a, b))  # a tiny mass may be 0 in floats
    spread = sparse.kron(a / a_mass, sparse.identity(width))
    sums = sparse.kron(sparse.diags_array(1 / a_mass), b_mass[None, :])
    slack = sparse.identity(height * width)
    blocks: list[list[Any]] = [[spread, slack, -slack], [sums, None, None]]
    target = np.concatenate([(b / b_mass).ravel(), np.ones(many)])
    cost = np.concatenate([np.zeros(many * width), np.ones(2 * height * width)])
    guess = guess_optimum(cost, sparse.block_array(blocks), target, target)
    if guess is None:
        return None
    prices = guess.prices[: height * width].reshape(height, width)
    return guess.point[: many * width].reshape(many, width), -prices / b_mass


def _solve_on(left: RationalMatrix, right: RationalMatrix, support: NDArray[np.bool_]) -> RationalMatrix | None:
    """R with A·R = B, R·1 = 1 and zeros off the support, where it is unique; None where there is none.

    Column j of R is particular_j + null_j·z_j on its own support; only the row sums tie the z_j together.
    """
    many, width = support.shape
    entries = [[Fraction(0)] * width for _ in range(many)]
    ties: list[tuple[int, list[int], RationalMatrix]] = []
    for j in range(width):
        places = np.flatnonzero(support[:, j]).tolist()
        part = left.take_columns(places)
        particular = part.solve(right.take_columns([j]))
        if particular is None:
            return None
        for i, (entry,) in zip(places, particular.rows, strict=True):
            entries[i][j] = entry
        ties.append((j, places, part.nullspace()))
    columns = [(j, places, column) for j, places, null in ties for column in null.transposed().rows]
    if columns:
        left_over = RationalMatrix([[1 - sum(row, start=Fraction(0))] for row in entries])
        embedded = [dict(zip(places, column, strict=True)) for _, places, column in columns]
        system = RationalMatrix([[column.get(i, Fraction(0)) for column in embedded] for i in range(many)])
        amounts = system.solve(left_over)
        if amounts is None:
            return None
        for (j, places, column), (amount,) in zip(columns, amounts.rows, strict=True):
            for i, entry in zip(places, column, strict=True):
                entries[i][j] += amount * entry
    return RationalMatrix(entries)


def _round(prices: NDArray[np.float64]) -> Iterator[Prices]:
    """The guessed prices to few digits first: the margin is often wide enough for a loss that one can read."""
    largest = np.abs(prices).max()
    if not np.isfinite(largest) or largest == 0:
        return
    for denominator in _DENOMINATORS:
        whole = np.rint(prices / largest * denominator).astype(np.int64).tolist()
        yield Prices(RationalMatrix([[Fraction(entry, denominator) for entry in row] for row in whole]))


def _exactly(left: RationalMatrix, right: RationalMatrix, order: Sequence[int]) -> Evidence:
    """The linear program itself, in rationals."""
    (height, many), width = left.shape, right.shape[1]
    rows = [
        [row[i] if j == k else 0 for i in range(many) for k in range(width)] for row in left.rows for j in range(width)
    ]
    sums = [[int(i == k) for k in range(many) for _ in range(width)] for i in range(many)]
    target = [entry for row in right.rows for entry in row] + [Fraction(1)] * many
    answer = minimise([0] * (many * width), RationalMatrix([*rows, *sums]), target, order)
    if isinstance(answer, Optimum):
        return Remapping(RationalMatrix([answer.point[i * width : (i + 1) * width] for i in range(many)]))
    prices = [-price for price in answer.prices[: height * width]]
    return Prices(RationalMatrix([prices[x * width : (x + 1) * width] for x in range(height)]))


def proof_of(left: RationalMatrix, right: RationalMatrix) -> Evidence:
    """The first candidate that proves, or disproves, A ⊑ B."""
    return next(candidate for candidate in candidates(left, right) if candidate.proves(left, right))


def separating_loss(prices: RationalMatrix, inputs: Sequence[Hashable], guesses: Sequence[Hashable]) -> Loss:
    """Prices as a loss in whole numbers of at least zero.

    Under the uniform prior a factor changes nothing, and a number added to the row of an input adds the same to both
    channels' losses.
    """
    rows = [[entry - min(row) for entry in row] for row in prices.rows]
    scale = lcm(*(entry.denominator for row in rows for entry in row))
    whole = [[int(entry * scale) for entry in row] for row in rows]
    divisor = gcd(*(entry for row in whole for entry in row))
    table = [[Fraction(row[j], divisor) for row in whole] for j in range(len(guesses))]
    return from_matrix(table, guesses, inputs, name="separating")

"""The best of the mechanisms for a linear map: counts, sums, ranges, marginals of one histogram, released together.

x is a histogram of whole counts, one record changes one entry by one, and F·x is asked for. Each candidate adds noise
shaped like some body that contains the columns of F; the one with the least computed expected ℓ₁ error wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, NumberTooLarge, TooLarge
from leastnoise.exact import (
    Enclosure,
    Exact,
    IntegerVector,
    NumberLike,
    RationalMatrix,
    coordinates,
    distinct_columns,
    lattice_basis,
    read_integer,
    read_rate,
)
from leastnoise.mechanisms.lower_bounds import MOST_COLUMNS
from leastnoise.mechanisms.numeric.integer_noise import Geometric
from leastnoise.mechanisms.numeric.vector_laplace import VectorLaplace
from leastnoise.mechanisms.vector.ball import EuclideanBall
from leastnoise.mechanisms.vector.bodies import Body
from leastnoise.mechanisms.vector.knorm import KNorm
from leastnoise.mechanisms.vector.norms import CountingBody, CrossPolytope, Cube
from leastnoise.mechanisms.vector.polytope import Polytope
from leastnoise.model import Mechanism, Ranking, plan_for

__all__ = ["LinearMapProblem", "for_linear_map"]

_LARGEST_BALL = 20  # dimensions in which a ball is drawn quickly
_LARGEST_SQUARE = 10**9  # of the length of a column that is put into a ball
_MOST_CELLS = 64  # of a map for which a strategy is looked for, and solved in rationals
_LARGEST_ENTRY = 1 << 20  # of such a map


def for_linear_map(matrix: Sequence[Sequence[NumberLike]] | NDArray[Any], epsilon: NumberLike) -> Ranking:
    """The mechanisms for x ↦ matrix·x, the one with the least expected ℓ₁ error first, and by how much it wins.

    Args:
        matrix: Whole numbers, one row per answer and one column per entry of x; one record changes one entry by one.
        epsilon: The privacy of the whole release.

    Raises:
        BadParameter: The matrix is empty, zero, ragged or not of whole numbers.

    >>> prefix_sums = for_linear_map([[1, 0, 0], [1, 1, 0], [1, 1, 1]], "ln(3)")
    >>> print(prefix_sums)
    K-norm mechanism, l1 ball in 3 dimensions, in a basis: 3.5332 (the best)
    K-norm mechanism, body of 3 counting queries: 4.275 (+21.00%)
    K-norm mechanism, l∞ ball in 3 dimensions: 5.32895 (+50.82%)
    K-norm mechanism, l2 ball of radius √3 in 3 dimensions: 6.85779 (+94.10%)
    Laplace mechanism for vectors: 8.01188 (+126.76%)
    >>> prefix_sums.best.release([12, 40, 41]).shape
    (3,)
    """
    return plan_for(_CellsToo(matrix, epsilon))


@dataclass(frozen=True, init=False)
class LinearMapProblem:
    """Whole linear combinations of the counts of a histogram are asked for; what they cost is the ℓ₁ error.

    Args:
        matrix: One row per answer, one column per count.
        epsilon: The privacy of the whole release.
    """

    matrix: tuple[tuple[int, ...], ...]
    epsilon: Exact

    def __init__(self, matrix: Sequence[Sequence[NumberLike]] | NDArray[Any], epsilon: NumberLike) -> None:
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon"))
        object.__setattr__(self, "matrix", _read_matrix(matrix))
        if not distinct_columns(self.matrix):
            raise BadParameter("matrix must have an entry that is not zero", fix="ask for something that depends on x")

    def candidates(self) -> Iterator[Mechanism]:
        """Noise for the plain norms and for the columns themselves, leaving out what would take too long to compute."""
        columns = distinct_columns(self.matrix)
        yield VectorLaplace.for_linear_map([list(row) for row in self.matrix], self.epsilon)
        for make in self._makers(columns):
            try:
                mechanism = make()
                mechanism.expected_error()
            except (TooLarge, NumberTooLarge):
                continue
            yield mechanism

    def expected_loss(self, mechanism: Mechanism) -> Enclosure:
        """The expected sum of absolute errors, or a bound of it."""
        if isinstance(mechanism, KNorm):
            return mechanism.expected_error()
        expected = mechanism.error()
        most = expected.expected.upper
        return expected.expected if expected.attained else Enclosure(most, most)

    def _makers(self, columns: Sequence[IntegerVector]) -> Iterator[Callable[[], KNorm]]:
        dimension, longest = len(columns[0]), max(sum(entry * entry for entry in column) for column in columns)
        if dimension > 1:
            yield lambda: _with_body(Cube(dimension), columns, self.epsilon)
            yield lambda: _with_body(CountingBody(dimension), columns, self.epsilon)
            if dimension <= _LARGEST_BALL and longest <= _LARGEST_SQUARE:
                yield lambda: _with_body(EuclideanBall(dimension, longest), columns, self.epsilon)
        yield partial(_with_columns, columns, self.epsilon)


class _CellsToo(LinearMapProblem):
    """Noise on the cells of the histogram, and on sums of them, are candidates as well."""

    def candidates(self) -> Iterator[Mechanism]:
        """Those of the answers, F·(x + Z), and a strategy; for independent columns F·(x + Z) is among the first."""
        # The histogram mechanisms are made of those for vectors.
        from leastnoise.mechanisms.histogram.mapped_noise import MappedNoise

        yield from super().candidates()
        columns = distinct_columns(self.matrix)
        distinct = tuple(zip(*columns, strict=True))
        dependent = RationalMatrix(columns).rank() < len(columns)
        if dependent:
            noise = Geometric(self.epsilon)
            yield MappedNoise(distinct, noise, noise.event)
        if len(columns) <= _MOST_CELLS and max(max(map(abs, column)) for column in columns) <= _LARGEST_ENTRY:
            yield from _with_strategy(distinct, dependent, self.epsilon)


def _with_body(body: Body, columns: Sequence[IntegerVector], epsilon: Exact) -> KNorm:
    """The body, with as many steps as the furthest column takes."""
    return KNorm(epsilon, body, int(body.steps(np.array(columns, dtype=object)).max()), changes=columns)


def _with_columns(columns: Sequence[IntegerVector], epsilon: Exact) -> KNorm:
    """The hull of the columns on the lattice that they generate."""
    basis = lattice_basis(columns)
    rank, rows = len(basis), list(zip(*basis, strict=True))
    if rank == len(columns):
        return KNorm(epsilon, CrossPolytope(rank), 1, rows, columns)
    if rank > 1 and len(columns) > MOST_COLUMNS.get(rank, 0):
        raise TooLarge(
            f"the hull of {len(columns)} columns in {rank} dimensions takes too long to find",
            fix="ask for fewer answers at once",
        )
    return KNorm(epsilon, Polytope(tuple(coordinates(columns, basis))), 1, rows, columns)


def _with_strategy(matrix: tuple[IntegerVector, ...], dependent: bool, epsilon: Exact) -> Iterator[Mechanism]:
    """The best strategy found for these answers, if it is not noise on the cells or on the answers.

    Of dependent columns the cells are asked for as well, with weight zero: then the strategy may measure them all.
    """
    from leastnoise.mechanisms.strategy.mapped_strategy import MappedStrategy
    from leastnoise.mechanisms.strategy.pure_planning import plan_pure_strategy
    from leastnoise.model import ExplicitWorkload

    asked, weights = matrix, None
    if dependent:
        cells = len(matrix[0])
        asked = (*matrix, *(tuple(int(i == j) for j in range(cells)) for i in range(cells)))
        weights = [1] * len(matrix) + [0] * cells
    try:
        plan = plan_pure_strategy(ExplicitWorkload(asked), epsilon=epsilon, weights=weights)
    except TooLarge:
        return
    (part,) = plan.parts
    if plan.name not in ("noise on the cells", "noise on the answers"):
        yield MappedStrategy(matrix, part.strategy.rows, epsilon)


def _read_matrix(matrix: Sequence[Sequence[NumberLike]] | NDArray[Any]) -> tuple[tuple[int, ...], ...]:
    rows = matrix.tolist() if isinstance(matrix, np.ndarray) else matrix
    if (
        not isinstance(rows, list | tuple)
        or not rows
        or not all(isinstance(row, list | tuple) and len(row) == len(rows[0]) > 0 for row in rows)
    ):
        raise BadParameter("matrix must have rows of equal length", given=matrix, fix="pass [[1, 0], [1, 1]]")
    return tuple(
        tuple(read_integer(entry, f"matrix[{i}][{j}]") for j, entry in enumerate(row)) for i, row in enumerate(rows)
    )

"""All answers of a whole linear map from measurements of its cells: F·x + round(M·Z) with F = M·A.

A·x + Z is what is private: Z is discrete Laplace noise for the largest ℓ1 norm of a column of A. M = F·(AᵀA)⁻¹·Aᵀ is
least squares, in rationals, so that M·A = F exactly. F·x is whole, hence round(M·(A·x + Z)) = F·x + round(M·Z): the
answers are a function of what was measured, and cost nothing.

**Mean error.** Let a be a row of M. Z = L + R with |R| < 1 and L the difference of two exponential numbers of mean
b = Δ/ε, so a·Z = Y + v with Y = a·L and |v| ≤ c = ‖a‖₁. E|Y| ≤ √(4/π)·b·‖a‖ (`PureStrategyMechanism`). Y is symmetric
and unimodal (Wintner), so S(t) = P(|Y| ≥ t) is convex for t ≥ 0, and S(k + ½) is at most its mean over [k, k + 1].
Rounding alone therefore adds nothing to the mean: Σ S(k + ½) ≤ ∫S = E|Y|. For c ≤ ½ convexity gives
S(k + ½ − c) − S(k + ½) ≤ 2c·(S(k) − S(k + ½)), which add up to at most 2c. For any c the two add at most c + ½.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, lcm, prod
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    RationalMatrix,
    Size,
    Source,
    ball_of,
    enclose,
    read_rate,
    shape_of,
    sqrt_above,
)
from leastnoise.mechanisms.histogram.independent_noise import require_drawable
from leastnoise.mechanisms.histogram.mapped_noise import MappedNoise, reach_of
from leastnoise.mechanisms.numeric import Geometric
from leastnoise.mechanisms.truths import read_whole_vector
from leastnoise.model import LEVEL, Certificate, ErrorEstimate, Mechanism, Pure, Reason

__all__ = ["MappedStrategy"]

Matrix = tuple[tuple[int, ...], ...]
_FOUR_OVER_PI = Fraction(127324, 100000)  # rounded up
_DIGITS = 1 << 64


@dataclass(frozen=True, init=False)
class MappedStrategy(Mechanism):
    """F·x + round(F·(AᵀA)⁻¹·Aᵀ·Z) with discrete Laplace Z on each measurement; the truth is F·x.

    Args:
        matrix: F, one row per answer and one column per cell.
        strategy: A, one row per measurement and one column per cell; its columns are independent.
        epsilon: The privacy of the release, where one cell changes by one.

    Raises:
        BadParameter: The columns of the strategy are dependent, or not as many as those of the matrix.

    >>> sums = MappedStrategy([[1, 1], [0, 1]], [[2, 0], [0, 2], [1, 1]], epsilon=1)
    >>> sums.noise.sensitivity, sums.release([7, 3]).shape
    (3, (2,))
    """

    name: ClassVar[str] = "noise on a strategy, then the map"
    matrix: Matrix
    strategy: Matrix
    epsilon: Exact

    def __init__(self, matrix: Sequence[Sequence[int]], strategy: Sequence[Sequence[int]], epsilon: NumberLike) -> None:
        object.__setattr__(self, "matrix", tuple(map(tuple, matrix)))
        object.__setattr__(self, "strategy", tuple(map(tuple, strategy)))
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon"))
        cells = {len(row) for row in (*self.matrix, *self.strategy)}
        if len(cells) != 1 or RationalMatrix(self.strategy).rank() != cells.pop():
            raise BadParameter(
                "a strategy measures every cell of the map: its columns are as many, and independent",
                fix="add a measurement of each cell",
            )
        require_drawable(self.noise.sensitivity, self.epsilon)

    @cached_property
    def noise(self) -> Geometric:
        """What each measurement gets: noise for the largest ℓ1 norm of a column."""
        most = max(sum(map(abs, column)) for column in zip(*self.strategy, strict=True))
        return Geometric(self.epsilon, most)

    @property
    def event(self) -> Pure:
        """ε."""
        return Pure(self.epsilon)

    @cached_property
    def _map(self) -> tuple[NDArray[Any], int]:
        """M as a whole matrix over a whole number."""
        measured = RationalMatrix(self.strategy)
        turned = measured.transposed()
        solved = cast("RationalMatrix", (turned @ measured).solve(turned))  # AᵀA of independent columns has an inverse
        rows = (RationalMatrix(self.matrix) @ solved).whole_rows()
        below = lcm(*(denominator for _, denominator in rows))
        whole = [[entry * (below // denominator) for entry in row] for row, denominator in rows]
        return np.array(whole, dtype=object), below

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """The answers plus rounded noise, halves up; with `size` that many of them along new first axes."""
        true, shape = read_whole_vector(truth, len(self.matrix)), shape_of(size)
        whole, below = self._map
        noise = np.asarray(self.noise.noise((prod(shape), len(self.strategy)), source)).astype(object)
        rounded = (2 * (noise @ whole.T) + below) // (2 * below)
        return (rounded + true.astype(object)).reshape((*shape, len(self.matrix)))

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth), for a whole M with independent columns: then each output comes from one noise only.

        Raises:
            BadParameter: It does not.
        """
        whole, below = self._map
        if below > 1:
            raise BadParameter(
                "several noises on the measurements lead to the same answers, and their law has no closed form here",
                fix="use the law of the noise on the measurements",
            )
        return MappedNoise(tuple(map(tuple, whole.tolist())), self.noise, self.event).pmf(output, truth, bits)

    @cached_property
    def _rows(self) -> list[tuple[Fraction, Fraction, Fraction]]:
        """Of each row of M: the sum of the squares, the largest entry and the sum of their sizes, at most."""
        whole, below = self._map
        return [
            (
                _above(Fraction(sum(entry * entry for entry in row), below * below)),
                _above(Fraction(max(map(abs, row)), below)),
                _above(Fraction(sum(map(abs, row)), below)),
            )
            for row in whole.tolist()
        ]

    def mean_errors(self) -> list[Fraction]:
        """E|round(a·Z)| of each answer, at most."""
        mean = enclose(lambda: 1 / ball_of(self.noise.rate)).upper
        factor = sqrt_above(_FOUR_OVER_PI) * mean
        return [
            sqrt_above(squares) * factor + (2 * together if 2 * together <= 1 else together + Fraction(1, 2))
            for squares, _, together in self._rows
        ]

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """The expected ℓ1 error, at most, and the error of the worst single answer at a level."""
        expected = sum(self.mean_errors(), Fraction(0))
        half = Fraction(1, 2)
        reach = max(reach_of(self.noise, squares, largest, level) + half for squares, largest, _ in self._rows)
        return ErrorEstimate("l1", Enclosure(expected, expected), {level: reach}, attained=False)

    def reason(self) -> Reason:
        """Post-processing is free."""
        return Reason(
            "some sums of cells are measured once and all answers computed from them, at no further cost",
            "Li, Miklau, Hay, McGregor and Rastogi, VLDB Journal 24, 2015; proof in docs/theory/linear_map.md",
        )

    def certificate(self) -> Certificate:
        """That of one measurement."""
        return self.noise.certificate()


def _above(number: Fraction) -> Fraction:
    """At least a number of zero or more, with 64 digits."""
    return Fraction(ceil(number * _DIGITS), _DIGITS)

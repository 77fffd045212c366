"""The ball of ℓ₂ on the lattice, for queries whose columns are bounded in Euclidean length.

It is drawn by rejection from Laplace noise: draws with weight e^(−rate·steps(y)) wherever Σ|y_i| bounds the steps from
below.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import isqrt, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import TooLarge
from leastnoise.exact import (
    Enclosure,
    Exact,
    Source,
    at_alpha,
    discrete_laplace,
    double_of,
    enclose,
    exp_above,
    geometric,
    largest_size,
    least_whole,
    of_fraction,
    read_integer,
    wide_enough,
)
from leastnoise.mechanisms.vector.bodies import Body, Points

__all__ = ["Envelope", "EuclideanBall"]

_MOST_PROPOSALS = 1 << 15  # at a time


@dataclass(frozen=True)
class Envelope:
    """The bound part·Σ|y_i| ≤ whole·steps(y), for whole numbers part and whole.

    Propose independent coordinates with weight e^(−rate·(part/whole)·|y_i|) and accept y with probability
    e^(−(rate/whole)·k), k = whole·steps(y) − part·Σ|y_i| ≥ 0: that is the chance that a geometric number reaches k.
    """

    dimension: int
    whole: int
    part: int = 1

    def draw(
        self, steps: Callable[[NDArray[Any]], NDArray[Any]], rate: Exact, count: int, source: Source | None
    ) -> NDArray[Any]:
        """`count` independent points with P(y) ∝ e^(−rate·steps(y))."""
        found = [np.empty((0, self.dimension), dtype=np.int64)]
        missing, tried, kept = count, 0, 0
        while missing > 0:
            batch = min(_MOST_PROPOSALS, 16 + missing * (tried + 16) // (kept + 1))
            proposals = discrete_laplace(
                rate=rate * self.part / self.whole, size=(batch, self.dimension), source=source
            )
            distance, sums = steps(proposals), np.abs(wide_enough(proposals, self.dimension)).sum(axis=1)
            excess = wide_enough(distance, self.whole) * self.whole - wide_enough(sums, self.part) * self.part
            accepted = geometric(rate / self.whole, batch, source) >= excess
            found.append(proposals[accepted])
            tried, kept = tried + batch, kept + int(accepted.sum())
            missing = count - kept
        return np.concatenate(found)[:count]


_FINENESS = 64  # of the rational slope of the envelope
_LARGEST_SQUARE = 1 << 15  # of a radius out to which points are counted
_MEAN_BITS = 40
_LARGEST_RADIUS_SQUARED = 10**9
_MOST_DIMENSIONS = 32  # in which a point takes about 5,000 proposals


@dataclass(frozen=True)
class EuclideanBall(Body):
    """The ball of ℓ₂ whose radius squared is a whole number: steps(y) is the least R with Σy_i² ≤ R²·radius_squared.

    Drawn by rejection from Laplace noise: with m² ≥ 64²·d·radius_squared, 64·Σ|y_i|/m ≤ ‖y‖₂/radius (the inequality of
    Cauchy and Schwarz). That takes about 0.7·1.32^d proposals for each point: 11 in 10 dimensions, 170 in 20.

    >>> EuclideanBall(2, 1).points_within(2), EuclideanBall(2, 2).steps(np.array([[1, 1], [2, 1]])).tolist()
    (13, [1, 2])
    """

    dimension: int
    radius_squared: int

    def __post_init__(self) -> None:
        """Read both numbers."""
        super().__post_init__()
        if self.dimension > _MOST_DIMENSIONS:
            raise TooLarge(
                f"a ball of l2 is drawn in at most {_MOST_DIMENSIONS} dimensions: proposals would hardly ever be kept",
                given=self.dimension,
                fix="use CrossPolytope, Cube or CountingBody",
            )
        radius = read_integer(self.radius_squared, "radius_squared", at_least=1, at_most=_LARGEST_RADIUS_SQUARED)
        object.__setattr__(self, "radius_squared", radius)

    @property
    def name(self) -> str:
        """The ball of ℓ₂ and its radius."""
        return f"l2 ball of radius √{self.radius_squared} in {self.dimension} dimensions"

    @property
    def largest_sum(self) -> int:
        """√d·radius, rounded up."""
        return isqrt(self.dimension * self.radius_squared - 1) + 1

    def steps(self, points: Points) -> NDArray[Any]:
        """⌈√(Σy_i²/radius²)⌉, in whole numbers."""
        # √(Σy_i²) and (found + 2)·radius are at most this.
        reach = (isqrt(self.dimension) + 1) * largest_size(points) + 3 * (isqrt(self.radius_squared) + 1)
        if reach**2 >= 1 << 63:
            exact: NDArray[Any] = np.frompyfunc(self._steps_to, 1, 1)((points.astype(object) ** 2).sum(axis=-1))
            return exact
        squares = (points.astype(np.int64) ** 2).sum(axis=-1)
        rough = np.sqrt(squares / self.radius_squared).astype(np.int64)
        found: NDArray[Any] = np.maximum(rough - 1, 0)
        for _ in range(2):  # the double is right within one
            found = found + (found * found * self.radius_squared < squares)
        return found

    def _steps_to(self, square: int) -> int:
        """The least R with R²·radius_squared ≥ square."""
        return isqrt((square - 1) // self.radius_squared) + 1 if square else 0

    def points_within(self, radius: int) -> int:
        """The number of whole vectors with Σy_i² ≤ R²·radius²."""
        return self._table(self.dimension, radius)[radius * radius * self.radius_squared]

    def draw(self, rate: Exact, count: int, source: Source | None) -> Points:
        """By rejection from Laplace noise."""
        whole = isqrt(_FINENESS**2 * self.dimension * self.radius_squared - 1) + 1
        return Envelope(self.dimension, whole, _FINENESS).draw(self.steps, rate, count, source)

    def total(self, rate: Exact, bits: int = 64) -> Enclosure:
        """(1 − α)·Σ_R α^R·#, counted out to a radius beyond which a box bounds what is left."""
        return self._sum(self.points_within, rate, bits)

    def mean_absolute(self, rate: Exact) -> Enclosure:
        """d·Σ_R α^R·Σ|y_1| / Σ_R α^R·#, counted out in the same way."""
        top, bottom = self._sum(self._absolute_within, rate, _MEAN_BITS), self.total(rate, _MEAN_BITS)
        return Enclosure(self.dimension * top.lower / bottom.upper, self.dimension * top.upper / bottom.lower)

    @property
    def volume(self) -> Enclosure:
        """(π·radius²)^(d/2)/Γ(d/2 + 1)."""

        def formula() -> Any:
            pi = 4 * of_fraction(1).atan()
            half = of_fraction(Fraction(self.dimension, 2))
            return ((pi * self.radius_squared).log() * half).exp() / (half + 1).gamma()

        return enclose(formula)

    def _absolute_within(self, radius: int) -> int:
        """Σ|y_1| = 2·Σ_v v·#{other coordinates with at most R²·radius² − v²}."""
        square, table = radius * radius * self.radius_squared, self._table(self.dimension - 1, radius)
        return 2 * sum(v * table[square - v * v] for v in range(1, isqrt(square) + 1))

    def _sum(self, value: Callable[[int], int], rate: Exact, bits: int) -> Enclosure:
        """(1 − α)·Σ_R α^R·value(R), for values of at most (2Rr + 1)^(d+1), r the radius rounded up.

        Beyond the last radius counted each term is at most q < 1 times the one before.
        """
        d, r = self.dimension, isqrt(self.radius_squared - 1) + 1
        slope, power = double_of(rate), d + 1

        def negligible(last: int) -> bool:
            growth = power * log((2 * (last + 2) * r + 1) / (2 * (last + 1) * r + 1))
            return slope * (last + 1) - power * log(2 * (last + 1) * r + 1) > bits * log(2) and growth < slope / 2

        last = least_whole(negligible, start=int(2 * power / slope))
        self._table(self.dimension, last)  # refuse before anything is counted
        values = [value(radius) for radius in range(last + 1)]
        counted = at_alpha(
            rate, lambda a: (1 - a) * sum((n * a**k for k, n in enumerate(values)), start=0 * a), bits, power=last
        )
        first = 2 * (last + 1) * r + 1
        ratio = exp_above(-rate) * Fraction(first + 2 * r, first) ** power
        left = exp_above(-rate * (last + 1)) * first**power / (1 - ratio)
        return Enclosure(counted.lower, counted.upper + left)

    def _table(self, dimension: int, radius: int) -> list[int]:
        square = radius * radius * self.radius_squared
        if square > _LARGEST_SQUARE:
            raise TooLarge(
                f"its lattice points have to be counted out to √{square}, which takes too long",
                given=self.name,
                fix="use a larger epsilon, or fewer or shorter columns",
            )
        return _counted(dimension, 1 << max(square.bit_length(), 4))


@lru_cache(maxsize=16)
def _counted(dimension: int, largest: int) -> list[int]:
    """The number of whole vectors with Σy_i² ≤ k, for k = 0, …, largest.

    The coefficients of (1 + 2·Σ_v x^(v²))^d, all of them in one long whole number, `width` bits each.
    """
    width = 8 * (dimension * (2 * isqrt(largest) + 1).bit_length() // 8 + 1)
    mask = (1 << (largest + 1) * width) - 1
    powers = 1
    for _ in range(dimension):
        powers = (powers + 2 * sum(powers << v * v * width for v in range(1, isqrt(largest) + 1))) & mask
    text, size = powers.to_bytes((largest + 1) * width // 8, "little"), width // 8
    return list(accumulate(int.from_bytes(text[k * size : (k + 1) * size], "little") for k in range(largest + 1)))

"""The unit balls of ℓ₁ (Laplace noise on each coordinate) and ℓ∞; that of ℓ₂ has its own file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact.arrays import wide_enough
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.formulas import at_alpha, scaled
from leastnoise.exact.laplace_sums import l1_quantile, mean_absolute_difference, mean_absolute_sum
from leastnoise.exact.numbers import Exact
from leastnoise.exact.samplers.laplace import discrete_laplace
from leastnoise.exact.samplers.uniform import uniform_integer
from leastnoise.exact.sources import Source
from leastnoise.mechanisms.vector.bodies import FramedBody, Points, RadialBody

__all__ = ["CrossPolytope", "Cube"]


@dataclass(frozen=True)
class CrossPolytope(FramedBody):
    """The unit ball of ℓ₁: steps(y) = Σ|y_i|, so the coordinates are independent discrete Laplace numbers.

    >>> from leastnoise.exact import ln
    >>> CrossPolytope(2).points_within(1), CrossPolytope(2).total(ln(3)), CrossPolytope(2).mean_absolute(ln(3))
    (5, Enclosure(4), Enclosure(3/2))
    """

    dimension: int

    @property
    def name(self) -> str:
        """The unit ball of ℓ₁."""
        return f"l1 ball in {self.dimension} dimensions"

    @property
    def corners(self) -> tuple[tuple[int, ...], ...]:
        """The unit vectors."""
        return tuple(tuple(int(i == j) for j in range(self.dimension)) for i in range(self.dimension))

    def steps(self, points: Points) -> NDArray[Any]:
        """Σ|y_i|."""
        steps: NDArray[Any] = np.abs(wide_enough(points, self.dimension)).sum(axis=-1)
        return steps

    def points_within(self, radius: int) -> int:
        """Σ_k C(d, k)·C(R, k)·2^k, with k coordinates that are not zero."""
        return sum(comb(self.dimension, k) * comb(radius, k) * 2**k for k in range(self.dimension + 1))

    def draw(self, rate: Exact, count: int, source: Source | None) -> Points:
        """Independent coordinates."""
        drawn: Points = discrete_laplace(rate=rate, size=(count, self.dimension), source=source)
        return drawn

    @property
    def largest_sum(self) -> int:
        """One, at a corner."""
        return 1

    def quantile(self, level: Fraction, rate: Exact) -> int:
        """That of Σ|y_i| for independent discrete Laplace numbers."""
        return l1_quantile(rate, self.dimension, level)

    def total(self, rate: Exact, bits: int = 64) -> Enclosure:
        """((1 + α)/(1 − α))^d."""
        return at_alpha(rate, lambda a: ((1 + a) / (1 - a)) ** self.dimension, bits, power=self.dimension)

    def mean_absolute(self, rate: Exact) -> Enclosure:
        """d·2α/(1 − α²)."""
        return at_alpha(rate, lambda a: 2 * self.dimension * a / (1 - a * a))

    def mean_absolute_along(self, row: Sequence[int], rate: Exact) -> Enclosure:
        """A discrete Laplace number is the difference of two geometric ones."""
        live = [entry for entry in row if entry]
        if len(live) == 1:
            return at_alpha(rate, lambda a: 2 * abs(live[0]) * a / (1 - a * a))
        if len(set(map(abs, live))) == 1:
            return scaled(mean_absolute_difference(len(live), rate), abs(live[0]))
        return mean_absolute_sum(0, [*live, *(-entry for entry in live)], rate)

    @property
    def volume(self) -> Enclosure:
        """2^d/d!."""
        exact = Fraction(2**self.dimension, factorial(self.dimension))
        return Enclosure(exact, exact)


@dataclass(frozen=True)
class Cube(RadialBody):
    """The unit ball of ℓ∞: steps(y) = max|y_i|.

    >>> Cube(2).points_within(1), Cube(3).volume
    (9, Enclosure(8))
    """

    dimension: int

    @property
    def name(self) -> str:
        """The unit ball of ℓ∞."""
        return f"l∞ ball in {self.dimension} dimensions"

    @property
    def largest_sum(self) -> int:
        """The dimension, at a corner."""
        return self.dimension

    def steps(self, points: Points) -> NDArray[Any]:
        """The largest |y_i|."""
        steps: NDArray[Any] = np.abs(wide_enough(points, 1)).max(axis=-1)
        return steps

    def points_within(self, radius: int) -> int:
        """(2R + 1)^d."""
        points: int = (2 * radius + 1) ** self.dimension
        return points

    def absolute_within(self, radius: int) -> int:
        """R(R + 1)·(2R + 1)^(d−1)."""
        total: int = radius * (radius + 1) * (2 * radius + 1) ** (self.dimension - 1)
        return total

    def draw_within(self, radii: NDArray[np.int64], source: Source | None) -> Points:
        """Independent coordinates, uniform on −R..R; 2R + 1 is at most 2^63."""
        wide = np.broadcast_to(radii[:, np.newaxis], (len(radii), self.dimension))
        drawn: Points = uniform_integer(2 * wide + 1, source=source)
        return drawn - wide

"""The unit balls of ℓ₁ (Laplace noise on each coordinate) and ℓ∞, and the body of counting queries.

For d counting queries one record more or less adds or subtracts any vector of zeros and ones. K = conv({0, 1}^d ∪ −{0,
1}^d), so ‖y‖_K = max y⁺ + max y⁻ (the largest coordinate, if positive, minus the smallest, if negative): y = Σ_t 1[y ≥
t] − Σ_t 1[y ≤ −t] takes so many vectors, and no fewer will do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact import (
    Enclosure,
    Exact,
    Source,
    at_alpha,
    discrete_laplace,
    l1_quantile,
    mean_absolute_difference,
    mean_absolute_sum,
    scaled,
    uniform_integer,
    wide_enough,
)
from leastnoise.mechanisms.vector.bodies import FramedBody, Points, RadialBody

__all__ = ["CountingBody", "CrossPolytope", "Cube"]


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


@dataclass(frozen=True)
class CountingBody(RadialBody):
    """K = conv({0, 1}^d ∪ −{0, 1}^d): steps(y) = max(0, max y_i) + max(0, max −y_i).

    R·K ∩ Z^d is the union of the cubes {m − R, …, m}^d, m = 0, …, R. Two neighbouring ones share R^d points, and what
    two others share lies in those between them, so there are (R + 1)·(R + 1)^d − R·R^d points.

    >>> CountingBody(2).points_within(1), CountingBody(3).volume, CountingBody(2).steps(np.array([[3, -2]])).tolist()
    (7, Enclosure(4), [5])
    """

    dimension: int

    @property
    def name(self) -> str:
        """Counting queries."""
        return f"body of {self.dimension} counting queries"

    @property
    def largest_sum(self) -> int:
        """The dimension, where all coordinates are one."""
        return self.dimension

    def steps(self, points: Points) -> NDArray[Any]:
        """The largest positive part plus the largest negative part."""
        wide = wide_enough(points, 2)
        steps: NDArray[Any] = np.maximum(wide.max(axis=-1), 0) + np.maximum(-wide.min(axis=-1), 0)
        return steps

    def points_within(self, radius: int) -> int:
        """(R + 1)^(d+1) − R^(d+1)."""
        points: int = (radius + 1) ** (self.dimension + 1) - radius ** (self.dimension + 1)
        return points

    def absolute_within(self, radius: int) -> int:
        """R(R + 1)/3·((R + 2)·(R + 1)^(d−1) − (R − 1)·R^(d−1)).

        A value v > 0 of y_1 leaves R − v + 1 cubes and R − v pairs of neighbours; the same below zero.
        """
        r, e = radius, self.dimension - 1
        total: int = r * (r + 1) * ((r + 2) * (r + 1) ** e - (r - 1) * r**e) // 3
        return total

    def draw_within(self, radii: NDArray[np.int64], source: Source | None) -> Points:
        """A uniform point of the union of cubes; those of cube m ≥ 1 that no smaller one has are those with max y = m.

        Up to R = d propose any cube and any point of it, and keep it if it is one of those. Beyond propose cube 0 with
        weight R + 1 and each pair of a cube m ≥ 1 and a coordinate that is to be m with weight 1. A point of which k
        coordinates are m is proposed in k ways: keep it where the pair has the first of them. More than half are kept.
        """
        out = np.empty((len(radii), self.dimension), dtype=np.int64)
        pending = np.arange(len(radii))
        while len(pending):
            wide = radii[pending]
            far = wide > self.dimension
            bounds = np.repeat(wide[:, np.newaxis] + 1, self.dimension + 1, axis=1)
            bounds[far, -1] += wide[far] * self.dimension
            drawn = uniform_integer(bounds, source=source)
            depth, cube = drawn[:, :-1], drawn[:, -1]
            kept = (cube == 0) | (depth.min(axis=1) == 0)
            if far.any():
                pair = cube[far] - (wide[far] + 1)
                cube[far], kept[far] = 0, True
                paired = far.nonzero()[0][pair >= 0]
                below, place = np.divmod(pair[pair >= 0], self.dimension)
                cube[paired] = below + 1
                depth[paired, place] = 0
                kept[paired] = (depth[paired] == 0).argmax(axis=1) == place
            out[pending[kept]] = cube[kept, np.newaxis] - depth[kept]
            pending = pending[~kept]
        return out

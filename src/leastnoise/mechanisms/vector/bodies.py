"""Convex bodies K on the lattice Z^d: how many steps a point is away, and how to draw with weight e^(−rate·steps).

steps(y) = ⌈‖y‖_K⌉ is the least whole R with y in R·K. As ‖·‖_K is a norm, steps(y + z) ≤ steps(y) + steps(z).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import NumberTooLarge, TooLarge
from leastnoise.exact import (
    Enclosure,
    Exact,
    ExponentialLaw,
    Source,
    at_alpha,
    largest_size,
    least_whole,
    negative_binomial,
    numerator,
    power_sum,
    ratio_of_power_sums,
    read_integer,
    read_rate,
    system_source,
    tail_sum,
)

__all__ = ["Body", "FramedBody", "Points", "PolynomialBody", "RadialBody", "total_of"]

Points = NDArray[Any]  # one point per row, whole numbers
_MOST = 10_000  # dimensions
_MOST_RADIAL = 256  # of a body whose lattice points are counted


def total_of(parts: Sequence[Enclosure]) -> Enclosure:
    """The sum of enclosed numbers."""
    lower = sum((part.lower for part in parts), start=Fraction(0))
    return Enclosure(lower, sum((part.upper for part in parts), start=Fraction(0)))


class Body(ABC):
    """A symmetric convex body K in d dimensions; equal if built alike.

    Attributes:
        dimension: The number d of coordinates.
    """

    dimension: int

    def __post_init__(self) -> None:
        """Read the dimension."""
        object.__setattr__(self, "dimension", read_integer(self.dimension, "dimension", at_least=1, at_most=_MOST))

    @property
    @abstractmethod
    def name(self) -> str:
        """What K is, in a few words."""

    @abstractmethod
    def steps(self, points: Points) -> NDArray[Any]:
        """The least whole R with the point in R·K, for each row."""

    @abstractmethod
    def points_within(self, radius: int) -> int:
        """#(R·K ∩ Z^d)."""

    @abstractmethod
    def draw(self, rate: Exact, count: int, source: Source | None) -> Points:
        """`count` independent points y with P(y) ∝ e^(−rate·steps(y))."""

    @abstractmethod
    def total(self, rate: Exact, bits: int = 64) -> Enclosure:
        """Σ e^(−rate·steps(y)) over all lattice points."""

    @abstractmethod
    def mean_absolute(self, rate: Exact) -> Enclosure:
        """E Σ|y_i|."""

    @property
    @abstractmethod
    def volume(self) -> Enclosure:
        """The volume of K."""

    @property
    @abstractmethod
    def largest_sum(self) -> int:
        """A bound of Σ|y_i| on K."""

    def share_within(self, radius: int, rate: Exact) -> Fraction:
        """A lower bound of P(steps(y) ≤ radius), close to it, shell by shell."""
        counts = [self.points_within(r) for r in range(radius + 1)]
        shells = [after - before for before, after in pairwise([0, *counts])]
        inside = at_alpha(rate, lambda a: sum((n * a**r for r, n in enumerate(shells)), start=0 * a), power=radius)
        return inside.lower / self.total(rate).upper

    def quantile(self, level: Fraction, rate: Exact) -> int:
        """The least R with P(steps(y) ≤ R) ≥ level, or a little more."""
        return least_whole(lambda radius: self.share_within(radius, rate) >= level)


class PolynomialBody(Body):
    """A polytope with whole corners: P(R) = #(R·K ∩ Z^d) is a polynomial in R of degree d (Ehrhart)."""

    def share_within(self, radius: int, rate: Exact) -> Fraction:
        """A lower bound of P(steps(y) ≤ radius), close to it, in closed form.

        Σ_{r>R} (P(r) − P(r − 1))·α^r = α^(R+1)·((1 − α)·Σ_j P(R + 1 + j)·α^j − P(R)).
        """
        values = [self.points_within(radius + 1 + step) for step in range(self.dimension + 1)]
        beyond = tail_sum(values, self.points_within(radius), radius + 1, rate)
        return 1 - beyond.upper / self.total(rate).lower


class FramedBody(PolynomialBody):
    """A polytope whose points may be taken as coordinates in any basis: the mean along any row is known."""

    @property
    @abstractmethod
    def corners(self) -> tuple[tuple[int, ...], ...]:
        """The corners of K, or more points of it, one of each opposite pair."""

    @property
    def largest_sum(self) -> int:
        """The largest Σ|y_i| of a corner."""
        return max(sum(map(abs, corner)) for corner in self.corners)

    @abstractmethod
    def mean_absolute_along(self, row: Sequence[int], rate: Exact) -> Enclosure:
        """E|Σ row_i·y_i|."""

    def mean_absolute(self, rate: Exact) -> Enclosure:
        """E Σ|y_i|."""
        rows = [[int(i == j) for j in range(self.dimension)] for i in range(self.dimension)]
        return total_of([self.mean_absolute_along(row, rate) for row in rows])


class RadialBody(PolynomialBody):
    """A polytope with whole corners whose lattice points can be counted and drawn uniformly at each radius.

    e^(−rate·steps(y)) = (1 − α)·Σ_{R ≥ steps(y)} α^R with α = e^-rate. So draw a radius R, P(R) ∝ α^R·#(R·K ∩ Z^d), and
    then a uniform lattice point of R·K. By the h*-vector, R = I + N with independent N, the sum of d + 1 geometric
    numbers, and I in 0, …, d with P(I = i) ∝ h*_i·α^i. Nothing is rejected.
    """

    def __post_init__(self) -> None:
        """Refuse more dimensions than the h*-vector is computed for."""
        super().__post_init__()
        if self.dimension > _MOST_RADIAL:
            raise TooLarge(
                f"the lattice points of this body are counted in at most {_MOST_RADIAL} dimensions",
                given=self.dimension,
                fix="use CrossPolytope, or ask for fewer answers at once",
            )

    @abstractmethod
    def absolute_within(self, radius: int) -> int:
        """Σ |y_1| over the lattice points of R·K, a polynomial in R of degree d + 1; the same for every coordinate."""

    @abstractmethod
    def draw_within(self, radii: NDArray[np.int64], source: Source | None) -> Points:
        """A uniform lattice point of R·K for each radius R."""

    def draw(self, rate: Exact, count: int, source: Source | None) -> Points:
        """By radius, then uniformly."""
        first = _first_radii(self, rate).draw(count, source or system_source)
        radii = first + negative_binomial(self.dimension + 1, rate, count, source)
        if largest_size(radii) * (self.dimension + 1) >= 1 << 62:  # so that nothing computed from a radius can wrap
            raise NumberTooLarge("a radius does not fit into 64 bits; nothing was wrapped", fix="use a larger epsilon")
        return self.draw_within(radii.astype(np.int64), source)

    def total(self, rate: Exact, bits: int = 64) -> Enclosure:
        """(1 − α)·Σ_R α^R·#(R·K ∩ Z^d), a rational function of α."""
        return power_sum(self._counts, rate, bits)

    def mean_absolute(self, rate: Exact) -> Enclosure:
        """d·Σ_R α^R·Σ|y_1| / Σ_R α^R·#(R·K ∩ Z^d), exactly."""
        sums = [self.dimension * self.absolute_within(radius) for radius in range(self.dimension + 2)]
        return ratio_of_power_sums(sums, self._counts, rate)

    @property
    def volume(self) -> Enclosure:
        """Σ_i h*_i / d!."""
        exact = Fraction(sum(self._h_star), factorial(self.dimension))
        return Enclosure(exact, exact)

    @cached_property
    def _counts(self) -> list[int]:
        return [self.points_within(radius) for radius in range(self.dimension + 1)]

    @cached_property
    def _h_star(self) -> list[int]:
        return numerator(self._counts)


@lru_cache(maxsize=64)
def _first_radii(body: RadialBody, rate: Exact) -> ExponentialLaw:
    """The law of I, kept for the next release."""
    weights = body._h_star
    return ExponentialLaw([-i for i in range(len(weights))], weights, read_rate(rate, "rate", reach=500))

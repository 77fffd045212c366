"""Laplace noise for a real answer, on a public lattice.

The answer x is rounded to the nearest point k·g of the lattice (half-way up) and released as (k + X)·g with discrete
Laplace noise, P(X = j) = (1 − α)/(1 + α)·α^|j|, α = e^(−ε/m). If one person changes x by at most Δ then k changes by
at most m = ⌈Δ/g⌉, and for some x by that much: so this m is right, and ε-privacy follows. No float takes part: the low
bits that betray floating-point Laplace noise (Mironov 2012, Haney et al. 2022) do not exist.

At distance φ·g, φ ≤ ½, from its lattice point the answer's expected absolute error is g·(2α/(1 − α²) + φ·(1 − α)/(1 +
α)), at worst g/2·(1 + α)/(1 − α) = g/2·coth(ε/2m). With g = Δ/m this is Δ/ε·(t/2·coth(t/2)), t = ε/m: between 1 and 1
+ t²/12 times the error Δ/ε of continuous Laplace noise. So the wanted extra loss gives the lattice.

On a lattice origin + k·step real numbers go in by one stated rounding, doubles come out by one conversion.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Size,
    Source,
    at_alpha,
    largest_size,
    least_whole,
    read_rate,
    read_rational,
    scaled,
)
from leastnoise.mechanisms.numeric.integer_noise import Geometric
from leastnoise.mechanisms.truths import read_real
from leastnoise.model import LEVEL, Certificate, ErrorEstimate, LaplaceNoise, Mechanism, Reason

__all__ = ["LARGEST", "LatticeLaplace", "RealLattice", "read_length"]

LARGEST = 1 << 1000
_LARGEST_LENGTH = 1 << 500
_EXACT = 1 << 53  # whole numbers up to this are doubles


def read_length(value: NumberLike, name: str) -> Fraction:
    """A positive length between 2^-500 and 2^500, so that no sum or product leaves the range of doubles."""
    length = read_rational(value, name, above=0)
    if not Fraction(1, _LARGEST_LENGTH) <= length <= _LARGEST_LENGTH:
        raise BadParameter(f"{name} must lie between 2^-500 and 2^500", given=value, fix="measure in another unit")
    return length


@dataclass(frozen=True)
class RealLattice:
    """The points origin + k·step for whole k."""

    step: Fraction
    origin: Fraction = Fraction(0)

    def nearest(self, number: Fraction) -> int:
        """The k of the nearest point; half-way goes up.

        ⌊u + d⌋ ≤ ⌊u⌋ + ⌈d⌉, so numbers at distance D give k that differ by at most ⌈D/step⌉. Rounding half-way cases to
        even would break that: ½ and 3/2 would become 0 and 2.
        """
        return math.floor((number - self.origin) / self.step + Fraction(1, 2))

    def double(self, k: int) -> float:
        """The double nearest to point k."""
        return float(self.origin + k * self.step)

    def doubles(self, k: NDArray[Any]) -> NDArray[np.float64]:
        """The doubles nearest to many points; equal to `double` for each.

        With origin + k·step = (a + k·b)/c, the quotient of two whole doubles is rounded once; where a numerator or c
        would not be a double itself, fractions are rounded one by one.
        """
        c = math.lcm(self.step.denominator, self.origin.denominator)
        a, b = int(self.origin * c), int(self.step * c)
        if k.dtype != object and abs(a) + largest_size(k) * b <= _EXACT and c <= _EXACT:
            return (a + k.astype(np.int64) * b).astype(np.float64) / c
        points = np.empty(k.shape)
        points.ravel()[:] = [self.double(int(one)) for one in k.flat]
        return points

    def places(self, value: float) -> range:
        """All k whose double is `value`: one or none, or several where doubles are coarser than the lattice."""
        if not math.isfinite(value):
            return range(0)
        start = math.floor((Fraction(value) - 2 * Fraction(math.ulp(value)) - self.origin) / self.step)
        first = least_whole(lambda k: self.double(k) >= value, start)
        return range(first, least_whole(lambda k: self.double(k) > value, first))


@dataclass(frozen=True, init=False)
class LatticeLaplace(Mechanism):
    """A real number plus Laplace noise, released as the double nearest to a point of a public lattice.

    Floats are taken as exactly the numbers they are. Answers beyond ±2^1000 count as ±2^1000.

    Args:
        epsilon: The privacy of one release.
        sensitivity: The most that one person can change the answer.
        step: The distance of neighbouring lattice points; best a whole fraction of the sensitivity.

    >>> mean = LatticeLaplace("ln(3)", sensitivity=0.5, step=0.25)
    >>> mean.steps, mean.pmf(1.25, 1.1), mean.error().expected
    (2, Enclosure(≈ 0.154700538379252), Enclosure(≈ 0.46650635094611))
    """

    name: ClassVar[str] = "Laplace mechanism on a lattice"
    epsilon: Exact
    sensitivity: Fraction
    step: Fraction

    def __init__(self, epsilon: NumberLike, sensitivity: NumberLike, step: NumberLike) -> None:
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon"))
        object.__setattr__(self, "sensitivity", read_length(sensitivity, "sensitivity"))
        object.__setattr__(self, "step", read_length(step, "step"))
        if self.sensitivity > self.epsilon * LARGEST:
            raise BadParameter("epsilon is too small for this sensitivity", given=epsilon, fix="use another unit")
        read_rate(self._noise.rate, "epsilon per step")

    @classmethod
    def for_extra_loss(cls, epsilon: NumberLike, sensitivity: NumberLike, extra_loss: NumberLike) -> LatticeLaplace:
        """The coarsest lattice whose worst expected error exceeds Δ/ε by at most `extra_loss`.

        >>> LatticeLaplace.for_extra_loss(1, sensitivity=1, extra_loss=0.01).step
        Fraction(1, 3)
        """
        number, most = read_rate(epsilon, "epsilon"), read_length(sensitivity, "sensitivity")
        extra = read_rational(extra_loss, "extra_loss", above=0)

        def fine_enough(steps: int) -> bool:
            worst = cls(number, most, most / steps).error_bound(128).upper
            return bool(number * (worst - extra) <= most)

        return cls(number, most, most / least_whole(fine_enough, start=1))

    @property
    def steps(self) -> int:
        """⌈sensitivity/step⌉: by how many steps one person can move the rounded answer."""
        return -(-self.sensitivity // self.step)

    @property
    def event(self) -> LaplaceNoise:
        """That of one release."""
        return LaplaceNoise(self.epsilon, steps=self.steps)

    @property
    def _noise(self) -> Geometric:
        return Geometric(self.epsilon, self.steps)

    def _place(self, truth: Any) -> int:
        number = min(max(read_real(truth), Fraction(-LARGEST)), Fraction(LARGEST))
        return RealLattice(self.step).nearest(number)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """Draw a lattice point near the answer, as a double."""
        drawn = self._noise.draw(self._place(truth), size, source)
        return RealLattice(self.step).double(drawn) if size is None else RealLattice(self.step).doubles(drawn)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth) for a double, or for any number by the double nearest to it."""
        places = RealLattice(self.step).places(float(read_real(output)))
        place, noise = self._place(truth), self._noise
        if len(places) == 1:
            return noise.pmf(places[0], place, bits)
        if not places:
            return Enclosure(Fraction(0), Fraction(0))
        up_to, before = noise.cdf(places[-1], place, bits), noise.cdf(places[0] - 1, place, bits)
        return Enclosure(max(up_to.lower - before.upper, Fraction(0)), up_to.upper - before.lower)

    def error_bound(self, bits: int = 64) -> Enclosure:
        """step/2·(1 + α)/(1 − α): the expected absolute error of an answer half-way between lattice points."""
        return scaled(at_alpha(self._noise.rate, lambda a: (1 + a) / (1 - a), bits), self.step / 2)

    def error_at(self, truth: Any, bits: int = 64) -> Enclosure:
        """The expected absolute error at one answer."""
        distance = abs(read_real(truth) / self.step - self._place(truth))
        far, here = self._noise.moment(1, bits), self._noise.noise_pmf(0, bits)
        return scaled(Enclosure(far.lower + distance * here.lower, far.upper + distance * here.upper), self.step)

    def error(self) -> ErrorEstimate:
        """The largest expected absolute error over all truths, and a 95 % quantile for all of them."""
        quantiles = {LEVEL: (self._noise.quantile() + Fraction(1, 2)) * self.step}
        return ErrorEstimate("absolute", self.error_bound(), quantiles, attained=False)

    def reason(self) -> Reason:
        """As the lattice gets finer it is the Laplace mechanism; no noise at all beats the continuous staircase."""
        bound = at_alpha(self.epsilon / 2, lambda b: b / (1 - b * b))
        return Reason(
            "Laplace noise up to a stated lattice; no private noise has an expected absolute error below that of the "
            "continuous staircase, Δ·e^(ε/2)/(e^ε − 1)",
            "Geng and Viswanath, IEEE Transactions on Information Theory 62(2), 2016",
            scaled(bound, self.sensitivity),
        )

    def certificate(self) -> Certificate:
        """That of the noise, in steps of the lattice."""
        return self._noise.certificate()

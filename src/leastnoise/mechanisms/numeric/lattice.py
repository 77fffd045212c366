"""A public lattice origin + k·step: real numbers go in by one stated rounding, doubles come out by one conversion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact.arrays import largest_size
from leastnoise.exact.parameters import NumberLike, read_rational
from leastnoise.mechanisms.numeric.formulas import least_whole

__all__ = ["LARGEST", "Lattice", "read_length"]

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
class Lattice:
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

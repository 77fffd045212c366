"""The factor e^ε that ratios of probabilities are held against, and exact comparison with it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from leastnoise.exact.enclosures import Enclosure, exp_enclosure
from leastnoise.exact.numbers import Exact, ln

__all__ = ["Factor"]

_FIRST_BITS = 64
_GOOD_BITS = 48


@dataclass(frozen=True)
class Factor:
    """t = e^exponent. Every comparison of t with a rational is decided, whether or not t is rational.

    A rational r is compared with an enclosure of t first; what that leaves open is ln r against the exponent, two
    numbers whose order `LogSum` decides exactly, equality included.

    >>> Factor(ln(4)).compare(Fraction(4)), Factor(Fraction(1)).compare(Fraction(3))
    (0, 1)
    """

    exponent: Exact

    @cached_property
    def bounds(self) -> Enclosure:
        """Rationals around t; both are t where it is known to be rational."""
        return exp_enclosure(self.exponent, _FIRST_BITS)

    def compare(self, ratio: Fraction) -> int:
        """The sign of ratio − t: −1, 0 or 1."""
        if ratio < self.bounds.lower:
            return -1
        if ratio > self.bounds.upper:
            return 1
        if self.bounds.is_exact:
            return 0
        logarithm = ln(ratio)
        return 0 if logarithm == self.exponent else 1 if logarithm > self.exponent else -1

    def is_exceeded(self, probability: Fraction, neighbour: Fraction) -> bool:
        """Whether probability > t·neighbour, for a neighbour of at least zero."""
        if neighbour == 0 or probability <= 0:
            return probability > 0
        return self.compare(probability / neighbour) > 0

    def excess(self, probability: Fraction, neighbour: Fraction) -> Fraction | Enclosure:
        """The difference probability − t·neighbour, exact where t is rational, else to 48 bits relative to its size."""
        if neighbour and self.compare(probability / neighbour) == 0:
            return Fraction(0)
        bits = _FIRST_BITS
        while True:
            t = exp_enclosure(self.exponent, bits)
            low, high = probability - t.upper * neighbour, probability - t.lower * neighbour
            if low == high:
                return low
            if (high - low) * 2**_GOOD_BITS <= min(abs(low), abs(high)):
                return Enclosure(low, high)
            bits *= 2

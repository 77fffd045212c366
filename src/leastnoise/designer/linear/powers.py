"""Powers of e^(ε·unit) as numbers to compute with: exact where it is rational, else on the side that is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import floor, frexp

from leastnoise.exact import Exact, exact_exp, exp_above, exp_below

__all__ = ["Powers"]

_BITS = 80
_BITS_PER_RATE = 3  # two powers of e
_SLACK_BITS = 56


@dataclass(frozen=True)
class Powers:
    """β^k for whole k, where β = e^rate and rate = ε·unit."""

    rate: Exact

    @cached_property
    def base(self) -> Fraction | None:
        """β where it is rational."""
        return exact_exp(self.rate)

    @cached_property
    def float_rate(self) -> float:
        """The rate as a double, for guesses."""
        return float(self.rate)

    @cached_property
    def digits(self) -> int:
        """How many bits to compute with.

        A loss may be as small as 1/β, and is a difference of numbers of size one; and β may be as near to one as the
        unit of length is small.
        """
        return _BITS + int(_BITS_PER_RATE * self.float_rate) + self._bits_to_one

    @cached_property
    def _bits_to_one(self) -> int:
        return max(0, -frexp(self.float_rate)[1])

    @cached_property
    def _private_rate(self) -> Exact:
        """A little less than the rate, so that rounded powers keep their ratios below the true ones."""
        slack: Exact = Fraction(self.float_rate) / 2**_SLACK_BITS
        return self.rate - slack

    def whole(self, exponents: Sequence[int]) -> list[int]:
        """Whole numbers in the ratio of the powers, to `digits` bits where β is irrational."""
        low, high = min(exponents), max(exponents)
        if self.base is None:
            return [_whole(self, exponent - low) for exponent in exponents]
        top, bottom = self.base.numerator, self.base.denominator
        return [top ** (exponent - low) * bottom ** (high - exponent) for exponent in exponents]

    def private(self, exponent: int) -> Fraction:
        """Nearly β^exponent, such that P(i) ≤ β^k·P(j) for these numbers P and all i, j and k > 0 with i − j ≤ k.

        An irrational power is replaced by that of a rate lower by 2^-56 of itself, rounded to so many bits that the
        inequality still holds.
        """
        return self.base**exponent if self.base is not None else _private(self, exponent)

    def below(self, exponent: int) -> Fraction:
        """β^exponent or a little less."""
        return self.base**exponent if self.base is not None else _below(self, exponent)

    def above(self, exponent: int) -> Fraction:
        """β^exponent or a little more."""
        return self.base**exponent if self.base is not None else _above(self, exponent)


@lru_cache(maxsize=1 << 16)
def _whole(powers: Powers, exponent: int) -> int:
    return int(exp_below(powers.rate * exponent, powers.digits + 8) * 2**powers.digits)


@lru_cache(maxsize=4096)
def _below(powers: Powers, exponent: int) -> Fraction:
    bits = powers.digits + int(_BITS_PER_RATE * powers.float_rate * exponent)
    return _short(exp_below(powers.rate * exponent, bits), bits)


@lru_cache(maxsize=4096)
def _above(powers: Powers, exponent: int) -> Fraction:
    bits = powers.digits + int(_BITS_PER_RATE * powers.float_rate * exponent)
    return -_short(-exp_above(powers.rate * exponent, bits), bits)


@lru_cache(maxsize=4096)
def _private(powers: Powers, exponent: int) -> Fraction:
    # What rounding adds to a ratio, 2^(3 − bits), is less than the slack of one step, rate·2^-56, takes away.
    bits = _SLACK_BITS + 8 + powers._bits_to_one
    return _short(exp_below(powers._private_rate * exponent, bits + 4), bits)


def _short(number: Fraction, bits: int) -> Fraction:
    """The number rounded down to about this many significant bits."""
    scale = Fraction(2) ** (bits - number.numerator.bit_length() + number.denominator.bit_length())
    return floor(number * scale) / scale

"""Rational enclosures of e^x, ln x and √x at any precision, with the direction in the name.

`exp_below(x, bits)` is a rational at most e^x and within a factor 1 − 2^-bits of it; `exp_above` the mirror image;
where the number itself is rational both return it. Arb's balls are proven to contain the number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from math import inf, isqrt

from leastnoise.errors import BadParameter
from leastnoise.exact.balls import Ball, above, below, of_fraction, precise
from leastnoise.exact.numbers import Exact, LogSum, ball_of, double_of, exact_exp, require_rational

__all__ = [
    "Enclosure",
    "enclose",
    "exp_above",
    "exp_below",
    "exp_enclosure",
    "ln_above",
    "ln_below",
    "ln_enclosure",
    "sqrt_above",
    "sqrt_below",
    "sqrt_enclosure",
]


@dataclass(frozen=True)
class Enclosure:
    """Two rationals with the number surely between them; equal where the number is known exactly.

    >>> exp_enclosure(1), sqrt_enclosure(Fraction(9, 4))
    (Enclosure(≈ 2.71828182845905), Enclosure(3/2))
    """

    lower: Fraction
    upper: Fraction

    @property
    def is_exact(self) -> bool:
        """Whether the number is known exactly."""
        return self.lower == self.upper

    @property
    def width(self) -> Fraction:
        """How far the two ends are apart."""
        return self.upper - self.lower

    def __contains__(self, number: Exact | int) -> bool:
        """Whether a number lies between the two ends."""
        return bool(self.lower <= number <= self.upper)

    def __float__(self) -> float:
        """The middle, as a double: for display only, it decides nothing."""
        return double_of((self.lower + self.upper) / 2)

    def __repr__(self) -> str:
        """Fifteen digits of the middle, or the number itself where it is known."""
        return f"Enclosure({self.lower})" if self.is_exact else f"Enclosure(≈ {_digits((self.lower + self.upper) / 2)})"


def _digits(number: Fraction) -> str:
    """Fifteen digits, for numbers of any size."""
    nearest = double_of(number)
    if number and (nearest == 0 or abs(nearest) == inf):
        with localcontext(prec=15):
            return f"{(Decimal(number.numerator) / Decimal(number.denominator)).normalize():e}"
    return f"{nearest:.15g}"


def enclose(expression: Callable[[], Ball], bits: int = 64) -> Enclosure:
    """Enclose what an expression over balls evaluates to, to `bits` bits relative to its size."""
    ball = precise(expression, bits)
    return Enclosure(below(ball), above(ball))


def exp_enclosure(exponent: Exact | int, bits: int = 64) -> Enclosure:
    """Enclose e^exponent."""
    exponent = exponent if isinstance(exponent, LogSum) else require_rational(exponent, "exponent")
    known = exact_exp(exponent)
    if known is not None:
        return Enclosure(known, known)
    return enclose(lambda: ball_of(exponent).exp(), bits)


def exp_below(exponent: Exact | int, bits: int = 64) -> Fraction:
    """A rational at most e^exponent.

    >>> float(exp_below(1)) <= 2.718281828459045 <= float(exp_above(1))
    True
    """
    return exp_enclosure(exponent, bits).lower


def exp_above(exponent: Exact | int, bits: int = 64) -> Fraction:
    """A rational at least e^exponent."""
    return exp_enclosure(exponent, bits).upper


def ln_below(argument: Fraction | int, bits: int = 64) -> Fraction:
    """A rational at most ln(argument).

    >>> ln_below(1), ln_below(3) < ln_above(3)
    (Fraction(0, 1), True)
    """
    return ln_enclosure(argument, bits).lower


def ln_above(argument: Fraction | int, bits: int = 64) -> Fraction:
    """A rational at least ln(argument)."""
    return ln_enclosure(argument, bits).upper


def sqrt_below(argument: Fraction | int, bits: int = 64) -> Fraction:
    """A rational at most √argument.

    >>> sqrt_below(Fraction(9, 4)), sqrt_below(2) ** 2 < 2 < sqrt_above(2) ** 2
    (Fraction(3, 2), True)
    """
    return sqrt_enclosure(argument, bits).lower


def sqrt_above(argument: Fraction | int, bits: int = 64) -> Fraction:
    """A rational at least √argument."""
    return sqrt_enclosure(argument, bits).upper


def ln_enclosure(argument: Fraction | int, bits: int = 64) -> Enclosure:
    """Enclose ln(argument)."""
    argument = require_rational(argument, "argument")
    if argument <= 0:
        raise BadParameter("a logarithm needs a positive argument", given=argument, fix="pass a number above zero")
    if argument == 1:
        return Enclosure(Fraction(0), Fraction(0))
    return enclose(lambda: of_fraction(argument).log(), bits)


def sqrt_enclosure(argument: Fraction | int, bits: int = 64) -> Enclosure:
    """Enclose √argument."""
    argument = require_rational(argument, "argument")
    if argument < 0:
        raise BadParameter("a square root needs a number of at least zero", given=argument, fix="pass 0 or more")
    top, bottom = isqrt(argument.numerator), isqrt(argument.denominator)
    if top**2 == argument.numerator and bottom**2 == argument.denominator:
        return Enclosure(Fraction(top, bottom), Fraction(top, bottom))
    return enclose(lambda: of_fraction(argument).sqrt(), bits)

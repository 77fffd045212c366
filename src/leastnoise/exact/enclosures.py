"""Rational enclosures of e^x, ln x and √x at any precision, with the direction in the name; formulas in α = e^-rate.

`exp_below(x, bits)` is a rational at most e^x and within a factor 1 − 2^-bits of it; `exp_above` the mirror image;
where the number itself is rational both return it. Arb's balls are proven to contain the number. A formula in α is
exact where α is rational, else enclosed.

Among the formulas are sums Σ_R P(R)·α^R over R = 0, 1, 2, …, for a polynomial P given by its values. If P has degree at
most m, then (1 − α)^(m+1)·Σ_R P(R)·α^R is the polynomial Σ_i h_i·α^i, i ≤ m, with h_i = Σ_j (−1)^j·C(m+1, j)·P(i − j).
For P(R) = #(R·K ∩ Z^d), K a polytope with whole corners, the h_i are whole numbers and never negative (Stanley, Annals
of Discrete Mathematics 6, 1980): they are the h*-vector of K.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb, inf, isqrt
from typing import Any

from leastnoise.errors import BadParameter
from leastnoise.exact.balls import Ball, above, below, of_fraction, precise
from leastnoise.exact.numbers import Exact, LogSum, ball_of, double_of, exact_exp, require_rational

__all__ = [
    "Enclosure",
    "at_alpha",
    "enclose",
    "exp_above",
    "exp_below",
    "exp_enclosure",
    "floor_of",
    "larger",
    "least_whole",
    "ln_above",
    "ln_below",
    "ln_enclosure",
    "numerator",
    "power_sum",
    "ratio_of_power_sums",
    "scaled",
    "sqrt_above",
    "sqrt_below",
    "sqrt_enclosure",
    "tail_sum",
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


_LONGEST_POWER = 1 << 17  # bits of a power of a rational α that are still worth writing out


def at_alpha(rate: Exact, formula: Callable[[Any], Any], bits: int = 64, power: int = 1) -> Enclosure:
    """The value of a formula at α = e^-rate.

    Args:
        rate: Above zero.
        formula: Sums, products and quotients of α and whole numbers.
        bits: The precision where α is irrational.
        power: The highest power of α in the formula: powers too long to be written out are enclosed instead.

    >>> from leastnoise.exact import ln
    >>> at_alpha(ln(3), lambda a: 2 * a / (1 - a**2)), at_alpha(Fraction(1), lambda a: 2 * a / (1 - a**2))
    (Enclosure(3/4), Enclosure(≈ 0.850918128239322))
    """
    alpha = exact_exp(-rate)
    if alpha is not None and power * alpha.denominator.bit_length() <= _LONGEST_POWER:
        value = Fraction(formula(alpha))
        return Enclosure(value, value)
    return enclose(lambda: formula((-ball_of(rate)).exp()), bits)


def scaled(enclosure: Enclosure, factor: Fraction | int) -> Enclosure:
    """The enclosed number times a factor of at least zero."""
    return Enclosure(enclosure.lower * factor, enclosure.upper * factor)


def larger(one: Enclosure, other: Enclosure) -> Enclosure:
    """The larger of two enclosed numbers."""
    return Enclosure(max(one.lower, other.lower), max(one.upper, other.upper))


def floor_of(number: Exact) -> int:
    """The largest whole number that is not above `number`.

    >>> from leastnoise.exact import ln
    >>> floor_of(ln(3) * 10**30), floor_of(Fraction(-1, 2))
    (1098612288668109691395245236922, -1)
    """
    if not isinstance(number, LogSum):
        return math.floor(number)
    whole = 0
    while not 0 <= (rest := number - whole) < 1:  # a double is near enough to gain 53 bits each time
        whole += math.floor(float(rest))
    return whole


def least_whole(holds: Callable[[int], bool], start: int = 0) -> int:
    """The least n ≥ start for which `holds` is true, if it stays true once it is.

    >>> least_whole(lambda n: n * n >= 1000)
    32
    """
    if holds(start):
        return start
    step = 1
    while not holds(start + step):
        step *= 2
    fails, fits = start + step // 2, start + step
    while fits - fails > 1:
        middle = (fails + fits) // 2
        fails, fits = (fails, middle) if holds(middle) else (middle, fits)
    return fits


Number = int | Fraction


def numerator(values: Sequence[Any]) -> list[Any]:
    """The h_i of the polynomial with these values at 0, 1, …, m.

    >>> numerator([1, 9, 25])  # lattice points of the square [−R, R]²
    [1, 6, 1]
    """
    terms = len(values)
    return [sum((-1) ** j * comb(terms, j) * values[i - j] for j in range(i + 1)) for i in range(terms)]


def power_sum(values: Sequence[Number], rate: Exact, bits: int = 64) -> Enclosure:
    """Σ_R (P(R) − P(R − 1))·e^(−rate·R), P(−1) counting as 0, for the polynomial with these values at 0, 1, …, m.

    That is (1 − α)·Σ_R P(R)·α^R: the sum of α^steps over points of which P(R) need at most R steps.

    >>> from leastnoise.exact import ln
    >>> power_sum([1, 3], ln(2)), power_sum([1, 3, 5], ln(2))
    (Enclosure(3), Enclosure(3))
    """
    sums = _formula(values)
    return at_alpha(rate, lambda a: (1 - a) * sums(a), bits, power=len(values))


def tail_sum(values: Sequence[int], before: int, start: int, rate: Exact, bits: int = 64) -> Enclosure:
    """α^start·((1 − α)·Σ_j P(j)·α^j − before) for the polynomial with these values at 0, 1, …, m.

    >>> from leastnoise.exact import ln
    >>> tail_sum([5, 7], 3, 2, ln(2))  # 2/4 + 2/8 + …
    Enclosure(1)
    """
    sums = _formula(values)
    return at_alpha(rate, lambda a: a**start * ((1 - a) * sums(a) - before), bits, power=start + len(values))


def ratio_of_power_sums(top: Sequence[Number], bottom: Sequence[Number], rate: Exact, bits: int = 64) -> Enclosure:
    """The quotient of two such sums.

    >>> from leastnoise.exact import ln
    >>> ratio_of_power_sums([0, 1], [1, 1], ln(2))
    Enclosure(1)
    """
    above, below = _formula(top), _formula(bottom)
    return at_alpha(rate, lambda a: above(a) / below(a), bits, power=len(top) + len(bottom))


def _formula(values: Sequence[Number]) -> Callable[[Any], Any]:
    # Balls know whole numbers, not fractions: a common denominator goes outside.
    denominator = 1
    for value in values:
        denominator *= Fraction(denominator * value).denominator
    weights = numerator([int(value * denominator) for value in values])

    def formula(alpha: Any) -> Any:
        total = sum((weight * alpha**i for i, weight in enumerate(weights) if weight), start=0 * alpha)
        return total / ((1 - alpha) ** len(weights) * denominator)

    return formula

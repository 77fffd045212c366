"""Numbers that are never rounded: rationals, and rational combinations of logarithms of rationals.

A privacy parameter is either a `Fraction` or a `LogSum` q + Σ cᵢ·ln nᵢ, so that "ln(3)" is the number ln 3 itself.
The set is closed under sums and under products with rationals, which is all that composition and sensitivity ask
for, and comparison is decidable: with pairwise coprime whole nᵢ > 1 the numbers 1, ln n₁, ln n₂, … are linearly
independent over the rationals (unique factorisation, and e^q is transcendental for rational q ≠ 0 by Lindemann's
theorem), so a `LogSum` is zero only if all of it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import total_ordering
from numbers import Rational
from typing import TypeAlias, Union

from flint import fmpz

from leastnoise.errors import BadParameter
from leastnoise.exact.balls import Ball, above, below, of_fraction, refine

__all__ = ["Exact", "LogSum", "ball_of", "double_of", "exact_exp", "ln", "require_rational"]

_LONGEST = 1 << 20  # bits of a power of e that are still written out


@total_ordering
@dataclass(frozen=True, eq=False, repr=False)
class LogSum:
    """The irrational number rational + Σ coefficient·ln(whole); made by `ln` and arithmetic, never by hand.

    >>> ln(3) + ln(Fraction(1, 3)), 2 * ln(3) == ln(9), ln(2) < ln(3) < 2
    (Fraction(0, 1), True, True)
    >>> ln(Fraction(6, 5)) / 2 + 1
    1 + 1/2*ln(6/5)
    """

    rational: Fraction
    logs: tuple[tuple[int, Fraction], ...]

    def __add__(self, other: Exact | int) -> Exact:
        """Sum; a `Fraction` where the logarithms cancel."""
        if isinstance(other, LogSum):
            return _collect(self.rational + other.rational, (*self.logs, *other.logs))
        if isinstance(other, int | Fraction):
            return LogSum(self.rational + other, self.logs)
        return NotImplemented

    __radd__ = __add__

    def __neg__(self) -> LogSum:
        """The opposite number."""
        return LogSum(-self.rational, tuple((whole, -c) for whole, c in self.logs))

    def __sub__(self, other: Exact | int) -> Exact:
        """Difference; a `Fraction` where the logarithms cancel."""
        return self + (-other)

    def __rsub__(self, other: Fraction | int) -> Exact:
        """Difference from a rational."""
        return -self + other

    def __mul__(self, factor: Fraction | int) -> Exact:
        """Product with a rational."""
        if not isinstance(factor, int | Fraction):
            return NotImplemented
        if factor == 0:
            return Fraction(0)
        return LogSum(self.rational * factor, tuple((whole, c * factor) for whole, c in self.logs))

    __rmul__ = __mul__

    def __truediv__(self, divisor: Fraction | int) -> Exact:
        """Quotient by a rational."""
        return self * (1 / Fraction(divisor)) if isinstance(divisor, int | Fraction) else NotImplemented

    def __abs__(self) -> LogSum:
        """The number without its sign."""
        return -self if self < 0 else self

    def __eq__(self, other: object) -> bool:
        """Equality of the numbers, however they are written."""
        if isinstance(other, LogSum):
            return isinstance(self - other, Fraction) and self - other == 0
        return False if isinstance(other, int | Fraction) else NotImplemented

    def __lt__(self, other: Exact | int) -> bool:
        """Order of the numbers, decided by ball arithmetic of growing precision."""
        if not isinstance(other, int | Fraction | LogSum):
            return NotImplemented
        difference = self - other
        if isinstance(difference, Fraction):
            return difference < 0
        return next(ball < 0 for ball in refine(difference.ball) if ball < 0 or ball > 0)

    def __hash__(self) -> int:
        """Equal numbers may be written differently, but they round to the same double."""
        return hash(float(self))

    def __float__(self) -> float:
        """The nearest double; an irrational number is never half-way between two."""
        pairs = ((double_of(below(ball)), double_of(above(ball))) for ball in refine(self.ball))
        return next(low for low, high in pairs if low == high)

    def ball(self) -> Ball:
        """A ball around the number at the current working precision."""
        logs = (of_fraction(c) * of_fraction(whole).log() for whole, c in self.logs)
        return sum(logs, start=of_fraction(self.rational))

    def __str__(self) -> str:
        """A form that `read_exact` reads back."""
        parts = [str(self.rational)] if self.rational else []
        for size in sorted({abs(c) for _, c in self.logs}):
            argument = math.prod(
                (Fraction(whole) ** (1 if c > 0 else -1) for whole, c in self.logs if abs(c) == size),
                start=Fraction(1),
            )
            sign, argument = ("-", 1 / argument) if argument < 1 else ("", argument)
            parts.append(f"{sign}ln({argument})" if size == 1 else f"{sign}{size}*ln({argument})")
        return " + ".join(parts).replace("+ -", "- ")

    __repr__ = __str__


Exact: TypeAlias = Union[Fraction, LogSum]  # noqa: UP007 - a class union would be evaluated before LogSum exists


def ln(argument: Fraction | int) -> Exact:
    """The natural logarithm of a positive rational as an exact number.

    >>> ln(1), ln(Fraction(1, 3)), float(ln(3))
    (Fraction(0, 1), -ln(3), 1.0986122886681098)
    """
    argument = require_rational(argument, "argument")
    if argument <= 0:
        raise BadParameter(
            "a logarithm needs a positive argument", given=argument, fix="write for example 'ln(3)' or 'ln(6/5)'"
        )
    return _collect(Fraction(0), ((argument.numerator, Fraction(1)), (argument.denominator, Fraction(-1))))


def require_rational(number: object, name: str) -> Fraction:
    """A whole number or a Fraction, as a Fraction; texts and floats are for `read_exact`.

    >>> require_rational(3, "argument")
    Fraction(3, 1)
    """
    if isinstance(number, Fraction):
        return number
    if not isinstance(number, Rational) or isinstance(number, bool):
        raise BadParameter(
            f"{name} must be a whole number or a Fraction",
            given=type(number).__name__,
            fix="pass for example Fraction(6, 5), or read the number with read_exact",
        )
    return Fraction(int(number.numerator), int(number.denominator))


def exact_exp(exponent: Exact) -> Fraction | None:
    """e^exponent where it is rational and at most 2^20 bits long, else None.

    With a rational part other than zero it is transcendental. Otherwise it is a product of powers n^c of pairwise
    coprime n, which is rational only if each factor is: if n is a perfect power of the denominator of c.

    >>> exact_exp(2 * ln(Fraction(6, 5))), exact_exp(ln(9) / 2), exact_exp(ln(3) / 2), exact_exp(Fraction(1))
    (Fraction(36, 25), Fraction(3, 1), None, None)
    """
    if not isinstance(exponent, LogSum):
        return Fraction(1) if require_rational(exponent, "exponent") == 0 else None
    if exponent.rational or any(c.denominator >= whole.bit_length() for whole, c in exponent.logs):
        return None  # 2 to that power is already too large
    roots = [(int(fmpz(whole).root(c.denominator)), whole, c) for whole, c in exponent.logs]
    if any(root**c.denominator != whole for root, whole, c in roots):
        return None
    if sum(root.bit_length() * abs(c.numerator) for root, _, c in roots) > _LONGEST:
        return None
    return math.prod((Fraction(root) ** c.numerator for root, _, c in roots), start=Fraction(1))


def double_of(number: Exact) -> float:
    """The nearest double; infinity beyond the largest one, where Python's own conversion fails.

    >>> double_of(Fraction(1, 3)), double_of(Fraction(-10)**401)
    (0.3333333333333333, -inf)
    """
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def ball_of(number: Exact) -> Ball:
    """A ball around an exact number at the current working precision."""
    return number.ball() if isinstance(number, LogSum) else of_fraction(number)


def _collect(rational: Fraction, logs: Iterable[tuple[int, Fraction]]) -> Exact:
    """Write Σ c·ln n over pairwise coprime n > 1: split two that share a divisor g into n/g, m/g and g."""
    pending, coprime = list(logs), dict[int, Fraction]()
    while pending:
        whole, coefficient = pending.pop()
        if whole == 1 or coefficient == 0:
            continue
        shared = next((other for other in coprime if math.gcd(whole, other) > 1), None)
        if shared is None:
            coprime[whole] = coefficient
            continue
        divisor, other = math.gcd(whole, shared), coprime.pop(shared)
        pending += [(whole // divisor, coefficient), (shared // divisor, other), (divisor, coefficient + other)]
    return LogSum(rational, tuple(sorted(coprime.items()))) if coprime else rational

"""Numbers that are never rounded: rationals, and rational combinations of logarithms of rationals.

A privacy parameter is either a `Fraction` or a `LogSum` q + Σ cᵢ·ln nᵢ, so that "ln(3)" is the number ln 3 itself.
The set is closed under sums and under products with rationals, which is all that composition and sensitivity ask
for, and comparison is decidable: with pairwise coprime whole nᵢ > 1 the numbers 1, ln n₁, ln n₂, … are linearly
independent over the rationals (unique factorisation, and e^q is transcendental for rational q ≠ 0 by Lindemann's
theorem), so a `LogSum` is zero only if all of it is.

A sum is exact while it stays short and rounded up (never down) where it would grow without end. Ten debits of 1/10 fill
a budget of 1 to the last bit. But 1/2 + 1/3 + 1/5 + 1/7 + … over thousands of primes has thousands of digits; such a
sum is carried on as the next multiple of 2^-128, which can only overcount.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import total_ordering
from math import ceil, lcm
from numbers import Rational
from typing import Any, TypeAlias, Union

from flint import fmpz

from leastnoise.errors import BadParameter
from leastnoise.exact.balls import Ball, above, below, of_fraction, precise, refine

__all__ = [
    "Exact",
    "LogSum",
    "RunningTotal",
    "add_above",
    "ball_of",
    "double_of",
    "exact_exp",
    "ln",
    "rational_above",
    "rational_below",
    "require_rational",
    "round_up",
    "sum_above",
]

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


_GRID_BITS = 128
_LONGEST_DENOMINATOR = 512  # bits
_MOST_LOGARITHMS = 16


def round_up(number: Exact, bits: int = _GRID_BITS) -> Fraction:
    """The least multiple of 2^-bits that is at least the number, or for a logarithm the one after it.

    >>> round_up(Fraction(1, 3), 2), round_up(Fraction(1, 2), 2)
    (Fraction(1, 2), Fraction(1, 2))
    """
    if isinstance(number, LogSum):
        number = above(precise(number.ball, bits + 64))
    return Fraction(ceil(number * (1 << bits)), 1 << bits)


def rational_above(number: Exact) -> Fraction:
    """The number itself where it is rational, else a rational just above it.

    >>> rational_above(Fraction(1, 3))
    Fraction(1, 3)
    """
    return round_up(number) if isinstance(number, LogSum) else number


def rational_below(number: Exact) -> Fraction:
    """The number itself where it is rational, else a rational just below it.

    >>> rational_below(Fraction(1, 3))
    Fraction(1, 3)
    """
    return below(precise(number.ball, 64)) if isinstance(number, LogSum) else number


def add_above(total: Exact, term: Exact) -> Exact:
    """The sum of two numbers of at least zero; rounded up where it would be too long to carry on.

    >>> add_above(Fraction(1, 2), Fraction(1, 3))
    Fraction(5, 6)
    """
    total = total + term
    if isinstance(total, LogSum):
        long = len(total.logs) > _MOST_LOGARITHMS or total.rational.denominator.bit_length() > _LONGEST_DENOMINATOR
        long = long or any(c.denominator.bit_length() > _LONGEST_DENOMINATOR for _, c in total.logs)
        return round_up(total) if long else total
    return round_up(total) if total.denominator.bit_length() > _LONGEST_DENOMINATOR else total


def sum_above(terms: Iterable[tuple[Exact, int]]) -> Exact:
    """Σ number·count; exact where the sum is short, else rounded up.

    >>> sum_above([(Fraction(1, 10), 10)]), sum_above([(Fraction(1, 3), 1), (Fraction(1, 6), 1)])
    (Fraction(1, 1), Fraction(1, 2))
    """
    by_denominator: dict[int, int] = defaultdict(int)
    total: Exact = Fraction(0)
    for number, count in terms:
        if isinstance(number, LogSum):
            total = add_above(total, number * count)
        else:
            by_denominator[number.denominator] += number.numerator * count
    for denominator, numerator in by_denominator.items():
        total = add_above(total, Fraction(numerator, denominator))
    return total


class RunningTotal:
    """A running total that is exact, quick to add to and quick to compare; of numbers of at least zero, or None.

    It keeps one whole number over a common denominator, logarithms beside it, and how many terms were None, with which
    the total is None. Where the denominator or the number of logarithms would grow without end, the total goes on as
    the next multiple of 2^-128: it may overcount, never undercount.

    >>> total = RunningTotal()
    >>> for _ in range(10):
    ...     total.add(Fraction(1, 10))
    >>> total.value, total.fits(Fraction(0), Fraction(1)), total.fits(Fraction(1, 10**9), Fraction(1))
    (Fraction(1, 1), True, False)
    """

    __slots__ = ("_bottom", "_logs", "_missing", "_top")

    def __init__(self) -> None:
        self._top, self._bottom, self._missing = 0, 1, 0
        self._logs: Exact = Fraction(0)  # everything that was ever added together with a logarithm

    @property
    def value(self) -> Exact | None:
        """The sum; None where a term was None."""
        return None if self._missing else self._known

    @property
    def _known(self) -> Exact:
        return self._logs + Fraction(self._top, self._bottom)

    def add(self, number: Exact | None, count: int = 1) -> None:
        """Add a number `count` times; with a count below zero, take back what was added before."""
        if number is None:
            self._missing += count
        elif isinstance(number, LogSum):
            self._logs = add_above(self._logs, number * count) if count > 0 else self._logs + number * count
        else:
            self._add_rational(number * count)

    def _add_rational(self, number: Fraction) -> None:
        if self._bottom % number.denominator:
            common = lcm(self._bottom, number.denominator)
            self._top, self._bottom = self._top * (common // self._bottom), common
        self._top += number.numerator * (self._bottom // number.denominator)
        if self._bottom.bit_length() > _LONGEST_DENOMINATOR:
            short = round_up(Fraction(self._top, self._bottom))
            self._top, self._bottom = short.numerator, short.denominator

    def fits(self, number: Exact | None, limit: Exact) -> bool:
        """Whether the sum stays at most `limit` with `number` added; None never does."""
        if number is None or self._missing:
            return False
        if isinstance(number, LogSum) or isinstance(limit, LogSum) or self._logs:
            return bool(self._known + number <= limit)
        top = self._top * number.denominator + number.numerator * self._bottom
        return top * limit.denominator <= limit.numerator * self._bottom * number.denominator

    def to_list(self) -> list[Any]:
        """The sum of what is known as text, and how many terms were None."""
        return [str(self._known), self._missing]

    @classmethod
    def of(cls, known: Exact, missing: int) -> RunningTotal:
        """A total that goes on from the sum of what is known and the number of terms that were None."""
        total = cls()
        total.add(known)
        total._missing = missing
        return total

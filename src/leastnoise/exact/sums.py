"""Sums of exact numbers: exact while they stay short, rounded up (never down) where they would grow without end.

Ten debits of 1/10 fill a budget of 1 to the last bit. But 1/2 + 1/3 + 1/5 + 1/7 + … over thousands of primes has
thousands of digits; such a sum is carried on as the next multiple of 2^-128, which can only overcount.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from math import ceil, lcm
from typing import Any

from leastnoise.exact.balls import above, precise
from leastnoise.exact.numbers import Exact, LogSum
from leastnoise.exact.parameters import read_exact, read_integer

__all__ = ["Tally", "add_above", "rational_above", "round_up", "sum_above"]

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


class Tally:
    """A running total that is exact, quick to add to and quick to compare; of numbers of at least zero, or None.

    It keeps one whole number over a common denominator, logarithms beside it, and how many terms were None, with which
    the total is None. Where the denominator or the number of logarithms would grow without end, the total goes on as
    the next multiple of 2^-128: it may overcount, never undercount.

    >>> total = Tally()
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
    def from_list(cls, data: list[Any]) -> Tally:
        """The inverse of `to_list`."""
        total = cls()
        total.add(read_exact(data[0], "total"))
        total._missing = read_integer(data[1], "missing", at_least=0)
        return total

"""Sums of exact numbers: exact while they stay short, rounded up (never down) where they would grow without end.

Ten debits of 1/10 fill a budget of 1 to the last bit. But 1/2 + 1/3 + 1/5 + 1/7 + … over thousands of primes has
thousands of digits; such a sum is carried on as the next multiple of 2^-128, which can only overcount.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from math import ceil

from leastnoise.exact.balls import above, precise
from leastnoise.exact.numbers import Exact, LogSum

__all__ = ["add_above", "rational_above", "round_up", "sum_above"]

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

"""A running total that is exact, quick to add to, and quick to compare.

It keeps one whole number over a common denominator, and logarithms beside it. Where the denominator or the number of
logarithms would grow without end, the total goes on as the next multiple of 2^-128: it may overcount, never undercount.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

from leastnoise.composition.sums import add_above, round_up
from leastnoise.exact.numbers import Exact, LogSum

__all__ = ["Tally"]

_LONGEST_DENOMINATOR = 512  # bits


class Tally:
    """The sum of what was added; numbers of at least zero only.

    >>> total = Tally()
    >>> for _ in range(10):
    ...     total.add(Fraction(1, 10))
    >>> total.value, total.fits(Fraction(0), Fraction(1)), total.fits(Fraction(1, 10**9), Fraction(1))
    (Fraction(1, 1), True, False)
    """

    __slots__ = ("_bottom", "_logs", "_top")

    def __init__(self) -> None:
        self._top, self._bottom = 0, 1
        self._logs: Exact = Fraction(0)  # everything that was ever added together with a logarithm

    @property
    def value(self) -> Exact:
        """The sum."""
        return self._logs + Fraction(self._top, self._bottom)

    def add(self, number: Exact) -> None:
        """Add a number."""
        if isinstance(number, LogSum):
            self._logs = add_above(self._logs, number)
            return
        if self._bottom % number.denominator:
            common = lcm(self._bottom, number.denominator)
            self._top, self._bottom = self._top * (common // self._bottom), common
        self._top += number.numerator * (self._bottom // number.denominator)
        if self._bottom.bit_length() > _LONGEST_DENOMINATOR:
            short = round_up(Fraction(self._top, self._bottom))
            self._top, self._bottom = short.numerator, short.denominator

    def take_back(self, number: Exact) -> None:
        """Remove a number that was added before."""
        if isinstance(number, LogSum):
            self._logs = self._logs - number
        else:
            self.add(-number)

    def fits(self, number: Exact, limit: Exact) -> bool:
        """Whether the sum stays at most `limit` with `number` added."""
        if isinstance(number, LogSum) or isinstance(limit, LogSum) or self._logs:
            return bool(self.value + number <= limit)
        top = self._top * number.denominator + number.numerator * self._bottom
        return top * limit.denominator <= limit.numerator * self._bottom * number.denominator

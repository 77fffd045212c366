"""The largest number that still fits, by halving; the answer itself was tested, so it is never too large."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from leastnoise.exact.numbers import Exact, round_up

__all__ = ["largest_fitting"]


def largest_fitting(
    fits: Callable[[Fraction], bool], at_most: Exact, at_least: Fraction = Fraction(0), digits: int = 40
) -> Fraction:
    """A number that fits within a factor 1 − 2^-digits of the largest one; `at_least` where nothing larger was found.

    Args:
        fits: True up to some number and False beyond it. Only its True is trusted.
        at_most: Nothing above this is wanted.
        at_least: A number known to fit.
        digits: How many binary digits to settle.

    >>> largest_fitting(lambda x: x <= 5, at_most=Fraction(8)) <= 5
    True
    """
    low, high = at_least, round_up(at_most)
    if high <= at_most and fits(high):
        return high
    for _ in range(digits + 200):
        middle = _short((low + high) / 2, digits)
        if not low < middle < high or (high - low) * (1 << digits) <= high:
            break
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _short(number: Fraction, digits: int) -> Fraction:
    """The number with a few more leading binary digits than are asked for: long fractions would slow the test down."""
    shift = number.denominator.bit_length() - number.numerator.bit_length() + digits + 8
    return Fraction(int(number * Fraction(2) ** shift)) / Fraction(2) ** shift

"""Formulas in α = e^-rate: exact where α is rational, else enclosed by ball arithmetic; and the little they need."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from leastnoise.exact.enclosures import Enclosure, enclose
from leastnoise.exact.numbers import Exact, LogSum, ball_of, exact_exp

__all__ = ["at_alpha", "floor_of", "larger", "least_whole", "scaled"]

_LONGEST = 1 << 17  # bits of a power of a rational α that are still worth writing out


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
    if alpha is not None and power * alpha.denominator.bit_length() <= _LONGEST:
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

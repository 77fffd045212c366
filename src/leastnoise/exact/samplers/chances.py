"""Formulas in the chances base·e^(−rate·gap) of scored candidates, gap = largest score − score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from leastnoise.exact.balls import Ball, of_fraction
from leastnoise.exact.enclosures import Enclosure, enclose
from leastnoise.exact.numbers import Exact, LogSum, ball_of, exact_exp
from leastnoise.exact.samplers.scores import Scores

__all__ = ["at_chances"]

Formula = Callable[[list[Any], list[Any]], Any]

_LONGEST = 1 << 12  # bits of a rational chance that are still worth writing out


def at_chances(
    scores: Scores, rate: Exact, formula: Formula, bits: int = 64, base: Sequence[Fraction] | None = None
) -> Enclosure:
    """The value of formula(chances, gaps), exact where all chances and gaps are rational, else enclosed to `bits` bits.

    Args:
        scores: One per candidate.
        rate: Above zero.
        formula: Sums, products and quotients; it is called with lists of `Fraction`s or of balls.
        bits: The precision, relative to the value.
        base: Non-negative factors of the chances; the largest score is that of a candidate with a positive one.

    >>> from leastnoise.exact import ln
    >>> at_chances(Scores([3, 1], "scores"), ln(2), lambda chances, gaps: sum(chances) + sum(gaps))
    Enclosure(13/4)
    """
    factors = [Fraction(1)] * len(scores) if base is None else list(base)
    largest = scores.largest(None if base is None else np.array([factor > 0 for factor in factors]))
    gaps = [largest - scores.exact(i) for i in range(len(scores))]
    chances = [_rational_chance(gap, rate, factor) for gap, factor in zip(gaps, factors, strict=True)]
    if None not in chances and not any(isinstance(gap, LogSum) for gap in gaps):
        value = Fraction(formula(chances, list(gaps)))
        return Enclosure(value, value)

    def evaluate() -> Ball:
        balls = [ball_of(gap) for gap in gaps]
        weights = [
            (-(ball_of(rate) * gap)).exp() * of_fraction(factor) if factor else of_fraction(0)
            for gap, factor in zip(balls, factors, strict=True)
        ]
        value: Ball = formula(weights, balls)
        return value

    return enclose(evaluate, bits)


def _rational_chance(gap: Exact, rate: Exact, factor: Fraction) -> Fraction | None:
    if factor == 0:
        return Fraction(0)
    exponent = None if isinstance(gap, LogSum) else rate * -gap
    if exponent is None or _length(exponent) > _LONGEST:
        return None
    chance = exact_exp(exponent)
    return None if chance is None else chance * factor


def _length(exponent: Exact) -> Fraction:
    """At most how many bits e^exponent has, if it is rational."""
    logs = exponent.logs if isinstance(exponent, LogSum) else ()
    return sum((abs(c) * whole.bit_length() for whole, c in logs), start=Fraction(0))

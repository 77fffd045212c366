"""Sums of independent geometric numbers."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact.arrays import Size
from leastnoise.exact.balls import Ball, of_fraction
from leastnoise.exact.enclosures import Enclosure, enclose
from leastnoise.exact.numbers import ball_of, exact_exp
from leastnoise.exact.parameters import NumberLike, read_exact, read_integer
from leastnoise.exact.samplers.geometric import geometric_tables
from leastnoise.exact.samplers.shaping import Draws, in_shape
from leastnoise.exact.sources import Source

__all__ = ["negative_binomial", "negative_binomial_cdf", "negative_binomial_pmf"]

_MOST_TERMS = 1 << 16


def negative_binomial(terms: NumberLike, rate: NumberLike, size: Size = None, source: Source | None = None) -> Draws:
    """Draw N = G₁ + … + G_terms, independent geometrics: P(N = k) = C(k + terms − 1, k)·(1 − α)^terms·α^k, α = e^-rate.

    With terms = d + 1 it is the radius of the discrete K-norm mechanism in d dimensions.

    >>> negative_binomial(3, "ln(2)", size=4).shape
    (4,)
    """
    count = read_integer(terms, "terms", at_least=1, at_most=_MOST_TERMS)
    tables = geometric_tables(read_exact(rate, "rate", above=0), signed=False)

    def draw(block: int, bits: Source) -> NDArray[np.int64]:
        total = np.zeros(block, dtype=tables.dtype)
        for _ in range(count):
            total += tables.draw(block, bits)
        return total

    return in_shape(draw, size, source, tables.dtype)


def negative_binomial_pmf(outcome: int, terms: int, rate: NumberLike, bits: int = 64) -> Enclosure:
    """P(N = outcome) of `negative_binomial`; exact where e^-rate is rational.

    >>> negative_binomial_pmf(1, 2, "ln(2)")
    Enclosure(1/4)
    """
    return _sum_of_masses(range(outcome, outcome + 1), terms, rate, bits)


def negative_binomial_cdf(outcome: int, terms: int, rate: NumberLike, bits: int = 64) -> Enclosure:
    """P(N ≤ outcome) of `negative_binomial`; exact where e^-rate is rational.

    >>> negative_binomial_cdf(1, 2, "ln(2)")
    Enclosure(1/2)
    """
    return _sum_of_masses(range(outcome + 1), terms, rate, bits)


def _sum_of_masses(outcomes: range, terms: int, rate: NumberLike, bits: int) -> Enclosure:
    number = read_exact(rate, "rate", above=0)
    count = read_integer(terms, "terms", at_least=1, at_most=_MOST_TERMS)
    inside = [k for k in outcomes if k >= 0]
    alpha = exact_exp(-number)
    if alpha is not None:
        exact = sum((comb(k + count - 1, k) * (1 - alpha) ** count * alpha**k for k in inside), start=Fraction(0))
        return Enclosure(exact, exact)

    def total() -> Ball:
        step = (-ball_of(number)).exp()
        masses = (comb(k + count - 1, k) * step**k for k in inside)
        return (-(-ball_of(number)).expm1()) ** count * sum(masses, start=of_fraction(0))

    return enclose(total, bits)

"""Sums of independent geometric numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import NumberTooLarge, PrecisionExhausted
from leastnoise.exact.balls import Ball, above, below, of_fraction, refine
from leastnoise.exact.enclosures import Enclosure, enclose
from leastnoise.exact.numbers import Exact, ball_of, exact_exp
from leastnoise.exact.parameters import NumberLike, Size, read_integer, read_rate, wide_enough
from leastnoise.exact.samplers.laplace import geometric_tables
from leastnoise.exact.sources import Draws, Source, in_shape

__all__ = ["negative_binomial", "negative_binomial_cdf", "negative_binomial_pmf"]

_MOST_TERMS = 1 << 16
_BLOCK = 1 << 16  # numbers drawn at a time
_MOST_MASSES = 1 << 16  # added up one by one
_LONGEST = 1 << 14  # bits of a power that are written out
_TRIES = 6  # precisions, each twice the one before
_WIDEST = 44  # binary digits of one draw and of the number of terms, for which 64 bits are enough


def negative_binomial(terms: NumberLike, rate: NumberLike, size: Size = None, source: Source | None = None) -> Draws:
    """Draw N = G₁ + … + G_terms, independent geometrics: P(N = k) = C(k + terms − 1, k)·(1 − α)^terms·α^k, α = e^-rate.

    With terms = d + 1 it is the radius of the discrete K-norm mechanism in d dimensions.

    >>> negative_binomial(3, "ln(2)", size=4).shape
    (4,)
    """
    count = read_integer(terms, "terms", at_least=1, at_most=_MOST_TERMS)
    tables = geometric_tables(read_rate(rate, "rate"), signed=False)

    dtype = object if tables.digits + count.bit_length() > _WIDEST else tables.dtype
    most = max(1, _BLOCK // count)  # sums at a time

    def draw(block: int, bits: Source) -> NDArray[Any]:
        sums = []
        for start in range(0, block, most):
            drawn = tables.draw(min(most, block - start) * count, bits).reshape(-1, count)
            sums.append(wide_enough(drawn, count).sum(axis=1))
        total = np.concatenate(sums) if len(sums) > 1 else sums[0]
        if dtype is not object and total.dtype == object:
            raise NumberTooLarge("a sum does not fit into 64 bits; nothing was wrapped", fix="use a larger rate")
        return total

    return in_shape(draw, size, source, dtype)


def negative_binomial_pmf(outcome: int, terms: int, rate: NumberLike, bits: int = 64) -> Enclosure:
    """P(N = outcome) of `negative_binomial`; exact where e^-rate is rational and its power not too long.

    >>> negative_binomial_pmf(1, 2, "ln(2)")
    Enclosure(1/4)
    """
    k, count, number = _read(outcome, terms, rate)
    if k < 0:
        return Enclosure(Fraction(0), Fraction(0))
    alpha = _short(number, k + count)
    if alpha is not None:
        mass = comb(k + count - 1, k) * (1 - alpha) ** count * alpha**k
        return Enclosure(mass, mass)

    def mass_of() -> Ball:
        ways = of_fraction(1)
        for i in range(1, count):
            ways = ways * (k + i) / i
        return ways * (-(-ball_of(number)).expm1()) ** count * (-ball_of(number) * k).exp()

    return enclose(mass_of, bits)


def negative_binomial_cdf(outcome: int, terms: int, rate: NumberLike, bits: int = 64) -> Enclosure:
    """P(N ≤ outcome) of `negative_binomial`; exact where e^-rate is rational and its power not too long.

    Σ_{i≤k} P(N = i), or 1 − Σ_{j<terms} C(k + terms, j)·(1 − α)^j·α^(k+terms−j): fewer than `terms` of the first
    k + terms coins show heads. The shorter sum is taken.

    >>> negative_binomial_cdf(1, 2, "ln(2)"), negative_binomial_cdf(2**63, 2, "1e-19")
    (Enclosure(1/2), Enclosure(≈ 0.235700433837518))
    """
    k, count, number = _read(outcome, terms, rate)
    if k < 0:
        return Enclosure(Fraction(0), Fraction(0))
    alpha = _short(number, k + count)
    if alpha is not None:
        masses = (comb(i + count - 1, i) * alpha**i for i in range(k + 1))
        share = (1 - alpha) ** count * sum(masses, start=Fraction(0))
        return Enclosure(share, share)

    def directly() -> Ball:
        step, mass, total = (-ball_of(number)).exp(), of_fraction(1), of_fraction(1)
        for i in range(1, k + 1):
            mass = mass * step * (i + count - 1) / i
            total += mass
        return (-(-ball_of(number)).expm1()) ** count * total

    def by_heads() -> Ball:
        odds = ball_of(number).expm1()  # (1 − α)/α
        mass = total = (-ball_of(number) * (k + count)).exp()
        for j in range(1, count):
            mass = mass * odds * (k + count - j + 1) / j
            total += mass
        return 1 - total

    if k < _MOST_MASSES:
        return enclose(directly, bits)
    for ball in islice(refine(by_heads), _TRIES):
        if ball.rel_accuracy_bits() >= bits:
            return Enclosure(below(ball), above(ball))
    raise PrecisionExhausted("so small a share takes too long to compute", given=f"outcome={k}", fix="add up masses")


def _short(rate: Exact, power: int) -> Fraction | None:
    """e^-rate if it is rational and this power of it short enough to be written out."""
    alpha = exact_exp(-rate)
    return None if alpha is None or power * alpha.denominator.bit_length() > _LONGEST else alpha


def _read(outcome: int, terms: int, rate: NumberLike) -> tuple[int, int, Exact]:
    count = read_integer(terms, "terms", at_least=1, at_most=_MOST_TERMS)
    return read_integer(outcome, "outcome"), count, read_rate(rate, "rate")

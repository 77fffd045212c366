"""Continuous Laplace noise seen through a lattice: ⌊offset + L⌋, drawn exactly without ever forming the real number L.

L has density rate/2·e^(−rate·|l|). Its size is N + V with independent N, geometric with α = e^-rate, and V in [0, 1)
with density ∝ e^(−rate·v); its sign is a fair coin. With 0 ≤ φ < 1 the fractional part of the offset, ⌊φ + N + V⌋ is N,
or N + 1 if V ≥ 1 − φ, and ⌊φ − N − V⌋ is −N, or −N − 1 if V > φ: one coin each, with
P(V ≥ s) = (e^(−rate·s) − e^-rate)/(1 − e^-rate). What is drawn, and how much, does not depend on the offset, but for
the 2^-53 of cases in which a coin needs more bits.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact.balls import Ball, evaluate, of_fraction, scaled_bounds
from leastnoise.exact.enclosures import Enclosure, enclose, exp_enclosure
from leastnoise.exact.numbers import Exact, ball_of, exact_exp
from leastnoise.exact.parameters import NumberLike, Size, read_integer, read_rate, read_rational
from leastnoise.exact.samplers.bernoulli import ScaledBounds, coins_between
from leastnoise.exact.samplers.laplace import geometric_tables
from leastnoise.exact.sources import Draws, Source, in_shape

__all__ = ["pixelated_laplace", "pixelated_laplace_cdf", "pixelated_laplace_pmf"]

_ROUNDING = 2.0**-52  # more than the roundings of a chance to doubles cost


def pixelated_laplace(offset: NumberLike, rate: NumberLike, size: Size = None, source: Source | None = None) -> Draws:
    """Draw ⌊offset + L⌋ for continuous Laplace noise L with density rate/2·e^(−rate·|l|).

    >>> pixelated_laplace("5/2", 1000), pixelated_laplace("1/3", "ln(2)", size=4).shape
    (2, (4,))
    """
    place, number = read_rational(offset, "offset"), read_rate(rate, "rate")
    whole = math.floor(place)
    phase = place - whole
    tables = geometric_tables(number, signed=False)
    up, down = _share_above(number, 1 - phase), _share_above(number, phase)

    dtype = object if abs(whole) >= 1 << 61 else tables.dtype

    def draw(count: int, bits: Source) -> NDArray[Any]:
        minus = bits.words(count, 8) < 128
        drawn = tables.draw(count, bits).astype(dtype)
        bounds = np.where(minus, down[0], up[0]), np.where(minus, down[1], up[1])

        def exact(i: int) -> ScaledBounds:
            return _scaled_share(number, phase if minus[i] else 1 - phase)

        drawn += coins_between(bounds, exact, bits)
        return np.where(minus, -drawn, drawn) + whole

    return in_shape(draw, size, source, dtype)


def pixelated_laplace_pmf(outcome: int, offset: NumberLike, rate: NumberLike, bits: int = 64) -> Enclosure:
    """P(⌊offset + L⌋ = outcome), exact where it is a combination of rational powers of e.

    >>> from leastnoise.exact import ln
    >>> pixelated_laplace_pmf(0, 0, "ln(2)"), pixelated_laplace_pmf(-1, "1/2", 2 * ln(3))
    (Enclosure(1/4), Enclosure(4/27))
    """
    place, number = read_rational(offset, "offset"), read_rate(rate, "rate")
    low = read_integer(outcome, "outcome") - place
    if -1 < low < 0:  # the two sides of zero: 1 − ½e^(rate·low) − ½e^(−rate·(low + 1))
        ends, signs, constant = (-low, low + 1), (-1, -1), 1
    else:
        near = low if low >= 0 else -low - 1
        ends, signs, constant = (near, near + 1), (1, -1), 0
    first, second = (exact_exp(-number * end) for end in ends)
    if first is not None and second is not None:
        mass = constant + (signs[0] * first + signs[1] * second) / 2
        return Enclosure(mass, mass)

    def ball() -> Ball:
        near, far = ((-ball_of(number) * of_fraction(end)).exp() for end in ends)
        return constant + (signs[0] * near + signs[1] * far) / 2

    return enclose(ball, bits)


def pixelated_laplace_cdf(outcome: int, offset: NumberLike, rate: NumberLike, bits: int = 64) -> Enclosure:
    """P(⌊offset + L⌋ ≤ outcome) = P(L < outcome + 1 − offset).

    >>> pixelated_laplace_cdf(-1, 1, "ln(2)"), pixelated_laplace_cdf(2, 1, "ln(2)")
    (Enclosure(1/4), Enclosure(7/8))
    """
    place, number = read_rational(offset, "offset"), read_rate(rate, "rate")
    border = read_integer(outcome, "outcome") + 1 - place
    far = exp_enclosure(-number * abs(border), bits)
    tail = Enclosure(far.lower / 2, far.upper / 2)
    return tail if border <= 0 else Enclosure(1 - tail.upper, 1 - tail.lower)


def _share(rate: Exact, start: Fraction) -> Ball:
    """P(V ≥ start)."""
    rest = -ball_of(rate) * of_fraction(1 - start)
    return (-ball_of(rate) * of_fraction(start)).exp() * rest.expm1() / (-ball_of(rate)).expm1()


def _scaled_share(rate: Exact, start: Fraction) -> ScaledBounds:
    return lambda bits: scaled_bounds(evaluate(partial(_share, rate, start), bits + 64), bits)


def _share_above(rate: Exact, start: Fraction) -> tuple[float, float]:
    """Two doubles around P(V ≥ start)."""
    low, high = _scaled_share(rate, start)(64)
    return max(low * 2.0**-64 - _ROUNDING, 0.0), min(high * 2.0**-64 + _ROUNDING, 1.0)

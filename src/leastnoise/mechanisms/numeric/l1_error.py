"""How large the sum S of d independent |X| is, X discrete Laplace with α = e^-rate.

E z^|X| = (1−α)/(1+α)·(1+αz)/(1−αz). Of F(z) = ((1+αz)/(1−αz))^d the coefficients cₙ satisfy (1 − α²z²)·F' = 2dα·F,
that is n·cₙ = 2dα·cₙ₋₁ + α²(n − 2)·cₙ₋₂, all positive, so P(S = n) = ((1−α)/(1+α))^d·cₙ is summed with directed
rounding. Where that would take too many terms, P(S ≥ t) ≤ z^-t·E z^S for any 1 < z < 1/α bounds the quantile
(Chernoff).
"""

from __future__ import annotations

import math
from fractions import Fraction

from leastnoise.exact.enclosures import exp_above, exp_below, ln_above, ln_below
from leastnoise.exact.numbers import Exact

__all__ = ["l1_quantile"]

_MOST_TERMS = 20_000
_TILTS = [Fraction(k, 2**j) for j in range(3, 27) for k in (4, 5, 6, 7)]  # near any tilt there is one
_BITS = 160


def l1_quantile(rate: Exact, dimension: int, level: Fraction) -> int:
    """A t with P(S ≤ t) ≥ level: the least one, or near it for very many terms.

    >>> from leastnoise.exact import ln
    >>> l1_quantile(ln(3), 1, Fraction(19, 20)), l1_quantile(ln(3), 10, Fraction(19, 20))
    (3, 13)
    """
    if dimension * (1 + 1 / float(rate)) <= _MOST_TERMS:
        return _summed(rate, dimension, level)
    return min(_tilted(rate, dimension, level, tilt) for tilt in _TILTS)


def _summed(rate: Exact, dimension: int, level: Fraction) -> int:
    """Add masses, all rounded down, until they reach the level."""
    low, high = exp_below(-rate, _BITS), exp_above(-rate, _BITS)
    at_zero = int((1 - high) / (1 + high) * 2**_BITS) ** dimension  # P(S = 0)·2^(bits·d)
    shift = _BITS - at_zero.bit_length()  # so that P(S = 0) keeps that many bits
    point = _BITS * dimension + shift
    before, mass = 0, at_zero << shift if shift > 0 else at_zero >> -shift
    factor, square = int(low * 2**_BITS), int(low**2 * 2**_BITS)
    total, n, wanted = mass, 0, math.ceil(level * 2**point)
    while total < wanted:
        n += 1
        before, mass = mass, ((2 * dimension * factor * mass + square * (n - 2) * before) >> _BITS) // n
        total += mass
    return n


def _tilted(rate: Exact, dimension: int, level: Fraction, tilt: Fraction) -> int:
    """The least t with z^-(t+1)·E z^S ≤ 1 − level for z = e^(tilt·rate)."""
    alpha, z = exp_above(-rate, _BITS), exp_below(rate * tilt, _BITS)
    mean = (1 - alpha) / (1 + alpha) * (1 + alpha * z) / (1 - alpha * z)  # grows with alpha
    return int((dimension * ln_above(mean) + ln_above(1 / (1 - level))) / ln_below(z))

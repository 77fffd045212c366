"""How large sums of independent geometric and discrete Laplace numbers are, enclosed.

The error of noise along one row is E|offset + Σ_j stride_j·G_j| for geometric numbers G_j. The law of the sum is
computed in doubles. Every number in it is a sum of products of positive numbers, so relative errors add up and nothing
cancels: each step of the recursion costs at most two roundings, and each power of e^-rate two more. What is cut off
beyond a last value of each G_j is bounded in closed form.

For n strides of 1 and n of −1 the sum is a difference of two negative binomial numbers, and its mean is their mean
difference D_n = 2nα/(1 − α)²·₂F₁(n + 1, ½; 2; −4α/(1 − α)²) (Ramasubban, Biometrika 45, 1958). Gauss's relation between
neighbouring n gives D_1 = 2α/(1 − α²) and D_(n+1) − D_n = (1 − w)(D_n − D_(n−1)) + w·D_n/2n, w = 4α/(1 + α)²: sums of
positive numbers again.

The ℓ₁ error is the sum S of d independent |X|, X discrete Laplace with α = e^-rate. E z^|X| =
(1−α)/(1+α)·(1+αz)/(1−αz). Of F(z) = ((1+αz)/(1−αz))^d the coefficients cₙ satisfy (1 − α²z²)·F' = 2dα·F, that is n·cₙ =
2dα·cₙ₋₁ + α²(n − 2)·cₙ₋₂, all positive, so P(S = n) = ((1−α)/(1+α))^d·cₙ is summed with directed rounding. Where that
would take too many terms, P(S ≥ t) ≤ z^-t·E z^S for any 1 < z < 1/α bounds the quantile (Chernoff).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil

import numpy as np

from leastnoise.errors import TooLarge
from leastnoise.exact.balls import Ball, above, below, evaluate
from leastnoise.exact.enclosures import Enclosure, at_alpha, exp_above, exp_below, exp_enclosure, ln_above, ln_below
from leastnoise.exact.numbers import Exact, ball_of, double_of

__all__ = ["l1_quantile", "mean_absolute_difference", "mean_absolute_sum"]

_BITS = 192  # each step loses less than one

_TAIL_EXPONENT = 50  # a G_j is cut off where it has a chance of e^-50
_LONGEST = 1 << 22
_UNIT = Fraction(1, 2**53)
_UNDERFLOW = Fraction(1, 2**900)  # more than all doubles too small to be held can add up to


def mean_absolute_sum(offset: int, strides: Sequence[int], rate: Exact) -> Enclosure:
    """E|offset + Σ stride·G| with P(G = k) = (1 − α)·α^k, α = e^-rate.

    >>> from leastnoise.exact import ln
    >>> mean_absolute_sum(0, (1,), ln(2))
    Enclosure(1)
    >>> mean_absolute_sum(0, (1, -1), ln(3))  # discrete Laplace noise: 2α/(1 − α²)
    Enclosure(≈ 0.75)
    """
    signed = _signed(offset, strides)
    if not signed or signed[0] > 0:  # no number is below zero
        return at_alpha(rate, lambda a: abs(offset) + sum(signed) * a / (1 - a))
    return _mean(abs(offset), signed, rate)


def sum_size(offset: int, strides: Sequence[int], rate: Exact) -> int:
    """How many numbers `mean_absolute_sum` computes."""
    signed = _signed(offset, strides)
    return len(signed) * sum(map(abs, signed)) * _last(rate) if signed and signed[0] < 0 else 1


def _signed(offset: int, strides: Sequence[int]) -> tuple[int, ...]:
    """The strides that are not zero, for an offset that is not below zero."""
    return tuple(sorted(int(s) if offset >= 0 else -int(s) for s in strides if s))


def _last(rate: Exact) -> int:
    """Where a G_j is cut off."""
    return ceil(_TAIL_EXPONENT / double_of(rate)) + 1


def mean_absolute_difference(count: int, rate: Exact) -> Enclosure:
    """E|Σ X_i| of so many independent discrete Laplace numbers, differences of two geometric ones each.

    >>> from leastnoise.exact import ln
    >>> mean_absolute_difference(1, ln(3)), mean_absolute_difference(2, ln(3))
    (Enclosure(≈ 0.75), Enclosure(≈ 1.21875))
    """
    ball = _differences(1 << max(count - 1, 7).bit_length(), rate)[count - 1]
    return Enclosure(below(ball), above(ball))


@lru_cache(maxsize=16)
def _differences(most: int, rate: Exact) -> list[Ball]:
    """D_1, …, D_most."""
    found = list[Ball]()

    def last() -> Ball:
        alpha = (-ball_of(rate)).exp()
        weight = 4 * alpha / (1 + alpha) ** 2
        rest = ((1 - alpha) / (1 + alpha)) ** 2
        total = gain = 2 * alpha / (1 - alpha**2)
        for n in range(1, most + 1):
            found.append(total)
            gain = rest * gain + weight * total / (2 * n)
            total = total + gain
        return total

    evaluate(last, _BITS)
    return found


@lru_cache(maxsize=4096)
def _mean(offset: int, strides: tuple[int, ...], rate: Exact) -> Enclosure:
    from scipy.signal import lfilter  # a second to import, and seldom needed

    last = _last(rate)
    span = sum(map(abs, strides)) * last
    if span + offset > _LONGEST:
        raise TooLarge(
            "the law of the noise along one row is too wide to be computed",
            given=f"{span + offset} values",
            fix="use a larger epsilon",
        )
    alpha = exp_enclosure(-rate, 80)
    decay = float(alpha.upper)
    # Position k of an array stands for the value k plus the sum of what went below zero.
    below = sum(s for s in strides if s < 0) * last
    law = np.zeros(span + 1)
    law[-below] = 1.0
    for stride in strides:
        # Every |stride|-th value is a sequence of its own: one column each, and the recursion runs down the columns.
        reach = abs(stride)
        source = law if stride > 0 else law[::-1]
        columns = np.concatenate([source, np.zeros(-len(source) % reach)]).reshape(-1, reach)
        spread = lfilter([1.0 - decay], [1.0, -decay], columns, axis=0).ravel()[: span + 1]
        law = spread if stride > 0 else spread[::-1]
    values = np.abs(np.arange(span + 1) + (below + offset)).astype(np.float64)
    rough = Fraction(float(values @ law))
    # Cut off: some G_j above `last`, or the recursion left the array, which takes a G_j above `last` as well.
    size = offset + sum(map(abs, strides)) * (alpha.upper / (1 - alpha.upper) + last + 1)
    cut = len(strides) * exp_above(-rate * (last + 1)) * size + _UNDERFLOW
    # Roundings: per geometric number at most three for each of `span` terms and four for 1 − α; then the last sum.
    relative = ((4 * len(strides) + 2) * (span + 2) + 4 * len(strides) * ceil(1 / (1 - alpha.upper))) * 2 * _UNIT
    return Enclosure(max(rough * (1 - relative) - cut, Fraction(0)), rough * (1 + relative) + cut)


_MOST_TERMS = 20_000
_TILTS = [Fraction(k, 2**j) for j in range(3, 27) for k in (4, 5, 6, 7)]  # near any tilt there is one
_QUANTILE_BITS = 160


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
    low, high = exp_below(-rate, _QUANTILE_BITS), exp_above(-rate, _QUANTILE_BITS)
    at_zero = int((1 - high) / (1 + high) * 2**_QUANTILE_BITS) ** dimension  # P(S = 0)·2^(bits·d)
    shift = _QUANTILE_BITS - at_zero.bit_length()  # so that P(S = 0) keeps that many bits
    point = _QUANTILE_BITS * dimension + shift
    before, mass = 0, at_zero << shift if shift > 0 else at_zero >> -shift
    factor, square = int(low * 2**_QUANTILE_BITS), int(low**2 * 2**_QUANTILE_BITS)
    total, n, wanted = mass, 0, math.ceil(level * 2**point)
    while total < wanted:
        n += 1
        before, mass = mass, ((2 * dimension * factor * mass + square * (n - 2) * before) >> _QUANTILE_BITS) // n
        total += mass
    return n


def _tilted(rate: Exact, dimension: int, level: Fraction, tilt: Fraction) -> int:
    """The least t with z^-(t+1)·E z^S ≤ 1 − level for z = e^(tilt·rate)."""
    alpha, z = exp_above(-rate, _QUANTILE_BITS), exp_below(rate * tilt, _QUANTILE_BITS)
    mean = (1 - alpha) / (1 + alpha) * (1 + alpha * z) / (1 - alpha * z)  # grows with alpha
    return int((dimension * ln_above(mean) + ln_above(1 / (1 - level))) / ln_below(z))

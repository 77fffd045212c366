"""How far a sum Σ aₗ·Zₗ of many independent discrete Laplace noises reaches, from its characteristic function.

A discrete Laplace Z of variance V has E e^(isZ) = 1/(1 + 2V·sin²(s/2)), so S = Σ aₗ·Zₗ has the characteristic function
φ(s) = Π 1/(1 + 2Vₗ·sin²(aₗs/2)), a product of positive factors.

**Smoothing.** Let all aₗ be multiples of g ≥ 0, and U be independent of S, symmetric, with |U| ≤ δ. |S| > t means
|S| ≥ t + g for a t that is a multiple of g, and then |S + U| ≥ h = t + g − δ. U is a sum of m uniform variables, with
E e^(isU) = (sin(sδ/m)/(sδ/m))^m. At δ = g/2 nothing is lost.

**Fourier series.** With W = S + U and the indicator of [−h, h] repeated with a period p > 2h,

    P(|W| > h) ≤ 1 − 2h/p − Σ_{k≥1} 2/(πk)·sin(2πkh/p)·φ(2πk/p)·E e^(2πikU/p) + P(|W| > p − h),

for the repeated indicator is one in addition only where |W| ≥ p − h. The series ends after K terms. For k > K, φ is at
most one, and |E e^(isU)| ≤ (m/(sδ))^m. Where s·max aₗ ≤ π, φ falls with s.

**Far out** Chernoff's bound holds: P(|S| > t) ≤ 2·e^(−λt)·Π 1/(1 − 2Vₗ·sinh²(λaₗ/2)) for every λ below all rates over
aₗ. It bounds P(|W| > p − h), and is the answer where it is less.

Everything is computed in doubles. What their roundings can add to the probability is bounded and added.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, inf, log, pi

import numpy as np
from numpy.typing import NDArray

__all__ = ["reach_of_geometrics"]

Floats = NDArray[np.float64]
_LENGTHS = (64, 256, 1024, 4096)  # terms of a series
_UNIFORMS = 16
_SMOOTH = 64  # parts of the reach that smoothing may cost
_FAR = 2.0**-30  # the chance beyond a period, as a part of the chance outside
_CUT = 2.0**-20  # the same of the rest of a series
_LEAST_REST = 2.0**-64  # doubles are good for that
_QUIET = 2.0**-900  # a variance, and so a chance of any noise, that is none beside it
_TURNS = 32
_ULPS = 2.0**-48  # sixteen roundings of doubles
_ROUNDED = 1 + 2.0**-30
_TILTS = np.concatenate([2.0 ** (-np.arange(1, 150) / 8), 1 - 2.0 ** -np.arange(1, 10)])
_AT_ONCE = 1 << 18


def reach_of_geometrics(
    variances: Floats, weights: Floats, counts: Floats, level: Fraction, step: Fraction = Fraction(0)
) -> Fraction | None:
    """A t that |Σ aₗ·Zₗ| exceeds with a probability of at most 1 − level; None where doubles do not tell.

    Args:
        variances: The variance of the noise of each kind of term.
        weights: The absolute value of its a, with a relative error of a few roundings.
        counts: How many independent terms of this kind there are.
        level: How often the sum is within t.
        step: A number that all weights are multiples of; 0 where none is known.

    Sixteen noises of variance 4: Chernoff's bound is 23.

    >>> one = np.ones(1)
    >>> reach_of_geometrics(4 * one, one, 16 * one, Fraction(19, 20), Fraction(1))
    Fraction(16, 1)
    """
    rest = float(1 - level) * (1 - _ULPS)
    if rest < _LEAST_REST:
        return None
    used = (variances > _QUIET) & (weights > 0) & (counts > 0)
    if not used.any():
        return Fraction(0)
    law = variances[used], weights[used], counts[used]
    most = _chernoff(*law, rest)
    found, smooth = Fraction(most), max(float(step) / 2, most / _SMOOTH)
    period = (most + _chernoff(*law, rest * _FAR) + 2 * smooth + float(step)) * _ROUNDED
    series = _series(*law, period, smooth, rest * _CUT)
    if series is not None:
        far = _least(*series, most + float(step), period, rest * (1 - _FAR))
        found = min(found, max(Fraction(far) + Fraction(smooth) - step, Fraction(0)))
    return ceil(found / step) * step if step else found


def _chernoff(variances: Floats, weights: Floats, counts: Floats, rest: float) -> float:
    """The least (ln(2/rest) + ln E e^(λS))/λ of some λ, rounded up."""
    tilts = float(np.min(2 * np.arcsinh(1 / np.sqrt(2 * variances)) / weights)) * _TILTS
    sizes = 2 * variances[:, None] * np.sinh(np.outer(weights / 2, tilts)) ** 2
    errors = sizes / (1 - sizes) * (8 * _ULPS)
    return float(np.min((log(2 / rest) + counts @ (errors - np.log1p(-sizes))) / tilts)) * _ROUNDED


def _series(
    variances: Floats, weights: Floats, counts: Floats, period: float, smooth: float, cut: float
) -> tuple[Floats, float] | None:
    """2/(πk)·φ·E e^(isU) for k = 1, …, K, and a bound of what the rest and all roundings may add."""
    falling = period / (2 * float(weights.max()))  # up to this k, φ falls
    for length in _LENGTHS:
        last = pi * length / period
        long = max(float(length), falling)
        among = float(np.exp(-(counts @ np.log1p(2 * variances * np.sin(weights * last) ** 2)))) * log(long / length)
        beyond = (_UNIFORMS * period / (2 * pi * smooth * long)) ** _UNIFORMS / _UNIFORMS
        dropped = 2 / pi * (among + beyond) * _ROUNDED
        if dropped <= cut:
            break
    else:
        return None
    halves = np.arange(1, length + 1) * (pi / period)  # s/2
    logs, errors = np.zeros(length), np.zeros(length)
    slopes = counts * np.sqrt(2 * variances) * weights
    for start in range(0, len(weights), max(_AT_ONCE // length, 1)):
        some = slice(start, start + max(_AT_ONCE // length, 1))
        sines = np.sin(np.outer(weights[some], halves))
        logs += counts[some] @ np.log1p(2 * variances[some, None] * sines**2)
    errors = (logs * (1 + len(weights) / 16) + float(slopes.sum()) * halves) * 2 * _ULPS
    factors = 2 / (pi * np.arange(1, length + 1)) * np.exp(-logs)
    uniform = np.sinc(halves * 2 * smooth / (_UNIFORMS * pi)) ** _UNIFORMS
    return factors * uniform, dropped + float(factors @ np.minimum(2 * errors, 1)) + 2.0**-36


def _least(terms: Floats, added: float, most: float, period: float, rest: float) -> float:
    """An h with P(|W| > h) ≤ rest, at most `most` where the series says so."""
    halves = np.arange(1, len(terms) + 1) * (2 * pi / period)

    def held(far: float) -> bool:
        return 1 - 2 * far / period - float(terms @ np.sin(halves * far)) + added <= rest

    low, high = 0.0, most
    if not held(high):
        return inf
    for _ in range(_TURNS):
        middle = (low + high) / 2
        low, high = (low, middle) if held(middle) else (middle, high)
    return high

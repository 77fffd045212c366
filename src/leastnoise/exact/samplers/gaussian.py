"""The discrete Gaussian law of Canonne, Kamath and Steinke (2020)."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import NumberTooLarge
from leastnoise.exact.balls import Ball, evaluate, of_fraction, require_bits, scaled_bounds
from leastnoise.exact.enclosures import Enclosure, enclose
from leastnoise.exact.floats import exp_bounds
from leastnoise.exact.inversion import InverseTable, Law, Thresholds
from leastnoise.exact.parameters import (
    RELATIVE_ERROR,
    ExactArray,
    NumberLike,
    Size,
    is_array,
    read_array,
    read_integer,
    read_rational,
)
from leastnoise.exact.samplers.bernoulli import ScaledBounds, coins_between, scaled_exp
from leastnoise.exact.samplers.laplace import discrete_laplace
from leastnoise.exact.sources import Draws, Source, in_shape, per_element

__all__ = ["discrete_gaussian", "discrete_gaussian_cdf", "discrete_gaussian_pmf", "gaussian_law", "total_weight"]

_LARGEST_FOR_TABLE = 128**2
_LARGEST_FOR_SUM = 1 << 20
_GUARD_BITS = 96  # of a weight, beyond those of a threshold
_DROPPED_BITS = 64  # of them: weights below 2^(dropped − guard − bits) are left out
_LARGEST = 1 << 96  # sigma below 2^48: draws beyond 2^62 would be 16000 sigma away


def discrete_gaussian(
    sigma_squared: NumberLike | NDArray[Any], size: Size = None, source: Source | None = None
) -> Draws:
    """Draw a whole number X with P(X = x) ∝ e^(−x²/(2·sigma_squared)); an array gives one number for each.

    Up to sigma = 128 by inversion from a table, beyond by rejection from discrete Laplace noise (their Algorithm 3).

    >>> discrete_gaussian(4, size=3).shape
    (3,)
    """
    if is_array(sigma_squared):
        variances = read_array(sigma_squared, "sigma_squared")
        if (variances.centers > _LARGEST).any():
            raise _too_wide(variances.centers.max())
        return per_element(lambda block, bits: _rejected(variances, block, bits), variances, size, source)
    variance = read_rational(sigma_squared, "sigma_squared", above=0)
    if variance > _LARGEST:
        raise _too_wide(variance)
    if variance <= _LARGEST_FOR_TABLE:
        return in_shape(_table(variance).draw, size, source)

    def draw(count: int, bits: Source) -> NDArray[np.int64]:
        same = ExactArray(np.full(count, float(variance)), (count,), lambda _: variance)
        return _rejected(same, slice(0, count), bits)

    return in_shape(draw, size, source)


def discrete_gaussian_pmf(outcome: int, sigma_squared: NumberLike, bits: int = 64) -> Enclosure:
    """P(X = outcome) of `discrete_gaussian`, enclosed to `bits` bits after the point.

    >>> 0.1994 < float(discrete_gaussian_pmf(0, 4)) < 0.1995
    True
    """
    x, variance = abs(read_integer(outcome, "outcome")), read_rational(sigma_squared, "sigma_squared", above=0)
    if variance > _LARGEST:
        raise _too_wide(variance)
    if variance > _LARGEST_FOR_SUM:
        return enclose(lambda: (-of_fraction(Fraction(x**2) / (2 * variance))).exp() / total_weight(variance), bits)
    at_most, before = discrete_gaussian_cdf(-x, sigma_squared, bits), discrete_gaussian_cdf(-x - 1, sigma_squared, bits)
    return Enclosure(max(at_most.lower - before.upper, Fraction(0)), at_most.upper - before.lower)


def discrete_gaussian_cdf(outcome: int, sigma_squared: NumberLike, bits: int = 64) -> Enclosure:
    """P(X ≤ outcome) of `discrete_gaussian`, enclosed to `bits` bits after the point, for sigma_squared up to 2^20.

    Raises:
        NumberTooLarge: sigma_squared is larger: `discrete_gaussian_tail` then has a few digits of it.
    """
    x, variance = read_integer(outcome, "outcome"), read_rational(sigma_squared, "sigma_squared", above=0)
    if variance > _LARGEST_FOR_SUM:
        raise NumberTooLarge(
            "so many masses take too long to add up", given=f"sigma_squared={variance}", fix="measure in a coarser unit"
        )
    require_bits(bits)
    thresholds = gaussian_law(variance)(bits + 8)
    place = x - thresholds.first  # P(X ≤ x) is the threshold that X ≥ x + 1 must pass
    scale = 1 << (bits + 8)
    if place < 0:
        return Enclosure(Fraction(0), Fraction(thresholds.high[0], scale))
    if place >= len(thresholds.low):
        return Enclosure(Fraction(thresholds.low[-1], scale), Fraction(1))
    return Enclosure(Fraction(thresholds.low[place], scale), Fraction(thresholds.high[place], scale))


def gaussian_law(variance: Fraction) -> Law:
    """Thresholds P(X < v) from the weights e^(−k²/2σ²): w_{k+1} = w_k·r_k, r_{k+1} = r_k·e^(−1/σ²), rounded outwards.

    What is left out beyond the last weight w_K is at most w_K·r_K/(1 − r_K), as the ratios decrease.
    """

    def law(bits: int) -> Thresholds:
        guard = bits + _GUARD_BITS
        one = 1 << guard
        low_ratio, high_ratio = scaled_bounds(
            evaluate(lambda: (-of_fraction(1 / variance) / 2).exp(), guard + 64), guard
        )
        low_step, high_step = (low_ratio**2) >> guard, ((high_ratio**2) >> guard) + 1
        low_weights, high_weights = [one], [one]
        while high_weights[-1] >> _DROPPED_BITS:
            low_weights.append((low_weights[-1] * low_ratio) >> guard)
            high_weights.append(((high_weights[-1] * high_ratio) >> guard) + 1)
            low_ratio = (low_ratio * low_step) >> guard
            high_ratio = ((high_ratio * high_step) >> guard) + 1
        left_out = high_weights[-1] * high_ratio // (one - high_ratio) + 1
        low_tails, high_tails = [0], [left_out]  # of the weights at k and beyond, from the far end inwards
        for low, high in zip(reversed(low_weights[1:]), reversed(high_weights[1:]), strict=True):
            low_tails.append(low_tails[-1] + low)
            high_tails.append(high_tails[-1] + high)
        low_total, high_total = 2 * low_tails[-1] + one, 2 * high_tails[-1] + one
        # Tail j of the list is P(X < −(K − j)) = P(X > K − j).
        below = [
            ((low << bits) // high_total, -(-(high << bits) // low_total))
            for low, high in zip(low_tails, high_tails, strict=True)
        ]
        pairs = below + [((1 << bits) - high, (1 << bits) - low) for low, high in reversed(below)]
        return Thresholds(
            first=-len(low_weights),
            low=[low for low, _ in pairs],
            high=[high for _, high in pairs],
            endless_below=True,
            endless_above=True,
        )

    return law


def total_weight(variance: Fraction) -> Ball:
    """Σ_k e^(−k²/2σ²) = √(2π)·σ·(1 + 2·Σ_{j≥1} e^(−2π²σ²j²)) for σ² ≥ 2^16, where the bracket is 1 up to 2^-4096."""
    radius = of_fraction(Fraction(1, 2**4096))
    return (2 * Ball.pi() * of_fraction(variance)).sqrt() * (1 + radius.union(-radius))


@lru_cache(maxsize=64)
def _table(variance: Fraction) -> InverseTable:
    return InverseTable(gaussian_law(variance))


def _rejected(variances: ExactArray, block: slice, source: Source) -> NDArray[np.int64]:
    """Propose Y with discrete Laplace scale t, accept with probability e^(−(|Y| − σ²/t)²/(2σ²)); any t ≥ 1 is right."""
    variance = variances.centers[block]
    scale = np.floor(np.sqrt(variance)).astype(np.int64) + 1
    out = np.zeros(len(variance), dtype=np.int64)
    pending = np.arange(len(variance))
    while len(pending):
        t = scale[pending]
        one_scale = len(t) > 1 and (t == t[0]).all()
        proposal = discrete_laplace(int(t[0]), len(t), source) if one_scale else discrete_laplace(t, source=source)
        accepted = _accepted(proposal, t, variances, block.start + pending, source)
        out[pending[accepted]] = proposal[accepted]
        pending = pending[~accepted]
    return out


def _accepted(
    proposal: NDArray[np.int64],
    scale: NDArray[np.int64],
    variances: ExactArray,
    places: NDArray[np.int64],
    source: Source,
) -> NDArray[np.bool_]:
    variance, distance = variances.centers[places], np.abs(proposal).astype(np.float64)
    centre = variance / scale
    gap, doubt = np.abs(distance - centre), (distance + centre) * (2 * RELATIVE_ERROR)
    least = np.maximum(gap - doubt, 0.0) ** 2 / (2 * variance) * (1 - 4 * RELATIVE_ERROR)
    most = (gap + doubt) ** 2 / (2 * variance) * (1 + 4 * RELATIVE_ERROR)

    def exact(i: int) -> ScaledBounds:
        sigma_squared = variances.rational(int(places[i]))
        return scaled_exp((abs(int(proposal[i])) - sigma_squared / int(scale[i])) ** 2 / (2 * sigma_squared))

    return coins_between(exp_bounds(-most, -least), exact, source)


def _too_wide(given: object) -> NumberTooLarge:
    return NumberTooLarge("sigma_squared must be at most 2^96", given=given, fix="measure in a coarser unit")

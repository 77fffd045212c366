"""How far a weighted sum of independent noises reaches: a t with P(|Σ wᵢXᵢ| > t) ≤ 1 − level, from the exact laws.

Means, variances and ratios are quotients of noisy numbers. A hypothesis about the quotient makes some weighted sum of
the true numbers zero, so that the same sum of the noisy ones is a sum of noises alone (Fieller 1954). Its reach decides
which hypotheses an interval keeps (docs/theory/quotients.md).

**Laplace noise.** With rates λᵢ the law of Xᵢ has P(Xᵢ = k) ≤ e^(λᵢ/4)·∫ f(x) dx over k ± ½ for the continuous density
f(x) = λ/2·e^(−λ|x|): tanh(λ/2) ≤ λ/2, and by Jensen's inequality the mean of e^(−λ|x|) over k ± ½ is at least
e^(−λ|k|), at least e^(−λ/4) where k = 0. So P(|Σ wᵢXᵢ| > t) ≤ e^(Σλᵢ/4)·P(|Σ wᵢLᵢ| > t − ½Σ|wᵢ|). The Lᵢ with different
scales cᵢ have the two tails Σ Aᵢ·e^(−t/cᵢ), Aᵢ = Π cᵢ²/(cᵢ² − cⱼ²) over j ≠ i, by partial fractions of 1/Π(1 + cᵢ²s²).
Larger scales reach farther (Anderson 1955), so scales are rounded up until they differ.

**Rounded Gaussian noise** is within ½ of its normal noise, and Σ wᵢgᵢ is normal.

The sum of the single reaches, each at 1 − (1 − level)/k, is a bound, too: the smaller one counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, prod

from leastnoise.exact import exp_above, exp_enclosure, least_whole, rational_above, sqrt_above
from leastnoise.mechanisms.numeric.gaussian import Gaussian
from leastnoise.mechanisms.numeric.integer_noise import Geometric, IntegerNoise

__all__ = ["reach_of_sum"]

_COARSE, _FINE = 32, 128  # scales are rounded up to a multiple of 1/32 of the largest, and moved apart by 1/128 of it
_CHANCES = 1 << 64  # chances are rounded down to a multiple of its inverse
_NORMAL = 1 << 10  # the standard deviation at which the quantile of normal noise is looked up
_HALF = Fraction(1, 2)


def reach_of_sum(noises: Sequence[IntegerNoise], weights: Sequence[Fraction], level: Fraction) -> Fraction:
    """A t that |Σ wᵢXᵢ| exceeds with a probability of at most 1 − level; the larger the weights, the larger it is.

    >>> from leastnoise.exact import ln
    >>> half = Fraction(1, 2)
    >>> float(reach_of_sum([Geometric(ln(2), 100)] * 2, [half, half], Fraction(19, 20)))  # one of them: 432
    299.1...
    """
    used = [(noise, abs(weight)) for noise, weight in zip(noises, weights, strict=True) if weight]
    if not used:
        return Fraction(0)
    rest = 1 - level
    found = sum((size * _quantile(noise, 1 - rest / len(used)) for noise, size in used), Fraction(0))
    spread = sum((size for _, size in used), Fraction(0)) / 2
    if all(isinstance(noise, Gaussian) for noise, _ in used):
        variances = (size**2 * noise.variance for noise, size in used if isinstance(noise, Gaussian))
        variance = sum(variances, Fraction(0))
        found = min(found, _normal_reach(level) * sqrt_above(variance) + spread)
    elif all(isinstance(noise, Geometric) for noise, _ in used):
        kept = [(noise, size) for noise, size in used if isinstance(noise, Geometric)]
        scales = [_scale(noise) * size for noise, size in kept]
        factor = prod((_excess(noise) for noise, _ in kept), start=Fraction(1))
        chance = Fraction(floor(rest / factor * _CHANCES), _CHANCES)
        if chance > 0:
            found = min(found, max(scales) * _laplace_reach(_apart(scales), chance) + spread)
    return found


@lru_cache(maxsize=1024)
def _quantile(noise: IntegerNoise, level: Fraction) -> int:
    return noise.quantile(level)


@lru_cache(maxsize=1024)
def _scale(noise: Geometric) -> Fraction:
    """1/λ, rounded up."""
    scale = 1 / -rational_above(-noise.rate)
    digits = max(scale.denominator.bit_length() - scale.numerator.bit_length(), 0) + 24
    return Fraction(ceil(scale * (1 << digits)), 1 << digits)


@lru_cache(maxsize=1024)
def _excess(noise: Geometric) -> Fraction:
    """By which factor the mass of a whole number may exceed that of the interval around it: e^(λ/4)."""
    return exp_above(rational_above(noise.rate) / 4)


def _apart(scales: Sequence[Fraction]) -> tuple[int, ...]:
    """The scales as multiples of 1/128 of the largest, rounded up, all different."""
    largest, found = max(scales), list[int]()
    for scale in sorted(scales):
        steps = ceil(scale / largest * _COARSE) * (_FINE // _COARSE)
        found.append(max(steps, found[-1] + 1) if found else steps)
    return tuple(found)


@lru_cache(maxsize=4096)
def _laplace_reach(scales: tuple[int, ...], chance: Fraction) -> Fraction:
    """The t beyond which the two tails have at most this chance, for Laplace noises of scales in 128ths."""
    shares = [
        prod((Fraction(c * c, c * c - other * other) for other in scales if other != c), start=Fraction(1))
        for c in scales
    ]

    def tails(place: int) -> Fraction:
        total = Fraction(0)
        for share, scale in zip(shares, scales, strict=True):
            power = exp_enclosure(Fraction(-place, scale))
            total += share * (power.upper if share > 0 else power.lower)
        return total

    return Fraction(least_whole(lambda place: tails(place) <= chance), _FINE)


@lru_cache(maxsize=1024)
def _normal_reach(level: Fraction) -> Fraction:
    """How many standard deviations a normal variable exceeds with a probability of at most 1 − level."""
    return (Gaussian(_NORMAL**2).quantile(level) + _HALF) / _NORMAL

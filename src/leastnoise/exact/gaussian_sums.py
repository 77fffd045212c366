"""Tails and moments of the discrete Gaussian Y, P(Y = k) ∝ f(k) = e^(−k²/2σ²), enclosed for every σ up to 2^48.

Up to σ = 256 by summing. Beyond, by Poisson's formula and that of Euler and Maclaurin with proven remainders, so that
the cost does not grow with σ:

    Σ_k f(k)       = √(2π)·σ·(1 + 2·Σ_{j≥1} e^(−2π²σ²j²)), and what is in the bracket is 1 up to 2^-4096;
    Σ_{k≥m} f(k)   = ∫_a^∞ f + f'(a)/24 + R with a = m − ½, and |R| ≤ max|B₃|/3!·V, V the variation of f'' beyond a;
    Σ_{k≥0} k·f(k) = σ² − 1/12 + R, and |R| ≤ max|B₃|/3!·V, V ≤ 3.52/σ the variation of (x·f(x))''.

max|B₃|/3! = √3/216 < 1/124. With u = a/σ, f'' = (u² − 1)e^(−u²/2)/σ² decreases beyond u = √3, so V = f''(a) there; on
all of u ≥ 0 it varies by at most 1.9/σ².
"""

from __future__ import annotations

from fractions import Fraction

from leastnoise.errors import NumberTooLarge
from leastnoise.exact.balls import Ball, of_fraction
from leastnoise.exact.enclosures import Enclosure, enclose, sqrt_below
from leastnoise.exact.parameters import NumberLike, read_integer, read_rational
from leastnoise.exact.samplers.gaussian import discrete_gaussian_cdf, total_weight

__all__ = ["discrete_gaussian_moment", "discrete_gaussian_tail"]

_SUMMED = 1 << 16  # up to this variance
_LARGEST = 1 << 96
_REMAINDER = Fraction(1, 124)  # above max|B₃|/3!


def discrete_gaussian_tail(least: int, sigma_squared: NumberLike, bits: int = 64) -> Enclosure:
    """P(Y ≥ least): to `bits` bits after the point up to σ = 256, beyond that to a relative 10^-4 (or 2^-700).

    >>> discrete_gaussian_tail(1, 4), discrete_gaussian_tail(5 * 10**6, 10**12)
    (Enclosure(≈ 0.400264429899642), Enclosure(≈ 2.86652315239571e-07))
    """
    m, variance = read_integer(least, "least"), _read_variance(sigma_squared)
    if m < 1:  # by symmetry P(Y ≥ m) = 1 − P(Y ≥ 1 − m)
        other = discrete_gaussian_tail(1 - m, variance, bits)
        return Enclosure(1 - other.upper, 1 - other.lower)
    if variance <= _SUMMED:
        return discrete_gaussian_cdf(-m, variance, bits)
    start = Fraction(2 * m - 1, 2)
    if start**2 > variance * 1000:  # f is below e^-500 there: no sum of it matters
        return Enclosure(Fraction(0), Fraction(1, 2**700))
    total = enclose(lambda: total_weight(variance), bits)
    middle = enclose(lambda: _integral(start, variance) + _slope(start, variance) / 24, bits)
    if start**2 >= 3 * variance:
        variation = enclose(lambda: (of_fraction(start**2 / variance) - 1) * _height(start, variance), bits).upper
    else:
        variation = Fraction(19, 10)
    slack = variation / variance * _REMAINDER
    return Enclosure(max(middle.lower - slack, Fraction(0)) / total.upper, (middle.upper + slack) / total.lower)


def discrete_gaussian_moment(order: int, sigma_squared: NumberLike, bits: int = 64) -> Enclosure:
    """E|Y|^order for order 1 or 2, or P(Y ≠ 0) for order 0.

    >>> discrete_gaussian_moment(1, 100), discrete_gaussian_moment(2, 100)
    (Enclosure(≈ 7.97219324153826), Enclosure(≈ 100))
    """
    power, variance = read_integer(order, "order", at_least=0, at_most=2), _read_variance(sigma_squared)
    if variance <= _SUMMED:
        return _summed_moment(power, variance, bits)
    if power == 2:  # σ² − 8π²σ⁴·e^(−2π²σ²)·(1 + …), from the derivative of the total in σ
        return Enclosure(variance * (1 - Fraction(1, 2**100)), variance)
    total = enclose(lambda: total_weight(variance), bits)
    if power == 0:
        return Enclosure(1 - 1 / total.lower, 1 - 1 / total.upper)
    slack = Fraction(352, 100) * _REMAINDER / sqrt_below(variance)
    middle = variance - Fraction(1, 12)
    return Enclosure(2 * (middle - slack) / total.upper, 2 * (middle + slack) / total.lower)


def _summed_moment(power: int, variance: Fraction, bits: int) -> Enclosure:
    def ratio() -> Ball:
        base = (-of_fraction(1 / (2 * variance))).exp()
        step, factor, weight = base * base, base, of_fraction(1)
        total, moment, k = of_fraction(0), of_fraction(0), 0
        # The rest of Σ k^p·f(k) after k is at most its last term·r/(1 − r), r = (1 + 1/k)²·f(k+1)/f(k), once r < 1.
        while k * k <= 2 * variance * (bits + 80):
            k += 1
            weight, factor = weight * factor, factor * step
            total += weight
            moment += weight * k**power
        growth = factor * of_fraction(Fraction(k + 1, k) ** 2)
        rest = weight * k**2 * growth / (1 - growth)
        within = rest * of_fraction(0).union(of_fraction(1))
        return 2 * (moment + within) / (1 + 2 * (total + within))

    return enclose(ratio, bits)


def _integral(start: Fraction, variance: Fraction) -> Ball:
    """∫ f beyond `start`."""
    return (Ball.pi() * of_fraction(variance) / 2).sqrt() * (
        of_fraction(start) / (2 * of_fraction(variance)).sqrt()
    ).erfc()


def _height(point: Fraction, variance: Fraction) -> Ball:
    return (-of_fraction(point**2 / (2 * variance))).exp()


def _slope(point: Fraction, variance: Fraction) -> Ball:
    return -of_fraction(point / variance) * _height(point, variance)


def _read_variance(sigma_squared: NumberLike) -> Fraction:
    variance = read_rational(sigma_squared, "sigma_squared", above=0)
    if variance > _LARGEST:
        raise NumberTooLarge("sigma_squared must be at most 2^96", given=variance, fix="measure in a coarser unit")
    return variance

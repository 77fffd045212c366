"""The normal law seen through a grid: round(g) for g normal with mean 0, the whole number that is nearest.

P(X = k) = Φ((k + ½)/σ) − Φ((k − ½)/σ). Half-way g are rounded up; they have probability 0. What is released is a
function of the continuous g alone, so whatever protects g protects X (docs/theory/gaussian.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import NumberTooLarge
from leastnoise.exact.balls import Ball, above, below, evaluate, normal_cdf, of_fraction, scaled_bounds
from leastnoise.exact.enclosures import Enclosure, enclose, sqrt_below
from leastnoise.exact.inversion import InverseTable, Law, Thresholds
from leastnoise.exact.normals import DOUBLE_ERROR, Normals
from leastnoise.exact.parameters import NumberLike, Size, read_integer, read_rational
from leastnoise.exact.sources import Draws, Source, in_shape

__all__ = [
    "nearest_whole",
    "read_variance",
    "rounded_gaussian",
    "rounded_gaussian_cdf",
    "rounded_gaussian_law",
    "rounded_gaussian_moment",
    "rounded_gaussian_pmf",
    "rounded_gaussian_tail",
    "upper_tail",
]

_LARGEST_FOR_TABLE = 128**2
_LARGEST_FOR_SUM = 64**2
_SMALLEST, _LARGEST = Fraction(1, 2**100), 2**100  # variances: a draw has less than 50 + 11 bits
_HALF = Fraction(1, 2)
_TINY = Fraction(1, 2**4096)
_SMALLEST_EXPONENT = 1 << 16  # a probability below 2^-65536 has 0 as its lower bound
_NEXT_TO_ZERO = Enclosure(Fraction(0), Fraction(1, 2**_SMALLEST_EXPONENT))
_PRODUCT_ERROR = 2 * DOUBLE_ERROR  # relative to σ, of a double near σ·g: three roundings at |g| < 5 are below 2^-48


def rounded_gaussian(variance: NumberLike, size: Size = None, source: Source | None = None) -> Draws:
    """Draw the whole number nearest to a normal number with mean 0 and this variance, in squared steps of the grid.

    Up to σ = 128 by inversion from a table, beyond from a normal number whose bits are revealed until it is clear
    which whole number is nearest. All draws fit into 64 bits.

    Args:
        variance: σ², exact, from 2^-100 to 2^100.
        size: How many independent draws; None for one number.
        source: Where the bits come from.

    >>> rounded_gaussian("1/1000"), rounded_gaussian(10**12, size=3).shape
    (0, (3,))
    """
    number = read_variance(variance)
    draw = _table(number).draw if number <= _LARGEST_FOR_TABLE else partial(_draw_wide, number)
    return in_shape(draw, size, source)


def rounded_gaussian_pmf(outcome: int, variance: NumberLike, bits: int = 64) -> Enclosure:
    """P(X = outcome) of `rounded_gaussian`, enclosed to `bits` bits relative to its size.

    >>> rounded_gaussian_pmf(0, 1), rounded_gaussian_pmf(-3, 1)
    (Enclosure(≈ 0.382924922548026), Enclosure(≈ 0.00597703624674061))
    """
    near, number = abs(read_integer(outcome, "outcome")), read_variance(variance)
    if _is_beyond(near, number):
        return _NEXT_TO_ZERO
    return enclose(lambda: upper_tail(near - _HALF, number) - upper_tail(near + _HALF, number), bits)


def rounded_gaussian_cdf(outcome: int, variance: NumberLike, bits: int = 64) -> Enclosure:
    """P(X ≤ outcome) of `rounded_gaussian`: Φ((outcome + ½)/σ).

    >>> rounded_gaussian_cdf(1, 4), rounded_gaussian_cdf(-2, 4)
    (Enclosure(≈ 0.773372647623132), Enclosure(≈ 0.226627352376868))
    """
    return rounded_gaussian_tail(-read_integer(outcome, "outcome"), variance, bits)


def rounded_gaussian_tail(least: int, variance: NumberLike, bits: int = 64) -> Enclosure:
    """P(X ≥ least) of `rounded_gaussian`: Φ((½ − least)/σ); the smaller of it and its rest to `bits` relative bits.

    >>> rounded_gaussian_tail(10, 4)
    Enclosure(≈ 1.0170832425687e-06)
    """
    k, number = read_integer(least, "least"), read_variance(variance)
    if k < 1:
        other = rounded_gaussian_tail(1 - k, number, bits)
        return Enclosure(1 - other.upper, 1 - other.lower)
    return _NEXT_TO_ZERO if _is_beyond(k, number) else enclose(lambda: upper_tail(k - _HALF, number), bits)


def rounded_gaussian_moment(order: int, variance: NumberLike, bits: int = 64) -> Enclosure:
    """E|X|^order of `rounded_gaussian` for order 1 or 2, or P(X ≠ 0) for order 0.

    E|X| = 2·Σ_{k≥1} Q((k − ½)/σ) and E X² = 2·Σ_{k≥1} (2k − 1)·Q((k − ½)/σ). Up to σ = 64 they are summed. Beyond, the
    first is known by the formula of Euler and Maclaurin to 2·10^-4/σ⁵, and the second is σ² + 1/12, up to
    Σ_{j≥1} (4σ² + 1/(πj)²)·e^(−2π²j²σ²) (Sheppard).

    >>> rounded_gaussian_moment(1, 100), rounded_gaussian_moment(2, 100)
    (Enclosure(≈ 7.97552011860613), Enclosure(≈ 100.083333333333))
    """
    power, number = read_integer(order, "order", at_least=0, at_most=2), read_variance(variance)
    if power == 0:
        tail = rounded_gaussian_tail(1, number, bits)
        return Enclosure(2 * tail.lower, 2 * tail.upper)
    if number <= _LARGEST_FOR_SUM:
        return _NEXT_TO_ZERO if _is_beyond(1, number) else enclose(lambda: _summed_moment(power, number, bits), bits)
    if power == 2:
        return Enclosure(number + Fraction(1, 12) - _TINY, number + Fraction(1, 12) + _TINY)
    found = evaluate(partial(_wide_mean, number), bits + 64)
    return Enclosure(below(found), above(found))


def rounded_gaussian_law(variance: Fraction) -> Law:
    """The thresholds P(X ≤ k) = Φ((k + ½)/σ) from −K − 1 to K; beyond, Q(x) ≤ ½·e^(−x²/2) is below 2^-bits."""

    def law(bits: int) -> Thresholds:
        last = isqrt(int(2 * variance * bits)) + 1
        tails = evaluate(lambda: [upper_tail(k + _HALF, variance) for k in range(last, -1, -1)], bits + 64)
        pairs = [scaled_bounds(tail, bits) for tail in tails]
        pairs += [((1 << bits) - high, (1 << bits) - low) for low, high in reversed(pairs)]
        return Thresholds(
            first=-last - 1,
            low=[low for low, _ in pairs],
            high=[high for _, high in pairs],
            endless_below=True,
            endless_above=True,
        )

    return law


def upper_tail(start: Fraction, variance: Fraction) -> Ball:
    """Q(start/σ), the mass of the normal law beyond `start`, at the current working precision."""
    return normal_cdf(-of_fraction(start) / of_fraction(variance).sqrt())


def read_variance(variance: NumberLike, name: str = "variance") -> Fraction:
    """A variance for which there is a sampler.

    >>> read_variance("1/3")
    Fraction(1, 3)
    """
    number = read_rational(variance, name, above=0)
    if not _SMALLEST <= number <= _LARGEST:
        raise NumberTooLarge(
            f"{name} must lie between 2^-100 and 2^100",
            given="more" if number > 1 else "less",
            fix="measure in a grid whose step is nearer to the noise",
        )
    return number


def nearest_whole(normals: Normals, places: Sequence[int], form: Callable[[Sequence[Ball]], Ball]) -> int:
    """The whole number nearest to form(g) of the normal numbers at these places; half-way is rounded up.

    Bits of all of them are revealed until every number of the ball around form(g) has the same nearest one.
    """
    while True:
        balls = [ball for place in places if (ball := normals.ball(place)) is not None]
        if len(balls) == len(places):
            bits = max((normals.precision(place) for place in places), default=64)
            low, high = scaled_bounds(evaluate(partial(_shifted, form, balls), bits), bits)
            if low >> bits == high >> bits:
                return low >> bits
        for place in places:
            normals.reveal(place)


def _shifted(form: Callable[[Sequence[Ball]], Ball], balls: Sequence[Ball]) -> Ball:
    """The number whose floor is the whole number nearest to form(g)."""
    return form(balls) + of_fraction(_HALF)


@lru_cache(maxsize=64)
def _table(variance: Fraction) -> InverseTable:
    return InverseTable(rounded_gaussian_law(variance))


def _draw_wide(variance: Fraction, count: int, source: Source) -> NDArray[np.int64]:
    """σ·g is within σ·`_PRODUCT_ERROR` of its double, so its nearest whole number is clear unless about ½ away."""
    normals, sigma = Normals(count, source), _sigma(variance)
    near = normals.doubles()
    near *= sigma
    nearest = np.rint(near)
    near -= nearest  # exact, as are all doubles from 2^52 on, for which nothing is clear
    clear = np.abs(near, out=near) <= 0.5 - sigma * _PRODUCT_ERROR
    clear &= ~normals.far()
    out = nearest.astype(np.int64)
    for i in np.flatnonzero(~clear):
        out[i] = nearest_whole(normals, [int(i)], lambda g: g[0] * of_fraction(variance).sqrt())
    return out


@lru_cache(maxsize=64)
def _sigma(variance: Fraction) -> float:
    """σ up to a relative 2^-52."""
    return float(sqrt_below(variance, 80))


def _is_beyond(least: int, variance: Fraction) -> bool:
    """Whether Q((least − ½)/σ) ≤ ½·e^(−(least − ½)²/2σ²) is surely below 2^-65536."""
    return least > 0 and (least - _HALF) ** 2 >= 2 * variance * _SMALLEST_EXPONENT


def _summed_moment(power: int, variance: Fraction, bits: int) -> Ball:
    """The terms after the last sum to σ²·e^(−(last − ½)²/2σ²) at most: y·Q(y/σ) falls from σ on, 2Q(x) ≤ e^(−x²/2)."""
    last = isqrt(int(2 * variance * (bits + 80))) + 2
    terms = ((2 * k - 1) ** (power - 1) * upper_tail(k - _HALF, variance) for k in range(1, last + 1))
    rest = of_fraction(variance) * (-of_fraction((last - _HALF) ** 2 / (2 * variance))).exp()
    return 2 * (sum(terms, Ball(0)) + rest * Ball(0).union(Ball(1)))


def _wide_mean(variance: Fraction) -> Ball:
    """E|X| for σ ≥ 64, with |B₆|/6!·∫|φ⁽⁵⁾|/σ⁵ < 10^-4/σ⁵ as the remainder of half of it."""
    sigma = of_fraction(variance).sqrt()
    series = sigma - 1 / (24 * sigma) - 7 / (5760 * sigma**3) - 31 / (322560 * sigma**5)
    return 2 * series / (2 * Ball.pi()).sqrt() + Ball(-1).union(Ball(1)) / (5000 * sigma**5)

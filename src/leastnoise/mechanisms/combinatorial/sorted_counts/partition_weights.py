"""Sums over all lists: the normaliser Z = Σ_y q^‖x−y‖₁ of one list, the expected distance, and bounds for every list.

E‖x − Y‖₁ = −d ln Z/dc at q = e^-c, and ln Z is convex in c. So its slopes to either side enclose the expectation, and
for every c' < c, with Z ≥ 1 (y = x): E ≤ ln Z(c')/(c − c') and P(‖x − Y‖₁ ≥ t) ≤ Z(c')·e^(−(c−c')t).
There are at most e^(π√(2n/3)) lists of at most n records (Φ(e^-s)⁻¹ ≤ e^(π²/6s), at s = π/√(6n)), which bounds Z(c')
for all lists of N records at once; lists of r counts have Z(c') ≤ ((1 + q')/(1 − q'))^r as well.

Where q is small the corners of the diagram count. With m distinct counts it has m outer and m + 1 inner ones, and
m(m + 1)/2 ≤ N. What of Y differs from x beyond one of them is, in expectation, at most as large as a diagram λ drawn
with P ∝ q^|λ|, and there are at most Φ(q')⁻¹ ways for it (docs/theory/sorted_counts.md). Hence
    E ≤ (2m + 1)·Σ_{j≥1} j·q^j/(1 − q^j),        Z(c') ≤ Φ(q')^−(2m+1).
For r counts at most 2r corners can move.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import exp, isqrt, log, log1p, pi, sqrt

from leastnoise.exact import Ball, Enclosure, above, below, enclose, evaluate, ln_enclosure, of_fraction
from leastnoise.mechanisms.combinatorial.sorted_counts.diagram import Border
from leastnoise.mechanisms.combinatorial.sorted_counts.numbers import Array, Balls, Doubles
from leastnoise.mechanisms.combinatorial.sorted_counts.shift_chain import ShiftChain, WalkFilter
from leastnoise.mechanisms.combinatorial.sorted_counts.walk_sampler import band_width

__all__ = ["distance_bounds", "expected_distance", "normaliser"]

_SPREAD = Fraction(1, 10**4)  # the slopes are taken between q and q·(1 ± this)
_LN2_BITS = 96
_MOST_TERMS = 400  # of sums over j; the rest is bounded


def normaliser(border: Border, decay: Fraction, *, closed: bool, bits: int = 64) -> Enclosure:
    """Z to `bits` bits."""
    width, precision = band_width(decay, int(border.lengths.sum())), bits + 64
    while True:
        low, high = WalkFilter(border, ShiftChain(decay, width, Balls(precision)), closed=closed).last
        least, most = (evaluate(partial(_sum, part), precision) for part in (low, high))
        found = Enclosure(below(least), above(most))
        if found.lower > 0 and found.width <= found.lower / 2**bits:
            return found
        width, precision = width + max(width // 2, 4), precision + bits


def expected_distance(border: Border, decay: Fraction, *, closed: bool) -> Enclosure:
    """E‖x − Y‖₁ for the list with this border, to about a thousandth."""
    more, less = decay * (1 + _SPREAD), decay * (1 - _SPREAD)
    width = band_width(more, int(border.lengths.sum()))
    upper, middle, lower = (_log_normaliser(border, q, width, closed) for q in (more, decay, less))
    return Enclosure(
        max((middle.lower - lower.upper) / ln_enclosure(decay / less).upper, Fraction(0)),
        (upper.upper - middle.lower) / ln_enclosure(more / decay).lower,
    )


def distance_bounds(total: int, longest: int | None, decay: Fraction, level: Fraction) -> tuple[Enclosure, Fraction]:
    """What E‖x − Y‖₁ does not exceed, and what ‖x − Y‖₁ exceeds with probability at most 1 − level.

    Both hold for all lists of at most `total` records, cut to the `longest` largest counts if that is given.
    """
    corners = _most_corners(total, longest)
    candidates = [_all_lists(total, decay), _few_corners(corners, decay)]
    candidates += [] if longest is None else [_short_lists(longest, decay)]
    means, tails = [enclose(lambda: corners * _mean_size(of_fraction(decay)))], []
    for logarithm, rate in candidates:
        means.append(enclose(partial(_chernoff, logarithm, rate, decay, Fraction(1))))
        tails.append(enclose(partial(_chernoff, logarithm, rate, decay, 1 - level)).upper)
    best = min(means, key=lambda mean: mean.upper)
    return best, Fraction(-(-min(tails).numerator // min(tails).denominator))


def _all_lists(total: int, decay: Fraction) -> tuple[Callable[[], Ball], Fraction]:
    """Ln Z(c') ≤ π√(2N/3) + ln((1 − e^-c')/(1 − e^-(c'−s))) with s = π/√(6N), and a c' between s and c.

    Within distance d of a list of N records there are at most e^(π√(2(N+d)/3)) ≤ e^(π√(2N/3) + s·d) lists. If s ≥ c/2,
    the number N is raised until it is not, which only weakens the bound.
    """
    rate = -log(decay)
    records = max(total, int(4 * pi**2 / (6 * rate**2)) + 1)
    slope = pi / sqrt(6 * records)
    root = pi * sqrt(2 * records / 3)
    trials = [slope + (rate - slope) * i / 64 for i in range(1, 64)]

    def guess(c: float) -> float:
        return (root + log((1 - exp(-c)) / (1 - exp(slope - c)))) / (rate - c)

    chosen = Fraction(min(trials, key=guess)).limit_denominator(10**12)

    def logarithm() -> Ball:
        s = Ball.pi() / of_fraction(6 * records).sqrt()
        c = of_fraction(chosen)
        return 2 * s * records + ((-(-c).expm1()) / (-(s - c).expm1())).log()

    return logarithm, chosen


def _most_corners(total: int, longest: int | None) -> int:
    """How many corners of the diagram of so many records, of so many counts at most, can move.

    >>> _most_corners(6, None), _most_corners(5, None), _most_corners(6, 2)
    (7, 5, 4)
    """
    every = 2 * ((isqrt(8 * total + 1) - 1) // 2) + 1
    return every if longest is None else min(every, 2 * longest)


def _few_corners(corners: int, decay: Fraction) -> tuple[Callable[[], Ball], Fraction]:
    rate = -log(decay)

    def guess(c: float) -> float:
        terms = range(1, min(int(40 / c) + 2, _MOST_TERMS))
        return -sum(log1p(-exp(-c * j)) for j in terms) / (rate - c)

    chosen = Fraction(min((rate * i / 32 for i in range(1, 32)), key=guess)).limit_denominator(10**12)
    return (lambda: corners * _log_number((-of_fraction(chosen)).exp())), chosen


def _mean_size(decay: Ball) -> Ball:
    """At least Σ j·q^j/(1 − q^j), the expected size of a diagram λ with P ∝ q^|λ|; more only for q near one.

    All terms after the J-th are together at most q^(J+1)·((J + 1)/(1 − q) + q/(1 − q)²)/(1 − q^(J+1)).
    """
    total, power = Ball(0), Ball(1)
    for j in range(1, _MOST_TERMS + 1):
        power *= decay
        total += j * power / (1 - power)
    power *= decay
    return total + power * ((_MOST_TERMS + 1) / (1 - decay) + decay / (1 - decay) ** 2) / (1 - power)


def _log_number(decay: Ball) -> Ball:
    """At least ln Φ(q)⁻¹ = −Σ ln(1 − q^j); the terms after the J-th are at most Σ q^j/(1 − q^(J+1))."""
    total, power = Ball(0), Ball(1)
    for _ in range(_MOST_TERMS):
        power *= decay
        total -= (1 - power).log()
    power *= decay
    return total + power / ((1 - decay) * (1 - power))


def _short_lists(longest: int, decay: Fraction) -> tuple[Callable[[], Ball], Fraction]:
    rate = -log(decay)
    trials = [rate * i / 256 for i in range(1, 256)]

    def guess(c: float) -> float:
        return (log1p(exp(-c)) - log1p(-exp(-c))) / (rate - c)

    chosen = Fraction(min(trials, key=guess)).limit_denominator(10**12)
    return (lambda: -longest * (of_fraction(chosen) / 2).tanh().log()), chosen


def _log_normaliser(border: Border, decay: Fraction, width: int, closed: bool) -> Enclosure:
    walk = WalkFilter(border, ShiftChain(decay, width, Doubles()), closed=closed)
    low, high = walk.last
    slack = Fraction(len(low), 2**50)  # the products and the sum
    least, most = Fraction(float(low.sum())) * (1 - slack), Fraction(float(high.sum())) * (1 + slack)
    doublings = ln_enclosure(2, _LN2_BITS)
    ends = doublings.lower, doublings.upper
    down, up = ends if walk.exponent >= 0 else ends[::-1]
    return Enclosure(ln_enclosure(least).lower + walk.exponent * down, ln_enclosure(most).upper + walk.exponent * up)


def _sum(balls: Array) -> Ball:
    return sum(balls.tolist(), start=Ball(0))


def _chernoff(logarithm: Callable[[], Ball], rate: Fraction, decay: Fraction, rest: Fraction) -> Ball:
    """(ln Z(c') − ln rest)/(c − c')."""
    return (logarithm() - of_fraction(rest).log()) / (-of_fraction(decay).log() - of_fraction(rate))

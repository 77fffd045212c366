"""Sums over all lists: the normaliser Z = Σ_y q^‖x−y‖₁ of one list, the expected distance, and bounds for every list.

E‖x − Y‖₁ = −d ln Z/dc at q = e^-c, and ln Z is convex in c. So its slopes to either side enclose the expectation, and
for every c' < c, with Z ≥ 1 (y = x): E ≤ ln Z(c')/(c − c') and P(‖x − Y‖₁ ≥ t) ≤ Z(c')·e^(−(c−c')t).
There are at most e^(π√(2n/3)) lists of at most n records (Φ(e^-s)⁻¹ ≤ e^(π²/6s), at s = π/√(6n)), which bounds Z(c')
for all lists of N records at once; lists of r counts have Z(c') ≤ ((1 + q')/(1 − q'))^r as well.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import exp, log, log1p, pi, sqrt

from leastnoise.exact import Ball, Enclosure, above, below, enclose, evaluate, ln_enclosure, of_fraction
from leastnoise.mechanisms.combinatorial.sorted_counts.diagram import Border
from leastnoise.mechanisms.combinatorial.sorted_counts.numbers import Array, Balls, Doubles
from leastnoise.mechanisms.combinatorial.sorted_counts.shift_chain import ShiftChain, WalkFilter
from leastnoise.mechanisms.combinatorial.sorted_counts.walk_sampler import band_width

__all__ = ["distance_bounds", "expected_distance", "normaliser"]

_SPREAD = Fraction(1, 10**4)  # the slopes are taken between q and q·(1 ± this)
_LN2_BITS = 96


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
    candidates = [_all_lists(total, decay)] + ([] if longest is None else [_short_lists(longest, decay)])
    means, tails = [], []
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

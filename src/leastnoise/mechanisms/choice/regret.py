"""How much score a choice gives up at worst, and what no private choice can avoid giving up.

With n candidates let one be the best, and let b(s) be the chance that it is not chosen when all others lie s/rate below
it. For the exponential mechanism and for permute-and-flip no scores are worse than these (for the exponential mechanism
since −w·ln w is concave; for permute-and-flip see docs/theory/permute_and_flip.md), so the largest expected gap is
max_s s·b(s)/rate, and a gap above s/rate is never more likely than b(s).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor

from leastnoise.exact.balls import Ball, evaluate, of_fraction
from leastnoise.exact.enclosures import Enclosure, enclose
from leastnoise.exact.numbers import Exact, ball_of, double_of, ln

__all__ = [
    "exponential_quantile",
    "exponential_regret",
    "least_regret",
    "permute_and_flip_quantile",
    "permute_and_flip_regret",
    "utility_gap",
]

_ZERO = Enclosure(Fraction(0), Fraction(0))


def exponential_regret(odds: Fraction, rate: Exact, bits: int = 64) -> Enclosure:
    """The largest expected gap of the exponential mechanism: W(odds/e)/rate, W Lambert's function.

    `odds` is how much base weight the others have for each unit of the best's: n − 1 without a base measure. Then
    b(s) = odds·e^-s/(1 + odds·e^-s), and s·b(s) is largest where odds·e^-s = W(odds/e) = s − 1.

    >>> exponential_regret(Fraction(1), Fraction(1))
    Enclosure(≈ 0.278464542761074)
    """
    return (
        enclose(lambda: (of_fraction(odds) / of_fraction(1).exp()).lambertw() / ball_of(rate), bits) if odds else _ZERO
    )


def exponential_quantile(odds: Fraction, rate: Exact, level: Fraction) -> Fraction:
    """A gap that is not exceeded with probability `level`, whatever the scores: b(s) = 1 − level solved for s/rate."""
    ratio = odds * level / (1 - level)
    return enclose(lambda: ball_of(ln(ratio)) / ball_of(rate)).upper if ratio > 1 else Fraction(0)


def permute_and_flip_regret(count: int, rate: Exact, bits: int = 64) -> Enclosure:
    """The largest expected gap of permute-and-flip among `count` candidates.

    The maximum of s·b(s) is found by bisection on the sign of its derivative, which changes once (ln b is concave).

    >>> permute_and_flip_regret(2, Fraction(1))
    Enclosure(≈ 0.183939720585721)
    """
    if count == 1:
        return _ZERO

    def rises(s: Fraction) -> bool:
        return bool(evaluate(lambda: _slope(of_fraction(s), count), 4 * bits + 64) > 0)

    low, high = _bisect(rises, count, bits)
    return Enclosure(
        enclose(lambda: of_fraction(low) * _missed(of_fraction(low), count) / ball_of(rate), bits).lower,
        enclose(lambda: of_fraction(high) * _missed(of_fraction(low), count) / ball_of(rate), bits).upper,
    )


def permute_and_flip_quantile(count: int, rate: Exact, level: Fraction) -> Fraction:
    """A gap that is not exceeded with probability `level`, whatever the scores: b(s) = 1 − level solved for s/rate."""
    if 1 - Fraction(1, count) <= 1 - level:
        return Fraction(0)

    def missed_too_often(s: Fraction) -> bool:
        return not evaluate(lambda: _missed(of_fraction(s), count), 256) < of_fraction(1 - level)

    extra = level.denominator.bit_length()
    high = _bisect(missed_too_often, count << extra, 64)[1]
    return enclose(lambda: of_fraction(high) / ball_of(rate)).upper


def least_regret(count: int, epsilon: Exact, sensitivity: Fraction, monotone: bool) -> Enclosure:
    """What no ε-private choice can beat at its worst scores: max_d d·Δ·m·e^(−cεd)/(1 + m·e^(−cεd)), m = count − 1.

    Let x_i give candidate i the score d·Δ and the others 0. x_i and x_j are c·d records apart, c = 1, or 2 for monotone
    scores. So P(j | x_i) ≥ e^(−cεd)·P(j | x_j), and some i has P(i | x_i) ≤ 1/(1 + m·e^(−cεd)). Any d gives a bound.

    >>> least_regret(1001, Fraction(1), Fraction(1), False)
    Enclosure(≈ 4.35383377521312)
    """
    others, factor = count - 1, 2 if monotone else 1
    if others == 0:
        return _ZERO
    guess = (1 + float(exponential_regret(Fraction(others), Fraction(1)))) / (factor * double_of(epsilon))
    steps = [max(floor(guess), 1), max(floor(guess), 1) + 1]

    def bound(d: int) -> Enclosure:
        def value() -> Ball:
            share = (-ball_of(epsilon * (factor * d))).exp() * others
            return of_fraction(sensitivity * d) * share / (1 + share)

        return enclose(value)

    return max((bound(d) for d in steps), key=lambda enclosure: enclosure.lower)


def utility_gap(odds: Fraction, rate: Exact, t: Exact) -> Enclosure:
    """(ln(odds) + t)/rate: the exponential mechanism is this far below the best with chance e^-t at most."""
    return enclose(lambda: (ball_of(ln(odds)) + ball_of(t)) / ball_of(rate))


def _missed(s: Ball, count: int) -> Ball:
    """b(s) = 1 − (1 − (1 − p)^n)/(n·p), p = e^-s, of permute-and-flip."""
    p = (-s).exp()
    return 1 - (1 - (1 - p) ** count) / (p * count)


def _slope(s: Ball, count: int) -> Ball:
    """The derivative of s·b(s)."""
    p = (-s).exp()
    missed = _missed(s, count)
    return missed - s * (1 - missed - (1 - p) ** (count - 1))


def _bisect(is_left: Callable[[Fraction], bool], count: int, bits: int) -> tuple[Fraction, Fraction]:
    """Narrow down where `is_left` turns false, between 0 and a number that is surely beyond."""
    low, high = Fraction(0), Fraction(2 * count.bit_length() + 4)
    for _ in range(bits + high.numerator.bit_length()):
        middle = (low + high) / 2
        low, high = (middle, high) if is_left(middle) else (low, middle)
    return low, high

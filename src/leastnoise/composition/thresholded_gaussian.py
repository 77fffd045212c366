"""What Gaussian noise with a threshold costs where the keys are private: exactly, in (ε, δ).

Of the g keys of one unit let j be its own, that is, absent without it. Without the unit none of these shows; with it
none shows with probability q_j = (1 − p)^j. On the others the two laws are Gaussian noise with μ_j² = (g − j)·μ₁² + β,
β being what is released beside the keys. So the least δ at ε is the largest, over j = 0, …, g, of

    (1 − q_j) + q_j·δ(μ_j, ε − ln q_j)    and    δ(μ_j, ε + ln q_j)

with δ(μ, ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ), one for each side on which the unit may be
(docs/theory/noisy_threshold.md; Wilkins, Kifer, Zhang and Karrer 2024 for the sparse histogram). Both grow with μ_j and
fall with q_j. So a bound for all j from a to b is their value at q_b and μ_a, and few such blocks settle every j.
"""

from __future__ import annotations

from fractions import Fraction

from leastnoise.composition.gaussian import delta_of
from leastnoise.errors import BadParameter
from leastnoise.exact import Ball, Exact, ball_of, enclose, evaluate, normal_cdf, normal_quantile, of_fraction, round_up
from leastnoise.model import ThresholdedGaussian

__all__ = ["is_within", "of_group", "split"]

_FAR = 1000  # standard deviations, beyond which the normal law has less than 2^-700000
_NEXT_TO_NOTHING = Fraction(1, 1 << 65536)


def is_within(event: ThresholdedGaussian, epsilon: Exact, delta: Fraction) -> bool:
    """Whether the event is (ε, δ)-private: proven for every number of keys that a unit may have alone.

    >>> event = ThresholdedGaussian(mu_squared="1/400", keys=20, shown="1e-8")
    >>> is_within(event, Fraction(1), Fraction(1, 10**6)), is_within(event, Fraction(1), Fraction(1, 10**7))
    (True, False)
    """
    last = event.keys
    waiting = [(0, last - 1), (0, 0), (last, last)]  # the ends decide most often, and are tried first
    while waiting:
        low, high = waiting.pop()
        if _delta_above(event, low, high, epsilon) <= delta:
            continue
        if low == high:
            return False
        middle = (low + high) // 2
        waiting += [(middle + 1, high), (low, middle)]
    return True


def split(event: ThresholdedGaussian) -> tuple[Fraction, Fraction]:
    """μ² of all keys of a unit, and the δ, rounded up, with which one of its own shows: the form that adds up."""
    lost = enclose(lambda: -(event.keys * of_fraction(-event.shown).log1p()).expm1())
    return event.keys * event.mu_squared + event.beside, round_up(lost.upper, 64 + event.shown.denominator.bit_length())


def of_group(event: ThresholdedGaussian, size: int) -> ThresholdedGaussian:
    """What protects groups: so many times the keys, each changed so many times as much and shown as often as that.

    Raises:
        BadParameter: The group is so large that its keys surely show.
    """
    if size == 1:
        return event
    root = event.mu_squared * (size - 1) ** 2
    shown = enclose(lambda: normal_cdf(normal_quantile(of_fraction(event.shown)) + of_fraction(root).sqrt())).upper
    if shown >= 1:
        raise BadParameter(
            "nothing is promised to a group this large: its keys surely show", given=size, fix="take a smaller group"
        )
    shown = round_up(shown, 64 + shown.denominator.bit_length() - shown.numerator.bit_length())
    return ThresholdedGaussian(event.mu_squared * size**2, event.keys * size, shown, event.beside * size**2)


def _delta_above(event: ThresholdedGaussian, low: int, high: int, epsilon: Exact) -> Fraction:
    """At least the δ that any number of own keys from low to high needs, on both sides."""
    mu_squared = (event.keys - low) * event.mu_squared + event.beside
    if not high:
        return delta_of(mu_squared, epsilon).upper

    def log_q() -> Ball:
        return high * of_fraction(-event.shown).log1p()

    alone = enclose(lambda: -log_q().expm1()).upper
    if not mu_squared:
        return max(alone, enclose(lambda: 1 - (ball_of(epsilon) + log_q()).exp()).upper)

    def least_distance() -> Ball:
        mu = of_fraction(mu_squared).sqrt()
        return (ball_of(epsilon) + log_q()) / mu - mu / 2

    if evaluate(least_distance, 96) > _FAR:
        return alone + _NEXT_TO_NOTHING
    with_unit = enclose(lambda: log_q().exp() * _profile(mu_squared, ball_of(epsilon) - log_q())).upper
    return max(alone + with_unit, enclose(lambda: _profile(mu_squared, ball_of(epsilon) + log_q())).upper)


def _profile(mu_squared: Fraction, epsilon: Ball) -> Ball:
    mu = of_fraction(mu_squared).sqrt()
    return normal_cdf(mu / 2 - epsilon / mu) - epsilon.exp() * normal_cdf(-mu / 2 - epsilon / mu)

"""Gaussian differential privacy in (ε, δ), exactly; and what a pure ε is worth in it.

μ-Gaussian privacy is (ε, δ)-private for every ε with
    δ(ε) = Φ(−ε/μ + μ/2) − e^ε·Φ(−ε/μ − μ/2)
and for no smaller δ (Dong, Roth and Su 2022, Corollary 2.13; Balle and Wang 2018, Theorem 8). δ grows with μ, its
derivative being φ(−ε/μ + μ/2), and falls with ε, its derivative being −e^ε·Φ(−ε/μ − μ/2).

A pure ε is μ-Gaussian with μ = 2Φ⁻¹(e^ε/(1 + e^ε)): the worst that ε allows is randomized response, whose trade-off
curve is a polygon with one corner, and such a polygon lies above a convex curve with the same ends if its corner does.

Newton's method looks for the answers; each is checked in ball arithmetic before it is given.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from leastnoise.exact import (
    Ball,
    Enclosure,
    Exact,
    ball_of,
    below,
    enclose,
    evaluate,
    largest_fitting,
    normal_cdf,
    normal_quantile,
    of_fraction,
    round_up,
)

__all__ = [
    "SPARE",
    "delta_ball",
    "delta_of",
    "epsilon_of",
    "mu_of_pure",
    "mu_squared_of_pure",
    "mu_squared_within",
    "pure_of_mu",
]

_DIGITS = 44  # binary digits to which the inverse functions settle
SPARE = 1 + Fraction(1, 1 << 41)  # what was found times this must be too much
_FAR = 1000  # beyond it simple bounds are good enough


def delta_of(mu_squared: Fraction, epsilon: Exact) -> Enclosure:
    """The least δ at which μ-Gaussian privacy is (ε, δ)-private.

    Args:
        mu_squared: μ², above zero.
        epsilon: ε, zero or more.

    >>> delta_of(Fraction(1), Fraction(1))
    Enclosure(≈ 0.126936737506644)
    """

    def out() -> Ball:
        mu = of_fraction(mu_squared).sqrt()
        return ball_of(epsilon) / mu - mu / 2

    if evaluate(out, 96) > _FAR:  # there δ ≤ Φ(−1000), which is below 2^-700000
        return Enclosure(Fraction(0), Fraction(1, 1 << 65536))
    return enclose(lambda: delta_ball(mu_squared, epsilon))


def delta_ball(mu_squared: Fraction, epsilon: Exact) -> Ball:
    """`delta_of`, also for ε below zero, at the current working precision."""
    return _delta(of_fraction(mu_squared).sqrt(), ball_of(epsilon))


@lru_cache(maxsize=4096)
def mu_squared_within(epsilon: Exact, delta: Fraction) -> Fraction:
    """The largest μ² whose Gaussian privacy is (ε, δ)-private, rounded down by less than a part in 2^40.

    Args:
        epsilon: ε, zero or more.
        delta: δ, below one; nothing fits where it is zero.

    >>> float(mu_squared_within(Fraction(1), Fraction(1, 10**6)))
    0.0560...
    """
    if delta <= 0:
        return Fraction(0)

    def step(log_mu: Ball) -> Ball:
        mu = log_mu.exp()
        reached = _delta(mu, ball_of(epsilon))
        slope = mu * _density(mu / 2 - ball_of(epsilon) / mu) / reached
        return (of_fraction(delta) / reached).log() / slope

    def start() -> Ball:
        far = -of_fraction(delta).log()
        mu = (2 * (far + ball_of(epsilon))).sqrt() - (2 * far).sqrt()  # what ρ + 2√(ρ·ln(1/δ)) = ε allows
        return mu.max(of_fraction(delta)).log()

    def fits(mu_squared: Fraction) -> bool:
        return delta_of(mu_squared, epsilon).upper <= delta

    return _largest(lambda: (2 * _newton(start(), step)).exp(), fits)


@lru_cache(maxsize=4096)
def epsilon_of(mu_squared: Fraction, delta: Fraction) -> Fraction:
    """The least ε at which μ-Gaussian privacy is (ε, δ)-private, rounded up by less than a part in 2^40.

    Args:
        mu_squared: μ², above zero.
        delta: δ, above zero and below one.

    >>> float(epsilon_of(Fraction(1, 20), Fraction(1, 10**6)))
    0.9405...
    """
    if delta_of(mu_squared, Fraction(0)).upper <= delta:
        return Fraction(0)

    def step(epsilon: Ball) -> Ball:
        mu = of_fraction(mu_squared).sqrt()
        reached = _delta(mu, epsilon)
        slope = epsilon.exp() * normal_cdf(-epsilon / mu - mu / 2) / reached
        return (reached / of_fraction(delta)).log() / slope

    def fits(inverse: Fraction) -> bool:
        return delta_of(mu_squared, 1 / inverse).upper <= delta

    return 1 / _largest(lambda: 1 / _newton(of_fraction(mu_squared / 2), step), fits)


@lru_cache(maxsize=4096)
def mu_of_pure(epsilon: Exact) -> Fraction:
    """A μ at which every ε-private query is μ-Gaussian, rounded up.

    >>> float(mu_of_pure(Fraction(1)))
    1.2320...
    """
    if epsilon > _FAR:  # Φ(−z) ≤ ½e^(−z²/2), so that μ² = 4z² ≤ 8·ln((1 + e^ε)/2) ≤ 8ε
        return round_up(enclose(lambda: (8 * ball_of(epsilon)).sqrt()).upper)
    return round_up(enclose(lambda: -2 * normal_quantile(1 / (1 + ball_of(epsilon).exp()))).upper)


@lru_cache(maxsize=4096)
def mu_squared_of_pure(epsilon: Exact) -> Fraction:
    """The square of `mu_of_pure`, rounded up to a multiple of 2^-80 so that running totals stay short."""
    return round_up(mu_of_pure(epsilon) ** 2, 80)


def pure_of_mu(mu: Fraction) -> Fraction:
    """The largest ε whose every query is μ-Gaussian: ln(Φ(μ/2)/Φ(−μ/2)), rounded down.

    >>> float(pure_of_mu(Fraction(1, 5)))
    0.1596...
    """
    if mu**2 > 8 * _FAR:
        return mu**2 / 8 / SPARE
    half = mu / 2
    return enclose(lambda: (normal_cdf(of_fraction(half)) / normal_cdf(of_fraction(-half))).log()).lower / SPARE


def _delta(mu: Ball, epsilon: Ball) -> Ball:
    return normal_cdf(mu / 2 - epsilon / mu) - epsilon.exp() * normal_cdf(-mu / 2 - epsilon / mu)


def _density(point: Ball) -> Ball:
    return (-point * point / 2).exp() / (2 * Ball.pi()).sqrt()


def _newton(point: Ball, step: Callable[[Ball], Ball]) -> Ball:
    """Where the steps end, as a guess; nothing is claimed of it."""
    for _ in range(200):
        move = step(point).mid()
        if not move.is_finite():
            break
        point = (point + move).mid()
        if abs(move) < abs(point) / (1 << 60):
            break
    return point


def _largest(guess: Callable[[], Ball], fits: Callable[[Fraction], bool]) -> Fraction:
    """The largest number that fits, a little rounded down: the guess if it proves right, else by halving."""
    about = evaluate(guess, 256)
    if about > 0 and about.is_finite():
        near = _shortened(below(about))
        if fits(near) and not fits(near * SPARE):
            return near
    ceiling = Fraction(1)
    while fits(ceiling):
        ceiling *= 4
    return largest_fitting(fits, at_most=ceiling, digits=_DIGITS)


def _shortened(number: Fraction) -> Fraction:
    """A little less, with few binary digits."""
    shift = number.denominator.bit_length() - number.numerator.bit_length() + _DIGITS
    return Fraction(int(number * Fraction(2) ** shift) - 1) / Fraction(2) ** shift

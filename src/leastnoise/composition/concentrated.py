"""Zero-concentrated privacy: ρ adds up, also when every query is chosen after the answers before it.

A ρ-zCDP interaction is (ε, δ)-private for every order α > 1 with
    δ = e^((α−1)(αρ−ε))·(1 − 1/α)^α/(α − 1)
(Canonne, Kamath and Steinke 2020, Proposition 12 and Corollary 13), which is less than the familiar
ε = ρ + 2√(ρ·ln(1/δ)) of Bun and Steinke (2016, Proposition 1.3) asks. Any α is valid; doubles only look for a good one,
and what is reported is evaluated at that α in ball arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from leastnoise.composition.bound import Bound
from leastnoise.composition.normal_form import Parts, rho_of
from leastnoise.exact import Ball, Exact, ball_of, enclose, largest_fitting, of_fraction
from leastnoise.model import Privacy, Pure

__all__ = [
    "concentrated_bound",
    "concentrated_epsilon",
    "concentrated_per_query",
    "conversion",
    "conversion_guess",
    "good_order",
    "rho_within",
]

NAME = "zero-concentrated composition"
CITATION = "Bun and Steinke 2016, Lemma 1.7; Canonne, Kamath and Steinke 2020, Corollary 13"


def concentrated_bound(parts: Parts, delta: Fraction) -> Bound | None:
    """ε from Σ ρ; None where no δ is left for the conversion."""
    slack = parts.slack(delta)
    if slack <= 0 or not parts.atoms:
        return None
    return Bound(NAME, concentrated_epsilon(parts.rho, slack), delta, CITATION)


def concentrated_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """An ε at which every ρ-zCDP interaction is (ε, δ)-private.

    >>> float(concentrated_epsilon(Fraction(1, 20), Fraction(1, 10**6)))
    1.4715...
    """
    order = good_order(lambda alpha: alpha * float(rho) + conversion_guess(alpha, delta))
    bound = enclose(lambda: of_fraction(order * rho) + conversion(order, delta))
    return max(bound.upper, Fraction(0))


def rho_within(epsilon: Exact, delta: Fraction) -> Fraction:
    """The largest ρ for which every ρ-zCDP interaction is (ε, δ)-private by this conversion, rounded down to 2^-80.

    >>> rho = rho_within(Fraction(1), Fraction(1, 10**6))
    >>> float(rho), concentrated_epsilon(rho, Fraction(1, 10**6)) <= 1 + Fraction(1, 10**9)
    (0.0243..., True)
    """
    if delta <= 0:
        return Fraction(0)
    order = good_order(lambda alpha: -(float(epsilon) - conversion_guess(alpha, delta)) / alpha)
    rho = enclose(lambda: (ball_of(epsilon) - conversion(order, delta)) / of_fraction(order)).lower
    return max(Fraction(math.floor(rho * (1 << 80)), 1 << 80), Fraction(0))


def concentrated_per_query(total: Privacy, queries: int) -> Fraction:
    """The largest pure ε per query by this composition, or the basic share where that is more; rounded down."""
    share = total.epsilon / queries
    basic = largest_fitting(lambda epsilon: epsilon <= share, at_most=share)
    allowed = rho_within(total.epsilon, total.delta) / queries
    return max(basic, largest_fitting(lambda epsilon: rho_of(Pure(epsilon)) <= allowed, at_most=total.epsilon))


def conversion(order: Fraction, delta: Fraction) -> Ball:
    """(ln(1/δ) − ln α)/(α − 1) + ln(1 − 1/α): what to add to a Rényi divergence of order α to get ε."""
    alpha = of_fraction(order)
    return -(of_fraction(delta).log() + alpha.log()) / (alpha - 1) + (-1 / alpha).log1p()


def good_order(cost: Callable[[float], float]) -> Fraction:
    """An order α > 1 at which a convex-looking cost is about least: a coarse scan, then golden section on ln(α − 1)."""
    scan = [0.25 * step for step in range(-40, 100)]
    best = min(scan, key=lambda x: _finite(cost, x))
    low, high = best - 0.25, best + 0.25
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(30):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if _finite(cost, left) <= _finite(cost, right) else (left, high)
    return 1 + Fraction(math.exp((low + high) / 2)).limit_denominator(10**6 if best > -8 else 10**12)


def _finite(cost: Callable[[float], float], x: float) -> float:
    try:
        value = cost(1 + math.exp(x))
    except OverflowError:
        return math.inf
    return value if math.isfinite(value) else math.inf


def conversion_guess(alpha: float, delta: Fraction) -> float:
    """`conversion` in doubles: for searching, it decides nothing."""
    log_delta = math.log(delta.numerator) - math.log(delta.denominator)
    return -(log_delta + math.log(alpha)) / (alpha - 1) + math.log1p(-1 / alpha)

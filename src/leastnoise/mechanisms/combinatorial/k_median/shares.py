"""How much of (ε, δ) each of several exponential mechanisms may take.

Without δ an equal share. With δ: an exponential mechanism of ε' is ε'²/8-concentrated (Cesar and Rogers, ALT 2021), ρ
adds up, and a ρ-concentrated interaction is (ε, δ)-private if for some order α > 1
    (α − 1)(αρ − ε) + α·ln(1 − 1/α) − ln(α − 1) ≤ ln δ
(Canonne, Kamath and Steinke 2020, Corollary 13). Any order proves it: a good one is looked for in doubles, and the
share is then computed from it in ball arithmetic and rounded down.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp, floor, log, log1p

from leastnoise.exact.balls import Ball, of_fraction
from leastnoise.exact.enclosures import enclose, sqrt_below
from leastnoise.exact.numbers import Exact, ball_of

__all__ = ["equal_share"]

_DIGITS = 1 << 40


def equal_share(epsilon: Exact, delta: Fraction, rounds: int) -> Exact:
    """The ε' at which `rounds` exponential mechanisms, each of bounded range ε', are (epsilon, delta)-private.

    >>> equal_share(Fraction(1), Fraction(0), 4), float(equal_share(Fraction(1), Fraction(1, 10**6), 31))
    (Fraction(1, 4), 0.0792...)
    """
    basic = epsilon / rounds
    if not delta:
        return basic

    def guess(order: float) -> float:
        log_delta = log(delta.numerator) - log(delta.denominator)
        return (float(epsilon) + (log_delta - order * log1p(-1 / order) + log(order - 1)) / (order - 1)) / order

    order = 1 + Fraction(max((exp(i / 8) for i in range(-40, 120)), key=lambda a: guess(1 + a))).limit_denominator(1000)

    def rho() -> Ball:
        alpha = of_fraction(order)
        room = of_fraction(delta).log() - alpha * (-1 / alpha).log1p() + (alpha - 1).log()
        return (ball_of(epsilon) + room / (alpha - 1)) / alpha

    each = max(enclose(rho).lower, Fraction(0)) * 8 / rounds
    share = Fraction(floor(sqrt_below(each) * _DIGITS), _DIGITS)
    return share if share > basic else basic

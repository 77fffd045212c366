"""How private discrete Gaussian noise is: its exact δ(ε), and the least variance for a wanted (ε, δ).

For Y with P(Y = k) ∝ e^(−k²/2σ²) and an answer that one person changes by Δ, (ε, δ)-privacy holds if and only if δ ≥
P(Y > εσ²/Δ − Δ/2) − e^ε·P(Y > εσ²/Δ + Δ/2) (Canonne, Kamath and Steinke, NeurIPS 2020, Theorem 7). Smaller changes ask
for less: the law is log-concave, so the worst set for any change is a half-line {y > t}, and P(Y > t) − e^ε·P(Y > t +
d) grows with d.
"""

from __future__ import annotations

from fractions import Fraction

from leastnoise.errors import NumberTooLarge
from leastnoise.exact.enclosures import Enclosure, exp_enclosure
from leastnoise.exact.gaussian_sums import discrete_gaussian_tail
from leastnoise.exact.numbers import Exact
from leastnoise.mechanisms.numeric.formulas import floor_of

__all__ = ["gaussian_delta", "least_variance"]

_DIGITS = 20  # binary digits of the variance that is found
_SMALLEST, _LARGEST = -60, 96  # as powers of two
_DIPS = 64
_LEAST_DELTA = Fraction(1, 2**600)  # below, a tail is not told from zero


def gaussian_delta(epsilon: Exact, variance: Fraction, sensitivity: int, bits: int = 64) -> Enclosure:
    """The least δ for this ε.

    >>> gaussian_delta(Fraction(1), Fraction(4), 1)
    Enclosure(≈ 0.00724877684595258)
    """
    first = floor_of(epsilon * (variance / sensitivity) - Fraction(sensitivity, 2)) + 1
    near, far = (discrete_gaussian_tail(k, variance, bits) for k in (first, first + sensitivity))
    factor = exp_enclosure(epsilon, bits)
    lower, upper = near.lower - factor.upper * far.upper, near.upper - factor.lower * far.lower
    return Enclosure(max(lower, Fraction(0)), max(upper, Fraction(0)))


def least_variance(epsilon: Exact, delta: Fraction, sensitivity: int) -> Fraction:
    """The least variance that is surely enough for (ε, δ), to 20 binary digits.

    For σ well above Δ the least δ falls as σ grows. Below it does not: it dips where εσ²/Δ − Δ/2 is a whole number. So
    the first few dips are tried as well as the powers of two, from the least on; below the first variance that is
    enough lies one that is not, and the border between the two is found by halving.

    Raises:
        NumberTooLarge: Even σ = 2^48 would not do.
    """
    if delta < _LEAST_DELTA:
        raise NumberTooLarge("delta must be at least 2^-600", given=delta, fix="use pure noise, which has delta = 0")
    bits = 64 + delta.denominator.bit_length() - delta.numerator.bit_length()

    def enough(variance: Fraction) -> bool:
        return gaussian_delta(epsilon, variance, sensitivity, bits).upper <= delta

    per_unit = sensitivity / Fraction(float(epsilon)) if float(epsilon) else Fraction(0)
    dips = {per_unit * (2 * n + sensitivity) / 2 for n in range(_DIPS)}
    powers = {Fraction(2) ** power for power in range(_SMALLEST, _LARGEST + 1)}
    fails = Fraction(0)
    for candidate in sorted(powers | {dip for dip in dips if min(powers) < dip < max(powers)}):
        if enough(candidate):
            break
        fails = candidate
    else:
        raise NumberTooLarge(
            "no sigma up to 2^48 is enough for this privacy",
            given=f"delta={delta}",
            fix="use noise for pure privacy, such as Geometric",
        )
    fits = candidate
    while fits - fails > fits / 2**_DIGITS:
        middle = (fails + fits) / 2
        fails, fits = (fails, middle) if enough(middle) else (middle, fits)
    return fits

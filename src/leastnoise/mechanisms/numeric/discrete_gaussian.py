"""The discrete Gaussian mechanism: a whole number plus noise Y with P(Y = k) ∝ e^(−k²/2σ²).

Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020: if one person changes the
truth by at most Δ it is Δ²/(2σ²)-zero-concentrated differentially private (Theorem 4), and (ε, δ)-privacy holds if and
only if δ ≥ P(Y > εσ²/Δ − Δ/2) − e^ε·P(Y > εσ²/Δ + Δ/2) (Theorem 7). So a wanted (ε, δ) gives the least σ, by exact sums
and never by the continuous formula, which for small σ errs on either side. Smaller changes ask for less: the law is
log-concave, so the worst set for any change is a half-line {y > t}, and P(Y > t) − e^ε·P(Y > t + d) grows with d.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from leastnoise.errors import BadParameter, NumberTooLarge
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Size,
    Source,
    discrete_gaussian,
    discrete_gaussian_moment,
    discrete_gaussian_tail,
    exp_enclosure,
    floor_of,
    read_exact,
    read_integer,
    read_rate,
    read_rational,
)
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.model import Approximate, Certificate, GaussianNoise, Reason

__all__ = ["DiscreteGaussian", "gaussian_delta", "least_variance"]

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


_LARGEST_VARIANCE = 1 << 96


@dataclass(frozen=True, init=False)
class DiscreteGaussian(IntegerNoise):
    """A whole number plus discrete Gaussian noise.

    Args:
        sigma_squared: σ², the variance of the continuous Gaussian of the same shape; at most 2^96.
        sensitivity: The most that one person can change the answer.

    >>> DiscreteGaussian(50).event, DiscreteGaussian(50).delta_at(1)
    (GaussianNoise(rho=Fraction(1, 100), steps=1), Enclosure(≈ 2.53496820834927e-14))
    """

    name: ClassVar[str] = "discrete Gaussian mechanism"
    sigma_squared: Fraction
    sensitivity: int
    claim: Approximate | None = None

    def __init__(self, sigma_squared: NumberLike, sensitivity: NumberLike = 1) -> None:
        variance = read_rational(sigma_squared, "sigma_squared", above=0, at_most=_LARGEST_VARIANCE)
        object.__setattr__(self, "sigma_squared", variance)
        object.__setattr__(self, "sensitivity", read_integer(sensitivity, "sensitivity", at_least=1))
        object.__setattr__(self, "claim", None)

    @classmethod
    def for_privacy(cls, epsilon: NumberLike, delta: NumberLike, sensitivity: NumberLike = 1) -> DiscreteGaussian:
        """The least noise for (epsilon, delta), proven to be enough; its event is that of (epsilon, delta).

        >>> mechanism = DiscreteGaussian.for_privacy(1, "1e-6")
        >>> mechanism.event, float(mechanism.sigma_squared)
        (Approximate(epsilon=Fraction(1, 1), delta=Fraction(1, 1000000)), 17.899490356445312)
        """
        wanted = Approximate(read_rate(epsilon, "epsilon"), delta)
        change = read_integer(sensitivity, "sensitivity", at_least=1)
        mechanism = cls(least_variance(wanted.epsilon, wanted.delta, change), change)
        object.__setattr__(mechanism, "claim", wanted)
        return mechanism

    @classmethod
    def for_rho(cls, rho: NumberLike, sensitivity: NumberLike = 1) -> DiscreteGaussian:
        """The noise that is rho-zero-concentrated private: σ² = sensitivity²/(2·rho).

        >>> DiscreteGaussian.for_rho("1/100").sigma_squared
        Fraction(50, 1)
        """
        change = read_integer(sensitivity, "sensitivity", at_least=1)
        return cls(change**2 / (2 * read_rational(rho, "rho", above=0)), change)

    @property
    def rho(self) -> Fraction:
        """sensitivity²/(2σ²), the zero-concentrated privacy, whichever way the noise was chosen."""
        return self.sensitivity**2 / (2 * self.sigma_squared)

    @property
    def event(self) -> Approximate | GaussianNoise:
        """(epsilon, delta) where the noise was made for it, else rho."""
        return self.claim or GaussianNoise(self.rho, steps=self.sensitivity)

    def delta_at(self, epsilon: NumberLike, bits: int = 64) -> Enclosure:
        """The least delta for an epsilon, by Theorem 7."""
        return gaussian_delta(
            read_exact(epsilon, "epsilon", at_least=0, at_most=2**500), self.sigma_squared, self.sensitivity, bits
        )

    def noise(self, size: Size = None, source: Source | None = None) -> Any:
        """Draw Y."""
        return discrete_gaussian(self.sigma_squared, size, source)

    def noise_pmf(self, noise: int, bits: int = 64) -> Enclosure:
        """P(Y = noise), to `bits` bits after the point."""
        distance = abs(noise)
        here, beyond = self.tail(distance, bits), self.tail(distance + 1, bits)
        return Enclosure(max(here.lower - beyond.upper, Fraction(0)), here.upper - beyond.lower)

    def tail(self, least: int, bits: int = 64) -> Enclosure:
        """P(Y ≥ least)."""
        return discrete_gaussian_tail(least, self.sigma_squared, bits)

    def moment(self, order: int, bits: int = 64) -> Enclosure:
        """E|Y|^order, and P(Y ≠ 0) for order 0."""
        return discrete_gaussian_moment(order, self.sigma_squared, bits)

    def reason(self) -> Reason:
        """Gaussian noise composes best: many releases cost the sum of their rho."""
        return Reason(
            "the least discrete Gaussian noise with exactly this privacy; its rho simply adds up over many releases, "
            "where noise made for one release is smaller",
            "Canonne, Kamath and Steinke, NeurIPS 2020, Theorems 4 and 7",
        )

    def certificate(self) -> Certificate:
        """There is none: an exact channel would need rational masses.

        Raises:
            BadParameter: Always.
        """
        raise BadParameter(
            "the masses of the discrete Gaussian mechanism are irrational, so no exact channel can be certified",
            fix="rely on delta_at, which encloses its exact privacy profile",
        )

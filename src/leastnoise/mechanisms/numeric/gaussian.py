"""The Gaussian mechanism rounded to a grid: a whole number plus round(g), g normal with variance σ².

The truth x is whole, so x + round(g) = round(x + g): what is released is a function of the continuous Gaussian
mechanism. If one person changes the truth by at most Δ it is therefore μ-Gaussian private with μ = Δ/σ (Dong, Roth and
Su 2022, Theorem 2.7), and (ε, δ)-private with the exact δ of the continuous mechanism (Balle and Wang 2018, Theorem 8).
In several dimensions the noise of all numbers together has the same event, with Δ in the ℓ2 norm.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from leastnoise.composition.gaussian import delta_of, mu_squared_within
from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Enclosure,
    NumberLike,
    Size,
    Source,
    read_exact,
    read_integer,
    read_rational,
    read_variance,
    rounded_gaussian,
    rounded_gaussian_moment,
    rounded_gaussian_pmf,
    rounded_gaussian_tail,
)
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.model import Certificate, GaussianPrivacy, Reason

__all__ = ["Gaussian"]

_LARGEST_EPSILON = 2**30  # beyond, no noise means anything


@dataclass(frozen=True, init=False)
class Gaussian(IntegerNoise):
    """A whole number plus normal noise, rounded to whole numbers.

    Args:
        variance: σ² of the normal noise before it is rounded, exact, from 2^-100 to 2^100.
        sensitivity: The most that one person can change the truth.

    >>> Gaussian(50).event, Gaussian(50).delta_at(1)
    (GaussianPrivacy(mu_squared=Fraction(1, 50)), Enclosure(≈ 2.43643839737096e-14))
    """

    name: ClassVar[str] = "Gaussian mechanism"
    variance: Fraction
    sensitivity: int

    def __init__(self, variance: NumberLike, sensitivity: NumberLike = 1) -> None:
        object.__setattr__(self, "variance", read_variance(variance))
        object.__setattr__(self, "sensitivity", read_integer(sensitivity, "sensitivity", at_least=1))

    @classmethod
    def for_privacy(cls, epsilon: NumberLike, delta: NumberLike, sensitivity: NumberLike = 1) -> Gaussian:
        """The least noise for (epsilon, delta) that the exact profile of the continuous mechanism allows.

        >>> float(Gaussian.for_privacy(1, "1e-6").variance)
        17.8479...
        """
        change = read_integer(sensitivity, "sensitivity", at_least=1)
        rate = read_exact(epsilon, "epsilon", above=0, at_most=_LARGEST_EPSILON)
        return cls(change**2 / mu_squared_within(rate, read_rational(delta, "delta", above=0, below=1)), change)

    @classmethod
    def for_rho(cls, rho: NumberLike, sensitivity: NumberLike = 1) -> Gaussian:
        """The noise that is rho-zero-concentrated private: σ² = sensitivity²/(2·rho).

        >>> Gaussian.for_rho("1/100").variance
        Fraction(50, 1)
        """
        change = read_integer(sensitivity, "sensitivity", at_least=1)
        return cls(change**2 / (2 * read_rational(rho, "rho", above=0)), change)

    @classmethod
    def for_mu(cls, mu: NumberLike, sensitivity: NumberLike = 1) -> Gaussian:
        """The noise that is mu-Gaussian private: σ = sensitivity/mu.

        >>> Gaussian.for_mu("1/5").variance
        Fraction(25, 1)
        """
        change = read_integer(sensitivity, "sensitivity", at_least=1)
        return cls((change / read_rational(mu, "mu", above=0)) ** 2, change)

    @property
    def event(self) -> GaussianPrivacy:
        """μ² = sensitivity²/σ²."""
        return GaussianPrivacy(self.sensitivity**2 / self.variance)

    def delta_at(self, epsilon: NumberLike) -> Enclosure:
        """The least delta of the continuous mechanism for an epsilon; the rounded one never needs more."""
        return delta_of(self.event.mu_squared, read_exact(epsilon, "epsilon", at_least=0, at_most=_LARGEST_EPSILON))

    def noise(self, size: Size = None, source: Source | None = None) -> Any:
        """Draw round(g)."""
        return rounded_gaussian(self.variance, size, source)

    def noise_pmf(self, noise: int, bits: int = 64) -> Enclosure:
        """P(round(g) = noise)."""
        return rounded_gaussian_pmf(noise, self.variance, bits)

    def tail(self, least: int, bits: int = 64) -> Enclosure:
        """P(round(g) ≥ least)."""
        return rounded_gaussian_tail(least, self.variance, bits)

    def moment(self, order: int, bits: int = 64) -> Enclosure:
        """E|round(g)|^order, and P(round(g) ≠ 0) for order 0; rounding adds a twelfth to the variance of wide noise."""
        return rounded_gaussian_moment(order, self.variance, bits)

    def reason(self) -> Reason:
        """Gaussian noise composes best, and this one by its exact profile."""
        return Reason(
            "the least Gaussian noise with exactly this privacy; over many releases and in any dimension the squares "
            "of its mu simply add up, where noise made for one release is smaller",
            "Dong, Roth and Su 2022, Theorem 2.7 and Corollary 3.3; Balle and Wang 2018, Theorem 8",
        )

    def certificate(self) -> Certificate:
        """There is none: an exact channel would need rational masses.

        Raises:
            BadParameter: Always.
        """
        raise BadParameter(
            "the masses of the Gaussian mechanism are irrational, so no exact channel can be certified",
            fix="rely on delta_at, which encloses its exact privacy profile",
        )

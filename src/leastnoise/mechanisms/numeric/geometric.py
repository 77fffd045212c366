"""The geometric mechanism: a count plus two-sided geometric noise.

With α = e^(−ε/Δ), P(y | x) = (1 − α)/(1 + α)·α^|y − x| for whole x and y. One person changes the answer by at most Δ,
hence the probability by at most the factor α^-Δ = e^ε. Ghosh, Roughgarden and Sundararajan (SIAM J. Comput. 2012,
Definition 2.2). For Δ = 1 every output tells neighbours apart as much as ε allows, as randomized response does; for
larger Δ many outputs tell less, which composition may use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from leastnoise.exact.arrays import Size
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.formulas import at_alpha
from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike, read_integer, read_rate
from leastnoise.exact.samplers.laplace import discrete_laplace
from leastnoise.exact.sources import Source
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise, certify_noise
from leastnoise.mechanisms.numeric.staircase import Staircase
from leastnoise.model.certificate import Certificate
from leastnoise.model.events import LaplaceNoise
from leastnoise.model.mechanism import Reason

__all__ = ["Geometric"]


@dataclass(frozen=True, init=False)
class Geometric(IntegerNoise):
    """A whole number plus noise with P(X = k) = (1 − α)/(1 + α)·α^|k|, α = e^(−epsilon/sensitivity).

    Args:
        epsilon: The privacy of one release.
        sensitivity: The most that one person can change the answer.

    >>> count = Geometric("ln(3)")
    >>> count.pmf(11, 10), count.error().expected, count.error().quantiles
    (Enclosure(1/6), Enclosure(3/4), {Fraction(19, 20): Fraction(3, 1)})
    """

    name: ClassVar[str] = "geometric mechanism"
    epsilon: Exact
    sensitivity: int

    def __init__(self, epsilon: NumberLike, sensitivity: NumberLike = 1) -> None:
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon"))
        object.__setattr__(self, "sensitivity", read_integer(sensitivity, "sensitivity", at_least=1))
        read_rate(self.rate, "epsilon/sensitivity")

    @property
    def rate(self) -> Exact:
        """−ln α = epsilon/sensitivity."""
        return self.epsilon / self.sensitivity

    @property
    def event(self) -> LaplaceNoise:
        """That of one release."""
        return LaplaceNoise(self.epsilon, steps=self.sensitivity)

    def noise(self, size: Size = None, source: Source | None = None) -> Any:
        """Draw X."""
        return discrete_laplace(rate=self.rate, size=size, source=source)

    def noise_pmf(self, noise: int, bits: int = 64) -> Enclosure:
        """(1 − α)/(1 + α)·α^|noise|."""
        distance = abs(noise)
        return at_alpha(self.rate, lambda a: (1 - a) / (1 + a) * a**distance, bits, power=distance + 1)

    def tail(self, least: int, bits: int = 64) -> Enclosure:
        """α^least/(1 + α)."""
        return at_alpha(self.rate, lambda a: a**least / (1 + a), bits, power=least)

    def moment(self, order: int, bits: int = 64) -> Enclosure:
        """2α/(1 + α), 2α/(1 − α²) and 2α/(1 − α)² for orders 0, 1 and 2."""
        return at_alpha(self.rate, lambda a: 2 * a / ((1 + a), (1 - a * a), (1 - a) * (1 - a))[order], bits)

    def reason(self) -> Reason:
        """Optimal for sensitivity one; beyond that the staircase is better, and is the lower bound."""
        if self.sensitivity == 1:
            return Reason(
                "no private mechanism for a count has a smaller expected absolute error at its worst answer",
                "Aldà and Simon, CSCML 2017, section 5, with Ghosh, Roughgarden and Sundararajan, SIAM J. Comput. 2012",
                self.moment(1),
            )
        return Reason(
            "the simplest whole noise; the staircase with the same sensitivity has the least expected absolute error",
            "Geng and Viswanath, IEEE Transactions on Information Theory 62(2), 2016",
            Staircase(self.epsilon, self.sensitivity).moment(1),
        )

    def certificate(self) -> Certificate:
        """The law on a few answers, where α is rational."""
        return certify_noise(self, self.epsilon)

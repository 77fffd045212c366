"""The answer, a whole number, plus whole noise X whose law does not depend on it and is the same for X and −X."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import numpy as np

from leastnoise.errors import BadLoss
from leastnoise.exact.arrays import Size
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.parameters import NumberLike, read_rational
from leastnoise.exact.sources import Source
from leastnoise.mechanisms.numeric.formulas import least_whole
from leastnoise.mechanisms.numeric.truths import add_noise, whole_answer
from leastnoise.model.losses import Loss, absolute, squared, zero_one
from leastnoise.model.mechanism import ErrorEstimate, Mechanism

__all__ = ["LEVEL", "IntegerNoise", "power_of"]

LEVEL = Fraction(19, 20)


def power_of(loss: Loss) -> int:
    """The p for which a loss is |w − x|^p, with 0 for the chance of being wrong.

    Raises:
        BadLoss: The loss is none of the three.
    """
    powers = {zero_one: 0, absolute: 1, squared: 2}
    if loss not in powers:
        raise BadLoss("the loss must be absolute, squared or zero_one", given=loss, fix="pass losses.absolute")
    return powers[loss]


class IntegerNoise(Mechanism):
    """What all of them share; a subclass gives the law of X, by its mass, tail and moments, and draws it."""

    sensitivity: int

    @abstractmethod
    def noise(self, size: Size = None, source: Source | None = None) -> Any:
        """Draw X."""

    @abstractmethod
    def noise_pmf(self, noise: int, bits: int = 64) -> Enclosure:
        """P(X = noise)."""

    @abstractmethod
    def tail(self, least: int, bits: int = 64) -> Enclosure:
        """P(X ≥ least) for least ≥ 1."""

    @abstractmethod
    def moment(self, order: int, bits: int = 64) -> Enclosure:
        """E|X|^order for order 1 and 2, and P(X ≠ 0) for order 0."""

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """The answer plus noise."""
        true = whole_answer(truth)
        if size is None:
            return true + self.noise(source=source)
        return add_noise(np.array(true, dtype=object), self.noise(size, source))

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth)."""
        return self.noise_pmf(whole_answer(output) - whole_answer(truth), bits)

    def cdf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(Y ≤ output | truth)."""
        noise = whole_answer(output) - whole_answer(truth)
        if noise < 0:
            return self.tail(-noise, bits)
        above = self.tail(noise + 1, bits)
        return Enclosure(1 - above.upper, 1 - above.lower)

    def expected_loss(self, loss: Loss = absolute, bits: int = 64) -> Enclosure:
        """What the released number costs on average, the same for every answer."""
        return self.moment(power_of(loss), bits)

    def quantile(self, level: NumberLike = LEVEL, tails: int = 2) -> int:
        """The least t for which two tails beyond t (or one) have at most the mass 1 − level."""
        rest = 1 - read_rational(level, "level", above=0, below=1)
        return least_whole(lambda t: tails * self.tail(t + 1, 128).upper <= rest)

    def error(self) -> ErrorEstimate:
        """The expected absolute error and its 95 % quantile, for every answer."""
        return ErrorEstimate("absolute", self.moment(1), {LEVEL: Fraction(self.quantile())})

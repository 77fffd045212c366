"""A whole number plus whole noise X whose law does not depend on it and is the same for X and −X.

Its certificate is the law on a few truths as an exact channel, with outputs merged into cells.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from leastnoise.errors import BadLoss, BadParameter
from leastnoise.exact.arrays import Size
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.formulas import least_whole
from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike, read_rational
from leastnoise.exact.sources import Source
from leastnoise.mechanisms.truths import add_noise, read_whole
from leastnoise.model.certificate import Certificate, PrivacyCertificate
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import from_edges
from leastnoise.model.losses import Loss, absolute, squared, zero_one
from leastnoise.model.mechanism import LEVEL, ErrorEstimate, Mechanism
from leastnoise.model.privacy import Privacy

__all__ = ["IntegerNoise", "certify_noise", "power_of"]


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
        true = read_whole(truth)
        if size is None:
            return true + self.noise(source=source)
        return add_noise(np.array(true, dtype=object), self.noise(size, source))

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth)."""
        return self.noise_pmf(read_whole(output) - read_whole(truth), bits)

    def cdf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(Y ≤ output | truth)."""
        noise = read_whole(output) - read_whole(truth)
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

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """The expected absolute error and its quantile, for every answer."""
        return ErrorEstimate("absolute", self.moment(1), {level: Fraction(self.quantile(level))})


_CELLS = 4  # for each step of one sensitivity


def certify_noise(mechanism: IntegerNoise, epsilon: Exact) -> Certificate:
    """That answers from 0 to twice the sensitivity are protected as claimed.

    Raises:
        BadParameter: The law is irrational.
    """
    reach, unit = mechanism.sensitivity, -(-mechanism.sensitivity // _CELLS)
    answers = range(0, 2 * reach + 1, unit)
    borders = range(-reach, 3 * reach + 1, unit)
    shares = [[_below(mechanism, border, answer) for border in borders] for answer in answers]
    masses = [[high - low for low, high in pairwise([Fraction(0), *row, Fraction(1)])] for row in shares]
    edges = [(x, y) for x in answers for y in answers if 0 < y - x <= reach]
    cells = [f"below {border}" for border in borders] + ["the rest"]
    return PrivacyCertificate(from_edges(edges), Privacy(epsilon), Channel(masses, answers, cells))


def _below(mechanism: IntegerNoise, border: int, truth: int) -> Fraction:
    share = mechanism.cdf(border - 1, truth)
    if not share.is_exact:
        raise BadParameter(
            f"the law of the {mechanism.name} is irrational at this epsilon, so no exact channel can be certified",
            fix='choose an epsilon and a sensitivity with rational e^(epsilon/sensitivity), such as "ln(3)" and 1',
        )
    return share.lower

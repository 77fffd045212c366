"""The k best of several candidates by whole scores with noise: noise on every score, then the k largest in order.

The noise is paid once, however long the list is, and the list is computed from the noisy scores. So this is private as
the noise is. Where a unit moves few scores, noise on each costs little, and k choices in turn, each with ε/k, are
farther off (`top_k`). Where a unit may move every score, it is the other way round.

Let Z be the noise. The k largest noisy scores add up to no less than those of the k best, so the loss is at most the
sum of the noises of the chosen less those of the best, on average at most k·t + n·E(Z − t)⁺ for every t ≥ 0. The
chances P(Z ≥ x) of geometric and of Gaussian noise fall faster and faster (they are log-concave), so
E(Z − t)⁺ = Σ_{x>t} P(Z ≥ x) ≤ p/(1 − p/q) with p = P(Z ≥ t + 1), q = P(Z ≥ t). See docs/theory/top_k.md.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.exact import Enclosure, NumberLike, Size, Source, read_integer, shape_of
from leastnoise.mechanisms.histogram.independent_noise import IndependentNoise
from leastnoise.mechanisms.numeric import Gaussian, Geometric
from leastnoise.model import LEVEL, Certificate, ErrorEstimate, Event, Mechanism, Reason

__all__ = ["NoisyTopK"]


@dataclass(frozen=True, init=False)
class NoisyTopK(Mechanism):
    """The places of the k largest noisy scores, the best first; the truth is one whole score per candidate.

    Args:
        noise: Geometric or Gaussian noise, the same on every score.
        k: How many to choose.

    >>> from leastnoise.mechanisms.histogram.independent_noise import NoiseBlock
    >>> each = Geometric(2)
    >>> NoisyTopK(IndependentNoise((NoiseBlock(each, 4, each.event),)), 2).release([5000, 3000, 10, 0])
    (0, 1)
    """

    name: ClassVar[str] = "top k of noisy scores"
    noise: IndependentNoise
    k: int

    def __init__(self, noise: IndependentNoise, k: NumberLike) -> None:
        is_one = isinstance(noise, IndependentNoise) and len(noise.blocks) == 1
        if not is_one or not isinstance(noise.blocks[0].noise, Geometric | Gaussian):
            raise BadParameter(
                "the noise must be geometric or Gaussian, the same on every score",
                given=type(noise).__name__,
                fix="pass IndependentNoise with one block",
            )
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "k", read_integer(k, "k", at_least=1, at_most=noise.dimension))

    @property
    def event(self) -> Event:
        """That of the noise."""
        return self.noise.event

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """A tuple of k places, the best first, the first of equal ones; an array with k columns if `size` is given."""
        shape = shape_of(size)
        noisy = np.reshape(self.noise.draw(truth, prod(shape), source), (prod(shape), self.noise.dimension))
        places = np.argsort(-noisy, axis=1, kind="stable")[:, : self.k]
        return tuple(places[0].tolist()) if size is None else places.reshape(*shape, self.k)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:  # noqa: ARG002 - as for all mechanisms
        """There is no formula: many noisy scores lead to the same list.

        Raises:
            BadParameter: Always.
        """
        raise BadParameter("the law of the list has no closed form", fix="ask for that of the noise: noise.pmf")

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """How far the sum of the chosen scores is below that of the k best: bounds for all scores.

        The quantile is 2·k times what no noise exceeds with this probability.
        """
        noise, count = self.noise.blocks[0].noise, self.noise.dimension
        if self.k == count:
            return ErrorEstimate("scores below the best", Enclosure(Fraction(0), Fraction(0)), {level: Fraction(0)})
        t = noise.quantile(1 - Fraction(self.k, count), tails=1)
        above, there = noise.tail(t + 1).upper, noise.tail(t).lower if t else 1 - noise.tail(1).upper
        expected = self.k * t + count * above / (1 - above / there)
        farthest = noise.quantile(1 - (1 - level) / count)
        quantiles = {level: Fraction(2 * self.k * farthest)}
        return ErrorEstimate("scores below the best", Enclosure(expected, expected), quantiles, attained=False)

    def reason(self) -> Reason:
        """One price for the whole list."""
        return Reason(
            "noise on every score is paid once, however long the list is, and the list is computed from it",
            "docs/theory/top_k.md",
        )

    def certificate(self) -> Certificate:
        """That of the noise, which is all that sees the data."""
        return self.noise.certificate()

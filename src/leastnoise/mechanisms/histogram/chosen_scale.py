"""Bounds or limits that nobody knows: a small share of the price chooses them, the rest answers with them.

First the units are counted by where they lie on a public scale, in powers of two, and each count gets noise: a unit is
in one place of the scale, so that all counts together cost what one costs. From the noisy counts the option with the
least estimated error is chosen: what its noise adds, and what it cuts off of the units beyond it. Counts that noise
alone may reach are taken for none; where all are such, the largest is believed, for narrow bounds would cut off
everybody. Then the mechanism that was made for that option answers. It has the same price
whichever option it is, so the two compose, adaptively; everything was read before the first of them was drawn.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.exact import Enclosure, Size, Source, shape_of
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.mechanisms.truths import read_whole_vector
from leastnoise.model import Certificate, Composed, ErrorEstimate, Event, Mechanism, Reason

__all__ = ["ChosenScale", "least_loss"]

_BY_CHANCE = Fraction(199, 200)  # how surely no count of nobody looks like somebody


def least_loss(counts: Sequence[int], sure: int, noise: Sequence[Fraction], cut: Sequence[Sequence[Fraction]]) -> int:
    """The option with the least noise[i] + Σ cut[i][b]·counts[b] over the counts above `sure`; the first of several.

    Where no count is, the largest one is taken.

    >>> least_loss([100, 3, 50], 5, [Fraction(10), Fraction(90)], [[0, 1, 2], [0, 0, 0]])
    1
    >>> least_loss([0, 3, 50], 60, [Fraction(10), Fraction(90)], [[0, 1, 2], [0, 0, 0]])
    1
    """
    seen = [(b, count) for b, count in enumerate(counts) if count > max(sure, 0)]
    if not seen and max(counts) > 0:
        seen = [(counts.index(max(counts)), max(counts))]
    losses = [own + sum(row[b] * count for b, count in seen) for own, row in zip(noise, cut, strict=True)]
    return losses.index(min(losses))


@dataclass(frozen=True)
class ChosenScale(Mechanism):
    """Noisy counts on a scale, and the answer of the option that they choose.

    The truth is a pair: the counts on the scale, and the true answer for each option. What is drawn are the noisy
    counts, the place of the option, and its answer.

    Args:
        first: The noise of a count on the scale.
        options: The mechanism of each option.
        noise: The error that each option's noise adds, in the unit of the answer.
        cut: What each option cuts off of a unit in each place of the scale, in the same unit.
        price: What an option costs, whichever it is.
    """

    name: ClassVar[str] = "answer on a scale that is chosen first"
    first: IntegerNoise
    options: tuple[Mechanism, ...]
    noise: tuple[Fraction, ...]
    cut: tuple[tuple[Fraction, ...], ...]
    price: Event

    @property
    def event(self) -> Event:
        """That of one count on the scale, and that of the answer."""
        return Composed((self.first.event, self.price))

    @property
    def places(self) -> int:
        """The length of the scale."""
        return len(self.cut[0])

    @property
    def sure(self) -> int:
        """What no count of nobody exceeds, nearly surely."""
        return self.first.quantile(1 - (1 - _BY_CHANCE) / self.places, tails=1)

    def choose(self, counts: Sequence[int]) -> int:
        """The option that noisy counts choose."""
        return least_loss(counts, self.sure, self.noise, self.cut)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """Noisy counts, the place of the option, its answer."""
        scale, answers = self._read(truth)
        shape = shape_of(size)
        drawn = np.empty(prod(shape), dtype=object)
        for i in range(len(drawn)):
            noise = self.first.noise(len(scale), source).tolist()
            counts = tuple(int(n) + x for n, x in zip(scale, noise, strict=True))
            place = self.choose(counts)
            drawn[i] = counts, place, self.options[place].draw(answers[place], source=source)
        return drawn[0] if size is None else drawn.reshape(shape)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """The product of the counts and the answer."""
        scale, answers = self._read(truth)
        counts, place, answer = output if isinstance(output, tuple) and len(output) == 3 else ((), -1, None)
        if len(counts) != len(scale) or place != self.choose(counts):
            return Enclosure(Fraction(0), Fraction(0))
        parts = [self.first.noise_pmf(y - int(x), bits) for y, x in zip(counts, scale, strict=True)]
        parts.append(self.options[place].pmf(answer, answers[place], bits))
        one = Fraction(1)
        return Enclosure(prod((p.lower for p in parts), start=one), prod((p.upper for p in parts), start=one))

    def error(self) -> ErrorEstimate:
        """That of the option with the most noise."""
        return max((option.error() for option in self.options), key=lambda error: error.expected.upper)

    def reason(self) -> Reason:
        """A unit is in one place of the scale."""
        return Reason(
            "a unit is in one place of the scale, so that a small share of the price shows where the units are",
            "Dwork, McSherry, Nissim and Smith, TCC 2006; docs/theory/private_bounds.md",
        )

    def certificate(self) -> Certificate:
        """That of one count on the scale, for its share of the privacy."""
        return self.first.certificate()

    def _read(self, truth: Any) -> tuple[Any, Sequence[Any]]:
        if not isinstance(truth, tuple) or len(truth) != 2 or len(truth[1]) != len(self.options):
            raise BadParameter(
                "the true answer must be counts on the scale and an answer for each option", fix="read both"
            )
        return read_whole_vector(truth[0], self.places), truth[1]

"""Many whole numbers at once, each with independent whole noise, where one unit changes only a few of them.

If one unit changes at most L of the numbers, each by at most m, and the noise on one number alone costs the event E for
a change of m, then all numbers together cost L times E: the laws of the others are the same with and without the unit,
and the L privacy losses add up. So a histogram in which a unit counts in one group costs no more than one count
(docs/theory/independent_noise.md). Of Gaussian noise of variance σ² all cells are one event, with μ² = L·m²/σ².
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import prod
from typing import Any, ClassVar

import numpy as np

from leastnoise.composition.cost import gaussian_within, pure_within
from leastnoise.errors import BadParameter, NumberTooLarge
from leastnoise.exact import Enclosure, Exact, Size, Source, scaled, shape_of
from leastnoise.mechanisms.numeric import Gaussian, Geometric, OptimalNoise, Staircase
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.mechanisms.truths import add_noise, read_whole_vector
from leastnoise.model import (
    Certificate,
    Composed,
    ErrorEstimate,
    Event,
    GaussianPrivacy,
    LaplaceNoise,
    Mechanism,
    Privacy,
    Pure,
    Reason,
    Sensitivity,
)

__all__ = [
    "WIDEST_STAIRS",
    "HistogramProblem",
    "IndependentNoise",
    "NoiseBlock",
    "gaussian_noise",
    "is_drawable",
    "repeated",
    "require_drawable",
    "too_wide",
]

_MOST_EVENTS = 64  # a longer list of equal events is charged by its sum
WIDEST_STAIRS = 1 << 40  # the largest change of one number for which there is a staircase
_WIDEST_SCALE = 1 << 55
_MOST_OPTIMAL = 1000  # cells: optimal noise is drawn from a list of long fractions
_WORTH_IT = Fraction(99, 100)


@dataclass(frozen=True)
class NoiseBlock:
    """So many cells with the same noise, and what all of them together cost."""

    noise: IntegerNoise
    count: int
    event: Event


@dataclass(frozen=True)
class IndependentNoise(Mechanism):
    """A vector of whole numbers plus independent noise; the truth is the vector, block after block.

    >>> from leastnoise.exact import ln
    >>> once = IndependentNoise((NoiseBlock(Geometric(ln(3)), 4, Pure(ln(3))),))
    >>> once.error().expected, once.release([5, 0, 2, 7]).shape
    (Enclosure(3/4), (4,))
    """

    name: ClassVar[str] = "independent noise on each cell"
    blocks: tuple[NoiseBlock, ...]

    @property
    def dimension(self) -> int:
        """How many numbers."""
        return sum(block.count for block in self.blocks)

    @property
    def event(self) -> Event:
        """The events of all blocks."""
        events = tuple(block.event for block in self.blocks)
        return events[0] if len(events) == 1 else Composed(events)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """The vector plus noise; with `size` that many of them along new first axes."""
        true, shape = read_whole_vector(truth, self.dimension), shape_of(size)
        noise = [block.noise.noise((*shape, block.count), source) for block in self.blocks]
        return add_noise(true, noise[0] if len(noise) == 1 else np.concatenate(noise, axis=-1))

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """The product of the cells' probabilities."""
        drawn, true = read_whole_vector(output, self.dimension), read_whole_vector(truth, self.dimension)
        noises = [block.noise for block in self.blocks for _ in range(block.count)]
        masses = [n.noise_pmf(int(y) - int(x), bits) for n, y, x in zip(noises, drawn, true, strict=True)]
        one = Fraction(1)
        return Enclosure(prod((p.lower for p in masses), start=one), prod((p.upper for p in masses), start=one))

    def error(self) -> ErrorEstimate:
        """The expected absolute error of one cell of the first block, and its 95 % quantile, for every truth."""
        return self.blocks[0].noise.error()

    def reason(self) -> Reason:
        """That of the noise on one cell."""
        noise = self.blocks[0].noise
        if noise.sensitivity <= WIDEST_STAIRS or isinstance(noise, Gaussian):
            return noise.reason()
        return Reason(
            "at so fine a step geometric noise has nearly the least expected absolute error for its sensitivity",
            "Geng and Viswanath, IEEE Transactions on Information Theory 62(2), 2016",
        )

    def certificate(self) -> Certificate:
        """That of one cell, for the share of the privacy that it has."""
        return self.blocks[0].noise.certificate()


@dataclass(frozen=True)
class HistogramProblem:
    """A vector of whole numbers is asked for; what it costs is the expected absolute error of each.

    Args:
        price: The privacy of the whole release, in any currency.
        dimension: How many numbers.
        sensitivity: How many of them one unit changes, and by how much.
        reachable: Whether one unit can change each number alone, any number of units one after the other, and each by
            any whole number of steps up to `sensitivity.each`. Only then there is a lower bound.
    """

    price: Privacy
    dimension: int
    sensitivity: Sensitivity
    reachable: bool = False

    def candidates(self) -> Iterator[IndependentNoise]:
        """Noise with a share of ε on each cell, and Gaussian noise where the price pays for it.

        Raises:
            NumberTooLarge: All noise would be too wide to draw.
        """
        usual = list(self.usual(stairs=True))
        if not usual:
            raise too_wide(self.sensitivity.l1)
        yield from usual
        yield from self._optimal(min(one.blocks[0].noise.moment(1).lower for one in usual))

    def usual(self, *, stairs: bool = False) -> Iterator[IndependentNoise]:
        """Geometric and Gaussian noise, where they can be drawn, and staircases if they are asked for."""
        cells, each = min(self.sensitivity.cells, self.dimension), self.sensitivity.each
        for noise, event in (*self._pure(cells, each, stairs=stairs), *self._gaussian(cells, each)):
            yield IndependentNoise((NoiseBlock(noise, self.dimension, event),))

    def expected_loss(self, mechanism: Mechanism) -> Enclosure:
        """The expected absolute error of one cell."""
        return (
            mechanism.blocks[0].noise.moment(1)
            if isinstance(mechanism, IndependentNoise)
            else mechanism.error().expected
        )

    @property
    def lower_bound(self) -> Enclosure | None:
        """What no ε-private mechanism beats on a cell into which one unit may put all of `each`; None if it may not.

        Averaged over the answers of a cell, a mechanism is noise; of all noise that is private for every change of up
        to `each` some staircase has the least expected absolute error (Geng and Viswanath 2016).
        """
        if not self.reachable or not self.price.is_pure or self.sensitivity.each > WIDEST_STAIRS:
            return None
        return scaled(Staircase(self.price.epsilon, self.sensitivity.each).moment(1), self.sensitivity.step)

    def _pure(self, cells: int, each: int, *, stairs: bool) -> Iterator[tuple[IntegerNoise, Event]]:
        for kind in (Geometric, Staircase) if stairs and 1 < each <= WIDEST_STAIRS else (Geometric,):
            epsilon = pure_within(self.price, partial(_event_of_cells, kind, cells, each))
            if is_drawable(cells * each, epsilon):
                yield kind(epsilon / cells, each), _event_of_cells(kind, cells, each, epsilon)

    def _gaussian(self, cells: int, each: int) -> Iterator[tuple[Gaussian, Event]]:
        """With the whole μ² that the price pays for, shared by the cells that one unit is in."""
        mu_squared = gaussian_within(self.price)
        noise = gaussian_noise(mu_squared, cells * each**2, each)
        if noise is not None:
            yield noise, GaussianPrivacy(mu_squared)

    def _optimal(self, least: Fraction) -> Iterator[IndependentNoise]:
        """The least noise for (ε, δ), where a unit is in one cell and its error is at least one percent less.

        Noise that is nearly as good and needs no δ of its own adds up better over several releases.
        """
        cells = min(self.sensitivity.cells, self.dimension)
        if cells > 1 or self.price.currency != "epsilon and delta" or self.dimension > _MOST_OPTIMAL:
            return
        try:
            noise = OptimalNoise(self.price.epsilon, self.price.delta, self.sensitivity.each)
        except BadParameter:  # out of the reach of its program
            return
        if noise.moment(1).upper <= least * _WORTH_IT:
            yield IndependentNoise((NoiseBlock(noise, self.dimension, noise.event),))


def gaussian_noise(mu_squared: Fraction, l2_squared: int, each: int) -> Gaussian | None:
    """Gaussian noise with this μ² on numbers that change by so much in the ℓ₂ norm; None where none can be drawn.

    >>> gaussian_noise(Fraction(1, 25), 15, 1)
    Gaussian(variance=Fraction(375, 1), sensitivity=1)
    """
    try:
        return Gaussian(l2_squared / mu_squared, each) if mu_squared else None
    except NumberTooLarge:
        return None


def is_drawable(sensitivity: int, epsilon: Exact) -> bool:
    """Whether noise is narrow enough for 64 bits: at a scale of 2^55 the chance of a draw beyond 2^62 is e^-128."""
    return bool(sensitivity <= epsilon * _WIDEST_SCALE)


def too_wide(sensitivity: int) -> NumberTooLarge:
    """The refusal of noise that can't be drawn, before anything is spent."""
    return NumberTooLarge(
        "the noise would be wider than 2^55 steps",
        given=f"sensitivity of {sensitivity} steps",
        fix="pass a larger step, or ask for fewer groups per unit",
    )


def require_drawable(sensitivity: int, epsilon: Exact) -> None:
    """Refuse noise so wide that a draw might not fit into 64 bits, before anything is spent.

    Raises:
        NumberTooLarge: The step is too fine for this ε.
    """
    if not is_drawable(sensitivity, epsilon):
        raise too_wide(sensitivity)


def _event_of_cells(kind: type[Geometric | Staircase], cells: int, each: int, epsilon: Exact) -> Event:
    """What noise with ε/L on each cell costs in L of them, without making the noise."""
    share = epsilon / cells
    return repeated(LaplaceNoise(share, steps=each) if kind is Geometric else Pure(share), cells, Pure(epsilon))


def repeated(event: Event, times: int, otherwise: Event) -> Event:
    """So many times the same event; the other one where that is a long list."""
    if times == 1:
        return event
    return Composed((event,) * times) if times <= _MOST_EVENTS else otherwise

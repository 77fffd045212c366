"""Counts by keys that are not known in advance: a key is shown only if its noisy count reaches a threshold.

A key that nobody has is never shown; one that a single unit has must rarely be, and how rarely is the δ. A unit has at
most `groups` keys and adds at most `rows` to the count of each. Three kinds of noise, of which `UnknownKeys` takes the
one with the least sum of the count at which a key shows half of the time and the expected error of a count:

- the best selection (`selection_noise`) at ε/groups and δ/groups for each key, for units that count once: no selection
  with as much privacy for each key shows any key more often;
- Gaussian noise, whose μ² adds up over the keys of a unit; the threshold is the least that the exact profile allows
  (`composition.thresholded_gaussian`);
- Laplace noise at ε/groups: with p(τ) = P(rows + X ≥ τ) the least τ > rows with groups·p(τ) ≤ δ.

Statements and proofs: docs/theory/noisy_threshold.md. The idea of a threshold is from Korolova, Kenthapadi, Mishra and
Ntoulas, WWW 2009.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, ClassVar

import numpy as np

from leastnoise.composition.gaussian import mu_squared_within
from leastnoise.composition.thresholded_gaussian import is_within
from leastnoise.errors import BadParameter, NumberTooLarge
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Size,
    Source,
    least_whole,
    read_exact,
    read_integer,
    read_rational,
    round_up,
    shape_of,
)
from leastnoise.mechanisms.histogram.independent_noise import is_drawable, repeated, too_wide
from leastnoise.mechanisms.histogram.selection_noise import SelectionNoise, no_certificate
from leastnoise.mechanisms.numeric import Gaussian, Geometric
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.model import (
    MOST_GROUPS,
    Approximate,
    Certificate,
    ErrorEstimate,
    Event,
    Fixed,
    Mechanism,
    Reason,
    ThresholdedGaussian,
)

__all__ = [
    "Counts",
    "GaussianThreshold",
    "NoisyThreshold",
    "SelectionThreshold",
    "ThresholdedCounts",
    "UnknownKeys",
    "few_digits",
    "least_threshold",
    "read_counts",
]

Counts = Mapping[Hashable, int]
_NOTHING = Enclosure(Fraction(0), Fraction(0))


def least_threshold(noise: Geometric, delta: Fraction, groups: int, rows: int) -> int:
    """The least τ > rows with groups·P(rows + X ≥ τ) ≤ δ.

    >>> least_threshold(Geometric("ln(2)"), Fraction(1, 100), 1, 1)
    8
    """
    bits = 256 + delta.denominator.bit_length()
    return rows + least_whole(lambda above: groups * noise.tail(above, bits=bits).upper <= delta, start=1)


@dataclass(frozen=True, init=False)
class ThresholdedCounts(Mechanism):
    """Noisy counts of the keys that reach the threshold. The truth is a mapping of the keys there are to counts.

    Args:
        epsilon: The privacy of the whole release.
        delta: Its δ, within which keys of a single unit show.
        groups: The most keys that a unit has.
        rows: The most that it adds to the count of one.
    """

    epsilon: Exact
    delta: Fraction
    groups: int
    rows: int
    threshold: int

    def __init__(self, epsilon: NumberLike, delta: NumberLike, groups: NumberLike = 1, rows: NumberLike = 1) -> None:
        object.__setattr__(self, "epsilon", read_exact(epsilon, "epsilon", above=0))
        if delta == 0:
            raise BadParameter(
                "keys that are not known in advance need a delta above zero: showing a key shows that someone has it",
                given=0,
                fix='list the public keys, keys=[…], or pass for example delta="1e-6"',
            )
        object.__setattr__(self, "delta", read_rational(delta, "delta", above=0, below=1))
        object.__setattr__(self, "groups", read_integer(groups, "groups", at_least=1, at_most=MOST_GROUPS))
        object.__setattr__(self, "rows", read_integer(rows, "rows", at_least=1))
        object.__setattr__(self, "threshold", self._least_threshold())

    @property
    @abstractmethod
    def noise(self) -> IntegerNoise:
        """What every count gets. At least half of the time it is not below zero, and less often above."""

    @abstractmethod
    def _least_threshold(self) -> int:
        """The threshold that the privacy asked for allows."""

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """A tuple of keys with their noisy counts, in an order that depends on the keys alone."""
        found = read_counts(truth)
        shape = shape_of(size)
        noise = self.noise.noise((prod(shape), len(found)), source)
        drawn = np.empty(len(noise), dtype=object)
        for i, row in enumerate(noise.tolist()):
            noisy = ((key, count + x) for (key, count), x in zip(found, row, strict=True))
            drawn[i] = tuple(pair for pair in noisy if pair[1] >= self.threshold)
        return drawn[0] if size is None else drawn.reshape(shape)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """The product over the keys there are: of its noisy count where it is shown, of staying below where not."""
        found = dict(read_counts(truth))
        shown = dict(output) if isinstance(output, tuple) else {}
        if not shown.keys() <= found.keys() or any(count < self.threshold for count in shown.values()):
            return _NOTHING
        low = high = Fraction(1)
        for key, count in found.items():
            part = self.noise.pmf(shown[key], count, bits) if key in shown else self.hidden(count, bits)
            low, high = low * part.lower, high * part.upper
        return Enclosure(low, high)

    def hidden(self, count: int, bits: int = 64) -> Enclosure:
        """P(count + X < threshold)."""
        return self.noise.cdf(self.threshold - 1, count, bits)

    @property
    def half_shown(self) -> int:
        """The least count at which a key shows at least half of the time: the threshold, for the noise is centred."""
        return self.threshold

    def error(self) -> ErrorEstimate:
        """The noise of a count that is shown, before it was compared with the threshold."""
        return self.noise.error()

    def certificate(self) -> Certificate:
        """There is none.

        Raises:
            BadParameter: Always.
        """
        raise no_certificate()


class NoisyThreshold(ThresholdedCounts):
    """Laplace noise and the least threshold for it; see `ThresholdedCounts` for the arguments.

    >>> histogram = NoisyThreshold("ln(2)", "1/100")
    >>> histogram.threshold, histogram.pmf((("Lyon", 9),), {"Lyon": 9})
    (8, Enclosure(1/3))
    """

    name: ClassVar[str] = "noisy counts above a threshold"

    @property
    def noise(self) -> Geometric:
        """With ε/groups for each key."""
        return Geometric(self.epsilon, self.groups * self.rows)

    def _least_threshold(self) -> int:
        return least_threshold(self.noise, self.delta, self.groups, self.rows)

    @property
    def event(self) -> Event:
        """(ε/groups, p) for each key of a unit."""
        share = self.delta / self.groups
        shown = few_digits(self.noise.tail(self.threshold - self.rows, 256).upper, share)
        each = Approximate(self.epsilon / self.groups, min(shown, share))
        return repeated(each, self.groups, Approximate(self.epsilon, self.delta))

    def reason(self) -> Reason:
        """The least threshold for this noise."""
        return Reason(
            f"the least threshold, {self.threshold}, at which keys of a single unit show with probability at most δ",
            "Korolova, Kenthapadi, Mishra and Ntoulas, WWW 2009; exact law in docs/theory/noisy_threshold.md",
        )


class SelectionThreshold(ThresholdedCounts):
    """The best selection of keys, with their counts, for units that count once in each of their keys.

    >>> histogram = SelectionThreshold(1, "1e-6")
    >>> histogram.threshold, NoisyThreshold(1, "1e-6").threshold
    (14, 15)
    """

    name: ClassVar[str] = "noisy counts of the best selection"

    @property
    def noise(self) -> SelectionNoise:
        """With (ε, δ)/groups for each key."""
        return SelectionNoise(self.epsilon / self.groups, self.delta / self.groups)

    def _least_threshold(self) -> int:
        if self.rows > 1:
            raise BadParameter(
                "the best selection is known for units that count once", given=self.rows, fix="pass rows=1"
            )
        return self.noise.half

    @property
    def event(self) -> Event:
        """(ε/groups, δ/groups) for each key of a unit."""
        return repeated(self.noise.event, self.groups, Approximate(self.epsilon, self.delta))

    def reason(self) -> Reason:
        """That of its noise."""
        return self.noise.reason()


class GaussianThreshold(ThresholdedCounts):
    """Gaussian noise, and the least threshold that its exact profile allows; see `ThresholdedCounts` for the arguments.

    >>> histogram = GaussianThreshold(1, "1e-6", groups=20)
    >>> histogram.threshold, NoisyThreshold(1, "1e-6", groups=20).threshold
    (103, 324)
    """

    name: ClassVar[str] = "counts with Gaussian noise above a threshold"

    @property
    def mu_squared(self) -> Fraction:
        """μ² of one key."""
        return mu_squared_within(self.epsilon, self.delta) / self.groups

    @property
    def noise(self) -> Gaussian:
        """With μ²/groups for each key."""
        return Gaussian(self.rows**2 / self.mu_squared, self.rows)

    def _least_threshold(self) -> int:
        return self.rows + least_whole(
            lambda above: is_within(self._event_at(above), self.epsilon, self.delta), start=1
        )

    def _event_at(self, above: int) -> ThresholdedGaussian:
        """With a threshold so far above what one unit adds."""
        shown = few_digits(self.noise.tail(above).upper, self.delta / self.groups)
        return ThresholdedGaussian(self.mu_squared, self.groups, shown)

    @property
    def event(self) -> Event:
        """Gaussian noise on the keys of a unit with the chance that one of its own shows, claimed to be (ε, δ)."""
        return Fixed((self._event_at(self.threshold - self.rows),), self.epsilon, self.delta)

    def reason(self) -> Reason:
        """Over many keys Gaussian noise grows with their root."""
        return Reason(
            "the exact profile of Gaussian noise with a threshold: the noise grows with the root of the keys of a unit",
            "Wilkins, Kifer, Zhang and Karrer 2024; proof in docs/theory/noisy_threshold.md",
        )


@dataclass(frozen=True)
class UnknownKeys:
    """Counts by unknown keys are asked for; what they cost is how rare a hidden key may be, and the error of a count.

    Args:
        epsilon: The privacy of the whole release.
        delta: Its δ.
        groups: The most keys that a unit has.
        rows: The most that it adds to the count of one.
    """

    epsilon: Exact
    delta: Fraction
    groups: int
    rows: int = 1

    def candidates(self) -> Iterator[ThresholdedCounts]:
        """All three kinds of noise, where there are such.

        Raises:
            NumberTooLarge: All noise would be too wide to draw.
        """
        kinds: list[type[ThresholdedCounts]] = [SelectionThreshold] if self.rows == 1 else []
        kinds.append(GaussianThreshold)
        if is_drawable(self.groups * self.rows, self.epsilon):
            kinds.append(NoisyThreshold)
        found = 0
        for kind in kinds:
            with suppress(NumberTooLarge):  # there is no such noise
                mechanism = kind(self.epsilon, self.delta, self.groups, self.rows)
                found += 1
                yield mechanism
        if not found:
            raise too_wide(self.groups * self.rows)

    def expected_loss(self, mechanism: Mechanism) -> Enclosure:
        """The count at which a key shows half of the time, plus the expected error of a count."""
        half, error = getattr(mechanism, "half_shown", 0), mechanism.error()
        return Enclosure(half + error.expected.lower, half + error.expected.upper)


def few_digits(chance: Fraction, share: Fraction) -> Fraction:
    """A little more, with 64 binary digits, and at least a tiny part of what is allowed."""
    chance = max(chance, share / (1 << 64))
    return round_up(chance, 64 + chance.denominator.bit_length() - chance.numerator.bit_length())


def read_counts(truth: Any) -> list[tuple[Hashable, int]]:
    """The keys that someone has with their counts, sorted by what they are called."""
    if not isinstance(truth, Mapping) or any(type(count) is bool or int(count) != count for count in truth.values()):
        raise BadParameter("the true answer must map keys to whole counts", fix="count units by key")
    pairs = [(key, int(count)) for key, count in truth.items() if count > 0]
    return sorted(pairs, key=lambda pair: (type(pair[0]).__name__, repr(pair[0])))

"""Several numbers of keys that are not known in advance, and of everything else: one price, split once.

A key is found by its noisy count, as in `noisy_threshold`. Then the other numbers of the keys found get noise of their
own, and so do the totals of all keys that were not found. What is measured is chosen by what was drawn before, which is
public by then, so the parts compose (docs/theory/noisy_threshold.md). A unit has at most g keys and changes number i of
each by at most `each[i]`; number 0 is the count.

- With pure noise a part has a share of ε: ε/g for a number of one key, all of it for a total, which changes by g·each.
- With Gaussian noise a part has a share of μ², and the whole is one `ThresholdedGaussian`: what is measured of a key
  adds to its μ², and the totals of the rest are beside the keys.
"""

from __future__ import annotations

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
from leastnoise.exact import Enclosure, Exact, Size, Source, least_whole, shape_of
from leastnoise.mechanisms.histogram.independent_noise import is_drawable, repeated, too_wide
from leastnoise.mechanisms.histogram.noisy_threshold import (
    GaussianThreshold,
    ThresholdedCounts,
    UnknownKeys,
    few_digits,
)
from leastnoise.mechanisms.histogram.selection_noise import no_certificate
from leastnoise.mechanisms.numeric import Gaussian, Geometric
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.mechanisms.truths import read_whole_vector
from leastnoise.model import (
    Certificate,
    Composed,
    ErrorEstimate,
    Event,
    Fixed,
    LaplaceNoise,
    Mechanism,
    Pure,
    Reason,
    ThresholdedGaussian,
    plan_for,
)

__all__ = ["FoundKeys", "KeysFound"]

_REST = Fraction(1, 5)  # the share of everything else, where it is asked for


@dataclass(frozen=True)
class KeysFound(Mechanism):
    """The keys whose noisy count reaches the threshold, with all their numbers, and the totals of the others.

    The truth maps the keys there are to tuples of whole numbers, the count first. What is drawn is a pair: a tuple of
    (key, numbers) for each key found, and a tuple of totals, empty where none are asked for.

    Args:
        noises: The noise of each number of a key, the count first.
        threshold: What a noisy count must reach.
        rest: The noise of each total of the keys that were not found; none for no totals.
        cost: What all of it costs.
    """

    name: ClassVar[str] = "noisy numbers of the keys above a threshold"
    noises: tuple[IntegerNoise, ...]
    threshold: int
    rest: tuple[IntegerNoise, ...]
    cost: Event

    @property
    def event(self) -> Event:
        """That of all parts."""
        return self.cost

    @property
    def half_shown(self) -> int:
        """The least count at which a key shows at least half of the time."""
        return self.threshold

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """Keys with their noisy numbers, in an order that depends on the keys alone, and the totals of the rest."""
        found, shape = self._read(truth), shape_of(size)
        drawn = np.empty(prod(shape), dtype=object)
        for i in range(len(drawn)):
            drawn[i] = self._one(found, source)
        return drawn[0] if size is None else drawn.reshape(shape)

    def _one(self, found: list[tuple[Hashable, tuple[int, ...]]], source: Source | None) -> Any:
        counts, *others = self.noises
        noise = counts.noise(len(found), source).tolist()
        noisy = [numbers[0] + x for (_, numbers), x in zip(found, noise, strict=True)]
        shown = [place for place, count in enumerate(noisy) if count >= self.threshold]
        beside = [noise.noise(len(shown), source).tolist() for noise in others]
        keys = []
        for turn, place in enumerate(shown):
            key, (_, *numbers) = found[place]
            keys.append((key, (noisy[place], *(n + int(xs[turn]) for n, xs in zip(numbers, beside, strict=True)))))
        if not self.rest:
            return tuple(keys), ()
        hidden = self._hidden(found, {key for key, _ in keys})
        totals = (total + int(noise.noise(source=source)) for total, noise in zip(hidden, self.rest, strict=True))
        return tuple(keys), tuple(totals)

    def _hidden(self, found: list[tuple[Hashable, tuple[int, ...]]], shown: set[Hashable]) -> list[int]:
        return [sum(numbers[i] for key, numbers in found if key not in shown) for i in range(len(self.noises))]

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """The product over keys found, keys not found, and totals."""
        found = self._read(truth)
        keys, totals = output if isinstance(output, tuple) and len(output) == 2 else ((), ())
        shown = dict(keys)
        if not shown.keys() <= dict(found).keys() or len(totals) != len(self.rest):
            return Enclosure(Fraction(0), Fraction(0))
        hidden = self._hidden(found, set(shown)) if self.rest else []
        parts = [noise.noise_pmf(y - x, bits) for noise, y, x in zip(self.rest, totals, hidden, strict=True)]
        for key, numbers in found:
            if key not in shown:
                parts.append(self.noises[0].cdf(self.threshold - 1, numbers[0], bits))
            elif shown[key][0] < self.threshold:
                return Enclosure(Fraction(0), Fraction(0))
            else:
                parts += [n.pmf(y, x, bits) for n, y, x in zip(self.noises, shown[key], numbers, strict=True)]
        one = Fraction(1)
        return Enclosure(prod((p.lower for p in parts), start=one), prod((p.upper for p in parts), start=one))

    def error(self) -> ErrorEstimate:
        """The noise of the last number of a key found."""
        return self.noises[-1].error()

    def reason(self) -> Reason:
        """One price, split once."""
        return Reason(
            "keys are found by their noisy counts; what is measured of them and of all others has a share of the price",
            "Korolova, Kenthapadi, Mishra and Ntoulas, WWW 2009; proof in docs/theory/noisy_threshold.md",
        )

    def certificate(self) -> Certificate:
        """There is none.

        Raises:
            BadParameter: Always.
        """
        raise no_certificate()

    def _read(self, truth: Any) -> list[tuple[Hashable, tuple[int, ...]]]:
        """The keys that someone has with their numbers, sorted by what they are called."""
        if not isinstance(truth, Mapping):
            raise BadParameter("the true answer must map keys to whole numbers", fix="count units by key first")
        wide = len(self.noises)
        pairs = [(key, tuple(int(n) for n in read_whole_vector(numbers, wide))) for key, numbers in truth.items()]
        return sorted(
            (pair for pair in pairs if pair[1][0] > 0), key=lambda pair: (type(pair[0]).__name__, repr(pair[0]))
        )


@dataclass(frozen=True)
class FoundKeys:
    """Numbers of unknown keys are asked for, and perhaps of everything else.

    Args:
        epsilon: The privacy of the whole release.
        delta: Its δ.
        groups: The most keys that a unit has.
        each: By how much it changes each number of one, the count first.
        rest: Whether the totals of all other keys are asked for.
    """

    epsilon: Exact
    delta: Fraction
    groups: int
    each: tuple[int, ...]
    rest: bool = False

    @property
    def share(self) -> Fraction:
        """The share of the price that each number of a key has."""
        return (1 - (_REST if self.rest else 0)) / Fraction(len(self.each))

    @property
    def rest_share(self) -> Fraction:
        """The share that each total of the rest has."""
        return _REST / len(self.each) if self.rest else Fraction(0)

    def candidates(self) -> Iterator[KeysFound]:
        """Pure noise beside the best selection, and Gaussian noise.

        Raises:
            NumberTooLarge: All noise would be too wide to draw.
        """
        found = 0
        for make in (self._pure, self._gaussian):
            with suppress(NumberTooLarge):
                mechanism = make()
                found += 1
                yield mechanism
        if not found:
            raise too_wide(self.groups * max(self.each))

    def expected_loss(self, mechanism: Mechanism) -> Enclosure:
        """The count at which a key shows half of the time plus its error, times the errors of all other numbers."""
        if not isinstance(mechanism, KeysFound):
            return mechanism.error().expected
        first, *others = (noise.moment(1) for noise in (*mechanism.noises, *mechanism.rest))
        low, high = mechanism.half_shown + first.lower, mechanism.half_shown + first.upper
        return Enclosure(low * prod(e.lower for e in others), high * prod(e.upper for e in others))

    def _pure(self) -> KeysFound:
        groups, share, events = self.groups, self.epsilon * self.share, list[Event]()
        ranking = plan_for(UnknownKeys(share, self.delta, groups, self.each[0]))
        pure = (o.mechanism for o in ranking.options if not isinstance(o.mechanism, GaussianThreshold))
        finder = next(pure, None)
        if not isinstance(finder, ThresholdedCounts):
            raise too_wide(groups * self.each[0])
        events.append(finder.event)
        noises: list[IntegerNoise] = [finder.noise]
        for each in self.each[1:]:
            noises.append(_drawable(share / groups, each))
            events.append(repeated(LaplaceNoise(share / groups, steps=each), groups, Pure(share)))
        rest = []
        if self.rest:
            own = self.epsilon * self.rest_share
            rest = [_drawable(own, groups * each) for each in self.each]
            events += [noise.event for noise in rest]
        return KeysFound(tuple(noises), finder.threshold, tuple(rest), Composed(tuple(events)))

    def _gaussian(self) -> KeysFound:
        whole, groups = mu_squared_within(self.epsilon, self.delta), self.groups
        own, aside = whole * self.share / groups, whole * self.rest_share
        noises = tuple(Gaussian(each**2 / own, each) for each in self.each)
        rest = tuple(Gaussian((groups * each) ** 2 / aside, groups * each) for each in self.each) if self.rest else ()

        def event_at(above: int) -> ThresholdedGaussian:
            shown = few_digits(noises[0].tail(above).upper, self.delta / groups)
            return ThresholdedGaussian(own * len(noises), groups, shown, aside * len(rest))

        above = least_whole(lambda above: is_within(event_at(above), self.epsilon, self.delta), start=1)
        cost = Fixed((event_at(above),), self.epsilon, self.delta)
        return KeysFound(noises, self.each[0] + above, rest, cost)


def _drawable(epsilon: Exact, sensitivity: int) -> Geometric:
    if not is_drawable(sensitivity, epsilon):
        raise too_wide(sensitivity)
    return Geometric(epsilon, sensitivity)

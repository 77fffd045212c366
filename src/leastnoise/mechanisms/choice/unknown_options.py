"""The most common keys, where the keys are not known in advance and a unit may have many of them.

k turns of the exponential mechanism with ε' = ε/k, among the keys that someone has and are left, and "nothing more",
whose score is a threshold τ; the list ends where that is chosen. A key of count c weighs e^(ε'c/m), a unit adding at
most m to a count. Let W be the sum of all weights without a unit, "nothing more" among them, so W ≥ e^(ε'τ/m). With the
unit, old weights grow by a factor of at most e^ε', and at most g new keys weigh at most e^ε' each, N together. So

- an old key is chosen with at most e^ε' times the probability, and a new one with at most N/(W + N);
- P(S) − e^ε'·P'(S) ≤ W·(1/W − e^ε'/(e^ε'·W + N)) ≤ N/(W + N).

A turn is therefore (ε', δ')-private with δ' = g·e^ε'/(e^(ε'τ/m) + g·e^ε'), and for no smaller δ' (the table may be
empty). The threshold grows with ln g only: noise on all counts would grow with the root of g or with g. The idea of a
score for what is not listed is from Durfee and Rogers, NeurIPS 2019; docs/theory/most_common.md has the proof.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, ClassVar

import numpy as np

from leastnoise.exact import (
    Ball,
    Enclosure,
    Exact,
    NumberLike,
    Size,
    Source,
    ball_of,
    enclose,
    least_whole,
    of_fraction,
    read_integer,
    read_rate,
    read_rational,
    shape_of,
    system_source,
)
from leastnoise.mechanisms.choice.exponential import Exponential
from leastnoise.mechanisms.histogram.noisy_threshold import read_counts
from leastnoise.mechanisms.histogram.selection_noise import no_certificate
from leastnoise.model import (
    LEVEL,
    MOST_GROUPS,
    MOST_TURNS,
    Approximate,
    Certificate,
    Composed,
    ErrorEstimate,
    Event,
    Mechanism,
    Reason,
)

__all__ = ["UnknownTopK"]


@dataclass(frozen=True, init=False)
class UnknownTopK(Mechanism):
    """At most k keys in turn, the most common first. The truth is a mapping of the keys there are to counts.

    Args:
        epsilon: The privacy of the whole list.
        delta: Its δ, within which a key of a single unit is listed.
        k: How many keys at most.
        groups: The most keys that a unit has.
        rows: The most that it adds to the count of one.

    >>> UnknownTopK(1, "1e-6", groups=1).threshold, UnknownTopK(1, "1e-6", groups=1000).threshold
    (15, 22)
    >>> UnknownTopK(1, "1e-6").release({"Lyon": 5000, "Metz": 20})
    ('Lyon',)
    """

    name: ClassVar[str] = "top k of keys that nobody listed"
    epsilon: Exact
    delta: Fraction
    k: int
    groups: int
    rows: int
    threshold: int

    def __init__(
        self,
        epsilon: NumberLike,
        delta: NumberLike,
        k: NumberLike = 1,
        groups: NumberLike = 1,
        rows: NumberLike = 1,
    ) -> None:
        object.__setattr__(self, "k", read_integer(k, "k", at_least=1, at_most=MOST_TURNS))
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon"))
        object.__setattr__(self, "delta", read_rational(delta, "delta", above=0, below=1))
        object.__setattr__(self, "groups", read_integer(groups, "groups", at_least=1, at_most=MOST_GROUPS))
        object.__setattr__(self, "rows", read_integer(rows, "rows", at_least=1))
        least = least_whole(lambda above: self._new_key_at(self.rows + above) * self.k <= self.delta)
        object.__setattr__(self, "threshold", self.rows + least)

    def _new_key_at(self, threshold: int) -> Fraction:
        """At least the chance that a turn lists a key of a single unit, at this threshold."""
        share = self.epsilon / self.k

        def odds() -> Ball:  # of all others against the new keys, at least
            return (ball_of(share / self.rows) * (threshold - self.rows)).exp() / of_fraction(self.groups)

        return enclose(lambda: 1 / (odds() + 1)).upper

    @property
    def half_shown(self) -> int:
        """The least count at which a key that is alone is chosen at least half of the time, in the first turn."""
        return self.threshold

    @property
    def event(self) -> Event:
        """(ε/k, δ/k) for each turn."""
        each = Approximate(self.epsilon / self.k, self.delta / self.k)
        return each if self.k == 1 else Composed((each,) * self.k)

    def turn(self, options: int) -> Exponential:
        """The choice among so many options."""
        return Exponential(self.epsilon / self.k, options, self.rows, monotone=True)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """A tuple of keys, the most common first."""
        found, shape = read_counts(truth), shape_of(size)
        drawn = np.empty(prod(shape), dtype=object)
        for i in range(len(drawn)):
            drawn[i] = self._one(found, source or system_source)
        return drawn[0] if size is None else drawn.reshape(shape)

    def _one(self, found: list[tuple[Hashable, int]], source: Source) -> tuple[Hashable, ...]:
        left, chosen = list(found), list[Hashable]()
        for _ in range(self.k):
            scores = np.array([*(count for _, count in left), self.threshold], dtype=np.int64)
            place = int(self.turn(len(scores)).choose(scores, 1, source)[0])
            if place == len(left):
                break
            chosen.append(left.pop(place)[0])
        return tuple(chosen)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """The product over the turns, the last of which chose nothing more if the list is short."""
        left = dict(read_counts(truth))
        if not isinstance(output, tuple) or len(output) > self.k or len(set(output)) < len(output):
            return Enclosure(Fraction(0), Fraction(0))
        if not set(output) <= left.keys():
            return Enclosure(Fraction(0), Fraction(0))
        low = high = Fraction(1)
        for key in (*output, *([None] if len(output) < self.k else [])):
            names = list(left)
            place = names.index(key) if key in left else len(names)
            scores = np.array([*left.values(), self.threshold], dtype=np.int64)
            chance = self.turn(len(scores)).chance(place, scores, bits)
            low, high = low * chance.lower, high * chance.upper
            left.pop(key, None)
        return Enclosure(low, high)

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """How far a choice is below the best, at worst, where one other key and "nothing more" compete."""
        turn = self.turn(3)
        return ErrorEstimate("scores below the best", turn.worst_gap(), {level: turn.quantile(level)}, attained=False)

    def reason(self) -> Reason:
        """It does not matter how many keys a unit has."""
        return Reason(
            "a choice costs the same however many keys a unit counts for; only the threshold grows, with the logarithm",
            "Durfee and Rogers, NeurIPS 2019; exact law in docs/theory/most_common.md",
        )

    def certificate(self) -> Certificate:
        """There is none.

        Raises:
            BadParameter: Always.
        """
        raise no_certificate()

"""Approximate privacy: the largest Σ_y max(0, p(y|x) − t·p(y|x')), found with doubles and settled with rationals.

For a pair the sum is the largest P(S|x) − t·P(S|x') over all sets S of outputs, the best S being all y with
p(y|x) > t·p(y|x'). Each S gives one line A − t·B in t, so the sum is convex, falling and piecewise linear in t, with
rational corners.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from hashlib import sha256

import numpy as np

from leastnoise.checker.entries import ChannelEntries, Floats, Indices, Mask, blocks
from leastnoise.checker.pairs import Factor, Pairs, TradeoffLine
from leastnoise.exact import Exact, ln

__all__ = ["RatioThreshold", "RatioThresholds", "lasting_excess", "least_epsilon", "one_of_a_kind"]

_LARGEST_FACTOR = 2.0**1000
_SMALLEST = 2.0**-1000  # below it a double may be far from the rational it stands for, relative to its size
_UNSURE = 2.0**-49
_FEW = 64  # pairs that are compared one by one, without a look for equal ones


class RatioThreshold:
    """The outputs with p(y|x) > t·p(y|x'), decided exactly for one factor t = e^(ε·length)."""

    def __init__(self, entries: ChannelEntries, length: Fraction, epsilon: Exact) -> None:
        self._entries = entries
        self._length = length
        self.factor = Factor(epsilon * length)
        self._known = np.empty(0, dtype=np.int64)
        self._answers = np.empty(0, dtype=bool)

    @property
    def nearest(self) -> float:
        """The factor to 52 bits, or infinity beyond 2^1000."""
        return float(self.factor.bounds.lower) if self.factor.bounds.upper < _LARGEST_FACTOR else np.inf

    def line(self, x: int, neighbour: int) -> TradeoffLine:
        """The line of a pair that is highest at t."""
        chosen = self._exceeding(x, neighbour)
        outputs = tuple(np.flatnonzero(chosen).tolist())
        probability, other = self._entries.total(x, chosen), self._entries.total(neighbour, chosen)
        return TradeoffLine(x, neighbour, self._length, outputs, probability, other)

    def _exceeding(self, x: int, neighbour: int) -> Mask:
        entries, t = self._entries, self.nearest
        left, right = entries.floats[x], entries.floats[neighbour]
        chosen, sure = np.zeros(len(left), dtype=bool), right > _SMALLEST
        if np.isinf(t):
            sure[:] = False
        else:
            right = t * right
            chosen = left > right
            sure &= np.abs(left - right) > _UNSURE * (left + right)
        chosen[entries.zeros[neighbour]] = True
        chosen[entries.zeros[x]] = False
        open_outputs = np.flatnonzero(~(sure | entries.zeros[x] | entries.zeros[neighbour]))
        if len(open_outputs):
            chosen[open_outputs] = self._decide(x, neighbour, open_outputs)
        return chosen

    def _decide(self, x: int, neighbour: int, outputs: Indices) -> Mask:
        """Exact decisions, each kept for all entries with the same two numbers."""
        entries = self._entries
        keys = entries.pair_keys(x, neighbour, outputs)
        fresh, first = np.unique(keys, return_index=True)
        is_new = ~np.isin(fresh, self._known, assume_unique=True)
        if is_new.any():
            answers = [
                self.factor.is_exceeded(entries.value(x, int(y)), entries.value(neighbour, int(y)))
                for y in outputs[first[is_new]]
            ]
            known = np.concatenate([self._known, fresh[is_new]])
            order = np.argsort(known)
            self._known, self._answers = known[order], np.concatenate([self._answers, np.array(answers)])[order]
        return self._answers[np.searchsorted(self._known, keys)]


class RatioThresholds:
    """One `RatioThreshold` at t = e^(ε·length) for each length of the pairs."""

    def __init__(self, entries: ChannelEntries, pairs: Pairs, epsilon: Exact) -> None:
        self._entries, self.pairs, self.epsilon = entries, pairs, epsilon
        self._of_length = {
            int(place): RatioThreshold(entries, pairs.lengths[place], epsilon) for place in np.unique(pairs.length_of)
        }

    def of(self, pair: int) -> RatioThreshold:
        """The threshold of a pair."""
        return self._of_length[int(self.pairs.length_of[pair])]

    def line(self, pair: int) -> TradeoffLine:
        """The line of a pair that is highest at its factor."""
        return self.of(pair).line(int(self.pairs.x[pair]), int(self.pairs.neighbour[pair]))

    @cached_property
    def sums(self) -> tuple[Floats, Floats]:
        """Bounds of the sum for each pair.

        A term a − t·b above zero has t·b < a, so its error is a few units in the last place of a; a term wrongly left
        out or in is no larger than that. As the a add up to one (or, for doubles, nearly so), all errors together,
        those of the addition included, stay below (outputs + 8)·2^-51.
        """
        entries, pairs = self._entries, self.pairs
        nearest = np.zeros(len(pairs.lengths))
        nearest[list(self._of_length)] = [threshold.nearest for threshold in self._of_length.values()]
        factors = nearest[pairs.length_of]
        beyond = np.isinf(factors)
        factors[beyond] = 0.0
        middle = np.empty(len(pairs))
        for block in blocks(len(pairs), entries.shape[1]):
            terms = entries.floats[pairs.neighbour[block]]
            terms *= factors[block, None]
            np.subtract(entries.floats[pairs.x[block]], terms, out=terms)
            middle[block] = np.maximum(terms, 0.0, out=terms).sum(axis=1)
        slack = (entries.shape[1] + 8) * 2.0**-51
        return np.where(beyond, 0.0, middle - slack), np.where(beyond, 2.0, middle + slack)

    def _tied(self) -> Indices:
        """The pairs that can have the largest sum."""
        low, high = self.sums
        return np.flatnonzero(high >= low.max(initial=0.0))

    def of_different_pairs(self) -> RatioThresholds:
        """The same for one pair of each kind, where many may have the largest sum; else as it is."""
        if len(self._tied()) <= _FEW:
            return self
        return RatioThresholds(self._entries, self.pairs.of(one_of_a_kind(self._entries, self.pairs)), self.epsilon)

    def worst_lines(self) -> list[TradeoffLine]:
        """For each length that can hold the largest sum, the highest line of its worst pair."""
        worst: dict[int, TradeoffLine] = {}
        for pair in _different(self._entries, self.pairs, self._tied()).tolist():
            place, line = int(self.pairs.length_of[pair]), self.line(pair)
            if place not in worst or line.is_above(worst[place], self.of(pair).factor):
                worst[place] = line
        return list(worst.values())


def one_of_a_kind(entries: ChannelEntries, pairs: Pairs) -> Indices:
    """One pair for each length and collection of (p(y|x), p(y|x')): the sum depends on nothing else."""
    outputs = np.arange(entries.shape[1])

    def collections() -> Iterator[tuple[int, bytes]]:
        for block in blocks(len(pairs), entries.shape[1]):
            keys = entries.pair_keys(pairs.x[block, None], pairs.neighbour[block, None], outputs)
            if entries.key_limit <= entries.shape[1]:
                keys = _counted(keys, entries.key_limit)
            else:
                keys.sort(axis=1)
            yield from zip(pairs.length_of[block].tolist(), (sha256(row).digest() for row in keys), strict=True)

    firsts: dict[tuple[int, bytes], int] = {}
    for place, kind in enumerate(collections()):
        firsts.setdefault(kind, place)
    return np.array(list(firsts.values()), dtype=np.int64)


def _counted(keys: Indices, limit: int) -> Indices:
    """How often each number below the limit occurs in each row."""
    rows = np.arange(len(keys), dtype=np.int64)[:, None] * limit
    counts: Indices = np.bincount((keys + rows).ravel(), minlength=len(keys) * limit)
    return counts.reshape(len(keys), limit)


def _different(entries: ChannelEntries, pairs: Pairs, places: Indices) -> Indices:
    """The places of the pairs that differ, where there are many to compare."""
    return places if len(places) <= _FEW else places[one_of_a_kind(entries, pairs.of(places))]


def lasting_excess(entries: ChannelEntries, pairs: Pairs) -> Fraction:
    """The largest sum for t beyond every finite ratio: the probability of outputs with p(y|x') = 0."""
    if not entries.zeros.any():
        return Fraction(0)
    masses = np.concatenate(
        [
            (entries.floats[pairs.x[block]] * entries.zeros[pairs.neighbour[block]]).sum(axis=1)
            for block in blocks(len(pairs), entries.shape[1])
        ]
    )
    slack = (entries.shape[1] + 8) * 2.0**-51
    candidates = np.flatnonzero(masses >= masses.max() - 2 * slack).tolist()
    pairs_left = [(int(pairs.x[pair]), int(pairs.neighbour[pair])) for pair in candidates]
    return max(entries.total(x, entries.zeros[neighbour]) for x, neighbour in pairs_left)


def least_epsilon(entries: ChannelEntries, pairs: Pairs, delta: Fraction) -> Exact | None:
    """The least ε ≥ 0 at which no pair's sum is above δ; None where no ε will do.

    Newton's method from the left. Each line lies below its convex sum, so a step never passes the answer; lines are
    finitely many, so it arrives, exactly. A pair whose sum has sunk to δ is settled: sums only fall.
    """
    surely_fine = float(delta) * (1 - 2.0**-50)
    epsilon: Exact = Fraction(0)
    while len(pairs):
        thresholds = RatioThresholds(entries, pairs, epsilon)
        low, high = thresholds.sums
        is_left = high > surely_fine
        tied = is_left & (high >= low.max())
        pairs_left = np.concatenate([_different(entries, pairs, np.flatnonzero(tied)), np.flatnonzero(is_left & ~tied)])
        highest_first = pairs_left[np.argsort(-low[pairs_left])]
        lines = (thresholds.line(pair) for pair in highest_first)
        above = next((line for line in lines if line.exceeds(delta, epsilon)), None)
        if above is None:
            break
        root = above.root(delta)
        if root is None:
            return None
        epsilon = ln(root) / above.length
        pairs = pairs.of(pairs_left)
    return epsilon

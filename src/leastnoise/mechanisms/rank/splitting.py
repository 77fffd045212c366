"""Recursive splitting (Kaplan, Schnapp and Stemmer, ICML 2022): several quantiles by a tree of single ones.

Find the middle quantile, split the records there, and go on with the lower quantiles on the records below it and the
upper ones on the rest. A record takes part in one quantile of each of ⌈log₂(k + 1)⌉ rounds. The recursion is their
Algorithm 1. Between the split points z ≤ z' of the levels q < q' a level p becomes the level (p − q)/(q' − q) of the
records in [z, z'), and its quantile is sought in [z, z'], so the answers never decrease.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from leastnoise.exact import Enclosure, Exact, Source
from leastnoise.mechanisms.rank.rank_law import RankLaw, RankRule, inwards
from leastnoise.mechanisms.rank.tally import PlaceCounts, Places

__all__ = ["Split", "Splitting"]


@dataclass(frozen=True)
class Split:
    """The level in place `middle`, sought between those in places `low` and `high`; its level among the records there.

    Place −1 stands for the lower end of the lattice, the place after the last level for the upper end.
    """

    low: int
    middle: int
    high: int
    level: Fraction


@dataclass(frozen=True)
class Splitting:
    """The law of all quantiles together, given the places of the records.

    Attributes:
        levels: Increasing.
        rate: Of the rank law at each split.
        last: The last place of the lattice.
        margin: How many records inside a minimum or maximum is sought.
    """

    levels: tuple[Fraction, ...]
    rate: Exact
    last: int
    margin: int = 0

    @property
    def rounds(self) -> int:
        """How many splits one record can take part in.

        >>> [Splitting((Fraction(1, 2),) * k, Fraction(1), 1).rounds for k in (1, 2, 3, 4, 7, 8)]
        [1, 2, 2, 3, 3, 4]
        """
        return len(self.levels).bit_length()

    def splits(self) -> list[Split]:
        """All splits, each after those that bound it."""
        borders = (*self.levels, Fraction(1), Fraction(0))  # the place −1 holds level zero
        found, pending = [], deque([(-1, len(self.levels))])
        while pending:
            low, high = pending.popleft()
            if high - low < 2:
                continue
            middle = (low + high) // 2
            level = (borders[middle] - borders[low]) / (borders[high] - borders[low])
            found.append(Split(low, middle, high, level))
            pending += [(low, middle), (middle, high)]
        return found

    def accumulated_error(self) -> Fraction:
        """The largest rank error of any level, where each split errs by at most one record.

        A level that lies at the share λ between its borders inherits (1 − λ) of the lower border's error and λ of the
        upper one's (docs/theory/several_quantiles.md).
        """
        errors = {-1: Fraction(0), len(self.levels): Fraction(0)}
        for split in self.splits():
            errors[split.middle] = 1 + (1 - split.level) * errors[split.low] + split.level * errors[split.high]
        return max(errors.values())

    def draw(self, records: PlaceCounts, source: Source | None) -> Places:
        """One place for each level."""
        found = {-1: 0, len(self.levels): self.last}
        for split in self.splits():
            first, last = found[split.low], found[split.high]
            drawn = self._law(split, last - first).draw(self._part(records, split, first, last), 1, source)
            found[split.middle] = first + int(drawn[0])
        return np.array([found[i] for i in range(len(self.levels))], dtype=np.int64)

    def pmf(self, targets: Sequence[range], records: PlaceCounts, bits: int = 64) -> Enclosure:
        """The probability that each level's place is among its targets; exact where e^rate is rational."""
        return self._mass(self.splits(), targets, {-1: 0, len(targets): self.last}, records, bits)

    def _part(self, records: PlaceCounts, split: Split, first: int, last: int) -> PlaceCounts:
        """The records between two split points, counted from the first; outermost parts have all that is beyond."""
        low = first if split.low >= 0 else None
        return records.between(low, last if split.high < len(self.levels) else None).moved(-first)

    def _mass(
        self, splits: Sequence[Split], targets: Sequence[range], found: dict[int, int], records: PlaceCounts, bits: int
    ) -> Enclosure:
        if not splits:
            return Enclosure(Fraction(1), Fraction(1))
        split, *later = splits
        first, last = found[split.low], found[split.high]
        part = self._part(records, split, first, last)
        lower = upper = Fraction(0)
        for place in targets[split.middle]:
            if first <= place <= last:
                here = self._law(split, last - first).pmf(place - first, part, bits)
                rest = self._mass(later, targets, {**found, split.middle: place}, records, bits)
                lower, upper = lower + here.lower * rest.lower, upper + here.upper * rest.upper
        return Enclosure(lower, upper)

    def _law(self, split: Split, last: int) -> RankLaw:
        inside = inwards(self.levels[split.middle], self.margin)
        return RankLaw(RankRule(split.level, exchange=False, margin=inside), self.rate, last)

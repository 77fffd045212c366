"""Quantiles by splitting: the middle one first, then those below it among the records below, and so on.

Kaplan, Schnapp and Stemmer, "Differentially private approximate quantiles" (ICML 2022), Algorithm 1. Between the
split points z ≤ z' of the levels q < q' a level p becomes the level (p − q)/(q' − q) of the records in [z, z'), and its
quantile is sought in [z, z'], so the answers never decrease.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import Exact
from leastnoise.exact.sources import Source
from leastnoise.mechanisms.rank.rank_law import Places, RankLaw, RankRule, order_within

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
    """The law of all quantiles together, given the places of the records, sorted.

    Attributes:
        levels: Increasing.
        rate: Of the rank law at each split.
        top: The last place of the lattice.
    """

    levels: tuple[Fraction, ...]
    rate: Exact
    top: int

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
        found, pending = [], [(-1, len(self.levels))]
        while pending:
            low, high = pending.pop(0)
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

    def draw(self, places: Places, source: Source | None) -> Places:
        """One place for each level."""
        found = {-1: 0, len(self.levels): self.top}
        cuts = {-1: 0, len(self.levels): len(places)}
        for split in self.splits():
            first, part = found[split.low], places[cuts[split.low] : cuts[split.high]]
            drawn = self._law(split, found[split.high] - first).draw(order_within(part - first), len(part), 1, source)
            found[split.middle] = first + int(drawn[0])
            cuts[split.middle] = cuts[split.low] + int(np.searchsorted(part, found[split.middle], side="left"))
        return np.array([found[i] for i in range(len(self.levels))], dtype=np.int64)

    def pmf(self, cells: Sequence[range], places: Places, bits: int = 64) -> Enclosure:
        """The probability that each level's place lies in its cell; exact where e^rate is rational."""
        return self._mass(self.splits(), cells, {-1: 0, len(cells): self.top}, places, bits)

    def _mass(
        self, splits: Sequence[Split], cells: Sequence[range], found: dict[int, int], places: Places, bits: int
    ) -> Enclosure:
        if not splits:
            return Enclosure(Fraction(1), Fraction(1))
        split, *later = splits
        first, last = found[split.low], found[split.high]
        inside = places >= first if split.low >= 0 else np.ones(len(places), dtype=np.bool_)
        part = places[inside & ((places < last) | (split.high == len(cells)))]
        lower = upper = Fraction(0)
        for place in cells[split.middle]:
            if first <= place <= last:
                here = self._law(split, last - first).pmf(place - first, part - first, bits)
                rest = self._mass(later, cells, {**found, split.middle: place}, places, bits)
                lower, upper = lower + here.lower * rest.lower, upper + here.upper * rest.upper
        return Enclosure(lower, upper)

    def _law(self, split: Split, top: int) -> RankLaw:
        return RankLaw(RankRule(split.level, exchange=False), self.rate, top)

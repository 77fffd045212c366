"""Exact sampling by inversion: reveal a uniform U bit by bit until it is clear between which thresholds it falls.

A law on the integers is a non-decreasing sequence of thresholds c₁ ≤ c₂ ≤ … in [0, 1]; the outcome is
first + #{j : cⱼ ≤ U}. A threshold is known by two integers lowⱼ ≤ cⱼ·2^b ≤ highⱼ, and U by its first b bits w, so
U ∈ [w, w+1)·2^-b: highⱼ ≤ w shows cⱼ ≤ U, and w < lowⱼ shows U < cⱼ. Where neither is shown, more bits are revealed
and the thresholds recomputed to match. The outcome is therefore that of the infinite U, whatever b was reached: the
law is exact. With a table over the first 16 bits nearly every sample is one look-up.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import NumberTooLarge
from leastnoise.exact.sources import Source

__all__ = ["InverseTable", "Law", "Thresholds", "is_below"]

_LARGEST_TABLE = 1 << 22


@dataclass(frozen=True)
class Thresholds:
    """Enclosures of all thresholds at b bits: low[j] ≤ cⱼ·2^b ≤ high[j], both non-decreasing.

    `endless` says that more thresholds lie beyond the first and the last (an infinite law): a U outside them is
    undecided until more bits bring the threshold that settles it.
    """

    first: int
    low: list[int]
    high: list[int]
    endless_below: bool = False
    endless_above: bool = False

    def decide(self, word: int) -> int | None:
        """The outcome for U in [word, word + 1)·2^-b, or None if it is not yet clear."""
        sure, possible = bisect_right(self.high, word), bisect_right(self.low, word)
        if sure != possible or (self.endless_below and sure == 0) or (self.endless_above and sure == len(self.high)):
            return None
        return self.first + sure


Law = Callable[[int], Thresholds]


class InverseTable:
    """A sampler for one law, ready to draw millions.

    Args:
        law: The thresholds at any number of bits.
        index_bits: How many bits index the table; 8 or 16.
        refine_bits: How many further bits settle nearly all of what the table leaves open; 8, 16 or 32.
    """

    def __init__(self, law: Law, index_bits: int = 16, refine_bits: int = 32) -> None:
        self._law, self._index_bits, self._refine_bits = law, index_bits, refine_bits
        thresholds = law(index_bits + refine_bits)
        if len(thresholds.low) > _LARGEST_TABLE:
            raise NumberTooLarge("a law has too many outcomes for one table", given=len(thresholds.low), fix="split it")
        self._low = np.array(thresholds.low, dtype=np.int64)
        self._high = np.array(thresholds.high, dtype=np.int64)
        self._first = thresholds.first
        # The sure range: an outcome outside it depends on thresholds not listed at this precision.
        self._least = thresholds.first + (1 if thresholds.endless_below else 0)
        self._most = thresholds.first + len(thresholds.low) - (1 if thresholds.endless_above else 0)
        outcome, sure = self._decide(np.arange(1 << index_bits, dtype=np.int64) << refine_bits, (1 << refine_bits) - 1)
        wide = max(abs(self._least), abs(self._most)) >= 1 << 15
        kind: type[np.signedinteger[Any]] = np.int64 if wide else np.int16
        self._open = np.iinfo(kind).min  # marks a cell that holds a threshold
        self._table = np.where(sure, outcome, self._open).astype(kind)

    def _decide(self, words: NDArray[np.int64], span: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Outcomes for U in [word, word + span + 1)·2^-b, and whether each is sure."""
        outcome = np.searchsorted(self._high, words, side="right") + self._first
        possible = np.searchsorted(self._low, words + span, side="right") + self._first
        return outcome, (outcome == possible) & (outcome >= self._least) & (outcome <= self._most)

    def draw(self, count: int, source: Source) -> NDArray[Any]:
        """`count` independent outcomes; int16 where they fit, else int64, else Python integers."""
        words = source.words(count, self._index_bits)
        drawn: NDArray[Any] = np.take(self._table, words, mode="wrap")
        unsettled = np.flatnonzero(drawn == self._open)
        if len(unsettled):
            prefixes = (words[unsettled].astype(np.int64) << self._refine_bits) | source.words(
                len(unsettled), self._refine_bits
            ).astype(np.int64)
            outcome, sure = self._decide(prefixes, 0)
            for position in np.flatnonzero(~sure):
                settled = self._settle(int(prefixes[position]), source)
                if not -(1 << 62) <= settled < 1 << 62:
                    raise NumberTooLarge(
                        "a drawn number does not fit into 64 bits; nothing was wrapped", fix="use a smaller scale"
                    )
                outcome[position] = settled
            if drawn.dtype != np.int64 and (np.abs(outcome) >= 1 << 15).any():
                drawn = drawn.astype(np.int64)
            drawn[unsettled] = outcome
        return drawn

    def _settle(self, prefix: int, source: Source) -> int:
        """Reveal bits of one U, after `prefix`, until its outcome is clear."""
        bits = self._index_bits + self._refine_bits
        while True:
            prefix = (prefix << self._refine_bits) | source.bits(self._refine_bits)
            bits += self._refine_bits
            outcome = self._law(bits).decide(prefix)
            if outcome is not None:
                return outcome


def is_below(prefix: int, bits: int, threshold: Callable[[int], tuple[int, int]], source: Source) -> bool:
    """Whether U < c for a U whose first `bits` bits are `prefix`; reveals more bits of it until that is clear.

    Args:
        prefix: The bits of U revealed so far.
        bits: How many they are.
        threshold: b ↦ (low, high) with low ≤ c·2^b ≤ high.
        source: Where further bits come from.
    """
    while True:
        low, high = threshold(bits)
        if prefix < low:  # U < (prefix + 1)·2^-b ≤ low·2^-b ≤ c
            return True
        if prefix >= high:
            return False
        prefix, bits = (prefix << 32) | source.bits(32), bits + 32

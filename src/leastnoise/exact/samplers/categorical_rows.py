"""Many laws with exact weights, such as the rows of a channel, drawn from at full speed and in any order.

The outcome of a row with whole weights w₀, w₁, … of sum S is the number of thresholds cⱼ = (w₀ + … + wⱼ)/S with
cⱼ ≤ U, for a uniform U in [0, 1): outcome k has probability exactly w_k/S. Of U one word of 64 bits is drawn, u, so
that U lies in [u, u + 1)·2^-64; of each threshold the word ⌊cⱼ·2^64⌋ is kept. A smaller word than u shows cⱼ ≤ U, a
larger one U < cⱼ. Only where the two words are equal is it open: then the whole numbers decide, with more bits of U if
need be.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact.sources import Source

__all__ = ["CategoricalRows"]

Indices = NDArray[np.int64]


class CategoricalRows:
    """P(k | row) = weights(row)[k] / Σ weights(row); what a row needs is computed at its first draw, and kept.

    Args:
        weights: The whole weights of a row: at least zero, and not all zero.
        word_bits: How many bits of U are drawn at once: 8, 16, 32 or 64.

    >>> rows = CategoricalRows([(0, 3, 0), (0, 0, 1)].__getitem__)
    >>> from leastnoise.exact.sources import system_source
    >>> rows.draw(np.array([1, 0, 1]), system_source).tolist()
    [2, 1, 2]
    """

    def __init__(self, weights: Callable[[int], Sequence[int]], word_bits: int = 64) -> None:
        self._weights, self._word_bits = weights, word_bits
        self._ready: dict[int, tuple[NDArray[Any], Indices]] = {}

    def draw(self, rows: Indices, source: Source) -> Indices:
        """One outcome for each row named, independent of each other."""
        words = source.words(len(rows), self._word_bits)
        drawn = np.empty(len(rows), dtype=np.int64)
        order = np.argsort(rows, kind="stable")
        runs = np.flatnonzero(np.diff(rows[order])) + 1  # where another row begins
        for places in np.split(order, runs) if len(rows) else ():
            drawn[places] = self._outcomes(int(rows[places[0]]), words[places], source)
        return drawn

    def draw_from(self, row: int, count: int, source: Source) -> Indices:
        """`count` independent outcomes of one row."""
        return self._outcomes(row, source.words(count, self._word_bits), source)

    def _outcomes(self, row: int, words: NDArray[Any], source: Source) -> Indices:
        if row not in self._ready:
            self._ready[row] = self._prepare(row)
        thresholds, outcomes = self._ready[row]
        passed = np.searchsorted(thresholds, words, side="right")
        if len(thresholds):
            is_open = (passed > 0) & (thresholds[passed - 1] == words)
            for place in np.flatnonzero(is_open).tolist():
                passed[place] = self._settle(row, int(words[place]), source)
        return outcomes[passed]

    def _prepare(self, row: int) -> tuple[NDArray[Any], Indices]:
        """The words of the thresholds strictly between 0 and 1, and the outcomes that can happen."""
        weights = self._weights(row)
        sums, outcomes = _positive(weights)
        words = [(reached << self._word_bits) // sums[-1] for reached in sums[:-1]]
        return np.array(words, dtype=f"<u{self._word_bits // 8}"), np.array(outcomes, dtype=np.int64)

    def _settle(self, row: int, prefix: int, source: Source) -> int:
        """How many thresholds are at most U, whose first bits are `prefix`: more are revealed until that is clear."""
        *sums, total = _positive(self._weights(row))[0]
        bits = self._word_bits
        while True:
            passed = bisect_right(sums, prefix * total >> bits)  # c ≤ prefix·2^-bits ≤ U
            possible = bisect_left(sums, -(-(prefix + 1) * total >> bits))  # c < (prefix + 1)·2^-bits
            if passed == possible:
                return passed
            prefix = (prefix << self._word_bits) | source.bits(self._word_bits)
            bits += self._word_bits


def _positive(weights: Sequence[int]) -> tuple[list[int], list[int]]:
    """The running sums of the positive weights, and their places."""
    places = [place for place, weight in enumerate(weights) if weight]
    return list(accumulate(weights[place] for place in places)), places

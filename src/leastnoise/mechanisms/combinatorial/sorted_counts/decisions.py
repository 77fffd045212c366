"""Choosing a state by weights of which only bounds are known, exactly: what the bounds leave open is asked again.

With thresholds c_j = Σ_{i<j} w_i / Σ w_i the outcome is #{j : c_j ≤ U}. From bounds of the weights,
A/(A + B) with A = Σ_{i<j} w_i smallest and B = Σ_{i≥j} w_i largest is a lower bound of c_j, and the other way round an
upper one. U is revealed by its first 53 bits, and by more as long as the outcome is not clear.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact.balls import Ball, scaled_bounds
from leastnoise.exact.floats import UNIT
from leastnoise.exact.inversion import Thresholds
from leastnoise.exact.sources import Source
from leastnoise.mechanisms.combinatorial.sorted_counts.numbers import Bounds, at_precision

__all__ = ["Law", "decide_by_doubles", "settle", "words_of"]

Law = Callable[[int], tuple[int, Bounds] | None]

_WORD_BITS = 53
_MORE_BITS = 64
_LEAST = 2.0**-900


def words_of(source: Source, count: int) -> NDArray[np.float64]:
    """The first 53 bits of `count` independent U, as whole numbers."""
    return (source.words(count, 64) >> np.uint64(11)).astype(np.float64)


def decide_by_doubles(weights: Bounds, words: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """For each row of weights the index that its U chooses, and whether that is sure."""
    # Products of tiny numbers may have lost digits: as a lower bound they count as nothing, as an upper one as _LEAST.
    low, high = np.where(weights[0] < _LEAST, 0.0, weights[0]), np.maximum(weights[1], _LEAST)
    slack = 4 * (low.shape[-1] + 4) * UNIT  # sums of as many terms, a product before and a quotient after
    least, most = _quotient(low, high) * (1 - slack), _quotient(high, low) * (1 + slack)
    sure = (most * 2.0**_WORD_BITS <= words[:, None]).sum(axis=1)
    possible = (least * 2.0**_WORD_BITS < words[:, None] + 1.0).sum(axis=1)
    return sure, sure == possible


def settle(word: int, law: Law, source: Source, *, endless: bool) -> int:
    """The state that a U with the first 53 bits of `word` chooses.

    Args:
        word: What is known of U.
        law: From a level 1, 2, … the first state and bounds of the weights as balls, ever finer; None where that level
            knows nothing.
        source: Where further bits come from.
        endless: Whether the first and the last weight stand for all states beyond, so that a later level must tell.
    """
    level, bits = 0, _WORD_BITS
    while True:
        level, bits, word = level + 1, bits + _MORE_BITS, (word << _MORE_BITS) | source.bits(_MORE_BITS)
        thresholds = at_precision(partial(_thresholds, law, level, bits, endless), bits + _MORE_BITS)
        outcome = None if thresholds is None else thresholds.decide(word)
        if outcome is not None:
            return outcome


def _quotient(before: NDArray[np.float64], behind: NDArray[np.float64]) -> NDArray[np.float64]:
    """A/(A + B) at every place between two states; 0 where A is."""
    sums = np.cumsum(before, axis=-1)[:, :-1]
    rest = np.cumsum(behind[:, ::-1], axis=-1)[:, -2::-1]
    quotients: NDArray[np.float64] = np.divide(sums, sums + rest, out=np.zeros_like(sums), where=sums > 0)
    return quotients


def _thresholds(law: Law, level: int, bits: int, endless: bool) -> Thresholds | None:
    known = law(level)
    if known is None:
        return None
    first, (low, high) = known
    least = [scaled_bounds(share, bits)[0] for share in _shares(list(low), list(high))]
    most = [scaled_bounds(share, bits)[1] for share in _shares(list(high), list(low))]
    # The true thresholds are in order, so that a bound of one is a bound of its neighbours too.
    return Thresholds(
        first, list(accumulate(least, max)), list(accumulate(reversed(most), min))[::-1], endless, endless
    )


def _shares(before: list[Ball], behind: list[Ball]) -> list[Ball]:
    sums = list(accumulate(before))[:-1]
    rests = list(accumulate(reversed(behind)))[-2::-1]
    return [a if a == 0 else a / (a + b) for a, b in zip(sums, rests, strict=True)]

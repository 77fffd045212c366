"""Where the turns are in pieces of 2^j steps whose ends are known: halve until single steps are left.

Given both ends, pieces are independent of each other. So all pieces of one length are decided at once. Written as if
every piece went right, the shift falls from `start` to `stop`, and is between them in the middle.

A state is chosen exactly by weights of which only bounds are known: what the bounds leave open is asked again. With
thresholds c_j = Σ_{i<j} w_i / Σ w_i the outcome is #{j : c_j ≤ U}. From bounds of the weights, A/(A + B) with A =
Σ_{i<j} w_i smallest and B = Σ_{i≥j} w_i largest is a lower bound of c_j, and the other way round an upper one. U is
revealed by its first 53 bits, and by more as long as the outcome is not clear.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact import UNIT, Ball, Source, Thresholds, scaled_bounds
from leastnoise.mechanisms.combinatorial.sorted_counts.diagram import Integers
from leastnoise.mechanisms.combinatorial.sorted_counts.numbers import Bounds, at_precision
from leastnoise.mechanisms.combinatorial.sorted_counts.shift_chain import ShiftChain

__all__ = ["Law", "Piece", "decide_by_doubles", "settle", "turns_of", "words_of"]

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


_LARGEST_TABLE = 1 << 22


class Piece(NamedTuple):
    """A piece of a run that has turns: the number of its first step, and the shift at its two ends."""

    step: int
    start: int
    stop: int


def turns_of(pieces: Mapping[int, Sequence[Piece]], chain: Callable[[int], ShiftChain], source: Source) -> Integers:
    """The numbers of all turned steps, increasing.

    Args:
        pieces: By j, those of 2^j steps.
        chain: The matrices of each level: doubles at 0, then ever finer balls.
        source: Where the bits come from.
    """
    current = np.empty((0, 3), dtype=np.int64)
    for exponent in reversed(range(max(pieces, default=-1) + 1)):
        current = np.concatenate([current, np.array(pieces.get(exponent, []), dtype=np.int64).reshape(-1, 3)])
        if exponent:
            block = max(_LARGEST_TABLE // (2 * chain(0).width + 3), 1)
            blocks = [current[first : first + block] for first in range(0, len(current), block)]
            middles = [_middles(part, exponent - 1, chain, source) for part in blocks]
            middle = np.concatenate([*middles, np.empty(0, dtype=np.int64)]).astype(np.int64)
            later = current[:, 0] + (1 << (exponent - 1))
            halves = np.concatenate(
                [
                    np.column_stack([current[:, 0], current[:, 1], middle]),
                    np.column_stack([later, middle, current[:, 2]]),
                ]
            )
            current = halves[halves[:, 1] != halves[:, 2]]
    return np.sort(current[:, 0])


def _middles(pieces: Integers, half: int, chain: Callable[[int], ShiftChain], source: Source) -> Integers:
    """The shift in the middle of each piece, of which either half has 2^half steps."""
    doubles = chain(0)
    origin = doubles.width + 1
    states = np.arange(2 * origin + 1)
    starts, stops = (np.clip(pieces[:, end] + origin, 0, states[-1]) for end in (1, 2))
    between = (states >= stops[:, None]) & (states <= starts[:, None])
    low, high = (matrix[starts] * matrix.T[stops] * between for matrix in doubles.power(half))
    words = words_of(source, len(pieces))
    chosen, sure = decide_by_doubles((low, high), words)
    sure &= (pieces[:, 1] <= doubles.width) & (pieces[:, 2] >= -doubles.width)
    for i in np.flatnonzero(~sure):
        chosen[i] = origin + _settle_middle(pieces[i].tolist(), half, int(words[i]), chain, source)
    return chosen - origin


def _settle_middle(
    piece: Sequence[int], half: int, word: int, chain: Callable[[int], ShiftChain], source: Source
) -> int:
    _, start, stop = piece

    def law(level: int) -> tuple[int, Bounds] | None:
        finer = chain(level)
        if max(start, -stop) > finer.width:
            return None
        origin = finer.width + 1
        inside = slice(stop + origin, start + origin + 1)
        low, high = (matrix[start + origin, inside] * matrix[inside, stop + origin] for matrix in finer.power(half))
        return stop, (low, high)

    return settle(word, law, source, endless=False)

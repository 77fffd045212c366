"""Where the turns are in pieces of 2^j steps whose ends are known: halve until single steps are left.

Given both ends, pieces are independent of each other. So all pieces of one length are decided at once. Written as if
every piece went right, the shift falls from `start` to `stop`, and is between them in the middle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from leastnoise.exact.sources import Source
from leastnoise.mechanisms.combinatorial.sorted_counts.decisions import decide_by_doubles, settle, words_of
from leastnoise.mechanisms.combinatorial.sorted_counts.diagram import Integers
from leastnoise.mechanisms.combinatorial.sorted_counts.numbers import Bounds
from leastnoise.mechanisms.combinatorial.sorted_counts.shift_chain import ShiftChain

__all__ = ["Piece", "turns_of"]

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

"""The order of Algorithm 5, exactly and in arrays: a vertex with probability ∝ live degree + s/√l, again and again.

A trial picks, by a coin, an end of an edge or a vertex from lists that may hold dead ones; it counts if what it picked
is alive. With M listed edges and V listed vertices the coin says "edge" with probability 2M/(2M + V·s/√l): then each
live vertex has a chance ∝ live degree + s/√l, whatever is dead. The lists are cleared when half of them is dead.

Trials are made in blocks. What a trial does depends on earlier ones through the number l of vertices left and through
what they removed. Guess that, compute all trials of the block, correct the guess, and repeat until nothing changes: as
each trial depends on earlier ones only, at least one more trial is right in each round, and what repeats itself is what
trial by trial would have given.

Coins with an irrational chance are exact: U < f√l/(f√l + 1) ⟺ U² < f²l·(1 − U)², U revealed bit by bit. Doubles decide
unless U is within 2^-49 or so of the chance; then whole numbers do.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact import UNIT, Source, permutation, uniform_integer

__all__ = ["Progress", "Uniforms", "noisy_order", "root_coins"]

_WORD_BITS = 53
_MORE_BITS = 64
_SLACK = 16 * UNIT  # the roundings of a root, two products, a sum and a quotient


class Uniforms:
    """Numbers U between 0 and 1, known by their first 53 bits and, once asked for, by more: the same at every look."""

    def __init__(self, count: int, source: Source) -> None:
        self.words = (source.words(count, 64) >> np.uint64(11)).astype(np.float64)
        self._source = source
        self._longer: dict[int, tuple[int, int]] = {}

    def prefix(self, place: int, bits: int) -> int:
        """The first `bits` bits of one of them, 53 or more."""
        prefix, known = self._longer.get(place, (int(self.words[place]), _WORD_BITS))
        if known < bits:
            prefix, known = (prefix << (bits - known)) | self._source.bits(bits - known), bits
            self._longer[place] = prefix, known
        return prefix >> (known - bits)


def root_coins(factor: Fraction, numbers: NDArray[np.int64], uniforms: Uniforms) -> NDArray[np.bool_]:
    """For each l of `numbers` whether its U is below f√l/(f√l + 1), f = `factor`.

    A second look at the same U with another l is a look at the same number.
    """
    root = float(factor) * np.sqrt(np.maximum(numbers, 0).astype(np.float64))
    chance = root / (root + 1.0) * 2.0**_WORD_BITS
    heads: NDArray[np.bool_] = uniforms.words + 1.0 <= chance * (1 - _SLACK)
    for place in np.flatnonzero(~heads & (uniforms.words < chance * (1 + _SLACK))):
        heads[place] = _settle(factor**2 * max(int(numbers[place]), 0), uniforms, int(place))
    return heads


def _settle(square: Fraction, uniforms: Uniforms, place: int) -> bool:
    """Whether U² < square·(1 − U)², from both ends of what is known of U."""
    bits = _WORD_BITS
    while True:
        word, one = uniforms.prefix(place, bits), 1 << bits
        if (word + 1) ** 2 * square.denominator <= square.numerator * (one - word - 1) ** 2:
            return True
        if word**2 * square.denominator >= square.numerator * (one - word) ** 2:
            return False
        bits += _MORE_BITS


Integers = NDArray[np.int64]
Progress = Callable[[float], object]

_SMALLEST_BLOCK = 256
_SHARE = 16  # a block makes as many trials as a sixteenth of the vertices that are left


def noisy_order(
    nodes: int, tails: Integers, heads: Integers, noise: Fraction, source: Source, report: Progress | None = None
) -> Integers:
    """The nodes in the order in which they are chosen.

    Args:
        nodes: How many; they are 0, …, nodes − 1.
        tails: One end of each edge.
        heads: The other.
        noise: s.
        source: Where the bits come from.
        report: Called after each block with the share of the nodes that are done.
    """
    alive, removed_at = np.ones(nodes, dtype=np.bool_), np.full(nodes, np.iinfo(np.int64).max)
    listed, ends, order = np.arange(nodes), np.stack([tails, heads]), np.empty(nodes, dtype=np.int64)
    done = 0
    while done < nodes:
        if nodes - done <= max(len(listed) // 2, _SMALLEST_BLOCK):
            listed = listed[alive[listed]]
        if not ends.shape[1]:  # without edges all orders of the rest are alike
            order[done:] = listed[alive[listed]][permutation(nodes - done, source=source)]
            break
        chosen, share = _block(alive, removed_at, listed, ends, nodes - done, noise, source)
        order[done : done + len(chosen)] = chosen
        alive[chosen] = False
        done += len(chosen)
        if share < 0.5 or nodes - done <= _SMALLEST_BLOCK:
            ends = ends[:, alive[ends[0]] & alive[ends[1]]]
        if report is not None:
            report(done / nodes)
    return order


def _block(
    alive: NDArray[np.bool_],
    removed_at: Integers,
    listed: Integers,
    ends: Integers,
    left: int,
    noise: Fraction,
    source: Source,
) -> tuple[Integers, float]:
    """The vertices that a block of trials removes, in order, and the share of the picked edges that were alive."""
    trials = max(left // _SHARE, min(left + 8, _SMALLEST_BLOCK))
    uniforms = Uniforms(trials, source)
    picked = uniform_integer(2 * ends.shape[1], trials, source)
    near, far = ends[picked & 1, picked >> 1], ends[1 - (picked & 1), picked >> 1]
    single = listed[uniform_integer(len(listed), trials, source)]
    edge_alive, single_alive = alive[near] & alive[far], alive[single]
    factor = Fraction(2 * ends.shape[1]) / (len(listed) * noise)
    places, counts = np.arange(trials), np.zeros(trials, dtype=np.bool_)
    while True:
        earlier: Integers = np.cumsum(counts) - counts
        edge = root_coins(factor, left - earlier, uniforms)
        vertex, other = np.where(edge, near, single), np.where(edge, far, single)
        # Of several trials that remove a vertex the first is written last and stays.
        removed_at[vertex[counts][::-1]] = places[counts][::-1]
        first = (removed_at[vertex] >= places) & (removed_at[other] >= places)
        removed_at[vertex[counts]] = np.iinfo(np.int64).max
        again = np.where(edge, edge_alive, single_alive) & first
        if (again == counts).all():
            return vertex[counts], float(edge_alive.mean())
        counts = again

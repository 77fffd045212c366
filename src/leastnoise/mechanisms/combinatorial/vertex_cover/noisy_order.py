"""The order of Algorithm 5, exactly and in arrays: a vertex with probability ∝ live degree + s/√l, again and again.

A trial picks, by a coin, an end of an edge or a vertex from lists that may hold dead ones; it counts if what it picked
is alive. With M listed edges and V listed vertices the coin says "edge" with probability 2M/(2M + V·s/√l): then each
live vertex has a chance ∝ live degree + s/√l, whatever is dead. The lists are cleared when half of them is dead.

Trials are made in blocks. What a trial does depends on earlier ones through the number l of vertices left and through
what they removed. Guess that, compute all trials of the block, correct the guess, and repeat until nothing changes: as
each trial depends on earlier ones only, at least one more trial is right in each round, and what repeats itself is what
trial by trial would have given.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact.samplers.uniform import permutation, uniform_integer
from leastnoise.exact.sources import Source
from leastnoise.mechanisms.combinatorial.vertex_cover.root_coins import Uniforms, root_coins

__all__ = ["Progress", "noisy_order"]

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

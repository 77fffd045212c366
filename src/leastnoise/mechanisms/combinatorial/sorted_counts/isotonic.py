"""Isotonic regression of whole numbers, exactly: the nearest decreasing list, by pooling adjacent violators.

A pool is known by its sum and its length, both whole, and two pools are compared by cross-multiplication. Neighbours
whose means do not decrease lie in one pool of the solution (Robertson, Wright and Dykstra 1988, section 1.2), so all
such chains are pooled at once, round by round; the few pools that are left then go through the classical stack.
"""

from __future__ import annotations

import numpy as np

from leastnoise.errors import NumberTooLarge
from leastnoise.mechanisms.combinatorial.sorted_counts.diagram import Integers

__all__ = ["decreasing_pools", "nearest_counts"]

_WORTH_A_ROUND = 0.95  # rounds go on while they shorten the list by a twentieth
_LARGEST = 2.0**61  # products of a sum and a length stay within 64 bits


def decreasing_pools(numbers: Integers) -> tuple[Integers, Integers]:
    """Sums and lengths of the pools of the least-squares fit by a non-increasing list.

    >>> [part.tolist() for part in decreasing_pools(np.array([5, 7, 3, 3, 4, 1]))]
    [[12, 10, 1], [2, 3, 1]]
    """
    sums, lengths = numbers.astype(np.int64), np.ones(len(numbers), dtype=np.int64)
    if float(np.abs(sums).sum(dtype=np.float64)) * len(numbers) >= _LARGEST:
        raise NumberTooLarge("counts times their number leave 64 bits", fix="release fewer counts")
    while len(sums) > 1:
        starts = np.flatnonzero(np.append(True, sums[:-1] * lengths[1:] > sums[1:] * lengths[:-1]))
        short = len(starts) > _WORTH_A_ROUND * len(sums)
        sums, lengths = np.add.reduceat(sums, starts), np.add.reduceat(lengths, starts)
        if short:
            break
    return _by_stack(sums, lengths)


def nearest_counts(numbers: Integers) -> Integers:
    """The pools' means, rounded to the nearest whole number (halves down) and to at least zero, one for each entry.

    >>> nearest_counts(np.array([5, 7, 3, 3, 4, -1])).tolist()
    [6, 6, 3, 3, 3, 0]
    """
    sums, lengths = decreasing_pools(numbers)
    means = np.maximum(-((lengths - 2 * sums) // (2 * lengths)), 0)
    return np.repeat(means, lengths)


def _by_stack(sums: Integers, lengths: Integers) -> tuple[Integers, Integers]:
    pools: list[tuple[int, int]] = []
    for pool_sum, length in zip(sums.tolist(), lengths.tolist(), strict=True):
        while pools and pools[-1][0] * length <= pool_sum * pools[-1][1]:
            earlier = pools.pop()
            pool_sum, length = pool_sum + earlier[0], length + earlier[1]
        pools.append((pool_sum, length))
    table = np.array(pools, dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]

"""Isotonic regression of whole numbers, exactly: the nearest decreasing list, by pooling adjacent violators.

A pool is known by its sum and its length, both whole, and two pools are compared by cross-multiplication. Neighbours
whose means do not decrease lie in one pool of the solution (Robertson, Wright and Dykstra 1988, section 1.2), so all
such chains are pooled at once, round by round; the few pools that are left then go through the classical stack. Where
products of sums and lengths could leave 64 bits, all goes through the stack, in Python's integers.
"""

from __future__ import annotations

import numpy as np

from leastnoise.mechanisms.combinatorial.sorted_counts.diagram import Integers

__all__ = ["decreasing_pools", "nearest_counts"]

_WORTH_A_ROUND = 0.95  # rounds go on while they shorten the list by a twentieth
_LARGEST = 2.0**60  # products of a sum and a length, taken twice, stay within 64 bits


def decreasing_pools(numbers: Integers) -> tuple[Integers, Integers]:
    """Sums and lengths of the pools of the least-squares fit by a non-increasing list.

    >>> [part.tolist() for part in decreasing_pools(np.array([5, 7, 3, 3, 4, 1]))]
    [[12, 10, 1], [2, 3, 1]]
    """
    lengths = np.ones(len(numbers), dtype=np.int64)
    if numbers.dtype == object or float(np.abs(numbers.astype(np.float64)).sum()) * len(numbers) >= _LARGEST:
        return _by_stack(numbers, lengths)
    sums = numbers.astype(np.int64)
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
    return _integers([pool[0] for pool in pools]), np.array([pool[1] for pool in pools], dtype=np.int64)


def _integers(numbers: list[int]) -> Integers:
    """64 bits wide where no product of two of them with a small number could leave them, else Python's own."""
    wide = max(map(abs, numbers), default=0) >= _LARGEST
    return np.array(numbers, dtype=object if wide else np.int64)

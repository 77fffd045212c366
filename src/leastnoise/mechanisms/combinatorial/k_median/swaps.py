"""The cost of every set of facilities that is one swap away, in O(points²) and not O(k·points²).

With d₁ and d₂ the distances of a point to its nearest and second nearest facility, and y a new one, its distance after
the swap is min(d(y), d₂) if its nearest facility goes, and min(d(y), d₁) otherwise. So two sums for each facility's
customers give the costs of all k·(n − k) swaps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leastnoise.mechanisms.combinatorial.k_median.metric import PublicMetric

__all__ = ["cost_of", "swap_costs"]

_DIGIT_BITS = 20
_DIGIT = (1 << _DIGIT_BITS) - 1


def cost_of(metric: PublicMetric, counts: NDArray[np.int64], facilities: NDArray[np.int64]) -> int:
    """Σ count·(distance to the nearest facility), in steps."""
    return int(counts @ metric.columns(facilities).min(axis=1).astype(np.int64))


def swap_costs(metric: PublicMetric, counts: NDArray[np.int64], facilities: NDArray[np.int64]) -> NDArray[np.int64]:
    """cost(F − F[f] + y) in row f and column y, in steps; columns of facilities have no meaning.

    Counts are taken in digits of 20 bits: a sum of one digit's distances stays below 2^53 for at most 2^16 points, so
    doubles hold it exactly. The sums of all digits stay below 2^61.

    >>> from leastnoise.mechanisms.combinatorial.k_median.metric import read_metric
    >>> line = read_metric(points=[[0.0], [1.0], [4.0]], resolution=4)
    >>> swap_costs(line, np.array([1, 1, 2]), np.array([0]))[:, 1:].tolist()
    [[7, 7]]
    """
    near = metric.columns(facilities)
    everyone = np.arange(metric.count)
    nearest = near.argmin(axis=1)
    first = near[everyone, nearest]
    near[everyone, nearest] = metric.resolution
    second = near.min(axis=1)
    staying, losing = np.zeros((2, len(facilities), metric.count), dtype=np.int64)
    digits = range(0, int(counts.max(initial=0)).bit_length(), _DIGIT_BITS)
    for block, distances in metric.rounded():
        for facility in range(len(facilities)):
            rows = np.flatnonzero((nearest[block] == facility) & (counts[block] > 0))
            if len(rows):
                weights, some = counts[block][rows], distances[rows]
                stay = np.minimum(some, first[block][rows, np.newaxis]).astype(np.float64)
                lose = np.minimum(some, second[block][rows, np.newaxis]).astype(np.float64)
                for shift in digits:
                    digit = (weights >> shift & _DIGIT).astype(np.float64)
                    staying[facility] += (digit @ stay).astype(np.int64) << shift
                    losing[facility] += (digit @ lose).astype(np.int64) << shift
    costs: NDArray[np.int64] = staying.sum(axis=0) - staying + losing
    return costs

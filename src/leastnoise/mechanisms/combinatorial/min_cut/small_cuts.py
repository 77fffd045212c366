"""All cuts of at most a given weight, by branch and bound on the kernel of a graph.

Nodes that no such cut separates become one (see `connectivity`). Then the nodes are put on one side or the other, one
after the other, all partial cuts at once. With S and T the two sides so far, no completion weighs less than
w(S, T) + Σ_u min(w(u, S), w(u, T)) over the nodes u to come; what this puts above the limit is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leastnoise.mechanisms.combinatorial.min_cut.connectivity import Matrix, contract, kernel, scan_order

__all__ = ["SmallCuts", "small_cuts"]

_MOST_CELLS = 1 << 22  # partial cuts times nodes to come: 32 megabytes of integers


@dataclass(frozen=True, eq=False)
class SmallCuts:
    """All cuts of at most some weight: which kernel nodes are on the side without node 0, and how much is cut.

    Attributes:
        labels: The kernel node of each node.
        sides: A row of truth values per cut, a column per kernel node.
        weights: The weight of each cut.
    """

    labels: NDArray[np.int64]
    sides: NDArray[np.bool_]
    weights: NDArray[np.int64]

    def side(self, place: int) -> NDArray[np.bool_]:
        """One cut, as a truth value for each node; node 0 has False."""
        chosen: NDArray[np.bool_] = self.sides[place][self.labels]
        other: NDArray[np.bool_] = chosen != chosen[0]
        return other


def small_cuts(matrix: Matrix, limit: int, most_cells: int = _MOST_CELLS) -> SmallCuts | None:
    """All cuts of weight at most `limit`, or None if there are more partial cuts at a time than fit.

    >>> triangle = np.array([[0, 3, 1], [3, 0, 1], [1, 1, 0]])
    >>> found = small_cuts(triangle, 4)
    >>> sorted((int(weight), found.side(i).tolist()) for i, weight in enumerate(found.weights))
    [(2, [False, False, True]), (4, [False, True, False]), (4, [False, True, True])]
    """
    labels = kernel(matrix, limit)
    joined = contract(matrix, labels)
    count = len(joined)
    if count > 1 << 15 or count * count > most_cells:
        return None
    order = scan_order(joined)
    joined = joined[np.ix_(order, order)]
    sides = np.zeros((1, 1), dtype=np.bool_)  # the first node is on side T
    weights = np.zeros(1, dtype=np.int64)
    to_chosen = np.zeros((1, count - 1), dtype=np.int64)  # w(u, S) for the nodes u to come, a row per partial cut
    to_placed = joined[0, 1:].copy()  # w(u, S) + w(u, T)
    for node in range(1, count):
        here, row = to_chosen[:, 0], joined[node, node + 1 :]
        bounds = [weights + here, weights + to_placed[0] - here]
        to_placed = to_placed[1:] + row
        kept = []
        for choice, weight in enumerate(bounds):
            towards = to_chosen[:, 1:] + row if choice else to_chosen[:, 1:]
            alive = np.flatnonzero(weight + np.minimum(towards, to_placed - towards).sum(axis=1) <= limit)
            grown = np.column_stack([sides[alive], np.full(len(alive), bool(choice))])
            kept.append((grown, weight[alive], towards[alive]))
        sides, weights, to_chosen = (np.concatenate(parts) for parts in zip(*kept, strict=True))
        if len(weights) * count > most_cells:
            return None
    proper = sides.any(axis=1)
    placed = np.empty((int(proper.sum()), count), dtype=np.bool_)
    placed[:, order] = sides[proper]
    return SmallCuts(labels, placed, weights[proper])

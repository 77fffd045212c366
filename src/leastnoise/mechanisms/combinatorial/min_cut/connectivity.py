"""Minimum cuts and certified connectivity of a weighted graph, by maximum adjacency orderings.

Scan the nodes one by one, always the one with the largest total weight towards those scanned before it. When u is
scanned and v is not yet, and u and v share an edge, then no cut between u and v weighs less than what v has towards the
scanned nodes, u among them (Nagamochi and Ibaraki, SIAM J. Discrete Math. 5, 1992, Lemma 3.1). One ordering takes
O(n²) on a matrix and certifies many pairs at once; pairs whose every cut is too heavy to matter become one node.
Weights are integers, so nothing is rounded. The entries of a matrix add up to less than `LARGEST_SUM`, so that no sum
here leaves 64 bits: mechanisms see to it by clamping each weight to a public bound.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST_SUM", "Matrix", "contract", "kernel", "lighter_cut", "minimum_cut", "scan_order"]

Matrix = NDArray[np.int64]

LARGEST_SUM = 1 << 61
_SCANNED = -(1 << 62)  # far below zero, whatever is added to it afterwards


def minimum_cut(matrix: Matrix) -> int:
    """The least weight of a cut of a symmetric matrix of weights with zeros on the diagonal.

    >>> minimum_cut(np.array([[0, 3, 1], [3, 0, 1], [1, 1, 0]]))
    2
    """
    return lighter_cut(matrix, 0, int(matrix[0].sum()) + 1)[0]


def lighter_cut(matrix: Matrix, at_least: int, at_most: int) -> tuple[int, int]:
    """The minimum cut and how many nodes are on one side of it; or `at_most` and 0 if no cut is lighter than that.

    Args:
        matrix: The weights.
        at_least: A weight that no cut is below; the search ends when a cut of this weight is found.
        at_most: A weight that the minimum cut does not exceed. The nearer it is, the sooner the search ends.

    Contracts what no cut lighter than the best so far separates, until nothing is left to separate. Every node of a
    contracted graph is a cut. The last two nodes of an ordering are always contracted, since the last one's degree is
    not below the best: each round takes away a node at least.

    >>> lighter_cut(np.array([[0, 3, 1], [3, 0, 1], [1, 1, 0]]), 0, 3)
    (2, 1)
    """
    best, size = at_most, 0
    members = np.ones(len(matrix), dtype=np.int64)
    while len(matrix) > 1 and best > at_least:
        degrees = matrix.sum(axis=1)
        lightest = int(degrees.argmin())
        if degrees[lightest] < best:
            best, size = int(degrees[lightest]), int(members[lightest])
        groups = _connected_pairs(matrix, best)
        matrix, members = contract(matrix, groups), np.bincount(groups, weights=members).astype(np.int64)
    return best, size


def kernel(matrix: Matrix, weight: int) -> NDArray[np.int64]:
    """A label 0, 1, … for each node, the same for nodes that only cuts heavier than `weight` separate.

    All cuts of at most `weight` are cuts of the contracted graph. Nodes with different labels may be connected as well:
    what an ordering does not certify is left apart.

    >>> kernel(np.array([[0, 3, 1], [3, 0, 1], [1, 1, 0]]), 2).tolist()
    [0, 0, 1]
    """
    labels = np.arange(len(matrix))
    while len(matrix) > 1:
        groups = _connected_pairs(matrix, weight + 1)
        if groups.max() == len(matrix) - 1:
            break
        matrix, labels = contract(matrix, groups), groups[labels]
    return labels


def contract(matrix: Matrix, groups: NDArray[np.int64]) -> Matrix:
    """The matrix of weights between groups of nodes, labelled 0, 1, and so on."""
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(groups.max() + 1))
    joined: Matrix = np.add.reduceat(np.add.reduceat(matrix[np.ix_(order, order)], starts, axis=0), starts, axis=1)
    np.fill_diagonal(joined, 0)
    return joined


def scan_order(matrix: Matrix) -> list[int]:
    """A maximum adjacency ordering, from the node of largest degree."""
    order = [int(matrix.sum(axis=1).argmax())]
    reached = np.zeros(len(matrix), dtype=np.int64)
    for _ in range(len(matrix) - 1):
        reached += matrix[order[-1]]
        reached[order[-1]] = _SCANNED
        order.append(int(reached.argmax()))
    return order


def _connected_pairs(matrix: Matrix, least: int) -> NDArray[np.int64]:
    """Labels of groups of nodes that no cut below `least` separates, from one ordering."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    scanned, certified = [], []
    reached = np.zeros(len(matrix), dtype=np.int64)  # the weight of each node towards the scanned ones
    node = 0
    for _ in range(len(matrix) - 1):
        reached += matrix[node]
        reached[node] = _SCANNED
        near = np.flatnonzero(reached >= least)
        near = near[matrix[node, near] > 0]
        scanned.append(np.full(len(near), node))
        certified.append(near)
        node = int(reached.argmax())
    pairs = np.concatenate(scanned), np.concatenate(certified)
    links = coo_array((np.ones(len(pairs[0]), dtype=np.int8), pairs), shape=matrix.shape)
    labels: NDArray[np.int64] = connected_components(links, directed=False)[1].astype(np.int64)
    return labels

"""Random contractions: proposals for the cuts that are too many to be listed, and when to accept them.

With c the minimum cut, a graph that is contracted to k nodes has total weight E_k ≥ k·c/2. Let a cut of weight W
belong to class K = ⌈2W/c⌉, at least 2 and at most n. A trial for class K contracts random edges, each with probability
weight/E_k, until K nodes are left, and takes one of their 2^(K−1) − 1 cuts at random. A cut survives a path of
contractions with probability Π_{k>K} (1 − W/E_k), so it is accepted with probability
    e^(−rate·(W − level))·(2^(K−1) − 1)·Π_{k>K} E_k/(E_k − W),
which is at most one for the `level` of its class (see `class_levels`). Summed over all paths, every cut of the class is
then returned with probability e^(−rate·(W − level)), exactly. Docs: docs/theory/min_cut.md.

Minimum cuts and certified connectivity come from maximum adjacency orderings. Scan the nodes one by one, always the one
with the largest total weight towards those scanned before it. When u is scanned and v is not yet, and u and v share an
edge, then no cut between u and v weighs less than what v has towards the scanned nodes, u among them (Nagamochi and
Ibaraki, SIAM J. Discrete Math. 5, 1992, Lemma 3.1). One ordering takes O(n²) on a matrix and certifies many pairs at
once; pairs whose every cut is too heavy to matter become one node. Weights are integers, so nothing is rounded. The
entries of a matrix add up to less than `LARGEST_SUM`, so that no sum here leaves 64 bits: mechanisms see to it by
clamping each weight to a public bound.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, floor, prod

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact import (
    UNIT,
    Ball,
    Exact,
    ScaledBounds,
    Source,
    ball_of,
    below,
    coins_between,
    evaluate,
    exp_bounds,
    of_fraction,
    scaled_bounds,
    uniform_integer,
)

__all__ = [
    "LARGEST_SUM",
    "Contractions",
    "Matrix",
    "acceptance",
    "class_levels",
    "class_of",
    "contract",
    "kernel",
    "lighter_cut",
    "minimum_cut",
    "scan_order",
]

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


_LARGEST = 10**300
_PER_FACTOR, _BESIDE = 6, 16  # roundings of a factor E/(E − W) and of all else, with room to spare
_OF_EXPONENT = 4


def class_of(weight: int, least_cut: int, nodes: int) -> int:
    """K = ⌈2W/c⌉, between 2 and n; n if the minimum cut weighs nothing.

    >>> class_of(10, 10, 9), class_of(11, 10, 9), class_of(1000, 10, 9)
    (2, 3, 9)
    """
    return nodes if least_cut == 0 else min(max(-(-2 * weight // least_cut), 2), nodes)


def class_levels(nodes: int, least_cut: int, least_weight: int, rate: Exact) -> dict[int, int]:
    """For each class with cuts of at least `least_weight`, a level with e^(−rate·level) ≥ its largest f(W).

    f(W) = e^(−rate·W)·(2^(K−1) − 1)·Π_{k>K} k·c/(k·c − 2W) is log-convex, so it is largest at an end of the class. At
    W = K·c/2 the product is C(n, K), and at W = (K − 1)·c/2 it is C(n, K)/(n − K + 1).

    >>> class_levels(3, 10, 10, Fraction(1))
    {2: 8, 3: 8}
    """
    levels = {}
    for size in range(class_of(least_weight, least_cut, nodes), nodes + 1):
        cuts = 2 ** (size - 1) - 1
        low = Fraction(least_cut * (size - 1), 2)
        if size == nodes:
            ends = [(max(low, Fraction(least_weight)), Fraction(cuts))]
        else:
            ways = comb(nodes, size)
            ends = [
                (low, Fraction(cuts * ways, nodes - size + 1)),
                (Fraction(least_cut * size, 2), Fraction(cuts * ways)),
            ]
            if least_weight > low:
                double = 2 * least_weight
                rising = prod((k * least_cut for k in range(size + 1, nodes + 1)), start=cuts)
                falling = prod(k * least_cut - double for k in range(size + 1, nodes + 1))
                ends[0] = (Fraction(least_weight), Fraction(rising, falling))
        levels[size] = min(_level(weight, factor, rate) for weight, factor in ends)
    return levels


def _level(weight: Fraction, factor: Fraction, rate: Exact) -> int:
    """An integer at most W − ln(factor)/rate."""
    return floor(below(evaluate(lambda: of_fraction(weight) - of_fraction(factor).log() / ball_of(rate), 128)))


def acceptance(
    weight: int, size: int, level: int, totals: NDArray[np.int64], rate: Exact
) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ScaledBounds]:
    """The chance of accepting a cut: between two doubles, and exactly.

    A total, its difference from the weight, their quotient and the product carry a rounding each; the exponent carries
    three, and e^x what `exp_bounds` allows.
    """
    cuts = 2 ** (size - 1) - 1
    low, high = np.zeros(1), np.ones(1)
    gap = float(rate) * (weight - level)
    with np.errstate(over="ignore"):
        factor = float(np.prod(totals / (totals - weight))) * float(min(cuts, _LARGEST))
    if factor < _LARGEST and gap >= 0:
        doubt, spread = (_PER_FACTOR * len(totals) + _BESIDE) * UNIT, _OF_EXPONENT * UNIT
        least, most = exp_bounds(np.array([-gap * (1 + spread)]), np.array([-gap * (1 - spread)]))
        low, high = least * (factor * (1 - doubt)), np.minimum(most * (factor * (1 + doubt)), 1.0)

    def chance() -> Ball:
        falling = prod(total - weight for total in totals.tolist())
        factor = of_fraction(Fraction(prod(totals.tolist(), start=cuts), falling))
        return ball_of(rate * (level - weight)).exp() * factor

    return (low, high), lambda bits: scaled_bounds(evaluate(chance, bits + 64), bits)


class Contractions:
    """Trials on one graph.

    Args:
        matrix: The weights.
        least_cut: The weight of its minimum cut.
        least_weight: Lighter cuts are never returned.
        rate: Above zero.
    """

    def __init__(self, matrix: Matrix, least_cut: int, least_weight: int, rate: Exact) -> None:
        self._matrix, self._least_cut, self._least_weight, self._rate = matrix, least_cut, least_weight, rate
        self._pairs = np.stack(np.triu_indices(len(matrix), 1))
        self._total = int(matrix.sum()) // 2

    def trial(self, size: int, level: int, source: Source) -> NDArray[np.bool_] | None:
        """A cut of class `size` as a truth value for each node, False for node 0; or None if it was rejected."""
        parts, merges = self._contract(size, source)
        chosen = 1 + int(uniform_integer(2 ** (size - 1) - 1, source=source))
        side = np.zeros(len(self._matrix), dtype=np.bool_)
        for place, part in enumerate(parts[1:]):
            side[part] = chosen >> place & 1
        weight = int(self._matrix[side][:, ~side].sum())
        if weight < self._least_weight or class_of(weight, self._least_cut, len(side)) != size:
            return None
        totals = self._totals([node for part in parts for node in part], merges)
        bounds, exact = acceptance(weight, size, level, totals, self._rate)
        accepted = bool(coins_between(bounds, lambda _: exact, source)[0])
        return side ^ side[0] if accepted else None

    def _contract(self, size: int, source: Source) -> tuple[list[list[int]], list[tuple[int, int, int]]]:
        """Contract edges drawn by weight until `size` nodes are left: their members, and the merges in order.

        Edges are drawn in rounds, from those between two parts at the beginning of the round. An edge that has come to
        lie inside a part is skipped, which changes no chance of the others. The first edge of a round never is, so
        there are less rounds than nodes, whatever the weights are. A merge is the first member of the first part and
        the sizes of both, which are next to each other when the members of all parts are written down.
        """
        count = len(self._matrix)
        parts: dict[int, list[int]] = {node: [node] for node in range(count)}
        home = np.arange(count)
        merges = []
        pairs = self._pairs
        while len(parts) > size:
            pairs = pairs[:, home[pairs[0]] != home[pairs[1]]]
            sums = np.cumsum(self._matrix[pairs[0], pairs[1]])
            drawn = np.searchsorted(sums, uniform_integer(int(sums[-1]), len(parts), source), side="right")
            for tail, head in pairs[:, drawn].T.tolist():
                one, other = int(home[tail]), int(home[head])
                if one == other or len(parts) == size:
                    continue
                if len(parts[one]) < len(parts[other]):
                    one, other = other, one
                merges.append((parts[one][0], len(parts[one]), len(parts[other])))
                home[parts[other]] = one
                parts[one] += parts.pop(other)
        return list(parts.values()), merges

    def _totals(self, order: list[int], merges: list[tuple[int, int, int]]) -> NDArray[np.int64]:
        """E_n, E_(n−1), …: the total weight before each merge, from sums over rectangles of the reordered matrix."""
        if not merges:
            return np.zeros(0, dtype=np.int64)
        sums = np.zeros((len(order) + 1, len(order) + 1), dtype=np.int64)
        sums[1:, 1:] = self._matrix[np.ix_(order, order)].cumsum(axis=0).cumsum(axis=1)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        first, width, more = np.array(merges).T
        start = place[first]
        middle, end = start + width, start + width + more
        lost = sums[middle, end] - sums[start, end] - sums[middle, middle] + sums[start, middle]
        return self._total - np.concatenate([[0], np.cumsum(lost)[:-1]])

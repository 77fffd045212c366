"""P(C) ∝ e^(−rate·W(C)) over all 2^(n−1) − 1 cuts of a graph, sampled exactly without listing them all.

All cuts up to some weight are listed, each a candidate of its own. The heavier cuts are covered by one candidate per
class of `contraction`, whose weight e^(−rate·level) is at least that of the cuts it can return. Draw a candidate; a
listed cut is returned, a class gets one trial, and a rejected trial starts all over. How many cuts are listed changes
the time and not the law. Trials fail where the minimum cut is light. So after every 25 of them `random_cluster` is
tried once, which fails where it is heavy. Whatever ends first has the same law: failed trials tell nothing about it.

They are listed by branch and bound on the kernel of a graph. Nodes that no such cut separates become one. Then the
nodes are put on one side or the other, one after the other, all partial cuts at once. With S and T the two sides so
far, no completion weighs less than w(S, T) + Σ_u min(w(u, S), w(u, T)) over the nodes u to come; what this puts above
the limit is dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact import Exact, Source, categorical_exp, categorical_exp_cdf, system_source
from leastnoise.mechanisms.combinatorial.min_cut.contraction import (
    Contractions,
    Matrix,
    class_levels,
    contract,
    kernel,
    minimum_cut,
    scan_order,
)
from leastnoise.mechanisms.combinatorial.min_cut.random_cluster import RandomCluster

__all__ = ["CutLaw", "Progress", "all_cut_weights", "small_cuts"]

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


Progress = Callable[[str, int], None]

_ENOUGH = 4.0  # trials per draw that are not worth a longer list
_FARTHEST = 24  # half multiples of ln(n)/rate above the minimum cut
_HALVINGS = 6
_MOST_TRIALS = 25
_LARGEST_EXPONENT = 600.0
_SHARE_BITS = 256
_ZERO = Fraction(0)


def all_cut_weights(matrix: Matrix) -> NDArray[Any]:
    """The weights of all cuts: entry b is the cut with node i + 1 on the other side than node 0 if bit i of b is set.

    Entry 0 is no cut. Doubles the list for each node: putting v to a set adds its degree less twice what it has there.

    >>> all_cut_weights(np.array([[0, 3, 1], [3, 0, 1], [1, 1, 0]])).tolist()
    [0, 4, 2, 4]
    """
    light = matrix.sum() < 1 << 30  # then half the memory will do
    table: NDArray[Any] = matrix.astype(np.int32 if light else np.int64)
    degrees = table.sum(axis=1, dtype=table.dtype)
    weights = np.zeros(1, dtype=table.dtype)
    for node in range(1, len(table)):
        inside = np.zeros(1, dtype=table.dtype)
        for other in range(1, node):
            inside = np.concatenate([inside, inside + table[node, other]])
        inside *= -2
        inside += weights
        inside += degrees[node]
        weights = np.concatenate([weights, inside])
    return weights


class CutLaw:
    """The law on the cuts of one graph, ready to be drawn from.

    Args:
        matrix: Symmetric integers that sum to less than `LARGEST_SUM`, zeros on the diagonal.
        rate: Above zero.
        limit: The weight up to which cuts are listed; found by itself if left out.
        least_cut: The weight of the minimum cut, where it is known.
        progress: Told what goes on, and how often it has been done.
    """

    def __init__(
        self,
        matrix: Matrix,
        rate: Exact,
        *,
        limit: int | None = None,
        least_cut: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._matrix, self._rate, self._tell = matrix, rate, progress or _silent
        self.least_cut = minimum_cut(matrix) if least_cut is None else least_cut
        limits = self._good_limits() if limit is None else [limit]
        self._listed, self._least_weight = None, self.least_cut
        for attempt, most in enumerate(limits):
            self._tell("listing light cuts", attempt)
            self._listed = small_cuts(matrix, most)
            if self._listed is not None:
                self._least_weight = max(most + 1, self.least_cut)
                break
        self._levels = class_levels(len(matrix), self.least_cut, self._least_weight, rate)

    def draw(self, source: Source | None = None, negligible: Fraction = _ZERO) -> NDArray[np.bool_]:
        """A cut, as a truth value for each node; node 0 has False.

        Args:
            source: Where the bits come from.
            negligible: Cuts that are not listed are left out if they surely have this probability together at most.
        """
        bits, attempts, listed = source or system_source, 0, self._listed
        left_out = bool(negligible) and self.unlisted_share <= negligible
        exponents = self._exponents[: self._count] if left_out else self._exponents
        while True:
            for _ in range(_MOST_TRIALS):
                self._tell("drawing a cut", attempts)
                chosen = int(categorical_exp(exponents, source=bits, rate=self._rate))
                if listed is not None and chosen < self._count:
                    return listed.side(chosen)
                size = list(self._levels)[chosen - self._count]
                side = self._contractions.trial(size, self._levels[size], bits)
                if side is not None:
                    return side
                attempts += 1
            self._tell("coupling from the past", attempts)
            side = self._clusters.attempt(bits, self._tell)
            if side is not None:
                return side

    @cached_property
    def unlisted_share(self) -> Fraction:
        """Not less than the probability of all cuts that are not listed."""
        if not self._count:
            return Fraction(1)
        return 1 - categorical_exp_cdf(self._count - 1, self._exponents, bits=_SHARE_BITS, rate=self._rate).lower

    @property
    def _count(self) -> int:
        return 0 if self._listed is None else len(self._listed.weights)

    @cached_property
    def _exponents(self) -> NDArray[np.int64]:
        """−W of each listed cut, then −level of each class."""
        listed = np.zeros(0, dtype=np.int64) if self._listed is None else self._listed.weights
        return -np.concatenate([listed, np.array(list(self._levels.values()), dtype=np.int64)])

    @cached_property
    def _contractions(self) -> Contractions:
        return Contractions(self._matrix, self.least_cut, self._least_weight, self._rate)

    @cached_property
    def _clusters(self) -> RandomCluster:
        return RandomCluster(self._matrix, self._rate)

    def _good_limits(self) -> list[int]:
        """Limits to try: the least one that leaves few trials even if only one cut is listed, then ever lower ones."""
        unit = log(len(self._matrix)) / (2 * float(self._rate))
        reach = next(
            (j for j in range(_FARTHEST) if self._trials(self.least_cut + int(j * unit)) <= _ENOUGH), _FARTHEST
        )
        return [self.least_cut + int(reach * unit / 2**halving) for halving in range(_HALVINGS)]

    def _trials(self, limit: int) -> float:
        """What the classes above a limit weigh, for each unit of the minimum cut: trials per draw, at most."""
        levels = class_levels(len(self._matrix), self.least_cut, limit + 1, self._rate).values()
        return sum(exp(min(float(self._rate) * (self.least_cut - level), _LARGEST_EXPONENT)) for level in levels)


def _silent(_what: str, _times: int) -> None:
    """For those who do not want to know."""

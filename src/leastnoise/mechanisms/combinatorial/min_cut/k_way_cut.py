"""The exponential mechanism over all divisions of the nodes of a small graph into k parts: P(C) ∝ e^(−ε·W(C)/Δ).

W(C) is the weight of all pairs whose nodes are in different parts. A heavier pair makes every division heavier or
leaves it as it is, by Δ at most: the scores are one-sided, so that this is ε-private, just as for two parts.

All divisions are weighed, with the same steps for every graph. On larger graphs colours could be drawn from the Potts
model perfectly, by coupling from the past. But nearly all of its mass may be on divisions with fewer parts: drawing
again until there are k of them would take for ever, at a time that depends on the graph.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import TooLarge
from leastnoise.exact import Enclosure, Exact, NumberLike, Source, categorical_exp, read_epsilon, read_integer
from leastnoise.mechanisms.choice.selection import exponential_quantile, exponential_regret
from leastnoise.mechanisms.combinatorial.graph_input import Nodes
from leastnoise.mechanisms.combinatorial.min_cut.contraction import LARGEST_SUM, Matrix
from leastnoise.mechanisms.combinatorial.min_cut.cut_law import Progress
from leastnoise.mechanisms.combinatorial.min_cut.cut_mechanism import (
    CutMechanism,
    EdgeWeights,
    exponential_chances,
    read_cut_nodes,
    read_weights,
)
from leastnoise.model import LEVEL, BoundedRange, ErrorEstimate, PrivacyCertificate, Reason

__all__ = ["KWayCut"]

_MOST_NODES = 64
_MOST_DIVISIONS = 1 << 22
_SMALL = 4  # nodes of a certificate


@dataclass(frozen=True, init=False)
class KWayCut(CutMechanism):
    """A division of a small graph into k parts with few edges between them: a frozen set of k frozen sets of nodes.

    Args:
        epsilon: The privacy of one release.
        nodes: The public nodes: labels, or how many. There may be 4,194,304 divisions: 15 nodes in three parts, 13 in
            four.
        parts: How many parts, two or more, none of them empty.
        weights: How weighted edges are read; left out, an edge is there or not.

    >>> three = [(0, 1), (2, 3), (4, 5)]
    >>> sorted(map(sorted, KWayCut(60, 6, 3).release(three)))
    [[0, 1], [2, 3], [4, 5]]
    """

    name: ClassVar[str] = "exponential mechanism over all divisions"
    epsilon: Exact
    nodes: Sequence[Hashable]
    parts: int
    weights: EdgeWeights | None

    def __init__(
        self, epsilon: NumberLike, nodes: Nodes, parts: NumberLike, weights: EdgeWeights | None = None
    ) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(epsilon))
        object.__setattr__(self, "nodes", read_cut_nodes(nodes, _MOST_NODES, "join nodes to public groups first"))
        object.__setattr__(self, "parts", read_integer(parts, "parts", at_least=2, at_most=len(self.nodes)))
        object.__setattr__(self, "weights", read_weights(weights))
        if self.count > _MOST_DIVISIONS:
            raise TooLarge(
                f"there may be at most {_MOST_DIVISIONS} divisions of the nodes",
                given=self.count,
                fix="join nodes to public groups first, or divide into fewer parts",
            )
        self.require_room()

    @property
    def count(self) -> int:
        """How many divisions there are: a Stirling number of the second kind."""
        row = [1] + [0] * self.parts
        for _ in self.nodes:
            row = [0, *(row[k - 1] + k * row[k] for k in range(1, self.parts + 1))]
        return row[self.parts]

    @property
    def room(self) -> int:
        """How many steps a pair may weigh so that no sum leaves 64 bits."""
        return LARGEST_SUM // len(self.nodes) ** 2

    @property
    def rate(self) -> Exact:
        """ε for each sensitivity, in steps."""
        return self.epsilon / self.sensitivity

    @property
    def rates(self) -> tuple[Exact, ...]:
        """The one rate."""
        return (self.rate,)

    @property
    def event(self) -> BoundedRange:
        """epsilon, of bounded range."""
        return BoundedRange(self.epsilon)

    def sides(self, matrix: Matrix, count: int, source: Source, progress: Progress | None) -> list[NDArray[Any]]:
        """All divisions are weighed, then some are chosen; each as the number of a part for each node."""
        if progress is not None:
            progress("weighing all divisions", 0)
        exponents = -self._weights_in(matrix)
        if count == 1:
            places = np.array([categorical_exp(exponents, source=source, rate=self.rate)])
        else:
            places = categorical_exp(exponents, size=count, source=source, rate=self.rate)
        return list(self._divisions[places])

    def chances(self, matrix: Matrix, bits: int) -> list[Enclosure]:
        """P(division) for each of them; exact where e^epsilon is rational."""
        return exponential_chances(self._weights_in(matrix), self.rate, bits)

    def divisions(self) -> Iterator[NDArray[Any]]:
        """All divisions."""
        return iter(self._divisions)

    def named(self, side: NDArray[Any]) -> frozenset[Hashable]:
        """The parts, as sets of nodes."""
        together: dict[int, set[Hashable]] = {}
        for node, part in zip(self.nodes, side.tolist(), strict=True):
            together.setdefault(part, set()).add(node)
        return frozenset(map(frozenset, together.values()))

    def listed(self, cut: Any) -> tuple[Any, ...]:
        """The parts in the order of the nodes."""
        ordered = [tuple(sorted(part, key=self.nodes.index)) for part in cut]
        return tuple(sorted(ordered, key=lambda part: self.nodes.index(part[0])))

    def division_of(self, cut: Any) -> NDArray[Any]:
        """The number of a part for each node."""
        parts = list(cut)
        return np.array([next((i for i, part in enumerate(parts) if node in part), -1) for node in self.nodes])

    def separates(self, cut: Any, one: Hashable, other: Hashable) -> bool:
        """Whether two nodes are in different parts."""
        return not any(one in part and other in part for part in cut)

    @property
    def pairs_apart(self) -> int:
        """Of two divisions all pairs of nodes may be apart in one and not in the other."""
        return len(self.nodes) * (len(self.nodes) - 1) // 2

    def error(self) -> ErrorEstimate:
        """How much heavier than the lightest division, at most: W(M/e)·Δ/ε for M others, expected, and the rounding."""
        odds, rate = Fraction(self.count - 1), self.rate
        return self.extra_weight(exponential_regret(odds, rate).upper, exponential_quantile(odds, rate, LEVEL))

    def reason(self) -> Reason:
        """One-sided scores cost ε and not 2ε."""
        return Reason(
            "an edge moves the weights of all divisions the same way, so that the exponential mechanism with the whole "
            "of epsilon is private; it is sampled exactly",
            "Tóthmérész 2013, Algorithm 1, for k parts; docs/theory/min_cut.md",
        )

    def certificate(self) -> PrivacyCertificate:
        """The same law on all graphs with at most four nodes, in fewer parts than nodes.

        Raises:
            BadParameter: e^epsilon is irrational.
        """
        count = min(len(self.nodes), _SMALL)
        return KWayCut(self.epsilon, count, min(self.parts, max(count - 1, 2))).certify()

    def _weights_in(self, matrix: Matrix) -> NDArray[np.int64]:
        """What each division weighs; every pair of nodes is looked at, also where there is no edge."""
        weights = np.zeros(self.count, dtype=np.int64)
        for head in range(1, len(self.nodes)):
            for tail in range(head):
                weights += (self._divisions[:, tail] != self._divisions[:, head]) * matrix[tail, head]
        return weights

    @cached_property
    def _divisions(self) -> NDArray[np.int8]:
        """A row for each division: the part of each node; parts are numbered as they first come."""
        rows, used = np.zeros((1, 1), dtype=np.int8), np.ones(1, dtype=np.int8)
        for node in range(1, len(self.nodes)):
            grown, counts = [], []
            for part in range(self.parts):
                after = np.maximum(used, part + 1)
                fits = np.flatnonzero((part <= used) & (after + len(self.nodes) - 1 - node >= self.parts))
                grown.append(np.column_stack([rows[fits], np.full(len(fits), part, dtype=np.int8)]))
                counts.append(after[fits])
            rows, used = np.concatenate(grown), np.concatenate(counts)
        return rows

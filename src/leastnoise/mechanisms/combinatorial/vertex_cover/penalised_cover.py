"""A set of nodes that nearly covers all edges: the exponential mechanism over all sets, for small graphs.

score(X) = −|X| − c·#{edges that X leaves uncovered} (Tóthmérész 2013, section 3.2). A further edge lowers some scores
by c and raises none, so P(X) ∝ e^(ε·score/c) is ε-private, not only 2ε-private. With c > 1 the best sets are the
smallest covers.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import TooLarge
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Scores,
    Size,
    Source,
    at_chances,
    categorical_exp,
    read_epsilon,
    read_rational,
    shape_of,
)
from leastnoise.mechanisms.choice.selection import exponential_quantile, exponential_regret
from leastnoise.mechanisms.combinatorial.graph_input import GraphLike, Nodes, read_graph, read_nodes
from leastnoise.mechanisms.combinatorial.vertex_cover.noisy_order import Integers
from leastnoise.mechanisms.rank.quantile import certify
from leastnoise.model import LEVEL, BoundedRange, Certificate, ErrorEstimate, Mechanism, Reason
from leastnoise.model.graphs import from_edges

__all__ = ["PenalisedCover"]

_MOST_NODES = 20  # all sets are weighed
_LONGEST_PRICE = 10**6


@dataclass(frozen=True, init=False)
class PenalisedCover(Mechanism):
    """A set of nodes that is small and leaves few edges uncovered. The truth is the graph, of at most 20 nodes.

    Args:
        epsilon: The privacy of one release, where a neighbour has one edge more or less.
        nodes: The public nodes: labels, or how many.
        price: What an uncovered edge costs, c, when a node of the set costs one.

    >>> cover = PenalisedCover("ln(2)", 3)
    >>> [str(cover.pmf(chosen, [(0, 1), (0, 2)]).lower) for chosen in [(0,), (), (1, 2), (0, 1, 2)]]
    ['4/17', '2/17', '2/17', '1/17']
    """

    name: ClassVar[str] = "exponential mechanism over sets of nodes"
    epsilon: Exact
    nodes: Sequence[Hashable]
    price: Fraction

    def __init__(self, epsilon: NumberLike, nodes: Nodes, price: NumberLike = 1) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(epsilon))
        object.__setattr__(self, "nodes", read_nodes(nodes))
        object.__setattr__(self, "price", read_rational(price, "price", above=0, at_most=_LONGEST_PRICE))
        if len(self.nodes) > _MOST_NODES:
            raise TooLarge(
                f"sets of more than {_MOST_NODES} nodes are too many to weigh",
                given=f"{len(self.nodes)} nodes",
                fix="release an order of the nodes: VertexCoverOrder",
            )
        if self.price.denominator > _LONGEST_PRICE:
            raise TooLarge("price must have at most six digits", given=self.price, fix="round it")

    @property
    def event(self) -> BoundedRange:
        """epsilon, of bounded range: one exponential mechanism with scores that move one way."""
        return BoundedRange(self.epsilon)

    def draw(self, truth: GraphLike, size: Size = None, source: Source | None = None) -> Any:
        """The chosen nodes in their public order; with `size` a list of such sets."""
        places = categorical_exp(self._exponents(truth), None, prod(shape_of(size)), source, rate=self._rate)
        sets = [self._set(place) for place in places.tolist()]
        return sets[0] if size is None else sets

    def pmf(self, output: Hashable, truth: GraphLike, bits: int = 64) -> Enclosure:
        """P(output | truth); exact where e^(epsilon/price) is rational."""
        chosen = list(output) if isinstance(output, tuple | list | frozenset | set) else [None]
        if len(set(chosen)) != len(chosen) or not set(chosen) <= set(self.nodes):
            return Enclosure(Fraction(0), Fraction(0))
        place = sum(1 << bit for bit, node in enumerate(self.nodes) if node in set(chosen))
        scores = Scores(self._exponents(truth), "scores")
        return at_chances(scores, self._rate, lambda weights, _: weights[place] / sum(weights), bits)

    def error(self) -> ErrorEstimate:
        """How much more than the best set the chosen one costs, at most, over all graphs: |X| + price·uncovered."""
        odds = Fraction(2 ** len(self.nodes) - 1)
        expected = exponential_regret(odds, self.epsilon / self.price)
        quantile = exponential_quantile(odds, self.epsilon / self.price, LEVEL)
        return ErrorEstimate("cost", expected, {LEVEL: quantile}, attained=False)

    def reason(self) -> Reason:
        """A set that need not cover everything can be private."""
        return Reason(
            "an edge more only lowers scores, so that the whole of epsilon may weigh them; a set that always covers "
            "all edges would have at least n − 1 nodes",
            "Tóthmérész 2013, section 3.2 and Proposition 3.5; McSherry and Talwar, FOCS 2007",
        )

    def certificate(self) -> Certificate:
        """The law on all graphs of at most three of the nodes, as an exact channel.

        Raises:
            BadParameter: e^(epsilon/price) is irrational.
        """
        small = PenalisedCover(self.epsilon, min(len(self.nodes), 3), self.price)
        count = len(small.nodes)
        pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
        graphs = [tuple(pair for bit, pair in enumerate(pairs) if code >> bit & 1) for code in range(1 << len(pairs))]
        neighbours = [
            (graphs[code & ~(1 << bit)], graphs[code])
            for code in range(len(graphs))
            for bit in range(len(pairs))
            if code >> bit & 1
        ]
        rows = [[small.pmf(small._set(place), graph) for place in range(1 << count)] for graph in graphs]
        return certify(self.name, from_edges(neighbours, graphs), self.epsilon, rows)

    @property
    def _rate(self) -> Exact:
        """Per unit of the exponents, which are scores times the price's denominator."""
        return self.epsilon / self.price.numerator

    def _exponents(self, truth: GraphLike) -> Integers:
        edges = read_graph(truth, self.nodes)
        sets = np.arange(1 << len(self.nodes), dtype=np.int64)
        uncovered = np.zeros(len(sets), dtype=np.int64)
        for tail, head in zip(edges.tails.tolist(), edges.heads.tolist(), strict=True):
            uncovered += (sets & ((1 << tail) | (1 << head))) == 0
        size = np.bitwise_count(sets).astype(np.int64)
        return -(self.price.denominator * size + self.price.numerator * uncovered)

    def _set(self, place: int) -> tuple[Hashable, ...]:
        return tuple(node for bit, node in enumerate(self.nodes) if place >> bit & 1)

"""A vertex cover by noisy degrees: the nodes in the order of their degrees with geometric noise, the largest first.

An edge more or less changes two degrees by one each, so that geometric noise of ε/2 on every degree is ε-private, and
so is the order. In the order every edge is covered by whichever of its ends comes first, as in `VertexCoverOrder`.
There is no worst-case factor: on a star with n leaves and noise of scale n the centre may come late. On the graphs that
people have, where some nodes have many edges, the cover is smaller than by Algorithm 5 of Tóthmérész 2013, whose noise
must serve every step.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from statistics import fmean
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    SeededSource,
    Size,
    Source,
    permutation,
    require_secure,
    shape_of,
    system_source,
)
from leastnoise.mechanisms.combinatorial.graph_input import GraphLike, Nodes, read_graph
from leastnoise.mechanisms.combinatorial.vertex_cover.cover_order import VertexCoverOrder, decode
from leastnoise.mechanisms.combinatorial.vertex_cover.noisy_order import Progress
from leastnoise.mechanisms.lower_bounds import vertex_cover_bound
from leastnoise.mechanisms.numeric import VectorLaplace
from leastnoise.model import Certificate, Composed, ErrorEstimate, LaplaceNoise, Mechanism, Reason

__all__ = ["CoverPlan", "DegreeOrder", "plan_vertex_cover"]

_EDGES_EACH = 3  # of a node in the example
_SIMULATED = 10**6  # nodes, in as many draws as that gives, but one at least
_MOST_DRAWS = 20


@dataclass(frozen=True, init=False)
class DegreeOrder(Mechanism):
    """An order of the public nodes that encodes a vertex cover. The truth is the graph.

    Args:
        epsilon: The privacy of one release, where a neighbour has one edge more or less.
        nodes: The public nodes: labels, or how many.

    >>> star = [("a", leaf) for leaf in "bcdefghij"]
    >>> DegreeOrder(epsilon=9, nodes="abcdefghij").release(star)[0]
    'a'
    """

    name: ClassVar[str] = "order by noisy degrees"
    epsilon: Exact
    nodes: Sequence[Hashable]

    def __init__(self, epsilon: NumberLike, nodes: Nodes) -> None:
        read = VertexCoverOrder(epsilon, nodes)
        object.__setattr__(self, "epsilon", read.epsilon)
        object.__setattr__(self, "nodes", read.nodes)

    @property
    def event(self) -> Composed:
        """Two geometric numbers of ε/2: an edge has two ends."""
        return Composed((LaplaceNoise(self.epsilon / 2),) * 2)

    @property
    def noise(self) -> VectorLaplace:
        """What is added to the degrees."""
        return VectorLaplace(self.epsilon, len(self.nodes), 2)

    def release(self, truth: GraphLike, source: Source | None = None, progress: Progress | None = None) -> Any:
        """One order, with unpredictable noise only."""
        return self.draw(truth, source=require_secure(source), progress=progress)

    def draw(
        self, truth: GraphLike, size: Size = None, source: Source | None = None, progress: Progress | None = None
    ) -> Any:
        """An order of the nodes: an array if they are only counted, else a list of labels; with `size` a list."""
        degrees = read_graph(truth, self.nodes).degrees()
        orders = []
        for _ in range(prod(shape_of(size))):
            noisy = self.noise.draw(degrees, source=source or system_source)
            mixed = np.asarray(permutation(len(noisy), source=source or system_source))  # ties fall by lot
            order = mixed[np.argsort(-noisy[mixed], kind="stable")]
            orders.append(order if isinstance(self.nodes, range) else [self.nodes[place] for place in order.tolist()])
            if progress is not None:
                progress(1.0)
        return orders[0] if size is None else orders

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:  # noqa: ARG002 - as for all mechanisms
        """There is no formula: many noisy degrees lead to the same order.

        Raises:
            BadParameter: Always.
        """
        raise BadParameter("the law of the order has no closed form", fix="ask for that of the noise: noise.pmf")

    def error(self) -> ErrorEstimate:
        """How many times larger than the smallest cover the decoded one is: no better bound than n − 1 is known."""
        most = Fraction(max(len(self.nodes) - 1, 1))
        return ErrorEstimate("ratio", Enclosure(most, most), attained=False)

    def reason(self) -> Reason:
        """Better on usual graphs, without a factor in the worst case."""
        return Reason(
            "the noise on the degrees is paid once and not at every step; nodes of many edges come first. There is no "
            "factor in the worst case",
            "docs/theory/vertex_cover.md",
            vertex_cover_bound(self.epsilon, max(len(self.nodes), 2)),
        )

    def certificate(self) -> Certificate:
        """That of the noise, which is all that sees the data."""
        return self.noise.certificate()


@dataclass(frozen=True)
class CoverPlan:
    """The two orders side by side.

    Attributes:
        mechanism: The one with the smaller cover on the example.
        on_example: By the mechanism's name, the mean size of the cover in simulated releases on the example.
        at_worst: By name, how many times larger than the smallest cover the expected one is at most, on every graph.
    """

    mechanism: DegreeOrder | VertexCoverOrder
    on_example: Mapping[str, float]
    at_worst: Mapping[str, float]


def plan_vertex_cover(epsilon: NumberLike, nodes: Nodes, *, example: GraphLike | None = None) -> CoverPlan:
    """Compare an order by noisy degrees with the one that has a worst-case factor, on a public graph.

    Args:
        epsilon: The privacy, where an edge comes or goes.
        nodes: The public nodes: labels, or how many.
        example: A public graph on the same nodes, like the true one; if left out, a made-up one in which the i-th node
            has about 1/√i of the edges of the first.

    >>> plan_vertex_cover(1, 100).mechanism.name
    'order by noisy degrees'
    """
    ways = (DegreeOrder(epsilon, nodes), VertexCoverOrder(epsilon, nodes))
    count = len(ways[0].nodes)
    graph = example if example is not None else [(ways[0].nodes[i], ways[0].nodes[j]) for i, j in _made_up(count)]
    # The example is public, and a plan must not come out differently when it is made again.
    draws = min(max(_SIMULATED // count, 1), _MOST_DRAWS)
    sizes = {
        way.name: fmean(len(decode(order, graph)) for order in way.draw(graph, size=draws, source=SeededSource(0)))
        for way in ways
    }
    best = ways[0] if sizes[ways[0].name] <= sizes[ways[1].name] else ways[1]
    at_worst = {way.name: float(way.error().expected.upper) for way in ways}
    return CoverPlan(best, sizes, at_worst)


def _made_up(count: int) -> list[tuple[int, int]]:
    """A graph whose degrees fall like those of growing networks: node i is joined to the nodes i·(j/3)² for j < 3."""
    places: NDArray[np.int64] = np.arange(1, count, dtype=np.int64)
    edges = {
        (int(i), int(i * part**2 // (_EDGES_EACH + 1) ** 2))
        for part in range(1, _EDGES_EACH + 1)
        for i in places.tolist()
    }
    return sorted(edge for edge in edges if edge[0] != edge[1])

"""The best mechanism on a whole rainbow graph: the lines' laws, pulled back along the boundary morphism."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact.parameters import NumberLike
from leastnoise.mechanisms.rainbow.boundary import BoundaryLike, read_boundary
from leastnoise.mechanisms.rainbow.distributions import Distribution
from leastnoise.mechanisms.rainbow.many import along_line
from leastnoise.mechanisms.rainbow.rainbow_graph import RainbowGraph
from leastnoise.mechanisms.rainbow.rainbow_mechanism import RainbowMechanism
from leastnoise.model.channel import Channel
from leastnoise.model.graphs.memory_limit import require_memory

__all__ = ["OptimalMechanism", "optimal_mechanism"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OptimalMechanism:
    """The mechanism that dominates every private one with the same boundary, on one rainbow graph.

    Attributes:
        rainbow_graph: The graph and its preferences.
        mechanism: The same law for (rainbow, distance), which releases.
    """

    rainbow_graph: RainbowGraph
    mechanism: RainbowMechanism

    def law(self, dataset: Hashable) -> Distribution:
        """The exact distribution of a dataset, its best colour first."""
        return self.mechanism.law(self.rainbow_graph.rainbow(dataset), self.rainbow_graph.distance(dataset))

    def channel(self) -> Channel:
        """The mechanism as an exact matrix: a row per dataset, a column per colour."""
        graph = self.rainbow_graph
        require_memory(200 * len(graph.regions) * len(graph.colours), "the exact channel", "ask for floats() or law(x)")
        places = list(zip(graph.regions.tolist(), graph.distances.tolist(), strict=True))
        images = {
            node: (graph.rainbows[region], distance)
            for node, (region, distance) in zip(graph.graph.nodes, places, strict=True)
        }
        return self.mechanism.on_lines(list(dict.fromkeys(images.values()))).select(images)

    def floats(self) -> tuple[Floats, Floats]:
        """Doubles below and above each exact probability: a row per dataset in node order, its best colour first."""
        graph = self.rainbow_graph
        depths = graph.depths()
        bounds = [
            along_line(self.mechanism.operator, line.boundary, depths[graph.number(rainbow)]).probabilities()
            for rainbow, line in self.mechanism.lines
        ]
        starts = np.cumsum([0, *(depth + 1 for depth in depths[:-1])])
        places = starts[graph.regions] + graph.distances
        low, high = (np.concatenate(ends)[places] for ends in zip(*bounds, strict=True))
        return low, high


def optimal_mechanism(
    rainbow_graph: RainbowGraph, boundary: BoundaryLike, epsilon: NumberLike, delta: NumberLike = 0
) -> OptimalMechanism:
    """The best (ε, δ)-private mechanism on a rainbow graph with a homogeneous boundary (Gu et al. 2024, Theorem 2).

    Args:
        rainbow_graph: The datasets, their neighbours and their preferences.
        boundary: For each rainbow the distribution of its boundary datasets.
        epsilon: The privacy of one release.
        delta: The same; may be zero.

    Raises:
        BadBoundary: A region has no distribution, or two that touch are not close; they are named.

    >>> from leastnoise.model.graphs import path
    >>> votes = RainbowGraph(path(5), lambda n: ("yes", "no") if n >= 3 else ("no", "yes"))
    >>> print(optimal_mechanism(votes, {c: ["2/3", "1/3"] for c in votes.rainbows}, "ln(2)").channel())
          no   yes
    0  11/12  1/12
    1    5/6   1/6
    2    2/3   1/3
    3    1/3   2/3
    4    1/6   5/6
    """
    read = read_boundary(boundary, rainbow_graph.rainbows)
    fitting = {rainbow: read[rainbow] for rainbow in rainbow_graph.rainbows}
    pairs = [(rainbow_graph.rainbows[one], rainbow_graph.rainbows[other]) for one, other in rainbow_graph.touching]
    return OptimalMechanism(rainbow_graph, RainbowMechanism(epsilon, delta, fitting, touching=pairs))

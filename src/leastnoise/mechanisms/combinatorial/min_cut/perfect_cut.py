"""The exponential mechanism over all cuts of a graph with too many to list: P(C) ∝ e^(−ε·W(C)/Δ), sampled perfectly.

The law is that of `exponential_cut`, so it is ε-private. It is the ferromagnetic Ising model without the two states
that have all nodes on one side. `cut_law` draws from it exactly: where the minimum cut is light by coupling from the
past, where it is heavy by a list and contractions. Every coin is decided by enclosures.

How long a draw takes depends on the private graph. Whoever can measure the time of a release learns something that ε
does not cover: release in a batch, or where nobody sees the clock. Stopping after a fixed number of sweeps would need a
δ of at least the chance of not having met by then. The bounds known for it (Guo and Jerrum, Ann. Appl. Probab. 28,
2018) are polynomials of a high degree, so no such variant is offered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact import NumberLike, Source, read_epsilon
from leastnoise.mechanisms.combinatorial.graph_input import Nodes
from leastnoise.mechanisms.combinatorial.min_cut.contraction import Matrix
from leastnoise.mechanisms.combinatorial.min_cut.cut_law import CutLaw, Progress
from leastnoise.mechanisms.combinatorial.min_cut.cut_mechanism import EdgeWeights, read_cut_nodes, read_weights
from leastnoise.mechanisms.combinatorial.min_cut.exponential_cut import ExponentialCut

__all__ = ["MOST_PERFECT", "PerfectCut"]

MOST_PERFECT = 200


@dataclass(frozen=True, init=False)
class PerfectCut(ExponentialCut):
    """A cut that is nearly minimal, of a graph with at most 200 nodes; its time depends on the graph.

    Args:
        epsilon: The privacy of one release.
        nodes: The public nodes: labels, or how many.
        weights: How weighted edges are read; left out, an edge is there or not.

    >>> import networkx
    >>> cut = PerfectCut(2, 60).release(networkx.barbell_graph(30, 0))
    >>> cut == frozenset(range(30, 60))
    True
    """

    name: ClassVar[str] = "exponential mechanism over all cuts, sampled perfectly"

    def __init__(self, epsilon: NumberLike, nodes: Nodes, weights: EdgeWeights | None = None) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(epsilon))
        object.__setattr__(self, "nodes", read_cut_nodes(nodes, MOST_PERFECT, "use RaisedCut"))
        object.__setattr__(self, "weights", read_weights(weights))
        self.require_room()

    def sides(self, matrix: Matrix, count: int, source: Source, progress: Progress | None) -> list[NDArray[np.bool_]]:
        """From the law on all cuts, `count` times; what the graph needs is prepared once."""
        law = CutLaw(matrix, self.rate, progress=progress)
        return [law.draw(source) for _ in range(count)]

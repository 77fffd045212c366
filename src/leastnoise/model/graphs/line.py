"""Is a graph a path, or a metric evenly spaced points on a line? Then in which order do its nodes follow each other?"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from leastnoise.model.graphs import DatasetGraph
from leastnoise.model.graphs.closed_form import ClosedForm
from leastnoise.model.graphs.path_cycle_complete import Path

__all__ = ["Line", "find_line"]


@dataclass(frozen=True)
class Line:
    """The nodes of a graph from one end to the other.

    Attributes:
        graph: The graph.
        order: The index of each node along the line.
        gap: The distance between nodes that follow each other.
    """

    graph: DatasetGraph
    order: Sequence[int]
    gap: Fraction

    @property
    def is_numbered(self) -> bool:
        """Whether the labels are 0, 1, 2, … along the line."""
        return self.graph.nodes == range(len(self.order)) and isinstance(self.order, range)

    def label(self, place: int) -> Hashable:
        """The node at a place of the line."""
        return self.graph.nodes[self.order[place]]


def find_line(graph: DatasetGraph) -> Line | None:
    """The line that a finite graph is, None if it is none.

    >>> from leastnoise.model.graphs import cycle, from_edges, from_distance
    >>> find_line(from_edges([("b", "c"), ("a", "b")])).order, find_line(cycle(5))
    ((1, 0, 2), None)
    >>> find_line(from_distance([[0, "1/2", "1/2"], ["1/2", 0, 1], ["1/2", 1, 0]])).gap
    Fraction(1, 2)
    """
    if graph.size is None or graph.size < 2:
        return None
    if graph.edge_lengths() is not None:
        return _metric_line(graph)
    if isinstance(graph, Path):
        return Line(graph, range(graph.size), Fraction(1))
    if isinstance(graph, ClosedForm) and graph.degree(graph.nodes[0]) > 2:  # by formula: its edges may be too many
        return None
    edges = graph.edges()
    degrees = np.bincount(edges.ravel(), minlength=graph.size)
    if len(edges) != graph.size - 1 or degrees.max() > 2:
        return None
    first = graph.distances_from(graph.nodes[int(np.argmin(degrees))])
    return Line(graph, tuple(np.argsort(first).tolist()), Fraction(1))


def _metric_line(graph: DatasetGraph) -> Line | None:
    distances = graph.distances()
    end = int(np.argmax(distances[0]))
    order = np.argsort(distances[end], kind="stable")
    places = distances[end][order]
    gap = Fraction(places[1])
    if places.tolist() != [gap * step for step in range(len(places))]:
        return None
    if not np.array_equal(distances[np.ix_(order, order)], abs(places[:, None] - places[None, :])):
        return None
    return Line(graph, tuple(order.tolist()), gap)

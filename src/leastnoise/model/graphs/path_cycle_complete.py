"""Path, cycle and complete graph: nodes are the numbers 0 … n − 1.

`find_line` recognises paths, and metrics of evenly spaced points on a line.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from leastnoise.exact import IntArray, Length, NumberLike, Point, read_integer
from leastnoise.model.graphs.base import DatasetGraph
from leastnoise.model.graphs.closed_form import ClosedForm
from leastnoise.model.graphs.sequences import as_whole

__all__ = ["EvenLine", "complete", "cycle", "find_line", "path"]


def path(size: NumberLike) -> DatasetGraph:
    """The path 0 – 1 – … – (size − 1), the values of a count among at most size − 1 people; d(x, y) = |x − y|.

    >>> path(20), path(10**6).distance(3, 999_999), path(4).has_regular_layers(), path(5).has_regular_layers(2)
    (path(20), 999996, False, True)
    """
    return Path(read_integer(size, "size", at_least=1))


def cycle(size: NumberLike) -> DatasetGraph:
    """The cycle of at least three nodes; d(x, y) = min(|x − y|, size − |x − y|).

    >>> cycle(12).distance(1, 11), cycle(12).is_vertex_transitive(), cycle(4).layers(0)
    (2, True, {0: (0,), 1: (1, 3), 2: (2,)})
    """
    return Cycle(read_integer(size, "size", at_least=3))


def complete(size: NumberLike) -> DatasetGraph:
    """The complete graph: one record, all of whose values are neighbours (local privacy); d(x, y) = 1 for x ≠ y.

    >>> complete(5).distance(0, 4), complete(5).layer_sizes(2)
    (1, {0: 1, 1: 4})
    """
    return Complete(read_integer(size, "size", at_least=1))


@dataclass(frozen=True, repr=False)
class _Numbered(ClosedForm):
    """A graph on the numbers 0 … count − 1."""

    count: int

    @property
    def size(self) -> int:
        """The number of nodes."""
        return self.count

    @property
    def nodes(self) -> Sequence[int]:
        """The numbers 0 … size − 1."""
        return range(self.count)

    def _parameters(self) -> dict[str, Any]:
        return {"size": self.count}

    def neighbours(self, node: Hashable) -> tuple[Hashable, ...]:
        """The nodes that share an edge with `node`, in node order."""
        return tuple(sorted({y for y in self._adjacent(self.index(node)) if 0 <= y < self.count}))

    @abstractmethod
    def layer_size(self, start: Hashable, distance: Length) -> int:
        """The number of nodes at exactly this distance, by formula."""

    def layer_sizes(self, start: Hashable) -> dict[Length, int]:
        """The number of nodes at every distance that occurs, by formula."""
        self._require_memory_for_nodes(f"the layer sizes of {self.name}", width=128)
        sizes = ((d, self.layer_size(start, d)) for d in range(self.diameter() + 1))
        return {d: size for d, size in sizes if size}

    @abstractmethod
    def _adjacent(self, position: int) -> Sequence[int]:
        """The neighbours, perhaps beyond the ends."""

    def _occurs(self, distance: Length) -> bool:
        return 0 <= distance <= self.diameter() and distance == int(distance)

    def _position(self, label: object) -> int | None:
        position = as_whole(label)
        return position if position is not None and 0 <= position < self.count else None

    def _hint(self, label: object) -> str:
        number = label if isinstance(label, int | float) and label == label else 0
        return f"the closest node is {round(min(max(number, 0), self.count - 1))}"

    def _point(self, label: Hashable) -> Point:
        return (self.index(label),)

    def _points(self) -> IntArray:
        return np.arange(self.count)[:, None]


class Path(_Numbered):
    """See `path`."""

    kind = "path"

    def degree(self, node: Hashable) -> int:
        """Two, at the ends one."""
        return len(self.neighbours(node))

    def diameter(self) -> int:
        """From end to end."""
        return self.count - 1

    def layer_size(self, start: Hashable, distance: Length) -> int:
        """One node on each side that reaches so far."""
        x = self.index(start)
        return (distance <= x) + (x + distance < self.count) - (distance == 0) if self._occurs(distance) else 0

    def has_regular_layers(self, *starts: Hashable) -> bool:
        """From an end and from the middle the layers are regular; three nodes have no others."""
        if not starts:
            return self.count <= 3
        return all(2 * self.index(start) in (0, self.count - 1, 2 * (self.count - 1)) for start in starts)

    def is_vertex_transitive(self) -> bool:
        """An end differs from an inner node."""
        return self.count <= 2

    def _adjacent(self, position: int) -> Sequence[int]:
        return (position - 1, position + 1)

    def _term(self, a: Any, b: Any) -> Any:
        return abs(a - b)

    def _most_edges(self) -> int:
        return self.count - 1

    def _listed_edges(self) -> IntArray:
        first = np.arange(self.count - 1)
        return np.column_stack([first, first + 1])

    def _known_generators(self) -> IntArray:
        self._require_memory_for_nodes(f"an automorphism of {self.name}")
        return np.arange(self.count)[::-1][None, :][: self.count - 1]


class Cycle(_Numbered):
    """See `cycle`."""

    kind = "cycle"
    _divisor = 2

    def degree(self, node: Hashable) -> int:
        """Two."""
        self.index(node)
        return 2

    def diameter(self) -> int:
        """Half way round."""
        return self.count // 2

    def layer_size(self, start: Hashable, distance: Length) -> int:
        """Two nodes; one if it is the node itself or exactly opposite."""
        self.index(start)
        return (1 if 2 * distance in (0, self.count) else 2) if self._occurs(distance) else 0

    def is_vertex_transitive(self) -> bool:
        """A rotation takes any node to any other."""
        return True

    def _regular_everywhere(self) -> bool:
        return True

    def _adjacent(self, position: int) -> Sequence[int]:
        return ((position - 1) % self.count, (position + 1) % self.count)

    def _term(self, a: Any, b: Any) -> Any:
        return self.count - abs(self.count - 2 * abs(a - b))  # twice the shorter of the two ways round

    def _most_edges(self) -> int:
        return self.count

    def _listed_edges(self) -> IntArray:
        first = np.arange(self.count - 1)
        return np.concatenate([np.column_stack([first, first + 1]), [[0, self.count - 1]]])

    def _known_generators(self) -> IntArray:
        self._require_memory_for_nodes(f"the automorphisms of {self.name}")
        nodes = np.arange(self.count)
        return np.stack([np.roll(nodes, -1), nodes[::-1]])


class Complete(_Numbered):
    """See `complete`."""

    kind = "complete"

    def degree(self, node: Hashable) -> int:
        """All the others."""
        self.index(node)
        return self.count - 1

    def diameter(self) -> int:
        """One, unless there is a single node."""
        return min(1, self.count - 1)

    def layer_size(self, start: Hashable, distance: Length) -> int:
        """The node itself, and all the others."""
        self.index(start)
        return (self.count - 1 if distance else 1) if self._occurs(distance) else 0

    def is_vertex_transitive(self) -> bool:
        """Every permutation is an automorphism."""
        return True

    def _regular_everywhere(self) -> bool:
        return True

    def _adjacent(self, position: int) -> Sequence[int]:
        self._require_memory_for_nodes(f"the neighbours of a node of {self.name}")
        return [node for node in range(self.count) if node != position]

    def _term(self, a: Any, b: Any) -> Any:
        return a != b

    def _most_edges(self) -> int:
        return self.count * (self.count - 1) // 2

    def _listed_edges(self) -> IntArray:
        return np.column_stack(np.triu_indices(self.count, k=1))

    def _known_generators(self) -> IntArray:
        self._require_memory_for_nodes(f"the automorphisms of {self.name}")
        nodes = np.arange(self.count)
        swap = np.concatenate([nodes[:2][::-1], nodes[2:]])
        return np.stack([np.roll(nodes, -1), swap])[: self.count - 1]


@dataclass(frozen=True)
class EvenLine:
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


def find_line(graph: DatasetGraph) -> EvenLine | None:
    """The line that a finite graph is, None if it is not one.

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
        return EvenLine(graph, range(graph.size), Fraction(1))
    if isinstance(graph, ClosedForm) and graph.diameter() != graph.size - 1:  # by formula: its edges may be too many
        return None
    edges = graph.edges()
    degrees = np.bincount(edges.ravel(), minlength=graph.size)
    if len(edges) != graph.size - 1 or degrees.max() > 2:
        return None
    first = graph.distances_from(graph.nodes[int(np.argmin(degrees))])
    return EvenLine(graph, tuple(np.argsort(first).tolist()), Fraction(1))


def _metric_line(graph: DatasetGraph) -> EvenLine | None:
    distances = graph.distances()
    end = int(np.argmax(distances[0]))
    order = np.argsort(distances[end], kind="stable")
    places = distances[end][order]
    gap = Fraction(places[1])
    if places.tolist() != [gap * step for step in range(len(places))]:
        return None
    if not np.array_equal(distances[np.ix_(order, order)], abs(places[:, None] - places[None, :])):
        return None
    return EvenLine(graph, tuple(order.tolist()), gap)

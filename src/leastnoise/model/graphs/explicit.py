"""Graphs given by their edges."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from leastnoise.errors import BadGraph, UnknownLabel, shown
from leastnoise.exact import IntArray
from leastnoise.model.graphs.base import DatasetGraph
from leastnoise.model.labels import decode_label, encode_label

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = [
    "ExplicitGraph",
    "ListedGraph",
    "from_edges",
    "from_networkx",
    "is_list_of_lists",
    "node_positions",
    "read_edges",
]


class NetworkxLike(Protocol):
    """What is asked of a networkx graph."""

    def is_directed(self) -> bool: ...
    def nodes(self) -> Iterable[Hashable]: ...
    def edges(self) -> Iterable[Sequence[Hashable]]: ...


def from_edges(edges: Iterable[Sequence[Hashable]], nodes: Iterable[Hashable] | None = None) -> DatasetGraph:
    """The graph with these edges, each a pair of labels.

    Args:
        edges: Pairs of neighbours. No pair twice, no node with itself.
        nodes: All labels, in the order that arrays will have; by default in order of appearance.

    Raises:
        BadGraph: Not connected (two nodes with no path between them are named), an edge from a node to itself, an edge
            or node given twice, no node at all.
        UnknownLabel: An edge names a node that is not among `nodes`.

    >>> petersen = from_edges([(i, (i + 1) % 5) for i in range(5)]
    ...                       + [(i, i + 5) for i in range(5)] + [(5 + i, 5 + (i + 2) % 5) for i in range(5)])
    >>> petersen, petersen.is_vertex_transitive(), petersen.has_regular_layers(), petersen.layer_sizes(0)
    (graph(10 nodes, 15 edges), True, True, {0: 1, 1: 3, 2: 6})
    >>> from_edges([("a", "b"), ("c", "d")])
    Traceback (most recent call last):
    leastnoise.errors.BadGraph: the graph is not connected; given: no path from 'a' to 'c'; ...
    """
    pairs = [_read_pair(edge) for edge in edges]
    listed = tuple(dict.fromkeys(_hashable(end) for pair in pairs for end in pair) if nodes is None else nodes)
    positions = node_positions(listed)
    ends = np.array([[_find(end, positions) for end in pair] for pair in pairs], dtype=np.int64).reshape(-1, 2)
    ends.sort(axis=1)
    order = np.lexsort(ends.T[::-1])
    ends = ends[order]
    if (loops := ends[:, 0] == ends[:, 1]).any():
        loop = pairs[int(order[loops.argmax()])]
        raise BadGraph("an edge joins a node to itself", given=shown(loop), fix="leave it out")
    if (repeated := (ends[1:] == ends[:-1]).all(axis=1)).any():
        twice = pairs[int(order[repeated.argmax()])]
        raise BadGraph("an edge is given twice", given=shown(twice), fix="give each pair of neighbours once")
    return ExplicitGraph(listed, ends)


def from_networkx(graph: NetworkxLike) -> DatasetGraph:
    """The same graph as an undirected networkx graph; attributes of nodes and edges are not used.

    Raises:
        BadGraph: Directed, or as for `from_edges`.

    >>> import networkx
    >>> from_networkx(networkx.icosahedral_graph()).layer_sizes(0)
    {0: 1, 1: 5, 2: 5, 3: 1}
    """
    if graph.is_directed():
        raise BadGraph("being neighbours goes both ways", given="a directed graph", fix="pass graph.to_undirected()")
    return from_edges((edge[:2] for edge in graph.edges()), graph.nodes())


def read_edges(nodes: Sequence[Any], edges: Sequence[Sequence[int]]) -> DatasetGraph:
    """Read what `ExplicitGraph.to_dict` wrote."""
    if not isinstance(nodes, list | tuple) or not is_list_of_lists(edges):
        raise BadGraph("nodes are a list of labels and edges a list of pairs", fix="write graphs with to_dict")
    labels = [decode_label(node) for node in nodes]
    for edge in edges:
        if not all(type(end) is int and 0 <= end < len(labels) for end in edge):
            fix = f"an edge is a pair of positions from 0 to {len(labels) - 1}"
            raise BadGraph("an edge refers to a node that is not listed", given=shown(edge), fix=fix)
    return from_edges([[labels[end] for end in edge] for edge in edges], labels)


def is_list_of_lists(data: object) -> bool:
    """Whether data that came from JSON is a list of lists."""
    return isinstance(data, list | tuple) and all(isinstance(row, list | tuple) for row in data)


def node_positions(nodes: Sequence[Hashable]) -> dict[Hashable, int]:
    """The position of each label; none, a repeated, an unhashable one or a NaN is an error."""
    if not nodes:
        raise BadGraph("a graph must have a node", given="no nodes", fix="name the nodes or give an edge")
    positions: dict[Hashable, int] = {}
    for position, node in enumerate(nodes):
        if positions.setdefault(_hashable(node), position) != position:
            raise BadGraph("two nodes have the same label", given=shown(node), fix="make the labels distinct")
    return positions


class ListedGraph(DatasetGraph):
    """A graph or metric whose nodes are held as a list of labels."""

    def __init__(self, nodes: tuple[Hashable, ...]) -> None:
        self._nodes, self._positions = nodes, node_positions(nodes)

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self._nodes)

    @property
    def nodes(self) -> tuple[Hashable, ...]:
        """The labels in node order."""
        return self._nodes

    def _position(self, label: object) -> int | None:
        try:
            return self._positions.get(label)
        except TypeError:  # not hashable, so no label
            return None


class ExplicitGraph(ListedGraph):
    """A connected graph held as its sorted list of edges."""

    def __init__(self, nodes: tuple[Hashable, ...], edges: IntArray) -> None:
        from scipy.sparse.csgraph import connected_components  # slow to import, and seldom needed

        super().__init__(nodes)
        self._edges = edges
        edges.flags.writeable = False
        _, component = connected_components(self._sparse, directed=False)
        if component.any():
            raise BadGraph(
                "the graph is not connected",
                given=f"no path from {shown(nodes[0])} to {shown(nodes[int(np.argmax(component != 0))])}",
                fix="add the missing edges, or make one graph of each part",
            )

    @property
    def name(self) -> str:
        """How many nodes and edges."""
        return f"graph({len(self._nodes)} nodes, {len(self._edges)} edges)"

    @cached_property
    def _sparse(self) -> csr_array[np.int8, tuple[int, int]]:
        return self.adjacency()

    def edges(self) -> IntArray:
        """The edges as rows (i, j) of node indices with i < j, sorted."""
        return self._edges

    def distances_from(self, node: Hashable) -> IntArray:
        """The distance of every node from `node`, by breadth-first search."""
        return self._search(np.array([self.index(node)])).ravel()

    def _distances(self) -> IntArray:
        return self._search(None)

    def _search(self, starts: IntArray | None) -> IntArray:
        from scipy.sparse.csgraph import dijkstra  # slow to import, and seldom needed

        return dijkstra(self._sparse, directed=False, indices=starts, unweighted=True).astype(np.int64)

    def to_dict(self) -> dict[str, Any]:
        """Labels, and edges as pairs of positions."""
        return {"graph": "edges", "nodes": [encode_label(node) for node in self._nodes], "edges": self._edges.tolist()}

    def __eq__(self, other: object) -> bool:
        """The same labels in the same order, with the same edges."""
        if not isinstance(other, ExplicitGraph):
            return NotImplemented
        return self._nodes == other._nodes and np.array_equal(self._edges, other._edges)

    def __hash__(self) -> int:
        """Equal graphs have equal hashes."""
        return hash((self._nodes, self._edges.tobytes()))


def _read_pair(edge: Sequence[Hashable]) -> tuple[Hashable, Hashable]:
    try:
        one, other = edge
    except (TypeError, ValueError):
        raise BadGraph("an edge is a pair of labels", given=shown(edge), fix="write for example ('a', 'b')") from None
    return one, other


def _hashable(label: Hashable) -> Hashable:
    try:
        hash(label)
    except TypeError:
        raise BadGraph(
            "this can't be the label of a node", given=shown(label), fix="use text, numbers or tuples"
        ) from None
    if label != label:
        raise BadGraph("a label must be equal to itself", given=shown(label), fix="use text, numbers or tuples")
    return label


def _find(label: Hashable, positions: dict[Hashable, int]) -> int:
    if _hashable(label) not in positions:
        raise UnknownLabel("an edge names a node that is not listed", given=shown(label), fix="add it to the nodes")
    return positions[label]

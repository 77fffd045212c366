"""Graphs as people have them, read into arrays: NetworkX, igraph, SciPy sparse, an edge list or a file of one.

The nodes are public, the edges are not. So the nodes come from the caller (or from a graph object that lists them and
thereby makes them public), an edge outside them is refused, and no error shows an edge. Two rules hold for every form:
a loop is dropped, as it is in no cut and covers nothing of another node; a pair of nodes is one edge however often and
in whichever direction it is listed, and the weights of its listings add up before they are rounded.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, LeastNoiseError, NumberTooLarge
from leastnoise.exact.parameters import NumberLike, read_integer, read_rational
from leastnoise.model.labels import read_labels

__all__ = ["EdgeList", "GraphLike", "Nodes", "public_nodes", "read_graph", "read_nodes"]

GraphLike: TypeAlias = Any  # networkx.Graph, igraph.Graph, SciPy sparse matrix, array or list of pairs, path of a file
Nodes: TypeAlias = Iterable[Hashable] | NumberLike

_MOST_NODES = 1 << 31
_LARGEST_SUM = 1 << 52  # of weights in steps: doubles hold such sums exactly, and 64 bits their products with 1000
_HALF = Fraction(1, 2)
_COMMENTS = ("#", "%")


@dataclass(frozen=True, eq=False)
class EdgeList:
    """An undirected graph: places of the two ends of each edge, the smaller first, each pair once and in order.

    Attributes:
        nodes: The public nodes; `range(n)` where they are only counted.
        tails: The smaller place of each edge.
        heads: The larger place.
        weights: How many steps each edge weighs; all one without weights.
    """

    nodes: Sequence[Hashable]
    tails: NDArray[np.int64]
    heads: NDArray[np.int64]
    weights: NDArray[np.int64]

    def __repr__(self) -> str:
        """The nodes only: edges are private."""
        return f"EdgeList({len(self.nodes)} nodes)"

    def matrix(self) -> NDArray[np.int64]:
        """The symmetric matrix of weights, with zeros on the diagonal."""
        dense = np.zeros((len(self.nodes), len(self.nodes)), dtype=np.int64)
        dense[self.tails, self.heads] = self.weights
        dense[self.heads, self.tails] = self.weights
        return dense


def read_nodes(nodes: Nodes) -> Sequence[Hashable]:
    """The public nodes: distinct labels in their order, or how many there are.

    >>> read_nodes(3), read_nodes("abc")
    (range(0, 3), ('a', 'b', 'c'))
    """
    if isinstance(nodes, range) and nodes == range(len(nodes)):
        return nodes
    if isinstance(nodes, Iterable) and not (isinstance(nodes, str) and nodes.isdigit()):
        return read_labels(nodes, "nodes")
    return range(read_integer(nodes, "nodes", at_least=1, at_most=_MOST_NODES))


def public_nodes(graph: GraphLike) -> Sequence[Hashable]:
    """The nodes that a graph object lists; an edge list has none of its own, since its ends are private.

    >>> import networkx
    >>> public_nodes(networkx.path_graph(["a", "b", "c"]))
    ('a', 'b', 'c')
    """
    if _is_networkx(graph):
        return read_labels(graph.nodes, "nodes")
    if _is_igraph(graph):
        names = graph.vs["name"] if "name" in graph.vs.attributes() else range(graph.vcount())
        return read_nodes(names)
    if _is_sparse(graph):
        return range(graph.shape[0])
    raise BadParameter(
        "a list of edges does not say which nodes there are, and taking them from the edges would publish edges",
        given=type(graph).__name__,
        fix="pass the public nodes as well: their number or their labels",
    )


def read_graph(graph: GraphLike, nodes: Nodes, *, weight: str | None = None, step: NumberLike = 1) -> EdgeList:
    """The edges of a graph among the public nodes.

    Args:
        graph: A NetworkX or igraph graph, a SciPy sparse matrix, an array or list of pairs (or of triples with a
            weight), or the path of a text file with an edge per line and comments after # or %.
        nodes: The public nodes.
        weight: Where the weights are: the name of an edge attribute, or any text for the entries of a matrix and the
            third column of a list. Left out, every edge weighs one.
        step: The weight of a pair is rounded to the nearest multiple of this, halves up.

    Raises:
        BadParameter: A directed graph, an edge outside the nodes, a weight that is no number of at least zero.

    >>> path = read_graph([(1, 0), (1, 2), (2, 1), (2, 2)], 3)
    >>> path.tails.tolist(), path.heads.tolist(), path
    ([0, 1], [1, 2], EdgeList(3 nodes))
    >>> read_graph([("a", "b", 0.25), ("b", "a", 0.5)], "ab", weight="weight", step="1/4").weights.tolist()
    [3]
    """
    public = read_nodes(nodes)
    unit = read_rational(step, "step", above=0)
    pairs, weights = _edges_of(graph, public, weight)
    if pairs is None:
        raise BadParameter(
            "the graph is no list of edges between the public nodes",
            given=type(graph).__name__,
            fix="check that every edge has two ends among the nodes" + (" and a weight" if weight else ""),
        )
    exact = None if weights is None else _exact_weights(weights, unit)
    if weight is not None and exact is None:
        raise BadParameter("an edge has no weight of at least zero", fix="give every edge a finite weight")
    return _collect(public, pairs, exact)


def _edges_of(graph: GraphLike, nodes: Sequence[Hashable], weight: str | None) -> tuple[Any, Any]:
    """Places of the ends, and the weights where asked for; None where they are not as they must be.

    The reason must not reach the caller: it may show an edge.
    """
    if isinstance(graph, str | Path) and not Path(graph).is_file():
        raise BadParameter("there is no file with an edge list", given=str(graph), fix="pass the path of a text file")
    for directed in (_is_networkx(graph) and graph.is_directed(), _is_igraph(graph) and graph.is_directed()):
        if directed:
            raise BadParameter("the graph is directed", given=type(graph).__name__, fix="pass graph.to_undirected()")
    try:
        if _is_networkx(graph):
            listed = list(graph.edges(data=weight)) if weight else [(*edge[:2], None) for edge in graph.edges]
            return _places(listed, nodes), [edge[2] for edge in listed] if weight else None
        if _is_igraph(graph):
            names = public_nodes(graph)
            pairs = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
            place = _place_of(nodes)
            order = np.array([place[name] for name in names], dtype=np.int64)
            return order[pairs], graph.es[weight] if weight else None
        if _is_sparse(graph):
            return _sparse_edges(graph, len(nodes), weight)
        if isinstance(graph, str | Path):
            return _file_edges(Path(graph), nodes, weight)
        return _listed_edges(graph, nodes, weight)
    except (LeastNoiseError, KeyError, IndexError, TypeError, ValueError, OverflowError, UnicodeDecodeError):
        return None, None


def _listed_edges(graph: Any, nodes: Sequence[Hashable], weight: str | None) -> tuple[Any, Any]:
    if isinstance(graph, np.ndarray) and graph.dtype.kind in "iu" and isinstance(nodes, range) and graph.ndim == 2:
        pairs = graph[:, :2].astype(np.int64)
        inside = not pairs.size or (pairs.min() >= 0 and pairs.max() < len(nodes))
        fits = graph.shape[1] == (3 if weight else 2)
        return (pairs, graph[:, 2] if weight else None) if inside and fits else (None, None)
    listed = [tuple(edge) for edge in graph]
    if any(len(edge) != (3 if weight else 2) for edge in listed):
        return None, None
    return _places(listed, nodes), [edge[2] for edge in listed] if weight else None


def _file_edges(path: Path, nodes: Sequence[Hashable], weight: str | None) -> tuple[Any, Any]:
    columns = 3 if weight else 2
    if isinstance(nodes, range) and not weight:
        pairs = np.loadtxt(path, dtype=np.int64, comments=_COMMENTS, usecols=(0, 1), ndmin=2)
        return _listed_edges(pairs.reshape(-1, 2), nodes, None)
    names = {str(node): node for node in nodes}
    with path.open(encoding="utf-8") as lines:
        rows = [line.replace(",", " ").split() for line in lines if line.strip() and line[0] not in _COMMENTS]
    listed = [(names[row[0]], names[row[1]], *row[2:columns]) for row in rows]
    return _listed_edges(listed, nodes, weight)


def _sparse_edges(graph: Any, count: int, weight: str | None) -> tuple[Any, Any]:
    """Both triangles alike, or one of them empty; anything else has no meaning as an undirected graph."""
    if graph.shape != (count, count):
        return None, None
    table = graph.tocoo()
    upper, lower = table.row < table.col, table.row > table.col
    if upper.any() and lower.any():
        difference = graph - graph.T
        if difference.count_nonzero():
            return None, None
        lower = np.zeros_like(lower)
    chosen = (upper | lower) & (table.data != 0)
    pairs = np.column_stack([table.row[chosen], table.col[chosen]]).astype(np.int64)
    return pairs, table.data[chosen] if weight else None


def _place_of(nodes: Sequence[Hashable]) -> dict[Hashable, int]:
    return {node: place for place, node in enumerate(nodes)}


def _places(edges: Sequence[tuple[Any, ...]], nodes: Sequence[Hashable]) -> NDArray[np.int64]:
    place = _place_of(nodes)
    return np.array([(place[edge[0]], place[edge[1]]) for edge in edges], dtype=np.int64).reshape(-1, 2)


def _exact_weights(weights: Any, step: Fraction) -> NDArray[Any] | None:
    """The weights in steps, not yet rounded: integers, or fractions as objects."""
    try:
        if isinstance(weights, np.ndarray) and weights.dtype.kind in "iub" and step == 1:
            return weights.astype(np.int64) if not weights.size or weights.min() >= 0 else None
        exact = np.empty(len(weights), dtype=object)
        exact[:] = [read_rational(weight, "weight", at_least=0) / step for weight in weights]
    except (LeastNoiseError, TypeError, ValueError, OverflowError):
        return None
    return exact


def _collect(nodes: Sequence[Hashable], pairs: NDArray[np.int64], weights: NDArray[Any] | None) -> EdgeList:
    """Sort, drop loops, and join what is listed twice; a pair's whole weight is rounded, once."""
    proper = pairs[:, 0] != pairs[:, 1]
    if not proper.all():
        pairs, weights = pairs[proper], None if weights is None else weights[proper]
    keys = np.minimum(pairs[:, 0], pairs[:, 1]) * len(nodes) + np.maximum(pairs[:, 0], pairs[:, 1])
    if weights is None:
        keys.sort()  # much faster than np.unique, which hashes
        keys = keys[np.append(True, keys[1:] != keys[:-1])] if len(keys) else keys
        sums = np.ones(len(keys), dtype=np.int64)
    else:
        if sum(weights.tolist()) > _LARGEST_SUM:
            raise NumberTooLarge("the weights are too large for their step", fix="choose a larger step")
        keys, places = np.unique(keys, return_inverse=True)
        totals = np.zeros(len(keys), dtype=weights.dtype)
        np.add.at(totals, places, weights)
        sums = np.array([floor(total + _HALF) for total in totals.tolist()], dtype=np.int64)
        keys, sums = keys[sums > 0], sums[sums > 0]
    return EdgeList(nodes, keys // len(nodes), keys % len(nodes), sums)


def _is_networkx(graph: object) -> bool:
    return type(graph).__module__.startswith("networkx") and hasattr(graph, "is_directed")


def _is_igraph(graph: object) -> bool:
    return type(graph).__module__.startswith("igraph") and hasattr(graph, "vcount")


def _is_sparse(graph: object) -> bool:
    return type(graph).__module__.startswith("scipy.sparse") and hasattr(graph, "tocoo")

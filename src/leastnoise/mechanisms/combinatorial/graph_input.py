"""Graphs as people have them, read into arrays: NetworkX, igraph, SciPy sparse, an edge list or a file of one.

Public are the nodes, the form of the graph, the shape of a matrix or of an array, and that every listing has two ends
(and a number, where weights are read). A graph of another form is refused. Everything else is private, so it is never
refused, and no error shows an edge. These rules hold for every form:

- A loop is dropped: it is in no cut and covers nothing of another node. So is an edge with an end outside the nodes.
- A pair of nodes is one edge however often and in whichever direction it is listed. The weights of its listings add up;
  of the two triangles of a matrix the larger entry counts.
- A missing weight (None or NaN) counts as zero; an edge of a NetworkX graph without the attribute weighs one. A pair's
  weight is rounded to a multiple of the step, halves up, and then clamped to [0, largest], both public.

Each rule looks at one pair of nodes at a time. Clamping and rounding never decrease as a weight grows, and clamping
moves two numbers no further apart. So graphs that differ in one pair differ in that pair only afterwards, in the same
direction and by no more steps than before.

Public graphs are read by `model/graphs/reading.py`. It shares no code with this file: there a loop, a repeated edge or
an unknown label is an error that shows it, and here each of the three would tell something of a private edge.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import islice
from math import floor, inf
from numbers import Rational
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, LeastNoiseError, TooLarge
from leastnoise.exact import NumberLike, read_integer, read_rational
from leastnoise.model import read_labels

__all__ = ["EdgeList", "GraphLike", "Nodes", "public_nodes", "read_graph", "read_nodes"]

GraphLike: TypeAlias = Any  # networkx.Graph, igraph.Graph, SciPy sparse matrix, array or list of pairs, path of a file
Nodes: TypeAlias = Iterable[Hashable] | NumberLike

_MOST_NODES = 1 << 31
_MOST_LABELS = 1 << 22
_MOST_STEPS = 1 << 61
_MOST_DIGITS = 1000  # of a decimal before or after its point; beyond them it counts as infinite or zero
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

    def degrees(self) -> NDArray[np.int64]:
        """How many edges each node has; an edge more or less moves two of them by one."""
        counts: NDArray[np.int64] = np.bincount(np.concatenate([self.tails, self.heads]), minlength=len(self.nodes))
        return counts

    def edges_within(self, most: int) -> int:
        """How many edges there are, where no node counts for more than `most`: half the largest flow, rounded down.

        Let every edge be two arcs of capacity one, and let at most `most` leave and at most `most` enter each node.
        The largest flow F is twice the number of edges where no node has more than `most`. Let G be the graph without
        the edges of one node, then F(G) ≤ F ≤ F(G) + 2·most: what passes through its two ends is taken away. Graphs
        that differ in the edges of one node have the same G, so ⌊F/2⌋ differs by at most `most` (Kasiviswanathan,
        Nissim, Raskhodnikova and Smith, TCC 2013, section 4.1).
        """
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_flow

        count, arcs = len(self.nodes), len(self.tails)
        start, end, ends = 2 * count, 2 * count + 1, np.arange(count)
        rows = np.concatenate([self.tails, self.heads, np.full(count, start), count + ends])
        columns = np.concatenate([count + self.heads, count + self.tails, ends, np.full(count, end)])
        capacities = np.concatenate([np.ones(2 * arcs), np.full(2 * count, most)]).astype(np.int32)
        network = csr_array((capacities, (rows, columns)), shape=(end + 1, end + 1))
        return int(maximum_flow(network, start, end).flow_value) // 2

    def degrees_within(self, most: int) -> NDArray[np.int64]:
        """How many edges each node has where edges are taken in the public order of pairs, unless an end has `most`.

        Take the edges of G with those of a node v, and without them. At every edge add up, over all nodes but v, by how
        much the numbers taken so far differ. An edge of v that is taken adds one at most. An edge that is taken in one
        of the two alone: an end has `most` in the other and less here, so its difference falls by one, and that of the
        other end grows by one at most. So the sum is at most the number a of edges that v has in the end (Day, Li and
        Lyu, SIGMOD 2016, have such an order for their distribution of degrees). The sums of two graphs that differ in
        the edges of v, in any way, are a + a' apart at most.
        """
        taken = [0] * len(self.nodes)
        for tail, head in zip(self.tails.tolist(), self.heads.tolist(), strict=True):
            if taken[tail] < most and taken[head] < most:
                taken[tail] += 1
                taken[head] += 1
        return np.array(taken, dtype=np.int64)

    def triangles(self) -> int:
        """How many triples of nodes are all joined; an edge moves it by at most n − 2, one for each third node."""
        later: dict[int, set[int]] = {}
        for tail, head in zip(self.tails.tolist(), self.heads.tolist(), strict=True):
            later.setdefault(tail, set()).add(head)
        nothing: set[int] = set()
        return sum(len(heads & later.get(head, nothing)) for heads in later.values() for head in heads)

    def components(self) -> int:
        """How many parts hang together, single nodes too; an edge moves it by at most one."""
        above = list(range(len(self.nodes)))

        def top(node: int) -> int:
            while above[node] != node:
                above[node] = node = above[above[node]]
            return node

        count = len(above)
        for tail, head in zip(self.tails.tolist(), self.heads.tolist(), strict=True):
            one, other = top(tail), top(head)
            count -= one != other
            above[one] = other
        return count

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
    if isinstance(nodes, range) and nodes == range(nodes.stop):
        return range(read_integer(nodes.stop, "nodes", at_least=1, at_most=_MOST_NODES))
    if isinstance(nodes, np.ndarray) and not nodes.ndim:
        nodes = nodes.item()
    if isinstance(nodes, Iterable) and not (isinstance(nodes, str) and nodes.isdigit()):
        labels = tuple(islice(nodes, _MOST_LABELS + 1))
        if len(labels) > _MOST_LABELS:
            raise TooLarge(f"there may be at most {_MOST_LABELS} labelled nodes", given="more", fix="pass their number")
        return read_labels(labels, "nodes")
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


def read_graph(
    graph: GraphLike,
    nodes: Nodes,
    *,
    weight: str | None = None,
    step: NumberLike = 1,
    largest: int = _MOST_STEPS,
) -> EdgeList:
    """The edges of a graph among the public nodes.

    Args:
        graph: A NetworkX or igraph graph, a SciPy sparse matrix, an array or list of pairs (or of triples with a
            weight), or the path of a text file with an edge per line and comments after # or %.
        nodes: The public nodes.
        weight: Where the weights are: the name of an edge attribute, or any text for the entries of a matrix and the
            third column of a list. Left out, every edge weighs one.
        step: The weight of a pair is rounded to the nearest multiple of this, halves up.
        largest: A pair weighs at most so many steps.

    Raises:
        BadParameter: A directed graph, or not a graph of this form.

    >>> path = read_graph([(1, 0), (1, 2), (2, 1), (2, 2), (2, 3)], 3)
    >>> path.tails.tolist(), path.heads.tolist(), path
    ([0, 1], [1, 2], EdgeList(3 nodes))
    >>> read_graph([("a", "b", 0.25), ("b", "a", 0.5)], "ab", weight="weight", step="1/4").weights.tolist()
    [3]
    """
    public = read_nodes(nodes)
    unit = read_rational(step, "step", above=0)
    listings = _listings_of(graph, public, weight)
    if listings is None:
        raise BadParameter(
            "the graph is no list of edges between the public nodes",
            given=type(graph).__name__,
            fix="check that every edge has two ends" + (" and a number for its weight" if weight else ""),
        )
    pairs, weights, directed = listings
    if weights is None:
        return _distinct(public, pairs)
    return _weighted(public, pairs, weights, unit, largest, directed)


Listings: TypeAlias = tuple[NDArray[np.int64], "list[_Weight] | None", bool]
"""Places of the two ends of each listing, −1 for an end outside the nodes; the weights where they are asked for; and
whether the two directions of a pair are two entries of a matrix rather than listings that add up."""

_Weight: TypeAlias = Fraction | float  # a number, or an infinity


def _listings_of(graph: GraphLike, nodes: Sequence[Hashable], weight: str | None) -> Listings | None:
    """The listings, or None where the graph is not of its form.

    The reason must not reach the caller: it may show an edge.
    """
    if isinstance(graph, str | Path) and not os.path.isfile(graph):  # noqa: PTH113 - also where the name is no path
        raise BadParameter("there is no file with an edge list", given=str(graph), fix="pass the path of a text file")
    for directed in (_is_networkx(graph) and graph.is_directed(), _is_igraph(graph) and graph.is_directed()):
        if directed:
            raise BadParameter("the graph is directed", given=type(graph).__name__, fix="pass graph.to_undirected()")
    try:
        if _is_networkx(graph):
            listed = list(graph.edges(data=weight or False, default=1))
            return _places(listed, nodes), _weights([edge[2] for edge in listed]) if weight else None, False
        if _is_igraph(graph):
            pairs = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
            place = _place_of(nodes)
            order = np.array([place.get(name, -1) for name in public_nodes(graph)], dtype=np.int64)
            return order[pairs], _weights(graph.es[weight]) if weight else None, False
        if _is_sparse(graph):
            return _sparse_edges(graph, len(nodes), weight)
        if isinstance(graph, str | Path):
            return _file_edges(Path(graph), nodes, weight)
        return _listed_edges(graph, nodes, weight)
    except (LeastNoiseError, KeyError, IndexError, TypeError, ValueError, OverflowError):
        return None


def _listed_edges(graph: Any, nodes: Sequence[Hashable], weight: str | None) -> Listings | None:
    columns = 3 if weight else 2
    if isinstance(graph, np.ndarray) and (graph.ndim != 2 or graph.shape[1] != columns):
        return None
    if isinstance(graph, np.ndarray) and graph.dtype.kind in "iu" and isinstance(nodes, range):
        inside = (graph[:, :2] >= 0) & (graph[:, :2] < len(nodes))
        pairs = np.where(inside, graph[:, :2], 0).astype(np.int64)
        pairs[~inside] = -1
        return pairs, _weights(graph[:, 2].tolist()) if weight else None, False
    listed = [tuple(edge) for edge in graph]
    if any(len(edge) != columns for edge in listed):
        return None
    return _places(listed, nodes), _weights([edge[2] for edge in listed]) if weight else None, False


def _file_edges(path: Path, nodes: Sequence[Hashable], weight: str | None) -> Listings | None:
    columns = 3 if weight else 2
    if isinstance(nodes, range) and not weight:
        try:
            pairs = np.loadtxt(path, dtype=np.int64, comments=_COMMENTS, usecols=(0, 1), ndmin=2)
            return _listed_edges(pairs.reshape(-1, 2), nodes, None)
        except ValueError:  # an end that is no number of 64 bits, which is outside the nodes, or no list of edges
            pass
    names = {str(node): node for node in nodes}
    with path.open(encoding="utf-8", errors="replace") as lines:
        rows = [line.replace(",", " ").split() for line in lines if line.strip() and line[0] not in _COMMENTS]
    outside = object()
    listed = [(names.get(row[0], outside), names.get(row[1], outside), *row[2:columns]) for row in rows]
    return _listed_edges(listed, nodes, weight)


def _sparse_edges(graph: Any, count: int, weight: str | None) -> Listings | None:
    if graph.shape != (count, count) or graph.dtype.kind not in "iufb":
        return None
    table = graph.tocoo()
    stored = table.data != 0
    pairs = np.column_stack([table.row[stored], table.col[stored]]).astype(np.int64)
    return pairs, _weights(table.data[stored].tolist()) if weight else None, True


def _place_of(nodes: Sequence[Hashable]) -> dict[Hashable, int]:
    return {node: place for place, node in enumerate(nodes)}


def _places(edges: Sequence[tuple[Any, ...]], nodes: Sequence[Hashable]) -> NDArray[np.int64]:
    place = _place_of(nodes)
    return np.array([(place.get(edge[0], -1), place.get(edge[1], -1)) for edge in edges], dtype=np.int64).reshape(-1, 2)


def _weights(values: Sequence[Any]) -> list[_Weight]:
    return [_weight(value) for value in values]


def _weight(value: Any) -> _Weight:
    """One weight exactly, a float as its shortest decimal, or an infinity; what is no number is refused."""
    if isinstance(value, Rational):  # a whole number of any length too
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, str):
        try:
            return _weight(Decimal(value.strip()))
        except InvalidOperation:  # a fraction perhaps
            return read_rational(value, "weight")
    number = Decimal(str(value)) if isinstance(value, float | np.floating) else value
    if number is None or (isinstance(number, Decimal) and number.is_nan()):
        return Fraction(0)
    if isinstance(number, Decimal) and number.adjusted() < -_MOST_DIGITS:
        return Fraction(0)
    if isinstance(number, Decimal) and (number.is_infinite() or number.adjusted() > _MOST_DIGITS):
        return -inf if number.is_signed() else inf
    return read_rational(number, "weight")


def _distinct(nodes: Sequence[Hashable], pairs: NDArray[np.int64]) -> EdgeList:
    """Every pair that is listed, once and in order."""
    keys = _keys(pairs[_counts(pairs)], len(nodes))
    keys.sort()  # much faster than np.unique, which hashes
    keys = keys[np.append(True, keys[1:] != keys[:-1])] if len(keys) else keys
    return EdgeList(nodes, keys // len(nodes), keys % len(nodes), np.ones(len(keys), dtype=np.int64))


def _weighted(
    nodes: Sequence[Hashable],
    pairs: NDArray[np.int64],
    weights: list[_Weight],
    step: Fraction,
    largest: int,
    directed: bool,
) -> EdgeList:
    """A pair's whole weight is rounded, once, and clamped."""
    counts = _counts(pairs)
    sums: dict[int, dict[bool, _Weight]] = {}
    for key, up, weight in zip(
        _keys(pairs[counts], len(nodes)).tolist(),
        (pairs[counts, 0] < pairs[counts, 1]).tolist(),
        (weight for weight, inside in zip(weights, counts.tolist(), strict=True) if inside),
        strict=True,
    ):
        entry, side = sums.setdefault(key, {}), up or not directed
        entry[side] = _sum(entry.get(side, Fraction(0)), weight)
    steps = {key: _in_steps(max(sides.values()), step, largest) for key, sides in sums.items()}
    keys = np.array(sorted(key for key, count in steps.items() if count), dtype=np.int64)
    found = np.array([steps[key] for key in keys.tolist()], dtype=np.int64)
    return EdgeList(nodes, keys // len(nodes), keys % len(nodes), found)


def _sum(one: _Weight, other: _Weight) -> _Weight:
    """The sum; minus infinity wins over infinity, and either over every number."""
    ends = [number for number in (one, other) if isinstance(number, float)]
    return min(ends) if ends else one + other


def _in_steps(weight: _Weight, step: Fraction, largest: int) -> int:
    if isinstance(weight, float):
        return largest if weight > 0 else 0
    return min(max(floor(weight / step + _HALF), 0), largest)


def _counts(pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which listings count: those between two different nodes."""
    inside: NDArray[np.bool_] = (pairs[:, 0] != pairs[:, 1]) & (pairs >= 0).all(axis=1)
    return inside


def _keys(pairs: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    keys: NDArray[np.int64] = np.minimum(pairs[:, 0], pairs[:, 1]) * count + np.maximum(pairs[:, 0], pairs[:, 1])
    return keys


def _is_networkx(graph: object) -> bool:
    return type(graph).__module__.startswith("networkx") and hasattr(graph, "is_directed")


def _is_igraph(graph: object) -> bool:
    return type(graph).__module__.startswith("igraph") and hasattr(graph, "vcount")


def _is_sparse(graph: object) -> bool:
    return type(graph).__module__.startswith("scipy.sparse") and hasattr(graph, "tocoo")

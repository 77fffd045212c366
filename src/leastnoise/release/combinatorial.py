"""Releases of cuts, facilities, covers and sorted counts, with the same order of steps as every other release.

What can be wrong with public things (the form in which a graph is given, its nodes, points and prices) is refused at no
cost. What is wrong with an edge, a demand or a count is a failure, for no text may depend on it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact import NumberLike, read_exact, read_integer, read_rational
from leastnoise.ledger import Ledger
from leastnoise.ledger.record import Json
from leastnoise.mechanisms.combinatorial import (
    CutMechanism,
    EdgeWeights,
    ExponentialCut,
    KMedian,
    KWayCut,
    NoisyDemand,
    WeighedCut,
    nearest_counts,
    plan_k_median,
    plan_min_cut,
    plan_sorted_counts,
    plan_vertex_cover,
)
from leastnoise.mechanisms.combinatorial.graph_input import GraphLike, Nodes, public_nodes, read_graph, read_nodes
from leastnoise.mechanisms.numeric import Geometric, VectorLaplace
from leastnoise.model import decode_label, encode_label
from leastnoise.release.mechanism import fingerprint_of, release_mechanism, require_recordable
from leastnoise.release.result import Release

__all__ = [
    "components",
    "degree_counts",
    "degrees",
    "k_median",
    "min_cut",
    "number_of_edges",
    "sorted_counts",
    "triangles",
    "vertex_cover",
]

Progress = Callable[..., None]
_MOST_DEGREES = 1 << 20  # that are told apart
_MOST_IN_FLOWS = 1 << 15  # nodes: twice their pairs is below 2^31, the most that a flow of 32 bits carries


class Charge(TypedDict, total=False):
    """Where a release is charged, as `release_mechanism` takes it; nothing is charged without a ledger."""

    ledger: Ledger | None
    dataset: str | None
    analyst: str | None
    purpose: str | None
    request_id: str | None


def min_cut(
    graph: GraphLike,
    epsilon: NumberLike,
    delta: NumberLike = 0,
    *,
    nodes: Nodes | None = None,
    weights: EdgeWeights | None = None,
    example: GraphLike | None = None,
    apart: Sequence[Hashable] | None = None,
    smallest: NumberLike = 1,
    parts: NumberLike = 2,
    weigh: NumberLike | None = None,
    progress: Progress | None = None,
    **charge: Unpack[Charge],
) -> Release:
    """A cut of nearly minimum size; the edges are private, the nodes are not.

    Args:
        graph: A NetworkX or igraph graph, a SciPy sparse matrix, a list of edges, or a file of one.
        epsilon: The privacy, where an edge comes or goes.
        delta: Above zero it lets a faster way in, for graphs that are too large to weigh every cut.
        nodes: The public nodes, or their number; those that the graph object lists if left out.
        weights: How weighted edges are read; every edge weighs one if left out.
        example: A public graph on the same nodes, like this one, to choose the way by; made-up ones if left out.
        apart: Two nodes that the cut keeps apart (an s-t cut), for up to 26 nodes.
        smallest: The fewest nodes on a side (a balanced cut), for up to 26 nodes.
        parts: Into how many parts the nodes are divided (a k-way cut), for up to 15 nodes in three parts, 13 in four.
        weigh: The share of epsilon for the weight of the cut, such as 1/4; the weight is not told if left out.
        progress: Called now and then; interrupting there leaves no budget in doubt.
        **charge: `ledger`, `dataset`, `analyst`, `purpose`, `request_id`: where the price is charged.

    Returns:
        A release whose value is the frozen set of the nodes on one side, or for three parts and more a frozen set of
        such sets; with `weigh`, of the pair of it and its noisy weight.

    >>> import networkx
    >>> release = min_cut(networkx.karate_club_graph(), epsilon=2)
    >>> str(release.cost), len(release.value) > 0
    ('ε = 2', True)
    """
    _require_graph(graph)
    public = read_nodes(public_nodes(graph) if nodes is None else nodes)
    share = None if weigh is None else read_rational(weigh, "weigh", above=0, below=1)
    whole = read_exact(epsilon, "epsilon")
    paid = whole if share is None else whole * (1 - share)
    is_special = apart is not None or read_integer(smallest, "smallest", at_least=1) > 1
    several = read_integer(parts, "parts", at_least=2) > 2
    if is_special and several:
        raise BadParameter(
            "apart and smallest are for two parts", given=f"parts={parts}", fix="leave them out, or parts"
        )
    cut: CutMechanism
    if several:
        cut = KWayCut(paid, public, parts, weights)
    elif is_special:
        cut = ExponentialCut(paid, public, weights, apart=apart, smallest=smallest)
    else:
        cut = plan_min_cut(public, paid, delta, weights, example=example).mechanism
    mechanism = cut if share is None else WeighedCut(cut, whole * share)
    require_recordable(mechanism)

    def encode(drawn: Any) -> Json:
        side, *weight = drawn if share is not None else (drawn,)
        listed: list[Json] = [
            [encode_label(node) for node in part] if several else encode_label(part) for part in cut.listed(side)
        ]
        return [listed, *map(str, weight)] if weight else listed

    def decode(written: Any) -> Any:
        listed = written if share is None else written[0]
        side = frozenset(frozenset(map(decode_label, part)) if several else decode_label(part) for part in listed)
        return side if share is None else (side, Fraction(written[1]))

    return release_mechanism(
        mechanism,
        graph,
        progress=progress,
        encode=encode,
        decode=decode,
        parameters={"delta": str(read_rational(delta, "delta")), "asked": fingerprint_of({"example": example})},
        **charge,
    )


def number_of_edges(
    graph: GraphLike,
    epsilon: NumberLike,
    *,
    nodes: Nodes | None = None,
    neighbours: str = "edge",
    most: NumberLike | None = None,
    **charge: Unpack[Charge],
) -> Release:
    """How many edges there are between the public nodes, with geometric noise.

    Args:
        graph: As for `min_cut`.
        epsilon: The privacy.
        nodes: The public nodes, or their number; those that the graph object lists if left out.
        neighbours: What is protected. "edge": one edge comes or goes, and a node with all its edges is not protected.
            "node": all edges of one node change at once, in any way.
        most: For "node": a public number of edges that one node may count for. The noise grows with it. The answer is
            that of the whole graph where no node has more edges, and smaller otherwise.
        **charge: `ledger`, `dataset`, `analyst`, `purpose`, `request_id`: where the price is charged.

    >>> import networkx
    >>> type(number_of_edges(networkx.karate_club_graph(), epsilon=1).value)
    <class 'int'>
    """
    _require_graph(graph)
    public = read_nodes(public_nodes(graph) if nodes is None else nodes)
    _require_neighbours(neighbours, most)
    if neighbours == "edge" and most is not None:
        raise BadParameter("most is for the edges of one node", given=most, fix='add neighbours="node"')
    if most is None:
        return release_mechanism(
            Geometric(epsilon),
            lambda: len(read_graph(graph, public).tails),
            parameters={"asked": fingerprint_of({"edges of": _named(public)})},
            **charge,
        )
    if len(public) > _MOST_IN_FLOWS:
        raise TooLarge(
            f"node level takes at most {_MOST_IN_FLOWS} nodes", given=len(public), fix="ask for parts of the graph"
        )
    bound = min(read_integer(most, "most", at_least=1), max(len(public) - 1, 1))
    return release_mechanism(
        Geometric(epsilon, bound),
        lambda: read_graph(graph, public).edges_within(bound),
        parameters={"asked": fingerprint_of({"edges of": _named(public), "within": bound})},
        **charge,
    )


def components(
    graph: GraphLike, epsilon: NumberLike, *, nodes: Nodes | None = None, **charge: Unpack[Charge]
) -> Release:
    """How many connected parts the public nodes fall into, single nodes too, with geometric noise.

    Args:
        graph: As for `min_cut`.
        epsilon: The privacy, where one edge comes or goes (edge level): it joins two parts or none. A node with all its
            edges is not protected.
        nodes: The public nodes, or their number; those that the graph object lists if left out.
        **charge: `ledger`, `dataset`, `analyst`, `purpose`, `request_id`: where the price is charged.

    >>> import networkx
    >>> type(components(networkx.karate_club_graph(), epsilon=1).value)
    <class 'int'>
    """
    _require_graph(graph)
    public = read_nodes(public_nodes(graph) if nodes is None else nodes)
    return release_mechanism(
        Geometric(epsilon),
        lambda: read_graph(graph, public).components(),
        parameters={"asked": fingerprint_of({"components of": _named(public)})},
        **charge,
    )


def triangles(
    graph: GraphLike, epsilon: NumberLike, *, nodes: Nodes | None = None, **charge: Unpack[Charge]
) -> Release:
    """How many triangles there are between the public nodes, with geometric noise.

    Args:
        graph: As for `min_cut`.
        epsilon: The privacy, where one edge comes or goes (edge level): among n nodes it is in up to n - 2 triangles,
            so the noise grows with the number of nodes. A node with all its edges is not protected.
        nodes: The public nodes, or their number; those that the graph object lists if left out.
        **charge: `ledger`, `dataset`, `analyst`, `purpose`, `request_id`: where the price is charged.

    >>> import networkx
    >>> type(triangles(networkx.karate_club_graph(), epsilon=1).value)
    <class 'int'>
    """
    _require_graph(graph)
    public = read_nodes(public_nodes(graph) if nodes is None else nodes)
    return release_mechanism(
        Geometric(epsilon, max(len(public) - 2, 1)),
        lambda: read_graph(graph, public).triangles(),
        parameters={"asked": fingerprint_of({"triangles of": _named(public)})},
        **charge,
    )


def degrees(graph: GraphLike, epsilon: NumberLike, *, nodes: Nodes | None = None, **charge: Unpack[Charge]) -> Release:
    """How many edges each public node has, in the order of the nodes, with geometric noise on each.

    Args:
        graph: As for `min_cut`.
        epsilon: The privacy, where one edge comes or goes (edge level): it moves two degrees by one. A node with all
            its edges is not protected.
        nodes: The public nodes, or their number; those that the graph object lists if left out.
        **charge: `ledger`, `dataset`, `analyst`, `purpose`, `request_id`: where the price is charged.

    >>> import networkx
    >>> len(degrees(networkx.karate_club_graph(), epsilon=1).value)
    34
    """
    _require_graph(graph)
    public = read_nodes(public_nodes(graph) if nodes is None else nodes)
    return release_mechanism(
        VectorLaplace(epsilon, len(public), 2),
        lambda: read_graph(graph, public).degrees(),
        parameters={"asked": fingerprint_of({"degrees of": _named(public)})},
        **charge,
    )


def degree_counts(
    graph: GraphLike,
    epsilon: NumberLike,
    *,
    most: NumberLike,
    nodes: Nodes | None = None,
    neighbours: str = "edge",
    **charge: Unpack[Charge],
) -> Release:
    """How many public nodes have at least 1, 2, …, `most` edges, with geometric noise: the distribution of degrees.

    Differences of neighbouring numbers tell how many nodes have just so many. The noisy numbers are moved to the
    nearest ones that fall and are not above the number of nodes, which costs nothing.

    Args:
        graph: As for `min_cut`.
        epsilon: The privacy.
        most: The largest degree that is told apart, public.
        nodes: The public nodes, or their number; those that the graph object lists if left out.
        neighbours: What is protected. "edge": one edge comes or goes; it moves two of the numbers by one, or one by
            two. "node": all edges of one node change at once, in any way. Edges are then left out, in the order of
            pairs of nodes, where a node has `most` already; that moves the numbers by 2·most together.
        **charge: `ledger`, `dataset`, `analyst`, `purpose`, `request_id`: where the price is charged.

    >>> import networkx
    >>> counts = degree_counts(networkx.karate_club_graph(), epsilon=100, most=4).value
    >>> counts.tolist()
    [34, 33, 22, 16]
    """
    _require_graph(graph)
    public = read_nodes(public_nodes(graph) if nodes is None else nodes)
    _require_neighbours(neighbours, most)
    bound = read_integer(most, "most", at_least=1, at_most=_MOST_DEGREES)
    by_node = neighbours == "node"

    def truth() -> NDArray[np.int64]:
        edges = read_graph(graph, public)
        found = edges.degrees_within(bound) if by_node else np.minimum(edges.degrees(), bound)
        having = np.bincount(found, minlength=bound + 1)
        return np.asarray(having[:0:-1].cumsum()[::-1], dtype=np.int64)

    return release_mechanism(
        VectorLaplace(epsilon, bound, 2 * bound if by_node else 2),
        truth,
        encode=lambda drawn: [min(int(count), len(public)) for count in nearest_counts(drawn)],
        decode=lambda written: np.array(written, dtype=np.int64),
        parameters={"asked": fingerprint_of({"degree counts of": _named(public), "of": neighbours})},
        **charge,
    )


def k_median(
    points_or_metric: Any,
    demand: Any,
    k: NumberLike,
    epsilon: NumberLike,
    delta: NumberLike = 0,
    *,
    steps: NumberLike | None = None,
    total: NumberLike = 10_000,
    example: Any = None,
    served: bool = False,
    squared: bool = False,
    opening: NumberLike | Sequence[NumberLike] | None = None,
    progress: Progress | None = None,
    **charge: Unpack[Charge],
) -> Release:
    """K facilities among public points with a small total distance to private demand.

    Args:
        points_or_metric: A row of coordinates for each point, or a ready `NoisyDemand` or `KMedian` for any other
            metric; k, epsilon, delta and steps must then be its own.
        demand: The private multiset: the places of the demand, or a count for each point; for points in space also an
            array with a row of coordinates for each demand point, which counts at the nearest public point.
        k: How many facilities.
        epsilon: The privacy, where one demand comes or goes.
        delta: Above zero the steps of a `KMedian` compose more tightly.
        steps: How many swaps; 3k if left out.
        total: About how many demand points there are, public: for choosing the better mechanism.
        example: A public demand like this one to choose by; a made-up one if left out.
        served: Whether to tell how much demand is nearest to each facility, too. It costs nothing more, but is there
            for a `NoisyDemand` only, which is then taken.
        squared: Whether squares of distances are added up, as for k-means with its centres among the public points.
        opening: What a facility costs, one number or one for each point: as many facilities are then taken as the least
            total needs, k at most, by a `NoisyDemand`.
        progress: Called before every swap; interrupting there leaves no budget in doubt.
        **charge: `ledger`, `dataset`, `analyst`, `purpose`, `request_id`: where the price is charged.

    Returns:
        A release whose value is the tuple of the facilities' places; with `served`, of the pair of it and their demand.

    >>> town = [[x, y] for x in range(3) for y in range(3)]
    >>> len(k_median(town, demand=[0, 0, 4, 8], k=2, epsilon=1).value)
    2
    """
    _require_collection(demand, "the demand")
    mechanism: KMedian | NoisyDemand
    if isinstance(points_or_metric, KMedian | NoisyDemand):
        mechanism = points_or_metric
        ready = mechanism.search if isinstance(mechanism, NoisyDemand) else mechanism
        _require_same(ready, k, epsilon, delta, steps)
        if squared or opening is not None or served != (isinstance(mechanism, NoisyDemand) and mechanism.served):
            raise BadParameter(
                "served, squared and opening are those of the ready mechanism",
                given=f"served={served}",
                fix="make NoisyDemand(…, served=True) for example, and leave squared and opening out here",
            )
    else:
        where = {"points": points_or_metric, "steps": steps, "squared": squared}
        if served or opening is not None:
            mechanism = NoisyDemand(epsilon, k, served=served, opening=opening, **where)
        else:
            mechanism = plan_k_median(epsilon, k, delta=delta, total=total, example=example, **where).mechanism
    asked = {"total": read_integer(total, "total", at_least=1), "example": example}
    return release_mechanism(
        mechanism,
        demand,
        progress=progress,
        encode=lambda drawn: [[int(place) for place in part] for part in drawn] if served else list(map(int, drawn)),
        decode=lambda written: tuple(map(tuple, written)) if served else tuple(written),
        parameters={"delta": str(read_rational(delta, "delta")), "asked": fingerprint_of(asked)},
        **charge,
    )


def vertex_cover(
    graph: GraphLike,
    epsilon: NumberLike,
    *,
    nodes: Nodes | None = None,
    example: GraphLike | None = None,
    progress: Progress | None = None,
    **charge: Unpack[Charge],
) -> Release:
    """An order of the nodes; whoever holds the edges reads a vertex cover off it with `decode(order, graph)`.

    Args:
        graph: As for `min_cut`.
        epsilon: The privacy, where an edge comes or goes.
        nodes: The public nodes, or their number; those that the graph object lists if left out.
        example: A public graph on the same nodes, like this one, to choose the better order by; a made-up one if left
            out.
        progress: Called with the share that is done; interrupting there leaves no budget in doubt.
        **charge: `ledger`, `dataset`, `analyst`, `purpose`, `request_id`: where the price is charged.

    Returns:
        A release whose value is the order as an array.

    >>> import networkx
    >>> from leastnoise.combinatorial import decode
    >>> club = networkx.karate_club_graph()
    >>> cover = decode(vertex_cover(club, epsilon=1).value, club)
    >>> all(u in cover or v in cover for u, v in club.edges)
    True
    """
    _require_graph(graph)
    mechanism = plan_vertex_cover(epsilon, public_nodes(graph) if nodes is None else nodes, example=example).mechanism
    require_recordable(mechanism)
    return release_mechanism(
        mechanism,
        graph,
        progress=progress,
        encode=lambda order: [encode_label(node) for node in _plain(order)],
        decode=_as_array,
        parameters={"asked": fingerprint_of({"example": example})},
        **charge,
    )


def sorted_counts(
    counts: Any,
    epsilon: NumberLike,
    *,
    total: NumberLike,
    top: NumberLike | None = None,
    longest: NumberLike | None = None,
    example: Any = None,
    progress: Progress | None = None,
    **charge: Unpack[Charge],
) -> Release:
    """How often the most frequent value occurs, the next one, and so on; not which values they are.

    Args:
        counts: The private counts, in any order.
        epsilon: The privacy, where a record comes or goes.
        total: About how many records there are, public: for choosing the better mechanism.
        top: How many of the largest counts; all if left out.
        longest: How many counts there can be at most, public; `total` if left out.
        example: A public list like this one to choose by; one by Zipf's law if left out.
        progress: Called with the share that is done; interrupting there leaves no budget in doubt.
        **charge: `ledger`, `dataset`, `analyst`, `purpose`, `request_id`: where the price is charged.

    Returns:
        A release whose value is the array of counts, the largest first.

    >>> sorted_counts([50, 30, 30, 2, 1], epsilon=1, total=100).value[0] > 0
    np.True_
    """
    _require_collection(counts, "the counts")
    mechanism = plan_sorted_counts(epsilon, total, top, longest=longest, example=example).mechanism
    asked = {
        "total": read_integer(total, "total"),
        "top": None if top is None else read_integer(top, "top"),
        "longest": None if longest is None else read_integer(longest, "longest"),
        "example": example,
    }
    return release_mechanism(
        mechanism,
        counts,
        progress=progress,
        encode=_run_lengths,
        decode=_from_run_lengths,
        parameters={"asked": fingerprint_of(asked)},
        **charge,
    )


def _named(nodes: Sequence[Hashable]) -> object:
    """The labels, or how many nodes there are where they are only counted."""
    return len(nodes) if isinstance(nodes, range) else tuple(nodes)


def _require_neighbours(neighbours: str, most: NumberLike | None) -> None:
    """Refuse neighbours that are not named, or that need a public bound."""
    if neighbours not in ("edge", "node") or ((neighbours == "node") and most is None):
        raise BadParameter(
            "neighbours differ in one edge, or in all edges of one node, which may count for `most` of them",
            given=f"neighbours={neighbours}, most={most}",
            fix='pass neighbours="node", most=20 for example, or neither',
        )


def _require_graph(graph: object) -> None:
    """Refuse by the form in which a graph is given, which is public; its edges are not looked at."""
    if isinstance(graph, str | Path):
        if not os.path.isfile(graph):  # noqa: PTH113 - also where the name is no path
            raise BadParameter("there is no file with an edge list", given=str(graph), fix="pass the path of a file")
        return
    directed = getattr(graph, "is_directed", None)
    if directed is not None and directed():
        raise BadParameter("the graph is directed", given=type(graph).__name__, fix="pass graph.to_undirected()")
    if directed is None and not hasattr(graph, "tocoo"):
        _require_collection(graph, "the graph")


def _require_collection(value: object, what: str) -> None:
    """Refuse what is no collection at all, whatever it may hold."""
    if not isinstance(value, Iterable) or isinstance(value, str | bytes):
        raise BadParameter(f"{what} must be a list, an array or a mapping", given=type(value).__name__, fix="pass one")


def _require_same(
    mechanism: KMedian, k: NumberLike, epsilon: NumberLike, delta: NumberLike, steps: NumberLike | None
) -> None:
    """Refuse parameters that are not those of a ready mechanism: it would draw by its own."""
    asked = {
        "k": read_integer(k, "k"),
        "epsilon": read_exact(epsilon, "epsilon"),
        "delta": read_rational(delta, "delta"),
        "steps": mechanism.steps if steps is None else read_integer(steps, "steps"),
    }
    for name, value in asked.items():
        own = getattr(mechanism, name)
        if value != own:
            raise BadParameter(
                f"{name} is not that of the ready mechanism",
                given=f"{value}",
                fix=f"pass {name}={own}, or make another",
            )


def _plain(order: Any) -> list[Any]:
    """Nodes as they are: an array of them all would make text of numbers, and rows of tuples."""
    return order.tolist() if isinstance(order, np.ndarray) else list(order)


def _as_array(order: Any) -> NDArray[Any]:
    """The recorded nodes, each as it was: an array of numbers if all are whole, else of objects."""
    nodes = [decode_label(node) for node in order]
    if all(type(node) is int and abs(node) < 1 << 63 for node in nodes):
        return np.array(nodes, dtype=np.int64)
    return np.fromiter(nodes, dtype=object, count=len(nodes))


def _run_lengths(counts: Any) -> Json:
    """Equal counts as one pair: most lists have few different ones."""
    runs: list[Json] = [[int(count), sum(1 for _ in run)] for count, run in groupby(np.asarray(counts).tolist())]
    return runs


def _from_run_lengths(runs: Any) -> NDArray[Any]:
    counts = np.array([count for count, _ in runs], dtype=object if any(count >= 1 << 63 for count, _ in runs) else int)
    return np.repeat(counts, [length for _, length in runs])

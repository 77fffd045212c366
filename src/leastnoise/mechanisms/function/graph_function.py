"""A function on the nodes of a finite dataset graph, both public; which node is the true one is private."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeAlias

from leastnoise.errors import BadGraph, BadParameter, shown
from leastnoise.model.graphs import DatasetGraph, parse_graph

__all__ = ["Function", "node_place", "read_finite_graph", "values_of"]

Function: TypeAlias = Callable[[Any], Any] | Mapping[Any, Any]


def read_finite_graph(graph: DatasetGraph | str) -> DatasetGraph:
    """The graph, also from text such as "path:20".

    Raises:
        BadGraph: It is no graph, or infinite.
    """
    space = parse_graph(graph) if isinstance(graph, str) else graph
    if not isinstance(space, DatasetGraph) or space.size is None:
        given = space.name if isinstance(space, DatasetGraph) else type(graph).__name__
        raise BadGraph("the graph must be a finite dataset graph", given=given, fix='pass for example "path:20"')
    return space


def values_of(function: Function, graph: DatasetGraph) -> tuple[Any, ...]:
    """The value at each node, in node order.

    >>> values_of(lambda n: n // 2, parse_graph("path:4"))
    (0, 0, 1, 1)
    """
    if isinstance(function, Mapping):
        missing = [node for node in graph.nodes if node not in function]
        if missing:
            raise BadParameter("the function has no value at a node", given=shown(missing[0]), fix="list every node")
        return tuple(function[node] for node in graph.nodes)
    if not callable(function):
        raise BadParameter(
            "the function must be a function of a node, or a mapping", given=type(function).__name__, fix="pass one"
        )
    return tuple(function(node) for node in graph.nodes)


def node_place(truth: Any, graph: DatasetGraph) -> int:
    """The place of the private node; an error does not show it."""
    if isinstance(truth, Hashable) and truth in graph:
        return graph.index(truth)
    raise BadParameter("the truth must be a node of the graph", fix="map other data to a node before asking")

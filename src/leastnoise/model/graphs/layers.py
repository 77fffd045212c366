"""Layers: the nodes at each distance from a start node, and how neighbouring layers are joined."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from leastnoise.errors import BadGraph
from leastnoise.exact import IntArray, Length

if TYPE_CHECKING:
    from leastnoise.model.graphs.base import DatasetGraph

__all__ = ["LayerDegrees", "layer_degrees_from", "layers_from"]


@dataclass(frozen=True, eq=False)
class LayerDegrees:
    """How many neighbours each node has one layer nearer to the start, in its own layer and one layer further.

    The layer sequence is regular when, within every layer, all nodes have equally many neighbours nearer and equally
    many further (Aldà and Simon 2017, before Lemma 3); edges inside a layer do not matter.

    Attributes:
        start: The node all distances are measured from.
        distance: The layer of each node; this and the following arrays are in node order.
        nearer: Number of neighbours in the previous layer.
        level: Number of neighbours in the same layer.
        further: Number of neighbours in the next layer.
        counterexample: Two nodes of one layer whose degrees differ; None when the sequence is regular.

    >>> from leastnoise.model.graphs import path
    >>> seen = path(4).layer_degrees(1)
    >>> seen.distance.tolist(), seen.nearer.tolist(), seen.further.tolist(), seen.is_regular, seen.counterexample
    ([1, 0, 1, 2], [1, 0, 1, 1], [0, 2, 1, 0], False, (0, 2))
    """

    start: Hashable
    distance: IntArray
    nearer: IntArray
    level: IntArray
    further: IntArray
    counterexample: tuple[Hashable, Hashable] | None

    @property
    def is_regular(self) -> bool:
        """Whether all layers are regular."""
        return self.counterexample is None


def layers_from(graph: DatasetGraph, start: Hashable) -> list[tuple[Length, IntArray]]:
    """The layers of a finite graph, nearest first: each distance with the indices of its nodes."""
    distances = graph.distances_from(start)
    order = np.argsort(distances, kind="stable")
    ordered = distances[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    return [(_plain(ordered[first]), nodes) for first, nodes in zip(starts, np.split(order, starts[1:]), strict=True)]


def layer_degrees_from(graph: DatasetGraph, start: Hashable) -> LayerDegrees:
    """Count, edge by edge, in which direction it leaves each layer."""
    if graph.edge_lengths() is not None:
        raise BadGraph(
            "degrees between layers are defined for graphs, whose edges all have length one",
            given=graph.name,
            fix="use from_edges for the graph behind the metric",
        )
    distance = graph.distances_from(start)
    edges = graph.edges()
    rise = distance[edges[:, 1]] - distance[edges[:, 0]]
    nearer, level, further = (
        np.bincount(edges[rise == step, 0], minlength=len(distance))
        + np.bincount(edges[rise == -step, 1], minlength=len(distance))
        for step in (-1, 0, 1)
    )
    # The first node met in each layer stands for it; a node that differs from its stand-in breaks regularity.
    _, first, layer = np.unique(distance, return_index=True, return_inverse=True)
    differs = (nearer != nearer[first][layer]) | (further != further[first][layer])
    counterexample = None
    if differs.any():
        node = int(differs.argmax())
        counterexample = (graph.nodes[int(first[layer[node]])], graph.nodes[node])
    return LayerDegrees(start, distance, nearer, level, further, counterexample)


def _plain(distance: Any) -> Length:
    return distance if isinstance(distance, Fraction) else int(distance)

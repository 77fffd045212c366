"""The boundary rainbow graph: one line per rainbow, its heads joined where regions touch.

Node (c, i) stands for all datasets of rainbow c at distance i from the boundary of their region. The map that sends a
dataset there is a morphism that keeps rainbows, so mechanisms on the lines pull back to the whole graph (Gu et al.
2024, Definition 8 and Theorem 3).
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import chain

from leastnoise.errors import NotAMorphism
from leastnoise.mechanisms.rainbow.rainbow_graph import RainbowGraph
from leastnoise.model.graphs import DatasetGraph, Morphism, from_edges

__all__ = ["boundary_morphism", "boundary_rainbow_graph", "lines_graph", "require_rainbow_preserving"]


def lines_graph(
    heads: tuple[Hashable, ...], depths: tuple[int, ...], touching: frozenset[tuple[int, int]]
) -> DatasetGraph:
    """A line (c, 0), (c, 1), … down to its depth for each head, and an edge between heads that touch."""
    nodes = [(head, i) for head, depth in zip(heads, depths, strict=True) for i in range(depth + 1)]
    along = [((head, i), (head, i + 1)) for head, depth in zip(heads, depths, strict=True) for i in range(depth)]
    across = [((heads[one], 0), (heads[other], 0)) for one, other in sorted(touching)]
    return from_edges(chain(along, across), nodes)


def boundary_rainbow_graph(rainbow_graph: RainbowGraph) -> RainbowGraph:
    """The boundary rainbow graph of a rainbow graph.

    >>> from leastnoise.model.graphs import path
    >>> votes = RainbowGraph(path(7), lambda n: ("yes", "no") if n >= 4 else ("no", "yes"))
    >>> boundary_rainbow_graph(votes).graph.nodes[:4]
    ((('no', 'yes'), 0), (('no', 'yes'), 1), (('no', 'yes'), 2), (('no', 'yes'), 3))
    """
    lines = lines_graph(rainbow_graph.rainbows, rainbow_graph.depths(), rainbow_graph.touching)
    return RainbowGraph(lines, lambda node: node[0])


def boundary_morphism(rainbow_graph: RainbowGraph) -> Morphism:
    """The map dataset ↦ (its rainbow, its distance to the boundary), checked edge by edge.

    >>> from leastnoise.model.graphs import path
    >>> votes = RainbowGraph(path(7), lambda n: ("yes", "no") if n >= 4 else ("no", "yes"))
    >>> boundary_morphism(votes)(6)
    (('yes', 'no'), 2)
    """
    images = {
        node: (rainbow_graph.rainbows[region], distance)
        for node, region, distance in zip(
            rainbow_graph.graph.nodes, rainbow_graph.regions.tolist(), rainbow_graph.distances.tolist(), strict=True
        )
    }
    return Morphism(rainbow_graph.graph, boundary_rainbow_graph(rainbow_graph).graph, images)


def require_rainbow_preserving(morphism: Morphism, source: RainbowGraph, target: RainbowGraph) -> None:
    """Refuse a morphism that takes a dataset to one of another preference.

    Raises:
        NotAMorphism: It goes between other graphs, or changes a preference; the dataset is named.
    """
    if (morphism.source, morphism.target) != (source.graph, target.graph):
        raise NotAMorphism(
            "the morphism goes between other graphs",
            given=repr(morphism),
            fix="pass the rainbow graphs it goes between",
        )
    for node in source.graph.nodes:
        image = morphism(node)
        if source.rainbow(node) != target.rainbow(image):
            raise NotAMorphism(
                "a dataset is taken to one of another preference",
                given=f"{node!r} prefers {source.rainbow(node)}, {image!r} prefers {target.rainbow(image)}",
                fix="map each region into the region of the same preference",
            )

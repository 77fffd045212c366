"""Maps between dataset graphs, along which mechanisms travel backwards.

A morphism g takes neighbours to neighbours or to the same node; between metrics, it takes no two nodes further apart
than they were. If M is (ε, δ)-private on the target then M ∘ g is (ε, δ)-private on the source (Gu et al., "Rainbow
differential privacy", Theorem 1): each edge of the source lands on an edge of the target, or on a single node.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import repeat
from typing import TYPE_CHECKING, Any

from leastnoise.errors import NotAMorphism, UnknownLabel, shown
from leastnoise.exact import Length
from leastnoise.model.graphs.base import DatasetGraph
from leastnoise.model.limits import require_memory

if TYPE_CHECKING:
    from leastnoise.model.channel import Channel

__all__ = ["Morphism"]


class Morphism:
    """A map from one dataset graph to another that never takes neighbours apart; checked edge by edge when made.

    Args:
        source: A finite graph or metric.
        target: Any graph or metric, also an infinite one.
        mapping: The image of each label, as a mapping or a function.

    Raises:
        NotAMorphism: An edge is stretched; it is named together with its image.
        UnknownLabel: A node has no image, or one that is not in the target.
        InfiniteGraph: The source can't be checked edge by edge.

    >>> from leastnoise.model.graphs import hypercube, path
    >>> ones = Morphism(hypercube(3), path(4), sum)
    >>> ones, ones((1, 0, 1))
    (hypercube(3) → path(4), 2)
    >>> Morphism(hypercube(3), path(8), lambda bits: 4 * bits[0] + 2 * bits[1] + bits[2])
    Traceback (most recent call last):
    leastnoise.errors.NotAMorphism: two neighbours are taken too far apart; given: (0, 0, 0) and (0, 1, 0) at ...
    """

    def __init__(
        self,
        source: DatasetGraph,
        target: DatasetGraph,
        mapping: Mapping[Hashable, Hashable] | Callable[[Any], Hashable],
    ) -> None:
        image_of = _lookup(mapping) if isinstance(mapping, Mapping) else mapping
        nodes = tuple(source.nodes)
        images = tuple(image_of(node) for node in nodes)
        for node, image in zip(nodes, images, strict=True):
            if image not in target:
                raise UnknownLabel(
                    f"the image of {shown(node)} is no node of {target.name}",
                    given=shown(image),
                    fix="correct the mapping",
                )
        self._source, self._target, self._nodes, self._images = source, target, nodes, images
        self._check()

    def _check(self) -> None:
        edges = self.source.edges().tolist()
        lengths: Iterable[Length] = self.source.edge_lengths() or repeat(1)
        allowed: dict[tuple[Hashable, Hashable], tuple[Length, int, int]] = {}
        for (i, j), length in zip(edges, lengths, strict=False):
            pair = self._images[i], self._images[j]
            if pair not in allowed or length < allowed[pair][0]:  # many edges share an image: the shortest decides
                allowed[pair] = length, i, j
        for (one, other), (length, i, j) in allowed.items():
            stretched = self.target.distance(one, other)
            if stretched > length:
                edge = f"{self._nodes[i]!r} and {self._nodes[j]!r} at distance {length}"
                raise NotAMorphism(
                    "two neighbours are taken too far apart",
                    given=f"{edge} go to {shown(one)} and {shown(other)} at distance {stretched}",
                    fix="map neighbours to neighbours or to the same node",
                )

    @property
    def source(self) -> DatasetGraph:
        """Where the map starts."""
        return self._source

    @property
    def target(self) -> DatasetGraph:
        """Where the map ends."""
        return self._target

    def __call__(self, node: Hashable) -> Hashable:
        """The image of a node."""
        return self._images[self.source.index(node)]

    def then(self, second: Morphism) -> Morphism:
        """This morphism followed by `second`, whose source must be this one's target.

        >>> from leastnoise.model.graphs import hypercube, path
        >>> at_most_two = Morphism(path(4), path(3), lambda n: min(n, 2))
        >>> Morphism(hypercube(3), path(4), sum).then(at_most_two)((1, 1, 1))
        2
        """
        if second.source != self.target:
            raise NotAMorphism(
                f"a map that starts in {second.source.name} can't follow one that ends in {self.target.name}",
                fix="compose maps where one ends in the graph in which the next starts",
            )
        return Morphism(self.source, second.target, dict(zip(self._nodes, map(second, self._images), strict=True)))

    def pull_back(self, channel: Channel) -> Channel:
        """The channel on the source that answers for x as `channel` answers for the image of x.

        It keeps every privacy promise that `channel` makes on the target.

        Raises:
            UnknownLabel: `channel` has no row for the image of some node.
        """
        require_memory(
            8 * len(self._images) * len(channel.outputs),
            f"a channel from {self.source.name} to {len(channel.outputs)} outputs",
            "apply the morphism to one node and ask the channel for its row",
        )
        return channel.select(dict(zip(self._nodes, self._images, strict=True)))

    def __eq__(self, other: object) -> bool:
        """The same map between equal graphs."""
        if not isinstance(other, Morphism):
            return NotImplemented
        return (self.source, self.target, self._images) == (other.source, other.target, other._images)

    def __hash__(self) -> int:
        """Equal morphisms have equal hashes."""
        return hash((self.source, self.target, self._images))

    def __repr__(self) -> str:
        """From where to where."""
        return f"{self.source.name} → {self.target.name}"


def _lookup(mapping: Mapping[Hashable, Hashable]) -> Callable[[Any], Hashable]:
    def image_of(node: Hashable) -> Hashable:
        if node not in mapping:
            raise UnknownLabel("a node has no image", given=shown(node), fix="map every node of the source")
        return mapping[node]

    return image_of

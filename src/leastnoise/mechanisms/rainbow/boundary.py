"""What is fixed at the boundary: one distribution per rainbow, private across every two regions that touch.

In the boundary rainbow graph each rainbow has a line, and the heads of lines are joined where regions touch. Node (c,
i) stands for all datasets of rainbow c at distance i from the boundary of their region. The map that sends a dataset
there is a morphism that keeps rainbows, so mechanisms on the lines pull back to the whole graph (Gu et al. 2024,
Definition 8 and Theorem 3).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import NamedTuple, TypeAlias

from leastnoise.errors import BadBoundary, NotAMorphism, shown
from leastnoise.exact import NumberLike
from leastnoise.mechanisms.rainbow.rainbow_graph import Rainbow, RainbowGraph, read_rainbow
from leastnoise.mechanisms.rainbow.rainbow_operator import Distribution, Operator, privacy_excess, read_distribution
from leastnoise.model.graphs import DatasetGraph, Morphism, from_edges

__all__ = [
    "Boundary",
    "BoundaryLike",
    "BoundaryViolation",
    "boundary_morphism",
    "boundary_rainbow_graph",
    "homogeneous_boundary",
    "lines_graph",
    "read_boundary",
    "require_rainbow_preserving",
    "require_valid",
    "violations",
]

Boundary: TypeAlias = dict[Rainbow, Distribution]
BoundaryLike = Mapping[Rainbow, Sequence[NumberLike] | Mapping[Hashable, NumberLike]]


class BoundaryViolation(NamedTuple):
    """P(colours | one) exceeds e^ε·P(colours | other) + δ by `excess`."""

    one: Rainbow
    other: Rainbow
    colours: tuple[Hashable, ...]
    excess: Fraction


def read_boundary(boundary: BoundaryLike, rainbows: Sequence[Rainbow] | None = None) -> Boundary:
    """One distribution per rainbow, best colour of that rainbow first.

    Args:
        boundary: For each rainbow its probabilities: a list, best colour first, or {colour: probability}.
        rainbows: Those that occur; each must have its distribution.

    >>> read_boundary({("a", "b"): [0.6, 0.4], ("b", "a"): {"a": 0.3, "b": 0.7}})[("b", "a")]
    (Fraction(7, 10), Fraction(3, 10))
    """
    if not isinstance(boundary, Mapping) or not boundary:
        raise BadBoundary("the boundary is {rainbow: distribution}", given=boundary, fix="give one for every rainbow")
    colours = frozenset(next(iter(boundary)))
    read: Boundary = {}
    for preference, values in boundary.items():
        rainbow = read_rainbow(preference, colours)
        if isinstance(values, Mapping):
            unknown = next((colour for colour in values if colour not in colours), None)
            if unknown is not None:
                raise BadBoundary("a colour is in no rainbow", given=unknown, fix="use the colours of the rainbows")
            values = [values.get(colour, 0) for colour in rainbow]
        read[rainbow] = read_distribution(values, f"the boundary of {rainbow}", len(rainbow))
    missing = next((rainbow for rainbow in rainbows or () if rainbow not in read), None)
    if missing is not None:
        raise BadBoundary("a region has no boundary distribution", given=missing, fix="give one for every rainbow")
    return read


def violations(
    boundary: Boundary, touching: Iterable[tuple[Rainbow, Rainbow]], operator: Operator
) -> list[BoundaryViolation]:
    """Where two regions that touch are not (ε, δ)-close, the worst first."""
    found = []
    for pair in touching:
        for one, other in (pair, pair[::-1]):
            near = dict(zip(other, boundary[other], strict=True))
            aligned = [near[colour] for colour in one]
            excess = privacy_excess(boundary[one], aligned, operator.factor) - operator.delta
            if excess > 0:
                heavy = [p > operator.factor * q for p, q in zip(boundary[one], aligned, strict=True)]
                colours = tuple(colour for colour, is_heavy in zip(one, heavy, strict=True) if is_heavy)
                found.append(BoundaryViolation(one, other, colours, excess))
    return sorted(found, key=lambda violation: violation.excess, reverse=True)


def require_valid(boundary: Boundary, touching: Iterable[tuple[Rainbow, Rainbow]], operator: Operator) -> None:
    """Refuse a boundary that is not (ε, δ)-close across every two regions that touch (Gu et al. 2024, Theorem 2).

    Raises:
        BadBoundary: Names the two regions that are furthest apart, and by how much.
    """
    broken = violations(boundary, touching, operator)
    if broken:
        worst = broken[0]
        raise BadBoundary(
            f"the boundary is not private between {worst.one} and {worst.other}",
            given=f"P({set(worst.colours)}) is too large by {worst.excess} (about {float(worst.excess):.3g})",
            fix="bring the two distributions closer together, or use best_boundary",
        )


def homogeneous_boundary(
    rainbow_graph: RainbowGraph, conditions: Mapping[Hashable, Sequence[NumberLike]]
) -> Boundary | None:
    """The distribution of each rainbow where all its boundary datasets have the same one; None where they do not.

    Args:
        rainbow_graph: The graph.
        conditions: For every boundary dataset its distribution, its own best colour first.
    """
    read: Boundary = {}
    for rainbow in rainbow_graph.rainbows:
        for dataset in rainbow_graph.boundary(rainbow):
            if dataset not in conditions:
                raise BadBoundary("a boundary dataset has no distribution", given=shown(dataset), fix="give it one")
            own = read_distribution(conditions[dataset], f"the distribution of {shown(dataset)}")
            if read.setdefault(rainbow, own) != own:
                return None
    return read


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
            given=shown(morphism),
            fix="pass the rainbow graphs it goes between",
        )
    for node in source.graph.nodes:
        image = morphism(node)
        if source.rainbow(node) != target.rainbow(image):
            raise NotAMorphism(
                "a dataset is taken to one of another preference",
                given=f"{shown(node)} prefers {source.rainbow(node)}, {shown(image)} prefers {target.rainbow(image)}",
                fix="map each region into the region of the same preference",
            )

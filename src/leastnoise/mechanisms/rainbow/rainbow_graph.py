"""Rainbow graphs: a dataset graph in which every dataset ranks the colours that can be answered.

The datasets with one ranking c (a rainbow) are its region B^c; those of them with a neighbour of another region are its
boundary ∂B^c, the others its interior (Gu et al. 2024, Definitions 1 and 5). A shortest way out of a region passes its
boundary first, so the distance to ∂B^c is found inside the region, for all regions by one search.

One law dominates another if it is better for every utility that never prefers a worse colour (Gu et al. 2024,
Definition 3).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadGraph, BadParameter, BadRainbow, UnknownLabel, shown
from leastnoise.model import Channel
from leastnoise.model.graphs import DatasetGraph

__all__ = [
    "Rainbow",
    "RainbowGraph",
    "dominates",
    "dominates_lexicographically",
    "preferred_rows",
    "read_rainbow",
    "read_rainbows",
]

Rainbow: TypeAlias = tuple[Hashable, ...]
Preferences = Mapping[Hashable, Sequence[Hashable]] | Callable[[Any], Sequence[Hashable]]
IntArray = NDArray[np.int64]


def read_rainbow(preference: Sequence[Hashable], colours: frozenset[Hashable] | None = None) -> Rainbow:
    """A preference as a tuple, best colour first; it must name every colour once.

    >>> read_rainbow(["tea", "coffee", "tea"])
    Traceback (most recent call last):
    leastnoise.errors.BadRainbow: a preference must name every colour once; given: ('tea', 'coffee', 'tea'); ...
    """
    if isinstance(preference, str) or not hasattr(preference, "__iter__"):
        raise BadRainbow("a preference is a list of colours, best first", given=preference, fix="write ('a', 'b')")
    rainbow = tuple(preference)
    try:
        named = frozenset(rainbow)
    except TypeError:
        raise BadRainbow("this can't be a colour", given=rainbow, fix="use text, numbers or tuples") from None
    if not rainbow or len(named) < len(rainbow) or (colours is not None and named != colours):
        wanted = "each colour once" if colours is None else f"an order of {sorted(map(str, colours))}"
        raise BadRainbow("a preference must name every colour once", given=rainbow, fix=f"pass {wanted}")
    return rainbow


def read_rainbows(preferences: Sequence[Sequence[Hashable]]) -> tuple[Rainbow, ...]:
    """Different preferences over the same colours, at least one."""
    read: list[Rainbow] = []
    for preference in preferences:
        read.append(read_rainbow(preference, frozenset(read[0]) if read else None))
    if not read or len(set(read)) < len(read):
        raise BadRainbow("rainbows must be different preferences", given=preferences, fix="name each rainbow once")
    return tuple(read)


class RainbowGraph:
    """A dataset graph with a preference for each dataset.

    Args:
        graph: Which datasets are neighbours.
        preferences: {dataset: its colours, best first}, or a function of the dataset.

    Raises:
        BadRainbow: A preference is no order of all colours, or all datasets have the same one.
        UnknownLabel: A dataset has no preference.

    >>> from leastnoise.model.graphs import path
    >>> votes = RainbowGraph(path(7), lambda n: ("yes", "no") if n >= 4 else ("no", "yes"))
    >>> votes.boundary(("yes", "no")), votes.interior(("yes", "no")), votes.distance(6)
    ((4,), (5, 6), 2)
    """

    def __init__(self, graph: DatasetGraph, preferences: Preferences) -> None:
        if not isinstance(graph, DatasetGraph):
            raise BadGraph("graph must be a dataset graph", given=type(graph).__name__, fix="pass for example path(5)")
        if not callable(preferences) and not isinstance(preferences, Mapping):
            raise BadRainbow(
                "preferences must be a mapping or a function of the dataset",
                given=type(preferences).__name__,
                fix="pass {dataset: (best colour, next, …)}",
            )
        rainbows: dict[Rainbow, int] = {}
        numbers = np.empty(len(graph.nodes), dtype=np.int64)
        for place, node in enumerate(graph.nodes):
            given = preferences(node) if callable(preferences) else _look_up(preferences, node)
            colours = frozenset(next(iter(rainbows))) if rainbows else None
            numbers[place] = rainbows.setdefault(read_rainbow(given, colours), len(rainbows))
        self._fill(graph, tuple(rainbows), numbers)

    @classmethod
    def from_regions(cls, graph: DatasetGraph, rainbows: Sequence[Sequence[Hashable]], regions: Any) -> RainbowGraph:
        """A rainbow graph from arrays, for millions of datasets.

        Args:
            graph: Which datasets are neighbours.
            rainbows: The preferences that occur.
            regions: For each dataset, in node order, which of `rainbows` it has.

        >>> from leastnoise.model.graphs import path
        >>> RainbowGraph.from_regions(path(4), [("a", "b"), ("b", "a")], [0, 0, 1, 1]).distance(0)
        1
        """
        read = read_rainbows(rainbows)
        numbers = np.asarray(regions)
        fits = numbers.shape == (len(graph.nodes),) and numbers.dtype.kind in "iu"
        if not fits or set(np.unique(numbers).tolist()) != set(range(len(read))):
            raise BadRainbow(
                "regions must say for each dataset which of the rainbows it has, and each must occur",
                given=f"{len(read)} rainbows, an array of shape {numbers.shape}",
                fix="number the rainbows 0, 1, 2, … and give one number per dataset, in node order",
            )
        made = cls.__new__(cls)
        made._fill(graph, read, numbers.astype(np.int64))
        return made

    def _fill(self, graph: DatasetGraph, rainbows: tuple[Rainbow, ...], regions: IntArray) -> None:
        if graph.edge_lengths() is not None:
            raise BadGraph("a metric has no neighbours to tell regions by", given=graph.name, fix="pass a graph")
        if len(rainbows) < 2:
            raise BadRainbow(
                "every dataset has the same preference",
                given=rainbows[0],
                fix="answer its first colour: that tells nothing about the data, and needs no mechanism",
            )
        regions.flags.writeable = False
        self.graph, self.rainbows, self.regions = graph, rainbows, regions

    @property
    def colours(self) -> Rainbow:
        """All colours, in the order of the first rainbow."""
        return self.rainbows[0]

    def rainbow(self, dataset: Hashable) -> Rainbow:
        """The preference of a dataset."""
        return self.rainbows[int(self.regions[self.graph.index(dataset)])]

    def distance(self, dataset: Hashable) -> int:
        """How far a dataset is from the boundary of its region; 0 on the boundary."""
        return int(self.distances[self.graph.index(dataset)])

    def region(self, rainbow: Sequence[Hashable]) -> tuple[Hashable, ...]:
        """B^c, the datasets with this preference, in node order."""
        return self._select(self.regions == self.number(rainbow))

    def boundary(self, rainbow: Sequence[Hashable]) -> tuple[Hashable, ...]:
        """∂B^c, those of them with a neighbour of another preference."""
        return self._select((self.regions == self.number(rainbow)) & self.on_boundary)

    def interior(self, rainbow: Sequence[Hashable]) -> tuple[Hashable, ...]:
        """(B^c)°, those of them without one."""
        return self._select((self.regions == self.number(rainbow)) & ~self.on_boundary)

    def number(self, rainbow: Sequence[Hashable]) -> int:
        """The place of a rainbow among `rainbows`."""
        wanted = read_rainbow(rainbow, frozenset(self.colours))
        if wanted not in self.rainbows:
            raise BadRainbow("no dataset has this preference", given=wanted, fix="see `rainbows` for those that occur")
        return self.rainbows.index(wanted)

    @cached_property
    def _edges(self) -> IntArray:
        return self.graph.edges()

    @cached_property
    def _crossing(self) -> NDArray[np.bool_]:
        crossing: NDArray[np.bool_] = self.regions[self._edges[:, 0]] != self.regions[self._edges[:, 1]]
        return crossing

    @cached_property
    def on_boundary(self) -> NDArray[np.bool_]:
        """Whether each dataset has a neighbour of another region, in node order."""
        marked = np.zeros(len(self.regions), dtype=np.bool_)
        marked[self._edges[self._crossing].ravel()] = True
        return marked

    @cached_property
    def touching(self) -> frozenset[tuple[int, int]]:
        """The pairs of regions that touch, by their numbers, the smaller first."""
        pairs = np.sort(self.regions[self._edges[self._crossing]], axis=1)
        return frozenset((int(one), int(other)) for one, other in np.unique(pairs, axis=0))

    @cached_property
    def distances(self) -> IntArray:
        """Every dataset's distance to the boundary of its region, in node order, by one search from all boundaries."""
        from scipy.sparse import csr_array  # slow to import, and seldom needed
        from scipy.sparse.csgraph import dijkstra

        inside = self._edges[~self._crossing]
        size = len(self.regions)
        ones = np.ones(len(inside), dtype=np.int8)
        within = csr_array((ones, (inside[:, 0], inside[:, 1])), shape=(size, size))
        starts = np.flatnonzero(self.on_boundary)
        found: Any = dijkstra(within, directed=False, indices=starts, unweighted=True, min_only=True)
        distances: IntArray = found.astype(np.int64)
        distances.flags.writeable = False
        return distances

    def depths(self) -> tuple[int, ...]:
        """The largest distance to the boundary in each region."""
        deepest = np.zeros(len(self.rainbows), dtype=np.int64)
        np.maximum.at(deepest, self.regions, self.distances)
        return tuple(deepest.tolist())

    def _select(self, chosen: NDArray[np.bool_]) -> tuple[Hashable, ...]:
        nodes = self.graph.nodes
        return tuple(nodes[int(place)] for place in np.flatnonzero(chosen))

    def __repr__(self) -> str:
        """The graph and how many regions it falls into."""
        return f"{self.graph.name} in {len(self.rainbows)} rainbows of {len(self.colours)} colours"


def _look_up(preferences: Mapping[Hashable, Sequence[Hashable]], node: Hashable) -> Sequence[Hashable]:
    if node not in preferences:
        raise UnknownLabel("a dataset has no preference", given=shown(node), fix="give a preference for every dataset")
    return preferences[node]


Sorted = Sequence[Fraction | int]


def dominates(one: Sorted | Channel, other: Sorted | Channel, rainbow_graph: RainbowGraph | None = None) -> bool:
    """Whether `one` is at least as likely as `other` to be among the k best colours, for every k.

    Args:
        one: A distribution, best colour first, or a channel from datasets to colours.
        other: The same.
        rainbow_graph: The preferences of the datasets, for channels; each dataset must agree.

    >>> dominates([Fraction(1, 2), Fraction(1, 2), 0], [Fraction(1, 3)] * 3)
    True
    """
    return _compare(_above, one, other, rainbow_graph)


def dominates_lexicographically(
    one: Sorted | Channel, other: Sorted | Channel, rainbow_graph: RainbowGraph | None = None
) -> bool:
    """Whether `one` equals `other` or has more on the best colour where they differ; weaker than dominance.

    >>> half, third = [Fraction(1, 2), 0, Fraction(1, 2)], [Fraction(1, 3)] * 3
    >>> dominates_lexicographically(half, third), dominates(half, third)
    (True, False)
    """
    return _compare(lambda p, q: tuple(p) >= tuple(q), one, other, rainbow_graph)


def preferred_rows(channel: Channel, rainbow_graph: RainbowGraph) -> list[tuple[Fraction, ...]]:
    """Each dataset's distribution, its own best colour first, in node order."""
    return [
        tuple(Fraction(channel.probability(colour, node)) for colour in rainbow_graph.rainbow(node))
        for node in rainbow_graph.graph.nodes
    ]


def _above(one: Sorted, other: Sorted) -> bool:
    return all(s >= r for s, r in zip(accumulate(one), accumulate(other), strict=True))


def _compare(
    better: Callable[[Sorted, Sorted], bool],
    one: Sorted | Channel,
    other: Sorted | Channel,
    rainbow_graph: RainbowGraph | None,
) -> bool:
    if not isinstance(one, Channel) and not isinstance(other, Channel):
        return better(one, other)
    if not (isinstance(one, Channel) and isinstance(other, Channel) and rainbow_graph is not None):
        raise BadParameter(
            "two channels are compared by the preferences of a rainbow graph",
            given=f"{type(one).__name__} and {type(other).__name__}",
            fix="pass two channels and the rainbow graph, or two distributions",
        )
    pairs = zip(preferred_rows(one, rainbow_graph), preferred_rows(other, rainbow_graph), strict=True)
    return all(better(p, q) for p, q in pairs)

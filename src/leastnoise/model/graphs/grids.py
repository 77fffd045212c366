"""Hamming graphs, hypercubes, grids and tori: nodes are the tuples in a box, and each is a Cartesian product.

In a Cartesian product neighbours differ in one coordinate, along an edge of that factor: paths make a grid, cycles a
torus, complete graphs a Hamming graph.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import comb, prod
from typing import Any

import numpy as np

from leastnoise.errors import BadGraph
from leastnoise.exact import IntArray, Length, NumberLike, Point, read_integer
from leastnoise.model.graphs.base import DatasetGraph
from leastnoise.model.graphs.closed_form import TupleGraph, plus, times_run
from leastnoise.model.graphs.path_cycle_complete import complete, cycle, path
from leastnoise.model.graphs.sequences import Box, as_tuple
from leastnoise.model.limits import require_memory

__all__ = ["factors_of", "grid", "hamming", "hypercube", "torus"]

_LONGEST = 4096  # coordinates; the number of nodes is then still a number one can write down


def hypercube(dimension: NumberLike) -> DatasetGraph:
    """Databases of one bit per person; neighbours differ in one bit. The same as hamming(dimension, 2).

    >>> hypercube(20), hypercube(20).size, hypercube(20).layer_size((0,) * 20, 2), hypercube(2).distance((0, 1), (1, 0))
    (hypercube(20), 1048576, 190, 2)
    """
    return Hamming(read_integer(dimension, "dimension", at_least=1, at_most=_LONGEST), 2)


def hamming(length: NumberLike, alphabet: NumberLike) -> DatasetGraph:
    """Databases of `length` records out of `alphabet` values; d counts the records that differ.

    >>> hamming(3, 4), hamming(3, 4).size, hamming(3, 4).distance((0, 3, 2), (0, 1, 1))
    (hamming(3, 4), 64, 2)
    """
    return Hamming(
        read_integer(length, "length", at_least=1, at_most=_LONGEST), read_integer(alphabet, "alphabet", at_least=1)
    )


def grid(*sides: NumberLike) -> DatasetGraph:
    """Tuples of counts 0 ≤ x_k < side_k; neighbours differ by one in one coordinate, d(x, y) = ‖x − y‖₁.

    >>> grid(3, 4), grid(3, 4).distance((0, 0), (2, 3)), grid(3, 3).degree((1, 1)), grid(3, 3).is_vertex_transitive()
    (grid(3, 4), 5, 4, False)
    """
    if not 1 <= len(sides) <= _LONGEST:
        raise BadGraph(f"a grid has from 1 to {_LONGEST} sides", given=f"{len(sides)} sides", fix="write grid(3, 4)")
    return Grid(tuple(read_integer(side, "side", at_least=1) for side in sides))


def torus(*sides: NumberLike) -> DatasetGraph:
    """Tuples of places on cycles of at least three; neighbours differ by a step of one, d adds up the shorter ways.

    >>> torus(5, 7), torus(5, 7).distance((0, 0), (4, 3)), torus(5, 7).degree((0, 0))
    (torus(5, 7), 4, 4)
    """
    if not 1 <= len(sides) <= _LONGEST:
        raise BadGraph(f"a torus has from 1 to {_LONGEST} sides", given=f"{len(sides)} sides", fix="write torus(5, 7)")
    return Torus(tuple(read_integer(side, "side", at_least=3) for side in sides))


def factors_of(graph: DatasetGraph) -> tuple[DatasetGraph, ...]:
    """The graphs that this one is the Cartesian product of, one for each coordinate; none if it is not made so.

    >>> factors_of(grid(3, 4)), factors_of(hypercube(2)), factors_of(torus(5, 7))
    ((path(3), path(4)), (complete(2), complete(2)), (cycle(5), cycle(7)))
    """
    return graph.factors if isinstance(graph, _BoxGraph) and len(graph.sides) > 1 else ()


class _BoxGraph(TupleGraph):
    """A graph whose neighbours differ in one coordinate."""

    @property
    @abstractmethod
    def factors(self) -> tuple[DatasetGraph, ...]:
        """The graph of each coordinate."""

    @property
    @abstractmethod
    def sides(self) -> Point:
        """The number of values of each coordinate."""

    @cached_property
    def nodes(self) -> Box:
        """The tuples in lexicographic order."""
        return Box(self.sides)

    def neighbours(self, node: Hashable) -> tuple[Hashable, ...]:
        """The nodes that differ from `node` in one coordinate by a step of the family, in node order."""
        point = self._point(node)
        found = [(*point[:k], v, *point[k + 1 :]) for k, x in enumerate(point) for v in self._steps(x, self.sides[k])]
        return tuple(sorted(found))

    @abstractmethod
    def _steps(self, value: int, side: int) -> Iterator[int]:
        """The values that a coordinate can change to along an edge."""

    def _listed_edges(self) -> IntArray:
        positions, stride, found = np.arange(self.size), 1, [np.empty((0, 2), dtype=np.int64)]
        for side in reversed(self.sides):
            digit = positions // stride % side
            for value in self._steps(0, side):  # every step up from a digit is a step up from 0
                lower = positions[digit + value < side]
                found.append(np.column_stack([lower, lower + value * stride]))
            stride *= side
        return np.concatenate(found)

    def _hint(self, label: object) -> str:
        point = as_tuple(label)
        if point is None or len(point) != len(self.sides):
            return super()._hint(label)
        closest = tuple(min(max(x, 0), side - 1) for x, side in zip(point, self.sides, strict=True))
        return f"the closest node is {closest}"


@dataclass(frozen=True, repr=False)
class Hamming(_BoxGraph):
    """See `hamming` and `hypercube`."""

    length: int
    alphabet: int
    kind = "hamming"

    @property
    def name(self) -> str:
        """A hypercube by its own name."""
        return f"hypercube({self.length})" if self.alphabet == 2 else super().name

    def _parameters(self) -> dict[str, Any]:
        return {"length": self.length, "alphabet": self.alphabet}

    @property
    def sides(self) -> Point:
        """The alphabet, once per record."""
        return (self.alphabet,) * self.length

    def degree(self, node: Hashable) -> int:
        """Another value for one of the records."""
        self.index(node)
        return self.length * (self.alphabet - 1)

    def diameter(self) -> int:
        """All records differ."""
        return self.length if self.alphabet > 1 else 0

    def layer_sizes(self, start: Hashable) -> dict[Length, int]:
        """C(length, d)·(alphabet − 1)^d."""
        self.index(start)
        return {d: comb(self.length, d) * (self.alphabet - 1) ** d for d in range(self.diameter() + 1)}

    def is_vertex_transitive(self) -> bool:
        """Shifting each record's value takes any node to any other."""
        return True

    def _regular_everywhere(self) -> bool:
        return True

    @property
    def factors(self) -> tuple[DatasetGraph, ...]:
        """A complete graph for each record."""
        return (complete(self.alphabet),) * self.length

    def _steps(self, value: int, side: int) -> Iterator[int]:
        return (other for other in range(side) if other != value)

    def _term(self, a: Any, b: Any) -> Any:
        return a != b

    def _most_edges(self) -> int:
        return self.size * self.length * (self.alphabet - 1) // 2

    def _known_generators(self) -> IntArray:
        self._require_memory_for_nodes(f"the automorphisms of {self.name}", width=8 * (self.length + 2))
        if self.alphabet == 1:
            return np.empty((0, 1), dtype=np.int64)
        positions = np.arange(self.size).reshape(self.sides)
        swap = [1, 0, *range(2, self.alphabet)]
        found = [positions[swap], np.roll(positions, 1, axis=0)][: self.alphabet - 1]
        found += [np.swapaxes(positions, k, k + 1) for k in range(self.length - 1)]
        return np.stack([permutation.ravel() for permutation in found])


@dataclass(frozen=True, repr=False)
class Grid(_BoxGraph):
    """See `grid`."""

    lengths: Point
    kind = "grid"

    @property
    def name(self) -> str:
        """The sides."""
        return f"grid({', '.join(map(str, self.sides))})"

    def _parameters(self) -> dict[str, Any]:
        return {"sides": list(self.sides)}

    @property
    def sides(self) -> Point:
        """The number of values of each coordinate."""
        return self.lengths

    def degree(self, node: Hashable) -> int:
        """Two for each coordinate, less one for each border the node lies on."""
        return len(self.neighbours(node))

    def diameter(self) -> int:
        """From corner to corner."""
        return sum(self.sides) - len(self.sides)

    def layer_sizes(self, start: Hashable) -> dict[Length, int]:
        """The coefficients of the product of the sides' layer polynomials."""
        require_memory(
            128 * (self.diameter() + 1),
            f"the layer sizes of {self.name}",
            "ask for distance(x, y) or degree(x) instead",
        )
        sizes = [1]
        for x, side in zip(self._point(start), self.sides, strict=True):
            both_sides = plus(times_run(sizes, x + 1), times_run(sizes, side - x))
            sizes = plus(both_sides, [-size for size in sizes])  # the coordinate itself was counted on either side
        return dict(enumerate(sizes))

    def is_vertex_transitive(self) -> bool:
        """A side of three or more has ends and a middle."""
        return max(self.sides) <= 2

    def _regular_everywhere(self) -> bool:
        sides = [side for side in self.sides if side > 1]
        return sides == [3] or all(side == 2 for side in sides)

    @property
    def factors(self) -> tuple[DatasetGraph, ...]:
        """A path for each side."""
        return tuple(path(side) for side in self.sides)

    def _steps(self, value: int, side: int) -> Iterator[int]:
        return (other for other in (value - 1, value + 1) if 0 <= other < side)

    def _term(self, a: Any, b: Any) -> Any:
        return abs(a - b)

    def _most_edges(self) -> int:
        return sum(self.size // side * (side - 1) for side in self.sides)

    def _known_generators(self) -> IntArray:
        # Paths are prime factors of the Cartesian product, so reflections of sides and exchanges of equal sides are all
        # (Hammack, Imrich and Klavžar, Handbook of Product Graphs, Theorem 6.10).
        sides = [side for side in self.sides if side > 1]
        self._require_memory_for_nodes(f"the automorphisms of {self.name}", width=16 * (len(sides) + 1))
        positions = np.arange(prod(sides)).reshape(sides)
        found = [np.flip(positions, axis) for axis in range(len(sides))]
        by_side = sorted(range(len(sides)), key=lambda axis: sides[axis])
        found += [np.swapaxes(positions, a, b) for a, b in pairwise(by_side) if sides[a] == sides[b]]
        return np.stack([p.ravel() for p in found]) if found else np.empty((0, 1), dtype=np.int64)


@dataclass(frozen=True, repr=False)
class Torus(_BoxGraph):
    """See `torus`."""

    lengths: Point
    kind = "torus"

    @property
    def name(self) -> str:
        """The sides."""
        return f"torus({', '.join(map(str, self.sides))})"

    def _parameters(self) -> dict[str, Any]:
        return {"sides": list(self.sides)}

    @property
    def sides(self) -> Point:
        """The number of values of each coordinate."""
        return self.lengths

    @property
    def factors(self) -> tuple[DatasetGraph, ...]:
        """A cycle for each side."""
        return tuple(cycle(side) for side in self.sides)

    def degree(self, node: Hashable) -> int:
        """Two for each coordinate."""
        self.index(node)
        return 2 * len(self.sides)

    def diameter(self) -> int:
        """Half way round each side."""
        return sum(side // 2 for side in self.sides)

    def distance(self, x: Hashable, y: Hashable) -> int:
        """The shorter ways round, added up."""
        pairs = zip(self._point(x), self._point(y), self.sides, strict=True)
        return sum(min(abs(a - b), side - abs(a - b)) for a, b, side in pairs)

    def layer_sizes(self, start: Hashable) -> dict[Length, int]:
        """The coefficients of the product of the sides' layer polynomials."""
        self.index(start)
        sizes = [1]
        for side in self.sides:
            layers = [1, *[2] * ((side - 1) // 2), *[1] * (1 - side % 2)]
            found = [0] * (len(sizes) + len(layers) - 1)
            for a, one in enumerate(sizes):
                for b, other in enumerate(layers):
                    found[a + b] += one * other
            sizes = found
        return dict(enumerate(sizes))

    def is_vertex_transitive(self) -> bool:
        """Rotations of the sides take any node to any other."""
        return True

    def _regular_everywhere(self) -> bool:
        """One cycle, triangles (a Hamming graph) or squares (a hypercube).

        Elsewhere two steps along a side of five or more have one neighbour nearer and a step along either of two sides
        has two; beside squares a step along a triangle leads further along fewer edges than one along a square.
        """
        return len(self.sides) == 1 or set(self.sides) in ({3}, {4})

    def has_regular_layers(self, *starts: Hashable) -> bool:
        """Known for all nodes at once, for they are all alike."""
        for start in starts:
            self.index(start)
        return self._regular_everywhere()

    def _gaps(self, rows: IntArray, columns: IntArray) -> IntArray:
        total = np.zeros((len(rows), len(columns)), dtype=np.int64)
        for a, b, side in zip(rows.T, columns.T, self.sides, strict=True):
            way = np.abs(a[:, None] - b[None, :])
            total += np.minimum(way, side - way)
        return total

    def _term(self, a: Any, b: Any) -> Any:
        raise NotImplementedError  # it depends on the side

    def _steps(self, value: int, side: int) -> Iterator[int]:
        return iter(sorted({(value - 1) % side, (value + 1) % side}))

    def _most_edges(self) -> int:
        return self.size * len(self.sides)

    def _known_generators(self) -> IntArray:
        # Rotations, reflections and exchanges of equal sides; a torus of several squares, a hypercube, has more.
        self._require_memory_for_nodes(f"the automorphisms of {self.name}", width=16 * (3 * len(self.sides) + 1))
        positions = np.arange(self.size).reshape(self.sides)
        found = [np.roll(positions, 1, axis) for axis in range(len(self.sides))]
        found += [np.flip(positions, axis) for axis in range(len(self.sides))]
        by_side = sorted(range(len(self.sides)), key=lambda axis: self.sides[axis])
        found += [np.swapaxes(positions, a, b) for a, b in pairwise(by_side) if self.sides[a] == self.sides[b]]
        return np.stack([p.ravel() for p in found])

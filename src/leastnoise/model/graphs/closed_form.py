"""Families known by formula: nothing is listed before it is asked for.

Every node is a point with whole coordinates and the distance is a sum over coordinates, divided by a constant.

Counting by generating functions: the coefficients of a polynomial as a list.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from leastnoise.exact import IntArray, Point
from leastnoise.model.graphs.base import DatasetGraph
from leastnoise.model.graphs.sequences import LazyTuples, as_tuple
from leastnoise.model.limits import require_memory

__all__ = ["ClosedForm", "TupleGraph", "plus", "times_run"]


_BLOCK = 1 << 16  # entries of a distance matrix that are computed together
_FEW = 1000  # nodes: so many are searched for the one closest to a wrong label


class ClosedForm(DatasetGraph):
    """A finite graph with d(x, y) = (Σ_k term(x_k, y_k)) / divisor. Subclasses are frozen dataclasses."""

    kind: ClassVar[str]
    _divisor: ClassVar[int] = 1

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of nodes."""

    @abstractmethod
    def degree(self, node: Hashable) -> int:
        """The number of neighbours, by formula."""

    @abstractmethod
    def diameter(self) -> int:
        """The largest distance between two nodes, by formula."""

    @abstractmethod
    def _parameters(self) -> dict[str, Any]:
        """What the family's function has to be called with."""

    @abstractmethod
    def _point(self, label: Hashable) -> Point:
        """The coordinates of a node; an unknown label is an error."""

    @abstractmethod
    def _points(self) -> IntArray:
        """The coordinates of all nodes as rows; memory was checked."""

    @abstractmethod
    def _term(self, a: Any, b: Any) -> Any:
        """One coordinate's share of the distance, for whole numbers and for arrays of them."""

    @abstractmethod
    def _listed_edges(self) -> IntArray:
        """All edges (i, j), i < j, in any order; memory was checked."""

    @abstractmethod
    def _most_edges(self) -> int:
        """The number of edges, or a bound on it."""

    def _regular_everywhere(self) -> bool | None:
        """Whether every node has a regular layer sequence; None where no formula says."""
        return None

    @property
    def name(self) -> str:
        """The family and its parameters."""
        return f"{self.kind}({', '.join(str(value) for value in self._parameters().values())})"

    def to_dict(self) -> dict[str, Any]:
        """The family and its parameters."""
        return {"graph": self.kind, **self._parameters()}

    def distance(self, x: Hashable, y: Hashable) -> int:
        """The distance by formula, however large the graph."""
        terms = (self._term(a, b) for a, b in zip(self._point(x), self._point(y), strict=True))
        return int(sum(terms)) // self._divisor

    def distances_from(self, node: Hashable) -> IntArray:
        """The distance of every node from `node`, by formula."""
        point = self._point(node)
        return self._gaps(np.array([point], dtype=np.int64), self._all_points()).ravel()

    def _distances(self) -> IntArray:
        points = self._all_points()
        return self._gaps(points, points)

    def _gaps(self, rows: IntArray, columns: IntArray) -> IntArray:
        total = np.zeros((len(rows), len(columns)), dtype=np.int64)
        height = max(1, _BLOCK // len(columns))  # a few rows at a time stay in the processor's cache
        for first in range(0, len(rows), height):
            block = total[first : first + height]
            for a, b in zip(rows[first : first + height].T, columns.T, strict=True):
                block += self._term(a[:, None], b[None, :])
            block //= self._divisor
        return total

    def edges(self) -> IntArray:
        """The edges as rows (i, j) of node indices with i < j, sorted. Computed once, read-only.

        Raises:
            TooLarge: The list would not fit into memory.
        """
        require_memory(
            64 * self._most_edges(),
            f"the list of edges of {self.name}",
            "ask for neighbours(x) or distance(x, y) instead",
        )
        return self._edge_list

    @cached_property
    def _edge_list(self) -> IntArray:
        edges = self._listed_edges()
        edges = edges[np.lexsort(edges.T[::-1])]
        edges.flags.writeable = False
        return edges

    def has_regular_layers(self, *starts: Hashable) -> bool:
        """Whether layers are regular from each of `starts`, or from every node; by formula where there is one."""
        known = self._regular_everywhere()
        if known is None or (starts and not known):
            return super().has_regular_layers(*starts)
        for start in starts:
            self.index(start)
        return known

    def _finite_size(self) -> int:
        return self.size  # len(nodes) would not do beyond a machine word

    def _all_points(self) -> IntArray:
        coordinates = len(self._point(self.nodes[0]))
        self._require_memory_for_nodes(f"a list of all nodes of {self.name}", width=16 * coordinates + 64)
        return self._points()

    def _require_memory_for_nodes(self, what: str, width: int = 64) -> None:
        """Refuse what takes `width` bytes per node if that is too much."""
        require_memory(self.size * width, what, "ask for distance(x, y), layer_sizes(x) or degree(x) instead")


class TupleGraph(ClosedForm):
    """A family whose labels are tuples of whole numbers and, unless said otherwise, also their coordinates."""

    @property
    @abstractmethod
    def nodes(self) -> LazyTuples:
        """The labels, made on demand."""

    @property
    def size(self) -> int:
        """The number of nodes."""
        return self.nodes.size

    def _position(self, label: object) -> int | None:
        found = as_tuple(label)
        return None if found is None else self.nodes.rank(found)

    def _hint(self, label: object) -> str:
        if self.size <= _FEW:
            return super()._hint(label)
        return f"nodes are tuples such as {self.nodes[0]} and {self.nodes[-1]}"

    def _point(self, label: Hashable) -> Point:
        return self.nodes.unrank(self.index(label))

    def _points(self) -> IntArray:
        return self.nodes.array()


def times_run(coefficients: list[int], width: int) -> list[int]:
    """The coefficients multiplied by 1 + u + … + u^(width − 1), in linear time.

    >>> times_run([1, 2], 3)
    [1, 3, 3, 2]
    """
    found, running = [], 0
    for k in range(len(coefficients) + width - 1):
        running += coefficients[k] if k < len(coefficients) else 0
        running -= coefficients[k - width] if k >= width else 0
        found.append(running)
    return found


def plus(one: list[int], other: list[int]) -> list[int]:
    """The sum of two polynomials.

    >>> plus([1, 2, 3], [10])
    [11, 2, 3]
    """
    shorter, longer = sorted((one, other), key=len)
    return [a + b for a, b in zip(shorter, longer, strict=False)] + longer[len(shorter) :]

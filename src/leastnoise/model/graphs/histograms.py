"""Histograms: how many records of each type; neighbours by exchanging one record."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from leastnoise.exact import IntArray, Length, NumberLike, Point, read_integer
from leastnoise.model.graphs.base import DatasetGraph
from leastnoise.model.graphs.closed_form import TupleGraph, plus, times_run
from leastnoise.model.graphs.sequences import Multisets
from leastnoise.model.limits import require_memory

__all__ = ["MOST_RECORDS", "MOST_TYPES", "histograms", "moved"]

MOST_RECORDS = 10**18  # counts are held in machine words
MOST_TYPES = 4096


def histograms(total: NumberLike, types: NumberLike) -> DatasetGraph:
    """Histograms of `total` records over `types` types; neighbours turn one record into another type.

    The distance is ½‖x − y‖₁: an exchange changes ‖x − y‖₁ by at most two, and moving a record from a type that has too
    many to one that has too few changes it by exactly two (Aldà and Simon 2017, Example 1).

    >>> histograms(5, 3), histograms(5, 3).size, histograms(5, 3).distance((5, 0, 0), (2, 2, 1))
    (histograms(5, 3), 21, 3)
    """
    return Histograms(
        read_integer(total, "total", at_least=0, at_most=MOST_RECORDS),
        read_integer(types, "types", at_least=1, at_most=MOST_TYPES),
    )


def moved(counts: Point) -> set[Point]:
    """Every way to move one record to another entry.

    >>> sorted(moved((1, 0, 1)))
    [(0, 0, 2), (0, 1, 1), (1, 1, 0), (2, 0, 0)]
    """
    found = set()
    for source, target in permutations(range(len(counts)), 2):
        if counts[source]:
            changed = list(counts)
            changed[source] -= 1
            changed[target] += 1
            found.add(tuple(changed))
    return found


def _keys(points: IntArray, total: int) -> npt.NDArray[Any]:
    """One number per row that orders rows lexicographically: its entries as digits to the base total + 1."""
    width = points.shape[1]
    fits = (total + 1) ** width < 2**63
    weights = np.array([(total + 1) ** (width - 1 - k) for k in range(width)], dtype=np.int64 if fits else object)
    keys: npt.NDArray[Any] = points.astype(weights.dtype) @ weights
    return keys


@dataclass(frozen=True, repr=False)
class Histograms(TupleGraph):
    """See `histograms`."""

    total: int
    types: int
    kind = "histograms"
    _divisor = 2

    @cached_property
    def nodes(self) -> Multisets:
        """The tuples of counts in lexicographic order."""
        return Multisets(self.total, self.types)

    def _parameters(self) -> dict[str, Any]:
        return {"total": self.total, "types": self.types}

    def neighbours(self, node: Hashable) -> tuple[Hashable, ...]:
        """The histograms after one exchange, in node order."""
        return tuple(sorted(moved(self._point(node))))

    def degree(self, node: Hashable) -> int:
        """A record of any type that occurs becomes one of any other type."""
        return sum(count > 0 for count in self._point(node)) * (self.types - 1)

    def diameter(self) -> int:
        """Every record changes its type."""
        return self.total if self.types > 1 else 0

    def layer_sizes(self, start: Hashable) -> dict[Length, int]:
        """Choose the s types that gain, C(d−1, s−1) ways to gain d records in all, and what the other types lose."""
        require_memory(
            64 * (self.total + 1) * (self.types + 1),
            f"the layer sizes of {self.name}",
            "ask for distance(x, y) or degree(x) instead",
        )
        ways = [[1]]  # ways[s][d]: s of the types so far gain, the others lose d records in all
        for count in self._point(start):
            gains = [[], *ways]
            loses = [times_run(row, count + 1) for row in ways]
            ways = [plus(loses[s] if s < len(loses) else [], gains[s]) for s in range(len(gains))]
        sizes: dict[Length, int] = {0: 1}
        for d in range(1, self.total + 1):
            size = sum(comb(d - 1, s - 1) * row[d] for s, row in enumerate(ways) if s and d < len(row))
            if size:
                sizes[d] = size
        return sizes

    def is_vertex_transitive(self) -> bool:
        """With two records, they may be of one type or of two: different degrees."""
        return self.total <= 1 or self.types == 1

    def _regular_everywhere(self) -> bool:
        # Seen from (N, 0, 0, …), both (N−2, 2, 0, …) and (N−2, 1, 1, …) are at distance two, but the first has one
        # nearer neighbour and the second has two. Two types make a path of total + 1 nodes.
        return self.is_vertex_transitive() or (self.types == 2 and self.total == 2)

    def _term(self, a: Any, b: Any) -> Any:
        return abs(a - b)

    def _most_edges(self) -> int:
        return comb(self.types, 2) * self.size

    def _listed_edges(self) -> IntArray:
        points = self._all_points()
        keys = _keys(points, self.total)
        found = [np.empty((0, 2), dtype=np.int64)]
        for low, high in combinations(range(self.types), 2):  # a record from `low` to `high`: towards smaller keys
            (origin,) = np.nonzero(points[:, low])
            shift = (self.total + 1) ** (self.types - 1 - high) - (self.total + 1) ** (self.types - 1 - low)
            found.append(np.column_stack([np.searchsorted(keys, keys[origin] + shift), origin]))
        return np.concatenate(found)

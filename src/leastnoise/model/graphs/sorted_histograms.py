"""Sorted histograms, that is integer partitions: how often the most frequent type occurs, the next one, and so on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations
from math import isqrt
from typing import Any, NamedTuple

import numpy as np

from leastnoise.exact import IntArray, NumberLike, Point, read_integer
from leastnoise.model.graphs.base import DatasetGraph
from leastnoise.model.graphs.closed_form import TupleGraph
from leastnoise.model.graphs.histograms import MOST_RECORDS, MOST_TYPES, moved
from leastnoise.model.graphs.sequences import LazyTuples
from leastnoise.model.limits import require_memory

__all__ = ["sorted_histograms"]


def sorted_histograms(total: NumberLike, types: NumberLike, top: NumberLike | None = None) -> DatasetGraph:
    """Sorted histograms v₁ ≥ … ≥ v_types of `total` records, or only their `top` largest entries.

    Two full sorted histograms are neighbours if exchanging one record and sorting again leads from one to the other;
    the distance is ½‖v − w‖₁, because sorting both sides never increases it. With `top` = r a node is the beginning
    (v₁, …, v_r) of a sorted histogram, and two beginnings are neighbours if they can be continued to neighbours (Aldà
    and Simon 2017, Example 2). The distance is again ½‖·‖₁, with the number of unseen records as one more entry: spread
    the unseen ones as evenly as possible, then the continuation with fewer lies below the one with more.

    >>> sorted_histograms(10, 4), sorted_histograms(10, 4).size, list(sorted_histograms(4, 3).nodes)
    (sorted_histograms(10, 4), 23, [(4, 0, 0), (3, 1, 0), (2, 2, 0), (2, 1, 1)])
    >>> list(sorted_histograms(4, 3, top=1).nodes), sorted_histograms(10, 4, top=2).distance((4, 3), (10, 0))
    ([(2,), (3,), (4,)], 6)
    """
    records = read_integer(total, "total", at_least=0, at_most=MOST_RECORDS)
    kinds = read_integer(types, "types", at_least=1, at_most=MOST_TYPES)
    seen = kinds if top is None else read_integer(top, "top", at_least=1, at_most=kinds)
    return SortedHistograms(records, kinds, None if seen == kinds else seen)


class _Tables(NamedTuple):
    """What ranking looks up, as lists of whole numbers or as arrays.

    Attributes:
        partitions: Entry [k][n]: the partitions of n into at most k parts, p(n, k) = p(n, k−1) + p(n−k, k).
        below: Entry n: the partitions of 0, …, n − 1 into at most seen − 1 parts, together.
        fewest: Entry m: the least number of records seen if m is the last entry.
        before: Entry m: the beginnings whose last entry is below m.
    """

    partitions: Any
    below: Any
    fewest: Any
    before: Any


@dataclass(frozen=True, repr=False)
class SortedBeginnings(LazyTuples):
    """The first `seen` entries of every sorted histogram, ordered by the last of them, their sum, then recursively.

    With n records seen and m the last entry seen, a beginning can be continued iff the rest fits under it:
    total − n ≤ (types − seen)·m.
    """

    total: int
    types: int
    seen: int

    @property
    def size(self) -> int:
        """Their number, by a table of partition numbers."""
        return int(self._tables.before[-1])

    @cached_property
    def _tables(self) -> _Tables:
        require_memory(
            64 * (self.total + 1) * self.seen,
            f"a table of partitions of {self.total} into {self.seen}",
            "use fewer records",
        )
        partitions = [[1] + [0] * self.total]
        for parts in range(1, self.seen):
            row = list(partitions[-1])
            for n in range(parts, self.total + 1):
                row[n] += row[n - parts]
            partitions.append(row)
        below = [0, *accumulate(partitions[-1])]
        lasts = range(self.total // self.seen + 1)
        fewest = [max(self.total - (self.types - self.seen) * last, self.seen * last) for last in lasts]
        most = self.total + 1
        counts = [below[most - self.seen * last] - below[fewest[last] - self.seen * last] for last in lasts]
        return _Tables(partitions, below, fewest, [0, *accumulate(counts)])

    @cached_property
    def _table_arrays(self) -> _Tables:
        return _Tables(*(np.array(table, dtype=np.int64) for table in self._tables))

    def rank(self, label: Point) -> int | None:
        """Beginnings before this one."""
        if len(label) != self.seen or min(label) < 0 or list(label) != sorted(label, reverse=True):
            return None
        if not 0 <= self.total - sum(label) <= (self.types - self.seen) * label[-1]:
            return None
        return int(self._rank(label, self._tables))

    def ranks(self, rows: IntArray) -> IntArray:
        """The positions of many beginnings at once, one per row."""
        return np.asarray(self._rank(rows.T, self._table_arrays), dtype=np.int64)

    def _rank(self, label: Any, tables: _Tables) -> Any:
        """The formula, for an entry's number as for its whole column.

        Of the partitions into at most k parts, p(n, k) − p(n − k·s, k) have a smallest part below s.
        """
        last = label[-1]
        left, floor = sum(label) - self.seen * last, last
        position = tables.before[last] + tables.below[left] - tables.below[tables.fewest[last] - self.seen * last]
        for k in range(self.seen - 1, 0, -1):
            lower = left - k * (label[k - 1] - floor)
            position = position + tables.partitions[k][left] - tables.partitions[k][lower]
            left, floor = lower, label[k - 1]
        return position

    def unrank(self, position: int) -> Point:
        """The beginning with this many before it."""
        tables = self._tables
        last = bisect_right(tables.before, position) - 1
        position -= tables.before[last]
        left = tables.fewest[last] - self.seen * last
        while (count := tables.partitions[-1][left]) <= position:
            position -= count
            left += 1
        parts, floor = [last], last
        for k in range(self.seen - 1, 0, -1):
            while (count := tables.partitions[k - 1][left]) <= position:
                position -= count
                left -= k
                floor += 1
            parts.append(floor)
        return tuple(reversed(parts))

    def array(self) -> IntArray:
        """All beginnings as rows."""
        flat = np.fromiter((entry for label in self for entry in label), dtype=np.int64)
        return flat.reshape(self.size, self.seen)

    def __iter__(self) -> Iterator[Point]:
        """The beginnings in order, without unranking each."""
        for last in range(self.total // self.seen + 1):
            for records in range(self._tables.fewest[last], self.total + 1):
                for parts in _partitions_of(records - self.seen * last, self.seen - 1):
                    yield (*(part + last for part in parts), last)


def _partitions_of(total: int, parts: int) -> Iterator[Point]:
    """Partitions into at most `parts` parts, filled up with zeros, smallest parts first: (4, 0), (3, 1), (2, 2)."""
    if parts == 0:
        yield from [()] if total == 0 else []
        return
    ascending = [0] * (parts - 1) + [total]
    grows = True
    while grows:
        yield tuple(reversed(ascending))
        # The last entry that can grow by one does; those after it become as large, and the very last takes the rest.
        left, grows = ascending[-1], False
        for place in range(parts - 2, -1, -1):
            left += ascending[place]
            level, equal = ascending[place] + 1, parts - 1 - place
            if level * (equal + 1) <= left:
                ascending[place:] = [*[level] * equal, left - level * equal]
                grows = True
                break


@dataclass(frozen=True, repr=False)
class SortedHistograms(TupleGraph):
    """See `sorted_histograms`."""

    total: int
    types: int
    top: int | None
    kind = "sorted_histograms"
    _divisor = 2

    @cached_property
    def nodes(self) -> SortedBeginnings:
        """The sorted tuples, the most uneven first."""
        return SortedBeginnings(self.total, self.types, self.types if self.top is None else self.top)

    def _parameters(self) -> dict[str, Any]:
        top = {} if self.top is None else {"top": self.top}
        return {"total": self.total, "types": self.types, **top}

    def neighbours(self, node: Hashable) -> tuple[Hashable, ...]:
        """The nodes after one exchange of records, seen or not, in node order."""
        sorted_ = {tuple(sorted(counts[:-1], reverse=True)) for counts in moved(self._point(node))}
        ranked = {self.nodes.rank(counts): counts for counts in sorted_}
        found = {position: counts for position, counts in ranked.items() if position not in (None, self.index(node))}
        return tuple(found[position] for position in sorted(found))

    def degree(self, node: Hashable) -> int:
        """The number of neighbours."""
        return len(self.neighbours(node))

    def diameter(self) -> int:
        """From all records alike to as even as possible: no type is left with more than ⌈total/types⌉."""
        return self.total - -(-self.total // self.types)

    def _point(self, label: Hashable) -> Point:
        counts = super()._point(label)
        return (*counts, self.total - sum(counts))

    def _points(self) -> IntArray:
        counts = self.nodes.array()
        return np.column_stack([counts, self.total - counts.sum(axis=1)])

    def _term(self, a: Any, b: Any) -> Any:
        return abs(a - b)

    def _most_edges(self) -> int:
        # k different entries sum to at least k(k−1)/2, so a sorted histogram has at most √(2·total) + 2 of them.
        different = min(isqrt(2 * self.total) + 2, self.nodes.seen) + 1
        return self.size * different**2

    def _listed_edges(self) -> IntArray:
        points, seen = np.asfortranarray(self._all_points()), self.nodes.seen  # read column by column
        # Every edge once, towards the more even end. Among equal entries take from the last and add to the first, so
        # that the outcome is sorted; an entry only one larger would merely trade places.
        drops, always = points[:, : seen - 1] > points[:, 1:seen], np.ones((len(points), 1), dtype=bool)
        last_of_equals, first_of_equals = np.column_stack([drops, always]), np.column_stack([always, drops, always])
        found = [np.empty((0, 2), dtype=np.int64)]
        for source, target in combinations(range(seen + 1), 2):
            enough = points[:, source] > (0 if target == seen else points[:, target] + 1)
            (origin,) = np.nonzero(enough & last_of_equals[:, source] & first_of_equals[:, target])
            images = points[origin]
            images[:, source] -= 1
            images[:, target] += 1
            exists = images[:, seen] <= (self.types - seen) * images[:, seen - 1]
            found.append(np.column_stack([origin[exists], self.nodes.ranks(images[exists, :seen])]))
        return np.sort(np.concatenate(found), axis=1)

"""Node labels that are made when asked for: tuples of whole numbers, ranked and unranked by formula."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, prod
from operator import index as whole
from typing import SupportsIndex, cast, overload

import numpy as np

from leastnoise.exact import IntArray, Point

__all__ = ["Box", "LazyTuples", "Multisets", "as_tuple", "as_whole"]


def as_whole(label: object) -> int | None:
    """A label as a whole number, None if it is not one.

    >>> as_whole(np.int64(3)), as_whole(3.0), as_whole("3")
    (3, None, None)
    """
    try:
        return whole(cast(SupportsIndex, label))
    except TypeError:
        return None


def as_tuple(label: object) -> Point | None:
    """A label as a tuple of whole numbers, None if it is not one.

    >>> as_tuple([1, 2]), as_tuple("12"), as_tuple((0.5,))
    ((1, 2), None, None)
    """
    if not isinstance(label, tuple | list | np.ndarray):
        return None
    entries = [as_whole(entry) for entry in label]
    return None if None in entries else tuple(entry for entry in entries if entry is not None)


class LazyTuples(Sequence[Point], ABC):
    """A sequence of tuples known by its rank and unrank formulas; it may be far longer than memory."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of tuples; `len` works too as long as it fits a machine word."""

    @abstractmethod
    def rank(self, label: Point) -> int | None:
        """The position of a tuple, None if it is not in the sequence."""

    @abstractmethod
    def unrank(self, position: int) -> Point:
        """The tuple at a position from 0 to size − 1."""

    @abstractmethod
    def array(self) -> IntArray:
        """All tuples as rows, in order."""

    def __len__(self) -> int:
        """The number of tuples."""
        return self.size

    @overload
    def __getitem__(self, position: int) -> Point: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[Point]: ...
    def __getitem__(self, position: int | slice) -> Point | Sequence[Point]:
        """The tuple at a position, or the tuples of a slice."""
        places = range(self.size)[position]  # a range does the arithmetic of slices and negative positions
        return self.unrank(places) if isinstance(places, int) else tuple(self.unrank(place) for place in places)

    def __iter__(self) -> Iterator[Point]:
        """The tuples in order."""
        return (self.unrank(position) for position in range(self.size))

    def __contains__(self, label: object) -> bool:
        """Whether a tuple is in the sequence, by formula."""
        tuple_ = as_tuple(label)
        return tuple_ is not None and self.rank(tuple_) is not None

    def __repr__(self) -> str:
        """The ends of the sequence."""
        if self.size <= 3:
            return f"<{', '.join(map(str, self))}>"
        return f"<{self[0]}, {self[1]}, … {self[-1]}>"


@dataclass(frozen=True, repr=False)
class Box(LazyTuples):
    """All tuples with 0 ≤ x_k < sides[k], in lexicographic order.

    >>> Box((2, 3))[4], Box((2, 3)).rank((1, 1)), Box((2,) * 200).size == 2**200
    ((1, 1), 4, True)
    """

    sides: Point

    @property
    def size(self) -> int:
        """The product of the sides."""
        return prod(self.sides)

    def rank(self, label: Point) -> int | None:
        """The label read as a number with mixed radix."""
        if len(label) != len(self.sides) or not all(0 <= x < side for x, side in zip(label, self.sides, strict=True)):
            return None
        position = 0
        for x, side in zip(label, self.sides, strict=True):
            position = position * side + x
        return position

    def unrank(self, position: int) -> Point:
        """The digits of the position."""
        digits = []
        for side in reversed(self.sides):
            position, digit = divmod(position, side)
            digits.append(digit)
        return tuple(reversed(digits))

    def __iter__(self) -> Iterator[Point]:
        """The tuples in order, without unranking each."""
        return product(*map(range, self.sides))

    def array(self) -> IntArray:
        """All digits, column by column."""
        positions = np.arange(self.size)
        columns = np.empty((self.size, len(self.sides)), dtype=np.int64)
        for k in range(len(self.sides) - 1, -1, -1):
            positions, columns[:, k] = np.divmod(positions, self.sides[k])
        return columns


@dataclass(frozen=True, repr=False)
class Multisets(LazyTuples):
    """All tuples of `types` counts that sum to `total`, in lexicographic order.

    >>> list(Multisets(2, 2)), Multisets(5, 3).rank((2, 1, 2)), Multisets(5, 3)[12]
    ([(0, 2), (1, 1), (2, 0)], 12, (2, 1, 2))
    """

    total: int
    types: int

    @property
    def size(self) -> int:
        """C(total + types − 1, types − 1)."""
        return comb(self.total + self.types - 1, self.types - 1)

    def rank(self, label: Point) -> int | None:
        """Counts before this one: for each entry, those with the same beginning and a smaller entry."""
        if len(label) != self.types or min(label) < 0 or sum(label) != self.total:
            return None
        position, left = 0, self.total
        for k, count in enumerate(label[:-1]):
            position += self._smaller(count, left, self.types - 1 - k)
            left -= count
        return position

    def unrank(self, position: int) -> Point:
        """Entry by entry, the largest count that leaves no more than `position` tuples before it."""
        counts, left = [], self.total
        for others in range(self.types - 1, 0, -1):
            low, high = 0, left
            while low < high:
                middle = (low + high + 1) // 2
                low, high = (middle, high) if self._smaller(middle, left, others) <= position else (low, middle - 1)
            position -= self._smaller(low, left, others)
            left -= low
            counts.append(low)
        return (*counts, left)

    def array(self) -> IntArray:
        """Stars and bars: a multiset is a choice of bars, its counts are the gaps between them."""
        width = self.types - 1
        places = combinations(range(self.total + width), width)
        bars = np.fromiter((bar for choice in places for bar in choice), dtype=np.int64).reshape(self.size, width)
        edges = np.full((self.size, 1), -1), np.full((self.size, 1), self.total + width)
        return np.diff(np.concatenate([edges[0], bars, edges[1]], axis=1), axis=1) - 1

    @staticmethod
    def _smaller(count: int, left: int, others: int) -> int:
        """Number of ways to begin with an entry below `count` and spread the rest over `others` more entries."""
        return comb(left + others, others) - comb(left - count + others, others)

"""Records as counts: how many lie nearest to each place of the lattice, and on which side of its point.

A quantile mechanism sees nothing else of a record, so the counts, which an engine that keeps the records can hand over,
give exactly the same law.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter

__all__ = ["PlaceCounts", "Places", "Tally"]

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class PlaceCounts:
    """So many records nearest to each of some places. It is private, like the records.

    Attributes:
        places: Increasing.
        counts: At least one record each; together less than 2^63.
        sides: How many of them lie below their point, and how many above it; None where all lie at it.
    """

    places: Places
    counts: Places
    sides: tuple[Places, Places] | None = None

    @classmethod
    def of(cls, places: Places, sides: Places | None = None) -> PlaceCounts:
        """The cells of records at these places, in any order; below their points where the side is negative.

        >>> PlaceCounts.of(np.array([2, 0, 2]), np.array([-1, 0, 1])).sides
        (array([0, 1]), array([0, 1]))
        """
        if sides is None:
            return cls(*np.unique(places, return_counts=True))
        found, cell, counts = np.unique(places, return_inverse=True, return_counts=True)
        below, above = (np.bincount(cell[side], minlength=len(found)) for side in (sides < 0, sides > 0))
        return cls(found, counts, (below.astype(np.int64), above.astype(np.int64)))

    @cached_property
    def sums(self) -> Places:
        """How many records lie at each place or before it."""
        return np.cumsum(self.counts)

    @property
    def records(self) -> int:
        """How many records there are."""
        return int(self.sums[-1]) if len(self.sums) else 0

    @property
    def different(self) -> int:
        """How many places have records."""
        return len(self.places)

    def selected(self, low: int, high: int) -> PlaceCounts:
        """The records of these ranks and all between, counted from one; the sides are those of whole places.

        >>> PlaceCounts.of(np.array([0, 2, 2, 2, 5])).selected(3, 5).counts.tolist()
        [2, 1]
        """
        start, stop = np.searchsorted(self.sums, [low, high], side="left").tolist()
        chosen = self.part(start, stop + 1)
        counts = chosen.counts.copy()
        counts[-1] -= int(self.sums[stop]) - high
        counts[0] -= low - 1 - (int(self.sums[start]) - int(self.counts[start]))
        return PlaceCounts(chosen.places, counts, chosen.sides)

    def part(self, start: int, stop: int) -> PlaceCounts:
        """Some of the cells, in order."""
        sides = None if self.sides is None else (self.sides[0][start:stop], self.sides[1][start:stop])
        return PlaceCounts(self.places[start:stop], self.counts[start:stop], sides)

    def cells(self) -> PlaceCounts:
        """Itself."""
        return self

    def between(self, first: int | None, last: int | None) -> PlaceCounts:
        """The records from place `first` on and before place `last`; None for no border."""
        start = 0 if first is None else int(np.searchsorted(self.places, first, side="left"))
        stop = len(self.places) if last is None else int(np.searchsorted(self.places, last, side="left"))
        return PlaceCounts(self.places[start:stop], self.counts[start:stop])

    def put_down(self, last: int) -> PlaceCounts:
        """The same records, each at the last point that is not above it; `put_up`: the first that is not below it.

        Each record goes by itself, so one more record is still one more. Whoever lies beyond the ends stays at the end.

        >>> cells = PlaceCounts.of(np.array([2, 2, 2, 5]), np.array([-1, 0, 1, -1]))
        >>> cells.put_down(9).places.tolist(), cells.put_up(9).places.tolist()
        ([1, 2, 4], [2, 3, 5])
        """
        return self._put(0, -1, last)

    def put_up(self, last: int) -> PlaceCounts:
        """See `put_down`."""
        return self._put(1, 1, last)

    def _put(self, side: int, by: int, last: int) -> PlaceCounts:
        if self.sides is None:
            return self
        leaving = self.sides[side]
        places = np.concatenate([self.places, np.clip(self.places + by, 0, last)])
        counts = np.concatenate([self.counts - leaving, leaving])
        found, cell = np.unique(places[counts > 0], return_inverse=True)
        together = np.zeros(len(found), dtype=np.int64)
        np.add.at(together, cell, counts[counts > 0])
        return PlaceCounts(found, together)

    def moved(self, by: int) -> PlaceCounts:
        """The same records, all so many places further."""
        return PlaceCounts(self.places + by, self.counts)

    def dealt_out(self, shares: int) -> PlaceCounts:
        """Every place becomes `shares` finer ones, to which its records are dealt out in turn, in a fixed order.

        One more record at a place is one more record at one of its finer places, and nothing else changes.

        >>> finer = PlaceCounts.of(np.array([0, 2, 2, 2])).dealt_out(4)
        >>> finer.places.tolist(), finer.counts.tolist()
        ([0, 8, 9, 10], [1, 1, 1, 1])
        """
        used = np.minimum(self.counts, shares)
        cell = np.repeat(np.arange(len(used)), used)
        turn = np.arange(len(cell)) - np.repeat(np.cumsum(used) - used, used)
        places = self.places[cell] * shares + np.array(_turns(shares), dtype=np.int64)[turn]
        counts = self.counts[cell] // shares + (turn < self.counts[cell] % shares)
        order = np.argsort(places)
        return PlaceCounts(places[order], counts[order])

    def __repr__(self) -> str:
        """Nothing private."""
        return "PlaceCounts()"


@cache
def _turns(shares: int) -> Sequence[int]:
    """All numbers below `shares`, ordered by their reversed binary digits: every beginning is spread evenly.

    >>> _turns(8)
    (0, 4, 2, 6, 1, 5, 3, 7)
    """
    bits = (shares - 1).bit_length()
    numbers = (int(f"{i:0{bits}b}"[::-1], 2) if bits else 0 for i in range(1 << bits))
    return tuple(number for number in numbers if number < shares)


_LARGEST_SUM = 1 << 62
_SIDES = 3  # below the point, at it, above it


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Tally:
    """So many records nearest to each place, the lowest place first. It is private, like the records.

    A count for each place says that its records lie at its point; three counts for each place say how many lie below
    it, at it and above it. Public is that it is such a list of whole numbers, and its length. Each count is clamped to
    [0, 2^62/how many]: that moves two counts no further apart, so neighbours stay neighbours, and no sum leaves 64
    bits.

    >>> tally = Tally([2, 0, 1])
    >>> tally.records, tally.cells().places.tolist()
    (3, [0, 2])
    >>> Tally([(0, 2, 0), (0, 0, 0), (1, 0, 0)]).cells().sides
    (array([0, 1]), array([0, 0]))
    """

    counts: Places

    def __init__(self, counts: Any) -> None:
        array = np.asarray(counts)
        whole = array.dtype.kind in "iu"
        if array.ndim == 1 and not whole and not isinstance(counts, str):
            listed = counts.tolist() if isinstance(counts, np.ndarray) else list(counts)
            whole = all(isinstance(count, Integral) and not isinstance(count, bool) for count in listed)
            array = np.array([int(count) for count in listed], dtype=object) if whole else array
        if not whole or (array.ndim != 1 and (array.ndim != 2 or array.shape[1] != _SIDES)):
            raise BadParameter(
                "a tally is a flat list of whole numbers, or of three for each place",
                given=f"{array.ndim} axes",
                fix="count the records at each place of the lattice",
            )
        wide = array if array.dtype.itemsize == 8 else array.astype(np.int64)
        most = _LARGEST_SUM // max(array.size, 1)
        object.__setattr__(self, "counts", np.minimum(np.maximum(wide, 0), most).astype(np.int64))

    @property
    def records(self) -> int:
        """How many records there are."""
        return int(self.counts.sum())

    def cells(self) -> PlaceCounts:
        """Every place that has a record, and how many."""
        nearest = self.counts if self.counts.ndim == 1 else self.counts.sum(axis=1)
        places = np.flatnonzero(nearest)
        sides = None if self.counts.ndim == 1 else (self.counts[places, 0], self.counts[places, 2])
        return PlaceCounts(places, nearest[places], sides)

    def checked(self, last: int, records: int | None) -> Tally:
        """Itself, if it has a count for every place and as many records as are said to be there.

        Raises:
            BadParameter: It has not.
        """
        if len(self.counts) != last + 1:
            raise BadParameter(
                "a tally must have one count for each place of the lattice",
                given=len(self.counts),
                fix=f"pass {last + 1} counts",
            )
        if records is not None and self.records != records:
            raise BadParameter(
                f"there must be exactly {records} records, as was said in public",
                fix="leave out `records` if their number is private",
            )
        return self

    def __repr__(self) -> str:
        """How many places; nothing private."""
        return f"Tally({len(self.counts)} places)"

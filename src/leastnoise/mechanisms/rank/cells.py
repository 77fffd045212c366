"""Records by their places: which places have records, and how many each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cells", "Places"]

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """So many records at each of some places. It is private, like the records.

    Attributes:
        places: Increasing.
        counts: At least one record each; together less than 2^63.
    """

    places: Places
    counts: Places

    @classmethod
    def of(cls, places: Places) -> Cells:
        """The cells of records at these places, in any order."""
        return cls(*np.unique(places, return_counts=True))

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

    def order(self, low: int, high: int) -> Places:
        """The places of the records of these ranks and all between, counted from one."""
        return self.places[np.searchsorted(self.sums, np.arange(low, high + 1), side="left")]

    def cells(self) -> Cells:
        """Itself."""
        return self

    def between(self, first: int | None, last: int | None) -> Cells:
        """The records from place `first` on and before place `last`; None for no border."""
        start = 0 if first is None else int(np.searchsorted(self.places, first, side="left"))
        stop = len(self.places) if last is None else int(np.searchsorted(self.places, last, side="left"))
        return Cells(self.places[start:stop], self.counts[start:stop])

    def moved(self, by: int) -> Cells:
        """The same records, all so many places further."""
        return Cells(self.places + by, self.counts)

    def dealt_out(self, shares: int) -> Cells:
        """Every place becomes `shares` finer ones, to which its records are dealt out in turn, in a fixed order.

        One more record at a place is one more record at one of its finer places, and nothing else changes.

        >>> finer = Cells.of(np.array([0, 2, 2, 2])).dealt_out(4)
        >>> finer.places.tolist(), finer.counts.tolist()
        ([0, 8, 9, 10], [1, 1, 1, 1])
        """
        used = np.minimum(self.counts, shares)
        cell = np.repeat(np.arange(len(used)), used)
        turn = np.arange(len(cell)) - np.repeat(np.cumsum(used) - used, used)
        places = self.places[cell] * shares + np.array(_turns(shares), dtype=np.int64)[turn]
        counts = self.counts[cell] // shares + (turn < self.counts[cell] % shares)
        order = np.argsort(places)
        return Cells(places[order], counts[order])

    def __repr__(self) -> str:
        """Nothing private."""
        return "Cells()"


@cache
def _turns(shares: int) -> Sequence[int]:
    """All numbers below `shares`, ordered by their reversed binary digits: every beginning is spread evenly.

    >>> _turns(8)
    (0, 4, 2, 6, 1, 5, 3, 7)
    """
    bits = (shares - 1).bit_length()
    numbers = (int(f"{i:0{bits}b}"[::-1], 2) if bits else 0 for i in range(1 << bits))
    return tuple(number for number in numbers if number < shares)

"""Records as counts: how many lie at each place of the lattice. What an engine that keeps the records can hand over.

A quantile mechanism sees a record only as its place on the lattice, so the counts give exactly the same law.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.mechanisms.rank.cells import Cells, Places

__all__ = ["Tally"]

_LARGEST_SUM = 1 << 62


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Tally:
    """So many records at each place, the lowest place first. It is private, like the records.

    Public is that it is a flat list of whole numbers, and its length. Each count is clamped to [0, 2^62/length]: that
    moves two counts no further apart, so neighbours stay neighbours, and no sum leaves 64 bits.

    >>> tally = Tally([2, 0, 1])
    >>> tally.records, tally.cells().order(2, 3).tolist()
    (3, [0, 2])
    """

    counts: Places

    def __init__(self, counts: Any) -> None:
        array = np.asarray(counts)
        whole = array.dtype.kind in "iu"
        if array.ndim == 1 and not whole and not isinstance(counts, str):
            listed = counts.tolist() if isinstance(counts, np.ndarray) else list(counts)
            whole = all(isinstance(count, Integral) and not isinstance(count, bool) for count in listed)
            array = np.array([int(count) for count in listed], dtype=object) if whole else array
        if array.ndim != 1 or not whole:
            raise BadParameter(
                "a tally is a flat list of whole numbers",
                given=f"{array.ndim} axes",
                fix="count the records at each place of the lattice",
            )
        wide = array if array.dtype.itemsize == 8 else array.astype(np.int64)
        most = _LARGEST_SUM // max(len(array), 1)
        object.__setattr__(self, "counts", np.minimum(np.maximum(wide, 0), most).astype(np.int64))

    @property
    def records(self) -> int:
        """How many records there are."""
        return int(self.counts.sum())

    def cells(self) -> Cells:
        """Every place that has a record, and how many."""
        places = np.flatnonzero(self.counts)
        return Cells(places, self.counts[places])

    def checked(self, top: int, records: int | None) -> Tally:
        """Itself, if it has a count for every place and as many records as are said to be there.

        Raises:
            BadParameter: It has not.
        """
        if len(self.counts) != top + 1:
            raise BadParameter(
                "a tally must have one count for each place of the lattice",
                given=len(self.counts),
                fix=f"pass {top + 1} counts",
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

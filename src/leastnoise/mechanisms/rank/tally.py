"""Records as counts: how many lie at each place of the lattice. What an engine that keeps the records can hand over.

A quantile mechanism sees a record only as its place on the lattice, so the counts give exactly the same law.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.mechanisms.rank.rank_law import Places

__all__ = ["Tally"]


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Tally:
    """So many records at each place, the lowest place first. It is private, like the records.

    >>> tally = Tally([2, 0, 1])
    >>> tally.records, tally.places().tolist(), tally.order(2, 3).tolist()
    (3, [0, 0, 2], [0, 2])
    """

    counts: Places

    def __init__(self, counts: Any) -> None:
        array = np.asarray(counts)
        if array.ndim != 1 or array.dtype.kind not in "iu" or (array.size and int(array.min()) < 0):
            raise BadParameter(
                "a tally is a flat list of whole numbers of at least zero",
                given=f"shape {array.shape} of {array.dtype.kind!r}",
                fix="count the records at each place of the lattice",
            )
        object.__setattr__(self, "counts", array.astype(np.int64))

    @property
    def records(self) -> int:
        """How many records there are."""
        return int(self.counts.sum())

    def order(self, low: int, high: int) -> Places:
        """The places of the records of these ranks and all between, counted from one."""
        return np.searchsorted(np.cumsum(self.counts), np.arange(low, high + 1), side="left").astype(np.int64)

    def places(self) -> Places:
        """The place of every record, sorted."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

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

"""What one privacy unit may add to an answer; neighbouring tables differ by all rows of one unit."""

from __future__ import annotations

from dataclasses import dataclass

from leastnoise.exact.parameters import read_integer
from leastnoise.model.limits import MOST_GROUPS, MOST_ROWS, MOST_ROWS_PER_UNIT

__all__ = ["MOST_ROWS", "Contribution"]


@dataclass(frozen=True)
class Contribution:
    """The contribution bounds that the engine enforces before anything is added up (docs/theory/contribution.md).

    Args:
        privacy_unit: The column that says to whom a row belongs; rows where it is missing belong to nobody and are
            dropped. None: every row is a unit of its own.
        groups_per_unit: A unit counts in at most so many groups; which ones is decided by a secret of the call.
        rows_per_unit: In each of them it counts as at most so many rows.

    Raises:
        BadParameter: A limit is not a whole number from 1 to `MOST_GROUPS` or `MOST_ROWS_PER_UNIT`.

    >>> Contribution("person", groups_per_unit=2).rows_per_unit
    1
    """

    privacy_unit: str | None
    groups_per_unit: int = 1
    rows_per_unit: int = 1

    def __post_init__(self) -> None:
        """Read the numbers."""
        for name, most in (("groups_per_unit", MOST_GROUPS), ("rows_per_unit", MOST_ROWS_PER_UNIT)):
            limit = read_integer(getattr(self, name), name, at_least=1, at_most=most)
            object.__setattr__(self, name, 1 if self.privacy_unit is None else limit)

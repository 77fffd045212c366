"""Failures and interruptions are rationed: whoever keeps the ledger looks into them before more can happen.

That a question failed on the data, or took longer than some time, may tell a bit about the data which no price bounds.
So a failure suspends its dataset for its analyst, and so do `INTERRUPTIONS` interruptions. Only `clear` lifts it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from shlex import quote

from leastnoise.composition.cost import Cost, cost_of
from leastnoise.errors import DatasetSuspended
from leastnoise.exact.numbers import Exact
from leastnoise.model.events import Pure

__all__ = ["FLOOR", "INTERRUPTIONS", "Suspension", "Suspensions", "raised"]

INTERRUPTIONS = 3  # so many since the last clearing suspend a dataset for an analyst
FLOOR = Fraction(1, 10)  # the least ε that a failure is charged, or what is left
_ZERO = Fraction(0)


@dataclass(frozen=True)
class Suspension:
    """What has happened since the last clearing.

    Args:
        dataset: On which dataset.
        analyst: To whose questions.
        failures: How many questions failed while they saw the data.
        interruptions: How many were interrupted.
        since: When the first of them happened, in seconds since 1970.
    """

    dataset: str
    analyst: str
    failures: int
    interruptions: int
    since: int

    @property
    def holds(self) -> bool:
        """Whether the dataset is suspended; fewer interruptions than `INTERRUPTIONS` are only counted."""
        return self.failures > 0 or self.interruptions >= INTERRUPTIONS

    @property
    def remedy(self) -> str:
        """The command that clears it."""
        return f"leastnoise budget clear {quote(self.dataset)} --analyst {quote(self.analyst)}"

    def __str__(self) -> str:
        """What happened, and since when."""
        counts = ((self.failures, "failed"), (self.interruptions, "interrupted"))
        what = " and ".join(f"{count} {word}" for count, word in counts if count)
        return f"{what} since {datetime.fromtimestamp(self.since, UTC):%Y-%m-%d %H:%M UTC}"


class Suspensions:
    """Failures and interruptions since the last clearing, for each dataset and analyst."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Suspension] = {}

    def get(self, dataset: str, analyst: str) -> Suspension | None:
        """What is counted against an analyst on a dataset; None for nothing."""
        return self._known.get((dataset, analyst))

    def all(self) -> list[Suspension]:
        """Whatever is counted, the oldest first."""
        return list(self._known.values())

    def count(self, dataset: str, analyst: str, time: int, *, failures: int = 0, interruptions: int = 0) -> None:
        """Count a failure or an interruption."""
        known = self._known.get((dataset, analyst)) or Suspension(dataset, analyst, 0, 0, time)
        self._known[dataset, analyst] = replace(
            known, failures=known.failures + failures, interruptions=known.interruptions + interruptions
        )

    def clear(self, dataset: str, analyst: str) -> None:
        """Begin to count anew."""
        self._known.pop((dataset, analyst), None)

    def require_none(self, dataset: str, analyst: str) -> None:
        """Go on only where the dataset is not suspended for the analyst.

        Raises:
            DatasetSuspended: It is.
        """
        found = self._known.get((dataset, analyst))
        if found is not None and found.holds:
            raise DatasetSuspended(
                f"the dataset is suspended for this analyst: of their questions {found}",
                given=f"dataset {dataset!r}, analyst {analyst!r}",
                fix=f"whoever keeps the ledger finds out why, then clears it: {found.remedy}; "
                "recorded answers can be asked for meanwhile",
            )


def raised(cost: Cost, floor: Exact) -> Cost:
    """The cost, and in each part at least that of a query of ε = floor.

    >>> raised(cost_of(Pure("1/100")), Fraction(1, 10)).epsilon
    Fraction(1, 10)
    """
    return cost.at_least(cost_of(Pure(floor)))

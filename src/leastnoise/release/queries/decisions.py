"""Decisions: is a count at least k, which key has most votes; one answer, right with the best odds privacy allows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from leastnoise.data import Axis, Contribution, Predicate
from leastnoise.exact.formulas import least_whole
from leastnoise.exact.numbers import Exact
from leastnoise.ledger.record import Json
from leastnoise.mechanisms.rainbow import Decision
from leastnoise.model.limits import MOST_ROWS
from leastnoise.model.mechanism import LEVEL
from leastnoise.model.sensitivity import Sensitivity
from leastnoise.release.answer_plan import Method
from leastnoise.release.arguments import cell_count, cell_keys
from leastnoise.release.queries.counts import common_parameters, count_measure, described
from leastnoise.release.queries.query import AskedDataset, Query
from leastnoise.release.queries.reachable import cells_reachable
from leastnoise.release.sensitivity import sensitivity_of
from leastnoise.release.tables import TidyTable

__all__ = ["IsAtLeast", "Plurality"]

_LEVELS = (LEVEL, Fraction(999, 1000))


@dataclass(frozen=True, repr=False)
class _Decision(Query):
    """What both decisions share.

    Attributes:
        dataset: The table with its ledger.
        contribution: What one unit may add to a count.
        axes: What is counted by.
        of: "rows" or "units".
        where: Which rows count; None for all.
    """

    dataset: AskedDataset
    contribution: Contribution
    axes: tuple[Axis, ...]
    of: str
    where: Predicate | None

    @property
    def sensitivity(self) -> Sensitivity:
        """By how much one unit can change each count, all of them the same way."""
        return sensitivity_of(self.contribution, count_measure(self.of), (cell_count(self.axes),), norm="l∞")

    def parameters(self) -> dict[str, Json]:
        """As JSON."""
        return {**common_parameters(self.contribution, self.axes, self.where), "of": self.of}

    def counts(self) -> list[int]:
        """The true counts; private."""
        asked = self.contribution, self.axes, (count_measure(self.of),), self.where
        (counts,) = self.dataset.table.aggregate(*asked)
        return [int(count) for count in np.ravel(counts)]

    def decided(self, decision: Decision, names: list[Any], reachable: bool) -> Method:
        """The decision, recorded by the place of its option; `reachable` says whether each can be the right one."""
        reason = decision.reason()
        odds = ", ".join(f"{float(level):.1%} from a margin of {self.margin(decision, level)} on" for level in _LEVELS)
        return Method(
            mechanism=decision,
            event=decision.event,
            error=decision.error(),
            sensitivity=self.sensitivity,
            write=lambda drawn: decision.options.index(drawn),
            show=partial(_chosen, names),
            reason=reason,
            lower_bound=reason.lower_bound if reachable else None,
            notes=(f"right with probability {odds}", "the error is that of the closest call"),
        )

    def margin(self, decision: Decision, level: Fraction) -> int:
        """The least margin, in whole multiples of what one unit can change, that is told right with this chance."""
        each = self.sensitivity.amount
        return each * least_whole(lambda m: decision.probability_correct(m * each).lower >= level, start=1)

    @cached_property
    def reachable(self) -> bool:
        """Whether any number of units can be in each cell."""
        return cells_reachable(self.dataset.table.columns, self.contribution, self.axes, self.where)

    def half_error(self, epsilon: Exact, delta: Fraction) -> None:
        """There is no such thing for a choice."""


def _chosen(names: list[Any], place: Any) -> TidyTable:
    return TidyTable({"value": (names[place],)})


@dataclass(frozen=True, repr=False)
class IsAtLeast(_Decision):
    """Is a count at least so many?"""

    at_least: int = 1

    @property
    def question(self) -> str:
        """What is asked."""
        return described(f"is the count of {self.of} at least {self.at_least}", (), self.where)

    def parameters(self) -> dict[str, Json]:
        """As JSON."""
        return {**super().parameters(), "at_least": self.at_least}

    def method(self, epsilon: Exact, delta: Fraction) -> Method:
        """The optimal threshold test."""
        amount = self.sensitivity.amount
        decision = Decision.threshold(epsilon, delta, at_least=self.at_least, contribution=amount)
        return self.decided(decision, [True, False], self.reachable and self.at_least <= MOST_ROWS)

    def read(self) -> int:
        """The true count; private."""
        return self.counts()[0]


class Plurality(_Decision):
    """Which key has the largest count? A tie goes to the one that is listed first."""

    @property
    def question(self) -> str:
        """What is asked."""
        return described(f"which has most {self.of}", self.axes, self.where)

    def method(self, epsilon: Exact, delta: Fraction) -> Method:
        """The optimal vote."""
        keys = list(zip(*cell_keys(self.axes).values(), strict=True))
        amount = self.sensitivity.amount
        decision = Decision.plurality(epsilon, delta, options=range(len(keys)), contribution=amount)
        return self.decided(decision, [key[0] if len(key) == 1 else key for key in keys], self.reachable)

    def read(self) -> list[int]:
        """The true counts; private."""
        return self.counts()

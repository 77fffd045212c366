"""The sorted list of frequencies: how many units the most common key has, the next one, and so on; not which keys."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from leastnoise.data import Contribution, CountUnits, Kind, Predicate
from leastnoise.exact.numbers import Exact
from leastnoise.ledger.record import Json
from leastnoise.mechanisms.combinatorial import plan_sorted_counts
from leastnoise.release.answer_plan import Method
from leastnoise.release.queries.counts import common_parameters, described
from leastnoise.release.queries.query import AskedDataset, Query
from leastnoise.release.queries.reachable import cells_reachable
from leastnoise.release.sensitivity import sensitivity_of
from leastnoise.release.tables import TidyTable

__all__ = ["SortedCounts"]


@dataclass(frozen=True, repr=False)
class SortedCounts(Query):
    """The `top` largest counts of units by key, the largest first; the keys stay private.

    Attributes:
        dataset: The table with its ledger.
        contribution: Every unit counts for one key, once.
        columns: Whose values are the keys.
        top: How many counts.
        total: A public guess of the number of units, by which the mechanism is chosen.
        where: Which rows count; None for all.
    """

    dataset: AskedDataset
    contribution: Contribution
    columns: tuple[str, ...]
    top: int
    total: int
    where: Predicate | None

    @property
    def question(self) -> str:
        """What is asked."""
        return described(f"the {self.top} largest counts by {', '.join(self.columns)}, sorted", (), self.where)

    def parameters(self) -> dict[str, Json]:
        """As JSON."""
        common = common_parameters(self.contribution, (), self.where)
        return {**common, "columns": list(self.columns), "top": self.top, "total": self.total}

    def method(self, epsilon: Exact, delta: Fraction) -> Method:  # noqa: ARG002 - pure whatever δ is
        """The exponential mechanism over lists, or noise and isotonic regression, whichever errs less."""
        plan = plan_sorted_counts(epsilon, self.total, self.top)
        kinds, unit = self.dataset.table.columns, self.contribution.privacy_unit
        free = unit not in self.columns and any(kinds[column] is not Kind.BOOLEAN for column in self.columns)
        reachable = free and cells_reachable(kinds, self.contribution, (), self.where)
        reachable &= self.where is None or not self.where.columns & set(self.columns)
        likely = ", ".join(f"{name} {error:.4g}" for name, error in plan.on_example.items())
        return Method(
            mechanism=plan.mechanism,
            event=plan.mechanism.event,
            error=plan.mechanism.error(),
            sensitivity=sensitivity_of(self.contribution, CountUnits()),
            write=lambda drawn: [int(count) for count in drawn],
            show=self.show,
            reason=plan.mechanism.reason(),
            lower_bound=plan.lower_bound if reachable else None,
            notes=(
                f"ℓ₁ error on a list of {self.total} by Zipf's law: {likely}",
                "the error is that of the whole list, at worst over all lists",
            ),
        )

    def half_error(self, epsilon: Exact, delta: Fraction) -> None:
        """Not computed: every step would plan the whole list anew."""

    def read(self) -> list[int]:
        """The true counts, largest first; private."""
        found = self.dataset.table.discover(self.contribution, self.columns, self.where)
        return sorted(found.values(), reverse=True)

    def show(self, drawn: Any) -> TidyTable:
        """By rank; what is beyond the list is zero."""
        counts = (*drawn, *[0] * (self.top - len(drawn)))[: self.top]
        return TidyTable({"rank": tuple(range(1, self.top + 1)), "value": tuple(counts)}, ("rank",))

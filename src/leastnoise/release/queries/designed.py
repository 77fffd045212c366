"""Counts by the mechanism that is optimal for a public range and a prior of the analyst.

The true answer is min(count, n) for each cell of some public axes, a node of the path 0..n, or of the grid of such
paths where there are several cells. Clamping brings no two counts farther apart, so a unit that changes at most g
counts, each by at most r, moves the answer by at most Δ = g·r steps in that graph. The mechanism is the optimal one of
the graph at ε/Δ for each step, hence ε-private for the table.

For Δ = 1 tables with one unit more or less are exactly the neighbours of the graph. Then no ε-private mechanism has a
smaller expected loss under the prior: Ghosh, Roughgarden and Sundararajan 2012 on a path, and the product theorem on a
grid, where the counts are independent and the losses add up. For Δ > 1 it is the best of those that promise ε/Δ for
each step, which a mechanism for the table need not do. See docs/theory/designed_counts.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, cast

from leastnoise.composition.cost import pure_within
from leastnoise.data import Axis
from leastnoise.designer import Design, design
from leastnoise.exact import Exact, scaled
from leastnoise.ledger.record import Json
from leastnoise.mechanisms.designed.product_mechanism import ProductMechanism
from leastnoise.mechanisms.designed.remapped_geometric import RemappedGeometric
from leastnoise.model import (
    ErrorEstimate,
    Event,
    Loss,
    Privacy,
    Pure,
    absolute,
    additive,
    independent,
    squared,
    zero_one,
)
from leastnoise.model.graphs import grid, path
from leastnoise.release.arguments import cell_keys
from leastnoise.release.plan import AnswerPlan
from leastnoise.release.queries.counts import whole_numbers
from leastnoise.release.queries.query import CountQuery
from leastnoise.release.tables import TidyTable, measure_names

__all__ = ["LOSSES", "DesignedCounts"]

LOSSES: Mapping[str, Loss] = {"absolute": absolute, "squared": squared, "zero_one": zero_one}
_FAR: Mapping[str, int] = {"absolute": 1, "squared": 2}  # the power of the distance that is lost


@dataclass(frozen=True, repr=False, kw_only=True)
class DesignedCounts(CountQuery):
    """How many rows or units, in each cell of some public axes, by the best mechanism for a prior.

    Attributes:
        at_most: Larger counts count as this.
        prior: How likely each count 0..at_most is, the same for all cells; None for all alike.
        loss: A key of `LOSSES`.
    """

    recorded_as: ClassVar[str] = "DesignedCounts"
    at_most: int
    prior: tuple[Fraction, ...] | None
    loss: str

    @property
    def question(self) -> str:
        return self.described(f"count of {self.counted_words}, at most {self.at_most}, designed for a prior")

    def parameters(self) -> dict[str, Json]:
        prior: Json = None if self.prior is None else [str(weight) for weight in self.prior]
        return {**super().parameters(), "at_most": self.at_most, "prior": prior, "loss": self.loss}

    def best(self, epsilon: Exact) -> Design:
        """The optimal mechanism for all cells, with ε for each step of a count."""
        side, loss, cells = self.at_most + 1, LOSSES[self.loss], self.cells
        if cells == 1:
            return design(path(side), epsilon, prior=self.prior, loss=loss)
        prior = independent(*[self.prior] * cells)
        return design(grid(*[side] * cells), epsilon, prior=prior, loss=additive(*[loss] * cells))

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """The design at ε/Δ; a δ is not spent."""
        sensitivity, cells = self.sensitivity_of_counts(), self.cells
        epsilon, steps = pure_within(price), sensitivity.amount
        found = self.best(epsilon / steps)
        mechanism = cast("RemappedGeometric | ProductMechanism", found.mechanism)
        part = cast(RemappedGeometric, mechanism.parts[0] if isinstance(mechanism, ProductMechanism) else mechanism)
        event: Event = mechanism.event if steps == 1 else Pure(epsilon)
        each = Fraction(1, cells)  # all cells are alike
        certain = price.currency == "epsilon" and steps == 1 and self._all_reachable
        notes = [f"a count above {self.at_most} counts as {self.at_most}, and intervals are for that"]
        if steps > 1:
            notes.append(f"the best of those that promise ε/{steps} for each step of a count; no bound for others")
        return AnswerPlan(
            mechanism=mechanism,
            event=event,
            error=ErrorEstimate(self.loss, scaled(found.loss, each)),
            within=partial(_within, part, self.loss),
            sensitivity=sensitivity,
            encode=whole_numbers,
            to_table=partial(_designed_table, self.axes, part),
            reason=found.reason,
            lower_bound=scaled(found.lower_bound, each) if certain else None,
            notes=tuple(notes),
            supposing="if counts are as likely as the prior says",
        )

    def read(self) -> Any:
        """The clamped counts, a node of the graph; private."""
        counts = tuple(min(int(count), self.at_most) for count in self.totals(self.counted))
        return counts[0] if len(counts) == 1 else counts

    @property
    def _all_reachable(self) -> bool:
        """Whether every count of every cell is possible beside every other, so that the graph is that of the tables."""
        unit = self.contribution.privacy_unit
        most = None if unit is None else self.dataset.table.types[unit].most_values
        return self.reachable and (most is None or most >= self.at_most * self.cells)


def _within(part: RemappedGeometric, loss: str, level: Fraction) -> Fraction:
    """The loss that is not exceeded with this probability, whatever the count is."""
    far = part.within(level)
    return Fraction(far ** _FAR[loss] if loss in _FAR else far > 0)


def _designed_table(axes: tuple[Axis, ...], part: RemappedGeometric, drawn: list[int], level: Fraction) -> TidyTable:
    """Released counts, each with the interval of those that it leaves."""
    keys = cell_keys(axes)
    ends = [part.truths(count, level) for count in drawn]
    columns = (tuple(drawn), tuple(low for low, _ in ends), tuple(high for _, high in ends))
    return TidyTable({**keys, **dict(zip(measure_names(tuple(keys)), columns, strict=True))}, tuple(keys))

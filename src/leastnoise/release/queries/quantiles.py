"""Medians and other quantiles: the engine counts rows on a public grid, a rank mechanism chooses from it.

A unit adds at most `rows_per_unit` rows, so it moves every number of changes by at most that many, and the rank
mechanism gets ε/rows_per_unit; as an exponential mechanism its log-probabilities still range over ε.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar

from leastnoise.composition.price import covers, pure_within
from leastnoise.data import CountRows
from leastnoise.errors import UnknownEvent
from leastnoise.exact.numbers import Exact
from leastnoise.exact.sums import rational_above
from leastnoise.ledger.record import Json
from leastnoise.mechanisms import IntervalQuantile, Quantile, SeveralQuantiles
from leastnoise.mechanisms.rank.tally import Tally
from leastnoise.model.events import BoundedRange, Composed, Event
from leastnoise.model.mechanism import ErrorEstimate
from leastnoise.model.privacy import Privacy
from leastnoise.model.show import number
from leastnoise.release.plan import AnswerPlan, quantile_of
from leastnoise.release.queries.query import Query
from leastnoise.release.sensitivity import points_reachable, sensitivity_of
from leastnoise.release.tables import TidyTable

__all__ = ["Quantiles"]


@dataclass(frozen=True, repr=False, kw_only=True)
class Quantiles(Query):
    """One or several quantiles of a column; a unit counts with so many rows, in all.

    Attributes:
        column: Whose quantiles; missing values do not count.
        levels: Which ones, increasing.
        grid: The public points to choose from, increasing.
        even: The distance of the grid points, where it is the same for all.
    """

    recorded_as: ClassVar[str] = "Quantiles"
    column: str
    levels: tuple[Fraction, ...]
    grid: tuple[Fraction, ...]
    even: Fraction | None

    @property
    def question(self) -> str:
        named = "median" if self.levels == (Fraction(1, 2),) else f"quantiles {', '.join(map(number, self.levels))}"
        return self.described(f"{named} of {self.column}")

    def parameters(self) -> dict[str, Json]:
        return {
            **super().parameters(),
            "column": self.column,
            "levels": [str(level) for level in self.levels],
            "grid": [str(self.grid[0]), str(self.even), len(self.grid)]
            if self.even is not None
            else [str(point) for point in self.grid],
        }

    @cached_property
    def reachable(self) -> bool:
        """Whether any number of units can be nearest to each point."""
        asked = self.dataset.table, self.contribution, self.column, self.grid, self.where
        return points_reachable(*asked)

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """The rank mechanism on the grid."""
        sensitivity = sensitivity_of(self.contribution, CountRows(), norm="l∞")
        rows = sensitivity.amount
        mechanism = self._within(price, rows)
        error, reason = mechanism.error(), mechanism.reason()
        return AnswerPlan(
            mechanism=mechanism,
            event=_scaled(mechanism.event, Fraction(rows)),
            error=ErrorEstimate("rows", error.expected, error.quantiles, attained=False),
            within=partial(quantile_of, mechanism, Fraction(1)),
            sensitivity=sensitivity,
            encode=_points,
            to_table=partial(quantiles_table, self.levels, all(point.denominator == 1 for point in self.grid)),
            reason=reason,
            lower_bound=reason.lower_bound if rows == 1 and self.reachable and price.is_pure else None,
            notes=(
                "errors count rows between answer and true quantile; a value counts as its nearest grid point",
                f"the grid has {len(self.grid)} points from {number(self.grid[0])} to {number(self.grid[-1])}",
            ),
        )

    def read(self) -> Tally:
        """How many rows lie nearest to each grid point."""
        return Tally(self.dataset.table.ranks(self.contribution, self.column, self.grid, self.where))

    def _within(self, price: Privacy, rows: int) -> SeveralQuantiles | IntervalQuantile | Quantile:
        """The mechanism with the largest ε that the price pays for, where a unit is so many rows."""
        mechanism = self._mechanism(pure_within(price) / rows)
        if price.currency in ("rho", "mu"):  # a bounded range costs less than its ε
            shape = self._mechanism(Fraction(1)).event
            better = self._mechanism(pure_within(price, lambda epsilon: _scaled(shape, rational_above(epsilon))) / rows)
            mechanism = better if covers(price, _scaled(better.event, Fraction(rows))) else mechanism
        return mechanism

    def _mechanism(self, epsilon: Exact) -> SeveralQuantiles | IntervalQuantile | Quantile:
        if len(self.levels) > 1:
            return SeveralQuantiles(epsilon, self.levels, self.grid[0], self.grid[-1], step=self.even)
        if self.even is not None and len(self.grid) > 1:
            return IntervalQuantile(epsilon, self.grid[0], self.grid[-1], self.levels[0], step=self.even)
        return Quantile(epsilon, self.grid, self.levels[0])


def _scaled(event: Event, factor: Fraction) -> Event:
    """What a rank mechanism costs with so many times its ε, or where a unit moves its scores by so many times more."""
    if isinstance(event, Composed):
        return Composed(tuple(_scaled(part, factor) for part in event.events))
    if not isinstance(event, BoundedRange):
        raise UnknownEvent("no event of a rank mechanism", given=type(event).__name__, fix="say how it grows with ε")
    return BoundedRange(event.epsilon * factor)


def _points(drawn: Any) -> list[Json]:
    """One drawn point or several, as JSON."""
    return [float(point) for point in (drawn if isinstance(drawn, Iterable) else (drawn,))]


def quantiles_table(levels: tuple[Fraction, ...], whole: bool, drawn: list[float], _: Fraction) -> TidyTable:
    """One value, or a table by level; as whole numbers where the grid has no others."""
    values = tuple(int(point) if whole else point for point in drawn)
    if len(levels) == 1:
        return TidyTable({"value": values})
    return TidyTable({"level": tuple(float(level) for level in levels), "value": values}, ("level",))

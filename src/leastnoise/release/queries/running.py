"""Running totals for a known horizon, a day at a time: each day is a question of its own that continues a record.

The run is known by its name. Its first day fixes what is asked, at which price, and the strategy, and records them;
every later day is refused unless all of it is the same and all days before were answered. On each day the rows of the
days up to it are read. Of a unit its first days count, which no later day changes (docs/theory/running.md).
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.composition.cost import gaussian_within
from leastnoise.data import KeyAxis
from leastnoise.errors import BadParameter, RequestConflict, WrongCurrency
from leastnoise.exact import Enclosure, NumberLike, sqrt_above
from leastnoise.ledger.record import Json, canonical
from leastnoise.mechanisms.strategy.running_totals import RunningTotals, plan_running
from leastnoise.model import LEVEL, ErrorEstimate, GaussianPrivacy, Privacy, Table, number
from leastnoise.release.arguments import axis_labels, read_confidence
from leastnoise.release.plan import AnswerPlan, ReleasePlan
from leastnoise.release.queries.counts import shown_number
from leastnoise.release.queries.query import CountQuery, Price, read_price
from leastnoise.release.result import Release
from leastnoise.release.tables import TidyTable, measure_names

__all__ = ["Running"]


@dataclass(frozen=True, repr=False, kw_only=True)
class Running(CountQuery):
    """The running total up to one day of a run, which the days before have begun.

    Attributes:
        name: What the run is called in the ledger.
        place: Which day; the first is 0.
        strategy: The rows of the strategy, once they are fixed.
        measured: What was released on the days before.
        run: A hash of all that must be the same on every day.
    """

    recorded_as: ClassVar[str] = "Running"
    shown_multiples: ClassVar[tuple[Fraction, ...]] = ()
    name: str
    place: int = 0
    strategy: Table = ()
    measured: tuple[int, ...] = ()
    run: str = ""

    @property
    def days(self) -> tuple[Any, ...]:
        """The days of the horizon, in order."""
        return axis_labels(self.axes[0])

    @property
    def question(self) -> str:
        return self.described(f"running total of the count of {self.of}, day {self.place + 1}")

    def parameters(self) -> dict[str, Json]:
        rows = hashlib.sha256(canonical([list(row) for row in self.strategy], "strategy").encode()).hexdigest()
        return {**super().parameters(), "run": self.name, "place": self.place, "strategy": rows}

    def plan(
        self,
        epsilon: Price = None,
        delta: NumberLike = 0,
        *,
        rho: NumberLike | None = None,
        mu: NumberLike | None = None,
        confidence: NumberLike = LEVEL,
    ) -> ReleasePlan:
        """What the whole horizon costs and how far off its worst day will be. Free.

        Args:
            epsilon: The price of all days together, with a δ; or a whole price as a `Privacy`.
            delta: The δ beside ε.
            rho: Instead of ε: the price in zero-concentrated privacy.
            mu: Instead of ε: the price in Gaussian privacy.
            confidence: The probability with which the stated error is kept.
        """
        price, level = read_price(epsilon, delta, rho, mu), read_confidence(confidence)
        return self._fixed(price, self._begun()).release_plan_of_horizon(price, level)

    def release(  # type: ignore[override]
        self,
        day: Any,
        epsilon: Price = None,
        delta: NumberLike = 0,
        *,
        rho: NumberLike | None = None,
        mu: NumberLike | None = None,
        confidence: NumberLike = LEVEL,
    ) -> Release:
        """Release the running total up to a day; a day that was released before comes from the record at no cost.

        Args:
            day: A day of the horizon. Days are released in their order.
            epsilon: The price of all days together, the same on every day; or a whole price as a `Privacy`.
            delta: The δ beside ε.
            rho: Instead of ε: the price in zero-concentrated privacy.
            mu: Instead of ε: the price in Gaussian privacy.
            confidence: The probability with which each interval holds the true value.

        Raises:
            BadParameter: There is no such day, or a day before it was not released; nothing was spent.
            RequestConflict: The run was begun as another question, at another price, or one of its days has failed.
            BudgetExceeded: The budget does not cover the day; nothing was read or spent.
        """
        price, level = read_price(epsilon, delta, rho, mu), read_confidence(confidence)
        if not isinstance(day, Hashable) or day not in self.days:
            raise BadParameter("this is no day of the run", given=day, fix=f"the first is {self.days[0]}")
        place, begun = self.days.index(day), self._begun()
        fixed = self._fixed(price, begun)
        today = fixed.of_day(place, fixed.strategy, self._measured(begun, place))
        return super(Running, today).release(price, request_id=self._id(place), confidence=level)

    def of_day(self, place: int, strategy: Table, measured: tuple[int, ...] = ()) -> Running:
        """The question of one day."""
        return replace(self, place=place, strategy=strategy, measured=measured)

    def _id(self, place: int) -> str:
        return f"{self.name}, day {place + 1}"

    def _begun(self) -> Any:
        """What the first day has recorded; None where it was not released."""
        receipt = self.dataset.ledger.find(self.dataset.analyst, self._id(0))
        if receipt is not None and receipt.state == "failed":
            raise self._failed(0)
        return None if receipt is None or receipt.state != "answered" else receipt.answer

    def _measured(self, begun: Any, place: int) -> tuple[int, ...]:
        """What was released on the days before.

        Raises:
            BadParameter: One of them is missing.
        """
        found: list[int] = []
        for before in range(place):
            receipt = self.dataset.ledger.find(self.dataset.analyst, self._id(before))
            if receipt is not None and receipt.state == "failed":
                raise self._failed(before)
            if begun is None or receipt is None or receipt.state != "answered":
                raise BadParameter(
                    "the days of a run are released in their order",
                    given=self.days[place],
                    fix=f"release {self.days[before]} first",
                )
            if not isinstance(receipt.answer, dict) or "measured" not in receipt.answer:
                raise RequestConflict("this is no day of a run", given=self._id(before), fix="begin another run")
            found.append(int(receipt.answer["measured"]))
        return tuple(found)

    def _failed(self, place: int) -> RequestConflict:
        return RequestConflict(
            "a day of this run has failed, and the run can't go on", given=self.days[place], fix="begin another run"
        )

    def _fixed(self, price: Privacy, begun: Any) -> Running:
        """The run with its strategy: the recorded one, if it was begun as the same question at the same price.

        Raises:
            RequestConflict: It was begun as another one.
        """
        if begun is None:
            return replace(self, strategy=plan_running(len(self.days)), run=self.identity(price))
        if not isinstance(begun, dict) or begun.get("run") != self.identity(price):
            raise RequestConflict(
                "the run of this name asks something else, or at another price",
                given=self.name,
                fix="ask as on its first day, or give the run another name",
            )
        return replace(self, strategy=tuple(tuple(row) for row in begun["strategy"]), run=begun["run"])

    def identity(self, price: Privacy) -> str:
        """A hash of all that must be the same on every day."""
        asked = replace(self, place=0, strategy=(), measured=(), run="")
        dataset = self.dataset
        told: list[Json] = [dataset.name, dataset.analyst, dataset.purpose, asked.parameters(), dict(price.to_dict())]
        return hashlib.sha256(canonical(told, "run").encode()).hexdigest()

    def horizon(self, price: Privacy) -> RunningTotals:
        """The horizon at a price.

        Raises:
            WrongCurrency: The price pays for no Gaussian noise.
        """
        mu_squared = gaussian_within(price)
        if not mu_squared:
            raise WrongCurrency(
                "running totals have Gaussian noise, which has no pure ε", given=str(price), fix="add a δ, or pass rho"
            )
        sensitivity = self.sensitivity_of_counts()
        return RunningTotals(self.strategy, mu_squared, sensitivity.l1)

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """The next row of the strategy."""
        horizon = self.horizon(price)
        mechanism = horizon.day(self.place)
        square = mechanism.error().expected.upper
        return AnswerPlan(
            mechanism=mechanism,
            event=mechanism.event,
            error=ErrorEstimate("root mean square", _root(square), {LEVEL: mechanism.half_width()}, attained=False),
            within=mechanism.half_width,
            sensitivity=self.sensitivity_of_counts(),
            encode=self._encode,
            to_table=partial(self.to_table, horizon),
            reason=mechanism.reason(),
            notes=self._notes(horizon),
        )

    def release_plan_of_horizon(self, price: Privacy, level: Fraction) -> ReleasePlan:
        """The plan of the last day, with the price of all."""
        last = replace(self, place=len(self.days) - 1)
        horizon = last.horizon(price)
        how = last.public.answer_plan(price)
        worst = max(horizon.whole.squared_errors())
        error = ErrorEstimate("root mean square", _root(worst), {level: max(horizon.whole.half_widths(level))}, False)
        plan = self.release_plan(replace(how, event=GaussianPrivacy(sum(horizon.charges))), price, level)
        return replace(plan, error=error)

    def _notes(self, horizon: RunningTotals) -> tuple[str, ...]:
        spent = sum(horizon.charges[: self.place + 1])
        return (
            f"of a unit its first {self.contribution.groups_per_unit} days count; whoever's rows of past days change "
            "c times is protected with √(c + 1) times the μ, everybody else as stated",
            f"up to this day the run costs μ = {number(sqrt_above(spent))}, "
            f"for all {horizon.days} days μ = {number(sqrt_above(sum(horizon.charges)))}",
        )

    def _encode(self, drawn: int) -> Json:
        if self.place:
            return {"measured": int(drawn)}
        return {"measured": int(drawn), "run": self.run, "strategy": [list(row) for row in self.strategy]}

    def read(self) -> NDArray[Any]:
        """The counts of the days up to this one."""
        past = KeyAxis(self.axes[0].column, self.days[: self.place + 1])
        table = self.dataset.table
        (found,) = table.aggregate(self.contribution, (past,), (self.counted,), self.where, earliest=True)
        return np.ravel(found)

    def to_table(self, horizon: RunningTotals, drawn: Any, level: Fraction) -> TidyTable:
        """The running totals of all days up to this one."""
        values = horizon.totals([*self.measured, int(drawn["measured"])])
        halves = horizon.whole.half_widths(level)[: len(values)]
        keys = (self.axes[0].column,)
        value, low, high = measure_names(keys)
        pairs = list(zip(values, halves, strict=True))
        columns = {
            keys[0]: self.days[: len(values)],
            value: tuple(shown_number(middle) for middle, _ in pairs),
            low: tuple(shown_number(middle - half) for middle, half in pairs),
            high: tuple(shown_number(middle + half) for middle, half in pairs),
        }
        return TidyTable(columns, keys)


def _root(square: Fraction) -> Enclosure:
    root = sqrt_above(square)
    return Enclosure(root, root)

"""What every query is: a question that can be planned for nothing and released at a price."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from leastnoise.composition import Remaining
from leastnoise.composition.cost import LEAST_EPSILON
from leastnoise.data import Axis, Contribution, CountRows, CountUnits, Measure, Predicate, Table
from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike, read_exact, read_rational
from leastnoise.exact.sources import system_source
from leastnoise.ledger import Ledger, Opening, Request
from leastnoise.ledger.record import Json
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.model.privacy import Privacy
from leastnoise.model.sensitivity import Norm, Sensitivity
from leastnoise.release.arguments import axis_parameters, cell_count
from leastnoise.release.plan import AnswerPlan, ReleasePlan
from leastnoise.release.result import Release
from leastnoise.release.sensitivity import cells_reachable, enough_units, sensitivity_of
from leastnoise.release.tables import TidyTable
from leastnoise.release.transaction import left_after, release_once

__all__ = ["AskedDataset", "CellQuery", "CountQuery", "Query", "fresh_id"]

_PARTS = 16  # ε is tried in sixteenths of itself
_MOST = 4


class AskedDataset(Protocol):
    """What a question needs of its dataset; see `Dataset`."""

    @property
    def table(self) -> Table: ...
    @property
    def ledger(self) -> Ledger: ...
    @property
    def name(self) -> str: ...
    @property
    def analyst(self) -> str: ...
    @property
    def purpose(self) -> str: ...
    @property
    def opening(self) -> Opening: ...
    @property
    def left(self) -> Remaining: ...
    def require_ready(self) -> None: ...


@dataclass(frozen=True, repr=False, kw_only=True)
class Query(ABC):
    """A question about a dataset. A subclass says what it reads, and by which mechanism it answers.

    Attributes:
        dataset: The table with its ledger.
        contribution: What one unit may add.
        where: Which rows count; None for all.
    """

    recorded_as: ClassVar[str]  # its kind in the ledger; other words there would be other questions
    dataset: AskedDataset
    contribution: Contribution
    where: Predicate | None

    def __post_init__(self) -> None:
        """Refuse what the table would refuse, before a plan or a price: columns, keys and edges that do not fit."""
        self.dataset.table.check(self.read)

    @property
    @abstractmethod
    def question(self) -> str:
        """What is asked, in a few words; public."""

    @property
    def broken_down_by(self) -> tuple[Axis, ...]:
        """The public axes of the answer; none unless a query has some."""
        return ()

    def parameters(self) -> dict[str, Json]:
        """All that tells this question from others of its kind, as JSON."""
        bound, where = self.contribution, self.where
        return {
            "privacy_unit": bound.privacy_unit,
            "groups_per_unit": bound.groups_per_unit,
            "rows_per_unit": bound.rows_per_unit,
            "axes": [axis_parameters(axis) for axis in self.broken_down_by],
            "where": None if where is None else where.to_dict(),
        }

    @abstractmethod
    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """How it is answered at this price, from public things only."""

    @abstractmethod
    def read(self) -> Any:
        """The true answer, from the private data."""

    @cached_property
    def reachable(self) -> bool:
        """Whether any number of units can be in each cell: without that no lower bound is one for this question."""
        return cells_reachable(self.dataset.table, self.contribution, self.broken_down_by, self.where)

    def check(self) -> None:
        """Refuse the question if anything public is wrong with it or its table; no private row is read."""
        self.dataset.require_ready()
        self.dataset.table.rehearse(self.read)

    @property
    def adjust(self) -> Callable[[TidyTable, IntegerNoise], TidyTable] | None:
        """What `Release.consistent` does to a table with this noise on each number, for a query that has it."""
        return None

    def plan(self, epsilon: NumberLike, delta: NumberLike = 0) -> ReleasePlan:
        """Mechanism, reason, error and cost. Free: the private data is not touched and nothing is spent.

        Args:
            epsilon: The privacy that the release would cost.
            delta: Its δ; above zero it lets in mechanisms that need one.
        """
        price = _read_price(epsilon, delta)
        return replace(self._plan(self.answer_plan(price), price), half_error=self.half_error(price))

    def release(self, epsilon: NumberLike, delta: NumberLike = 0, request_id: str | None = None) -> Release:
        """Spend the price and answer.

        Args:
            epsilon: The privacy that the release costs.
            delta: Its δ.
            request_id: Your own name for this request. Repeating it returns the recorded answer, costs nothing and does
                not touch the data. Without one the request gets a random name.

        Raises:
            BudgetExceeded: The budget does not cover it; nothing was read or spent.
            RequestConflict: The id was used for another question.
            Closed: The dataset was closed; nothing was spent.
            EngineFailure: The engine failed; it was charged, and the dataset is suspended for this analyst.
        """
        price = _read_price(epsilon, delta)
        how, dataset = self.answer_plan(price), self.dataset
        name = fresh_id() if request_id is None else request_id
        parameters: dict[str, Json] = {
            "query": self.recorded_as,
            **self.parameters(),
            "epsilon": str(price.epsilon),
            "delta": str(price.delta),
        }
        plan = self._plan(how, price)
        request = Request(name, how.event, dataset.name, dataset.analyst, dataset.purpose, parameters)
        recorded = release_once(
            dataset.ledger,
            request,
            self.read,
            lambda truth: how.encode(how.mechanism.release(truth)),
            check=self.check,
            opening=dataset.opening,
        )
        return Release(
            table=how.to_table(recorded),
            plan=replace(plan, left=left_after(dataset.ledger, request)),
            request_id=name,
            noise=how.noise,
            adjust=self.adjust,
        )

    def _plan(self, how: AnswerPlan, price: Privacy) -> ReleasePlan:
        many = enough_units(self.dataset.table, self.contribution.privacy_unit, price.epsilon)
        bound = how.lower_bound if many else None
        return ReleasePlan(
            question=self.question,
            mechanism=how.mechanism,
            reason=replace(how.reason, lower_bound=bound),
            sensitivity=how.sensitivity,
            error=how.error,
            lower_bound=bound,
            half_error=None,
            event=how.event,
            options=how.options,
            notes=how.notes,
            left=self.dataset.left,
        )

    def half_error(self, price: Privacy) -> Exact | None:
        """The least ε, in sixteenths of the given one, at which the expected error is at most half; None beyond 4ε."""
        now = self.answer_plan(price).error
        if now is None:
            return None
        wanted = now.expected.upper / 2

        def is_enough(parts: int) -> bool:
            error = self.answer_plan(Privacy(price.epsilon * Fraction(parts, _PARTS), price.delta)).error
            return error is not None and error.expected.upper <= wanted

        low, high = _PARTS, _PARTS * _MOST
        if not is_enough(high):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if is_enough(middle) else (middle, high)
        return price.epsilon * Fraction(high, _PARTS)

    def described(self, what: str) -> str:
        """A question in words: what, by what, and where."""
        parts = [f"{axis.column} ({len(axis)})" for axis in self.broken_down_by]
        by = f" by {', '.join(parts)}" if parts else ""
        return f"{what}{by}" if self.where is None else f"{what}{by} where {self.where}"

    def __repr__(self) -> str:
        """The question."""
        return f"<{type(self).__name__}: {self.question}>"


@dataclass(frozen=True, repr=False, kw_only=True)
class CellQuery(Query):
    """A question about each cell of some public axes.

    Attributes:
        axes: What it is broken down by; none for one number.
    """

    axes: tuple[Axis, ...]

    @property
    def broken_down_by(self) -> tuple[Axis, ...]:
        return self.axes

    @property
    def cells(self) -> int:
        """How many cells."""
        return cell_count(self.axes)

    def totals(self, measure: Measure) -> NDArray[Any]:
        """What the engine adds up in each cell, flattened; private."""
        (found,) = self.dataset.table.aggregate(self.contribution, self.axes, (measure,), self.where)
        return np.ravel(found)


@dataclass(frozen=True, repr=False, kw_only=True)
class CountQuery(CellQuery):
    """A question about the number of rows or units in each cell.

    Attributes:
        of: "rows" or "units".
    """

    of: str

    @property
    def counted(self) -> CountRows | CountUnits:
        """What the engine adds up."""
        return CountUnits() if self.of == "units" else CountRows()

    def parameters(self) -> dict[str, Json]:
        return {**super().parameters(), "of": self.of}

    def sensitivity_of_counts(self, norm: Norm = "l1") -> Sensitivity:
        """By how much one unit can change the counts."""
        return sensitivity_of(self.contribution, self.counted, (self.cells,), norm=norm)


def fresh_id() -> str:
    """A name for a request that no other has."""
    return f"r-{system_source.bits(96):024x}"


def _read_price(epsilon: NumberLike, delta: NumberLike) -> Privacy:
    least = read_exact(epsilon, "epsilon", at_least=LEAST_EPSILON)
    return Privacy(least, read_rational(delta, "delta", at_least=0, below=1))

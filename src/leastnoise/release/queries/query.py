"""What every query is: a question that can be planned for nothing and released at a price."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from leastnoise.composition import Remaining, cost_of
from leastnoise.composition.cost import LEAST_EPSILON, LEAST_RHO
from leastnoise.data import Axis, Contribution, CountRows, CountUnits, Kind, Measure, Predicate, Table
from leastnoise.data.columns import counted
from leastnoise.errors import BadParameter, TooLarge, UnreachableTarget, WrongCurrency
from leastnoise.exact import NumberLike, read_exact, read_rational, system_source
from leastnoise.ledger import Ledger, Opening, Request
from leastnoise.ledger.record import Json
from leastnoise.model import LEVEL, MOST_LISTED_CELLS, Event, Norm, Privacy, Sensitivity
from leastnoise.release.arguments import axis_parameters, cell_count, read_confidence
from leastnoise.release.calls import asked_at, call_of
from leastnoise.release.plan import AnswerPlan, PricedError, ReleasePlan
from leastnoise.release.pricing import least_price, multiple_of
from leastnoise.release.result import Release
from leastnoise.release.sensitivity import cells_reachable, enough_units, sensitivity_of
from leastnoise.release.transaction import left_after, release_once

__all__ = ["AskedDataset", "CellQuery", "CountQuery", "Query", "fresh_id"]

Price = NumberLike | Privacy | None


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
    def budget(self) -> Privacy: ...
    @property
    def left(self) -> Remaining: ...
    def require_ready(self) -> None: ...


@dataclass(frozen=True)
class _Schema:
    """What is left of a dataset where a question is public."""

    columns: Mapping[str, Kind]
    types: Mapping[str, Any]
    joined_from: str
    tied: frozenset[str]
    views: tuple[Mapping[str, Any], ...] = ()

    @property
    def table(self) -> _Schema:
        """Itself: a table that has columns and no rows."""
        return self


@dataclass(frozen=True, repr=False, kw_only=True)
class Query(ABC):
    """A question about a dataset. A subclass says what it reads, and by which mechanism it answers.

    Attributes:
        dataset: The table with its ledger.
        contribution: What one unit may add.
        where: Which rows count; None for all.
    """

    recorded_as: ClassVar[str]  # its kind in the ledger; other words there would be other questions
    needs_delta: ClassVar[bool] = False  # whether there is no answer without a δ of its own
    shown_multiples: ClassVar[tuple[Fraction, ...]] = (Fraction(1, 4), Fraction(1, 2), Fraction(2), Fraction(4))
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
    def measured_in(self) -> str:
        """The unit of the answer and of its error; nothing if empty."""
        return ""

    def words_for(self, of: str) -> str:
        """What is counted, rows or units, in one word: where no unit is named every row is one, and they are rows."""
        return "rows" if self.contribution.privacy_unit is None else of

    @property
    def share_of_a_unit(self) -> str:
        """How much of one unit counts, in a few words."""
        return f"at most {_many(self.contribution.rows_per_unit, 'row')} of each {self.contribution.privacy_unit}"

    @property
    def counted_in(self) -> int | None:
        """The number of groups that units are counted in; None where it is not known in advance."""
        return cell_count(self.broken_down_by)

    @property
    def what_counts(self) -> str:
        """What counts of the data: how much of a unit, and which rows do not."""
        unit, groups = self.contribution.privacy_unit, self.contribution.groups_per_unit
        if unit is None:
            return "every row, as a unit of its own"
        cells = self.counted_in
        places = "" if cells == 1 else f", in at most {_many(groups, 'group')}"
        if cells is not None and cells <= groups:
            places = "" if cells == 1 else ", in every group"
        return f"{self.share_of_a_unit}{places}; rows without {unit} are left out"

    @property
    def is_long(self) -> bool:
        """Whether the answer has so many rows that it is not held, but computed as it is read (`LongTable`)."""
        return False

    def require_listed(self, where: str) -> None:
        """Refuse an answer that is not held where it would have to be, before anything is spent.

        Raises:
            TooLarge: There are too many rows.
        """
        if self.is_long:
            raise TooLarge(
                f"{where} takes answers of at most {MOST_LISTED_CELLS} rows",
                fix="release it by itself in Python, and write the table with to_parquet or to_csv",
            )

    @property
    def broken_down_by(self) -> tuple[Axis, ...]:
        """The public axes of the answer; none unless a query has some."""
        return ()

    def parameters(self) -> dict[str, Json]:
        """All that tells this question from others of its kind, as JSON."""
        bound, where, rows = self.contribution, self.where, self.dataset.table.joined_from
        return {
            **({"joined": rows} if rows else {}),
            **({"views": _plain(views)} if (views := self.dataset.table.views) else {}),
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

    @cached_property
    def public(self) -> Self:
        """The same question without its dataset, of which only the names and kinds of the columns are left.

        What a release and a plan hold on to comes from here, so that they can be kept, pickled and sent.
        """
        question, table = copy(self), self.dataset.table
        schema = _Schema(dict(table.columns), dict(table.types), table.joined_from, table.tied, table.views)
        object.__setattr__(question, "dataset", schema)
        question.__dict__.pop("call", None)
        return question

    def to_dict(self) -> dict[str, Json]:
        """The question as JSON, for `Dataset.ask`: the method that made it, and its arguments.

        Raises:
            BadParameter: An argument has no JSON form.
        """
        return call_of(self)

    def check(self, event: Event | None = None) -> None:
        """Refuse the question if anything public is wrong with it, its table or its cost; no private row is read."""
        self.dataset.require_ready()
        if event is not None:
            require_currency(self.dataset.budget, event)
        self.dataset.table.rehearse(self.read)

    def plan(
        self,
        epsilon: Price = None,
        delta: NumberLike = 0,
        *,
        rho: NumberLike | None = None,
        mu: NumberLike | None = None,
        confidence: NumberLike = LEVEL,
    ) -> ReleasePlan:
        """Mechanism, reason, error and cost. Free: the private data is not touched and nothing is spent.

        Args:
            epsilon: The privacy that the release would cost; or a whole price as a `Privacy`.
            delta: The δ beside ε; above zero it lets in mechanisms that need one.
            rho: Instead of ε: the price in zero-concentrated privacy.
            mu: Instead of ε: the price in Gaussian privacy.
            confidence: The probability with which the stated error is kept.

        Raises:
            BadParameter: No price, two currencies at once, or a price that protects hardly anybody.
        """
        price, level = read_price(epsilon, delta, rho, mu), read_confidence(confidence)
        return self.release_plan(self.public.answer_plan(price), price, level)

    def price(
        self,
        error: NumberLike | None = None,
        *,
        confidence: NumberLike = LEVEL,
        delta: NumberLike = 0,
        currency: str = "epsilon",
    ) -> ReleasePlan:
        """What a wanted error costs: a plan at the least price at which each number is that close. Free.

        Prices are looked for with four digits: at the price found the error is kept, at the next smaller one it is not.

        Args:
            error: How far off each number may be, in the unit of the answer; left out where the question names the
                wanted errors itself, as `targets`.
            confidence: The probability with which it is not farther off.
            delta: The δ beside ε.
            currency: "epsilon", "rho" or "mu".

        Returns:
            The plan; its `price` can be passed to `release`.

        Raises:
            BadParameter: No error is named.
            UnreachableTarget: No sensible price is enough, or the error depends on how many rows there are.
        """
        wanted = None if error is None else read_rational(error, "error", at_least=0)
        level = read_confidence(confidence)
        price = self.price_of(wanted, level, read_rational(delta, "delta", at_least=0, below=1), currency)
        return self.release_plan(self.public.answer_plan(price), price, level)

    def price_of(self, error: Fraction | None, level: Fraction, delta: Fraction, currency: str) -> Privacy:
        """The least price at which no number is farther off than `error`, with probability `level`.

        Without an error it is the one at which none is farther off than its target.
        """

        def share(price: Privacy) -> Fraction:
            of_targets = self.public.answer_plan(price).share_of_targets
            if of_targets is None:
                raise BadParameter("the wanted error is missing", fix="pass error=10, or ask with targets")
            return of_targets(level)

        def within(price: Privacy) -> Fraction:
            far = self.public.answer_plan(price).within(level)
            if far is None:
                raise UnreachableTarget(
                    "the error depends on the number of rows, which is private",
                    fix="pass a public guess: expected_rows=1000",
                )
            return far

        if error is None:
            return least_price(share, Fraction(1), currency, delta)
        return least_price(within, error, currency, delta)

    def release(
        self,
        epsilon: Price = None,
        delta: NumberLike = 0,
        request_id: str | None = None,
        *,
        rho: NumberLike | None = None,
        mu: NumberLike | None = None,
        confidence: NumberLike = LEVEL,
    ) -> Release:
        """Spend the price and answer.

        Args:
            epsilon: The privacy that the release costs; or a whole price as a `Privacy`.
            delta: The δ beside ε.
            request_id: Your own name for this request. Repeating it returns the recorded answer, costs nothing and does
                not touch the data. Without one the request gets a random name.
            rho: Instead of ε: the price in zero-concentrated privacy.
            mu: Instead of ε: the price in Gaussian privacy.
            confidence: The probability with which each interval holds the true value; it can be changed later.

        Raises:
            BadParameter: No price, two currencies at once, or a price that protects hardly anybody.
            WrongCurrency: The budget is kept in a currency that can't take the price; nothing was read or spent.
            BudgetExceeded: The budget does not cover it; nothing was read or spent.
            RequestConflict: The id was used for another question.
            Closed: The dataset was closed; nothing was spent.
            EngineFailure: The engine failed; it was charged, and the dataset is suspended for this analyst.
        """
        price, level = read_price(epsilon, delta, rho, mu), read_confidence(confidence)
        how, dataset = self.public.answer_plan(price), self.dataset
        name = fresh_id() if request_id is None else request_id
        parameters: dict[str, Json] = {"query": self.recorded_as, **self.parameters(), **price.to_dict()}
        plan = self.release_plan(how, price, level)
        asked = partial(asked_at, self, price)
        request = Request(name, how.event, dataset.name, dataset.analyst, dataset.purpose, parameters, asked)
        recorded = release_once(
            dataset.ledger,
            request,
            self.read,
            how.draw,
            check=partial(self.check, how.event),
            opening=dataset.opening,
        )
        plan = replace(plan, left=left_after(dataset.ledger, request))
        if how.supposing:  # the release has intervals of its own, which suppose nothing
            plan = replace(plan, error=None, supposing="")
        return Release(how.to_table(recorded, level), plan, name, how=how, recorded=recorded)

    def release_plan(self, how: AnswerPlan, price: Privacy, level: Fraction) -> ReleasePlan:
        """What there is to say of an answer at a price."""
        bound = how.lower_bound
        if bound is not None and not enough_units(self.dataset.table, self.contribution.privacy_unit, price.epsilon):
            bound = None
        return ReleasePlan(
            question=self.question,
            mechanism=how.mechanism,
            reason=replace(how.reason, lower_bound=bound),
            sensitivity=how.sensitivity,
            error=how.error_at(level),
            lower_bound=bound,
            event=how.event,
            options=how.options,
            notes=how.notes,
            price=price,
            confidence=level,
            left=self.dataset.left,
            supposing=how.supposing,
            counted=self.what_counts,
            measured_in=self.measured_in,
            other_prices=partial(self.public._priced_errors, price),
        )

    def _priced_errors(self, price: Privacy, level: Fraction) -> tuple[PricedError, ...]:
        """The errors at some multiples of a price."""
        found = []
        for factor in self.shown_multiples:
            other = multiple_of(price, factor)
            error = self.answer_plan(other).error_at(level)
            if error is not None:
                found.append(PricedError(other, error.expected.upper, error.quantiles[level]))
        return tuple(found)

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
    def measured_in(self) -> str:
        return self.words_for(self.of)

    @property
    def share_of_a_unit(self) -> str:
        return f"each {self.contribution.privacy_unit} once" if self.of == "units" else super().share_of_a_unit

    @property
    def counted_words(self) -> str:
        """What is counted, in words that name the unit."""
        word = self.words_for(self.of)
        return word if word == "rows" else f"units (one per {self.contribution.privacy_unit})"

    @property
    def counted(self) -> CountRows | CountUnits:
        """What the engine adds up."""
        return counted(self.of)

    def parameters(self) -> dict[str, Json]:
        return {**super().parameters(), "of": self.of}

    def sensitivity_of_counts(self, norm: Norm = "l1") -> Sensitivity:
        """By how much one unit can change the counts."""
        return sensitivity_of(self.contribution, self.counted, self.cells, norm=norm)


def _plain(views: tuple[Mapping[str, Any], ...]) -> list[Json]:
    """How the views of a table are made, as JSON."""
    return [dict(view) for view in views]


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def require_currency(budget: Privacy, event: Event) -> None:
    """Refuse a cost that a budget of its kind can never cover, however much of it is left.

    Raises:
        WrongCurrency: A pure budget has no room for Gaussian noise or a δ, and one in ρ or μ has none for a δ.
    """
    cost = cost_of(event)
    if budget.currency == "epsilon" and (cost.basic[0] is None or cost.basic[1]):
        raise WrongCurrency(
            "the budget is a pure ε, and this release has no ε without a δ",
            given=str(cost),
            fix="ask with epsilon alone, or grant a budget with a δ, in ρ or in μ",
        )
    if budget.currency in ("rho", "mu") and (cost.delta or (budget.currency == "mu" and cost.mu_squared is None)):
        raise WrongCurrency(
            f"the budget is kept in {budget.currency}, in which this release has no price",
            given=str(cost),
            fix="ask for Gaussian noise or a pure ε, or grant a budget with ε and δ",
        )


def fresh_id() -> str:
    """A name for a request that no other has."""
    return f"r-{system_source.bits(96):024x}"


def read_price(epsilon: Price, delta: NumberLike, rho: NumberLike | None, mu: NumberLike | None) -> Privacy:
    """The price of one question, in one currency.

    Raises:
        BadParameter: None, several, less than the least charge, or more than is sensible without insisting on it.
    """
    if isinstance(epsilon, Privacy):
        if rho is not None or mu is not None or delta != 0:
            raise BadParameter("a `Privacy` is a whole price", given=str(epsilon), fix="leave the other numbers out")
        price = epsilon
    else:
        price = Privacy(epsilon, delta, rho=rho, mu=mu)
    if price.currency == "rho":
        read_rational(price.rho, "rho", at_least=LEAST_RHO)
    elif price.currency == "mu":
        read_rational(price.mu, "mu", at_least=2 * LEAST_EPSILON)
    else:
        read_exact(price.epsilon, "epsilon", at_least=LEAST_EPSILON)
    return price.require_sensible()

"""Several questions under one price, fixed in advance: one split, one debit, one record.

**What the questions cost together.** They are fixed before the first of them is answered, so the exact law of their
joint privacy loss may be used (`leastnoise.accounting.compose`); a ledger proves the claim again before it counts
(`Fixed`). Questions of which no unit can touch more than one cost as much as the dearest of them (parallel
composition). That is proven from their filters and keys, and never believed.

**How the price is split.** So that the weighted squared errors are least in sum (`splitting`). Questions about the same
cells are also planned as one (`queries/joint`), and the better of the two plans is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, overload

from leastnoise.composition import Remaining, compose
from leastnoise.data import Axis, BinAxis, Predicate, TimeAxis, col, typed
from leastnoise.data.columns import Kind, free_name
from leastnoise.data.predicates.disjoint import are_disjoint
from leastnoise.errors import BadFilter, BadParameter, NumberTooLarge, WrongCurrency
from leastnoise.exact import NumberLike, double_of, read_rational
from leastnoise.ledger import Request
from leastnoise.ledger.record import Json
from leastnoise.model import LEVEL, Composed, Event, Privacy, html_table, number, rich_lines, text_lines
from leastnoise.release.arguments import read_confidence
from leastnoise.release.calls import asked_at, call_of
from leastnoise.release.plan import AnswerPlan, ReleasePlan
from leastnoise.release.queries.counts import Count
from leastnoise.release.queries.joint import Joint, joined
from leastnoise.release.queries.query import AskedDataset, Price, Query, fresh_id, read_price, require_currency
from leastnoise.release.queries.running import Running
from leastnoise.release.result import Release
from leastnoise.release.splitting import PriceSplit, Splitter, claimed, expected_error, parts_of, rounded_up, sum_of
from leastnoise.release.tables import TidyTable
from leastnoise.release.transaction import left_after, release_once

__all__ = ["Batch", "BatchPlan", "BatchRelease"]

_MOST_QUESTIONS = 200
_MOST_KEYS = 1000  # of an axis from which disjointness is proven
_LEAST_WEIGHT, _LARGEST_WEIGHT = Fraction(1, 10**30), 10**30


@dataclass(frozen=True)
class BatchPlan:
    """What a batch will cost and how far off each answer will be. Public things only.

    Attributes:
        price: The price of all questions together.
        plans: The plan of each question at its share, in their order.
        shares: The price of each question.
        event: What is charged.
        groups: The questions by number, those together that no unit can touch at the same time.
        total: The weighted sum of squared expected errors, which the split makes small; for comparison.
        notes: How the split was found.
        left: What the budget leaves now.
        together: The numbers of questions that one mechanism answers; each of them has its whole price as its share.
    """

    price: Privacy
    plans: tuple[ReleasePlan, ...]
    shares: tuple[Privacy, ...]
    event: Event
    groups: tuple[tuple[int, ...], ...]
    total: float
    notes: tuple[str, ...] = ()
    left: Remaining | None = field(default=None, compare=False)
    together: tuple[tuple[int, ...], ...] = ()

    def lines(self) -> list[tuple[str, str]]:
        """What there is to say, one thing a line."""
        shown: list[tuple[str, str]] = []
        for plan, share in zip(self.plans, self.shares, strict=True):
            expected = None if plan.error is None else number(plan.error.expected)
            error = "error depends on the number of rows" if expected is None else f"expected error {expected}"
            shown.append((plan.question, f"{error}, for {_brief(share)}"))
        shown += [("costs together", str(self.price)), *(("note", note) for note in self.notes)]
        return shown if self.left is None else [*shown, ("left", str(self.left))]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: the price of all questions, and the plan of each."""
        return {
            "price": self.price.to_dict(),
            "event": self.event.to_dict(),
            "plans": [plan.to_dict() for plan in self.plans],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        """All lines as text."""
        return text_lines(f"{len(self.plans)} questions", self.lines())

    def __rich__(self) -> Any:
        """All lines as a table for the terminal."""
        return rich_lines(f"{len(self.plans)} questions", self.lines())

    def _repr_html_(self) -> str:
        return html_table(f"{len(self.plans)} questions", self.lines())


@dataclass(frozen=True)
class BatchRelease(Sequence[Release]):
    """The answers to a batch, in the order of its questions.

    Attributes:
        releases: One release for each question.
        plan: How they were made.
        request_id: Asking again under this id returns these answers.
    """

    releases: tuple[Release, ...]
    plan: BatchPlan
    request_id: str

    @overload
    def __getitem__(self, place: int) -> Release: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Release]: ...
    def __getitem__(self, place: int | slice) -> Release | Sequence[Release]:
        """The answer to one question, or to some."""
        return self.releases[place]

    def __len__(self) -> int:
        """How many questions."""
        return len(self.releases)

    @property
    def table(self) -> TidyTable:
        """All answers as one table: the question, then its keys and numbers; nothing where a question has none."""
        tables = [release.table for release in self.releases]
        keys = dict.fromkeys(name for table in tables for name in table.keys)
        names = (*keys, *dict.fromkeys(name for table in tables for name in table.names if name not in keys))
        asked = free_name("question", names)
        columns = {
            asked: tuple(release.plan.question for release in self.releases for _ in range(len(release.table))),
            **{
                name: tuple(
                    cell for table in tables for cell in (table[name] if name in table.names else (None,) * len(table))
                )
                for name in names
            },
        }
        return TidyTable(columns, (asked, *keys))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: each release, the plan and the request."""
        return {
            "releases": [release.to_dict() for release in self.releases],
            "plan": self.plan.to_dict(),
            "request_id": self.request_id,
        }

    def __str__(self) -> str:
        """One answer after the other."""
        return "\n\n".join(f"{release.plan.question}\n{release}" for release in self.releases)


@dataclass(frozen=True)
class _Asked:
    """What is asked of the table at which shares: the questions, some of them perhaps put together.

    Attributes:
        queries: What is read and drawn, each once.
        places: For each of them the numbers of the questions of the batch that it answers.
        groups: The numbers of those together that no unit can touch at the same time.
        split: Their shares and answer plans.
    """

    queries: tuple[Query, ...]
    places: tuple[tuple[int, ...], ...]
    groups: tuple[tuple[int, ...], ...]
    split: PriceSplit

    @property
    def by_question(self) -> list[tuple[int, AnswerPlan, Privacy]]:
        """For each question of the batch, in order: whose entry of the record answers it, how, and at which price."""
        found: dict[int, tuple[int, AnswerPlan, Privacy]] = {}
        rows = zip(self.queries, self.places, self.split.how, self.split.shares, strict=True)
        for query, places, how, share in rows:
            plans = query.parts(how) if isinstance(query, Joint) else [how]
            found.update({place: (places[0], plan, share) for place, plan in zip(places, plans, strict=True)})
        return [found[place] for place in sorted(found)]

    @property
    def together(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the questions that one mechanism answers."""
        return tuple(places for places in self.places if len(places) > 1)


@dataclass(frozen=True, repr=False)
class Batch:
    """Questions about one dataset that are asked together; made by `Dataset.batch`.

    Attributes:
        dataset: The table with its ledger.
        queries: The questions.
        weights: How much the squared error of each counts; None for each relative to its error if asked alone, or
            equally where all questions are counts.
    """

    dataset: AskedDataset
    queries: tuple[Query, ...]
    weights: tuple[Fraction, ...] | None = None

    @classmethod
    def of(cls, dataset: AskedDataset, queries: object, weights: object = None) -> Batch:
        """Read the questions and their weights.

        Raises:
            BadParameter: No questions, too many, something else, or a question about another dataset.
        """
        if isinstance(queries, Query) or not isinstance(queries, Sequence) or isinstance(queries, str):
            raise BadParameter("a batch is a list of questions", given=type(queries).__name__, fix="pass [q1, q2]")
        if not 1 <= len(queries) <= _MOST_QUESTIONS:
            raise BadParameter(
                f"a batch has from 1 to {_MOST_QUESTIONS} questions", given=len(queries), fix="ask in several batches"
            )
        for place, query in enumerate(queries):
            if not isinstance(query, Query):
                raise BadParameter(
                    f"number {place} of the batch is no question",
                    given=type(query).__name__,
                    fix='pass questions such as people.count(by="city", keys=["Bonn"])',
                )
            if isinstance(query, Running):
                raise BadParameter(
                    f"number {place} of the batch is a run of days, each of which is released by itself",
                    given=query.name,
                    fix="release its days one by one, outside of a batch",
                )
            query.require_listed("a batch")
            if query.dataset is not dataset:
                raise BadParameter(
                    f"number {place} of the batch asks another dataset",
                    given=query.dataset.name,
                    fix="make all questions of a batch from the dataset whose batch it is",
                )
        read = None
        if weights is not None:
            if not isinstance(weights, Sequence) or isinstance(weights, str) or len(weights) != len(queries):
                raise BadParameter(
                    "weights are one number for each question",
                    given=type(weights).__name__ if not isinstance(weights, Sequence) else len(weights),
                    fix=f"pass {len(queries)} numbers",
                )
            read = tuple(
                read_rational(weight, "weight", at_least=_LEAST_WEIGHT, at_most=_LARGEST_WEIGHT) for weight in weights
            )
        return cls(dataset, tuple(queries), read)

    def plan(
        self,
        epsilon: Price = None,
        delta: NumberLike = 0,
        *,
        rho: NumberLike | None = None,
        mu: NumberLike | None = None,
        confidence: NumberLike = LEVEL,
    ) -> BatchPlan:
        """How the price is split, and the error of each answer. Free: no private row is read, nothing is spent.

        Args:
            epsilon: The price of all questions together, in ε; or a whole price as a `Privacy`.
            delta: Its δ. Above zero it lets in Gaussian noise, and the joint law of all losses.
            rho: Instead of ε: the price in zero-concentrated privacy.
            mu: Instead of ε: the price in Gaussian privacy.
            confidence: The probability with which each stated error is kept.
        """
        price = read_price(epsilon, delta, rho, mu)
        return self._plan(price, self._split(price), read_confidence(confidence))

    def price(
        self,
        errors: Sequence[NumberLike],
        *,
        confidence: NumberLike = LEVEL,
        delta: NumberLike = 0,
        currency: str = "epsilon",
    ) -> BatchPlan:
        """What a wanted error of each question costs in all: a plan at that price. Free.

        Each question gets the least price at which it keeps its own error; together they cost what their joint law
        says, or what adds up in ρ or μ². Questions about the same cells, which a release at that price may answer
        together, then have less error than was wanted.

        Args:
            errors: How far off each number of each question may be.
            confidence: The probability with which it is not farther off.
            delta: The δ beside ε.
            currency: "epsilon", "rho" or "mu".

        Raises:
            UnreachableTarget: No sensible price is enough for one of them.
        """
        if not isinstance(errors, Sequence) or isinstance(errors, str) or len(errors) != len(self.queries):
            raise BadParameter(
                "errors are one number for each question",
                given=len(errors) if isinstance(errors, Sequence) else type(errors).__name__,
                fix=f"pass {len(self.queries)} numbers",
            )
        level, share = read_confidence(confidence), read_rational(delta, "delta", at_least=0, below=1)
        wanted = [read_rational(error, "error", at_least=0) for error in errors]
        splitter = Splitter(self.queries, self.groups, self._even_weights())
        alone = tuple((place,) for place in range(len(self.queries)))
        own = splitter.own_delta(share)

        def of_each(unit: str) -> PriceSplit:
            prices = tuple(
                query.price_of(error, level, own if query.needs_delta else Fraction(0), unit)
                for query, error in zip(self.queries, wanted, strict=True)
            )
            return splitter.at_prices(prices, Composed, f"each question keeps its error; {unit} by question")

        if currency != "epsilon" or not share:
            split = of_each(currency)
            asked = _Asked(self.queries, alone, self.groups, split)
            return self._plan(sum_of(split.event, currency), asked, level)
        options = [of_each("epsilon")]
        if not any(query.needs_delta for query in self.queries):
            options.append(of_each("mu"))
        found = [(compose(parts_of(option.event), share).epsilon, option) for option in options]
        epsilon, split = min(found, key=lambda each: each[0])
        price = Privacy(rounded_up(epsilon), share).require_sensible()
        split = replace(split, event=claimed(price, parts_of(split.event)))
        return self._plan(price, _Asked(self.queries, alone, self.groups, split), level)

    def release(
        self,
        epsilon: Price = None,
        delta: NumberLike = 0,
        *,
        rho: NumberLike | None = None,
        mu: NumberLike | None = None,
        confidence: NumberLike = LEVEL,
        request_id: str | None = None,
    ) -> BatchRelease:
        """Spend the price once and answer all questions.

        Args:
            epsilon: The price of all questions together, in ε; or a whole price as a `Privacy`.
            delta: Its δ.
            rho: Instead of ε: the price in zero-concentrated privacy.
            mu: Instead of ε: the price in Gaussian privacy.
            confidence: The probability with which each interval holds the true value; it can be changed later.
            request_id: Your own name for this request. Repeating it returns the recorded answers and costs nothing.

        Raises:
            BudgetExceeded: The budget does not cover it; nothing was read or spent.
            RequestConflict: The id was used for something else.
            EngineFailure: The engine failed on one of the questions; the batch was charged.
        """
        price, level = read_price(epsilon, delta, rho, mu), read_confidence(confidence)
        asked, dataset = self._split(price), self.dataset
        name = fresh_id() if request_id is None else request_id
        questions: list[Json] = [{"query": query.recorded_as, **query.parameters()} for query in self.queries]
        parameters: dict[str, Json] = {
            "query": "Batch",
            "questions": questions,
            "weights": None if self.weights is None else [str(weight) for weight in self.weights],
            "price": dict(price.to_dict()),
            **({"together": [list(places) for places in asked.together]} if asked.together else {}),
        }
        event, hows = asked.split.event, asked.split.how
        call = partial(asked_at, self, price)
        request = Request(name, event, dataset.name, dataset.analyst, dataset.purpose, parameters, call)
        plan = self._plan(price, asked, level)

        def draw(truths: list[Any]) -> Json:
            drawn: list[Json] = [None] * len(self.queries)  # what answers several stands at the first of them
            for places, how, truth in zip(asked.places, hows, truths, strict=True):
                drawn[places[0]] = how.draw(truth)
            return drawn

        recorded = release_once(
            dataset.ledger,
            request,
            lambda: [query.read() for query in asked.queries],
            draw,
            check=partial(self._check, asked.queries, event),
            opening=dataset.opening,
        )
        left = left_after(dataset.ledger, request)
        releases = tuple(
            Release(
                how.to_table(recorded[spot], level),
                replace(each, left=left),
                name,
                how=how,
                recorded=recorded[spot],
            )
            for (spot, how, _), each in zip(asked.by_question, plan.plans, strict=True)
        )
        return BatchRelease(releases, replace(plan, left=left), name)

    def to_dict(self) -> dict[str, Json]:
        """The batch as JSON, for `Dataset.ask`."""
        return call_of(self)

    def __repr__(self) -> str:
        """The questions."""
        return f"<Batch: {'; '.join(query.question for query in self.queries)}>"

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The questions by number, those together that no unit can touch at the same time: each costs once."""
        return self._disjoint(self.queries)

    def _disjoint(self, queries: Sequence[Query]) -> tuple[tuple[int, ...], ...]:
        """The numbers of questions, those together that no unit can touch at the same time."""
        filters = [self._rows_of(query) for query in queries]
        unit = self.queries[0].contribution.privacy_unit
        kinds = self.dataset.table.columns
        looked_at = list(kinds) if unit is None else [unit] if kinds[unit] is Kind.INTEGER else []
        found: list[list[int]] = []
        for place, rows in enumerate(filters):
            for group in found:
                if rows is not None and all(
                    (other := filters[member]) is not None and are_disjoint(rows, other, looked_at) for member in group
                ):
                    group.append(place)
                    break
            else:
                found.append([place])
        return tuple(map(tuple, found))

    def _rows_of(self, query: Query) -> Predicate | None:
        """A filter that all rows pass which the question counts; None where none is known."""
        kinds, rows = self.dataset.table.columns, query.where
        for axis in query.broken_down_by:
            with suppress(
                BadFilter
            ):  # an axis that no filter can say: without it the rows are more, and less is proven
                inside = _on_axis(axis)
                if inside is not None:
                    part = typed(inside, kinds)
                    rows = part if rows is None else rows & part
        return rows

    def _check(self, queries: Sequence[Query], event: Event) -> None:
        for query in queries:
            query.check()
        require_currency(self.dataset.budget, event)

    def _plan(self, price: Privacy, asked: _Asked, level: Fraction) -> BatchPlan:
        parts, split = zip(self.queries, asked.by_question, strict=True), asked.split
        found = [(query.release_plan(how, share, level), share) for query, (_, how, share) in parts]
        groups = tuple(tuple(place for spot in group for place in asked.places[spot]) for group in asked.groups)
        notes = [split.note]
        notes += [
            f"questions {', '.join(str(place + 1) for place in places)} are about the same cells and are answered "
            "together, by one mechanism at one price"
            for places in asked.together
        ]
        many = sum(len(group) for group in asked.groups if len(group) > 1)
        if many:
            notes.append(f"{many} questions have disjoint rows, proven from their filters and keys: they cost once")
        return BatchPlan(
            price,
            tuple(plan for plan, _ in found),
            tuple(share for _, share in found),
            split.event,
            groups,
            double_of(split.total),
            tuple(notes),
            self.dataset.left,
            asked.together,
        )

    def _split(self, price: Privacy) -> _Asked:
        """All questions apart, or those together that are about one histogram: whatever has the least error."""
        weights = self._weights(price)
        alone = [(query, (place,)) for place, query in enumerate(self.queries)]
        apart = self._asked(alone, weights, price)
        together = joined(self.queries, weights)
        if len(together) == len(alone):
            return apart
        try:
            joint = self._asked(together, weights, price)
        except (NumberTooLarge, WrongCurrency):  # no strategy can be written down at this price
            return apart
        totals = f"joint {number(joint.split.total)}, separate {number(apart.split.total)}"
        best = joint if joint.split.total < apart.split.total else apart
        return replace(
            best, split=replace(best.split, note=f"{best.split.note}; {totals}: weighted squared errors in all")
        )

    def _asked(self, asked: Sequence[tuple[Query, tuple[int, ...]]], weights: list[Fraction], price: Privacy) -> _Asked:
        queries = tuple(query for query, _ in asked)
        counted = [Fraction(1) if isinstance(query, Joint) else weights[places[0]] for query, places in asked]
        groups = self._disjoint(queries)
        return _Asked(
            queries, tuple(places for _, places in asked), groups, Splitter(queries, groups, counted).within(price)
        )

    def _weights(self, price: Privacy) -> list[Fraction]:
        if self.weights is not None or all(isinstance(query, Count) for query in self.queries):
            return self._even_weights()
        return [1 / expected_error(query.public.answer_plan(price)) ** 2 for query in self.queries]

    def _even_weights(self) -> list[Fraction]:
        return list(self.weights or [Fraction(1)] * len(self.queries))


def _brief(price: Privacy) -> str:
    named = price.to_dict()
    parts = {name: number(Fraction(float(getattr(price, name)))) for name in named if named[name] != "0"}
    symbols = {"epsilon": "ε", "delta": "δ", "rho": "ρ", "mu": "μ"}
    return ", ".join(f"{symbols[name]} = {value}" for name, value in parts.items())


def _on_axis(axis: Axis) -> Predicate | None:
    """A filter that every row in a cell of the axis passes; None where none can be written down exactly."""
    value = col(axis.column)
    if isinstance(axis, BinAxis):
        ends = [int(edge) if edge.denominator == 1 else None for edge in (axis.edges[0], axis.edges[-1])]
        low, high = ends
        return None if low is None or high is None else (value >= low) & (value <= high)
    if isinstance(axis, TimeAxis) or None in axis.keys or len(axis.keys) > _MOST_KEYS:
        return None
    return value.is_in(list(axis.keys))

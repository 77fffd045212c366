"""Several questions under one price, fixed in advance: one split, one debit, one record.

**What the questions cost together.** They are fixed before the first of them is answered, so the exact law of their
joint privacy loss may be used (`leastnoise.accounting.compose`); a ledger proves the claim again before it counts
(`Fixed`). Questions of which no unit can touch more than one cost as much as the dearest of them (parallel
composition). That is proven from their filters and keys, and never believed.

**How the price is split.** The total of the squared expected errors, each times its weight, is made as small as
possible. With Gaussian noise the squared error of a question is v/s at a share s of μ² (or ρ), and Σ w·v/s is least
where s is in proportion to √(w·v); with pure noise it is v/s² at a share s of ε, and s is in proportion to the cube
root. Errors that follow these laws only nearly are split again by what they are at the split before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, overload

from leastnoise.composition import Remaining, compose, cost_of
from leastnoise.composition.cost import LEAST_EPSILON
from leastnoise.composition.gaussian import mu_squared_within, pure_of_mu
from leastnoise.data import Axis, BinAxis, Predicate, TimeAxis, col, typed
from leastnoise.data.columns import Kind
from leastnoise.data.predicates.disjoint import are_disjoint
from leastnoise.errors import BadFilter, BadParameter, WrongCurrency
from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike, read_rational
from leastnoise.ledger import Request
from leastnoise.ledger.record import Json
from leastnoise.model.events import Composed, Event, Fixed, Parallel
from leastnoise.model.mechanism import LEVEL
from leastnoise.model.privacy import Privacy
from leastnoise.model.show import html_table, number, rich_lines, text_lines
from leastnoise.release.calls import asked_at, call_of
from leastnoise.release.plan import AnswerPlan, ReleasePlan
from leastnoise.release.queries.counts import Count
from leastnoise.release.queries.query import AskedDataset, Price, Query, fresh_id, read_price, require_currency
from leastnoise.release.result import Release, read_confidence
from leastnoise.release.transaction import left_after, release_once

__all__ = ["Batch", "BatchPlan", "BatchRelease"]

_MOST_QUESTIONS = 200
_MOST_KEYS = 1000  # of an axis from which disjointness is proven
_LEAST_WEIGHT, _LARGEST_WEIGHT = Fraction(1, 10**30), 10**30
_ROUNDS = 4  # of splitting again
_UNIT = 1 << 16  # shares are whole multiples of 2^-16: so coarse that no rounding of a double changes them
_WORTH_IT = 1 - 1e-6  # another round must be better by this factor
_HALVINGS = 10  # of the range in which the largest total ε is looked for
_FARTHEST = 4  # times the ε of the price: its upper end
_ROUNDED = 1 + Fraction(1, 10**7)
_LEAST_ERROR = 1e-100  # of a question that is answered without noise


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
    """

    price: Privacy
    plans: tuple[ReleasePlan, ...]
    shares: tuple[Privacy, ...]
    event: Event
    groups: tuple[tuple[int, ...], ...]
    total: float
    notes: tuple[str, ...] = ()
    left: Remaining | None = field(default=None, compare=False)

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
class _Split:
    """Answer plans of all questions at their shares, with what they cost together."""

    how: tuple[AnswerPlan, ...]
    shares: tuple[Privacy, ...]
    event: Event
    total: float
    note: str
    group_shares: tuple[Fraction, ...] = ()


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
        says, or what adds up in ρ or μ².

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
        splitter = _Splitter(self.queries, self.groups, self._even_weights())
        own = splitter.own_delta(share)

        def of_each(unit: str) -> _Split:
            prices = tuple(
                query.price_of(error, level, own if query.needs_delta else Fraction(0), unit)
                for query, error in zip(self.queries, wanted, strict=True)
            )
            return splitter.at_prices(prices, Composed, f"each question keeps its error; {unit} by question")

        if currency != "epsilon" or not share:
            split = of_each(currency)
            return self._plan(_sum_of(split.event, currency), split, level)
        options = [of_each("epsilon")]
        if not any(query.needs_delta for query in self.queries):
            options.append(of_each("mu"))
        found = [(compose(_parts(option.event), share).epsilon, option) for option in options]
        epsilon, split = min(found, key=lambda each: each[0])
        price = Privacy(_rounded_up(epsilon), share).require_sensible()
        return self._plan(price, replace(split, event=_claimed(price, _parts(split.event))), level)

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
        split, dataset = self._split(price), self.dataset
        name = fresh_id() if request_id is None else request_id
        questions: list[Json] = [{"query": query.recorded_as, **query.parameters()} for query in self.queries]
        parameters: dict[str, Json] = {
            "query": "Batch",
            "questions": questions,
            "weights": None if self.weights is None else [str(weight) for weight in self.weights],
            "price": dict(price.to_dict()),
        }
        asked = partial(asked_at, self, price)
        request = Request(name, split.event, dataset.name, dataset.analyst, dataset.purpose, parameters, asked)
        plan = self._plan(price, split, level)

        def draw(truths: list[Any]) -> Json:
            return [how.draw(truth) for how, truth in zip(split.how, truths, strict=True)]

        recorded = release_once(
            dataset.ledger,
            request,
            lambda: [query.read() for query in self.queries],
            draw,
            check=partial(self._check, split.event),
            opening=dataset.opening,
        )
        left = left_after(dataset.ledger, request)
        releases = tuple(
            Release(how.to_table(answer, level), replace(each, left=left), name, how=how, recorded=answer)
            for how, each, answer in zip(split.how, plan.plans, recorded, strict=True)
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
        filters = [self._rows_of(query) for query in self.queries]
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

    def _check(self, event: Event) -> None:
        for query in self.queries:
            query.check()
        require_currency(self.dataset.budget, event)

    def _plan(self, price: Privacy, split: _Split, level: Fraction) -> BatchPlan:
        parts = zip(self.queries, split.how, split.shares, strict=True)
        plans = tuple(query.release_plan(how, share, level) for query, how, share in parts)
        notes = [split.note]
        shared = [group for group in self.groups if len(group) > 1]
        if shared:
            many = sum(map(len, shared))
            notes.append(f"{many} questions have disjoint rows, proven from their filters and keys: they cost once")
        return BatchPlan(
            price, plans, split.shares, split.event, self.groups, split.total, tuple(notes), self.dataset.left
        )

    def _split(self, price: Privacy) -> _Split:
        """The best of all splits that there are in the currency of the price."""
        split = _Splitter(self.queries, self.groups, self._weights(price))
        if price.currency == "rho":
            return split.best(lambda _, s: Privacy(rho=price.rho * s), 1, Composed, "ρ is split")
        if price.currency == "mu":
            return split.best(lambda _, s: Privacy(mu=_root_below(price.mu_squared * s)), 1, Composed, "μ² is split")
        if price.is_pure:
            return split.best(lambda _, s: Privacy(price.epsilon * s), 2, Composed, "ε is split")
        options = [split.pure_by_joint_law(price)]
        with suppress(WrongCurrency):  # a question that has no answer in μ
            options.append(split.gaussian(price))
        best = min(options, key=lambda option: option.total)
        compared = "; ".join(f"{option.note} {option.total:.4g}" for option in options)
        return replace(best, note=f"weighted squared errors in all: {compared}")

    def _weights(self, price: Privacy) -> list[float]:
        if self.weights is not None or all(isinstance(query, Count) for query in self.queries):
            return self._even_weights()
        return [1 / _error(query.public.answer_plan(price)) ** 2 for query in self.queries]

    def _even_weights(self) -> list[float]:
        return [float(weight) for weight in self.weights or [Fraction(1)] * len(self.queries)]


@dataclass(frozen=True)
class _Splitter:
    """Finds shares for groups of questions; a group is charged for the dearest of its questions."""

    queries: tuple[Query, ...]
    groups: tuple[tuple[int, ...], ...]
    weights: list[float]

    def best(
        self,
        price_at: Callable[[Query, Fraction], Privacy],
        power: int,
        join: Callable[[tuple[Event, ...]], Event],
        note: str,
    ) -> _Split:
        """The shares at which the weighted squared errors are least, if each goes with share^-power."""
        many = len(self.groups)
        shares, found = [Fraction(1, many)] * many, self._at([Fraction(1, many)] * many, price_at, join, note)
        for _ in range(_ROUNDS if many > 1 else 0):
            needs = [
                sum(self.weights[i] * _error(found.how[i]) ** 2 for i in group) * float(share) ** power
                for group, share in zip(self.groups, shares, strict=True)
            ]
            roots = [need ** (1 / (1 + power)) for need in needs]
            shares = [Fraction(max(int(root / sum(roots) * _UNIT), 1), _UNIT) for root in roots]
            if sum(shares) > 1:  # a share too small to be one was rounded up
                shares = [share / sum(shares) for share in shares]
            tried = self._at(shares, price_at, join, note)
            if tried.total > found.total * _WORTH_IT:
                break
            found = tried
        return found

    def gaussian(self, price: Privacy) -> _Split:
        """A split of the μ² that the exact Gaussian profile allows at (ε, δ)."""
        own = self.own_delta(price.delta)
        mu_squared = mu_squared_within(price.epsilon, price.delta - own * self._needy())

        def at(query: Query, share: Fraction) -> Privacy:
            mu = _root_below(mu_squared * share)
            return Privacy(pure_of_mu(mu), own) if query.needs_delta else Privacy(mu=mu)

        return self.best(at, 1, partial(_claimed, price), "Gaussian noise")

    def pure_by_joint_law(self, price: Privacy) -> _Split:
        """A split of the largest total ε whose joint law is still (ε, δ)."""
        own = self.own_delta(price.delta)

        def price_at(total: Exact) -> Callable[[Query, Fraction], Privacy]:
            return lambda query, s: Privacy(total * s, own) if query.needs_delta else Privacy(total * s)

        def fits(split: _Split) -> bool:
            return compose(_parts(split.event), price.delta).epsilon <= price.epsilon

        low, high = Fraction(1), Fraction(_FARTHEST)
        best = self.best(price_at(price.epsilon), 2, Composed, "pure noise")
        shares = list(best.group_shares)
        for _ in range(_HALVINGS if len(self.groups) > 1 else 0):
            middle = (low + high) / 2
            tried = self._at(shares, price_at(price.epsilon * middle), Composed, "pure noise")
            if fits(tried):
                low, best = middle, tried
            else:
                high = middle
        return replace(best, event=_claimed(price, _parts(best.event)))

    def _at(
        self,
        shares: list[Fraction],
        price_at: Callable[[Query, Fraction], Privacy],
        join: Callable[[tuple[Event, ...]], Event],
        note: str,
    ) -> _Split:
        share_of = {place: share for group, share in zip(self.groups, shares, strict=True) for place in group}
        prices = tuple(price_at(query, share_of[place]) for place, query in enumerate(self.queries))
        return replace(self.at_prices(prices, join, note), group_shares=tuple(shares))

    def at_prices(self, prices: tuple[Privacy, ...], join: Callable[[tuple[Event, ...]], Event], note: str) -> _Split:
        """All questions at these prices."""
        how = tuple(query.public.answer_plan(price) for query, price in zip(self.queries, prices, strict=True))
        events = [tuple(how[place].event for place in group) for group in self.groups]
        joined = join(tuple(parts[0] if len(parts) == 1 else Parallel(parts) for parts in events))
        total = sum(weight * _error(each) ** 2 for weight, each in zip(self.weights, how, strict=True))
        return _Split(how, prices, joined, total, note)

    def _needy(self) -> int:
        return sum(query.needs_delta for query in self.queries)

    def own_delta(self, delta: Fraction) -> Fraction:
        """The δ of each question that can't be answered without one: half of all is left for the joint law."""
        return delta / (2 * max(self._needy(), 1))


def _claimed(price: Privacy, events: tuple[Event, ...]) -> Event:
    return Fixed(events, price.epsilon, price.delta)


def _parts(event: Event) -> tuple[Event, ...]:
    return event.events if isinstance(event, Composed) else (event,)


def _sum_of(event: Event, currency: str) -> Privacy:
    """What events cost together where one number adds up."""
    cost = cost_of(event)
    if currency == "rho":
        return Privacy(rho=cost.rho).require_sensible()
    if currency == "mu" and cost.mu_squared is not None:
        return Privacy(mu=_rounded_up(_root_above(cost.mu_squared))).require_sensible()
    if cost.epsilon is None:
        raise WrongCurrency("a question has no finite ε", given=str(cost), fix="pass a delta, or another currency")
    return Privacy(cost.epsilon).require_sensible()


def _error(how: AnswerPlan) -> float:
    """The expected error, or that of the noise where the error depends on how many rows there are; for splitting."""
    error = how.mechanism.error() if how.error is None else how.error
    return max(float(error.expected), _LEAST_ERROR)


def _root_below(square: Fraction) -> Fraction:
    """A rational just below the root."""
    shift = max(0, square.denominator.bit_length() - square.numerator.bit_length()) // 2 + 48
    return Fraction(math.isqrt(int(square * (1 << (2 * shift)))), 1 << shift)


def _root_above(square: Fraction) -> Fraction:
    root = _root_below(square)
    return root if root**2 == square else root + Fraction(root, 1 << 40)


def _rounded_up(price: Exact) -> Fraction:
    """A little more, with few digits: the claim stands also where another version finds a slightly larger bound."""
    near = Fraction(max(float(price), float(LEAST_EPSILON))) * _ROUNDED
    digits = 8 - math.ceil(math.log10(near))
    return Fraction(math.ceil(near * Fraction(10) ** digits)) / Fraction(10) ** digits


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

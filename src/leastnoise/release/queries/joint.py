"""Several questions about the same histogram, answered by one mechanism: what one of them measures serves the others.

Counts, tables, hierarchies and workloads with the same axes, filter, unit and limits are functions of one bounded
histogram x. Where all of them are counts and tables, x is never formed, and the axes may stand in any order: their
tables are released as one set of marginals (docs/theory/marginals.md). Else, where x is small, their answers are one
linear workload over x (docs/theory/strategy.md). The weight of a question's squared error is spread over its answers as
its own weights say, evenly without any. One unit changes x as it does for each question alone, so the privacy is that
of the one mechanism, and all answers agree.

What is asked stays the same: a question about rows that another one leaves out (other axes, another filter) is about
another histogram, and is not joined to it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from leastnoise.data import Axis
from leastnoise.errors import NumberTooLarge
from leastnoise.exact import Enclosure, sqrt_enclosure
from leastnoise.mechanisms.strategy import StrategyRelease
from leastnoise.model import (
    LEVEL,
    MOST_CELLS,
    MOST_LISTED_CELLS,
    MOST_STRATEGY_CELLS,
    MOST_TABLES,
    ErrorEstimate,
    IdentityWorkload,
    Mechanism,
    Privacy,
    StackedWorkload,
    plan_for,
)
from leastnoise.release.arguments import cell_count, cell_keys
from leastnoise.release.plan import AnswerPlan
from leastnoise.release.queries.counts import Count, shown_number, whole_numbers
from leastnoise.release.queries.marginals import Places, Tables, TablesMechanism
from leastnoise.release.queries.query import CountQuery, Query
from leastnoise.release.queries.workloads import Workload, encode_drawn
from leastnoise.release.tables import TidyTable, measure_names
from leastnoise.release.whole import View, WholeNumbers, nearest_whole

__all__ = ["Joint", "joined"]

_UNIT = 1 << 20  # weights are whole multiples of 2^-20 of the largest


@dataclass(frozen=True, repr=False, kw_only=True)
class Joint(Query):
    """Questions about one histogram, and what stands for all of them.

    Attributes:
        members: The questions.
        importance: How much the squared error of each counts.
    """

    recorded_as: ClassVar[str] = "Joint"
    members: tuple[CountQuery, ...]
    importance: tuple[Fraction, ...]

    @property
    def question(self) -> str:
        return "; ".join(member.question for member in self.members)

    @property
    def broken_down_by(self) -> tuple[Axis, ...]:
        return self.members[0].axes

    @cached_property
    def public(self) -> Self:
        question = copy(self)
        question.__dict__.pop("inner", None)
        members = tuple(member.public for member in self.members)
        object.__setattr__(question, "members", members)
        object.__setattr__(question, "dataset", members[0].dataset)
        return question

    @property
    @abstractmethod
    def inner(self) -> Tables | Workload:
        """The one question that stands for all."""

    @abstractmethod
    def squares(self, mechanism: Mechanism, place: int) -> tuple[Fraction, Fraction]:
        """The mean and the largest expected squared error of the answers of one question."""

    @abstractmethod
    def size(self, mechanism: Mechanism, place: int) -> Fraction:
        """The mean expected size of the errors of the answers of one question, at most."""

    @abstractmethod
    def reach(self, mechanism: Mechanism, place: int, level: Fraction) -> Fraction:
        """An error that no answer of one question exceeds with this probability, each for itself."""

    @abstractmethod
    def part(self, how: AnswerPlan, place: int) -> AnswerPlan:
        """How one question is read from what is drawn for all."""

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """The strategy with the least weighted error of all answers; the expected error is √(Σ weight·error²).

        Raises:
            NumberTooLarge: No strategy can be written down, or its noise be drawn.
        """
        inner = self.inner
        ranking = plan_for(inner.problem(price))
        offered = [o.mechanism for o in ranking.options if isinstance(o.mechanism, StrategyRelease | TablesMechanism)]
        if not offered:
            raise NumberTooLarge("no strategy serves these questions together", fix="ask them one by one")
        best, total = offered[0], Fraction(0)
        for place, weight in enumerate(self.importance):
            total += weight * self.expected(best, place).upper ** 2
        return AnswerPlan(
            mechanism=best,
            event=best.event,
            error=ErrorEstimate("root mean square", sqrt_enclosure(total), {LEVEL: Fraction(0)}, attained=False),
            within=partial(self._widest, best),
            sensitivity=inner.problem(price).sensitivity,
            encode=partial(encode_drawn, best) if isinstance(best, StrategyRelease) else whole_numbers,
            to_table=_no_table,
            reason=best.reason(),
            options=ranking.options,
            notes=(f"answered together with {len(self.members) - 1} more, from one set of measurements: they agree",),
        )

    def _widest(self, mechanism: Mechanism, level: Fraction) -> Fraction:
        return max(self.reach(mechanism, place, level) for place in range(len(self.members)))

    def parts(self, how: AnswerPlan) -> list[AnswerPlan]:
        """How each question is read from what is drawn for all."""
        found = []
        for place, member in enumerate(self.members):
            expected = self.expected(how.mechanism, place)
            within = partial(self.reach, how.mechanism, place)
            loss = "absolute" if isinstance(member, Count) else "root mean square"
            error = ErrorEstimate(loss, expected, {LEVEL: within(LEVEL)}, attained=False)
            found.append(replace(self.part(how, place), error=error, within=within))
        return found

    def expected(self, mechanism: Mechanism, place: int) -> Enclosure:
        """The error of one question as it states its own: the mean size of counts, else the root of the mean square."""
        member = self.members[place]
        if isinstance(member, Count):
            size = self.size(mechanism, place)
            return Enclosure(size, size)
        mean, largest = self.squares(mechanism, place)
        return sqrt_enclosure(largest if getattr(member, "goal", "total") == "largest" else mean)

    def read(self) -> NDArray[Any]:
        """What the mechanism needs, read once."""
        return self.inner.read()


@dataclass(frozen=True, repr=False, kw_only=True)
class JointTables(Joint):
    """Counts and tables as one set of marginals."""

    @cached_property
    def inner(self) -> Tables:
        first = self.members[0]
        listed = dict.fromkeys(table for member in self.members for table, _ in _tables_of(member, first.axes))
        weights = dict.fromkeys(listed, Fraction(0))
        for member, weight in zip(self.members, self.importance, strict=True):
            own = [table for table, _ in _tables_of(member, first.axes)]
            each = getattr(member, "weights", None) or (Fraction(1),) * len(own)
            cells = [cell_count(first.axes[i] for i in table) for table in own]
            total = sum((w * many for w, many in zip(each, cells, strict=True)), Fraction(0))
            for table, w in zip(own, each, strict=True):
                weights[table] += weight * w / total
        asked = Tables.__new__(Tables)  # the members were checked, and a public question has no table to check
        for name in ("dataset", "contribution", "where", "axes", "of"):
            object.__setattr__(asked, name, getattr(first, name))
        object.__setattr__(asked, "tables", tuple(listed))
        object.__setattr__(asked, "goal", "total")
        object.__setattr__(asked, "weights", _rounded(list(weights.values())))
        return asked

    def _places(self, place: int) -> list[int]:
        return [self.inner.tables.index(table) for table, _ in _tables_of(self.members[place], self.inner.axes)]

    def squares(self, mechanism: Mechanism, place: int) -> tuple[Fraction, Fraction]:
        errors, sizes = cast(TablesMechanism, mechanism).squared_errors(), self.inner.sizes
        own = self._places(place)
        total = sum((sizes[i] * errors[i] for i in own), Fraction(0))
        return total / sum(sizes[i] for i in own), max(errors[i] for i in own)

    def size(self, mechanism: Mechanism, place: int) -> Fraction:
        sizes, errors = self.inner.sizes, cast(TablesMechanism, mechanism).mean_errors()
        own = self._places(place)
        return sum((sizes[i] * errors[i] for i in own), Fraction(0)) / sum(sizes[i] for i in own)

    def reach(self, mechanism: Mechanism, place: int, level: Fraction) -> Fraction:
        halves = cast(TablesMechanism, mechanism).half_widths(level)
        return max(halves[i] for i in self._places(place))

    def part(self, how: AnswerPlan, place: int) -> AnswerPlan:
        member = self.members[place]
        orders = tuple(order for _, order in _tables_of(member, self.inner.axes))
        some = _SomeTables(cast(TablesMechanism, how.mechanism), tuple(self._places(place)), orders)
        to_table = partial(member.to_table, some) if isinstance(member, Tables) else partial(_cells_of, member, some)
        return replace(how, to_table=to_table, whole=partial(self.whole, some))

    def whole(self, some: _SomeTables, drawn: list[int]) -> WholeNumbers:
        """The whole numbers of one question, from those of all."""
        found = self.inner.whole(some.mechanism, drawn)
        ends, axes = np.cumsum((0, *self.inner.sizes)).tolist(), self.inner.axes
        own: list[int] = []
        for i, order in zip(some.places, some.orders, strict=True):
            counts = np.array(found.values[ends[i] : ends[i + 1]], dtype=object)
            own += counts.reshape([len(axes[k]) for k in self.inner.tables[i]]).transpose(order).ravel().tolist()
        return WholeNumbers(tuple(own), found.read)


@dataclass(frozen=True, repr=False, kw_only=True)
class JointWorkload(Joint):
    """Counts, hierarchies and workloads as one workload."""

    @cached_property
    def inner(self) -> Workload:
        parts = [_workload_of(member).workload for member in self.members]
        stacked = StackedWorkload(parts)
        weights = []
        for member, part, weight in zip(self.members, parts, self.importance, strict=True):
            each = getattr(member, "weights", None) or (Fraction(1),) * part.answers
            weights += [weight * w / sum(each) for w in each]
        found = _workload_of(self.members[0], stacked)
        object.__setattr__(found, "weights", _rounded(weights))
        return found

    def _span(self, place: int) -> slice:
        return cast(StackedWorkload, self.inner.workload).spans[place]

    def squares(self, mechanism: Mechanism, place: int) -> tuple[Fraction, Fraction]:
        errors = cast(StrategyRelease, mechanism).squared_errors()[self._span(place)]
        return sum(errors, Fraction(0)) / len(errors), max(errors)

    def size(self, mechanism: Mechanism, place: int) -> Fraction:
        errors = cast(StrategyRelease, mechanism).mean_errors()[self._span(place)]
        return sum(errors, Fraction(0)) / len(errors)

    def reach(self, mechanism: Mechanism, place: int, level: Fraction) -> Fraction:
        return max(cast(StrategyRelease, mechanism).half_widths(level)[self._span(place)])

    def part(self, how: AnswerPlan, place: int) -> AnswerPlan:
        member, own = _workload_of(self.members[place]), _Some(self._span(place))
        ranges = partial(member.range_of, own, how.mechanism) if member._in_order else None
        whole = None if member.workload.kind == "matrix" else partial(member.whole, own, how.mechanism)
        return replace(how, to_table=partial(member.to_table, own, how.mechanism), ranges=ranges, whole=whole)


class _Cells(Workload):
    """A count as a workload: every cell."""

    def answer_keys(self) -> dict[str, tuple[Any, ...]]:
        return cell_keys(self.axes)

    def whole(self, _: Any, __: Mechanism, drawn: Any) -> WholeNumbers:
        answers = [Fraction(answer) for answer in self._listed_answers(drawn)]
        cells = nearest_whole([View(np.arange(len(answers)), answers, Fraction(1))])
        return WholeNumbers(tuple(cells), np.array(cells, dtype=object))


@dataclass(frozen=True)
class _SomeTables:
    """Some of the tables of a mechanism, each with its columns in an order of its own."""

    mechanism: TablesMechanism
    places: tuple[int, ...]
    orders: tuple[Places, ...]

    def tables(self, drawn: list[int]) -> Iterator[NDArray[Any]]:
        found = list(self.mechanism.tables(drawn))
        return iter([found[place].transpose(order) for place, order in zip(self.places, self.orders, strict=True)])

    def half_widths(self, level: Fraction = LEVEL) -> tuple[Fraction, ...]:
        halves = self.mechanism.half_widths(level)
        return tuple(halves[place] for place in self.places)


@dataclass(frozen=True)
class _Some:
    """The errors of some of the answers of a strategy."""

    span: slice

    def reaches(self, mechanism: Mechanism, level: Fraction) -> list[Fraction]:
        return cast(StrategyRelease, mechanism).half_widths(level)[self.span]


def joined(queries: Sequence[Query], weights: Sequence[Fraction]) -> list[tuple[Query, tuple[int, ...]]]:
    """The questions, with those put together that are about one histogram, and the numbers of the questions in each.

    Args:
        queries: The questions.
        weights: How much the squared error of each counts.
    """
    groups: dict[Any, list[int]] = {}
    about = [_histogram_of(query) if isinstance(query, Count | Tables | Workload) else None for query in queries]
    ordered = {one for query, one in zip(queries, about, strict=True) if isinstance(query, Workload)}
    for place, (query, one) in enumerate(zip(queries, about, strict=True)):
        if one is None or not query.broken_down_by:
            groups[place] = [place]
        else:  # a workload is about cells in one order
            groups.setdefault((one, query.broken_down_by if one in ordered else None), []).append(place)
    found: list[tuple[Query, tuple[int, ...]]] = []
    for places in groups.values():
        rest = places
        if len(places) > 1 and (kind := _kind_of([cast(CountQuery, queries[place]) for place in places])):
            together = [place for place in places if kind is JointTables or not isinstance(queries[place], Tables)]
            if len(together) > 1:
                members = tuple(cast(CountQuery, queries[place]) for place in together)
                first = members[0]
                importance = tuple(weights[place] for place in together)
                asked = kind(
                    dataset=first.dataset,
                    contribution=first.contribution,
                    where=first.where,
                    members=members,
                    importance=importance,
                )
                found.append((asked, tuple(together)))
                rest = [place for place in places if place not in together]
        found += [(queries[place], (place,)) for place in rest]
    return sorted(found, key=lambda each: each[1])


def _histogram_of(query: CountQuery) -> Any:
    """All that decides which histogram a question is about."""
    rows = None if query.where is None else repr(query.where.to_dict())
    return (query.contribution, rows, query.of, frozenset(query.axes))


def _kind_of(members: Sequence[CountQuery]) -> type[JointTables] | type[JointWorkload] | None:
    """How questions about one histogram are put together; None where they are not."""
    if not any(isinstance(member, Workload) for member in members):
        listed = {table for member in members for table, _ in _tables_of(member, members[0].axes)}
        cells = sum(cell_count(members[0].axes[i] for i in table) for table in listed)
        return JointTables if len(listed) <= MOST_TABLES and cells <= MOST_LISTED_CELLS else None
    own = [member for member in members if not isinstance(member, Tables)]
    if members[0].cells > MOST_STRATEGY_CELLS:
        return None
    parts = [_workload_of(member).workload for member in own]
    few = sum(part.answers for part in parts) <= MOST_CELLS
    return JointWorkload if few and all(part.independent for part in parts) else None


def _tables_of(member: CountQuery, axes: tuple[Axis, ...]) -> list[tuple[Places, Places]]:
    """The tables of a question: the places of their columns among the axes, sorted, and how its own order is got."""
    own = member.tables if isinstance(member, Tables) else (tuple(range(len(member.axes))),)
    found = []
    for table in own:
        asked = [axes.index(member.axes[i]) for i in table]
        places = tuple(sorted(asked))
        found.append((places, tuple(places.index(place) for place in asked)))
    return found


def _workload_of(member: CountQuery, workload: StackedWorkload | None = None) -> Workload:
    """The question as a workload over its cells; with another workload where one is given."""
    if isinstance(member, Workload) and workload is None:
        return member
    found = _Cells.__new__(_Cells)  # the member was checked, and a public question has no table to check
    for name in ("dataset", "contribution", "where", "axes", "of"):
        object.__setattr__(found, name, getattr(member, name))
    object.__setattr__(found, "workload", workload or IdentityWorkload(member.cells))
    return found


def _rounded(weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Weights as whole multiples of 2^-20 of the largest: so coarse that no rounding of a double changes them."""
    largest = max(weights)
    return tuple(Fraction(max(1, round(weight / largest * _UNIT)), _UNIT) for weight in weights)


def _cells_of(member: CountQuery, some: _SomeTables, drawn: list[int], level: Fraction) -> TidyTable:
    (counts,), (half,), keys = some.tables(drawn), some.half_widths(level), cell_keys(member.axes)
    shown = [[shown_number(count + shift) for count in np.ravel(counts)] for shift in (0, -half, half)]
    names = measure_names(tuple(keys))
    bars = {name: tuple(numbers) for name, numbers in zip(names, shown, strict=True)}
    return TidyTable({**keys, **bars}, tuple(keys))


def _no_table(drawn: Any, level: Fraction) -> TidyTable:
    raise AssertionError(drawn, level)  # pragma: no cover - each question of a joint one has a table of its own

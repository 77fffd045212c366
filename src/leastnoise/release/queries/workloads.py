"""Linear workloads: many sums of cells of one histogram (ranges, prefix sums, any whole matrix), released together.

The histogram is read once. A strategy releases one table of estimates, from which all answers follow: they agree.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import accumulate, pairwise
from math import floor
from typing import Any, ClassVar, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from leastnoise.composition.cost import pure_within
from leastnoise.data import Axis, BinAxis
from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact import Enclosure, NumberLike, read_rational, scaled, sqrt_enclosure
from leastnoise.ledger.record import Json
from leastnoise.mechanisms import KNorm, plan_for
from leastnoise.mechanisms.histogram.mapped_noise import MappedNoise, reach_along
from leastnoise.mechanisms.strategy import Estimates, StrategyMechanism, StrategyRelease
from leastnoise.model import (
    LEVEL,
    MOST_CELLS,
    MOST_ENTRIES,
    MOST_STRATEGY_CELLS,
    ErrorEstimate,
    ExplicitWorkload,
    HierarchyWorkload,
    LinearWorkload,
    Mechanism,
    PrefixSums,
    Privacy,
    Pure,
    Ranges,
    Weights,
    number,
)
from leastnoise.release.aims import Aim
from leastnoise.release.arguments import axis_labels, cell_keys, take
from leastnoise.release.plan import AnswerPlan, RangeAnswer
from leastnoise.release.queries.counts import shown_number, whole_numbers
from leastnoise.release.queries.query import CountQuery
from leastnoise.release.queries.workload_problem import WorkloadProblem
from leastnoise.release.tables import TidyTable, measure_names
from leastnoise.release.whole import View, WholeNumbers, nearest_sums, nearest_whole

__all__ = ["Workload", "encode_drawn", "named_workload", "read_matrix"]

_NAMED: dict[str, type[PrefixSums] | type[Ranges]] = {"prefix sums": PrefixSums, "ranges": Ranges}


class Reaching(Protocol):
    """What a table of answers needs to know of their errors."""

    def reaches(self, mechanism: Mechanism, level: Fraction, /) -> list[Fraction]: ...


@dataclass(frozen=True, repr=False, kw_only=True)
class Workload(CountQuery):
    """Whole linear combinations of the counts of a histogram.

    Attributes:
        workload: Which combinations.
        names: What the answers are called; None for those of a named workload, which follow from its keys.
        weights: How much the squared error of each answer counts; None for ones.
        goal: "total" or "largest".
        targets: The wanted error of each answer, which weights and goal come from; None where none is named.
    """

    recorded_as: ClassVar[str] = "Workload"
    shown_multiples: ClassVar[tuple[Fraction, ...]] = (Fraction(2),)  # each compares all candidates anew
    workload: LinearWorkload
    names: tuple[str, ...] | None = None
    weights: Weights | None = None
    goal: str = "total"
    targets: Weights | None = None

    @property
    def question(self) -> str:
        what = "linear map" if isinstance(self.workload, ExplicitWorkload) else self.workload.kind
        return self.described(f"{what} ({self.workload.answers} answers) of the count of {self.counted_words}")

    def parameters(self) -> dict[str, Json]:
        return {
            **super().parameters(),
            "workload": self.workload.to_dict(),
            "names": None if self.names is None else list(self.names),
            "weights": None if self.weights is None else [str(weight) for weight in self.weights],
            "goal": self.goal,
        }

    def problem(self, price: Privacy) -> WorkloadProblem:
        """What is to be solved at a price."""
        counts = self.sensitivity_of_counts()
        return WorkloadProblem(self.workload, price, counts, self.reachable, self.weights, self.goal)

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """The candidate with the least expected error."""
        problem = self.problem(price)
        ranking, bound = plan_for(problem), problem.lower_bound
        best, share = ranking.best, Fraction(1, self.workload.answers)
        loss = "absolute" if problem.has_bodies else "root mean square" if self.goal == "total" else "largest"
        expected, widest = ranking.options[0].expected, problem.widest(best, LEVEL)
        notes = self._notes(problem, best, expected)
        if self.targets is not None:
            squares = problem.squared_errors(best)
            expected, notes = sqrt_enclosure(max(squares)), (*notes, self.aim.note(squares))
        return AnswerPlan(
            mechanism=best,
            event=Pure(pure_within(price)) if isinstance(best, KNorm) else best.event,
            error=ErrorEstimate(loss, expected, {LEVEL: widest}, attained=False),
            within=partial(problem.widest, best),
            sensitivity=problem.sensitivity,
            encode=partial(encode_drawn, best),
            to_table=partial(self.to_table, problem, best),
            reason=best.reason(),
            lower_bound=None if bound is None else scaled(bound, share),
            options=ranking.options,
            notes=notes,
            share_of_targets=None if self.targets is None else partial(self._share_of_targets, problem, best),
            prepare=partial(self._prepare, best),
            ranges=partial(self.range_of, problem, best) if self._in_order else None,
            whole=None if isinstance(self.workload, ExplicitWorkload) else partial(self.whole, problem, best),
        )

    @property
    def aim(self) -> Aim:
        """What it is planned for."""
        return Aim(self.weights, self.goal, self.targets)

    def _share_of_targets(self, problem: WorkloadProblem, mechanism: Mechanism, level: Fraction) -> Fraction:
        return self.aim.share(problem.reaches(mechanism, level))

    @property
    def _in_order(self) -> bool:
        """Whether cells lie in a row, so that ranges of them make sense."""
        return isinstance(self.workload, PrefixSums | Ranges)

    def _notes(self, problem: WorkloadProblem, best: Mechanism, expected: Enclosure) -> tuple[str, ...]:
        kind = "expected size" if problem.has_bodies else "root of the expected square"
        which = "average over the answers" if self.goal == "total" else "largest weighted one"
        which = which if self.targets is None else "largest one"
        notes = [f"the expected error is the {kind}, {which}; the other is that of the worst answer"]
        if isinstance(best, StrategyRelease):
            notes.append(f"all answers agree: they follow from one table of estimates; strategy: {best.strategy.name}")
        reason = best.reason().lower_bound if isinstance(best, StrategyRelease) else None
        if reason is not None:
            total = Fraction(1)
            if self.goal == "total":
                total = Fraction(self.workload.answers) if self.weights is None else sum(self.weights, Fraction(0))
            least = sqrt_enclosure(reason.lower / total)
            noise = "Gaussian" if isinstance(best, StrategyMechanism) else "such Laplace"
            above = f"; here it is {100 * float(expected.upper / least.lower - 1):.3g} % more" if least.lower else ""
            notes.append(f"proven: no {noise} noise with unbiased answers has less than {number(least)}{above}")
        if not problem.has_bodies and problem.least_square_error is not None:
            least = problem.least_square_error
            notes.append(f"proven: no ε-private mechanism at all has less than {number(least)} on every histogram")
        if self.goal == "total" and self.workload.independent:
            notes.append(f"noise on the cells alone would have {number(problem.naive(best))}")
        if not problem.is_searched:
            notes.append(
                "no strategy was looked for: the matrix is too large; fewer answers or cells may have less error"
            )
        if self.workload.answers > MOST_CELLS:
            notes.append("the table shows the cells; `range` gives the sum of any of them in a row")
        return tuple(notes)

    def read(self) -> NDArray[Any]:
        """The histogram x."""
        return np.array([int(count) for count in self.totals(self.counted)], dtype=object)

    def _prepare(self, mechanism: Mechanism, histogram: NDArray[Any]) -> NDArray[Any]:
        """The truth that a mechanism needs: the histogram, or the answers."""
        return histogram if isinstance(mechanism, StrategyRelease) else self.answers_of(histogram)

    def answers_of(self, histogram: NDArray[Any]) -> NDArray[Any]:
        """W·x."""
        workload = self.workload
        if isinstance(workload, ExplicitWorkload):
            return cast("NDArray[Any]", np.array(workload.matrix, dtype=object) @ histogram)
        return workload.evaluate(histogram)

    def to_table(self, problem: Reaching, mechanism: Mechanism, drawn: Any, level: Fraction) -> TidyTable:
        """The answers with their intervals; the cells, where there are too many answers to list."""
        values = self._listed_answers(drawn)
        if self.workload.answers > MOST_CELLS:
            halves = cast(StrategyRelease, mechanism).cell_half_widths(level)
            keys: dict[str, tuple[Any, ...]] = cell_keys(self.axes)
        else:
            halves = problem.reaches(mechanism, level)
            keys = self.answer_keys()
        return TidyTable({**keys, **_bars(values, halves, tuple(keys))}, tuple(keys))

    def whole(self, problem: Reaching, mechanism: Mechanism, drawn: Any) -> WholeNumbers:
        """Whole numbers that agree: those of the levels of a tree, or of the sums up to each cell."""
        workload, listed = self.workload, self.workload.answers <= MOST_CELLS
        answers = [Fraction(answer) for answer in self._listed_answers(drawn)]
        if isinstance(workload, HierarchyWorkload):
            errors = [reach**2 for reach in problem.reaches(mechanism, LEVEL)]
            views, start = [], 0
            for level in (tuple(range(workload.cells)), *workload.levels):
                end = start + max(level) + 1
                error = sum(errors[start:end], Fraction(0)) / (end - start)
                views.append(View(np.array(level, dtype=np.int64), answers[start:end], error))
                start = end
            cells = nearest_whole(views)
        else:
            sums = list(accumulate(answers)) if not listed else answers[: workload.cells]  # ranges begin with these
            cells = [after - before for before, after in pairwise([0, *nearest_sums(sums)])]
        histogram = np.array(cells, dtype=object)
        values = self.answers_of(histogram) if listed else histogram
        return WholeNumbers(tuple(int(value) for value in values), histogram)

    def _listed_answers(self, drawn: Any) -> Sequence[Any]:
        """What the table lists: the answers, or the cells where there are too many answers."""
        if self.workload.answers > MOST_CELLS:
            return list(self._estimates(drawn).cells())
        return list(self._estimates(drawn).answers() if isinstance(drawn, Mapping) else drawn)

    def _estimates(self, drawn: Any) -> Estimates:
        return Estimates((self.workload,), np.array(drawn["estimates"], dtype=object))

    def answer_keys(self) -> dict[str, tuple[Any, ...]]:
        """The key columns of the answers."""
        if self.names is not None:
            return {"query": self.names}
        labels = [number(label) for label in axis_labels(self.axes[0])]
        starts = range(1) if isinstance(self.workload, PrefixSums) else range(len(labels))
        spans = [(first, last) for first in starts for last in range(first, len(labels))]
        return {"query": tuple(labels[a] if a == b else f"{labels[a]} … {labels[b]}" for a, b in spans)}

    def range_of(
        self, problem: Reaching, mechanism: Mechanism, drawn: Any, ends: tuple[Any, Any], level: Fraction
    ) -> RangeAnswer:
        """The sum of the cells between two keys or edges."""
        first, last = _span(self.axes[0], *ends)
        if isinstance(mechanism, StrategyRelease):
            value, half = self._estimates(drawn).range(first, last), mechanism.range_reach(first, last, level)
        elif isinstance(self.workload, Ranges):
            place = self.workload.place(first, last)
            value, half = Fraction(drawn[place]), problem.reaches(mechanism, level)[place]
        else:
            value = Fraction(drawn[last] - (drawn[first - 1] if first else 0))
            if isinstance(mechanism, MappedNoise):
                half = reach_along(mechanism.noise, ((1, last + 1 - first),), level)
            else:  # each of two prefix sums is off by less with half of the chance
                half = 2 * max(problem.reaches(mechanism, (1 + level) / 2))
        low, high = value - half, value + half
        return RangeAnswer(shown_number(value), shown_number(low), shown_number(high))


def encode_drawn(mechanism: Mechanism, drawn: Any) -> Json:
    """The answers, or the estimates of the cells that all answers follow from, in multiples of 2^-32."""
    if isinstance(mechanism, StrategyRelease):
        return {"estimates": whole_numbers(mechanism.estimates(drawn).values)}
    return whole_numbers(drawn)


def _bars(values: Sequence[Any], halves: Sequence[Fraction], keys: tuple[str, ...]) -> dict[str, tuple[Any, ...]]:
    pairs = [(Fraction(value), half) for value, half in zip(values, halves, strict=True)]
    if all(value.denominator == 1 for value, _ in pairs):  # of whole numbers an error is one, too
        pairs = [(value, Fraction(floor(half))) for value, half in pairs]
    value, low, high = measure_names(keys)
    return {
        value: tuple(shown_number(middle) for middle, _ in pairs),
        low: tuple(shown_number(middle - half) for middle, half in pairs),
        high: tuple(shown_number(middle + half) for middle, half in pairs),
    }


def _span(axis: Axis, first: Any, last: Any) -> tuple[int, int]:
    """The places of the first and the last cell between two keys, both of them within, or between two edges.

    Raises:
        BadParameter: There are no such keys or edges, or they are not in order.
    """
    if isinstance(axis, BinAxis):
        low, high = read_rational(first, "range"), read_rational(last, "range")
        start, end = bisect_left(axis.edges, low), bisect_left(axis.edges, high)
        if low < high and high <= axis.edges[-1] and axis.edges[start] == low and axis.edges[end] == high:
            return start, end - 1
        what = f"edges of {axis.column!r}"
    else:
        called = axis_labels(axis)
        if first in called and last in called and called.index(first) <= called.index(last):
            return called.index(first), called.index(last)
        what = f"keys of {axis.column!r}"
    raise BadParameter(f"a range goes from one of the {what} to a later one", given=(first, last), fix=f"name {what}")


def named_workload(kind: str, axes: tuple[Axis, ...]) -> LinearWorkload:
    """The prefix sums or ranges along one axis.

    Raises:
        BadParameter: The kind is unknown, or there are several axes.
        TooLarge: There are too many cells.
    """
    if kind not in _NAMED:
        raise BadParameter("unknown workload", given=kind, fix='pass "prefix sums", "ranges" or a matrix')
    if len(axes) != 1:
        raise BadParameter(f"{kind} run along one column", given=len(axes), fix="name one column in `by`")
    return _NAMED[kind](len(axes[0]))


def read_matrix(matrix: Iterable[Iterable[NumberLike]] | NDArray[Any], cells: int) -> ExplicitWorkload:
    """A matrix of whole numbers with one column per cell.

    Raises:
        BadParameter: It is no matrix, or zero.
        TooLarge: It has too many rows, or an entry is too large.
    """
    if cells > MOST_STRATEGY_CELLS:
        raise TooLarge(f"a workload has at most {MOST_STRATEGY_CELLS} cells", given=cells, fix="use wider bins")
    rows = take(_listed(matrix), min(MOST_CELLS, MOST_ENTRIES // cells), f"answers from {cells} cells")
    found = [take(_listed(row), cells, "entries in a row of the matrix") for row in rows]
    if not found or any(len(row) != cells for row in found):
        raise BadParameter(f"the matrix must have {cells} columns, one for each cell", fix="add zeros where needed")
    return ExplicitWorkload(found)


def _listed(given: object) -> Iterable[Any]:
    if isinstance(given, np.ndarray):
        return cast("list[Any]", given.tolist()) if given.ndim else ()
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise BadParameter("a matrix is a list of rows of whole numbers", given=given, fix="pass [[1, 0], [1, 1]]")
    return given

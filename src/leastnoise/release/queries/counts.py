"""Counts of rows or units and sums of a column, in all or by public keys and bins, with independent noise on each.

Keys that nobody has come back as noisy zeros. Sums are added up in exact fixed point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from leastnoise.data import Axis, SumOf
from leastnoise.exact import scaled
from leastnoise.ledger.record import Json
from leastnoise.mechanisms import Candidate, confidence_interval, plan_for
from leastnoise.mechanisms.histogram.independent_noise import HistogramProblem, IndependentNoise
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.model import ErrorEstimate, Privacy, number
from leastnoise.release.arguments import FixedPoint, cell_keys
from leastnoise.release.plan import AnswerPlan, quantile_of
from leastnoise.release.queries.query import CellQuery, CountQuery
from leastnoise.release.sensitivity import sensitivity_of, steps_reachable
from leastnoise.release.tables import TidyTable, measure_names
from leastnoise.release.whole import WholeNumbers

__all__ = [
    "Count",
    "Sum",
    "bars_around",
    "in_steps",
    "noise_plan",
    "options_in_steps",
    "shown_number",
    "whole_numbers",
]


class Count(CountQuery):
    """How many rows or units, in each cell of some public axes."""

    recorded_as: ClassVar[str] = "Count"

    @property
    def question(self) -> str:
        return self.described(f"count of {self.counted_words}")

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """Noise on each cell."""
        sensitivity = self.sensitivity_of_counts()
        problem = HistogramProblem(price, self.cells, sensitivity, self.reachable)
        plan = noise_plan(problem, partial(cells_table, self.axes, sensitivity.step))
        return replace(plan, whole=_not_negative)

    def read(self) -> NDArray[Any]:
        """The counts, flattened."""
        return self.totals(self.counted)


@dataclass(frozen=True, repr=False, kw_only=True)
class Sum(CellQuery):
    """Σ clamp(x, low, high) over the rows of each cell, each row rounded to a whole number of steps.

    Attributes:
        column: What is summed; missing values do not count.
        scale: The public bounds and the step.
    """

    recorded_as: ClassVar[str] = "Sum"
    column: str
    scale: FixedPoint

    @property
    def question(self) -> str:
        return self.described(f"sum of {self.column}")

    @property
    def measured_in(self) -> str:
        return self.column

    @property
    def share_of_a_unit(self) -> str:
        rows = self.contribution.rows_per_unit
        worth = "one row" if rows == 1 else f"{rows} rows"
        return f"of each {self.contribution.privacy_unit} at most what {worth} can be worth"

    def parameters(self) -> dict[str, Json]:
        return {**super().parameters(), "column": self.column, **self.scale.parameters()}

    @property
    def measure(self) -> SumOf:
        """What the engine adds up."""
        return SumOf(self.column, self.scale.low, self.scale.high, self.scale.step)

    @cached_property
    def reachable(self) -> bool:
        """Whether one unit can change each sum alone by any number of steps."""
        table = self.dataset.table
        return super().reachable and steps_reachable(table, self.contribution, self.column, self.scale, self.where)

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """Noise on each cell, in steps."""
        sensitivity = sensitivity_of(self.contribution, self.measure, self.cells)
        bounds = f"[{number(self.scale.low)}, {number(self.scale.high)}]"
        note = f"each row is rounded to a multiple of {number(self.scale.step)} and clamped to {bounds}"
        problem = HistogramProblem(price, self.cells, sensitivity, self.reachable)
        return noise_plan(problem, partial(cells_table, self.axes, sensitivity.step), note)

    def read(self) -> NDArray[Any]:
        """The sums in steps, flattened."""
        return self.totals(self.measure)


def _not_negative(drawn: list[int]) -> WholeNumbers:
    """Counts are drawn as whole numbers, and no two of them have to agree."""
    counts = tuple(max(0, int(count)) for count in drawn)
    return WholeNumbers(counts, np.array(counts, dtype=object))


def noise_plan(
    problem: HistogramProblem, to_table: Callable[[IntegerNoise, list[int], Fraction], TidyTable], *notes: str
) -> AnswerPlan:
    """The best independent noise for some numbers; `to_table` makes the table of what it draws."""
    sensitivity = problem.sensitivity
    ranking = plan_for(problem)
    best = cast(IndependentNoise, ranking.best)
    noise, step = best.blocks[0].noise, sensitivity.step
    return AnswerPlan(
        mechanism=best,
        event=best.event,
        error=in_steps(noise.error(), step),
        within=partial(quantile_of, noise, step),
        sensitivity=sensitivity,
        encode=whole_numbers,
        to_table=partial(to_table, noise),
        reason=best.reason(),
        lower_bound=problem.lower_bound,
        options=options_in_steps(ranking.options, step),
        notes=notes,
        noise=noise if step == 1 else None,
    )


def options_in_steps(options: tuple[Candidate, ...], step: Fraction) -> tuple[Candidate, ...]:
    """Candidates with errors in steps, in the unit of the answer."""
    return tuple(Candidate(o.mechanism, scaled(o.expected, step), scaled(o.excess, step)) for o in options)


def in_steps(error: ErrorEstimate, step: Fraction) -> ErrorEstimate:
    """An error in steps, in the unit of the answer."""
    quantiles = {level: far * step for level, far in error.quantiles.items()}
    return ErrorEstimate(error.loss, scaled(error.expected, step), quantiles, error.attained)


def cells_table(
    axes: tuple[Axis, ...], step: Fraction, noise: IntegerNoise, drawn: list[int], level: Fraction
) -> TidyTable:
    """The table of released numbers of steps, each with the interval that its noise gives."""
    keys = cell_keys(axes)
    return TidyTable({**keys, **bars_around(noise, drawn, level, tuple(keys), step)}, tuple(keys))


def bars_around(
    noise: IntegerNoise, drawn: list[int], level: Fraction, keys: tuple[str, ...], step: Fraction = Fraction(1)
) -> dict[str, tuple[Any, ...]]:
    """The columns value, low and high of numbers of steps with this noise."""
    around = confidence_interval(noise, 0, level)
    shifts = (0, int(around.low), int(around.high))
    names = measure_names(keys)
    return {name: shown_steps([k + shift for k in drawn], step) for name, shift in zip(names, shifts, strict=True)}


def shown_steps(numbers: list[int], step: Fraction) -> tuple[int | float, ...]:
    """Many numbers of steps as `shown_number` shows them; a quotient of whole numbers is rounded once.

    >>> shown_steps([1, 2], Fraction(1, 2))
    (0.5, 1)
    """
    top, bottom = step.numerator, step.denominator
    if bottom == 1:
        return tuple(k * top for k in numbers)
    return tuple(k * top // bottom if k * top % bottom == 0 else k * top / bottom for k in numbers)


def shown_number(exact: Fraction) -> int | float:
    """A whole number as it is, any other as the double nearest to it: rounded once, at the end."""
    return int(exact) if exact.denominator == 1 else float(exact)


def whole_numbers(drawn: Any) -> list[Json]:
    """Drawn whole numbers as JSON."""
    return [int(k) for k in np.ravel(drawn)]

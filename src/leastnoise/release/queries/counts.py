"""Counts of rows or units, in all or by public keys and bins; keys that nobody has come back as noisy zeros."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from leastnoise.data import Axis, Contribution, CountRows, CountUnits, Predicate
from leastnoise.exact.formulas import scaled
from leastnoise.exact.numbers import Exact
from leastnoise.ledger.record import Json
from leastnoise.mechanisms import Candidate, confidence_interval, plan_for
from leastnoise.mechanisms.histogram.independent_noise import HistogramProblem, IndependentNoise, require_drawable
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.model.mechanism import ErrorEstimate
from leastnoise.model.sensitivity import Sensitivity
from leastnoise.release.answer_plan import Method
from leastnoise.release.arguments import axis_parameters, axis_size, cell_count, cell_keys
from leastnoise.release.queries.query import AskedDataset, Query
from leastnoise.release.queries.reachable import cells_reachable
from leastnoise.release.sensitivity import sensitivity_of
from leastnoise.release.tables import TidyTable, measure_names

__all__ = [
    "Count",
    "cells_method",
    "common_parameters",
    "count_measure",
    "described",
    "in_steps",
    "noise_method",
    "options_in_steps",
    "shown_number",
    "shown_steps",
    "whole_numbers",
]


@dataclass(frozen=True, repr=False)
class Count(Query):
    """How many rows or units, in each cell of some public axes.

    Attributes:
        dataset: The table with its ledger.
        contribution: What one unit may add.
        axes: What the count is broken down by.
        of: "rows" or "units".
        where: Which rows count; None for all.
    """

    dataset: AskedDataset
    contribution: Contribution
    axes: tuple[Axis, ...]
    of: str
    where: Predicate | None

    @property
    def question(self) -> str:
        """What is asked."""
        return described(f"count of {self.of}", self.axes, self.where)

    def parameters(self) -> dict[str, Json]:
        """As JSON."""
        return {**common_parameters(self.contribution, self.axes, self.where), "of": self.of}

    @cached_property
    def reachable(self) -> bool:
        """Whether any number of units can be in each cell."""
        return cells_reachable(self.dataset.table.columns, self.contribution, self.axes, self.where)

    def method(self, epsilon: Exact, delta: Fraction) -> Method:
        """Noise on each cell."""
        sensitivity = sensitivity_of(self.contribution, count_measure(self.of), (cell_count(self.axes),))
        return cells_method(epsilon, delta, self.axes, sensitivity, self.reachable)

    def read(self) -> NDArray[Any]:
        """The counts, flattened."""
        asked = self.contribution, self.axes, (count_measure(self.of),), self.where
        (counts,) = self.dataset.table.aggregate(*asked)
        return np.ravel(counts)


def count_measure(of: str) -> CountRows | CountUnits:
    """What the engine adds up to count rows or units."""
    return CountUnits() if of == "units" else CountRows()


def cells_method(
    epsilon: Exact,
    delta: Fraction,
    axes: tuple[Axis, ...],
    sensitivity: Sensitivity,
    reachable: bool,
    notes: tuple[str, ...] = (),
) -> Method:
    """The best independent noise for all cells of the axes, and how to read what it draws."""

    def show(noise: IntegerNoise, drawn: list[int]) -> TidyTable:
        return show_cells(axes, noise, sensitivity.step, drawn)

    return noise_method(HistogramProblem(epsilon, delta, cell_count(axes), sensitivity, reachable), show, notes)


def noise_method(
    problem: HistogramProblem, show: Callable[[IntegerNoise, list[int]], TidyTable], notes: tuple[str, ...]
) -> Method:
    """The best independent noise for some numbers; `show` makes the table of what it draws."""
    sensitivity = problem.sensitivity
    require_drawable(sensitivity.l1, problem.epsilon)
    plan = plan_for(problem)
    best = cast(IndependentNoise, plan.best)
    noise, step = best.blocks[0].noise, sensitivity.step
    return Method(
        mechanism=best,
        event=best.event,
        error=in_steps(noise.error(), step),
        sensitivity=sensitivity,
        write=whole_numbers,
        show=partial(show, noise),
        reason=best.reason(),
        lower_bound=problem.lower_bound,
        options=options_in_steps(plan.options, step),
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


def show_cells(axes: tuple[Axis, ...], noise: IntegerNoise, step: Fraction, drawn: list[int]) -> TidyTable:
    """The table of released numbers of steps, each with the interval that its noise gives."""
    keys = cell_keys(axes)
    names = measure_names(tuple(keys))
    around = confidence_interval(noise, 0)
    shifts = (0, int(around.low), int(around.high))
    ends = {name: shown_steps([k + shift for k in drawn], step) for name, shift in zip(names, shifts, strict=True)}
    return TidyTable({**keys, **ends}, tuple(keys))


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


def common_parameters(contribution: Contribution, axes: tuple[Axis, ...], where: Predicate | None) -> dict[str, Json]:
    """What most queries are told apart by."""
    return {
        "privacy_unit": contribution.privacy_unit,
        "groups_per_unit": contribution.groups_per_unit,
        "rows_per_unit": contribution.rows_per_unit,
        "axes": [axis_parameters(axis) for axis in axes],
        "where": None if where is None else where.to_dict(),
    }


def described(what: str, axes: tuple[Axis, ...], where: Predicate | None) -> str:
    """A question in words."""
    parts = [f"{axis.column} ({axis_size(axis)})" for axis in axes]
    by = f" by {', '.join(parts)}" if parts else ""
    return f"{what}{by}" if where is None else f"{what}{by} where {where}"

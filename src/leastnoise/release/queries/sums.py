"""Sums of a numeric column in exact fixed point, in all or by public keys and bins."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.data import Axis, Contribution, Predicate, SumOf
from leastnoise.exact.numbers import Exact
from leastnoise.ledger.record import Json
from leastnoise.release.answer_plan import Method
from leastnoise.release.arguments import cell_count
from leastnoise.release.tables import number
from leastnoise.release.arguments import FixedPoint
from leastnoise.release.queries.counts import cells_method, common_parameters, described
from leastnoise.release.queries.query import AskedDataset, Query
from leastnoise.release.queries.reachable import cells_reachable, steps_reachable
from leastnoise.release.sensitivity import sensitivity_of

__all__ = ["Sum"]


@dataclass(frozen=True, repr=False)
class Sum(Query):
    """Σ clamp(x, low, high) over the rows of each cell, each row rounded to a whole number of steps.

    Attributes:
        dataset: The table with its ledger.
        contribution: What one unit may add.
        axes: What the sum is broken down by.
        column: What is summed; missing values do not count.
        scale: The public bounds and the step.
        where: Which rows count; None for all.
    """

    dataset: AskedDataset
    contribution: Contribution
    axes: tuple[Axis, ...]
    column: str
    scale: FixedPoint
    where: Predicate | None

    @property
    def question(self) -> str:
        """What is asked."""
        return described(f"sum of {self.column}", self.axes, self.where)

    def parameters(self) -> dict[str, Json]:
        """As JSON."""
        common = common_parameters(self.contribution, self.axes, self.where)
        return {**common, "column": self.column, **self.scale.parameters()}

    @property
    def measure(self) -> SumOf:
        """What the engine adds up."""
        return SumOf(self.column, self.scale.low, self.scale.high, self.scale.step)

    @cached_property
    def reachable(self) -> bool:
        """Whether one unit can change each sum alone by any number of steps."""
        asked = self.dataset.table.columns, self.contribution
        free = cells_reachable(*asked, self.axes, self.where)
        return free and steps_reachable(*asked, self.column, self.scale, self.where)

    def method(self, epsilon: Exact, delta: Fraction) -> Method:
        """Noise on each cell, in steps."""
        sensitivity = sensitivity_of(self.contribution, self.measure, (cell_count(self.axes),))
        bounds = f"[{number(self.scale.low)}, {number(self.scale.high)}]"
        note = f"each row is rounded to a multiple of {number(self.scale.step)} and clamped to {bounds}"
        return cells_method(epsilon, delta, self.axes, sensitivity, self.reachable, (note,))

    def read(self) -> NDArray[Any]:
        """The sums in steps, flattened."""
        (sums,) = self.dataset.table.aggregate(self.contribution, self.axes, (self.measure,), self.where)
        return np.ravel(sums)

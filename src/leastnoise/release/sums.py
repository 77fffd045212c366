"""Sums of a numeric column in exact fixed point, in all or by public keys and bins."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.data import Axis, Contribution, Predicate, SumOf
from leastnoise.exact.numbers import Exact
from leastnoise.ledger.record import Json
from leastnoise.release.counts import cells_method, common_parameters, described, sensitivity_of
from leastnoise.release.display import number
from leastnoise.release.fixed_point import FixedPoint
from leastnoise.release.method import Method
from leastnoise.release.query import Query

if TYPE_CHECKING:
    from leastnoise.release.asking import Asking

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

    dataset: Asking
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

    def method(self, epsilon: Exact, delta: Fraction) -> Method:
        """Noise on each cell, in steps."""
        each = self.contribution.rows_per_unit * self.scale.largest
        worth = f", with values in {self._range()}"
        sensitivity = sensitivity_of(self.contribution, self.axes, each, values=worth, step=self.scale.step)
        note = f"each row is rounded to a multiple of {number(self.scale.step)} and clamped to {self._range()}"
        return cells_method(epsilon, delta, self.axes, sensitivity, (note,))

    def read(self) -> NDArray[Any]:
        """The sums in steps, flattened."""
        low, high = self.scale.low, self.scale.high
        measure = SumOf(self.column, low, high, self.scale.step)
        (sums,) = self.dataset.table.aggregate(self.contribution, self.axes, (measure,), self.where)
        return np.ravel(sums)

    def _range(self) -> str:
        return f"[{number(self.scale.low)}, {number(self.scale.high)}]"

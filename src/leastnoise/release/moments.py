"""Means and variances: the number of rows is private too, so numerator and denominator both carry noise.

With q the whole steps of a value, c the middle of the bounds and n the number of values, the true answers are
U = Σ(q − q_low) and D = Σ(q_high − q), both at least zero with U + D = top·n: one unit changes them by at most
top·rows·groups in the ℓ₁ norm *together*, half of what separate noise on Σ(q − q_low) and n·top would have to cover
(`mechanisms.BoundedMean`). The mean is low + width·U/(U + D). The variance adds V = Σ(q − c)².
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.data import Axis, Contribution, CountRows, Measure, Predicate, SumOf, col
from leastnoise.exact.numbers import Exact
from leastnoise.ledger.record import Json
from leastnoise.mechanisms import BoundedMean, Geometric
from leastnoise.mechanisms.histogram.noisy_cells import require_drawable
from leastnoise.mechanisms.numeric.integer_noise import LEVEL
from leastnoise.model.mechanism import ErrorEstimate
from leastnoise.model.sensitivity import Sensitivity
from leastnoise.release.axes import axis_size, cell_keys
from leastnoise.release.counts import common_parameters
from leastnoise.release.fixed_point import FixedPoint
from leastnoise.release.query import Query
from leastnoise.release.tidy import TidyTable, measure_names

if TYPE_CHECKING:
    from leastnoise.release.asking import Asking

__all__ = ["REST", "SUPPOSED", "Moment"]

SUPPOSED = 10_000  # rows, for the error in a plan where nothing is said
REST = 1 - LEVEL


@dataclass(frozen=True, repr=False)
class Moment(Query):
    """What means and variances share.

    Attributes:
        dataset: The table with its ledger.
        contribution: What one unit may add.
        axes: What it is broken down by.
        column: Whose moment; missing values do not count.
        scale: The public bounds and the step.
        where: Which rows count; None for all.
        expected_rows: A public guess of the rows per cell, for the error in the plan only.
    """

    dataset: Asking
    contribution: Contribution
    axes: tuple[Axis, ...]
    column: str
    scale: FixedPoint
    where: Predicate | None
    expected_rows: int | None

    def parameters(self) -> dict[str, Json]:
        """As JSON; the guess of the number of rows changes nothing that is released."""
        common = common_parameters(self.contribution, self.axes, self.where)
        return {**common, "column": self.column, **self.scale.parameters()}

    @property
    def top(self) -> int:
        """The width of the bounds in steps."""
        low, high = self.scale.steps
        return high - low

    @property
    def cells(self) -> int:
        """How many cells."""
        return prod(axis_size(axis) for axis in self.axes)

    @property
    def touched(self) -> int:
        """In how many rows of how many cells one unit counts."""
        return min(self.contribution.groups_per_unit, self.cells) * self.contribution.rows_per_unit

    def pair_noise(self, epsilon: Exact) -> Geometric:
        """What U and D of every cell get."""
        require_drawable(self.touched * self.top, epsilon)
        return Geometric(epsilon, self.touched * self.top)

    def sensitivity(self) -> Sensitivity:
        """Of U and D together."""
        who = "a row" if self.contribution.privacy_unit is None else f"one {self.contribution.privacy_unit}"
        rows = f"{self.touched} value{'' if self.touched == 1 else 's'} in all"
        why = f"{who} adds at most {rows}, each worth the width of the bounds to the sums above low and below high"
        return Sensitivity(1, self.touched * self.top, why, self.scale.step)

    def mean_error(self, epsilon: Exact) -> ErrorEstimate:
        """The error of each mean, for so many rows as are expected."""
        low, high = (q * self.scale.step for q in self.scale.steps)
        law = BoundedMean(epsilon / self.touched, low, high, step=self.scale.step)
        return law.error(self.expected_rows or SUPPOSED)

    def supposition(self) -> str:
        """What the error supposes."""
        rows = self.expected_rows or SUPPOSED
        return f"the errors suppose {rows} values per cell; they shrink in proportion to their number"

    def sums(self, powers: tuple[int, ...]) -> tuple[NDArray[Any], ...]:
        """The number of values, and Σ(q − c)^power for each power; private."""
        present = (~col(self.column).is_missing()).typed(self.dataset.table.columns)
        where = present if self.where is None else self.where & present
        low, high, step = self.scale.low, self.scale.high, self.scale.step
        centre = self.scale.centre * step
        measures: tuple[Measure, ...] = (
            CountRows(),
            *(SumOf(self.column, low, high, step, power, centre, averaged=True) for power in powers),
        )
        found = self.dataset.table.aggregate(self.contribution, self.axes, measures, where)
        return tuple(np.array([int(k) for k in np.ravel(part)], dtype=object) for part in found)

    def pair(self, count: NDArray[Any], first: NDArray[Any]) -> list[Any]:
        """U and D, from the number of values and Σ(q − c)."""
        low, high = self.scale.steps
        up = first + (self.scale.centre - low) * count
        return [*up, *((high - low) * count - up)]

    def table(self, columns: list[tuple[float, float, float]]) -> TidyTable:
        """Value, low and high of each cell."""
        keys = cell_keys(self.axes)
        names = measure_names(tuple(keys))
        values = {name: tuple(row[i] for row in columns) for i, name in enumerate(names)}
        return TidyTable({**keys, **values}, tuple(keys))

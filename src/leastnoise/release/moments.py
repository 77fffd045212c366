"""Means and variances: the number of rows is private too, so numerator and denominator both carry noise.

With q the whole steps of a value, c the middle of the bounds and n the number of values, the true answers are
U = Σ(q − q_low) and D = Σ(q_high − q), both at least zero with U + D = top·n: one unit changes them by at most
top·rows·groups in the ℓ₁ norm *together*, half of what separate noise on Σ(q − q_low) and n·top would have to cover
(`mechanisms.BoundedMean`). The mean is low + width·U/(U + D). The variance adds V = Σ(q − c)².

How far off they are depends on n, which is private. So a plan has an error only where a public guess of n is given.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.data import Axis, Contribution, CountRows, Measure, Predicate, SumOf, col
from leastnoise.exact.numbers import Exact
from leastnoise.ledger.record import Json
from leastnoise.mechanisms import Geometric
from leastnoise.mechanisms.histogram.noisy_cells import require_drawable
from leastnoise.mechanisms.numeric.integer_noise import LEVEL
from leastnoise.model.mechanism import ErrorEstimate
from leastnoise.model.sensitivity import Sensitivity
from leastnoise.release.axes import cell_count, cell_keys
from leastnoise.release.counts import common_parameters
from leastnoise.release.display import number
from leastnoise.release.fixed_point import FixedPoint
from leastnoise.release.query import Query
from leastnoise.release.sensitivity import sensitivity_of
from leastnoise.release.tidy import TidyTable, measure_names

if TYPE_CHECKING:
    from leastnoise.release.asking import Asking

__all__ = ["REST", "Moment", "laplace_noise"]

REST = 1 - LEVEL
_EXAMPLES = (1_000, 100_000)  # values per cell, for the note of a plan without a guess


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
        return cell_count(self.axes)

    def measure(self, power: int) -> SumOf:
        """Σ(q − c)^power, as the engine adds it up: a unit with too many rows counts with their average."""
        low, high, step = self.scale.low, self.scale.high, self.scale.step
        return SumOf(self.column, low, high, step, power, self.scale.centre * step, averaged=True)

    def sensitivity(self) -> Sensitivity:
        """Of U and D together."""
        return sensitivity_of(self.contribution, self.measure(1), (self.cells,), pair=True)

    def pair_noise(self, epsilon: Exact) -> Geometric:
        """What U and D of every cell get."""
        return laplace_noise(epsilon, self.sensitivity())

    @abstractmethod
    def error_with(self, epsilon: Exact, rows: int) -> ErrorEstimate:
        """The error of each number where a cell has so many values."""

    def error(self, epsilon: Exact) -> ErrorEstimate | None:
        """The error for as many values as are expected; None where nothing is said of their number."""
        return None if self.expected_rows is None else self.error_with(epsilon, self.expected_rows)

    def supposition(self, epsilon: Exact) -> str:
        """What the error supposes, or how it depends on the number of values."""
        if self.expected_rows is not None:
            return f"the errors suppose {self.expected_rows} values per cell; they shrink in proportion to their number"
        errors = [f"{number(self.error_with(epsilon, n).expected)} with {n}" for n in _EXAMPLES]
        return (
            f"the error depends on the number of values in a cell, which is private: expected at most "
            f"{', '.join(errors)}; pass expected_rows for a number of your own"
        )

    def sums(self, powers: tuple[int, ...]) -> tuple[NDArray[Any], ...]:
        """The number of values, and Σ(q − c)^power for each power; private."""
        present = (~col(self.column).is_missing()).typed(self.dataset.table.columns)
        where = present if self.where is None else self.where & present
        measures: tuple[Measure, ...] = (CountRows(), *map(self.measure, powers))
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


def laplace_noise(epsilon: Exact, sensitivity: Sensitivity) -> Geometric:
    """Discrete Laplace noise for numbers that one unit changes by so much together."""
    require_drawable(sensitivity.l1, epsilon)
    return Geometric(epsilon, sensitivity.l1)

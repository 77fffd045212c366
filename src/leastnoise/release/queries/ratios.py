"""The ratio of two sums, Σa/Σb, over the rows that have both values: pay per hour, cases per test.

Both sums carry noise, with half of the price each. For the true ratio r the true Σa − r·Σb is zero, so with noise X and
Y on the two it is X − r·Y, and a release leaves the r possible for which it is no farther from zero than such noise
reaches (Fieller 1954, docs/theory/quotients.md). Where the noisy Σb is within its own noise of zero no ratio is ruled
out, and an end of the interval is infinite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.data import SumOf
from leastnoise.exact import Enclosure, double_of
from leastnoise.ledger.record import Json
from leastnoise.mechanisms.numeric.weighted_sum import reach_of_sum
from leastnoise.model import LEVEL, ErrorEstimate, Reason, Sensitivity, number
from leastnoise.release.arguments import FixedPoint
from leastnoise.release.queries.moments import Noises, Quotient, narrowed
from leastnoise.release.sensitivity import sensitivity_of

__all__ = ["Ratio"]

_ROUNDS = 4


@dataclass(frozen=True, repr=False, kw_only=True)
class Ratio(Quotient):
    """Σa/Σb in each cell.

    Attributes:
        columns: What is summed above and below.
        scales: Their public bounds and steps; those of the one below are not negative.
    """

    recorded_as: ClassVar[str] = "Ratio"
    columns: tuple[str, str]
    scales: tuple[FixedPoint, FixedPoint]

    @property
    def question(self) -> str:
        return self.described(f"ratio of the sums of {self.columns[0]} and {self.columns[1]}")

    @property
    def measured_in(self) -> str:
        return f"{self.columns[0]} per {self.columns[1]}"

    def parameters(self) -> dict[str, Json]:
        parts: list[Json] = [
            {"column": column, **scale.parameters()} for column, scale in zip(self.columns, self.scales, strict=True)
        ]
        return {**super().parameters(), "columns": parts}

    @property
    def measures(self) -> tuple[SumOf, SumOf]:
        """What the engine adds up: a unit with too many rows counts with their average, above and below alike."""
        one, other = (
            SumOf(column, scale.low, scale.high, scale.step, averaged=True)
            for column, scale in zip(self.columns, self.scales, strict=True)
        )
        return one, other

    @property
    def noisy(self) -> tuple[tuple[Sensitivity, int], ...]:
        return tuple((sensitivity_of(self.contribution, each, self.cells), self.cells) for each in self.measures)

    @property
    def reason(self) -> Reason:
        return Reason(
            "Laplace noise on both sums, with half of ε each",
            "Dwork, McSherry, Nissim and Smith, TCC 2006, Proposition 1",
        )

    @property
    def more_notes(self) -> tuple[str, ...]:
        ends = (
            f"{column} to [{number(scale.low)}, {number(scale.high)}]"
            for column, scale in zip(self.columns, self.scales, strict=True)
        )
        return (f"values are clamped: {', '.join(ends)}", f"the sum of {self.columns[1]}: {self.noisy[1][0]}")

    def read(self) -> NDArray[Any]:
        """Both sums of all cells, in steps."""
        return np.concatenate(self.totals_of(self.measures, self.present(*self.columns)))

    def example_errors(self, _: Noises) -> tuple[str, ...]:
        """None: how far off a ratio is depends on both sums."""
        return ()

    def error_with(self, noises: Noises, rows: int, level: Fraction = LEVEL) -> ErrorEstimate:
        """To compare noises only, for which any ratio does: E|X| + r·E|Y| over the sum below, at its largest values."""
        above, below = noises
        upper, lower = self.scales
        ratio = max(abs(upper.low), abs(upper.high)) / lower.high
        size = above.moment(1).upper * upper.step + ratio * below.moment(1).upper * lower.step
        near = size / (rows * lower.high)
        return ErrorEstimate("absolute", Enclosure(near, near), {level: near}, attained=False)

    def estimate(self, noises: Noises, drawn: Sequence[int], level: Fraction) -> tuple[float, float, float]:
        """The ratio, zero where nothing is left below, and all ratios that the noisy sums allow."""
        (upper, lower), (above, below) = self.scales, drawn
        top, bottom = above * upper.step, below * lower.step
        signed = upper.low < 0
        start = -inf if signed else 0.0
        far, wide = (
            noise.quantile(1 - (1 - level) / 2) * scale.step for noise, scale in zip(noises, self.scales, strict=True)
        )
        value = top / bottom if bottom > 0 else Fraction(0)
        value = value if signed else max(value, Fraction(0))
        if bottom <= wide:
            return double_of(value), start, inf
        zero = Fraction(0)
        left = (min((top - far) / (bottom - wide), zero) if signed else zero, max((top + far) / (bottom - wide), zero))
        for _ in range(_ROUNDS):
            reach = reach_of_sum(noises, (upper.step, max(map(abs, left)) * lower.step), level)
            left = narrowed(left, (top - reach) / bottom, (top + reach) / bottom)
            if left[0] > left[1]:  # no ratio explains the sums: less likely than a miss
                return double_of(value), start, inf
        return double_of(value), double_of(left[0]), double_of(left[1])

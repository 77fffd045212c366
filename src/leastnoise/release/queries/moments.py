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
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.data import CountRows, Measure, SumOf, col
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import Exact
from leastnoise.ledger.record import Json
from leastnoise.mechanisms import BoundedMean, Geometric
from leastnoise.mechanisms.histogram.independent_noise import IndependentNoise, NoiseBlock, require_drawable
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.model.events import Pure
from leastnoise.model.mechanism import LEVEL, ErrorEstimate, Reason
from leastnoise.model.privacy import Privacy
from leastnoise.model.sensitivity import Sensitivity
from leastnoise.release.arguments import FixedPoint, cell_keys
from leastnoise.release.plan import AnswerPlan
from leastnoise.release.queries.counts import whole_numbers
from leastnoise.release.queries.query import CellQuery
from leastnoise.release.sensitivity import sensitivity_of
from leastnoise.release.tables import TidyTable, measure_names, number

__all__ = ["REST", "Mean", "Moment", "Variance", "laplace_noise"]


REST = 1 - LEVEL
_EXAMPLES = (1_000, 100_000)  # values per cell, for the note of a plan without a guess


@dataclass(frozen=True, repr=False, kw_only=True)
class Moment(CellQuery):
    """What means and variances share.

    Attributes:
        column: Whose moment; missing values do not count.
        scale: The public bounds and the step.
        expected_rows: A public guess of the rows per cell, for the error in the plan only.
    """

    column: str
    scale: FixedPoint
    expected_rows: int | None

    def parameters(self) -> dict[str, Json]:
        """As JSON; the guess of the number of rows changes nothing that is released."""
        return {**super().parameters(), "column": self.column, **self.scale.parameters()}

    @property
    def top(self) -> int:
        """The width of the bounds in steps."""
        low, high = self.scale.steps
        return high - low

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


class Mean(Moment):
    """low + width·U/(U + D), with noise on U and D."""

    recorded_as: ClassVar[str] = "Mean"

    @property
    def question(self) -> str:
        return self.described(f"mean of {self.column}")

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """Laplace noise on U and D of each cell."""
        epsilon = price.epsilon
        noise = self.pair_noise(epsilon)
        mechanism = IndependentNoise((NoiseBlock(noise, 2 * self.cells, Pure(epsilon)),))
        reason = BoundedMean(epsilon, 0, 1, step=1).reason()
        return AnswerPlan(
            mechanism=mechanism,
            event=mechanism.event,
            error=self.error(epsilon),
            sensitivity=self.sensitivity(),
            encode=whole_numbers,
            to_table=partial(self.to_table, noise),
            reason=Reason(reason.theorem, reason.citation),
            notes=(self.supposition(epsilon), f"values are rounded to multiples of {number(self.scale.step)}"),
        )

    def error_with(self, epsilon: Exact, rows: int) -> ErrorEstimate:
        """That of one list of numbers, at the rate of the noise."""
        low, high = (q * self.scale.step for q in self.scale.steps)
        law = BoundedMean(epsilon * self.top / self.sensitivity().l1, low, high, step=self.scale.step)
        return law.error(rows)

    def read(self) -> NDArray[Any]:
        """U of all cells, then D of all cells."""
        count, first = self.sums((1,))
        return np.array(self.pair(count, first), dtype=object)

    def to_table(self, noise: IntegerNoise, drawn: list[int]) -> TidyTable:
        """Means with intervals: both U and D are within t of the truth with 95 % probability."""
        far = noise.quantile(1 - REST / 2)
        ups, downs = drawn[: self.cells], drawn[self.cells :]
        return self.table(
            [
                (self._at(u, d), self._at(u - far, d + far), self._at(u + far, d - far))
                for u, d in zip(ups, downs, strict=True)
            ]
        )

    def _at(self, up: int, down: int) -> float:
        """Low + width·U/(U + D), negative sums counting as zero, the middle if both are."""
        above, below = max(up, 0), max(down, 0)
        share = Fraction(above, above + below) if above + below else Fraction(1, 2)
        low, _ = self.scale.steps
        return float((low + self.top * share) * self.scale.step)


class Variance(Moment):
    """V/n − (S/n)² with n and S from U and D, and noise on U, D and V."""

    recorded_as: ClassVar[str] = "Variance"

    @property
    def question(self) -> str:
        return self.described(f"variance of {self.column}")

    @property
    def reach(self) -> int:
        """The largest |q − c|."""
        low, high = self.scale.steps
        return max(self.scale.centre - low, high - self.scale.centre)

    @property
    def largest(self) -> Fraction:
        """A quarter of the width squared: no variance between the bounds is larger."""
        return Fraction(self.top**2, 4) * self.scale.step**2

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """Half of ε for U and D, half for the squares."""
        epsilon = price.epsilon
        pair, squares = self._noises(epsilon)
        half = Pure(epsilon / 2)
        mechanism = IndependentNoise((NoiseBlock(pair, 2 * self.cells, half), NoiseBlock(squares, self.cells, half)))
        return AnswerPlan(
            mechanism=mechanism,
            event=mechanism.event,
            error=self.error(epsilon),
            sensitivity=self.sensitivity(),
            encode=whole_numbers,
            to_table=partial(self.to_table, pair, squares),
            reason=Reason(
                "Laplace noise on the number, the sum and the sum of squares, with half of ε for the squares",
                "Dwork, McSherry, Nissim and Smith, TCC 2006, Proposition 1",
            ),
            notes=(
                self.supposition(epsilon),
                f"the sum of squares has a sensitivity of its own, {self.squares()}",
            ),
        )

    def read(self) -> NDArray[Any]:
        """U, D and V of all cells."""
        count, first, second = self.sums((1, 2))
        return np.array([*self.pair(count, first), *second], dtype=object)

    def to_table(self, pair: IntegerNoise, squares: IntegerNoise, drawn: list[int]) -> TidyTable:
        """Variances with intervals: U, D and V are all within their quantile of the truth with 95 % probability."""
        far, wide = pair.quantile(1 - REST / 3), squares.quantile(1 - REST / 3)
        ups, downs, seconds = (drawn[i * self.cells : (i + 1) * self.cells] for i in range(3))
        rows = list(zip(ups, downs, seconds, strict=True))
        return self.table([(self._between(*row, 0, 0)[0], *self._between(*row, far, wide)) for row in rows])

    def squares(self) -> Sensitivity:
        """Of the sums of squares."""
        return sensitivity_of(self.contribution, self.measure(2), (self.cells,))

    def _noises(self, epsilon: Exact) -> tuple[Geometric, Geometric]:
        return self.pair_noise(epsilon / 2), laplace_noise(epsilon / 2, self.squares())

    def _between(self, up: int, down: int, second: int, far: int, wide: int) -> tuple[float, float]:
        """The least and largest V/n − (S/n)² with U and D within `far` and V within `wide` of these numbers.

        n = (U + D)/top and S = Σ(q − c) = (1 − λ)·U − λ·D with λ = (c − q_low)/top, so S moves by at most `far`.
        """
        above, below = max(up, 0), max(down, 0)
        share = Fraction(self.scale.centre - self.scale.steps[0], self.top)
        offset = abs((1 - share) * above - share * below)
        count, slack = Fraction(above + below, self.top), Fraction(2 * far, self.top)
        fewest, most = count - slack, count + slack
        if fewest <= 0:
            return 0.0, float(self.largest)
        low = max(second - wide, 0) / most - ((offset + far) / fewest) ** 2
        high = max(second + wide, 0) / fewest - (max(offset - far, Fraction(0)) / most) ** 2
        unit = self.scale.step**2
        return self._clamped(low * unit), self._clamped(high * unit)

    def _clamped(self, variance: Fraction) -> float:
        return float(min(max(variance, Fraction(0)), self.largest))

    def error_with(self, epsilon: Exact, rows: int) -> ErrorEstimate:
        """Bounds for n values; docs/theory/releasing.md has the two lines of proof.

        With noise within w on V and f on U and D, n is off by g ≤ 2f/top and S by f, so V/n is off by at most
        (w + reach²·g)/(n − g), S/n by a = (f + reach·g)/(n − g), and its square by a·(2·reach + a).
        """
        pair, squares = self._noises(epsilon)
        reach, unit, top = self.reach, self.scale.step**2, self.top
        far, wide = pair.quantile(1 - REST / 3), squares.quantile(1 - REST / 3)
        slack = Fraction(2 * far, top)
        quantile = self.largest
        if slack < rows:
            away = (far + reach * slack) / (rows - slack)
            quantile = min(quantile, ((wide + reach**2 * slack) / (rows - slack) + away * (2 * reach + away)) * unit)
        one, square = pair.moment(1).upper, squares.moment(1).upper
        count = 2 * one / top
        near = 2 * (square + reach**2 * count + 4 * reach * (one + reach * count)) / rows * unit
        escape = 4 * pair.tail(max(top * rows // 4, 1)).upper
        expected = min(near + escape * self.largest, self.largest)
        return ErrorEstimate("absolute", Enclosure(expected, expected), {LEVEL: quantile}, attained=False)

"""Means and variances: the number of rows is private too, so numerator and denominator both carry noise.

With q the whole steps of a value, c the middle of the bounds and n the number of values, the true answers are
U = Σ(q − q_low) and D = Σ(q_high − q), both at least zero with U + D = top·n: one unit changes them by at most
top·rows·groups in the ℓ₁ norm *together*, half of what separate noise on Σ(q − q_low) and n·top would have to cover
(`mechanisms.BoundedMean`). The mean is low + width·U/(U + D). The variance adds V = Σ(q − c)².

How far off they are depends on n, which is private. So a plan has an error only where a public guess of n is given.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import floor
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.composition.price import gaussian_within, pure_within
from leastnoise.data import CountRows, Measure, SumOf, col, typed
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import Exact
from leastnoise.ledger.record import Json
from leastnoise.mechanisms import BoundedMean, Geometric
from leastnoise.mechanisms.histogram.independent_noise import (
    IndependentNoise,
    NoiseBlock,
    gaussian_noise,
    is_drawable,
    repeated,
    too_wide,
)
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.model.events import Event, GaussianPrivacy, Pure
from leastnoise.model.mechanism import LEVEL, ErrorEstimate, Reason
from leastnoise.model.privacy import Privacy
from leastnoise.model.sensitivity import Sensitivity
from leastnoise.model.show import number
from leastnoise.release.arguments import FixedPoint, cell_keys
from leastnoise.release.plan import AnswerPlan
from leastnoise.release.queries.counts import whole_numbers
from leastnoise.release.queries.query import CellQuery
from leastnoise.release.sensitivity import sensitivity_of
from leastnoise.release.tables import TidyTable, measure_names

__all__ = ["Mean", "Moment", "Variance"]

Noises = tuple[IntegerNoise, ...]
_SHORT = 1 << 64  # chances are rounded down to a multiple of its inverse
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

    @property
    def noisy(self) -> tuple[tuple[Sensitivity, int], ...]:
        """The numbers that get noise: how much one unit changes them, and how many they are. They share the price."""
        return ((self.sensitivity(), 2 * self.cells),)

    def candidates(self, price: Privacy) -> Iterator[IndependentNoise]:
        """Laplace noise, and Gaussian noise where the price pays for it."""
        parts = self.noisy

        def laplace(epsilon: Exact) -> IndependentNoise:
            return IndependentNoise(
                tuple(
                    NoiseBlock(Geometric(share, each.l1), count, _pure_in_cells(share, each.cells))
                    for (each, count), share in zip(parts, [epsilon / len(parts)] * len(parts), strict=True)
                )
            )

        epsilon = pure_within(price, lambda epsilon: laplace(epsilon).event)
        found = 0
        if all(is_drawable(each.l1, epsilon / len(parts)) for each, _ in parts):
            found += 1
            yield laplace(epsilon)
        mu_squared = gaussian_within(price) / len(parts)
        noises = [gaussian_noise(mu_squared, each.l2_squared, each.each) for each, _ in parts]
        if None not in noises:
            found += 1
            event = GaussianPrivacy(mu_squared)
            blocks = [NoiseBlock(n, count, event) for n, (_, count) in zip(noises, parts, strict=True) if n is not None]
            yield IndependentNoise(tuple(blocks))
        if not found:
            raise too_wide(self.sensitivity().l1)

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """The noise with the least expected error in a large cell; a guess of the rows changes nothing but the plan."""
        many = _EXAMPLES[-1]
        best = min(self.candidates(price), key=lambda each: self.error_with(_noises(each), many).expected.upper)
        noises = _noises(best)
        return AnswerPlan(
            mechanism=best,
            event=best.event,
            error=None if self.expected_rows is None else self.error_with(noises, self.expected_rows),
            within=partial(self.within, noises),
            sensitivity=self.sensitivity(),
            encode=whole_numbers,
            to_table=partial(self.to_table, noises),
            reason=self.reason if isinstance(noises[0], Geometric) else noises[0].reason(),
            notes=(self.supposition(noises), self.note),
        )

    def within(self, noises: Noises, level: Fraction) -> Fraction | None:
        """The error that is kept at a level, for as many values as are expected."""
        rows = self.expected_rows
        return None if rows is None else self.error_with(noises, rows, level).quantiles[level]

    @property
    @abstractmethod
    def reason(self) -> Reason:
        """Why Laplace noise on these numbers."""

    @property
    @abstractmethod
    def note(self) -> str:
        """What else there is to know."""

    @abstractmethod
    def error_with(self, noises: Noises, rows: int, level: Fraction = LEVEL) -> ErrorEstimate:
        """The error of each number where a cell has so many values."""

    @abstractmethod
    def to_table(self, noises: Noises, drawn: list[int], level: Fraction) -> TidyTable:
        """The moments with their intervals."""

    def supposition(self, noises: Noises) -> str:
        """What the error supposes, or how it depends on the number of values."""
        if self.expected_rows is not None:
            return f"the errors suppose {self.expected_rows} values per cell; they shrink in proportion to their number"
        errors = [f"{number(self.error_with(noises, n).expected)} with {n}" for n in _EXAMPLES]
        return (
            f"the error depends on the number of values in a cell, which is private: expected at most "
            f"{', '.join(errors)}; pass expected_rows for a number of your own"
        )

    def sums(self, powers: tuple[int, ...]) -> tuple[NDArray[Any], ...]:
        """The number of values, and Σ(q − c)^power for each power; private."""
        present = typed(~col(self.column).is_missing(), self.dataset.table.columns)
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


def _noises(mechanism: IndependentNoise) -> Noises:
    return tuple(block.noise for block in mechanism.blocks)


def _pure_in_cells(epsilon: Exact, cells: int) -> Event:
    """What Laplace noise on the numbers of each cell costs where a unit is in so many cells."""
    return repeated(Pure(epsilon / cells), cells, Pure(epsilon))


class Mean(Moment):
    """low + width·U/(U + D), with noise on U and D."""

    recorded_as: ClassVar[str] = "Mean"

    @property
    def question(self) -> str:
        return self.described(f"mean of {self.column}")

    @property
    def reason(self) -> Reason:
        return replace(BoundedMean(1, 0, 1, step=1).reason(), lower_bound=None)

    @property
    def note(self) -> str:
        return f"values are rounded to multiples of {number(self.scale.step)}"

    def error_with(self, noises: Noises, rows: int, level: Fraction = LEVEL) -> ErrorEstimate:
        """With noise X on U and Y on D: |(1 − m)X − mY|/(n' + X + Y) with n' = top·n, in units of the width.

        Where X + Y ≥ −n'/2 the quotient is at most 2|(1 − m)X − mY|/n', convex in m, so its mean is at most 2E|X|/n'
        there. Elsewhere X or Y is at most −n'/4, and the error at most one. The quantile splits the chance alike.
        """
        (noise,) = noises
        total, width = self.top * rows, self.top * self.scale.step
        escape = 2 * noise.tail(max(total // 4, 1)).upper
        expected = min(width * (2 * noise.moment(1).upper / total + escape), width)
        rest = Fraction(floor((1 - level - escape) * _SHORT), _SHORT)
        quantile = min(width * Fraction(2 * noise.quantile(1 - rest / 2), total), width) if rest > 0 else width
        return ErrorEstimate("absolute", Enclosure(expected, expected), {level: quantile}, attained=False)

    def read(self) -> NDArray[Any]:
        """U of all cells, then D of all cells."""
        count, first = self.sums((1,))
        return np.array(self.pair(count, first), dtype=object)

    def to_table(self, noises: Noises, drawn: list[int], level: Fraction) -> TidyTable:
        """Means with intervals: both U and D are within t of the truth with the probability asked for."""
        far = noises[0].quantile(1 - (1 - level) / 2)
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

    @property
    def noisy(self) -> tuple[tuple[Sensitivity, int], ...]:
        return (*super().noisy, (self.squares(), self.cells))

    @property
    def reason(self) -> Reason:
        return Reason(
            "Laplace noise on the number, the sum and the sum of squares, with half of ε for the squares",
            "Dwork, McSherry, Nissim and Smith, TCC 2006, Proposition 1",
        )

    @property
    def note(self) -> str:
        return f"the sum of squares has a sensitivity of its own, {self.squares()}"

    def read(self) -> NDArray[Any]:
        """U, D and V of all cells."""
        count, first, second = self.sums((1, 2))
        return np.array([*self.pair(count, first), *second], dtype=object)

    def to_table(self, noises: Noises, drawn: list[int], level: Fraction) -> TidyTable:
        """Variances with intervals: U, D and V are all within their quantile of the truth with this probability."""
        far, wide = (noise.quantile(1 - (1 - level) / 3) for noise in noises)
        ups, downs, seconds = (drawn[i * self.cells : (i + 1) * self.cells] for i in range(3))
        rows = list(zip(ups, downs, seconds, strict=True))
        return self.table([(self._between(*row, 0, 0)[0], *self._between(*row, far, wide)) for row in rows])

    def squares(self) -> Sensitivity:
        """Of the sums of squares."""
        return sensitivity_of(self.contribution, self.measure(2), (self.cells,))

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

    def error_with(self, noises: Noises, rows: int, level: Fraction = LEVEL) -> ErrorEstimate:
        """Bounds for n values; docs/theory/releasing.md has the two lines of proof.

        With noise within w on V and f on U and D, n is off by g ≤ 2f/top and S by f, so V/n is off by at most
        (w + reach²·g)/(n − g), S/n by a = (f + reach·g)/(n − g), and its square by a·(2·reach + a).
        """
        pair, squares = noises
        reach, unit, top = self.reach, self.scale.step**2, self.top
        far, wide = (noise.quantile(1 - (1 - level) / 3) for noise in noises)
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
        return ErrorEstimate("absolute", Enclosure(expected, expected), {level: quantile}, attained=False)

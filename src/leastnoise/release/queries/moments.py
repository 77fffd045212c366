"""Means, variances and standard deviations: the number of rows is private too, so all that is divided carries noise.

With q the whole steps of a value between the steps of the bounds, top of them apart, and x = (q − q_low)/top, a row is
split into the Bernstein polynomials of x, which are never negative and add up to one:

- for a mean U = Σ(q − q_low) and D = Σ(q_high − q), with U + D = top·n;
- for a variance Σ(q_high − q)², Σ 2(q − q_low)(q_high − q) and Σ(q − q_low)², with the sum top²·n.

One unit changes them by at most rows·groups·top (or top²) in the ℓ₁ norm *together*, and no part of the price goes to
the number of rows. The mean is low + width·U/(U + D) (`mechanisms.BoundedMean`). With b₀, b₁, b₂ for the second triple,
N their sum and S = b₁/2 + b₂ the variance is (b₂ − S²/N)/N times the square of the width.

How far off they are depends on n, which is private. So a plan has an error only where a public guess of n is given, and
it says so. The intervals of a release need no guess: a hypothesis about the mean makes a sum of the true numbers with
known weights zero, and the noisy ones must then be as far from zero as noise reaches (docs/theory/quotients.md).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import ceil, floor, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.composition.cost import gaussian_within, pure_within
from leastnoise.data import CountRows, Measure, Predicate, SumOf, col, typed
from leastnoise.exact import Enclosure, Exact, sqrt_above
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
from leastnoise.mechanisms.numeric.weighted_sum import reach_of_sum
from leastnoise.model import LEVEL, ErrorEstimate, Event, GaussianPrivacy, Privacy, Pure, Reason, Sensitivity, number
from leastnoise.release.arguments import FixedPoint, cell_keys
from leastnoise.release.plan import AnswerPlan
from leastnoise.release.queries.counts import whole_numbers
from leastnoise.release.queries.query import CellQuery
from leastnoise.release.sensitivity import sensitivity_of
from leastnoise.release.tables import TidyTable, measure_names

__all__ = ["Deviation", "Mean", "Moment", "Quotient", "Variance"]

Noises = tuple[IntegerNoise, ...]
Ends = tuple[Fraction, Fraction]
_SHORT = 1 << 64  # chances are rounded down to a multiple of its inverse
_GRID = 1 << 24  # ends of intervals between rounds are rounded outwards to a multiple of its inverse
_EXAMPLES = (1_000, 100_000)  # values per cell, for the note of a plan without a guess
_ROUNDS = 4  # of narrowing an interval: what is left sets the weights of the next round
_MEAN_SHARE = Fraction(1, 10)  # of the chance of a miss, for the mean in the interval of a variance


@dataclass(frozen=True, repr=False, kw_only=True)
class Quotient(CellQuery):
    """What is divided by noisy numbers: some parts with noise of their own, which share the price.

    Attributes:
        expected_rows: A public guess of the values per cell, for the error in the plan only.
    """

    expected_rows: int | None

    @property
    @abstractmethod
    def noisy(self) -> tuple[tuple[Sensitivity, int], ...]:
        """The numbers that get noise: how much one unit changes them, and how many they are. They share the price."""

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
            raise too_wide(max(each.l1 for each, _ in parts))

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """The noise with the least expected error in a large cell; a guess of the rows changes nothing but the plan."""
        many = _EXAMPLES[-1]
        best = min(self.candidates(price), key=lambda each: self.error_with(_noises(each), many).expected.upper)
        noises, guess = _noises(best), self.expected_rows
        return AnswerPlan(
            mechanism=best,
            event=best.event,
            error=None if guess is None else self.error_with(noises, guess),
            within=partial(self.within, noises),
            sensitivity=self.noisy[0][0],
            encode=whole_numbers,
            to_table=partial(self.to_table, noises),
            reason=self.reason if isinstance(noises[0], Geometric) else noises[0].reason(),
            notes=(*self.example_errors(noises), *self.more_notes),
            supposing="" if guess is None else f"if there are {number(guess)} values in each cell",
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
    def more_notes(self) -> tuple[str, ...]:
        """What else there is to know."""

    @abstractmethod
    def error_with(self, noises: Noises, rows: int, level: Fraction = LEVEL) -> ErrorEstimate:
        """The error of each number where a cell has so many values."""

    @abstractmethod
    def estimate(self, noises: Noises, drawn: Sequence[int], level: Fraction) -> tuple[float, float, float]:
        """Value, low and high of one cell, from its noisy numbers."""

    def to_table(self, noises: Noises, drawn: list[int], level: Fraction) -> TidyTable:
        """The answers with their intervals."""
        keys = cell_keys(self.axes)
        names = measure_names(tuple(keys))
        cells = [drawn[place :: self.cells] for place in range(self.cells)]
        rows = [self.estimate(noises, cell, level) for cell in cells]
        values = {name: tuple(row[i] for row in rows) for i, name in enumerate(names)}
        return TidyTable({**keys, **values}, tuple(keys))

    def example_errors(self, noises: Noises) -> tuple[str, ...]:
        """How the error depends on the number of values, where no guess of it is given."""
        if self.expected_rows is not None:
            return ()
        errors = [f"{number(self.error_with(noises, n).expected)} with {n}" for n in _EXAMPLES]
        return (
            f"the error depends on the number of values in a cell, which is private: expected at most "
            f"{', '.join(errors)}; pass expected_rows for a number of your own; the release has intervals of its own",
        )

    def present(self, *columns: str | Predicate) -> Predicate | None:
        """The filter, and that no value of these columns is missing; a condition is missing nowhere."""
        where, kinds = self.where, self.dataset.table.columns
        for column in columns:
            if isinstance(column, str):
                there = typed(~col(column).is_missing(), kinds)
                where = there if where is None else where & there
        return where

    def totals_of(self, measures: tuple[Measure, ...], where: Predicate | None) -> tuple[NDArray[Any], ...]:
        """What the engine adds up in each cell, as whole numbers of any size; private."""
        found = self.dataset.table.aggregate(self.contribution, self.axes, measures, where)
        return tuple(np.array([int(k) for k in np.ravel(part)], dtype=object) for part in found)


def _noises(mechanism: IndependentNoise) -> Noises:
    return tuple(block.noise for block in mechanism.blocks)


def _pure_in_cells(epsilon: Exact, cells: int) -> Event:
    """What Laplace noise on the numbers of each cell costs where a unit is in so many cells."""
    return repeated(Pure(epsilon / cells), cells, Pure(epsilon))


def narrowed(interval: Ends, low: Fraction, high: Fraction) -> Ends:
    """What is left of an interval within two ends, which are rounded outwards to stay short."""
    return (
        max(interval[0], Fraction(floor(low * _GRID), _GRID)),
        min(interval[1], Fraction(ceil(high * _GRID), _GRID)),
    )


@dataclass(frozen=True, repr=False, kw_only=True)
class Moment(Quotient):
    """What means and variances share.

    Attributes:
        column: Whose moment, missing values do not count; or a condition, which is 1 where it holds and 0 elsewhere.
        scale: The public bounds and the step.
    """

    degree: ClassVar[int]
    column: str | Predicate
    scale: FixedPoint

    def parameters(self) -> dict[str, Json]:
        """As JSON; the guess of the number of rows changes nothing that is released."""
        column = self.column if isinstance(self.column, str) else self.column.to_dict()
        return {**super().parameters(), "column": column, **self.scale.parameters()}

    @property
    def measured_in(self) -> str:
        return self.column if isinstance(self.column, str) else "as a share of one"

    @property
    def top(self) -> int:
        """The width of the bounds in steps."""
        low, high = self.scale.steps
        return high - low

    @property
    def width(self) -> Fraction:
        """The width of the bounds, as far as steps reach."""
        return self.top * self.scale.step

    def measure(self, power: int, centre: int) -> SumOf:
        """Σ(q − centre)^power, as the engine adds it up: a unit with too many rows counts with their average."""
        low, high, step = self.scale.low, self.scale.high, self.scale.step
        return SumOf(self.column, low, high, step, power, centre * step, averaged=True)

    def sensitivity(self) -> Sensitivity:
        """Of the parts of a cell together."""
        measure = self.measure(self.degree, self.scale.steps[0])
        return sensitivity_of(self.contribution, measure, self.cells, parts=True)

    @property
    def noisy(self) -> tuple[tuple[Sensitivity, int], ...]:
        return ((self.sensitivity(), (self.degree + 1) * self.cells),)

    @property
    def more_notes(self) -> tuple[str, ...]:
        low, high, step = map(number, (self.scale.low, self.scale.high, self.scale.step))
        if not isinstance(self.column, str):
            return ("a row for which the condition can't be told, as a value is missing, counts as one of the others",)
        return (f"each value is rounded to a multiple of {step} and clamped to [{low}, {high}]",)


class Mean(Moment):
    """low + width·U/(U + D), with noise on U and D."""

    recorded_as: ClassVar[str] = "Mean"
    degree: ClassVar[int] = 1

    @property
    def question(self) -> str:
        if isinstance(self.column, str):
            return self.described(f"mean of {self.column}")
        return self.described(f"proportion of {self.column}")

    @property
    def reason(self) -> Reason:
        return replace(BoundedMean(1, 0, 1, step=1).reason(), lower_bound=None)

    def error_with(self, noises: Noises, rows: int, level: Fraction = LEVEL) -> ErrorEstimate:
        """With noise X on U and Y on D: |(1 − m)X − mY|/(n' + X + Y) with n' = top·n, in units of the width.

        Where X + Y ≥ −n'/2 the quotient is at most 2|(1 − m)X − mY|/n', convex in m, so its mean is at most 2E|X|/n'
        there. Elsewhere X or Y is at most −n'/4, and the error at most one. The quantile splits the chance alike.
        """
        (noise,) = noises
        total = self.top * rows
        escape = 2 * noise.tail(max(total // 4, 1)).upper
        expected = min(self.width * (2 * noise.moment(1).upper / total + escape), self.width)
        rest = Fraction(floor((1 - level - escape) * _SHORT), _SHORT)
        quantile = self.width
        if rest > 0:
            quantile = min(quantile, self.width * Fraction(2 * noise.quantile(1 - rest / 2), total))
        return ErrorEstimate("absolute", Enclosure(expected, expected), {level: quantile}, attained=False)

    def read(self) -> NDArray[Any]:
        """U of all cells, then D of all cells."""
        low, high = self.scale.steps
        centre = self.scale.centre
        count, first = self.totals_of((CountRows(), self.measure(1, centre)), self.present(self.column))
        up = first + (centre - low) * count
        return np.array([*up, *((high - low) * count - up)], dtype=object)

    def estimate(self, noises: Noises, drawn: Sequence[int], level: Fraction) -> tuple[float, float, float]:
        """The mean, negative sums counting as zero and the middle if both are, and all means m that U and D allow.

        (1 − m)U − mD is zero for the true numbers and the true mean, so with noise on both it is (1 − m)X − mY. Where m
        lies in an interval, no weight is larger than at its ends.
        """
        up, down = drawn
        above, below = max(up, 0), max(down, 0)
        share = Fraction(above, above + below) if above + below else Fraction(1, 2)
        low, high = share_between(noises * 2, (down, up), level)
        return self._at(share), self._at(low), self._at(high)

    def _at(self, share: Fraction) -> float:
        return float((self.scale.steps[0] + self.top * share) * self.scale.step)


def share_between(noises: Noises, parts: Sequence[int], level: Fraction) -> Ends:
    """All means between 0 and 1 that noisy parts leave possible, from D and U or from b₀, b₁ and b₂.

    The part number i of k + 1 counts for i/k. So Σ(i/k − m)·bᵢ is zero for the true parts and the true mean m.
    """
    total, last = sum(parts), len(parts) - 1
    centre = sum((Fraction(place, last) * part for place, part in enumerate(parts)), Fraction(0))
    left: Ends = (Fraction(0), Fraction(1))
    if total <= 0:
        return left
    for _ in range(_ROUNDS):
        weights = [max(abs(Fraction(place, last) - end) for end in left) for place in range(last + 1)]
        far = reach_of_sum(noises, weights, level)
        left = narrowed(left, (centre - far) / total, (centre + far) / total)
        if left[0] > left[1]:  # no mean explains the parts: less likely than a miss
            return Fraction(0), Fraction(1)
    return left


class Variance(Moment):
    """(b₂ − S²/N)/N, S = b₁/2 + b₂ and N = b₀ + b₁ + b₂, with noise on the three."""

    recorded_as: ClassVar[str] = "Variance by Bernstein polynomials"
    degree: ClassVar[int] = 2

    @property
    def question(self) -> str:
        return self.described(f"variance of {self.column}")

    @property
    def measured_in(self) -> str:
        return f"{self.column} squared"

    @property
    def reason(self) -> Reason:
        return Reason(
            "Laplace noise on the sums of the three Bernstein polynomials, which a row changes by one in all",
            "Dwork, McSherry, Nissim and Smith, TCC 2006, Proposition 1",
        )

    def read(self) -> NDArray[Any]:
        """b₀, b₁ and b₂ of all cells.

        Averages of squares are rounded down, so that the two together are at most top²·n, and the rest is not negative.
        """
        low, high = self.scale.steps
        measures = CountRows(), self.measure(2, high), self.measure(2, low)
        count, first, last = self.totals_of(measures, self.present(self.column))
        return np.array([*first, *(self.top**2 * count - first - last), *last], dtype=object)

    def estimate(self, noises: Noises, drawn: Sequence[int], level: Fraction) -> tuple[float, float, float]:
        value, low, high = (part * self.width**2 for part in self._spread(noises * 3, drawn, level))
        return self.shown(value), self.shown(low), self.shown(high)

    def shown(self, variance: Fraction) -> float:
        """A variance as it is released."""
        return float(variance)

    def _spread(self, noises: Noises, drawn: Sequence[int], level: Fraction) -> tuple[Fraction, Fraction, Fraction]:
        """The variance and all that the noisy numbers allow, for values between 0 and 1.

        For the true mean m and the true variance v, Q(m) − v·N with Q(m) = N·m² − 2S·m + b₂ is zero, and its weights
        are m² − v, −m(1 − m) − v and (1 − m)² − v. The mean lies where it may with most of the certainty.
        """
        first, middle, last = drawn
        total, centre = first + middle + last, Fraction(middle, 2) + last
        left: Ends = (Fraction(0), Fraction(1, 4))
        if total <= 0:
            return Fraction(0), *left
        value = min(max((last - centre**2 / total) / total, left[0]), left[1])
        low, high = share_between(noises, drawn, 1 - (1 - level) * _MEAN_SHARE)
        lowest = min(max(centre / total, low), high)
        least, *ends = (total * m**2 - 2 * centre * m + last for m in (lowest, low, high))
        product = max(m * (1 - m) for m in (low, high, min(max(Fraction(1, 2), low), high)))
        for _ in range(_ROUNDS):
            weights = (
                max(abs(low**2 - left[1]), abs(high**2 - left[0])),
                product + left[1],
                max(abs((1 - high) ** 2 - left[1]), abs((1 - low) ** 2 - left[0])),
            )
            far = reach_of_sum(noises, weights, 1 - (1 - level) * (1 - _MEAN_SHARE))
            left = narrowed(left, (least - far) / total, (max(ends) + far) / total)
            if left[0] > left[1]:
                return value, Fraction(0), Fraction(1, 4)
        return value, *left

    def error_with(self, noises: Noises, rows: int, level: Fraction = LEVEL) -> ErrorEstimate:
        """With noise z the error is Σcᵢzᵢ/N − (Σdᵢzᵢ/N)², N noisy, for the weights c and d of variance and mean.

        Σ|cᵢ| ≤ 1, Σ|dᵢ| ≤ 3/2 and Σdᵢ² ≤ 5/4 whatever mean and variance are (docs/theory/quotients.md).
        """
        (noise,) = noises
        total, unit = self.top**2 * rows, self.width**2
        largest = unit / 4
        far = Fraction(noise.quantile(1 - (1 - level) / 3))
        quantile = largest
        if 3 * far < total:
            away = far / (total - 3 * far)
            quantile = min(quantile, (away + (Fraction(3, 2) * away) ** 2) * unit)
        near = 2 * noise.moment(1).upper / total + 5 * noise.moment(2).upper / total**2
        escape = 3 * noise.tail(max(total // 6, 1)).upper
        expected = min(near * unit + escape * largest, largest)
        return ErrorEstimate("absolute", Enclosure(expected, expected), {level: quantile}, attained=False)


class Deviation(Variance):
    """The square root of the variance, with the square roots of the ends of its interval."""

    recorded_as: ClassVar[str] = "Standard deviation"

    @property
    def question(self) -> str:
        return self.described(f"standard deviation of {self.column}")

    @property
    def measured_in(self) -> str:
        return str(self.column)

    def shown(self, variance: Fraction) -> float:
        return sqrt(float(variance))

    def error_with(self, noises: Noises, rows: int, level: Fraction = LEVEL) -> ErrorEstimate:
        """|√a − √b| ≤ √|a − b|, and the mean of a root is at most the root of the mean."""
        error = super().error_with(noises, rows, level)
        expected = sqrt_above(error.expected.upper)
        quantiles = {level: min(sqrt_above(far), self.width / 2) for level, far in error.quantiles.items()}
        return ErrorEstimate("absolute", Enclosure(expected, expected), quantiles, attained=False)

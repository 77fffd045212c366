"""Running totals, one row of a strategy a day: what is measured tomorrow continues the noise of today.

A strategy T for the n prefix sums of a known horizon is a lower triangle of whole numbers: row t needs the days up to t
alone. On day t the number y_t = T_t·x + round(g_t) is released, g_t normal with variance σ². Forward substitution gives
the day counts, hence the running totals; what was published before does not change.

**Privacy.** A unit counts on at most its first g days, as at most r rows on each: Δ. What is released up to day t tells
neighbours apart like N(0, 1) and N(μ_t, 1) with

    μ_t² = Σ_{s ≤ t} (T_s·Δ)²/σ² ≤ (r·g)²·M_t/σ²,    M_t = max_j Σ_{s ≤ t} T_sj²,

for ‖Σ_j Δ_j·T_j‖ ≤ Σ|Δ_j|·‖T_j‖. Day t is charged the increase of the right side, so that the sum of the charges is a
true statement at the end of every day. Statement and proof: docs/theory/running.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Enclosure,
    IntegerMatrix,
    Size,
    Source,
    read_integer,
    read_rational,
    rounded_gaussian,
    rounded_gaussian_pmf,
    shape_of,
)
from leastnoise.mechanisms.strategy.planning import Strategy, inverse_of, plan_strategy
from leastnoise.mechanisms.strategy.strategy_mechanism import StrategyMechanism
from leastnoise.mechanisms.truths import read_whole_vector
from leastnoise.model import (
    LEVEL,
    ErrorEstimate,
    GaussianPrivacy,
    Mechanism,
    PrefixSums,
    Reason,
    StrategyCertificate,
    StrategyPart,
    Table,
)

__all__ = ["RunningDay", "RunningTotals", "plan_running"]

_SPARE = 1 - Fraction(1, 10**9)  # of the price: the rest pays for the least charge of days that cost nothing
_LEAST = Fraction(2, 10**18)  # μ² of the least charge
_STEP_BITS = 64


def plan_running(days: int) -> Table:
    """The best strategy for the running totals of so many days, row by row, each as long as days have passed."""
    (part,) = plan_strategy(PrefixSums(days)).parts
    return tuple(tuple(row[: day + 1]) for day, row in enumerate(part.strategy))


@dataclass(frozen=True)
class RunningTotals:
    """Running totals of a known number of days at a price for all of them.

    Args:
        rows: T, row t with t + 1 entries. Nothing of it is believed but that it is this triangle.
        mu_squared: μ² of the whole horizon.
        limit: The most that one unit adds in all: its days times its rows on each.

    Raises:
        BadParameter: T is no triangle with positive numbers on the diagonal, or the price is too small.

    >>> totals = RunningTotals(plan_running(4), Fraction(1), 1)
    >>> sum(totals.charges) <= 1, [charge > 0 for charge in totals.charges]
    (True, [True, True, True, True])
    """

    rows: Table
    mu_squared: Fraction
    limit: int

    def __post_init__(self) -> None:
        """Refuse what is no strategy."""
        rows = tuple(tuple(read_integer(entry, "rows") for entry in row) for row in self.rows)
        if not rows or [len(row) for row in rows] != list(range(1, len(rows) + 1)) or min(r[-1] for r in rows) < 1:
            raise BadParameter("a strategy for running totals is a triangle", fix="plan it with plan_running")
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "mu_squared", read_rational(self.mu_squared, "mu_squared", above=0))
        object.__setattr__(self, "limit", read_integer(self.limit, "limit", at_least=1))
        if sum(self.charges) > self.mu_squared:
            raise BadParameter(
                "the price is too small for so many days", given=self.mu_squared, fix="pass a larger price"
            )

    @property
    def days(self) -> int:
        """How many days."""
        return len(self.rows)

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """M_t: the largest squared length of a column of the first rows, day by day."""
        lengths, found = [0] * self.days, []
        for row in self.rows:
            for place, entry in enumerate(row):
                lengths[place] += entry * entry
            found.append(max(lengths))
        return tuple(found)

    @cached_property
    def variance(self) -> Fraction:
        """σ² of every day: M_n·limit²/μ², and a little more."""
        return self.columns[-1] * self.limit**2 / (self.mu_squared * _SPARE)

    @cached_property
    def charges(self) -> tuple[Fraction, ...]:
        """What each day costs, as μ²: the increase of M_t·limit²/σ², and at least the least charge."""
        before = (0, *self.columns[:-1])
        steps = (now - then for now, then in zip(self.columns, before, strict=True))
        return tuple(max(step * self.limit**2 / self.variance, _LEAST) for step in steps)

    @cached_property
    def whole(self) -> StrategyMechanism:
        """All days at once, with the same noise: what it says of errors holds day by day."""
        square = tuple((*row, *(0,) * (self.days - len(row))) for row in self.rows)
        strategy = IntegerMatrix(square)
        near = inverse_of(strategy.transposed() @ strategy)
        proof = near.inverse, near.denominator, near.closeness
        part = StrategyPart(PrefixSums(self.days), None, strategy, *proof)
        plan = Strategy((part,), "total", 1, 1, "the best strategy for running totals")
        return StrategyMechanism(plan, self.columns[-1] / self.variance)

    def day(self, place: int) -> RunningDay:
        """What is released on a day, counted from zero."""
        return RunningDay(self, read_integer(place, "day", at_least=0, at_most=self.days - 1))

    def totals(self, measured: Sequence[int]) -> list[Fraction]:
        """The running totals up to the last day that was measured, to 2^-64; more days change none of them."""
        counts: list[int] = []
        total, found = 0, []
        for row, drawn in zip(self.rows, measured, strict=False):
            rest = (int(drawn) << _STEP_BITS) - sum(e * x for e, x in zip(row, counts, strict=False))
            counts.append((2 * rest + row[-1]) // (2 * row[-1]))
            total += counts[-1]
            found.append(Fraction(total, 1 << _STEP_BITS))
        return found


@dataclass(frozen=True)
class RunningDay(Mechanism):
    """The measurement of one day; the truth are the counts of the days up to it, a whole number comes out.

    Its event is what the day adds to the price of all days before, and says nothing of the day alone.

    Args:
        horizon: All days.
        place: Which day.
    """

    name: ClassVar[str] = "the next row of the best strategy for running totals, with Gaussian noise"
    horizon: RunningTotals
    place: int

    @property
    def event(self) -> GaussianPrivacy:
        """What the day adds."""
        return GaussianPrivacy(self.horizon.charges[self.place])

    def measure(self, truth: Any) -> int:
        """T_t·x."""
        counts = read_whole_vector(truth, self.place + 1)
        return sum(e * int(x) for e, x in zip(self.horizon.rows[self.place], counts, strict=True))

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """The measurement plus noise."""
        exact, shape = self.measure(truth), shape_of(size)
        noise = np.asarray(rounded_gaussian(self.horizon.variance, shape, source)).astype(object) + exact
        return noise if shape else int(noise)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth)."""
        (drawn,) = read_whole_vector([output], 1)
        return rounded_gaussian_pmf(int(drawn) - self.measure(truth), self.horizon.variance, bits)

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """The expected squared error of the running total of the day, and an error that it keeps at a level."""
        square = self.horizon.whole.squared_errors()[self.place]
        return ErrorEstimate("squared", Enclosure(square, square), {level: self.half_width(level)}, attained=False)

    def half_width(self, level: Fraction = LEVEL) -> Fraction:
        """An error that the running total of the day does not exceed with this probability."""
        return self.horizon.whole.half_widths(level)[self.place]

    def reason(self) -> Reason:
        """The best strategy, which needs no day that has not come."""
        return Reason(
            "the strategy is the best one for all running totals, written so that each row needs past days only",
            "Denisov, McMahan, Rush, Smith and Thakurta, NeurIPS 2022, Theorem 2.1; charges in docs/theory/running.md",
        )

    def certificate(self) -> StrategyCertificate:
        """The strategy of all days with its error."""
        return self.horizon.whole.certificate()

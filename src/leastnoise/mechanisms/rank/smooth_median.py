"""The median plus Laplace noise as wide as the data at hand needs: smooth sensitivity.

Nissim, Raskhodnikova and Smith (STOC 2007), with whole noise. Let L ≥ ln(2/δ) and S the smooth sensitivity for the
decay 1/ρ = 1 + ε/(2L), on a lattice of whole numbers. The release is the median plus discrete Laplace noise of rate λ =
ε/(2S), moved to the nearer bound where it leaves the bounds.

Privacy, (ε, δ): for neighbours with medians μ, μ', let λ' = ε/(2S') and p(y) = tanh(λ/2)·e^(−λ|y−μ|). As |μ − μ'| ≤ S',
λ'·|μ − μ'| ≤ ε/2. If λ' ≤ λ, then tanh(λ/2)/tanh(λ'/2) ≤ λ/λ' ≤ 1/ρ and p/p' ≤ e^(ε/(2L) + ε/2) ≤ e^ε everywhere, as L
≥ 1. If λ' > λ, then p/p' ≤ e^((λ'−λ)|y−μ| + ε/2). That is above e^ε only where |y − μ| > T = ε/(2(λ' − λ)) ≥ L/λ, and
the probability of it is 2α^(⌊T⌋+1)/(1 + α) < 2e^(−λT) ≤ 2e^-L ≤ δ, with α = e^-λ.

The decay ρ is a little slower than the e^(−ε/(2 ln(2/δ))) of the paper; that is the price of whole noise. The noise S/ε
with ln(1/δ) in place of ln(2/δ) that Tóthmérész (2013, section 3.1) states is not private enough.

The smooth sensitivity of the median: how far it can move, discounted by how many records that takes. Nissim,
Raskhodnikova and Smith (STOC 2007), Definition 2.2 and section 3.1: with x₁ ≤ … ≤ x_n sorted, x₀ the lower bound,
x_{n+1} the upper one and m the place of the median,

    S = max over i ≤ m ≤ j of (x_j − x_i)·ρ^(j − i − 1),   0 < ρ < 1.

j − i − 1 records must change before another change can move the median from x_i to x_j. So the median of a neighbour is
at most S away, and S ≤ S'/ρ for neighbours: S is smooth.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Enclosure,
    Exact,
    LogSum,
    NumberLike,
    Size,
    Source,
    at_alpha,
    enclose,
    exp_above,
    least_whole,
    ln_above,
    ln_below,
    read_epsilon,
    read_integer,
    read_rational,
    truncated_geometric,
    truncated_geometric_pmf,
)
from leastnoise.mechanisms.rank.lattice import IntervalLattice, Listed, read_interval
from leastnoise.mechanisms.truths import read_records
from leastnoise.model import LEVEL, Approximate, Certificate, ErrorEstimate, Mechanism, Reason

__all__ = ["SmoothMedian", "smooth_bound"]

LARGEST_WINDOW = 1 << 18  # more records on one side of the median are never looked at

Floats = NDArray[np.float64]


def smooth_bound(below: Floats, above: Floats, decay: float) -> float:
    """A double B with S ≤ B·(1 + 2^-25) ≤ S·(1 + 2^-24).

    For x_i < x_i' the quotient (x_j − x_i)/(x_j' − x_i), j < j', falls as x_i grows to x_i'. So the best j never
    decreases with i, and halving the rows finds all of them in O(w log w) steps for w records.

    Errors: a power of `decay` carries two roundings for each of at most 2^19 factors, the rest of a term one more, so
    a term is off by less than 2^-32, relatively. A j that only seems best is best within 2^-31, and by the quotient
    above it is as nearly best in all rows beyond, so each of at most 19 halvings adds as much: the whole is off by less
    than 2^-26.

    Args:
        below: x_m, x_{m−1}, … in this order, whole numbers below 2^53; at most 2^18 + 1 of them.
        above: x_m, x_{m+1}, ….
        decay: ρ.

    >>> smooth_bound(np.array([5.0, 4.0, 0.0]), np.array([5.0, 9.0, 10.0]), 0.5)
    4.0
    """
    powers = np.concatenate([[1.0], np.cumprod(np.full(len(below) + len(above), decay))])
    largest = 0.0
    rows = [(0, len(below) - 1, 0, len(above) - 1)]  # first and last row, first and last column that may be best
    while rows:
        first, last, left, right = rows.pop()
        if first > last:
            continue
        row = (first + last) // 2
        start = max(left, 1 - row)  # i = j = m is no pair
        if start <= right:
            terms = (above[start : right + 1] - below[row]) * powers[row + start - 1 : row + right]
            best = right - int(np.argmax(terms[::-1]))  # the last of equals: a row of zeros must not narrow the others
            largest = max(largest, float(terms[best - start]))
        else:
            best = right
        rows += [(first, row - 1, best, right), (row + 1, last, left, best)]
    return largest


_ROUNDING = Fraction(1, 2**24)  # what doubles may add to S, see `smooth_bound`
_NEGLIGIBLE_RATE = 64  # noise of this rate is zero but for a chance of 2e^-64; less noise is never asked for


@dataclass(frozen=True, init=False)
class SmoothMedian(Mechanism):
    """The median of numbers in [lower, upper] plus noise of a scale that follows the data; (ε, δ)-private.

    The truth is the list of the numbers. Its median is the ⌈n/2⌉-th smallest.

    Args:
        epsilon: The privacy of one release.
        delta: At most 1/2.
        lower: Public; smaller values count as this one.
        upper: Public; larger values count as this one.
        records: How many records there are, which is public; a neighbour exchanges one of them.
        step: The distance of two lattice points; 2^-20 of the width if left out.
        missing: What NaN and None count as; `lower` if left out.

    Raises:
        UnboundedData: A bound is missing or infinite.

    >>> median = SmoothMedian(1, 1e-6, 0, 100, records=5, step=1)
    >>> float(median.smooth_sensitivity([40, 41, 42, 43, 44])) < float(median.smooth_sensitivity([0, 1, 42, 99, 100]))
    True
    """

    name: ClassVar[str] = "smooth sensitivity median"
    epsilon: Exact
    delta: Fraction
    lattice: IntervalLattice
    records: int
    missing: Fraction

    def __init__(
        self,
        epsilon: NumberLike,
        delta: NumberLike,
        lower: NumberLike | None = None,
        upper: NumberLike | None = None,
        records: NumberLike = 1,
        *,
        step: NumberLike | None = None,
        missing: NumberLike | None = None,
    ) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(epsilon))
        object.__setattr__(self, "delta", read_rational(delta, "delta", above=0, at_most=Fraction(1, 2)))
        object.__setattr__(self, "lattice", read_interval(lower, upper, step))
        object.__setattr__(self, "records", read_integer(records, "records", at_least=1))
        object.__setattr__(self, "missing", self.lattice.read_missing(missing))
        if self.growth <= 1:
            raise BadParameter(
                "epsilon is too small for this delta: the noise would cover the whole range",
                given=epsilon,
                fix="use IntervalQuantile, which takes any epsilon",
            )

    @property
    def growth(self) -> Fraction:
        """1/ρ, rational and so little below 1 + ε/(2 ln(2/δ)) that rounding S upwards is paid for."""
        slope = self._rational_epsilon / (2 * ln_above(2 / self.delta))
        return (1 + slope) / (1 + _ROUNDING)

    @property
    def event(self) -> Approximate:
        """(epsilon, delta)."""
        return Approximate(self.epsilon, self.delta)

    def smooth_sensitivity(self, truth: object) -> Fraction:
        """S in the unit of the records, rounded up by at most 2^-24 of it. It depends on the data and is private."""
        return self.lattice.step * self._spread(truth)[1]

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """A point of the lattice, or an array of them."""
        median, spread = self._spread(truth)
        rate = self._rational_epsilon / (2 * spread)
        places = truncated_geometric(median, 0, self.lattice.last, size=size, source=source, rate=rate)
        points = self.lattice.points(np.asarray(places))
        return points.item() if size is None else points

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth), enclosed."""
        place = self.lattice.find(output)
        if place is None:
            return Enclosure(Fraction(0), Fraction(0))
        median, spread = self._spread(truth)
        rate = self._rational_epsilon / (2 * spread)
        return truncated_geometric_pmf(place, median, 0, self.lattice.last, bits=bits, rate=rate)

    def error(self) -> ErrorEstimate:
        """The absolute error at most, over all databases: that of the largest S, the width, and never more than it.

        The error at hand is about 2S/ε, with S of the data at hand; that number is private.
        """
        steps = self.lattice.last
        rate = self._rational_epsilon / (2 * max(steps * (1 + _ROUNDING), self._least_spread))
        mean = at_alpha(rate, lambda a: 2 * a / (1 - a * a))
        rest = 1 - LEVEL
        far = least_whole(
            lambda t: t >= steps or at_alpha(rate, lambda a: 2 * a ** (t + 1) / (1 + a), power=t).upper <= rest
        )
        step = self.lattice.step
        expected = Enclosure(step * min(mean.lower, Fraction(steps)), step * min(mean.upper, Fraction(steps)))
        return ErrorEstimate("absolute", expected, {LEVEL: step * far}, attained=False)

    def reason(self) -> Reason:
        """Noise as wide as these data need."""
        return Reason(
            "noise in proportion to a smooth upper bound of the local sensitivity is (ε, δ)-private; IntervalQuantile "
            "is private without δ and nearly always closer",
            "Nissim, Raskhodnikova and Smith, STOC 2007, Theorem 2.4 and section 3.1; docs/theory/smooth_median.md",
        )

    def certificate(self) -> Certificate:
        """No certificate: the law is irrational for every database, so no exact channel has it.

        Raises:
            BadParameter: Always.
        """
        raise BadParameter(
            f"the law of the {self.name} is irrational, so no exact channel can be certified",
            fix="read the proof in docs/theory/smooth_median.md, or use IntervalQuantile with a certificate",
        )

    @property
    def _rational_epsilon(self) -> Fraction:
        """Epsilon itself, or a rational just below a logarithm, which is on the private side."""
        return enclose(self.epsilon.ball).lower if isinstance(self.epsilon, LogSum) else self.epsilon

    @property
    def _least_spread(self) -> Fraction:
        return self._rational_epsilon / (2 * _NEGLIGIBLE_RATE)

    def _spread(self, truth: object) -> tuple[int, Fraction]:
        """The place of the median and an upper bound of S, in lattice steps."""
        values = read_records(truth, float(self.missing), self.records)
        steps, middle = self.lattice.last, -(-self.records // 2)
        growth = self.growth
        least = self._least_spread
        window = min(LARGEST_WINDOW, max(ceil(ln_above(steps / least) / ln_below(growth)), 1))
        first, last = max(middle - window, 1), min(middle + window, self.records)
        places = Listed(values, self.lattice).order(first, last).astype(np.float64)
        ends = [0.0] if first == 1 else [], [float(steps)] if last == self.records else []
        below = np.concatenate([places[: middle - first + 1][::-1], ends[0]])
        above = np.concatenate([places[middle - first :], ends[1]])
        bound = Fraction(smooth_bound(below, above, float(1 / growth))) * (1 + _ROUNDING / 2)
        # Pairs outside the window are worth at most steps·ρ^window; a public constant is smooth, and so is a maximum.
        complete = first == 1 and last == self.records
        outside = Fraction(0) if complete else steps * exp_above(-window * ln_below(growth))
        return int(places[middle - first]), max(bound, least, outside)

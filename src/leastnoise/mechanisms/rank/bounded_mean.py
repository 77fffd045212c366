"""The mean of numbers between public bounds; their number is released with it where it is private too.

Every record is a whole number k of lattice steps above `lower`, out of `top`. It adds k to one sum, U, and top − k to
another, D. So U + D = top·n, and the mean is lower + width·U/(U + D). One record more or less changes (U, D) by
(k, top − k), whose ℓ₁ norm is top: discrete Laplace noise of rate ε/top on both is ε-private. That is the K-norm
mechanism of (number, sum), whose K is the parallelogram with a record at either bound, and its opposite, as corners;
sum and number apart with ε/2 each have larger errors. Where the number n is public a neighbour exchanges a record: U
changes by at most top, and D = top·n − U needs no noise of its own.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import exp, prod
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Size,
    Source,
    at_alpha,
    discrete_laplace,
    discrete_laplace_cdf,
    discrete_laplace_pmf,
    least_whole,
    read_epsilon,
    read_integer,
    scaled,
    shape_of,
)
from leastnoise.mechanisms.lower_bounds import least_worst_error
from leastnoise.mechanisms.rank.lattice import IntervalLattice, read_interval
from leastnoise.mechanisms.truths import read_records
from leastnoise.model import (
    LEVEL,
    Certificate,
    Channel,
    ErrorEstimate,
    LaplaceNoise,
    Mechanism,
    Privacy,
    PrivacyCertificate,
    Reason,
)
from leastnoise.model.graphs import path

__all__ = ["BoundedMean", "PrivateMean"]


@dataclass(frozen=True)
class PrivateMean:
    """A released mean, with the number of records.

    Attributes:
        up: The noisy sum U of steps above the lower bound.
        down: The noisy sum D of steps below the upper bound.
        lattice: The bounds and the step.
    """

    up: int
    down: int
    lattice: IntervalLattice

    @property
    def mean(self) -> float:
        """The mean, lower + width·U/(U + D), negative sums counting as zero; the middle if both are."""
        up, down = max(self.up, 0), max(self.down, 0)
        share = Fraction(up, up + down) if up + down else Fraction(1, 2)
        return float(self.lattice.lower + self.lattice.step * self.lattice.last * share)

    @property
    def count(self) -> float:
        """(U + D)/top: exact where the number of records is public."""
        return float(Fraction(self.up + self.down, self.lattice.last))

    def __float__(self) -> float:
        """The mean."""
        return self.mean


@dataclass(frozen=True, init=False)
class BoundedMean(Mechanism):
    """The mean of numbers in [lower, upper]. The truth is the list of the numbers.

    Args:
        epsilon: The privacy of one release.
        lower: Public; smaller values count as this one.
        upper: Public; larger values count as this one.
        step: The distance of two lattice points; 2^-20 of the width if left out. Noise does not depend on it.
        records: How many records there are, where that is public: then a neighbour exchanges one of them.
        missing: What NaN and None count as; `lower` if left out.

    Raises:
        UnboundedData: A bound is missing or infinite.

    >>> BoundedMean("ln(3)", 0, 100, step=50, records=4).draw([20, 30, 40, 200]).count
    4.0
    """

    name: ClassVar[str] = "bounded mean"
    epsilon: Exact
    lattice: IntervalLattice
    records: int | None
    missing: Fraction

    def __init__(
        self,
        epsilon: NumberLike,
        lower: NumberLike | None = None,
        upper: NumberLike | None = None,
        *,
        step: NumberLike | None = None,
        records: NumberLike | None = None,
        missing: NumberLike | None = None,
    ) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(epsilon))
        object.__setattr__(self, "lattice", read_interval(lower, upper, step))
        object.__setattr__(self, "records", None if records is None else read_integer(records, "records", at_least=1))
        object.__setattr__(self, "missing", self.lattice.read_missing(missing))

    @property
    def rate(self) -> Exact:
        """epsilon/top, of the noise on each sum."""
        return self.epsilon / self.lattice.last

    @property
    def event(self) -> LaplaceNoise:
        """epsilon, by Laplace noise."""
        return LaplaceNoise(self.epsilon)

    def sums(self, truth: object) -> tuple[int, int]:
        """U and D without noise: whole numbers, the same in every order of the records. They are private."""
        values = read_records(truth, float(self.missing), self.records)
        places = self.lattice.places(values)
        up = (int((places >> 26).sum()) << 26) + int((places & ((1 << 26) - 1)).sum())  # no sum leaves 64 bits
        return up, self.lattice.last * len(values) - up

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """A `PrivateMean`, or an array of them."""
        up, down = self.sums(truth)
        shape = shape_of(size)
        noise = discrete_laplace(rate=self.rate, size=(prod(shape), 1 if self.records else 2), source=source).tolist()
        drawn = np.empty(len(noise), dtype=object)
        for i, row in enumerate(noise):
            drawn[i] = PrivateMean(up + row[0], down + (-row[0] if self.records else row[1]), self.lattice)
        return drawn[0] if size is None else drawn.reshape(shape)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth) of a `PrivateMean`; exact where e^(epsilon/top) is rational."""
        up, down = self.sums(truth)
        nothing = Enclosure(Fraction(0), Fraction(0))
        if not isinstance(output, PrivateMean) or output.lattice != self.lattice:
            return nothing
        first = discrete_laplace_pmf(output.up - up, bits=bits, rate=self.rate)
        if self.records is not None:
            return first if output.up + output.down == up + down else nothing
        second = discrete_laplace_pmf(output.down - down, bits=bits, rate=self.rate)
        return Enclosure(first.lower * second.lower, first.upper * second.upper)

    def error(self, records: NumberLike | None = None) -> ErrorEstimate:
        """The absolute error of the mean, at most.

        Args:
            records: Suppose that there are so many, where their number is private; without a supposition nothing
                better than the width can be said.
        """
        width = self.lattice.step * self.lattice.last
        number = self.records if records is None else read_integer(records, "records", at_least=1)
        if number is None:
            return ErrorEstimate("absolute", Enclosure(width, width), {LEVEL: width}, attained=False)
        mean = at_alpha(self.rate, lambda a: 2 * a / (1 - a * a))
        if self.records is not None:
            rest, per_step = 1 - LEVEL, self.lattice.step / number
            far = least_whole(lambda t: 2 * discrete_laplace_cdf(-t - 1, rate=self.rate).upper <= rest)
            expected, quantile = scaled(mean, per_step), per_step * far
        else:
            expected, quantile = self._error_of_both(number, mean)
        capped = Enclosure(min(expected.lower, width), min(expected.upper, width))
        return ErrorEstimate("absolute", capped, {LEVEL: min(quantile, width)}, attained=False)

    def reason(self) -> Reason:
        """Noise on two sums that share one record's weight; the bound from pairs of databases."""
        bound = None
        if self.records is not None:
            width = self.lattice.step * self.lattice.last
            apart = range(1, min(self.records, 1000) + 1)
            best = max(apart, key=lambda d: d * exp(-d * float(self.epsilon) / 2))
            bound = least_worst_error(width * best / self.records, self.epsilon, best)
        return Reason(
            "the K-norm mechanism of sum and number: K = F·B₁ has two columns, so it is Laplace noise in their basis",
            "Hardt and Talwar, STOC 2010, section 4; Tóthmérész 2013, Definition 2.4",
            bound,
        )

    def certificate(self) -> Certificate:
        """One record on the lattice of one step, number public: U in cells, as an exact channel on the two answers.

        Raises:
            BadParameter: e^epsilon is irrational.
        """
        borders = range(-1, 3)
        rows = [[discrete_laplace_cdf(b - 1 - x, rate=self.epsilon) for b in borders] for x in (0, 1)]
        if not all(p.is_exact for row in rows for p in row):
            raise BadParameter(
                f"the law of the {self.name} is irrational here, so no exact channel can be certified",
                fix='choose an epsilon with rational e^epsilon, such as "ln(3)"',
            )
        cells = [[b.lower for b in row] for row in rows]
        masses = [[high - low for low, high in pairwise([Fraction(0), *row, Fraction(1)])] for row in cells]
        return PrivacyCertificate(path(2), Privacy(self.epsilon), Channel(masses, outputs=[*borders, "above"]))

    def _error_of_both(self, number: int, mean: Enclosure) -> tuple[Enclosure, Fraction]:
        """With noise X on U and Y on D: |(1 − μ)X − μY|/(n' + X + Y), n' = top·n, in units of the width.

        Where X + Y ≥ −n'/2 the quotient is at most 2|(1 − μ)X − μY|/n', convex in μ, so its mean is at most 2E|X|/n'
        there. Elsewhere X or Y is at most −n'/4, and the error at most one. The 95 % error splits the 5 % alike.
        """
        total, width = self.lattice.last * number, self.lattice.step * self.lattice.last
        escape = scaled(discrete_laplace_cdf(-(total // 4), rate=self.rate), 2)
        bound = width * (2 * mean.upper / total + escape.upper)
        expected = Enclosure(bound, bound)
        rest = 1 - LEVEL - escape.upper
        if rest <= 0:
            return expected, width
        far = least_whole(lambda t: 4 * discrete_laplace_cdf(-t - 1, rate=self.rate).upper <= rest)
        return expected, width * Fraction(2 * far, total)

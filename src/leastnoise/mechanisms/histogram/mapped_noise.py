"""Noise on the cells of a histogram, carried through a linear map: F·(x + Z) for a question F·x.

What is private is x + Z, and F is public, so the map costs nothing. It wins where the answers overlap much less than
they are many, and it makes answers that agree with each other.

The noise of one answer is Σ f_i·Z_i for independent Z_i of one law. E|Σ f_i·Z_i| of discrete Laplace noise has a
recursion for weights of one size. Other rows are summed up if that is quick, else bounded by the root of the variance
and by Σ|f_i|·E|Z|.

How far Σ f_i·Z_i of discrete Laplace noise reaches is told by its characteristic function where all weights are known
(`numeric/sum_of_geometrics.py`). Else P(|Σ| > t) ≤ 2·E e^(λΣ)·e^(−λt) for every λ (Chernoff). ln E e^(λZ) of discrete
Laplace noise is a power series in λ² without negative terms, hence convex in λ², so that
Σ ln E e^(λ·f_i·Z) ≤ (Σf_i²/f²)·ln E e^(λ·f·Z) for f ≥ |f_i|.

Rounded Gaussian noise is Z = g + r with normal g and |r| ≤ ½, E r = 0. Σ f_i·g_i is normal with variance Σf_i²·σ², and
Σ f_i·r_i exceeds √(Σf_i²·ln(2/p)/2) with probability at most p (Hoeffding 1963, Theorem 2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import gcd, prod
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Ball,
    Enclosure,
    Exact,
    RationalMatrix,
    Size,
    Source,
    ball_of,
    enclose,
    ln_above,
    normal_quantile,
    of_fraction,
    scaled,
    shape_of,
    sqrt_above,
)
from leastnoise.mechanisms.numeric import DiscreteGaussian, Gaussian, Geometric
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.mechanisms.numeric.sum_of_geometrics import reach_of_geometrics
from leastnoise.mechanisms.truths import read_whole_vector
from leastnoise.mechanisms.vector.norms import CrossPolytope
from leastnoise.model import LEVEL, Certificate, ErrorEstimate, Event, Mechanism, Reason

__all__ = ["MappedNoise", "Matrix", "RowShape", "mean_along", "reach_along", "reach_of"]

RowShape = tuple[tuple[int, int], ...]  # the distinct |entries| of a row that are not zero, with how often they occur
_TILTS = [Fraction(k, 64 << j) for j in range(8) for k in range(32, 64)] + [Fraction(1, 1 << j) for j in range(14, 30)]
_ROUGH_TILTS = np.array([float(tilt) for tilt in _TILTS])
_MOST_WORK = 1 << 22  # numbers that the law along one row of different weights is made of, times the sum of the weights
_TAIL_EXPONENT = 50
_COUNT_BITS = 6  # of how many equal weights a reach is computed for
_TWO_OVER_PI = Fraction(63662, 100000)  # rounded up
_ROUNDING_PARTS = (Fraction(1, 10), Fraction(1, 100))


def is_plain(shape: RowShape) -> bool:
    """Whether all weights of a row have one size, so that its mean is quick to compute."""
    return len(shape) <= 1


@lru_cache(maxsize=4096)
def mean_along(noise: IntegerNoise, shape: RowShape, summed: bool = True) -> Enclosure:
    """E|Σ f_i·Z_i|, or an upper bound of it.

    Args:
        noise: The law of each Z_i.
        shape: The weights.
        summed: Whether the law may be summed up where the weights differ in size.

    >>> mean_along(Geometric("ln(3)"), ((1, 1),)), mean_along(Geometric("ln(3)"), ((5, 2),))
    (Enclosure(3/4), Enclosure(≈ 6.09375))
    """
    if not shape:
        return Enclosure(Fraction(0), Fraction(0))
    if sum(count for _, count in shape) == 1:
        return scaled(noise.moment(1), shape[0][0])
    if isinstance(noise, Geometric):
        terms, length = sum(count for _, count in shape), sum(entry * count for entry, count in shape)
        if is_plain(shape) or (summed and (terms + length) * length * _TAIL_EXPONENT <= _MOST_WORK * noise.rate):
            entries = [entry for entry, count in shape for _ in range(count)]
            return CrossPolytope(terms).mean_absolute_along(entries, noise.rate)
    squares = sum(entry**2 * count for entry, count in shape)
    together = sum(entry * count for entry, count in shape) * _moment(noise, 1)
    bound = min(sqrt_above(squares * _moment(noise, 2)), together)
    if isinstance(noise, Gaussian):  # E|g| = σ·√(2/π), and E|Σ f·r| ≤ √(Σf²/4)
        bound = min(bound, sqrt_above(squares * noise.variance * _TWO_OVER_PI) + sqrt_above(Fraction(squares, 4)))
    return Enclosure(bound, bound)


@lru_cache(maxsize=4096)
def reach_of(noise: IntegerNoise, squares: Fraction, largest: Fraction, level: Fraction = LEVEL) -> Fraction:
    """A t with P(|Σ f_i·Z_i| > t) ≤ 1 − level, where Σf_i² = squares and |f_i| ≤ largest.

    The discrete Gaussian has E e^(λY) ≤ e^(λ²σ²/2) (Canonne, Kamath and Steinke 2020, Corollary 17), which gives
    t = σ‖f‖·√(2·ln(2/(1 − level))). Of rounded Gaussian noise a tenth or a hundredth of the chance is left to the
    rounding. Discrete Laplace noise has E e^(λX) = (1 − α)²/((1 − αe^λ)(1 − αe^-λ)). For any other noise
    t = √(Var/(1 − level)), by Chebyshev's inequality.

    >>> reach_of(Geometric("ln(3)"), Fraction(1), Fraction(1))
    Fraction(3, 1)
    """
    if not squares:
        return Fraction(0)
    if squares == largest**2:
        return noise.quantile(level) * largest
    rest = 1 - level
    if isinstance(noise, Gaussian):
        return min(_gaussian_reach(noise.variance, squares, rest, part) for part in _ROUNDING_PARTS)
    if isinstance(noise, DiscreteGaussian):
        return sqrt_above(2 * noise.sigma_squared * squares * ln_above(2 / rest))
    if isinstance(noise, Geometric):
        return largest * _chernoff(noise.rate, squares / largest**2, 2 / rest)
    return sqrt_above(_moment(noise, 2) * squares / rest)


@lru_cache(maxsize=4096)
def reach_along(noise: IntegerNoise, shape: RowShape, level: Fraction = LEVEL) -> Fraction:
    """A t with P(|Σ f_i·Z_i| > t) ≤ 1 − level, for these weights.

    >>> reach_along(Geometric("ln(3)"), ((1, 20),)), reach_of(Geometric("ln(3)"), Fraction(20), Fraction(1)) > 14
    (Fraction(11, 1), True)
    """
    bound, terms = reach_of(noise, *map(Fraction, _spread(shape)), level), sum(count for _, count in shape)
    if not isinstance(noise, Geometric) or terms < 2:
        return bound
    unit = 1 << max(terms.bit_length() - _COUNT_BITS, 0)
    if is_plain(shape) and terms % unit:  # more terms reach farther: their laws are symmetric and log-concave
        return min(bound, reach_along(noise, ((shape[0][0], -(-terms // unit) * unit),), level))
    weights, counts = np.array(shape, dtype=float).T
    variances = np.full(len(shape), float(_moment(noise, 2)))
    found = reach_of_geometrics(variances, weights, counts, level, Fraction(gcd(*(entry for entry, _ in shape))))
    return bound if found is None else min(bound, found)


def _gaussian_reach(variance: Fraction, squares: Fraction, rest: Fraction, part: Fraction) -> Fraction:
    """What Σ f·g and Σ f·r exceed with a probability of (1 − part)·rest and part·rest."""
    far = enclose(lambda: -normal_quantile(of_fraction(rest * (1 - part) / 2))).upper
    return sqrt_above(squares * variance * far**2) + sqrt_above(squares * ln_above(2 / (rest * part)) / 2)


@lru_cache(maxsize=256)
def _moment(noise: IntegerNoise, order: int) -> Fraction:
    return noise.moment(order).upper


def _chernoff(rate: Exact, count: Fraction, needed: Fraction) -> Fraction:
    """(ln(2/rest) + n·ln E e^(λX))/λ at a good λ = tilt·rate, rounded up; any tilt gives a bound."""
    tilts, rough = _ROUGH_TILTS, float(rate)
    ends = np.log(-np.expm1(-rough * (1 - tilts))) + np.log(-np.expm1(-rough * (1 + tilts)))
    guesses = (np.log(float(needed)) + float(count) * (2 * np.log(-np.expm1(-rough)) - ends)) / tilts
    tilt = _TILTS[int(np.argmin(guesses))]

    def bound() -> Ball:
        step = ball_of(rate)
        ends = [(-(-step * of_fraction(1 + sign * tilt)).expm1()).log() for sign in (1, -1)]
        moment = 2 * (-(-step).expm1()).log() - ends[0] - ends[1]
        return (of_fraction(needed).log() + of_fraction(count) * moment) / (step * of_fraction(tilt))

    return enclose(bound).upper


Matrix = tuple[tuple[int, ...], ...]
_MOST_SUMMED = 32  # different rows whose law is summed up
_MOST_KINDS = 1 << 10  # weights of all different rows together, up to which all of them count for a reach


@dataclass(frozen=True)
class MappedNoise(Mechanism):
    """F·x + F·Z with independent noise Z on each cell; the truth is F·x.

    Attributes:
        matrix: F, one row per answer.
        noise: What every cell of x gets.
        cost: What x + Z costs.
    """

    name: ClassVar[str] = "noise on the cells, then the map"
    matrix: Matrix
    noise: IntegerNoise
    cost: Event

    @property
    def event(self) -> Event:
        """That of x + Z."""
        return self.cost

    @cached_property
    def _array(self) -> np.ndarray[Any, np.dtype[Any]]:
        return np.array(self.matrix, dtype=object)

    @property
    def shapes(self) -> list[RowShape]:
        """What the noise of each row depends on."""
        return _shapes(self.matrix)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """The vector plus mapped noise; with `size` that many of them along new first axes."""
        true, shape = read_whole_vector(truth, len(self.matrix)), shape_of(size)
        noise = self.noise.noise((prod(shape), len(self.matrix[0])), source).astype(object)
        return (noise @ self._array.T + true.astype(object)).reshape((*shape, len(self.matrix)))

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth), for a matrix in which each output comes from one noise only: it has independent columns.

        Raises:
            BadParameter: The columns are dependent.
        """
        drawn, true = read_whole_vector(output, len(self.matrix)), read_whole_vector(truth, len(self.matrix))
        difference = [int(y) - int(x) for y, x in zip(drawn, true, strict=True)]
        matrix = RationalMatrix(self.matrix)
        if matrix.rank() < len(self.matrix[0]):
            raise BadParameter(
                "several noises on the cells lead to the same answers, and their law has no closed form here",
                fix="use the law of the noise on the cells",
            )
        solved = matrix.solve(RationalMatrix([[entry] for entry in difference]))
        if solved is None or any(row[0].denominator != 1 for row in solved.rows):
            return Enclosure(Fraction(0), Fraction(0))
        masses = [self.noise.noise_pmf(int(row[0]), bits) for row in solved.rows]
        one = Fraction(1)
        return Enclosure(prod((p.lower for p in masses), start=one), prod((p.upper for p in masses), start=one))

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """The expected ℓ₁ error, at most, and the error of the worst single answer at a level."""
        counted = Counter(self.shapes)
        summed = sum(not is_plain(shape) for shape in counted) <= _MOST_SUMMED
        expected = [scaled(mean_along(self.noise, shape, summed), count) for shape, count in counted.items()]
        total = Enclosure(sum((e.lower for e in expected), Fraction(0)), sum((e.upper for e in expected), Fraction(0)))
        return ErrorEstimate("l1", total, {level: max(self.reaches(level))}, attained=False)

    def reaches(self, level: Fraction = LEVEL) -> list[Fraction]:
        """For each answer an error that it does not exceed with this probability; 0 where so surely none is drawn."""
        shapes, loud = set(self.shapes), self.noise.moment(0).upper
        kinds, found = sum(len(shape) for shape in shapes if not is_plain(shape)), dict[RowShape, Fraction]()
        for shape in shapes:
            if loud * sum(count for _, count in shape) <= 1 - level:
                found[shape] = Fraction(0)
            elif is_plain(shape) or kinds <= _MOST_KINDS:
                found[shape] = reach_along(self.noise, shape, level)
            else:
                found[shape] = reach_of(self.noise, *map(Fraction, _spread(shape)), level)
        return [found[shape] for shape in self.shapes]

    def reason(self) -> Reason:
        """Post-processing is free."""
        return Reason(
            "the histogram is released once and the answers are computed from it, at no further cost",
            "Dwork and Roth 2014, Proposition 2.1; compared with noise on the answers by expected error",
        )

    def certificate(self) -> Certificate:
        """That of one cell."""
        return self.noise.certificate()


@lru_cache(maxsize=4)
def _shapes(matrix: Matrix) -> list[RowShape]:
    return [tuple(sorted(Counter(abs(entry) for entry in row if entry).items())) for row in matrix]


def _spread(shape: RowShape) -> tuple[int, int]:
    """The sum of the squares of the weights, and the largest."""
    return sum(entry**2 * count for entry, count in shape), shape[-1][0] if shape else 0

"""Noise on the cells of a histogram, carried through a linear map: F·(x + Z) for a question F·x.

What is private is x + Z, and F is public, so the map costs nothing. It wins where the answers overlap much less than
they are many, and it makes answers that agree with each other. E|Σ f_i·Z_i| along a row is computed from the law of
the noise, or bounded by the root of its variance; the 95 % error by Chernoff's bound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import prod
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact.arrays import Size, shape_of
from leastnoise.exact.balls import Ball, of_fraction
from leastnoise.exact.enclosures import Enclosure, enclose, ln_above, sqrt_above
from leastnoise.exact.matrices import RationalMatrix
from leastnoise.exact.numbers import Exact, ball_of
from leastnoise.exact.sources import Source
from leastnoise.mechanisms.numeric import DiscreteGaussian, Geometric
from leastnoise.mechanisms.numeric.answers import whole_vector
from leastnoise.mechanisms.numeric.integer_noise import LEVEL
from leastnoise.mechanisms.vector import CrossPolytope
from leastnoise.model.certificate import Certificate
from leastnoise.model.events import Event
from leastnoise.model.mechanism import ErrorEstimate, Mechanism, Reason

__all__ = ["MappedNoise", "Matrix"]

Matrix = tuple[tuple[int, ...], ...]
Shape = tuple[tuple[int, int], ...]  # the distinct |entries| of a row that are not zero, with how often they occur
_TILTS = [Fraction(k, 16) for k in range(1, 16)] + [Fraction(1, 2**j) for j in range(5, 12)]
_LONGEST_ROW = 512  # entries for which the law along a row is computed


@dataclass(frozen=True)
class MappedNoise(Mechanism):
    """F·x + F·Z with independent noise Z on each cell; the answer is F·x.

    Attributes:
        matrix: F, one row per answer.
        noise: What every cell of x gets.
        event: What x + Z costs.
    """

    name: ClassVar[str] = "noise on the cells, then the map"
    matrix: Matrix
    noise: Geometric | DiscreteGaussian
    event: Event

    @property
    def privacy(self) -> Event:
        """That of x + Z."""
        return self.event

    @cached_property
    def _array(self) -> np.ndarray[Any, np.dtype[Any]]:
        return np.array(self.matrix, dtype=object)

    @cached_property
    def shapes(self) -> list[Shape]:
        """What the noise of each row depends on."""
        return [tuple(sorted(Counter(abs(entry) for entry in row if entry).items())) for row in self.matrix]

    def draw(self, answer: Any, size: Size = None, source: Source | None = None) -> Any:
        """The vector plus mapped noise; with `size` that many of them along new first axes."""
        true, shape = whole_vector(answer, len(self.matrix)), shape_of(size)
        noise = self.noise.noise((prod(shape), len(self.matrix[0])), source).astype(object)
        return (noise @ self._array.T + true.astype(object)).reshape((*shape, len(self.matrix)))

    def pmf(self, output: Hashable, answer: Any, bits: int = 64) -> Enclosure:
        """P(output | answer), for a matrix in which each output comes from one noise only: it has independent columns.

        Raises:
            BadParameter: The columns are dependent.
        """
        drawn, true = whole_vector(output, len(self.matrix)), whole_vector(answer, len(self.matrix))
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

    def error(self) -> ErrorEstimate:
        """The expected ℓ₁ error, at most, and 95 % error of the worst single answer."""
        expected = [mean_along(self.noise, shape) for shape in self.shapes]
        total = Enclosure(sum((e.lower for e in expected), Fraction(0)), sum((e.upper for e in expected), Fraction(0)))
        return ErrorEstimate("l1", total, {LEVEL: max(self.reaches())}, attained=False)

    def reaches(self) -> list[Fraction]:
        """For each answer an error that it does not exceed with 95 % probability."""
        return [reach_along(self.noise, shape) for shape in self.shapes]

    def why(self) -> Reason:
        """Post-processing is free."""
        return Reason(
            "the histogram is released once and the answers are computed from it, at no further cost",
            "Dwork and Roth 2014, Proposition 2.1; compared with noise on the answers by expected error",
        )

    def certificate(self) -> Certificate:
        """That of one cell."""
        return self.noise.certificate()


@lru_cache(maxsize=4096)
def mean_along(noise: Geometric | DiscreteGaussian, shape: Shape) -> Enclosure:
    """E|Σ f_i·Z_i|, or an upper bound of it."""
    if not shape:
        return Enclosure(Fraction(0), Fraction(0))
    if len(shape) == 1 and shape[0][1] == 1:
        one = noise.moment(1)
        return Enclosure(one.lower * shape[0][0], one.upper * shape[0][0])
    entries = [entry for entry, count in shape for _ in range(count)]
    if isinstance(noise, Geometric) and len(entries) <= _LONGEST_ROW:
        try:
            return CrossPolytope(len(entries)).mean_absolute_along(entries, noise.rate)
        except TooLarge:
            pass
    variance = sum(entry**2 * count for entry, count in shape) * noise.moment(2).upper
    return Enclosure(Fraction(0), sqrt_above(variance))


@lru_cache(maxsize=4096)
def reach_along(noise: Geometric | DiscreteGaussian, shape: Shape) -> Fraction:
    """A t with P(|Σ f_i·Z_i| > t) ≤ 1/20, by P ≤ 2·E e^(λΣ)·e^(−λt).

    The discrete Gaussian has E e^(λY) ≤ e^(λ²σ²/2) (Canonne, Kamath and Steinke 2020, Corollary 17), which gives
    t = σ‖f‖·√(2·ln 40); discrete Laplace noise has E e^(λX) = (1 − α)²/((1 − αe^λ)(1 − αe^-λ)).
    """
    if not shape:
        return Fraction(0)
    if len(shape) == 1 and shape[0][1] == 1:
        return Fraction(noise.quantile() * shape[0][0])
    needed = 2 / (1 - LEVEL)
    if isinstance(noise, DiscreteGaussian):
        squares = sum(entry**2 * count for entry, count in shape)
        return sqrt_above(2 * noise.sigma_squared * squares * ln_above(needed))
    largest = shape[-1][0]
    return min(_chernoff(noise.rate, shape, tilt / largest, needed) for tilt in _TILTS)


def _chernoff(rate: Exact, shape: Shape, tilt: Fraction, needed: Fraction) -> Fraction:
    """(ln(2/rest) + Σ ln E e^(λ·f_i·X))/λ at λ = tilt·rate, rounded up."""

    def bound() -> Ball:
        step = ball_of(rate)
        total = of_fraction(needed).log()
        for entry, count in shape:
            both = sum(((1 - (-step * of_fraction(1 + sign * tilt * entry)).exp()).log() for sign in (1, -1)), 0 * step)
            total += count * (2 * (1 - (-step).exp()).log() - both)
        return total / (step * of_fraction(tilt))

    return enclose(bound).upper

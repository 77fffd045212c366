"""Noise on the cells of a histogram, carried through a linear map: F·(x + Z) for a question F·x.

What is private is x + Z, and F is public, so the map costs nothing. It wins where the answers overlap much less than
they are many, and it makes answers that agree with each other. How large Σ f_i·Z_i is along a row: `linear_noise`.
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

from leastnoise.errors import BadParameter
from leastnoise.exact.arrays import Size, shape_of
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.formulas import scaled
from leastnoise.exact.matrices import RationalMatrix
from leastnoise.exact.sources import Source
from leastnoise.mechanisms.histogram.linear_noise import Shape, is_plain, mean_along, reach_of
from leastnoise.mechanisms.numeric import DiscreteGaussian, Geometric
from leastnoise.mechanisms.truths import read_whole_vector
from leastnoise.model.certificate import Certificate
from leastnoise.model.events import Event
from leastnoise.model.mechanism import LEVEL, ErrorEstimate, Mechanism, Reason

__all__ = ["MappedNoise", "Matrix"]

Matrix = tuple[tuple[int, ...], ...]
_MOST_SUMMED = 32  # different rows whose law is summed up


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
    noise: Geometric | DiscreteGaussian
    cost: Event

    @property
    def event(self) -> Event:
        """That of x + Z."""
        return self.cost

    @cached_property
    def _array(self) -> np.ndarray[Any, np.dtype[Any]]:
        return np.array(self.matrix, dtype=object)

    @property
    def shapes(self) -> list[Shape]:
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

    def error(self) -> ErrorEstimate:
        """The expected ℓ₁ error, at most, and 95 % error of the worst single answer."""
        counted = Counter(self.shapes)
        summed = sum(not is_plain(shape) for shape in counted) <= _MOST_SUMMED
        expected = [scaled(mean_along(self.noise, shape, summed), count) for shape, count in counted.items()]
        total = Enclosure(sum((e.lower for e in expected), Fraction(0)), sum((e.upper for e in expected), Fraction(0)))
        return ErrorEstimate("l1", total, {LEVEL: max(self.reaches())}, attained=False)

    def reaches(self) -> list[Fraction]:
        """For each answer an error that it does not exceed with 95 % probability."""
        spreads = {shape: _spread(shape) for shape in set(self.shapes)}
        found = {spread: reach_of(self.noise, *map(Fraction, spread)) for spread in set(spreads.values())}
        return [found[spreads[shape]] for shape in self.shapes]

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
def _shapes(matrix: Matrix) -> list[Shape]:
    return [tuple(sorted(Counter(abs(entry) for entry in row if entry).items())) for row in matrix]


def _spread(shape: Shape) -> tuple[int, int]:
    """The sum of the squares of the weights, and the largest."""
    return sum(entry**2 * count for entry, count in shape), shape[-1][0] if shape else 0

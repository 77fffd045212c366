"""Sorted counts by discrete Laplace noise on each, followed by the nearest decreasing list.

Sorting and cutting a histogram keeps its ℓ₁ sensitivity of one, so the noise is that of a single count. The regression
looks at nothing else (Hay, Rastogi, Miklau and Suciu, VLDB 2010): it averages the noise away where counts are equal.

The nearest decreasing list of whole numbers is found exactly, by pooling adjacent violators. A pool is known by its sum
and its length, both whole, and two pools are compared by cross-multiplication. Neighbours whose means do not decrease
lie in one pool of the solution (Robertson, Wright and Dykstra 1988, section 1.2), so all such chains are pooled at
once, round by round; the few pools that are left then go through the classical stack. Where products of sums and
lengths could leave 64 bits, all goes through the stack, in Python's integers.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Size,
    Source,
    read_epsilon,
    read_integer,
    require_secure,
    shape_of,
    system_source,
)
from leastnoise.mechanisms.combinatorial.sorted_counts.diagram import LARGEST_COUNT, Integers, read_counts
from leastnoise.mechanisms.combinatorial.sorted_counts.shift_chain import Progress
from leastnoise.mechanisms.lower_bounds import sorted_counts_bound
from leastnoise.mechanisms.numeric.vector_laplace import VectorLaplace
from leastnoise.model import LEVEL, Certificate, ErrorEstimate, LaplaceNoise, Mechanism, Reason

__all__ = ["MOST_COUNTS", "IsotonicCounts", "decreasing_pools", "nearest_counts"]

_WORTH_A_ROUND = 0.95  # rounds go on while they shorten the list by a twentieth
_LARGEST = 2.0**60  # products of a sum and a length, taken twice, stay within 64 bits


def decreasing_pools(numbers: Integers) -> tuple[Integers, Integers]:
    """Sums and lengths of the pools of the least-squares fit by a non-increasing list.

    >>> [part.tolist() for part in decreasing_pools(np.array([5, 7, 3, 3, 4, 1]))]
    [[12, 10, 1], [2, 3, 1]]
    """
    lengths = np.ones(len(numbers), dtype=np.int64)
    if numbers.dtype == object or float(np.abs(numbers.astype(np.float64)).sum()) * len(numbers) >= _LARGEST:
        return _by_stack(numbers, lengths)
    sums = numbers.astype(np.int64)
    while len(sums) > 1:
        starts = np.flatnonzero(np.append(True, sums[:-1] * lengths[1:] > sums[1:] * lengths[:-1]))
        short = len(starts) > _WORTH_A_ROUND * len(sums)
        sums, lengths = np.add.reduceat(sums, starts), np.add.reduceat(lengths, starts)
        if short:
            break
    return _by_stack(sums, lengths)


def nearest_counts(numbers: Integers) -> Integers:
    """The pools' means, rounded to the nearest whole number (halves down) and to at least zero, one for each entry.

    >>> nearest_counts(np.array([5, 7, 3, 3, 4, -1])).tolist()
    [6, 6, 3, 3, 3, 0]
    """
    sums, lengths = decreasing_pools(numbers)
    means = np.maximum(-((lengths - 2 * sums) // (2 * lengths)), 0)
    return np.repeat(means, lengths)


def _by_stack(sums: Integers, lengths: Integers) -> tuple[Integers, Integers]:
    pools: list[tuple[int, int]] = []
    for pool_sum, length in zip(sums.tolist(), lengths.tolist(), strict=True):
        while pools and pools[-1][0] * length <= pool_sum * pools[-1][1]:
            earlier = pools.pop()
            pool_sum, length = pool_sum + earlier[0], length + earlier[1]
        pools.append((pool_sum, length))
    return _integers([pool[0] for pool in pools]), np.array([pool[1] for pool in pools], dtype=np.int64)


def _integers(numbers: list[int]) -> Integers:
    """64 bits wide where no product of two of them with a small number could leave them, else Python's own."""
    wide = max(map(abs, numbers), default=0) >= _LARGEST
    return np.array(numbers, dtype=object if wide else np.int64)


MOST_COUNTS = 10**8  # more do not fit into memory


@dataclass(frozen=True, init=False)
class IsotonicCounts(Mechanism):
    """The `longest` largest counts, noisy and put in order. The truth is the list of counts, in any order.

    Each count is clamped to [0, 2^60], which keeps neighbours neighbours (see `read_counts`): no list is refused.

    Args:
        epsilon: The privacy of one release, where a neighbour has one record more or less.
        total: How many records the lower bound is stated for, at most; it does not change the law.
        longest: How many counts are released, public; missing ones count as zero. How many distinct things occur is
            private, so it must not be taken from the data.

    >>> top = IsotonicCounts("ln(3)", total=1000, longest=3)
    >>> top.release([520, 311, 12, 1, 1]).shape, top.error().expected
    ((3,), Enclosure(15/4))
    """

    name: ClassVar[str] = "geometric noise with isotonic regression"
    epsilon: Exact
    total: int
    longest: int

    def __init__(self, epsilon: NumberLike, total: NumberLike, longest: NumberLike) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(epsilon))
        object.__setattr__(self, "total", read_integer(total, "total", at_least=1, at_most=LARGEST_COUNT))
        object.__setattr__(self, "longest", read_integer(longest, "longest", at_least=1, at_most=MOST_COUNTS))

    @property
    def event(self) -> LaplaceNoise:
        """epsilon, with the loss of one geometric count: a record changes one entry of the sorted list."""
        return LaplaceNoise(self.epsilon)

    @property
    def noise(self) -> VectorLaplace:
        """What is drawn before the regression."""
        return VectorLaplace(self.epsilon, self.longest)

    def release(self, truth: Any, source: Source | None = None, progress: Progress | None = None) -> Any:
        """One list, with unpredictable noise only; `progress` is called with the share of the work that is done."""
        return self.draw(truth, source=require_secure(source), progress=progress)

    def draw(
        self, truth: Any, size: Size = None, source: Source | None = None, progress: Progress | None = None
    ) -> Any:
        """`longest` whole counts, largest first; with `size` a list of such lists."""
        heights, columns = read_counts(truth, self.longest)
        true = np.repeat(heights, columns)
        padded = np.pad(true, (0, self.longest - len(true)))
        lists: list[NDArray[np.int64]] = []
        for _ in range(prod(shape_of(size))):
            noisy = self.noise.draw(padded, source=source or system_source)
            if progress is not None:
                progress(0.5)
            lists.append(nearest_counts(noisy))
            if progress is not None:
                progress(1.0)
        return lists[0] if size is None else lists

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:  # noqa: ARG002 - as for all mechanisms
        """There is no formula: many noisy lists lead to the same one.

        Raises:
            BadParameter: Always.
        """
        raise BadParameter(
            "the law of a list after isotonic regression has no closed form", fix="ask for that of the noise: noise.pmf"
        )

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """At most what the noise alone costs, and half a unit for rounding each count; far less where counts are equal.

        The regression never moves a list away from a decreasing one (Robertson, Wright and Dykstra 1988, Theorem
        1.6.1), and rounding to whole numbers at most doubles an error, or adds ½.
        """
        noise, far = self.noise.error(), Fraction(self.noise.quantile(level))
        half = Fraction(self.longest, 2)
        bounds = [min(2 * end, end + half) for end in (noise.expected.lower, noise.expected.upper)]
        quantile = min(2 * far, Fraction(ceil(far + half)))
        return ErrorEstimate("l1", Enclosure(*bounds), {level: quantile}, attained=False)

    def reason(self) -> Reason:
        """For a short list of large counts nothing is better."""
        return Reason(
            "on a short list of counts that lie far apart the noise of each count is the least that is private, and "
            "the regression only lowers the error",
            "Hay, Rastogi, Miklau and Suciu, VLDB 2010; Aldà and Simon, CSCML 2017, Theorem 3",
            sorted_counts_bound(self.total, self.epsilon, self.longest),
        )

    def certificate(self) -> Certificate:
        """That of the noise, which is all that sees the data."""
        return self.noise.certificate()

"""The law along a line: T^t of the boundary's distribution, t steps into a region, drawn exactly at any depth.

A prefix sum after t steps is a rational whose length grows with t, so it is enclosed and not written out: a uniform
number is revealed bit by bit until it is clear between which prefix sums it falls. The law is the exact one for every
t. How long that takes depends a little on t, and so does not hide it from someone with a precise clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact import Enclosure, InverseTable, Law, NumberLike, Source, Thresholds
from leastnoise.mechanisms.rainbow.closed_form import after, prefix_sum_after
from leastnoise.mechanisms.rainbow.rainbow_operator import Distribution, Operator, prefix_sums, read_distribution

__all__ = ["PathLaw"]

_STEP = 8  # bits of the uniform number revealed at a time
_SPARE = 2
_FEW = 256  # draws that are not worth a table


@dataclass(frozen=True, init=False)
class PathLaw:
    """One region, folded up: every dataset at distance t from its boundary has the law T^t(boundary).

    Args:
        operator: T, with its ε and δ.
        boundary: The distribution at distance 0, best colour first.

    >>> line = PathLaw(Operator("ln(2)"), ["1/3", "2/3"])
    >>> line.law(2), line.chance(0, 10**6).upper > 1 - Fraction(1, 10**15)
    ((Fraction(5, 6), Fraction(1, 6)), True)
    """

    operator: Operator
    boundary: Distribution

    def __init__(self, operator: Operator, boundary: Sequence[NumberLike]) -> None:
        operator.require_corrected()
        object.__setattr__(self, "operator", operator)
        object.__setattr__(self, "boundary", read_distribution(boundary, "boundary"))

    def law(self, distance: int) -> Distribution:
        """The distribution at a distance, best colour first, as exact rationals."""
        return after(self.operator, self.boundary, distance)

    def chance(self, rank: int, distance: int, bits: int = 64) -> Enclosure:
        """The probability of the colour of this rank (0 is the best): exact if cheap, else within 2^-bits."""
        ends = prefix_sums(self.boundary)
        high = self._prefix_sum(ends[rank], distance, bits + 1)
        if rank == 0:
            return high
        low = self._prefix_sum(ends[rank - 1], distance, bits + 1)
        return Enclosure(max(Fraction(0), high.lower - low.upper), min(Fraction(1), high.upper - low.lower))

    def draw(self, distance: int, count: int, source: Source) -> NDArray[np.int64]:
        """`count` independent ranks (0 is the best colour) at this distance."""
        thresholds = self._thresholds(distance)
        if count > _FEW:
            return InverseTable(thresholds).draw(count, source).astype(np.int64)
        return np.array([_reveal(thresholds, source) for _ in range(count)], dtype=np.int64)

    def _prefix_sum(self, start: Fraction, distance: int, bits: int) -> Enclosure:
        if start == 0 and self.operator.delta == 0:
            return Enclosure(start, start)
        return prefix_sum_after(self.operator, start, distance, bits)

    def _thresholds(self, distance: int) -> Law:
        """The prefix sums but the last as thresholds: the outcome is how many of them a uniform number reaches."""

        def at(bits: int) -> Thresholds:
            sums = [self._prefix_sum(s, distance, bits + _SPARE) for s in prefix_sums(self.boundary)[:-1]]
            return Thresholds(0, [floor(s.lower * 2**bits) for s in sums], [ceil(s.upper * 2**bits) for s in sums])

        return at


def _reveal(thresholds: Law, source: Source) -> int:
    word, bits, outcome = 0, 0, None
    while outcome is None:
        word, bits = (word << _STEP) | source.bits(_STEP), bits + _STEP
        outcome = thresholds(bits).decide(word)
    return outcome

"""A private quantile anywhere in an interval, by inverse sensitivity through order statistics.

The continuous law has density ∝ e^(−(ε/2)·changes(r)) on [lower, upper], constant between two order statistics. Here
the interval is a public lattice of 2^20 steps, or finer: the records are rounded to it, and a run of points between
two order statistics has as weight its exact number of points. So the law is exact, and ties need no special care.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike, read_epsilon, read_integer
from leastnoise.mechanisms.rank.lattice import Interval, read_interval
from leastnoise.mechanisms.rank.quantile import LatticeQuantile
from leastnoise.mechanisms.rank.rank_law import read_level

__all__ = ["IntervalQuantile"]


@dataclass(frozen=True, init=False)
class IntervalQuantile(LatticeQuantile):
    """The median or another quantile of numbers in [lower, upper]. The truth is the list of the numbers.

    Args:
        epsilon: The privacy of one release.
        lower: Public; smaller values count as this one.
        upper: Public; larger values count as this one.
        level: Which quantile, between 0 and 1.
        step: The distance of two lattice points; 2^-20 of the width if left out. A finer lattice costs (2/ε)·ln of the
            refinement in records where values repeat, and nothing where they do not.
        records: How many records there are, where that is public: then a neighbour exchanges one of them. Without it
            their number is private too, and a neighbour has one record more or less.
        missing: What NaN and None count as; `lower` if left out. Infinite values count as the nearer bound.

    Raises:
        UnboundedData: A bound is missing or infinite.

    >>> IntervalQuantile("2*ln(3)", 0, 1, step=0.25, records=1).pmf(0.5, [0.45])
    Enclosure(3/7)
    """

    name: ClassVar[str] = "private quantile on an interval"
    epsilon: Exact
    level: Fraction
    lattice: Interval
    records: int | None
    missing: Fraction

    def __init__(
        self,
        epsilon: NumberLike,
        lower: NumberLike | None = None,
        upper: NumberLike | None = None,
        level: NumberLike = Fraction(1, 2),
        *,
        step: NumberLike | None = None,
        records: NumberLike | None = None,
        missing: NumberLike | None = None,
    ) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(epsilon))
        object.__setattr__(self, "lattice", read_interval(lower, upper, step))
        object.__setattr__(self, "level", read_level(level))
        object.__setattr__(self, "records", None if records is None else read_integer(records, "records", at_least=1))
        object.__setattr__(self, "missing", self.lattice.read_missing(missing))

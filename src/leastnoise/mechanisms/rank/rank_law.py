"""The law that all private quantiles share: each lattice point weighed by how many records stand against it.

A point r is a q-quantile of n records if at most q·n of them lie below r and at most (1 − q)·n above. The mechanism is
P(r) ∝ e^(−(ε/2)·changes(r)), with changes(r) the number of records that stand in the way of r being a q-quantile
(Tóthmérész 2013, Definition 2.5, with the sign put right).

With L records below r and G above, excess(r) = max(0, L − q·n, G − (1 − q)·n). Where the number of records is public
and a neighbour exchanges one, changes(r) = ⌈excess(r)⌉ is the least number of records to exchange. Where a neighbour
has one record more or less, one of them changes the excess by at most max(q, 1 − q), and
changes(r) = ⌈excess(r)/max(q, 1 − q)⌉: the least number to add or remove for the median, and at most one less than
that for other levels. Either way a neighbour's changes(r) differs by at most one.

Points with the same number of changes form two runs, one on each side, that end at order statistics. So the law is a
choice among runs, weighed by their length, and then a uniform point of the run: it takes the order statistics near
the quantile and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact.enclosures import Enclosure, enclose, ln_above
from leastnoise.exact.numbers import Exact, LogSum, exact_exp
from leastnoise.exact.parameters import NumberLike, read_rational
from leastnoise.exact.samplers.categorical_exp import categorical_exp, categorical_exp_pmf
from leastnoise.exact.samplers.core_first import categorical_exp_core_first
from leastnoise.exact.samplers.uniform import uniform_integer
from leastnoise.exact.sources import Source

__all__ = ["Order", "Places", "RankLaw", "RankRule", "Runs", "order_within", "read_level"]

Places = NDArray[np.int64]
Order = Callable[[int, int], Places]  # the order statistics of two ranks and all between, counted from one

_LARGEST_DENOMINATOR = 10**9
_MOST_RECORDS = 10**9  # ranks times denominators stay within 64 bits
_REST_EXPONENT = 45  # what lies beyond the reach has a share below e^-45 < 2^-64


def order_within(places: Places) -> Order:
    """The order statistics of places that are sorted already."""
    return lambda low, high: places[low - 1 : high]


def read_level(level: NumberLike) -> Fraction:
    """Read which quantile is asked for, strictly between 0 and 1.

    >>> read_level(0.25)
    Fraction(1, 4)
    """
    number = read_rational(level, "level", above=0, below=1)
    if number.denominator > _LARGEST_DENOMINATOR:
        raise BadParameter("level must have at most nine digits", given=number, fix="round it")
    return number


@dataclass(frozen=True)
class RankRule:
    """How many records must change for a point to be the quantile.

    Attributes:
        level: Which quantile, q.
        exchange: Whether a neighbour exchanges one record (their number is public) or has one more or less.
    """

    level: Fraction
    exchange: bool

    @property
    def unit(self) -> int:
        """How much one change lowers the excess, as a multiple of 1/denominator of the level."""
        top, bottom = self.level.numerator, self.level.denominator
        return bottom if self.exchange else max(top, bottom - top)

    def changes(self, below: Places, above: Places, records: int) -> Places:
        """The number of changes for points with so many of the records below and above them.

        >>> rule = RankRule(Fraction(1, 2), exchange=True)
        >>> rule.changes(np.array([0, 1, 3]), np.array([3, 1, 0]), 3).tolist()
        [2, 0, 2]
        """
        top, bottom = self.level.numerator, self.level.denominator
        excess = np.maximum(bottom * below - top * records, bottom * above - (bottom - top) * records)
        return -(-np.maximum(excess, 0) // self.unit)

    def most_changes(self, records: int) -> int:
        """The largest number of changes that a point can need."""
        top, bottom = self.level.numerator, self.level.denominator
        return -(-max(top, bottom - top) * records // self.unit)

    def ranks(self, changes: Places, records: int) -> tuple[Places, Places]:
        """Points that need at most so many changes lie between the order statistics of these two ranks.

        A rank below one stands for the first lattice point, one above the number of records for the last.
        """
        top, bottom = self.level.numerator, self.level.denominator
        low = records - ((bottom - top) * records + self.unit * changes) // bottom
        high = (top * records + self.unit * changes) // bottom + 1
        return low, high


@dataclass(frozen=True)
class Runs:
    """Runs of lattice points with the same number of changes: run 0 needs none, runs 2t − 1 and 2t need t."""

    starts: Places
    lengths: Places

    @property
    def exponents(self) -> Places:
        """Minus the number of changes of each run."""
        return -((np.arange(len(self.lengths)) + 1) // 2)

    def run_of(self, place: int) -> int:
        """The run that a point lies in."""
        inside = (self.starts <= place) & (place < self.starts + self.lengths)
        return int(np.flatnonzero(inside)[0])


@dataclass(frozen=True)
class RankLaw:
    """P(place) ∝ e^(−rate·changes(place)) on the places 0, …, top."""

    rule: RankRule
    rate: Exact
    top: int

    @property
    def reach(self) -> int:
        """Points that need more changes than this have a total share below 2^-64: (top + 1)·e^(−rate·(reach + 1))."""
        return ceil((ln_above(self.top + 1) + _REST_EXPONENT) / _rational_below(self.rate))

    def runs(self, order: Order, records: int, changes: int) -> Runs:
        """All runs of points that need at most so many changes."""
        low, high = self.rule.ranks(np.arange(changes + 1), records)
        first, last = max(int(low[-1]), 1), min(int(high[-1]), records)
        statistics = np.concatenate([[0], order(first, last), [self.top]]) if records else np.array([0, self.top])
        bottoms = statistics[np.clip(low, first - 1, None) - (first - 1)]
        tops = statistics[np.clip(high, None, last + 1) - (first - 1)]
        starts, lengths = np.empty((2, 2 * changes + 1), dtype=np.int64)
        starts[0], lengths[0] = bottoms[0], tops[0] - bottoms[0] + 1
        starts[1::2], lengths[1::2] = tops[:-1] + 1, np.diff(tops)
        starts[2::2], lengths[2::2] = bottoms[1:], -np.diff(bottoms)
        return Runs(starts, lengths)

    def draw(self, order: Order, records: int, count: int, source: Source | None) -> Places:
        """`count` independent places."""
        if records > _MOST_RECORDS:
            raise TooLarge("there are more than 10^9 records", fix="take a sample of them")
        most = self.rule.most_changes(records)
        near = min(self.reach, most)
        runs = self.runs(order, records, near)
        if near == most:
            chosen = categorical_exp(runs.exponents, runs.lengths, count, source, rate=self.rate)
        else:
            everything = cache(lambda: self.runs(order, records, most))
            core = len(runs.lengths)

            def rest() -> tuple[Places, Places]:
                return everything().exponents[core:], everything().lengths[core:]

            chosen = categorical_exp_core_first(
                runs.exponents, runs.lengths, rest, Fraction(1, 2**64), count, source, rate=self.rate
            )
            if (chosen >= core).any():
                runs = everything()
        within: Places = uniform_integer(runs.lengths[chosen], source=source)
        return runs.starts[chosen] + within

    def pmf(self, place: int, places: Places, bits: int = 64) -> Enclosure:
        """P(place) for records at sorted places; exact where e^rate is rational."""
        runs = self.runs(order_within(places), len(places), self.rule.most_changes(len(places)))
        run = runs.run_of(place)
        step = exact_exp(-self.rate)
        if step is None:
            share = categorical_exp_pmf(run, runs.exponents, runs.lengths, bits, rate=self.rate)
            length = int(runs.lengths[run])
            return Enclosure(share.lower / length, share.upper / length)
        weights = [step ** -int(exponent) for exponent in runs.exponents]
        total = sum(w * int(length) for w, length in zip(weights, runs.lengths, strict=True))
        return Enclosure(weights[run] / total, weights[run] / total)


def _rational_below(rate: Exact) -> Fraction:
    return enclose(rate.ball).lower if isinstance(rate, LogSum) else rate

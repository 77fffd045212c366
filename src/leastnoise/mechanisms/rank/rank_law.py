"""The law that all private quantiles share: each lattice point weighed by how many records stand against it.

A point r is a q-quantile of n records if at most q·n of them lie below r and at most (1 − q)·n above. The mechanism is
P(r) ∝ e^(−(ε/2)·changes(r)), with changes(r) the number of records that stand in the way of r being a q-quantile
(Tóthmérész 2013, Definition 2.5, with the sign put right); where it is below zero, r is one and so many records may
change before it is none.

With L records below r and G above, excess(r) = max(L − q·n, G − (1 − q)·n). Where the number of records is public and a
neighbour exchanges one, changes(r) = ⌈excess(r)⌉: above zero it is the least number of records to exchange. Where a
neighbour has one record more or less, one of them changes the excess by at most max(q, 1 − q), and changes(r) =
⌈excess(r)/max(q, 1 − q)⌉: the least number to add or remove for the median, and at most one less than that for other
levels. Either way a neighbour's changes(r) differs by at most one.

To count below zero costs no privacy and lowers the error. The answer is the point with the least rate·changes(r) less a
noise that does not depend on the records. With the same noise, max(0, changes) would give the same point or one that is
no quantile more often: below zero only what is right gains (docs/theory/quantile.md, Ties). Where many records share a
value, the points around it are told apart by up to twice as much.

A record between two points. Let changes'(r) be the number where every record has first moved to its nearest point, and
changes(r) ≥ changes'(r) that of the records as they lie. The law weighs by min(changes(r), changes'(r) + spare). So
where few records share a nearest point, ranks are the true ones; and where many lie between two points, the nearer
point needs at most `spare` changes, so that some point always does. Either number differs by at most one for a
neighbour, so the lesser of them does too.

The margin moves the rank that is aimed at: m records above q·n in place of q·n. It is public, so a neighbour's
changes(r) differs by at most one all the same. The minimum, q = 0, is aimed at so deep inside that the points below all
records, which nothing stands against, seldom win; with few records the target is min(m, ⌊n/2⌋), which one record more
moves the way it moves L, F = n − G or neither, by at most one.

Points with the same number of changes form two runs, one on each side, that end at order statistics. So the law is a
choice among runs, weighed by their length, and then a uniform point of the run: it takes the order statistics near the
quantile and nothing else. Any number of records is answered: where ranks times denominators could leave 64 bits they
are Python's integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Source,
    categorical_exp,
    categorical_exp_core_first,
    categorical_exp_pmf,
    exact_exp,
    ln_above,
    permute_and_flip,
    permute_and_flip_pmf,
    rational_below,
    read_rational,
    uniform_integer,
)
from leastnoise.mechanisms.rank.tally import PlaceCounts, Places

__all__ = [
    "RankLaw",
    "RankRule",
    "Records",
    "Runs",
    "inwards",
    "read_level",
]

_LARGEST_DENOMINATOR = 10**9
_REST_EXPONENT = 45  # what lies beyond the reach has a share below e^-45 < 2^-64
_SPARE_EXPONENT = 4  # where many records lie between two points, the nearer one keeps all but e^4 of its odds
_NARROW = 1 << 62
_LARGEST_POWER = 10**5  # of a rational


class Records(Protocol):
    """Private records, as their places on a lattice."""

    @property
    def records(self) -> int:
        """How many there are."""

    @property
    def different(self) -> int:
        """How many different places they have, at most."""

    def selected(self, low: int, high: int) -> PlaceCounts:
        """The records of two ranks and all between, counted from one, by their places."""

    def cells(self) -> PlaceCounts:
        """Every place that has a record, and how many."""


def read_level(level: NumberLike) -> Fraction:
    """Read which quantile is asked for: 0 is the minimum, 1 the maximum.

    >>> read_level(0.25)
    Fraction(1, 4)
    """
    number = read_rational(level, "level", at_least=0, at_most=1)
    if number.denominator > _LARGEST_DENOMINATOR:
        raise BadParameter("level must have at most nine digits", given=number, fix="round it")
    return number


@dataclass(frozen=True)
class RankRule:
    """How many records must change for a point to be the quantile.

    Attributes:
        level: Which quantile, q.
        exchange: Whether a neighbour exchanges one record (their number is public) or has one more or less.
        margin: Public: the rank that is aimed at is so many records above that of the quantile, or below it.
    """

    level: Fraction
    exchange: bool
    margin: int = 0

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
        >>> rule.changes(np.array([0]), np.array([0]), 3).tolist()  # all three are there, and one may go
        [-1]
        """
        top, bottom = self.level.numerator, self.level.denominator
        below, above = (self._wide(ranks, records) for ranks in (below, above))
        shift = bottom * self._margin(records)
        excess = np.maximum(bottom * below - top * records - shift, bottom * above - (bottom - top) * records + shift)
        changes: Places = (-(-excess // self.unit)).astype(np.int64)
        return changes

    def most_changes(self, records: int) -> int:
        """The largest number of changes that a point can need."""
        top, bottom = self.level.numerator, self.level.denominator
        return -(-max(top, bottom - top) * records // self.unit)

    def ranks(self, changes: Places, records: int) -> tuple[Places, Places]:
        """Points that need at most so many changes lie between the order statistics of these two ranks.

        A rank below one stands for the first lattice point, one above the number of records for the last.
        """
        top, bottom = self.level.numerator, self.level.denominator
        moved = self.unit * self._wide(changes, records)
        low = records - ((bottom - top) * records + moved) // bottom
        high = (top * records + moved) // bottom + 1
        return low.astype(np.int64), high.astype(np.int64)

    def _wide(self, ranks: Places, records: int) -> NDArray[Any]:
        """Numbers of records, ready to be multiplied by the denominator, twice."""
        largest = 2 * self.level.denominator * (max(records, 1) + abs(self.margin))
        return ranks if largest < _NARROW else ranks.astype(object)

    def _margin(self, records: int) -> int:
        """The margin; that of a minimum or maximum ends at the median, which moves by at most one with one record."""
        if 0 < self.level < 1:
            return self.margin
        return min(self.margin, records // 2) if self.level == 0 else max(self.margin, -(records // 2))


@dataclass(frozen=True)
class Runs:
    """Runs of lattice points with the same number of changes.

    Attributes:
        starts: The first place of each run.
        lengths: How many places it has; none for some.
        exponents: Minus the score.
    """

    starts: Places
    lengths: Places
    exponents: Places

    def run_of(self, place: int) -> int:
        """The run that a point lies in."""
        inside = (self.starts <= place) & (place < self.starts + self.lengths)
        return int(np.flatnonzero(inside)[0])


@dataclass(frozen=True)
class RankLaw:
    """P(place) ∝ e^(−rate·score(place)) on the places 0, …, last; or permute-and-flip with the same rate.

    The score is min(changes(place), changes'(place) + spare).

    Attributes:
        rule: What a change is.
        rate: Of one change.
        last: The last place.
        flips: Whether the place is found by permute-and-flip, with chances e^(−rate·(score − least score)).
        anchor: A place, and a number of changes that it never needs more of; None for no such place.
    """

    rule: RankRule
    rate: Exact
    last: int
    flips: bool = False
    anchor: tuple[int, int] | None = None

    @property
    def reach(self) -> int:
        """Points that need more changes than this have a total share below 2^-64: (last + 1)·e^(−rate·(reach + 1))."""
        return ceil((ln_above(self.last + 1) + _REST_EXPONENT) / rational_below(self.rate))

    @property
    def spare(self) -> int:
        """How many changes more than by the nearest points; the error that ranks would have from them is then noise."""
        return min(ceil(_SPARE_EXPONENT / rational_below(self.rate)), _NARROW)

    def near_runs(self, records: Records, changes: int) -> tuple[Runs, int, int] | None:
        """The runs strictly between two places, and these two; None where the places beyond could have a larger share.

        The places lie about so many changes away. All records beyond are counted, so with G of them above the lower one
        and L below the upper one it is known how many changes every place beyond needs at least.
        """
        total = records.records
        (low,), (high,) = self.rule.ranks(np.array([changes]), total)
        first, last = max(int(low), 1), min(int(high), total)
        cells = records.selected(first, last)
        start, stop = int(first > 1), len(cells.places) - int(last < total)
        if start >= stop:
            return None
        sums = first - 1 + cells.sums
        before, after = int(sums[0]) if start else 0, total - int(sums[stop - 1])
        bottom = int(cells.places[0]) if start else -1
        top = int(cells.places[stop]) if stop < len(cells.places) else self.last + 1
        nothing = np.zeros(1, dtype=np.int64)
        beyond = [self.rule.changes(nothing, np.array([total - before]), total)] if start else []
        beyond += [self.rule.changes(np.array([total - after]), nothing, total)] if stop < len(cells.places) else []
        runs = self._runs(cells.part(start, stop), bottom, top, before, after)
        far = min((int(each[0]) for each in beyond), default=None)
        if far is not None and far + int(runs.exponents[runs.lengths > 0].max(initial=-far)) < self.reach:
            return None
        return runs, bottom, top

    def all_runs(self, cells: PlaceCounts) -> Runs:
        """A run for each place with records and for each gap between two: at most twice as many as places, and one."""
        return self._anchored(self._runs(cells, -1, self.last + 1, 0, 0))

    def _runs(self, cells: PlaceCounts, bottom: int, top: int, before: int, after: int) -> Runs:
        """The runs strictly between two places, of which so many records lie at or before the first, at or after."""
        ends = before + cells.sums
        records = before + cells.records + after
        starts, lengths, below, above = np.empty((4, 2 * len(cells.places) + 1), dtype=np.int64)
        starts[0], starts[2::2], starts[1::2] = bottom + 1, cells.places + 1, cells.places
        lengths[::2], lengths[1::2] = np.append(cells.places, top) - starts[::2], 1
        below[0], below[2::2], below[1::2] = before, ends, ends - cells.counts
        above[::2], above[1::2] = records - below[::2], records - ends
        scores = self.rule.changes(below, above, records)
        if cells.sides is not None:
            under, over = cells.sides
            true = self.rule.changes(below[1::2] + under, above[1::2] + over, records)
            scores[1::2] += np.minimum(true - scores[1::2], self.spare)  # min(true, nearest + spare), in 64 bits
        return Runs(starts, lengths, -scores)

    def _anchored(self, runs: Runs) -> Runs:
        """The same runs in the same order, the anchor as one of its own."""
        if self.anchor is None:
            return runs
        place, most = self.anchor
        run = runs.run_of(place)
        starts, lengths, exponents = (np.insert(part, run, [part[run]] * 2) for part in _parts(runs))
        end = int(starts[run] + lengths[run])
        starts[run + 1], starts[run + 2] = place, place + 1
        lengths[run], lengths[run + 1], lengths[run + 2] = place - starts[run], 1, end - place - 1
        exponents[run + 1] = max(int(exponents[run]), -most)
        return Runs(starts, lengths, exponents)

    def draw(self, records: Records, count: int, source: Source | None) -> Places:
        """`count` independent places."""
        if self.flips:
            runs = self.all_runs(records.cells())
            drawn: Places = permute_and_flip(np.repeat(runs.exponents, runs.lengths), count, source, rate=self.rate)
            return drawn
        near = 2 * self.reach
        everything = cache(lambda: self.all_runs(records.cells()))
        plain = self.anchor is None and not self.rule.margin
        few = near >= min(records.different, self.rule.most_changes(records.records))
        found = None if few or not plain else self.near_runs(records, near)
        if found is None:
            runs = everything()
            chosen = categorical_exp(runs.exponents, runs.lengths, count, source, rate=self.rate)
        else:
            runs, bottom, top = found
            core = len(runs.starts)

            def rest() -> Runs:
                far = (everything().starts <= bottom) | (everything().starts >= top)
                return Runs(*(part[far] for part in _parts(everything())))

            chosen = categorical_exp_core_first(
                runs.exponents,
                runs.lengths,
                lambda: (rest().exponents, rest().lengths),
                Fraction(1, 2**64),
                count,
                source,
                rate=self.rate,
            )
            if (chosen >= core).any():
                far = rest()
                runs = Runs(*(np.concatenate(pair) for pair in zip(_parts(runs), _parts(far), strict=True)))
        within: Places = uniform_integer(runs.lengths[chosen], source=source)
        return runs.starts[chosen] + within

    def pmf(self, place: int, places: Places | PlaceCounts, bits: int = 64) -> Enclosure:
        """P(place) for records at these places; exact where e^rate is rational and no point needs too many changes."""
        runs = self.all_runs(places if isinstance(places, PlaceCounts) else PlaceCounts.of(places))
        if self.flips:
            return permute_and_flip_pmf(place, np.repeat(runs.exponents, runs.lengths), bits, rate=self.rate)
        run = runs.run_of(place)
        step = exact_exp(-self.rate)
        least = int(runs.exponents[runs.lengths > 0].max())
        if step is None or least - int(runs.exponents.min()) > _LARGEST_POWER:
            share = categorical_exp_pmf(run, runs.exponents, runs.lengths, bits, rate=self.rate)
            length = int(runs.lengths[run])
            return Enclosure(share.lower / length, share.upper / length)
        weights = [step ** (least - int(exponent)) for exponent in runs.exponents]
        total = sum(w * int(length) for w, length in zip(weights, runs.lengths, strict=True))
        return Enclosure(weights[run] / total, weights[run] / total)


def inwards(level: Fraction, records: int) -> int:
    """The margin that moves a minimum or maximum inside by so many records; none for other levels.

    >>> [inwards(Fraction(level), 5) for level in ("0", "1/2", "1")]
    [5, 0, -5]
    """
    return records if level == 0 else -records if level == 1 else 0


def _parts(runs: Runs) -> tuple[Places, Places, Places]:
    return runs.starts, runs.lengths, runs.exponents

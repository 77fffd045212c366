"""Several private quantiles of one list of numbers, in two ways, of which the one with the smaller error bound is used.

*Separate*: k times the private quantile, each with ε/k.

*Recursive* (Kaplan, Schnapp and Stemmer, ICML 2022): find the middle quantile, split the records there, and go on
with the lower quantiles on the records below it and the upper ones on the rest. A record takes part in one quantile of
each of ⌈log₂(k + 1)⌉ rounds, so each gets an equal share of ε. A neighbour has one record more or less: then one part
of each round has. A neighbour that exchanges a record is two such steps away, so each share is halved.

Records that are equal to a split point would all go to one side. So every place first becomes `jitter` finer ones, to
which its records are dealt out in turn. One record more or less is then still one record more or less.

The recursion is their Algorithm 1. Between the split points z ≤ z' of the levels q < q' a level p becomes the level (p
− q)/(q' − q) of the records in [z, z'), and its quantile is sought in [z, z'], so the answers never decrease.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import lcm, prod
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact.arrays import Size, shape_of
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.formulas import scaled
from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike, read_epsilon, read_integer
from leastnoise.exact.sources import Source
from leastnoise.mechanisms.rank.lattice import IntervalLattice, read_interval
from leastnoise.mechanisms.rank.quantile import certify, growing_databases
from leastnoise.mechanisms.rank.rank_law import RankLaw, RankRule, changes_quantile, expected_changes, read_level
from leastnoise.mechanisms.rank.tally import PlaceCounts, Places, Tally
from leastnoise.mechanisms.truths import read_records
from leastnoise.model.certificate import Certificate
from leastnoise.model.events import BoundedRange, Composed, Event, Grouped
from leastnoise.model.graphs import hamming
from leastnoise.model.mechanism import LEVEL, ErrorEstimate, Mechanism, Reason

__all__ = ["SeveralQuantiles", "Split", "Splitting"]


@dataclass(frozen=True)
class Split:
    """The level in place `middle`, sought between those in places `low` and `high`; its level among the records there.

    Place −1 stands for the lower end of the lattice, the place after the last level for the upper end.
    """

    low: int
    middle: int
    high: int
    level: Fraction


@dataclass(frozen=True)
class Splitting:
    """The law of all quantiles together, given the places of the records.

    Attributes:
        levels: Increasing.
        rate: Of the rank law at each split.
        last: The last place of the lattice.
    """

    levels: tuple[Fraction, ...]
    rate: Exact
    last: int

    @property
    def rounds(self) -> int:
        """How many splits one record can take part in.

        >>> [Splitting((Fraction(1, 2),) * k, Fraction(1), 1).rounds for k in (1, 2, 3, 4, 7, 8)]
        [1, 2, 2, 3, 3, 4]
        """
        return len(self.levels).bit_length()

    def splits(self) -> list[Split]:
        """All splits, each after those that bound it."""
        borders = (*self.levels, Fraction(1), Fraction(0))  # the place −1 holds level zero
        found, pending = [], deque([(-1, len(self.levels))])
        while pending:
            low, high = pending.popleft()
            if high - low < 2:
                continue
            middle = (low + high) // 2
            level = (borders[middle] - borders[low]) / (borders[high] - borders[low])
            found.append(Split(low, middle, high, level))
            pending += [(low, middle), (middle, high)]
        return found

    def accumulated_error(self) -> Fraction:
        """The largest rank error of any level, where each split errs by at most one record.

        A level that lies at the share λ between its borders inherits (1 − λ) of the lower border's error and λ of the
        upper one's (docs/theory/several_quantiles.md).
        """
        errors = {-1: Fraction(0), len(self.levels): Fraction(0)}
        for split in self.splits():
            errors[split.middle] = 1 + (1 - split.level) * errors[split.low] + split.level * errors[split.high]
        return max(errors.values())

    def draw(self, records: PlaceCounts, source: Source | None) -> Places:
        """One place for each level."""
        found = {-1: 0, len(self.levels): self.last}
        for split in self.splits():
            first, last = found[split.low], found[split.high]
            drawn = self._law(split, last - first).draw(self._part(records, split, first, last), 1, source)
            found[split.middle] = first + int(drawn[0])
        return np.array([found[i] for i in range(len(self.levels))], dtype=np.int64)

    def pmf(self, targets: Sequence[range], records: PlaceCounts, bits: int = 64) -> Enclosure:
        """The probability that each level's place is among its targets; exact where e^rate is rational."""
        return self._mass(self.splits(), targets, {-1: 0, len(targets): self.last}, records, bits)

    def _part(self, records: PlaceCounts, split: Split, first: int, last: int) -> PlaceCounts:
        """The records between two split points, counted from the first; outermost parts have all that is beyond."""
        low = first if split.low >= 0 else None
        return records.between(low, last if split.high < len(self.levels) else None).moved(-first)

    def _mass(
        self, splits: Sequence[Split], targets: Sequence[range], found: dict[int, int], records: PlaceCounts, bits: int
    ) -> Enclosure:
        if not splits:
            return Enclosure(Fraction(1), Fraction(1))
        split, *later = splits
        first, last = found[split.low], found[split.high]
        part = self._part(records, split, first, last)
        lower = upper = Fraction(0)
        for place in targets[split.middle]:
            if first <= place <= last:
                here = self._law(split, last - first).pmf(place - first, part, bits)
                rest = self._mass(later, targets, {**found, split.middle: place}, records, bits)
                lower, upper = lower + here.lower * rest.lower, upper + here.upper * rest.upper
        return Enclosure(lower, upper)

    def _law(self, split: Split, last: int) -> RankLaw:
        return RankLaw(RankRule(split.level, exchange=False), self.rate, last)


_LARGEST_DENOMINATOR = 10**9
_MOST_JITTER = 1 << 10
_MOST_WAYS = 1 << 12
_MOST_LEVELS = 1 << 10
_METHODS = ("recursive", "separate")


@dataclass(frozen=True, init=False)
class SeveralQuantiles(Mechanism):
    """Quantiles of numbers in [lower, upper], released together. The truth is the list of the numbers.

    Args:
        epsilon: The privacy of the whole release.
        levels: Which quantiles, increasing, each between 0 and 1.
        lower: Public; smaller values count as this one.
        upper: Public; larger values count as this one.
        step: The distance of two lattice points; 2^-20 of the width if left out.
        records: How many records there are, where that is public: then a neighbour exchanges one of them.
        missing: What NaN and None count as; `lower` if left out.
        method: "recursive" or "separate"; the one with the smaller error bound if left out.
        jitter: How many finer places the records of a place are dealt out to by the recursive method.

    Raises:
        UnboundedData: A bound is missing or infinite.

    >>> quartiles = SeveralQuantiles(1, ["1/4", "1/2", "3/4"], 0, 100, step=1)
    >>> quartiles.method, len(quartiles.release([20, 35, 35, 62, 80]))
    ('separate', 3)
    >>> SeveralQuantiles(1, [f"{k}/32" for k in range(1, 32)], 0, 100).method
    'recursive'
    """

    name: ClassVar[str] = "several private quantiles"
    epsilon: Exact
    levels: tuple[Fraction, ...]
    lattice: IntervalLattice
    records: int | None
    missing: Fraction
    method: str
    jitter: int

    def __init__(
        self,
        epsilon: NumberLike,
        levels: Sequence[NumberLike],
        lower: NumberLike | None = None,
        upper: NumberLike | None = None,
        *,
        step: NumberLike | None = None,
        records: NumberLike | None = None,
        missing: NumberLike | None = None,
        method: str | None = None,
        jitter: NumberLike = _MOST_JITTER,
    ) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(epsilon))
        object.__setattr__(self, "levels", _read_levels(levels))
        object.__setattr__(self, "lattice", read_interval(lower, upper, step))
        object.__setattr__(self, "records", None if records is None else read_integer(records, "records", at_least=1))
        object.__setattr__(self, "missing", self.lattice.read_missing(missing))
        object.__setattr__(self, "jitter", read_integer(jitter, "jitter", at_least=1, at_most=_MOST_JITTER))
        if method is not None and method not in _METHODS:
            raise BadParameter("method is unknown", given=method, fix='pass "recursive" or "separate", or leave it out')
        if method is None:
            split, apart = self._recursive_error(LEVEL)[0], self._separate_error(LEVEL)[0]
            method = "recursive" if split.upper < apart.upper else "separate"
        object.__setattr__(self, "method", method)

    @property
    def splitting(self) -> Splitting:
        """The recursive law on the jittered lattice."""
        shares = len(self.levels).bit_length() * (1 if self.records is None else 2)
        return Splitting(self.levels, self.epsilon / (2 * shares), (self.lattice.last + 1) * self.jitter - 1)

    def separate_law(self, level: Fraction) -> RankLaw:
        """The law of one quantile of the separate method."""
        rule = RankRule(level, exchange=self.records is not None)
        return RankLaw(rule, self.epsilon / (2 * len(self.levels)), self.lattice.last)

    @property
    def event(self) -> Event:
        """One exponential mechanism per quantile, or per round; for groups of two where a record is exchanged."""
        if self.method == "separate":
            return Composed((BoundedRange(self.epsilon / len(self.levels)),) * len(self.levels))
        rounds = self.splitting.rounds
        if self.records is None:
            return Composed((BoundedRange(self.epsilon / rounds),) * rounds)
        return Grouped(Composed((BoundedRange(self.epsilon / (2 * rounds)),) * rounds), 2)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """An array with one number per level, and with `size` an array of such rows."""
        shape = shape_of(size)
        records = self._read(truth)
        rows = np.empty((prod(shape), len(self.levels)), dtype=np.int64)
        if self.method == "separate":
            for i, level in enumerate(self.levels):
                rows[:, i] = self.separate_law(level).draw(records, len(rows), source)
        else:
            finer = records.dealt_out(self.jitter)
            for row in rows:
                row[:] = self.splitting.draw(finer, source) // self.jitter
        return self.lattice.points(rows).reshape((*shape, len(self.levels)))

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth) for a tuple of numbers; exact where e^(epsilon/2) has rational roots for all shares.

        Raises:
            TooLarge: The recursive law with jitter, which adds up over all finer places, for too many of them.
        """
        found = [self.lattice.find(number) for number in output] if isinstance(output, tuple) else []
        if len(found) != len(self.levels) or None in found:
            return Enclosure(Fraction(0), Fraction(0))
        targets = [place for place in found if place is not None]
        if self.method == "recursive" and self.jitter ** len(self.levels) > _MOST_WAYS:
            raise TooLarge(
                "the law with jitter adds up over all finer places, which are too many",
                fix="pass jitter=1 to see the law without it",
            )
        records = self._read(truth)
        if self.method == "separate":
            masses = [
                self.separate_law(level).pmf(place, records, bits)
                for level, place in zip(self.levels, targets, strict=True)
            ]
            return Enclosure(
                prod((p.lower for p in masses), start=Fraction(1)), prod((p.upper for p in masses), start=Fraction(1))
            )
        finer = [range(place * self.jitter, (place + 1) * self.jitter) for place in targets]
        return self.splitting.pmf(finer, records.dealt_out(self.jitter), bits)

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """The rank error of any one of the quantiles, in records, at most.

        For the recursive method this leaves out records that share one of the finer places with a split point.
        """
        expected, quantile = (self._separate_error if self.method == "separate" else self._recursive_error)(level)
        return ErrorEstimate("records", expected, {level: quantile}, attained=False)

    def reason(self) -> Reason:
        """Splitting needs log₂ k shares of ε where asking one by one needs k."""
        return Reason(
            "a record takes part in one quantile of each of ⌈log₂(k + 1)⌉ rounds"
            if self.method == "recursive"
            else "so few quantiles are better asked one by one",
            "Kaplan, Schnapp and Stemmer, ICML 2022, Theorem 3.1",
        )

    def certificate(self) -> Certificate:
        """The same law for two records on two points without jitter, on all databases.

        Raises:
            BadParameter: The law is irrational.
        """
        graph, records = (growing_databases(2, 2), None) if self.records is None else (hamming(2, 2), 2)
        small = SeveralQuantiles(self.epsilon, self.levels, 0, 1, step=1, records=records, method=self.method, jitter=1)
        outputs = list(product((0, 1), repeat=len(self.levels)))
        rows = [[small.pmf(output, node) for output in outputs] for node in graph.nodes]
        return certify(self.name, graph, self.epsilon, rows)

    def _read(self, truth: object) -> PlaceCounts:
        """The records by their places; from the records or their `Tally`."""
        if isinstance(truth, Tally):
            return truth.checked(self.lattice.last, self.records).cells()
        return PlaceCounts.of(self.lattice.places(read_records(truth, float(self.missing), self.records)))

    def _separate_error(self, level: Fraction) -> tuple[Enclosure, Fraction]:
        law = self.separate_law(self.levels[0])
        most = None
        if self.records is not None:
            most = max(self.separate_law(level).rule.most_changes(self.records) for level in self.levels)
        bound = changes_quantile(law.last, law.rate, most, level)
        return expected_changes(law.last, law.rate, most), Fraction(bound)

    def _recursive_error(self, level: Fraction) -> tuple[Enclosure, Fraction]:
        splitting = self.splitting
        each = 1 - (1 - level) / splitting.rounds  # so that a whole path of splits holds
        bound = changes_quantile(splitting.last, splitting.rate, None, each)
        factor = splitting.accumulated_error()
        return scaled(expected_changes(splitting.last, splitting.rate, None), factor), factor * bound


def _read_levels(levels: Sequence[NumberLike]) -> tuple[Fraction, ...]:
    if not isinstance(levels, Sequence | np.ndarray) or isinstance(levels, str):
        raise BadParameter("levels must be a list", given=type(levels).__name__, fix='pass ["1/4", "1/2", "3/4"]')
    if len(levels) > _MOST_LEVELS:
        raise TooLarge(f"there may be at most {_MOST_LEVELS} levels", given=len(levels), fix="pass fewer")
    read = tuple(read_level(level) for level in levels)
    if not read or any(low >= high for low, high in pairwise(read)):
        raise BadParameter("levels must increase, and be at least one", given=levels, fix='pass ["1/4", "1/2", "3/4"]')
    if lcm(*(level.denominator for level in read)) > _LARGEST_DENOMINATOR:
        raise BadParameter("levels must share a denominator below 10^9", given=levels, fix="round them")
    return read

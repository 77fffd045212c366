"""Several private quantiles of one list of numbers, in four ways, of which the best on a public reference is used.

*Separate*: k times the private quantile, each with ε/k; or the same by *permute and flip*.

*Recursive* (`splitting`): a record takes part in one quantile of each of ⌈log₂(k + 1)⌉ rounds, so each gets an equal
share of ε. A neighbour has one record more or less: then one part of each round has. A neighbour that exchanges a
record is two such steps away, so each share is halved.

*Joint* (`joint_ranks`): one exponential mechanism chooses all of them at once, and the number of records with them.

Records that are equal to a split point would all go to one side. So for the last two every place first becomes `jitter`
finer ones, to which its records are dealt out in turn. One record more or less is then still one record more or less.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import comb, lcm, prod
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Size,
    Source,
    ln_above,
    rational_below,
    read_epsilon,
    read_integer,
    scaled,
    shape_of,
)
from leastnoise.mechanisms.rank.joint_ranks import JointRanks
from leastnoise.mechanisms.rank.lattice import Lattice, read_grid, read_interval
from leastnoise.mechanisms.rank.quantile import MOST_COINS, certify, growing_databases, margin_inside
from leastnoise.mechanisms.rank.rank_bounds import changes_quantile, expected_changes
from leastnoise.mechanisms.rank.rank_law import RankLaw, RankRule, inwards, read_level
from leastnoise.mechanisms.rank.reference import REFERENCE_ROWS, joint_reference, law_reference, splitting_reference
from leastnoise.mechanisms.rank.splitting import Splitting
from leastnoise.mechanisms.rank.tally import PlaceCounts, Tally
from leastnoise.mechanisms.truths import read_records
from leastnoise.model import (
    LEVEL,
    BoundedRange,
    Certificate,
    Composed,
    ErrorEstimate,
    Event,
    Grouped,
    Mechanism,
    Pure,
    Reason,
)
from leastnoise.model.graphs import hamming

__all__ = ["METHODS", "SeveralQuantiles"]


_LARGEST_DENOMINATOR = 10**9
_MOST_JITTER = 1 << 10
_MOST_WAYS = 1 << 12
_MOST_LEVELS = 1 << 10
_SEPARATE = ("so few quantiles are better asked one by one", "Dwork et al. 2006, basic composition")
_MOST_JOINT = 1 << 24  # weights to add up for one draw by the joint law
METHODS = ("joint", "recursive", "permute and flip", "separate")


@dataclass(frozen=True, init=False)
class SeveralQuantiles(Mechanism):
    """Quantiles of numbers in [lower, upper], released together. The truth is the list of the numbers.

    Args:
        epsilon: The privacy of the whole release.
        levels: Which quantiles, increasing; 0 is the minimum, 1 the maximum.
        lower: Public; smaller values count as this one.
        upper: Public; larger values count as this one.
        step: The distance of two lattice points; 2^-20 of the width if left out.
        grid: The points themselves, increasing, in place of bounds and step; not taken from the data.
        records: How many records there are, where that is public: then a neighbour exchanges one of them.
        missing: What NaN and None count as; `lower` if left out.
        method: "joint", "recursive", "permute and flip" or "separate"; if left out, the one with the least expected
            rank error where `expected_rows` rows are spread evenly between the bounds.
        jitter: How many finer places the records of a place are dealt out to by the first two methods.
        expected_rows: A public guess of the number of records, by which the method is chosen; 1000 if left out.

    Raises:
        UnboundedData: A bound is missing or infinite.

    >>> quartiles = SeveralQuantiles(1, ["1/4", "1/2", "3/4"], 0, 100, step=1)
    >>> quartiles.method, len(quartiles.release([20, 35, 35, 62, 80]))
    ('joint', 3)
    >>> SeveralQuantiles(1, [f"{k}/10" for k in range(1, 10)], 0, 100).method
    'joint'
    """

    name: ClassVar[str] = "several private quantiles"
    epsilon: Exact
    levels: tuple[Fraction, ...]
    lattice: Lattice
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
        grid: Sequence[NumberLike] | None = None,
        records: NumberLike | None = None,
        missing: NumberLike | None = None,
        method: str | None = None,
        jitter: NumberLike = _MOST_JITTER,
        expected_rows: NumberLike = REFERENCE_ROWS,
    ) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(epsilon))
        object.__setattr__(self, "levels", _read_levels(levels))
        if grid is not None and (lower, upper, step) != (None, None, None):
            raise BadParameter("a grid needs no bounds and no step", fix="leave them out")
        object.__setattr__(self, "lattice", read_interval(lower, upper, step) if grid is None else read_grid(grid))
        object.__setattr__(self, "records", None if records is None else read_integer(records, "records", at_least=1))
        object.__setattr__(self, "missing", self.lattice.read_missing(missing))
        object.__setattr__(self, "jitter", read_integer(jitter, "jitter", at_least=1, at_most=_MOST_JITTER))
        if method is not None and method not in METHODS:
            raise BadParameter("method is unknown", given=method, fix=f"pass one of {METHODS}, or leave it out")
        rows = read_integer(expected_rows, "expected_rows", at_least=1)
        object.__setattr__(self, "method", METHODS[-1] if method is None else method)
        if method is None:
            best = min(self.alternatives(rows), key=lambda each: each.reference_error(rows))
            object.__setattr__(self, "method", best.method)

    def alternatives(self, rows: int = REFERENCE_ROWS, groups: int = 1) -> tuple[SeveralQuantiles, ...]:
        """The same quantiles by every method that is affordable, for so many groups of about so many rows."""
        return tuple(self.by(method) for method in METHODS if self._is_affordable(method, rows, groups))

    def by(self, method: str) -> SeveralQuantiles:
        """The same quantiles by another method."""
        other = copy(self)
        object.__setattr__(other, "method", method)
        return other

    def reference_error(self, rows: int = REFERENCE_ROWS) -> float:
        """The mean of the levels' expected rank errors where so many rows are spread evenly; to compare methods by."""
        on_each = rows / (self.lattice.last + 1)
        if self.method == "recursive":
            return splitting_reference(self.splitting, on_each)
        if self.method == "joint":
            return joint_reference(self.joint, on_each)
        return sum(law_reference(self.separate_law(level), rows) for level in self.levels) / len(self.levels)

    def _is_affordable(self, method: str, rows: int, groups: int) -> bool:
        """From public things only."""
        if method == "joint":
            return groups * self.joint.work(10 * rows) <= _MOST_JOINT
        return method != "permute and flip" or self.lattice.last < MOST_COINS

    @property
    def splitting(self) -> Splitting:
        """The recursive law on the jittered lattice."""
        shares = len(self.levels).bit_length() * (1 if self.records is None else 2)
        rate = self.epsilon / (2 * shares)
        last = (self.lattice.last + 1) * self.jitter - 1
        return Splitting(self.levels, rate, last, self._margin(rate, last))

    @property
    def joint(self) -> JointRanks:
        """The joint law on the jittered lattice."""
        exchange, last = self.records is not None, (self.lattice.last + 1) * self.jitter - 1
        rate = self.epsilon / (4 if exchange else 2)
        return JointRanks(self.levels, rate, last, exchange, self._margin(rate, last))

    def separate_law(self, level: Fraction) -> RankLaw:
        """The law of one quantile where each is asked for by itself."""
        rate, flips = self.epsilon / (2 * len(self.levels)), self.method == "permute and flip"
        inside = inwards(level, self._margin(rate, self.lattice.last))
        return RankLaw(RankRule(level, self.records is not None, inside), rate, self.lattice.last, flips)

    def _margin(self, rate: Exact, last: int) -> int:
        """How many records inside a minimum or maximum is sought; zero where neither is asked for."""
        extreme = self.levels[0] == 0 or self.levels[-1] == 1
        return margin_inside(rate, last) if extreme else 0

    @property
    def event(self) -> Event:
        """One mechanism for all, per quantile, or per round; the last for groups of two where a record is exchanged."""
        if self.method == "joint":
            return BoundedRange(self.epsilon)
        if self.method != "recursive":
            share = self.epsilon / len(self.levels)
            return Composed(((BoundedRange if self.method == "separate" else Pure)(share),) * len(self.levels))
        rounds = self.splitting.rounds
        if self.records is None:
            return Composed((BoundedRange(self.epsilon / rounds),) * rounds)
        return Grouped(Composed((BoundedRange(self.epsilon / (2 * rounds)),) * rounds), 2)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """An array with one number per level, and with `size` an array of such rows."""
        shape = shape_of(size)
        records = self._read(truth)
        rows = np.empty((prod(shape), len(self.levels)), dtype=np.int64)
        if self.method == "recursive":
            finer = records.dealt_out(self.jitter)
            for row in rows:
                row[:] = self.splitting.draw(finer, source) // self.jitter
        elif self.method == "joint":
            rows[:] = self.joint.draw(records.dealt_out(self.jitter), len(rows), source) // self.jitter
        else:
            for i, level in enumerate(self.levels):
                rows[:, i] = self.separate_law(level).draw(records, len(rows), source)
        return self.lattice.points(rows).reshape((*shape, len(self.levels)))

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth) for a tuple of numbers; exact where e^(epsilon/2) has rational roots for all shares.

        Raises:
            TooLarge: A law with jitter, which adds up over all finer places, for too many of them.
        """
        found = [self.lattice.find(number) for number in output] if isinstance(output, tuple) else []
        if len(found) != len(self.levels) or None in found:
            return Enclosure(Fraction(0), Fraction(0))
        targets = [place for place in found if place is not None]
        if self.method in ("recursive", "joint") and self.jitter ** len(self.levels) > _MOST_WAYS:
            raise TooLarge(
                "the law with jitter adds up over all finer places, which are too many",
                fix="pass jitter=1 to see the law without it",
            )
        records = self._read(truth)
        if self.method in ("separate", "permute and flip"):
            masses = [
                self.separate_law(level).pmf(place, records, bits)
                for level, place in zip(self.levels, targets, strict=True)
            ]
            return Enclosure(
                prod((p.lower for p in masses), start=Fraction(1)), prod((p.upper for p in masses), start=Fraction(1))
            )
        finer = [range(place * self.jitter, (place + 1) * self.jitter) for place in targets]
        law = self.splitting if self.method == "recursive" else self.joint
        return law.pmf(finer, records.dealt_out(self.jitter), bits)

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """The rank error of any one of the quantiles, in records, at most.

        This is a bound for the worst database; `reference_error` says what to expect. For the recursive and the joint
        method it leaves out records that share one of the finer places with an answer.
        """
        bounds = {"recursive": self._recursive_error, "joint": self._joint_error}
        expected, quantile, inside = bounds.get(self.method, self._separate_error)(level)
        moved = Enclosure(expected.lower + inside, expected.upper + inside)
        return ErrorEstimate("records", moved, {level: quantile + inside}, attained=False)

    def reason(self) -> Reason:
        """Why this method: it has the least error on the reference."""
        theorems = {
            "recursive": (
                "a record takes part in one quantile of each of ⌈log₂(k + 1)⌉ rounds",
                "Kaplan, Schnapp and Stemmer, ICML 2022, Theorem 3.1",
            ),
            "joint": (
                "one exponential mechanism chooses all quantiles and the number of records; one record moves one part",
                "after Gillenwater, Joseph and Kulesza, ICML 2021; docs/theory/several_quantiles.md",
            ),
        }
        return Reason(*theorems.get(self.method, _SEPARATE))

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
        return self.lattice.cells(read_records(truth, float(self.missing), self.records))

    def _separate_error(self, level: Fraction) -> tuple[Enclosure, Fraction, int]:
        law = self.separate_law(self.levels[0])
        most, inside = None, self._margin(law.rate, law.last)
        if self.records is not None and not inside:
            most = max(self.separate_law(level).rule.most_changes(self.records) for level in self.levels)
        bound = changes_quantile(law.last, law.rate, most, level)
        return expected_changes(law.last, law.rate, most, law.flips), Fraction(bound), inside

    def _joint_error(self, level: Fraction) -> tuple[Enclosure, Fraction, int]:
        """P(cost ≥ X) ≤ sequences·(4 + 2X/step)·e^(−rate·(X − B)), where some pair costs at most B = step.

        A total N costs at least |n − N|, so the totals together count as 4 + 2X/step at most, for rate·step ≥ √2. With
        Y = rate·(X − B) that is below (19 + 2·rate·B)·e^(Y/10). A member off by T costs at least T − 1/2. Where the
        number of records is public, there is one total, B = 0 and a member off by T costs twice that.
        """
        law, count = self.joint, len(self.levels)
        rate, sequences = rational_below(law.rate), ln_above(comb(law.last + count, count))
        slope, start, off = Fraction(1), Fraction(0), 2
        if not law.exchange:
            slope, start, off = Fraction(9, 10), Fraction(law.step), 1
            sequences += ln_above(19 + 2 * rate * law.step)
        always = (start + sequences / (slope * rate)) / off + Fraction(1, 2)
        expected = always + 1 / (slope * rate * off)
        return Enclosure(expected, expected), always + ln_above(1 / (1 - level)) / (slope * rate * off), law.margin

    def _recursive_error(self, level: Fraction) -> tuple[Enclosure, Fraction, int]:
        splitting = self.splitting
        each = 1 - (1 - level) / splitting.rounds  # so that a whole path of splits holds
        bound = changes_quantile(splitting.last, splitting.rate, None, each)
        factor = splitting.accumulated_error()
        return scaled(expected_changes(splitting.last, splitting.rate, None), factor), factor * bound, splitting.margin


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

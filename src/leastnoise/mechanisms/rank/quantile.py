"""A private quantile chosen from a public lattice, by inverse sensitivity: any grid, or an interval in steps.

P(r) ∝ e^(−(ε/2)·changes(r)), with changes(r) the number of records that must change for r to be the q-quantile
(Tóthmérész 2013, Definition 2.5; Asi and Duchi 2020; see `rank_law`). Records may lie between two points. Then ranks
are the true ones, but no point stands worse than by a public number of changes beyond what it would need if each record
were moved to its nearest point: so records that all lie between two points still find the nearer one.

In an interval the continuous law has density ∝ e^(−(ε/2)·changes(r)) on [lower, upper], constant between two order
statistics. Here the interval is a public lattice of 2^20 steps, or finer, and a run of points between two order
statistics has as weight its exact number of points. So the law is exact, and ties need no special care.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Size,
    Source,
    least_whole,
    ln,
    read_epsilon,
    read_integer,
    shape_of,
)
from leastnoise.mechanisms.rank.lattice import GridLattice, IntervalLattice, Lattice, Listed, read_grid, read_interval
from leastnoise.mechanisms.rank.rank_bounds import changes_quantile, expected_changes, least_expected_changes
from leastnoise.mechanisms.rank.rank_law import RankLaw, RankRule, Records, inwards, read_level
from leastnoise.mechanisms.rank.reference import REFERENCE_ROWS, law_reference
from leastnoise.mechanisms.rank.tally import Tally
from leastnoise.mechanisms.truths import read_records
from leastnoise.model import (
    LEVEL,
    BoundedRange,
    Certificate,
    Channel,
    ErrorEstimate,
    Mechanism,
    Privacy,
    PrivacyCertificate,
    Pure,
    Reason,
)
from leastnoise.model.graphs import DatasetGraph, from_edges, hamming

__all__ = [
    "MOST_COINS",
    "IntervalQuantile",
    "LatticeQuantile",
    "Quantile",
    "certify",
    "growing_databases",
    "margin_inside",
    "read_method",
    "small_rank_certificate",
]


def certify(name: str, graph: DatasetGraph, epsilon: Exact, rows: Sequence[Sequence[Enclosure]]) -> PrivacyCertificate:
    """A privacy certificate of an exact law on a graph; an irrational law has none."""
    if not all(p.is_exact for row in rows for p in row):
        raise BadParameter(
            f"the law of the {name} is irrational here, so no exact channel can be certified",
            fix='choose an epsilon with rational e^(epsilon/2), such as "2*ln(3)"',
        )
    return PrivacyCertificate(graph, Privacy(epsilon), Channel([[p.lower for p in row] for row in rows], graph.nodes))


def growing_databases(records: int, points: int) -> DatasetGraph:
    """All databases of at most so many records on so many points; neighbours have one record more or less.

    >>> growing_databases(2, 2).nodes
    ((), (0,), (1,), (0, 0), (0, 1), (1, 1))
    """
    nodes = [d for size in range(records + 1) for d in combinations_with_replacement(range(points), size)]
    edges = [(d[:i] + d[i + 1 :], d) for d in nodes for i in range(len(d)) if i == 0 or d[i] != d[i - 1]]
    return from_edges(edges, nodes)


_SMALL = 3  # records and points of a certificate


def small_rank_certificate(
    name: str, epsilon: Exact, records: int | None, last: int, law_on: Callable[[int], RankLaw]
) -> PrivacyCertificate:
    """The exact channel of a rank law for at most three records on at most three points."""
    last = min(last, _SMALL - 1)
    law = law_on(last)
    small = growing_databases if records is None else hamming
    graph = small(_SMALL if records is None else max(min(records, _SMALL), 1), last + 1)
    rows = [[law.pmf(r, np.sort(np.array(node, dtype=np.int64))) for r in range(last + 1)] for node in graph.nodes]
    return certify(name, graph, epsilon, rows)


MOST_COINS = 1 << 22
_BEYOND = 20  # the points beyond a minimum or maximum win at most one time out of so many
_METHODS = ("exponential", "permute and flip")


def read_method(method: str, last: int) -> str:
    """One of the two laws; permute-and-flip takes a coin for each point of the lattice.

    Raises:
        BadParameter: Another word.
        TooLarge: Too many points for permute-and-flip.
    """
    if method not in _METHODS:
        raise BadParameter("method is unknown", given=method, fix='pass "exponential" or "permute and flip"')
    if method != "exponential" and last >= MOST_COINS:
        raise TooLarge(f"permute-and-flip takes at most {MOST_COINS} points", given=last + 1, fix="take a larger step")
    return method


def margin_inside(rate: Exact, last: int) -> int:
    """So many records that the points beyond all of them have together at most 1/20 of the weight of a right one."""
    return least_whole(lambda records: records * rate >= ln(_BEYOND * last)) if last else 0


class LatticeQuantile(Mechanism):
    """P(r) ∝ e^(−(ε/2)·changes(r)) over the points r of a public lattice, or permute-and-flip with the same scores.

    A subclass reads the lattice. Privacy: one record changes every `changes(r)` by at most one, up for some points and
    down for others, so every log-weight by at most ε/2 and the logarithm of the sum of weights by at most ε/2. The
    factor two can't be spared: where nearly all weight moves down while one point moves up, both happen in full
    (docs/theory/quantile.md). Permute-and-flip is ε-private for the same scores and has no larger expected number of
    changes on any database (McKenna and Sheldon 2020, Theorems 1 and 2), but is of no bounded range.
    """

    epsilon: Exact
    level: Fraction
    lattice: Lattice
    records: int | None
    missing: Fraction
    method: str

    @property
    def rule(self) -> RankRule:
        """When a point is the quantile, and what a change is."""
        return RankRule(self.level, exchange=self.records is not None, margin=self.margin)

    @property
    def margin(self) -> int:
        """How many records inside a minimum or maximum is sought; zero for other levels."""
        return inwards(self.level, margin_inside(self.epsilon / 2, self.lattice.last))

    @property
    def law(self) -> RankLaw:
        """The law on the places of the lattice."""
        return RankLaw(self.rule, self.epsilon / 2, self.lattice.last, flips=self.method != "exponential")

    @property
    def event(self) -> Pure:
        """epsilon; of bounded range where it is one exponential mechanism."""
        return BoundedRange(self.epsilon) if self.method == "exponential" else Pure(self.epsilon)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """A point of the lattice for the records in `truth`, or their `Tally`; by selection in linear time."""
        shape = shape_of(size)
        points = self.lattice.points(self.law.draw(self._read(truth), prod(shape), source))
        return points[0].item() if size is None else points.reshape(shape)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth); exact where e^(epsilon/2) is rational."""
        place = self.lattice.find(output)
        if place is None:
            return Enclosure(Fraction(0), Fraction(0))
        return self.law.pmf(place, self._read(truth).cells(), bits)

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """How many more records than for the best point would have to change for the answer to be right, at most.

        Over all databases; the best point needs none where every record is a point of the lattice.
        Errors in the unit of the records depend on the data: where the records near the quantile lie close together, so
        does the answer. In the worst case they are as large as `least_worst_error` says, for every mechanism. The error
        of a minimum is the number of records below the answer, that of a maximum the number above it.
        """
        most = None if self.records is None or self.margin else self.rule.most_changes(self.records)
        others, rate, inside = self.lattice.last, self.epsilon / 2, abs(self.margin)
        bound = changes_quantile(others, rate, most, level)
        expected = expected_changes(others, rate, most, flips=self.method != "exponential")
        moved = Enclosure(expected.lower + inside, expected.upper + inside)
        return ErrorEstimate("records", moved, {level: Fraction(bound + inside)}, attained=False)

    def reference_error(self, rows: int = REFERENCE_ROWS) -> float:
        """The expected rank error where so many rows are spread evenly over the lattice; to compare methods by."""
        return law_reference(self.law, rows)

    def reason(self) -> Reason:
        """Instance by instance near-optimal; the packing bound in records."""
        bound = None
        if not self.margin:
            bound = least_expected_changes(self.lattice.last, self.epsilon, self.rule, self.records)
        if self.method != "exponential":
            return Reason(
                "permute-and-flip on ranks: on every database its expected rank error is at most that of the "
                "exponential mechanism with the same scores and the same ε",
                "McKenna and Sheldon, NeurIPS 2020, Theorems 1 and 2; packing bound in docs/theory/quantile.md",
                bound,
            )
        return Reason(
            "the inverse sensitivity mechanism gives each wrong answer the least weight that its distance in records "
            "allows; its rank error is within a constant factor of what every private mechanism needs",
            "Tóthmérész 2013, Definition 2.5; Asi and Duchi, NeurIPS 2020; packing bound in docs/theory/quantile.md",
            bound,
        )

    def certificate(self) -> Certificate:
        """The same law for at most three records on at most three points, as an exact channel on all databases.

        Raises:
            BadParameter: e^(epsilon/2) is irrational.
        """
        flips = self.method != "exponential"
        return small_rank_certificate(
            self.name,
            self.epsilon,
            self.records,
            self.lattice.last,
            lambda last: RankLaw(self.rule, self.epsilon / 2, last, flips),
        )

    def _read(self, truth: object) -> Records:
        if isinstance(truth, Tally):
            return truth.checked(self.lattice.last, self.records).cells()
        return Listed(read_records(truth, float(self.missing), self.records), self.lattice)


@dataclass(frozen=True, init=False)
class Quantile(LatticeQuantile):
    """The median or another quantile of numbers, chosen from a public grid. The truth is the list of the numbers.

    Args:
        epsilon: The privacy of one release.
        grid: The points to choose from, increasing; not taken from the data.
        level: Which quantile; 0 is the minimum, 1 the maximum.
        records: How many records there are, where that is public: then a neighbour exchanges one of them. Without it
            their number is private too, and a neighbour has one record more or less.
        missing: What NaN and None count as; the first grid point if left out. Infinite values count as the nearer end.
        method: "exponential", of bounded range, or "permute and flip", with smaller errors at the same pure ε.

    Raises:
        UnboundedData: The grid is missing or has an infinite point.

    >>> age = Quantile("2*ln(3)", grid=range(0, 121), records=3)
    >>> age.pmf(40, [30, 40, 50]), age.pmf(41, [30, 40, 50]), age.error().quantiles[Fraction(19, 20)]
    (Enclosure(9/169), Enclosure(3/169), Fraction(2, 1))
    """

    name: ClassVar[str] = "private quantile on a grid"
    epsilon: Exact
    level: Fraction
    lattice: GridLattice
    records: int | None
    missing: Fraction
    method: str

    def __init__(
        self,
        epsilon: NumberLike,
        grid: Sequence[NumberLike] | NDArray[Any] | None = None,
        level: NumberLike = Fraction(1, 2),
        *,
        records: NumberLike | None = None,
        missing: NumberLike | None = None,
        method: str = "exponential",
    ) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(epsilon))
        object.__setattr__(self, "lattice", read_grid(grid))
        object.__setattr__(self, "level", read_level(level))
        object.__setattr__(self, "records", None if records is None else read_integer(records, "records", at_least=1))
        object.__setattr__(self, "missing", self.lattice.read_missing(missing))
        object.__setattr__(self, "method", read_method(method, self.lattice.last))


@dataclass(frozen=True, init=False)
class IntervalQuantile(LatticeQuantile):
    """The median or another quantile of numbers in [lower, upper]. The truth is the list of the numbers.

    Args:
        epsilon: The privacy of one release.
        lower: Public; smaller values count as this one.
        upper: Public; larger values count as this one.
        level: Which quantile; 0 is the minimum, 1 the maximum.
        step: The distance of two lattice points; 2^-20 of the width if left out. A finer lattice costs (2/ε)·ln of the
            refinement in records where values repeat, and nothing where they do not.
        records: How many records there are, where that is public: then a neighbour exchanges one of them. Without it
            their number is private too, and a neighbour has one record more or less.
        missing: What NaN and None count as; `lower` if left out. Infinite values count as the nearer bound.
        method: "exponential", of bounded range, or "permute and flip", with smaller errors at the same pure ε.

    Raises:
        UnboundedData: A bound is missing or infinite.

    >>> IntervalQuantile("2*ln(3)", 0, 1, step=0.25, records=1).pmf(0.5, [0.5])
    Enclosure(3/7)
    """

    name: ClassVar[str] = "private quantile on an interval"
    epsilon: Exact
    level: Fraction
    lattice: IntervalLattice
    records: int | None
    missing: Fraction
    method: str

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
        method: str = "exponential",
    ) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(epsilon))
        object.__setattr__(self, "lattice", read_interval(lower, upper, step))
        object.__setattr__(self, "level", read_level(level))
        object.__setattr__(self, "records", None if records is None else read_integer(records, "records", at_least=1))
        object.__setattr__(self, "missing", self.lattice.read_missing(missing))
        object.__setattr__(self, "method", read_method(method, self.lattice.last))

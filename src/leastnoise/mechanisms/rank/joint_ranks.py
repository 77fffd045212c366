"""All quantiles at once by one exponential mechanism, after Gillenwater, Joseph and Kulesza (ICML 2021).

Places o₁ ≤ … ≤ oₘ for the levels q₁ < … < qₘ cut the n records into m + 1 parts. Of a total of N records part j should
hold cⱼ(N) = aⱼ − aⱼ₋₁, with aⱼ the rank qⱼ·N, rounded. The score is −Σⱼ |records in part j − cⱼ(N)|.

*One record more or less.* The mechanism chooses the total N too, from the public list 0, step, 2·step, …, and keeps it
to itself. Then cⱼ(N) does not depend on the records, and one record adds one to one part: it moves the score of every
pair (N, o) by at most one. Every pair has base weight one, so P ∝ e^((ε/2)·score) is ε-private and of bounded range ε.
Without N, with cⱼ = (qⱼ − qⱼ₋₁)·n as in the paper, a record moves the score by up to 2·(1 − min (qⱼ − qⱼ₋₁)), and the
noise is nearly twice as large.

*One record exchanged.* Then n is public, N = n is all there is, and a record that moves from one part to another moves
the score by at most two: P ∝ e^((ε/4)·score).

A minimum or maximum aims `margin` records inside, or at the middle of fewer; so do levels still nearer to that end.

The step is about 2·√(m + 1)/rate: the totals that matter spread over that much anyway, and a finer list would cost
time and spare no noise (docs/theory/several_quantiles.md).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import isqrt

import numpy as np

from leastnoise.exact import (
    DrawnTotal,
    Enclosure,
    Exact,
    JointExponentialLaw,
    Source,
    ln_above,
    rational_below,
    reach_for,
    system_source,
)
from leastnoise.mechanisms.rank.tally import PlaceCounts, Places

__all__ = ["JointRanks"]


@dataclass(frozen=True)
class JointRanks:
    """The law of all quantiles together, given the places of the records.

    Attributes:
        levels: Increasing, from 0 to 1.
        rate: Of the score; ε/2, or ε/4 where a neighbour exchanges a record.
        last: The last place of the lattice.
        exchange: Whether a neighbour exchanges one record (their number is public) or has one more or less.
        margin: How many records inside a minimum or maximum is sought.
    """

    levels: tuple[Fraction, ...]
    rate: Exact
    last: int
    exchange: bool = False
    margin: int = 0

    @property
    def step(self) -> int:
        """Of the totals to choose from."""
        return max(isqrt(int(4 * (len(self.levels) + 1) / rational_below(self.rate) ** 2)), 1)

    def work(self, records: int) -> int:
        """About how many weights are added up to draw from so many records: runs, levels and totals."""
        count, rate = len(self.levels), rational_below(self.rate)
        spread = (count * ln_above(records + 1) + 45) / rate
        totals = 1 if self.exchange else 1 + 2 * spread / self.step
        return int(count * min(spread, Fraction(records)) * totals)

    def wanted(self, total: int) -> list[int]:
        """How many of so many records each part should hold.

        >>> JointRanks((Fraction(1, 4), Fraction(1, 2)), Fraction(1), 9).wanted(10)
        [3, 2, 5]
        """
        inside = min(self.margin, total // 2)
        low, high = inside if self.levels[0] == 0 else 0, total - inside if self.levels[-1] == 1 else total
        ranks = [min(max(int(level * total + Fraction(1, 2)), low), high) for level in self.levels]
        return [after - before for before, after in pairwise((0, *ranks, total))]

    def law(self, records: PlaceCounts) -> tuple[JointExponentialLaw | DrawnTotal, list[int]]:
        """The law on the runs of places with the same records at or below them, and where each run starts."""
        starts, ranks = [0, *records.places.tolist()], [0, *records.sums.tolist()]
        lengths = [high - low for low, high in pairwise((*starts, self.last + 1))]
        held = [i for i, length in enumerate(lengths) if length]
        runs = [ranks[i] for i in held], [lengths[i] for i in held], records.records
        starts = [starts[i] for i in held]
        if self.exchange:
            given = *runs, self.wanted(records.records), self.rate
            return JointExponentialLaw(*given, reach_for(*given)), starts
        shares = [high - low for low, high in pairwise((Fraction(0), *self.levels, Fraction(1))) if high > low]
        settled = int((records.records + self.margin + 1) / min(shares)) + 2 * self.margin + 1
        return DrawnTotal(*runs, self.wanted, self.step, settled, self.rate), starts

    def draw(self, records: PlaceCounts, count: int, source: Source | None) -> Places:
        """`count` independent rows with one place for each level."""
        law, starts = self.law(records)
        bits = source or system_source
        rows = [[starts[run] + place for run, place in law.draw(bits)] for _ in range(count)]
        return np.array(rows, dtype=np.int64).reshape(count, len(self.levels))

    def pmf(self, targets: Sequence[range], records: PlaceCounts, bits: int = 64) -> Enclosure:
        """The probability that each level's place is among its targets; exact where e^rate is rational."""
        law, starts = self.law(records)
        lower = upper = Fraction(0)
        for places in product(*targets):
            if all(low <= high for low, high in pairwise(places)):
                runs = [bisect_left(starts, place + 1) - 1 for place in places]
                mass = law.pmf(runs, bits)
                lower, upper = lower + mass.lower, upper + mass.upper
        return Enclosure(lower, upper)

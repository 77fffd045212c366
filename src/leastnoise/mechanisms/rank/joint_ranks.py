"""All quantiles at once by one exponential mechanism (Gillenwater, Joseph and Kulesza, ICML 2021).

Places o₁ ≤ … ≤ oₘ for the levels q₁ < … < qₘ cut the n records into m + 1 parts; part j should hold cⱼ = (qⱼ − qⱼ₋₁)·n
of them. The score is −Σⱼ |records in part j − cⱼ|. One record more or less adds one to one part and qⱼ − qⱼ₋₁ to every
cⱼ, so it moves the score by at most Δ = 2·(1 − minⱼ(qⱼ − qⱼ₋₁)); one that is exchanged by at most Δ = 2. Every
non-decreasing sequence has base weight one, so P ∝ e^(ε/(2Δ)·score) is ε-private and of bounded range ε.

The law is drawn exactly in the number of ranks that matter: a sequence whose member j is more than T records off has a
score of at most −2T (the parts up to j, and those after it, are off by at least T together), and there are at most
places^m sequences. So beyond T = (m·ln places + 45)/(2·rate) + (minus the score of some good sequence)/2 all have
together a share below 2^-64.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise, product

import numpy as np

from leastnoise.exact.enclosures import Enclosure, ln_above
from leastnoise.exact.numbers import Exact
from leastnoise.exact.samplers.joint_exponential import JointExponentialLaw
from leastnoise.exact.sources import Source, system_source
from leastnoise.mechanisms.rank.rank_law import rational_below
from leastnoise.mechanisms.rank.tally import PlaceCounts, Places

__all__ = ["JointRanks", "score_change"]

_REST_EXPONENT = 45  # e^-45 < 2^-64


def score_change(levels: Sequence[Fraction], *, exchange: bool) -> Fraction:
    """Δ: by how much one record moves the score of any sequence, at most.

    >>> score_change([Fraction(1, 4), Fraction(1, 2)], exchange=False)
    Fraction(3, 2)
    """
    return Fraction(2) if exchange else 2 * (1 - min(_shares(levels)))


def _shares(levels: Sequence[Fraction]) -> list[Fraction]:
    return [high - low for low, high in pairwise((Fraction(0), *levels, Fraction(1)))]


@dataclass(frozen=True)
class JointRanks:
    """The law of all quantiles together, given the places of the records.

    Attributes:
        levels: Increasing, strictly between 0 and 1.
        rate: Of the score, ε/(2Δ).
        last: The last place of the lattice.
    """

    levels: tuple[Fraction, ...]
    rate: Exact
    last: int

    @property
    def reach(self) -> Fraction:
        """How many records off a member may be, beside half of the score of a good sequence."""
        return (len(self.levels) * ln_above(self.last + 1) + _REST_EXPONENT) / (2 * rational_below(self.rate))

    def law(self, records: PlaceCounts) -> tuple[JointExponentialLaw, list[int]]:
        """The law on the runs of places with the same records at or below them, and where each run starts."""
        starts, ranks = [0, *records.places.tolist()], [0, *records.sums.tolist()]
        lengths = [high - low for low, high in pairwise((*starts, self.last + 1))]
        held = [i for i, length in enumerate(lengths) if length]
        ranks, starts = [ranks[i] for i in held], [starts[i] for i in held]
        wanted = [share * records.records for share in _shares(self.levels)]
        reach = self.reach + _penalty(ranks, wanted) / 2
        return JointExponentialLaw(ranks, [lengths[i] for i in held], wanted, self.rate, reach), starts

    def draw(self, records: PlaceCounts, count: int, source: Source | None) -> Places:
        """`count` independent rows with one place for each level."""
        law, starts = self.law(records)
        bits = source or system_source
        rows = [[starts[run] + place for run, place in law.draw(bits)] for _ in range(count)]
        return np.array(rows, dtype=np.int64).reshape(count, len(self.levels))

    def pmf(self, targets: Sequence[range], records: PlaceCounts, bits: int = 64) -> Enclosure:
        """The probability that each level's place is among its targets; exact where e^rate has rational roots."""
        law, starts = self.law(records)
        lower = upper = Fraction(0)
        for places in product(*targets):
            if all(low <= high for low, high in pairwise(places)):
                runs = [bisect_left(starts, place + 1) - 1 for place in places]
                mass = law.pmf(runs, bits)
                lower, upper = lower + mass.lower, upper + mass.upper
        return Enclosure(lower, upper)


def _penalty(ranks: Sequence[int], wanted: Sequence[Fraction]) -> Fraction:
    """Minus the score of the sequence of runs whose ranks are nearest to the wanted ones."""
    chosen = [0]
    for target in list(accumulate(wanted))[:-1]:
        place = bisect_left(ranks, target)
        near = ranks[max(place - 1, 0) : place + 1]
        chosen.append(min(near, key=lambda rank: abs(rank - target)))
    chosen.append(int(sum(wanted)))
    gaps = zip(pairwise(chosen), wanted, strict=True)
    return sum((abs(high - low - c) for (low, high), c in gaps), start=Fraction(0))

"""Sequences of places by the joint exponential law, where the total that is wanted is drawn as well, and not told.

Pairs of a sequence and a total N = 0, step, 2·step, … have the weights of `joint_exponential`. All weights of a total
together are at most sequences·e^(−rate·|n − N|). So bits of U choose among the totals nearest to n, and where the bound
on all others leaves it open, more of them are looked at. For each of them only such runs are added up at first as can
matter beside the total nearest to n; what is left out is bounded in the same way.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from math import ceil, comb
from typing import Any

from leastnoise.errors import PrecisionExhausted
from leastnoise.exact.balls import Ball, below, evaluate
from leastnoise.exact.enclosures import Enclosure, enclose, ln_above, ln_below
from leastnoise.exact.numbers import Exact, rational_above, rational_below
from leastnoise.exact.samplers.joint_exponential import JointExponentialLaw, Power, ball_power, rational_power
from leastnoise.exact.sources import Source

__all__ = ["DrawnTotal", "reach_for"]

_WORD = 64
_LAST_PRECISION = 1 << 18
_SPARE_BITS = 24  # the totals that are looked at first hold all but such a share
_REST_EXPONENT = 45  # e^-45 < 2^-64


class DrawnTotal:
    """Sequences and totals together; the total is not told.

    Args:
        ranks: F of each run, increasing strictly.
        lengths: How many places each has, at least one.
        records: n, how many there are.
        wanted: What is wanted of each part for a total; it adds up to the total.
        step: Of the totals: 0, step, 2·step, …
        settled: A total from which on each part either wants at least n, or no more for a larger total.
        rate: Above zero.
    """

    def __init__(
        self,
        ranks: Sequence[int],
        lengths: Sequence[int],
        records: int,
        wanted: Callable[[int], Sequence[int]],
        step: int,
        settled: int,
        rate: Exact,
    ) -> None:
        self._ranks, self._lengths, self._records, self._wanted = ranks, lengths, records, wanted
        self._step, self._rate, self._last = step, rate, -(-settled // step)
        members = len(wanted(records)) - 1
        self._sequences = comb(sum(lengths) + members - 1, members)
        self._totals: dict[tuple[int, int, bool], tuple[Ball, Ball]] = {}
        self._law = lru_cache(maxsize=4)(self._new_law)

    def draw(self, source: Source) -> list[tuple[int, int]]:
        """One sequence: for each member its run and its place within the run."""
        word, bits, more = source.bits(_WORD), _WORD, _SPARE_BITS
        precision, whole = self._new_law(0).precision, False
        while precision <= _LAST_PRECISION:
            looked_at = self._near(more)
            chosen = evaluate(lambda: self._decide(word, bits, looked_at, precision, whole), precision)  # noqa: B023 - called at once
            if chosen is not None:
                return self._law(looked_at[chosen]).draw(source)
            word, bits = (word << _WORD) | source.bits(_WORD), bits + _WORD
            more, precision, whole = bits + _SPARE_BITS, 2 * precision, True
        raise PrecisionExhausted("a draw could not be settled", fix="use a less extreme parameter")

    def pmf(self, runs: Sequence[int], bits: int = 64) -> Enclosure:
        """The chance of a sequence with its members in these runs, whatever the total: a sum over all totals."""
        indices = range(self._last + 1)
        exponents = [self._new_law(index).exponent(runs) for index in indices]
        power = rational_power(self._rate, max(self._records, self._last * self._step))
        if power is not None:
            weights = [self._times(index, power(-x), power) for index, x in zip(indices, exponents, strict=True)]
            sums = [self._times(index, self._new_law(index).total(power), power) for index in indices]
            return Enclosure(sum(weights) / sum(sums), sum(weights) / sum(sums))

        def share() -> Ball:
            power = ball_power(self._rate)
            weights = [self._times(index, power(-x), power) for index, x in zip(indices, exponents, strict=True)]
            found: Ball = sum(weights) / sum(
                self._times(index, self._new_law(index).total(power), power) for index in indices
            )
            return found

        return enclose(share, bits)

    def _new_law(self, index: int) -> JointExponentialLaw:
        given = self._ranks, self._lengths, self._records, self._wanted(index * self._step), self._rate
        return JointExponentialLaw(*given, reach_for(*given))

    def _times(self, index: int, weight: Any, power: Power) -> Any:
        """From the last total on, every step costs the same: they are one, with the sum of their weights."""
        return weight if index < self._last else weight / (1 - power(-self._step))

    @cached_property
    def _spread(self) -> Fraction:
        """Sequences with an exponent of E beyond this have together a share below e^(−rate·(E − spread))."""
        index = min(self._records // self._step, self._last)
        law = self._new_law(index)
        least = below(evaluate(lambda: law.total(ball_power(self._rate), near=True).log(), law.precision))
        return (ln_above(self._sequences) - least) / rational_below(self._rate)

    def _near(self, bits: int) -> list[int]:
        """The totals nearest to n, so many that the others have, about, a share of 2^-bits.

        They come in the order of their distance from n, which is below far + step for these and no less for all others.
        So a longer list begins with a shorter one, and U means the same total however many are looked at.
        """
        far = ceil(self._spread + bits / rational_below(self._rate))
        first, last = (self._records - far) // self._step, -(-(self._records + far) // self._step)
        found = range(max(min(first, self._last), 0), min(last, self._last) + 1)
        return sorted(found, key=lambda index: (abs(index * self._step - self._records), index))

    def _decide(self, word: int, bits: int, looked_at: list[int], precision: int, whole: bool) -> int | None:
        """Which of these totals it is, for U in [word, word + 1)·2^-bits; None if it is not clear."""
        power, first, last = ball_power(self._rate), min(looked_at), max(looked_at)
        totals = [self._total(index, precision, whole, power) for index in looked_at]
        at_least, at_most = (list(accumulate(part)) for part in zip(*totals, strict=True))
        rest = power(0) * 0
        if first > 0:
            rest = rest + power((first - 1) * self._step - self._records)
        if last < self._last:
            rest = rest + power(self._records - (last + 1) * self._step)
        rest = rest * self._sequences / (1 - power(-self._step))
        low, high = at_least[-1] * word / (1 << bits), (at_most[-1] + rest) * (word + 1) / (1 << bits)
        for place in range(len(looked_at)):
            if at_least[place] >= high:
                return place if place == 0 or at_most[place - 1] <= low else None
        return None

    def _total(self, index: int, precision: int, whole: bool, power: Power) -> tuple[Ball, Ball]:
        """Bounds of all weights of one total."""
        if (index, precision, whole) not in self._totals:
            total = index * self._step
            away = abs(self._records - total)
            reach = max(ceil((self._spread + _REST_EXPONENT / rational_below(self._rate) - away) / 2), 0)
            law = JointExponentialLaw(
                self._ranks, self._lengths, self._records, self._wanted(total), self._rate, None if whole else reach
            )
            near = law.total(power, near=True)
            most = near if law.is_whole else near + self._sequences * power(-away - 2 * reach)
            self._totals[index, precision, whole] = self._times(index, near, power), self._times(index, most, power)
        return self._totals[index, precision, whole]


def reach_for(ranks: Sequence[int], lengths: Sequence[int], records: int, wanted: Sequence[int], rate: Exact) -> int:
    """Sequences with a member farther than this have together a share below 2^-64.

    There are so many sequences at most, each of weight e^(−rate·(|n − N| + 2·reach)) at most.
    """
    members = len(wanted) - 1
    sequences = ln_above(comb(sum(lengths) + members - 1, members))
    excess = sequences + _REST_EXPONENT - ln_weight_below(ranks, lengths, records, wanted, rate)
    below = rational_below(rate)
    return max(ceil((excess / below - abs(records - sum(wanted))) / 2), 0)


def ln_weight_below(
    ranks: Sequence[int], lengths: Sequence[int], records: int, wanted: Sequence[int], rate: Exact
) -> Fraction:
    """At most the logarithm of the sum of all weights: that of sequences whose members keep to some runs each.

    Member j keeps to runs with a rank within 1/rate of its share of the records, or to the nearest one. These sets of
    runs follow each other. A set without a run of its own is the last place of the one before.
    """
    total, width = max(sum(wanted), 1), max(int(1 / rational_below(rate)), 1)
    low, high, places, before = [0], [0], 1, -1
    sums = [0, *accumulate(lengths)]
    for target in list(accumulate(wanted))[:-1]:
        aim = target * records // total
        first, last = bisect_left(ranks, aim - width), bisect_right(ranks, aim + width) - 1
        if first > last:
            first = last = max(last, 0)
        first = max(first, before + 1)
        if first <= last:
            places *= sums[last + 1] - sums[first]
        else:
            first = last = before
        low, high, before = [*low, ranks[first]], [*high, ranks[last]], last
    low, high = [*low, records], [*high, records]
    off = 0
    for c, (first, last), (lowest, highest) in zip(wanted, pairwise(low), pairwise(high), strict=True):
        off += max(highest - first - c, c - (last - lowest), 0)
    return ln_below(places) - off * rational_above(rate)

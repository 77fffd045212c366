"""Bayes capacities: the most that a channel can leak, over all priors, to somebody who guesses the input.

Multiplicative: Σ_y max_x C_xy, reached at the uniform prior (Braun, Chatzikokolakis and Palamidessi 2009).

Additive: the maximum over priors π of Σ_y max_x π_x·C_xy − max_x π_x. It is reached at a prior that is uniform on a set
S of inputs, so it is the maximum over S of (F(S) − 1)/|S| with F(S) = Σ_y max_{x∈S} C_xy. Proof: let t be the maximum.
On the cube 0 ≤ v ≤ 1 the function h(v) = Σ_y max_x v_x·C_xy − 1 − t·Σ_x v_x is convex, hence largest at a corner; at an
optimal π scaled to max_x v_x = 1 it is 0, so some corner has h ≥ 0, and not the corner 0, where h = −1. A corner
other than 0 is the indicator of a set S, and h ≥ 0 says (F(S) − 1)/|S| ≥ t.

To find S is NP-hard in general (set packing is a case of it). Branch and bound, best bound first, with two bounds: F is
submodular, so F(S ∪ A) ≤ F(S) + Σ_{a∈A} (F(S ∪ a) − F(S)); and no set leaks more than the channel's total-variation
radius, which often settles the matter at once.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import count
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.matrices import RationalMatrix
from leastnoise.exact.parameters import read_integer
from leastnoise.model.channel import Channel
from leastnoise.model.priors import Prior, uniform
from leastnoise.model.radius import small_ball

__all__ = ["AdditiveCapacity", "bayes_capacity_additive", "bayes_capacity_multiplicative"]


class AdditiveCapacity(NamedTuple):
    """The additive Bayes capacity: at least what `prior` leaks, at most a proven bound, equal unless at the limit."""

    value: Enclosure
    prior: Prior


def bayes_capacity_multiplicative(channel: Channel) -> Fraction | float:
    """Σ_y max_x C_xy: the largest factor by which the chance of guessing the input can grow, over all priors.

    >>> bayes_capacity_multiplicative(Channel([["3/4", "1/4"], ["1/4", "3/4"]]))
    Fraction(3, 2)
    """
    entries = channel.entries
    if isinstance(entries, RationalMatrix):
        return sum((most for most, _ in entries.column_maxima()), start=Fraction(0))
    return float(entries.max(axis=0).sum())


def bayes_capacity_additive(channel: Channel, limit: int = 1000) -> AdditiveCapacity:
    """The largest amount by which the chance of guessing the input can grow, over all priors, with such a prior.

    Args:
        channel: Floats are taken as the rationals they are.
        limit: How many sets to branch on. If that is not enough the value is an enclosure that is not a point.

    >>> bayes_capacity_additive(Channel([[1, 0], ["1/2", "1/2"]]))
    AdditiveCapacity(value=Enclosure(1/4), prior=Prior({0: 1/2, 1: 1/2}))
    """
    limit = read_integer(limit, "limit", at_least=0)
    exact = channel.rationals()
    ball = small_ball(exact.rows)
    search = _Search(exact, ball.radius)
    search.try_set(ball.touching)
    search.try_set(search.greedy())
    upper = search.run(limit)
    prior = uniform([channel.inputs[x] for x in search.members])
    return AdditiveCapacity(Enclosure(search.best, upper), prior)


class _Search:
    """Maximise (F(S) − 1)/|S|, in whole numbers: every row times the common denominator `one`."""

    def __init__(self, matrix: RationalMatrix, radius: Fraction) -> None:
        whole = matrix.whole_rows()
        self.one, self.radius = lcm(*(denominator for _, denominator in whole)), radius
        rows = [[entry * (self.one // denominator) for entry in row] for row, denominator in whole]
        fits = self.one * matrix.shape[1] < 1 << 62
        self.rows: NDArray[Any] = np.array(rows, dtype=np.int64 if fits else object)
        self.members: tuple[int, ...] = (0,)
        self.best = self._value(sum(rows[0]), 1)

    def try_set(self, members: Sequence[int]) -> None:
        """Remember a set if it leaks more than the best so far."""
        if members:
            value = self._value(int(self.rows[list(members)].max(axis=0).sum()), len(members))
            if value > self.best:
                self.best, self.members = value, tuple(sorted(members))

    def greedy(self) -> list[int]:
        """Take two inputs that are far apart, and add the input that adds most as long as the average grows."""
        first = int(np.maximum(self.rows, self.rows[0]).sum(axis=1).argmax())
        second = int(np.maximum(self.rows, self.rows[first]).sum(axis=1).argmax())
        members = sorted({first, second})
        while True:
            cover = self.rows[members].max(axis=0)
            gains = np.maximum(self.rows, cover).sum(axis=1)
            best = int(gains.argmax())
            if self._value(int(gains[best]), len(members) + 1) <= self._value(int(cover.sum()), len(members)):
                return members
            members.append(best)

    def run(self, limit: int) -> Fraction:
        """Branch until no set can be better, or `limit` times; the bound on what is left."""
        ticket = count()  # the heap never compares sets
        heap: list[tuple[Fraction, int, tuple[int, ...]]] = [(-self.radius, next(ticket), ())]
        while heap:
            negative_bound, _, members = heapq.heappop(heap)
            if -negative_bound <= self.best:
                break
            if limit == 0:
                return -negative_bound
            limit -= 1
            for bound, grown in self._branches(members):
                if bound > self.best:
                    heapq.heappush(heap, (-min(bound, self.radius), next(ticket), grown))
        return self.best

    def _branches(self, members: tuple[int, ...]) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
        """The sets with one later input more, each with a bound on what any set can reach that grows from it."""
        cover = self.rows[list(members)].max(axis=0) if members else self.rows[0] * 0
        total, start = int(cover.sum()), members[-1] + 1 if members else 0
        gains = (np.maximum(self.rows[start:], cover).sum(axis=1) - total).tolist()
        for x, gain in enumerate(gains, start):
            grown = (*members, x)
            value = self._value(total + gain, len(grown))
            if value > self.best:
                self.best, self.members = value, grown
            yield self._bound(total + gain, len(grown), gains[x + 1 - start :]), grown

    def _bound(self, total: int, size: int, gains: list[int]) -> Fraction:
        """The submodular bound: add the gains above the average, as if they were independent."""
        for gain in sorted(gains, reverse=True):
            if gain * size <= total - self.one:
                break
            total, size = total + gain, size + 1
        return self._value(total, size)

    def _value(self, covered: int, size: int) -> Fraction:
        return Fraction(covered - self.one, self.one * size)

"""Bayes capacities: the most that a channel can leak, over all priors, to somebody who guesses the input.

Multiplicative: Σ_y max_x C_xy, reached at the uniform prior (Braun, Chatzikokolakis and Palamidessi 2009).

Additive: the maximum over priors π of Σ_y max_x π_x·C_xy − max_x π_x. It is reached at a prior that is uniform on a set
S of inputs, so it is the maximum over S of (F(S) − 1)/|S| with F(S) = Σ_y max_{x∈S} C_xy. Proof: let t be the maximum.
On the cube 0 ≤ v ≤ 1 the function h(v) = Σ_y max_x v_x·C_xy − 1 − t·Σ_x v_x is convex, hence largest at a corner; at an
optimal π scaled to max_x v_x = 1 it is 0, so some corner has h ≥ 0, and not the corner 0, where h = −1. A corner other
than 0 is the indicator of a set S, and h ≥ 0 says (F(S) − 1)/|S| ≥ t.

To find S is NP-hard in general (set packing is a case of it). Branch and bound, best bound first, with two bounds: F is
submodular, so F(S ∪ A) ≤ F(S) + Σ_{a∈A} (F(S ∪ a) − F(S)); and no set leaks more than the channel's total-variation
radius, which often settles the matter at once.

The total-variation radius is that of the smallest ball around all rows, and an upper bound of capacity. For any
distribution u over the outputs and any set S of inputs, max_{x∈S} C_xy ≤ u_y + Σ_{x∈S} (C_xy − u_y)⁺. Summing over y,
Σ_y max_{x∈S} C_xy ≤ 1 + |S|·max_x TV(C_x, u) with TV(C_x, u) = Σ_y (C_xy − u_y)⁺. The best u is found by a linear
program (the dual of the relaxed search for S), and any u at all gives a bound that holds.
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

from leastnoise.exact import Enclosure, RationalMatrix, read_integer
from leastnoise.model.channel import Channel
from leastnoise.model.float_programs import guess_optimum
from leastnoise.model.priors import Prior, uniform

__all__ = [
    "AdditiveCapacity",
    "EnclosingBall",
    "bayes_capacity_additive",
    "bayes_capacity_multiplicative",
    "distance_above",
    "small_ball",
]

_NEAR = 1e-9  # what a float solver may mean by equal
_MOST_FOR_SOLVER = 1 << 16  # entries; beyond, the mean of the rows is a good enough center

Rows = Sequence[Sequence[Fraction]]


class EnclosingBall(NamedTuple):
    """A distribution over the outputs, and the largest total variation of any row from it, both exact.

    `touching` are the inputs that the solver believes to hold the ball in place: a guess at the worst prior.
    """

    center: tuple[Fraction, ...]
    radius: Fraction
    touching: tuple[int, ...]


def small_ball(rows: Rows) -> EnclosingBall:
    """A ball around all rows; the smallest where the solver's guess, made exact, is right, and a ball in any case."""
    floats = np.array([[float(entry) for entry in row] for row in rows])
    center, touching = _guess_center(floats)
    candidates = [_exact_center(rows, floats, center), _rational_center(center)]
    found = [u for u in candidates if u is not None]
    balls = [EnclosingBall(u, max(distance_above(row, u) for row in rows), touching) for u in found]
    return min(balls, key=lambda ball: ball.radius)


def distance_above(row: Sequence[Fraction], center: Sequence[Fraction]) -> Fraction:
    """Σ_y (row_y − center_y)⁺, the total variation if both are distributions."""
    return sum((p - u for p, u in zip(row, center, strict=True) if p > u), start=Fraction(0))


def _guess_center(floats: NDArray[np.float64]) -> tuple[NDArray[np.float64], tuple[int, ...]]:
    """Minimise t over u, s ≥ 0 with s_xy ≥ C_xy − u_y, Σ_y s_xy ≤ t and Σ u = 1; the prices of t weigh the inputs."""
    from scipy import sparse  # half a second to import, and seldom needed

    if floats.size > _MOST_FOR_SOLVER:
        return floats.mean(axis=0), ()
    height, width = floats.shape
    eye, ones = sparse.identity, np.ones
    blocks: list[list[Any]] = [
        [ones((1, width)), None, None],
        [sparse.kron(ones((height, 1)), eye(width)), eye(height * width), None],
        [None, sparse.kron(eye(height), -ones((1, width))), ones((height, 1))],
    ]
    cost = np.append(np.zeros(width + height * width), 1.0)
    least = np.concatenate([ones(1), floats.ravel(), np.zeros(height)])
    most = np.append(1.0, np.full(len(least) - 1, np.inf))
    guess = guess_optimum(cost, sparse.block_array(blocks), least, most)
    if guess is None:
        return floats.mean(axis=0), ()
    weights = guess.prices[-height:]
    return guess.point[:width], tuple(np.flatnonzero(weights > weights.max() / 2).tolist())


def _rational_center(center: NDArray[np.float64]) -> tuple[Fraction, ...]:
    parts = [Fraction(max(0.0, entry)) for entry in center.tolist()]
    total = sum(parts, start=Fraction(0))
    return tuple(part / total for part in parts)


def _exact_center(rows: Rows, floats: NDArray[np.float64], center: NDArray[np.float64]) -> tuple[Fraction, ...] | None:
    """The vertex that the guess is near: u_y is 0, or an entry of column y, or left to the rows that touch the ball."""
    fixed: dict[int, Fraction] = {}
    for y, guess in enumerate(center):
        nearest = int(np.abs(floats[:, y] - guess).argmin())
        if guess < _NEAR:
            fixed[y] = Fraction(0)
        elif abs(floats[nearest, y] - guess) < _NEAR:
            fixed[y] = rows[nearest][y]
    free = [y for y in range(len(center)) if y not in fixed]
    if not free:
        return tuple(fixed[y] for y in range(len(center))) if sum(fixed.values()) == 1 else None
    distances = np.maximum(floats - center, 0).sum(axis=1)
    # Unknowns: u_y for y free, and the radius t. One equation per touching row, one for the sum.
    left, right = [[*([1] * len(free)), 0]], [[1 - sum(fixed.values(), start=Fraction(0))]]
    for x in np.flatnonzero(distances > distances.max() - _NEAR).tolist():
        counted = [y for y in free if floats[x, y] > center[y]]
        left.append([*(int(y in counted) for y in free), 1])
        known = distance_above([rows[x][y] for y in fixed], list(fixed.values()))
        right.append([sum((rows[x][y] for y in counted), start=known)])
    solution = RationalMatrix(left).solve(RationalMatrix(right))
    if solution is None or not solution.is_nonnegative():
        return None
    solved = dict(zip(free, (row[0] for row in solution.rows), strict=False))
    return tuple({**fixed, **solved}[y] for y in range(len(center)))


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

"""Many inputs: the guessed mixture made exactly private, and the guessed prices made a bound.

**Privacy.** Columns are made for a rate lower than ε by a share that is larger than all rounding, and every double
counts as the dyadic rational it is. What a row misses of a sum of one goes to one answer (as in `pure`): a share η is
kept for that, η ≥ τ·(λ + 1)/(λ − 1) for sums within τ of one and the least λ. Every pair of inputs is then compared on
the private side: p(y|x')·u ≤ p(y|x) with u ≥ e^(−ε·d(x, x')) and what products round off. What fails is not handed out.

**Bound.** What sources send are multipliers of the direct bounds between them and their sinks; on a graph it goes along
edges of a shortest way, and is reduced by e^-ε at each. Multipliers are rounded to whole multiples of a power of two,
which keeps a certificate short; any multipliers prove something, so the bound is computed from what is left of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import frexp

import numpy as np
from numpy.typing import NDArray

from leastnoise.designer.linear.attenuated_transport import Shipment
from leastnoise.designer.linear.clock import Clock
from leastnoise.designer.linear.many_inputs import generate_many
from leastnoise.designer.result import Design
from leastnoise.exact import Enclosure, IntArray, RationalMatrix, double_of, exp_above, exp_bounds
from leastnoise.mechanisms.designed.designed_mechanism import DesignedMechanism
from leastnoise.model import Channel, DesignProblem, Multiplier, OptimalityCertificate

__all__ = ["Result", "Space", "is_private", "solve_many", "spread_out"]

Floats = NDArray[np.float64]
Flow = tuple[int, int, int, int]  # input, neighbour, output, multiplier in units

_DEEPEST = 600.0  # exponents of e beyond it count as this one, on the private side
_ROUNDING = 2.0**-48  # more than a few roundings of doubles
_LEAST_SLACK, _MOST_SLACK = 1e-7, 0.05
_SEEN = 4e-12  # of the exponent: more than certified exponentials are off by
_BITS = 16  # of a multiplier of the size of the bound shared among all inputs
_CLOSE = 1e-9
_LEAST_CHANCE = 1e-290
_FACTOR_BITS = 52  # a double above 1 is a whole multiple of 2^-52


@dataclass(frozen=True)
class Space:
    """Distances as doubles, with what follows for ε.

    Attributes:
        problem: The request.
        exponents: ε·d(x, x'), nearly.
    """

    problem: DesignProblem
    exponents: Floats

    @cached_property
    def nearest(self) -> float:
        """The least exponent of two inputs."""
        size = len(self.exponents)
        return float(self.exponents[~np.eye(size, dtype=bool)].min())

    @cached_property
    def slack(self) -> float:
        """By what share the rate of columns is lower than ε."""
        return float(np.clip(_SEEN / self.nearest, _LEAST_SLACK, _MOST_SLACK))

    @property
    def nearness(self) -> Floats:
        """e^(−ε·d) at the lower rate."""
        near: Floats = np.exp(-np.minimum(self.exponents, _DEEPEST) * (1 - self.slack))
        return near

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Doubles at most and at least e^(−ε·d); ε·d itself was rounded a few times."""
        size = np.minimum(self.exponents, _DEEPEST)
        lower, upper = exp_bounds(-size.ravel() * (1 + _ROUNDING), -size.ravel() * (1 - _ROUNDING))
        return lower.reshape(size.shape), upper.reshape(size.shape)

    @cached_property
    def factors(self) -> Floats:
        """λ ≥ e^(ε·d); of no use beyond the deepest exponent."""
        above: Floats = np.nextafter(1 / self.bounds[0] * (1 + _ROUNDING), np.inf)
        return above

    @cached_property
    def next_steps(self) -> IntArray | None:
        """On a graph the neighbour of x that is nearer to s, for each x and s; None on a metric, where s is next."""
        graph = self.problem.graph
        if graph.edge_lengths() is not None:
            return None
        distances = graph.distances()
        steps = np.tile(np.arange(len(distances)), (len(distances), 1))
        for one, other in graph.edges().tolist():
            for x, near in ((one, other), (other, one)):
                steps[x] = np.where(distances[near] == distances[x] - 1, near, steps[x])
        return steps

    def pairs(self) -> Iterator[tuple[int, IntArray]]:
        """Each input with those that are bound to it."""
        graph, size = self.problem.graph, len(self.exponents)
        if graph.edge_lengths() is not None:
            yield from ((x, np.delete(np.arange(size), x)) for x in range(size))
            return
        edges = graph.edges()
        both = np.concatenate([edges, edges[:, ::-1]])
        both = both[np.argsort(both[:, 0], kind="stable")]
        yield from (
            (x, near) for x, near in enumerate(np.split(both[:, 1], np.searchsorted(both[:, 0], np.arange(1, size))))
        )


@dataclass(frozen=True)
class Result:
    """An exactly private channel, and multipliers in units of 2^-bits."""

    space: Space
    rows: list[list[Fraction]]
    flows: list[Flow]
    bits: int

    @cached_property
    def channel(self) -> Channel:
        """The law with its labels."""
        problem = self.space.problem
        return Channel.of_entries(RationalMatrix(self.rows), tuple(problem.graph.nodes), tuple(problem.answers))

    @cached_property
    def losses(self) -> tuple[tuple[Fraction, ...], ...]:
        """ℓ, a row for each output."""
        return self.space.problem.loss_table.rows

    @cached_property
    def loss(self) -> Fraction:
        """The expected loss, exactly."""
        total = Fraction(0)
        for weight, row, losses in zip(
            self.space.problem.weights, self.rows, zip(*self.losses, strict=True), strict=True
        ):
            total += weight * sum((p * cost for p, cost in zip(row, losses, strict=True) if p), start=Fraction(0))
        return total

    @cached_property
    def lower_bound(self) -> Fraction:
        """Σ_x min_y c(y, x) of the checker, in whole numbers until the minimum is taken."""
        weights, factors = self.space.problem.weights, self.space.factors
        added = [[0] * len(self.losses) for _ in weights]  # in units of 2^-(bits + 52)
        for x, neighbour, output, units in self.flows:
            added[x][output] += units << _FACTOR_BITS
            added[neighbour][output] -= units * int(factors[x, neighbour] * 2.0**_FACTOR_BITS)
        scale, total = 1 << (self.bits + _FACTOR_BITS), Fraction(0)
        for x, (weight, more) in enumerate(zip(weights, added, strict=True)):
            rough = [
                float(weight) * float(row[x]) + extra / scale for row, extra in zip(self.losses, more, strict=True)
            ]
            limit = min(rough) + _CLOSE * max(map(abs, rough))
            total += min(
                weight * row[x] + Fraction(extra, scale)
                for row, extra, near in zip(self.losses, more, rough, strict=True)
                if near <= limit
            )
        return total

    def certificate(self) -> OptimalityCertificate:
        """Channel, loss, bound and multipliers."""
        problem, unit = self.space.problem, 1 << self.bits
        return OptimalityCertificate(
            problem.graph,
            problem.privacy,
            self.channel,
            objective="average",
            prior=problem.weights,
            loss=self.losses,
            value=self.loss,
            lower_bound=self.lower_bound,
            gap=self.loss - self.lower_bound,
            factors=self._factors(),
            multipliers=tuple(Multiplier(x, near, y, Fraction(units, unit)) for x, near, y, units in self.flows),
        )

    def _factors(self) -> tuple[tuple[Fraction, Fraction], ...]:
        graph, epsilon = self.space.problem.graph, self.space.problem.privacy.epsilon
        lengths = graph.edge_lengths() or [Fraction(1)] * len(graph.edges())
        found = {}
        for (x, y), length in zip(graph.edges().tolist(), lengths, strict=True):
            if length not in found:
                is_deep = self.space.exponents[x, y] > _DEEPEST * (1 - _ROUNDING)
                found[length] = exp_above(epsilon * length) if is_deep else Fraction(float(self.space.factors[x, y]))
        return tuple(sorted(found.items()))


def spread_out(problem: DesignProblem) -> Space:
    """The distances of a problem as exponents."""
    return Space(problem, double_of(problem.privacy.epsilon) * np.array(problem.graph.distances(), dtype=np.float64))


def solve_many(problem: DesignProblem, clock: Clock) -> Design:
    """An ε-private channel and a bound, both exact, where the exact program would be too large."""
    clock.enter("generating columns")
    space = spread_out(problem)
    losses = np.array([[float(loss) for loss in row] for row in problem.loss_table.rows])
    least, extent = losses.min(), float(np.ptp(losses)) or 1.0
    weights = np.array([float(weight) for weight in problem.weights])
    costs = weights[:, None] * ((losses - least) / extent).T
    guess = generate_many(space.nearness, costs, losses.argmin(axis=1), clock)
    clock.enter("making it exact")
    constant = int(costs.sum(axis=0).argmin())
    bits = _bits(max(guess.bound, 1e-12) * extent / len(weights))
    flows = [flow for y, sent in enumerate(guess.shipments) for flow in _flows(space, y, sent, extent * 2.0**bits)]
    best = Result(space, _constant_rows(losses.shape[0], len(weights), constant), flows, bits)
    rows = _whole_rows(space, guess.law, constant)
    if rows is not None:
        best = min(best, Result(space, rows, flows, bits), key=lambda result: result.loss)
    free = Result(space, best.rows, [], bits)
    if free.lower_bound > best.lower_bound:
        best = free
    mechanism = DesignedMechanism(best.channel, problem, best.lower_bound, partial(getattr, best, "certificate"))
    return Design(
        problem,
        mechanism,
        loss=Enclosure(best.loss, best.loss),
        lower_bound=Enclosure(best.lower_bound, best.lower_bound),
        gap=best.loss - best.lower_bound,
        reason=mechanism.reason(),
        route="lp",
        make_channel=lambda: best.channel,
        make_certificate=best.certificate,
    )


def _bits(size: float) -> int:
    return max(0, _BITS - frexp(size)[1])


def _constant_rows(outputs: int, inputs: int, constant: int) -> list[list[Fraction]]:
    return [[Fraction(output == constant) for output in range(outputs)] for _ in range(inputs)]


def _whole_rows(space: Space, law: Floats, constant: int) -> list[list[Fraction]] | None:
    """Rows of sum one that keep to ε exactly; None if doubles can't show that they do."""
    miss = float(np.abs(law.sum(axis=1) - 1).max()) + len(law) * _ROUNDING
    ratio = np.expm1(min(space.nearest, 1.0))
    share = 2.0 ** np.ceil(np.log2(2 * miss * (2 + ratio) / ratio))
    if share >= 1:
        return None
    kept = law * (1 - share)
    rows = [[Fraction(p) for p in row] for row in kept.tolist()]
    for row in rows:
        row[constant] += 1 - sum(row, start=Fraction(0))
    kept[:, constant] = [float(row[constant]) for row in rows]
    return rows if min(row[constant] for row in rows) >= 0 and is_private(space, kept) else None


def is_private(space: Space, law: Floats) -> bool:
    """Whether p(y|x')·e^(−ε·d(x, x')) ≤ p(y|x) for all that are bound; entries may be off by one rounding."""
    upper = space.bounds[1]
    if not ((law >= _LEAST_CHANCE).all(axis=0) | (law == 0).all(axis=0)).all():
        return False  # products of smaller doubles are no longer off by a share only
    for x, near in space.pairs():
        factors = upper[x, near] * (1 + _ROUNDING)
        if not (law[near] * factors[:, None] <= law[x]).all():
            return False
    return True


def _flows(space: Space, output: int, sent: Shipment, unit: float) -> Iterator[Flow]:
    """Multipliers of one output: what arrives at the end of each step, of a source's way to its sink."""
    if not len(sent.sources):
        return
    size = len(space.exponents)
    here, amounts, steps = sent.sources.copy(), sent.amounts * unit, space.next_steps
    total = np.zeros(size * size)
    while len(here):
        there = sent.sinks if steps is None else steps[here, sent.sinks]
        amounts = amounts / space.factors[there, here]
        np.add.at(total, there * size + here, amounts)
        going = there != sent.sinks
        here, amounts, sent = there[going], amounts[going], Shipment(*(part[going] for part in sent))
    for place in np.flatnonzero(total >= 1).tolist():
        yield place // size, place % size, output, int(total[place])

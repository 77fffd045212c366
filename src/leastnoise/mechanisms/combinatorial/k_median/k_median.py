"""Private facilities: k of the public points, near to a private multiset of demand points, by noisy local search.

Start with k public points. T times, choose one of the k·(n − k) swaps by the exponential mechanism, P ∝ e^(−ε'·cost/Δ)
with Δ the diameter; then choose one of the T + 1 sets that were seen in the same way (Tóthmérész 2013, Algorithm 4,
after Gupta et al. 2010). Neighbours have one demand point more or less, which moves all costs the same way, by at most
Δ: scores are one-sided, so that each of the T + 1 choices costs ε', half of what the thesis counts. The last set is a
candidate too. Distances are rounded to public steps, so that costs are integers and every choice is sampled exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
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
    categorical_exp,
    enclose,
    of_fraction,
    read_epsilon,
    read_integer,
    read_rational,
    require_secure,
    shape_of,
    system_source,
)
from leastnoise.mechanisms.choice.selection import exponential_regret
from leastnoise.mechanisms.combinatorial.k_median.local_search import (
    DemandLike,
    Facilities,
    cost_of,
    equal_share,
    farthest_first,
    least_extra_cost,
    read_demand,
    search_law,
    swap_table,
    swapped,
)
from leastnoise.mechanisms.combinatorial.k_median.metric import (
    MOST_STEPS,
    BlockMetric,
    PointsInSpace,
    PublicMetric,
    read_metric,
)
from leastnoise.mechanisms.rank.quantile import growing_databases
from leastnoise.model import (
    BoundedRange,
    Channel,
    Composed,
    ErrorEstimate,
    Mechanism,
    Privacy,
    PrivacyCertificate,
    Reason,
)

__all__ = ["KMedian"]

Progress = Callable[[str, int], None]

_MOST_PATHS = 20_000
_MOST_STEPS = 10**4
_MOST_WORK = 10**12  # distances
_LARGEST_COST = 1 << 61
_ROUNDING = Fraction(65, 64)  # distances are rounded by half a step, and by less than a hundredth before that
_NEVER = Enclosure(Fraction(0), Fraction(0))


@dataclass(frozen=True, init=False)
class KMedian(Mechanism):
    """k facilities with small total distance to the demand. The truth is the demand: places, or a count for each.

    Where the points are in space, the demand may also be an array with a row of coordinates for each demand point. It
    counts at the nearest public point, such as that of a grid. Demand outside the public points does not count, and a
    place's demand counts up to `most` points, which is public (see `read_demand`): no demand is refused. `cost_bound`
    and `error` are stated for demands within that.

    Args:
        epsilon: The privacy of one release.
        k: How many facilities.
        points: The public points: coordinates in space, a row for each; or
        matrix: the distances between them; or
        metric: a function from two arrays of places to the block of distances between them, for
        count: so many points.
        delta: Where it is above zero, the choices are composed as concentrated ones, and each may take more of epsilon.
        steps: How many swaps, T; 3k if left out. All swaps together look at T·n² distances, at most 10^12.
        diameter: Larger distances count as this one; the largest if left out.
        resolution: How many steps the diameter has; distances are rounded to the nearest.
        squared: Whether the squares of the distances between points in space are added up (k-means, with its centres
            among the public points).

    >>> town = KMedian("2*ln(2)", 1, matrix=[[0, 1], [1, 0]], steps=1, resolution=1)
    >>> town.pmf((1,), [1, 1, 1]), town.cost_of((1,), [0, 1, 1])
    (Enclosure(8/9), Fraction(1, 1))
    """

    name: ClassVar[str] = "private k-median"
    epsilon: Exact
    delta: Fraction
    k: int
    steps: int
    metric: PublicMetric

    def __init__(
        self,
        epsilon: NumberLike,
        k: NumberLike,
        *,
        points: Any = None,
        matrix: Any = None,
        metric: BlockMetric | None = None,
        count: NumberLike | None = None,
        delta: NumberLike = 0,
        steps: NumberLike | None = None,
        diameter: NumberLike | None = None,
        resolution: NumberLike = MOST_STEPS,
        squared: bool = False,
    ) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(epsilon))
        object.__setattr__(self, "delta", read_rational(delta, "delta", at_least=0, below=1))
        public = read_metric(
            points=points,
            matrix=matrix,
            metric=metric,
            count=count,
            diameter=diameter,
            resolution=resolution,
            squared=squared,
        )
        object.__setattr__(self, "metric", public)
        object.__setattr__(self, "k", read_integer(k, "k", at_least=1, at_most=public.count - 1))
        swaps = 3 * self.k if steps is None else read_integer(steps, "steps", at_least=1)
        if swaps > min(_MOST_STEPS, _MOST_WORK // public.count**2):
            raise TooLarge("so many steps would take too long", given=swaps, fix="pass fewer steps, or join points")
        object.__setattr__(self, "steps", swaps)

    @cached_property
    def share(self) -> Exact:
        """ε', what each of the T + 1 choices costs."""
        return equal_share(self.epsilon, self.delta, self.steps + 1)

    @property
    def rate(self) -> Exact:
        """ε' for each diameter, in steps of the distances."""
        return self.share / self.metric.resolution

    @property
    def event(self) -> Composed:
        """T + 1 exponential mechanisms of ε' each; within (epsilon, delta) together."""
        return Composed((BoundedRange(self.share),) * (self.steps + 1))

    def draw(
        self,
        truth: DemandLike,
        size: Size = None,
        source: Source | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """The places of k facilities, in order; with `size` an array whose last axis, added, holds them.

        `progress(what, times)` is called before every swap. An exception raised in it ends the draw; nothing is kept.
        """
        counts, shape = self.read(truth), shape_of(size)
        drawn = [self._search(counts, source or system_source, progress) for _ in range(prod(shape))]
        return drawn[0] if size is None else np.array(drawn, dtype=np.int64).reshape((*shape, self.k))

    def release(self, truth: DemandLike, source: Source | None = None, progress: Progress | None = None) -> Any:
        """The places of k facilities, with unpredictable noise only."""
        return self.draw(truth, source=require_secure(source), progress=progress)

    def law(self, truth: DemandLike, bits: int = 64) -> Mapping[Facilities, Enclosure]:
        """P(facilities | demand), by following every path of the search; for a few points and steps only.

        Raises:
            TooLarge: There are too many paths.
        """
        paths = (self.k * (self.metric.count - self.k)) ** min(self.steps, _MOST_PATHS.bit_length())
        if paths > _MOST_PATHS:
            raise TooLarge(
                f"the law is only written down for at most {_MOST_PATHS} ways to swap", given=paths, fix="draw instead"
            )
        return search_law(self.metric, self.read(truth), self.start, self.steps, self.rate, bits)

    def pmf(self, output: Hashable, truth: DemandLike, bits: int = 64) -> Enclosure:
        """P(output | demand), for a few points and steps."""
        return self.law(truth, bits).get(output, _NEVER) if isinstance(output, tuple) else _NEVER

    def cost_of(self, facilities: Facilities, truth: DemandLike) -> Fraction:
        """The total (rounded) distance to the demand. This is private: for whoever holds the demand."""
        places = np.array(facilities, dtype=np.int64)
        return cost_of(self.metric, self.read(truth), places) * self.step

    @property
    def most(self) -> int:
        """How many demand points a place has at most; more count as so many. No cost then leaves 64 bits."""
        return _LARGEST_COST // (self.metric.resolution * self.metric.count)

    @property
    def step(self) -> Fraction:
        """What one step of the rounded distances measures."""
        return Fraction(self.metric.diameter) / self.metric.resolution

    @cached_property
    def start(self) -> Facilities:
        """Where the search starts: k public points far from each other."""
        return tuple(sorted(farthest_first(self.metric, self.k)[0].tolist()))

    def error(self) -> ErrorEstimate:
        """k·R + R', the additive part of `cost_bound`: what all the noise costs, expected."""
        swaps = exponential_regret(Fraction(self.k * (self.metric.count - self.k) - 1), self.rate).upper
        last = exponential_regret(Fraction(self.steps), self.rate).upper
        bound = (self.k * swaps + last) * self.step
        return ErrorEstimate("cost from noise", Enclosure(bound, bound), attained=False)

    def cost_bound(self, least_cost: NumberLike, demand_points: NumberLike) -> Fraction:
        """The expected cost, at most: 5·least + (1 − 1/k)^T·demand·Δ + noise, and what rounding may add.

        Tóthmérész 2013, Proposition 2.6, with Theorem 2.3 (Arya et al. 2004), as an expectation with its constants.

        Raises:
            BadParameter: The distances are not known to be a metric, which the theorem needs.
        """
        least = read_rational(least_cost, "least_cost", at_least=0)
        people = read_integer(demand_points, "demand_points", at_least=0)
        if not self.metric.is_metric:
            raise BadParameter(
                "the distances are not known to be a metric, so no bound of the cost is known",
                given=f"{self.metric.count} points",
                fix="pass points in space, or a symmetric table of at most 1024 points that obeys the triangle",
            )
        share = enclose(lambda: of_fraction(Fraction(self.k - 1, self.k)) ** self.steps).upper
        remaining = share * people * Fraction(self.metric.diameter)
        return 5 * least + remaining + self.error().expected.upper + (self.k + 1) * people * self.step * _ROUNDING

    def reason(self) -> Reason:
        """Local search within a factor five, and the packing bound, where the distances are a metric."""
        if not self.metric.is_metric:
            return Reason(
                "the exponential mechanism finds nearly the best swap; one-sided scores cost half of what the thesis "
                "counts. The distances are not known to be a metric, so neither a factor nor a bound is stated",
                "Tóthmérész 2013, Algorithm 4; Gupta et al., SODA 2010; docs/theory/k_median.md",
            )
        least = least_extra_cost(self.metric, self.k, self.epsilon)
        return Reason(
            "some swap brings the cost nearer to five times the least by a factor 1 − 1/k (Arya et al. 2004), and the "
            "exponential mechanism finds nearly the best one; one-sided scores cost half of what the thesis counts",
            "Tóthmérész 2013, Algorithm 4, Propositions 2.5 and 2.6; Gupta et al., SODA 2010; docs/theory/k_median.md",
            None if self.delta else Enclosure(least.lower * self.step, least.upper * self.step),
        )

    def certificate(self) -> PrivacyCertificate:
        """One facility among three points one apart, for at most two demand points and two swaps of the same share.

        Raises:
            BadParameter: e^share is irrational.
        """
        swaps = min(self.steps, 2)
        apart = [[int(i != j) for j in range(3)] for i in range(3)]
        small = KMedian(self.share * (swaps + 1), 1, matrix=apart, steps=swaps, resolution=1)
        databases = growing_databases(2, 3)
        laws = [small.law(demand) for size in range(3) for demand in combinations_with_replacement(range(3), size)]
        if not all(p.is_exact for law in laws for p in law.values()):
            raise BadParameter(
                f"the law of the {self.name} is irrational here, so no exact channel can be certified",
                fix=f'choose an epsilon with rational e^(epsilon/{self.steps + 1}), such as "{self.steps + 1}*ln(2)"',
            )
        outputs = [(place,) for place in range(3)]
        rows = [[law.get(output, _NEVER).lower for output in outputs] for law in laws]
        return PrivacyCertificate(databases, Privacy(small.epsilon), Channel(rows, databases.nodes, outputs))

    def read(self, truth: DemandLike) -> NDArray[np.int64]:
        """How many demand points each public point has."""
        metric = self.metric
        if isinstance(metric, PointsInSpace) and isinstance(truth, np.ndarray) and truth.ndim == 2:
            if truth.dtype.kind not in "fiu" or truth.shape[1] != metric.axes:
                raise BadParameter(
                    f"demand in space must have {metric.axes} numbers each",
                    given=f"{truth.shape[1]} of type {truth.dtype}",
                    fix="pass an array with a row of coordinates for each demand point",
                )
            truth = metric.nearest(truth.astype(np.float64))
        return read_demand(truth, self.metric.count, self.most)

    def _search(self, counts: NDArray[np.int64], source: Source, progress: Progress | None) -> Facilities:
        seen, costs = [self.start], [cost_of(self.metric, counts, np.array(self.start))]
        for swap in range(self.steps):
            if progress is not None:
                progress("swapping", swap)
            table, others = swap_table(self.metric, counts, seen[-1])
            chosen = int(categorical_exp(-table.ravel(), source=source, rate=self.rate))
            leaving, coming = divmod(chosen, len(others))
            seen.append(swapped(seen[-1], leaving, int(others[coming])))
            costs.append(int(table.ravel()[chosen]))
        return seen[int(categorical_exp(-np.array(costs, dtype=np.int64), source=source, rate=self.rate))]

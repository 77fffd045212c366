"""Private facilities by noise on the demand: geometric noise on every place, then ordinary local search.

One demand point more or less changes the count of one place by one, so that independent geometric noise of ε on all
counts is ε-private, and whatever is computed from the noisy counts is too. The cost of a set of facilities is linear in
the counts. With the noisy counts as they are, also below zero, its estimate is right on average, and its noise has the
standard deviation σ·√(Σ d(place, facilities)²) ≤ σ·Δ·√n. So the search compares estimates without bias; counts that are
clamped at zero would draw facilities to places without demand (docs/theory/k_median.md).

Facilities may cost something, each its public price. The search is then made for 1, 2, …, k of them on the same noisy
counts, and the number with the least estimate of all costs is taken: that is post-processing too.

There is no guarantee in the worst case beyond that. On all problems that were tried the cost is below that of noisy
local search (`KMedian`), whose price is paid at every swap.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Enclosure,
    NumberLike,
    Size,
    Source,
    read_rational,
    require_secure,
    shape_of,
    sqrt_above,
    system_source,
)
from leastnoise.mechanisms.combinatorial.k_median.k_median import KMedian, Progress
from leastnoise.mechanisms.combinatorial.k_median.local_search import (
    DemandLike,
    Facilities,
    cost_of,
    farthest_first,
    least_extra_cost,
    swap_table,
    swapped,
)
from leastnoise.mechanisms.numeric import Geometric, VectorLaplace
from leastnoise.model import Certificate, ErrorEstimate, LaplaceNoise, Mechanism, Reason

__all__ = ["NoisyDemand"]

_LARGEST_PRICE = 1 << 60  # of k facilities, in steps: with costs below 2^61 no sum leaves 64 bits


@dataclass(frozen=True, init=False)
class NoisyDemand(Mechanism):
    """k facilities with small total distance to the demand. The truth is the demand: places, or a count for each.

    Args:
        epsilon: The privacy of one release, where a demand point comes or goes.
        k: How many facilities.
        served: Whether the answer is a pair: the places, and how much demand is nearest to each of them. The noisy
            counts are added up, so this costs nothing more and is right on average; a place belongs to the first of its
            nearest facilities.
        opening: What a facility costs, in the unit of the distances: one number, or one for each public point. As many
            facilities are then taken as the least total needs, k at most. Nothing if left out, and there are k.
        **where: As for `KMedian`: points, matrix or metric, and diameter, resolution, steps and squared. `steps` is
            the most swaps of the search; none of them costs privacy.

    >>> town = NoisyDemand(1, 2, points=[[0], [1], [9], [10]], steps=10)
    >>> town.release([0] * 90 + [3] * 90)
    (0, 3)
    >>> NoisyDemand(50, 2, points=[[0], [1], [9], [10]], served=True).release([0] * 90 + [1] * 7 + [3] * 80)
    ((0, 3), (97, 80))
    >>> NoisyDemand(50, 3, points=[[0], [1], [9], [10]], opening=20).release([0] * 9 + [1] * 7 + [3] * 8)
    (0, 3)
    """

    name: ClassVar[str] = "noisy demand and local search"
    search: KMedian
    served: bool = False
    opening: tuple[Fraction, ...] | None = None

    def __init__(
        self,
        epsilon: NumberLike,
        k: NumberLike,
        *,
        served: bool = False,
        opening: NumberLike | Sequence[NumberLike] | None = None,
        **where: Any,
    ) -> None:
        if "delta" in where:
            raise BadParameter("noise on the demand needs no delta", given="delta", fix="leave it out")
        object.__setattr__(self, "search", KMedian(epsilon, k, **where))
        object.__setattr__(self, "served", bool(served))
        object.__setattr__(self, "opening", None if opening is None else self._read_opening(opening))

    @property
    def event(self) -> LaplaceNoise:
        """epsilon, with the loss of one geometric count: a demand point is at one place."""
        return LaplaceNoise(self.search.epsilon)

    @property
    def noise(self) -> VectorLaplace:
        """What is drawn before the search."""
        return VectorLaplace(self.search.epsilon, self.search.metric.count)

    def draw(
        self,
        truth: DemandLike,
        size: Size = None,
        source: Source | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """The places of k facilities, in order; with `size` an array whose last axis, added, holds them.

        With `served` a pair of places and their demand; with `size` an array of such pairs. With `opening` costs there
        may be fewer than k; with `size` the array then holds tuples.
        """
        counts = self.search.read(truth)
        noisy = [self.noise.draw(counts, source=source or system_source) for _ in range(prod(shape_of(size)))]
        found: list[Any] = [self.found(demand, progress) for demand in noisy]
        if self.served:
            found = [(place, self.demand_of(place, demand)) for place, demand in zip(found, noisy, strict=True)]
        if size is None:
            return found[0]
        if not self.served and self.opening is None:
            return np.array(found, dtype=np.int64).reshape((*shape_of(size), self.search.k))
        several = np.empty(len(found), dtype=object)
        for place, each in enumerate(found):  # an assignment of all at once would make columns of equally long tuples
            several[place] = each
        return several.reshape(shape_of(size))

    def release(self, truth: DemandLike, source: Source | None = None, progress: Progress | None = None) -> Any:
        """The places of k facilities, with unpredictable noise only."""
        return self.draw(truth, source=require_secure(source), progress=progress)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:  # noqa: ARG002 - as for all mechanisms
        """There is no formula: many noisy demands lead to the same facilities.

        Raises:
            BadParameter: Always.
        """
        raise BadParameter("the law of a local search has no closed form", fix="ask for that of the noise: noise.pmf")

    def error(self) -> ErrorEstimate:
        """By how much the estimated cost of a fixed set of facilities is off, at most: Δ·σ·√n."""
        variance = Geometric(self.search.epsilon).moment(2).upper
        bound = sqrt_above(variance * self.search.metric.count) * Fraction(self.search.metric.diameter)
        return ErrorEstimate("cost of fixed facilities", Enclosure(bound, bound), attained=False)

    def reason(self) -> Reason:
        """The noise is paid once, and the search costs nothing."""
        least = least_extra_cost(self.search.metric, self.search.k, self.search.epsilon)
        bound = Enclosure(least.lower * self.search.step, least.upper * self.search.step)
        return Reason(
            "geometric noise on each place is the least that is private, and the search after it is free; estimated "
            "costs are right on average. No factor to the least cost is known",
            "Ghosh, Roughgarden and Sundararajan, STOC 2009; docs/theory/k_median.md",
            bound if self.search.metric.is_metric and self.opening is None else None,
        )

    def certificate(self) -> Certificate:
        """That of the noise, which is all that sees the data."""
        return self.noise.certificate()

    def found(self, noisy: Any, progress: Progress | None = None) -> Facilities:
        """The facilities by noisy counts: of k, or with `opening` costs of each number up to k, those of least cost.

        No swap makes them cheaper by the noisy counts, or they are the last of `steps` swaps.
        """
        most = self.search.most
        counts = np.array([min(max(int(count), -most), most) for count in noisy], dtype=np.int64)
        more, less = np.maximum(counts, 0), np.maximum(-counts, 0)
        if self.opening is None:
            return self._searched(more, less, self.search.start, progress)
        starts, _ = farthest_first(self.search.metric, self.search.k)
        tried = [
            self._searched(more, less, tuple(sorted(starts[:number].tolist())), progress)
            for number in range(1, self.search.k + 1)
        ]
        return min(tried, key=lambda place: self._cost(more, less, place))

    def demand_of(self, place: Facilities, noisy: Any) -> tuple[int, ...]:
        """The noisy demand of all points that are nearest to each facility."""
        nearest = self.search.metric.columns(np.array(place)).argmin(axis=1)
        demand = [0] * len(place)
        for facility, count in zip(nearest.tolist(), noisy, strict=True):
            demand[facility] += int(count)
        return tuple(demand)

    def _searched(
        self, more: NDArray[np.int64], less: NDArray[np.int64], place: Facilities, progress: Progress | None
    ) -> Facilities:
        """Swaps for the better, from a first set of facilities."""
        metric = self.search.metric
        for swap in range(self.search.steps):
            if progress is not None:
                progress("swapping", swap)
            (gains, others), (losses, _) = (swap_table(metric, part, place) for part in (more, less))
            table = gains - losses
            if self.opening is not None:  # at most 2^61 and a few more
                staying = sum(self._prices[list(place)]) - self._prices[list(place)]
                table += staying[:, np.newaxis] + self._prices[others]
            leaving, coming = divmod(int(table.argmin()), len(others))
            if table[leaving, coming] >= self._cost(more, less, place):
                break
            place = swapped(place, leaving, int(others[coming]))
        return place

    def _cost(self, more: NDArray[np.int64], less: NDArray[np.int64], place: Facilities) -> int:
        """By the noisy counts, in steps, with what the facilities cost."""
        facilities = np.array(place)
        distance = cost_of(self.search.metric, more, facilities) - cost_of(self.search.metric, less, facilities)
        return distance if self.opening is None else distance + int(self._prices[facilities].sum())

    @cached_property
    def _prices(self) -> NDArray[np.int64]:
        """What a facility at each point costs, in steps of the distances."""
        prices = self.opening or (Fraction(0),) * self.search.metric.count
        return np.array([round(price / self.search.step) for price in prices], dtype=np.int64)

    def _read_opening(self, opening: NumberLike | Sequence[NumberLike]) -> tuple[Fraction, ...]:
        count, most = self.search.metric.count, self.search.step * (_LARGEST_PRICE // self.search.k)
        listed: list[Any] = list(opening) if isinstance(opening, list | tuple | np.ndarray) else [opening] * count
        if len(listed) != count:
            raise BadParameter(
                "opening costs are one number, or one for each public point", given=len(listed), fix=f"pass {count}"
            )
        return tuple(read_rational(cost, "opening", at_least=0, at_most=most) for cost in listed)

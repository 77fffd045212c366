"""Which way to private facilities has the smaller cost, before anything is spent.

Both costs depend on the demand, so they are compared on a demand that is public: an example that the user gives, or one
that is made up. The true demand is never looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact import NumberLike, SeededSource, read_integer
from leastnoise.mechanisms.combinatorial.k_median.k_median import KMedian
from leastnoise.mechanisms.combinatorial.k_median.local_search import DemandLike, farthest_first
from leastnoise.mechanisms.combinatorial.k_median.metric import PublicMetric
from leastnoise.mechanisms.combinatorial.k_median.noisy_demand import NoisyDemand

__all__ = ["FacilityPlan", "plan_k_median"]

_DEMAND = 10_000
_MOST_DRAWS = 20
_WORK = 10**9  # distances that a simulation may look at, but one draw is always made


@dataclass(frozen=True)
class FacilityPlan:
    """The ways side by side.

    Attributes:
        mechanism: The one with the smallest cost on the example.
        on_example: By the mechanism's name, the mean cost of simulated releases on the example.
        example: The demand of each place that they were compared on; public.
    """

    mechanism: NoisyDemand | KMedian
    on_example: Mapping[str, float]
    example: NDArray[np.int64]


def plan_k_median(
    epsilon: NumberLike,
    k: NumberLike,
    *,
    delta: NumberLike = 0,
    total: NumberLike = _DEMAND,
    example: DemandLike | None = None,
    **where: Any,
) -> FacilityPlan:
    """Compare noise on the demand with noisy local search, by the mean cost of simulated releases.

    Args:
        epsilon: The privacy, where a demand point comes or goes.
        k: How many facilities.
        delta: Above zero the swaps of the noisy local search compose more tightly.
        total: About how many demand points there are, for the example that is made up.
        example: A public demand like the true one; if left out, the demand falls with the distance from the nearest of
            2k centres, and there is some of it everywhere.
        **where: points, matrix or metric, diameter, resolution, steps and squared, as for `KMedian`.

    >>> plan = plan_k_median(1, 3, points=[[x, y] for x in range(6) for y in range(6)], total=2000)
    >>> plan.mechanism.name
    'noisy demand and local search'
    """
    ways = (NoisyDemand(epsilon, k, **where), KMedian(epsilon, k, delta=delta, **where))
    metric, count = ways[1].metric, read_integer(total, "total", at_least=1, at_most=ways[1].most)
    counts = _made_up(metric, ways[1].k, count) if example is None else ways[1].read(example)
    if not counts.any():
        raise BadParameter("the example has no demand at the public points", fix="pass one that has some")
    # The example is public, and a plan must not come out differently when it is made again.
    draws = min(max(_WORK // (metric.count**2 * ways[1].steps), 1), _MOST_DRAWS)
    demand = dict(enumerate(counts.tolist()))
    costs = {
        way.name: fmean(
            float(ways[1].cost_of(tuple(places), demand))
            for places in way.draw(demand, draws, SeededSource(0)).tolist()
        )
        for way in ways
    }
    best = ways[0] if costs[ways[0].name] <= costs[ways[1].name] else ways[1]
    return FacilityPlan(best, costs, counts)


def _made_up(metric: PublicMetric, k: int, total: int) -> NDArray[np.int64]:
    """Demand that halves with every eighth of the diameter from the nearest of some centres far from each other."""
    centres, _ = farthest_first(metric, min(2 * k, metric.count))
    near = metric.columns(centres).min(axis=1).astype(np.float64)
    shares = 2.0 ** (-8 * near / metric.resolution)
    return np.asarray(np.ceil(total * shares / shares.sum()), dtype=np.int64)

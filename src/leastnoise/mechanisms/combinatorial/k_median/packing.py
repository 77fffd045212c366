"""Points far from each other: where a search starts, and why no private search can be too good.

Farthest-first: each point is the one that is farthest from those before it, so the first m of them are all at least t_m
apart, t_m the distance of the last one from the others.

Lower bound. Put s demand points on each of k of the m points, a set S. A facility is nearer than t_m/2 to one of the m
points at most, so the cost is at least s·t_m/2 for each v in S that no facility is near to. Without the demand at v the
chance that a facility is near v is at most k/(m − k + 1) on average over the v outside S − v, and s more demand points
raise it by a factor e^(εs) at most. So for some demand, whose least cost is 0, the expected cost is at least
    k·s·t_m/2·(1 − e^(εs)·k/(m − k + 1)),      for all s and m.
Distances are rounded here, each by half a step at most, so t_m counts for two steps less.
Gupta et al. (SODA 2010, section 5) have Ω(Δ·k·ln(n/k)/ε) for a metric in which all points are far apart.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact.balls import Ball, of_fraction
from leastnoise.exact.enclosures import Enclosure, enclose
from leastnoise.exact.numbers import Exact, ball_of
from leastnoise.mechanisms.combinatorial.k_median.metric import PublicMetric

__all__ = ["farthest_first", "least_extra_cost"]

_MOST_POINTS = 512
_MOST_COPIES = 4096


def farthest_first(metric: PublicMetric, count: int) -> tuple[NDArray[np.int64], list[int]]:
    """The first `count` points of the traversal from point 0, and how far each is from those before it, in steps."""
    chosen, apart = [0], [metric.resolution]
    distance = metric.columns(np.array([0]))[:, 0].astype(np.int64)
    while len(chosen) < count:
        distance[chosen[-1]] = -1  # below every distance, so that no point is chosen twice
        place = int(distance.argmax())
        chosen.append(place)
        apart.append(int(distance[place]))
        distance = np.minimum(distance, metric.columns(np.array([place]))[:, 0])
    return np.array(chosen, dtype=np.int64), apart


def least_extra_cost(metric: PublicMetric, facilities: int, epsilon: Exact) -> Enclosure:
    """The bound above at about the best s and m, in steps; 0 where it says nothing."""
    _, apart = farthest_first(metric, min(metric.count, _MOST_POINTS))
    rate = float(epsilon)

    def guess(copies: int, size: int) -> float:
        chance = exp(min(rate * copies, 700.0)) * facilities / (size - facilities + 1)
        return facilities * copies * (apart[size - 1] - 2) / 2 * (1 - chance) if chance < 1 else 0.0

    sizes = range(facilities + 1, len(apart) + 1)
    copies = sorted({max(int(1.2**i), 1) for i in range(60) if 1.2**i <= _MOST_COPIES})
    best = max(((guess(s, m), s, m) for s in copies for m in sizes), default=(0.0, 1, 1))
    if best[0] <= 0:
        return Enclosure(Fraction(0), Fraction(0))
    _, count, size = best

    def bound() -> Ball:
        chance = ball_of(epsilon * count).exp() * of_fraction(Fraction(facilities, size - facilities + 1))
        return of_fraction(Fraction(facilities * count * (apart[size - 1] - 2), 2)) * (1 - chance)

    return enclose(bound)

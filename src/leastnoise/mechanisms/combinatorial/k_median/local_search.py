"""The noisy local search: its demand, its shares of the privacy, its start, its steps, its law and its lower bound.

A step takes the cost of every set of facilities that is one swap away, in O(points²) and not O(k·points²). With d₁ and
d₂ the distances of a point to its nearest and second nearest facility, and y a new one, its distance after the swap is
min(d(y), d₂) if its nearest facility goes, and min(d(y), d₁) otherwise. So two sums for each facility's customers give
the costs of all k·(n − k) swaps.

The search starts at points far from each other. Farthest-first: each point is the one that is farthest from those
before it, so the first m of them are all at least t_m apart, t_m the distance of the last one from the others.

Lower bound. Put s demand points on each of k of the m points, a set S. A facility is nearer than t_m/2 to one of the m
points at most, so the cost is at least s·t_m/2 for each v in S that no facility is near to. Without the demand at v the
chance that a facility is near v is at most k/(m − k + 1) on average over the v outside S − v, and s more demand points
raise it by a factor e^(εs) at most. So for some demand, whose least cost is 0, the expected cost is at least
    k·s·t_m/2·(1 − e^(εs)·k/(m − k + 1)),      for all s and m.
Distances are rounded here, each by half a step at most, so t_m counts for two steps less.
Gupta et al. (SODA 2010, section 5) have Ω(Δ·k·ln(n/k)/ε) for a metric in which all points are far apart.

Without δ each step has an equal share of ε. With δ: an exponential mechanism of ε' is ε'²/8-concentrated (Cesar and
Rogers, ALT 2021), ρ adds up, and a ρ-concentrated interaction is (ε, δ)-private if for some order α > 1
    (α − 1)(αρ − ε) + α·ln(1 − 1/α) − ln(α − 1) ≤ ln δ
(Canonne, Kamath and Steinke 2020, Corollary 13). Any order proves it: a good one is looked for in doubles, and the
share is then computed from it in ball arithmetic and rounded down.

The demand is a private multiset of public points. Public is its form: a flat list of places, or a mapping from places
to counts, all whole numbers. Another form is refused. Everything else is private, so it is never refused: a demand
point outside the public points does not count, and each place's count is clamped to [0, most]. Both rules move two
counts of a place no further apart, so a demand with one point more or less stays one, or becomes the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import exp, floor, log, log1p
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact import Ball, Enclosure, Exact, Scores, at_chances, ball_of, enclose, of_fraction, sqrt_below
from leastnoise.mechanisms.combinatorial.k_median.metric import PublicMetric

__all__ = [
    "DemandLike",
    "Facilities",
    "cost_of",
    "equal_share",
    "farthest_first",
    "least_extra_cost",
    "read_demand",
    "search_law",
    "swap_costs",
    "swap_table",
    "swapped",
]

_DIGIT_BITS = 20
_DIGIT = (1 << _DIGIT_BITS) - 1


def cost_of(metric: PublicMetric, counts: NDArray[np.int64], facilities: NDArray[np.int64]) -> int:
    """Σ count·(distance to the nearest facility), in steps."""
    return int(counts @ metric.columns(facilities).min(axis=1).astype(np.int64))


def swap_costs(metric: PublicMetric, counts: NDArray[np.int64], facilities: NDArray[np.int64]) -> NDArray[np.int64]:
    """cost(F − F[f] + y) in row f and column y, in steps; columns of facilities have no meaning.

    Counts are taken in digits of 20 bits: a sum of one digit's distances stays below 2^53 for at most 2^16 points, so
    doubles hold it exactly. The sums of all digits stay below 2^61.

    >>> from leastnoise.mechanisms.combinatorial.k_median.metric import read_metric
    >>> line = read_metric(points=[[0.0], [1.0], [4.0]], resolution=4)
    >>> swap_costs(line, np.array([1, 1, 2]), np.array([0]))[:, 1:].tolist()
    [[7, 7]]
    """
    near = metric.columns(facilities)
    everyone = np.arange(metric.count)
    nearest = near.argmin(axis=1)
    first = near[everyone, nearest]
    near[everyone, nearest] = metric.resolution
    second = near.min(axis=1)
    staying, losing = np.zeros((2, len(facilities), metric.count), dtype=np.int64)
    digits = range(0, int(counts.max(initial=0)).bit_length(), _DIGIT_BITS)
    for block, distances in metric.rounded():
        for facility in range(len(facilities)):
            rows = np.flatnonzero((nearest[block] == facility) & (counts[block] > 0))
            if len(rows):
                weights, some = counts[block][rows], distances[rows]
                stay = np.minimum(some, first[block][rows, np.newaxis]).astype(np.float64)
                lose = np.minimum(some, second[block][rows, np.newaxis]).astype(np.float64)
                for shift in digits:
                    digit = (weights >> shift & _DIGIT).astype(np.float64)
                    staying[facility] += (digit @ stay).astype(np.int64) << shift
                    losing[facility] += (digit @ lose).astype(np.int64) << shift
    costs: NDArray[np.int64] = staying.sum(axis=0) - staying + losing
    return costs


Facilities = tuple[int, ...]


def swap_table(
    metric: PublicMetric, counts: NDArray[np.int64], facilities: Facilities
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The costs after all swaps, a row for each facility that goes, and the points of the columns, which may come."""
    others = np.setdiff1d(np.arange(metric.count), facilities)
    return swap_costs(metric, counts, np.array(facilities))[:, others], others


def swapped(facilities: Facilities, leaving: int, coming: int) -> Facilities:
    """The facilities in order, with one of them replaced.

    >>> swapped((2, 5, 7), 0, 6)
    (5, 6, 7)
    """
    return tuple(sorted((*facilities[:leaving], *facilities[leaving + 1 :], coming)))


def search_law(
    metric: PublicMetric, counts: NDArray[np.int64], start: Facilities, steps: int, rate: Exact, bits: int
) -> Mapping[Facilities, Enclosure]:
    """P(facilities) of `steps` swaps from `start` and a last choice among all sets that were seen."""
    moves: dict[Facilities, list[tuple[Facilities, Enclosure]]] = {}

    def moves_from(place: Facilities) -> list[tuple[Facilities, Enclosure]]:
        if place not in moves:
            table, others = swap_table(metric, counts, place)
            chances = _chances(table.ravel(), rate, bits)
            ends = [swapped(place, leaving, y) for leaving in range(len(place)) for y in others.tolist()]
            moves[place] = list(zip(ends, chances, strict=True))
        return moves[place]

    low: defaultdict[Facilities, Fraction] = defaultdict(Fraction)
    high: defaultdict[Facilities, Fraction] = defaultdict(Fraction)
    paths: list[tuple[tuple[Facilities, ...], Enclosure]] = [((start,), Enclosure(Fraction(1), Fraction(1)))]
    while paths:
        path, chance = paths.pop()
        if len(path) <= steps:
            paths += [((*path, end), _times(chance, move)) for end, move in moves_from(path[-1])]
            continue
        costs = np.array([cost_of(metric, counts, np.array(place)) for place in path])
        for place, last in zip(path, _chances(costs, rate, bits), strict=True):
            both = _times(chance, last)
            low[place] += both.lower
            high[place] += both.upper
    return {place: Enclosure(low[place], min(high[place], Fraction(1))) for place in low}


def _chances(costs: NDArray[np.int64], rate: Exact, bits: int) -> list[Enclosure]:
    """The exponential mechanism on costs."""
    scores = Scores(-costs, "costs")
    return [at_chances(scores, rate, partial(_share, place), bits) for place in range(len(costs))]


def _share(place: int, weights: list[Any], _: list[Any]) -> Any:
    return weights[place] / sum(weights)


def _times(one: Enclosure, other: Enclosure) -> Enclosure:
    return Enclosure(one.lower * other.lower, one.upper * other.upper)


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


_DIGITS = 1 << 40


def equal_share(epsilon: Exact, delta: Fraction, rounds: int) -> Exact:
    """The ε' at which `rounds` exponential mechanisms, each of bounded range ε', are (epsilon, delta)-private.

    >>> equal_share(Fraction(1), Fraction(0), 4), float(equal_share(Fraction(1), Fraction(1, 10**6), 31))
    (Fraction(1, 4), 0.0792...)
    """
    basic = epsilon / rounds
    if not delta:
        return basic

    def guess(order: float) -> float:
        log_delta = log(delta.numerator) - log(delta.denominator)
        return (float(epsilon) + (log_delta - order * log1p(-1 / order) + log(order - 1)) / (order - 1)) / order

    order = 1 + Fraction(max((exp(i / 8) for i in range(-40, 120)), key=lambda a: guess(1 + a))).limit_denominator(1000)

    def rho() -> Ball:
        alpha = of_fraction(order)
        room = of_fraction(delta).log() - alpha * (-1 / alpha).log1p() + (alpha - 1).log()
        return (ball_of(epsilon) + room / (alpha - 1)) / alpha

    each = max(enclose(rho).lower, Fraction(0)) * 8 / rounds
    share = Fraction(floor(sqrt_below(each) * _DIGITS), _DIGITS)
    return share if share > basic else basic


DemandLike: TypeAlias = Mapping[int, int] | Sequence[int] | NDArray[Any]


def read_demand(demand: DemandLike, count: int, most: int) -> NDArray[np.int64]:
    """How many demand points each of the `count` public points has.

    Args:
        demand: The places of all demand points, repeated as they come; or how many each place has, as a mapping.
        count: How many public points there are.
        most: How many demand points a place has at most; more count as so many.

    >>> read_demand([2, 0, 2, 3], 3, 99).tolist(), read_demand({1: 5, 2: 10**30}, 3, 99).tolist()
    ([1, 0, 2], [0, 5, 99])
    """
    counts = _counts(demand, count)
    if counts is None:
        raise BadParameter(
            "the demand must be a flat list of places, or a mapping from places to whole numbers",
            given=type(demand).__name__,
            fix="number the demand points by the public points they are at",
        )
    return np.array([min(max(number, 0), most) for number in counts], dtype=np.int64)


def _counts(demand: DemandLike, count: int) -> list[int] | None:
    """The counts, or None if the demand is not of its form: the reason may show a demand point."""
    if isinstance(demand, Mapping):
        if not all(map(_is_whole, (*demand.keys(), *demand.values()))):
            return None
        return [int(demand.get(place, 0)) for place in range(count)]
    try:
        places = np.asarray(demand)
    except (TypeError, ValueError, OverflowError):
        return None
    if places.ndim != 1:
        return None
    if places.dtype.kind not in "iu":
        if not all(map(_is_whole, demand)):
            return None
        places = np.array([place for place in map(int, demand) if 0 <= place < count], dtype=np.int64)
    inside = places[(places >= 0) & (places < count)].astype(np.int64)
    return [int(number) for number in np.bincount(inside, minlength=count)]


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)

"""One step of the noisy local search, and the law of the whole of it by following every path."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import Exact
from leastnoise.exact.samplers.chances import at_chances
from leastnoise.exact.samplers.scores import Scores
from leastnoise.mechanisms.combinatorial.k_median.metric import PublicMetric
from leastnoise.mechanisms.combinatorial.k_median.swaps import cost_of, swap_costs

__all__ = ["Facilities", "search_law", "swap_table", "swapped"]

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

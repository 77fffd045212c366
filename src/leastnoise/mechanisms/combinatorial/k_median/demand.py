"""Demand points, a private multiset of public points.

Public is the form: a flat list of places, or a mapping from places to counts, all whole numbers. Another form is
refused. Everything else is private, so it is never refused: a demand point outside the public points does not count,
and each place's count is clamped to [0, most]. Both rules move two counts of a place no further apart, so a demand with
one point more or less stays one, or becomes the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter

__all__ = ["DemandLike", "read_demand"]

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

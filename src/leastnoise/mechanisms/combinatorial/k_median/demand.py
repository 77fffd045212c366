"""Demand points, a private multiset of public points; an error never shows one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter

__all__ = ["DemandLike", "read_demand"]

DemandLike: TypeAlias = Mapping[int, int] | Sequence[int] | NDArray[Any]

_MOST = 1 << 36  # demand points: times 2^16 steps the sums of all distances stay below 2^53


def read_demand(demand: DemandLike, count: int) -> NDArray[np.int64]:
    """How many demand points each of the `count` public points has.

    Args:
        demand: The places of all demand points, repeated as they come; or how many each place has, as a mapping.
        count: How many public points there are.

    >>> read_demand([2, 0, 2], 3).tolist(), read_demand({1: 5}, 3).tolist()
    ([1, 0, 2], [0, 5, 0])
    """
    counts = _counts(demand, count)
    if counts is None:
        raise BadParameter(
            f"the demand must be places between 0 and {count - 1}, repeated as they come, or a mapping from places to "
            "whole numbers of at least zero",
            given=type(demand).__name__,
            fix="number the demand points by the public points they are at",
        )
    return counts


def _counts(demand: DemandLike, count: int) -> NDArray[np.int64] | None:
    """The counts, or None if they are none: the reason must not reach the caller, it may show a demand point."""
    try:
        places = np.asarray(list(demand) if isinstance(demand, Mapping) else demand)
        times = np.asarray(list(demand.values())) if isinstance(demand, Mapping) else np.ones(len(places), np.int64)
    except (TypeError, ValueError, OverflowError):
        return None
    if places.shape == times.shape == (0,):
        return np.zeros(count, dtype=np.int64)
    if places.ndim != 1 or places.dtype.kind not in "iu" or times.dtype.kind not in "iu":
        return None
    if places.min() < 0 or places.max() >= count or times.min() < 0 or times.astype(object).sum() > _MOST:
        return None
    counts = np.zeros(count, dtype=np.int64)
    np.add.at(counts, places.astype(np.int64), times.astype(np.int64))
    return counts

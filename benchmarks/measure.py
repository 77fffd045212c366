"""How a pair of times is taken: interleaved, so that a noisy machine disturbs both alike, and the median of several."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

__all__ = ["Row", "race", "within"]

Row = dict[str, Any]


def race(
    name: str, ours: Callable[[], object], peer: str, theirs: Callable[[], object], target: float, rounds: int = 5
) -> Row:
    """One line of the table; the ratio is the peer's time over ours, above one where ours is faster."""
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(rounds):
        for who, call in (("ours", ours), ("theirs", theirs)):
            started = time.perf_counter()
            call()
            times[who].append(time.perf_counter() - started)
    mine, others = median(times["ours"]), median(times["theirs"])
    return {
        "name": name,
        "ours_seconds": mine,
        "peer": peer,
        "peer_seconds": others,
        "ratio": others / mine,
        "target": target,
    }


def within(limit: float, name: str, seconds: float) -> Row:
    """A time against a limit instead of a peer."""
    return {
        "name": name,
        "ours_seconds": seconds,
        "peer": "time allowed",
        "peer_seconds": limit,
        "ratio": limit / seconds,
        "target": 1,
    }

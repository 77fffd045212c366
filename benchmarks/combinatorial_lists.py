"""Sorted counts of thirty million users and vertex covers of a million nodes, against the time that was set for each.

There is no peer that draws these laws exactly. The target is a minute for the list, and for the graphs three times what
compiled code with rounded coins takes (1.9 s and 3.6 s), without reading and sorting the edges: the order is timed from
arrays.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from statistics import median

import numpy as np

from benchmarks.measure import Row
from leastnoise.exact import SystemSource
from leastnoise.mechanisms.combinatorial.sorted_counts import IsotonicCounts, SortedCounts, zipf_counts
from leastnoise.mechanisms.combinatorial.vertex_cover import VertexCoverOrder
from leastnoise.mechanisms.combinatorial.vertex_cover.noisy_order import noisy_order

__all__ = ["run"]

USERS, PASSWORDS = 32_600_000, 15_000_000


def run() -> list[Row]:
    """One row for each mechanism and size; the ratio is the time set over the time taken."""
    counts = zipf_counts(USERS, exponent="4/5", distinct=PASSWORDS)
    rows = []
    for epsilon in (2, 1, Fraction(1, 4), Fraction(1, 20)):
        exponential = SortedCounts(epsilon, USERS)
        name = f"sorted counts, {USERS:,} users, ε = {epsilon}"
        rows.append(_row(name, lambda m=exponential: m.release(counts), "a minute", 60))
    isotonic = IsotonicCounts(1, USERS, PASSWORDS)
    rows.append(_row(f"isotonic counts, {USERS:,} users, ε = 1", lambda: isotonic.release(counts), "a minute", 60))
    random = np.random.default_rng(1)
    for nodes, edges, rounded in ((10**6, 5 * 10**6, 1.9), (10**6, 2 * 10**7, 3.6)):
        ends, noise = random.integers(0, nodes, (2, edges)), VertexCoverOrder(1, nodes).noise
        ends = ends[:, ends[0] != ends[1]]
        rows.append(
            _row(
                f"vertex cover, {nodes:,} nodes, {edges:,} edges, ε = 1",
                lambda n=nodes, e=ends, s=noise: noisy_order(n, e[0], e[1], s, SystemSource()),
                "three times rounded coins",
                3 * rounded,
            )
        )
    return rows


def _row(name: str, call: Callable[[], object], peer: str, seconds: float, rounds: int = 3) -> Row:
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    ours = median(times)
    return {
        "name": name,
        "ours_seconds": ours,
        "peer": peer,
        "peer_seconds": seconds,
        "ratio": seconds / ours,
        "target": 1,
    }

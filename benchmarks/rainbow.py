"""Rainbow mechanisms, which nobody else ships: beside plain NumPy that iterates without a guarantee, or a time limit.

Ours returns doubles that surely enclose the exact numbers; NumPy's loop returns doubles that are near them.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from fractions import Fraction
from statistics import median

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Row, race
from leastnoise.mechanisms.choice import PermuteAndFlip
from leastnoise.model.graphs import grid
from leastnoise.rainbow import (
    Decision,
    Operator,
    RainbowGraph,
    after_many,
    optimal_mechanism,
    prefix_sum_after,
)

__all__ = ["run"]

STEPS, ROWS, COLOURS, SIDE = 10**4, 10**4, 10, 1000


def run() -> list[Row]:
    operator = Operator("ln(6/5)", "1/1000")
    rows = np.random.default_rng(1).dirichlet(np.ones(COLOURS), ROWS)
    vote, counts = Decision.plurality(1, "1e-6", options=range(5)), [412, 398, 77, 51, 12]
    flip = PermuteAndFlip(1, 5, monotone=True)
    return [
        race(
            f"T^{STEPS:,} of {ROWS:,} distributions, {COLOURS} colours",
            lambda: after_many(operator, rows, STEPS),
            "NumPy, step by step",
            lambda: _iterate(operator, rows),
            target=1,
            rounds=1,
        ),
        _within(2.0, "the same", lambda: after_many(operator, rows, STEPS), 5),
        _within(
            1e-3, "one prefix sum after 10^9 steps", lambda: prefix_sum_after(operator, Fraction(1, 1000), 10**9), 99
        ),
        _within(10.0, f"a rainbow graph of {SIDE**2:,} datasets", _solve, 3),
        race(
            "a vote among five",
            lambda: vote.release(counts),
            "our permute-and-flip",
            lambda: flip.release(counts),
            target=0,
            rounds=201,
        ),
    ]


def _iterate(operator: Operator, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    factor, delta = float(operator.factor), float(operator.delta)
    sums = rows.cumsum(axis=1)
    for _ in range(STEPS):
        sums = np.minimum(1.0, np.minimum(factor * sums + delta, 1.0 - (1.0 - sums - delta) / factor))
    return sums


def _solve() -> object:
    """From the edges to every dataset's probabilities."""
    x, y = np.indices((SIDE, SIDE)).reshape(2, -1)
    rainbows = [("a", "b", "c"), ("b", "a", "c"), ("c", "a", "b")]
    found = RainbowGraph.from_regions(grid(SIDE, SIDE), rainbows, (x > SIDE // 3).astype(int) + (y > x))
    return optimal_mechanism(found, {c: ["1/2", "1/4", "1/4"] for c in rainbows}, "0.7", "1e-6").floats()


def _within(limit: float, name: str, call: Callable[[], object], rounds: int) -> Row:
    ours = median(timeit.repeat(call, number=1, repeat=rounds))
    return {
        "name": name,
        "ours_seconds": ours,
        "peer": "limit",
        "peer_seconds": limit,
        "ratio": limit / ours,
        "target": 1,
    }

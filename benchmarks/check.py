"""The exact checker against `qif` (floats), a NumPy loop that is neither exact nor rigorous, and limits of time."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from benchmarks.measure import Row, race, within
from leastnoise.checker import check, privacy_curve
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import complete, cycle, from_distance, hypercube, path
from leastnoise.rainbow import RainbowGraph, find_best

__all__ = ["run"]


def run() -> list[Row]:
    """Tight ε on paths and on a metric, for a channel where every edge is tight: the worst case for exact decisions."""
    import qif

    rows = []
    for size in (200, 2000):
        matrix = _geometric(size)
        channel, graph = Channel(matrix), path(size)
        rows.append(
            race(
                f"tight ε, path, {size} x {size} floats",
                lambda c=channel, g=graph: check(c, g, epsilon=1).tight_epsilon,
                "NumPy (inexact)",
                lambda m=matrix: np.log(np.maximum(m[1:] / m[:-1], m[:-1] / m[1:]).max()),
                target=0.1 if size == 2000 else 0,
            )
        )
    size = 200
    matrix = _geometric(size)
    channel = Channel(matrix)
    line = from_distance([[abs(i - j) for j in range(size)] for i in range(size)])
    rows.append(
        race(
            f"tight ε, metric, {size} x {size} floats",
            lambda: check(channel, line, epsilon=1).tight_epsilon,
            f"qif {qif.__version__}",
            lambda: qif.measure.d_privacy.smallest_epsilon(matrix, qif.metric.euclidean(qif.uint)),
            target=1,
            rounds=3,
        )
    )
    return [*rows, *_within_limits()]


def _within_limits() -> list[Row]:
    """Exact answers that nobody else gives, in processor seconds."""
    cube, size = hypercube(11), 2000
    ties = np.exp(-0.5 * cube.distances())
    ties = Channel(ties / ties.sum(axis=1, keepdims=True))
    places = np.arange(size)
    bell = np.exp(-((places[:, None] - places) ** 2) / 1800)
    bell = Channel(bell / bell.sum(axis=1, keepdims=True))
    whole = np.random.default_rng(1).integers(1, 10**6, (200, 200))
    rational = Channel([[Fraction(int(n), int(row.sum())) for n in row] for row in whole])
    cases = [
        ("all pairs", complete(200)),
        ("metric", from_distance(np.abs(places[:200, None] - places[:200]).tolist())),
    ]
    ring = RainbowGraph(cycle(24), lambda n: (1, 3, 2) if n == 23 else (1, 2, 3))
    fixed = {0: ["1/5", "1/10", "7/10"], 22: ["2/5", "1/10", "1/2"]}
    return [
        _limit(2, "tight (ε, δ), hypercube of 2048 nodes, all pairs tie", lambda: check(ties, cube, "1/2", "1e-6")),
        _limit(60, "whole δ(ε), Gaussian channel, 2000 x 2000 floats", lambda: privacy_curve(bell, path(size))),
        *(
            _limit(1, f"tight (ε, δ), {name}, 200 x 200 rationals", lambda g=graph: check(rational, g, 1, "1/1000"))
            for name, graph in cases
        ),
        _limit(
            2, "best rainbow mechanism, cycle of 24, 3 colours, δ > 0", lambda: find_best(ring, fixed, "ln(2)", "1/100")
        ),
    ]


def _limit(limit: float, name: str, call: Callable[[], object]) -> Row:
    started = time.process_time()
    call()
    return within(limit, f"{name} (CPU)", time.process_time() - started)


def _geometric(size: int) -> np.ndarray:
    """The truncated geometric channel with α = e^(-1/4), in doubles."""
    alpha = np.exp(-0.25)
    places = np.arange(size)
    matrix = (1 - alpha) / (1 + alpha) * alpha ** np.abs(places[:, None] - places)
    matrix[:, 0], matrix[:, -1] = alpha**places / (1 + alpha), alpha ** places[::-1] / (1 + alpha)
    return matrix

"""The exact checker against `qif` (floats) and against a plain NumPy loop that is neither exact nor rigorous."""

from __future__ import annotations

import numpy as np

from benchmarks.measure import Row, race
from leastnoise.checker import check
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import from_distance, path

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
                target=0,
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
            target=0,
            rounds=3,
        )
    )
    return rows


def _geometric(size: int) -> np.ndarray:
    """The truncated geometric channel with α = e^(-1/4), in doubles."""
    alpha = np.exp(-0.25)
    places = np.arange(size)
    matrix = (1 - alpha) / (1 + alpha) * alpha ** np.abs(places[:, None] - places)
    matrix[:, 0], matrix[:, -1] = alpha**places / (1 + alpha), alpha ** places[::-1] / (1 + alpha)
    return matrix

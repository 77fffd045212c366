"""The mechanisms that one would try first, as tables of doubles: for comparison and pictures only, none is released.

Each function gives p(y|x) for the nodes of a graph in node order, or None where the mechanism makes no sense there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from leastnoise.model.graphs import DatasetGraph
from leastnoise.model.graphs.line import find_line

__all__ = ["CONTENDERS", "Contender", "Table"]

Table: TypeAlias = NDArray[np.float64]
Contender: TypeAlias = Callable[[DatasetGraph, float], Table | None]


def _textbook_exponential(graph: DatasetGraph, epsilon: float) -> Table:
    """P(y|x) ∝ e^(−ε·d/2): the factor 2 pays for a normaliser that changes with x."""
    return _exponential(_distances(graph), epsilon / 2)


def _exponential_without_the_two(graph: DatasetGraph, epsilon: float) -> Table | None:
    """P(y|x) ∝ e^(−ε·d), where every node sees as many others at each distance: the normaliser is then constant."""
    distances = _distances(graph)
    views = np.sort(distances, axis=1)
    return _exponential(distances, epsilon) if (views == views[0]).all() else None


def _laplace(graph: DatasetGraph, epsilon: float) -> Table | None:
    """Laplace noise of scale 1/ε on a line, rounded to the nearest node."""
    return _on_line(graph, lambda z, _: np.exp(-epsilon * z) / 2)


def _geometric(graph: DatasetGraph, epsilon: float) -> Table | None:
    """Geometric noise on a line, clamped to it: P(noise > z) = α^k/(1 + α) for the next k·gap above z."""
    return _on_line(
        graph, lambda z, gap: np.exp(-epsilon * gap * (np.floor(z / gap) + 1)) / (1 + np.exp(-epsilon * gap))
    )


def _staircase(graph: DatasetGraph, epsilon: float) -> Table | None:
    """Staircase noise on a line (Geng and Viswanath 2016) for neighbours one gap apart, rounded to the nearest node."""
    return _on_line(graph, lambda z, gap: _staircase_tail(z / gap, epsilon * gap))


def _randomized_response(graph: DatasetGraph, epsilon: float) -> Table:
    """The true node with odds e^ε against each other one, as if all were neighbours."""
    distances = _distances(graph)
    nearest = float(distances[distances > 0].min())
    apart: Table = np.where(distances > 0, nearest, 0.0)
    return _exponential(apart, epsilon)


CONTENDERS: dict[str, Contender] = {
    "exponential, ε/2": _textbook_exponential,
    "exponential, ε": _exponential_without_the_two,
    "Laplace, rounded": _laplace,
    "geometric": _geometric,
    "staircase, rounded": _staircase,
    "randomized response": _randomized_response,
}


def _distances(graph: DatasetGraph) -> Table:
    return np.asarray(graph.distances(), dtype=np.float64)


def _exponential(distances: Table, rate: float) -> Table:
    weights = np.exp(-rate * distances)
    table: Table = weights / weights.sum(axis=1, keepdims=True)
    return table


def _on_line(graph: DatasetGraph, tail: Callable[[Any, float], Any]) -> Table | None:
    """Noise added to each place of the line, then the nearest place; tail(z, gap) is P(noise > z) for z ≥ 0.

    An interval on one side of zero is a difference of tails, so that even the smallest chances are right.
    """
    line = find_line(graph)
    if line is None:
        return None
    gap, size = float(line.gap), len(line.order)
    middles = gap * np.subtract.outer(np.arange(size), np.arange(size)).T.astype(np.float64)  # y − x
    low, high = middles - gap / 2, middles + gap / 2
    low[:, 0], high[:, -1] = -np.inf, np.inf
    at_low, at_high = tail(np.abs(low), gap), tail(np.abs(high), gap)
    one_side = np.where(low >= 0, at_low - at_high, at_high - at_low)
    table = np.empty((size, size))
    table[np.ix_(line.order, line.order)] = np.where((low < 0) & (high > 0), 1 - at_low - at_high, one_side)
    return table


def _staircase_tail(z: Any, epsilon: float) -> Any:
    """Density a on [k, k + γ) and a·e^-ε on [k + γ, k + 1), times e^(−kε), on both sides, γ = 1/(1 + e^(ε/2))."""
    b, step = np.exp(-epsilon), 1 / (1 + np.exp(epsilon / 2))
    finite = np.where(np.isinf(z), 0, z)
    period, rest = np.floor(finite), finite % 1
    passed = (np.minimum(rest, step) + b * np.maximum(rest - step, 0)) / (step + b * (1 - step))
    return np.where(np.isinf(z), 0, b**period * (1 - (1 - b) * passed) / 2)

"""Rejection from Laplace noise: draws with weight e^(−rate·steps(y)) wherever Σ|y_i| bounds the steps from below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact.arrays import wide_enough
from leastnoise.exact.numbers import Exact
from leastnoise.exact.samplers.geometric import geometric
from leastnoise.exact.samplers.laplace import discrete_laplace
from leastnoise.exact.sources import Source

__all__ = ["Envelope"]

_MOST_PROPOSALS = 1 << 15  # at a time


@dataclass(frozen=True)
class Envelope:
    """The bound part·Σ|y_i| ≤ whole·steps(y), for whole numbers part and whole.

    Propose independent coordinates with weight e^(−rate·(part/whole)·|y_i|) and accept y with probability
    e^(−(rate/whole)·k), k = whole·steps(y) − part·Σ|y_i| ≥ 0: that is the chance that a geometric number reaches k.
    """

    dimension: int
    whole: int
    part: int = 1

    def draw(
        self, steps: Callable[[NDArray[Any]], NDArray[Any]], rate: Exact, count: int, source: Source | None
    ) -> NDArray[Any]:
        """`count` independent points with P(y) ∝ e^(−rate·steps(y))."""
        found = [np.empty((0, self.dimension), dtype=np.int64)]
        missing, tried, kept = count, 0, 0
        while missing > 0:
            batch = min(_MOST_PROPOSALS, 16 + missing * (tried + 16) // (kept + 1))
            proposals = discrete_laplace(
                rate=rate * self.part / self.whole, size=(batch, self.dimension), source=source
            )
            distance, sums = steps(proposals), np.abs(wide_enough(proposals, self.dimension)).sum(axis=1)
            excess = wide_enough(distance, self.whole) * self.whole - wide_enough(sums, self.part) * self.part
            accepted = geometric(rate / self.whole, batch, source) >= excess
            found.append(proposals[accepted])
            tried, kept = tried + batch, kept + int(accepted.sum())
            missing = count - kept
        return np.concatenate(found)[:count]

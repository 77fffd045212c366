"""What no Gaussian noise beats where one unit may change several cells.

Let M be the mean of ΔΔᵀ over some law of changes Δ that one unit can make. Every release with the information matrix X
and μ = 1 has ΔᵀXΔ ≤ 1 for all of them, so tr(XM) ≤ 1, and by the inequality of Cauchy and Schwarz for the norm of
nuclear operators tr(V·X⁺) ≥ (tr (M^½·V·M^½)^½)². The laws here put one row into each of g cells, drawn at random from a
slice of a table or from a window of cells in a row; the best mixture of them is looked for. The bound holds for every
mixture. It is computed in doubles. Proof: docs/theory/strategy.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from leastnoise.model.linear_workloads import LinearWorkload
from leastnoise.model.marginals import interactions_of

__all__ = ["table_bound", "workload_bound"]

_TABLE_ROUNDS, _WORKLOAD_ROUNDS = 2000, 40


def table_bound(sizes: Sequence[int], tables: Sequence[tuple[int, ...]], groups: int) -> float:
    """The total squared error of all cells of marginal tables at μ = 1: (Σ_A t_A·√(v_A·m_A))²."""
    parts, count = interactions_of(tables), prod(sizes)
    ranks = np.array([float(prod(sizes[i] - 1 for i in part)) for part in parts])
    spread = [[prod(sizes) / prod(sizes[i] for i in b) for b in tables if set(part) <= set(b)] for part in parts]
    costs = np.array([sum(each) for each in spread])
    laws = []
    for many in range(len(sizes) + 1):
        for free in combinations(range(len(sizes)), many):
            cells = prod(sizes[i] for i in free)
            kept = min(groups, cells)
            apart = kept * (cells - kept) / (cells - 1) if cells > 1 else 0.0
            laws.append([(apart if set(part) & set(free) else kept**2) / count for part in parts])
    changes, shares = np.array(laws), np.full(len(laws), 1 / len(laws))
    for _ in range(_TABLE_ROUNDS):
        slopes = changes @ (ranks * np.sqrt(costs / np.maximum(shares @ changes, 1e-300)))
        shares *= slopes / (slopes @ shares)
    return float((ranks * np.sqrt(costs * (shares @ changes))).sum() ** 2)


def workload_bound(workload: LinearWorkload, groups: int) -> float:
    """The total squared error of all answers at μ = 1."""
    root, cells = _root(workload.weigh(np.ones(workload.answers)).astype(float)), workload.cells
    widths = [groups * 2**k for k in range(12) if groups * 2**k < cells] + [cells]
    laws = [root @ _window(cells, groups, width) @ root for width in widths]
    shares = np.full(len(laws), 1 / len(laws))
    for _ in range(_WORKLOAD_ROUNDS):
        values, vectors = np.linalg.eigh(np.tensordot(shares, laws, 1))
        inverse = (vectors / np.sqrt(np.maximum(values, 1e-12 * values[-1]))) @ vectors.T
        slopes = np.array([np.sum(inverse * law) for law in laws])
        shares *= slopes / (slopes @ shares)
    mixed = np.linalg.eigvalsh(np.tensordot(shares, laws, 1))
    return float(np.sqrt(np.maximum(mixed, 0)).sum() ** 2)


def _window(cells: int, groups: int, width: int) -> NDArray[np.float64]:
    """The mean of ΔΔᵀ for g cells of a window at a random place, or of what is inside where it reaches over an end."""
    total, places = np.zeros((cells, cells)), range(groups - width, cells - groups + 1)
    for place in places:
        first, last = max(place, 0), min(place + width, cells)
        inside = last - first
        pair = groups * (groups - 1) / (inside * (inside - 1)) if inside > 1 else 0.0
        total[first:last, first:last] += pair
        total[range(first, last), range(first, last)] += groups / inside - pair
    return total / len(places)


def _root(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T)

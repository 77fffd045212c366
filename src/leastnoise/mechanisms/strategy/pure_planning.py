"""From a linear workload to a good strategy for Laplace noise, which one unit's change in the ℓ1 norm decides.

Candidates are noise on the cells, noise on the answers, and p-identity strategies (McKenna, Miklau, Hay and
Machanavajjhala, PVLDB 11, 2018): all cells and p weighted sums of them, scaled so that every cell has ℓ1 norm one.
The squared error of the last, as a function of the p·n weights Θ ≥ 0, has a gradient in closed form: with s = 1 +
Θᵀ1, Q = diag(s)·V·diag(s) and C = (I + ΘᵀΘ)⁻¹ it is tr(Q·C), with the derivatives −2·Θ·C·Q·C +
2·1·diag(V·diag(s)·C)ᵀ. A local optimum is a guess; the winner by exact error is taken. Whatever the number of cells
and rows of a unit, the ranking is the same: all columns of a p-identity are equally long, and long columns cost
others in proportion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import isqrt, prod

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact.parameters import NumberLike, read_integer, read_rate
from leastnoise.mechanisms.numeric import Geometric
from leastnoise.mechanisms.strategy.planning import Strategy, certified_part
from leastnoise.mechanisms.strategy.search import search
from leastnoise.model.limits import MOST_CELLS, MOST_GROUPS, MOST_ROWS_PER_UNIT
from leastnoise.model.linear_workloads import LinearWorkload, Weights
from leastnoise.model.strategies import StrategyPart

__all__ = ["plan_pure_strategy"]

Floats = NDArray[np.float64]
_SCALE = 1 << 20  # the ℓ1 norm of a column
_ROUNDS = 400
_CELLS_PER_SUM = 16
_MOST_ANSWERS = 4  # times the cells: beyond, noise on the answers is not looked at


def plan_pure_strategy(
    *workloads: LinearWorkload,
    epsilon: NumberLike,
    weights: Sequence[NumberLike] | None = None,
    groups: NumberLike = 1,
    rows: NumberLike = 1,
) -> Strategy:
    """A good strategy for Laplace noise, for a workload or the Kronecker product of several.

    Args:
        workloads: What is asked; several for all products of their answers.
        epsilon: The privacy of the release: noise on coarse grids is smaller where ε is large.
        weights: How much the squared error of each answer counts, for a single workload; None for ones.
        groups: The most cells that one unit is in.
        rows: The most that it adds to one of them.

    Raises:
        BadParameter: A number is out of range.
        TooLarge: The product has too many cells.

    >>> from leastnoise.model.linear_workloads import PrefixSums
    >>> plan_pure_strategy(PrefixSums(2), epsilon=1).name, plan_pure_strategy(PrefixSums(64), epsilon=1).name
    ('noise on the cells', 'cells and sums of them')
    """
    if not workloads or (len(workloads) > 1 and weights is not None):
        raise BadParameter("name a workload; weights are for a single one", fix="pass for example PrefixSums(100)")
    cells = prod(workload.cells for workload in workloads)
    if cells > MOST_CELLS:
        raise TooLarge(f"the product has more than {MOST_CELLS} cells", fix="use fewer or wider bins")
    most = min(read_integer(groups, "groups", at_least=1, at_most=MOST_GROUPS), cells)
    each = read_integer(rows, "rows", at_least=1, at_most=MOST_ROWS_PER_UNIT)
    price = read_rate(epsilon, "epsilon")
    read = [workload.read_weights(weights) for workload in workloads]
    parts, names = [], []
    for workload, one in zip(workloads, read, strict=True):
        ranked = []
        for name, part in _certified(workload, one):
            plan = Strategy((part,), "total", most, each, name, "l1")
            noise = Geometric(price, isqrt(plan.sensitivity)).moment(2).upper
            ranked.append((plan.error * noise / plan.sensitivity, name, part))
        _, name, part = min(ranked, key=lambda candidate: candidate[:2])
        parts.append(part)
        names.append(name)
    return Strategy(tuple(parts), "total", most, each, "; ".join(dict.fromkeys(names)), "l1")


@lru_cache(maxsize=16)
def _certified(workload: LinearWorkload, weights: Weights | None) -> list[tuple[str, StrategyPart]]:
    """All candidates with what proves their error; many prices ask for the same ones."""
    guess = search(workload, None if weights is None else np.array([max(float(w), 1e-9) for w in weights]))
    found = _candidates(workload, weights)
    return [(name, certified_part(workload, weights, guess, strategy)) for name, strategy in found]


def _candidates(workload: LinearWorkload, weights: Weights | None) -> Iterator[tuple[str, tuple[tuple[int, ...], ...]]]:
    size = workload.rank
    identity = tuple(tuple(int(i == j) for j in range(size)) for i in range(size))
    yield ("noise on the cells" if workload.basis is None else "noise on independent answers"), identity
    if workload.answers <= _MOST_ANSWERS * size and workload.below == 1:
        units = np.array(identity, dtype=object)
        yield "noise on the answers", tuple(tuple(map(int, row)) for row in workload.evaluate(units).T.tolist())
    if workload.basis is None and size > 2:
        ones = np.ones(workload.answers) if weights is None else np.array([float(weight) for weight in weights])
        yield "cells and sums of them", _p_identity(workload.weigh(ones) / workload.below**2)


def _p_identity(gram: Floats) -> tuple[tuple[int, ...], ...]:
    """All cells and some weighted sums, in whole numbers."""
    size = len(gram)
    sums = max(2, size // _CELLS_PER_SUM)
    start = np.random.default_rng(1).random((sums, size))

    def cost(flat: Floats) -> tuple[float, Floats]:
        theta = flat.reshape(sums, size)
        scale = 1 + theta.sum(axis=0)
        weighed = gram * np.outer(scale, scale)
        left = np.linalg.solve(np.eye(sums) + theta @ theta.T, theta)  # Θ·C
        value = np.trace(weighed) - np.sum(left * (theta @ weighed))
        mapped = left @ weighed
        gradient = -2 * (mapped - (mapped @ theta.T) @ left)
        columns = gram * scale
        gradient += 2 * (np.diagonal(columns) - np.sum((columns @ theta.T) * left.T, axis=1))
        return float(value), gradient.ravel()

    limits = [(0, None)] * (sums * size)
    found = minimize(cost, start.ravel(), jac=True, bounds=limits, method="L-BFGS-B", options={"maxiter": _ROUNDS})
    theta = found.x.reshape(sums, size)
    full = np.vstack([np.eye(size), theta]) / (1 + theta.sum(axis=0))
    rounded = np.rint(full * _SCALE).tolist()
    return tuple(tuple(map(int, row)) for row in rounded if any(row))

"""From a linear workload to a good strategy for Laplace noise, which one unit's change in the ℓ1 norm decides.

Candidates are noise on the cells, noise on the answers, and p-identity strategies (McKenna, Miklau, Hay and
Machanavajjhala, PVLDB 11, 2018): all cells and p weighted sums of them, scaled so that every cell has ℓ1 norm one.
The squared error of the last, as a function of the p·n weights Θ ≥ 0, has a gradient in closed form: with s = 1 +
Θᵀ1, Q = diag(s)·V·diag(s) and C = (I + ΘᵀΘ)⁻¹ it is tr(Q·C), with the derivatives −2·Θ·C·Q·C +
2·1·diag(V·diag(s)·C)ᵀ. A local optimum is a guess; the winner is certified. Whatever the number of cells
and rows of a unit, the ranking is the same: all columns of a p-identity are equally long, and long columns cost
others in proportion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact.integer_matrices import IntegerMatrix
from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike, read_integer, read_rate
from leastnoise.mechanisms.numeric import Geometric
from leastnoise.mechanisms.strategy.planning import Strategy, certified_part
from leastnoise.mechanisms.strategy.search import SearchResult, search
from leastnoise.model.limits import MOST_CELLS, MOST_GROUPS, MOST_ROWS_PER_UNIT
from leastnoise.model.linear_workloads import LinearWorkload, Weights
from leastnoise.model.strategies import GOALS, StrategyPart, Table

__all__ = ["plan_pure_strategy"]

Floats = NDArray[np.float64]
_SCALE = 1 << 20  # the ℓ1 norm of a column
_ROUNDS = 200
_MOST_WORK = _ROUNDS << 16  # rounds times squared cells
_CELLS_PER_SUM = 16
_GOLDEN = 0.6180339887498949
_MOST_ANSWERS = 4  # times the cells: beyond, noise on the answers is not looked at


def plan_pure_strategy(
    *workloads: LinearWorkload,
    epsilon: NumberLike,
    weights: Sequence[NumberLike] | None = None,
    goal: str = "total",
    groups: NumberLike = 1,
    rows: NumberLike = 1,
) -> Strategy:
    """A good strategy for Laplace noise, for a workload or the Kronecker product of several.

    Args:
        workloads: What is asked; several for all products of their answers.
        epsilon: The privacy of the release: noise on coarse grids is smaller where ε is large.
        weights: How much the squared error of each answer counts, for a single workload; None for ones.
        goal: "total" for the least sum of the weighted squared errors, "largest" for the least largest one.
        groups: The most cells that one unit is in.
        rows: The most that it adds to one of them.

    Raises:
        BadParameter: The goal is unknown, or a number is out of range.
        TooLarge: The product has too many cells.

    >>> from leastnoise.model.linear_workloads import PrefixSums
    >>> plan_pure_strategy(PrefixSums(2), epsilon=1).name, plan_pure_strategy(PrefixSums(64), epsilon=1).name
    ('noise on the cells', 'cells and sums of them')
    """
    if goal not in GOALS:
        raise BadParameter("unknown goal", given=goal, fix='pass "total" or "largest"')
    if not workloads or (len(workloads) > 1 and weights is not None):
        raise BadParameter("name a workload; weights are for a single one", fix="pass for example PrefixSums(100)")
    cells = prod(workload.cells for workload in workloads)
    if cells > MOST_CELLS:
        raise TooLarge(f"the product has more than {MOST_CELLS} cells", fix="use fewer or wider bins")
    most = min(read_integer(groups, "groups", at_least=1, at_most=MOST_GROUPS), cells)
    each = read_integer(rows, "rows", at_least=1, at_most=MOST_ROWS_PER_UNIT)
    price = read_rate(epsilon, "epsilon")
    read = [workload.read_weights(weights) for workload in workloads]
    chosen = [_chosen(workload, one, goal, price, most, each) for workload, one in zip(workloads, read, strict=True)]
    parts = tuple(
        _certified(workload, one, goal, name) for workload, one, name in zip(workloads, read, chosen, strict=True)
    )
    return Strategy(parts, goal, most, each, "; ".join(dict.fromkeys(chosen)), "l1")


def _chosen(workload: LinearWorkload, weights: Weights | None, goal: str, price: Exact, groups: int, rows: int) -> str:
    """The candidate with the least error at a price; its error at variance one in doubles, the variance exact."""
    ranked = []
    for name, strategy, error in _candidates(workload, weights, goal):
        written = IntegerMatrix(strategy)
        columns = (written if workload.basis is None else written @ workload.basis).transposed().rows
        lengths = sorted((sum(map(abs, column)) for column in columns), reverse=True)
        noise = Geometric(price, rows * sum(lengths[:groups])).moment(2).upper
        ranked.append((Fraction(error) * noise, name))
    return min(ranked)[1]


@lru_cache(maxsize=16)
def _certified(workload: LinearWorkload, weights: Weights | None, goal: str, name: str) -> StrategyPart:
    """A candidate with what proves its error; many prices ask for the same one."""
    strategy = next(strategy for known, strategy, _ in _candidates(workload, weights, goal) if known == name)
    return certified_part(workload, weights, _guess(workload, weights, goal), strategy)


@lru_cache(maxsize=16)
def _guess(workload: LinearWorkload, weights: Weights | None, goal: str) -> SearchResult:
    return search(workload, _doubles(workload, weights), largest=goal == "largest")


def _doubles(workload: LinearWorkload, weights: Weights | None) -> Floats:
    return np.ones(workload.answers) if weights is None else np.array([max(float(w), 1e-9) for w in weights])


@lru_cache(maxsize=16)
def _candidates(workload: LinearWorkload, weights: Weights | None, goal: str) -> list[tuple[str, Table, float]]:
    """All candidates with their errors at variance one, in doubles.

    For the goal "largest" the sums are searched with the weights at which Gaussian noise has equal largest errors.
    """
    ones = _doubles(workload, weights)
    shares = _guess(workload, weights, goal).weights if goal == "largest" else None
    found = []
    for name, strategy in _strategies(workload, ones if shares is None else ones * shares):
        rows = np.array(strategy, dtype=float)
        inverse = np.linalg.inv(rows.T @ rows)
        if goal == "largest":
            error = float(np.max(ones * workload.forms(inverse))) / workload.below**2
        else:
            error = float(np.sum(workload.weigh(ones) * inverse)) / workload.below**2
        found.append((name, strategy, error))
    return found


def _strategies(workload: LinearWorkload, weights: Floats) -> Iterator[tuple[str, Table]]:
    size = workload.rank
    identity = tuple(tuple(int(i == j) for j in range(size)) for i in range(size))
    yield ("noise on the cells" if workload.basis is None else "noise on independent answers"), identity
    if workload.answers <= _MOST_ANSWERS * size and workload.below == 1:
        units = np.array(identity, dtype=object)
        yield "noise on the answers", tuple(tuple(map(int, row)) for row in workload.evaluate(units).T.tolist())
    if workload.basis is None and size > 2:
        yield "cells and sums of them", _p_identity(workload.weigh(weights) / workload.below**2)


def _p_identity(gram: Floats) -> Table:
    """All cells and some weighted sums, in whole numbers."""
    size = len(gram)
    sums = max(2, size // _CELLS_PER_SUM)
    start = np.modf(np.arange(1.0, sums * size + 1) ** 2 * _GOLDEN)[0].reshape(sums, size)  # spread, always the same

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

    rounds = max(min(_ROUNDS, _MOST_WORK // size**2), 100)
    limits = [(0, None)] * (sums * size)
    found = minimize(cost, start.ravel(), jac=True, bounds=limits, method="L-BFGS-B", options={"maxiter": rounds})
    theta = found.x.reshape(sums, size)
    full = np.vstack([np.eye(size), theta]) / (1 + theta.sum(axis=0))
    rounded = np.rint(full * _SCALE).tolist()
    return tuple(tuple(map(int, row)) for row in rounded if any(row))

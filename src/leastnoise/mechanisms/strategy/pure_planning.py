"""From a linear workload to a good strategy for Laplace noise, which one unit's change in the ℓ1 norm decides.

Candidates are noise on the cells, noise on the answers, weighted trees, Haar wavelets, and p-identity strategies
(McKenna, Miklau, Hay and Machanavajjhala, PVLDB 11, 2018): all cells and p weighted sums of them, scaled so that every
cell has ℓ1 norm one. The squared error of the last, as a function of the p·n weights Θ ≥ 0, has a gradient in closed
form: with s = 1 + Θᵀ1, Q = diag(s)·V·diag(s) and C = (I + ΘᵀΘ)⁻¹ it is tr(Q·C), with the derivatives −2·Θ·C·Q·C +
2·1·diag(V·diag(s)·C)ᵀ. A local optimum is a guess; the winner is certified. Whatever the number of cells and rows of a
unit, all but noise on the answers have columns of equal length, so that their ranking is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import cast

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact import Exact, IntegerMatrix, NumberLike, read_integer, read_rate
from leastnoise.mechanisms.numeric import Geometric
from leastnoise.mechanisms.strategy.cache import Found, kept
from leastnoise.mechanisms.strategy.planning import Strategy, certified_part, guessed
from leastnoise.mechanisms.strategy.search import SearchResult
from leastnoise.model import (
    GOALS,
    MOST_CELLS,
    MOST_DENSE_CELLS,
    MOST_GROUPS,
    MOST_ROWS_PER_UNIT,
    LinearWorkload,
    StrategyPart,
    Weights,
)

__all__ = ["plan_pure_strategy", "pure_alternatives"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
_BRANCHINGS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32)
_SUMS = "cells and sums of them"
_SCALE = 1 << 20  # the ℓ1 norm of a column
_ROUNDS = 200
_MOST_WORK = _ROUNDS << 16  # rounds times squared cells
_CELLS_PER_SUM = 16
_MOST_TRIED, _TURNS = 256, 2  # cells up to which other starts and more sums are tried
_MOST_PRODUCTS = 1 << 17  # in one matrix product
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


def pure_alternatives(
    workload: LinearWorkload,
    weights: Weights | None = None,
    *,
    epsilon: NumberLike,
    goal: str = "total",
    groups: int = 1,
    rows: int = 1,
) -> dict[str, Fraction]:
    """The squared error of each candidate at a price; its error at variance one in doubles, the variance exact."""
    price, found = read_rate(epsilon, "epsilon"), {}
    for name, strategy, error in _candidates(workload, weights, goal):
        written = IntegerMatrix(strategy)
        lengths = sorted((written if workload.basis is None else written @ workload.basis).column_sizes(), reverse=True)
        noise = Geometric(price, rows * sum(lengths[:groups])).moment(2).upper
        found[name] = Fraction(error) * noise
    return found


def _chosen(workload: LinearWorkload, weights: Weights | None, goal: str, price: Exact, groups: int, rows: int) -> str:
    """The candidate with the least error."""
    ranked = pure_alternatives(workload, weights, epsilon=price, goal=goal, groups=groups, rows=rows)
    return min((error, name) for name, error in ranked.items())[1]


@lru_cache(maxsize=16)
def _certified(workload: LinearWorkload, weights: Weights | None, goal: str, name: str) -> StrategyPart:
    """A candidate with what proves its error; many prices ask for the same one."""
    if name == _SUMS:
        return _sums(workload, weights, goal)
    strategy = next(strategy for known, strategy, _ in _candidates(workload, weights, goal) if known == name)
    return certified_part(workload, weights, _guess(workload, weights, goal), IntegerMatrix(strategy))


@lru_cache(maxsize=16)
def _sums(workload: LinearWorkload, weights: Weights | None, goal: str) -> StrategyPart:
    """The p-identity strategy, whose search takes long."""

    def find() -> Found:
        shares, ones = _guess(workload, weights, goal).weights, _doubles(workload, weights)
        gram = workload.weigh(ones if shares is None else ones * shares)
        strategy = IntegerMatrix(_p_identity(gram))
        return Found(_SUMS, (certified_part(workload, weights, _guess(workload, weights, goal), strategy),))

    asked = {"goal": goal, "noise": "Laplace"}
    (part,) = kept(asked, [workload], [weights], find, lambda found: found.name == _SUMS).parts
    return part


@lru_cache(maxsize=16)
def _guess(workload: LinearWorkload, weights: Weights | None, goal: str) -> SearchResult:
    return guessed(workload, weights, goal)


def _doubles(workload: LinearWorkload, weights: Weights | None) -> Floats:
    return np.ones(workload.answers) if weights is None else np.array([max(float(w), 1e-9) for w in weights])


@lru_cache(maxsize=16)
def _candidates(workload: LinearWorkload, weights: Weights | None, goal: str) -> list[tuple[str, Whole, float]]:
    """All candidates with their errors at variance one, in doubles.

    For the goal "largest" the sums are searched with the weights at which Gaussian noise has equal largest errors.
    """
    ones = _doubles(workload, weights)
    shares = _guess(workload, weights, goal).weights if goal == "largest" else None
    found = []
    for name, strategy in _strategies(workload, weights, goal, ones if shares is None else ones * shares):
        rows = strategy.astype(np.float64)
        inverse = np.linalg.inv(rows.T @ rows)
        if goal == "largest":
            error = float(np.max(ones * workload.forms(inverse))) / workload.below**2
        else:
            error = float(np.sum(workload.weigh(ones) * inverse)) / workload.below**2
        found.append((name, strategy, error))
    return found


def _strategies(
    workload: LinearWorkload, weights: Weights | None, goal: str, ones: Floats
) -> Iterator[tuple[str, Whole]]:
    size = workload.rank
    identity = np.eye(size, dtype=np.int64)
    yield ("noise on the cells" if workload.basis is None else "noise on independent answers"), identity
    if workload.answers <= _MOST_ANSWERS * size and workload.below == 1 and size <= MOST_DENSE_CELLS:
        answers = workload.evaluate(identity.astype(object)).T
        yield "noise on the answers", answers.astype(np.int64)
    if workload.basis is not None or size < 3:
        return
    gram = workload.weigh(ones)
    yield "a weighted tree", _tree(gram)
    yield "Haar wavelets", _wavelets(gram)
    if size <= MOST_DENSE_CELLS:
        yield _SUMS, _sums(workload, weights, goal).strategy.numbers(1)


def _blocks(gram: Floats, branching: int) -> list[float]:
    """v_l = tr(V·P_l) for the projections P_l on vectors that are constant on blocks of branching^l cells.

    The last block holds all cells; cells beyond the last one are zeros that nobody asks for.
    """
    found, width, sums = [float(np.trace(gram))], 1, gram
    while width < len(gram):
        width *= branching
        starts = np.arange(0, len(sums), branching)
        sums = np.add.reduceat(np.add.reduceat(sums, starts, axis=0), starts, axis=1)
        found.append(float(np.trace(sums)) / width)
    return found


def _tree(gram: Floats) -> Whole:
    """All nodes of a tree over the cells, each level with its weight; the best branching and weights.

    On a full tree AᵀA = Σ w_l²·b^l·P_l, so that the projections P_l − P_{l+1} diagonalise it: with
    g_l = Σ_{k ≤ l} w_k²·b^k the error is Σ (v_l − v_{l+1})/g_l, to be least for Σ w_l = 1.
    """
    from scipy.optimize import minimize  # here, because it takes long to import

    best: tuple[float, int, Floats] | None = None
    for branching in _BRANCHINGS:
        kept = -np.diff([*_blocks(gram, branching), 0.0])
        powers: Floats = np.power(float(branching), np.arange(len(kept), dtype=np.float64))

        def cost(logs: Floats, kept: Floats = kept, powers: Floats = powers) -> tuple[float, Floats]:
            weights = np.exp(logs - logs.max())
            shares = weights / weights.sum()
            sums = np.cumsum(shares**2 * powers)
            slopes = -np.cumsum((kept / sums**2)[::-1])[::-1] * 2 * shares * powers  # by w_l
            value = float(np.sum(kept / sums))
            return np.log(value), shares * (slopes - shares @ slopes) / value

        found = minimize(cost, np.zeros(len(kept)), jac=True, method="TNC")
        if best is None or found.fun < best[0]:
            shares = np.exp(found.x - found.x.max())
            best = float(found.fun), branching, shares / shares.sum()
    _, branching, shares = cast("tuple[float, int, Floats]", best)
    size, rows = len(gram), []
    for level, share in enumerate(shares):
        weight = round(share * _SCALE)
        if weight or not level:
            width = branching**level
            nodes = np.arange(-(-size // width))[:, None] == np.arange(size) // width
            rows.append(nodes * np.int64(max(weight, 1)))
    return np.vstack(rows)


def _wavelets(gram: Floats) -> Whole:
    """The sum of all cells and, for each block of a binary tree, its first half minus its second.

    Source: Xiao, Wang and Gehrke, TKDE 23, 2011. On a full tree the error is Σ a_l/w_l² with
    a_l = (v_{l-1} − v_l)/2^l, so that w_l ∝ a_l^⅓ is best.
    """
    size, blocks = len(gram), _blocks(gram, 2)
    lost = [*(fine - coarse for fine, coarse in pairwise(blocks)), blocks[-1]]
    widths = [*(2**level for level in range(1, len(blocks))), 2 ** (len(blocks) - 1)]
    shares = np.cbrt(np.maximum(lost, 0) / np.array(widths, dtype=float))
    places, rows = np.arange(size), []
    for width, share in zip(widths[:-1], shares / shares.sum(), strict=False):
        blocks_of = np.arange(-(-size // width))[:, None] == places // width
        signs = np.where(places % width < width // 2, 1, -1)
        rows.append(blocks_of * signs * np.int64(max(round(share * _SCALE), 1)))
    rows.append(np.full((1, size), max(round(shares[-1] / shares.sum() * _SCALE), 1), dtype=np.int64))
    return np.vstack(rows)


def _p_identity(gram: Floats) -> Whole:
    """All cells and some weighted sums, in whole numbers: the best of a few local optima, where that is quick."""
    size = len(gram)
    few = max(2, size // _CELLS_PER_SUM)
    tries = [(few, 0)] if size > _MOST_TRIED else [(sums, turn) for sums in (few, 2 * few) for turn in range(_TURNS)]
    _, theta = min((_weighted_sums(gram, *each) for each in tries), key=lambda one: one[0])
    full = np.vstack([np.eye(size), theta]) / (1 + theta.sum(axis=0))
    rounded = np.rint(full * _SCALE).astype(np.int64)
    kept: Whole = rounded[rounded.any(axis=1)]
    return kept


def _weighted_sums(gram: Floats, sums: int, turn: int) -> tuple[float, Floats]:
    """A local optimum with so many sums, and its error at variance one."""
    from scipy.optimize import minimize

    size = len(gram)
    step = _GOLDEN + turn / 10  # starts are spread, and always the same
    start = np.modf(np.arange(1.0, sums * size + 1) ** 2 * step)[0].reshape(sums, size)
    own, blocks = np.diagonal(gram), _column_blocks(gram, _MOST_PRODUCTS // (sums * size))

    def cost(flat: Floats) -> tuple[float, Floats]:
        theta = flat.reshape(sums, size)
        scale = 1 + theta.sum(axis=0)
        moved = np.hstack(list((theta * scale) @ blocks))[:, :size]  # Θ·diag(s)·V
        weighed = moved * scale  # Θ·Q
        left, mapped = np.hsplit(np.linalg.solve(np.eye(sums) + theta @ theta.T, np.hstack([theta, weighed])), 2)
        value = own @ scale**2 - np.sum(left * weighed)
        gradient = 2 * (mapped @ theta.T) @ left - 2 * mapped + 2 * (own * scale - np.sum(moved * left, axis=0))
        return float(value), gradient.ravel()

    rounds = max(min(3 * _ROUNDS, _MOST_WORK // size**2), 100)
    limits = [(0, None)] * (sums * size)
    found = minimize(cost, start.ravel(), jac=True, bounds=limits, method="L-BFGS-B", options={"maxiter": rounds})
    return float(found.fun), found.x.reshape(sums, size)


def _column_blocks(matrix: Floats, width: int) -> Floats:
    """The columns in blocks, zeros after the last one.

    Products with small matrices stay in one thread; threads of BLAS that wait for each other on a busy machine took a
    hundred times as long.
    """
    size, width = len(matrix), max(1, min(width, len(matrix)))
    padded = np.pad(matrix, ((0, 0), (0, -size % width)))
    return np.ascontiguousarray(padded.reshape(size, -1, width).transpose(1, 0, 2))

"""An interior point of a mixing program, as a guess: weights of columns, and prices of rows that are well inside.

    minimise  cost·x    subject to  matrix·x = 1,  x ≥ 0

A path-following method with a predictor and a corrector (Mehrotra 1992) for few rows and many dense columns. It may
stop early: prices from the middle of the good ones, not from a corner, make column generation settle in a fraction of
the rounds (Gondzio, González-Brevis and Munari 2013).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

__all__ = ["mix_inside", "whole_sums"]

Floats = NDArray[np.float64]

_MOST_STEPS = 60
_FEASIBLE = 1e-8
_TO_THE_WALL = 0.9
_CENTRED = 0.05  # of the mean product that each step still aims at
_JITTER = 1e-13
_POLISHING = 4


def mix_inside(cost: Floats, matrix: Floats, tolerance: float) -> tuple[Floats, Floats]:
    """Weights and prices whose costs differ by at most a share `tolerance`, unless doubles end first."""
    rows, columns = matrix.shape
    ones = np.ones(rows)
    factor = _factored(matrix, np.ones(columns))
    x = matrix.T @ cho_solve(factor, ones)
    prices = cho_solve(factor, matrix @ cost)
    slack = cost - prices @ matrix
    x += max(-1.5 * x.min(), 0.0) + 1e-12
    slack += max(-1.5 * slack.min(), 0.0) + 1e-12 * np.abs(cost).max()
    product = x @ slack
    x, slack = x + 0.5 * product / slack.sum(), slack + 0.5 * product / x.sum()
    for _ in range(_MOST_STEPS):
        miss, dual_miss, mean = ones - matrix @ x, cost - prices @ matrix - slack, x @ slack / columns
        apart = cost @ x - prices.sum()
        if np.abs(miss).max() < _FEASIBLE and apart <= tolerance * abs(cost @ x):
            break
        try:
            factor = _factored(matrix, x / slack)
        except LinAlgError:
            break
        step = _direction(matrix, factor, x, slack, miss, dual_miss, -x * slack)
        long = _length(x, step[0], 1.0), _length(slack, step[2], 1.0)
        ahead = (x + long[0] * step[0]) @ (slack + long[1] * step[2]) / columns
        aim = max((ahead / mean) ** 3, _CENTRED) * mean
        step = _direction(matrix, factor, x, slack, miss, dual_miss, aim - x * slack - step[0] * step[2])
        if not all(np.isfinite(part).all() for part in step):
            break
        along, dual_along = _length(x, step[0], _TO_THE_WALL), _length(slack, step[2], _TO_THE_WALL)
        x, prices, slack = x + along * step[0], prices + dual_along * step[1], slack + dual_along * step[2]
    return x, prices


def whole_sums(matrix: Floats, weights: Floats) -> Floats:
    """Weights near the given ones whose rows sum to one as nearly as doubles can."""
    x = weights.copy()
    for _ in range(_POLISHING):
        scale = x * x
        try:
            factor = _factored(matrix, scale)
        except LinAlgError:
            break
        x = np.maximum(x + scale * (matrix.T @ cho_solve(factor, 1 - matrix @ x)), 0)
    return x


def _factored(matrix: Floats, scale: Floats) -> tuple[Floats, bool]:
    product = (matrix * scale) @ matrix.T
    diagonal = product.diagonal()
    product[np.diag_indices(len(product))] += _JITTER * (diagonal + diagonal.max() / 10)
    factor: tuple[Floats, bool] = cho_factor(product, check_finite=False)
    return factor


def _direction(
    matrix: Floats,
    factor: tuple[Floats, bool],
    x: Floats,
    slack: Floats,
    miss: Floats,
    dual_miss: Floats,
    wanted: Floats,
) -> tuple[Floats, Floats, Floats]:
    """A step of Newton's method towards products x·slack that change by `wanted`."""
    prices = cho_solve(factor, miss + matrix @ ((x * dual_miss - wanted) / slack), check_finite=False)
    slacks = dual_miss - prices @ matrix
    return (wanted - x * slacks) / slack, prices, slacks


def _length(point: Floats, step: Floats, share: float) -> float:
    """How far a step may go and leave every entry positive."""
    steepest = float((-step / point).max())
    return min(1.0, share / steepest) if steepest > 0 else 1.0

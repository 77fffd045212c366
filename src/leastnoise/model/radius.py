"""The total-variation radius of a channel: the smallest ball around all its rows, as an upper bound of capacity.

For any distribution u over the outputs and any set S of inputs, max_{x∈S} C_xy ≤ u_y + Σ_{x∈S} (C_xy − u_y)⁺. Summing
over y, Σ_y max_{x∈S} C_xy ≤ 1 + |S|·max_x TV(C_x, u) with TV(C_x, u) = Σ_y (C_xy − u_y)⁺. The best u is found by a
linear program (the dual of the relaxed search for S), and any u at all gives a bound that holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact.matrices import RationalMatrix
from leastnoise.model.float_programs import guess_program

__all__ = ["Ball", "distance_above", "small_ball"]

_NEAR = 1e-9  # what a float solver may mean by equal
_MOST_FOR_SOLVER = 1 << 16  # entries; beyond, the mean of the rows is a good enough center

Rows = Sequence[Sequence[Fraction]]


class Ball(NamedTuple):
    """A distribution over the outputs, and the largest total variation of any row from it, both exact.

    `touching` are the inputs that the solver believes to hold the ball in place: a guess at the worst prior.
    """

    center: tuple[Fraction, ...]
    radius: Fraction
    touching: tuple[int, ...]


def small_ball(rows: Rows) -> Ball:
    """A ball around all rows; the smallest where the solver's guess, made exact, is right, and a ball in any case."""
    floats = np.array([[float(entry) for entry in row] for row in rows])
    center, touching = _guess_center(floats)
    candidates = [_exact_center(rows, floats, center), _rational_center(center)]
    balls = [Ball(u, max(distance_above(row, u) for row in rows), touching) for u in candidates if u is not None]
    return min(balls, key=lambda ball: ball.radius)


def distance_above(row: Sequence[Fraction], center: Sequence[Fraction]) -> Fraction:
    """Σ_y (row_y − center_y)⁺, the total variation if both are distributions."""
    return sum((p - u for p, u in zip(row, center, strict=True) if p > u), start=Fraction(0))


def _guess_center(floats: NDArray[np.float64]) -> tuple[NDArray[np.float64], tuple[int, ...]]:
    """Minimise t over u, s ≥ 0 with s_xy ≥ C_xy − u_y, Σ_y s_xy ≤ t and Σ u = 1; the prices of t weigh the inputs."""
    from scipy import sparse  # half a second to import, and seldom needed

    if floats.size > _MOST_FOR_SOLVER:
        return floats.mean(axis=0), ()
    height, width = floats.shape
    eye, ones = sparse.identity, np.ones
    blocks: list[list[Any]] = [
        [-sparse.kron(ones((height, 1)), eye(width)), -eye(height * width), None],
        [None, sparse.kron(eye(height), ones((1, width))), -ones((height, 1))],
    ]
    cost, total = np.zeros(width + height * width + 1), np.zeros((1, width + height * width + 1))
    cost[-1], total[0, :width] = 1, 1
    right = np.concatenate([-floats.ravel(), np.zeros(height)])
    guess = guess_program(cost, total, ones(1), sparse.block_array(blocks).tocsr(), right)
    if guess is None:
        return floats.mean(axis=0), ()
    weights = -guess.inequality_prices[-height:]
    return guess.point[:width], tuple(np.flatnonzero(weights > weights.max() / 2).tolist())


def _rational_center(center: NDArray[np.float64]) -> tuple[Fraction, ...]:
    parts = [Fraction(max(0.0, entry)) for entry in center.tolist()]
    total = sum(parts, start=Fraction(0))
    return tuple(part / total for part in parts)


def _exact_center(rows: Rows, floats: NDArray[np.float64], center: NDArray[np.float64]) -> tuple[Fraction, ...] | None:
    """The vertex that the guess is near: u_y is 0, or an entry of column y, or left to the rows that touch the ball."""
    fixed: dict[int, Fraction] = {}
    for y, guess in enumerate(center):
        nearest = int(np.abs(floats[:, y] - guess).argmin())
        if guess < _NEAR:
            fixed[y] = Fraction(0)
        elif abs(floats[nearest, y] - guess) < _NEAR:
            fixed[y] = rows[nearest][y]
    free = [y for y in range(len(center)) if y not in fixed]
    if not free:
        return tuple(fixed[y] for y in range(len(center))) if sum(fixed.values()) == 1 else None
    distances = np.maximum(floats - center, 0).sum(axis=1)
    # Unknowns: u_y for y free, and the radius t. One equation per touching row, one for the sum.
    left, right = [[*([1] * len(free)), 0]], [[1 - sum(fixed.values(), start=Fraction(0))]]
    for x in np.flatnonzero(distances > distances.max() - _NEAR).tolist():
        counted = [y for y in free if floats[x, y] > center[y]]
        left.append([*(int(y in counted) for y in free), 1])
        known = distance_above([rows[x][y] for y in fixed], list(fixed.values()))
        right.append([sum((rows[x][y] for y in counted), start=known)])
    solution = RationalMatrix(left).solve(RationalMatrix(right))
    if solution is None or not solution.is_nonnegative():
        return None
    solved = dict(zip(free, (row[0] for row in solution.rows), strict=False))
    return tuple({**fixed, **solved}[y] for y in range(len(center)))

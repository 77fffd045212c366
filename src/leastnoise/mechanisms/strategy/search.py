"""The search for the best strategy, in doubles: a guess, which whole-number arithmetic then judges.

Wanted is Z ≻ 0 with f_jᵀ·Z·f_j ≤ 1 for every cell j and the least tr(V·Z⁻¹). At the optimum Z⁻¹·V·Z⁻¹ = F·diag(λ)·Fᵀ
with multipliers λ ≥ 0, so Z follows from λ: with F·diag(λ)·Fᵀ = L·Lᵀ and S = (Lᵀ·V·L)^½, Z = L^-ᵀ·S·L^-1. The step
λ_j ← λ_j·f_jᵀ·Z·f_j is repeated, with Anderson's acceleration of ln λ, until (tr S)²/Σλ, which no strategy beats, is
near enough to what Z costs. For the goal "largest" the answers get weights in the same way: ω_k ← ω_k·(error of
answer k).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leastnoise.model.linear_workloads import LinearWorkload

__all__ = ["SearchResult", "search"]

Floats = NDArray[np.float64]
_MEMORY = 6  # steps that the acceleration looks back on
_SMALLEST_STEP, _LARGEST_STEP = 1e-3, 3.0
_LEAST_LOG = -32.0  # of a multiplier, relative to the largest


@dataclass(frozen=True)
class SearchResult:
    """What the search found.

    Attributes:
        matrix: Z, scaled so that no cell has more than one.
        dual: P = Z⁻¹ as it follows from the multipliers.
        multipliers: λ.
        weights: ω of the answers, for the goal "largest".
    """

    matrix: Floats
    dual: Floats
    multipliers: Floats
    weights: Floats | None


@dataclass(frozen=True)
class _Point:
    """Everything that follows from ln λ and, for the goal "largest", ln ω."""

    multipliers: Floats
    weights: Floats | None
    gram: Floats
    root: Floats  # L, or its diagonal where F is the identity
    vectors: Floats  # of S
    values: Floats
    reach: Floats  # f_jᵀ·Z·f_j
    errors: Floats | None  # of the answers, for the goal "largest"

    @property
    def bound(self) -> float:
        """What no strategy beats."""
        total = 1.0 if self.weights is None else float(self.weights.sum())
        return float(self.values.sum() ** 2 / self.multipliers.sum()) / total


class _Problem:
    """A workload in doubles."""

    def __init__(self, workload: LinearWorkload, weights: Floats | None, largest: bool) -> None:
        self.workload, self.largest = workload, largest
        self.importance = np.ones(workload.answers) if weights is None else weights
        self.basis = None if workload.basis is None else workload.basis.array().astype(float)
        self.gram = workload.weigh(self.importance) / workload.below**2

    def start(self) -> Floats:
        """Equal multipliers, and equal weights."""
        return np.zeros(self.workload.cells + (self.workload.answers if self.largest else 0))

    def at(self, logs: Floats) -> _Point:
        """Everything at these logarithms."""
        cells = self.workload.cells
        multipliers, weights, gram = np.exp(logs[:cells]), None, self.gram
        if self.largest:
            weights = np.exp(logs[cells:])
            gram = self.workload.weigh(weights * self.importance) / self.workload.below**2
        if self.basis is None:
            root = np.sqrt(multipliers)
            values, vectors = _roots(root[:, None] * gram * root)
            reach = (vectors**2 @ values) / multipliers
        else:
            root = np.linalg.cholesky((self.basis * multipliers) @ self.basis.T)
            values, vectors = _roots(root.T @ gram @ root)
            reach = values @ (vectors.T @ np.linalg.solve(root, self.basis)) ** 2
        point = _Point(multipliers, weights, gram, root, vectors, values, reach, None)
        if not self.largest:
            return point
        forms = self.workload.forms(self.inverse(point)) / self.workload.below**2
        errors: Floats = self.importance * forms
        return replace(point, errors=errors)

    def tried(self, logs: Floats) -> _Point | None:
        """The same; None where it can't be computed."""
        try:
            return self.at(logs)
        except np.linalg.LinAlgError:
            return None

    def inverse(self, point: _Point) -> Floats:
        """Z⁻¹ for Z scaled so that no cell has more than one; where F is the identity each is scaled on its own."""
        scaled = self._scaled(point) @ point.vectors
        inverse: Floats = (scaled / point.values) @ scaled.T
        return inverse

    def _scaled(self, point: _Point) -> Floats:
        if self.basis is None:
            return np.diag(point.root * np.sqrt(point.reach))
        scaled: Floats = point.root * np.sqrt(point.reach.max())
        return scaled

    def cost(self, point: _Point) -> float:
        """What the scaled Z costs."""
        if point.errors is not None:
            return float(point.errors.max())
        if self.basis is not None:
            return float(point.values.sum() * point.reach.max())
        scaled = (point.root * np.sqrt(point.reach))[:, None] * point.vectors
        return float(np.sum((point.gram @ scaled) * scaled / point.values))

    def step(self, point: _Point) -> Floats:
        """The change of the logarithms."""
        mean = float(point.multipliers @ point.reach / point.multipliers.sum())
        parts = [point.reach / mean]
        if point.errors is not None and point.weights is not None:
            parts.append(point.errors / float(point.weights @ point.errors / point.weights.sum()))
        return np.log(np.maximum(np.concatenate(parts), _SMALLEST_STEP))

    def guess(self, point: _Point) -> SearchResult:
        """Z, scaled, and its dual."""
        root = np.diag(point.root) if self.basis is None else point.root
        dual = root @ (point.vectors / point.values) @ point.vectors.T @ root.T
        scale = np.linalg.inv(self._scaled(point))
        matrix = scale.T @ (point.vectors * point.values) @ point.vectors.T @ scale
        return SearchResult((matrix + matrix.T) / 2, (dual + dual.T) / 2, point.multipliers, point.weights)


def search(
    workload: LinearWorkload,
    weights: Floats | None = None,
    *,
    largest: bool = False,
    gap: float = 1e-8,
    rounds: int = 400,
) -> SearchResult:
    """The best Z, up to a relative gap or so many rounds.

    Args:
        workload: What is asked.
        weights: How much the squared error of each answer counts; None for ones.
        largest: Whether the largest weighted error is to be least, and not their sum.
        gap: Where to stop.
        rounds: Where to stop in any case.

    >>> from leastnoise.model.linear_workloads import IdentityWorkload
    >>> bool(np.allclose(search(IdentityWorkload(3)).matrix, np.eye(3)))
    True
    """
    problem = _Problem(workload, weights, largest)
    history: list[tuple[Floats, Floats]] = []
    logs = problem.start()
    point = best = problem.at(logs)
    least = problem.cost(best)
    for _ in range(rounds):
        if least <= point.bound * (1 + gap):
            break
        history.append((logs, problem.step(point)))
        tried = _accelerated(history[-_MEMORY:])
        found = problem.tried(tried) if len(history) > 1 else None
        if found is None or found.bound < point.bound:  # a plain step never lowers the bound
            del history[:-1]
            tried = logs + history[0][1]
            found = problem.at(tried)
        logs, point = np.maximum(tried, tried.max() + _LEAST_LOG), found
        cost = problem.cost(point)
        if cost / point.bound < least / best.bound:
            best, least = point, cost
    return problem.guess(best)


def _roots(matrix: Floats) -> tuple[Floats, Floats]:
    """The eigenvalues and vectors of the root of a matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return np.sqrt(np.clip(values, values[-1] * 1e-30, None)), vectors


def _accelerated(history: list[tuple[Floats, Floats]]) -> Floats:
    """Anderson's next point from the last points and steps."""
    logs, step = history[-1]
    if len(history) < 2:
        return logs + step
    points = np.array([one[0] for one in history]).T
    steps = np.array([one[1] for one in history]).T
    changes = np.diff(steps)
    weights = np.linalg.lstsq(changes, step, rcond=None)[0]
    change = step - (np.diff(points) + changes) @ weights
    moved: Floats = logs + np.clip(np.nan_to_num(change), -_LARGEST_STEP, _LARGEST_STEP)
    return moved

"""The search for the best strategy, in doubles: a guess, which whole-number arithmetic then judges.

Wanted is Z ≻ 0 with f_jᵀ·Z·f_j ≤ 1 for every cell j and the least tr(V·Z⁻¹). At the optimum Z⁻¹·V·Z⁻¹ = F·diag(λ)·Fᵀ
with multipliers λ ≥ 0, so Z follows from λ: with F·diag(λ)·Fᵀ = L·Lᵀ and S = (Lᵀ·V·L)^½, Z = L^-ᵀ·S·L^-1. The step
λ_j ← λ_j·f_jᵀ·Z·f_j is repeated, with Anderson's acceleration of ln λ, until (tr S)²/Σλ, which no strategy beats, is
near enough to what Z costs. For the goal "largest" the answers get weights in the same way: ω_k ← ω_k·(error of
answer k).

Where V⁻¹ is zero beside three diagonals (prefix sums, ranges) so is L⁻¹·V⁻¹·L⁻ᵀ = S⁻², and a step needs no eigenvalue:
`exact.tridiagonal` has the diagonal of S. For prefix sums W the errors W·Z⁻¹·Wᵀ come in the same way from the
transposed matrix: with B = Ω^½·W·Λ^½ they are Ω^-½·(B·Bᵀ)^½·Ω^-½.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact import inverse_root_diagonal
from leastnoise.model import MOST_DENSE_CELLS, Bands, LinearWorkload, PrefixSums

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
        dual: P = Z⁻¹ as it follows from the multipliers; None where these prove the bound alone.
        multipliers: λ.
        weights: ω of the answers, for the goal "largest".
    """

    matrix: Floats
    dual: Floats | None
    multipliers: Floats
    weights: Floats | None


class _Known(Protocol):
    """What every point knows of itself."""

    @property
    def multipliers(self) -> Floats: ...
    @property
    def weights(self) -> Floats | None: ...
    @property
    def reach(self) -> Floats: ...  # f_jᵀ·Z·f_j
    @property
    def errors(self) -> Floats | None: ...  # of the answers, for the goal "largest"
    @property
    def trace(self) -> float: ...  # of S


@dataclass(frozen=True)
class _Point:
    """Everything that follows from ln λ and, for the goal "largest", ln ω."""

    multipliers: Floats
    weights: Floats | None
    gram: Floats
    root: Floats  # L, or its diagonal where F is the identity
    vectors: Floats  # of S
    values: Floats
    reach: Floats
    errors: Floats | None

    @property
    def trace(self) -> float:
        return float(self.values.sum())


@dataclass(frozen=True)
class _BandedPoint:
    """The same from three diagonals."""

    multipliers: Floats
    weights: Floats | None
    diagonal: Floats  # of S⁻²
    beside: Floats
    reach: Floats
    errors: Floats | None
    trace: float


def _bound(point: _Known) -> float:
    """What no strategy beats."""
    total = 1.0 if point.weights is None else float(point.weights.sum())
    return point.trace**2 / float(point.multipliers.sum()) / total


def _step(point: _Known) -> Floats:
    """The change of the logarithms."""
    mean = float(point.multipliers @ point.reach / point.multipliers.sum())
    parts = [point.reach / mean]
    if point.errors is not None and point.weights is not None:
        parts.append(point.errors / float(point.weights @ point.errors / point.weights.sum()))
    return np.log(np.maximum(np.concatenate(parts), _SMALLEST_STEP))


class _Banded:
    """A workload in doubles whose V⁻¹ is zero beside three diagonals."""

    def __init__(self, workload: LinearWorkload, weights: Floats | None, largest: bool, bands: Bands) -> None:
        self.workload, self.importance, self.largest = workload, weights, largest
        self.bands = _in_doubles(bands)

    def at(self, logs: Floats) -> _BandedPoint:
        """Everything at these logarithms."""
        cells, weights, bands = self.workload.cells, None, self.bands
        multipliers = np.exp(logs[:cells])
        full = np.ones(0)
        if self.largest and isinstance(self.workload, PrefixSums):
            weights = np.exp(logs[cells:])
            full = weights if self.importance is None else weights * self.importance
            bands = self.workload.bands(full)
        diagonal, beside = bands.diagonal / multipliers, bands.beside / np.sqrt(multipliers[1:] * multipliers[:-1])
        sums = _root_diagonal(diagonal, beside, float(multipliers @ bands.loads))
        errors = None
        if self.largest and isinstance(self.workload, PrefixSums):
            mirrored = self.workload.mirrored_bands(multipliers)
            other, aside = mirrored.diagonal / full, mirrored.beside / np.sqrt(full[1:] * full[:-1])
            errors = _root_diagonal(other, aside, float(full @ mirrored.loads)) / full
            errors = errors if self.importance is None else errors * self.importance
        return _BandedPoint(multipliers, weights, diagonal, beside, sums / multipliers, errors, float(sums.sum()))

    def tried(self, logs: Floats) -> _BandedPoint | None:
        """The same; None where it can't be computed."""
        try:
            return self.at(logs)
        except BadParameter:
            return None

    def cost(self, point: _BandedPoint) -> float:
        """What Z costs, scaled so that no cell has more than one."""
        worst = float(point.reach.max())
        return worst * (point.trace if point.errors is None else float(point.errors.max()))

    def near(self, gap: float) -> float:
        """Where to stop: scaling each cell on its own makes the square of what is left here."""
        return gap if self.largest else 0.1 * gap**0.5

    def guess(self, point: _BandedPoint) -> SearchResult:
        """Z, each cell scaled to one; the multipliers prove the bound alone."""
        from scipy.linalg import eigh_tridiagonal  # imported here: a first plan needs no linear algebra

        values, vectors = eigh_tridiagonal(point.diagonal, -point.beside)
        scaled = vectors / (np.maximum(values, values[-1] * 1e-15) ** 0.25)
        root = scaled @ scaled.T
        each = np.sqrt(np.diagonal(root))
        root /= each
        root /= each[:, None]
        return SearchResult(root, None, point.multipliers, point.weights)


def _in_doubles(bands: Bands) -> Bands:
    return Bands(*(part.astype(np.float64) for part in bands))


def _root_diagonal(diagonal: Floats, beside: Floats, inverse_trace: float) -> Floats:
    aside = np.concatenate([[0.0], beside, [0.0]])
    most = float(np.max(diagonal + aside[1:] + aside[:-1]))
    return inverse_root_diagonal(diagonal, beside**2, min(1 / inverse_trace, most), most)


class _Dense:
    """A workload in doubles."""

    def __init__(self, workload: LinearWorkload, weights: Floats | None, largest: bool) -> None:
        self.workload, self.largest = workload, largest
        self.importance = np.ones(workload.answers) if weights is None else weights
        self.basis = None if workload.basis is None else workload.basis.array().astype(float)
        self.gram = workload.weigh(self.importance) / workload.below**2

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

    def near(self, gap: float) -> float:
        """Where to stop."""
        return gap

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
    banded: bool = True,
    gap: float = 1e-8,
    rounds: int = 400,
) -> SearchResult:
    """The best Z, up to a relative gap or so many rounds.

    Args:
        workload: What is asked.
        weights: How much the squared error of each answer counts; None for ones.
        largest: Whether the largest weighted error is to be least, and not their sum.
        banded: Whether three diagonals may be used where V⁻¹ has no more.
        gap: Where to stop.
        rounds: Where to stop in any case.

    >>> from leastnoise.model.linear_workloads import IdentityWorkload
    >>> bool(np.allclose(search(IdentityWorkload(3)).matrix, np.eye(3)))
    True
    """
    bands = workload.bands(weights) if banded and workload.cells > 1 else None
    if bands is not None and (not largest or isinstance(workload, PrefixSums)):
        return _found(_Banded(workload, weights, largest, bands), gap, rounds)
    if workload.rank > MOST_DENSE_CELLS:
        raise TooLarge(
            f"no structure of this workload is known, and strategies without it have at most {MOST_DENSE_CELLS} cells",
            given=workload.rank,
            fix='use wider bins, or leave out weights and the goal "largest"',
        )
    return _found(_Dense(workload, weights, largest), gap, rounds)


_AnyPoint = TypeVar("_AnyPoint", bound=_Known)


class _Searched(Protocol[_AnyPoint]):
    """A problem with its points."""

    workload: LinearWorkload
    largest: bool

    def at(self, logs: Floats) -> _AnyPoint: ...
    def tried(self, logs: Floats) -> _AnyPoint | None: ...
    def cost(self, point: _AnyPoint) -> float: ...
    def near(self, gap: float) -> float: ...
    def guess(self, point: _AnyPoint) -> SearchResult: ...


def _found(problem: _Searched[_AnyPoint], gap: float, rounds: int) -> SearchResult:
    """Anderson's steps from equal multipliers, and equal weights."""
    workload, history = problem.workload, list[tuple[Floats, Floats]]()
    logs = np.zeros(workload.cells + (workload.answers if problem.largest else 0))
    point = best = problem.at(logs)
    least, near = problem.cost(best), problem.near(gap)
    for _ in range(rounds):
        if least <= _bound(point) * (1 + near):
            break
        history.append((logs, _step(point)))
        tried = _accelerated(history[-_MEMORY:])
        found = problem.tried(tried) if len(history) > 1 else None
        if found is None or _bound(found) < _bound(point):  # a plain step never lowers the bound
            del history[:-1]
            tried = logs + history[0][1]
            found = problem.at(tried)
        logs, point = np.maximum(tried, tried.max() + _LEAST_LOG), found
        cost = problem.cost(point)
        if cost / _bound(point) < least / _bound(best):
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

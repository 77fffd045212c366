"""Mixing private columns: the program whose unknowns are the weights μ of columns of whole potentials.

    minimise  Σ_j μ_j·cost_j    subject to   Σ_j μ_j·mass_j(r) = 1 for each row r,    μ ≥ 0

with mass_j(r) = Σ k_o·β^f_o over the column's cells in row r. For the objective "worst" the unknown t is minimised, and
each row adds Σ_j μ_j·loss_j(r) + slack_r = t. Every solution is private, because every column is; prices v of the rows
say which columns are missing (Dantzig and Wolfe 1960).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leastnoise.designer.linear.orbit_program import OrbitProgram
from leastnoise.designer.linear.powers import Powers
from leastnoise.exact import IntArray, RationalMatrix
from leastnoise.model import FloatGuess, guess_optimum

__all__ = ["Mixture", "Ray", "RestrictedMaster"]

Ray = tuple[int, tuple[int, ...]]  # the column, and its potentials
Floats = NDArray[np.float64]

_PLAINLY = 1e-9
_LEAST_SCALE = 1e-280


@dataclass(frozen=True)
class Mixture:
    """Weights of the rays and prices of the rows, as doubles; `basic` are the unknowns in the solver's basis."""

    loss: float
    weights: Floats
    prices: Floats
    basic: list[int]


@dataclass
class RestrictedMaster:
    """The columns found so far, and the best mixture of them."""

    cells: OrbitProgram
    powers: Powers
    rays: list[Ray] = field(default_factory=list)
    _places: dict[Ray, int] = field(default_factory=dict)
    _floats: list[Floats] = field(default_factory=list)
    _scale: float = 1.0

    @property
    def is_worst(self) -> bool:
        """Whether the largest loss of an input is minimised."""
        return self.cells.problem.objective == "worst"

    def add(self, column: int, potentials: IntArray) -> int:
        """The place of a column among the rays; it is added if it is not there yet."""
        ray = column, tuple((potentials - potentials.max()).tolist())
        if ray not in self._places:
            self._places[ray] = len(self.rays)
            self.rays.append(ray)
            self._floats.append(self._float_entries(column, np.array(ray[1])))
        return self._places[ray]

    def _float_entries(self, column: int, potentials: IntArray) -> Floats:
        cells = self.cells.columns[column].cells
        share = np.exp(self.powers.float_rate * potentials) * self.cells.outputs_of[cells]
        rows, size = self.cells.row_of[cells], len(self.cells.row_sizes)
        mass = np.bincount(rows, weights=share, minlength=size)
        losses = np.bincount(rows, weights=share * self._float_losses[cells], minlength=size)
        return np.concatenate([losses, mass])

    @cached_property
    def _float_losses(self) -> Floats:
        return np.array(self.cells.losses, dtype=np.float64)

    def _float_program(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Costs, matrix, right-hand side, and how much of a ray the solver's unit of it is.

        Losses are divided by the last mixture's, for a solver does not see what is below its tolerance; a ray that
        loses more than that is measured in smaller units. For "worst" the unknowns t and the slacks follow the weights.
        """
        size = len(self.cells.row_sizes)
        losses, masses = np.split(np.array(self._floats).T, 2)
        losses = losses / self._scale
        units: Floats = 1 / np.maximum(losses.max(axis=0), 1)
        losses, masses = losses * units, masses * units
        if not self.is_worst:
            return np.array(self.cells.prior, dtype=np.float64) @ losses, masses, np.ones(size), units
        below = np.hstack([losses, -np.ones((size, 1)), np.eye(size)])
        matrix = np.vstack([np.hstack([masses, np.zeros((size, size + 1))]), below])
        cost = np.zeros(matrix.shape[1])
        cost[len(self.rays)] = 1
        return cost, matrix, np.repeat([1.0, 0.0], size), units

    def mix(self) -> Mixture | None:
        """The best mixture, as a solver sees it; None if it gives up."""
        cost, matrix, right, units = self._float_program()
        guess = guess_optimum(cost, matrix, right, right, tolerance=1e-10)
        if guess is None:
            return None
        point, prices = _polished(guess, cost, matrix, right)
        prices[: len(self.cells.row_sizes)] *= self._scale
        loss = float(cost @ point) * self._scale
        self._scale = loss if loss > _LEAST_SCALE else self._scale
        basic = np.flatnonzero(guess.basic).tolist()
        return Mixture(loss, point[: len(self.rays)] * units, prices, basic)

    def promising(self, mixture: Mixture) -> list[int]:
        """The rays whose reduced cost is not plainly above zero."""
        cost, matrix, _, _ = self._float_program()
        size = len(self.cells.row_sizes)
        prices = np.concatenate([mixture.prices[:size] / self._scale, mixture.prices[size:]])
        return np.flatnonzero((cost - prices @ matrix)[: len(self.rays)] <= _PLAINLY).tolist()

    def exact_program(self, rays: Sequence[Ray]) -> tuple[list[Fraction], RationalMatrix, list[Fraction]]:
        """Costs, matrix and right-hand side of the program over some of the rays, where β is rational."""
        size = len(self.cells.row_sizes)
        columns = [self.exact_entries(ray) for ray in rays]
        if not self.is_worst:
            prior = self.cells.prior
            cost = [sum((p * x for p, x in zip(prior, losses, strict=True)), Fraction(0)) for losses, _ in columns]
            table = [masses for _, masses in columns]
            return cost, RationalMatrix(table, size).transposed(), [Fraction(1)] * size
        nothing = [Fraction(0)] * size
        units = [[Fraction(i == j) for j in range(size)] for i in range(size)]
        table = [[*masses, *losses] for losses, masses in columns]
        table += [[*nothing, *([Fraction(-1)] * size)], *([*nothing, *unit] for unit in units)]
        cost = [*([Fraction(0)] * len(rays)), Fraction(1), *nothing]
        return cost, RationalMatrix(table, 2 * size).transposed(), [Fraction(1)] * size + nothing

    def exact_entries(self, ray: Ray) -> tuple[list[Fraction], list[Fraction]]:
        """The loss and the mass of a ray in each row."""
        size = len(self.cells.row_sizes)
        losses, masses = [Fraction(0)] * size, [Fraction(0)] * size
        cells = self.cells.columns[ray[0]].cells
        rows, counts = self.cells.row_of[cells].tolist(), self.cells.outputs_of[cells].tolist()
        for cell, row, count, potential in zip(cells.tolist(), rows, counts, ray[1], strict=True):
            share = count * self.powers.private(potential)
            masses[row] += share
            losses[row] += share * self.cells.losses[cell]
        return losses, masses


def _polished(guess: FloatGuess, cost: Floats, matrix: Floats, right: Floats) -> tuple[Floats, Floats]:
    """Point and prices of the solver's basis to the last digits of a double, where a solver stops at its tolerance."""
    basis = matrix[:, guess.basic]
    if basis.shape[0] != basis.shape[1]:
        return guess.point, guess.prices
    try:
        basic: Floats = np.linalg.solve(basis, right).astype(np.float64)
        prices: Floats = np.linalg.solve(basis.T, cost[guess.basic]).astype(np.float64)
    except np.linalg.LinAlgError:
        return guess.point, guess.prices
    if not basic.min() > -_PLAINLY:
        return guess.point, guess.prices
    point = np.zeros_like(cost)
    point[guess.basic] = np.maximum(basic, 0)
    return point, prices

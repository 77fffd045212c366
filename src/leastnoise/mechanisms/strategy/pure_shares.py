"""Which marginal tables get Laplace noise, and what part of a pure price each of them gets.

Every table that is part of one that is asked for may be measured. With the part θ_k of the price table k has a variance
in proportion to 1/θ_k², the interaction A (`model/marginals.py`) the variance 1/x_A with x_A = Σ θ_k²/m_kA over the
tables k ⊇ A, m_kA = Π n_i over k∖A, and the weighted error is f = Σ c_A/x_A. At the best parts, of sum one, all
θ_k·Σ_{A⊆k} c_A/(x_A²·m_kA) are f. So θ_k is multiplied by the fourth root of their quotient, again and again.

The parts are a guess, which is judged exactly like any other candidate. They are made of sums that are rounded once,
products, quotients and square roots, in an order that is fixed: the same question has the same parts on every machine,
so that its record is always read in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import fsum, prod, sqrt

from leastnoise.model import Columns, costs_of, interactions_of, share_of

__all__ = ["shared_price"]

_ROUNDS = 300
_NEAR = 1e-3  # of the optimum's condition
_LEAST = 1e-6  # part of a table that must be measured, relative to the largest
_SPARE = 1e-2  # part of another one, relative to the mean: with less it is left out
_UNIT = 1 << 20


def shared_price(
    sizes: Sequence[int],
    tables: Sequence[Columns],
    weights: Sequence[Fraction] | None = None,
    goal: str = "total",
) -> dict[Columns, int]:
    """Tables to measure, and whole numbers in proportion to their parts of the price.

    Args:
        sizes: How many values each column has.
        tables: Which columns each table has.
        weights: How much the squared error of each cell of a table counts; None for ones.
        goal: "total" for the least sum of the squared errors of all cells, "largest" for the least largest one.

    >>> shared_price((4, 3, 2), [(0, 1), (0,), (1,), ()])
    {(0, 1): 1048576}
    >>> sorted(shared_price((100, 50, 3), [(0,), (0, 1), (0, 2), (1, 2)]))
    [(0, 1), (0, 2), (1, 2)]
    """
    search = _Search(sizes, tables, weights or (Fraction(1),) * len(tables), goal)
    every = [search.found(dict.fromkeys(start, 1.0)) for start in (search.parts, tables)]
    parts, _ = min(every, key=lambda one: one[1])
    mean = 1 / len(parts)
    kept = {table: part for table, part in parts.items() if part > _SPARE * mean or table in search.needed}
    parts, _ = search.found(kept)
    return {table: max(1, round(part * _UNIT)) for table, part in parts.items()}


class _Search:
    """The problem in doubles."""

    def __init__(self, sizes: Sequence[int], tables: Sequence[Columns], weights: Sequence[Fraction], goal: str) -> None:
        self.tables, self.goal = tables, goal
        self.parts = interactions_of(tables)
        self.needed = {one for one in tables if not any(set(one) < set(other) for other in tables)}
        self.cells = {part: float(prod(sizes[i] for i in part)) for part in self.parts}
        self.below = {part: _subsets(part) for part in self.parts}
        self.costs = {part: float(cost) for part, cost in costs_of(sizes, tables, weights).items()}
        self.shares = {part: float(share_of(sizes, part)) for part in self.parts}
        self.weights = [float(weight) for weight in weights]

    def found(self, start: dict[Columns, float]) -> tuple[dict[Columns, float], float]:
        """The best parts met on the way from some tables, of sum one, and their error."""
        parts, costs, omegas = _normed(start), self.costs, [1.0] * len(self.tables)
        best, least = parts, float("inf")
        for _ in range(_ROUNDS):
            known = self._precisions(parts)
            if self.goal == "largest":
                errors = [w * self._error(t, known) for w, t in zip(self.weights, self.tables, strict=True)]
                reached = max(errors)
                omegas = [o * sqrt(e / reached) for o, e in zip(omegas, errors, strict=True)]
                costs = self._costs(omegas)
            else:
                reached = fsum(cost / known[part] for part, cost in costs.items())
            if reached < least:
                best, least = parts, reached
            total = fsum(cost / known[part] for part, cost in costs.items())
            slopes = {part: cost / (known[part] * known[part]) * self.cells[part] for part, cost in costs.items()}
            factors = {
                table: part * fsum(slopes[one] for one in self.below[table]) / self.cells[table] / total
                for table, part in parts.items()
            }
            if self.goal == "total" and all(
                factor < 1 + _NEAR and (factor > 1 - _NEAR or parts[table] < _LEAST)
                for table, factor in factors.items()
            ):
                break
            parts = _normed({table: part * sqrt(sqrt(factors[table])) for table, part in parts.items()})
            parts = _normed({t: max(p, _LEAST) if t in self.needed else p for t, p in parts.items() if p > 0})
        return best, least

    def _precisions(self, parts: dict[Columns, float]) -> dict[Columns, float]:
        """x_A."""
        terms: dict[Columns, list[float]] = {part: [] for part in self.parts}
        for table, part in parts.items():
            for one in self.below[table]:
                terms[one].append(part * part * self.cells[one] / self.cells[table])
        return {one: fsum(found) for one, found in terms.items()}

    def _error(self, table: Columns, known: dict[Columns, float]) -> float:
        """e_B."""
        cells = self.cells
        below = self.below[table]
        return fsum(
            self.shares[one] / known[one] * (cells[one] / cells[table]) * (cells[one] / cells[table]) for one in below
        )

    def _costs(self, omegas: Sequence[float]) -> dict[Columns, float]:
        """c_A for the weighted sum of the errors of one cell of each table."""
        terms: dict[Columns, list[float]] = {part: [] for part in self.parts}
        for table, omega, weight in zip(self.tables, omegas, self.weights, strict=True):
            for one in self.below[table]:
                beyond = self.cells[table] / self.cells[one]
                terms[one].append(omega * weight * self.shares[one] / (beyond * beyond))
        return {one: fsum(found) for one, found in terms.items()}


def _subsets(table: Columns) -> list[Columns]:
    return [part for size in range(len(table) + 1) for part in combinations(table, size)]


def _normed(parts: dict[Columns, float]) -> dict[Columns, float]:
    total = fsum(parts.values())
    return {table: part / total for table, part in parts.items()}

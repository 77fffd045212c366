"""Linear programs solved exactly: the simplex method in rationals, started from anybody's guess.

Minimise c·x subject to M·x = b, x ≥ 0. A floating-point solver may say which columns it believes to be basic; the
echelon form brings those into the basis at once, and exact pivots put right what was wrong. The answer is a proof:

- `Optimum`: x and prices y with y·M ≤ c and y·b = c·x, so nothing is cheaper (weak duality);
- `Infeasible`: prices y with y·M ≤ 0 and y·b > 0, so no x ≥ 0 exists (Farkas' lemma).

Termination: after a pivot that gains nothing Bland's rule chooses the next ones, and it never cycles (Bland 1977,
"New finite pivoting rules for the simplex method"); a pivot that gains something never returns to an earlier basis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_mat

from leastnoise.errors import BadParameter
from leastnoise.exact.matrices import RationalMatrix, beside, fraction_of

__all__ = ["Infeasible", "Optimum", "minimise"]

_ARTIFICIAL = -1


@dataclass(frozen=True)
class Optimum:
    """A best point, what it costs, and the prices that prove that nothing costs less."""

    point: tuple[Fraction, ...]
    cost: Fraction
    prices: tuple[Fraction, ...]


@dataclass(frozen=True)
class Infeasible:
    """Prices y with y·M ≤ 0 < y·b: proof that M·x = b has no solution x ≥ 0."""

    prices: tuple[Fraction, ...]


def minimise(
    cost: Sequence[Fraction | int],
    matrix: RationalMatrix,
    right: Sequence[Fraction | int],
    first: Sequence[int] = (),
    tick: Callable[[], None] = lambda: None,
) -> Optimum | Infeasible:
    """Minimise cost·x subject to matrix·x = right and x ≥ 0, exactly.

    Args:
        cost: One number per column.
        matrix: The constraints, one per row; rows may depend on each other.
        right: One number per row.
        first: Columns to try as the first basis, the most believable first. It changes the time, never the answer.
        tick: Called before each pivot; an error from it ends the search and reaches the caller.

    Raises:
        BadParameter: The cost falls without end.

    >>> minimise([1, 3], RationalMatrix([[1, 1]]), [2])
    Optimum(point=(Fraction(2, 1), Fraction(0, 1)), cost=Fraction(2, 1), prices=(Fraction(1, 1),))
    >>> minimise([0], RationalMatrix([[1]]), [-2])
    Infeasible(prices=(Fraction(-1, 1),))
    """
    height, width = matrix.shape
    order = list(dict.fromkeys([*first, *range(width)]))
    identity = RationalMatrix([[int(i == j) for j in range(height)] for i in range(height)], height)
    column = RationalMatrix([[entry] for entry in right], 1)
    form, pivots = beside(matrix.take_columns(order), identity, column).echelon()
    served = sum(pivot < width for pivot in pivots)
    for row in form.take_rows(range(served, len(pivots))).rows:
        if row[-1]:  # 0·x = something: the rows of the program contradict each other
            sign = 1 if row[-1] > 0 else -1
            return Infeasible(tuple(sign * entry for entry in row[width:-1]))
    tableau = _Tableau(form.take_rows(range(served)), width, pivots[:served], tick)
    if not tableau.make_feasible():
        return Infeasible(tableau.prices())
    tableau.improve([cost[j] for j in order])
    values = tableau.values()
    point = [Fraction(0)] * width
    for place, j in enumerate(order):
        point[j] = values[place]
    total = sum((Fraction(c) * x for c, x in zip(cost, point, strict=True)), start=Fraction(0))
    return Optimum(tuple(point), total, tableau.prices())


class _Tableau:
    """Rows [T | E | t] with T = E·M and t = E·b; column `basis[i]` of T is the i-th unit vector; a last row of costs.

    An artificial variable stands for a row that no column serves yet; its own column is never needed.
    """

    def __init__(self, rows: RationalMatrix, width: int, pivots: Sequence[int], tick: Callable[[], None]) -> None:
        (self.height, length), self.width, self.basis, self.tick = rows.shape, width, list(pivots), tick
        self.cells = fmpq_mat(self.height + 1, length, [*rows.to_flint().entries(), *([0] * length)])
        for i in range(self.height):
            if self.cells[i, length - 1] < 0:
                self.basis[i] = _ARTIFICIAL
                for j in range(length):
                    self.cells[i, j] = -self.cells[i, j]
                    self.cells[self.height, j] -= self.cells[i, j]

    def make_feasible(self) -> bool:
        """Drive the artificial variables to zero and out; False where they cannot all vanish."""
        self._run()
        if self._last() != 0:
            return False
        for i in range(self.height):
            if self.basis[i] == _ARTIFICIAL:  # at zero: any column of the row may take its place
                self._pivot(i, next(j for j in range(self.width) if self.cells[i, j] != 0))
        return True

    def improve(self, cost: Sequence[Fraction | int]) -> None:
        """Pivot until no column lowers the cost."""
        prices = [fmpq(c.numerator, c.denominator) for c in (Fraction(cost[j]) for j in self.basis)]
        priced = fmpq_mat(1, self.height + 1, [*prices, fmpq(0)]) * self.cells
        for j in range(self.cells.ncols()):
            own = Fraction(cost[j]) if j < self.width else Fraction(0)
            self.cells[self.height, j] = fmpq(own.numerator, own.denominator) - priced[0, j]
        self._run()

    def values(self) -> list[Fraction]:
        """The value of each column's variable."""
        values = [Fraction(0)] * self.width
        for i, j in enumerate(self.basis):
            values[j] = fraction_of(self.cells[i, self.cells.ncols() - 1])
        return values

    def prices(self) -> tuple[Fraction, ...]:
        """The prices that the cost row proves: it keeps them, with the opposite sign, where the identity stood."""
        return tuple(-fraction_of(self.cells[self.height, j]) for j in range(self.width, self.cells.ncols() - 1))

    def _last(self) -> fmpq:
        return self.cells[self.height, self.cells.ncols() - 1]

    def _run(self) -> None:
        stalled = False
        while True:
            falling = [j for j in range(self.width) if self.cells[self.height, j] < 0]
            if not falling:
                return
            self.tick()
            entering = falling[0] if stalled else min(falling, key=lambda j: self.cells[self.height, j])
            before = self._last()
            self._pivot(self._leaving(entering), entering)
            stalled = self._last() == before

    def _leaving(self, entering: int) -> int:
        end = self.cells.ncols() - 1
        rows = [i for i in range(self.height) if self.cells[i, entering] > 0]
        if not rows:
            raise BadParameter("the cost of a linear program falls without end", fix="bound the variables")
        return min(rows, key=lambda i: (self.cells[i, end] / self.cells[i, entering], self.basis[i]))

    def _pivot(self, row: int, column: int) -> None:
        pivot = self.cells[row, column]
        shares = [self.cells[i, column] / pivot for i in range(self.height + 1)]
        shares[row] = 1 - 1 / pivot
        pivot_row = fmpq_mat(1, self.cells.ncols(), [self.cells[row, j] for j in range(self.cells.ncols())])
        self.cells -= fmpq_mat(self.height + 1, 1, shares) * pivot_row
        self.basis[row] = column

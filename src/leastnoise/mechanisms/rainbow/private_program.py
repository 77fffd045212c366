"""Linear programs over private distributions, solved exactly; a floating-point solver only says where to start."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.exact import Infeasible, NumberLike, Optimum, RationalMatrix, minimise, read_rational
from leastnoise.mechanisms.rainbow.rainbow_operator import Operator
from leastnoise.model import guess_optimum

__all__ = ["PrivateProgram", "ProgramEntry", "ProgramSolution", "ProgramTerm", "UtilityLike", "read_utility"]

ProgramEntry: TypeAlias = Fraction | tuple[Hashable, ...]  # a number that is fixed, or the name of a variable
ProgramTerm: TypeAlias = tuple[Fraction | int, ProgramEntry]
ProgramSolution: TypeAlias = Mapping[tuple[Hashable, ...], Fraction]

_SURELY_POSITIVE = 1e-9


class PrivateProgram:
    """Constraints on variables of at least zero, with names; build it, then maximise as often as needed."""

    def __init__(self) -> None:
        self._columns: dict[tuple[Hashable, ...], int] = {}
        self._rows: list[tuple[dict[int, Fraction], Fraction]] = []

    def equal(self, terms: Iterable[ProgramTerm], right: Fraction | int) -> None:
        """Σ coefficient·entry = right."""
        coefficients, constant = self._collect(terms)
        self._rows.append((coefficients, Fraction(right) - constant))

    def at_most(self, terms: Iterable[ProgramTerm], right: Fraction | int) -> None:
        """Σ coefficient·entry ≤ right."""
        self.equal([*terms, (1, ("slack", len(self._rows)))], right)

    def distribution(self, entries: Sequence[ProgramEntry]) -> None:
        """The entries sum to one."""
        self.equal([(1, entry) for entry in entries], 1)

    def close(
        self, one: Sequence[ProgramEntry], other: Sequence[ProgramEntry], operator: Operator
    ) -> tuple[range, range]:
        """Both are (ε, δ)-close: Σ max(0, p − λq) ≤ δ, and the other way round; a row per entry for each of the two."""
        first = self._close(one, other, operator)
        return first, self._close(other, one, operator)

    def _close(self, one: Sequence[ProgramEntry], other: Sequence[ProgramEntry], operator: Operator) -> range:
        rows = range(len(self._rows), len(self._rows) + len(one))
        excess = [("excess", rows.start, place) for place in range(len(one))] if operator.delta else []
        for place, (a, b) in enumerate(zip(one, other, strict=True)):
            over = [(-1, excess[place])] if excess else []
            self.at_most([(1, a), (-operator.factor, b), *over], 0)
        if excess:
            self.at_most([(1, over) for over in excess], operator.delta)
        return rows

    def maximise(self, objective: Iterable[ProgramTerm]) -> ProgramSolution | None:
        """The value of every variable at a best point, exactly; None if the constraints contradict each other."""
        found = self._solve(objective)
        if isinstance(found, Infeasible):
            return None
        return {name: found.point[column] for name, column in self._columns.items()}

    def prices(self, objective: Iterable[ProgramTerm]) -> tuple[Fraction, ...] | None:
        """What each row is worth: how much the largest objective grows with its right side; None as above."""
        found = self._solve(objective)
        return None if isinstance(found, Infeasible) else tuple(-price for price in found.prices)

    def _solve(self, objective: Iterable[ProgramTerm]) -> Optimum | Infeasible:
        gains, _ = self._collect(objective)
        width = len(self._columns)
        cost = [-gains.get(column, Fraction(0)) for column in range(width)]
        table = [[row.get(column, Fraction(0)) for column in range(width)] for row, _ in self._rows]
        right = [constant for _, constant in self._rows]
        return minimise(cost, RationalMatrix(table, width), right, _guess(cost, table, right))

    def _collect(self, terms: Iterable[ProgramTerm]) -> tuple[dict[int, Fraction], Fraction]:
        coefficients: dict[int, Fraction] = {}
        constant = Fraction(0)
        for factor, entry in terms:
            if isinstance(entry, tuple):
                column = self._columns.setdefault(entry, len(self._columns))
                coefficients[column] = coefficients.get(column, Fraction(0)) + factor
            else:
                constant += factor * entry
        return coefficients, constant


def _guess(cost: Sequence[Fraction], table: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[int]:
    """Columns that a floating-point solver takes to be positive, the largest first: a place to start, no more."""
    rows = np.array([[float(entry) for entry in row] for row in table])
    sums = np.array(right, dtype=float)
    found = guess_optimum(np.array(cost, dtype=float), rows, sums, sums)
    if found is None:
        return []
    return [int(j) for j in (-found.point).argsort(kind="stable") if found.point[j] > _SURELY_POSITIVE]


UtilityLike: TypeAlias = str | Sequence[NumberLike]


def read_utility(utility: UtilityLike, count: int) -> tuple[Fraction, ...]:
    """The worth of each rank, best first; a worse colour is never worth more (an order-reasonable utility).

    Args:
        utility: "best colour" is worth 1 if the best is answered; "rank" is minus the number of colours that are
            preferred to the answer; else one number per rank.
        count: How many colours there are.

    >>> [str(worth) for worth in read_utility("rank", 3)]
    ['0', '-1', '-2']
    """
    if utility == "best colour":
        return (Fraction(1), *[Fraction(0)] * (count - 1))
    if utility == "rank":
        return tuple(Fraction(-rank) for rank in range(count))
    if isinstance(utility, str) or len(utility) != count:
        raise BadParameter(
            f'utility must be "best colour", "rank" or {count} numbers', given=utility, fix="give one number per colour"
        )
    worth = tuple(read_rational(value, f"utility[{rank}]") for rank, value in enumerate(utility))
    if any(better < worse for better, worse in pairwise(worth)):
        raise BadParameter("utility must not prefer a worse colour", given=utility, fix="sort it from large to small")
    return worth

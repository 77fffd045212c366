"""Linear programs in rationals, solved to as many digits as asked for by a solver that has sixteen.

    minimise  cost·x    subject to    matrix·x = right in the first rows, ≤ in the others,    x ≥ 0

Iterative refinement (Gleixner, Steffy and Wolter, INFORMS J. Comput. 2016): what a point misses of its rows and bounds,
and what prices miss of the costs, is computed exactly. The program for the correction has the same matrix, and these
residuals, magnified, as its data. Each round adds as many digits as the solver has right, also where the solver drops
coefficients that are too small for it.

The solver's last basis, solved in rationals, is the optimum itself where the solver was right. Square sparse systems
are solved exactly where they are small, else by the same idea: a floating-point factorisation solves for the residual.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

from leastnoise.designer.linear.clock import Clock
from leastnoise.exact import RationalMatrix
from leastnoise.model import FloatGuess, guess_optimum

__all__ = ["LinearProgram", "MatrixEntry", "PrimalDual", "basis_solution", "refined", "solve_square"]

MatrixEntry = tuple[int, int, Fraction]
Floats = NDArray[np.float64]

_SMALL = 160
_ROUNDS = 12
_BITS = 256
_INTERIOR = 20_000  # entries, from which on interior points are quicker than pivots
_DROPPED = 1e-11  # of a row's largest coefficient: a solver does not see these
_MOST_ZOOM = 30  # bits that a round adds at most
_FAR = 1e15  # a bound that is further away will not be met, a cost that is higher will not be paid


@dataclass(frozen=True)
class LinearProgram:
    """The program; `equations` rows come first. `units` are powers of two: x_j is expected to be about 2^units[j]."""

    cost: list[Fraction]
    entries: list[MatrixEntry]
    right: list[Fraction]
    equations: int
    units: list[int]

    @cached_property
    def whole(self) -> _WholeProgram:
        """The same in whole numbers."""
        return _WholeProgram.of(self)


@dataclass(frozen=True)
class PrimalDual:
    """A point of at least zero, and a price for each row."""

    point: list[Fraction]
    prices: list[Fraction]


@dataclass(frozen=True)
class _WholeProgram:
    """Equations of whole numbers, in unknowns of about one; row i is about 2^sizes[i] as large as the solver's row.

    What a row with ≤ leaves free is an unknown, too, after all others: its price is then seen as a cost. Costs are
    whole multiples of 1/cost_scale.
    """

    rows: list[int]
    columns: list[int]
    values: list[int]
    right: list[int]
    factors: list[Fraction]
    sizes: list[int]
    cost: list[int]
    cost_scale: int

    @classmethod
    def of(cls, program: LinearProgram) -> _WholeProgram:
        scaled = [(row, column, value * Fraction(2) ** program.units[column]) for row, column, value in program.entries]
        common = [entry.denominator for entry in program.right]
        for row, _, value in scaled:
            if common[row] % value.denominator:
                common[row] = lcm(common[row], value.denominator)
        values = [value.numerator * (common[row] // value.denominator) for row, _, value in scaled]
        sizes = [0] * len(common)
        for (row, _, _), number in zip(scaled, values, strict=True):
            sizes[row] = max(sizes[row], abs(number).bit_length())
        cost = [entry * Fraction(2) ** unit for entry, unit in zip(program.cost, program.units, strict=True)]
        scale = lcm(*(entry.denominator for entry in cost))
        slack, width = range(program.equations, len(common)), len(cost)
        cost += [Fraction(0)] * len(slack)
        return cls(
            [row for row, _, _ in scaled] + list(slack),
            [column for _, column, _ in scaled] + [width + place for place in range(len(slack))],
            values + [1 << max(0, sizes[row] - 1) for row in slack],
            [int(entry * factor) for entry, factor in zip(program.right, common, strict=True)],
            [Fraction(factor, 2**size) for factor, size in zip(common, sizes, strict=True)],
            sizes,
            [int(entry * scale) for entry in cost],
            scale,
        )

    @cached_property
    def matrix(self) -> csc_array:
        """What the solver sees."""
        values = np.array([_ratio(v, self.sizes[r]) for v, r in zip(self.values, self.rows, strict=True)])
        kept = np.abs(values) > _DROPPED
        places = np.array(self.rows)[kept], np.array(self.columns)[kept]
        return csc_array((values[kept], places), shape=(len(self.right), len(self.cost)))

    def missing(self, point: list[int], bits: int) -> list[int]:
        """Right − matrix·x in units of 2^-bits, for x in units of 2^-bits."""
        rest = [entry << bits for entry in self.right]
        for row, column, value in zip(self.rows, self.columns, self.values, strict=True):
            rest[row] -= value * point[column]
        return rest

    def reduced(self, prices: list[int], bits: int) -> list[int]:
        """Cost − prices·matrix in units of 2^-(bits + the largest size)/cost_scale, for prices of the solver's rows."""
        top = max(self.sizes)
        lifted = [self.cost_scale * price << (top - size) for price, size in zip(prices, self.sizes, strict=True)]
        rest = [entry << (bits + top) for entry in self.cost]
        for row, column, value in zip(self.rows, self.columns, self.values, strict=True):
            rest[column] -= value * lifted[row]
        return rest


def refined(program: LinearProgram, clock: Clock, accuracy: int) -> tuple[PrimalDual, FloatGuess] | None:
    """Point and prices to about 2^-accuracy, as far as refinement converges, with the solver's last answer.

    None if the solver gave up before there was an answer, or the time was up.
    """
    whole, bits, equations = program.whole, accuracy + 16, program.equations
    point, prices = [0] * len(whole.cost), _first_prices(program, bits)
    guess: FloatGuess | None = None
    primal_zoom, dual_zoom = 0, -_largest_cost(whole, prices, bits)
    best: tuple[int, PrimalDual, FloatGuess] | None = None
    for _ in range(_ROUNDS):
        rest, costs = whole.missing(point, bits), whole.reduced(prices, bits)
        upper = [_ratio(entry, bits + size - primal_zoom) for entry, size in zip(rest, whole.sizes, strict=True)]
        top = bits + max(whole.sizes) + whole.cost_scale.bit_length() - dual_zoom
        answer = guess_optimum(
            np.clip([_ratio(entry, top) for entry in costs], -_FAR, _FAR),
            whole.matrix,
            np.array(upper),
            np.array(upper),
            method="ipm" if guess is None and len(program.entries) > _INTERIOR else "simplex",
            seconds=clock.left,
            tick=clock.tick,
            lower=-np.minimum([_ratio(entry, bits - primal_zoom) for entry in point], _FAR),
            start=guess,
        )
        if answer is None:
            break
        guess = answer
        step, change = np.round(guess.point * 2.0**64).tolist(), np.round(guess.prices * 2.0**64).tolist()
        point = [max(0, x + _shifted(int(dx), bits - 64 - primal_zoom)) for x, dx in zip(point, step, strict=True)]
        # top − dual_zoom holds the cost's scale: a solver's price is that of costs divided by 2^bit_length(cost_scale)
        lift = whole.cost_scale.bit_length()
        prices = [
            y + _shifted(int(dy) << lift, bits - 64 - dual_zoom) // whole.cost_scale
            for y, dy in zip(prices, change, strict=True)
        ]
        prices = [y if row < equations else min(y, 0) for row, y in enumerate(prices)]
        primal, dual = _violations(whole, point, prices, bits)
        found = PrimalDual(
            [Fraction(x, 2**bits) * Fraction(2) ** unit for x, unit in zip(point, program.units, strict=False)],
            [Fraction(y, 2**bits) * factor for y, factor in zip(prices, whole.factors, strict=True)],
        )
        left = max(primal, dual)
        if best is None or left < best[0]:
            best = left, found, _without_slack(guess, program)
        if left <= -accuracy or clock.is_over:
            break
        primal_zoom = max(0, min(-primal, primal_zoom + _MOST_ZOOM))
        dual_zoom = max(dual_zoom, min(-dual, dual_zoom + _MOST_ZOOM))
    return None if best is None else best[1:]


def _without_slack(guess: FloatGuess, program: LinearProgram) -> FloatGuess:
    """The answer for the rows with ≤ themselves: one is tight if what it leaves free is not basic."""
    width, free = len(program.cost), np.zeros(len(program.right), dtype=bool)
    free[program.equations :] = guess.basic[width:]
    return guess._replace(point=guess.point[:width], basic=guess.basic[:width], tight=guess.tight & ~free)


def _first_prices(program: LinearProgram, bits: int) -> list[int]:
    """For each equation what its cheapest unknown costs: small differences between unknowns are then seen as such."""
    cheapest: dict[int, Fraction] = {}
    for row, column, value in program.entries:
        if row < program.equations:
            cheapest[row] = min(cheapest.get(row, program.cost[column] / value), program.cost[column] / value)
    factors = program.whole.factors
    return [int(cheapest.get(row, Fraction(0)) / factor * 2**bits) for row, factor in enumerate(factors)]


def _largest_cost(whole: _WholeProgram, prices: list[int], bits: int) -> int:
    """As a power of two, 0 where all costs are zero."""
    largest = max(abs(entry).bit_length() for entry in whole.reduced(prices, bits))
    return largest - bits - max(whole.sizes) - whole.cost_scale.bit_length() if largest else 0


def _violations(whole: _WholeProgram, point: list[int], prices: list[int], bits: int) -> tuple[int, int]:
    """How far rows and costs are missed at most, as powers of two."""
    rest, costs = whole.missing(point, bits), whole.reduced(prices, bits)
    misses = [abs(entry).bit_length() - size for entry, size in zip(rest, whole.sizes, strict=True)]
    lacks = [entry.bit_length() for entry in costs if entry < 0]
    top = max(whole.sizes) + whole.cost_scale.bit_length()
    return max(misses) - bits, max(lacks, default=0) - top - bits


def _ratio(number: int, bits: int) -> float:
    """number/2^bits as a double; 0 where it is too small for one, infinite where too large."""
    length = number.bit_length()
    if length - bits < -1000:
        return 0.0
    if length - bits > 1000:
        return float("inf") if number > 0 else -float("inf")
    spare = max(0, length - 64)
    return float((number >> spare) * 2.0 ** (spare - bits)) if spare else float(Fraction(number) / Fraction(2) ** bits)


def _shifted(number: int, bits: int) -> int:
    return number << bits if bits >= 0 else number >> -bits


def basis_solution(inner: LinearProgram, outer: LinearProgram, guess: FloatGuess) -> PrimalDual | None:
    """The point of the solver's basis in one program, its prices in another; None if the basis is not feasible.

    In the point tight rows hold with equality, and unknowns outside the basis are zero. The prices pay for basic
    unknowns exactly, and rows that are not tight are free.
    """
    basic, tight = np.flatnonzero(guess.basic).tolist(), np.flatnonzero(guess.tight).tolist()
    if len(basic) != len(tight):
        return None
    size, entries = len(tight), _restricted(inner.entries, tight, basic)
    solved = solve_square(size, entries, [inner.right[row] for row in tight], _BITS)
    turned = [(column, row, value) for row, column, value in _restricted(outer.entries, tight, basic)]
    paid = None if solved is None else solve_square(size, turned, [outer.cost[place] for place in basic], _BITS)
    if solved is None or paid is None or min(solved, default=Fraction(0)) < -Fraction(1, 10**6):
        return None
    point, prices = [Fraction(0)] * len(inner.cost), [Fraction(0)] * len(inner.right)
    for place, value in zip(basic, solved, strict=True):
        point[place] = max(value, Fraction(0))
    for row, value in zip(tight, paid, strict=True):
        prices[row] = value
    return PrimalDual(point, prices)


def _restricted(entries: Sequence[MatrixEntry], rows: Sequence[int], columns: Sequence[int]) -> list[MatrixEntry]:
    row_places, column_places = ({number: place for place, number in enumerate(each)} for each in (rows, columns))
    return [
        (row_places[row], column_places[column], value)
        for row, column, value in entries
        if row in row_places and column in column_places
    ]


def solve_square(
    size: int, entries: Sequence[MatrixEntry], right: Sequence[Fraction], bits: int
) -> list[Fraction] | None:
    """Solve M·x = right for a square M given by its entries (row, column, value); None if it is singular.

    Small systems are solved exactly. In others the error of x is about 2^-bits, as far as refinement converges; if the
    simplest fractions that near solve the system, then they are the solution, and it is exact, too.

    >>> solve_square(2, [(0, 0, Fraction(2)), (1, 1, Fraction(4))], [Fraction(1), Fraction(1)], 64)
    [Fraction(1, 2), Fraction(1, 4)]
    """
    if size <= _SMALL:
        return _exactly(size, entries, right)
    rows, columns = [row for row, _, _ in entries], [column for _, column, _ in entries]
    values = np.array([float(value) for _, _, value in entries])
    try:
        factors = splu(csc_array((values, (rows, columns)), shape=(size, size)))
    except RuntimeError:  # singular
        return None
    unit = 2**bits
    point = [Fraction(0)] * size
    last = float("inf")
    for _ in range(_ROUNDS):
        residual = _residual(entries, right, point)
        miss = max(map(abs, residual))
        if miss == 0 or float(miss) >= last / 2:
            break
        last = float(miss)
        step = factors.solve(np.array([float(entry / miss) for entry in residual]))
        if not np.isfinite(step).all():
            return None
        point = [
            Fraction(round((x + Fraction(dx) * miss) * unit), unit) for x, dx in zip(point, step.tolist(), strict=True)
        ]
    simple = [x.limit_denominator(2 ** (bits // 2 - 16)) for x in point]
    return point if any(_residual(entries, right, simple)) else simple


def _residual(entries: Sequence[MatrixEntry], right: Sequence[Fraction], point: Sequence[Fraction]) -> list[Fraction]:
    residual = list(right)
    for row, column, value in entries:
        residual[row] -= value * point[column]
    return residual


def _exactly(size: int, entries: Sequence[MatrixEntry], right: Sequence[Fraction]) -> list[Fraction] | None:
    table = [[Fraction(0)] * size for _ in range(size)]
    for row, column, value in entries:
        table[row][column] += value
    matrix = RationalMatrix(table, size)
    if matrix.rank() < size:
        return None
    solution = matrix.solve(RationalMatrix([[entry] for entry in right], 1))
    return None if solution is None else [value for (value,) in solution.rows]

"""(ε, δ)-private designs: the program with slacks, its basis refined in rationals, and exact repair.

    minimise    Σ c_o·z_o
    subject to  Σ_{o in row r} k_o·z_o = 1,    z_o − λ_a·z_o' ≤ s_a,    Σ_a n_ea·s_a ≤ δ,    z, s ≥ 0

for arcs a and kinds of edges e, n_ea the number of outputs for which an edge of kind e has arc a; for "worst" the
unknown t is minimised with Σ k_o·ℓ_o·z_o ≤ t for each row. The multipliers w_a and q_e of the two privacy constraints
satisfy w_a ≤ Σ_e n_ea·q_e; a triple then weighs q_e/(edges of kind e) · w_a/Σ_e n_ea·q_e.

A solver's basis is solved for λ ≤ e^ε (primal) and for λ ≥ e^ε (dual). What is then still missing is repaired: a row's
sum by its largest entry, and an excess δ + τ by mixing in a share τ/(δ + τ) of a constant answer, for the excess is
convex and that of a constant is zero. Any multipliers of at least zero prove a bound.

Square sparse systems over the rationals: exactly where they are small, else to as many digits as asked for.

Iterative refinement: a floating-point factorisation solves for the residual, which is computed exactly, and each round
adds about as many digits as the factorisation has right (Gleixner, Steffy and Wolter, Iterative refinement for linear
programming, INFORMS J. Comput. 2016, use the same idea on whole programs).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

from leastnoise.designer.linear.clock import Clock
from leastnoise.designer.linear.highs import FloatGuess, guess_optimum
from leastnoise.designer.linear.orbit_program import OrbitProgram
from leastnoise.designer.linear.powers import Powers
from leastnoise.designer.linear.solution import Solution, best_constant
from leastnoise.exact.matrices import RationalMatrix

__all__ = ["Entry", "solve_approximate", "solve_square"]

Entry = tuple[int, int, Fraction]

_SMALL = 160
_ROUNDS = 12
_BITS = 256


@dataclass(frozen=True)
class _Program:
    """minimise cost·x subject to matrix·x = right in the first `equations` rows, ≤ in the others, x ≥ 0.

    Unknowns are z, then s, then t for "worst"; rows are sums, arcs, kinds of edges, and for "worst" the losses.
    """

    cost: list[Fraction]
    entries: list[Entry]
    right: list[Fraction]
    equations: int


def solve_approximate(cells: OrbitProgram, clock: Clock) -> Solution:
    """The least loss of an (ε, δ)-private channel, proven up to a gap."""
    powers = Powers(cells.problem.privacy.epsilon * cells.unit)
    lengths = cells.lengths.tolist()
    inner = _program(cells, [powers.below(length) for length in lengths])
    clock.enter("solving in floating point")
    guess = _guess(inner, clock)
    if guess is None:  # no time: a constant answer, and no multipliers
        return Solution(
            cells, best_constant(cells), _row_weights(cells, []), {}, (Fraction(0),) * len(cells.edge_kinds)
        )
    clock.enter("refining")
    outer = _program(cells, [powers.above(length) for length in lengths])
    values = _repaired(cells, _primal(inner, guess)[: cells.count], powers)
    return _with_multipliers(cells, values, _dual(outer, guess))


def _program(cells: OrbitProgram, factors: Sequence[Fraction]) -> _Program:
    rows, arcs, kinds, count = len(cells.row_sizes), len(cells.tails), len(cells.edge_kinds), cells.count
    one = Fraction(1)
    entries: list[Entry] = [(r, o, Fraction(k)) for o, (r, k) in enumerate(_rows_and_outputs(cells))]
    for a, (tail, head, factor) in enumerate(zip(cells.tails.tolist(), cells.heads.tolist(), factors, strict=True)):
        entries += [(rows + a, tail, one), (rows + a, head, -factor), (rows + a, count + a, -one)]
    for arc, found in cells.kinds_of_arc.items():
        entries += [(rows + arcs + kind, count + arc, Fraction(times)) for kind, times in found]
    right = [one] * rows + [Fraction(0)] * arcs + [cells.problem.privacy.delta] * kinds
    if cells.problem.objective == "average":
        return _Program([*cells.costs(cells.prior), *([Fraction(0)] * arcs)], entries, right, rows)
    base, t = rows + arcs + kinds, count + arcs
    entries += [
        (base + r, o, k * cells.losses[o]) for o, (r, k) in enumerate(_rows_and_outputs(cells)) if cells.losses[o]
    ]
    entries += [(base + r, t, -one) for r in range(rows)]
    return _Program([*([Fraction(0)] * t), one], entries, right + [Fraction(0)] * rows, rows)


def _rows_and_outputs(cells: OrbitProgram) -> list[tuple[int, int]]:
    return list(zip(cells.row_of.tolist(), cells.outputs_of.tolist(), strict=True))


def _guess(program: _Program, clock: Clock) -> FloatGuess | None:
    rows, columns, values = zip(*program.entries, strict=True)
    shape = (len(program.right), len(program.cost))
    right = np.array(program.right, dtype=np.float64)
    return guess_optimum(
        np.array(program.cost, dtype=np.float64),
        csc_array((np.array(values, dtype=np.float64), (rows, columns)), shape=shape),
        np.where(np.arange(len(right)) < program.equations, right, -np.inf),
        right,
        method="ipm" if len(program.entries) > 20_000 else "simplex",
        seconds=clock.left,
        tick=clock.tick,
    )


def _primal(program: _Program, guess: FloatGuess) -> list[Fraction]:
    """The point of the solver's basis: tight rows hold with equality, unknowns outside the basis are zero."""
    basic, tight = np.flatnonzero(guess.basic).tolist(), np.flatnonzero(guess.tight).tolist()
    point = [Fraction(x) for x in np.maximum(guess.point, 0).tolist()]
    if len(basic) != len(tight):
        return point
    entries = _restricted(program.entries, tight, basic)
    solved = solve_square(len(tight), entries, [program.right[row] for row in tight], _BITS)
    if solved is None or min(solved, default=Fraction(0)) < -Fraction(1, 10**6):
        return point
    point = [Fraction(0)] * len(point)
    for place, value in zip(basic, solved, strict=True):
        point[place] = max(value, Fraction(0))
    return point


def _dual(program: _Program, guess: FloatGuess) -> list[Fraction]:
    """The prices of the solver's basis: they pay for basic unknowns exactly, and rows that are not tight are free."""
    basic, tight = np.flatnonzero(guess.basic).tolist(), np.flatnonzero(guess.tight).tolist()
    prices = [Fraction(price) for price in guess.prices.tolist()]
    if len(basic) != len(tight):
        return prices
    entries = [(column, row, value) for row, column, value in _restricted(program.entries, tight, basic)]
    solved = solve_square(len(tight), entries, [program.cost[place] for place in basic], _BITS)
    if solved is None:
        return prices
    prices = [Fraction(0)] * len(prices)
    for row, value in zip(tight, solved, strict=True):
        prices[row] = value
    return prices


def _restricted(entries: Sequence[Entry], rows: Sequence[int], columns: Sequence[int]) -> list[Entry]:
    row_places, column_places = ({number: place for place, number in enumerate(each)} for each in (rows, columns))
    return [
        (row_places[row], column_places[column], value)
        for row, column, value in entries
        if row in row_places and column in column_places
    ]


def _repaired(cells: OrbitProgram, values: Sequence[Fraction], powers: Powers) -> list[Fraction]:
    """Rows that sum to exactly one, and no edge's excess above δ."""
    whole = list(values)
    missing = [Fraction(1)] * len(cells.row_sizes)
    largest: dict[int, int] = {}
    for cell, (row, count) in enumerate(_rows_and_outputs(cells)):
        missing[row] -= count * whole[cell]
        if row not in largest or whole[cell] > whole[largest[row]]:
            largest[row] = cell
    for row, cell in largest.items():
        whole[cell] += missing[row] / int(cells.outputs_of[cell])
    delta = cells.problem.privacy.delta
    ends = zip(cells.tails.tolist(), cells.heads.tolist(), cells.lengths.tolist(), strict=True)
    over = [max(Fraction(0), whole[tail] - powers.below(length) * whole[head]) for tail, head, length in ends]
    excess = max(sum((over[arc] for arc in kind.arcs), start=Fraction(0)) for kind in cells.edge_kinds)
    if excess <= delta:
        return whole
    share = 1 - delta / excess
    return [(1 - share) * value + share * other for value, other in zip(whole, best_constant(cells), strict=True)]


def _with_multipliers(cells: OrbitProgram, values: list[Fraction], prices: Sequence[Fraction]) -> Solution:
    """Prices of arcs and kinds, which are at most zero, as shares of arcs and rates of single edges."""
    rows, arcs, kinds = len(cells.row_sizes), len(cells.tails), len(cells.edge_kinds)
    flows = [max(Fraction(0), -price) for price in prices[rows : rows + arcs]]
    budgets = [max(Fraction(0), -price) for price in prices[rows + arcs : rows + arcs + kinds]]
    shares = {}
    for arc, found in cells.kinds_of_arc.items():
        room = sum((times * budgets[kind] for kind, times in found), start=Fraction(0))
        if room and flows[arc]:
            shares[arc] = flows[arc] / room
    rates = tuple(budget / kind.edges for budget, kind in zip(budgets, cells.edge_kinds, strict=True))
    return Solution(cells, values, _row_weights(cells, prices[rows + arcs + kinds :]), shares, rates)


def _row_weights(cells: OrbitProgram, prices: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """The prior, or for "worst" the prices of the losses, made to sum to one."""
    weights = [max(Fraction(0), -price) for price in prices]
    total = sum(weights)
    return tuple(weight / total for weight in weights) if total else cells.prior


def solve_square(size: int, entries: Sequence[Entry], right: Sequence[Fraction], bits: int) -> list[Fraction] | None:
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


def _residual(entries: Sequence[Entry], right: Sequence[Fraction], point: Sequence[Fraction]) -> list[Fraction]:
    residual = list(right)
    for row, column, value in entries:
        residual[row] -= value * point[column]
    return residual


def _exactly(size: int, entries: Sequence[Entry], right: Sequence[Fraction]) -> list[Fraction] | None:
    table = [[Fraction(0)] * size for _ in range(size)]
    for row, column, value in entries:
        table[row][column] += value
    matrix = RationalMatrix(table, size)
    if matrix.rank() < size:
        return None
    solution = matrix.solve(RationalMatrix([[entry] for entry in right], 1))
    return None if solution is None else [value for (value,) in solution.rows]

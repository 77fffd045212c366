"""The program over all cells at once, with slacks where δ > 0: refined to many digits, then repaired exactly.

    minimise    Σ c_o·z_o
    subject to  Σ_{o in row r} k_o·z_o = 1,    z_o − λ_a·z_o' ≤ s_a,    Σ_a n_ea·s_a ≤ δ,    z, s ≥ 0

for arcs a and kinds of edges e, n_ea the number of outputs for which an edge of kind e has arc a; for δ = 0 there are
no s. For "worst" the unknown t is minimised with Σ k_o·ℓ_o·z_o ≤ t for each row. The multipliers w_a and q_e of the two
privacy constraints satisfy w_a ≤ Σ_e n_ea·q_e; a triple then weighs q_e/(edges of kind e) · w_a/Σ_e n_ea·q_e.

The program is solved for λ ≤ e^ε; prices count for λ ≥ e^ε. What the point then still misses is repaired: a row's sum
by its largest entry, and an excess δ + τ by mixing in a share τ/(δ + τ) of an ε-private channel, for the excess is
convex and that of an ε-private channel is zero. For δ = 0 it is a share of the uniform answer, which leaves room in
every constraint. Any multipliers of at least zero prove a bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import log

import numpy as np

from leastnoise.designer.linear.clock import Clock
from leastnoise.designer.linear.interior_program import solve_inside
from leastnoise.designer.linear.orbit_program import OrbitProgram
from leastnoise.designer.linear.powers import Powers
from leastnoise.designer.linear.precise_program import LinearProgram, MatrixEntry, PrimalDual, basis_solution, refined
from leastnoise.designer.linear.solution import Solution

__all__ = ["solve_to_many_digits", "solve_whole"]

_ACCURACY = 100  # bits, and three for each factor e in e^ε: losses can be that small
_BITS_PER_RATE = 3
_FAIR = Fraction(1, 10**10)  # of the loss: a gap that need not be closed further
_NEAR = Fraction(1, 10**12)
_MOST_CELLS = 600
_MOST_BASIC = 1500  # unknowns of a basis that is solved in rationals


def solve_whole(cells: OrbitProgram, clock: Clock, private: Sequence[Fraction]) -> Iterator[Solution]:
    """What refinement comes to, and then what the solver's last basis is; nothing if the solver gives up.

    Args:
        cells: The program.
        clock: How long it may take.
        private: Values of an ε-private channel, the better the less is lost by a repair.
    """
    if clock.is_over:
        return
    powers = Powers(cells.problem.privacy.epsilon * cells.unit)
    lengths = cells.lengths.tolist()
    inner = _program(cells, [powers.below(length) for length in lengths])
    clock.enter("solving in floating point")
    found = refined(inner, clock, _ACCURACY + int(_BITS_PER_RATE * powers.float_rate))
    if found is None:
        return
    clock.enter("refining")
    answer, guess = found
    solution = _solution(cells, answer, powers, private)
    yield solution
    is_near = powers.base is None and solution.gap <= _NEAR * abs(solution.loss)  # irrational: no basis closes the gap
    if is_near or clock.is_over or guess.tight.sum() > _MOST_BASIC:
        return
    outer = inner if powers.base else _program(cells, [powers.above(length) for length in lengths])
    exact = basis_solution(inner, outer, guess)
    if exact is not None:
        yield _solution(cells, exact, powers, private)


def solve_to_many_digits(cells: OrbitProgram, clock: Clock, best: Solution) -> Iterator[Solution]:
    """What interior points come to in long numbers, where the gap of the best solution is still to be seen.

    Nothing where the program has too many cells, or no interior for want of ε and δ.
    """
    is_closed = best.gap <= _FAIR * abs(best.loss)
    privacy = cells.problem.privacy
    if is_closed or clock.is_over or cells.count > _MOST_CELLS or (privacy.is_pure and privacy.epsilon == 0):
        return
    powers = Powers(privacy.epsilon * cells.unit)
    clock.enter("solving to many digits")
    answer = solve_inside(cells, [powers.below(length) for length in cells.lengths.tolist()], clock)
    yield _solution(cells, answer, powers, best.values)


def _solution(cells: OrbitProgram, answer: PrimalDual, powers: Powers, private: Sequence[Fraction]) -> Solution:
    values = _repaired(cells, answer.point[: cells.count], powers, private)
    return _with_multipliers(cells, values, answer.prices, powers)


def _program(cells: OrbitProgram, factors: Sequence[Fraction]) -> LinearProgram:
    rows, arcs, count = len(cells.row_sizes), len(cells.tails), cells.count
    one, delta = Fraction(1), cells.problem.privacy.delta
    units = _units(cells)
    slacks, kinds = (0, 0) if cells.problem.privacy.is_pure else (arcs, len(cells.edge_kinds))
    entries: list[MatrixEntry] = [(r, o, Fraction(k)) for o, (r, k) in enumerate(_rows_and_outputs(cells))]
    for a, (tail, head, factor) in enumerate(zip(cells.tails.tolist(), cells.heads.tolist(), factors, strict=True)):
        entries += [(rows + a, tail, one), (rows + a, head, -factor)]
        if slacks:
            entries.append((rows + a, count + a, -one))
            units.append(min(units[tail], -int(1 / delta).bit_length()))
    if slacks:
        for arc, found in cells.kinds_of_arc.items():
            entries += [(rows + arcs + kind, count + arc, Fraction(times)) for kind, times in found]
    right = [one] * rows + [Fraction(0)] * arcs + [delta] * kinds
    if cells.problem.objective == "average":
        return LinearProgram([*cells.costs(cells.prior), *([Fraction(0)] * slacks)], entries, right, rows, units)
    base, t = rows + arcs + kinds, count + slacks
    entries += [
        (base + r, o, k * cells.losses[o]) for o, (r, k) in enumerate(_rows_and_outputs(cells)) if cells.losses[o]
    ]
    entries += [(base + r, t, -one) for r in range(rows)]
    cost = [*([Fraction(0)] * t), one]
    return LinearProgram(cost, entries, right + [Fraction(0)] * rows, rows, [*units, 0])


def _units(cells: OrbitProgram) -> list[int]:
    """How small each cell is expected to be: e^-ε for each step to a cell that is the best of its row."""
    rate = float(cells.problem.privacy.epsilon * cells.unit) / log(2)
    best: dict[int, Fraction] = {}
    for loss, row in zip(cells.losses, cells.row_of.tolist(), strict=True):
        best[row] = min(loss, best.get(row, loss))
    is_best = np.array([loss == best[row] for loss, row in zip(cells.losses, cells.row_of.tolist(), strict=True)])
    deepest = _ACCURACY / 2 + 2 * rate
    units = np.zeros(cells.count)
    for column in cells.columns:
        homes = np.flatnonzero(is_best[column.cells])
        if len(homes):
            units[column.cells] = -np.minimum(column.distances[:, homes].min(axis=1) * rate, deepest)
    return [int(unit) for unit in np.round(units).tolist()]


def _rows_and_outputs(cells: OrbitProgram) -> list[tuple[int, int]]:
    return list(zip(cells.row_of.tolist(), cells.outputs_of.tolist(), strict=True))


def _repaired(
    cells: OrbitProgram, values: Sequence[Fraction], powers: Powers, private: Sequence[Fraction]
) -> list[Fraction]:
    """Rows that sum to exactly one, and what is too much between neighbours mixed away."""
    whole = list(values)
    missing = [Fraction(1)] * len(cells.row_sizes)
    largest: dict[int, int] = {}
    for cell, (row, count) in enumerate(_rows_and_outputs(cells)):
        missing[row] -= count * whole[cell]
        if row not in largest or whole[cell] > whole[largest[row]]:
            largest[row] = cell
    for row, cell in largest.items():
        whole[cell] += missing[row] / int(cells.outputs_of[cell])
    ends = zip(cells.tails.tolist(), cells.heads.tolist(), cells.lengths.tolist(), strict=True)
    over = [whole[tail] - powers.below(length) * whole[head] for tail, head, length in ends]
    delta = cells.problem.privacy.delta
    if cells.problem.privacy.is_pure:
        return _mixed_with_uniform(cells, whole, over, powers)
    excesses = (sum((max(Fraction(0), over[arc]) for arc in kind.arcs), start=Fraction(0)) for kind in cells.edge_kinds)
    excess = max(excesses)
    if excess <= delta:
        return whole
    share = 1 - delta / excess
    return [(1 - share) * value + share * other for value, other in zip(whole, private, strict=True)]


def _mixed_with_uniform(
    cells: OrbitProgram, values: list[Fraction], over: Sequence[Fraction], powers: Powers
) -> list[Fraction]:
    """(1 − η)·z + η/m for m outputs: private if (1 − η)·(z − λ·z') ≤ η·(λ − 1)/m on each arc."""
    outputs = len(cells.problem.answers)
    share = Fraction(0)
    for length, miss in zip(cells.lengths.tolist(), over, strict=True):
        if miss > 0:
            share = max(share, miss / (miss + (powers.below(length) - 1) / outputs))
    return [(1 - share) * value + share / outputs for value in values] if share else values


def _with_multipliers(
    cells: OrbitProgram, values: list[Fraction], prices: Sequence[Fraction], powers: Powers
) -> Solution:
    """Prices of arcs and kinds, which are at most zero, as shares of arcs and rates of single edges."""
    rows, arcs = len(cells.row_sizes), len(cells.tails)
    kinds = 0 if cells.problem.privacy.is_pure else len(cells.edge_kinds)
    weights = _row_weights(cells, prices[rows + arcs + kinds :])
    flows = [max(Fraction(0), -price) for price in prices[rows : rows + arcs]]
    _lower_flows(cells, flows, weights, prices, powers)
    if not kinds:
        pure_shares = {arc: flow / int(cells.triples[arc]) for arc, flow in enumerate(flows) if flow}
        return Solution(cells, values, weights, pure_shares)
    budgets = [max(Fraction(0), -price) for price in prices[rows + arcs : rows + arcs + kinds]]
    shares = {}
    for arc, found in cells.kinds_of_arc.items():
        room = sum((times * budgets[kind] for kind, times in found), start=Fraction(0))
        if room and flows[arc]:
            shares[arc] = flows[arc] / room
    rates = tuple(budget / kind.edges for budget, kind in zip(budgets, cells.edge_kinds, strict=True))
    return Solution(cells, values, weights, shares, rates)


def _lower_flows(
    cells: OrbitProgram,
    flows: list[Fraction],
    weights: tuple[Fraction, ...],
    prices: Sequence[Fraction],
    powers: Powers,
) -> None:
    """Lower what arcs carry into cells that their row's price would overpay, the smallest cells first.

    Their prices are the least exact, for the solver weighs a miss by the size of the unknown; the bound does not.
    """
    tails, heads, lengths = cells.tails.tolist(), cells.heads.tolist(), cells.lengths.tolist()
    into: dict[int, list[int]] = {}
    costs = cells.costs(weights)
    for arc, flow in enumerate(flows):
        if flow:
            into.setdefault(heads[arc], []).append(arc)
            costs[tails[arc]] += flow
            costs[heads[arc]] -= powers.above(lengths[arc]) * flow
    units, parts = _units(cells), _rows_and_outputs(cells)
    for cell in sorted(into, key=lambda cell: units[cell]):
        row, count = parts[cell]
        lacks = count * prices[row] - costs[cell]
        carried = sum((powers.above(lengths[arc]) * flows[arc] for arc in into[cell]), start=Fraction(0))
        if lacks <= 0 or not carried or units[cell] == 0:
            continue
        share = max(Fraction(0), 1 - lacks / carried)
        for arc in into[cell]:
            costs[tails[arc]] -= (1 - share) * flows[arc]
            flows[arc] *= share
        costs[cell] += (1 - share) * carried


def _row_weights(cells: OrbitProgram, prices: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """The prior, or for "worst" the prices of the losses, made to sum to one."""
    weights = [max(Fraction(0), -price) for price in prices]
    total = sum(weights)
    return tuple(weight / total for weight in weights) if total else cells.prior

"""Paths at their worst input: the truncated geometric mechanism, each output said at random in the best way.

Gupte and Sundararajan (PODS 2010): for every legal loss no ε-private mechanism has a smaller largest expected loss than
the truncated geometric channel G followed by the best random remap R. It follows from the optimum under every prior
(`path`): with L(p, π) the loss of p under π, and the minimax theorem used twice (all sets are compact and convex, and
L is bilinear),

    min_p max_π L(p, π) = max_π min_p L(p, π) = max_π min_R L(G·R, π) = min_R max_π L(G·R, π).

So a linear program for R with one column per output and guess, and two rows per node, takes the place of one with a row
for every edge and output. A floating-point solver guesses R and the weights π of its dual. Both are then made exact: R
is rounded to a channel and its loss computed at every input; the least loss under π is that of the best reading, which
bounds every mechanism from below. What is left between the two is the gap, of the size of the solver's rounding. On
short lines with a rational e^ε the solver's basis is solved in rationals, and the gap is zero.

Guesses start near their output; those that the reader prefers under π are added until none is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leastnoise.designer.linear.precise_program import LinearProgram, basis_solution
from leastnoise.designer.result import Design
from leastnoise.designer.theorems.path import (
    LARGEST_PROOF,
    growths,
    legal_loss,
    line_certificate,
    path_design,
    prove_path,
    remapped_channel,
    to_answers,
)
from leastnoise.errors import LeastNoiseError
from leastnoise.exact import Enclosure, exact_exp, scaled
from leastnoise.model import (
    Certificate,
    Channel,
    DesignProblem,
    FloatGuess,
    LineLoss,
    Method,
    Move,
    OptimalityCertificate,
    Reason,
    best_line_reading,
    guess_optimum,
    line_table,
    worst_line_loss,
)
from leastnoise.model.graphs.path_cycle_complete import EvenLine, find_line

__all__ = ["recognise_minimax_path"]

_LARGEST = 400  # nodes: the program is dense
_EXACT = 40  # nodes for which the basis is solved in rationals
_UNIT = 1 << 60  # probabilities and weights are multiples of 1/_UNIT
_NEAR = 4  # guesses on either side of an output to begin with
_ROUNDS = 30
_METHODS: tuple[Method, ...] = ("ipm", "simplex")  # pivots lose their way on long lines
_CLOSE = 1e-12  # relative: below this a program is solved as well as doubles can
_CITATION = "Gupte and Sundararajan, Universally optimal privacy mechanisms for minimax agents, PODS 2010, Theorem 3.3"

Floats = NDArray[np.float64]
Table = Sequence[Sequence[Fraction]]


class _Solution(NamedTuple):
    """A random remap, by rows of the table, and a weight for each place."""

    moves: tuple[Move, ...]
    weights: tuple[Fraction, ...]


def recognise_minimax_path(problem: DesignProblem) -> Design | None:
    """The optimal mechanism on a path or on evenly spaced points for the worst input; None elsewhere.

    >>> from leastnoise.model.design_problem import read_problem
    >>> best = recognise_minimax_path(read_problem("path:5", "ln(2)", objective="worst"))
    >>> best.loss, best.gap
    (Enclosure(36/43), Fraction(0, 1))
    """
    if not problem.privacy.is_pure or problem.objective != "worst":
        return None
    line = find_line(problem.graph)
    if line is None or not 2 <= len(line.order) <= _LARGEST or len(problem.answers) > 2 * _LARGEST:
        return None
    loss_form = legal_loss(problem, line)
    if loss_form is None:
        return None
    rate, size = problem.privacy.epsilon * line.gap, len(line.order)
    table, growth = line_table(loss_form, size), exact_exp(rate)
    program = _Program(table, size)
    guesses = program.solve(float(rate))
    if not guesses:
        return None
    found = None
    if growth is not None and size <= _EXACT:
        solved = (program.exactly(1 / growth, guess) for guess in guesses)
        found = next((each for each in solved if each is not None), None)
    if found is None:  # the best remap and the best weights of all answers
        rounded = [program.rounded(guess) for guess in guesses]
        found = _Solution(
            min((each.moves for each in rounded), key=lambda moves: worst_line_loss(rate, table, size, moves).upper),
            max((each.weights for each in rounded), key=lambda w: best_line_reading(rate, loss_form, w).loss.lower),
        )
    moves = to_answers(found.moves, line) if isinstance(loss_form, str) else list(found.moves)
    weights = _in_node_order(found.weights, line)
    if growth is not None and size <= LARGEST_PROOF:
        proof = _dual(problem, line, moves, weights)
        value, bound = Enclosure(proof.value, proof.value), Enclosure(proof.lower_bound, proof.lower_bound)
    else:
        scale = line.gap if loss_form == "distance" else Fraction(1)
        value = scaled(worst_line_loss(rate, table, size, found.moves), scale)
        bound = scaled(best_line_reading(rate, loss_form, found.weights).loss, scale)
    reason = Reason(
        "on a path the truncated geometric mechanism, each output said at random in the best way, has the least "
        "expected loss at its worst input for every legal loss",
        _CITATION,
        bound,
    )
    prove = partial(_proof, problem, line, loss_form, found.moves, moves, weights, value.upper, bound.lower)
    return path_design(problem, line, moves, value, bound, value.upper - bound.lower, reason, prove)


def _in_node_order(weights: Sequence[Fraction], line: EvenLine) -> tuple[Fraction, ...]:
    prior = [Fraction(0)] * len(weights)
    for place, node in enumerate(line.order):
        prior[node] = weights[place]
    return tuple(prior)


class _Program:
    """The program for the remap: Σ R(w|y) = 1 for each output y, then Σ R(w|y)·G(y|x)·ℓ(w, x) ≤ t for each place x.

    Losses are taken above the least of all of them, so that t is not below zero.
    """

    def __init__(self, table: Table, size: int) -> None:
        self.size = size
        least = min(min(row) for row in table)
        self.table = [[cost - least for cost in row] for row in table]
        self.floats = np.array([[float(cost) for cost in row] for row in self.table])
        self.nearest = [min(range(len(table)), key=lambda w: self.table[w][x]) for x in range(size)]
        self.columns = {
            (y, w): None
            for y, middle in enumerate(self.nearest)
            for w in range(max(middle - _NEAR, 0), min(middle + _NEAR + 1, len(table)))
        }

    def solve(self, rate: float) -> list[FloatGuess]:
        """What the solver believes, by each method, once no output has a guess that is better than those at hand."""
        places = np.arange(self.size)
        law = np.exp(-rate * np.abs(places[:, None] - places[None, :])) * -np.expm1(-rate) / (1 + np.exp(-rate))
        law[:, [0, -1]] /= -np.expm1(-rate)
        self.floats /= (law * self.floats[self.nearest].T).sum(axis=1).max() or 1.0  # t is then about 1
        for _ in range(_ROUNDS):
            program = self._float_program(law)
            tries = [guess_optimum(*program, tolerance=1e-10, method=method) for method in _METHODS]
            guesses = [found for found in tries if found is not None]
            if not guesses:
                return []
            guess = guesses[0]
            weights = np.maximum(-guess.prices[self.size :], 0.0)
            costs = self.floats @ (weights[:, None] * law)  # a row for each guess, a column for each output
            best = costs.argmin(axis=0)
            fresh = [
                (y, w)
                for y, w in enumerate(best.tolist())
                if (y, w) not in self.columns and costs[w, y] < guess.prices[y] - _CLOSE
            ]
            if not fresh:
                break
            self.columns.update(dict.fromkeys(fresh))
        return guesses

    def _float_program(self, law: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        outputs, guesses = np.array(list(self.columns)).T
        count, size = len(outputs), self.size
        worst = law[:, outputs] * self.floats[guesses].T
        matrix = np.zeros((2 * size, count + 1))
        matrix[outputs, np.arange(count)] = 1
        matrix[size:, :count] = worst
        matrix[size:, count] = -1
        cost = np.zeros(count + 1)
        cost[count] = 1
        lower = np.concatenate([np.ones(size), np.full(size, -np.inf)])
        upper = np.concatenate([np.ones(size), np.zeros(size)])
        return cost, matrix, lower, upper

    def exactly(self, alpha: Fraction, guess: FloatGuess) -> _Solution | None:
        """The solver's basis in rationals; None if it is not one of the exact program."""
        size, columns = self.size, list(self.columns)
        ends, inside = 1 / (1 + alpha), (1 - alpha) / (1 + alpha)
        powers = [alpha**d for d in range(size)]
        entries = [(y, k, Fraction(1)) for k, (y, _) in enumerate(columns)]
        entries += [
            (size + x, k, powers[abs(x - y)] * (inside if 0 < y < size - 1 else ends) * self.table[w][x])
            for k, (y, w) in enumerate(columns)
            for x in range(size)
            if self.table[w][x]
        ]
        entries += [(size + x, len(columns), Fraction(-1)) for x in range(size)]
        cost = [Fraction(0)] * len(columns) + [Fraction(1)]
        right = [Fraction(1)] * size + [Fraction(0)] * size
        program = LinearProgram(cost, entries, right, size, [0] * len(cost))
        found = basis_solution(program, program, guess)
        if found is None:
            return None
        weights = tuple(-price for price in found.prices[size:])
        moves = tuple(Move(y, w, p) for (y, w), p in zip(columns, found.point, strict=False) if p)
        sums = [sum((move.probability for move in moves if move.place == y), Fraction(0)) for y in range(size)]
        return _Solution(moves, weights) if min(weights) >= 0 and sum(weights) == 1 and set(sums) == {1} else None

    def rounded(self, guess: FloatGuess) -> _Solution:
        """The solver's answer as a channel and a distribution of short fractions."""
        shares: dict[int, dict[int, int]] = {y: {} for y in range(self.size)}
        for (y, w), value in zip(self.columns, guess.point.tolist(), strict=False):
            if (share := round(max(value, 0.0) * _UNIT)) > _UNIT >> 40:
                shares[y][w] = share
        moves = []
        for y, row in shares.items():
            most = max(row, key=row.__getitem__)
            row[most] += _UNIT - sum(row.values())
            moves += [Move(y, w, Fraction(share, _UNIT)) for w, share in row.items()]
        weights = [round(max(-price, 0.0) * _UNIT) for price in guess.prices[self.size :].tolist()]
        weights = weights if any(weights) else [1] * self.size
        return _Solution(tuple(moves), tuple(Fraction(weight, sum(weights)) for weight in weights))


def _dual(
    problem: DesignProblem, line: EvenLine, moves: Sequence[Move], weights: tuple[Fraction, ...]
) -> OptimalityCertificate:
    """The certificate of the average under the weights, with the loss of the worst input."""
    proof = prove_path(replace(problem, prior=weights, objective="average"), line)
    if proof is None:
        raise LeastNoiseError("no dual solution was found for a legal loss", fix="report this")
    channel = remapped_channel(problem, line, moves, growths(problem.privacy.epsilon * line.gap)[0])
    value = _worst(problem, channel)
    return replace(proof, objective="worst", channel=channel, value=value, gap=value - proof.lower_bound)


def _worst(problem: DesignProblem, channel: Channel) -> Fraction:
    losses = problem.loss_table.transposed().rows
    rows = channel.rationals().rows
    return max(
        sum((p * cost for p, cost in zip(law, costs, strict=True) if p), start=Fraction(0))
        for law, costs in zip(rows, losses, strict=True)
    )


def _proof(
    problem: DesignProblem,
    line: EvenLine,
    loss_form: LineLoss,
    remap: Sequence[Move],
    moves: Sequence[Move],
    weights: tuple[Fraction, ...],
    value: Fraction,
    bound: Fraction,
) -> Certificate:
    if len(line.order) <= LARGEST_PROOF:
        return _dual(problem, line, moves, weights)
    return line_certificate(problem, line, loss_form, remap, weights, value, bound)

"""Paths and evenly spaced points: the truncated geometric mechanism, each output said as its reader best reads it.

Ghosh, Roughgarden and Sundararajan (SIAM J. Comput. 2012, Theorem 3.2): for every prior and every legal loss no
ε-private mechanism costs less. On short lines the dual solution is written down and the proof needs no theorem, and no
legal loss either, where e^ε is rational.

Let v_y be what output y of the truncated geometric channel G costs its reader. The numbers u with Σ_x u_x·G(y|x) = v_y
solve the dual: Σ_x u_x = Σ_y v_y is the loss, for the rows of G sum to one. For each guess w one sweep along the path
finds the multipliers, or finds that there are none: carry what node x has left over, divided by λ = e^ε, or what it
lacks, times λ, to node x + 1; the last node must not lack anything. For legal losses it never does (Ghosh, Roughgarden
and Sundararajan, SIAM J. Comput. 2012); for others the sweep decides.

For every output y the reader's guess w minimises Σ_x ℓ(w, x)·π_x·α^|x − y|: exactly, by a product of matrices, on short
lines with a rational α; on others in one pass with bounds (`leastnoise.model.line_reading`), which the certificate of a
long line asks the checker to repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate
from math import ceil, floor
from operator import mul
from typing import NamedTuple

from leastnoise.designer.result import Design
from leastnoise.errors import BadParameter, LeastNoiseError
from leastnoise.exact import Enclosure, Exact, RationalMatrix, exact_exp, exp_enclosure, scaled
from leastnoise.mechanisms.designed.remapped_geometric import RemappedGeometric
from leastnoise.model import (
    LARGEST_CHANNEL,
    Certificate,
    Channel,
    DesignProblem,
    LineCertificate,
    LineLoss,
    Move,
    Multiplier,
    OptimalityCertificate,
    Reason,
    absolute,
    best_line_reading,
    from_matrix,
    is_legal,
    label_number,
    squared,
    zero_one,
)
from leastnoise.model.graphs.path_cycle_complete import EvenLine, find_line
from leastnoise.model.uniform_count import uniform_count

__all__ = [
    "LARGEST_PROOF",
    "LARGEST_TABLE",
    "PathRemapping",
    "best_reading",
    "growths",
    "legal_loss",
    "line_certificate",
    "path_design",
    "prove_path",
    "recognise_path",
    "remapped_channel",
    "to_answers",
]

_GROWTH_BITS = 46  # of a rational next to e^ε: gaps stay below 1e-12, and powers short enough to be written down


class PathRemapping(NamedTuple):
    """The guess for each output, by its row of the table, what it costs, and the total."""

    guesses: tuple[int, ...]
    costs: tuple[Fraction, ...]
    loss: Fraction


def best_reading(alpha: Fraction, table: RationalMatrix, prior: Sequence[Fraction]) -> PathRemapping:
    """The best guess for each output of the truncated geometric channel, exactly.

    Args:
        alpha: e^-ε, between 0 and 1.
        table: ℓ, a row for each guess, a column for each node along the line.
        prior: A probability for each node along the line.

    >>> best_reading(Fraction(1, 2), RationalMatrix([[0, 1, 2], [1, 0, 1], [2, 1, 0]]), [Fraction(1, 3)] * 3)[::2]
    ((0, 1, 2), Fraction(5, 9))
    """
    size = len(prior)
    least = [value for value, _ in table.column_minima()]
    weighted = _excess(table.transposed(), least).scaled_rows(prior).transposed()
    top, bottom = alpha.numerator, alpha.denominator
    powers, unit = [top**d * bottom ** (size - 1 - d) for d in range(size)], bottom ** (size - 1)
    kernel = RationalMatrix([[powers[abs(x - y)] for y in range(size)] for x in range(size)])
    best = (weighted @ kernel).column_minima()
    ends, inside = 1 / (1 + alpha), (1 - alpha) / (1 + alpha)
    costs = tuple(low / unit * (inside if 0 < y < size - 1 else ends) for y, (low, _) in enumerate(best))
    base = sum((low * weight for low, weight in zip(least, prior, strict=True)), start=Fraction(0))
    return PathRemapping(tuple(w for _, w in best), costs, sum(costs, start=base))


def _excess(columns: RationalMatrix, least: Sequence[Fraction]) -> RationalMatrix:
    """ℓ(w, x) − min ℓ(·, x), a row for each x: no cost is then below zero, and the guesses are the same."""
    if not any(least):
        return columns
    return RationalMatrix([[entry - low for entry in row] for row, low in zip(columns.rows, least, strict=True)])


LARGEST_PROOF = 64  # nodes of a line for which the dual solution is written down
LARGEST_TABLE = 1000  # nodes of a line for which a loss is read entry by entry
_NAMED = {squared: "squared", zero_one: "zero_one"}
_CITATION = "Ghosh, Roughgarden and Sundararajan, SIAM J. Comput. 2012, Theorem 3.2"


def recognise_path(problem: DesignProblem) -> Design | None:
    """The optimal mechanism on a path or on evenly spaced points, on average over a prior; None elsewhere.

    >>> from leastnoise.model.design_problem import read_problem
    >>> recognise_path(read_problem("path:10", 1)).loss
    Enclosure(≈ 0.71631097383939)
    >>> recognise_path(read_problem("path:3", "ln(2)", prior=["1/2", "1/4", "1/4"])).certificate.gap
    Fraction(0, 1)
    """
    if not problem.privacy.is_pure or problem.objective != "average":
        return None
    line = find_line(problem.graph)
    if line is None:
        return None
    rate, size = problem.privacy.epsilon * line.gap, len(line.order)
    growth = exact_exp(rate)
    if growth is not None and size <= LARGEST_PROOF:
        reading = best_reading(1 / growth, _table(problem, line), _prior(problem, line))
        if legal_loss(problem, line) is None and prove_path(problem, line, reading) is None:
            return None
        loss = Enclosure(reading.loss, reading.loss)
        prove = partial(_dual, problem, line, reading)
        return _design(problem, line, _moves(reading.guesses), loss, Fraction(0), prove)
    loss_form = legal_loss(problem, line)
    if loss_form is None:
        return None
    if loss_form == "distance" and problem.has_uniform_prior:
        closed = uniform_count(rate, size)
        moves, loss, gap = _moves(closed.moved), scaled(closed.loss, line.gap), Fraction(0)  # ties are told exactly
    else:
        found = best_line_reading(rate, loss_form, _prior(problem, line))
        moves = _moves(found.guesses)
        loss = scaled(found.loss, line.gap) if loss_form == "distance" else found.loss
        gap = loss.width
    said = to_answers(moves, line) if isinstance(loss_form, str) else moves
    return _design(problem, line, said, loss, gap, partial(_proof, problem, line, loss_form, moves, loss))


def legal_loss(problem: DesignProblem, line: EvenLine) -> LineLoss | None:
    """The loss by its name or as a table along the line, if it is legal for the places there; None if it is not."""
    if problem.outputs is None and (problem.loss is None or (line.is_numbered and problem.loss is absolute)):
        return "distance"
    if problem.outputs is None and line.is_numbered and problem.loss in _NAMED:
        return _NAMED[problem.loss]
    if len(line.order) > LARGEST_TABLE or len(problem.answers) > LARGEST_TABLE:
        return None
    places = _output_places(problem, line)
    if places is None:
        return None
    guesses, nodes, table = range(len(places)), range(len(line.order)), _table(problem, line).rows
    loss = from_matrix(table, guesses, nodes)
    return table if is_legal(loss, nodes, dict(enumerate(places))) else None


def _output_places(problem: DesignProblem, line: EvenLine) -> list[Fraction] | None:
    """Where each output lies, in steps from the start of the line; None for one that lies nowhere."""
    known = {line.label(place): Fraction(place) for place in range(len(line.order))}
    if all(output in known for output in problem.answers):
        return [known[output] for output in problem.answers]
    try:
        numbers = [label_number(line.label(place), "input") for place in range(len(line.order))]
        step = numbers[1] - numbers[0]
        if step == 0 or any(number != numbers[0] + place * step for place, number in enumerate(numbers)):
            return None
        return [(label_number(output, "output") - numbers[0]) / step for output in problem.answers]
    except BadParameter:
        return None


def _table(problem: DesignProblem, line: EvenLine) -> RationalMatrix:
    return problem.loss_table.take_columns(line.order)


def _prior(problem: DesignProblem, line: EvenLine) -> list[Fraction]:
    return [problem.weights[node] for node in line.order]


def _moves(guesses: Sequence[int] | Mapping[int, int]) -> tuple[Move, ...]:
    pairs = guesses.items() if isinstance(guesses, Mapping) else enumerate(guesses)
    return tuple(Move(place, guess, Fraction(1)) for place, guess in pairs)


def to_answers(moves: Sequence[Move], line: EvenLine) -> list[Move]:
    """Moves to places of the line as moves to nodes."""
    return [Move(place, line.order[guess], probability) for place, guess, probability in moves]


def _dual(problem: DesignProblem, line: EvenLine, reading: PathRemapping) -> Certificate:
    proof = prove_path(problem, line, reading)
    if proof is None:
        raise LeastNoiseError("no dual solution was found for a legal loss", fix="report this")
    return proof


def _proof(
    problem: DesignProblem, line: EvenLine, loss_form: LineLoss, moves: Sequence[Move], loss: Enclosure
) -> Certificate:
    """The dual solution on a short line, which has one for a legal loss; else all that the checker needs."""
    if len(line.order) <= LARGEST_PROOF:
        proof = prove_path(problem, line)
        if proof is not None:
            return proof
    uniform = loss_form == "distance" and problem.has_uniform_prior
    weights = None if uniform else problem.weights
    return line_certificate(problem, line, loss_form, moves, weights, loss.upper, loss.lower)


def line_certificate(
    problem: DesignProblem,
    line: EvenLine,
    loss_form: LineLoss,
    moves: Sequence[Move],
    weights: tuple[Fraction, ...] | None,
    value: Fraction,
    bound: Fraction,
) -> LineCertificate:
    """The certificate of a long line."""
    named = isinstance(loss_form, str)
    places = None if named else tuple(_output_places(problem, line) or ())
    return LineCertificate(
        problem.graph,
        problem.privacy,
        problem.objective,
        weights,
        loss_form if isinstance(loss_form, str) else problem.loss_table.rows,
        places,
        tuple(move for move in moves if not named or move.place != move.guess or move.probability < 1),
        value,
        bound,
        value - bound,
    )


def _design(
    problem: DesignProblem,
    line: EvenLine,
    moves: Sequence[Move],
    loss: Enclosure,
    gap: Fraction,
    prove: Callable[[], Certificate],
) -> Design:
    reason = Reason(
        "on a path the truncated geometric mechanism, read in the best way, has the least expected loss for every "
        "prior and every legal loss",
        _CITATION,
        loss,
    )
    return path_design(problem, line, moves, loss, loss, gap, reason, prove)


def path_design(
    problem: DesignProblem,
    line: EvenLine,
    moves: Sequence[Move],
    loss: Enclosure,
    bound: Enclosure,
    gap: Fraction,
    reason: Reason,
    prove: Callable[[], Certificate],
) -> Design:
    """The design whose mechanism says each output of the truncated geometric mechanism as the answers in `moves`."""
    sayings: dict[int, list[tuple[Hashable, Fraction]]] = {}
    for place, guess, probability in moves:
        sayings.setdefault(place, []).append((problem.answers[guess], probability))
    said = {place: each[0][0] for place, each in sayings.items() if len(each) == 1}
    mixed = {place: tuple(each) for place, each in sayings.items() if len(each) > 1}
    mechanism = RemappedGeometric(problem.privacy.epsilon, line, said, problem, reason, prove, mixed)
    channel = partial(_small_channel, problem, line, tuple(moves))
    return Design(problem, mechanism, loss, bound, gap, reason, "theorem", channel, prove)


def _small_channel(problem: DesignProblem, line: EvenLine, moves: Sequence[Move]) -> Channel | None:
    """The law as a matrix, for a rational just below e^ε where that is irrational; None for a long line."""
    if len(line.order) > LARGEST_CHANNEL:
        return None
    return remapped_channel(problem, line, moves, growths(problem.privacy.epsilon * line.gap)[0])


def growths(rate: Exact) -> tuple[Fraction, Fraction]:
    """e^rate, or a short rational just below it, at which a channel is private, and one just above, for the dual.

    >>> growths(Fraction(1))[1] - growths(Fraction(1))[0] < Fraction(1, 10**13)
    True
    """
    growth = exact_exp(rate)
    if growth is not None:
        return growth, growth
    near = exp_enclosure(rate, 2 * _GROWTH_BITS)
    unit = Fraction(2) ** (floor(near.lower).bit_length() - _GROWTH_BITS)
    return floor(near.lower / unit) * unit, ceil(near.upper / unit) * unit


def _best(problem: DesignProblem, line: EvenLine, growth: Fraction) -> PathRemapping:
    return best_reading(1 / growth, _table(problem, line), _prior(problem, line))


def prove_path(
    problem: DesignProblem, line: EvenLine, reading: PathRemapping | None = None
) -> OptimalityCertificate | None:
    """The certificate; None if the mechanism is not optimal for this loss.

    Its gap is zero where e^ε is rational. Where it is not, the channel is that of a rational just below and the dual
    solution that of one just above, and the gap is what lies between them.

    Args:
        problem: With its prior and loss.
        line: The nodes in their order.
        reading: The best reading where e^ε is rational, if it is known already.
    """
    low, growth = growths(problem.privacy.epsilon * line.gap)
    dual = _best(problem, line, growth) if reading is None else reading
    said = dual if low == growth else _best(problem, line, low)
    table, prior = _table(problem, line), _prior(problem, line)
    potentials = _potentials(dual, table, prior, 1 / growth)
    multipliers: list[Multiplier] = []
    for output, costs in enumerate(table.rows):
        spare = [weight * cost - u for weight, cost, u in zip(prior, costs, potentials, strict=True)]
        found = _sweep(spare, growth, line, output)
        if found is None:
            return None
        multipliers += found
    lengths = sorted(set(problem.graph.edge_lengths() or [Fraction(1)]))
    return OptimalityCertificate(
        problem.graph,
        problem.privacy,
        remapped_channel(problem, line, _moves(said.guesses), low),
        objective="average",
        prior=problem.weights,
        loss=problem.loss_table.rows,
        value=said.loss,
        lower_bound=dual.loss,
        gap=said.loss - dual.loss,
        factors=tuple((length, growth ** int(length / line.gap)) for length in lengths),
        multipliers=tuple(multipliers),
    )


def remapped_channel(problem: DesignProblem, line: EvenLine, moves: Sequence[Move], growth: Fraction) -> Channel:
    """The truncated geometric channel for α = 1/growth, each output said as `moves` say, else as the node it is."""
    size, alpha = len(line.order), 1 / growth
    ends, inside = 1 / (1 + alpha), (1 - alpha) / (1 + alpha)
    powers = list(accumulate([alpha] * (size - 1), mul, initial=Fraction(1)))
    rows = [[Fraction(0)] * len(problem.answers) for _ in range(size)]
    moved = {move.place for move in moves}
    stay = [Move(place, line.order[place], Fraction(1)) for place in range(size) if place not in moved]
    for y, guess, probability in [*moves, *stay]:
        share = probability * (inside if 0 < y < size - 1 else ends)
        for x, node in enumerate(line.order):
            rows[node][guess] += powers[abs(x - y)] * share
    return Channel(rows, tuple(problem.graph.nodes), tuple(problem.answers))


def _potentials(
    reading: PathRemapping, table: RationalMatrix, prior: Sequence[Fraction], alpha: Fraction
) -> list[Fraction]:
    """u: the kernel α^|x − y| has a tridiagonal inverse."""
    last, square = len(prior) - 1, alpha * alpha
    factors = [1 / (1 + alpha) if y in (0, last) else (1 - alpha) / (1 + alpha) for y in range(last + 1)]
    costs = [Fraction(0), *(cost / factor for cost, factor in zip(reading.costs, factors, strict=True)), Fraction(0)]
    least = [value for value, _ in table.column_minima()]  # the reading's costs are what comes on top of these
    return [
        weight * low
        + ((1 if x in (0, last) else 1 + square) * costs[x + 1] - alpha * (costs[x] + costs[x + 2])) / (1 - square)
        for x, (weight, low) in enumerate(zip(prior, least, strict=True))
    ]


def _sweep(spare: Sequence[Fraction], growth: Fraction, line: EvenLine, output: int) -> list[Multiplier] | None:
    """Multipliers that leave no node with less than nothing; None if the last one would be left so."""
    found, left = [], spare[0]
    for place in range(1, len(spare)):
        here, there = line.order[place - 1], line.order[place]
        if left < 0:
            found.append(Multiplier(here, there, output, -left))
            left *= growth
        elif left > 0:
            left /= growth
            found.append(Multiplier(there, here, output, left))
        left += spare[place]
    return found if left >= 0 else None

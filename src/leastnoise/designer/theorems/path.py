"""Paths and evenly spaced points: the truncated geometric mechanism, each output said as its reader best reads it.

Ghosh, Roughgarden and Sundararajan (SIAM J. Comput. 2012, Theorem 3.2): for every prior and every legal loss no
ε-private mechanism costs less. Where e^ε is rational the dual solution is written down and the proof needs no theorem,
and no legal loss either.

Let v_y be what output y of the truncated geometric channel G costs its reader. The numbers u with Σ_x u_x·G(y|x) = v_y
solve the dual: Σ_x u_x = Σ_y v_y is the loss, for the rows of G sum to one. For each guess w one sweep along the path
finds the multipliers, or finds that there are none: carry what node x has left over, divided by λ = e^ε, or what it
lacks, times λ, to node x + 1; the last node must not lack anything. For legal losses it never does (Ghosh, Roughgarden
and Sundararajan, SIAM J. Comput. 2012); for others the sweep decides.

For every output y the reader's guess w minimises Σ_x ℓ(w, x)·π_x·α^|x − y|. Where α is irrational its powers are
enclosed to 256 bits; guesses whose costs agree to that count as equal, and the enclosure of the loss allows for it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate
from math import ceil, floor
from operator import mul
from typing import NamedTuple

from leastnoise.designer.result import Design
from leastnoise.designer.theorems.uniform_count import uniform_count
from leastnoise.errors import BadParameter
from leastnoise.exact.enclosures import Enclosure, exp_enclosure
from leastnoise.exact.matrices import RationalMatrix
from leastnoise.exact.numbers import Exact, exact_exp, ln
from leastnoise.mechanisms.designed.remapped_geometric import RemappedGeometric
from leastnoise.mechanisms.numeric.truncated_geometric import TruncatedGeometric
from leastnoise.model.certificate import (
    LARGEST_CHANNEL,
    Certificate,
    Multiplier,
    OptimalityCertificate,
    TheoremCertificate,
)
from leastnoise.model.channel import Channel
from leastnoise.model.design_problem import DesignProblem
from leastnoise.model.graphs import path
from leastnoise.model.graphs.path_cycle_complete import EvenLine, find_line
from leastnoise.model.labels import label_number
from leastnoise.model.losses import absolute, from_matrix, is_legal, squared, zero_one
from leastnoise.model.mechanism import Reason
from leastnoise.model.privacy import Privacy

__all__ = ["Remapping", "best_reading", "growths", "prove_path", "recognise_path"]

_BITS = 256
_GROWTH_BITS = 46  # of a rational next to e^ε: gaps stay below 1e-12, and powers short enough to be written down


class Remapping(NamedTuple):
    """The guess for each output, by its row of the table, what it costs at least and at most, and the total."""

    guesses: tuple[int, ...]
    costs: tuple[Enclosure, ...]
    loss: Enclosure


def best_reading(rate: Exact, table: RationalMatrix, prior: Sequence[Fraction]) -> Remapping:
    """The best guess for each output of the truncated geometric channel with α = e^-rate.

    Args:
        rate: Above zero.
        table: ℓ, a row for each guess, a column for each node along the line.
        prior: A probability for each node along the line.

    >>> from leastnoise.exact import ln
    >>> best_reading(ln(2), RationalMatrix([[0, 1, 2], [1, 0, 1], [2, 1, 0]]), [Fraction(1, 3)] * 3)[::2]
    ((0, 1, 2), Enclosure(5/9))
    """
    size, alpha = len(prior), exp_enclosure(-rate, _BITS + 64)
    least = [value for value, _ in table.column_minima()]
    weighted = _excess(table.transposed(), least).scaled_rows(prior).transposed()
    powers, unit, doubt = _powers(alpha, size)
    kernel = RationalMatrix([[powers[abs(x - y)] for y in range(size)] for x in range(size)])
    best = (weighted @ kernel).column_minima()
    spare = [doubt * total for total in weighted.row_sums()]
    costs = tuple(
        Enclosure(factor.lower * low / unit, factor.upper * (low / unit + spare[w]))
        for factor, (low, w) in zip(_factors(alpha, size), best, strict=True)
    )
    base = sum((low * weight for low, weight in zip(least, prior, strict=True)), start=Fraction(0))
    lower, upper = (sum((getattr(cost, end) for cost in costs), start=base) for end in ("lower", "upper"))
    return Remapping(tuple(w for _, w in best), costs, Enclosure(lower, upper))


def _excess(columns: RationalMatrix, least: Sequence[Fraction]) -> RationalMatrix:
    """ℓ(w, x) − min ℓ(·, x), a row for each x: no cost is then below zero, and the guesses are the same."""
    if not any(least):
        return columns
    return RationalMatrix([[entry - low for entry in row] for row, low in zip(columns.rows, least, strict=True)])


def _powers(alpha: Enclosure, size: int) -> tuple[list[int], int, Fraction]:
    """α^0 … α^(size − 1) as whole numbers of some unit, how many units are one, and by how much they may fall short."""
    if alpha.is_exact:
        top, bottom = alpha.lower.numerator, alpha.lower.denominator
        return [top**d * bottom ** (size - 1 - d) for d in range(size)], bottom ** (size - 1), Fraction(0)
    one = 1 << _BITS + 32
    powers, ratio = [one], int(alpha.lower * one)
    for _ in range(1, size):
        powers.append(powers[-1] * ratio // one)  # it loses at most 2^-(BITS + 31), fewer than 2^30 times
    return powers, one, Fraction(1, 1 << _BITS)


def _factors(alpha: Enclosure, size: int) -> list[Enclosure]:
    """(1 − α)/(1 + α) for each output between the ends, 1/(1 + α) for these."""
    end = Enclosure(1 / (1 + alpha.upper), 1 / (1 + alpha.lower))
    inner = Enclosure((1 - alpha.upper) / (1 + alpha.upper), (1 - alpha.lower) / (1 + alpha.lower))
    return [end, *[inner] * (size - 2), end]


_LARGEST_PROOF = 64  # nodes of a line for which the dual solution is written down
_LARGEST_TABLE = 400  # nodes of a line for which prior and loss are read entry by entry
_LEGAL = (absolute, squared, zero_one)
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
    rate = problem.privacy.epsilon * line.gap
    size = len(line.order)
    if exact_exp(rate) is not None and size <= _LARGEST_PROOF:
        reading = best_reading(rate, _table(problem, line), _prior(problem, line))
        if not _is_legal(problem, line) and prove_path(problem, line, reading) is None:
            return None
        return _design(problem, line, _said(problem, reading), reading.loss, partial(_proof, problem, line, reading))
    if _is_distance(problem, line) and problem.has_uniform_prior:
        found = uniform_count(rate, size)
        said = {place: line.label(guess) for place, guess in found.moved.items()}
        loss = Enclosure(found.loss.lower * line.gap, found.loss.upper * line.gap)
        return _design(problem, line, said, loss, partial(_proof, problem, line))
    if size > _LARGEST_TABLE or not _is_legal(problem, line):
        return None
    reading = best_reading(rate, _table(problem, line), _prior(problem, line))
    return _design(problem, line, _said(problem, reading), reading.loss, partial(_proof, problem, line))


def _is_distance(problem: DesignProblem, line: EvenLine) -> bool:
    """Whether the loss is the distance, told without a table."""
    if problem.outputs is not None:
        return False
    return problem.loss is None or (problem.loss is absolute and line.is_numbered)


def _is_legal(problem: DesignProblem, line: EvenLine) -> bool:
    """Whether the loss is legal for the places along the line."""
    if problem.outputs is None and (problem.loss is None or (line.is_numbered and problem.loss in _LEGAL)):
        return True
    places = _output_places(problem, line)
    if places is None:
        return False
    guesses, nodes = range(len(places)), range(len(line.order))
    loss = from_matrix(_table(problem, line).rows, guesses, nodes)
    return bool(is_legal(loss, nodes, dict(enumerate(places))))


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


def _said(problem: DesignProblem, reading: Remapping) -> dict[int, Hashable]:
    return {place: problem.answers[guess] for place, guess in enumerate(reading.guesses)}


def _appeal(rate: Exact, size: int) -> Certificate:
    """The theorem, on the path whose nodes are numbered along the line."""
    channel = None
    if exact_exp(rate) is not None and size <= LARGEST_CHANNEL:
        channel = TruncatedGeometric(rate, 0, size - 1).channel(range(size), range(size))
    return TheoremCertificate("truncated-geometric", path(size), Privacy(rate), channel)


def _proof(problem: DesignProblem, line: EvenLine, reading: Remapping | None = None) -> Certificate:
    """The dual solution; for a legal loss there always is one. Long paths appeal to the theorem."""
    size = len(line.order)
    proof = prove_path(problem, line, reading) if size <= _LARGEST_PROOF else None
    return proof or _appeal(problem.privacy.epsilon * line.gap, size)


def _design(
    problem: DesignProblem, line: EvenLine, said: dict[int, Hashable], loss: Enclosure, prove: Callable[[], Certificate]
) -> Design:
    reason = Reason(
        "on a path the truncated geometric mechanism, read in the best way, has the least expected loss for every "
        "prior and every legal loss",
        _CITATION,
        loss,
    )
    mechanism = RemappedGeometric(problem.privacy.epsilon, line, said, problem, reason, prove)

    def channel() -> Channel | None:
        if len(line.order) > LARGEST_CHANNEL:
            return None
        answers = {label: place for place, label in enumerate(problem.answers)}
        guesses = [answers[mechanism.say(place)] for place in range(len(line.order))]
        return _channel(problem, line, guesses, growths(problem.privacy.epsilon * line.gap)[0])

    return Design(problem, mechanism, loss, loss, Fraction(0), reason, "theorem", channel, prove)


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


def _best(problem: DesignProblem, line: EvenLine, growth: Fraction) -> Remapping:
    return best_reading(ln(growth), _table(problem, line), _prior(problem, line))


def prove_path(
    problem: DesignProblem, line: EvenLine, reading: Remapping | None = None
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
        _channel(problem, line, said.guesses, low),
        objective="average",
        prior=problem.weights,
        loss=problem.loss_table.rows,
        value=said.loss.lower,
        lower_bound=dual.loss.lower,
        gap=said.loss.lower - dual.loss.lower,
        factors=tuple((length, growth ** int(length / line.gap)) for length in lengths),
        multipliers=tuple(multipliers),
    )


def _channel(problem: DesignProblem, line: EvenLine, guesses: Sequence[int], growth: Fraction) -> Channel:
    """The truncated geometric channel for α = 1/growth, with each output replaced by its guess."""
    size, alpha = len(line.order), 1 / growth
    ends, inside = 1 / (1 + alpha), (1 - alpha) / (1 + alpha)
    powers = list(accumulate([alpha] * (size - 1), mul, initial=Fraction(1)))
    rows = [[Fraction(0)] * len(problem.answers) for _ in range(size)]
    for x, node in enumerate(line.order):
        for y, guess in enumerate(guesses):
            rows[node][guess] += powers[abs(x - y)] * (ends if y in (0, size - 1) else inside)
    return Channel(rows, tuple(problem.graph.nodes), tuple(problem.answers))


def _potentials(
    reading: Remapping, table: RationalMatrix, prior: Sequence[Fraction], alpha: Fraction
) -> list[Fraction]:
    """u: the kernel α^|x − y| has a tridiagonal inverse."""
    last, square = len(prior) - 1, alpha * alpha
    factors = [1 / (1 + alpha) if y in (0, last) else (1 - alpha) / (1 + alpha) for y in range(last + 1)]
    costs = [Fraction(0), *(c.lower / factor for c, factor in zip(reading.costs, factors, strict=True)), Fraction(0)]
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

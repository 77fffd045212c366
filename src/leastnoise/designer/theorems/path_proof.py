"""The dual solution on a path, written down exactly: the proof that the truncated geometric mechanism is optimal.

Let v_y be what output y of the truncated geometric channel G costs its reader. The numbers u with Σ_x u_x·G(y|x) = v_y
solve the dual: Σ_x u_x = Σ_y v_y is the loss, for the rows of G sum to one. For each guess w one sweep along the path
finds the multipliers, or finds that there are none: carry what node x has left over, divided by λ = e^ε, or what it
lacks, times λ, to node x + 1; the last node must not lack anything. For legal losses it never does (Ghosh, Roughgarden
and Sundararajan, SIAM J. Comput. 2012); for others the sweep decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from leastnoise.designer.theorems.reading import Reading
from leastnoise.exact.matrices import RationalMatrix
from leastnoise.exact.numbers import exact_exp
from leastnoise.mechanisms.numeric.truncated_geometric import TruncatedGeometric
from leastnoise.model.certificate import Multiplier, OptimalityCertificate
from leastnoise.model.channel import Channel
from leastnoise.model.design_problem import DesignProblem
from leastnoise.model.graphs.line import Line

__all__ = ["prove_path"]


def prove_path(problem: DesignProblem, line: Line, reading: Reading) -> OptimalityCertificate | None:
    """The certificate, with a gap of zero; None if the mechanism is not optimal for this loss, or e^ε irrational."""
    growth = exact_exp(problem.privacy.epsilon * line.gap)
    if growth is None:
        return None
    table = problem.loss_table.take_columns(line.order)
    prior = [problem.weights[node] for node in line.order]
    potentials = _potentials(reading, table, prior, 1 / growth)
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
        _channel(problem, line, reading),
        objective="average",
        prior=problem.weights,
        loss=problem.loss_table.rows,
        value=reading.loss.lower,
        lower_bound=reading.loss.lower,
        gap=Fraction(0),
        factors=tuple((length, growth ** int(length / line.gap)) for length in lengths),
        multipliers=tuple(multipliers),
    )


def _channel(problem: DesignProblem, line: Line, reading: Reading) -> Channel:
    """The truncated geometric channel with each output replaced by its guess."""
    places = range(len(line.order))
    answers = range(len(problem.answers))
    choices = [[int(answer == guess) for answer in answers] for guess in reading.guesses]
    noise = TruncatedGeometric(problem.privacy.epsilon * line.gap, 0, places[-1]).channel(places, places)
    rows = {problem.graph.nodes[node]: place for place, node in enumerate(line.order)}
    said = noise.then(Channel(choices, places, problem.answers))
    return said.select({label: rows[label] for label in problem.graph.nodes})


def _potentials(reading: Reading, table: RationalMatrix, prior: Sequence[Fraction], alpha: Fraction) -> list[Fraction]:
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


def _sweep(spare: Sequence[Fraction], growth: Fraction, line: Line, output: int) -> list[Multiplier] | None:
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

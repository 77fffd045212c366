"""Paths and evenly spaced points: the truncated geometric mechanism, each output said as its reader best reads it.

Ghosh, Roughgarden and Sundararajan (SIAM J. Comput. 2012, Theorem 3.2): for every prior and every legal loss no
ε-private mechanism costs less. Where e^ε is rational the dual solution is written down and the proof needs no theorem,
and no legal loss either (`path_proof`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction
from functools import partial

from leastnoise.designer.result import Design
from leastnoise.designer.theorems.path_proof import prove_path
from leastnoise.designer.theorems.reading import Reading, best_reading
from leastnoise.designer.theorems.uniform_count import uniform_count
from leastnoise.errors import BadParameter
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.matrices import RationalMatrix
from leastnoise.exact.numbers import Exact, exact_exp
from leastnoise.mechanisms.designed.remapped_geometric import RemappedGeometric
from leastnoise.mechanisms.numeric.truncated_geometric import TruncatedGeometric
from leastnoise.model.certificate import Certificate, TheoremCertificate
from leastnoise.model.channel import Channel
from leastnoise.model.design_problem import DesignProblem
from leastnoise.model.graphs import path
from leastnoise.model.graphs.line import Line, find_line
from leastnoise.model.labels import label_number
from leastnoise.model.legality import is_legal
from leastnoise.model.losses import absolute, from_matrix, squared, zero_one
from leastnoise.model.mechanism import Reason
from leastnoise.model.privacy import Privacy
from leastnoise.model.theorems import LARGEST_CHANNEL

__all__ = ["recognise_path"]

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
        return _design(problem, line, said, loss, partial(_appeal, rate, size))
    if size > _LARGEST_TABLE or not _is_legal(problem, line):
        return None
    reading = best_reading(rate, _table(problem, line), _prior(problem, line))
    return _design(problem, line, _said(problem, reading), reading.loss, partial(_appeal, rate, size))


def _is_distance(problem: DesignProblem, line: Line) -> bool:
    """Whether the loss is the distance, told without a table."""
    if problem.outputs is not None:
        return False
    return problem.loss is None or (problem.loss is absolute and line.is_numbered)


def _is_legal(problem: DesignProblem, line: Line) -> bool:
    """Whether the loss is legal for the places along the line."""
    if problem.outputs is None and (problem.loss is None or (line.is_numbered and problem.loss in _LEGAL)):
        return True
    places = _output_places(problem, line)
    if places is None:
        return False
    guesses, nodes = range(len(places)), range(len(line.order))
    loss = from_matrix(_table(problem, line).rows, guesses, nodes)
    return bool(is_legal(loss, nodes, dict(enumerate(places))))


def _output_places(problem: DesignProblem, line: Line) -> list[Fraction] | None:
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


def _table(problem: DesignProblem, line: Line) -> RationalMatrix:
    return problem.loss_table.take_columns(line.order)


def _prior(problem: DesignProblem, line: Line) -> list[Fraction]:
    return [problem.weights[node] for node in line.order]


def _said(problem: DesignProblem, reading: Reading) -> dict[int, Hashable]:
    return {place: problem.answers[guess] for place, guess in enumerate(reading.guesses)}


def _appeal(rate: Exact, size: int) -> Certificate:
    """The theorem, on the path whose nodes are numbered along the line."""
    channel = None
    if exact_exp(rate) is not None and size <= LARGEST_CHANNEL:
        channel = TruncatedGeometric(rate, 0, size - 1).channel(range(size), range(size))
    return TheoremCertificate("truncated-geometric", path(size), Privacy(rate), channel)


def _proof(problem: DesignProblem, line: Line, reading: Reading) -> Certificate:
    """The dual solution; for a legal loss there always is one, and the theorem says the same."""
    return prove_path(problem, line, reading) or _appeal(problem.privacy.epsilon * line.gap, len(line.order))


def _design(
    problem: DesignProblem, line: Line, said: dict[int, Hashable], loss: Enclosure, prove: Callable[[], Certificate]
) -> Design:
    reason = Reason(
        "on a path the truncated geometric mechanism, read in the best way, has the least expected loss for every "
        "prior and every legal loss",
        _CITATION,
        loss,
    )
    mechanism = RemappedGeometric(problem.privacy.epsilon, line, said, problem, reason, prove)

    def channel() -> Channel | None:
        size = len(line.order)
        if exact_exp(problem.privacy.epsilon * line.gap) is None or size > LARGEST_CHANNEL:
            return None
        return mechanism.channel(problem.graph.nodes, problem.answers)

    return Design(problem, mechanism, loss, loss, Fraction(0), reason, "theorem", channel, prove)

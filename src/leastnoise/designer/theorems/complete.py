"""Complete graphs where all wrong answers cost alike: randomized response among the likeliest labels.

Let an answer to x cost h_x if it is wrong and r_x ≤ h_x if it is right, and let q_x = π_x·(h_x − r_x), sorted. Private
means p(y|x) ≥ γ·p(y|y), γ = e^-ε (a column is best where its own label has the most). So with a_y = p(y|y) and A = Σ
a_y a row sums to one only if a_x·(1 − γ) + γ·A ≤ 1. The linear program max Σ q_x·a_x under these constraints and a ≥ 0
has its vertices where some j labels have a_x = 1/(1 + (j − 1)γ) and the others zero, hence

    least loss = Σ π_x·h_x − max_j (q_1 + … + q_j)/(1 + (j − 1)γ),

which randomized response among the j labels attains, the other labels answering with one of the j at random. For equal
q it is randomized response itself (Kairouz, Oh and Viswanath, NeurIPS 2014). The dual solution: U = max_j …, U_x =
max(0, (q_x − γU)/(1 − γ)), which add up to U, and the multiplier γ·U_x on p(y|y) ≤ e^ε·p(y|x).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import NamedTuple

from leastnoise.designer.result import Design
from leastnoise.exact import Enclosure, exact_exp, exp_above, exp_enclosure, ln
from leastnoise.mechanisms.designed.likeliest_response import LikeliestResponse
from leastnoise.model import (
    Certificate,
    Channel,
    DesignProblem,
    LikeliestCertificate,
    Multiplier,
    OptimalityCertificate,
    Reason,
    zero_one,
)
from leastnoise.model.graphs.path_cycle_complete import Complete

__all__ = ["recognise_complete"]

_LARGEST = 256  # nodes for which the dual solution is written down


class _Stakes(NamedTuple):
    """What a right answer gains for each node, weighted by the prior, and what always wrong answers would cost."""

    gains: list[Fraction]
    all_wrong: Fraction


def recognise_complete(problem: DesignProblem) -> Design | None:
    """The optimal mechanism where every two nodes are neighbours and wrong answers cost alike; None elsewhere.

    Where e^ε is irrational the mechanism takes a rational just below it, and the gap is about 1e-19.

    >>> from leastnoise.model.design_problem import read_problem
    >>> from leastnoise.model.losses import zero_one
    >>> rare = recognise_complete(read_problem("complete:3", "ln(2)", prior=[0.5, 0.4, 0.1], loss=zero_one))
    >>> rare.loss, rare.mechanism.kept
    (Enclosure(2/5), (0, 1))
    """
    graph = problem.graph
    if graph.size is None or graph.edge_lengths() is not None or not problem.privacy.is_pure:
        return None
    if problem.objective != "average":
        return None
    if graph.size > _LARGEST:
        return _many_labels(problem)
    if len(graph.edges()) != graph.size * (graph.size - 1) // 2 or tuple(problem.answers) != tuple(graph.nodes):
        return None
    stakes = _stakes(problem)
    if stakes is None:
        return None
    growth = exact_exp(problem.privacy.epsilon)
    gamma = exp_above(-problem.privacy.epsilon) if growth is None else 1 / growth
    slope = 1 / exp_above(problem.privacy.epsilon) if growth is None else gamma
    kept, won = _best(stakes.gains, gamma)
    value, bound = stakes.all_wrong - won, stakes.all_wrong - _best(stakes.gains, slope)[1]
    channel = partial(_channel, problem, kept, gamma)
    prove = partial(_certificate, problem, channel, stakes, slope, value, bound)
    return _design(problem, kept, gamma, value, bound, channel, prove)


def _many_labels(problem: DesignProblem) -> Design | None:
    """The same where a table would be too large: a right answer costs nothing and a wrong one costs one."""
    if not isinstance(problem.graph, Complete) or problem.outputs is not None:
        return None
    if problem.loss is not None and problem.loss is not zero_one:
        return None
    near = exp_enclosure(-problem.privacy.epsilon, 64)
    kept, won = _best(list(problem.weights), near.upper)
    value, bound = 1 - won, 1 - _best(list(problem.weights), near.lower)[1]
    parts = (problem.graph, problem.privacy, problem.weights, tuple(kept), value, bound, value - bound)
    return _design(problem, kept, near.upper, value, bound, _no_channel, partial(LikeliestCertificate, *parts))


def _no_channel() -> None:
    """There are too many labels."""


def _design(
    problem: DesignProblem,
    kept: list[int],
    gamma: Fraction,
    value: Fraction,
    bound: Fraction,
    channel: Callable[[], Channel | None],
    prove: Callable[[], Certificate],
) -> Design:
    loss, lower_bound = Enclosure(value, value), Enclosure(bound, bound)
    reason = Reason(
        "all nodes are neighbours and wrong answers cost alike: randomized response among the likeliest labels",
        "Kairouz, Oh and Viswanath, NeurIPS 2014, for equal weights; the dual solution proves it for all",
        lower_bound,
    )
    labels = tuple(problem.graph.nodes[node] for node in kept)
    mechanism = LikeliestResponse(ln(1 / gamma), problem.graph, labels, problem, reason, prove)
    return Design(problem, mechanism, loss, lower_bound, value - bound, reason, "theorem", channel, prove)


def _stakes(problem: DesignProblem) -> _Stakes | None:
    """What is at stake, if wrong answers cost alike and right ones not more."""
    gains, all_wrong = [], Fraction(0)
    for x, costs in enumerate(problem.loss_table.transposed().rows):
        wrong = set(costs[:x] + costs[x + 1 :])
        if len(wrong) > 1 or costs[x] > min(wrong):
            return None
        gains.append(problem.weights[x] * (min(wrong) - costs[x]))
        all_wrong += problem.weights[x] * min(wrong)
    return _Stakes(gains, all_wrong)


def _best(gains: list[Fraction], gamma: Fraction) -> tuple[list[int], Fraction]:
    """The nodes to keep, in node order, and max_j (q_1 + … + q_j)/(1 + (j − 1)γ)."""
    order = sorted(range(len(gains)), key=lambda node: -gains[node])
    sums = accumulate(gains[node] for node in order)
    won, fewer = max((total / (1 + others * gamma), -others) for others, total in enumerate(sums))
    return sorted(order[: 1 - fewer]), won


def _channel(problem: DesignProblem, kept: list[int], gamma: Fraction) -> Channel:
    nodes, top = tuple(problem.graph.nodes), 1 / (1 + (len(kept) - 1) * gamma)

    def entry(x: int, y: int) -> Fraction:
        if y not in kept:
            return Fraction(0)
        return Fraction(1, len(kept)) if x not in kept else top if x == y else gamma * top

    places = range(len(nodes))
    return Channel([[entry(x, y) for y in places] for x in places], nodes, nodes)


def _certificate(
    problem: DesignProblem,
    channel: Callable[[], Channel],
    stakes: _Stakes,
    slope: Fraction,
    value: Fraction,
    bound: Fraction,
) -> OptimalityCertificate:
    won = stakes.all_wrong - bound
    shares = [max(Fraction(0), (gain - slope * won) / (1 - slope)) for gain in stakes.gains]
    multipliers = tuple(
        Multiplier(y, x, y, slope * share)
        for y in range(len(shares))
        for x, share in enumerate(shares)
        if x != y and share
    )
    return OptimalityCertificate(
        problem.graph,
        problem.privacy,
        channel(),
        objective="average",
        prior=problem.weights,
        loss=problem.loss_table.rows,
        value=value,
        lower_bound=bound,
        gap=value - bound,
        factors=((Fraction(1), 1 / slope),),
        multipliers=multipliers,
    )

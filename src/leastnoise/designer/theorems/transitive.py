"""Vertex-transitive graphs with regular layers: the exponential mechanism of the distance, without the factor 2.

Aldà and Simon (CSCML 2017, Theorem 1) state it for the distance as loss. Their proof needs of the loss only that it is
a function m(d) of the distance that does not decrease: averaging over layers (Lemma 5) keeps the mass of every layer,
and p_{d+1} ≥ γ·p_d says that p_d/γ^d does not decrease, so that the distance is stochastically smallest if all of these
are equalities. The mechanism costs the same at every node, so it is also the best at its worst node.

The dual solution is written down for small graphs, at a rational just above e^ε where that is irrational. With b_d
neighbours one layer further and c_d one layer nearer, every edge from layer d to layer d + 1 of output y has the
multiplier u_d, where n·b_d·u_d = V − m_d + λ·n·c_d·u_{d−1} and V is the loss: then every entry of the reduced cost is
V/n.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from leastnoise.designer.result import Design
from leastnoise.designer.theorems.path import growths
from leastnoise.exact import Enclosure, exact_exp, ln
from leastnoise.mechanisms.designed.exponential_of_distance import ExponentialOfDistance, mean_over_layers
from leastnoise.model import (
    LARGEST_CHANNEL,
    Certificate,
    Channel,
    DesignProblem,
    Multiplier,
    OptimalityCertificate,
    Reason,
    TheoremCertificate,
    zero_one,
)
from leastnoise.model.graphs import DatasetGraph
from leastnoise.model.graphs.closed_form import ClosedForm

__all__ = ["recognise_transitive"]

_LARGEST_PROOF = 64  # nodes of a graph for which the dual solution is written down
_LARGEST_MATRIX = 1024  # nodes for which a matrix is looked at
_CITATION = "Aldà and Simon, On the optimality of the exponential mechanism, CSCML 2017, Theorem 1"


def recognise_transitive(problem: DesignProblem) -> Design | None:
    """The optimal mechanism on a vertex-transitive graph with regular layers; None if it is another problem.

    >>> from leastnoise.model.design_problem import read_problem
    >>> recognise_transitive(read_problem("hypercube:4", 1)).loss
    Enclosure(≈ 1.07576568547998)
    >>> recognise_transitive(read_problem("cycle:6", "ln(2)")).certificate.gap
    Fraction(0, 1)
    """
    graph = problem.graph
    if graph.size is None or graph.edge_lengths() is not None or not problem.privacy.is_pure:
        return None
    if not (problem.objective == "worst" or problem.has_uniform_prior):
        return None
    if isinstance(graph, ClosedForm) and not graph.is_vertex_transitive():  # by formula: it may be very large
        return None
    if not graph.has_regular_layers(graph.nodes[0]) or not graph.is_vertex_transitive():
        return None
    sizes = list(graph.layer_sizes(graph.nodes[0]).values())
    losses = _loss_by_distance(problem, len(sizes))
    if losses is None:
        return None
    loss = mean_over_layers(problem.privacy.epsilon, sizes, losses)
    reason = Reason(
        "the graph is vertex-transitive with regular layers, where p(y|x) ∝ e^(−ε·d(x, y)) is ε-private and has the "
        "least expected loss for every loss that grows with the distance",
        _CITATION,
        loss,
    )
    prove = partial(_certificate, problem, losses, loss)
    mechanism = ExponentialOfDistance(problem.privacy.epsilon, graph, problem.loss_name, losses, reason, prove)
    return Design(problem, mechanism, loss, loss, Fraction(0), reason, "theorem", partial(_channel, problem), prove)


def _loss_by_distance(problem: DesignProblem, layers: int) -> list[Fraction] | None:
    """m(d) for each distance, if the loss is such a function and does not decrease."""
    graph = problem.graph
    if problem.outputs is None and problem.loss is None:
        return [Fraction(distance) for distance in range(layers)]
    if problem.outputs is None and problem.loss is zero_one:
        return [Fraction(distance > 0) for distance in range(layers)]
    if not _is_small(graph) or tuple(problem.answers) != tuple(graph.nodes):
        return None
    found: dict[int, Fraction] = {}
    for costs, distances in zip(problem.loss_table.rows, graph.distances().tolist(), strict=True):
        for cost, distance in zip(costs, distances, strict=True):
            if found.setdefault(distance, cost) != cost:
                return None
    losses = [found[distance] for distance in range(layers)]
    return losses if losses == sorted(losses) else None


def _is_small(graph: DatasetGraph) -> bool:
    return graph.size is not None and graph.size <= _LARGEST_MATRIX


def _channel(problem: DesignProblem) -> Channel | None:
    """The law as a matrix, for a rational just below e^ε where that is irrational; None for a large graph."""
    if problem.graph.size is None or problem.graph.size > LARGEST_CHANNEL:
        return None
    gamma = 1 / growths(problem.privacy.epsilon)[0]
    distances = problem.graph.distances()
    powers = [gamma**d for d in range(int(distances.max()) + 1)]
    total = sum(powers[d] for d in distances[0].tolist())
    entries = [power / total for power in powers]
    nodes = tuple(problem.graph.nodes)
    return Channel([[entries[d] for d in row] for row in distances.tolist()], nodes, nodes)


def _certificate(problem: DesignProblem, losses: list[Fraction], loss: Enclosure) -> Certificate:
    """The dual solution where it can be written down, else the theorem with its witnesses."""
    graph, privacy = problem.graph, problem.privacy
    channel = _channel(problem)
    if channel is not None and len(channel.inputs) <= _LARGEST_PROOF:
        return _optimality(problem, channel, losses)
    if exact_exp(privacy.epsilon) is None:
        channel = None  # the theorem's own is irrational
    is_distance = losses == [Fraction(distance) for distance in range(len(losses))]
    name = "exponential-of-distance" if is_distance else "exponential-of-distance-for-growing-losses"
    expected = loss if is_distance else None
    if not _is_small(graph) and isinstance(graph, ClosedForm):  # the checker knows the family
        return TheoremCertificate(name, graph, privacy, loss=expected)
    return TheoremCertificate(
        name,
        graph,
        privacy,
        channel,
        loss=expected,
        generators=tuple(tuple(generator) for generator in graph.automorphism_generators().tolist()),
        layer_degrees=_layer_degrees(graph),
    )


def _layer_degrees(graph: DatasetGraph) -> tuple[tuple[int, int], ...]:
    """For each distance from the first node the neighbours one layer nearer and one layer further."""
    seen = graph.layer_degrees(graph.nodes[0])
    firsts = np.unique(seen.distance, return_index=True)[1]
    return tuple(zip(seen.nearer[firsts].tolist(), seen.further[firsts].tolist(), strict=True))


def _optimality(problem: DesignProblem, channel: Channel, losses: list[Fraction]) -> OptimalityCertificate:
    graph = problem.graph
    sizes = list(graph.layer_sizes(graph.nodes[0]).values())
    low, growth = growths(problem.privacy.epsilon)
    value, bound = (mean_over_layers(ln(factor), sizes, losses).lower for factor in (low, growth))
    size, edges, distances = len(graph.nodes), graph.edges().tolist(), graph.distances().tolist()
    weights: list[Fraction] = []
    for distance, (nearer, further) in enumerate(_layer_degrees(graph)[:-1]):
        carried = growth * nearer * weights[-1] if distance else 0
        weights.append(((bound - losses[distance]) / size + carried) / further)
    multipliers = [
        Multiplier(x, neighbour, output, weights[row[x]])
        for output, row in enumerate(distances)
        for one, two in edges
        for x, neighbour in ((one, two), (two, one))
        if row[neighbour] == row[x] + 1 and weights[row[x]]
    ]
    return OptimalityCertificate(
        graph,
        problem.privacy,
        channel,
        objective=problem.objective,
        prior=(Fraction(1, size),) * size,
        loss=problem.loss_table.rows,
        value=value,
        lower_bound=bound,
        gap=value - bound,
        factors=((Fraction(1), growth),),
        multipliers=tuple(multipliers),
    )

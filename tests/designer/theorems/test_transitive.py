"""Vertex-transitive graphs with regular layers: the exponential mechanism of the distance is the optimum there."""

from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.checker import check
from leastnoise.designer.theorems import recognise
from leastnoise.designer.theorems.transitive import recognise_transitive
from leastnoise.errors import BadParameter
from leastnoise.exact import SeededSource
from leastnoise.exact.numbers import exact_exp
from leastnoise.model.certificate import Certificate, OptimalityCertificate, TheoremCertificate
from leastnoise.model.design_problem import read_problem
from leastnoise.model.graphs import complete, cycle, from_networkx, hamming, histograms, hypercube
from leastnoise.model.losses import absolute, from_matrix, zero_one
from leastnoise.model.privacy import Privacy
from support.optimum import least_loss
from support.statistics import fits

SMALL = [cycle(4), cycle(5), complete(3), hypercube(2), from_networkx(nx.complete_bipartite_graph(2, 2))]
REGULAR = [
    cycle(12),
    hypercube(4),
    hamming(2, 3),
    complete(7),
    from_networkx(nx.petersen_graph()),
    from_networkx(nx.octahedral_graph()),
]


@pytest.mark.slow
@given(graph=st.sampled_from(SMALL), steps=st.lists(st.integers(0, 3), min_size=3, max_size=3), data=st.data())
@settings(max_examples=20)
def test_it_is_the_optimum_for_every_growing_loss(graph, steps, data):
    """On average and at the worst input."""
    heights = np.cumsum(steps).tolist()
    table = [[heights[d] for d in row] for row in graph.distances().tolist()]
    epsilon = data.draw(st.sampled_from(["ln(2)", "ln(7/5)", "ln(5)"]))
    edges, size = graph.edges().tolist(), len(graph.nodes)
    for objective, prior in (("average", [Fraction(1, size)] * size), ("worst", None)):
        problem = read_problem(graph, epsilon, loss=from_matrix(table, graph.nodes, graph.nodes), objective=objective)
        found = recognise_transitive(problem)
        assert found.loss.lower == least_loss(table, edges, exact_exp(problem.privacy.epsilon), prior)
        assert isinstance(found.certificate, OptimalityCertificate)
        assert found.certificate.gap == 0
        assert check(found.certificate)


@pytest.mark.parametrize("graph", REGULAR, ids=str)
@pytest.mark.parametrize("epsilon", [1, "ln(3)"])
@pytest.mark.parametrize("loss", [None, zero_one])
def test_the_proof_holds_and_survives_being_written_down(graph, epsilon, loss):
    found = recognise_transitive(read_problem(graph, epsilon, loss=loss))
    assert isinstance(found.certificate, OptimalityCertificate)
    assert (found.certificate.gap == 0) == (epsilon == "ln(3)")
    assert found.certificate.gap <= Fraction(1, 10**12)
    assert check(found.channel, found.problem.graph, epsilon=epsilon)
    assert check(Certificate.from_json(found.certificate.to_json()))


@pytest.mark.parametrize(
    "problem",
    [
        read_problem(from_networkx(nx.circular_ladder_graph(5)), 1),  # transitive, layers not regular
        read_problem("path:4", 1),
        read_problem("grid:3x3", 1),
        read_problem("sorted_histograms:6,3", 1),
        read_problem(histograms(3, 3), 1),
        read_problem("cycle:5", 1, prior=[0.2, 0.2, 0.2, 0.3, 0.1]),
        read_problem("cycle:5", 1, delta=0.1),
        read_problem("cycle:5", 1, loss=absolute),
        read_problem("cycle:5", 1, outputs=[0, 1]),
        read_problem("integers", 1),
    ],
    ids=lambda problem: f"{problem.graph.name}-{problem.loss_name}",
)
def test_conditions_that_fail_are_seen(problem):
    assert recognise_transitive(problem) is None


def test_a_loss_that_falls_with_the_distance_is_not_taken():
    graph = cycle(6)
    table = [[(0, 2, 1, 3)[d] for d in row] for row in graph.distances().tolist()]
    assert recognise_transitive(read_problem(graph, 1, loss=from_matrix(table))) is None


@pytest.mark.slow
@pytest.mark.parametrize("graph", [hypercube(2), hamming(1, 3), cycle(6), REGULAR[-1]], ids=str)
def test_the_sampler_follows_the_law(graph):
    mechanism = recognise_transitive(read_problem(graph, "ln(2)")).mechanism
    nodes = list(graph.nodes)
    law = [mechanism.pmf(node, nodes[1]).lower for node in nodes]
    assert sum(law) == 1
    drawn = mechanism.draw(nodes[1], size=(100, 300), source=SeededSource(11))
    assert drawn.shape == (100, 300)
    places = np.array([graph.index(label) for label in drawn.ravel()])
    sums, shifted = np.cumsum([float(p) for p in law]), np.cumsum(np.roll([float(p) for p in law], 1))
    assert fits(places, lambda i: sums[i], 0, len(nodes) - 2)
    assert not fits(places, lambda i: shifted[i], 0, len(nodes) - 2)
    assert mechanism.draw(nodes[1]) in graph


def test_the_hypercube_of_a_million_nodes_needs_no_matrix():
    """Each of its 20 bits is told wrongly with probability γ/(1 + γ)."""
    found = recognise(read_problem("hypercube:20", 1))
    gamma, zeros = np.exp(-1), (0,) * 20
    assert float(found.loss) == pytest.approx(20 * gamma / (1 + gamma), rel=1e-14)
    assert float(found.mechanism.pmf((1, *zeros[1:]), zeros)) == pytest.approx(gamma / (1 + gamma) ** 20, rel=1e-14)
    wrong = [sum(found.mechanism.draw(zeros, source=SeededSource(seed))) for seed in range(200)]
    assert 4.5 < np.mean(wrong) < 6.3
    assert found.channel is None
    assert check(Certificate.from_json(found.certificate.to_json()))


def test_a_family_that_is_not_transitive_needs_more_than_its_name():
    for graph in (cycle(5), hypercube(3)):
        assert check(TheoremCertificate("exponential-of-distance-for-growing-losses", graph, PRIVACY))
    for name in ("path:5", "grid:3x3", "sorted_histograms:4,2"):
        graph = read_problem(name, 1).graph
        assert not check(TheoremCertificate("exponential-of-distance-for-growing-losses", graph, PRIVACY))
    explicit = from_networkx(nx.petersen_graph())
    assert not check(TheoremCertificate("exponential-of-distance-for-growing-losses", explicit, PRIVACY))
    loss = recognise(read_problem("cycle:5", 1)).loss
    assert not check(TheoremCertificate("exponential-of-distance-for-growing-losses", cycle(5), PRIVACY, loss=loss))


PRIVACY = read_problem("path:2", 1).privacy


def test_a_wrong_answer_is_refused_without_being_shown():
    with pytest.raises(BadParameter) as error:
        recognise(read_problem("cycle:5", 1)).release("secret")
    assert "secret" not in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize("graph", [nx.cycle_graph(1100), nx.hypercube_graph(11)], ids=["cycle", "cube"])
def test_an_explicit_graph_above_a_thousand_nodes_has_witnesses_in_its_proof(graph):
    found = recognise(read_problem(from_networkx(graph), 1))
    assert check(Certificate.from_json(found.certificate.to_json()))
    assert not check(replace(found.certificate, generators=()))
    assert not check(replace(found.certificate, privacy=Privacy(2)))

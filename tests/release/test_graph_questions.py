"""Triangles and components: right on every small graph, and moved by an edge no further than the noise allows."""

from itertools import chain, combinations

import networkx
import pytest

from leastnoise import combinatorial
from leastnoise.exact import read_exact
from leastnoise.mechanisms.combinatorial.graph_input import read_graph
from leastnoise.mechanisms.numeric import Geometric
from leastnoise.release import combinatorial as releases

QUESTIONS = {"triangles": combinatorial.triangles, "components": combinatorial.components}
TRUTHS = {
    "triangles": lambda graph: sum(networkx.triangles(graph).values()) // 3,
    "components": networkx.number_connected_components,
}


def graphs_of(count):
    pairs = list(combinations(range(count), 2))
    for chosen in chain.from_iterable(combinations(pairs, size) for size in range(len(pairs) + 1)):
        graph = networkx.Graph()
        graph.add_nodes_from(range(count))
        graph.add_edges_from(chosen)
        yield graph


def asked(monkeypatch, question, graph, count):
    """The mechanism and the truth that a release is made of."""
    seen = []
    monkeypatch.setattr(releases, "release_mechanism", lambda mechanism, truth, **_: seen.append((mechanism, truth())))
    QUESTIONS[question](graph, 1, nodes=count)
    return seen[0]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_an_edge_moves_the_truth_within_the_sensitivity_on_all_graphs(monkeypatch, question, count):
    truths, furthest = {}, 0
    for graph in graphs_of(count):
        mechanism, truth = asked(monkeypatch, question, graph, count)
        assert isinstance(mechanism, Geometric)
        assert mechanism.epsilon == read_exact(1, "epsilon")
        assert truth == TRUTHS[question](graph)
        truths[frozenset(map(frozenset, graph.edges))] = truth
    for edges, truth in truths.items():
        for edge in edges:
            furthest = max(furthest, abs(truth - truths[edges - {edge}]))
    assert furthest <= mechanism.sensitivity
    assert count < 3 or furthest == mechanism.sensitivity


@pytest.mark.parametrize("seed", range(5))
def test_larger_graphs(seed):
    graph = networkx.gnp_random_graph(60, 0.04 + 0.06 * (seed % 2), seed=seed)
    read = read_graph(graph, range(60))
    assert read.triangles() == TRUTHS["triangles"](graph)
    assert read.components() == TRUTHS["components"](graph)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_release_is_near_and_hides_what_is_outside_the_nodes(question):
    edges = [(0, 1), (1, 2), (2, 0), (2, 2), (7, 9), (1, 0)]
    assert QUESTIONS[question](edges, 200, nodes=4).value == {"triangles": 1, "components": 2}[question]

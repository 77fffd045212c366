"""Triangles and components: right on every small graph, and moved by an edge no further than the noise allows."""

from itertools import chain, combinations

import networkx
import pytest

from leastnoise import combinatorial
from leastnoise.errors import BadParameter, TooLarge
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


# ── A node with all its edges ─────────────────────────────────────────────────────────────────────────────────────────


def node_level(monkeypatch, graph, count, most):
    """The mechanism and the truth that a release at node level is made of."""
    seen = []
    monkeypatch.setattr(releases, "release_mechanism", lambda mechanism, truth, **_: seen.append((mechanism, truth())))
    combinatorial.number_of_edges(graph, 1, nodes=count, neighbours="node", most=most)
    return seen[0]


@pytest.mark.parametrize("most", [1, 2, 3, 4])
@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_all_edges_of_a_node_move_the_number_within_the_sensitivity_on_all_graphs(monkeypatch, count, most):
    groups, degrees = {}, {}
    for graph in graphs_of(count):
        mechanism, truth = node_level(monkeypatch, graph, count, most)
        assert mechanism.sensitivity == min(most, count - 1)
        if max(degree for _, degree in graph.degree) <= most:
            assert truth == graph.number_of_edges()
            degrees[truth] = True
        assert truth <= graph.number_of_edges()
        for node in range(count):  # graphs that differ in the edges of this node only
            others = frozenset(frozenset(edge) for edge in graph.edges if node not in edge)
            groups.setdefault((node, others), []).append(truth)
    furthest = max(max(truths) - min(truths) for truths in groups.values())
    assert furthest == mechanism.sensitivity
    assert len(degrees) > 1


@pytest.mark.parametrize("seed", range(3))
def test_larger_graphs_at_node_level(seed):
    graph = networkx.gnp_random_graph(40, 0.2, seed=seed)
    read = read_graph(graph, range(40))
    assert read.edges_within(39) == graph.number_of_edges()
    best = networkx.max_weight_matching(graph, maxcardinality=True)  # with halves allowed there may be a little more
    assert len(best) <= read.edges_within(1) <= 20
    assert read.edges_within(3) <= read.edges_within(4) <= graph.number_of_edges()


@pytest.mark.parametrize("wrong", [{"neighbours": "node"}, {"most": 3}, {"neighbours": "people", "most": 3}])
def test_neighbours_are_named_with_their_bound(wrong):
    with pytest.raises(BadParameter, match="one edge, or in all edges of one node"):
        combinatorial.number_of_edges([(0, 1)], 1, nodes=3, **wrong)
    with pytest.raises(TooLarge, match="32768"):
        combinatorial.number_of_edges([(0, 1)], 1, nodes=10**6, neighbours="node", most=3)

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


@pytest.mark.slow
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
    with pytest.raises(BadParameter, match="edges of one node"):
        combinatorial.number_of_edges([(0, 1)], 1, nodes=3, **wrong)
    with pytest.raises(TooLarge, match="32768"):
        combinatorial.number_of_edges([(0, 1)], 1, nodes=10**6, neighbours="node", most=3)


# ── How many nodes have how many edges ────────────────────────────────────────────────────────────────────────────────


def degree_counts(monkeypatch, graph, count, most, neighbours):
    """The mechanism and the truth that a release is made of."""
    seen = []
    monkeypatch.setattr(releases, "release_mechanism", lambda mechanism, truth, **_: seen.append((mechanism, truth())))
    combinatorial.degree_counts(graph, 1, nodes=count, most=most, neighbours=neighbours)
    return seen[0]


def distance(one, other):
    return int(abs(one - other).sum())


@pytest.mark.parametrize("most", [1, 2, 3, 6])
@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_an_edge_moves_the_degree_counts_by_two(monkeypatch, count, most):
    truths, furthest = {}, 0
    for graph in graphs_of(count):
        mechanism, truth = degree_counts(monkeypatch, graph, count, most, "edge")
        degrees = [degree for _, degree in graph.degree]
        assert truth.tolist() == [sum(degree >= level for degree in degrees) for level in range(1, most + 1)]
        truths[frozenset(map(frozenset, graph.edges))] = truth
    for edges, truth in truths.items():
        furthest = max([furthest, *(distance(truth, truths[edges - {edge}]) for edge in edges)])
    assert furthest == mechanism.sensitivity == 2


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("count", [3, 4, 5])
def test_all_edges_of_a_node_move_the_degree_counts_within_the_sensitivity(monkeypatch, count, most):
    groups, whole = {}, 0
    for graph in graphs_of(count):
        mechanism, truth = degree_counts(monkeypatch, graph, count, most, "node")
        degrees = [degree for _, degree in graph.degree]
        if max(degrees) <= most:
            assert truth.tolist() == [sum(degree >= level for degree in degrees) for level in range(1, most + 1)]
            whole += 1
        for node in range(count):
            others = frozenset(frozenset(edge) for edge in graph.edges if node not in edge)
            groups.setdefault((node, others), []).append(truth)
    assert whole > 1
    furthest = max(distance(one, other) for truths in groups.values() for one, other in combinations(truths, 2))
    assert furthest <= mechanism.sensitivity == 2 * most
    if count > 2 * most:
        assert furthest == 2 * most


@pytest.mark.parametrize("seed", range(4))
def test_the_degree_counts_of_larger_graphs_at_node_level(seed):
    """Random changes of the edges of a node of many edges; and the node alone, first and last in the order."""
    count, most = 40, 3
    graph = networkx.gnp_random_graph(count, 0.15, seed=seed)
    read = {}
    for node in (0, 17, count - 1):
        rest = [edge for edge in graph.edges if node not in edge]
        for step in (1, 2, 3, 5, 100):
            edges = [*rest, *((node, other) for other in range(count) if other != node and (other + seed) % step == 0)]
            read[node, step] = read_graph(edges, range(count)).degrees_within(most)
        for one, other in combinations([read[node, step] for step in (1, 2, 3, 5, 100)], 2):
            levels = [[(each >= level).sum() for level in range(1, most + 1)] for each in (one, other)]
            assert sum(abs(a - b) for a, b in zip(*levels, strict=True)) <= 2 * most


def test_what_is_left_of_a_graph_has_no_stable_triangles_or_components():
    """Why these two have no node level: one node breaks a chain of triangles, however long it is."""
    for triangles in (2, 5, 20):
        edges = [(3 * i + a, 3 * i + b) for i in range(triangles) for a, b in ((1, 2), (1, 3), (2, 3), (3, 4))]
        found = []
        for rest in (edges, [(0, 1), *edges]):
            taken, left = [0] * (3 * triangles + 2), []
            for tail, head in sorted(rest):
                if taken[tail] < 2 and taken[head] < 2:
                    taken[tail], taken[head] = taken[tail] + 1, taken[head] + 1
                    left.append((tail, head))
            read = read_graph(left, range(3 * triangles + 2))
            assert read_graph(rest, read.nodes).degrees_within(2).tolist() == read.degrees().tolist()
            found.append((read.triangles(), read.components()))
        assert found[0][0] - found[1][0] == triangles
        assert found[0][1] - found[1][1] >= triangles


def test_a_release_of_degree_counts_falls_and_is_no_more_than_the_nodes():
    club = networkx.karate_club_graph()
    for neighbours, epsilon in (("edge", "1/10"), ("node", "1/10"), ("node", 1000)):
        counts = combinatorial.degree_counts(club, epsilon, most=17, neighbours=neighbours).value.tolist()
        assert counts == sorted(counts, reverse=True)
        assert all(0 <= count <= 34 for count in counts)
    assert counts == [sum(degree >= level for _, degree in club.degree) for level in range(1, 18)]
    for wrong in ({"most": 0}, {"most": 3, "neighbours": "people"}, {"most": None}):
        with pytest.raises(BadParameter):
            combinatorial.degree_counts(club, 1, **wrong)

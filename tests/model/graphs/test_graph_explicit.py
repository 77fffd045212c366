"""Graphs from edges, from networkx, and the ways to get them wrong."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.errors import BadGraph, UnknownLabel
from leastnoise.model import graphs
from model.graphs.reference import random_connected


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.integers(1, 30), st.data())
def test_distances_equal_those_of_networkx(size, data) -> None:
    ends = st.integers(0, size - 1)
    extra = data.draw(st.lists(st.tuples(ends, ends), max_size=40))
    parents = data.draw(st.lists(st.integers(0, 1000), min_size=size, max_size=size))
    edges = random_connected(size, extra, parents)
    graph = graphs.from_edges([(f"n{i}", f"n{j}") for i, j in edges], [f"n{i}" for i in range(size)])
    truth = nx.Graph(edges)
    truth.add_nodes_from(range(size))
    lengths = dict(nx.all_pairs_shortest_path_length(truth))
    assert graph.distances().tolist() == [[lengths[i][j] for j in range(size)] for i in range(size)]
    assert graph.edges().tolist() == [list(edge) for edge in edges]
    assert graph.adjacency().toarray().tolist() == nx.to_numpy_array(truth, range(size)).astype(int).tolist()
    for i in range(size):
        assert graph.distances_from(f"n{i}").tolist() == graph.distances()[i].tolist()
        assert graph.distance(f"n{i}", "n0") == lengths[i][0]
        assert graph.layer_sizes(f"n{i}") == dict(enumerate(np.bincount(graph.distances()[i]).tolist()))
        assert graph.degree(f"n{i}") == truth.degree(i)
    assert graph.diameter() == nx.diameter(truth)


def test_nodes_come_in_the_order_given_or_met() -> None:
    assert graphs.from_edges([("b", "a"), ("a", "c")]).nodes == ("b", "a", "c")
    graph = graphs.from_edges([("b", "a"), ("a", "c")], nodes="abc")
    assert graph.nodes == ("a", "b", "c")
    assert graph.edges().tolist() == [[0, 1], [0, 2]]
    assert graph.neighbours("a") == ("b", "c")
    assert graph.layers("b") == {0: ("b",), 1: ("a",), 2: ("c",)}
    assert repr(graph) == "graph(3 nodes, 2 edges)"


def test_one_node() -> None:
    graph = graphs.from_edges([], ["only"])
    assert graph.distances().tolist() == [[0]]
    assert graph.edges().shape == (0, 2)
    assert graph.diameter() == 0
    assert graph.is_vertex_transitive()
    assert graph.has_regular_layers()
    assert graph.layer_sizes("only") == {0: 1}


def test_networkx_graphs() -> None:
    truth = nx.karate_club_graph()
    graph = graphs.from_networkx(truth)
    assert graph.nodes == tuple(truth.nodes)
    assert {frozenset(edge) for edge in graph.edges().tolist()} == {frozenset(edge) for edge in truth.edges}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: graphs.from_edges([(1, 2), (3, 4)]), "no path from 1 to 3"),
        (lambda: graphs.from_edges([(1, 2)], [1, 2, "alone"]), "no path from 1 to 'alone'"),
        (lambda: graphs.from_edges([("a", "b"), ("b", "b")]), r"joins a node to itself; given: \('b', 'b'\)"),
        (lambda: graphs.from_edges([("a", "b"), ("b", "a")]), r"given twice; given: \('"),
        (lambda: graphs.from_edges([("a", "b", "c")]), "an edge is a pair"),
        (lambda: graphs.from_edges([5]), "an edge is a pair"),
        (lambda: graphs.from_edges([(["a"], "b")]), "can't be the label of a node"),
        (lambda: graphs.from_edges([("a", "b")], ["a", "b", {}]), "can't be the label of a node"),
        (lambda: graphs.from_edges([(float("nan"), 1)]), "equal to itself"),
        (lambda: graphs.from_edges([("a", "b")], ["a", "b", "a"]), "same label; given: 'a'"),
        (lambda: graphs.from_edges([]), "must have a node"),
        (lambda: graphs.from_networkx(nx.DiGraph([(0, 1)])), "goes both ways"),
        (lambda: graphs.from_networkx(nx.MultiGraph([(0, 1), (0, 1)])), "given twice"),
        (lambda: graphs.from_networkx(nx.Graph()), "must have a node"),
        (lambda: graphs.from_networkx(nx.Graph([(0, 1), (2, 3)])), "no path from 0 to 2"),
    ],
)
def test_what_is_no_graph(make, message: str) -> None:
    with pytest.raises(BadGraph, match=message):
        make()


def test_an_edge_may_only_name_listed_nodes() -> None:
    with pytest.raises(UnknownLabel, match="given: 'c'"):
        graphs.from_edges([("a", "c")], ["a", "b"])


@pytest.mark.parametrize(
    ("graph", "label", "message"),
    [
        (graphs.from_edges([("apple", "pear")]), "appel", r"no such node; given: 'appel'; did you mean 'apple'"),
        (graphs.from_edges([("apple", "pear")]), ["apple"], "did you mean 'apple'"),
        (graphs.path(20), 20, "the closest node is 19"),
        (graphs.path(20), -3, "the closest node is 0"),
        (graphs.path(20), 2.6, "the closest node is 3"),
        (graphs.path(20), float("inf"), "the closest node is 19"),
        (graphs.path(20), float("nan"), "the closest node is 0"),
        (graphs.path(20), np.array([1, 2]), "the closest node is 0"),
        (graphs.grid(3, 4), (5, -1), r"the closest node is \(2, 0\)"),
        (graphs.hypercube(3), (0, 1), r"did you mean \("),
        (graphs.hypercube(3), "011", r"did you mean \(0, 1, 1\)"),
        (graphs.hypercube(30), "x", r"nodes are tuples such as \(0, 0, "),
        (graphs.histograms(5, 3), (5, 1, 0), r"did you mean \(5, 0, 0\)"),
        (graphs.sorted_histograms(5, 3), (1, 4, 0), "did you mean "),
        (graphs.sorted_histograms(5, 3, 1), (1,), r"did you mean \("),
        (graphs.from_distance([[0, 1], [1, 0]], ["left", "right"]), "rigth", "did you mean 'right'"),
        (graphs.integers(), "7", "the closest node is 0"),
        (graphs.naturals(), -7, "the closest node is 0"),
    ],
)
def test_an_unknown_label_meets_the_closest_one(graph, label, message: str) -> None:
    assert label not in graph
    for ask in (graph.index, graph.degree, graph.distances_from, lambda x: graph.distance(x, x), graph.layer_sizes):
        with pytest.raises(UnknownLabel, match=message):
            ask(label)


def test_numpy_numbers_and_lists_are_labels_too() -> None:
    assert graphs.path(20).distance(np.int64(3), np.uint8(17)) == 14
    assert graphs.hypercube(3).distance([0, 1, 1], np.array([1, 1, 1])) == 1
    assert 10**6 - 1 in graphs.path(10**6)
    assert np.int64(5) in graphs.path(10**6)
    assert "5" not in graphs.path(10**6)
    assert (1, 0.5) not in graphs.hypercube(2).nodes


def test_equal_if_built_alike() -> None:
    one, other = graphs.from_edges([(0, 1), (1, 2)]), graphs.from_edges([(2, 1), (1, 0)], [0, 1, 2])
    assert one == other
    assert hash(one) == hash(other)
    assert one != graphs.from_edges([(0, 1), (0, 2)], [0, 1, 2])
    assert one != graphs.path(3)
    assert graphs.path(3) == graphs.path("3")
    assert graphs.path(3) != graphs.complete(3)
    assert len({graphs.path(3), graphs.path(3), graphs.path(4)}) == 2

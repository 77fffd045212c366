"""Automorphisms, orbits and regular layers against brute force and against well-known graphs."""

import sys
import time
from fractions import Fraction
from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.errors import BadGraph, MissingPackage
from leastnoise.model import graphs
from model.graphs.reference import (
    brute_automorphisms,
    brute_orbits,
    brute_pair_orbits,
    classes,
    random_connected,
)

small_graphs = st.integers(1, 6).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=8),
        st.lists(st.integers(0, 100), min_size=n, max_size=n),
    )
)
some_colors = st.none() | st.lists(st.integers(0, 1), min_size=6, max_size=6)


def build(parts: tuple[int, list[tuple[int, int]], list[int]]) -> graphs.DatasetGraph:
    return graphs.from_edges(random_connected(*parts), range(parts[0]))


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(small_graphs, some_colors)
def test_orbits_are_those_of_all_automorphisms(parts, colors) -> None:
    graph = build(parts)
    colors = None if colors is None else colors[: graph.size]
    group = brute_automorphisms(graph.distances(), colors)
    generators = graph.automorphism_generators(colors)
    assert {tuple(g) for g in generators.tolist()} <= set(group)
    assert classes(graph.orbits(colors)) == brute_orbits(group, graph.size)
    assert classes(graph.pair_orbits(colors)) == brute_pair_orbits(group, graph.size)
    if colors is None:
        assert graph.is_vertex_transitive() == (len(brute_orbits(group, graph.size)) == 1)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(small_graphs, st.permutations(range(6)))
def test_an_automorphism_is_recognised(parts, order) -> None:
    graph = build(parts)
    permutation = [i for i in order if i < graph.size]
    assert graph.is_automorphism(permutation) == (tuple(permutation) in brute_automorphisms(graph.distances()))


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.integers(1, 6), st.data())
def test_automorphisms_of_a_metric_keep_every_length(size, data) -> None:
    """Distances of one and two satisfy the triangle inequality whatever they are; so do 3, 4, 5 and 6."""
    lengths = data.draw(st.sampled_from([(1, 2), (3, 4, 5, 6), (Fraction(1, 2), Fraction(2, 3), 1)]))
    table = [[Fraction(0)] * size for _ in range(size)]
    for i in range(size):
        for j in range(i):
            table[i][j] = table[j][i] = Fraction(data.draw(st.sampled_from(lengths)))
    colors = data.draw(some_colors)
    colors = None if colors is None else colors[:size]
    metric = graphs.from_distance(table)
    group = brute_automorphisms(np.array(table, dtype=object), colors)
    assert all(metric.is_automorphism(p) for p in group)
    assert {tuple(g) for g in metric.automorphism_generators(colors).tolist()} <= set(group)
    assert classes(metric.orbits(colors)) == brute_orbits(group, size)
    assert classes(metric.pair_orbits(colors)) == brute_pair_orbits(group, size)


def test_orbits_are_numbered_by_first_appearance() -> None:
    assert graphs.path(5).orbits().tolist() == [0, 1, 2, 1, 0]
    assert graphs.path(3).pair_orbits().tolist() == [[0, 1, 2], [3, 4, 3], [2, 1, 0]]


@pytest.mark.parametrize(
    ("truth", "transitive", "regular"),
    [
        (nx.petersen_graph(), True, True),
        (nx.cycle_graph(12), True, True),
        (nx.hypercube_graph(4), True, True),
        (nx.icosahedral_graph(), True, True),
        (nx.circular_ladder_graph(4), True, True),  # the prism over a square is the 3-cube
        (nx.circular_ladder_graph(3), True, False),  # other prisms look alike from everywhere, but not in layers
        (nx.circular_ladder_graph(6), True, False),
        (nx.complete_bipartite_graph(2, 3), False, True),
        (nx.frucht_graph(), False, False),
        (nx.path_graph(5), False, False),
        (nx.grid_graph((3, 3)), False, False),
    ],
    ids=["petersen", "cycle", "4-cube", "icosahedron", "cube", "prism 3", "prism 6", "K2,3", "frucht", "path", "grid"],
)
def test_well_known_graphs(truth: nx.Graph, transitive: bool, regular: bool) -> None:
    graph = graphs.from_networkx(truth)
    assert graph.is_vertex_transitive() == transitive
    assert graph.has_regular_layers() == regular
    assert graph.has_regular_layers() == all(graph.layer_degrees(y).is_regular for y in graph.nodes)


@settings(max_examples=60, deadline=None)
@given(small_graphs)
def test_layer_degrees_count_neighbours(parts) -> None:
    graph = build(parts)
    truth = nx.Graph(graph.edges().tolist())
    truth.add_nodes_from(graph.nodes)
    for start in graph.nodes:
        found = graph.layer_degrees(start)
        d = nx.single_source_shortest_path_length(truth, start)
        for x in graph.nodes:
            counts = [sum(d[y] == d[x] + step for y in truth[x]) for step in (-1, 0, 1)]
            assert [found.nearer[x], found.level[x], found.further[x]] == counts
        degrees = [(d[x], found.nearer[x], found.further[x]) for x in graph.nodes]
        assert found.is_regular == (len(set(degrees)) == len(set(d.values())))
        if found.counterexample is not None:
            one, other = found.counterexample
            assert d[one] == d[other]
            assert degrees[one] != degrees[other]


def test_generators_keep_a_prior() -> None:
    prior = {0: Fraction(1, 4), 1: Fraction(1, 4), 2: Fraction(1, 8), 3: Fraction(3, 8)}
    cycle = graphs.cycle(4)
    assert len(cycle.automorphism_generators(prior)) == 0
    assert cycle.orbits({0: "a", 1: "b", 2: "a", 3: "b"}).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("colors", [[0, 1], {0: 1}])
def test_every_node_needs_a_colour(colors) -> None:
    with pytest.raises(BadGraph, match="colour"):
        graphs.path(3).orbits(colors)


@pytest.mark.parametrize("wrong", [[0, 1], [0, 0, 1], [1, 2, 3], [0.5, 1, 2], [[0, 1, 2]], [0, 2, 1]])
def test_what_is_no_automorphism(wrong) -> None:
    assert not graphs.path(3).is_automorphism(wrong)


@pytest.mark.slow
def test_pair_orbits_of_200_nodes_take_no_time() -> None:
    for truth in (nx.complete_graph(200), nx.star_graph(199), nx.cycle_graph(200), nx.turan_graph(200, 2)):
        graph = graphs.from_networkx(truth)
        graph.automorphism_generators()
        start = time.perf_counter()
        graph.pair_orbits()
        assert time.perf_counter() - start < 20  # a wrong algorithm would take minutes; a busy machine does not


def test_without_igraph_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(MissingPackage, match="pip install igraph"):
        graphs.from_edges([(0, 1)]).automorphism_generators()
    assert graphs.hypercube(3).pair_orbits().max() == 3  # known by formula


def test_hamming_pair_orbits_are_the_distances() -> None:
    """Hamming graphs are distance-transitive."""
    for graph in (graphs.hypercube(5), graphs.hamming(3, 4), graphs.cycle(9), graphs.complete(7)):
        orbits, distances = graph.pair_orbits(), graph.distances()
        assert all((orbits[i, j] == distances[i, j]) for i, j in product(range(graph.size), repeat=2))

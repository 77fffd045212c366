"""Closed forms against the definition, by the generic route: breadth-first search, BLISS, counting."""

import networkx as nx
import numpy as np
import pytest

from leastnoise.model import graphs
from model.graphs.reference import CASES, Case, explicit


@pytest.mark.parametrize("case", CASES, ids=str)
class TestFamily:
    def test_nodes_and_index(self, case: Case) -> None:
        nodes = list(case.graph.nodes)
        assert len(nodes) == case.graph.size == len(case.truth)
        assert set(nodes) == set(case.truth)
        assert [case.graph.index(node) for node in nodes] == list(range(len(nodes)))
        assert [case.graph.nodes[i] for i in range(len(nodes))] == nodes
        assert case.graph.nodes[-1] == nodes[-1]
        assert list(case.graph.nodes[1:3]) == nodes[1:3]
        assert all(node in case.graph and node in case.graph.nodes for node in nodes)

    def test_edges(self, case: Case) -> None:
        edges = case.graph.edges()
        assert edges.dtype == np.int64
        assert edges.tolist() == sorted(edges.tolist())
        assert (edges[:, 0] < edges[:, 1]).all()
        assert np.array_equal(edges, explicit(case).edges())
        assert case.graph.edge_lengths() is None

    def test_distances(self, case: Case) -> None:
        distances = case.graph.distances()
        truth = dict(nx.all_pairs_shortest_path_length(case.truth))
        nodes = case.graph.nodes
        assert distances.dtype == np.int64
        assert distances.tolist() == [[truth[x][y] for y in nodes] for x in nodes]
        for i, x in enumerate(nodes):
            assert np.array_equal(case.graph.distances_from(x), distances[i])
            assert [case.graph.distance(x, y) for y in nodes] == distances[i].tolist()
        assert np.array_equal(distances, explicit(case).distances())
        assert case.graph.diameter() == distances.max() == explicit(case).diameter()

    def test_neighbours_and_degrees(self, case: Case) -> None:
        same = explicit(case)
        for node in case.graph.nodes:
            assert set(case.graph.neighbours(node)) == set(case.truth[node])
            assert case.graph.neighbours(node) == same.neighbours(node)
            assert case.graph.degree(node) == case.truth.degree(node)

    def test_layers(self, case: Case) -> None:
        same = explicit(case)
        for node in case.graph.nodes:
            assert case.graph.layer_sizes(node) == same.layer_sizes(node)
            assert case.graph.layers(node) == same.layers(node)
            for d, layer in same.layers(node).items():
                assert case.graph.layer(node, d) == layer
                assert case.graph.layer_size(node, d) == len(layer)
            assert case.graph.layer_size(node, same.diameter() + 1) == 0
            assert case.graph.layer_size(node, -1) == 0

    def test_regular_layers(self, case: Case) -> None:
        same = explicit(case)
        assert case.graph.has_regular_layers() == same.has_regular_layers()
        for node in case.graph.nodes:
            assert case.graph.has_regular_layers(node) == same.layer_degrees(node).is_regular

    def test_symmetry(self, case: Case) -> None:
        same = explicit(case)
        assert case.graph.is_vertex_transitive() == same.is_vertex_transitive()
        assert all(case.graph.is_automorphism(g) for g in case.graph.automorphism_generators())
        assert np.array_equal(case.graph.orbits(), same.orbits())
        assert np.array_equal(case.graph.pair_orbits(), same.pair_orbits())

    def test_symmetry_that_keeps_colours(self, case: Case) -> None:
        colors = [1] + [0] * (len(case.truth) - 1)
        assert np.array_equal(case.graph.pair_orbits(colors), explicit(case).pair_orbits(colors))


@pytest.mark.parametrize("case", [c for c in CASES if len(c.truth) <= 12], ids=str)
def test_generators_make_the_whole_group(case: Case) -> None:
    """Close the generators under composition: as many automorphisms as networkx finds one by one."""
    size = len(case.truth)
    group, fresh = {tuple(range(size))}, {tuple(range(size))}
    while fresh:
        fresh = {tuple(g[list(p)].tolist()) for p in fresh for g in case.graph.automorphism_generators()} - group
        group |= fresh
    matcher = nx.isomorphism.GraphMatcher(case.truth, case.truth)
    assert len(group) == sum(1 for _ in matcher.isomorphisms_iter())


def test_sorted_histograms_are_counted_by_partition_numbers() -> None:
    """Partitions of n: A000041; of 10 into at most k parts: a row of A008284's partial sums."""
    assert [graphs.sorted_histograms(n, max(n, 1)).size for n in range(11)] == [1, 1, 2, 3, 5, 7, 11, 15, 22, 30, 42]
    assert graphs.sorted_histograms(100, 100).size == 190_569_292
    assert [graphs.sorted_histograms(10, k).size for k in range(1, 11)] == [1, 6, 14, 23, 30, 35, 38, 40, 41, 42]


@pytest.mark.parametrize(
    "graph",
    [
        graphs.histograms(40, 12),
        graphs.sorted_histograms(60, 20),
        graphs.sorted_histograms(60, 20, 7),
        graphs.hamming(30, 7),
        graphs.grid(9, 11, 10**9),
    ],
    ids=str,
)
def test_rank_and_unrank_agree_where_listing_is_out_of_reach(graph: graphs.DatasetGraph) -> None:
    assert graph.size is not None
    places = [graph.size * k // 17 for k in range(17)] + [graph.size - 1]
    assert [graph.index(graph.nodes[place]) for place in places] == places


def test_a_hypercube_is_a_hamming_graph() -> None:
    assert graphs.hypercube(3) == graphs.hamming(3, 2)
    assert hash(graphs.hypercube(3)) == hash(graphs.hamming(3, 2))
    assert graphs.hypercube(3) != graphs.grid(2, 2, 2)
    assert graphs.sorted_histograms(4, 3, 3) == graphs.sorted_histograms(4, 3)

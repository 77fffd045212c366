"""The infinite paths know what formulas know and refuse what needs a list."""

import pytest

from leastnoise.errors import InfiniteGraph
from leastnoise.model import graphs

Z, N = graphs.integers(), graphs.naturals()


def test_closed_forms() -> None:
    assert Z.size is None
    assert N.size is None
    assert Z.distance(-(10**30), 10**30) == 2 * 10**30
    assert N.distance(3, 0) == 3
    assert Z.neighbours(0) == (-1, 1)
    assert N.neighbours(0) == (1,)
    assert (Z.degree(5), N.degree(5), N.degree(0)) == (2, 2, 1)
    assert Z.layer(3, 0) == (3,)
    assert [Z.layer_size(0, d) for d in range(4)] == [1, 2, 2, 2]
    assert [N.layer_size(2, d) for d in range(5)] == [1, 2, 2, 1, 1]
    assert N.layer_size(2, -1) == 0
    assert -1 in Z
    assert -1 not in N
    assert Z.edge_lengths() is None


def test_far_from_the_ends_a_long_path_looks_the_same() -> None:
    line = graphs.path(10_001)
    for d in range(100):
        assert line.layer_size(5000, d) == Z.layer_size(0, d)
        assert line.layer_size(7, d) == N.layer_size(7, d)


def test_symmetry() -> None:
    assert Z.is_vertex_transitive()
    assert not N.is_vertex_transitive()
    assert Z.has_regular_layers()
    assert Z.has_regular_layers(-4)
    assert not N.has_regular_layers()
    assert N.has_regular_layers(0)
    assert not N.has_regular_layers(0, 1)


@pytest.mark.parametrize("graph", [Z, N], ids=str)
@pytest.mark.parametrize(
    "ask",
    [
        lambda g: g.nodes,
        lambda g: g.edges(),
        lambda g: g.index(3),
        lambda g: g.distances(),
        lambda g: g.distances_from(0),
        lambda g: g.adjacency(),
        lambda g: g.diameter(),
        lambda g: g.layers(0),
        lambda g: g.layer_sizes(0),
        lambda g: g.layer_degrees(0),
        lambda g: g.automorphism_generators(),
        lambda g: g.automorphism_generators([0]),
        lambda g: g.is_automorphism([0]),
        lambda g: g.orbits(),
        lambda g: g.pair_orbits(),
    ],
)
def test_no_lists_and_no_matrices(graph, ask) -> None:
    with pytest.raises(InfiniteGraph, match=rf"given: {graph.name[:-2]}\(\); ask for distance"):
        ask(graph)

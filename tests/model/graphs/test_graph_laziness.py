"""Large families cost nothing until somebody asks for a matrix, and then say how much it would take."""

import time

import numpy as np
import pytest

from leastnoise.errors import LeastNoiseError, TooLarge
from leastnoise.model import graphs
from leastnoise.model.limits import require_memory


def test_what_formulas_know_of_large_graphs() -> None:
    cube = graphs.hypercube(1000)
    zero, one = (0,) * 1000, (1,) * 1000
    assert cube.size == 2**1000
    assert cube.distance(zero, one) == cube.diameter() == cube.degree(zero) == len(cube.neighbours(one)) == 1000
    assert cube.layer_size(zero, 2) == 499_500
    assert cube.is_vertex_transitive()
    assert cube.has_regular_layers()
    assert cube.has_regular_layers(one)
    assert cube.nodes[-1] == one
    assert cube.index(one) == 2**1000 - 1
    assert one in cube.nodes
    line = graphs.path(10**30)
    assert line.distance(0, 10**30 - 1) == line.diameter()
    assert line.layer_size(5, 6) == 1
    assert line.neighbours(0) == (1,)
    assert graphs.complete(10**30).degree(7) == 10**30 - 1
    assert graphs.cycle(10**30).distance(0, 10**30 - 1) == 1
    assert graphs.histograms(10**9, 3).distance((10**9, 0, 0), (0, 1, 10**9 - 1)) == 10**9
    assert graphs.grid(10**6, 10**6).degree((0, 5)) == 3
    assert graphs.sorted_histograms(200, 200).distance((200,) + (0,) * 199, (1,) * 200) == 199


@pytest.mark.parametrize(
    "ask",
    [
        lambda: graphs.hypercube(20).distances(),
        lambda: graphs.hypercube(60).distances_from((0,) * 60),
        lambda: graphs.hypercube(60).edges(),
        lambda: graphs.hypercube(60).layers((0,) * 60),
        lambda: graphs.hypercube(60).automorphism_generators(),
        lambda: graphs.hypercube(100).orbits(),
        lambda: graphs.grid(10**6, 10**6).pair_orbits(),
        lambda: graphs.path(10**12).layer_sizes(0),
        lambda: graphs.path(10**12).automorphism_generators(),
        lambda: graphs.path(10**6).distances(),
        lambda: graphs.path(10**6).pair_orbits(),
        lambda: graphs.complete(10**6).edges(),
        lambda: graphs.complete(10**12).neighbours(0),
        lambda: graphs.histograms(10**6, 10).adjacency(),
        lambda: graphs.histograms(10**9, 10**3).layer_sizes((10**9,) + (0,) * 999),
        lambda: graphs.histograms(1000, 10).distances(),
        lambda: graphs.sorted_histograms(10**12, 10).size,
        lambda: graphs.sorted_histograms(100, 100).distances(),
    ],
)
def test_too_large_is_said_before_anything_is_allocated(ask) -> None:
    start = time.perf_counter()
    with pytest.raises(TooLarge, match=r"would need .*B, more than the .*B it may take; \w"):
        ask()
    assert time.perf_counter() - start < 20  # a wrong algorithm would take minutes; a busy machine does not


def test_the_error_says_how_much() -> None:
    with pytest.raises(TooLarge, match=r"the distance matrix of hypercube\(20\) would need 16\.0 TiB"):
        graphs.hypercube(20).distances()
    with pytest.raises(TooLarge, match=r"would need 2\^9004 B"):
        require_memory(2**9004, "it", "do without")
    with pytest.raises(TooLarge, match=r"would need 1\.5 EiB"):
        require_memory(3 * 2**59, "it", "do without")


def test_a_small_request_is_granted() -> None:
    require_memory(1 << 20, "a megabyte", "")


def test_hypercube_distances_take_no_time() -> None:
    start = time.perf_counter()
    distances = graphs.hypercube(10).distances()
    assert time.perf_counter() - start < 20  # a wrong algorithm would take minutes; a busy machine does not
    assert np.bincount(distances[0]).tolist() == [1, 10, 45, 120, 210, 252, 210, 120, 45, 10, 1]


def test_cached_arrays_can_not_be_changed() -> None:
    for graph in (graphs.path(4), graphs.from_edges([(0, 1)]), graphs.from_distance([[0, 1], [1, 0]])):
        with pytest.raises(ValueError, match="read-only"):
            graph.distances()[0, 0] = 5
    for graph in (graphs.path(4), graphs.from_edges([(0, 1)])):
        with pytest.raises(ValueError, match="read-only"):
            graph.edges()[0, 0] = 5


@pytest.mark.parametrize(
    "make",
    [
        lambda: graphs.path(0),
        lambda: graphs.path(2.5),
        lambda: graphs.path(True),
        lambda: graphs.path("nan"),
        lambda: graphs.cycle(2),
        lambda: graphs.complete(-1),
        lambda: graphs.hypercube(0),
        lambda: graphs.hypercube(10**9),
        lambda: graphs.hamming(3, 0),
        lambda: graphs.grid(),
        lambda: graphs.grid(3, 0),
        lambda: graphs.grid(*[2] * 5000),
        lambda: graphs.histograms(-1, 3),
        lambda: graphs.histograms(10**30, 1),
        lambda: graphs.histograms(3, 10**6),
        lambda: graphs.sorted_histograms(5, 3, 4),
        lambda: graphs.sorted_histograms(5, 3, 0),
    ],
)
def test_parameters_out_of_range(make) -> None:
    with pytest.raises(LeastNoiseError):
        make()

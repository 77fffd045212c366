"""Morphisms: checked edge by edge, composed, and pulling mechanisms back."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.errors import InfiniteGraph, NotAMorphism, UnknownLabel
from leastnoise.model import graphs
from leastnoise.model.channel import Channel
from model.graphs.reference import random_connected

GEOMETRIC = [["4/5", "3/20", "1/20"], ["1/5", "3/5", "1/5"], ["1/20", "3/20", "4/5"]]


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.integers(1, 6), st.integers(1, 5), st.data())
def test_accepted_iff_no_edge_is_stretched(size, target_size, data) -> None:
    ends = st.integers(0, size - 1)
    extra = data.draw(st.lists(st.tuples(ends, ends), max_size=5))
    parents = data.draw(st.lists(st.integers(0, 100), min_size=size, max_size=size))
    edges = random_connected(size, extra, parents)
    source, target = graphs.from_edges(edges, range(size)), graphs.path(target_size)
    images = data.draw(st.lists(st.integers(0, target_size - 1), min_size=size, max_size=size))
    if all(abs(images[i] - images[j]) <= 1 for i, j in edges):
        morphism = graphs.Morphism(source, target, dict(enumerate(images)))
        assert [morphism(node) for node in source.nodes] == images
    else:
        with pytest.raises(NotAMorphism, match=r"\d and \d at distance 1 go to \d and \d at distance [2-9]"):
            graphs.Morphism(source, target, dict(enumerate(images)))


def test_the_counterexample_is_an_edge() -> None:
    with pytest.raises(NotAMorphism, match="2 and 3 at distance 1 go to 2 and 0 at distance 2"):
        graphs.Morphism(graphs.path(4), graphs.path(3), lambda n: n % 3)


def test_a_count_is_a_morphism_to_any_kind_of_path() -> None:
    for target in (graphs.path(5), graphs.naturals(), graphs.integers()):
        assert graphs.Morphism(graphs.hypercube(4), target, sum)((1, 0, 1, 1)) == 3


def test_between_metrics_no_distance_grows() -> None:
    half = graphs.from_distance([[0, "1/2"], ["1/2", 0]])
    one = graphs.from_distance([[0, 1], [1, 0]])
    graphs.Morphism(one, half, {0: 0, 1: 1})
    graphs.Morphism(graphs.path(2), half, {0: 0, 1: 1})
    with pytest.raises(NotAMorphism, match="0 and 1 at distance 1/2 go to 0 and 1 at distance 1;"):
        graphs.Morphism(half, one, {0: 0, 1: 1})
    with pytest.raises(NotAMorphism):
        graphs.Morphism(half, graphs.path(2), {0: 0, 1: 1})


def test_the_shortest_of_the_edges_with_one_image_decides() -> None:
    table = [[0, 2, 2, 2], [2, 0, 2, 2], [2, 2, 0, 1], [2, 2, 1, 0]]
    target = graphs.from_distance([[0, "3/2"], ["3/2", 0]])
    with pytest.raises(NotAMorphism, match="2 and 3 at distance 1 go to"):
        graphs.Morphism(graphs.from_distance(table), target, {0: 0, 1: 1, 2: 0, 3: 1})


def test_pull_back_gives_each_node_the_row_of_its_image() -> None:
    channel = Channel(GEOMETRIC)
    ones = graphs.Morphism(graphs.hypercube(2), graphs.path(3), sum)
    pulled = ones.pull_back(channel)
    assert pulled.inputs == tuple(graphs.hypercube(2).nodes)
    assert pulled.outputs == channel.outputs
    assert all(pulled.row(node) == channel.row(sum(node)) for node in pulled.inputs)
    assert pulled.row((0, 1)) == (Fraction(1, 5), Fraction(3, 5), Fraction(1, 5))
    floats = ones.pull_back(Channel(np.array([[0.5, 0.5], [0.25, 0.75], [0.25, 0.75]])))
    assert not floats.is_exact
    assert floats.row((1, 1)) == (0.25, 0.75)


def test_pull_back_keeps_privacy() -> None:
    """p(y|x) ≤ 4·p(y|x') on the path of three, hence on the edges of any graph that maps to it."""
    channel = Channel(GEOMETRIC)
    source = graphs.grid(2, 3)
    pulled = graphs.Morphism(source, graphs.path(3), lambda x: min(sum(x), 2)).pull_back(channel)
    for i, j in source.edges().tolist():
        one, other = pulled.row(source.nodes[i]), pulled.row(source.nodes[j])
        assert all(p <= 4 * q and q <= 4 * p for p, q in zip(one, other, strict=True))


def test_pull_back_needs_a_row_for_every_image() -> None:
    ones = graphs.Morphism(graphs.hypercube(2), graphs.path(3), sum)
    with pytest.raises(UnknownLabel):
        ones.pull_back(Channel([[1], [1]]))


def test_composition() -> None:
    ones = graphs.Morphism(graphs.hypercube(3), graphs.path(4), sum)
    capped = graphs.Morphism(graphs.path(4), graphs.path(3), lambda n: min(n, 2))
    both = ones.then(capped)
    assert (both.source, both.target) == (graphs.hypercube(3), graphs.path(3))
    assert [both(node) for node in both.source.nodes] == [min(sum(node), 2) for node in both.source.nodes]
    channel = Channel(GEOMETRIC)
    assert both.pull_back(channel) == ones.pull_back(capped.pull_back(channel))
    with pytest.raises(NotAMorphism, match=r"starts in hypercube\(3\) can't follow one that ends in path\(4\)"):
        ones.then(ones)


def test_mappings_that_are_none() -> None:
    with pytest.raises(UnknownLabel, match="a node has no image; given: 2"):
        graphs.Morphism(graphs.path(3), graphs.path(2), {0: 0, 1: 1})
    with pytest.raises(UnknownLabel, match=r"the image of 1 is no node of path\(2\); given: 'x'"):
        graphs.Morphism(graphs.path(3), graphs.path(2), {0: 0, 1: "x", 2: 1})
    with pytest.raises(InfiniteGraph):
        graphs.Morphism(graphs.naturals(), graphs.path(2), lambda n: n % 2)


def test_equality() -> None:
    ones = graphs.Morphism(graphs.hypercube(2), graphs.path(3), sum)
    same = graphs.Morphism(graphs.hypercube(2), graphs.path(3), {(0, 0): 0, (0, 1): 1, (1, 0): 1, (1, 1): 2})
    assert ones == same
    assert hash(ones) == hash(same)
    assert ones != graphs.Morphism(graphs.hypercube(2), graphs.path(3), lambda x: 2 - sum(x))
    assert repr(ones) == "hypercube(2) → path(3)"

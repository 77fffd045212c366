"""Metrics: read exactly, checked exactly."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.errors import BadGraph, BadParameter
from leastnoise.model import graphs


def test_distances_are_read_as_written() -> None:
    metric = graphs.from_distance([[0, 0.1, "1/3"], [0.1, 0, 0.25], ["1/3", 0.25, 0]], ["a", "b", "c"])
    assert metric.distance("a", "b") == Fraction(1, 10)
    assert metric.distances().tolist() == [
        [0, Fraction(1, 10), Fraction(1, 3)],
        [Fraction(1, 10), 0, Fraction(1, 4)],
        [Fraction(1, 3), Fraction(1, 4), 0],
    ]
    assert all(isinstance(value, Fraction) for value in metric.distances().flat)
    assert metric.edges().tolist() == [[0, 1], [0, 2], [1, 2]]
    assert metric.edge_lengths() == [Fraction(1, 10), Fraction(1, 3), Fraction(1, 4)]
    assert metric.distances_from("b").tolist() == [Fraction(1, 10), 0, Fraction(1, 4)]
    assert metric.diameter() == Fraction(1, 3)
    assert metric.layers("a") == {0: ("a",), Fraction(1, 10): ("b",), Fraction(1, 3): ("c",)}
    assert metric.layer_sizes("a") == {0: 1, Fraction(1, 10): 1, Fraction(1, 3): 1}
    assert metric.layer("a", Fraction(1, 10)) == ("b",)
    assert metric.neighbours("a") == ("b", "c")
    assert metric.degree("a") == 2
    assert metric.size == 3
    assert metric.name == "metric(3 nodes)"


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.integers(1, 5), st.data())
def test_a_metric_is_accepted_iff_it_is_one(size, data) -> None:
    entries = st.fractions(0, 3, max_denominator=4)
    table = [[Fraction(0)] * size for _ in range(size)]
    for i in range(size):
        for j in range(i):
            table[i][j] = table[j][i] = data.draw(entries)
    is_metric = all(
        (table[i][j] > 0 or i == j) and table[i][j] <= table[i][k] + table[k][j]
        for i in range(size)
        for j in range(size)
        for k in range(size)
    )
    if is_metric:
        assert graphs.from_distance(table).distances().tolist() == table
    else:
        with pytest.raises(BadGraph, match=r"positive distance|triangle inequality"):
            graphs.from_distance(table)


@pytest.mark.parametrize("tiny", [Fraction(1, 10**3), Fraction(1, 10**30)])
def test_the_triangle_inequality_is_exact(tiny: Fraction) -> None:
    """Machine words hold the first case and not the second; both decide a difference of one unit."""
    graphs.from_distance([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    with pytest.raises(BadGraph, match=r"d\(0, 2\) = \d+/\d+ > d\(0, 1\) \+ d\(1, 2\) = 2; "):
        graphs.from_distance([[0, 1, 2 + tiny], [1, 0, 1], [2 + tiny, 1, 0]])
    just = graphs.from_distance([[0, 1, 2 - tiny], [1, 0, 1], [2 - tiny, 1, 0]])
    assert just.distance(0, 2) == 2 - tiny


@pytest.mark.parametrize(
    ("table", "labels", "message"),
    [
        ([[0, 1], [2, 0]], "ab", r"symmetric; given: d\('a', 'b'\) = 1, d\('b', 'a'\) = 2"),
        ([[1, 1], [1, 0]], "ab", r"distance zero from itself; given: d\('a', 'a'\) = 1"),
        ([[0, 1], [1, "1/2"]], "ab", r"given: d\('b', 'b'\) = 1/2"),
        ([[0, 0], [0, 0]], "ab", r"positive distance; given: d\('a', 'b'\) = 0"),
        ([[0, -1], [-1, 0]], "ab", r"positive distance; given: d\('a', 'b'\) = -1"),
        ([[0, 1, 1], [1, 0]], "ab", "2 rows of length 2 and 3, 2 labels"),
        ([[0, 1], [1, 0]], "abc", "2 rows of length 2, 3 labels"),
        ([], None, "must have a node"),
        ([[0, 1], [1, 0]], "aa", "same label"),
    ],
)
def test_what_is_no_metric(table, labels, message: str) -> None:
    with pytest.raises(BadGraph, match=message):
        graphs.from_distance(table, labels)


@pytest.mark.parametrize("entry", ["a", float("nan"), float("inf"), None, True, "ln(3)", [1]])
def test_what_is_no_distance(entry) -> None:
    with pytest.raises(BadParameter, match="distance"):
        graphs.from_distance([[0, entry], [entry, 0]])


@pytest.mark.parametrize("table", [5, [1, 2], "ab", np.zeros(3)])
def test_what_is_no_table(table) -> None:
    with pytest.raises(BadGraph, match="square table"):
        graphs.from_distance(table)


def test_arrays_of_any_type() -> None:
    whole = np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    for table in (whole, whole.astype(float), whole.astype(np.int8), whole.astype(object), whole.tolist()):
        assert graphs.from_distance(table) == graphs.from_distance(graphs.path(3).distances())
    assert hash(graphs.from_distance(whole)) == hash(graphs.from_distance(whole.astype(float)))
    assert graphs.from_distance(whole) != graphs.from_distance(2 * whole)


def test_a_metric_of_one_length_has_every_symmetry() -> None:
    metric = graphs.from_distance((np.ones((5, 5)) - np.eye(5)) / 2)
    assert metric.is_vertex_transitive()
    assert metric.pair_orbits().max() == 1


def test_layers_between_neighbours_are_for_graphs() -> None:
    metric = graphs.from_distance([[0, 1], [1, 0]])
    assert not metric.has_regular_layers()
    with pytest.raises(BadGraph, match="length one"):
        metric.layer_degrees(0)


def test_a_single_point() -> None:
    metric = graphs.from_distance([[0]], ["here"])
    assert metric.edges().shape == (0, 2)
    assert metric.edge_lengths() == []
    assert metric.is_vertex_transitive()
    assert metric.diameter() == 0

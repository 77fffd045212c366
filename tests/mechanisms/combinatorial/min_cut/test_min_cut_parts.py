"""Minimum cuts, kernels, lists of light cuts and the raised curve, against every cut of small graphs."""

from fractions import Fraction

import networkx
import numpy as np
import pytest
from hypothesis import given, strategies as st

from leastnoise.exact import exp_enclosure
from leastnoise.mechanisms.combinatorial.min_cut.contraction import (
    acceptance,
    class_levels,
    class_of,
    contract,
    kernel,
    lighter_cut,
    minimum_cut,
)
from leastnoise.mechanisms.combinatorial.min_cut.cut_law import all_cut_weights, small_cuts
from leastnoise.mechanisms.combinatorial.min_cut.raising import Raising, ladder_reaches
from mechanisms.combinatorial.min_cut.random_graphs import cut_sides, cut_weights, weighted_graphs


@given(weighted_graphs())
def test_all_weights_are_those_of_the_cuts(matrix):
    assert all_cut_weights(matrix).tolist() == [0, *cut_weights(matrix)]
    huge = matrix * 10**9
    assert all_cut_weights(huge).tolist() == [0, *cut_weights(huge)]


@pytest.mark.slow
@given(weighted_graphs())
def test_the_minimum_cut_is_the_least_of_all(matrix):
    assert minimum_cut(matrix) == min(cut_weights(matrix))


@given(weighted_graphs(), st.integers(0, 30), st.integers(0, 5))
def test_bounds_of_a_minimum_cut_only_save_time(matrix, at_most, slack):
    weights = cut_weights(matrix)
    least = min(weights)
    found, size = lighter_cut(matrix, max(least - slack, 0), at_most)
    assert found == min(least, at_most)
    if least < at_most:
        sides = [side for side, weight in zip(cut_sides(len(matrix)), weights, strict=True) if weight == least]
        assert any(size in (side.sum(), (~side).sum()) for side in sides)
    else:
        assert size == 0


@pytest.mark.parametrize(
    "graph", [networkx.karate_club_graph(), networkx.les_miserables_graph()], ids=["karate", "miserables"]
)
@pytest.mark.parametrize("weight", [None, "weight"])
def test_the_minimum_cut_agrees_with_networkx(graph, weight):
    matrix = networkx.to_numpy_array(graph, weight=weight).astype(np.int64)
    ones = networkx.from_numpy_array(matrix)
    assert minimum_cut(matrix) == networkx.stoer_wagner(ones)[0]


@given(weighted_graphs(), st.integers(0, 20))
def test_a_kernel_only_joins_what_no_light_cut_separates(matrix, limit):
    labels = kernel(matrix, limit)
    assert sorted(set(labels.tolist())) == list(range(labels.max() + 1))
    for side, weight in zip(cut_sides(len(matrix)), cut_weights(matrix), strict=True):
        split = any(len(set(side[labels == label].tolist())) > 1 for label in range(labels.max() + 1))
        assert weight > limit or not split
    joined = contract(matrix, labels)
    assert joined.sum() == sum(
        matrix[i, j] for i in range(len(matrix)) for j in range(len(matrix)) if labels[i] != labels[j]
    )


def test_a_kernel_joins_the_halves_of_a_barbell():
    matrix = networkx.to_numpy_array(networkx.barbell_graph(8, 0)).astype(np.int64)
    assert kernel(matrix, 5).tolist() == [0] * 8 + [1] * 8


@given(weighted_graphs(), st.integers(0, 25))
def test_the_list_of_light_cuts_is_complete(matrix, limit):
    found = small_cuts(matrix, limit)
    listed = sorted((int(weight), found.side(i).tolist()) for i, weight in enumerate(found.weights))
    pairs = zip(cut_weights(matrix), cut_sides(len(matrix)), strict=True)
    assert listed == sorted((weight, side.tolist()) for weight, side in pairs if weight <= limit)


def test_too_many_cuts_are_not_listed():
    ring = networkx.to_numpy_array(networkx.cycle_graph(30)).astype(np.int64)
    assert len(small_cuts(ring, 2).weights) == 30 * 29 // 2
    assert small_cuts(ring, 2, most_cells=1000) is None


@given(st.integers(3, 12), st.integers(1, 9), st.integers(0, 30), st.sampled_from([Fraction(1, 3), Fraction(2)]))
def test_the_level_of_a_class_covers_all_its_cuts(nodes, least_cut, more, rate):
    least = least_cut + more
    levels = class_levels(nodes, least_cut, least, rate)
    for weight in range(least, least_cut * nodes):
        size = class_of(weight, least_cut, nodes)
        factor = Fraction(2 ** (size - 1) - 1)
        for k in range(size + 1, nodes + 1):
            factor *= Fraction(k * least_cut, k * least_cut - 2 * weight)
        assert exp_enclosure(rate * (levels[size] - weight)).lower * factor <= 1


HUGE = st.integers(1, 1000) | st.integers(2**55, 2**59)


@given(st.lists(HUGE, max_size=6), HUGE, st.integers(2, 60), st.integers(0, 50))
def test_the_doubles_of_an_acceptance_enclose_it(gains, weight, size, below):
    totals = np.array([weight + gain for gain in gains], dtype=np.int64)
    rate = Fraction(1, 7)
    # any level at which the chance is at most one
    factor = Fraction(2 ** (size - 1) - 1)
    for total in totals.tolist():
        factor *= Fraction(total, total - weight)
    level = weight - below
    while exp_enclosure(rate * (level - weight)).upper * factor > 1:
        level -= 10
    (low, high), exact = acceptance(weight, size, level, totals, rate)
    least, most = exact(80)
    assert Fraction(float(low[0])) * 2**80 <= most
    assert least <= Fraction(float(high[0])) * 2**80
    assert high[0] - low[0] <= 1e-9 * high[0]
    true = exp_enclosure(rate * (level - weight), 100)
    assert least <= true.upper * factor * 2**80
    assert true.lower * factor * 2**80 <= most


@pytest.mark.slow
@given(weighted_graphs(most=6), st.integers(1, 12), st.sampled_from([1, 2, 16]))
def test_the_curve_is_the_raised_minimum_cut_at_every_amount(matrix, target, resolution):
    raising = Raising(len(matrix), target, resolution)
    curve = raising.curve(matrix).tolist()
    for amount, value in zip(raising.amounts, curve, strict=True):
        assert value == min(cut_weights(raising.raised(matrix, amount)))
    if curve[0] < target * resolution:
        nearest = min(abs(value - target * resolution) for value in curve)
        assert Fraction(nearest, resolution) <= raising.slack
    assert curve[-1] >= target * resolution


@pytest.mark.parametrize(("nodes", "target", "resolution"), [(2, 5, 4), (9, 40, 128), (60, 300, 4096)])
def test_pairs_within_the_room_never_leave_64_bits(nodes, target, resolution):
    raising = Raising(nodes, target, resolution)
    matrix = np.full((nodes, nodes), raising.room) - np.eye(nodes, dtype=np.int64) * raising.room
    raised = raising.raised(matrix, raising.amounts[-1])
    total = raising.resolution * raising.room + raising.amounts[-1]
    assert raised[0, 1] == total
    assert int(raised.sum()) == nodes * (nodes - 1) * total < 1 << 61
    assert raising.curve(matrix)[-1] == (nodes - 1) * total


def test_whole_edges_reach_the_target_only_for_enough_nodes():
    """n − 1 > 8·ln n/ε (Tóthmérész 2013, proof of Proposition 2.2: "for large n"): the first such n at ε = 1."""
    assert next(n for n in range(2, 60) if ladder_reaches(n, 1)) == 28
    assert not ladder_reaches(1000, "1/20")

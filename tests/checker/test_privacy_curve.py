import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.checker import check, privacy_curve
from leastnoise.errors import BadParameter
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import ln
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import complete, cycle, from_distance, hypercube, path
from support.channels import channels, geometric
from support.privacy import largest_excess, ordered_pairs

GRAPHS = st.sampled_from([path, complete])
FACTORS = st.fractions(min_value=1, max_value=9, max_denominator=9)
DELTAS = st.fractions(min_value=0, max_value=1, max_denominator=30)


@pytest.mark.slow
@given(channels(), GRAPHS, FACTORS)
def test_the_curve_is_the_definition_at_every_epsilon(channel, family, t):
    graph = family(len(channel.inputs))
    pairs = [(x, other) for x, other, _ in ordered_pairs(graph)]
    assert privacy_curve(channel, graph).delta(ln(t)) == largest_excess(channel.matrix().tolist(), pairs, t)


def test_pairs_with_the_same_numbers_in_other_counts_are_two_kinds():
    """The neighbours of the second row have each pair of numbers, but not equally often."""
    a, b = Fraction(1, 4), Fraction(1, 12)
    channel = Channel([[a, a, b, a, b, b], [a, a, a, b, b, b], [a, b, b, a, a, b]])
    assert privacy_curve(channel, path(3)).delta(0) == 2 * (a - b)


@pytest.mark.slow
@given(channels(), GRAPHS, DELTAS)
def test_the_curve_and_the_checker_agree_on_the_tight_epsilon(channel, family, delta):
    graph = family(len(channel.inputs))
    found = privacy_curve(channel, graph).epsilon(delta)
    if delta < 1:
        assert found == check(channel, graph, 1, delta).tight_epsilon
    else:
        assert found == 0


@pytest.mark.slow
@given(channels(), GRAPHS)
def test_pieces_fall_and_flatten_and_none_is_empty(channel, family):
    for branch in privacy_curve(channel, family(len(channel.inputs))).branches:
        slopes = [b for _, b in branch.lines]
        assert slopes[-1] == 0
        assert all(first > second for first, second in pairwise(slopes))
        assert all(first < second for first, second in pairwise(branch.corners))
        assert all(corner >= 1 for corner in branch.corners)
        for corner, (one, other) in zip(branch.corners, pairwise(branch.lines), strict=True):
            assert one[0] - corner * one[1] == other[0] - corner * other[1]


@pytest.mark.slow
@given(channels(inputs=3), FACTORS, DELTAS.filter(lambda delta: delta < 1))
def test_a_metric_has_a_branch_for_each_length(channel, t, delta):
    metric = from_distance([[0, 1, 2], [1, 0, 3], [2, 3, 0]])
    curve = privacy_curve(channel, metric)
    verdict = check(channel, metric, ln(t), delta)
    assert [branch.length for branch in curve.branches] == [1, 2, 3]
    assert curve.delta(ln(t)) == verdict.tight_delta
    assert curve.epsilon(delta) == verdict.tight_epsilon


def test_the_geometric_channel_has_one_corner():
    curve = privacy_curve(geometric(2, Fraction(1, 4)), path(3))
    assert curve.points() == [(0, Fraction(3, 5)), (ln(4), 0)]
    assert curve.branches[0].corners == (4,)
    assert curve.epsilon(0) == ln(4)
    assert curve.epsilon("3/5") == 0
    assert curve.epsilon("1/5") == ln(3)


def test_between_rational_factors_the_curve_is_enclosed():
    delta = privacy_curve(geometric(2, Fraction(1, 4)), path(3)).delta(1)
    assert isinstance(delta, Enclosure)
    assert float(delta) == pytest.approx(0.8 - math.e / 5)


def test_what_no_epsilon_can_mend_stays():
    curve = privacy_curve(Channel([["1/3", "2/3"], [0, 1]]), path(2))
    assert curve.epsilon("1/4") == math.inf
    assert curve.epsilon("1/3") == 0
    assert curve.delta(1000) == Fraction(1, 3)


def test_what_stays_is_the_exactly_largest_mass_though_doubles_see_another():
    """Three tenths in one sum are a little more than 3/10 as doubles; the other mass is more, and less as a double."""
    tenth, more = Fraction(1, 10), Fraction(3, 10) + Fraction(1, 10**20)
    rows = [[tenth, tenth, tenth, 0, 7 * tenth], [0, 0, 0, more, 1 - more]]
    assert privacy_curve(Channel(rows), path(2)).delta(1000) == more


def test_groups():
    curve = privacy_curve(geometric(4, Fraction(1, 2)), path(5), group=3)
    assert curve.epsilon(0) == ln(8)


def test_one_input_alone():
    curve = privacy_curve(Channel([["1/2", "1/2"]]), path(1))
    assert curve.delta(0) == curve.epsilon(0) == 0
    assert curve.points() == [(0, 0)]


def test_it_can_be_read():
    text = str(privacy_curve(geometric(6, Fraction(1, 2)), path(7)))
    assert text.startswith("δ(ε) on path(7)")
    assert "ln(2) ≈ 0.6931471806" in text


@pytest.mark.parametrize("delta", [-1, 2, "x"])
def test_bad_numbers_are_refused(delta):
    curve = privacy_curve(geometric(2, Fraction(1, 4)), path(3))
    with pytest.raises(BadParameter):
        curve.epsilon(delta)


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.sampled_from([cycle(16), hypercube(4), path(16)]))
def test_float_channels_have_the_curve_of_the_numbers_they_are(seed, graph):
    weights = np.random.default_rng(seed).random((16, 9))
    channel = Channel(weights / weights.sum(axis=1, keepdims=True))
    assert privacy_curve(channel, graph).branches == privacy_curve(channel.to_exact(), graph).branches

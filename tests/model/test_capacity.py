from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, strategies as st

from leastnoise.errors import BadParameter
from leastnoise.model.capacity import bayes_capacity_additive, bayes_capacity_multiplicative, distance_above, small_ball
from leastnoise.model.channel import Channel
from leastnoise.model.leakage import g_leakage
from leastnoise.model.priors import uniform
from support.channels import channels, distributions, geometric


def best_set(channel):
    """The largest additive leakage of any prior that is uniform on a set of inputs, by trying all."""
    sets = [s for size in range(1, len(channel.inputs) + 1) for s in combinations(channel.inputs, size)]
    return max(g_leakage(uniform(s), channel, kind="additive") for s in sets)


@pytest.mark.slow
@given(channels(inputs=3), distributions(3))
def test_multiplicative_capacity_bounds_every_prior_and_is_reached(channel, prior):
    capacity = bayes_capacity_multiplicative(channel)
    assert g_leakage(prior, channel) <= capacity == g_leakage(uniform(3), channel)
    assert bayes_capacity_multiplicative(Channel(channel.floats())) == pytest.approx(float(capacity))


@pytest.mark.slow
@given(channels())
def test_additive_capacity_is_the_best_set(channel):
    capacity = bayes_capacity_additive(channel)
    assert capacity.value.is_exact
    assert capacity.value.lower == best_set(channel)
    assert g_leakage(capacity.prior, channel, kind="additive") == capacity.value.lower


@pytest.mark.slow
@given(channels(inputs=4), distributions(4))
def test_no_prior_leaks_more_than_the_additive_capacity(channel, prior):
    assert g_leakage(prior, channel, kind="additive") <= bayes_capacity_additive(channel).value.lower


@pytest.mark.slow
@given(channels(inputs=3, outputs=3))
def test_no_prior_on_a_fine_grid_leaks_more(channel):
    capacity = bayes_capacity_additive(channel).value.lower
    grid = [(a, b, 8 - a - b) for a in range(9) for b in range(9 - a)]
    assert all(g_leakage([Fraction(p, 8) for p in prior], channel, kind="additive") <= capacity for prior in grid)


@pytest.mark.slow
@given(channels(), st.integers(0, 3))
def test_a_search_cut_short_still_encloses(channel, limit):
    value = bayes_capacity_additive(channel, limit=limit).value
    assert value.lower <= best_set(channel) <= value.upper


@pytest.mark.slow
@given(channels())
def test_the_radius_bounds_all_rows(channel):
    ball = small_ball(channel.rationals().rows)
    assert sum(ball.center) == 1
    assert all(u >= 0 for u in ball.center)
    assert ball.radius == max(distance_above(channel.row(x), ball.center) for x in channel.inputs)


@pytest.mark.parametrize(
    ("channel", "value", "size"),
    [
        (Channel.identity(7), Fraction(6, 7), 7),
        (Channel.uniform(5, 3), 0, 1),
        (geometric(7, "1/2"), Fraction(17, 36), 3),
        (geometric(59, "1/2"), Fraction(557, 672), 7),
    ],
)
def test_known_additive_capacities(channel, value, size):
    capacity = bayes_capacity_additive(channel)
    assert capacity.value.is_exact
    assert capacity.value.lower == value
    assert len(capacity.prior) == size


def test_a_relaxation_that_is_not_tight_is_branched_on():
    # Rows uniform on the seven lines of the Fano plane: any two lines share a point, so no packing of three exists.
    lines = [(0, 1, 2), (0, 3, 4), (0, 5, 6), (1, 3, 5), (1, 4, 6), (2, 3, 6), (2, 4, 5)]
    channel = Channel([[Fraction(int(point in line), 3) for point in range(7)] for line in lines])
    short, full = bayes_capacity_additive(channel, limit=0), bayes_capacity_additive(channel)
    assert not short.value.is_exact
    assert full.value.is_exact
    assert full.value.lower == best_set(channel)


def test_floats_are_taken_as_they_are():
    assert bayes_capacity_additive(Channel([[1.0, 0.0], [0.5, 0.5]])).value.lower == Fraction(1, 4)
    with pytest.raises(BadParameter, match="limit must be at least 0"):
        bayes_capacity_additive(Channel.identity(2), limit=-1)

"""The most common option and the best price, from data."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from leastnoise.checker import check
from leastnoise.errors import BadParameter, UnboundedData
from leastnoise.mechanisms.choice import BestPrice, MostCommon, PermuteAndFlip

EYES = ["brown", "blue", "green"]


def test_counts_by_name_in_order_and_from_records():
    eyes = MostCommon("ln(2)", EYES)
    by_order = eyes.pmf("brown", [5, 3, 0])
    assert eyes.pmf("brown", {"blue": 3, "brown": 5}) == by_order
    assert eyes.pmf("brown", np.array([5, 3, 0])) == by_order
    assert eyes.pmf("brown", {"blue": 3, "brown": 5, "violet": 1000}) == by_order
    records = ["brown", "blue", "brown", "brown", "violet", "blue", "brown", "blue", "brown"]
    assert eyes.tally(records) == [5, 3, 0]
    assert eyes.release({"blue": 10**6}) == "blue"


def test_people_who_join_cost_half_of_people_who_change():
    assert MostCommon(1, EYES).rate == 1
    assert MostCommon(1, EYES, replace=True).rate == Fraction(1, 2)
    assert MostCommon(1, EYES) != PermuteAndFlip(1, EYES, monotone=True)
    assert check(MostCommon("ln(2)", EYES).certificate())


def brute_revenue(price, valuations):
    return price * sum(1 for v in valuations if not (isinstance(v, float) and math.isnan(v)) and v >= price)


prices = st.lists(st.fractions("1/7", 10, max_denominator=7), min_size=1, max_size=6, unique=True)
numbers = st.one_of(
    st.integers(-2, 12),
    st.fractions(0, 12, max_denominator=7),
    st.floats(-1, 12),
    st.sampled_from([math.nan, math.inf, -math.inf]),
)


@pytest.mark.slow
@given(prices, st.lists(numbers, max_size=8))
def test_revenues_are_exact(listed, valuations):
    shop = BestPrice(1, 10, listed)
    expected = [brute_revenue(price, valuations) for price in listed]
    assert shop.revenues(valuations) == expected
    floats = [float(v) for v in valuations if not isinstance(v, Fraction)]
    whole = [v for v in valuations if isinstance(v, int)]
    assert shop.revenues(np.array(floats)) == [brute_revenue(price, floats) for price in listed]
    assert shop.revenues(np.array(whole, dtype=np.int32)) == [brute_revenue(price, whole) for price in listed]
    best = max(expected)
    shares = [shop.pmf(price, valuations) for price in listed]
    assert sum(p.lower for p in shares) <= 1 <= sum(p.upper for p in shares)
    if best > 0:
        assert max(zip((p.upper for p in shares), expected, strict=True))[1] == best


def test_a_double_just_below_the_price_does_not_buy():
    third = Fraction(1, 3)
    below, above = 1 / 3, math.nextafter(1 / 3, 1)
    assert Fraction(below) < third < Fraction(above)
    shop = BestPrice(1, 1, [third])
    assert shop.revenues(np.array([below])) == shop.revenues([below]) == [0]
    assert shop.revenues(np.array([above])) == shop.revenues([above]) == [third]
    assert BestPrice(1, 2**62, [2**62 - 1]).revenues(np.array([2**62 - 2, 2**64 - 1], dtype=np.uint64)) == [2**62 - 1]


@pytest.mark.slow
@given(prices, st.lists(st.fractions(0, 12, max_denominator=5), max_size=5), st.fractions(0, 12, max_denominator=5))
def test_no_buyer_shifts_two_revenues_by_more_than_the_sensitivity(listed, valuations, newcomer):
    for replace in (False, True):
        shop = BestPrice(1, 10, listed, replace=replace)
        before = shop.revenues([*valuations[:-1], Fraction(5)] if replace and valuations else valuations)
        after = shop.revenues([*valuations[:-1], newcomer] if replace and valuations else [*valuations, newcomer])
        moves = [b - a for a, b in zip(before, after, strict=True)]
        assert max(moves) - min(moves) <= shop.sensitivity
        assert min(moves) >= 0 or max(moves) <= 0


def test_that_sensitivity_is_attained():
    shop = BestPrice(1, 10, [1, 4, 10])
    assert shop.sensitivity == 9
    assert BestPrice(1, 10, [4, 10]).sensitivity == 6
    assert BestPrice(1, 10, [9, 10]).sensitivity == 9
    assert BestPrice(1, 10, [9, 10], replace=True).sensitivity == 10
    assert BestPrice(1, 10, [3]).sensitivity == 3


@pytest.mark.slow
@given(prices, st.lists(st.fractions("1/7", 10, max_denominator=7), min_size=1, max_size=8))
def test_a_grid_keeps_its_share_of_the_best_revenue_of_all(listed, valuations):
    shop = BestPrice(1, 10, listed)
    valuations = [v for v in valuations if v >= min(listed)]
    if valuations:
        best_of_all = max(brute_revenue(price, valuations) for price in valuations)
        assert max(shop.revenues(valuations)) >= shop.grid_share * best_of_all


def test_steps_are_equal():
    shop = BestPrice(1, 10, 4)
    assert shop.prices == (Fraction(5, 2), 5, Fraction(15, 2), 10)
    assert shop.grid_share == Fraction(1, 2)
    assert len(BestPrice(1, 10).prices) == 100


@pytest.mark.parametrize("highest", [None, math.inf, np.inf])
def test_without_a_bound_there_is_no_price(highest):
    with pytest.raises(UnboundedData, match="Proposition"):
        BestPrice(1, highest)


def test_the_error_that_none_can_avoid_grows_with_the_bound():
    """So without a bound on valuations no private price has a bounded error."""
    bounds = [BestPrice(1, top, 10).reason().lower_bound for top in (1, 1000)]
    errors = [BestPrice(1, top, 10).error().expected for top in (1, 1000)]
    for small, large in (bounds, errors):
        assert abs(float(large) / float(small) - 1000) < 1e-9
    assert 0 < bounds[0].lower < errors[0].lower
    assert BestPrice(1, 10, [3]).reason().lower_bound.upper == 0


def test_the_lower_bound_holds_for_the_mechanism_itself():
    shop = BestPrice("1/2", 10, [1, 2, 5, 10])
    regrets = []
    for valuations in ([10], [5], [2], [1]):
        revenues = shop.revenues(valuations)
        chances = [shop.pmf(price, valuations).upper for price in shop.prices]
        regrets.append(sum(p * (max(revenues) - r) for p, r in zip(chances, revenues, strict=True)))
    assert max(regrets) >= shop.reason().lower_bound.lower > 0


def test_the_best_price_is_found_and_never_shown_in_an_error():
    shop = BestPrice(5, 100, [10, 20, 50])
    assert shop.release(np.array([20.0] * 1000 + [50.0] * 100)) == 20
    assert shop.release([]) in (10, 20, 50)
    for valuations in (["98765 euros"], [object()], 98765, np.array([["98765"]])):
        with pytest.raises(BadParameter) as caught:
            shop.release(valuations)
        assert "98765" not in f"{caught.value}{caught.value.__context__}"

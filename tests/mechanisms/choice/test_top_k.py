"""The k best: laws of choices in turn, Gumbel noise in one shot, and bounds of the error."""

from fractions import Fraction
from itertools import permutations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.checker import check
from leastnoise.errors import TooLarge
from leastnoise.exact import SeededSource
from leastnoise.mechanisms.choice import Exponential, OneShotTopK, PeelingTopK, PermuteAndFlip
from leastnoise.model.events import BoundedRange, Composed, Pure
from support.statistics import fits

both = st.sampled_from([PeelingTopK, OneShotTopK])
four_scores = st.lists(st.integers(-4, 4), min_size=4, max_size=4)


@pytest.mark.slow
@given(four_scores, st.integers(1, 4))
def test_one_shot_is_the_order_of_gumbel_noise(scores, k):
    """Scores plus Gumbel noise are arrival times of exponential clocks: the first k rings, by Luce's product."""
    mechanism = OneShotTopK(f"{2 * k}*ln(2)", 4, k)
    weights = [Fraction(2) ** score for score in scores]
    for order in permutations(range(4), k):
        rest = [sum(weights) - sum(weights[place] for place in order[:turn]) for turn in range(k)]
        luce = prod((weights[place] / left for place, left in zip(order, rest, strict=True)), start=Fraction(1))
        assert mechanism.pmf(order, scores).lower == luce


@pytest.mark.slow
@given(both, four_scores, st.integers(1, 3))
def test_the_law_sums_to_one_and_the_error_is_its_mean(make, scores, k):
    mechanism = make(f"{k}*ln(3)", 4, k, monotone=True)
    best = sum(sorted(scores)[-k:])
    total, loss = Fraction(0), Fraction(0)
    for order in permutations(range(4), k):
        p = mechanism.pmf(order, scores)
        assert p.is_exact
        total += p.lower
        loss += p.lower * (best - sum(scores[place] for place in order))
    assert total == 1
    assert mechanism.error_at(scores).lower == loss <= mechanism.error().expected.upper
    beyond = [
        mechanism.pmf(order, scores).lower
        for order in permutations(range(4), k)
        if best - sum(scores[place] for place in order) > mechanism.error().quantiles[Fraction(19, 20)]
    ]
    assert sum(beyond) <= Fraction(1, 20)


@settings(max_examples=20)
@given(four_scores)
def test_irrational_laws_are_enclosed(scores):
    for make in (PeelingTopK, OneShotTopK):
        mechanism = make(1, 4, 2)
        masses = [mechanism.pmf(order, scores) for order in permutations(range(4), 2)]
        assert sum(p.lower for p in masses) <= 1 <= sum(p.upper for p in masses)
        assert mechanism.error_at(scores).width < Fraction(1, 10**12)


def test_one_of_all_is_the_single_choice():
    scores = [3, 1, 2]
    for make, single in ((PeelingTopK, PermuteAndFlip), (OneShotTopK, Exponential)):
        assert make("2*ln(2)", 3, 1).pmf((0,), scores) == single("2*ln(2)", 3).pmf(0, scores)
        assert make(1, 3, 1).error().expected == single(1, 3).error().expected


def test_what_is_no_list_has_no_chance():
    mechanism = PeelingTopK(1, ["a", "b", "c"], 2)
    for output in (("a",), ("a", "a"), ("a", "b", "c"), "ab"):
        assert mechanism.pmf(output, [1, 2, 3]).upper == 0


def test_events_are_those_of_the_turns():
    assert PeelingTopK(1, 5, 2).event == Composed((Pure("1/2"),) * 2)
    assert OneShotTopK(1, 5, 2).event == Composed((BoundedRange("1/2"),) * 2)


@pytest.mark.parametrize("make", [PeelingTopK, OneShotTopK])
def test_lists_are_distinct_and_come_in_shape(make):
    mechanism = make(3, 6, 4)
    drawn = mechanism.draw(np.arange(6) * 5, size=(20, 10), source=SeededSource(3))
    assert drawn.shape == (20, 10, 4)
    assert all(len(set(row)) == 4 for row in drawn.reshape(-1, 4).tolist())
    assert sorted(make(3, 4, 4).release([1, 1, 1, 1])) == [0, 1, 2, 3]
    assert make(1000, list("abcd"), 3).release([1, 50, 99, 77]) == ("c", "d", "b")


@pytest.mark.parametrize("make", [PeelingTopK, OneShotTopK])
@pytest.mark.parametrize("scores", [np.array([60, 30, 0, 0, 0]), [Fraction(60), 30, "0", 0, 0.0]])
def test_a_candidate_that_dominates_does_not_hide_the_others(make, scores):
    """The first holds all but e^-30 of the weight, so that repeats of it are all that is drawn at first."""
    drawn = make(4, 5, 4, monotone=True).draw(scores, size=300)
    assert (drawn[:, 0] == 0).all()
    assert (drawn[:, 1] == 1).all()
    third = drawn[:, 2]
    assert fits(third, [0, 0, 1 / 3, 2 / 3, 1].__getitem__, 2, 3)


def test_many_candidates():
    scores = np.zeros(10**5, dtype=np.int64)
    scores[[7, 70_000, 5]] = 3000, 2000, 1000
    for make in (PeelingTopK, OneShotTopK):
        assert make(1, 10**5, 3).release(scores) == (7, 70_000, 5)
        with pytest.raises(TooLarge):
            make(1, 10**5, 3).error_at(scores)
        assert float(make(1, 10**5, 3).error().expected) < 250


@pytest.mark.slow
@given(st.integers(2, 200), st.integers(1, 5), st.booleans())
def test_peeling_has_the_smaller_bound(count, k, monotone):
    k = min(k, count)
    bounds = [make(1, count, k, monotone=monotone).error() for make in (PeelingTopK, OneShotTopK)]
    assert bounds[0].expected.lower <= bounds[1].expected.upper
    assert bounds[0].quantiles[Fraction(19, 20)] <= bounds[1].quantiles[Fraction(19, 20)]


@pytest.mark.parametrize("monotone", [False, True])
def test_certificates_are_accepted(monotone):
    for make in (PeelingTopK, OneShotTopK):
        assert check(make("4*ln(2)", 6, 2, monotone=monotone).certificate())
        assert check(make("4*ln(2)", 2, 2, "1/2", monotone=monotone).certificate())

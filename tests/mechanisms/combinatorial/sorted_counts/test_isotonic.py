"""Isotonic regression in whole numbers, the mechanism built on it, and the plan that compares both ways."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import isotonic_regression

from leastnoise.checker import check
from leastnoise.errors import BadParameter, InsecureSource
from leastnoise.exact import SeededSource
from leastnoise.mechanisms.combinatorial.sorted_counts import IsotonicCounts, plan_sorted_counts, zipf_counts
from leastnoise.mechanisms.combinatorial.sorted_counts.diagram import distance, read_counts
from leastnoise.mechanisms.combinatorial.sorted_counts.isotonic_counts import decreasing_pools, nearest_counts
from leastnoise.model.events import LaplaceNoise

NUMBERS = st.lists(st.integers(-30, 30), min_size=1, max_size=40).map(lambda x: np.array(x, dtype=np.int64))


@given(NUMBERS)
def test_the_pools_are_the_least_squares_fit(numbers):
    """By the conditions that characterise it: means decrease, and no beginning of a pool has a larger mean than it."""
    sums, lengths = (part.tolist() for part in decreasing_pools(numbers))
    means = [Fraction(s, n) for s, n in zip(sums, lengths, strict=True)]
    assert all(a > b for a, b in pairwise(means))
    assert sum(lengths) == len(numbers)
    place = 0
    for mean, length in zip(means, lengths, strict=True):
        pool = numbers[place : place + length].tolist()
        assert sum(pool) == mean * length
        assert all(Fraction(sum(pool[: i + 1]), i + 1) <= mean for i in range(length))
        place += length


@given(NUMBERS)
def test_the_fit_agrees_with_scipy(numbers):
    sums, lengths = decreasing_pools(numbers)
    assert np.repeat(sums / lengths, lengths) == pytest.approx(isotonic_regression(numbers, increasing=False).x)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=12), st.lists(st.integers(-9, 9), min_size=12, max_size=12))
def test_the_fit_is_never_further_from_the_truth_than_the_noise(counts, noise):
    true = np.sort(np.array(counts, dtype=np.int64))[::-1]
    noisy = true + np.array(noise[: len(true)])
    sums, lengths = decreasing_pools(noisy)
    fit = [Fraction(s, n) for s, n in zip(sums.tolist(), lengths.tolist(), strict=True) for _ in range(n)]
    assert sum(abs(f - int(x)) for f, x in zip(fit, true, strict=True)) <= np.abs(noisy - true).sum()
    assert np.abs(nearest_counts(noisy) - true).sum() <= 2 * np.abs(noisy - true).sum()


def test_a_slow_cascade_is_pooled_as_well():
    numbers = np.append(np.arange(3000, 0, -1), 10**7)
    sums, _ = decreasing_pools(numbers)
    assert len(sums) == 1
    assert int(sums[0]) == int(numbers.sum())


@given(NUMBERS, st.sampled_from([2**50, 2**55, 2**80]))
def test_sums_beyond_64_bits_are_the_same_fit(numbers, factor):
    wide = numbers.astype(object) * factor
    large = wide.astype(np.int64) if factor < 2**56 else wide
    assert [int(s) for s in decreasing_pools(large)[0]] == [int(s) * factor for s in decreasing_pools(numbers)[0]]
    assert decreasing_pools(large)[1].tolist() == decreasing_pools(numbers)[1].tolist()
    sums, lengths = decreasing_pools(large)
    means = [max(-((n - 2 * int(s)) // (2 * n)), 0) for s, n in zip(sums, lengths.tolist(), strict=True)]
    assert [int(c) for c in nearest_counts(large)] == np.repeat(np.array(means, dtype=object), lengths).tolist()


def test_the_mechanism_pads_sorts_and_refuses_predictable_noise():
    mechanism = IsotonicCounts(3, total=100, longest=6)
    drawn = mechanism.draw([3, 50, 12], size=30, source=SeededSource(1))
    assert all(len(y) == 6 and (np.diff(y) <= 0).all() and y[-1] >= 0 for y in drawn)
    assert abs(np.mean([y[0] for y in drawn]) - 50) < 2
    assert len(mechanism.release([5] * 20)) == 6
    with pytest.raises(InsecureSource):
        mechanism.release([1], source=SeededSource(1))


def test_its_price_certificate_and_error():
    mechanism = IsotonicCounts("ln(3)", total=1000, longest=10)
    assert mechanism.event == LaplaceNoise("ln(3)")
    assert check(mechanism.certificate())
    drawn = mechanism.draw([500, 20, 20, 20, 3], size=200, source=SeededSource(4))
    errors = [distance(read_counts([500, 20, 20, 20, 3]), read_counts(y)) for y in drawn]
    assert np.mean(errors) < mechanism.error().expected.lower
    assert np.mean(np.array(errors) <= mechanism.error().quantiles[Fraction(19, 20)]) > 0.95
    assert mechanism.reason().lower_bound.upper <= mechanism.error().expected.upper
    with pytest.raises(BadParameter, match="closed form"):
        mechanism.pmf((1,), [1])


@pytest.mark.parametrize(
    ("parameters", "name"),
    [((0, 10, 1), "epsilon"), ((1, 0, 1), "total"), ((1, 10, 0), "longest"), ((1, 10, None), "longest")],
)
def test_bad_parameters_are_refused_by_name(parameters, name):
    with pytest.raises(BadParameter, match=name):
        IsotonicCounts(*parameters)


@pytest.mark.slow
def test_the_plan_takes_the_better_way():
    long, short = plan_sorted_counts("1/4", 10**5), plan_sorted_counts(1, 10**7, top=5)
    assert long.mechanism.name == "exponential mechanism over sorted lists"
    assert short.mechanism.name == "geometric noise with isotonic regression"
    for plan in (long, short):
        assert plan.on_example[plan.mechanism.name] == min(plan.on_example.values())
        assert plan.on_example[plan.mechanism.name] <= plan.at_worst[plan.mechanism.name]
        assert plan.lower_bound.upper <= plan.at_worst[plan.mechanism.name]


def test_the_plan_knows_what_the_exponential_mechanism_refuses():
    plan = plan_sorted_counts("1/1000", 1000)
    assert list(plan.on_example) == ["geometric noise with isotonic regression"]


def test_zipf_lists():
    counts = zipf_counts(10**5, exponent="4/5", distinct=30_000)
    assert len(counts) == 30_000
    assert 0.98 * 10**5 < counts.sum() <= 10**5
    assert (np.diff(counts) <= 0).all()
    for name, parameters in {"exponent": (10, 0), "distinct": (10, 1, 11), "total": (0,)}.items():
        with pytest.raises(BadParameter, match=name):
            zipf_counts(*parameters)

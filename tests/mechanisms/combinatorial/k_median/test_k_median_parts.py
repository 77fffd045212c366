"""Swap costs, metrics, demand, shares and the packing bound, against slow and simple computations."""

from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from leastnoise.composition.concentrated import concentrated_epsilon
from leastnoise.errors import BadParameter, LeastNoiseError
from leastnoise.mechanisms.combinatorial.k_median import KMedian, metric as metrics
from leastnoise.mechanisms.combinatorial.k_median.local_search import (
    cost_of,
    equal_share,
    farthest_first,
    least_extra_cost,
    read_demand,
    swap_costs,
)
from leastnoise.mechanisms.combinatorial.k_median.metric import read_metric

POINTS = np.random.default_rng(7).random((9, 2))
TABLE = np.sqrt(((POINTS[:, None] - POINTS[None]) ** 2).sum(axis=2))


def slow_cost(table, demand, facilities):
    return sum(min(int(table[i, f]) for f in facilities) for i in demand)


@given(st.lists(st.integers(0, 8), max_size=30), st.integers(1, 8), st.randoms())
def test_every_swap_has_its_cost(demand, k, random):
    metric = read_metric(points=POINTS, resolution=1000)
    facilities = np.array(random.sample(range(9), k))
    counts = read_demand(demand, 9, 99)
    table = metric.columns(np.arange(9))
    assert cost_of(metric, counts, facilities) == slow_cost(table, demand, facilities)
    found = swap_costs(metric, counts, facilities)
    for leaving in range(k):
        for coming in set(range(9)) - set(facilities.tolist()):
            after = [coming if i == leaving else f for i, f in enumerate(facilities.tolist())]
            assert found[leaving, coming] == slow_cost(table, demand, after)


def test_points_matrix_and_function_are_the_same_metric():
    euclidean, matrix = read_metric(points=POINTS), read_metric(matrix=TABLE)
    called = read_metric(metric=lambda rows, columns: TABLE[np.ix_(rows, columns)], count=9)
    everyone = np.arange(9)
    expected = np.rint(TABLE / TABLE.max() * 65535)
    for metric in (euclidean, matrix, called):
        assert metric.diameter == pytest.approx(TABLE.max())
        assert (np.abs(metric.columns(everyone) - expected) <= 1).all()
    assert euclidean == read_metric(points=POINTS)
    assert euclidean != read_metric(points=POINTS, resolution=10)
    assert euclidean != read_metric(points=POINTS + 0.5 * np.eye(9, 2))


def test_distances_that_do_not_fit_into_memory_are_computed_again(monkeypatch):
    points = np.random.default_rng(1).random((600, 3))
    counts = np.random.default_rng(2).integers(0, 3, 600)
    facilities = np.array([3, 77, 500])
    kept = swap_costs(read_metric(points=points), counts, facilities)
    monkeypatch.setattr(metrics, "_LARGEST_CACHE", 0)
    assert (swap_costs(read_metric(points=points), counts, facilities) == kept).all()


def test_costs_of_huge_demands_are_exact():
    """Each digit of a count goes through doubles, so sums up to 2^61 are whole."""
    metric = read_metric(points=np.random.default_rng(5).random((40, 2)))
    counts = np.random.default_rng(6).integers(0, (1 << 61) // (40 * metric.resolution), 40)
    facilities = np.array([1, 7])
    table = metric.columns(np.arange(40)).astype(object)
    found = swap_costs(metric, counts, facilities)
    for row, gone in enumerate((1, 7)):
        for new in (0, 5, 39):
            kept = [*({1, 7} - {gone}), new]
            assert found[row, new] == sum(int(c) * min(table[v, f] for f in kept) for v, c in enumerate(counts))


@pytest.mark.parametrize(
    ("table", "known"),
    [
        ([[0, 1, 2], [1, 0, 1], [2, 1, 0]], True),
        ([[0, 1, 2 + 1e-13], [1, 0, 1], [2 + 1e-13, 1, 0]], True),
        ([[0, 1, 3], [1, 0, 1], [3, 1, 0]], False),
        ([[0, 1, 2], [1, 0, 1], [2, 1.5, 0]], False),
        ([[1, 1, 2], [1, 0, 1], [2, 1, 0]], False),
        (1 - np.eye(1025), False),
    ],
    ids=["metric", "rounded", "triangle", "lopsided", "diagonal", "too many to know"],
)
def test_a_factor_is_stated_for_metrics_only(table, known):
    assert read_metric(matrix=table).is_metric == known
    assert read_metric(metric=lambda a, b: np.asarray(table)[np.ix_(a, b)], count=len(table)).is_metric == known
    mechanism = KMedian(1, 1, matrix=table)
    reason = mechanism.reason()
    assert ("five times" in reason.theorem) == known
    assert (reason.lower_bound is not None) == known
    if known:
        assert mechanism.cost_bound(1, 10) > 5
    else:
        with pytest.raises(BadParameter, match="metric"):
            mechanism.cost_bound(1, 10)


def test_points_in_space_are_a_metric():
    assert read_metric(points=np.random.default_rng(0).random((2000, 2))).is_metric


def test_what_a_point_contributes_does_not_depend_on_the_others():
    """The costs of two demands add up exactly, whichever blocks they fall into."""
    metric = read_metric(points=np.random.default_rng(3).random((600, 2)))
    facilities = np.array([1, 2, 3])
    first, second = np.random.default_rng(4).integers(0, 3, (2, 600))
    together = swap_costs(metric, first + second, facilities)
    assert (together == swap_costs(metric, first, facilities) + swap_costs(metric, second, facilities)).all()


def test_larger_distances_count_as_the_diameter():
    metric = read_metric(points=[[0.0], [1.0], [9.0]], diameter=2, resolution=4)
    assert metric.columns(np.arange(3)).tolist() == [[0, 2, 4], [2, 0, 4], [4, 4, 0]]


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({}, "points"),
        ({"points": POINTS, "matrix": TABLE}, "exactly one"),
        ({"points": [[0.0], [np.nan]]}, "points"),
        ({"points": [["a"], ["b"]]}, "points"),
        ({"points": [[1.0], [1.0]]}, "diameter"),
        ({"matrix": [[0, 1]]}, "matrix"),
        ({"matrix": [[0, -1], [-1, 0]]}, "metric"),
        ({"metric": lambda rows, _: np.zeros(len(rows)), "count": 3}, "metric"),
        ({"metric": lambda rows, _: np.zeros(len(rows))}, "count"),
        ({"points": POINTS, "resolution": 1 << 16}, "resolution"),
        ({"points": POINTS, "diameter": 0}, "diameter"),
    ],
)
def test_bad_metrics_are_refused(parameters, name):
    with pytest.raises(LeastNoiseError, match=name):
        read_metric(**parameters)


@given(st.lists(st.integers(0, 5), max_size=20))
def test_demand_is_a_multiset(demand):
    expected = [demand.count(i) for i in range(6)]
    for form in (demand, np.array(demand, dtype=np.uint8), Counter(demand), [*demand, 6, -1, 2**80]):
        assert read_demand(form, 6, 99).tolist() == expected
        assert read_demand(form, 6, 2).tolist() == [min(count, 2) for count in expected]


@pytest.mark.parametrize("bad", [[777777.5], ["777777"], {0: 777777.5}, {"777777": 1}, 777777, [[0]], [1, [2]], None])
def test_what_is_no_demand_is_refused_without_showing_it(bad):
    with pytest.raises(BadParameter, match="demand") as caught:
        read_demand(bad, 6, 99)
    assert "777777" not in f"{caught.value} {caught.value.__context__}"


@pytest.mark.slow
@given(st.fractions("1/100", 5), st.sampled_from(["1e-12", "1e-6", "1e-3"]), st.integers(1, 400))
def test_shares_add_up_to_the_promise_and_use_most_of_it(epsilon, delta, rounds):
    share, delta = equal_share(epsilon, Fraction(delta), rounds), Fraction(delta)
    together = concentrated_epsilon(rounds * share**2 / 8, delta)
    assert share * rounds <= epsilon or together <= epsilon * (1 + Fraction(1, 10**9))
    bit_more = concentrated_epsilon(rounds * (share * Fraction(21, 20)) ** 2 / 8, delta)
    assert bit_more > epsilon
    assert equal_share(epsilon, Fraction(0), rounds) == epsilon / rounds <= share


def test_the_first_points_are_as_far_apart_as_said():
    metric = read_metric(points=POINTS, resolution=1000)
    order, apart = farthest_first(metric, 9)
    table = metric.columns(np.arange(9))
    assert sorted(order.tolist()) == list(range(9))
    for size in range(2, 10):
        closest = min(int(table[a, b]) for a, b in combinations(order[:size].tolist(), 2))
        assert closest == apart[size - 1]
    twins = read_metric(points=[[0.0], [0.0], [1.0], [1.0]])
    assert sorted(farthest_first(twins, 4)[0].tolist()) == [0, 1, 2, 3]


def test_the_packing_bound_is_that_of_far_points():
    """All points one apart: k·s·½·(1 − e^(εs)·k/(n − k + 1)) with steps of the resolution, at the best s."""
    metric = read_metric(matrix=1 - np.eye(100), resolution=1000)
    bound = float(least_extra_cost(metric, 2, Fraction(1, 10))) / 1000
    formula = [2 * s * 0.998 / 2 * (1 - np.exp(0.1 * s) * 2 / 99) for s in range(1, 60)]
    assert 0.98 * max(formula) <= bound <= max(formula) + 1e-9
    assert least_extra_cost(metric, 99, Fraction(5)).upper == 0

"""Mechanisms that add noise to counts and then search: one person moves the counts by what the noise is for."""

from itertools import combinations, product

import networkx
import numpy as np
import pytest

from leastnoise import combinatorial
from leastnoise.errors import BadParameter
from leastnoise.exact import SeededSource
from leastnoise.mechanisms.combinatorial import (
    DegreeOrder,
    KMedian,
    NoisyDemand,
    VertexCoverOrder,
    decode,
    plan_k_median,
    plan_vertex_cover,
)
from leastnoise.testing import NoiseCall, assert_sensitivity

NOISE = NoiseCall("leastnoise.mechanisms.numeric.VectorLaplace.draw", "truth", lambda given: given["self"].sensitivity)
TOWN = [[0, 0], [0, 3], [4, 0], [9, 9]]


def seeded(mechanism):
    return lambda truth: mechanism.draw(truth, source=SeededSource(1))


@pytest.mark.slow
def test_one_demand_point_changes_the_noisy_counts_by_one():
    facilities = NoisyDemand(1, 2, points=TOWN, steps=3)
    demands = [demand for size in range(4) for demand in product(range(-1, 5), repeat=size)]
    for demand in demands[::7]:
        for place in range(-1, 5):
            assert assert_sensitivity(seeded(facilities), list(demand), [*demand, place], NOISE) == 1


def test_one_edge_changes_the_noisy_degrees_by_two():
    order = DegreeOrder(1, 4)
    pairs = list(combinations(range(4), 2))
    for code in range(0, 64, 3):
        graph = [pair for place, pair in enumerate(pairs) if code >> place & 1]
        for pair in pairs:
            assert assert_sensitivity(seeded(order), graph, [*graph, pair], NOISE) == 1


def test_the_check_would_notice_a_demand_point_that_counts_twice():
    facilities = NoisyDemand(1, 2, points=TOWN, steps=3)
    with pytest.raises(AssertionError, match="declares a sensitivity of 1"):
        assert_sensitivity(lambda demand: seeded(facilities)([*demand, *demand]), [0, 1], [0, 1, 2], NOISE)


@pytest.mark.parametrize("epsilon", ["1/10", 1, "1e-20"])
def test_whatever_the_noise_a_search_ends_with_k_places(epsilon):
    facilities = NoisyDemand(epsilon, 2, points=TOWN, steps=5)
    drawn = facilities.draw({0: 10**30, 3: -5}, size=8, source=SeededSource(2))
    assert drawn.shape == (8, 2)
    assert all(a < b for a, b in drawn.tolist())


def test_without_much_noise_no_swap_is_better():
    points = np.random.default_rng(3).random((30, 2))
    demand = dict(enumerate(np.random.default_rng(4).integers(0, 50, 30).tolist()))
    facilities = NoisyDemand(10**4, 3, points=points, steps=60)
    found = facilities.draw(demand, source=SeededSource(1))
    cost = facilities.search.cost_of(found, demand)
    for leaving in found:
        for coming in set(range(30)) - set(found):
            other = tuple(sorted({*found, coming} - {leaving}))
            assert facilities.search.cost_of(other, demand) >= cost


def test_the_cheaper_way_is_planned_and_both_are_shown():
    points = [[x, y] for x in range(8) for y in range(8)]
    plan = plan_k_median(1, 4, points=points, total=3000)
    assert isinstance(plan.mechanism, NoisyDemand)
    assert set(plan.on_example) == {NoisyDemand.name, KMedian.name}
    assert plan.on_example[NoisyDemand.name] == min(plan.on_example.values())
    assert plan_k_median(1, 4, points=points, total=3000).on_example == plan.on_example


def test_a_large_delta_and_few_swaps_can_favour_the_other_way():
    plan = plan_k_median("1/2", 1, points=[[0.0], [1.0]], total=4, steps=1, delta="1/10")
    assert set(plan.on_example) == {NoisyDemand.name, KMedian.name}


def test_an_example_without_demand_and_a_delta_for_noise_are_refused():
    with pytest.raises(BadParameter, match="no demand"):
        plan_k_median(1, 1, points=TOWN, example=[7])
    with pytest.raises(BadParameter, match="needs no delta"):
        NoisyDemand(1, 1, points=TOWN, delta="1e-9")


def test_covers_of_the_karate_club():
    club = networkx.karate_club_graph()
    plan = plan_vertex_cover(1, list(club), example=list(club.edges))
    assert isinstance(plan.mechanism, DegreeOrder)
    assert plan.on_example[DegreeOrder.name] < 18 < plan.on_example[VertexCoverOrder.name]
    assert plan.at_worst[VertexCoverOrder.name] <= plan.at_worst[DegreeOrder.name]
    order = plan.mechanism.release(list(club.edges))
    cover = set(decode(order, club))
    assert all(u in cover or v in cover for u, v in club.edges)


def test_regular_graphs_favour_the_order_with_a_factor():
    torus = networkx.grid_2d_graph(12, 12, periodic=True)
    plan = plan_vertex_cover(4, list(torus), example=list(torus.edges))
    assert isinstance(plan.mechanism, VertexCoverOrder)


def test_ties_fall_by_lot():
    orders = {tuple(order.tolist()) for order in DegreeOrder(100, 3).draw([], size=60, source=SeededSource(5))}
    assert len(orders) == 6


# ── Demand in space, and how much of it each facility has ─────────────────────────────────────────────────────────────


def test_demand_in_space_counts_at_the_nearest_point_and_each_place_alone():
    town = KMedian(1, 2, points=TOWN)
    people = np.array([[0.4, 0.2], [4, 0], [1e300, 1e300], [np.nan, 0], [np.inf, 1], [9, 8.5], [0, 1.4]])
    alone = [town.read(row[np.newaxis]) for row in people]
    assert [int(counts.sum()) for counts in alone] == [1, 1, 1, 0, 0, 1, 1]
    assert (sum(alone) == town.read(people)).all()
    assert town.read(people).tolist()[0] == 2 + 1  # of places too far to tell apart the first point
    many = np.random.default_rng(3).random((700, 2)) * 10
    nearest = [
        min(range(4), key=lambda i: sum((a - b) ** 2 for a, b in zip(TOWN[i], row, strict=True))) for row in many
    ]
    assert town.read(many).tolist() == np.bincount(nearest, minlength=4).tolist()
    noisy = NoisyDemand(1, 2, points=TOWN, steps=3)
    for row in people:
        shares = assert_sensitivity(seeded(noisy), many[:5], np.vstack([many[:5], row]), NOISE)
        assert shares <= 1
    for wrong in (np.zeros((3, 3)), np.array([["a", "b"]])):
        with pytest.raises(BadParameter, match="2 numbers each"):
            town.read(wrong)


def test_what_is_served_is_the_noisy_demand_and_no_second_look():
    """The same noise as for the places alone, added up; all of it belongs to some facility."""
    demand = [0] * 60 + [1] * 5 + [2] * 50 + [3] * 40
    plain, both = (NoisyDemand(1, 2, points=TOWN, served=served) for served in (False, True))
    for seed in range(5):
        places, served = both.draw(demand, source=SeededSource(seed))
        assert places == plain.draw(demand, source=SeededSource(seed))
        noisy = plain.noise.draw(plain.search.read(demand), source=SeededSource(seed))
        assert sum(served) == sum(map(int, noisy))
    assert both.event == plain.event
    assert NoisyDemand(60, 2, points=TOWN, served=True).release(demand) == ((0, 3), (115, 40))
    assert both.draw(demand, size=3).shape == (3,)
    release = combinatorial.k_median(TOWN, np.array(TOWN).repeat(30, axis=0), 2, 60, served=True)
    assert sum(release.value[1]) == 120
    for ready, served in ((plain, True), (both, False)):
        with pytest.raises(BadParameter, match="served"):
            combinatorial.k_median(ready, demand, 2, 1, served=served)


# ── Squares of distances, and facilities that cost something ──────────────────────────────────────────────────────────


def total_cost(points, counts, chosen, opening, power):
    far = [
        min(sum((a - b) ** 2 for a, b in zip(p, points[f], strict=True)) ** (power / 2) for f in chosen) for p in points
    ]
    return sum(n * d for n, d in zip(counts, far, strict=True)) + sum(opening[f] for f in chosen)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_facilities_that_cost_something_are_as_many_as_pay(seed, squared):
    """Of each number of facilities no swap is better; and no other number with the least of all costs is."""
    rng = np.random.default_rng(seed)
    points, counts = rng.integers(0, 12, (9, 2)).tolist(), rng.integers(0, 9, 9).tolist()
    opening = rng.integers(0, 80, 9).tolist()
    town = NoisyDemand(10**4, 4, points=points, squared=squared, opening=opening, steps=50)
    found = town.draw(dict(enumerate(counts)), source=SeededSource(seed))
    power = 2 if squared else 1
    costs = {
        chosen: total_cost(points, counts, chosen, opening, power)
        for size in range(1, 5)
        for chosen in combinations(range(9), size)
    }
    best = min(costs.values())
    assert costs[found] <= best * 1.12  # local search; rounding is far finer
    for leaving in found:
        for coming in set(range(9)) - set(found):
            other = tuple(sorted({*found, coming} - {leaving}))
            assert costs[other] >= costs[found] - 0.01


def test_more_expensive_facilities_are_fewer():
    points = [[x] for x in (0, 1, 10, 11, 30, 31)]
    demand = dict.fromkeys(range(6), 20)
    found = [
        len(NoisyDemand(10**3, 6 - 1, points=points, opening=price, steps=50).draw(demand, source=SeededSource(1)))
        for price in (0, 19, 100, 500, 10**5)
    ]
    assert found == [5, 5, 3, 2, 1]


def test_squares_are_those_of_the_distances():
    plain, squared = (KMedian(1, 1, points=[[0], [3], [5]], squared=each) for each in (False, True))
    demand = {0: 2, 1: 7, 2: 1}
    assert plain.cost_of((0,), demand) == pytest.approx(7 * 3 + 5)
    assert squared.cost_of((0,), demand) == pytest.approx(7 * 9 + 25, rel=1e-3)
    assert not squared.metric.is_metric
    assert squared.metric != plain.metric
    assert squared.reason().lower_bound is None
    assert NoisyDemand(1, 1, points=TOWN, squared=True).reason().lower_bound is None
    assert NoisyDemand(1, 1, points=TOWN, opening=3).reason().lower_bound is None


def test_one_demand_point_moves_the_counts_by_one_where_facilities_cost_something():
    facilities = NoisyDemand(1, 3, points=TOWN, steps=3, squared=True, opening=[3, 5, 1, 9])
    for size in range(4):
        for demand in list(product(range(-1, 5), repeat=size))[::11]:
            for place in range(-1, 5):
                assert assert_sensitivity(seeded(facilities), list(demand), [*demand, place], NOISE) == 1


def test_a_release_with_costs_of_facilities():
    points = [[0, 0], [1, 0], [20, 0], [21, 0]]
    demand = [0] * 60 + [1] * 5 + [2] * 70
    assert combinatorial.k_median(points, demand, 3, 50, opening=30).value == (0, 2)
    assert combinatorial.k_median(points, demand, 3, 50, opening=30, served=True).value == ((0, 2), (65, 70))
    assert combinatorial.k_median(points, demand, 2, 50, squared=True).value == (0, 2)
    several = NoisyDemand(50, 3, points=points, opening=30).draw(demand, size=(2, 2), source=SeededSource(0))
    assert several.shape == (2, 2)
    assert several[1, 1] == (0, 2)


@pytest.mark.parametrize("opening", [[1, 2], -1, "1e400", [1, 2, 3, None]])
def test_costs_of_facilities_are_public_numbers(opening):
    with pytest.raises(BadParameter, match="opening"):
        NoisyDemand(1, 2, points=TOWN, opening=opening)


def test_only_points_in_space_are_squared_and_a_ready_mechanism_keeps_its_own():
    with pytest.raises(BadParameter, match="points in space are squared"):
        NoisyDemand(1, 1, matrix=[[0, 1], [1, 0]], squared=True)
    for wrong in ({"squared": True}, {"opening": 3}, {"served": True}):
        with pytest.raises(BadParameter, match="ready mechanism"):
            combinatorial.k_median(NoisyDemand(1, 2, points=TOWN), [0, 1], 2, 1, **wrong)

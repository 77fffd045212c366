"""The whole search: privacy on all small demands, its law, its bounds, its input."""

import pickle
from fractions import Fraction
from itertools import combinations_with_replacement

import networkx
import numpy as np
import pytest

from leastnoise import check
from leastnoise.errors import BadParameter, InsecureSource, LeastNoiseError, TooLarge
from leastnoise.exact import SeededSource
from leastnoise.mechanisms.combinatorial.k_median import KMedian
from leastnoise.mechanisms.rank.quantile import growing_databases
from leastnoise.model.certificate import Certificate
from leastnoise.model.channel import Channel
from leastnoise.model.events import BoundedRange, Composed, event_from_dict
from support.statistics import fits

LINE = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
SQUARE = [[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]]
EXACT = [
    KMedian("4*ln(2)", 1, matrix=LINE, steps=1, resolution=2),
    KMedian("6*ln(2)", 1, matrix=LINE, steps=2, resolution=2),
    KMedian("4*ln(3)", 2, matrix=SQUARE, steps=1, resolution=2),
]


def demands(points, most):
    return [d for size in range(most + 1) for d in combinations_with_replacement(range(points), size)]


def channel_of(mechanism, most):
    points = mechanism.metric.count
    laws = [mechanism.law(demand) for demand in demands(points, most)]
    outputs = sorted({place for law in laws for place in law})
    rows = [[law[place].lower if place in law else Fraction(0) for place in outputs] for law in laws]
    graph = growing_databases(most, points)
    return Channel(rows, graph.nodes, outputs), graph


@pytest.mark.parametrize("mechanism", EXACT, ids=lambda m: f"{m.metric.count} points, {m.k}, {m.steps} steps")
def test_the_search_costs_epsilon_on_all_neighbouring_demands(mechanism):
    """Half of what the thesis' Proposition 2.5 would charge for the same weights; and not as little as one choice."""
    channel, graph = channel_of(mechanism, 3)
    assert check(channel, graph, mechanism.epsilon)
    assert not check(channel, graph, mechanism.share / 2)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", EXACT, ids=lambda m: f"{m.metric.count} points, {m.k}, {m.steps} steps")
def test_draws_follow_the_law(mechanism):
    demand = [0, 1, 1, 2]
    law = sorted(mechanism.law(demand).items())
    assert sum(p.lower for _, p in law) == 1
    sums = np.cumsum([float(p) for _, p in law])
    places = {facilities: i for i, (facilities, _) in enumerate(law)}
    drawn = mechanism.draw(demand, size=1500, source=SeededSource(8))
    assert drawn.shape == (1500, mechanism.k)
    samples = np.array([places[tuple(row)] for row in drawn.tolist()])
    assert fits(samples, lambda i: sums[i], 0, len(law) - 2)
    other = sorted(mechanism.law([0, 0, 0, 2]).items())
    wrong = np.cumsum([float(p) for _, p in other])
    assert not fits(samples, lambda i: wrong[i], 0, len(law) - 2)


@pytest.mark.parametrize("mechanism", EXACT, ids=lambda m: f"{m.metric.count} points, {m.k}, {m.steps} steps")
def test_the_expected_cost_is_within_its_bound(mechanism):
    for demand in [*demands(mechanism.metric.count, 3), (0,) * 40, (2,) * 25 + (0,) * 5]:
        law = mechanism.law(demand)
        costs = {facilities: mechanism.cost_of(facilities, demand) for facilities in law}
        expected = sum(p.upper * costs[facilities] for facilities, p in law.items())
        assert expected <= mechanism.cost_bound(min(costs.values()), len(demand))


def test_some_demand_is_as_hard_as_the_lower_bound_says():
    count = 24
    mechanism = KMedian("1/2", 1, matrix=1 - np.eye(count), steps=1, resolution=1000)
    bound = mechanism.reason().lower_bound.upper
    assert bound > 0
    worst = max(
        sum(p.upper * mechanism.cost_of(f, [v] * s) for f, p in mechanism.law([v] * s, bits=32).items())
        for s in (2, 4, 6)
        for v in (0, 7)
    )
    assert worst >= bound


def test_delta_buys_a_larger_share():
    pure, loose = (KMedian(1, 5, points=np.eye(30), delta=delta) for delta in (0, "1e-6"))
    assert pure.steps == 15
    assert pure.event == Composed((BoundedRange("1/16"),) * 16)
    assert loose.share > 1.5 * pure.share
    assert loose.error().expected.upper < pure.error().expected.lower
    assert loose.reason().lower_bound is None
    assert pure.reason().lower_bound is not None
    assert event_from_dict(loose.event.to_dict()) == loose.event


def test_a_clear_optimum_is_found():
    """Three heaps of a thousand on a road-like grid: the facilities go to the heaps."""
    grid = networkx.grid_2d_graph(8, 8)
    lengths = dict(networkx.all_pairs_shortest_path_length(grid))
    matrix = [[lengths[a][b] for b in grid] for a in grid]
    mechanism = KMedian(4, 3, matrix=matrix, steps=12)
    demand = {0: 1000, 36: 1000, 60: 1000}
    assert mechanism.draw(demand, source=SeededSource(2)) == (0, 36, 60)


def test_certificates_pass_the_checker():
    certificate = KMedian("31*ln(2)", 10, points=np.eye(40)).certificate()
    assert check(certificate)
    assert Certificate.from_json(certificate.to_json()) == certificate
    with pytest.raises(BadParameter, match="irrational"):
        KMedian(1, 2, points=np.eye(5)).certificate()


def test_a_copy_is_the_same():
    for mechanism in EXACT:
        mechanism.law([1])
        copy = pickle.loads(pickle.dumps(mechanism))  # noqa: S301 - our own bytes
        assert copy == mechanism
        assert copy.law([0, 2]) == mechanism.law([0, 2])


def test_predictable_noise_is_refused():
    with pytest.raises(InsecureSource):
        EXACT[0].release([0], source=SeededSource(1))
    assert EXACT[0].release([0]) in {(0,), (1,), (2,)}


def test_progress_is_told_and_can_stop_the_search():
    told = []
    EXACT[1].draw([0], progress=lambda what, times: told.append((what, times)))
    assert told == [("swapping", 0), ("swapping", 1)]

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        EXACT[0].release([0], progress=stop)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"k": 0}, "k "),
        ({"k": 3}, "k "),
        ({"delta": 1}, "delta"),
        ({"steps": 0}, "steps"),
        ({"matrix": None}, "points"),
        ({"resolution": 0}, "resolution"),
    ],
)
def test_bad_parameters_are_refused_by_name(changes, name):
    with pytest.raises(LeastNoiseError, match=name):
        KMedian(**{"epsilon": 1, "k": 1, "matrix": LINE, **changes})


def test_a_large_law_is_not_written_down():
    with pytest.raises(TooLarge, match="draw"):
        KMedian(1, 2, points=np.eye(20)).law([])
    assert EXACT[0].pmf("nothing", [0]).upper == 0

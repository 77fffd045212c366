"""Where every two of many inputs are bound: exactly private, proven, and near the optimum."""

import random
from fractions import Fraction
from math import isqrt

import networkx
import numpy as np
import pytest

from leastnoise.checker import check
from leastnoise.checker.duality import lower_bound
from leastnoise.designer import design
from leastnoise.designer.linear.attenuated_transport import Transport
from leastnoise.designer.linear.clock import Clock
from leastnoise.designer.linear.interior_point import mix_inside, whole_sums
from leastnoise.designer.linear.many_inputs_proof import Result, is_private, solve_many, spread_out
from leastnoise.designer.linear.reduction import has_many_constraints
from leastnoise.exact import exp_below
from leastnoise.model import read_problem
from leastnoise.model.graphs import from_distance, from_networkx, path
from leastnoise.model.losses import from_matrix


def places(count, seed, *, apart=1):
    """Points of a square with their distances rounded up to a hundredth, and an uneven prior."""
    rng = random.Random(seed)
    points = rng.sample([(apart * x, apart * y) for x in range(100) for y in range(100)], count)
    table = [[Fraction(rounded_root(10**4 * ((a - c) ** 2 + (b - d) ** 2)), 100) for c, d in points] for a, b in points]
    weights = [rng.randint(1, 100) for _ in points]
    return from_distance(table), [Fraction(weight, sum(weights)) for weight in weights]


def rounded_root(square):
    return isqrt(square - 1) + 1 if square else 0


def tree(count, seed):
    """A random tree: few edges, many pairs."""
    return from_networkx(networkx.random_labeled_tree(count, seed=seed))


def many(graph, epsilon, prior=None, **options):
    """A design by this way, however small it is."""
    return solve_many(read_problem(graph, epsilon, prior=prior, **options), Clock())


@pytest.mark.slow
def test_fifty_places_are_proven_to_two_percent_by_a_certificate_that_checks():
    graph, prior = places(50, seed=1)
    best = design(graph, "1/20", prior=prior, time_limit=50)
    assert best.gap <= Fraction(1, 50) * best.loss.upper
    assert check(best.certificate)
    assert check(best.channel, graph, "1/20")


@pytest.mark.parametrize("epsilon", ["1/40", "1/10", "ln(2)"])
def test_the_optimum_lies_between_bound_and_loss(epsilon):
    graph, prior = places(9, seed=2)
    exact = design(graph, epsilon, prior=prior)
    near = many(graph, epsilon, prior)
    assert near.lower_bound.upper <= exact.loss.upper
    assert exact.lower_bound.lower <= near.loss.lower
    assert near.gap <= Fraction(3, 100) * near.loss.upper
    assert check(near.certificate)


@pytest.mark.slow
def test_on_a_graph_multipliers_go_along_edges():
    graph = tree(14, seed=3)
    near, exact = many(graph, "1/2"), design(graph, "1/2")
    assert check(near.certificate)
    assert near.lower_bound.upper <= exact.loss.upper <= near.loss.upper
    assert near.gap <= Fraction(3, 100) * near.loss.upper


def test_any_loss_and_few_outputs():
    rng = random.Random(4)
    graph, prior = places(12, seed=4)
    loss = from_matrix([[rng.randint(-5, 20) for _ in range(12)] for _ in range(3)])
    near, exact = many(graph, "1/50", prior, loss=loss), design(graph, "1/50", prior=prior, loss=loss)
    assert check(near.certificate)
    assert near.lower_bound.upper <= exact.loss.upper <= near.loss.upper


def test_a_diameter_beyond_the_exponents_of_doubles():
    graph, prior = places(10, seed=5, apart=40)
    near = many(graph, 1, prior)
    assert check(near.certificate)
    assert near.lower_bound.lower >= 0


def test_places_that_nearly_touch():
    graph = from_distance([[abs(x - y) for y in (0, 1, 10**7, 10**8)] for x in (0, 1, 10**7, 10**8)])
    near = many(graph, "1/10000000")
    assert check(near.certificate)


@pytest.mark.slow
def test_a_limit_of_time_leaves_a_proven_channel():
    graph, prior = places(60, seed=6)
    best = design(graph, "1/20", prior=prior, time_limit=1)
    assert check(best.certificate)
    assert best.loss.upper <= min(
        sum(p * graph.distance(x, y) for x, p in zip(graph.nodes, prior, strict=True)) for y in graph.nodes
    )


def test_only_what_is_too_large_goes_this_way():
    graph, prior = places(50, seed=1)
    assert has_many_constraints(read_problem(graph, 1, prior=prior), reduce=True, limit=50)
    assert not has_many_constraints(read_problem(graph, 1, prior=prior), reduce=True, limit=600)
    assert not has_many_constraints(read_problem(graph, 1, prior=prior), reduce=True)
    large, prior = places(70, seed=1)
    assert has_many_constraints(read_problem(large, 1, prior=prior), reduce=True)
    small, prior = places(20, seed=1)
    assert not has_many_constraints(read_problem(small, 1, prior=prior), reduce=True)
    assert not has_many_constraints(read_problem("torus:40,40", 1), reduce=True)


@pytest.mark.parametrize("place", [(0, 1), (3, 0), (2, 2)])
def test_a_law_that_is_barely_too_much_is_not_private(place):
    space = spread_out(read_problem(path(4), 1))
    distances = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    law = np.exp(-distances * (1 - 1e-9))
    assert is_private(space, law)
    law[place] *= 1 + 1e-8 if place == (2, 2) else 1 - 1e-8
    assert not is_private(space, law)


def test_a_law_that_is_too_much_by_less_than_a_double_tells_is_not_private():
    """Even where the doubles in question are next to one another; entries are as exact as they stand."""
    space = spread_out(read_problem(path(2), 1))
    for large in np.random.default_rng(1).uniform(0.5, 1, 200).tolist():
        least = exp_below(Fraction(-1), 128) * Fraction(large)
        small = float(least) if Fraction(float(least)) < least else float(np.nextafter(float(least), 0))
        assert not is_private(space, np.array([[large], [small]]))
        assert not is_private(space, np.array([[small], [large]]))


def test_a_product_that_was_rounded_down_is_not_taken_for_small():
    """Also with a factor that leaves nothing to spare."""
    space, factor = spread_out(read_problem(path(2), 1)), float(np.exp(-1))
    space.__dict__["bounds"] = np.full((2, 2), factor), np.full((2, 2), factor)
    products = [(large, large * factor) for large in np.random.default_rng(1).uniform(0.5, 1, 200).tolist()]
    down = [(large, small) for large, small in products if Fraction(small) < Fraction(large) * Fraction(factor)]
    assert len(down) > 50
    assert not any(is_private(space, np.array([[large], [small]])) for large, small in down)


def test_doubles_that_vanish_are_not_taken_for_private():
    space = spread_out(read_problem(from_distance([[0, 500], [500, 0]]), 1))
    assert not is_private(space, np.array([[0.0], [1e-200]]))
    assert not is_private(space, np.array([[1e-310], [1e-310]]))
    assert not is_private(space, np.array([[-1.0], [-1.0]]))


def test_sources_send_no_more_than_they_have_and_columns_are_private():
    rng = np.random.default_rng(7)
    distances = np.abs(np.subtract.outer(*[np.sort(rng.random(20))] * 2))
    nearness = np.exp(-4 * distances)
    costs, prices = distances[:, 8] / 20, np.full(20, 0.3 / 20)
    transport = Transport(nearness, 0.05)
    column = transport.column(8, costs, prices, 60)
    assert (column[:, None] >= nearness * column * (1 - 1e-12)).all()
    sent = transport.shipment(8, costs, prices, 60)
    gains = costs - prices
    given = np.bincount(sent.sources, weights=sent.amounts, minlength=20)
    assert (given <= np.maximum(gains, 0) * (1 + 1e-12) + 1e-300).all()
    assert (gains[sent.sinks] < 0).all()
    assert transport.column(8, costs, np.zeros(20), 60) is None


@pytest.mark.parametrize("seed", range(8))
def test_sinks_get_what_they_want_where_no_column_is_missing(seed):
    """Prices are lowered to the ratio of the best column; the dual of a transport then has no lack."""
    rng = np.random.default_rng(seed)
    points = rng.random((25, 2))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    nearness, costs = np.exp(-6 * distances), distances[:, 3] / 25
    prices, transport = np.full(25, rng.uniform(0.1, 0.6) / 25), Transport(nearness, 0.05)
    for _ in range(20):
        column = transport.column(3, costs, prices, 100)
        prices *= min(1, costs @ column / (prices @ column))
    gains, sent = costs - prices, transport.shipment(3, costs, prices, 100)
    got = np.bincount(sent.sinks, weights=sent.amounts * nearness[sent.sources, sent.sinks], minlength=25)
    wanted = np.maximum(-gains, 0)
    assert wanted.sum() > 0
    assert np.maximum(wanted - got, 0).sum() <= 5e-3 * wanted.sum()
    assert len(sent.sources) <= 25


def test_an_interior_point_finds_the_optimum():
    cost, matrix = np.array([1.0, 2.0, 3.0, 5.0]), np.array([[1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, 2.0]])
    weights, prices = mix_inside(cost, matrix, 1e-8)
    assert cost @ weights == pytest.approx(3, abs=1e-6)
    assert prices.sum() == pytest.approx(3, abs=1e-6)
    assert matrix @ whole_sums(matrix, weights * 1.001) == pytest.approx([1, 1], abs=1e-13)


def test_multipliers_that_ask_too_much_prove_what_the_checker_says():
    rng = random.Random(8)
    graph, prior = places(6, seed=8)
    space = spread_out(read_problem(graph, "1/50", prior=prior))
    pairs = [(x, z) for x in range(6) for z in range(6) if x != z]
    flows = [(x, z, y, rng.randint(1, 10**6)) for x, z in pairs for y in range(6)]
    result = Result(space, [[Fraction(1, 6)] * 6] * 6, flows, bits=20)
    factors = {(x, z): Fraction(float(space.factors[x, z])) for x, z in pairs}
    certificate = result.certificate()
    bound = lower_bound(prior, certificate.loss, Fraction(0), factors, certificate.multipliers)
    assert result.lower_bound == bound < 0
    assert check(certificate)

"""The best mechanism for a linear map, and the bound that none of them can beat."""

from fractions import Fraction
from math import exp, pi

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import gamma

from leastnoise.checker import check
from leastnoise.errors import BadParameter
from leastnoise.exact import Enclosure, SeededSource, ln
from leastnoise.mechanisms.histogram.mapped_noise import MappedNoise
from leastnoise.mechanisms.numeric import VectorLaplace
from leastnoise.mechanisms.vector import (
    CountingBody,
    CrossPolytope,
    KNorm,
    LinearMapProblem,
    Polytope,
    for_linear_map,
    lattice_packing_bound,
    packing_bound,
)
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import path

MAPS = {
    "prefix sums": np.tril(np.ones((4, 4), dtype=int)),
    "all marginals of two attributes": [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]],
    "ranges on three cells": [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 1, 1]],
    "one total": [[1, 1, 1, 1]],
    "weights": [[2, 3, 5]],
    "with a zero column and repeated ones": [[1, 0, 1, -1], [1, 0, 2, -1]],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MAPS)
def test_the_best_is_the_first_and_is_as_good_as_it_says(name):
    matrix = np.array(MAPS[name])
    plan = for_linear_map(matrix, 1)
    costs = [float(option.expected) for option in plan.options]
    assert costs == sorted(costs)
    drawn = plan.best.draw([0] * len(matrix), size=40_000, source=SeededSource(1))
    assert np.abs(drawn).sum(axis=1).mean() == pytest.approx(costs[0], rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", MAPS)
def test_every_candidate_is_private_for_every_column(name):
    """P(y | F·x)/P(y | F·x ± column) on outputs around, with the exact masses of each mechanism."""
    matrix, epsilon = np.array(MAPS[name]), ln(8)
    start = [0] * len(matrix)
    for mechanism in LinearMapProblem(matrix, epsilon).candidates():
        outputs = np.unique(mechanism.draw(start, size=40, source=SeededSource(2)), axis=0).tolist()
        for column in matrix.T.tolist():
            for y in outputs:
                here, there = mechanism.pmf(tuple(y), start), mechanism.pmf(tuple(y), column)
                assert here.lower <= 8 * there.upper
                assert there.lower <= 8 * here.upper


def test_independent_columns_are_laplace_noise_in_their_basis():
    best = for_linear_map(MAPS["prefix sums"], 1).best
    assert isinstance(best, KNorm)
    assert best.body == CrossPolytope(4)
    assert best.basis == tuple(map(tuple, MAPS["prefix sums"].tolist()))


def test_dependent_columns_become_a_hull_on_their_own_lattice():
    best = for_linear_map([[2, 0, 2, 0], [0, 2, 2, 2], [0, 4, 4, 4]], 1).best
    assert isinstance(best.body, Polytope)
    drawn = best.draw([0, 0, 0], size=100, source=SeededSource(3))
    assert (drawn % 2 == 0).all()
    assert (drawn[:, 2] == 2 * drawn[:, 1]).all()
    assert best.pmf((0, 1, 2), (0, 0, 0)).upper == 0


def test_one_number_is_the_geometric_mechanism():
    total = for_linear_map(MAPS["one total"], "ln(3)").best
    assert total.error().expected.lower == Fraction(3, 4)


@pytest.mark.parametrize("matrix", [[], [[]], [[1], [1, 2]], [[0, 0]], [["x"]], [[0.5]], [1, 2]])
def test_what_is_no_whole_matrix_is_refused(matrix):
    with pytest.raises(BadParameter, match="matrix"):
        for_linear_map(matrix, 1)


def test_the_epsilon_is_read_exactly():
    with pytest.raises(BadParameter, match="epsilon"):
        for_linear_map([[1]], 0)
    assert LinearMapProblem([[1]], 0.1).epsilon == Fraction(1, 10)


def test_what_takes_too_long_is_left_out_and_the_rest_compared():
    """Thirty counting queries of two hundred kinds of records: no hull, but the body of all counting queries."""
    matrix = np.random.default_rng(1).integers(0, 2, (30, 200))
    plan = for_linear_map(matrix, 1)
    assert isinstance(plan.best.body, CountingBody)
    assert {type(option.mechanism) for option in plan.options} == {KNorm, VectorLaplace, MappedNoise}


@pytest.mark.parametrize("dimension", [1, 2, 5, 20])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), ln(3)])
def test_the_packing_bound_is_its_formula(dimension, epsilon):
    d, volume = dimension, Fraction(7, 3)
    balls = {"l1": 2**d / gamma(d + 1), "l2": pi ** (d / 2) / gamma(d / 2 + 1), "l∞": 2.0**d}
    for loss, ball in balls.items():
        formula = d / (d + 1) * (gamma(d + 1) / float(epsilon) ** d * float(volume) / ball) ** (1 / d)
        assert float(packing_bound(d, volume, epsilon, loss)) == pytest.approx(formula, rel=1e-12)
    with pytest.raises(BadParameter, match="loss"):
        packing_bound(d, volume, epsilon, "l3")


@pytest.mark.parametrize("dimension", [1, 2, 3, 10])
@pytest.mark.parametrize("epsilon", [1, "1/10", "1/100"])
@pytest.mark.parametrize("body", [CrossPolytope, CountingBody])
def test_the_lattice_bound_is_below_the_error_and_near_the_continuous_one(dimension, epsilon, body):
    mechanism = KNorm(epsilon, body(dimension))
    bound, expected = mechanism.reason().lower_bound, mechanism.error().expected
    assert 0 < bound.lower <= bound.upper < expected.lower
    if epsilon == "1/100":
        continuous = packing_bound(dimension, mechanism.body.volume.lower, mechanism.epsilon, "l1")
        assert float(bound) == pytest.approx(float(continuous), rel=0.02)


def test_the_lattice_bound_is_the_mean_norm_of_the_nearest_points():
    """Z points in the plane, by hand: one at zero, four at one, eight at two, the rest at three."""
    for whole, expected in [(1, 0), (5, Fraction(4, 5)), (13, Fraction(20, 13)), (14, Fraction(23, 14))]:
        mass = Fraction(whole)
        assert lattice_packing_bound(2, Enclosure(mass, mass)).lower == expected


def test_no_mechanism_for_a_count_beats_the_bound():
    """The best additive noise on −12..12 by linear programming, against the bound and the geometric mechanism."""
    epsilon, reach = 1.0, 12
    places = np.arange(-reach, reach + 1)
    rows = []
    for i in range(len(places) - 1):
        for one, other in ((i, i + 1), (i + 1, i)):
            row = np.zeros(len(places))
            row[one], row[other] = 1, -exp(epsilon)
            rows.append(row)
    best = linprog(
        np.abs(places), A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=np.ones((1, len(places))), b_eq=[1]
    ).fun
    bound = float(KNorm(1, CrossPolytope(1)).reason().lower_bound)
    assert bound <= best + 1e-9
    assert best == pytest.approx(float(KNorm(1, CrossPolytope(1)).error().expected), rel=1e-4)


def test_a_certificate_speaks_of_two_neighbours():
    certificate = KNorm("ln(3)", Polytope(((1, 0), (0, 1), (1, 1)))).certificate()
    assert check(certificate)
    assert certificate.graph == path(2)
    assert isinstance(certificate.channel, Channel)

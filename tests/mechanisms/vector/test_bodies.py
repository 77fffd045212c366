"""Bodies on the lattice: steps, counts, volumes and means, each against brute force."""

from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact import Enclosure, SeededSource, ln
from leastnoise.exact.enclosures import numerator, power_sum, ratio_of_power_sums
from leastnoise.exact.laplace_sums import mean_absolute_sum
from leastnoise.mechanisms.vector import CountingBody, CrossPolytope, Cube, EuclideanBall, KNorm, Polytope
from leastnoise.mechanisms.vector.bodies import RadialBody

BODIES = [
    CrossPolytope(1),
    CrossPolytope(3),
    Cube(1),
    Cube(3),
    CountingBody(1),
    CountingBody(3),
    EuclideanBall(1, 1),
    EuclideanBall(2, 5),
    EuclideanBall(3, 2),
    Polytope(((1, 0), (0, 1), (1, 1))),
    Polytope(((2, 1), (1, 3), (1, 0), (0, 1))),
    Polytope(((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1))),
    Polytope(((3,), (2,))),
]
IDS = [body.name for body in BODIES]


def box(dimension, reach):
    return np.array(list(product(range(-reach, reach + 1), repeat=dimension)))


@pytest.mark.parametrize("body", BODIES, ids=IDS)
def test_steps_are_a_norm_rounded_up(body):
    points = np.random.default_rng(1).integers(-9, 10, (400, body.dimension))
    others = np.random.default_rng(2).integers(-9, 10, (400, body.dimension))
    assert (body.steps(points + others) <= body.steps(points) + body.steps(others)).all()
    assert (body.steps(-points) == body.steps(points)).all()
    assert (body.steps(3 * points) <= 3 * body.steps(points)).all()
    assert ((body.steps(points) == 0) == (points == 0).all(axis=1)).all()


@pytest.mark.parametrize("body", BODIES, ids=IDS)
def test_lattice_points_are_counted_at_every_radius(body):
    reach = 3 * max(body.largest_sum, 1)
    steps = body.steps(box(body.dimension, min(reach, 12)))
    for radius in range(4):
        if radius * body.largest_sum <= 12:
            assert body.points_within(radius) == (steps <= radius).sum()


@pytest.mark.parametrize("body", BODIES, ids=IDS)
@pytest.mark.parametrize("rate", [ln(8), Fraction(2)])
def test_totals_and_means_are_sums_over_the_lattice(body, rate):
    points = box(body.dimension, 25 if body.dimension < 3 else 14)
    weights = np.exp(-float(rate) * body.steps(points))
    assert float(body.total(rate)) == pytest.approx(weights.sum(), rel=1e-6)
    mean = (weights * np.abs(points).sum(axis=1)).sum() / weights.sum()
    assert float(body.mean_absolute(rate)) == pytest.approx(mean, rel=1e-5)
    near = weights[body.steps(points) <= 2].sum() / weights.sum()
    assert float(body.share_within(2, rate)) == pytest.approx(near, rel=1e-6)


@pytest.mark.parametrize("body", BODIES, ids=IDS)
def test_the_mean_is_enclosed_tightly(body):
    mean = body.mean_absolute(Fraction(1))
    assert mean.lower <= mean.upper
    assert mean.width < mean.lower / 10**8


@pytest.mark.parametrize("body", BODIES, ids=IDS)
def test_the_volume_is_that_of_many_lattice_points(body):
    radius = 20 if body.dimension < 3 else 12
    if isinstance(body, EuclideanBall):
        radius = 10
    points = body.points_within(radius) / radius**body.dimension
    assert points == pytest.approx(float(body.volume), rel=0.35)
    assert body.volume.lower > 0


@pytest.mark.parametrize("body", BODIES, ids=IDS)
def test_no_point_of_the_body_has_a_larger_sum(body):
    points = box(body.dimension, 6)
    inside = points[body.steps(points) <= 1]
    assert np.abs(inside).sum(axis=1).max() <= body.largest_sum


@pytest.mark.parametrize("radius", [2, 4])
@pytest.mark.parametrize("body", [b for b in BODIES if isinstance(b, RadialBody)], ids=lambda b: b.name)
def test_draws_within_a_radius_are_uniform(body, radius):
    """Counting queries have one way for radii up to their dimension, and another beyond."""
    from support.statistics import fits

    points = box(body.dimension, 2 * radius)
    inside = {tuple(p): i for i, p in enumerate(points[body.steps(points) <= radius].tolist())}
    drawn = body.draw_within(np.full(40 * len(inside), radius), SeededSource(3))
    places = [inside[tuple(row)] for row in drawn.tolist()]
    assert len(inside) == body.points_within(radius)
    assert fits(places, lambda i: Fraction(i + 1, len(inside)), 0, len(inside) - 2)


def test_the_same_body_in_two_ways():
    """Counting queries by their formula and as the hull of all columns of zeros and ones."""
    for dimension in (1, 2, 3, 4):
        columns = tuple(c for c in product((0, 1), repeat=dimension) if any(c))
        hull, known = Polytope(columns), CountingBody(dimension)
        points = np.random.default_rng(4).integers(-6, 7, (300, dimension))
        assert (hull.steps(points) == known.steps(points)).all()
        assert hull.volume == known.volume == Enclosure(Fraction(dimension + 1), Fraction(dimension + 1))
        assert hull.total(ln(3)) == known.total(ln(3))
        mean = known.mean_absolute(ln(3)).lower
        assert hull.mean_absolute(ln(3)).lower <= mean <= hull.mean_absolute(ln(3)).upper


columns = st.integers(1, 3).flatmap(
    lambda d: st.lists(st.tuples(*[st.integers(-3, 3)] * d).filter(any), min_size=d, max_size=d + 3)
)


@pytest.mark.slow
@settings(max_examples=60)
@given(columns)
def test_the_hull_of_any_columns_counts_its_points(found):
    matrix = np.array(found)
    if np.linalg.matrix_rank(matrix) < matrix.shape[1]:
        return
    body = Polytope(tuple(found))
    reach = int(np.abs(matrix).max())
    steps = body.steps(box(body.dimension, 2 * reach))
    assert [(steps <= radius).sum() for radius in range(3)] == [body.points_within(radius) for radius in range(3)]
    assert (body.steps(matrix) <= 1).all()


def test_a_ball_is_counted_only_so_far():
    with pytest.raises(TooLarge, match="counted"):
        EuclideanBall(3, 1).points_within(1000)


def test_power_sums_are_sums_of_powers():
    assert numerator([1, 27, 125, 343]) == [1, 23, 23, 1]  # lattice points of a cube: the Eulerian numbers of type B
    values, rate = [1, 9, 25], Fraction(1, 2)
    direct = sum((2 * r + 1) ** 2 * exp(-r / 2) for r in range(400))
    assert float(power_sum(values, rate)) == pytest.approx((1 - exp(-0.5)) * direct, rel=1e-12)
    cubes = sum(r**3 * exp(-r / 2) for r in range(400))
    assert float(ratio_of_power_sums([0, 1, 8, 27], values, rate)) == pytest.approx(cubes / direct, rel=1e-12)


@pytest.mark.parametrize("strides", [(1,), (1, -1), (2, 3), (1, 1, -2), (5,), (1, -1, 1, -1)])
@pytest.mark.parametrize("offset", [0, 3, -2])
@pytest.mark.parametrize("rate", [ln(2), Fraction(1, 2), Fraction(3)])
def test_means_of_geometric_sums_enclose_the_truth(strides, offset, rate):
    """Against the exact law of a truncated sum, and a bound on what truncation leaves out."""
    alpha, last = exp(-float(rate)), int(80 / float(rate))
    law = {offset: 1.0}
    for stride in strides:
        spread = {}
        for value, mass in law.items():
            for k in range(last):
                after = value + stride * k
                spread[after] = spread.get(after, 0.0) + mass * (1 - alpha) * alpha**k
        law = spread
        if len(law) > 2000:
            law = {value: mass for value, mass in law.items() if mass > 1e-18}
    direct = sum(abs(value) * mass for value, mass in law.items())
    found = mean_absolute_sum(offset, strides, rate)
    assert found.width < found.upper / 10**8
    assert float(found) == pytest.approx(direct, rel=1e-9)


def test_a_law_too_wide_is_refused():
    with pytest.raises(TooLarge, match="wide"):
        mean_absolute_sum(0, (10**6, -1), Fraction(1, 1000))
    with pytest.raises(TooLarge, match="wide"):
        mean_absolute_sum(10**30, (1, -1), Fraction(1))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Cube(0), "dimension"),
        (lambda: Cube(1.5), "dimension"),
        (lambda: CountingBody("x"), "dimension"),
        (lambda: CrossPolytope(10**9), "dimension"),
        (lambda: EuclideanBall(2, 0), "radius_squared"),
        (lambda: EuclideanBall(2, 10**12), "radius_squared"),
        (lambda: Polytope(()), "columns"),
        (lambda: Polytope(((1, 1), (2, 2))), "columns"),
        (lambda: Polytope(((1, 0), (1,))), "columns"),
        (lambda: Polytope(((), ())), "columns"),
        (lambda: Polytope(((1.5, 0), (0, 1))), "columns"),
        (lambda: Polytope(((2**40, 0), (0, 1))), "columns"),
        (lambda: KNorm(1, "cube"), "body"),
    ],
)
def test_bodies_that_are_none_are_refused_by_name(make, name):
    with pytest.raises((BadParameter, TooLarge), match=name):
        make()

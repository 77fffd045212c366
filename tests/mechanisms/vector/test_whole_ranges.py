"""Whole numbers that no 64 bits hold: steps, weights, draws and sums against Python's own integers."""

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest

from leastnoise.exact import SeededSource, negative_binomial
from leastnoise.exact.parameters import largest_size, whole_array, wide_enough
from leastnoise.mechanisms.numeric import Geometric, Staircase, TruncatedGeometric, VectorLaplace
from leastnoise.mechanisms.numeric.lattice_laplace import RealLattice
from leastnoise.mechanisms.truths import add_noise, read_whole_vector
from leastnoise.mechanisms.vector import (
    CountingBody,
    CrossPolytope,
    Cube,
    EuclideanBall,
    KNorm,
    Polytope,
    ball,
    polytope,
)
from leastnoise.mechanisms.vector.ball import Envelope

SIZES = [0, 1, 181, 2**15, 46341, 2**31 - 1, 2**31, 3037000499, 3037000500, 2**32, 10**11, 2**62, 2**63 - 1, 10**30]
SKEW = Polytope(((40000, 1), (39999, 1), (1, 0)))  # thin: large corners and faces, but few cells


def python_steps(body, point):
    """⌈‖y‖_K⌉ from the definition, in Python's integers."""
    match body:
        case EuclideanBall():
            square = sum(y * y for y in point)
            return next(
                r for r in range(max(isqrt(square // body.radius_squared) - 1, 0), 10**40)
                if r * r * body.radius_squared >= square
            )  # fmt: skip
        case Cube():
            return max(map(abs, point))
        case CrossPolytope():
            return sum(map(abs, point))
        case CountingBody():
            return max(0, *point) + max(0, *(-y for y in point))
    faces, scale = body._boundary.faces, body._boundary.scale
    return -(-max(abs(sum(a * y for a, y in zip(face, point, strict=True))) for face in faces) // scale)


BODIES = [
    EuclideanBall(2, 1),
    EuclideanBall(2, 10**9),
    EuclideanBall(2, 999_999_937),
    Cube(2),
    CrossPolytope(2),
    CountingBody(2),
    SKEW,
]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.name)
def test_steps_of_far_points_are_those_of_whole_numbers(body):
    points = [(sign * a + shift, b) for a in SIZES for b in SIZES for sign in (1, -1) for shift in (-1, 0, 1)]
    small = [p for p in points if max(map(abs, p)) < 2**63]
    expected = {p: python_steps(body, p) for p in points}
    assert body.steps(np.array(points, dtype=object)).tolist() == [expected[p] for p in points]
    assert body.steps(np.array(small, dtype=np.int64)).tolist() == [expected[p] for p in small]
    for point in small:  # by itself: the size of the others must not decide
        assert int(body.steps(np.array([point], dtype=np.int64))[0]) == expected[point]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.name)
def test_one_record_moves_a_far_point_by_one_step_at_most(body):
    """The privacy of the K-norm mechanism rests on it: log-weights of neighbours differ by at most the rate."""
    generator = np.random.default_rng(5)
    inside = [z for z in [(1, 0), (0, 1), (1, 1), (31622, 1), (1, 31622), (40000, 1)] if python_steps(body, z) == 1]
    far = [tuple(int(v) for v in generator.integers(-(2**k), 2**k, 2)) for k in range(2, 62) for _ in range(5)]
    for change in inside:
        here, there = (
            body.steps(np.array([tuple(y + s * z for y, z in zip(p, change, strict=True)) for p in far], dtype=object))
            for s in (0, 1)
        )
        assert max(abs(int(a) - int(b)) for a, b in zip(here, there, strict=True)) <= 1


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.name)
def test_masses_of_far_outputs_follow_from_the_steps(body):
    mechanism = KNorm("ln(3)", body)
    if isinstance(body, EuclideanBall) and body.radius_squared > 1:
        pytest.skip("its points can't be counted")
    for point in [(3, 1), (50_000, 3), (10**6, -(10**6)), (2**40, 5)]:
        mass, one = mechanism.pmf(point, (0, 0)), mechanism.pmf((0, 0), (0, 0))
        steps = python_steps(body, point)
        if steps > 40_000:
            assert mass.upper <= Fraction(1, 2**65536)
        else:
            assert mass.lower <= one.upper / 3**steps
            assert mass.upper >= one.lower / 3**steps


def test_the_mean_of_a_wide_ball_is_right():
    """ε·E‖y‖ is 2 for a wide ball in the plane; with squares that wrap it was 2.30."""
    rate = 1e-4
    drawn = KNorm(rate, EuclideanBall(2, 10**9)).draw([0, 0], 4000, SeededSource(3))
    lengths = np.sqrt((drawn.astype(float) ** 2).sum(axis=1)) / np.sqrt(1e9)
    assert abs(rate * lengths.mean() - 2) < 5 * np.sqrt(2 / 4000)


class Border:
    """Stands for geometric numbers: remembers what they are compared with, and reaches all of it."""

    def __init__(self):
        self.seen = []

    def __ge__(self, excess):
        self.seen += excess.tolist()
        return np.ones(len(excess), dtype=bool)


@pytest.mark.parametrize("size", [*SIZES[1:], 2**42, 2**50, 2**57])
@pytest.mark.parametrize("body", [EuclideanBall(2, 10**9), CrossPolytope(2)], ids=lambda body: body.name)
def test_the_excess_over_an_envelope_is_that_of_whole_numbers(monkeypatch, body, size):
    border = Border()
    whole, part = 2862168, 64
    proposals = np.array([[size, -size], [size, 0], [size // 3, 1]], dtype=object if size >= 2**63 else np.int64)
    monkeypatch.setattr(ball, "discrete_laplace", lambda **_: proposals)
    monkeypatch.setattr(ball, "geometric", lambda *_: border)
    Envelope(2, whole, part).draw(body.steps, Fraction(1), 3, None)
    expected = [whole * python_steps(body, p) - part * sum(map(abs, p)) for p in proposals.tolist()]
    assert border.seen == expected
    assert min(expected) >= 0


def test_a_proposal_on_the_envelope_is_always_kept(monkeypatch):
    """With no excess at all the first batch is enough, however unlikely a geometric number above zero is."""
    calls = []
    monkeypatch.setattr(ball, "geometric", lambda _rate, count, _source: calls.append(1) or np.zeros(count, int))
    drawn = Envelope(1, 1).draw(lambda points: np.abs(points).sum(axis=1), Fraction(20), 50, SeededSource(1))
    assert len(drawn) == 50
    assert len(calls) == 1


@pytest.mark.parametrize("along", [2**40, 2**46, 2**47, 2**60])
def test_draws_of_a_polytope_never_wrap(monkeypatch, along):
    monkeypatch.setattr(polytope, "geometric", lambda _rate, shape, _source: np.full(shape, along, dtype=np.int64))
    drawn = SKEW.draw(Fraction(1), 200, SeededSource(2))
    corners = [tuple(map(int, v)) for simplex in SKEW._boundary.simplices for v in simplex]
    reach = max(abs(entry) for corner in corners for entry in corner)
    sums = {tuple(sum(along * v[i] for v in simplex) for i in range(2)) for simplex in SKEW._boundary.simplices}
    for point in drawn.tolist():
        assert any(all(abs(y - s) <= 2 * reach for y, s in zip(point, total, strict=True)) for total in sums)


@pytest.mark.parametrize("power", [40, 44, 47, 50, 60])
def test_sums_of_geometric_numbers_never_wrap(power):
    terms = 1 << 16
    drawn = negative_binomial(terms, Fraction(1, 2**power), 3, SeededSource(power))
    for total in drawn.tolist():
        assert total / (terms * 2**power) == pytest.approx(1, abs=0.05)


def test_uniform_points_of_a_wide_counting_body_are_uniform():
    """R above d and below: as many draws of each point as of every other, by chi-square at 10^-6."""
    for radius in (1, 2, 3, 6):
        body, count = CountingBody(2), 40_000
        drawn = body.draw_within(np.full(count, radius), SeededSource(radius))
        assert body.steps(drawn).max() == radius
        _, seen = np.unique(drawn, axis=0, return_counts=True)
        points = body.points_within(radius)
        assert len(seen) == points
        expected = count / points
        statistic = ((seen - expected) ** 2 / expected).sum()
        assert statistic < points + 7 * np.sqrt(2 * points) + 30
    body = CountingBody(3)
    wide = body.draw_within(np.full(300, 10**12), SeededSource(4))
    assert body.steps(wide).max() <= 10**12
    assert (body.steps(wide) > 5 * 10**11).sum() > 200  # a share of 1 − 2^-3 of the points


# Answers of any size


ANSWERS = [
    [2**61, 1], [2**61 + 1, 1], [2**62, -(2**62)], [2**63 - 1, -(2**63)], [2**63, -1], [2**64, 1], [10**40, -(10**40)],
    np.array([2**63 - 1, -(2**63)]), np.array([2**64 - 1, 0], dtype=np.uint64), np.array([-128, 127], dtype=np.int8),
    np.array([10**40, 1], dtype=object), (2**63, -(2**70)),
]  # fmt: skip


@pytest.mark.parametrize("answer", ANSWERS, ids=str)
def test_whole_answers_of_any_size_are_answered_exactly(answer):
    true = [int(value) for value in answer]
    noise = np.array([[0, 0], [5, -5], [2**62, 2**62]])
    sums = add_noise(read_whole_vector(answer, 2), noise.copy())
    expected = [[x + z for x, z in zip(true, row, strict=True)] for row in noise.tolist()]
    assert sums.tolist() == expected
    fits = all(-(2**63) <= value < 2**63 for row in expected for value in row)
    assert (sums.dtype == np.int64) is fits  # what is released decides about its type, and nothing else
    for mechanism in (VectorLaplace(1, 2), KNorm(1, Cube(2)), KNorm(1, EuclideanBall(2, 4))):
        drawn = mechanism.draw(answer, source=SeededSource(1))
        assert max(abs(int(y) - x) for y, x in zip(drawn, true, strict=True)) < 1000
        assert mechanism.pmf(tuple(true), answer).lower > 0


@pytest.mark.parametrize("border", [2**60, 2**61, 2**62, 2**63 - 10**4])
def test_the_type_of_a_release_does_not_tell_neighbours_apart(border):
    """The type is a function of the released numbers: equal sums have equal types, whatever the answer was."""
    for x in range(border - 2, border + 3):
        for z in (-(2**62), -3, 0, 3, 2**62):
            here = add_noise(read_whole_vector([x], 1), np.array([z]))
            there = add_noise(read_whole_vector([x + 1], 1), np.array([z - 1]))
            assert here.tolist() == there.tolist() == [x + z]
            assert here.dtype == there.dtype
            single = add_noise(np.array(x, dtype=object), np.array([z]))
            assert single.dtype == here.dtype


def test_numbers_of_a_list_are_whole_or_not_by_their_type_alone():
    assert whole_array([2**63, -1]).tolist() == [2**63, -1]
    assert whole_array([np.int8(3), 2**70]).tolist() == [3, 2**70]
    for wrong in ([1.0], [True], ["1"], [None], 1.5, "12", [[1], [2, 3]], np.array([1.0]), iter([1])):
        assert whole_array(wrong) is None


def test_an_array_is_as_wide_as_what_is_computed_from_it():
    for kind in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64):
        info = np.iinfo(kind)
        numbers = np.array([info.min, info.max], dtype=kind)
        assert largest_size(numbers) == max(-int(info.min), int(info.max))
        for growth in (1, 2, 2**31, 2**33, 10**30):
            wide = wide_enough(numbers, growth)
            assert (wide * growth).tolist() == [int(info.min) * growth, int(info.max) * growth]
    assert wide_enough(np.array([1]), 1, extra=2**63 - 1).dtype == object
    assert wide_enough(np.array([1]), 1, extra=2**63 - 2).dtype == np.int64
    assert largest_size(np.array([], dtype=np.int64)) == 0


def test_lattice_points_far_out_are_the_nearest_doubles():
    for step in (Fraction(1, 3), Fraction(1, 2**60), Fraction(2**60), Fraction(10**18, 7)):
        lattice = RealLattice(step, Fraction(1, 7))
        places = np.array([0, 1, -1, 2**31, -(2**52), 2**62, -(2**63), 2**63 - 1])
        assert lattice.doubles(places).tolist() == [lattice.double(int(k)) for k in places]


def test_the_widest_staircase_stays_within_64_bits():
    mechanism = Staircase("1/1000", 2**40)
    drawn = mechanism.noise(2000, SeededSource(8))
    assert abs(float(np.abs(drawn.astype(float)).mean()) / float(mechanism.moment(1)) - 1) < 0.15
    wide = TruncatedGeometric("1e-9", -(2**70), 2**70, 2**40).draw(0, 50, SeededSource(1))
    assert max(abs(int(y)) for y in wide) > 2**60
    assert Geometric("1e-9", 2**40).draw(2**63 - 1, 3, SeededSource(1)).dtype in (object, np.int64)

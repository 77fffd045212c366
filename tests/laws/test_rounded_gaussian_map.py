"""The joint law of round(M·g): by walking the tree of bits, at half-way sums, and by large samples of every mixture."""

from fractions import Fraction
from math import erfc

import numpy as np
import pytest
from flint import arb, ctx

from leastnoise.errors import BadParameter, LeastNoiseError, TooLarge
from leastnoise.exact import (
    SeededSource,
    enumerate_law,
    normals,
    rounded_gaussian_cdf,
    rounded_gaussian_map,
    rounded_gaussian_pmf,
)
from leastnoise.exact.normals import Normals
from leastnoise.exact.samplers import rounded_gaussian_map as module
from leastnoise.exact.samplers.rounded_gaussian_map import RoundedGaussianMap
from support.sources import ScriptedSource
from support.statistics import fits


@pytest.fixture(autouse=True)
def _by_the_table(monkeypatch):
    """Also single numbers get their doubles from the table."""
    monkeypatch.setattr(normals, "_FEW", 0)


def normal_mass(low, high):
    """P(low < g ≤ high) for a standard normal g."""
    with ctx.workprec(128):
        root = arb(2).sqrt()
        ends = [(-arb(end.numerator) / end.denominator / root).erfc() / 2 for end in (low, high)]
        return ends[1] - ends[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "factors", [(Fraction(1), Fraction(2)), (Fraction(3, 2), Fraction(-1)), (Fraction(1, 3), Fraction(0))]
)
def test_two_coordinates_of_one_normal_number_follow_their_joint_law_to_the_last_bit(factors):
    law = RoundedGaussianMap([[factors[0]], [factors[1]]])

    def draw(source):
        numbers = Normals(1, source, word_bits=8)
        return tuple(law.settle(i, numbers, 0) for i in range(2))

    found = enumerate_law(draw, 16)
    assert found.undecided < Fraction(1, 16)
    assert sum(found.masses.values()) + found.undecided == 1
    for outcome, mass in found.masses.items():
        low, high = Fraction(-50), Fraction(50)
        for k, factor in zip(outcome, factors, strict=True):
            if factor:
                ends = sorted([(k - Fraction(1, 2)) / factor, (k + Fraction(1, 2)) / factor])
                low, high = max(low, ends[0]), min(high, ends[1])
        assert low < high, outcome
        with ctx.workprec(128):
            true = normal_mass(low, high)
            assert arb(mass.numerator) / mass.denominator <= true + arb(2) ** -100
            total = mass + found.undecided
            assert true <= arb(total.numerator) / total.denominator


@pytest.mark.slow
def test_a_sum_of_two_normal_numbers_follows_its_law_to_the_last_bit():
    law = RoundedGaussianMap([[1, "1/2"]], [1, 3])
    found = enumerate_law(lambda source: law.settle(0, Normals(2, source, word_bits=8), 0), 16)
    assert law.row_variances() == [Fraction(7, 4)]
    for outcome in found.masses:
        p = rounded_gaussian_pmf(outcome, "7/4")
        assert found.agrees_with(outcome, p.lower, p.upper)
    assert found.undecided < Fraction(1, 8), float(found.undecided)


def as_ball(number):
    return arb(Fraction(number).numerator) / Fraction(number).denominator


def half_way_words(law, count):
    """Words of two normal numbers whose sum is as near to half-way as 63 bits of the second one can bring it."""
    source = SeededSource(9)
    with ctx.workprec(300):
        first, second = (as_ball(m) * as_ball(v).sqrt() for m, v in zip(law.rows[0], law.variances, strict=True))
        for _ in range(count):
            word = source.bits(64) | 1 << 60
            g = arb(2).sqrt() * (arb(word >> 1) / 2**63).erfcinv() * (-1 if word & 1 else 1)
            target = int((first * g).mid().floor().unique_fmpz()) + source.bits(20)
            other = (arb(target) + 0.5 - first * g) / second
            place = int(((abs(other) / arb(2).sqrt()).erfc() * 2**63).mid().floor().unique_fmpz())
            for shift in (-1, 0, 1):
                if 2 < place + shift < 2**63:
                    yield word, ((place + shift) << 1) | int(other < 0)


def draw_from(law, words):
    """Vectors from prepared words, and the numbers that they were made of, with all bits that were revealed."""
    numbers = Normals(len(words), ScriptedSource(np.array(words, dtype=np.uint64)))
    out = np.zeros((len(words) // law.shape[1], law.shape[0]), dtype=object)
    law._draw_into(out, numbers)
    return [[int(y) for y in row] for row in out], numbers


def assert_right(law, vectors, numbers):
    """Each coordinate is the only one that the revealed bits allow."""
    for place, drawn in enumerate(vectors):
        assert_one_right(law, drawn, numbers, place * law.shape[1])


def assert_one_right(law, drawn, numbers, first):
    with ctx.workprec(3000):
        for row, y in zip(law.rows, drawn, strict=True):
            total = arb(0)
            for j, entry in enumerate(row):
                word, bits = numbers.prefix(first + j)
                low, high = (arb(2).sqrt() * (arb(w) / arb(2) ** bits).erfcinv() for w in (word + 1, word))
                sign = -1 if int(numbers._words[first + j]) & 1 else 1
                total += low.union(high) * sign * as_ball(entry) * as_ball(law.variances[j]).sqrt()
            assert arb(y) - 0.5 <= total <= arb(y) + 0.5


NAMES = ["doubles decide", "doubles hardly decide", "doubles are not asked", "balls decide"]
WIDE = [
    RoundedGaussianMap([[2**20, 2**20 - 7], [1, -1], ["1/3", 2**25]], [3 * 10**6, "1000001/7"]),
    RoundedGaussianMap([[8 * 10**12, 3], [5, 7 * 10**12]], 1),
    RoundedGaussianMap([[2**40, 3], [5, 2**45]], 12345),
    RoundedGaussianMap([[2**60, 2**59 - 1], [1, 0], ["1e300", "1e-300"]], [2**90, 2**100]),
]


@pytest.mark.parametrize("law", WIDE, ids=NAMES)
def test_sums_that_are_nearly_half_way_are_settled_on_the_right_side(law):
    for words in half_way_words(law, 12):
        assert_right(law, *draw_from(law, words))


@pytest.mark.slow
@pytest.mark.parametrize("law", WIDE, ids=NAMES)
def test_words_anywhere_are_settled_on_the_right_side(law):
    words = [*SeededSource(3).words(40, 64).tolist(), 2, 3, 2**46, 2**46 - 1, 2**64 - 1, 2**64 - 2]
    for one, other in zip(words, reversed(words), strict=True):
        assert_right(law, *draw_from(law, (one, other)))
    assert_right(law, *draw_from(law, words))


@pytest.mark.parametrize("error", [lambda *_: 0.0, lambda *_: -(2.0**-45)], ids=["none", "turned round"])
def test_a_margin_that_is_left_out_or_turned_round_is_noticed(error, monkeypatch):
    monkeypatch.setattr(RoundedGaussianMap, "_error", error)
    with pytest.raises(AssertionError):
        test_sums_that_are_nearly_half_way_are_settled_on_the_right_side(WIDE[0])


@pytest.mark.parametrize("width", [1, 2, 100, 5000])
@pytest.mark.parametrize("reach", [5.0, 9.5, 1206.0])
def test_the_margin_covers_every_rounding(width, reach):
    """Σ|s_ij| is not below Σ|M_ij|·√v_j, and its factor not below what the proof asks for."""
    generator = np.random.default_rng(width)
    matrix, variance = generator.integers(-(10**6), 10**6, (2, width)), Fraction(7, 3)
    law = RoundedGaussianMap(matrix, variance)
    asked = Fraction(normals.DOUBLE_ERROR) + (width + 9) * Fraction(reach) / 2**53
    assert Fraction(law._error(reach)) >= asked
    with ctx.workprec(200):
        for row, size in zip(law.rows, law._sizes.tolist(), strict=True):
            assert arb(size) >= arb(sum(map(abs, row))) * as_ball(variance).sqrt() * (1 + arb(2) ** -40)


@pytest.mark.parametrize(
    ("name", "value"), [("_UNIT", -module._UNIT), ("_SPARE", 1.0), ("DOUBLE_ERROR", -module.DOUBLE_ERROR)]
)
def test_a_part_of_the_margin_that_is_turned_round_is_noticed(name, value, monkeypatch):
    monkeypatch.setattr(module, name, value)
    with pytest.raises(AssertionError):
        test_the_margin_covers_every_rounding(100, 5.0)


def test_doubles_alone_would_be_wrong_about_sums_that_cancel():
    """Large terms that cancel: the sum in doubles is off by more than a step, the answer is not."""
    law = RoundedGaussianMap([[10**12, -(10**12), 1, 1]], 10**6)
    word = 2**62
    drawn, numbers = draw_from(law, (word, word, 2**61, 2**60))
    assert_right(law, drawn, numbers)
    assert abs(drawn[0][0]) < 10**4


MATRIX = [[3, 0, 0], [2, 5, 0], ["-1/2", 1, 4], [1, 1, 1]]


@pytest.mark.parametrize("variances", [(9, 4, 25), ("1/3", 7, "1/50")])
def test_every_coordinate_and_every_difference_fits_its_law(variances):
    """Coordinate i is normal with variance Σ M_ij²·v_j before it is rounded; so is every combination of whole rows."""
    combined = [*MATRIX, [Fraction(a) - Fraction(b) for a, b in zip(MATRIX[0], MATRIX[1], strict=True)]]
    law = RoundedGaussianMap(combined, variances)
    drawn = law.draw(100_000)
    for i, variance in enumerate(law.row_variances()):
        reach = int(5 * float(variance) ** 0.5) + 1
        assert fits(drawn[:, i], lambda x, v=variance: rounded_gaussian_cdf(x, v), -reach, reach)


def test_the_correlations_are_those_of_the_map():
    """At a scale of thousands of steps rounding does not matter: whitened samples are independent and standard."""
    law = RoundedGaussianMap([[3000, 0], [2000, 5000]])
    drawn = law.draw(200_000).astype(float)
    first = drawn[:, 0] / 3000
    second = (drawn[:, 1] - 2000 * first) / 5000
    for mixture in (first, second, (first + second) / 2**0.5, (first - second) / 2**0.5, 0.6 * first - 0.8 * second):
        cells = np.floor(mixture * 10).astype(int)
        assert fits(cells, lambda x: erfc(-(x + 1) / 10 / 2**0.5) / 2, -50, 50)
    wrong = (first + 1.02 * second) / (1 + 1.02**2) ** 0.5 * 1.02
    assert not fits(np.floor(wrong * 10).astype(int), lambda x: erfc(-(x + 1) / 10 / 2**0.5) / 2, -50, 50)


def test_far_numbers_have_doubles_too():
    words = np.array([2, 3, 2**45, 7, 2**40 + 1], dtype=np.uint64)
    near, reach = module._near_all(Normals(5, ScriptedSource(words)))
    again = Normals(5, ScriptedSource(words))
    for i, double in enumerate(near.tolist()):
        assert abs(double) < reach
        again.double(i)
        with ctx.workprec(200):
            assert abs(again.ball(i) - double) < 2.0**-44


def test_sizes_types_and_seeds():
    assert rounded_gaussian_map([[1, 0], [0, 1]], 9).shape == (2,)
    assert rounded_gaussian_map(np.eye(3, dtype=np.int8), 9, size=(4, 5)).shape == (4, 5, 3)
    assert rounded_gaussian_map([[1]], 9, size=3).dtype == np.int64
    assert rounded_gaussian_map([[2**60]], 2**20, size=3).dtype == object
    assert rounded_gaussian_map([[0, 0]], 9, size=3).tolist() == [[0]] * 3
    assert rounded_gaussian_map([["1e-400"]], 1, size=3).tolist() == [[0]] * 3
    one, other = (rounded_gaussian_map(MATRIX, 100, 1000, SeededSource(4)) for _ in range(2))
    assert (one == other).all()


def test_blocks_do_not_repeat():
    """More vectors than a block holds: none of their numbers are used twice."""
    drawn = rounded_gaussian_map([[10**9], [1]], 1, 150_000)[:, 0]
    assert len(np.unique(drawn)) > 149_900


@pytest.mark.parametrize(
    "matrix", [[], [[]], [[1], [1, 2]], None, "x", [1, 2], [["x"]], [[None]], [[float("nan")]], np.array([1])]
)
def test_bad_matrices_are_refused_by_name(matrix):
    with pytest.raises(LeastNoiseError, match="matrix"):
        rounded_gaussian_map(matrix)


@pytest.mark.parametrize("variances", [0, -1, [1], [1, 2, 3], [1, 0], None, "x"])
def test_bad_variances_are_refused_by_name(variances):
    with pytest.raises(LeastNoiseError, match="variance"):
        rounded_gaussian_map([[1, 2]], variances)


def test_a_matrix_that_is_too_large_is_refused():
    with pytest.raises(TooLarge, match="entries"):
        rounded_gaussian_map(np.zeros((1, 2**24 + 1), dtype=np.int8))
    with pytest.raises(BadParameter):
        rounded_gaussian_map([[1]], size=-1)

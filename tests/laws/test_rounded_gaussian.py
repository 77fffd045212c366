"""The law of round(g): by walking the tree of its bits, at the borders of its cells, and by large samples."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

from leastnoise import exact
from leastnoise.errors import NumberTooLarge
from leastnoise.exact import (
    SeededSource,
    enumerate_law,
    normals,
    rounded_gaussian,
    rounded_gaussian_cdf,
    rounded_gaussian_pmf,
)
from leastnoise.exact.inversion import InverseTable
from leastnoise.exact.normals import Normals
from leastnoise.exact.samplers import rounded_gaussian as module
from leastnoise.exact.samplers.rounded_gaussian import (
    nearest_whole,
    rounded_gaussian_law,
    rounded_gaussian_moment,
    rounded_gaussian_tail,
)
from support.sources import ScriptedSource
from support.statistics import fits


@pytest.fixture(autouse=True)
def _by_the_table(monkeypatch):
    """Also single numbers get their doubles from the table."""
    monkeypatch.setattr(normals, "_FEW", 0)


SMALL = [Fraction(1, 10), Fraction(1), Fraction(7, 2), Fraction(30)]
WIDE = [128**2 + 1, Fraction(10**12, 7), 3 * 2**60, 2**84 + 1, 2**100]


@pytest.mark.slow
@pytest.mark.parametrize("variance", SMALL, ids=str)
def test_the_table_follows_its_law_to_the_last_bit(variance):
    table = InverseTable(rounded_gaussian_law(variance), index_bits=8, refine_bits=8)
    found = enumerate_law(lambda source: int(table.draw(1, source)[0]), 24 if variance <= 1 else 16)
    assert_is_the_law(found, variance)


@pytest.mark.slow
@pytest.mark.parametrize("variance", SMALL, ids=str)
def test_revealing_bits_of_a_normal_number_follows_the_law_to_the_last_bit(variance):
    def draw(source):
        numbers = Normals(1, source, word_bits=8)
        return nearest_whole(numbers, [0], lambda g: g[0] * (arb(variance.numerator) / variance.denominator).sqrt())

    assert_is_the_law(enumerate_law(draw, 16), variance)


def assert_is_the_law(found, variance):
    assert sum(found.masses.values()) + found.undecided == 1
    assert found.undecided < Fraction(1, 2**8)
    for outcome in found.masses:
        p = rounded_gaussian_pmf(outcome, variance)
        assert found.agrees_with(outcome, p.lower, p.upper)


def cell_of(drawn, variance):
    """Between which p a draw must come from, by erfc, which the sampler never calls."""
    root = (2 * arb(Fraction(variance).numerator) / Fraction(variance).denominator).sqrt()
    near = ((arb(abs(drawn)) - 0.5) / root).erfc() if drawn else arb(1)
    return ((arb(abs(drawn)) + 0.5) / root).erfc(), near


def assert_right(drawn, source, variance):
    """The draw must be that of the p that was revealed, whatever bits follow."""
    word = int(source.given[0][1][0])
    prefix, bits = word >> 1, 63
    for given_bits, words in source.given[1:]:
        for more in words:
            prefix, bits = (prefix << given_bits) | int(more), bits + given_bits
    with ctx.workprec(bits + 100):
        low, high = cell_of(drawn, variance)
        assert low <= arb(prefix) / 2**bits
        assert arb(prefix + 1) / 2**bits <= high or (drawn == 0 and prefix + 1 == 1 << bits)
    assert drawn == 0 or (drawn < 0) == bool(word & 1)


def border_words(variance, count=25):
    """Words on either side of the borders of cells near and far."""
    source, sigma = SeededSource(7), float(Fraction(variance)) ** 0.5
    for number in range(count):
        share = source.bits(53) / 2**53
        k = int(sigma * share * 5) + 1 if number else 1
        with ctx.workprec(200):
            border = int((cell_of(k, variance)[1] * 2**63).mid().floor().unique_fmpz())
        for place in {max(min(border + d, 2**63 - 1), 0) for d in (-2, -1, 0, 1)}:
            yield (place << 1) | (number & 1)


@pytest.mark.parametrize("variance", WIDE, ids=str)
def test_a_word_at_the_border_of_a_cell_is_settled_on_the_right_side(variance):
    for word in border_words(variance):
        source = ScriptedSource(np.array([word], dtype=np.uint64))
        assert_right(int(module._draw_wide(Fraction(variance), 1, source)[0]), source, variance)


@pytest.mark.parametrize("variance", [*WIDE, *SMALL], ids=str)
def test_words_anywhere_are_settled_on_the_right_side(variance):
    words = [*SeededSource(11).words(60, 64).tolist(), 0, 1, 2, 3, 2**45, 2**46, 2**46 - 1, 2**64 - 1, 2**64 - 2]
    for word in words:
        source = ScriptedSource(np.array([word], dtype=np.uint64))
        assert_right(int(module._draw_wide(Fraction(variance), 1, source)[0]), source, variance)


@pytest.mark.parametrize("slack", [0.0, -module._PRODUCT_ERROR])
def test_a_slack_that_is_left_out_or_turned_round_is_noticed(slack, monkeypatch):
    monkeypatch.setattr(module, "_PRODUCT_ERROR", slack)
    with pytest.raises(AssertionError):
        test_a_word_at_the_border_of_a_cell_is_settled_on_the_right_side(3 * 2**60)


def test_a_sigma_that_is_slightly_wrong_is_noticed(monkeypatch):
    real = module._sigma
    monkeypatch.setattr(module, "_sigma", lambda variance: real(variance) * (1 + 2**-40))
    with pytest.raises(AssertionError):
        test_words_anywhere_are_settled_on_the_right_side(3 * 2**70)


@pytest.mark.parametrize("variance", ["1/10", 1, 100, 128**2, 128**2 + 1])
def test_large_samples_fit(variance):
    reach = int(5 * float(exact.read_rational(variance, "v")) ** 0.5) + 1
    drawn = rounded_gaussian(variance, size=400_000)
    assert fits(drawn, lambda x: rounded_gaussian_cdf(x, variance), -reach, reach)


@pytest.mark.parametrize("variance", [10**12, 2**60])
def test_large_wide_samples_fit_in_their_first_and_last_digits(variance):
    drawn, step = rounded_gaussian(variance, size=400_000), int(variance**0.5) // 20
    assert fits(np.floor_divide(drawn, step), lambda x: rounded_gaussian_cdf((x + 1) * step - 1, variance), -100, 100)
    assert fits(np.mod(drawn, 8), lambda x: min(max((x + 1) / 8, 0), 1), 0, 7)
    negative = int((drawn < 0).sum())
    assert abs(negative - 200_000) < 5 * 320


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong", [lambda x: rounded_gaussian_cdf(x, "101/100"), lambda x: rounded_gaussian_cdf(x - 1, 1)]
)
def test_the_test_of_fit_rejects_a_law_that_is_slightly_wrong(wrong):
    assert not fits(rounded_gaussian(1, size=10_000_000), wrong, -4, 4)


@pytest.mark.parametrize("variance", [2**-40, Fraction(1, 2**100), "1/50", 1, 4096, 4097, 2**100])
def test_masses_tails_and_sums_agree(variance):
    number = Fraction(variance)
    k = int(float(number) ** 0.5 * 2)
    here, tail, beyond = (
        rounded_gaussian_pmf(k, number),
        rounded_gaussian_tail(k, number),
        rounded_gaussian_tail(k + 1, number),
    )
    assert tail.lower - beyond.upper <= here.upper
    assert here.lower <= tail.upper - beyond.lower
    assert rounded_gaussian_pmf(-k, number) == here
    below = rounded_gaussian_cdf(k, number)
    assert below.lower + beyond.lower <= 1 <= below.upper + beyond.upper


def test_the_smallest_probabilities_have_bounds():
    assert rounded_gaussian_pmf(10**30, 1).lower == 0
    assert 0 < rounded_gaussian_pmf(10**30, 1).upper <= Fraction(1, 2**65536)
    assert rounded_gaussian_moment(2, Fraction(1, 2**100)).lower == 0


@pytest.mark.parametrize("variance", [Fraction(1, 50), 1, Fraction(30, 7), 400])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_moments_are_sums_over_the_law(order, variance):
    reach = int(12 * float(variance) ** 0.5) + 3
    masses = {k: rounded_gaussian_pmf(k, variance) for k in range(1, reach)}
    low, high = (
        2 * sum(getattr(p, end) * Fraction(k) ** order for k, p in masses.items()) for end in ("lower", "upper")
    )
    found = rounded_gaussian_moment(order, variance)
    assert low <= found.upper
    assert found.lower <= high + Fraction(1, 2**60) * high
    assert found.width < Fraction(1, 2**50) * found.upper


@pytest.mark.parametrize("variance", [64**2 + 1, 100**2])
def test_wide_moments_by_formula_hold_what_summing_gives(variance, monkeypatch):
    formulas = [rounded_gaussian_moment(order, variance) for order in (1, 2)]
    monkeypatch.setattr(module, "_LARGEST_FOR_SUM", 2**20)
    for order, formula in zip((1, 2), formulas, strict=True):
        summed = rounded_gaussian_moment(order, variance, 128)
        assert formula.lower <= summed.upper
        assert summed.lower <= formula.upper
        assert max(formula.width, summed.width) < Fraction(1, 2**40)


@pytest.mark.parametrize("variance", ["1/4", "1/2", 1, 4, 9])
def test_the_remainder_of_the_mean_is_large_enough_where_it_is_tried_hardest(variance, monkeypatch):
    summed = rounded_gaussian_moment(1, variance)
    monkeypatch.setattr(module, "_LARGEST_FOR_SUM", 0)
    formula = rounded_gaussian_moment(1, variance)
    assert formula.lower <= summed.lower
    assert summed.upper <= formula.upper


def test_the_remainder_of_the_mean_matters(monkeypatch):
    """The formula without its last term misses the sum, so the test above would notice a wrong one."""
    monkeypatch.setattr(module, "_LARGEST_FOR_SUM", 1)
    formula = rounded_gaussian_moment(1, 100)
    monkeypatch.undo()
    summed = rounded_gaussian_moment(1, 100)
    assert formula.lower < summed.lower
    assert summed.upper < formula.upper
    assert abs((formula.lower + formula.upper) / 2 - summed.lower) < formula.width / 4


@pytest.mark.parametrize("variance", [0, -1, "x", None, [1, 2], "ln(3)"])
def test_bad_variances_are_refused_by_name(variance):
    with pytest.raises(exact.parameters.BadParameter, match="variance"):
        rounded_gaussian(variance)


@pytest.mark.parametrize("variance", [2**100 + 1, Fraction(1, 2**100 + 1)])
def test_variances_out_of_range_are_refused(variance):
    with pytest.raises(NumberTooLarge, match="variance"):
        rounded_gaussian(variance)


def test_the_widest_draws_are_whole_and_fit_into_64_bits():
    drawn = rounded_gaussian(2**100, size=200)
    assert drawn.dtype == np.int64
    assert np.abs(drawn).max() > 2**50
    assert len({int(x) & 1 for x in drawn}) == 2

"""What the literature says about private choices, with the numbers, and where it has to be put right."""

from fractions import Fraction
from itertools import pairwise
from math import exp, log

import pytest
from hypothesis import given, strategies as st

from leastnoise.exact import Enclosure, exp_enclosure, ln, ln_enclosure
from leastnoise.mechanisms.choice import ApproximateExponential, BestPrice, Exponential, MostCommon, PermuteAndFlip


def far_from_best(mechanism, scores, gap):
    """P(score ≤ best − gap)."""
    far = [mechanism.pmf(place, scores) for place, score in enumerate(scores) if max(scores) - score >= gap]
    return Enclosure(sum((p.lower for p in far), Fraction(0)), sum((p.upper for p in far), Fraction(0)))


def test_eye_colours_of_the_lecture():
    """Cummings, Lecture 2, Example 1: brown, blue, green with probability ∝ e^(εq/2); here ε = 2·ln 2."""
    eyes = Exponential("2*ln(2)", ["brown", "blue", "green"])
    assert [eyes.pmf(colour, [3, 1, 0]).lower for colour in eyes.candidates] == [
        Fraction(8, 11),
        Fraction(2, 11),
        Fraction(1, 11),
    ]
    # People come and go: the counts are monotone, the 2 is not needed, and half of ε has the same law.
    halved = Exponential("ln(2)", ["brown", "blue", "green"], monotone=True)
    assert halved.pmf("blue", [3, 1, 0]) == eyes.pmf("blue", [3, 1, 0])
    better = MostCommon("ln(2)", ["brown", "blue", "green"])
    assert better.error_at([3, 1, 0]).lower < eyes.error_at([3, 1, 0]).lower


def test_prices_of_the_textbook():
    """Dwork and Roth 2014, Example 3.5, which the lecture points to: three bid one dollar, one bids 3.01."""
    shop = BestPrice(1, 4, ["1.00", "1.01", "3.01", "3.02"])
    assert shop.revenues([1, 1, 1, "3.01"]) == [4, Fraction("1.01"), Fraction("3.01"), 0]
    # Noise on the best price 3.01 of one bidder would lose all of the revenue as soon as it is positive.
    assert shop.revenues(["3.01"]) == [1, Fraction("1.01"), Fraction("3.01"), 0]


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 10, 100])
def test_the_lecture_misplaces_a_bracket(count):
    """Theorem 4 prints ln(|R| + t) for ln|R| + t: half of the mass may lie that far below, whatever t is."""
    t, epsilon = 3, Fraction(1)
    mechanism = Exponential(epsilon, count)
    printed = 2 * ln_enclosure(count + t).lower
    right = mechanism.utility_bound(t)
    scores = [Fraction(0)] + [-printed] * (count - 1)
    beyond = exp_enclosure(-t)
    assert far_from_best(mechanism, scores, printed).lower > beyond.upper
    scores = [Fraction(0)] + [-right.upper] * (count - 1)
    assert far_from_best(mechanism, scores, right.upper).upper <= beyond.lower
    # The lecture's second form, ln(|R|/β), is right, and is this one with t = ln(1/β).
    assert abs(float(right) - 2 * log(count * exp(t))) < 1e-9


@given(st.lists(st.integers(-6, 0), min_size=1, max_size=6), st.integers(0, 4))
def test_the_thesis_counts_how_many_are_best(scores, t):
    """Tóthmérész 2013, Theorem 2.2, for both mechanisms."""
    best = scores.count(max(scores))
    for make in (Exponential, PermuteAndFlip):
        mechanism = make("2*ln(3)", len(scores))
        gap = mechanism.utility_bound(t, optimal=best).upper
        assert far_from_best(mechanism, scores, gap).lower <= exp_enclosure(-t).upper
        assert float(gap) == pytest.approx((log(len(scores) / best) + t) / log(3))


@pytest.mark.parametrize("factor", [Fraction(1, 10), Fraction(1, 3)])
def test_the_thesis_is_generous_about_the_approximate_mechanism(factor):
    """Theorem 3.1 charges 3aΔ and asks for aΔ ≤ 1/3; 2·ln(1 + aΔ) is less, and holds for any a."""
    tight = 2 * ln(1 + factor)
    assert tight < 3 * factor
    assert ApproximateExponential(tight, 2, largest_score=1).factor == factor
    assert ApproximateExponential(2 * ln(101), 2, largest_score=1).factor == 100


def test_the_thesis_prints_the_wrong_height_for_rejection():
    """Height 1 + max q with acceptance below 1 + q draws ∝ 1 + q; for 1 + a·q both need the factor a."""
    a, scores = Fraction(1, 9), [0, 3]
    printed, right = ([1 + factor * q for q in scores] for factor in (Fraction(1), a))
    mechanism = ApproximateExponential(2 * ln(1 + a), 2, largest_score=3)
    assert mechanism.pmf(1, scores).lower == right[1] / sum(right) == Fraction(4, 7)
    assert printed[1] / sum(printed) == Fraction(4, 5)


@pytest.mark.parametrize("count", [2, 5, 100])
def test_permute_and_flip_where_all_others_are_equal(count):
    """McKenna and Sheldon 2020: expected error (2Δ/ε)·ln(1/p)·(1 − (1 − (1 − p)^n)/(np)) at gap (2Δ/ε)·ln(1/p)."""
    for power in (1, 3):
        p = Fraction(1, 2**power)
        scores = [0] + [-power] * (count - 1)
        expected = power * (1 - (1 - (1 - p) ** count) / (count * p))
        assert PermuteAndFlip("2*ln(2)", count).error_at(scores).lower == expected
        assert Exponential("2*ln(2)", count).error_at(scores).lower == power * (count - 1) * p / (1 + (count - 1) * p)


def test_permute_and_flip_is_up_to_twice_as_good():
    """For two candidates far apart the exponential mechanism errs with p/(1 + p), permute-and-flip with p/2."""
    ratios = [
        Exponential("2*ln(2)", 2).error_at([0, -gap]).lower / PermuteAndFlip("2*ln(2)", 2).error_at([0, -gap]).lower
        for gap in (1, 4, 30)
    ]
    assert all(low < high < 2 for low, high in pairwise(ratios))
    assert ratios[-1] > 2 - Fraction(1, 10**8)


@pytest.mark.slow
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=5))
def test_permute_and_flip_is_report_noisy_max_with_exponential_noise(scores):
    """Ding, Kifer et al. 2021: i wins if its noise −ln(w)/rate, w uniform, beats all others: an integral over w."""
    mechanism = PermuteAndFlip("2*ln(2)", len(scores))
    for i, score in enumerate(scores):
        ratios = [Fraction(2) ** (other - score) for j, other in enumerate(scores) if j != i]
        end = min([Fraction(1), *(1 / ratio for ratio in ratios)])  # beyond it some other always beats i
        polynomial = [Fraction(1)]
        for ratio in ratios:
            polynomial = [a - ratio * b for a, b in zip([*polynomial, 0], [0, *polynomial], strict=True)]
        wins = sum(c * end ** (k + 1) / (k + 1) for k, c in enumerate(polynomial))
        assert mechanism.pmf(i, scores).lower == wins


def test_permute_and_flip_is_not_of_bounded_range():
    """Ratios 4 and 4/5 between neighbours at ε = ln 4: their logarithms span ln 5, so ε²/8-zCDP is not to be had."""
    for make, span in ((PermuteAndFlip, 5), (Exponential, 4)):
        mechanism = make("2*ln(2)", 2)
        x, y = [1, 0], [2, -1]
        ratios = [mechanism.pmf(place, x).lower / mechanism.pmf(place, y).lower for place in range(2)]
        assert max(ratios) / min(ratios) == span

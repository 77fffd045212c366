from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from leastnoise.checker import fit
from leastnoise.errors import BadParameter
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.samplers.laplace import discrete_laplace, discrete_laplace_pmf
from leastnoise.exact.sources import SeededSource


@pytest.fixture
def dice():
    return np.random.default_rng(11)


def loaded(dice, p):
    return lambda size: (dice.random(size) < p).astype(int)


def test_the_exact_dice_fit_their_law_and_no_other():
    def sampler(size):
        return discrete_laplace(1, size, SeededSource(3))

    support = range(-30, 31)
    assert fit(sampler, lambda k: discrete_laplace_pmf(k, 1), support=support)
    for scale in ("0.97", "1.03"):
        assert not fit(sampler, lambda k, scale=scale: discrete_laplace_pmf(k, scale), support=support)


def test_a_slightly_loaded_coin_is_found(dice):
    assert fit(loaded(dice, 0.5), {0: "1/2", 1: "1/2"})
    assert not fit(loaded(dice, 0.51), {0: "1/2", 1: "1/2"})


def test_what_is_slightly_wrong_everywhere_is_found_by_the_segments(dice):
    """A shift of a wide law: no single outcome is off by much."""
    law = {k: Fraction(1, 1000) for k in range(1000)}
    found = fit(lambda size: np.floor(1000 * dice.random(size) ** 1.02).astype(int), law)
    assert not found
    assert " up to " in found.event


def test_an_outcome_that_cannot_be_is_found():
    found = fit([0] * 20 + [2], {0: "1/2", 1: "1/2"})
    assert not found
    assert (found.event, found.count, found.p_value) == ("anything else", 1, 0)


def test_what_the_law_leaves_out_may_happen_as_often_as_it_should(dice):
    law = {0: "1/4", 1: "1/4"}
    assert fit(lambda size: dice.integers(0, 4, size), law)
    assert not fit(lambda size: dice.integers(0, 3, size), law)


def test_bounds_of_probabilities_are_taken_on_the_lenient_side(dice):
    wide = {0: Enclosure(Fraction(2, 5), Fraction(3, 5)), 1: Enclosure(Fraction(2, 5), Fraction(3, 5))}
    assert fit(loaded(dice, 0.59), wide)
    assert not fit(loaded(dice, 0.63), wide)


def test_tuples_and_single_draws(dice):
    law = {("a", 1): "1/2", ("b", 2): "1/2"}
    assert fit(lambda: [("a", 1), ("b", 2)][int(dice.integers(2))], law, samples=2000)
    assert not fit(lambda: ["a", 1], law, samples=2000)


def test_a_right_sampler_is_rarely_rejected(dice):
    """500 tests at α = 5 %: rejections ≤ Bin(500, 5 %)."""
    law = {k: Fraction(1, 6) for k in range(6)}
    rejected = sum(not fit(dice.integers(0, 6, 200).tolist(), law, alpha="0.05") for _ in range(500))
    assert rejected <= 54  # P(Bin(500, 0.05) > 54) < 1e-6


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60))
def test_the_p_value_is_a_probability(samples):
    found = fit(samples, {0: "1/2", 1: "1/4", 2: "1/4"})
    assert 0 <= found.p_value <= 1
    assert found.holds == (found.p_value > found.alpha)
    assert found.samples == len(samples)


def test_the_report_names_the_worst_event():
    text = str(fit([0] * 60 + [1] * 40, {0: "1/4", 1: "3/4"}))
    for part in ("100 samples contradict the law", "worst event", "60", "25"):
        assert part in text


@pytest.mark.parametrize(
    ("pmf", "options"),
    [
        ({0: "2/3", 1: "2/3"}, {}),
        ({0: -1}, {}),
        ({0: 2}, {}),
        ({0: "x"}, {}),
        ({}, {}),
        (Fraction, {}),
        ({0: 1}, {"alpha": 0}),
    ],
)
def test_bad_laws_are_refused(pmf, options):
    with pytest.raises(BadParameter):
        fit([0], pmf, **options)


def test_no_samples_are_refused():
    with pytest.raises(BadParameter):
        fit([], {0: 1})

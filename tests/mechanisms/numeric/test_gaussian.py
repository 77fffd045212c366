"""Normal noise rounded to whole numbers: never less private than the continuous mechanism, and no more than needed."""

from fractions import Fraction

import pytest

from leastnoise.errors import LeastNoiseError, NumberTooLarge
from leastnoise.exact import exp_enclosure, read_exact
from leastnoise.mechanisms import DiscreteGaussian, Gaussian, best_guess, confidence_interval
from leastnoise.mechanisms.histogram import IndependentNoise
from leastnoise.mechanisms.histogram.independent_noise import NoiseBlock
from leastnoise.model.events import GaussianPrivacy
from leastnoise.model.losses import squared

CASES = [("1/20", 1), ("1/2", 1), ("7/2", 1), (4, 2), ("1/2", 3), (30, 5), (400, 20)]


def rounded_delta(mechanism, epsilon):
    """Σ max(0, P(X = k) − e^ε·P(X + Δ = k)) over all k that matter, from below."""
    change, factor = mechanism.sensitivity, exp_enclosure(epsilon, 128).upper
    reach = int(12 * float(mechanism.variance) ** 0.5) + 2 * change + 4
    gaps = (
        mechanism.noise_pmf(k, 128).lower - factor * mechanism.noise_pmf(k + change, 128).upper
        for k in range(-reach, reach + 1)
    )
    return sum((gap for gap in gaps if gap > 0), Fraction(0))


@pytest.mark.slow
@pytest.mark.parametrize(("variance", "sensitivity"), CASES)
@pytest.mark.parametrize("epsilon", [0, "1/10", 1, "ln(3)", 5])
def test_rounding_never_costs_privacy(variance, sensitivity, epsilon):
    mechanism, number = Gaussian(variance, sensitivity), read_exact(epsilon, "epsilon")
    claimed, true = mechanism.delta_at(epsilon), rounded_delta(mechanism, number)
    assert true <= claimed.upper
    if mechanism.variance >= 30 and number < 2:  # and gains hardly any where a step is small
        assert float(true) > 0.9 * float(claimed)


@pytest.mark.slow
@pytest.mark.parametrize(("variance", "sensitivity"), CASES)
def test_smaller_changes_are_covered(variance, sensitivity):
    claimed = Gaussian(variance, sensitivity).delta_at("1/2").upper
    for change in range(1, sensitivity):
        assert rounded_delta(Gaussian(variance, change), Fraction(1, 2)) <= claimed


@pytest.mark.parametrize("epsilon", ["1/1000", "1/10", 1, "ln(3)", 10])
@pytest.mark.parametrize("delta", ["1/10", "1e-6", "1e-15"])
@pytest.mark.parametrize("sensitivity", [1, 50])
def test_the_noise_is_enough_and_hardly_more(epsilon, delta, sensitivity):
    mechanism = Gaussian.for_privacy(epsilon, delta, sensitivity)
    assert mechanism.delta_at(epsilon).upper <= Fraction(delta)
    smaller = Gaussian(mechanism.variance * (1 - Fraction(1, 2**30)), sensitivity)
    assert smaller.delta_at(epsilon).lower > Fraction(delta)
    assert mechanism.event == GaussianPrivacy(sensitivity**2 / mechanism.variance)


def test_every_currency_gives_the_noise_that_its_event_says():
    assert Gaussian.for_mu("1/5", 3).event == GaussianPrivacy("1/25")
    assert Gaussian.for_rho("1/50", 3).event == GaussianPrivacy("1/25")
    assert Gaussian.for_mu("1/5", 3) == Gaussian.for_rho("1/50", 3) == Gaussian(225, 3)


def test_rounding_adds_a_twelfth_to_the_variance():
    found = Gaussian(100).expected_loss(squared)
    assert abs(found.lower - 100 - Fraction(1, 12)) < Fraction(1, 2**40)
    assert abs(float(DiscreteGaussian(100).expected_loss(squared)) - 100) < 1e-9


def test_intervals_hold_the_truth_as_often_as_they_say():
    mechanism = Gaussian("81/2")
    for level in ("1/2", "19/20", "999/1000"):
        interval = confidence_interval(mechanism, 0, level)
        within = 1 - 2 * mechanism.tail(int(interval.high) + 1).upper
        closer = 1 - 2 * mechanism.tail(int(interval.high)).lower
        assert closer < Fraction(level) <= within


def test_a_best_guess_uses_the_prior():
    assert best_guess(Gaussian(100), 9, {0: "9/10", 10: "1/10"}).guess == 0
    assert best_guess(Gaussian("1/100"), 10, {0: "9/10", 10: "1/10"}).guess == 10


def test_many_cells_with_this_noise_cost_one_gaussian_event():
    """A unit in 15 cells moves the vector by √15 in the ℓ2 norm."""
    noise = Gaussian.for_privacy(1, "1e-6")
    cells = IndependentNoise((NoiseBlock(Gaussian(15 * noise.variance), 30, noise.event),))
    assert cells.release([7] * 30).shape == (30,)
    assert cells.event == noise.event
    assert 16.3 < float(15 * noise.variance) ** 0.5 < 16.4


@pytest.mark.parametrize(
    ("make", "arguments", "name"),
    [
        (Gaussian.for_privacy, (0, "1e-6"), "epsilon"),
        (Gaussian.for_privacy, (1, 0), "delta"),
        (Gaussian.for_privacy, (1, 1), "delta"),
        (Gaussian.for_rho, (0,), "rho"),
        (Gaussian.for_mu, (-1,), "mu"),
        (Gaussian.for_mu, (1, 0), "sensitivity"),
        (Gaussian(4).delta_at, (-1,), "epsilon"),
    ],
)
def test_bad_prices_are_refused_by_name(make, arguments, name):
    with pytest.raises(LeastNoiseError, match=name):
        make(*arguments)


def test_noise_that_is_too_wide_is_refused_before_anything_is_drawn():
    with pytest.raises(NumberTooLarge, match="variance"):
        Gaussian.for_mu("1e-9", 2**40)

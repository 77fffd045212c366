"""The exact privacy profile of discrete Gaussian noise, and the noise that is made for it."""

import math
from fractions import Fraction

import pytest

from leastnoise.errors import BadParameter, NumberTooLarge
from leastnoise.exact import exp_enclosure, read_exact
from leastnoise.mechanisms.numeric import DiscreteGaussian
from leastnoise.mechanisms.numeric.discrete_gaussian import gaussian_delta, least_variance
from leastnoise.model.events import Approximate, GaussianNoise

SMALL = [("1/20", 1), ("1/2", 1), ("7/2", 1), (4, 2), ("1/2", 3), (30, 5)]


def brute_delta(epsilon, variance, shift):
    """Σ max(0, P(Y = k) − e^ε·P(Y = k − shift)) in doubles, far into the tails."""
    reach = int(12 * float(variance) ** 0.5) + 4 * shift + 4
    weights = {k: math.exp(-(k * k) / (2 * float(variance))) for k in range(-reach - shift, reach + 1)}
    total = sum(weights.values())
    gaps = (weights[k] - math.exp(epsilon) * weights[k - shift] for k in range(-reach, reach + 1))
    return sum(gap for gap in gaps if gap > 0) / total


@pytest.mark.parametrize(("variance", "sensitivity"), SMALL)
@pytest.mark.parametrize("epsilon", [0, "1/10", 1, "ln(3)", 5])
def test_the_profile_is_the_sum_over_all_outputs(variance, sensitivity, epsilon):
    number, variance = read_exact(epsilon, "epsilon"), Fraction(variance)
    claimed = gaussian_delta(number, variance, sensitivity)
    assert float(claimed) == pytest.approx(brute_delta(float(number), variance, sensitivity), rel=1e-9, abs=1e-15)
    assert claimed.width < Fraction(1, 2**50)


@pytest.mark.parametrize(("variance", "sensitivity"), SMALL)
@pytest.mark.parametrize("epsilon", [0, "1/10", 1, 5])
def test_smaller_changes_never_need_a_larger_delta(variance, sensitivity, epsilon):
    number, variance = read_exact(epsilon, "epsilon"), Fraction(variance)
    deltas = [gaussian_delta(number, variance, change, 128) for change in range(1, sensitivity + 1)]
    assert all(deltas[i].lower <= deltas[i + 1].upper for i in range(len(deltas) - 1))


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["1/1000", "1/10", 1, "ln(3)", 3, 5, 10])
@pytest.mark.parametrize("delta", ["1/10", "1e-3", "1e-6", "1e-15"])
@pytest.mark.parametrize("sensitivity", [1, 2, 50])
def test_the_noise_is_enough_and_hardly_more(epsilon, delta, sensitivity):
    mechanism = DiscreteGaussian.for_privacy(epsilon, delta, sensitivity)
    bits = 128
    assert mechanism.delta_at(epsilon, bits).upper <= Fraction(delta)
    smaller = DiscreteGaussian(mechanism.sigma_squared * (1 - Fraction(1, 2**14)), sensitivity)
    assert smaller.delta_at(epsilon, bits).lower > Fraction(delta)
    assert mechanism.event == Approximate(epsilon, delta)
    assert mechanism.rho == sensitivity**2 / (2 * mechanism.sigma_squared)


@pytest.mark.parametrize(("epsilon", "delta"), [(2, "1/10"), (3, "1/100"), (5, "1e-3"), (8, "1e-5"), (12, "1e-3")])
@pytest.mark.parametrize("sensitivity", [1, 2])
def test_no_smaller_variance_is_overlooked_where_delta_dips(epsilon, delta, sensitivity):
    number, wanted = Fraction(epsilon), Fraction(delta)
    least = least_variance(number, wanted, sensitivity)
    for k in range(1, 200):
        assert gaussian_delta(number, least * Fraction(k, 200), sensitivity, 100).lower > wanted


def test_for_small_sigma_the_continuous_formula_would_be_wrong():
    """At (1, 10^-6) it asks for 4.22468, which here is not enough; at (5, 10^-3) for far more than is needed."""
    too_small = DiscreteGaussian(Fraction("4.22468") ** 2)
    assert too_small.delta_at(1).lower > Fraction(1, 10**6)
    assert float(DiscreteGaussian.for_privacy(5, "1e-3").sigma_squared) ** 0.5 == pytest.approx(0.54768, abs=1e-4)


def test_wide_noise_agrees_with_the_continuous_formula():
    from scipy.stats import norm

    sigma, epsilon = 10**6, 2e-6
    exact = float(DiscreteGaussian(sigma**2).delta_at("2e-6"))
    half = 1 / (2 * sigma)
    continuous = norm.cdf(half - epsilon * sigma) - math.exp(epsilon) * norm.cdf(-half - epsilon * sigma)
    assert exact == pytest.approx(continuous, rel=1e-5)


def test_rho_and_its_event():
    mechanism = DiscreteGaussian.for_rho("1/200", sensitivity=3)
    assert mechanism.sigma_squared == 900
    assert mechanism.event == GaussianNoise("1/200", steps=3)


def test_pure_concentration_is_kept():
    """Rényi divergence of order two between neighbours: at most e^(2ρ) (Theorem 4 at α = 2)."""
    mechanism = DiscreteGaussian("3/2", sensitivity=2)
    masses = {k: mechanism.noise_pmf(k, 200) for k in range(-30, 31)}
    total = sum(masses[k].lower ** 2 / masses[k - 2].upper for k in range(-28, 31))
    assert total <= exp_enclosure(2 * mechanism.rho).upper
    assert total >= exp_enclosure(2 * mechanism.rho).lower * (1 - Fraction(1, 10**6))


def test_impossible_wishes_are_refused():
    with pytest.raises(NumberTooLarge, match="sigma"):
        DiscreteGaussian.for_privacy("1e-30", "1e-30")
    with pytest.raises(BadParameter, match="epsilon"):
        DiscreteGaussian.for_privacy(0, "1e-6")

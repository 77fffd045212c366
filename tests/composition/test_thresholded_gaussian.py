"""Gaussian noise with a threshold: the exact δ against the formula in doubles, and what a claim of it is worth."""

from fractions import Fraction
from math import exp, log, sqrt

import pytest
from hypothesis import given, strategies as st
from scipy.stats import norm

from leastnoise.accounting import Composed, Fixed, GaussianPrivacy, Grouped, ThresholdedGaussian, compose, cost_of
from leastnoise.composition import thresholded_gaussian
from leastnoise.composition.cost import covers
from leastnoise.composition.normal_form import parts_of
from leastnoise.composition.thresholded_gaussian import is_within, of_group, split
from leastnoise.errors import BadParameter
from leastnoise.model.events import event_from_dict
from leastnoise.model.privacy import Privacy


def profile(mu, epsilon):
    if not mu:
        return max(0.0, 1 - exp(epsilon))
    return norm.cdf(mu / 2 - epsilon / mu) - exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)


def tight_delta(event, epsilon, places=None):
    """The largest over all numbers of own keys, on both sides, one by one."""
    worst = 0.0
    for own in range(event.keys + 1) if places is None else places:
        q = (1 - float(event.shown)) ** own
        mu = sqrt(float((event.keys - own) * event.mu_squared + event.beside))
        worst = max(worst, 1 - q + q * profile(mu, epsilon - log(q)), profile(mu, epsilon + log(q)))
    return worst


@pytest.mark.slow
@given(
    st.fractions(Fraction(1, 200), Fraction(1, 2), max_denominator=1000),
    st.integers(1, 40),
    st.fractions(Fraction(1, 10**6), Fraction(1, 20), max_denominator=10**6),
    st.fractions(0, Fraction(1, 3), max_denominator=100),
    st.fractions(Fraction(1, 10), 3, max_denominator=20),
)
def test_the_proof_agrees_with_the_formula(mu_squared, keys, shown, beside, epsilon):
    event = ThresholdedGaussian(mu_squared, keys, shown, beside)
    tight = Fraction(tight_delta(event, float(epsilon)))
    assert is_within(event, epsilon, tight * (1 + Fraction(1, 10**6)))
    assert not is_within(event, epsilon, tight * (1 - Fraction(1, 10**6)))


def test_a_block_is_bounded_by_more_than_each_of_it():
    event = ThresholdedGaussian("1/20", 12, "1/500", "1/100")
    for low, high in [(0, 3), (1, 12), (2, 5), (6, 6), (10, 12)]:
        above = thresholded_gaussian._delta_above(event, low, high, Fraction(1))
        assert float(above) >= tight_delta(event, 1, range(low, high + 1)) * (1 - 1e-9)


def test_a_million_keys_are_proven_by_few_blocks():
    event = ThresholdedGaussian(Fraction(1, 20 * 10**6), 10**6, Fraction(1, 10**13))
    assert is_within(event, Fraction(1), Fraction(1, 10**6))
    assert not is_within(event, Fraction(1), Fraction(1, 10**8))


def test_a_claim_is_proven_and_what_adds_up_is_kept():
    event = ThresholdedGaussian("1/400", 20, "1e-8", "1/1000")
    claimed = Fixed((event,), 1, "1e-6")
    cost = cost_of(claimed)
    assert cost.basic == (1, Fraction(1, 10**6))
    assert cost.mu_squared == Fraction(1, 20) + Fraction(1, 1000)
    assert 2e-7 > cost.delta > Fraction(199, 10**9)
    assert covers(Privacy(1, "1e-6"), claimed)
    assert not covers(Privacy(1, "1e-7"), claimed)
    assert not covers(Privacy("1/2", "1e-6"), claimed)
    with pytest.raises(BadParameter, match="more together"):
        cost_of(Fixed((event,), "1/2", "1e-6"))
    with pytest.raises(BadParameter, match="more together"):
        cost_of(Fixed((event, event), 1, "1e-6"))
    ten = compose([claimed] * 10, "1e-5").epsilon
    assert (
        ten < compose([GaussianPrivacy(cost.mu_squared)] * 10, Fraction(1, 10**5) - 10 * cost.delta).epsilon * 1.01 < 6
    )
    assert event_from_dict(claimed.to_dict()) == claimed


def test_what_adds_up_is_never_less_than_what_is_exact():
    for shown in ("1e-3", "1e-6"):
        event = ThresholdedGaussian("1/30", 3, shown, "1/50")
        (mu_squared, lost), epsilon = split(event), Fraction(3, 2)
        together = profile(sqrt(mu_squared), 1.5) * float(1 - lost) + float(lost)
        assert is_within(event, epsilon, Fraction(together))
        assert parts_of(event) == parts_of(Composed((event,)))


def test_a_group_shows_keys_more_often_than_each_of_it():
    """Three units with one key of their own: its count is three, and the threshold is three deviations above one."""
    event = ThresholdedGaussian(1, 1, Fraction(norm.sf(3)))
    three = of_group(event, 3)
    assert float(three.shown) == pytest.approx(norm.sf(1))
    assert three.mu_squared == 9
    assert parts_of(Grouped(event, 3)).delta >= 1 - (1 - three.shown) ** 3
    with pytest.raises(BadParameter, match="surely show"):
        of_group(ThresholdedGaussian(1, 1, "1/10"), 10**6)

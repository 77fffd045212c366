"""Gaussian privacy against its definition: series in decimals, corners of trade-off curves, two normals."""

import math
import time
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.accounting import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    GaussianNoise,
    GaussianPrivacy,
    Grouped,
    LaplaceNoise,
    Parallel,
    Pure,
    RandomizedResponse,
    all_bounds,
    compose,
    cost_of,
    event_from_dict,
)
from leastnoise.composition.gaussian import (
    delta_of,
    epsilon_of,
    mu_of_pure,
    mu_squared_within,
    pure_of_mu,
)
from leastnoise.composition.loss_laws import law_above, law_below
from leastnoise.composition.normal_form import mu_squared_of, parts_of
from leastnoise.errors import BadParameter, UnknownEvent
from leastnoise.exact import ln

SLACK = 1 + Fraction(1, 2**40)
TINY = Decimal(10) ** -60
mu_squares = st.fractions(min_value=Fraction(1, 10**4), max_value=9, max_denominator=10**4)
epsilons = st.fractions(min_value=Fraction(1, 10**4), max_value=6, max_denominator=10**4)
deltas = st.builds(lambda a, b: Fraction(a, 10**b), st.integers(1, 9), st.integers(1, 40))


def decimal(number):
    return Decimal(number.numerator) / Decimal(number.denominator)


def cdf(point):
    """Φ by the power series of the error function, to the precision of the context."""
    term = total = point
    n = 0
    while abs(term) > Decimal(10) ** -110:
        n += 1
        term *= -point * point / (2 * n)
        total += term / (2 * n + 1)
    pi = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))
    return Decimal("0.5") + total / (2 * pi).sqrt()


def arctan_inverse(number):
    power, total, n = Decimal(1) / number, Decimal(0), 0
    while power > Decimal(10) ** -115:
        total += power / (2 * n + 1) * (-1) ** n
        power, n = power / number**2, n + 1
    return total


def profile(mu_squared, epsilon):
    with localcontext(prec=120):
        mu, epsilon = decimal(mu_squared).sqrt(), decimal(epsilon)
        return cdf(mu / 2 - epsilon / mu) - epsilon.exp() * cdf(-mu / 2 - epsilon / mu)


@settings(max_examples=60, deadline=None)
@given(st.fractions(min_value=Fraction(1, 100), max_value=9, max_denominator=100), epsilons)
def test_delta_is_enclosed(mu_squared, epsilon):
    if epsilon**2 > 90 * mu_squared:
        epsilon = Fraction(int(math.sqrt(90 * mu_squared) * 100), 100)  # the series needs a moderate argument
    enclosure = delta_of(mu_squared, epsilon)
    truth = profile(mu_squared, epsilon)
    with localcontext(prec=120):
        assert decimal(enclosure.lower) - TINY <= truth <= decimal(enclosure.upper) + TINY
        assert enclosure.width <= enclosure.upper / 2**60


def test_delta_far_out_and_near_one_is_an_enclosure_too():
    assert delta_of(Fraction(1, 10**40), Fraction(10**6)).upper <= Fraction(1, 2**65000)
    assert Fraction(99, 100) < delta_of(Fraction(10**12), Fraction(1)).lower <= 1
    assert delta_of(Fraction(4), Fraction(0)).lower > Fraction(68268, 10**5)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(epsilons, deltas)
def test_the_inverses_are_tight_and_on_the_safe_side(epsilon, delta):
    mu_squared = mu_squared_within(epsilon, delta)
    assert delta_of(mu_squared, epsilon).upper <= delta < delta_of(mu_squared * SLACK, epsilon).lower
    back = epsilon_of(mu_squared, delta)
    assert delta_of(mu_squared, back).upper <= delta < delta_of(mu_squared, back / SLACK).lower


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(Fraction(0), "1e-6"), (Fraction(0), "0.9"), (ln(3), "1/2"), (Fraction(10**6), "1e-18"), (Fraction(1), "1e-1000")],
)
def test_the_inverse_holds_at_the_ends(epsilon, delta):
    delta = Fraction(delta) if "e-1000" not in delta else Fraction(1, 10**1000)
    mu_squared = mu_squared_within(epsilon, delta)
    assert delta_of(mu_squared, epsilon).upper <= delta < delta_of(mu_squared * SLACK, epsilon).lower
    assert mu_squared_within(epsilon, Fraction(0)) == 0


def test_the_inverse_is_quick():
    start = time.perf_counter()
    for k in range(1, 101):
        mu_squared_within(Fraction(k, 997), Fraction(1, 10**8))
    assert time.perf_counter() - start < 1


@settings(max_examples=100, deadline=None)
@given(st.fractions(min_value=Fraction(1, 10**6), max_value=30, max_denominator=10**6))
def test_the_corner_of_randomized_response_lies_on_the_curve(epsilon):
    """Type I error α = 1/(1 + e^ε) and type II error α: the Gaussian curve at α must not be above α."""
    mu = mu_of_pure(epsilon)
    assert mu_of_pure(pure_of_mu(mu)) <= mu
    assert pure_of_mu(mu) * SLACK >= epsilon
    assert mu_of_pure(pure_of_mu(mu) * SLACK) > mu
    for x in (Fraction(0), epsilon / 2, epsilon * Fraction(9, 10)):  # so is every δ of randomized response
        odds = math.exp(epsilon)
        response = (odds - math.exp(x)) / (1 + odds)
        assert float(delta_of(mu**2, x).upper) >= response * (1 - 1e-9)


def test_mu_of_pure_has_a_bound_everywhere():
    assert mu_of_pure(Fraction(1001)) ** 2 >= 8 * 1001
    assert mu_of_pure(Fraction(10) ** 400) ** 2 >= 8 * Fraction(10) ** 400
    assert mu_of_pure(Fraction(999)) < mu_of_pure(Fraction(1001))
    assert mu_of_pure(pure_of_mu(Fraction(10**4))) <= 10**4


@settings(max_examples=100, deadline=None)
@given(st.fractions(min_value=Fraction(1, 100), max_value=12, max_denominator=100), st.integers(1, 99))
def test_no_bounded_range_tells_more_than_its_mu(epsilon, percent):
    """Two outcomes with losses t and t − ε: at its corner the curve of the event's μ is not above it."""
    top = epsilon * Fraction(percent, 100)
    q = -math.expm1(float(top - epsilon)) / (math.exp(top) - math.exp(top - epsilon))
    p = math.exp(top) * q
    mu_squared = mu_squared_of(BoundedRange(epsilon))
    assert p - q <= float(delta_of(mu_squared, Fraction(0)).upper) * (1 + 1e-9)
    for x in (top / 3, top * Fraction(2, 3)):
        assert p - math.exp(x) * q <= float(delta_of(mu_squared, x).upper) * (1 + 1e-9)
    for x in ((epsilon - top) / 3, (epsilon - top) * Fraction(2, 3)):  # and the other way round
        assert (1 - q) - math.exp(x) * (1 - p) <= float(delta_of(mu_squared, x).upper) * (1 + 1e-9)


def test_the_event_is_its_mu_squared():
    event = GaussianPrivacy(mu_squared="1/25")
    assert (event.mu_squared, event.rho) == (Fraction(1, 25), Fraction(1, 50))
    assert event_from_dict(event.to_dict()) == event == GaussianPrivacy("0.04")
    assert event != Concentrated("1/50")
    assert event != GaussianNoise("1/50")
    assert repr(event) == "GaussianPrivacy(mu_squared=Fraction(1, 25))"
    assert event.to_dict() == {"kind": "gaussian privacy", "mu_squared": "1/25"}
    for bad in (0, -1, "ln(3)", None):
        with pytest.raises(BadParameter):
            GaussianPrivacy(bad)
    for fields in ({}, {"rho": "1"}, {"mu_squared": "1", "steps": 1}):
        with pytest.raises(UnknownEvent):
            event_from_dict({"kind": "gaussian privacy", **fields})


def test_gaussian_events_become_one():
    """Σ μ² for the same people, the largest for disjoint parts, k²·μ² for groups; also nested."""
    a, b = GaussianPrivacy("1/25"), GaussianPrivacy("1/16")

    def only(event):
        parts = parts_of(event)
        ((atom, count),) = parts.atoms
        assert count == 1
        assert parts.is_gaussian
        assert parts.mu_squared == atom.mu_squared
        assert parts.rho == atom.mu_squared / 2
        assert parts.epsilon is None
        return atom.mu_squared

    assert only(Composed([a, b, a])) == Fraction(2, 25) + Fraction(1, 16)
    assert only(Parallel([a, b, a])) == Fraction(1, 16)
    assert only(Grouped(b, 3)) == Fraction(9, 16)
    assert only(Grouped(Parallel([a, b]), 3)) == Fraction(9, 16)
    assert only(Parallel([Composed([a, a]), b])) == Fraction(2, 25)
    assert only(Composed([Parallel([a, a]), Grouped(a, 2)])) == Fraction(5, 25)


def test_what_is_not_gaussian_private_has_no_mu():
    for event in (Concentrated("1/8"), GaussianNoise("1/8", 5), Composed([GaussianNoise("1/8"), GaussianPrivacy(1)])):
        assert parts_of(event).mu_squared is None
    mixed = Parallel([Pure(1), GaussianPrivacy(1)])
    assert parts_of(mixed).mu_squared == mu_of_pure_squared(1)
    assert parts_of(Grouped(mixed, 2)).mu_squared is None, "not known of a group that is spread over the parts"
    assert parts_of(Parallel([Pure(1), Concentrated(1)])).mu_squared is None
    assert parts_of(Grouped(RandomizedResponse(1, 5), 2)).mu_squared == mu_of_pure_squared(2)
    assert parts_of(Approximate(0, "1e-6")).mu_squared == 0
    assert cost_of(GaussianPrivacy(1)).rho == Fraction(1, 2)


def mu_of_pure_squared(epsilon):
    return mu_squared_of(Pure(epsilon))


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(mu_squares, epsilons, st.sampled_from([0, 20, 40]))
def test_the_loss_laws_of_gaussian_privacy_are_on_their_sides(mu_squared, x, tail_bits):
    event, bits = GaussianPrivacy(mu_squared), 70
    above, below = law_above(event, bits, 1 << tail_bits), law_below(event, bits, 1 << tail_bits)
    for place in (x, x / 7, Fraction(0), x * 3):
        truth = delta_of(mu_squared, place)
        assert above.delta(place) >= truth.lower
        assert below.delta(place) <= truth.upper
    assert float(above.delta(x)) <= float(truth_at(mu_squared, x)) * 1.001 + 2.0 ** (tail_bits - bits + 6)
    assert sum(below.masses) <= 1 << bits <= sum(above.masses) + above.lost


def truth_at(mu_squared, x):
    return delta_of(mu_squared, x).upper


def test_the_answer_for_gaussian_events_alone_is_the_truth_from_both_sides():
    bound = compose([GaussianPrivacy("1/25")] * 2 + [GaussianPrivacy("1/16")], "1e-6")
    assert bound.name == "Gaussian composition"
    assert bound.epsilon == epsilon_of(Fraction(2, 25) + Fraction(1, 16), Fraction(1, 10**6))
    assert bound.epsilon / SLACK <= bound.below <= bound.epsilon
    assert delta_of(Fraction(57, 400), bound.below).lower > Fraction(1, 10**6)


@pytest.mark.slow
@settings(max_examples=4, deadline=None)
@given(mu_squares.filter(lambda m: m > Fraction(1, 100)), st.fractions(min_value=Fraction(1, 10), max_value=2))
def test_mixed_with_others_no_bound_is_below_the_truth(mu_squared, epsilon):
    """Randomized response beside Gaussian privacy: δ(x) = p·δ(x − ε) + (1 − p)·δ(x + ε), in doubles."""
    delta = Fraction(1, 10**5)
    odds = math.exp(epsilon)
    scale = math.sqrt(mu_squared)

    def gaussian(x):
        def phi(z):
            return math.erfc(-z / math.sqrt(2)) / 2

        return phi(scale / 2 - x / scale) - math.exp(x) * phi(-scale / 2 - x / scale)

    for bound in all_bounds([GaussianPrivacy(mu_squared), LaplaceNoise(epsilon)], delta):
        x = float(bound.epsilon)
        truth = (odds * gaussian(x - float(epsilon)) + gaussian(x + float(epsilon))) / (1 + odds)
        assert truth <= float(delta) * (1 + 1e-6), bound.name

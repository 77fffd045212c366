"""Geometric, truncated geometric and staircase noise beyond what every mechanism must pass."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog

from leastnoise.errors import BadLoss, BadParameter, NumberTooLarge
from leastnoise.exact import SeededSource
from leastnoise.exact.enclosures import at_alpha, floor_of, least_whole
from leastnoise.mechanisms.numeric import DiscreteGaussian, Geometric, Staircase, TruncatedGeometric
from leastnoise.model.losses import absolute, from_function, squared, zero_one

LOSSES = {absolute: lambda y, x: abs(y - x), squared: lambda y, x: (y - x) ** 2, zero_one: lambda y, x: int(y != x)}


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize(
    "noise",
    [Geometric("ln(2)"), Geometric("3*ln(2)", 3), Staircase("ln(2)", 3), Staircase("ln(5)", 4, width=3)],
    ids=str,
)
def test_moments_and_tails_are_sums_of_masses(noise, loss):
    reach = 400
    masses = [noise.noise_pmf(k).lower for k in range(reach)]
    total = 2 * sum(masses) - masses[0]
    assert 1 - Fraction(1, 2**90) < total <= 1
    mean = 2 * sum(p * LOSSES[loss](k, 0) for k, p in enumerate(masses))
    assert mean <= noise.expected_loss(loss).lower < mean + Fraction(1, 2**70)
    for k in (1, 2, 3, 7, 20):
        tail = noise.tail(k)
        assert tail.is_exact
        assert sum(masses[k:]) <= tail.lower < sum(masses[k:]) + Fraction(1, 2**90)
        assert noise.cdf(k - 1, 0).lower == 1 - tail.lower == 1 - noise.cdf(-k, 0).lower


@pytest.mark.parametrize("epsilon", ["ln(6/5)", "ln(2)", "ln(4)", "ln(20)"])
@pytest.mark.parametrize("sensitivity", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_width_of_the_stairs_is_the_best_of_all(epsilon, sensitivity, loss):
    costs = [Staircase(epsilon, sensitivity, width).expected_loss(loss).lower for width in range(1, sensitivity + 1)]
    chosen = Staircase(epsilon, sensitivity, loss=loss)
    assert costs[chosen.width - 1] == min(costs)
    assert chosen.expected_loss(loss).lower <= Geometric(epsilon, sensitivity).expected_loss(loss, bits=128).upper


@pytest.mark.parametrize(("b", "sensitivity"), [(0.5, 1), (0.5, 2), (0.25, 3), (0.05, 3), (0.8, 4)])
def test_no_noise_at_all_beats_the_stairs(b, sensitivity):
    """The best symmetric noise on −reach..reach by linear programming; cutting off the tails changes it by b^steps."""
    steps = int(np.ceil(np.log(1e-7) / np.log(b)))
    reach = sensitivity * steps
    weights = np.where(np.arange(reach + 1) == 0, 1.0, 2.0)
    rows = []
    for k in range(reach + 1):
        for d in range(1, sensitivity + 1):
            for near, far in ((k, abs(k - d)), (k, k + d)):
                if far <= reach:
                    row = np.zeros(reach + 1)
                    row[near], row[far] = b, -1.0  # b·p(near) ≤ p(far)
                    rows += [row]
    # the last period stands for all that follow: Σ b^j = 1/(1 − b) and Σ j·b^j = b/(1 − b)²
    ends = np.arange(reach - sensitivity + 1, reach + 1)
    cost = np.arange(reach + 1) * weights
    weights[ends] *= 1 / (1 - b)
    cost[ends] = 2 * (ends / (1 - b) + sensitivity * b / (1 - b) ** 2)
    best = linprog(cost, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=[weights], b_eq=[1.0], method="highs")
    stairs = Staircase(f"ln({Fraction(1 / b).limit_denominator(100)})", sensitivity)
    assert best.fun == pytest.approx(float(stairs.moment(1)), rel=1e-4)


def test_for_sensitivity_one_the_stairs_are_the_geometric_mechanism():
    for k in range(-5, 6):
        assert Staircase("ln(3)").noise_pmf(k) == Geometric("ln(3)").noise_pmf(k)


@pytest.mark.slow
@given(
    st.integers(1, 12),
    st.sampled_from(["ln(11/10)", "ln(2)", "ln(20)"]),
    st.integers(1, 3),
    st.sampled_from(sorted(LOSSES, key=str)),
)
def test_truncated_errors_are_sums_over_the_law(span, epsilon, sensitivity, loss):
    mechanism = TruncatedGeometric(epsilon, -2, span - 2, sensitivity)
    values = range(-2, span - 1)
    law = {x: [mechanism.pmf(y, x, bits=200) for y in values] for x in values}
    errors = []
    for x, row in law.items():
        pairs = list(zip(row, values, strict=True))
        errors.append(sum(p.lower * LOSSES[loss](y, x) for p, y in pairs))
        upper = sum(p.upper * LOSSES[loss](y, x) for p, y in pairs)
        claimed = mechanism.error_at(x, loss)
        assert claimed.lower <= upper
        assert errors[-1] <= claimed.upper
    worst = mechanism.worst_error(loss)
    assert abs(worst.lower - max(errors)) < Fraction(1, 2**50)
    cumulative = sum(p.lower for p in law[-1][:-1])
    assert abs(mechanism.cdf(span - 3, -1, bits=200).lower - cumulative) < Fraction(1, 2**100)


def test_the_lower_bound_is_what_the_best_mechanism_for_the_uniform_prior_loses():
    for epsilon, span in (("ln(2)", 1), ("ln(2)", 6), (1, 30), ("1/100", 10**6)):
        mechanism = TruncatedGeometric(epsilon, 0, span)
        bound, worst = mechanism.reason().lower_bound.upper, mechanism.error().expected.upper
        assert worst / 2 < bound <= worst
    assert TruncatedGeometric("ln(3)", 0, 1).reason().lower_bound.lower == Fraction(1, 4)


def test_answers_outside_the_bounds_count_as_the_nearer_one():
    mechanism = TruncatedGeometric("ln(3)", 0, 5)
    assert mechanism.pmf(5, 10**9) == mechanism.pmf(5, 5)
    assert mechanism.draw(-(10**9), size=50, source=SeededSource(1)).min() == 0


def test_huge_answers_and_noise_never_wrap():
    huge = 10**30
    assert abs(Geometric(1).release(huge) - huge) < 1000
    drawn = Geometric(1).draw(huge, size=5)
    assert drawn.dtype == object
    assert max(abs(int(y) - huge) for y in drawn) < 1000
    near_the_limit = 2**63 - 1
    assert max(abs(int(y) - near_the_limit) for y in Geometric(1).draw(near_the_limit, size=100)) < 1000
    wide = Geometric("1e-30").draw(0, size=3)
    assert wide.dtype == object
    assert max(abs(int(y)) for y in wide) > 2**64


def test_masses_far_out_take_no_time_and_no_memory():
    p = Geometric("ln(3)").noise_pmf(10**9)
    assert 0 <= p.lower <= p.upper < Fraction(1, 2**60000)
    assert TruncatedGeometric("ln(3)", 0, 10**12).pmf(0, 10**12).upper < Fraction(1, 2**60000)
    assert Staircase("ln(3)", 5).tail(10**9).upper < Fraction(1, 2**60000)
    assert Fraction(3, 4) in TruncatedGeometric("ln(3)", 0, 10**12).error().expected  # up to far less than its width


@settings(max_examples=30)
@given(st.fractions(Fraction(1, 50), 5), st.integers(1, 4), st.sampled_from([Geometric, Staircase]))
def test_the_quantile_is_the_least_whole_error(epsilon, sensitivity, kind):
    noise = kind(epsilon, sensitivity)
    for level in (Fraction(1, 2), Fraction(19, 20), Fraction(999, 1000)):
        t = noise.quantile(level)
        assert 2 * noise.tail(t + 1, 200).upper <= 1 - level
        assert t == 0 or 2 * noise.tail(t, 200).lower > 1 - level


def test_losses_without_a_closed_form_are_refused():
    with pytest.raises(BadLoss, match="absolute, squared or zero_one"):
        Geometric(1).expected_loss(from_function(lambda w, x: abs(w - x) ** 3))


def test_absurd_sensitivities_are_refused():
    with pytest.raises(NumberTooLarge, match="sensitivity"):
        Staircase(1, 2**41)


def test_irrational_laws_have_no_exact_certificate_and_say_so():
    for mechanism in (Geometric(1), Staircase(1, 2), TruncatedGeometric(1, 0, 5, 2), DiscreteGaussian(4)):
        with pytest.raises(BadParameter, match="irrational"):
            mechanism.certificate()


def test_formulas_and_searches():
    assert least_whole(lambda n: n >= 0) == 0
    assert [least_whole(lambda n, k=k: n >= k, start=3) for k in range(3, 40)] == list(range(3, 40))
    assert floor_of(Geometric("ln(3)").epsilon * 10**40) == 10986122886681096913952452369225257046474
    exact = at_alpha(Geometric("ln(3)").epsilon, lambda a: a**5, power=5)
    rounded = at_alpha(Geometric("ln(3)").epsilon, lambda a: a**5, power=10**9)
    assert exact.lower == Fraction(1, 3**5)
    assert exact.lower in rounded
    assert not rounded.is_exact

"""Loss laws on a grid against exact convolution: above is never below, below never above, and both are close.

Masses have few bits here, so that every rounding, every cut tail and every lost mass is large enough to be seen.
"""

from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.composition.loss_distribution import LossDistribution, _split_weights, _towards
from leastnoise.exact import exp_above, exp_below, ln
from support.losses import ExactLaw, law_of, times

LN2 = ln(2)
BITS = 12
UNIT = Fraction(1, 1 << BITS)
TINY = Fraction(1, 1 << 60)  # what ball arithmetic at bits + 64 may cost
PLACES = [LN2 * Fraction(half, 2) for half in range(-16, 24, 3)]  # on, between and beyond the losses


@st.composite
def laws(draw, upward, step=LN2, bits=BITS):
    """Masses that sum to one with what is lost; below, they may sum to less."""
    weights = draw(st.lists(st.integers(0, 40), min_size=1, max_size=6).filter(any))
    lost = draw(st.integers(0, (1 << bits) // 10)) if upward else 0
    whole = (1 << bits) - lost
    masses = [whole * weight // sum(weights) for weight in weights]
    if upward:
        masses[-1] += whole - sum(masses)
    return LossDistribution(step * draw(st.integers(-3, 5)), step, tuple(masses), bits, upward, lost)


def assert_side(law, truth, slack):
    """The law's δ is on its side of the true one, and within the slack of it."""
    for x in PLACES:
        low, high = truth.delta(x)
        found = law.delta(x)
        if law.upward:
            assert found >= low, f"below the truth at {x}"
            assert found <= high + slack + TINY, f"far above the truth at {x}"
        else:
            assert found <= high, f"above the truth at {x}"
            assert found >= low - slack - TINY, f"far below the truth at {x}"


@pytest.mark.parametrize("upward", [True, False])
@settings(max_examples=30)
@given(data=st.data(), tail=st.sampled_from([0, 0, 1, 30, 300]))
def test_a_composition_is_on_its_side_of_the_exact_one(upward, data, tail):
    one, other = data.draw(laws(upward)), data.draw(laws(upward))
    together = one.compose(other, tail)
    rounded = (len(one.masses) + len(other.masses)) * UNIT
    doubly_lost = law_of(one).infinite * law_of(other).infinite
    assert_side(together, law_of(one) + law_of(other), rounded + 2 * tail * UNIT + doubly_lost)


@pytest.mark.slow
@pytest.mark.parametrize("upward", [True, False])
@settings(max_examples=30)
@given(data=st.data(), count=st.integers(1, 5), tail=st.sampled_from([0, 1, 30]))
def test_a_power_is_on_its_side_of_the_exact_one(upward, data, count, tail):
    law = data.draw(laws(upward))
    truth = times(law_of(law), count)
    slack = (count * len(law.masses) + 2 * tail) * 4 * count * UNIT + count**2 * law_of(law).infinite ** 2
    assert_side(law.power(count, tail), truth, slack)


def test_masses_that_were_rounded_up_beyond_one_still_lose_what_the_other_loses():
    """Where masses sum to more than one, as much more is lost together with the other's infinite loss."""
    heavy = LossDistribution(LN2, LN2, (1 << BITS, 1 << BITS), BITS, True)
    lossy = LossDistribution(LN2, LN2, (0,), BITS, True, lost=1 << BITS)
    assert heavy.compose(lossy, 0).lost == lossy.compose(heavy, 0).lost * 2 == 2 << BITS


@pytest.mark.parametrize("upward", [True, False])
@settings(max_examples=30)
@given(data=st.data(), tail=st.integers(0, 2000))
def test_cutting_tails_moves_them_to_the_safe_side(upward, data, tail):
    law = data.draw(laws(upward))
    cut = law.trimmed(tail)
    assert_side(cut, law_of(law), 2 * tail * UNIT)
    assert len(cut.masses) >= 1
    gone = sum(law.masses) + law.lost - sum(cut.masses) - cut.lost
    assert gone == 0 if upward else 0 <= gone <= 2 * tail


def test_tails_are_cut_as_far_as_is_allowed_and_no_further():
    law = LossDistribution(LN2 * 3, LN2, (5, 5, 4000, 43, 43), BITS, True)
    cut = law.trimmed(10)
    assert (cut.top, cut.masses, cut.lost) == (LN2, (4000, 43, 43), 10)
    cut = law.trimmed(43)
    assert (cut.top, cut.masses, cut.lost) == (LN2, (4000, 86), 10)
    below = LossDistribution(LN2 * 3, LN2, (5, 5, 4000, 43, 43), BITS, False)
    assert below.trimmed(43).masses == (4000, 43)
    assert below.trimmed(43).lost == 0


@pytest.mark.slow
@pytest.mark.parametrize("upward", [True, False])
@settings(max_examples=30)
@given(
    data=st.data(),
    ours=st.sampled_from([Fraction(1, 3), Fraction(7, 10), Fraction(1), LN2]),
    step=st.sampled_from([Fraction(1, 2), Fraction(1, 8), Fraction(1, 64)]),
)
def test_another_grid_moves_losses_to_the_safe_side_and_not_far(upward, data, ours, step):
    law = data.draw(laws(upward, ours, bits=data.draw(st.sampled_from([BITS, 80]))))
    placed = law.regridded(step)
    assert placed.step == step
    assert (placed.top / step).denominator == 1
    truth, rounded = law_of(law), Fraction(2 * len(law.masses), 1 << law.bits)
    for x in PLACES:
        found = placed.delta(x)
        if upward:
            assert found >= truth.delta(x)[0]
            assert found <= truth.delta(x - step)[1] + rounded + TINY
        else:
            assert found <= truth.delta(x)[1]
            assert found >= truth.delta(x + step)[0] - TINY


@pytest.mark.parametrize("step", [Fraction(1, 2), Fraction(1, 64), Fraction(2)])
def test_a_split_mass_keeps_its_probability_under_both_neighbours(step):
    """At a loss f above a multiple a share w goes one step up: w·e^-step + (1 − w) = e^-f."""
    for place, (low, high) in enumerate(_split_weights(step)):
        f = step * place / 1024
        least, most = (1 - exp_above(-f, 400)), (1 - exp_below(-f, 400))
        lower = least / (1 - exp_below(-step, 400))
        upper = most / (1 - exp_above(-step, 400))
        assert low <= upper * 2**64
        assert lower * 2**64 <= high
        assert high - low <= 2
        assert lower * 2**64 - 2 < low
        assert high < upper * 2**64 + 2


@given(
    st.one_of(
        st.fractions(min_value=-5, max_value=5, max_denominator=10**6),
        st.builds(lambda n: Fraction(1, 3**200) + n, st.integers(-5, 5)),
        st.builds(lambda n, d: ln(Fraction(n, 7) + 1) / d, st.integers(1, 50), st.integers(-9, -1)),
    )
)
def test_a_loss_becomes_rational_on_the_named_side(number):
    up, down = _towards(number, up=True), _towards(number, up=False)
    assert down <= number <= up
    assert up - down <= Fraction(2, 1 << 256)
    assert max(up.denominator.bit_length(), down.denominator.bit_length()) <= 257


@pytest.mark.parametrize("upward", [True, False])
def test_no_loss_of_a_law_is_placed_on_the_wrong_side(upward):
    for step in (LN2, ln(3) / 7, Fraction(1, 3**200)):
        law = LossDistribution(step * 5 + ln(7), step, (1,) * 9, BITS, upward)
        top, each = law._rational_place()
        for place in range(9):
            placed, true = top - each * place, law.top - law.step * place
            assert placed >= true if upward else placed <= true
            assert abs(placed - true) < Fraction(1, 1 << 250)


@pytest.mark.parametrize("upward", [True, False])
@settings(max_examples=50)
@given(data=st.data(), parts=st.integers(1, 3000))
def test_the_epsilon_of_a_law_is_on_its_side_to_the_last_bit(upward, data, parts):
    law = data.draw(laws(upward))
    delta, truth = parts * UNIT * Fraction(4, 5), law_of(law)
    epsilon = law.epsilon(delta)
    if epsilon is None:
        assert truth.infinite >= delta, "there is a finite ε"
        return
    assert truth.infinite < delta
    tiny = Fraction(1, 10**15)
    if upward:
        assert truth.delta(epsilon)[1] <= delta, "ε is too small"
        assert epsilon <= tiny or truth.delta(epsilon - tiny)[0] > delta, "ε is larger than it need be"
    else:
        assert epsilon == 0 or truth.delta(epsilon)[0] >= delta, "ε is too large"
        assert truth.delta(epsilon + tiny)[1] <= delta, "ε is smaller than it need be"


@pytest.mark.parametrize("upward", [True, False])
@settings(max_examples=30)
@given(data=st.data(), x=st.fractions(min_value=-3, max_value=4, max_denominator=50))
def test_the_delta_of_a_law_is_on_its_side_to_the_last_bit(upward, data, x):
    law = data.draw(laws(upward))
    low, high = law_of(law).delta(x)
    if upward:
        assert low <= law.delta(x) <= high + TINY
    else:
        assert low - TINY <= law.delta(x) <= high


def test_the_reference_is_the_definition():
    """Two fair losses of ±ln 2: at x = 0 half of a quarter and a half of nothing."""
    coin = ExactLaw({LN2: Fraction(2, 3), -LN2: Fraction(1, 3)})
    both = coin + coin
    assert both.masses == {LN2 * 2: Fraction(4, 9), Fraction(0): Fraction(4, 9), -LN2 * 2: Fraction(1, 9)}
    assert both.delta(Fraction(0)) == (Fraction(1, 3), Fraction(1, 3))
    assert ceil(both.delta(LN2)[0] * 9) == floor(both.delta(LN2)[1] * 9) == 2
    assert (ExactLaw({}, Fraction(1, 4)) + coin).infinite == Fraction(1, 4)

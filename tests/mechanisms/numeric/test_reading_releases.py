"""What a reader makes of a release: the best guess under a prior, and intervals with the coverage they claim."""

from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.errors import BadParameter, BadPrior
from leastnoise.mechanisms.numeric import (
    DiscreteGaussian,
    Geometric,
    LatticeLaplace,
    Staircase,
    TruncatedGeometric,
    TruncatedLaplace,
    VectorLaplace,
    best_guess,
    confidence_interval,
)
from leastnoise.model.losses import absolute, from_function, squared, zero_one
from leastnoise.model.priors import Prior
from leastnoise.model.remapping import optimal_remap

LEVELS = [Fraction(1, 4), Fraction(1, 2), Fraction(19, 20), Fraction(999, 1000)]
weights = st.lists(st.integers(0, 9), min_size=6, max_size=6).filter(any)


@pytest.mark.slow
@given(weights, st.sampled_from([absolute, squared, zero_one]), st.sampled_from(["ln(3/2)", "ln(2)", "ln(9)"]))
def test_the_best_guess_is_the_optimal_remap_of_the_channel(counts, loss, epsilon):
    prior = Prior(counts, normalise=True)
    mechanism = TruncatedGeometric(epsilon, 0, 5)
    channel = mechanism.channel(range(6), range(6))
    remap, marginal = optimal_remap(prior, channel, loss), channel.output_marginal(prior)
    total = Fraction(0)
    for released in range(6):
        guess = best_guess(mechanism, released, prior, loss)
        assert remap.channel.probability(guess.guess, given=released) == 1
        assert guess.loss.is_exact
        total += marginal[released] * guess.loss.lower
    assert total == remap.loss


def test_irrational_laws_give_the_same_kind_of_answer():
    """Symmetric around the release, so the first of two equal guesses is taken however little is rounded."""
    guess = best_guess(Geometric(1), 2, {1: "1/2", 3: "1/2"})
    assert guess.guess == 1
    assert 1 in guess.loss
    assert guess.loss.width < Fraction(1, 2**150)
    prior = Prior({k: Fraction(1, 11) for k in range(11)})
    assert best_guess(DiscreteGaussian(4), 7, prior).guess == 7
    assert best_guess(LatticeLaplace(1, 1, "1/2"), 3.5, {3: "1/3", 4: "2/3"}).guess == 4


def test_a_loss_may_have_guesses_of_its_own_and_any_sign():
    gain = from_function(lambda w, x: -1 if w == "many" and x > 2 else 0, guesses=["few", "many"])
    guess = best_guess(TruncatedGeometric("ln(2)", 0, 4), 4, [0.2] * 5, gain)
    assert guess.guess == "many"
    assert guess.loss.upper < 0


def test_a_prior_that_rules_the_release_out_is_refused():
    with pytest.raises(BadPrior, match="rules out"):
        best_guess(TruncatedGeometric(1, 0, 5), 9, [0.5, 0.5])
    with pytest.raises(BadPrior, match="all but"):
        best_guess(DiscreteGaussian(1), 10**6, [0.5, 0.5])


def covered(mechanism, answer, outputs, level):
    """The least probability that the interval of the release holds the answer."""
    inside = [y for y in outputs if answer in confidence_interval(mechanism, y, level)]
    return sum(mechanism.pmf(y, answer, bits=128).upper for y in inside)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "mechanism",
    [
        TruncatedGeometric("ln(6/5)", 0, 30),
        TruncatedGeometric("ln(2)", -4, 12),
        TruncatedGeometric("2*ln(2)", 0, 20, sensitivity=2),
        TruncatedGeometric("ln(20)", 0, 3),
        TruncatedGeometric("ln(101/100)", 0, 10),
        TruncatedGeometric("1/3", 0, 25),
    ],
    ids=str,
)
def test_every_answer_is_covered_as_often_as_claimed(mechanism, level):
    outputs = range(mechanism.low, mechanism.high + 1)
    untruncated = Geometric(mechanism.epsilon, mechanism.sensitivity).quantile(level)
    for answer in outputs:
        assert covered(mechanism, answer, outputs, level) >= level
    for released in outputs:
        interval = confidence_interval(mechanism, released, level)
        assert mechanism.low <= interval.low <= released <= interval.high <= mechanism.high
        assert interval.low >= released - untruncated
        assert interval.high <= released + untruncated


def test_truncation_makes_intervals_near_the_bounds_shorter():
    mechanism = TruncatedGeometric("ln(6/5)", 0, 100)
    plain = Geometric("ln(6/5)").quantile()
    near = confidence_interval(mechanism, 20)
    assert near.low > 20 - plain
    assert confidence_interval(mechanism, 50) == (50 - plain, 50 + plain, Fraction(19, 20))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("mechanism", [Geometric("ln(2)"), Staircase("ln(4)", 3), DiscreteGaussian(9)], ids=str)
def test_whole_noise_is_covered_and_not_by_more_than_needed(mechanism, level):
    outputs = range(-80, 81)
    assert covered(mechanism, 0, outputs, level) >= level
    reach = confidence_interval(mechanism, 0, level).high
    narrower = sum(mechanism.pmf(y, 0, bits=128).upper for y in range(1 - int(reach), int(reach)))
    assert narrower < level


@pytest.mark.slow
@settings(max_examples=25)
@given(st.fractions(-2, 2, max_denominator=48), st.sampled_from(LEVELS))
def test_lattice_releases_cover_answers_between_the_points(answer, level):
    mechanism = LatticeLaplace("2*ln(2)", 1, "1/2")
    outputs = [Fraction(k, 2) for k in range(-90, 91)]
    assert covered(mechanism, answer, outputs, level) >= level


@settings(max_examples=60)
@given(
    st.fractions(0, 6, max_denominator=48),
    st.sampled_from(LEVELS),
    st.sampled_from(["1/10", "1/2", 3]),
    st.integers(1, 13),
)
def test_cells_cover_every_answer_in_the_interval(answer, level, epsilon, cells):
    mechanism = TruncatedLaplace(epsilon, 0, 6, 1, cells)
    outputs = [mechanism.step * (2 * j + 1) / 2 for j in range(cells)]
    assert covered(mechanism, answer, outputs, level) >= level


def test_what_is_no_release_is_refused():
    for mechanism, released in (
        (TruncatedGeometric(1, 0, 5), 6),
        (Geometric(1), 1.5),
        (LatticeLaplace(1, 1, "1/2"), 0.3),
        (TruncatedLaplace(1, 0, 1, 1, 4), 1.125),
    ):
        with pytest.raises(BadParameter, match="released"):
            confidence_interval(mechanism, released)
    with pytest.raises(BadParameter, match="one number"):
        confidence_interval(VectorLaplace(1, 2), 0)
    with pytest.raises(BadParameter, match="level"):
        confidence_interval(Geometric(1), 0, level=1)

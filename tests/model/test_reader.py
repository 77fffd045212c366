from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, strategies as st

from leastnoise.errors import BadParameter
from leastnoise.model.channel import Channel
from leastnoise.model.losses import absolute, from_matrix, squared, zero_one
from leastnoise.model.priors import uniform
from leastnoise.model.remapping import expected_loss, optimal_remap, worst_case_loss
from support.channels import channels, distributions, geometric

tables = st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=3)


@pytest.mark.slow
@given(channels(inputs=3, outputs=3), distributions(3), tables)
def test_remapping_is_the_best_of_all_readings(channel, prior, rows):
    loss = from_matrix(rows)
    guesses = range(len(rows))

    def read(choice):
        return sum(
            prior[x] * channel.probability(y, given=x) * rows[choice[y]][x] for x in range(3) for y in channel.outputs
        )

    best = min(read(choice) for choice in product(guesses, repeat=3))
    assert expected_loss(prior, channel, loss) == best
    remap = optimal_remap(prior, channel, loss)
    assert remap.loss == best
    assert expected_loss(prior, channel.then(remap.channel), loss, remap=False) == best


@pytest.mark.slow
@given(channels(inputs=3), channels(inputs=3), distributions(3))
def test_floats_agree_with_fractions(exact, other, prior):
    for channel in (exact, exact.parallel(other)):
        floats = Channel(channel.floats(), channel.inputs, channel.outputs)
        for loss in (absolute, squared, zero_one):
            assert expected_loss(prior, floats, loss) == pytest.approx(float(expected_loss(prior, channel, loss)))
            assert optimal_remap(prior, floats, loss).loss == pytest.approx(
                float(optimal_remap(prior, channel, loss).loss)
            )
    assert expected_loss(prior, Channel([[0.5, 0.5]] * 3), absolute, remap=False) == pytest.approx(
        float(expected_loss(prior, Channel([["1/2", "1/2"]] * 3), absolute, remap=False))
    )


def test_without_remapping_the_output_is_the_guess():
    channel = Channel([["1/2", "1/2"], [0, 1]], outputs=[0, 10])
    assert expected_loss([0.5, 0.5], channel, absolute, remap=False) == Fraction(1, 2) * 5 + Fraction(1, 2) * 9
    assert expected_loss([0.5, 0.5], channel, absolute) == Fraction(1, 4)


def test_the_mean_is_the_best_guess_for_squared_loss():
    channel = Channel.uniform([0, 1, 2], ["?"])
    prior = ["1/2", "1/4", "1/4"]
    remap = optimal_remap(prior, channel, squared.guessing([0, 0.5, 0.75, 1, 2]))
    assert remap.channel.outputs == (0.75,)
    assert remap.loss == Fraction(11, 16)


def test_worst_cases():
    channel = geometric(2, "1/4")
    assert worst_case_loss(channel, absolute) == (Fraction(2, 5), 1)
    assert worst_case_loss(Channel(channel.floats()), absolute).loss == pytest.approx(0.4)
    assert worst_case_loss(Channel.uniform([1, 2], [5, 7]), absolute, error="additive") == (1, 1)
    assert worst_case_loss(Channel.uniform([1, 2], [5, 7]), absolute.guessing([1, 5, 7]), error="additive") == (5, 1)


def test_multiplicative_error_is_at_least_one_and_grows_with_the_loss():
    # Tóthmérész 2013, Definition 1.5, divides the optimum by the score: for a cost to be minimised that is upside down.
    cuts = from_matrix([[2, 3], [6, 4]], guesses=["best", "worse"], inputs=["G", "H"])
    right, wrong = (Channel.deterministic(lambda _, c=c: c, ["G", "H"]) for c in ("best", "worse"))
    assert worst_case_loss(right, cuts, error="multiplicative").loss == 1
    assert worst_case_loss(wrong, cuts, error="multiplicative") == (3, "G")
    assert worst_case_loss(wrong, cuts, error="additive") == (4, "G")


def test_bad_questions_are_refused():
    with pytest.raises(BadParameter, match="needs losses above zero; given: 0 for input 0"):
        worst_case_loss(Channel.identity(2), absolute, error="multiplicative")
    with pytest.raises(BadParameter, match="one of three words; given: median"):
        worst_case_loss(Channel.identity(2), absolute, error="median")
    with pytest.raises(BadParameter, match="must be a number to have a distance"):
        expected_loss(uniform("ab"), Channel.identity("ab"), absolute)

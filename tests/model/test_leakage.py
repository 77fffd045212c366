import math
from fractions import Fraction

import pytest
from hypothesis import given

from leastnoise.errors import BadParameter
from leastnoise.exact.numbers import ln
from leastnoise.model.channel import Channel
from leastnoise.model.leakage import g_leakage, g_vulnerability, min_entropy_leakage, shannon_leakage
from leastnoise.model.losses import from_matrix, zero_one
from leastnoise.model.remapping import expected_loss
from support.channels import channels, distributions

two_tries = from_matrix([[1, 1, 0], [1, 0, 1], [0, 1, 1]])  # the gain of somebody who may guess twice


@pytest.mark.slow
@given(channels(inputs=3), distributions(3))
def test_vulnerability_and_risk_sum_to_one(channel, prior):
    assert g_vulnerability(prior, channel) + expected_loss(prior, channel, zero_one) == 1
    floats = Channel(channel.floats())
    assert g_vulnerability(prior, floats) == pytest.approx(float(g_vulnerability(prior, channel)))
    assert g_vulnerability(prior, floats, two_tries) == pytest.approx(float(g_vulnerability(prior, channel, two_tries)))


@pytest.mark.slow
@given(channels(inputs=3), distributions(3), channels(inputs=6, outputs=3))
def test_leakage_is_never_negative_and_never_grows_by_post_processing(channel, prior, other):
    after = channel.then(other.restrict(channel.outputs))
    for gain in ({}, {"gain": two_tries}):
        more, less = (g_leakage(prior, each, **gain, kind="additive") for each in (channel, after))
        assert more >= less >= 0
        assert g_leakage(prior, channel, **gain) >= 1


def test_known_leakages():
    prior, channel = ["1/2", "1/4", "1/4"], Channel.identity(3)
    assert g_leakage(prior, channel) == 2
    assert g_leakage(prior, channel, two_tries, kind="additive") == Fraction(1, 4)
    assert min_entropy_leakage(prior, channel) == ln(2)
    assert min_entropy_leakage(prior, Channel(channel.floats())) == pytest.approx(math.log(2))
    assert min_entropy_leakage(prior, Channel.uniform(3, 2)) == 0


@pytest.mark.slow
@given(channels(inputs=3), distributions(3))
def test_mutual_information(channel, prior):
    value = shannon_leakage(prior, channel)
    marginal = channel.output_marginal(prior)
    by_hand = math.fsum(
        float(prior[x] * p) * math.log(p / marginal[y])
        for x in channel.inputs
        for y, p in zip(channel.outputs, channel.row(x), strict=True)
        if prior[x] * p
    )
    assert float(value) == pytest.approx(by_hand, abs=1e-12)
    assert value.width <= value.upper * Fraction(1, 2**60)
    assert shannon_leakage(prior, Channel(channel.floats())) == pytest.approx(by_hand, abs=1e-12)
    independent = len({tuple(channel.row(x)) for x in channel.inputs if prior[x]}) == 1
    assert (value.is_exact and value.lower == 0) == independent


def test_everything_told_is_the_entropy():
    prior = ["1/2", "1/4", "1/4"]
    assert float(shannon_leakage(prior, Channel.identity(3))) == pytest.approx(1.5 * math.log(2))


def test_bad_questions_are_refused():
    with pytest.raises(BadParameter, match="one of two words; given: both"):
        g_leakage([1], Channel.identity(1), kind="both")
    with pytest.raises(BadParameter, match="needs a positive one before"):
        g_leakage([1], Channel.identity(1), from_matrix([[0]]))

from fractions import Fraction

import pytest
from hypothesis import given

from leastnoise.model.channel import Channel
from leastnoise.model.losses import absolute
from leastnoise.model.remapping import expected_loss
from support.channels import channels, distributions


@pytest.mark.slow
@given(channels(inputs=3), distributions(3))
def test_a_hyper_averages_to_the_prior_and_carries_the_loss(channel, prior):
    hyper = channel.hyper(prior)
    assert sum(hyper.weights) == 1
    assert hyper.prior() == tuple(prior)
    assert len(set(hyper.posteriors)) == len(hyper)
    assert all(weight > 0 and sum(posterior) == 1 for posterior, weight in hyper)
    # FMM 2021, equation 9: the expected loss is the expectation, over the hyper, of the least expected loss.
    table = absolute.table(range(3)).rows

    def uncertainty(posterior):
        return min(sum(c * p for c, p in zip(row, posterior, strict=True)) for row in table)

    assert hyper.expected(uncertainty) == expected_loss(prior, channel, absolute)


@pytest.mark.slow
@given(channels(inputs=3, outputs=3), distributions(3))
def test_equal_posteriors_merge_and_impossible_outputs_vanish(channel, prior):
    split = channel.then(Channel([["1/3", "2/3", 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0]]))  # output 4 is impossible
    assert split.hyper(prior) == channel.hyper(prior)
    assert hash(split.hyper(prior)) == hash(channel.hyper(prior))


def test_hypers_of_floats():
    hyper = Channel([[0.25, 0.25, 0.5], [0.5, 0.5, 0.0]]).hyper([0.5, 0.5])
    assert hyper.posteriors == ((1 / 3, 2 / 3), (1.0, 0.0))
    assert hyper.weights == (0.75, 0.25)
    assert repr(hyper) == "Hyper(2 posteriors over 2 inputs)"


def test_hypers_differ_by_weights_posteriors_and_inputs():
    prior = [Fraction(1, 2), Fraction(1, 2)]
    nothing, everything = Channel.uniform(2, 1).hyper(prior), Channel.identity(2).hyper(prior)
    assert nothing != everything
    assert nothing != Channel.uniform("ab", 1).hyper(prior)
    assert nothing != 3

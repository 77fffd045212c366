from fractions import Fraction

import pytest
from hypothesis import given, settings

from leastnoise.errors import BadChannel, BadParameter
from leastnoise.model.channel import Channel
from leastnoise.model.kantorovich import earth_mover, euclidean, kantorovich, total_variation
from leastnoise.model.losses import absolute, lipschitz_constant, squared
from leastnoise.model.priors import uniform
from leastnoise.model.remapping import expected_loss
from support.channels import channels, distributions

EVEN = uniform(3)


@pytest.mark.slow
@settings(max_examples=40)
@given(channels(inputs=3), channels(inputs=3), channels(inputs=3))
def test_it_is_a_metric_on_hypers(a, b, c):
    first, second, third = (channel.hyper(EVEN) for channel in (a, b, c))
    there, back = kantorovich(first, second), kantorovich(second, first)
    assert there.is_exact
    assert there == back
    assert (there.lower == 0) == (first == second)
    assert kantorovich(first, third).lower <= there.lower + kantorovich(second, third).lower


@pytest.mark.slow
@settings(max_examples=40)
@given(channels(inputs=3), channels(inputs=3), distributions(3))
def test_it_bounds_the_difference_of_losses(a, b, prior):
    """Kantorovich and Rubinstein, as FMM 2021 use it in Theorem 13."""
    distance = kantorovich(a.hyper(prior), b.hyper(prior), earth_mover(range(3)))
    for loss in (absolute, squared):
        gap = abs(expected_loss(prior, a, loss) - expected_loss(prior, b, loss))
        assert gap <= lipschitz_constant(loss, range(3)) * distance.lower


@pytest.mark.slow
@settings(max_examples=40)
@given(channels(inputs=3), distributions(3))
def test_from_nothing_told_every_plan_is_the_same(channel, prior):
    hyper = channel.hyper(prior)
    nothing = Channel.uniform(3, 1).hyper(prior)
    for metric in (total_variation, earth_mover(range(3))):
        expected = hyper.expected(lambda p, metric=metric: metric(p, prior))
        assert kantorovich(hyper, nothing, metric).lower == expected
    enclosure = kantorovich(hyper, nothing, euclidean)
    exact = hyper.expected(lambda p: euclidean(p, prior).lower)
    assert enclosure.lower <= exact + Fraction(1, 10**18)
    assert exact <= enclosure.upper
    assert enclosure.width < Fraction(1, 10**18)


def test_known_distances():
    prior = [0.5, 0.5]
    everything, nothing = Channel.identity(2).hyper(prior), Channel.uniform(2, 1).hyper(prior)
    assert kantorovich(everything, nothing).lower == Fraction(1, 2)
    assert float(kantorovich(everything, nothing, euclidean)) == pytest.approx(0.5**0.5)
    assert kantorovich(everything, nothing, lambda p, q: 3 if p != q else 0).lower == 3
    line = [0, Fraction(1, 4), 1]
    left, right = (tuple(map(Fraction, p)) for p in ([1, 0, 0], [0, 0, 1]))
    assert earth_mover(line)(left, right) == earth_mover(line)(right, left) == 1
    assert earth_mover(line[::-1])(left[::-1], right[::-1]) == 1


def test_an_irrational_distance_lies_between_its_bounds():
    """4·√2/9: a third of the mass moves by 2·√2/3 and two thirds by √2/3."""
    prior = [Fraction(1, 3), Fraction(2, 3)]
    found = kantorovich(Channel.identity(2).hyper(prior), Channel.uniform(2, 1).hyper(prior), euclidean)
    assert found.lower**2 < Fraction(32, 81) < found.upper**2


def test_bad_questions_are_refused():
    exact = Channel.identity(2).hyper([0.5, 0.5])
    with pytest.raises(BadChannel, match="over the same inputs"):
        kantorovich(exact, Channel.identity("ab").hyper([0.5, 0.5]))
    with pytest.raises(BadChannel, match="needs exact channels"):
        kantorovich(exact, Channel([[0.5, 0.5]] * 2).hyper([0.5, 0.5]))
    with pytest.raises(BadChannel, match="different sums"):
        kantorovich(exact, Channel([[0.1, 0.9]] * 2).to_exact().hyper([0.5, 0.5]))
    with pytest.raises(BadParameter, match="at least 0"):
        kantorovich(exact, exact, lambda *_: -1)
    with pytest.raises(BadParameter, match="must be a number to have a distance"):
        earth_mover("ab")

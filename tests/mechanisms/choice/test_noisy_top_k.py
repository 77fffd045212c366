"""The k largest noisy scores: what the list is, how far off it may be, and where it is chosen."""

from fractions import Fraction

import numpy as np
import pytest

import leastnoise as ln
from leastnoise.composition.cost import covers
from leastnoise.errors import BadParameter
from leastnoise.exact import SeededSource
from leastnoise.mechanisms import NoisyTopK, PeelingTopK, PermuteAndFlip
from leastnoise.mechanisms.histogram.independent_noise import HistogramProblem, NoiseBlock
from leastnoise.mechanisms.numeric import Gaussian, Geometric, Staircase
from leastnoise.model import Privacy, Sensitivity

KEYS = [str(i) for i in range(200)]


def noisy_top_k(noise, count, k):
    return NoisyTopK(ln.mechanisms.IndependentNoise((NoiseBlock(noise, count, noise.event),)), k)


def scores_of(count):
    """Scores of several shapes: all alike, far apart, five ahead, and a slope."""
    return [np.full(count, 7), 1000 * np.arange(count), np.repeat([40, 0], [5, count - 5]), np.arange(count)]


def test_the_list_is_that_of_the_noisy_scores_in_order_and_the_first_of_equals_comes_first():
    noise = Geometric(Fraction(1, 3))
    for seed in range(50):
        scores = np.array([3, 1, 4, 1, 5])
        places = noisy_top_k(noise, 5, 3).draw(scores, source=SeededSource(seed))
        noisy = scores + noise.noise(5, SeededSource(seed))
        assert places == tuple(sorted(range(5), key=lambda place: (-noisy[place], place))[:3])
    many = noisy_top_k(noise, 5, 3).draw(scores, (2, 4), SeededSource(1))
    assert many.shape == (2, 4, 3)
    assert all(len(set(row)) == 3 for row in many.reshape(-1, 3).tolist())


@pytest.mark.parametrize("noise", [Geometric(1), Geometric(Fraction(1, 10)), Gaussian(50), Geometric(5)])
@pytest.mark.parametrize("k", [1, 5, 20])
def test_no_mean_loss_is_above_the_bound(noise, k):
    mechanism = noisy_top_k(noise, 40, k)
    bound, half = float(mechanism.error().expected.upper), mechanism.error(Fraction(1, 2)).quantiles[Fraction(1, 2)]
    for scores in scores_of(40):
        drawn = mechanism.draw(scores, 400, SeededSource(k))
        losses = np.sort(scores)[-k:].sum() - scores[drawn].sum(axis=1)
        assert losses.mean() - 6 * losses.std() / 20 <= bound
        assert (losses <= half).mean() > 0.5


def test_the_bound_is_reached_within_a_factor_of_three():
    """On scores between which noise decides, one above the other by about what the noise is."""
    mechanism, scores = noisy_top_k(Geometric(Fraction(1, 10)), 1000, 5), np.repeat([35, 0], [5, 995])
    drawn = mechanism.draw(scores, 500, SeededSource(0))
    assert (5 * 35 - scores[drawn].sum(axis=1)).mean() > float(mechanism.error().expected.upper) / 3


def test_all_of_them_are_never_wrong_and_what_is_no_noise_for_it_is_refused():
    assert noisy_top_k(Geometric(1), 4, 4).error().expected.upper == 0
    for bad in (Staircase(1, 3), Geometric(1)):
        blocks = (NoiseBlock(bad, 4, bad.event),) * (1 if isinstance(bad, Staircase) else 2)
        with pytest.raises(BadParameter, match="the noise must be geometric"):
            NoisyTopK(ln.mechanisms.IndependentNoise(blocks), 2)
    for k in (0, 5, "two"):
        with pytest.raises(BadParameter):
            noisy_top_k(Geometric(1), 4, k)
    with pytest.raises(BadParameter, match="no closed form"):
        noisy_top_k(Geometric(1), 4, 2).pmf((0, 1), [1, 2, 3, 4])


def test_its_price_is_that_of_the_noise():
    sensitivity = Sensitivity(3, 2, "three cells, two in each")
    for price in (Privacy(1), Privacy(rho=1), Privacy(1, Fraction(1, 10**6))):
        for noise in HistogramProblem(price, 10, sensitivity).usual():
            assert NoisyTopK(noise, 4).event == noise.event
            assert covers(price, noise.event)


@pytest.fixture
def people(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("person,key\n" + "".join(f"{i},{KEYS[i % 7]}\n" for i in range(7000)))
    with ln.open(file, budget=20, privacy_unit="person") as table:
        yield table


def test_it_is_chosen_where_a_person_is_in_few_groups_and_finds_the_best(people):
    few, many = (people.most_common(5, by="key", keys=KEYS, groups_per_unit=groups) for groups in (1, 200))
    how = few.answer_plan(Privacy(Fraction(1, 10)))
    assert isinstance(how.mechanism, NoisyTopK)
    assert (how.sensitivity.norm, how.sensitivity.amount, how.event) == ("l1", 1, how.mechanism.noise.event)
    turns = next(option for option in how.options if isinstance(option.mechanism, PeelingTopK))
    assert how.error.expected.upper < turns.expected.lower
    assert isinstance(many.answer_plan(Privacy(Fraction(1, 10))).mechanism, PeelingTopK)
    one = people.most_common(1, by="key", keys=KEYS, groups_per_unit=1).answer_plan(Privacy(1))
    assert isinstance(one.mechanism, PermuteAndFlip)
    released = few.release(epsilon=1).table
    assert set(released["value"]) <= set(KEYS[:7])
    assert list(released["rank"]) == [1, 2, 3, 4, 5]

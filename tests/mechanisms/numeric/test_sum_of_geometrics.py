"""The reach of a sum of discrete Laplace noises: never too short, by exact enumeration, and hardly too long."""

from fractions import Fraction
from math import gcd

import numpy as np
import pytest

from leastnoise.mechanisms import Geometric
from leastnoise.mechanisms.numeric.sum_of_geometrics import reach_of_geometrics

LEVELS = [Fraction(1, 2), Fraction(19, 20), Fraction(9999, 10000)]
KINDS = [((1, 1),), ((1, 2),), ((1, 5),), ((1, 4), (3, 1)), ((2, 3),), ((1, 1), (10, 2)), ((7, 1), (9, 1)), ((1, 30),)]
SUMS = [(epsilon, kinds) for epsilon in ("3", "1", "1/4") for kinds in (*KINDS, ((4, 1), (6, 9)))]


def chances_beyond(noise, kinds):
    """P(|Σ f·Z| > t) for t = 0, 1, …, within 1e-12."""
    span = int(35 / float(noise.rate)) + 5
    tilt = float(np.exp(-float(noise.rate)))
    law = (1 - tilt) / (1 + tilt) * tilt ** np.abs(np.arange(-span, span + 1))
    total = np.ones(1)
    for weight, count in kinds:
        spread = np.zeros(2 * weight * span + 1)
        spread[::weight] = law
        for _ in range(count):
            total = np.convolve(total, spread)
    sizes = np.abs(np.arange(len(total)) - len(total) // 2)
    masses = np.bincount(sizes, total)
    return masses[::-1].cumsum()[::-1] - masses


def reach(noise, kinds, level, step=Fraction(0)):
    weights, counts = np.array(kinds, dtype=float).T
    return reach_of_geometrics(np.full(len(kinds), float(noise.moment(2).upper)), weights, counts, level, step)


@pytest.mark.parametrize(("epsilon", "kinds"), SUMS)
def test_it_is_never_too_short_and_five_percent_too_long_at_most(epsilon, kinds):
    noise = Geometric(epsilon)
    beyond, step = chances_beyond(noise, kinds), gcd(*(weight for weight, _ in kinds))
    for level in LEVELS:
        least = int(np.argmax(beyond <= float(1 - level)))
        for found in (reach(noise, kinds, level), reach(noise, kinds, level, Fraction(step))):
            assert beyond[int(found)] <= float(1 - level) + 1e-11
            assert found <= Fraction(105, 100) * least + step


def test_on_a_short_lattice_it_is_exact():
    for epsilon, kinds in (("3", ((1, 4),)), ("1", ((2, 6),)), ("1", ((1, 12),)), ("3", ((1, 1), (3, 3)))):
        noise = Geometric(epsilon)
        beyond, step = chances_beyond(noise, kinds), Fraction(gcd(*(weight for weight, _ in kinds)))
        for level in LEVELS:
            assert reach(noise, kinds, level, step) == int(np.argmax(beyond <= float(1 - level)))


def test_noises_of_different_variances():
    """Weights and variances that have no common unit, by draws: the part beyond and a shorter reach."""
    rates, weights, counts = np.array([0.2, 0.7, 2.0]), np.array([0.31, 1.07, 2.9]), np.array([3, 2, 4])
    variances = 2 * np.exp(-rates) / (1 - np.exp(-rates)) ** 2
    found = float(reach_of_geometrics(variances, weights, counts.astype(float), Fraction(19, 20)))
    rng, draws = np.random.default_rng(5), 400_000
    total = np.zeros(draws)
    for rate, weight, count in zip(rates, weights, counts, strict=True):
        first, second = rng.geometric(1 - np.exp(-rate), (2, count, draws))
        total += weight * (first - second).sum(axis=0)
    deviation = (0.05 * 0.95 / draws) ** 0.5
    assert np.mean(np.abs(total) > found) <= 0.05 + 5 * deviation
    assert np.mean(np.abs(total) > 0.96 * found) > 0.05 + 5 * deviation


def test_many_tiny_terms_reach_as_far_as_a_normal_number():
    one, many = np.ones(1), 1e8 * np.ones(1)
    found = float(reach_of_geometrics(one, one / 1e4, many, Fraction(19, 20)))
    assert 1.959963 < found < 1.959964 * 1.03


def test_levels_beyond_doubles_are_left_to_others():
    one = np.ones(1)
    assert reach_of_geometrics(one, one, one, 1 - Fraction(1, 2**80)) is None
    assert reach_of_geometrics(one, one, one * 0, Fraction(19, 20)) == 0

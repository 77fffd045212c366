"""Rounded normal numbers of many variances at once follow the law of each."""

from fractions import Fraction

import numpy as np
import pytest

from leastnoise.errors import BadParameter, LeastNoiseError
from leastnoise.exact import SeededSource
from leastnoise.exact.samplers.rounded_gaussian import rounded_gaussian, rounded_gaussian_cdf
from leastnoise.exact.samplers.scaled_gaussian import scaled_gaussian
from support.statistics import fits


def test_each_multiple_has_its_own_law():
    multiples = np.tile(np.array([1, 7, 400]), 50_000)
    drawn = scaled_gaussian(Fraction(3, 4), multiples)
    for k, multiple in enumerate((1, 7, 400)):
        variance = Fraction(3, 4) * multiple
        wide = int(4 * float(variance) ** 0.5) + 2
        assert fits(drawn[k::3], lambda x, v=variance: float(rounded_gaussian_cdf(x, v)), -wide, wide)
        near = variance * Fraction(11, 10)
        assert not fits(drawn[k::3], lambda x, v=near: float(rounded_gaussian_cdf(x, v)), -wide, wide)


def test_the_shape_is_kept_and_seeded_draws_repeat():
    multiples = np.arange(1, 7).reshape(2, 3)
    first, again = (scaled_gaussian(Fraction(2**60), multiples, SeededSource(4)) for _ in range(2))
    assert first.shape == (2, 3)
    assert (first == again).all()
    assert scaled_gaussian(Fraction(1), np.zeros((3, 0), dtype=np.int64)).size == 0


def test_draws_that_doubles_leave_open_are_decided_exactly():
    """At σ = 2^46 a double does not know the nearest whole number; the sampler of one variance agrees bit by bit."""
    alone = rounded_gaussian(Fraction(2**92), size=200, source=SeededSource(1))
    together = scaled_gaussian(Fraction(2**90), np.full(200, 4), SeededSource(1))
    assert (alone == together).all()


def test_multiples_out_of_range_are_refused():
    for bad in ([0], [-1], [2**60]):
        with pytest.raises(LeastNoiseError):
            scaled_gaussian(Fraction(1), np.array(bad))
    with pytest.raises(BadParameter):
        scaled_gaussian(Fraction(1), np.array([2**54]))

"""Tails and moments of wide discrete Gaussians against plain summation."""

from fractions import Fraction
from itertools import pairwise

import pytest

from leastnoise.errors import BadParameter, NumberTooLarge
from leastnoise.exact.gaussian_sums import discrete_gaussian_moment, discrete_gaussian_tail
from leastnoise.exact.samplers.gaussian import discrete_gaussian_cdf

WIDE = [2**16 + 1, Fraction(10**6, 3), 10**6]


@pytest.mark.parametrize("variance", WIDE)
@pytest.mark.parametrize("sigmas", [0, 0.5, 1, 1.7, 1.8, 3, 6, 9])
def test_formulas_beyond_sigma_256_enclose_the_sum(variance, sigmas):
    least = int(sigmas * float(variance) ** 0.5) + 1
    formula, summed = discrete_gaussian_tail(least, variance), discrete_gaussian_cdf(-least, variance, 160)
    assert formula.lower <= summed.lower
    assert summed.upper <= formula.upper
    assert formula.width <= summed.upper / 10**6


@pytest.mark.parametrize("variance", [Fraction(1, 50), Fraction(1, 2), 9, *WIDE])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_moments_are_sums(variance, order):
    reach = int(14 * float(variance) ** 0.5) + 14
    stride = max(reach // 200, 1)
    moment = discrete_gaussian_moment(order, variance)
    if order == 0:
        half = discrete_gaussian_cdf(-1, variance, 128)
        assert moment.lower <= 2 * half.upper
        assert 2 * half.lower <= moment.upper
    else:  # Σ (k^p − (k−1)^p)·P(|Y| ≥ k) over blocks of `stride`, whose tails are between those at their ends
        tails = [discrete_gaussian_tail(k, variance, 128) for k in range(1, reach + stride + 1, stride)]
        ends = [k**order for k in range(0, reach + stride + 1, stride)]
        steps = [after - before for before, after in pairwise(ends)]
        high = 2 * sum(step * tail.upper for step, tail in zip(steps, tails, strict=False))
        low = 2 * sum(step * tail.lower for step, tail in zip(steps, tails[1:], strict=False))
        assert moment.upper >= low
        assert moment.lower <= high + Fraction(1, 10**9)
        if stride == 1:
            assert abs(moment.lower - high) < Fraction(1, 10**9)


def test_tails_are_symmetric_and_end():
    assert discrete_gaussian_tail(-3, 10**6).lower == 1 - discrete_gaussian_tail(4, 10**6).upper
    far = discrete_gaussian_tail(10**6, 10**6)
    assert far.lower == 0 < far.upper < Fraction(1, 2**600)


def test_what_is_too_wide_or_unknown_is_refused():
    with pytest.raises(NumberTooLarge, match="sigma_squared"):
        discrete_gaussian_tail(1, 2**97)
    with pytest.raises(BadParameter, match="order"):
        discrete_gaussian_moment(3, 1)
    with pytest.raises(BadParameter, match="sigma_squared"):
        discrete_gaussian_moment(1, 0)

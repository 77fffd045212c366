"""Continuous Laplace noise seen through a lattice: the law of ⌊offset + L⌋."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.exact import read_exact
from leastnoise.exact.samplers.pixelated_laplace import (
    pixelated_laplace,
    pixelated_laplace_cdf,
    pixelated_laplace_pmf,
)
from support.sources import ScriptedSource
from support.statistics import fits

OFFSETS = ["0", "1/3", "999/1000", "-22/7", "5/2"]
RATES = ["1e-9", "1/100", "ln(2)", "1", "3"]


@settings(max_examples=60)
@given(st.fractions(-3, 3, max_denominator=20), st.sampled_from(RATES), st.integers(-6, 6))
def test_the_mass_is_a_difference_of_the_distribution_function(offset, rate, outcome):
    mass = pixelated_laplace_pmf(outcome, offset, rate, 100)
    up_to, before = (pixelated_laplace_cdf(k, offset, rate, 100) for k in (outcome, outcome - 1))
    assert mass.lower <= up_to.upper - before.lower
    assert up_to.lower - before.upper <= mass.upper
    assert mass.lower > 0


def test_rational_powers_of_e_give_exact_masses():
    assert [pixelated_laplace_pmf(k, 0, "ln(2)").lower for k in range(-2, 2)] == [
        Fraction(1, 8),
        Fraction(1, 4),
        Fraction(1, 4),
        Fraction(1, 8),
    ]
    total = sum(pixelated_laplace_pmf(k, "1/2", "2*ln(3)").lower for k in range(-40, 41))
    assert 1 - Fraction(1, 3**70) < total < 1


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("offset", OFFSETS)
def test_large_samples_fit(offset, rate):
    drawn = pixelated_laplace(offset, rate, size=100_000)
    width = float(read_exact(rate, "rate"))
    step = max(int(0.05 / width), 1)
    reach = int(6 / width / step) + 5
    assert fits(
        np.floor_divide(drawn, step), lambda x: pixelated_laplace_cdf((x + 1) * step - 1, offset, rate), -reach, reach
    )


@pytest.mark.parametrize("minus", [False, True])
@pytest.mark.parametrize("offset", ["1/3", "999/1000", "1/1000000"])
def test_the_coin_between_two_cells_falls_where_its_uniform_says(offset, minus):
    """Words around the border; rate 40 makes the geometric part zero for any first word but the largest."""
    phase = Fraction(offset)
    start = phase if minus else 1 - phase
    far, whole = (np.exp(-40 * float(x)) for x in (start, 1))
    chance = (far - whole) / (1 - whole)
    border = int(chance * 2**53)
    for near in (max(border - 2**12, 0), border + 2**12):
        # sign, geometric part (16 bits), coin (64 bits)
        source = ScriptedSource([0 if minus else 255], [0], [near << 11])
        drawn = pixelated_laplace(offset, 40, size=1, source=source)[0]
        moved = near < border
        assert drawn == (-1 if minus else 1) * moved


def test_far_offsets_are_exact():
    assert pixelated_laplace(10**30, 10**6) in (10**30, 10**30 - 1)
    drawn = pixelated_laplace(2**62, 1, size=10)
    assert max(abs(int(x) - 2**62) for x in drawn) < 100

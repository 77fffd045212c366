"""Core first, rest on demand: the same law as choosing among all at once."""

from fractions import Fraction

import numpy as np
import pytest

from leastnoise.errors import BadParameter
from leastnoise.exact import SeededSource, categorical_exp_cdf
from leastnoise.exact.samplers.core_first import categorical_exp_core_first
from support.sources import ScriptedSource
from support.statistics import fits

EXPONENTS, BASE = np.array([0, -1, -1, -2, -2, -3]), np.array([1, 3, 0, 5, 2, 40])
CORE = 3


def rest():
    return EXPONENTS[CORE:], BASE[CORE:]


@pytest.mark.slow
@pytest.mark.parametrize("share", [Fraction(9, 10), Fraction(99, 100)])
@pytest.mark.parametrize("rate", [1, "ln(2)"])
def test_the_law_is_that_of_all_candidates(share, rate):
    """Here the rest has most of the weight, and the bound on its share says so."""
    drawn = categorical_exp_core_first(EXPONENTS[:CORE], BASE[:CORE], rest, share, 20_000, SeededSource(4), rate=rate)
    assert fits(drawn, lambda i: categorical_exp_cdf(i, EXPONENTS, BASE, rate=rate), 0, 4)
    assert not (drawn == 2).any()


def test_a_coin_that_is_clear_never_asks_for_the_rest():
    def never():
        raise AssertionError("the rest was asked for")

    small = Fraction(1, 2**40)
    drawn = categorical_exp_core_first([0], [1], never, small, 1000, SeededSource(1), rate=50)
    assert not drawn.any()


@pytest.mark.parametrize(("tail", "expected"), [(0, 0), (2**32 - 1, 1)])
def test_a_coin_on_the_border_is_settled_by_more_bits_of_the_same_number(tail, expected):
    """P(core) = 1/(1 + e^-40) lies between 1 − 2^-57 and 1 − 2^-58: 53 ones leave it open."""
    words = [0xFF & (tail >> shift) for shift in (24, 16, 8, 0)]
    source = ScriptedSource([2**64 - 1], words, seed=9)
    drawn = categorical_exp_core_first(
        [0], [1], lambda: (np.array([-40]), np.array([1])), Fraction(1, 2**50), None, source
    )
    assert drawn == expected


@pytest.mark.parametrize("share", [1, 2, Fraction(-1, 2)])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(BadParameter, match="rest_share"):
        categorical_exp_core_first([0], [1], rest, share)

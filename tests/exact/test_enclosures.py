from fractions import Fraction
from math import factorial

import pytest
from hypothesis import given, strategies as st

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Enclosure,
    exp_above,
    exp_below,
    exp_enclosure,
    ln,
    ln_above,
    ln_below,
    sqrt_above,
    sqrt_below,
)

small = st.fractions(min_value=-20, max_value=20, max_denominator=1000)
positive = st.fractions(min_value=Fraction(1, 1000), max_value=1000, max_denominator=1000)


def exp_by_series(x, terms=120):
    """Two rationals around e^x from the exponential series alone: an independent proof."""
    if x < 0:
        low, high = exp_by_series(-x, terms)
        return 1 / high, 1 / low
    total = sum((x**k / factorial(k) for k in range(terms)), start=Fraction(0))
    rest = x**terms / factorial(terms) / (1 - x / (terms + 1))
    return total, total + rest


@given(small, st.sampled_from([8, 64, 200]))
def test_exp_contains_the_series_and_is_as_tight_as_asked(x, bits):
    low, high = exp_by_series(x)
    assert exp_below(x, bits) <= high
    assert exp_above(x, bits) >= low
    assert exp_below(x, bits) <= exp_above(x, bits)
    assert exp_above(x, bits) - exp_below(x, bits) <= exp_above(x, bits) * Fraction(1, 2**bits) * 2


def test_exp_encloses_strictly_where_it_is_irrational():
    low, high = exp_by_series(Fraction(1))
    assert exp_below(1, 200) < high
    assert low < exp_above(1, 200)
    assert exp_below(1, 200) < exp_above(1, 200)


@pytest.mark.slow
@given(positive)
def test_ln_is_the_inverse_of_exp(x):
    assert exp_by_series(ln_below(x, 30), 60)[0] <= x <= exp_by_series(ln_above(x, 30), 60)[1]
    assert ln_below(x, 80) <= ln_above(x, 80)


@given(positive)
def test_sqrt_squares_to_its_argument(x):
    assert sqrt_below(x) ** 2 <= x <= sqrt_above(x) ** 2
    assert sqrt_above(x) - sqrt_below(x) <= sqrt_above(x) * Fraction(1, 2**62)


def test_rational_values_are_exact():
    assert exp_enclosure(3 * ln(Fraction(6, 5))) == Enclosure(Fraction(216, 125), Fraction(216, 125))
    assert exp_below(0) == exp_above(0) == 1
    assert ln_below(1) == ln_above(1) == 0
    assert sqrt_below(Fraction(4, 9)) == sqrt_above(Fraction(4, 9)) == Fraction(2, 3)


def test_extreme_exponents_stay_bounded():
    tiny = exp_enclosure(-(10**30))
    assert tiny.lower == 0 < tiny.upper < Fraction(1, 2**60000)
    with pytest.raises(OverflowError, match="too large"):
        exp_above(10**30)


@pytest.mark.parametrize(("function", "argument"), [(ln_below, 0), (ln_above, -1), (sqrt_below, -1)])
def test_arguments_outside_the_domain_are_refused(function, argument):
    with pytest.raises(BadParameter):
        function(argument)


def test_membership_and_display():
    e = exp_enclosure(1)
    assert e.lower in e
    assert 3 not in e
    assert ln(15) in Enclosure(Fraction(2), Fraction(3))
    assert repr(e) == "Enclosure(≈ 2.71828182845905)"
    assert not e.is_exact
    assert e.width > 0

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from leastnoise.errors import BadParameter
from leastnoise.exact import LogSum, exact_exp, ln, read_exact

rationals = st.fractions(min_value=-50, max_value=50, max_denominator=60)
arguments = st.fractions(min_value=Fraction(1, 40), max_value=40, max_denominator=40).filter(lambda a: a > 0)
numbers = st.builds(
    lambda q, terms: sum((c * ln(a) for c, a in terms), start=q),
    rationals,
    st.lists(st.tuples(rationals, arguments), max_size=3),
)


def decimal_value(number, digits=60):
    """An independent evaluation, by the decimal module."""
    with localcontext(prec=digits):

        def decimal(q):
            return Decimal(q.numerator) / Decimal(q.denominator)

        if isinstance(number, Fraction):
            return decimal(number)
        return decimal(number.rational) + sum(decimal(c) * Decimal(n).ln() for n, c in number.logs)


@pytest.mark.slow
@given(numbers, numbers)
def test_order_and_sum_agree_with_decimal_arithmetic(a, b):
    with localcontext(prec=60):
        total, difference = decimal_value(a) + decimal_value(b), decimal_value(a) - decimal_value(b)
        assert abs(decimal_value(a + b) - total) < Decimal("1e-50")
    if abs(difference) > Decimal("1e-50"):
        assert (a < b) == (decimal_value(a) < decimal_value(b))
        assert a != b
    else:
        assert a == b
        assert hash(a) == hash(b)


@pytest.mark.slow
@given(numbers, rationals)
def test_scaling(a, q):
    assert a * q == q * a
    assert a * q - a * q == 0
    if q:
        assert (a * q) / q == a


@pytest.mark.slow
@given(numbers)
def test_text_is_read_back(a):
    assert read_exact(str(a), "x") == a


@pytest.mark.slow
@given(numbers)
def test_float_is_the_nearest_double(a):
    with localcontext(prec=60):
        exact = decimal_value(a)
        assert float(a) == float(exact)


def test_numbers_written_differently_are_equal():
    assert ln(Fraction(9, 4)) == 2 * ln(3) - 2 * ln(2)
    assert hash(ln(12)) == hash(ln(3) + 2 * ln(2))
    assert ln(6) - ln(2) - ln(3) == Fraction(0)
    assert isinstance(ln(6) - ln(2) - ln(3), Fraction)


def test_close_numbers_are_told_apart():
    close = Fraction(1098612288668109691395245236922525704647490557823, 10**48)  # ln 3 to 48 digits
    assert ln(3) != close
    assert (ln(3) < close) != (ln(3) > close)


def test_exponentials_that_are_rational():
    assert exact_exp(2 * ln(3) - ln(5)) == Fraction(9, 5)
    assert exact_exp(ln(3) / 2) is None
    assert exact_exp(ln(Fraction(8, 27)) * Fraction(2, 3)) == Fraction(4, 9)
    assert exact_exp(ln(9) / 2 + ln(2) / 2) is None
    assert exact_exp(ln(5) * Fraction(1, 10**30)) is None
    assert exact_exp(ln(2**7) / 7) == 2
    assert exact_exp(ln(3) + 1) is None


def test_logarithm_of_a_non_positive_number_is_refused():
    with pytest.raises(BadParameter, match="positive"):
        ln(0)


def test_products_of_logarithms_are_not_exact_numbers():
    with pytest.raises(TypeError):
        ln(2) * ln(3)


def test_absolute_value():
    assert abs(ln(Fraction(1, 2))) == ln(2)
    assert isinstance(abs(ln(Fraction(1, 2))), LogSum)

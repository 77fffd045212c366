from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from leastnoise.errors import BadParameter, LeastNoiseError
from leastnoise.exact import ln, read_exact, read_integer, read_rational


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (0.1, Fraction(1, 10)),
        (1e-7, Fraction(1, 10**7)),
        (1e22, Fraction(10**22)),
        (np.float64(0.3), Fraction(3, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int64(7), Fraction(7)),
        (7, Fraction(7)),
        (Fraction(2, 6), Fraction(1, 3)),
        (Decimal("0.25"), Fraction(1, 4)),
        ("0.25", Fraction(1, 4)),
        (" 1/3 ", Fraction(1, 3)),
        ("2.5/5", Fraction(1, 2)),
        ("1e-6", Fraction(1, 10**6)),
        ("-1/3", Fraction(-1, 3)),
        (".5", Fraction(1, 2)),
        ("ln(3)", ln(3)),
        ("ln(6/5)", ln(Fraction(6, 5))),
        ("ln(1.2)", ln(Fraction(6, 5))),
        ("ln(3)/2", ln(3) / 2),
        ("1/2 * ln(3) - ln(2) + 1", ln(3) / 2 - ln(2) + 1),
        ("ln(1)", Fraction(0)),
        (ln(3), ln(3)),
    ],
)
def test_a_number_is_what_it_is_written_as(written, meant):
    assert read_exact(written, "epsilon") == meant


@pytest.mark.parametrize(
    "written",
    [
        float("nan"), float("inf"), -float("inf"), np.float64("nan"), Decimal("NaN"), Decimal("Infinity"), "nan", "inf",
        True, False, np.True_, None, [], [1], "", " ", "abc", "1/0", "ln(0)", "ln(-1)", "ln()", "ln 3", "1//2", "1 2",
        "1e999999", "1e-999999", "1e9999999999", Decimal("1e5000"), 10**2000, Fraction(1, 10**2000), "9" * 2000,
        "2**3", "__import__('os')", "0x10", "1+", "--1", "1e", 1j, b"1", "١/٣", "+", "ln(2)ln(3)", "1/2/3", "ln(3)/0",
    ],
)  # fmt: skip
def test_what_is_not_plainly_a_number_is_refused_by_name(written):
    with pytest.raises(BadParameter, match="epsilon") as refusal:
        read_exact(written, "epsilon")
    assert len(str(refusal.value)) < 400


@pytest.mark.parametrize(
    ("limits", "inside", "outside"),
    [
        ({"above": 0}, ["1e-300", 1], [0, -1, "-1e-300", "ln(1/2)"]),
        ({"at_least": 0}, [0, 1, -0.0], ["-1e-300"]),
        ({"below": 1}, [0.999, "ln(2)"], [1, 2, "ln(3)"]),
        ({"at_least": 0, "at_most": 1}, [0, 1, "1/2"], ["1.0000001", -1]),
    ],
)
def test_ranges(limits, inside, outside):
    for value in inside:
        read_exact(value, "delta", **limits)
    for value in outside:
        with pytest.raises(BadParameter, match="delta must be"):
            read_exact(value, "delta", **limits)


def test_a_logarithm_is_refused_where_it_has_no_meaning():
    with pytest.raises(BadParameter, match="not a logarithm"):
        read_rational("ln(3)", "delta")


def test_whole_numbers():
    assert [read_integer(v, "size") for v in (3, 3.0, "3", np.uint8(3))] == [3] * 4
    with pytest.raises(BadParameter, match="pass for example size=5"):
        read_integer(9, "size", at_least=1, at_most=5)
    for value in (3.5, "1/2", "ln(2)"):
        with pytest.raises(BadParameter, match="whole number"):
            read_integer(value, "size")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_its_shortest_decimal(x):
    assert read_exact(x, "x") == Fraction(repr(x))
    assert float(read_exact(x, "x")) == x


@given(st.text(max_size=30))
def test_no_text_gets_through_as_anything_but_a_number_or_a_typed_error(text):
    try:
        number = read_exact(text, "epsilon")
    except LeastNoiseError:
        return
    assert number == read_exact(str(number), "epsilon")

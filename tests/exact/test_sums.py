from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from leastnoise.exact import ln
from leastnoise.exact.numbers import RunningTotal, add_above, round_up, sum_above

numbers = st.one_of(
    st.fractions(min_value=0, max_value=10, max_denominator=10**6),
    st.builds(lambda n, d: ln(Fraction(n, 7) + 1) / d, st.integers(1, 50), st.integers(1, 9)),
)


@pytest.mark.slow
@given(st.lists(st.tuples(numbers, st.integers(1, 5)), max_size=12))
def test_short_sums_are_exact(terms):
    expected = sum((number * count for number, count in terms), start=Fraction(0))
    assert sum_above(terms) == expected
    tally = RunningTotal()
    for number, count in terms:
        for _ in range(count):
            tally.add(number)
    assert tally.value == expected
    assert tally.fits(Fraction(0), expected)
    assert not tally.fits(Fraction(1, 10**12), expected)
    for number, count in terms:
        for _ in range(count):
            tally.add(number, -1)
    assert tally.value == 0


def test_ten_tenths_are_one():
    tally = RunningTotal()
    for _ in range(10):
        assert tally.fits(Fraction(1, 10), Fraction(1))
        tally.add(Fraction(1, 10))
    assert tally.value == 1
    assert not tally.fits(Fraction(1, 10**300), Fraction(1))


def test_endless_sums_go_on_a_little_too_high_and_never_too_low():
    primes = [p for p in range(2, 4000) if all(p % d for d in range(2, int(p**0.5) + 1))]
    exact = sum((Fraction(1, p) for p in primes), start=Fraction(0))
    tally = RunningTotal()
    for p in primes:
        tally.add(Fraction(1, p))
    for rounded in (tally.value, sum_above((Fraction(1, p), 1) for p in primes)):
        assert 0 < rounded - exact < Fraction(len(primes), 2**128)
        assert rounded.denominator.bit_length() <= 600


def test_too_many_logarithms_become_a_number():
    total = Fraction(0)
    primes = [p for p in range(2, 200) if all(p % d for d in range(2, p))]
    for p in primes:
        total = add_above(total, ln(p))
    assert 0 < total - sum((ln(p) for p in primes), start=Fraction(0)) < Fraction(1, 2**100)


@given(numbers, st.integers(1, 200))
def test_rounding_up_rounds_up_and_not_far(number, bits):
    rounded = round_up(number, bits)
    assert number <= rounded <= number + Fraction(2, 2**bits)
    assert (rounded * 2**bits).denominator == 1

from fractions import Fraction
from math import ceil, floor

from hypothesis import given, strategies as st

from leastnoise.exact.convolution import convolve_above, convolve_below

lists = st.lists(st.integers(0, 2**200), min_size=1, max_size=12)


def by_definition(left, right, bits):
    sums = [Fraction(0)] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            sums[i + j] += Fraction(a * b, 2**bits)
    return sums


@given(lists, lists, st.integers(0, 200))
def test_each_entry_is_the_sum_rounded_once_in_the_named_direction(left, right, bits):
    sums = by_definition(left, right, bits)
    assert convolve_above(left, right, bits) == [ceil(entry) for entry in sums]
    assert convolve_below(left, right, bits) == [floor(entry) for entry in sums]


def test_zeros_keep_their_places():
    assert convolve_above([0, 0], [0, 5, 0], 0) == [0, 0, 0, 0]
    assert convolve_below([0, 1, 0], [1, 0], 0) == [0, 1, 0, 0]

"""Whole matrices against Python's integers: every size of number, every route that a product may take."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from leastnoise.exact import integer_matrices
from leastnoise.exact.integer_matrices import IntegerMatrix

RNG = np.random.default_rng(8)


def table(rows, columns, bits):
    """Numbers below 2^bits in size, the largest ones among them."""
    top = 2**bits - 1
    found = [[int(RNG.integers(-1 << 30, 1 << 30)) * top >> 30 for _ in range(columns)] for _ in range(rows)]
    found[0][0], found[-1][-1] = top, -top
    return found


@pytest.mark.parametrize("small", [0, 1 << 12])
@pytest.mark.parametrize(
    ("left", "right"), [(1, 1), (20, 20), (24, 24), (31, 20), (41, 36), (53, 9), (62, 62), (90, 40)]
)
def test_products_are_exact(left, right, small, monkeypatch):
    monkeypatch.setattr(integer_matrices, "_SMALL", small)
    for rows, shared, columns in ((1, 70, 70), (66, 65, 3), (5, 5, 5), (70, 80, 1)):
        one, other = table(rows, shared, left), table(shared, columns, right)
        exact = np.array(one, dtype=object) @ np.array(other, dtype=object)
        product = IntegerMatrix(one) @ IntegerMatrix(other)
        assert product.rows == tuple(map(tuple, exact.tolist()))


def test_products_of_the_largest_digits_stay_below_the_doubles():
    """All entries as large as they may be: the sums reach what doubles hold, and are odd."""
    for shared in (63, 64, 255, 4096):
        for bits in (19, 20, 21, 22, 26):
            one = IntegerMatrix(np.full((2, shared), 2**bits - 1, dtype=np.int64))
            product = one @ IntegerMatrix(np.full((shared, 40), 1 - 2**bits, dtype=np.int64))
            assert set(product.rows[1]) == {-shared * (2**bits - 1) ** 2}


@given(st.lists(st.lists(st.integers(-(2**80), 2**80), min_size=3, max_size=3), min_size=1, max_size=5))
def test_sums_and_norms_are_those_of_pythons_integers(rows):
    matrix = IntegerMatrix(rows)
    assert matrix.rows == tuple(map(tuple, rows))
    assert matrix.copied() == matrix
    assert matrix.absolute_sum() == sum(abs(e) for row in rows for e in row)
    assert matrix.inner(matrix) == sum(e * e for row in rows for e in row)
    assert matrix.column_sizes() == [sum(abs(row[j]) for row in rows) for j in range(3)]
    for most in (1, 2, 3, 9):
        assert matrix.largest_row_sum(most) == max(sum(sorted(map(abs, row))[-most:]) for row in rows)
    assert matrix.transposed().transposed() == matrix
    assert hash(matrix.copied()) == hash(matrix)
    assert (matrix - matrix.copied()).absolute_sum() == 0
    assert (3 * matrix).absolute_sum() == 3 * matrix.absolute_sum()


@pytest.mark.parametrize("bits", [3, 20, 40, 53, 61, 62, 63, 64, 70])
def test_words_never_wrap(bits):
    matrix = IntegerMatrix([[2**bits, -(2**bits)], [-(2**bits) + 1, 2**bits - 1]])
    twice = matrix - (-1) * matrix
    assert twice.rows == tuple(tuple(2 * e for e in row) for row in matrix.rows)
    assert matrix.inner(matrix) == sum(e * e for row in matrix.rows for e in row)
    assert int((2 * abs(matrix.numbers(8))).sum()) == sum(2 * abs(e) for row in matrix.rows for e in row)


def test_the_distance_from_an_inverse_is_covered_by_doubles():
    """Against the exact one, for matrices that are nearly inverse, not at all, and as large as doubles hold."""
    for size in (70, 90):
        for scale, wrong in ((2**20, 0), (2**20, 5), (2**26, 10**6), (2**30, 2**29)):
            base = RNG.integers(-3, 4, (size, size)) + 40 * np.eye(size, dtype=int)
            inverse = np.rint(np.linalg.inv(base) * scale).astype(np.int64)
            inverse[0, 1] += wrong
            one, other = IntegerMatrix(base.astype(np.int64)), IntegerMatrix(inverse)
            rest = base.astype(object) @ inverse.astype(object) - scale * np.eye(size, dtype=int).astype(object)
            exact = Fraction(int((rest**2).sum()), scale**2)
            found = one.distance_above(other, scale)
            assert exact <= found**2 <= exact * (1 + Fraction(1, 10**5)) + Fraction(1, 10**9)


@pytest.mark.parametrize("bits", [0, 300, 500, 501, 511, 600, 1100])
def test_a_denominator_of_any_length_has_a_distance(bits):
    """‖I − I/d‖² is size·(1 − 1/d)²: a claimed denominator beyond the range of doubles is no failure."""
    size = 65
    unit = IntegerMatrix(np.eye(size, dtype=np.int64))
    exact = size * (1 - Fraction(1, 2**bits)) ** 2
    assert exact <= unit.distance_above(unit, 2**bits) ** 2 <= exact * (1 + Fraction(1, 10**5)) + Fraction(1, 10**9)

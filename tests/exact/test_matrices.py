import copy
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from leastnoise.exact import matrices as matrices_module
from leastnoise.exact.matrices import RationalMatrix, beside

numbers = st.fractions(min_value=-3, max_value=3, max_denominator=5)


@st.composite
def matrices(draw, height=None, width=None):
    height, width = height or draw(st.integers(1, 4)), width or draw(st.integers(1, 4))
    rows = [draw(st.lists(numbers, min_size=width, max_size=width)) for _ in range(height)]
    if height > 1 and draw(st.booleans()):
        rows[-1] = [2 * entry for entry in rows[0]]  # dependent rows
    return RationalMatrix(rows)


def by_hand(left, right):
    columns = list(zip(*right.rows, strict=True))
    return tuple(
        tuple(sum((a * b for a, b in zip(row, column, strict=True)), start=Fraction(0)) for column in columns)
        for row in left.rows
    )


@pytest.mark.slow
@given(matrices(height=3, width=2), matrices(height=2, width=4))
def test_product_is_rows_times_columns(left, right):
    assert (left @ right).rows == by_hand(left, right)


@pytest.mark.slow
@given(matrices(), st.data())
def test_solve_finds_a_solution_exactly_when_there_is_one(matrix, data):
    reachable = matrix @ data.draw(matrices(height=matrix.shape[1], width=2))
    solution = matrix.solve(reachable)
    assert matrix @ solution == reachable
    right = data.draw(matrices(height=matrix.shape[0], width=1))
    solvable = beside(matrix, right).rank() == matrix.rank()
    assert (matrix.solve(right) is not None) == solvable


@pytest.mark.slow
@given(matrices())
def test_nullspace_is_all_of_the_kernel(matrix):
    null = matrix.nullspace()
    assert null.shape == (matrix.shape[1], matrix.shape[1] - matrix.rank())
    assert all(entry == 0 for row in (matrix @ null).rows for entry in row)
    assert null.rank() == null.shape[1]


@pytest.mark.slow
@given(matrices(), st.data())
def test_shaping_agrees_with_rows(matrix, data):
    height, width = matrix.shape
    factors = data.draw(st.lists(numbers, min_size=height, max_size=height))
    scaled = matrix.scaled_rows(factors).rows
    assert scaled == tuple(tuple(f * e for e in row) for f, row in zip(factors, matrix.rows, strict=True))
    assert matrix.row_sums() == tuple(sum(row) for row in matrix.rows)
    assert matrix.take_rows([height - 1, 0]).rows == (matrix.rows[-1], matrix.rows[0])
    assert matrix.take_columns([width - 1]).rows == tuple((row[-1],) for row in matrix.rows)
    whole = matrix.whole_rows()
    assert tuple(tuple(Fraction(e, denominator) for e in row) for row, denominator in whole) == matrix.rows
    columns = list(zip(*matrix.rows, strict=True))
    assert matrix.column_minima() == [(min(column), column.index(min(column))) for column in columns]
    assert matrix.column_maxima() == [(max(column), column.index(max(column))) for column in columns]


@pytest.mark.slow
@given(matrices())
def test_equal_by_value_and_copied(matrix):
    twin = copy.deepcopy(matrix)
    assert twin == matrix
    assert hash(twin) == hash(matrix)
    assert (matrix == 3) is False


@pytest.mark.slow
@given(matrices(), st.data())
def test_large_matrices_compute_the_same_without_a_common_denominator(matrix, data):
    factors = data.draw(st.lists(numbers, min_size=matrix.shape[0], max_size=matrix.shape[0]))

    def everything():
        fresh = copy.deepcopy(matrix)
        rows = [[Fraction(e, below) for e in row] for row, below in fresh.whole_rows()]
        return fresh.scaled_rows(factors).rows, rows, fresh.column_minima(), fresh.column_maxima()

    small = everything()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matrices_module, "_SMALL", 0)
        assert everything() == small


def test_matrices_may_be_empty():
    assert RationalMatrix([], 3).shape == (0, 3)
    assert RationalMatrix([[1, 2], [3, 4]]).nullspace().shape == (2, 0)

"""Consistent tables are the exact least squares solution, compared with the normal equations solved in rationals."""

from fractions import Fraction
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from leastnoise.exact.matrices import RationalMatrix
from leastnoise.release.queries.marginals import agree

COLUMNS = "ABC"


@st.composite
def pair_tables(draw):
    sizes = {column: draw(st.integers(1, 3)) for column in COLUMNS}
    numbers = st.integers(-50, 50).map(Fraction)
    return {
        (a, b): [[draw(numbers) for _ in range(sizes[b])] for _ in range(sizes[a])] for a, b in combinations(COLUMNS, 2)
    }


def flat(tables):
    return [x for table in tables.values() for row in table for x in row]


def constraints(tables):
    """Rows of a matrix whose kernel is the tables that agree: sums over what two tables share are equal."""
    places, start = {}, 0
    for pair, table in tables.items():
        for i, row in enumerate(table):
            for j in range(len(row)):
                places[pair, i, j] = start
                start += 1
    rows = []
    for (pair, table), (other, second) in combinations(tables.items(), 2):
        (shared,) = set(pair) & set(other)
        for value in range(len(table) if pair[0] == shared else len(table[0])):
            row = [0] * start
            for sign, name, which in ((1, pair, table), (-1, other, second)):
                for i in range(len(which)):
                    for j in range(len(which[0])):
                        if (i if name[0] == shared else j) == value:
                            row[places[name, i, j]] += sign
            rows.append(row)
    return rows


@given(pair_tables())
@settings(max_examples=40)
def test_the_result_agrees_and_is_nearest(tables):
    agreed = agree(tables)
    rows = constraints(tables)
    new, old = flat(agreed), flat(tables)
    assert all(sum(a * x for a, x in zip(row, new, strict=True)) == 0 for row in rows)
    # The change is orthogonal to all tables that agree: it is a combination of the constraints.
    change = [y - x for x, y in zip(old, new, strict=True)]
    assert RationalMatrix([*rows, change]).rank() == RationalMatrix(rows).rank()


@given(pair_tables())
@settings(max_examples=20)
def test_agreeing_tables_are_left_alone(tables):
    agreed = agree(tables)
    assert agree(agreed) == agreed

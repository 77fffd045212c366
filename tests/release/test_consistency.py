"""Consistent tables are the exact least squares solution, and their error bars are those of the noise left in them."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from leastnoise.errors import BadParameter
from leastnoise.exact import SeededSource
from leastnoise.exact.matrices import RationalMatrix
from leastnoise.mechanisms import DiscreteGaussian, Geometric, Staircase
from leastnoise.release.queries.marginals import agree, make_consistent, shares_left
from leastnoise.release.tables import TidyTable
from support.people import CITIES
from support.statistics import ALPHA

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


@given(pair_tables())
@settings(max_examples=25)
def test_what_is_left_of_the_noise_of_a_cell(tables):
    """By definition: the squares of the weights with which the noises of all cells enter a cell."""
    shapes = {pair: (len(table), len(table[0])) for pair, table in tables.items()}
    cells = [(pair, i, j) for pair, (n, m) in shapes.items() for i in range(n) for j in range(m)]
    squares, largest = [Fraction(0)] * len(cells), Fraction(0)
    for cell in cells:
        unit = {
            pair: [[Fraction((pair, i, j) == cell) for j in range(m)] for i in range(n)]
            for pair, (n, m) in shapes.items()
        }
        weights = flat(agree(unit))
        squares = [total + weight**2 for total, weight in zip(squares, weights, strict=True)]
        largest = max(largest, *map(abs, weights))
    left = shares_left(shapes)
    assert squares == [left[pair] for pair, _, _ in cells]
    assert largest <= 1


SIZES = {("A", "B"): (2, 3), ("A", "C"): (2, 2), ("B", "C"): (3, 2)}


@pytest.mark.parametrize("noise", [Geometric(1), Staircase(1, 3), DiscreteGaussian(9)], ids=lambda n: n.name)
def test_the_error_bars_move_with_the_values_and_hold_the_truth(noise):
    count = sum(n * m for n, m in SIZES.values())
    drawn = noise.noise((400, count), SeededSource(5)).tolist()
    covered = np.zeros(count)
    for row in drawn:  # the true counts are zero, which agree
        table = TidyTable(
            {"cell": tuple(range(count)), "value": tuple(row), "low": (0,) * count, "high": (0,) * count}, ("cell",)
        )
        found = make_consistent(SIZES, noise, table)
        for _, value, low, high in found:
            assert low <= value <= high
        covered += [low <= 0 <= high for low, high in zip(found["low"], found["high"], strict=True)]
    assert all(binom.cdf(hits, len(drawn), 0.95) > ALPHA / count for hits in covered)


def test_tables_are_made_consistent_before_anything_else(open_people):
    drawn = open_people().marginals(keys={"city": CITIES, "sex": ["m", "f"], "member": [True, False]}).release(1)
    agreed = drawn.consistent()
    assert all(low <= value <= high for *_, value, low, high in agreed.table)
    with pytest.raises(BadParameter, match="call consistent first"):
        drawn.non_negative().consistent()
    assert agreed.non_negative().steps == ("consistent", "non_negative")

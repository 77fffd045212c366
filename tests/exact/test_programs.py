from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from leastnoise.errors import BadParameter
from leastnoise.exact.matrices import RationalMatrix
from leastnoise.exact.programs import Infeasible, Optimum, minimise


@st.composite
def programs(draw):
    """Small programs with dependent rows, degenerate corners, and both outcomes."""
    height, width = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    rows = [draw(st.lists(st.integers(-2, 3), min_size=width, max_size=width)) for _ in range(height)]
    if draw(st.booleans()):
        rows.append([2 * entry for entry in rows[0]])
    if draw(st.booleans()):
        point = draw(st.lists(st.sampled_from([0, 0, 1, 2]), min_size=width, max_size=width))
        right = [sum(a * x for a, x in zip(row, point, strict=True)) for row in rows]
    else:
        right = draw(st.lists(st.integers(-3, 3), min_size=len(rows), max_size=len(rows)))
    cost = draw(st.lists(st.integers(0, 4), min_size=width, max_size=width))
    first = draw(st.permutations(range(width)))[: draw(st.integers(0, width))]
    return cost, rows, right, first


def dot(left, right):
    return sum((Fraction(a) * b for a, b in zip(left, right, strict=True)), start=Fraction(0))


@given(programs())
def test_every_answer_is_a_proof(program):
    cost, rows, right, first = program
    answer = minimise(cost, RationalMatrix(rows), right, first)
    priced = [dot(answer.prices, column) for column in zip(*rows, strict=True)]
    if isinstance(answer, Optimum):
        assert all(x >= 0 for x in answer.point)
        assert [dot(row, answer.point) for row in rows] == right
        assert all(price <= c for price, c in zip(priced, cost, strict=True))
        assert dot(answer.prices, right) == answer.cost == dot(cost, answer.point)
    else:
        assert all(price <= 0 for price in priced)
        assert dot(answer.prices, right) > 0


@given(programs())
def test_the_guess_changes_nothing_but_the_time(program):
    cost, rows, right, first = program
    guided, cold = (minimise(cost, RationalMatrix(rows), right, guess) for guess in (first, ()))
    assert type(guided) is type(cold)
    assert isinstance(cold, Infeasible) or guided.cost == cold.cost


def test_beale_cycles_without_an_anti_cycling_rule():
    # Beale (1955): the textbook rule (steepest column, first row) returns to its first basis after six pivots.
    cost = [Fraction(-3, 4), 150, Fraction(-1, 50), 6, 0, 0, 0]
    rows = [
        [Fraction(1, 4), -60, Fraction(-1, 25), 9, 1, 0, 0],
        [Fraction(1, 2), -90, Fraction(-1, 50), 3, 0, 1, 0],
        [0, 0, 1, 0, 0, 0, 1],
    ]
    assert minimise(cost, RationalMatrix(rows), [0, 0, 1], first=(4, 5, 6)).cost == Fraction(-1, 20)


def test_a_cost_that_falls_without_end_is_an_error():
    with pytest.raises(BadParameter, match="without end"):
        minimise([-1, 0], RationalMatrix([[1, -1]]), [0])


def test_numbers_that_doubles_cannot_tell_apart():
    tiny = Fraction(1, 10**40)
    above = minimise([0, 0], RationalMatrix([[1, 1], [1, 1 + tiny]]), [1, 1 + 2 * tiny])
    inside = minimise([0, 0], RationalMatrix([[1, 1], [1, 1 + tiny]]), [1, 1 + tiny / 2])
    assert isinstance(above, Infeasible)
    assert inside.point == (Fraction(1, 2), Fraction(1, 2))

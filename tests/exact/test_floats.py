import numpy as np
from flint import arb, ctx
from hypothesis import given, strategies as st

from leastnoise.exact.floats import EXP_ERROR, LOG_ERROR, UNIT, exp_bounds, exp_of, minus_log_of


def worst_exp_error(points):
    with ctx.workprec(200):
        return max(
            float(abs(arb(float(value)) / arb(float(x)).exp() - 1).upper())
            for x, value in zip(points, exp_of(points), strict=True)
        )


def worst_log_error(points):
    with ctx.workprec(200):
        return max(
            float(abs(arb(float(value)) + arb(float(u)).log()).upper())
            for u, value in zip(points, minus_log_of(points), strict=True)
        )


def test_exp_keeps_its_promise_on_cell_borders_and_at_both_ends():
    borders = -(np.arange(0, 2_000_000, 997) + 0.5) * np.log(2) / 2048
    points = np.concatenate([borders, np.nextafter(borders, 0), np.nextafter(borders, -800), [0.0, -1e-300, -700.0]])
    points = points[points >= -700]
    assert worst_exp_error(points) < EXP_ERROR


@given(st.lists(st.floats(-700, 0), min_size=1, max_size=20))
def test_exp_keeps_its_promise(points):
    assert worst_exp_error(np.array(points)) < EXP_ERROR


def test_log_keeps_its_promise_on_cell_borders_and_at_both_ends():
    borders = 0.5 + np.arange(1024) / 2048
    points = np.concatenate([borders, np.nextafter(borders, 0), 1 - UNIT - np.arange(20) * UNIT, [1.0, UNIT, 2 * UNIT]])
    assert worst_log_error(points) < LOG_ERROR


@given(st.lists(st.integers(1, 2**53), min_size=1, max_size=20))
def test_log_keeps_its_promise(words):
    assert worst_log_error(np.array(words, dtype=float) * UNIT) < LOG_ERROR


def test_bounds_contain_the_number_even_where_doubles_end():
    low, high = exp_bounds(np.array([-1e6, -701.0, -1.0]), np.array([-1e6, -701.0, -1.0]))
    assert low[0] == low[1] == 0.0
    assert (high > 0).all()
    assert low[2] < np.exp(-1) < high[2]

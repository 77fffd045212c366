from fractions import Fraction
from math import comb, exp

import pytest
from hypothesis import given, strategies as st

from leastnoise.checker.binomial import log_tail, probability_above, probability_below, tail_bound

CHANCES = st.fractions(min_value=0, max_value=1, max_denominator=50)


def pmf(n, k, p):
    return comb(n, k) * p**k * (1 - p) ** (n - k)


def tail(n, k, p):
    return sum((pmf(n, j, p) for j in range(max(k, 0), n + 1)), start=Fraction(0))


@given(st.integers(1, 60), st.integers(0, 60), CHANCES)
def test_the_bound_is_above_the_tail(n, k, p):
    k = min(k, n)
    assert tail(n, k, p) <= tail_bound(n, k, p) <= 1


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1, 50), Fraction(4, 5)])
def test_the_bound_is_close_where_it_matters(p):
    n = 200
    k = next(k for k in range(n + 1) if tail(n, k, p) < Fraction(1, 10**6))
    assert tail_bound(n, k, p) < tail(n, k, p) * Fraction(11, 10)
    assert exp(log_tail(n, k, float(p))) == pytest.approx(float(tail_bound(n, k, p)))


@pytest.mark.parametrize("alpha", [Fraction(1, 20), Fraction(1, 10**6)])
@pytest.mark.parametrize("n", [1, 7, 40])
def test_a_confidence_bound_is_wrong_with_probability_at_most_alpha(n, alpha):
    """Exactly, by enumeration: for each p the counts whose bound passes p have a probability of at most α together."""
    lower = [probability_below(n, k, alpha) for k in range(n + 1)]
    upper = [probability_above(n, k, alpha) for k in range(n + 1)]
    for p in [Fraction(i, 97) for i in range(98)] + lower + upper:
        assert sum((pmf(n, k, p) for k in range(n + 1) if lower[k] > p), start=Fraction(0)) <= alpha
        assert sum((pmf(n, k, p) for k in range(n + 1) if upper[k] < p), start=Fraction(0)) <= alpha


def test_a_confidence_bound_is_not_lazy():
    alpha = Fraction(1, 10**6)
    bound = probability_below(100_000, 50_000, alpha)
    assert Fraction(49, 100) < bound < Fraction(1, 2)
    assert tail_bound(100_000, 50_000, bound + Fraction(1, 10**6)) > alpha
    assert probability_below(100, 0, alpha) == 0
    assert probability_above(100, 100, alpha) == 1
    assert probability_above(10**6, 0, alpha) < Fraction(2, 10**5)

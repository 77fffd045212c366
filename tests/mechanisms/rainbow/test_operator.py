"""The operator: private both ways, the best of all that are, order-preserving; the closed form is its iteration."""

from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from leastnoise.errors import BadBoundary, BadParameter, TooLarge
from leastnoise.exact import exp_enclosure
from leastnoise.mechanisms.rainbow.batch_operator import along_path
from leastnoise.rainbow import (
    Operator,
    PathLaw,
    after,
    after_many,
    dominates,
    dominates_lexicographically,
    phases,
    prefix_sum_after,
    switch_time,
    switch_times,
)
from support.channels import distributions
from support.privacy import largest_excess

FACTORS = ("ln(6/5)", "ln(2)", "ln(3)", "1/2*ln(9/4)", 0)
DELTAS = (0, "1/1000", "1/50", "1/5", "9/10")
operators = st.builds(Operator, st.sampled_from(FACTORS), st.sampled_from(DELTAS))
laws = st.integers(1, 5).flatmap(distributions)
small_laws = distributions(3)


def needed(p, q, factor):
    """The δ that two distributions need, by trying every set in both directions."""
    return largest_excess([p, q], [(0, 1), (1, 0)], factor)


@pytest.mark.slow
@given(operators, laws)
def test_it_is_private_both_ways(operator, p):
    q = operator(p)
    assert sum(q) == 1
    assert min(q) >= 0
    assert needed(p, q, operator.factor) <= operator.delta


@pytest.mark.slow
@given(operators, small_laws, small_laws)
def test_it_dominates_whatever_is_close(operator, p, q):
    """A random q is drawn towards p until it is just close; the set of close ones is convex, so this meets its edge."""
    close, far = Fraction(0), Fraction(1)
    if needed(p, q, operator.factor) <= operator.delta:
        close = far
    for _ in range(12):
        middle = (close + far) / 2
        mixed = [(1 - middle) * a + middle * b for a, b in zip(p, q, strict=True)]
        close, far = (middle, far) if needed(p, mixed, operator.factor) <= operator.delta else (close, middle)
    mixed = [(1 - close) * a + close * b for a, b in zip(p, q, strict=True)]
    assert dominates(operator(p), mixed)
    assert dominates_lexicographically(operator(p), mixed)


@given(operators, laws)
def test_no_prefix_sum_could_be_larger(operator, p):
    """Raising one prefix sum by anything at all, whatever the others are, breaks privacy on that prefix."""
    factor, delta = operator.factor, operator.delta
    for s, raised in list(zip(accumulate(p), accumulate(operator(p)), strict=True))[:-1]:
        more = raised + Fraction(1, 10**9)
        assert more > 1 or more > factor * s + delta or 1 - s > factor * (1 - more) + delta


@pytest.mark.slow
@given(operators, small_laws, small_laws)
def test_it_keeps_dominance(operator, p, q):
    better = [max(a, b) for a, b in zip(accumulate(p), accumulate(q), strict=True)]
    best = [high - low for low, high in pairwise([Fraction(0), *better])]
    assert dominates(best, p)
    assert dominates(operator(best), operator(p))


@given(operators)
def test_the_branches_meet_at_the_crossing(operator):
    s, factor, delta = operator.crossing, operator.factor, operator.delta
    assert factor * s + delta == 1 - (1 - s - delta) / factor


@pytest.mark.slow
@given(operators, laws, st.integers(0, 40))
def test_the_closed_form_is_the_iteration(operator, p, steps):
    iterated = operator.iterate(p, steps)
    assert after(operator, p, steps) == iterated
    for s, expected in zip(accumulate(p), accumulate(iterated), strict=True):
        assert expected in prefix_sum_after(operator, s, steps)


@pytest.mark.slow
@given(operators, laws)
def test_switch_times_are_the_first_steps_at_the_crossing(operator, p):
    times = switch_times(operator, p)
    assert times[-1] == 0
    for s, time in zip(accumulate(p), times, strict=True):
        walk = [s]
        while len(walk) <= min(60 if time is None else time, 60):
            walk.append(operator.raise_sum(walk[-1]))
        reached = [t for t, value in enumerate(walk) if value >= operator.crossing]
        assert reached[:1] == ([] if time is None or time > 60 else [time])
    finite = [float("inf") if time is None else time for time in times]
    assert finite == sorted(finite, reverse=True)


@given(st.sampled_from(["ln(2)", "ln(6/5)"]), st.integers(0, 12))
def test_a_switch_exactly_at_a_step_is_found(epsilon, steps):
    """s = c/λ^t reaches c in exactly t steps: the logarithm is a whole number, and no ball decides that."""
    operator = Operator(epsilon)
    assert switch_time(operator, operator.crossing / operator.factor**steps) == steps
    assert switch_time(operator, operator.crossing / operator.factor**steps - Fraction(1, 10**30)) == steps + 1


def test_the_phases_of_a_colour():
    operator = Operator("ln(6/5)", "1/1000")
    found = phases(operator, ["0.0005", "0.0081", "0.1364", "0.2727", "0.5823"])
    assert [tuple(phase) for phase in found] == [(25, None), (20, 25), (7, 20), (1, 7), (0, 1)]


@pytest.mark.parametrize(("epsilon", "delta"), [("ln(6/5)", 0), (1, 0), ("0.001", "1e-9"), ("ln(6/5)", "1e-12")])
def test_a_thousand_million_steps(epsilon, delta):
    operator = Operator(epsilon, delta)
    found = prefix_sum_after(operator, Fraction(1, 10**6), 10**9, bits=200)
    assert 1 - Fraction(1, 2**190) <= found.lower <= found.upper <= 1
    assert found.is_exact == (delta != 0)  # with a δ the sum reaches one and stays there
    with pytest.raises(TooLarge, match="prefix_sum_after"):
        after(operator, ["1/3", "2/3"], 10**9)


@given(st.integers(1, 400), st.sampled_from([0, "1/1000"]))
def test_long_enclosures_hold_the_exact_number(steps, delta):
    operator = Operator("1/7", delta)  # λ is a rational of many digits, so that balls take over early
    exact = after(operator, ["1/1000", "999/1000"], steps)[0]
    found = prefix_sum_after(operator, Fraction(1, 1000), steps, bits=90)
    assert exact in found
    assert found.width <= Fraction(1, 2**88)


def test_an_irrational_factor_is_taken_from_below():
    operator = Operator(1, "1/100")
    assert not operator.is_exact
    for epsilon in ("1", "1/1000", "1e-300"):
        factor, truth = Operator(epsilon).factor, exp_enclosure(Fraction(epsilon), 2000)
        assert 1 < factor < truth.lower
        assert (truth.upper - factor) * 2**56 < truth.lower - 1
    assert Operator("ln(3)").is_exact
    assert Operator(0).factor == 1


@pytest.mark.slow
@given(
    st.sampled_from([Operator("ln(6/5)"), Operator("0.3", "1/100"), Operator("1e-3", "1e-6"), Operator(0, "1/64")]),
    st.integers(2, 5),
    st.sampled_from([0, 1, 2, 17, 400]),
    st.integers(0, 2**32),
)
def test_doubles_surely_enclose_the_exact_sums(operator, colours, steps, seed):
    generator = np.random.default_rng(seed)
    rows = generator.dirichlet(np.full(colours, 0.2), 4)
    rows[0] = np.eye(colours)[generator.integers(colours)]
    rows[1] = np.array([2.0**-60] + [0.0] * (colours - 2) + [1.0])  # sums to one as doubles do
    bounds = after_many(operator, rows, steps)
    low, high = bounds.probabilities()
    for i, row in enumerate(rows):
        starts = [min(Fraction(1), s) for s in accumulate(map(Fraction, row))]
        sums = [prefix_sum_after(operator, s, steps, 120) for s in starts[:-1]]
        for k, s in enumerate(sums):
            assert Fraction(bounds.lower[i, k]) <= s.lower
            assert s.upper <= Fraction(bounds.upper[i, k])
        for k, (a, b) in enumerate(pairwise(sums), start=1):
            assert Fraction(low[i, k]) <= b.upper - a.lower
            assert b.lower - a.upper <= Fraction(high[i, k])
    assert (bounds.upper - bounds.lower).max() < 1e-13
    assert (bounds.lower[:, -1] == 1).all()


def test_doubles_that_decide_nothing_are_computed_exactly():
    """At a tie of the branches, at denormal numbers and where powers leave the range of doubles."""
    rows = [[0.25, 0.75], [5e-324, 1.0], [0.0, 1.0], [1e-310, 1.0]]
    for operator in (Operator("ln(3)"), Operator("ln(3)", "1e-320"), Operator(600)):
        bounds = after_many(operator, rows, 700)
        for row, low, high in zip(rows, bounds.lower, bounds.upper, strict=True):
            exact = prefix_sum_after(operator, Fraction(row[0]), 700, 200)
            assert Fraction(low[0]) <= exact.lower <= exact.upper <= Fraction(high[0])


@pytest.mark.slow
@given(operators, small_laws, st.integers(0, 60))
def test_a_line_in_doubles_encloses_every_step(operator, p, depth):
    bounds = along_path(operator, tuple(p), depth)
    for t in {0, 1, depth // 2, depth}:
        exact = list(accumulate(after(operator, p, min(t, depth))))
        assert all(Fraction(low) <= s for low, s in zip(bounds.lower[min(t, depth)], exact, strict=True))
        assert all(s <= Fraction(high) for high, s in zip(bounds.upper[min(t, depth)], exact, strict=True))


@given(st.sampled_from(FACTORS[:4]), laws, st.integers(1, 10))
def test_without_delta_the_published_operator_is_the_same(epsilon, p, steps):
    assert Operator(epsilon, published=True).iterate(p, steps) == Operator(epsilon).iterate(p, steps)


@pytest.mark.slow
@given(st.sampled_from(FACTORS[:4]), st.sampled_from(DELTAS[1:]), small_laws)
def test_the_published_operator_is_never_below_and_needs_at_most_factor_times_delta(epsilon, delta, p):
    published, right = Operator(epsilon, delta, published=True), Operator(epsilon, delta)
    assume(published(p) != right(p))
    assert dominates(published(p), right(p))
    assert right.delta < needed(p, published(p), right.factor) <= right.factor * right.delta


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: Operator(-1), "epsilon"),
        (lambda: Operator(1, 1), "delta"),
        (lambda: Operator(1, published=1), "published"),
        (lambda: Operator(1)([0.5, 0.4]), "sum to one"),
        (lambda: Operator(1)([1.5, -0.5]), r"distribution\[1\]"),
        (lambda: Operator(1)("ab"), "list of probabilities"),
        (lambda: switch_time(Operator(1, 0.1, published=True), Fraction(0)), "corrected"),
        (lambda: after_many(Operator(1, 0.1, published=True), [[0.5, 0.5]], 1), "corrected"),
        (lambda: PathLaw(Operator(1, 0.1, published=True), [0.5, 0.5]), "corrected"),
        (lambda: after_many(Operator(1000), [[0.5, 0.5]], 1), "epsilon"),
        (lambda: after_many(Operator(1), [[0.5, 0.6]], 1), "row 0"),
        (lambda: after_many(Operator(1), [[np.nan, 1]], 1), "finite"),
        (lambda: after_many(Operator(1), [0.5, 0.5], 1), "shape"),
    ],
)
def test_bad_input_is_refused_by_name(call, match):
    with pytest.raises((BadParameter, BadBoundary), match=match):
        call()

"""How much each of k queries may cost: the answer fits, and a little more would not."""

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.accounting import (
    Pure,
    advanced_per_query,
    basic_per_query,
    compose,
    corollary_per_query,
    group_privacy,
    homogeneous_delta,
    homogeneous_epsilon,
    homogeneous_per_query,
    per_query,
)
from leastnoise.composition.advanced import advanced_bound
from leastnoise.composition.normal_form import parts_of
from leastnoise.errors import BadParameter
from leastnoise.exact import exp_above, exp_below, ln
from leastnoise.model.privacy import Privacy
from support.composition import composed, true_delta, worst_pair

totals = st.builds(
    Privacy,
    st.fractions(min_value=Fraction(1, 10), max_value=5, max_denominator=20),
    st.sampled_from(["1e-3", "1e-6", "1e-9"]),
)


@settings(max_examples=30)
@given(totals, st.integers(1, 200))
def test_what_is_allowed_fits_and_a_little_more_does_not(total, queries):
    share = homogeneous_per_query(total, queries).epsilon
    assert homogeneous_delta(share, queries, total.epsilon) <= total.delta
    more = share * (1 + Fraction(1, 10**6))
    assert more > total.epsilon or homogeneous_delta(more, queries, total.epsilon) > total.delta


@settings(max_examples=30)
@given(totals, st.integers(1, 200), st.sampled_from(["0", "1e-12"]))
def test_advanced_composition_inverted(total, queries, delta_each):
    share = advanced_per_query(total, queries, delta_each)
    bound = advanced_bound(parts_of([Pure(share.epsilon)] * queries), total.delta - queries * share.delta)
    assert bound.epsilon <= total.epsilon
    assert (
        advanced_bound(
            parts_of([Pure(share.epsilon * (1 + Fraction(1, 10**9)))] * queries), total.delta - queries * share.delta
        ).epsilon
        > total.epsilon
    )


def test_advanced_composition_by_hand():
    """C-L2, Theorem 8: ε√(2k·ln(1/δ')) + kε(e^ε − 1) with k = 100, ε = 1/10, δ' = 1e-5."""
    bound = advanced_bound(parts_of([Pure("1/10")] * 100), Fraction(1, 10**5))
    assert float(bound.epsilon) == pytest.approx(0.1 * (200 * 11.512925464970229) ** 0.5 + 10 * 0.10517091807564762)


@settings(max_examples=50)
@given(
    st.fractions(min_value=Fraction(1, 100), max_value=Fraction(99, 100), max_denominator=100),
    st.sampled_from(["1/2", "1/10", "1e-6"]),
    st.integers(1, 1000),
)
def test_the_corollary_follows_from_the_theorem(epsilon, delta, queries):
    total = Privacy(epsilon, delta)
    share = corollary_per_query(total, queries).epsilon
    assert advanced_bound(parts_of([Pure(share)] * queries), total.delta).epsilon <= epsilon
    assert share <= advanced_per_query(total, queries).epsilon


def test_the_corollary_does_not_follow_for_every_delta():
    """As printed it asks for ε < 1 only; at δ = 9/10 the theorem does not give it."""
    with pytest.raises(BadParameter, match="corollary"):
        corollary_per_query(Privacy("0.99", "0.9"), 100)
    share = Fraction(99, 100) / Fraction(9181, 1000)  # ε/√(8·100·ln(10/9))
    assert advanced_bound(parts_of([Pure(share)] * 100), Fraction(9, 10)).epsilon > Fraction(17, 10)


@pytest.mark.parametrize("queries", [1, 2, 3, 8])
def test_the_optimal_theorem_as_it_is_printed(queries):
    """Kairouz, Oh and Viswanath 2015, equation 5, at ε = ln 3: ((k − 2i)ε, δᵢ) for each i."""
    odds = Fraction(3)
    for i in range(queries // 2 + 1):
        printed = (
            sum(
                (comb(queries, j) * (odds ** (queries - j) - odds ** (queries - 2 * i + j)) for j in range(i)),
                start=Fraction(0),
            )
            / (1 + odds) ** queries
        )
        found = homogeneous_delta("ln(3)", queries, ln(odds) * (queries - 2 * i))
        assert 0 <= found - printed < Fraction(1, 10**30)


@pytest.mark.slow
@settings(max_examples=40)
@given(
    st.fractions(min_value=Fraction(11, 10), max_value=5, max_denominator=10),
    st.integers(1, 30),
    st.sampled_from(["1e-2", "1e-5", "1e-12"]),
)
def test_the_optimal_theorem_is_the_truth(odds, queries, delta):
    truth = composed([worst_pair(Pure(ln(odds)))] * queries)
    found = homogeneous_epsilon(ln(odds), queries, delta)
    assert true_delta(truth, exp_below(found, 400)) <= Fraction(delta)
    if found:
        assert true_delta(truth, exp_above(found * (1 - Fraction(1, 10**9)), 400)) > Fraction(delta)


def test_the_best_rule_wins_and_is_named():
    assert per_query(Privacy(1), 10) == (Privacy("1/10"), "basic composition")
    assert per_query(Privacy(1, "1e-9"), 1) == (Privacy(1), "basic composition")
    share, name = per_query(Privacy(1, "1e-6"), 500)
    assert name == "optimal homogeneous composition"
    assert compose([Pure(share.epsilon)] * 500, "1e-6").epsilon <= 1
    assert basic_per_query(Privacy(1, "1e-6"), 4) == Privacy("1/4", "1/4000000")


@pytest.mark.parametrize("bad", [0, -3, 2.5, "many", float("nan")])
def test_a_number_of_queries_is_a_whole_number(bad):
    for rule in (per_query, homogeneous_per_query, advanced_per_query, basic_per_query, corollary_per_query):
        with pytest.raises(BadParameter):
            rule(Privacy("1/2", "1e-6"), bad)


def test_nothing_can_be_divided_into_something():
    for rule in (homogeneous_per_query, advanced_per_query):
        with pytest.raises(BadParameter, match="nothing can be divided"):
            rule(Privacy(0, "1e-6"), 3)
    with pytest.raises(BadParameter, match="advanced composition needs"):
        advanced_per_query(Privacy(1), 3)


@given(st.fractions(min_value=Fraction(11, 10), max_value=3, max_denominator=10), st.integers(1, 6), st.integers(1, 50))
def test_group_privacy_is_the_chain_of_inequalities(odds, size, parts):
    delta = Fraction(parts, 10**6)
    group = group_privacy(Privacy(ln(odds), delta), size)
    chained = sum((odds**j for j in range(size)), start=Fraction(0)) * delta
    assert group.epsilon == ln(odds) * size
    assert 0 <= group.delta - chained < Fraction(1, 10**15)
    assert group.delta <= size * odds ** (size - 1) * delta + Fraction(1, 10**15), "C-L2, Theorem 6"


def test_a_group_too_large_for_any_promise():
    with pytest.raises(BadParameter, match="nothing is promised"):
        group_privacy(Privacy(1, "1/100"), 10)
    assert group_privacy(Privacy(0, "1/100"), 10).delta == Fraction(1, 10)
    assert group_privacy(Privacy(5), 1000) == Privacy(5000)

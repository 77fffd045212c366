import copy
import os
import pickle
import threading
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.accounting import (
    Approximate,
    BoundedRange,
    Concentrated,
    Filter,
    GaussianNoise,
    Grouped,
    LaplaceNoise,
    Limits,
    Parallel,
    Pure,
    compose,
    cost_of,
)
from leastnoise.composition.concentrated import concentrated_epsilon, rho_within
from leastnoise.composition.filter import Account
from leastnoise.composition.normal_form import rho_of
from leastnoise.errors import BadParameter, BudgetExceeded, ForeignProcess, UnknownEvent
from leastnoise.exact import ln
from leastnoise.model.privacy import Privacy
from support.games import best_delta


def rule(budget, prices, event_delta=0):
    """The filter's rule on counts of pure prices."""
    limits, costs = Limits(budget, event_delta), [cost_of(Pure(price)) for price in prices]

    def admits(counts):
        account = Account(limits)
        for cost, count in zip(costs, counts, strict=True):
            for _ in range(count):
                if not account.admits(cost):
                    return False
                account.add(cost)
        return True

    return admits


@pytest.mark.slow
@pytest.mark.parametrize(
    ("odds", "total", "delta"),
    [(("6/5", "3/2"), "4", "1/10"), (("6/5", "2"), "3", "1/20"), (("11/10", "3/2", "3"), "4", "1/20")],
)
def test_no_adaptive_strategy_beats_the_filter(odds, total, delta):
    """Every strategy, by exhaustive search: which price comes next may depend on all answers so far."""
    prices = [ln(Fraction(each)) for each in odds]
    budget = Privacy(ln(Fraction(total)), delta)
    assert 0 < best_delta(prices, rule(budget, prices), Fraction(total)) <= budget.delta


@pytest.mark.slow
def test_the_search_would_notice_a_filter_that_is_none():
    """Stopping when optimal composition of what was asked exceeds the budget is not a valid filter."""
    prices, budget = [ln(Fraction(6, 5)), ln(2)], Privacy("ln(3)", "1/20")

    def naive(counts):
        asked = [Pure(price) for price, count in zip(prices, counts, strict=True) for _ in range(count)]
        return compose(asked, budget.delta).epsilon <= budget.epsilon

    assert best_delta(prices, naive, Fraction(3)) > budget.delta


def test_a_pure_budget_is_spent_to_the_last_bit():
    budget = Filter(Privacy(1))
    for _ in range(3):
        budget.debit(Pure("1/3"))
    assert budget.spent.epsilon == 1
    with pytest.raises(BudgetExceeded, match="nothing fits any more"):
        budget.debit(Pure("1e-9"))


def test_logarithms_are_exact_too():
    budget = Filter(Privacy("ln(9)"))
    budget.debit(Pure("ln(3)"))
    budget.debit(Pure("ln(3)"))
    assert not budget.admits(Pure("1e-9"))


def test_a_little_delta_buys_many_more_small_queries():
    small = Pure("1/100")
    with_delta, without = Filter(Privacy(1, "1e-6"), event_delta=0), Filter(Privacy(1))
    counts = []
    for budget in (with_delta, without):
        count = 0
        while budget.admits(small):
            budget.debit(small)
            count += 1
        counts.append(count)
    assert counts == [487, 100]
    assert concentrated_epsilon(rho_of(small) * 487, Fraction(1, 10**6)) <= 1


def test_a_refusal_says_what_would_fit_and_it_does():
    budget = Filter(Privacy(1, "1e-6"))
    for _ in range(100):
        budget.debit(LaplaceNoise("1/50"))
    with pytest.raises(BudgetExceeded, match=r"ε = 1/2; a query of at most ε = 0\.\d+ or ρ = .* still fits"):
        budget.debit(Pure("1/2"))
    left = budget.left
    assert budget.admits(Pure(left.epsilon))
    assert not budget.admits(Pure(left.epsilon * Fraction(1001, 1000)))
    assert budget.admits(Concentrated(left.rho))
    assert not budget.admits(Concentrated(left.rho * Fraction(1001, 1000)))
    assert 0 < left.used < 1
    budget.debit(Pure(left.epsilon))


def test_the_queries_own_delta_has_its_share():
    budget = Filter(Privacy(1, "1e-6"))
    budget.debit(Approximate("1/10", "3e-7"))
    assert budget._account.rule.event_delta == Fraction(1, 2 * 10**6)
    with pytest.raises(BudgetExceeded, match="leaves δ = 2e-07"):
        budget.debit(Approximate("1/10", "3e-7"))
    budget.debit(Approximate("1/10", "2e-7"))
    assert budget.left.delta == 0
    basic = Filter(Privacy(1, "1e-6"), event_delta="1e-6")
    assert [rule.composition for rule in basic.limits.rules()] == ["basic"]


def test_concentrated_queries_need_some_delta():
    with pytest.raises(BudgetExceeded, match="some δ"):
        Filter(Privacy(1)).debit(Concentrated("1/1000"))
    budget = Filter(Privacy(1, "1e-6"))
    budget.debit(GaussianNoise("1/1000", 10))
    budget.debit(Concentrated("1/1000"))
    assert budget.spent.epsilon is None
    assert budget.spent.rho == Fraction(1, 500)
    assert not budget.admits(Pure(1)), "a query without a finite ε leaves only the other arm"


def test_groups_and_parts_are_priced():
    assert cost_of(Grouped(Pure("1/10"), 3)).epsilon == Fraction(3, 10)
    assert cost_of(Parallel([Pure("1/10"), Pure("1/2")])).epsilon == Fraction(1, 2)
    assert cost_of(BoundedRange("1/10")).rho == Fraction(1, 800)
    assert cost_of(Grouped(Concentrated("1/10"), 3)).rho == Fraction(9, 10)


@pytest.mark.parametrize("tiny", [Pure("1e-300"), Pure("9e-10"), Concentrated("1e-19"), Approximate(0, "1e-19")])
def test_a_debit_below_the_least_charge_is_refused(tiny):
    with pytest.raises(BadParameter, match="least charge"):
        Filter(Privacy(1, "1e-6")).debit(tiny)


def test_what_is_no_event_is_refused_and_costs_nothing():
    budget = Filter(Privacy(1))
    for bad in ("0.1", 0.1, None):
        with pytest.raises(UnknownEvent):
            budget.debit(bad)
    assert budget.spent.epsilon == 0


@pytest.mark.parametrize("epsilon", ["1e7", "1e400"])
def test_a_budget_that_promises_nothing_is_refused(epsilon):
    with pytest.raises(BadParameter, match="insist=True"):
        Filter(Privacy(epsilon))
    with pytest.raises(BadParameter, match="at most 1000000"):
        Filter(Privacy(epsilon, insist=True))
    with pytest.raises(BudgetExceeded):
        Filter(Privacy(1)).debit(Pure(epsilon))


def test_threads_never_overdraw_it():
    budget, granted = Filter(Privacy(1)), []

    def spend():
        for _ in range(200):
            try:
                budget.debit(Pure("1/100"))
            except BudgetExceeded:
                return
            granted.append(1)

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) == 100


def test_a_copy_can_not_spend_the_budget_again():
    budget = Filter(Privacy(1))
    for double in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(ForeignProcess):
            double(budget)
    child = os.fork()
    if not child:
        try:
            budget.debit(Pure("1/2"))
        except ForeignProcess:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


@settings(max_examples=60)
@given(
    st.fractions(min_value=Fraction(1, 100), max_value=20, max_denominator=100),
    st.sampled_from(["1/2", "1e-3", "1e-6", "1e-12"]),
)
def test_the_conversion_and_its_inverse_agree(epsilon, delta):
    rho = rho_within(epsilon, Fraction(delta))
    assert concentrated_epsilon(rho, Fraction(delta)) <= epsilon + Fraction(1, 10**6)
    assert concentrated_epsilon(rho * Fraction(1001, 1000) + Fraction(1, 10**9), Fraction(delta)) > epsilon


@given(st.fractions(min_value=Fraction(1, 100), max_value=12, max_denominator=100))
def test_rho_bounds_the_divergence_of_randomized_response_at_every_order(epsilon):
    """ln(cosh((α − ½)ε)/cosh(ε/2)) ≤ α(α − 1)ρ, and near α = 1 nothing smaller would do."""
    from math import cosh, log

    def divergence(alpha):
        return log(cosh((alpha - 0.5) * float(epsilon)) / cosh(float(epsilon) / 2)) / (alpha - 1)

    rho = float(rho_of(Pure(epsilon)))
    for alpha in (1.001, 1.1, 1.5, 2, 5, 20):
        assert divergence(alpha) <= alpha * rho * (1 + 1e-9)
    assert divergence(1.0001) >= rho * 0.999
    assert rho <= float(epsilon) ** 2 / 2 * (1 + 1e-12)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(1, 40), st.booleans()), max_size=60))
def test_doubles_decide_nothing_that_exact_sums_would_decide_otherwise(steps):
    """The quick way and the exact rule agree, also close to the limits and after taking back."""
    limits = Limits(Privacy(1, "1e-6"), "1e-7", "concentrated")
    account, kept, rho = Account(limits), [], rho_within(Fraction(1), Fraction(9, 10**7))
    for size, back in steps:
        cost = cost_of(
            Pure(Fraction(size, 200)) if size % 3 else Approximate(Fraction(size, 200), Fraction(size, 10**9))
        )
        total_epsilon = sum((each.epsilon for each in kept), start=cost.epsilon)
        total_delta = sum((each.delta for each in kept), start=cost.delta)
        total_rho = sum((each.rho for each in kept), start=cost.rho)
        exactly = total_delta <= limits.event_delta and (total_epsilon <= 1 or total_rho <= rho)
        assert account.admits(cost) == exactly
        if exactly:
            account.add(cost)
            kept.append(cost)
            if back:
                account.take_back(kept.pop(0))
    assert account.spent.epsilon == sum((each.epsilon for each in kept), start=Fraction(0))

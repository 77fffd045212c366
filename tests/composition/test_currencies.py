"""Budgets in each currency: what fits, what is refused and why, and what is shown as left."""

import json
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.accounting import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    Cost,
    Filter,
    Fixed,
    GaussianNoise,
    GaussianPrivacy,
    Grouped,
    LaplaceNoise,
    Limits,
    Parallel,
    Pure,
    RandomizedResponse,
    Remaining,
    compose,
    cost_of,
    event_from_dict,
)
from leastnoise.composition.concentrated import rho_within
from leastnoise.composition.filter import Account
from leastnoise.composition.gaussian import delta_of, mu_of_pure, mu_squared_within
from leastnoise.composition.normal_form import mu_squared_of, rho_of
from leastnoise.errors import BadParameter, BudgetExceeded, UnknownEvent
from leastnoise.exact import ln
from leastnoise.model.privacy import Privacy

BUDGET = Privacy(1, "1e-6")
HISTOGRAM = GaussianPrivacy(mu_squared_within(Fraction(1, 10), Fraction(1, 10**8)))


def times(budget, event):
    count = 0
    while budget.admits(event):
        budget.debit(event)
        count += 1
    return count


def test_gaussian_releases_are_charged_as_what_they_are():
    """A histogram at (0.1, 1e-8) fits 117 times into (1, 1e-6), and a δ for other queries is left beside it."""
    budget = Filter(BUDGET)
    assert times(budget, HISTOGRAM) == 117
    assert budget.left.delta == BUDGET.delta / 16
    budget.debit(Approximate(0, "1e-9"))
    alone = Filter(BUDGET, event_delta=0)
    assert times(alone, HISTOGRAM) == 118
    with pytest.raises(BudgetExceeded, match="leaves δ = 0"):
        alone.debit(Approximate(0, "1e-9"))


@pytest.mark.parametrize(
    "event",
    [
        GaussianPrivacy(mu_squared_within(Fraction(1), Fraction(1, 10**6))),
        Fixed([GaussianPrivacy(mu_squared_within(Fraction(1), Fraction(1, 10**6)))], 1, "1e-6"),
        Approximate(1, "1e-6"),
        Pure(1),
    ],
    ids=str,
)
def test_one_release_at_the_price_of_the_budget_fits_once_and_alone(event):
    budget = Filter(BUDGET)
    budget.debit(event)
    assert not budget.admits(GaussianPrivacy("1e-12"))
    assert not budget.admits(event)
    if not isinstance(event, Pure):
        assert budget.left.used > Fraction(999, 1000)
        assert budget.left.delta == 0


def test_the_first_query_fixes_how_a_budget_is_kept():
    def rule_after(first, **options):
        account = Account(Limits(BUDGET, **options))
        assert account.rule is None
        account.add(cost_of(first))
        return account.rule

    delta = BUDGET.delta
    gaussian, pure = rule_after(HISTOGRAM), rule_after(Pure("1/10"))
    assert (gaussian.composition, gaussian.event_delta) == ("gaussian", delta / 16)
    assert gaussian.amount == mu_squared_within(Fraction(1), delta * 15 / 16)
    assert (pure.composition, pure.event_delta) == ("concentrated", delta / 2)
    assert pure.amount == rho_within(Fraction(1), delta / 2)
    assert rule_after(GaussianNoise("1/1000")).composition == "concentrated"
    assert rule_after(Composed([HISTOGRAM, Approximate(0, "1e-7")])).composition == "concentrated"
    assert rule_after(Approximate("1/10", "9e-7")).composition == "basic"
    assert rule_after(HISTOGRAM, event_delta="1e-7").event_delta == Fraction(1, 10**7)
    assert rule_after(HISTOGRAM, composition="concentrated").composition == "concentrated"
    assert rule_after(Pure("1/10"), composition="gaussian").composition == "gaussian"


def test_a_rule_that_was_fixed_stays_until_all_is_taken_back():
    account = Account(Limits(BUDGET))
    first, second = cost_of(HISTOGRAM), cost_of(Pure("1/10"))
    account.add(first)
    account.add(second)
    account.take_back(first)
    assert account.rule.composition == "gaussian"
    account.take_back(second)
    assert account.rule is None
    assert account.spent == Cost(Fraction(0), Fraction(0), Fraction(0), Fraction(0))
    account.add(second)
    assert account.rule.composition == "concentrated"


def test_sums_of_mu_squared_and_of_rho_never_decide_beside_each_other():
    """In a budget that a Gaussian query began, ρ alone admits nothing; in another, μ² alone admits nothing."""
    budget = Filter(BUDGET)
    budget.debit(HISTOGRAM)
    with pytest.raises(BudgetExceeded, match="not known to be Gaussian-private"):
        budget.debit(GaussianNoise("1/1000"))
    other = Filter(BUDGET)
    other.debit(GaussianNoise("1/1000"))
    nearly = (rho_within(Fraction(1), BUDGET.delta / 2) - Fraction(1, 1000)) * 2
    assert not other.admits(GaussianPrivacy(nearly * Fraction(1001, 1000)))
    assert other.admits(GaussianPrivacy(nearly))


def test_a_budget_in_rho():
    budget = Filter(Privacy(rho="1/10"))
    for event in (Pure("1/10"), BoundedRange("1/10"), GaussianPrivacy("1/25"), GaussianNoise("1/100", 3)):
        before = budget.spent.rho
        budget.debit(event)
        assert budget.spent.rho - before == rho_of(event)
    left = budget.left
    assert left.rho == Fraction(1, 10) - budget.spent.rho
    assert (left.unit, left.spent, left.limit) == ("ρ", budget.spent.rho, Fraction(1, 10))
    assert left.used == budget.spent.rho * 10
    assert str(left).startswith("a query of at most ρ = ")
    assert budget.admits(Pure(left.epsilon))
    assert not budget.admits(Pure(left.epsilon * Fraction(1001, 1000)))
    with pytest.raises(BudgetExceeded, match="a budget in rho has no room for a δ"):
        budget.debit(Approximate("1/100", "1e-9"))
    budget.debit(Concentrated(left.rho))
    assert budget.left.used == 1
    assert str(budget.left) == "nothing fits any more"


def test_a_budget_in_mu():
    budget = Filter(Privacy(mu="1/2"))
    budget.debit(GaussianPrivacy("1/25"))
    assert budget.spent.mu_squared == Fraction(1, 25)
    budget.debit(Pure("1/10"))
    assert budget.spent.mu_squared - Fraction(1, 25) == mu_squared_of(Pure("1/10")) >= mu_of_pure(Fraction(1, 10)) ** 2
    budget.debit(BoundedRange("1/10"))
    for event, why in [
        (GaussianNoise("1/1000", 5), "not known to be Gaussian-private"),
        (Concentrated("1/1000"), "not known to be Gaussian-private"),
        (Approximate("1/100", "1e-9"), "a budget in mu has no room for a δ"),
    ]:
        with pytest.raises(BudgetExceeded, match=why):
            budget.debit(event)
    left = budget.left
    assert left.mu_squared == Fraction(1, 4) - budget.spent.mu_squared
    assert left.mu**2 <= left.mu_squared
    assert (left.unit, left.rho, left.delta) == ("μ²", 0, 0)
    assert str(left).startswith("a query of at most μ = ")
    assert budget.admits(Pure(left.epsilon))
    assert not budget.admits(Pure(left.epsilon * Fraction(1001, 1000)))
    budget.debit(GaussianPrivacy(left.mu_squared))
    assert not budget.admits(Pure("1e-9"))


@pytest.mark.parametrize("options", [{"event_delta": 0}, {"composition": "basic"}, {"composition": "nonsense"}])
def test_a_budget_in_rho_or_mu_has_nothing_to_choose(options):
    for budget in (Privacy(rho=1), Privacy(mu=1)):
        with pytest.raises(BadParameter):
            Limits(budget, **options)


@pytest.mark.parametrize("budget", [Privacy(30), Privacy(1, "1/2"), Privacy(rho=30), Privacy(mu=7)])
def test_a_budget_that_protects_nobody_is_refused_unless_insisted_upon(budget):
    with pytest.raises(BadParameter, match="insist=True"):
        Filter(budget)
    Filter(Privacy(**budget.to_dict(), insist=True))
    Limits(budget)


everything = st.one_of(
    st.builds(Pure, st.fractions(min_value=Fraction(1, 100), max_value=Fraction(1, 2), max_denominator=100)),
    st.builds(BoundedRange, st.fractions(min_value=Fraction(1, 100), max_value=Fraction(1, 2), max_denominator=100)),
    st.builds(GaussianPrivacy, st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(1, 50))),
    st.builds(Concentrated, st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(1, 100))),
    st.builds(Approximate, st.just("1/20"), st.sampled_from(["1e-8", "1e-7", "4e-7"])),
    st.just(Fixed([LaplaceNoise("1/20", 4)] * 3, "1/6", "1e-7")),
    st.just(Fixed([HISTOGRAM] * 2, "3/20", "1e-8")),
)
budgets = st.sampled_from([Privacy(1), BUDGET, Privacy("ln(3)", "1e-5"), Privacy(rho="1/20"), Privacy(mu="1/4")])


def exactly(rule, costs):
    """The rule written out on plain sums."""

    def total(parts):
        parts = list(parts)
        return math.inf if None in parts else sum(parts, start=Fraction(0))

    basic = rule.composition == "basic"
    if total(each.basic[1] if basic else each.delta for each in costs) > rule.event_delta:
        return False
    own = {"basic": math.inf, "concentrated": total(each.rho for each in costs)}
    if own.get(rule.composition, total(each.mu_squared for each in costs)) <= rule.amount and not basic:
        return True
    epsilon = total(each.basic[0] if basic else each.epsilon for each in costs)
    return rule.epsilon is not None and epsilon != math.inf and epsilon <= rule.epsilon


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(budgets, st.lists(st.tuples(everything, st.booleans()), max_size=25))
def test_the_account_follows_its_rule_exactly(budget, steps):
    """Also after taking back, after writing it down and reading it again, and what is left always fits."""
    limits = Limits(budget)
    account, kept = Account(limits), []
    for event, back in steps:
        cost = cost_of(event)
        rules = [account.rule] if kept else limits.rules(cost)
        admitted = any(exactly(rule, [*kept, cost]) for rule in rules)
        assert account.admits(cost) == admitted
        if admitted:
            account.add(cost)
            kept.append(cost)
            if back:
                account.take_back(kept.pop(0))
        account = Account.from_dict(limits, json.loads(json.dumps(account.to_dict())))
    left = account.left
    assert 0 <= left.used == account.used <= 1
    assert not left.epsilon or account.admits(cost_of(Pure(max(left.epsilon, Fraction(1, 10**9)))))
    assert not left.rho or account.admits(cost_of(Concentrated(left.rho)))
    assert not left.mu_squared or account.admits(cost_of(GaussianPrivacy(left.mu_squared)))
    if left.epsilon and left.delta:
        assert account.admits(cost_of(Approximate(left.epsilon, left.delta)))
    if kept:
        assert left.used == (min(left.spent / left.limit, 1) if left.limit else 1)


def test_several_budgets_leave_the_least_of_each():
    one, other = Filter(Privacy(rho="1/10")), Filter(BUDGET)
    one.debit(Concentrated("1/20"))
    least = Remaining.least([one.left, other.left])
    assert least.rho == min(one.left.rho, other.left.rho)
    assert least.delta == 0
    assert (least.used, least.unit) == (Fraction(1, 2), "ρ")


def test_new_limits_keep_what_was_spent_and_how():
    account = Account(Limits(BUDGET))
    for _ in range(100):
        account.add(cost_of(HISTOGRAM))
    account.limits = Limits(Privacy(2, "1e-6"))
    assert account.rule.composition == "gaussian"
    assert account.spent.mu_squared == 100 * HISTOGRAM.mu_squared
    account.limits = Limits(Privacy(rho="1/10"))
    assert account.rule.composition == "concentrated"
    assert account.left.rho == Fraction(1, 10) - 50 * HISTOGRAM.mu_squared
    account.limits = Limits(Privacy(mu="1/10"))
    assert account.left.used == 1
    assert not account.admits(cost_of(GaussianPrivacy("1e-9")))


@settings(max_examples=60, deadline=None)
@given(budgets, st.lists(everything, max_size=6), everything)
def test_what_does_not_fit_is_charged_as_far_as_it_goes(budget, events, last):
    account = Account(Limits(budget))
    for event in events:
        if account.admits(cost_of(event)):
            account.add(cost_of(event))
    fitted = account.admits(cost_of(last))
    account.add_at_most(cost_of(last))
    assert account.rule.holds(account.spent)
    if not fitted and account.rule.composition != "basic":
        assert not account.admits(cost_of(last))


@settings(max_examples=100)
@given(everything)
def test_costs_survive_being_written_down(event):
    cost = cost_of(event)
    assert Cost.from_list(json.loads(json.dumps(cost.to_list()))) == cost
    old = Cost.from_list(cost.to_list()[:3])
    assert (old.epsilon, old.delta, old.rho, old.together) == (cost.epsilon, cost.delta, cost.rho, None)
    if cost.epsilon is None:
        assert old.mu_squared is None
    else:
        assert old.mu_squared >= cost.mu_squared


@pytest.mark.parametrize("data", [[], ["1"], ["1", "0", "1", "1", "1"], ["1", 0, "1"], ["-1", "0", "1"], None, "abcd"])
def test_what_is_no_cost_is_refused(data):
    with pytest.raises(BadParameter):
        Cost.from_list(data)


@settings(max_examples=60)
@given(everything, everything)
def test_the_larger_cost_and_the_rest(one, other):
    a, b = cost_of(one), cost_of(other)
    due = a.at_least(b)
    assert due.rho == max(a.rho, b.rho)
    assert due.delta == max(a.delta, b.delta)
    assert due.epsilon == (None if None in (a.epsilon, b.epsilon) else max(a.epsilon, b.epsilon))
    assert due.mu_squared == (None if None in (a.mu_squared, b.mu_squared) else max(a.mu_squared, b.mu_squared))
    rest = due.without(a)
    assert rest.rho + a.rho == due.rho
    assert rest.delta + a.delta == due.delta
    assert rest.epsilon is None or (a.epsilon is None and rest.epsilon == 0) or rest.epsilon + a.epsilon == due.epsilon


def test_a_list_fixed_in_advance_has_two_prices():
    """Its claim for basic composition, the sums of its events for the others."""
    events = [LaplaceNoise("1/10", 5)] * 20
    claim = Fixed(events, "6/5", "1e-3")
    cost = cost_of(claim)
    assert compose(events, "1e-3").epsilon <= Fraction(6, 5) < 2
    assert cost.basic == (Fraction(6, 5), Fraction(1, 1000))
    assert (cost.epsilon, cost.delta) == (2, 0)
    assert cost.rho == cost_of(Composed(events)).rho
    assert event_from_dict(json.loads(json.dumps(claim.to_dict()))) == claim
    basic = Filter(Privacy("13/10", "1e-3"), composition="basic")
    basic.debit(claim)
    assert (basic.left.epsilon, basic.left.delta) == (Fraction(1, 10), 0)
    assert cost_of(Grouped(claim, 2)).basic[0] == Fraction(12, 5)
    assert cost_of(Composed([claim, Pure("1/10")])).basic == (Fraction(13, 10), Fraction(1, 1000))
    assert cost_of(Parallel([claim, Pure("1/10")])).basic == (Fraction(6, 5), Fraction(1, 1000))
    assert cost_of(Composed([claim, Concentrated("1/10")])).together is None


@pytest.mark.parametrize(
    "claim",
    [
        Fixed([Pure("1/10")] * 2, "19/100"),
        Fixed([Pure("1/10")] * 2, "19/100", "1e-9"),
        Fixed([LaplaceNoise("1/10", 5)] * 20, "1/2", "1e-3"),
        Fixed(
            [GaussianPrivacy(mu_squared_within(Fraction(1), Fraction(1, 10**6)) * Fraction(1000001, 10**6))], 1, "1e-6"
        ),
        Fixed([GaussianPrivacy(1)], 10),
        Fixed([Concentrated(1)], 10),
        Fixed([Approximate("1/10", "1e-6")], "1/10", "1e-7"),
        Fixed([Fixed([Pure(1)], "1/2"), Pure(1)], 3),
        Grouped(Fixed([Pure(1)], "1/2"), 2),
        Parallel([Fixed([Pure(1)], "1/2"), Pure(2)]),
    ],
    ids=str,
)
def test_a_claim_that_the_events_do_not_bear_out_is_refused(claim):
    for event in (claim, event_from_dict(claim.to_dict())):
        with pytest.raises(BadParameter):
            cost_of(event)
        with pytest.raises(BadParameter):
            Filter(Privacy(3, "1e-3")).debit(event)


def test_a_claim_of_gaussian_events_is_held_to_their_exact_profile():
    mu_squared = mu_squared_within(Fraction(1), Fraction(1, 10**6))
    half = GaussianPrivacy(mu_squared / 2)
    assert cost_of(Fixed([half, half], 1, "1e-6")).basic == (1, Fraction(1, 10**6))
    assert delta_of(mu_squared, Fraction(1)).upper <= Fraction(1, 10**6)


def test_what_is_no_list_of_events_is_refused():
    for bad in ([], [1], "ab"):
        with pytest.raises(UnknownEvent):
            Fixed(bad, 1)
    for fields in ({"events": []}, {"events": [{"kind": "pure", "epsilon": "1"}], "epsilon": "1"}):
        with pytest.raises(UnknownEvent):
            event_from_dict({"kind": "fixed", **fields})
    with pytest.raises(BadParameter):
        Fixed([RandomizedResponse(ln(2))], -1)

"""Budgets in ε, (ε, δ), ρ and μ: kept, shown and enforced in their own currency."""

import re
from fractions import Fraction

import pytest

from leastnoise.accounting import (
    Approximate,
    Concentrated,
    Filter,
    GaussianPrivacy,
    Ledger,
    Opening,
    Pure,
    Request,
    Scope,
    cost_of,
)
from leastnoise.errors import BadParameter, BudgetChanged, BudgetExceeded, WrongCurrency
from leastnoise.exact import SeededSource
from leastnoise.ledger.report import balance_texts
from leastnoise.model.privacy import Privacy

BUDGETS = {
    "epsilon": Privacy(1),
    "epsilon and delta": Privacy(1, "1e-6"),
    "rho": Privacy(rho="1/10"),
    "mu": Privacy(mu="1/2"),
}
EVENTS = {
    "pure": Pure("1/10"),
    "approximate": Approximate("1/10", "1e-8"),
    "concentrated": Concentrated("1/1000"),
    "gaussian": GaussianPrivacy("1/500"),
}
CAN_TAKE = {
    "epsilon": {"pure"},
    "epsilon and delta": set(EVENTS),
    "rho": {"pure", "concentrated", "gaussian"},
    "mu": {"pure", "gaussian"},
}


def ask(name, event, dataset="data", analyst="ada"):
    return Request(name, event, dataset=dataset, analyst=analyst)


@pytest.fixture(params=BUDGETS)
def currency(request):
    return request.param


@pytest.mark.parametrize("kind", EVENTS)
def test_a_price_is_taken_or_refused_with_what_to_do(place, currency, kind):
    with Ledger.create(place()) as ledger:
        ledger.grant(BUDGETS[currency], dataset="data")
        if kind in CAN_TAKE[currency]:
            assert ledger.release(ask("q1", EVENTS[kind]), lambda: 1) == 1
        else:
            with pytest.raises(WrongCurrency, match=f"in {currency} and can't take this price") as refused:
                ledger.release(ask("q1", EVENTS[kind]), lambda: pytest.fail("drawn"))
            assert "grant" in refused.value.fix or "use" in refused.value.fix
            with pytest.raises(WrongCurrency):
                ledger.reserve(ask("q1", EVENTS[kind], "new"), Opening(BUDGETS[currency], None))
            assert ledger.budget_of("new") is None, "what is refused grants nothing"
            assert len(list(ledger.entries())) == 2
        ledger.verify()


def test_a_filter_and_a_ledger_admit_the_same(place, currency):
    """Random prices until nothing fits: one rule for both, also after the ledger was opened again."""
    source = SeededSource(3)
    budget = BUDGETS[currency]
    alone, kinds = Filter(budget), sorted(CAN_TAKE[currency])
    with Ledger.create(place()) as ledger:
        ledger.grant(budget, dataset="data")
    admitted = 0
    for turn in range(4):
        with Ledger.open(place()) as ledger:
            for number in range(8):
                size = Fraction(1 + source.bits(4), 40)
                event = {
                    "pure": Pure(size),
                    "approximate": Approximate(size, "1e-8"),
                    "concentrated": Concentrated(size**2 / 20),
                    "gaussian": GaussianPrivacy(size**2 / 10),
                }[kinds[source.bits(10) % len(kinds)]]
                fits = alone.admits(event)
                if fits:
                    alone.debit(event)
                    admitted += 1
                    assert ledger.debit(ask(f"{turn} {number}", event)).fresh
                else:
                    with pytest.raises(BudgetExceeded):
                        ledger.debit(ask(f"{turn} {number}", event))
            (balance,) = ledger.balances()
            assert (balance.spent, balance.left) == (alone.spent, alone.left)
            ledger.verify()
    assert 0 < admitted < 32


def test_exactly_all_of_a_budget_can_be_spent(place):
    whole = {
        "epsilon": [Pure("1/3")] * 3,
        "rho": [Concentrated("1/30")] * 3,
        "mu": [GaussianPrivacy("1/12")] * 3,
    }
    with Ledger.create(place()) as ledger:
        for currency, events in whole.items():
            ledger.grant(BUDGETS[currency], dataset=currency)
            for number, event in enumerate(events):
                ledger.debit(ask(f"{currency} {number}", event, currency))
            assert ledger.left(currency, "ada").used == 1
            with pytest.raises(BudgetExceeded, match="nothing fits any more"):
                ledger.debit(
                    ask(
                        f"{currency} more",
                        GaussianPrivacy("1e-12") if currency != "epsilon" else Pure("1e-9"),
                        currency,
                    )
                )


def test_the_table_says_one_share_in_numbers_and_in_percent(place):
    with Ledger.create(place()) as ledger:
        for currency, budget in BUDGETS.items():
            ledger.grant(budget, dataset=currency)
            for number in range(3):
                event = Pure("1/20") if currency == "epsilon" else GaussianPrivacy("1/500")
                ledger.debit(ask(f"{currency} {number}", event, currency))
        for balance in ledger.balances():
            _, allows, spent, used, *_ = balance_texts(balance)
            part, limit = map(float, re.fullmatch(r"(?:ε|ρ|μ²) = (\S+) of (\S+)", spent).groups())
            assert abs(part / limit - float(used[:-1]) / 100) < 0.001, spent
            assert allows.startswith({"rho": "ρ", "mu": "μ"}.get(balance.scope.dataset, "ε"))
        assert balance_texts(ledger.balances("rho")[0])[2] == "ρ = 0.003 of 0.1"
        assert balance_texts(ledger.balances("mu")[0])[2] == "μ² = 0.006 of 0.25"


def test_a_budget_may_get_another_currency_and_what_is_spent_stays_spent(place):
    with Ledger.create(place()) as ledger:
        ledger.grant(Privacy(1, "1e-6"), dataset="data")
        ledger.debit(ask("q1", GaussianPrivacy("1/50")))
        ledger.grant(Privacy(rho="1/100"), dataset="data")
        assert ledger.left("data", "ada").used == 1
        with pytest.raises(BudgetExceeded):
            ledger.debit(ask("q2", Concentrated("1e-9")))
        ledger.grant(Privacy(mu="1/5"), dataset="data")
        assert ledger.left("data", "ada").mu_squared == Fraction(1, 50)
        assert ledger.budget_of("data") == Privacy(mu="1/5")
    with Ledger.open(place()) as ledger:
        assert ledger.debit(ask("q2", GaussianPrivacy("1/50"))).fresh
        assert ledger.left("data", "ada").used == 1
        ledger.verify()


def test_an_opening_in_another_currency_is_another_budget(place):
    with Ledger.create(place()) as ledger:
        ledger.reserve(ask("q1", GaussianPrivacy("1/100")), Opening(Privacy(mu="1/2"), "person"))
        with pytest.raises(BudgetChanged, match="μ = 1/2"):
            ledger.reserve(ask("q2", GaussianPrivacy("1/100")), Opening(Privacy(rho="1/8"), "person"))


def test_several_budgets_bind_each_in_its_currency(place):
    with Ledger.create(place()) as ledger:
        ledger.grant(Privacy(2, "1e-6"), dataset="data")
        ledger.grant(Privacy(mu="1/10"), dataset="data", analyst="ada")
        ledger.debit(ask("q1", GaussianPrivacy("1/200")))
        with pytest.raises(BudgetExceeded, match="dataset 'data', analyst 'ada'"):
            ledger.debit(ask("q2", GaussianPrivacy("1/100")))
        with pytest.raises(WrongCurrency, match="dataset 'data', analyst 'ada'"):
            ledger.debit(ask("q2", Concentrated("1/1000")))
        assert ledger.debit(ask("q2", Pure("1/10"), analyst="eve")).fresh
        ledger.verify()


@pytest.mark.parametrize("budget", [Privacy(21), Privacy(1, "1/2"), Privacy(rho=21), Privacy(mu=7)])
def test_a_budget_that_protects_nobody_must_be_insisted_upon(place, budget):
    with Ledger.create(place()) as ledger:
        with pytest.raises(BadParameter, match="protects hardly anybody"):
            ledger.grant(budget, dataset="data")
        assert ledger.balances() == []
        ledger.grant(Privacy(**budget.to_dict(), insist=True), dataset="data")
        assert ledger.budget_of("data") == budget


def test_failures_are_charged_in_every_currency(place, currency):
    with Ledger.create(place()) as ledger:
        ledger.grant(BUDGETS[currency], dataset="data")
        request = ask("q1", Pure("1/100"))
        ledger.reserve(request)
        before = ledger.left("data", "ada").used
        ledger.fail(request, floor="1/10")
        assert ledger.left("data", "ada").used > before
        ledger.clear("data", "ada")
        ledger.reserve(ask("q2", Pure("1/100")))
        ledger.fail(ask("q2", Pure("1/100")), floor=1)
        assert ledger.left("data", "ada").used == 1, "no more than there is"
        with pytest.raises(BudgetExceeded):
            ledger.debit(ask("q3", Pure("1e-6"), analyst="eve"))
        ledger.verify()


def test_the_history_of_a_dataset_is_in_its_own_terms(place):
    with Ledger.create(place()) as ledger:
        ledger.grant(Privacy(2, "1e-5"), dataset="data")
        ledger.grant(Privacy(1), dataset="other")
        for name, event in EVENTS.items():
            ledger.release(ask(name, event), lambda: 1)
        ledger.debit(ask("elsewhere", Pure("1/10"), "other"))
        ledger.reserve(ask("back", Pure("1/10")))
        ledger.cancel(ask("back", Pure("1/10")))
        ledger.debit(ask("bad", Pure("1/100")))
        ledger.fail(ask("bad", Pure("1/100")), floor="1/10")
        found = ledger.debits("data")
        assert [(each.request, each.state) for each in found] == [
            *((name, "answered") for name in EVENTS),
            ("back", "cancelled"),
            ("bad", "failed"),
            ("bad", "failed"),
        ]
        for each in found[:4]:
            assert each.event == EVENTS[each.request]
            assert each.cost == cost_of(each.event)
        assert [str(each.cost) for each in found[:4]] == ["ε = 1/10", "ε = 1/10, δ = 1e-08", "ρ = 0.001", "μ = 0.04472"]
        assert found[-1].floor == Fraction(1, 10)
        assert ledger.debits("nothing") == []
        assert Scope("data") in {each.scope for each in ledger.balances("data")}

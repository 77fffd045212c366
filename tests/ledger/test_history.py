import pytest

from leastnoise.accounting import Ledger, Pure, Request
from leastnoise.ledger import Scope, budget_histories, report as module
from leastnoise.model.privacy import Privacy

DAY = 86400
START = 1_700_000_000


@pytest.fixture
def days(tmp_path):
    """A ledger, and a function that spends ε on a day."""
    now = [START]
    with Ledger.create(tmp_path / "a.ledger", clock=lambda: now[0]) as ledger:

        def spend(day, epsilon, dataset="census", analyst="ada"):
            now[0] = START + day * DAY
            ledger.debit(Request(f"{day} {dataset} {epsilon}", Pure(epsilon), dataset=dataset, analyst=analyst))

        yield ledger, spend


def left(course):
    return [((moment.time - START) / DAY, round(moment.left, 9)) for moment in course.points]


def test_what_is_left_falls_with_every_debit(days):
    ledger, spend = days
    ledger.grant(Privacy(1), dataset="census")
    spend(1, "1/4")
    spend(3, "1/2")
    (course,) = budget_histories(ledger)
    assert course.scope == Scope("census")
    assert left(course) == [(0, 1), (1, 0.75), (3, 0.25), (3, 0.25)]
    assert left(budget_histories(ledger, until=START + 9 * DAY)[0])[-1] == (9, 0.25)


def test_the_end_agrees_with_the_balances(days):
    ledger, spend = days
    ledger.grant(Privacy(1, "1e-6"), dataset="census")
    ledger.grant(Privacy(2), dataset="other")
    ledger.grant(Privacy("1/2"), analyst="ada")
    spend(1, "1/8")
    spend(1, "1/4", dataset="other")
    spend(2, "1/8", analyst="ben")
    found = budget_histories(ledger)
    assert [course.scope for course in found] == [balance.scope for balance in ledger.balances()]
    for course, balance in zip(found, ledger.balances(), strict=True):
        assert course.points[-1].left == 1 - float(balance.left.used)


def test_a_budget_that_comes_back_is_full_at_its_renewal(days):
    ledger, spend = days
    ledger.grant(Privacy(1), dataset="census", refresh=10 * DAY)
    spend(2, "1/2")
    spend(34, "1/4")
    (course,) = budget_histories(ledger, until=START + 45 * DAY)
    assert left(course) == [(0, 1), (2, 0.5), (10, 1), (34, 0.75), (40, 1), (45, 1)]


def test_new_limits_do_not_count_as_a_renewal(days):
    ledger, spend = days
    ledger.grant(Privacy(1), dataset="census", refresh=10 * DAY)
    spend(2, "1/2")
    ledger.grant(Privacy(2), dataset="census", refresh=10 * DAY)
    spend(4, "1/2")
    assert left(budget_histories(ledger)[0]) == [(0, 1), (2, 0.5), (2, 0.75), (4, 0.5), (4, 0.5)]


def test_a_long_ledger_keeps_some_moments_and_its_end(days, monkeypatch):
    monkeypatch.setattr(module, "_MOST_POINTS", 5)
    ledger, spend = days
    ledger.grant(Privacy(1), dataset="census")
    for day in range(1, 21):
        spend(day, "1/40")
    (course,) = budget_histories(ledger)
    assert len(course.points) <= 6
    assert left(course)[-1] == (20, 0.5)


def test_a_ledger_without_budgets_has_no_course(days):
    assert budget_histories(days[0]) == []

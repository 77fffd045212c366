"""Opening: one account per dataset name, a budget that is granted once and never changed by opening."""

import shutil
from fractions import Fraction

import pytest

import leastnoise.release as ln
from leastnoise.accounting import Ledger
from leastnoise.errors import (
    BadParameter,
    BudgetChanged,
    BudgetExceeded,
    LedgerMissing,
    UncoveredDebit,
    UnknownLabel,
)
from leastnoise.ledger import PrivacyUnit
from leastnoise.model.privacy import Privacy
from support.processes import Child


def test_the_ledger_is_made_on_first_use_and_the_account_goes_on(people, tmp_path):
    place = tmp_path / "ledger"
    with ln.open(people[0], budget=1, ledger=place) as dataset:
        dataset.count().release("1/4")
    with ln.open(people[0], ledger=place) as dataset:
        assert dataset.budget == Privacy(1)
        assert dataset.left.epsilon == Fraction(3, 4)
    with ln.open(people[0], budget=1.0, ledger=place) as dataset:
        assert dataset.left.epsilon == Fraction(3, 4)


@pytest.mark.parametrize("budget", [2, "1/2", (1, "1e-6"), Privacy(3)])
def test_another_budget_is_refused_and_changes_nothing(people, tmp_path, budget):
    place = tmp_path / "ledger"
    ln.open(people[0], budget=1, ledger=place).close()
    with pytest.raises(BudgetChanged, match=r"ledger\.grant"):
        ln.open(people[0], budget=budget, ledger=place)
    with ln.open(people[0], ledger=place) as dataset:
        assert dataset.budget == Privacy(1)


def test_without_a_budget_one_must_have_been_granted(people, tmp_path):
    with pytest.raises(LedgerMissing, match="budget=1"):
        ln.open(people[0], ledger=tmp_path / "ledger")
    assert not list(tmp_path.iterdir())
    ln.open(people[0], budget=1, name="one", ledger=tmp_path / "ledger").close()
    with pytest.raises(UncoveredDebit, match="budget=1"):
        ln.open(people[0], name="another", ledger=tmp_path / "ledger")


def test_a_lost_ledger_is_not_replaced(people, tmp_path):
    place = tmp_path / "ledger"
    with ln.open(people[0], budget=1, ledger=place) as dataset:
        dataset.count().release(1)
    for part in tmp_path.glob("ledger*"):
        if not part.name.endswith(".witness"):
            part.unlink()
    with pytest.raises(OSError, match="witness"):
        ln.open(people[0], budget=1, ledger=place)


def test_the_default_ledger_is_in_the_environment_or_here(people, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LEASTNOISE_LEDGER", raising=False)
    ln.open(people[0], budget=1).close()
    assert (tmp_path / "leastnoise.ledger").exists()
    monkeypatch.setenv("LEASTNOISE_LEDGER", str(tmp_path / "elsewhere"))
    ln.open(people[0], budget=1).close()
    assert (tmp_path / "elsewhere").exists()


def test_the_same_name_is_the_same_account_whatever_the_path(people, tmp_path):
    copy = tmp_path / "copy.parquet"
    shutil.copy(people[0], copy)
    with ln.open(people[0], name="study", budget=1, ledger=tmp_path / "ledger") as dataset:
        dataset.count().release("1/4")
    with ln.open(copy, name="study", ledger=tmp_path / "ledger") as dataset:
        assert dataset.left.epsilon == Fraction(3, 4)


def test_an_open_ledger_stays_open(people, tmp_path):
    with Ledger.create(tmp_path / "ledger") as ledger:
        with ln.open(people[0], budget=1, ledger=ledger) as dataset:
            dataset.count().release("1/4")
        assert ledger.balances()[0].left.epsilon == Fraction(3, 4)


def test_bad_openings(people, tmp_path):
    with pytest.raises(UnknownLabel, match="'person'"):
        ln.open(people[0], privacy_unit="preson", budget=1, ledger=tmp_path / "ledger")
    with pytest.raises(BadParameter, match="need a unit"):
        ln.open(people[0], rows_per_unit=2, budget=1, ledger=tmp_path / "ledger")
    with pytest.raises(BadParameter, match="pair"):
        ln.open(people[0], budget=(1, 2, 3), ledger=tmp_path / "ledger")
    assert not (tmp_path / "ledger").exists()


def spend_all(report, path, place):
    """Ask for a quarter until nothing is left; how many answers there were."""
    answers = 0
    with ln.open(path, ledger=place) as dataset:
        while True:
            try:
                dataset.count().release("1/4")
            except BudgetExceeded:
                return answers
            answers += 1
            report(answers)


def test_two_processes_on_one_ledger_never_overspend(people, tmp_path):
    place = tmp_path / "ledger"
    ln.open(people[0], budget=3, ledger=place).close()
    children = [Child(spend_all, people[0], place) for _ in range(2)]
    assert sum(child.result() for child in children) == 12
    with Ledger.open(place) as ledger:
        assert ledger.balances()[0].spent.epsilon == 3
        ledger.verify()


def open_and_count(_, path, place):
    with ln.open(path, budget=1, ledger=place) as dataset:
        dataset.count().release("1/10")
    return True


def test_processes_that_open_for_the_first_time_at_once_share_one_account(people, tmp_path):
    place = tmp_path / "ledger"
    children = [Child(open_and_count, people[0], place) for _ in range(4)]
    assert all(child.result() for child in children)
    with Ledger.open(place) as ledger:
        (account,) = ledger.balances()
        assert ledger.privacy_unit("people") == PrivacyUnit(None)
    assert account.spent.epsilon == Fraction(4, 10)


def test_a_budget_for_persons_is_none_for_rows(people, tmp_path):
    ledger = tmp_path / "ledger"
    with ln.open(people[0], privacy_unit="person", budget=2, ledger=ledger) as dataset:
        dataset.count().release(1)
    for unit in (None, "sex"):
        with pytest.raises(BudgetChanged, match="another privacy unit"):
            ln.open(people[0], privacy_unit=unit, ledger=ledger)
    with ln.open(people[0], privacy_unit="person", ledger=ledger) as dataset:
        assert dataset.left.epsilon == 1
    with ln.open(people[0], name="rows", budget=1, ledger=ledger) as rows:
        assert rows.left.epsilon == 1


def test_a_budget_that_was_granted_beforehand_takes_the_unit_of_the_first_request(people, tmp_path):
    with Ledger.create(tmp_path / "ledger") as ledger:
        ledger.grant(Privacy(1), dataset="people")
        with ln.open(people[0], privacy_unit="person", ledger=ledger, name="people") as dataset:
            dataset.count().release("1/10")
        with pytest.raises(BudgetChanged):
            ln.open(people[0], ledger=ledger, name="people")

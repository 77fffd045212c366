"""Opening: one account per dataset name, a budget that is granted once and never changed by opening."""

import json
import shutil
from fractions import Fraction

import pyarrow.parquet as pq
import pytest

import leastnoise.release as ln
from leastnoise.accounting import Ledger
from leastnoise.data import open_table
from leastnoise.errors import (
    BadParameter,
    BudgetChanged,
    BudgetExceeded,
    Closed,
    ForeignProcess,
    LeastNoiseError,
    LedgerMissing,
    UncoveredDebit,
    UnknownLabel,
)
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


def kinds(place):
    with Ledger.open(place) as ledger:
        return [json.loads(row.body)["kind"] for row in ledger.entries()]


MISTAKES = {
    "nothing asked": lambda dataset: dataset.plan,
    "a bad ε": lambda dataset: dataset.count().release(0),
    "no ε at all": lambda dataset: dataset.count().release("much"),
    "a bad δ": lambda dataset: dataset.count().release(1, 2),
    "more than the budget": lambda dataset: dataset.count().release(2),
    "a bad id": lambda dataset: dataset.count().release(1, request_id=" "),
    "no such column": lambda dataset: dataset.count(by="town", keys=["Lyon"]).release(1),
    "keys of another kind": lambda dataset: dataset.count(by="age", keys=["Lyon"]).release(1),
    "a later key of another kind": lambda dataset: dataset.tables(
        by=["city", "sex", "age"], keys={"city": ["Lyon"], "sex": ["m"], "age": ["Metz"]}
    ).release(1),
    "unknown keys without δ": lambda dataset: dataset.count(by="city").release(1),
    "a filter that is none": lambda dataset: dataset.count(where="age >").release(1),
    "after close": lambda dataset: dataset.close() or dataset.count().release(1),
    "in a child": lambda dataset: Child(ask_in_a_child, dataset).result() and dataset.plan,
}


def ask_in_a_child(_, dataset):
    with pytest.raises(ForeignProcess):
        dataset.count().release(1)
    return True


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_grants_nothing_and_reserves_nothing(people, tmp_path, mistake):
    place = tmp_path / "ledger"
    with ln.open(people[0], privacy_unit="person", budget=1, ledger=place) as dataset:
        assert (dataset.budget, dataset.left.epsilon) == (Privacy(1), 1)
        with pytest.raises((LeastNoiseError, AttributeError)):
            mistake(dataset)
    assert kinds(place) == ["open"]
    # So another budget and another unit are still possible.
    with ln.open(people[0], budget=2, ledger=place) as dataset:
        assert dataset.budget == Privacy(2)
        dataset.count().release(1)
        assert dataset.left.epsilon == 1
    with pytest.raises(BudgetChanged):
        ln.open(people[0], privacy_unit="person", budget=1, ledger=place)


def test_a_closed_dataset_says_so(people, tmp_path):
    table = open_table(people[0])
    with Ledger.create(tmp_path / "ledger") as ledger:
        with ln.open(table, budget=1, ledger=ledger, name="p") as dataset:
            query = dataset.count()
        with pytest.raises(Closed):  # though neither table nor ledger were closed with it
            query.release(1)
        table.close()
        with pytest.raises(Closed):
            ln.open(table, budget=1, ledger=ledger, name="p")
        assert not ledger.balances()


def test_other_budgets_that_bind_show_before_the_first_question(people, tmp_path):
    with Ledger.create(tmp_path / "ledger") as ledger:
        ledger.grant(Privacy("1/2"), analyst="ada")
        ledger.grant(Privacy("1/4"), analyst="bob")
        with ln.open(people[0], budget=1, ledger=ledger, analyst="ada") as dataset:
            assert dataset.left.epsilon == Fraction(1, 2)


@pytest.mark.slow
def test_whoever_comes_second_meets_the_budget_of_the_first(people, tmp_path):
    """Both were opened before anything was granted; the ledger decides."""
    place = tmp_path / "ledger"
    with (
        ln.open(people[0], privacy_unit="person", budget=1, ledger=place) as first,
        ln.open(people[0], privacy_unit="person", budget=2, ledger=place) as other_budget,
        ln.open(people[0], budget=1, ledger=place) as other_unit,
        ln.open(people[0], privacy_unit="person", budget=1, ledger=place) as same,
    ):
        first.count().release("1/4")
        before = kinds(place)
        for late in (other_budget, other_unit):
            with pytest.raises(BudgetChanged):
                late.count().release("1/4")
        assert kinds(place) == before
        same.count().release("1/4")
        assert same.left.epsilon == first.left.epsilon == Fraction(1, 2)


def test_a_frame_needs_a_name(people, tmp_path):
    frame = pq.read_table(people[0])
    with pytest.raises(BadParameter, match='name="visits"'):
        ln.open(frame, budget=1, ledger=tmp_path / "ledger")
    with ln.open(frame, budget=1, ledger=tmp_path / "ledger", name="visits") as dataset:
        dataset.count().release(1)


def test_an_account_under_the_name_of_version_0_1_goes_on(people, tmp_path):
    place = tmp_path / "ledger"
    with Ledger.create(place) as ledger:
        ledger.grant(Privacy(1), dataset="people")  # as 0.1 called people.parquet
    with pytest.raises(BudgetChanged):
        ln.open(people[0], budget=2, ledger=place)
    with ln.open(people[0], budget=1, ledger=place) as dataset:
        dataset.count().release("1/2")
        assert dataset.name == "people"
    with ln.open(people[0], ledger=place, name="people") as dataset:
        assert dataset.left.epsilon == Fraction(1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("budget", [2, "1/2", (1, "1e-6"), Privacy(3)])
def test_another_budget_is_refused_and_changes_nothing(people, tmp_path, budget):
    place = tmp_path / "ledger"
    with ln.open(people[0], budget=1, ledger=place) as dataset:
        dataset.count().release("1/2")
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


@pytest.mark.slow
def test_two_processes_on_one_ledger_never_overspend(people, tmp_path):
    place = tmp_path / "ledger"
    with ln.open(people[0], budget=3, ledger=place) as dataset:
        dataset.count().release("1/4")
    children = [Child(spend_all, people[0], place) for _ in range(2)]
    assert sum(child.result() for child in children) == 11
    with Ledger.open(place) as ledger:
        assert ledger.balances()[0].spent.epsilon == 3
        ledger.verify()


def open_and_count(_, path, place):
    with ln.open(path, budget=1, ledger=place) as dataset:
        dataset.count().release("1/10")
    return True


@pytest.mark.slow
def test_processes_that_open_for_the_first_time_at_once_share_one_account(people, tmp_path):
    place = tmp_path / "ledger"
    children = [Child(open_and_count, people[0], place) for _ in range(4)]
    assert all(child.result() for child in children)
    with Ledger.open(place) as ledger:
        (account,) = ledger.balances()
        assert ledger.privacy_unit(str(people[0])).column is None
        ledger.verify()
    assert account.spent.epsilon == Fraction(4, 10)


@pytest.mark.slow
def test_a_budget_for_persons_is_none_for_rows(people, tmp_path):
    ledger = tmp_path / "ledger"
    with ln.open(people[0], privacy_unit="person", budget=2, ledger=ledger) as dataset:
        dataset.count().release(1)
    for unit in (None, "sex"):
        with pytest.raises(BudgetChanged, match="can't be used per row"):
            ln.open(people[0], privacy_unit=unit, ledger=ledger)
    with ln.open(people[0], privacy_unit="person", ledger=ledger) as dataset:
        assert dataset.left.epsilon == 1
    with ln.open(people[0], name="rows", budget=1, ledger=ledger) as rows:
        assert rows.left.epsilon == 1


def test_a_budget_that_was_granted_beforehand_takes_the_unit_of_the_first_opening(people, tmp_path):
    with Ledger.create(tmp_path / "ledger") as ledger:
        ledger.grant(Privacy(1), dataset="people")
        with ln.open(people[0], privacy_unit="person", ledger=ledger, name="people") as dataset:
            dataset.count().release("1/2")
        with pytest.raises(BudgetChanged, match="can't be used per row"):
            ln.open(people[0], ledger=ledger, name="people")


@pytest.mark.parametrize("budget", [21, (1, "1/2"), Privacy(rho=21), Privacy(mu=7)], ids=str)
def test_a_budget_that_protects_hardly_anybody_must_be_insisted_upon(people, tmp_path, budget):
    with pytest.raises(BadParameter, match="insist"):
        ln.open(people[0], budget=budget, ledger=tmp_path / "ledger")
    assert not (tmp_path / "ledger").exists()
    ln.open(people[0], budget=Privacy(21, insist=True), ledger=tmp_path / "ledger").close()

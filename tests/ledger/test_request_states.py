"""Failures, interruptions, openings and long answers: in whatever order they come, the ledger stays right."""

import json
import sqlite3
from contextlib import closing
from fractions import Fraction
from itertools import pairwise

import pytest

from leastnoise.accounting import (
    INTERRUPTIONS,
    Concentrated,
    Ledger,
    Opening,
    PrivacyUnit,
    Pure,
    Request,
    Scope,
)
from leastnoise.errors import (
    BadParameter,
    BudgetChanged,
    BudgetExceeded,
    DatasetSuspended,
    LedgerDamaged,
    RequestConflict,
    UncoveredDebit,
)
from leastnoise.exact import SeededSource
from leastnoise.ledger import session as request_steps
from leastnoise.ledger.chain import link
from leastnoise.ledger.record import canonical
from leastnoise.ledger.session import Ticket, advance
from leastnoise.model.privacy import Privacy


@pytest.fixture
def ledger(place):
    with Ledger.create(place()) as made:
        made.grant(Privacy(1), dataset="census")
        yield made


def ask(name, epsilon="1/4", dataset="census", analyst="ada", **parameters):
    return Request(name, Pure(epsilon), dataset=dataset, analyst=analyst, parameters=parameters)


def spent(ledger, **scope):
    scope = Scope(**(scope or {"dataset": "census"}))
    return next(balance.spent.epsilon for balance in ledger.balances() if balance.scope == scope)


def kinds(ledger):
    return [json.loads(row.body)["kind"] for row in ledger.entries()]


# ------------------------------------------------------------------ any order of steps

STEPS = ("reserve", "debit", "commit", "cancel", "interrupt", "record", "fail", "clear", "reopen")
PRICE, FLOOR = Fraction(1, 100), Fraction(1, 50)
BECOMES = {  # what each step makes of each state, where it is not refused
    **{(state, step): "reserved" for state in (None, "cancelled", "reserved") for step in ("reserve",)},
    **{(state, "debit"): "committed" for state in (None, "cancelled", "reserved", "committed")},
    **{(state, "commit"): "committed" for state in ("reserved", "committed")},
    **{("committed", step): "committed" for step in ("reserve", "interrupt")},
    **{(state, step): "cancelled" for state in ("reserved", "cancelled") for step in ("cancel", "interrupt")},
    ("committed", "record"): "answered",
    **{("answered", step): "answered" for step in ("reserve", "debit", "commit", "record", "interrupt", "fail")},
    **{("failed", step): "failed" for step in ("reserve", "debit", "commit", "interrupt", "fail")},
    **{(state, "fail"): "failed" for state in ("reserved", "committed", "cancelled")},
}


class Model:
    """What the ledger should be, kept in the simplest way."""

    def __init__(self):
        self.states, self.charged, self.answers = {}, {}, {}
        self.failures = self.interruptions = 0

    @property
    def suspended(self):
        return self.failures > 0 or self.interruptions >= INTERRUPTIONS

    def step(self, name, step, answer):
        """The state and answer that follow, or the error."""
        state = self.states.get(name)
        if (state, step) not in BECOMES:
            return RequestConflict
        if self.suspended and step in ("reserve", "debit") and state not in ("answered", "failed"):
            return DatasetSuspended
        after = self.states[name] = BECOMES[state, step]
        paid = self.charged.get(name, 0)
        if step == "fail":
            if state == "failed" and self.suspended:
                return after, None
            self.failures += 1
            self.charged[name] = {"failed": paid, "answered": paid + FLOOR - PRICE}.get(state, FLOOR)
        elif after == "cancelled":
            self.charged[name] = 0
        elif state in (None, "cancelled"):
            self.charged[name] = PRICE
        if step == "interrupt":
            self.interruptions += 1
        if after == "answered" and step != "cancel":
            return after, self.answers.setdefault(name, answer)
        return after, None


def take(ledger, name, step, answer):
    request = ask(name, PRICE)
    if step == "record":
        return "answered", ledger.record(request, answer)
    if step == "fail":
        receipt = ledger.fail(request, FLOOR)
    elif step == "interrupt":
        receipt = ledger.cancel(request, interrupted=True)
    else:
        receipt = getattr(ledger, step)(request)
    return receipt.state, receipt.answer


@pytest.mark.slow
def test_any_order_of_steps(place, monkeypatch):
    """Thousands of steps at random on a few requests, against the model; everything verifies in the end."""
    monkeypatch.setattr(request_steps, "_PART", 10)
    source, model, reached = SeededSource(11), Model(), set()
    ledger = Ledger.create(place())
    ledger.grant(Privacy(10**6, insist=True), dataset="census")
    for turn in range(700):
        step = STEPS[source.bits(16) % len(STEPS)]
        name = f"q{turn // 60}.{source.bits(2)}"
        if step == "clear" or (model.suspended and source.bits(2) == 0):
            assert (ledger.clear("census", "ada") is None) == (model.failures + model.interruptions == 0)
            model.failures = model.interruptions = 0
        elif step == "reopen":
            ledger.close()
            ledger = Ledger.open(place())
        else:
            answer = "x" * (source.bits(7) % 40) + str(turn)
            expected = model.step(name, step, answer)
            if isinstance(expected, tuple):
                assert take(ledger, name, step, answer) == expected, (turn, step, name)
                reached.add((expected[0], step))
            else:
                with pytest.raises(expected):
                    take(ledger, name, step, answer)
        if turn % 50 == 0:
            assert spent(ledger) == sum(model.charged.values())
    assert spent(ledger) == sum(model.charged.values())
    assert ledger.verify().requests == len(model.states)
    assert reached == {(after, step) for (_, step), after in BECOMES.items()}
    with Ledger.open(place()) as again:
        assert spent(again) == sum(model.charged.values())
        assert again.suspensions() == ledger.suspensions()
    ledger.close()


# ------------------------------------------------------------------ failures


def test_a_failure_is_charged_and_suspends_until_it_is_cleared(ledger, place):
    ledger.release(ask("answered", "1/10"), lambda: 5)
    ledger.reserve(ask("waiting", "1/10"))
    ledger.reserve(ask("q1", "1/100"))
    assert ledger.fail(ask("q1", "1/100"), floor="1/10").state == "failed"
    with Ledger.open(place()) as other:
        for each in (ledger, other):
            assert spent(each) == Fraction(3, 10)
            for step in (each.reserve, each.debit):
                for name in ("q2", "waiting"):
                    with pytest.raises(DatasetSuspended, match="leastnoise budget clear census --analyst ada"):
                        step(ask(name, "1/10"))
            assert each.release(ask("answered", "1/10"), lambda: 6) == 5, "a recorded answer costs and reads nothing"
            assert each.reserve(ask("q1", "1/100")).state == "failed"
            assert each.commit(ask("q1", "1/100")).state == "failed"
            with pytest.raises(RequestConflict, match="failed before"):
                each.release(ask("q1", "1/100"), lambda: pytest.fail("it was drawn"))
            with pytest.raises(RequestConflict, match="failed can't answer"):
                each.record(ask("q1", "1/100"), 1)
        (found,) = other.suspensions()
        assert (found.dataset, found.analyst, found.failures, found.holds) == ("census", "ada", 1, True)
        other.debit(ask("of eve", "1/10", analyst="eve"))
        assert other.clear("census", "ada") == found
        assert other.clear("census", "ada") is None
    assert ledger.suspensions() == []
    assert ledger.debit(ask("waiting", "1/10")).state == "committed"
    assert ledger.reserve(ask("q1", "1/100")).state == "failed", "it stays failed, and no data is read again"
    ledger.verify()


@pytest.mark.parametrize("spent_before", ["1/100", "19/20", "99/100", "1"])
@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_a_failure_is_charged_the_floor_or_what_is_left(place, spent_before, delta):
    price = Fraction(1, 100)
    with Ledger.create(place()) as ledger:
        ledger.grant(Privacy(1, delta), dataset="census")
        ledger.grant(Privacy(2), dataset="census", analyst="ada")
        ledger.reserve(ask("q1", price))
        if Fraction(spent_before) > price:
            ledger.debit(ask("before", Fraction(spent_before) - price))
        ledger.fail(ask("q1", price), floor="1/10")
        due = Fraction(spent_before) + Fraction(9, 100)
        assert spent(ledger, dataset="census", analyst="ada") == due
        if delta == "0":
            assert spent(ledger) == min(due, 1)
        left = ledger.left("census", "eve").epsilon
        if left:
            ledger.debit(ask("rest", left, analyst="eve"))
        with pytest.raises(BudgetExceeded):
            ledger.debit(ask("more", "1/1000", analyst="eve"))
        ledger.verify()


def test_a_failure_is_charged_to_a_budget_that_was_granted_meanwhile(ledger):
    """Its commitment would be refused. A failure never is: the data was seen."""
    price = Request("q1", Concentrated("1/20"), dataset="medical", analyst="ada")
    ledger.grant(Privacy(2, "1e-6"), dataset="medical")
    ledger.reserve(price)
    ledger.grant(Privacy("1/4"), dataset="medical", analyst="ada")
    with pytest.raises(RequestConflict, match="other budgets"):
        ledger.commit(price)
    assert ledger.fail(price, floor="1/10").state == "failed"
    assert spent(ledger, dataset="medical", analyst="ada") == Fraction(1, 4), "all that there was"
    ledger.clear("medical", "ada")
    with pytest.raises(BudgetExceeded):
        ledger.debit(ask("q2", "1/1000", dataset="medical"))
    ledger.verify()


@pytest.mark.parametrize("floor", [0, -1, "nan", "inf", None, "1e-30"])
def test_a_floor_is_an_epsilon(ledger, floor):
    ledger.reserve(ask("q1"))
    with pytest.raises(BadParameter):
        ledger.fail(ask("q1"), floor=floor)
    assert ledger.suspensions() == []


def test_only_what_was_reserved_can_fail(ledger):
    for step in (lambda: ledger.fail(ask("q1"), floor="1/10"), lambda: ledger.cancel(ask("q1"), interrupted=True)):
        with pytest.raises(RequestConflict, match="reserved or debited"):
            step()
    assert kinds(ledger) == ["open", "grant"]


# ------------------------------------------------------------------ interruptions


def test_interruptions_give_the_price_back_and_are_counted(ledger):
    for turn in range(INTERRUPTIONS):
        assert ledger.reserve(ask("q1")).fresh, turn
        assert ledger.cancel(ask("q1"), interrupted=True).state == "cancelled"
        assert spent(ledger) == 0
    with pytest.raises(DatasetSuspended, match="3 interrupted"):
        ledger.reserve(ask("q1"))
    ledger.clear("census", "ada")
    for _ in range(INTERRUPTIONS - 1):
        ledger.reserve(ask("q1"))
        ledger.cancel(ask("q1"), interrupted=True)
    assert ledger.reserve(ask("q1")).fresh
    ledger.verify()


def test_an_interruption_counts_in_whatever_state_the_request_is(ledger):
    """Else "does it take longer than T?" could be asked again and again under one id that was debited once."""
    ledger.debit(ask("q1"))
    for _ in range(INTERRUPTIONS):
        assert ledger.cancel(ask("q1"), interrupted=True).state == "committed"
    assert spent(ledger) == Fraction(1, 4)
    with pytest.raises(DatasetSuspended):
        ledger.debit(ask("q1"))


# ------------------------------------------------------------------ openings


def test_the_first_admitted_request_fixes_budget_and_unit(place):
    opening = Opening(Privacy(1, "1e-6"), "person")
    with Ledger.create(place()) as ledger:
        assert ledger.left("census", "ada", opening=opening).epsilon >= 1
        ledger.check_opening("census", opening)
        with pytest.raises(UncoveredDebit):
            ledger.left("census", "ada")
        ledger.grant(Privacy("1/2"), analyst="ada")
        for refused in (ask("q0", 3, analyst="eve"), ask("q0", "3/4")):
            with pytest.raises(BudgetExceeded):
                ledger.reserve(refused, opening)
        with pytest.raises(UncoveredDebit):
            ledger.reserve(ask("q0"), Opening(None, "person"))
        assert kinds(ledger) == ["open", "grant"], "what is refused fixes nothing"
        assert ledger.budget_of("census") is None
        assert ledger.privacy_unit("census") is None
        assert ledger.reserve(ask("q1"), opening).fresh
        assert kinds(ledger) == ["open", "grant", "grant", "dataset", "reserve"]
        assert ledger.budget_of("census") == Privacy(1, "1e-6")
        assert ledger.privacy_unit("census") == PrivacyUnit("person")
        assert len(ledger.balances()) == 2, "a unit is no budget"
        ledger.reserve(ask("q2"), opening)
        ledger.reserve(ask("q2"), Opening(None, "person"))
        assert kinds(ledger)[5:] == ["reserve"]
        for other in (Opening(Privacy(2), "person"), Opening(None, None), Opening(None, "row")):
            for check in (lambda other=other: ledger.reserve(ask("q3"), other),
                          lambda other=other: ledger.check_opening("census", other)):  # fmt: skip
                with pytest.raises(BudgetChanged):
                    check()
        assert kinds(ledger)[6:] == []
        ledger.verify()


def test_a_refused_opening_leaves_the_others_of_its_batch_alone(ledger):
    opening = Opening(Privacy(1), "person")
    refused = Ticket(lambda context: advance(context, ask("q1", 3, dataset="new"), "reserve", opening=opening))
    admitted = Ticket(lambda context: advance(context, ask("q2"), "debit"))
    ledger._session._run_batch([refused, admitted])
    assert isinstance(refused.error, BudgetExceeded)
    assert admitted.result.fresh
    assert kinds(ledger) == ["open", "grant", "debit"]


def test_what_is_refused_half_way_leaves_nothing(ledger):
    def work(context):
        advance(context, ask("q1"), "debit")
        advance(context, ask("q2", 3), "debit")

    with pytest.raises(BudgetExceeded):
        ledger._session.write(work)
    assert kinds(ledger) == ["open", "grant"]
    assert spent(ledger) == 0
    ledger.verify()


def test_a_budget_that_was_granted_before_takes_the_unit_of_the_first_request(ledger):
    ledger.reserve(ask("q1"), Opening(None, None))
    assert ledger.privacy_unit("census") == PrivacyUnit(None)
    assert kinds(ledger) == ["open", "grant", "dataset", "reserve"]
    with pytest.raises(BudgetChanged, match="single rows"):
        ledger.reserve(ask("q2"), Opening(None, "person"))


def test_a_suspended_analyst_opens_no_dataset(ledger):
    ledger.reserve(ask("q1"))
    ledger.fail(ask("q1"), floor="1/10")
    with pytest.raises(DatasetSuspended):
        ledger.reserve(ask("q2"), Opening(None, "person"))
    assert ledger.privacy_unit("census") is None


@pytest.mark.parametrize("purpose", ["privacy unit: row", "privacy unit: 'person'", "privacy unit: "])
def test_nobody_uses_the_purposes_of_old_units(ledger, purpose):
    with pytest.raises(BadParameter):
        ledger.grant(Privacy(1), dataset="census", purpose=purpose)
    with pytest.raises(BadParameter):
        Request("q", Pure(1), dataset="census", analyst="ada", purpose=purpose)


# ------------------------------------------------------------------ long answers


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 3, (1 << 20) - 2, (1 << 20) - 1, 3 << 20])
def test_an_answer_of_any_length_comes_back(ledger, place, size):
    answer = {"cells": ["é" * 3, '\\"\n', 0.1, None], "text": "x" * size}
    assert ledger.release(ask("q1"), lambda: answer) == answer
    with Ledger.open(place()) as other:
        assert other.release(ask("q1"), lambda: "drawn again") == answer
        assert other.debit(ask("q1")).answer == answer
    assert ledger.verify().requests == 1


def test_every_length_of_a_part(ledger, monkeypatch):
    monkeypatch.setattr(request_steps, "_PART", 7)
    ledger.grant(Privacy(100, insist=True), dataset="census")
    for length in range(40):
        assert ledger.release(ask(f"q{length}"), lambda length=length: "y" * length) == "y" * length
    for length in range(40):
        assert ledger.release(ask(f"q{length}"), lambda: "drawn again") == "y" * length
    entries = [json.loads(row.body) for row in ledger.entries()]
    parts = [entry for entry in entries if "parts" in entry]
    assert all(b["part"] in (a["part"] + 1, 1) for a, b in pairwise(parts))
    assert max(entry["parts"] for entry in parts) == 6
    ledger.verify()


def test_no_error_about_an_answer_tells_its_length(ledger):
    ledger.debit(ask("q1"))
    texts = set()
    for size in (1, 10**6):
        with pytest.raises(BadParameter) as caught:
            ledger.record(ask("q1"), ["x" * size, float("nan")])
        texts.add(str(caught.value))
    assert len(texts) == 1


# ------------------------------------------------------------------ what could not have happened

WHO = {"analyst": "ada", "request": "q1"}
EVE = {"analyst": "eve", "request": "q1"}
GRANT = {"analyst": None, "dataset": "census", "delta": "0", "epsilon": "1", "event_delta": "0", "refresh": None}
IMPOSSIBLE = [
    [{"kind": "debit", "again": "q9"}],
    [{"kind": "reserve", "again": "q9"}],
    [{"kind": "reserve", "again": "q9", "analyst": "eve", "purpose": "privacy unit: row"}],
    [{"kind": "dataset", "dataset": "census", "unit": None}],
    [{"kind": "dataset", "dataset": "census", "unit": "person"}],
    [{"kind": "grant", **GRANT, "purpose": "privacy unit: row"}],
    [{"kind": "commit", **WHO}],
    [{"kind": "cancel", **WHO}],
    [{"kind": "answer", **WHO, "answer": 1}],
    [{"kind": "commit", **WHO, "request": "q8"}],
    [{"kind": "cancel", **WHO, "request": "q8", "dataset": "census", "interrupted": True}],
    [{"kind": "fail", "again": "q8"}],
    [{"kind": "fail", "again": "q1", "floor": "-1"}],
    [{"kind": "cancel", **EVE, "request": "held", "dataset": "other", "interrupted": True}],
    [{"kind": "answer", **EVE, "part": 2, "parts": 2, "text": "1"}],
    [{"kind": "answer", **EVE, "part": 1, "parts": 1, "text": "1"}],
    [{"kind": "answer", **EVE, "part": 1, "parts": 2, "text": "1"}],
    [{"kind": "answer", **EVE, "part": 1, "parts": 2, "text": "1"}, {"kind": "clear", "dataset": "a", "analyst": "b"}],
    [{"kind": "answer", **EVE, "part": 1, "parts": 2, "text": "1"}, {"kind": "answer", **EVE, "answer": 1}],
    [
        {"kind": "answer", **EVE, "part": 1, "parts": 3, "text": "1"},
        {"kind": "answer", **EVE, "part": 2, "parts": 2, "text": "1"},
    ],
    [{"kind": "open", "ledger": "a", "version": 2}],
    [{"kind": "version", "version": 2}],
]


@pytest.mark.parametrize("forged", IMPOSSIBLE)
def test_entries_that_could_not_have_happened_are_found_though_every_hash_fits(tmp_path, forged):
    """Eve has a debit and a reservation; ada's only request failed, so she is suspended."""
    with Ledger.create(tmp_path / "a.ledger") as ledger:
        ledger.grant(Privacy(1), dataset="census")
        ledger.reserve(ask("q1", "1/10"), Opening(None, "person"))
        ledger.fail(ask("q1", "1/10"), floor="1/10")
        ledger.debit(ask("q1", "1/10", analyst="eve"))
        ledger.reserve(ask("held", "1/10", analyst="eve"))
        ledger.verify()
        rows = list(ledger.entries())
    spending = next(json.loads(row.body) for row in rows if '"kind":"fail"' in row.body)
    with closing(sqlite3.connect(tmp_path / "a.ledger")) as connection, connection:
        seq, head = len(rows), rows[-1].hash
        for fields in forged:
            again = fields.get("again")
            entry = (spending | {"request": again} if again else {}) | fields | {"seq": seq + 1, "time": 2**36}
            entry.pop("again", None)
            body = canonical(entry)
            seq, head = seq + 1, link(head, body)
            connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (seq, body, head))
    with pytest.raises(LedgerDamaged, match=rf"at entry ({seq}|{seq + 1}: the rest of an answer)"):
        Ledger.open(tmp_path / "a.ledger", renew_witness=True)


def test_an_id_that_was_turned_into_another_question_is_found_by_verification(tmp_path):
    with Ledger.create(tmp_path / "a.ledger") as ledger:
        ledger.grant(Privacy(1), dataset="census")
        ledger.reserve(ask("q1"))
        ledger.cancel(ask("q1"))
        rows = list(ledger.entries())
    entry = json.loads(rows[2].body) | {"seq": 5, "time": 2**36, "fingerprint": "0" * 64}
    body = canonical(entry)
    with closing(sqlite3.connect(tmp_path / "a.ledger")) as connection, connection:
        connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (5, body, link(rows[-1].hash, body)))
    with (
        Ledger.open(tmp_path / "a.ledger") as ledger,
        pytest.raises(LedgerDamaged, match=r"entry 5: .*another question"),
    ):
        ledger.verify()

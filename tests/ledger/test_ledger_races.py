"""Many processes at once: never one debit too many, and none lost."""

import json
from fractions import Fraction

import pytest

from leastnoise.accounting import Ledger, Pure, Request, Scope
from leastnoise.errors import BudgetExceeded
from leastnoise.model.privacy import Privacy
from support.processes import Child

PROCESSES, DEBITS, ROOM = 8, 500, 3500


def debit_all(_, place, who):
    granted = []
    with Ledger.open(place()) as ledger:
        for i in range(DEBITS):
            try:
                receipt = ledger.debit(Request(f"{who} {i}", Pure(Fraction(1, ROOM)), dataset="census", analyst="ada"))
            except BudgetExceeded:
                continue
            assert receipt.fresh
            granted.append(f"{who} {i}")
    return granted


@pytest.mark.slow
def test_eight_processes_debit_at_once(place):
    with Ledger.create(place()) as ledger:
        ledger.grant(Privacy(1), dataset="census")
    children = [Child(debit_all, place, who) for who in range(PROCESSES)]
    granted = [request for child in children for request in child.result()]
    assert len(granted) == ROOM, "exactly as many as the budget covers"
    with Ledger.open(place()) as ledger:
        assert ledger.verify().requests == ROOM
        assert ledger.balances()[0].spent.epsilon == 1
        entries = [json.loads(row.body) for row in ledger.entries()]
        stored = {entry["request"] for entry in entries if "request" in entry}
        assert stored == set(granted), "every debit that was granted is stored, and no other"


def answer_same(_, place, who):
    with Ledger.open(place()) as ledger:
        return [
            ledger.release(Request(f"q{i}", Pure("1/100"), dataset="census", analyst="ada"), lambda: who)
            for i in range(25)
        ]


@pytest.mark.slow
def test_processes_that_ask_the_same_share_one_answer_and_one_debit(place):
    with Ledger.create(place()) as ledger:
        ledger.grant(Privacy("1/4"), dataset="census")
    children = [Child(answer_same, place, who) for who in range(4)]
    answers = [child.result() for child in children]
    assert all(each == answers[0] for each in answers)
    with Ledger.open(place()) as ledger:
        assert next(b for b in ledger.balances() if b.scope == Scope("census")).spent.epsilon == Fraction(1, 4)
        ledger.verify()

"""kill -9 at every boundary: never an answer without its debit, and after it the ledger opens and verifies."""

import json
import signal
import time
from fractions import Fraction

import pytest

from leastnoise.accounting import Ledger, Pure, Request
from leastnoise.exact import SeededSource
from leastnoise.model.privacy import Privacy
from support.processes import Child, kill_myself

ROUNDS = 200
PRICE = Fraction(1, 1000)


def request_of(number):
    return Request(f"q{number}", Pure(PRICE), dataset="census", analyst="ada")


class Fuse:
    """Kills the process when it is burnt down."""

    def __init__(self, length):
        self.left = length

    def burn(self, *_):
        self.left -= 1
        if self.left < 0:
            kill_myself()


def release_step_by_step(report, place, number, fuse):
    """One release in its single steps, and at the end the answer is published. The fuse burns at every boundary."""
    ledger = Ledger.open(place())
    connection = getattr(ledger._session.store, "_connection", None)
    if hasattr(connection, "set_trace_callback"):
        connection.set_trace_callback(fuse.burn)  # as every single statement begins
    request = request_of(number)
    fuse.burn()
    ledger.reserve(request)
    fuse.burn()
    ledger.commit(request)
    fuse.burn()
    answer = [number, "noise"]
    fuse.burn()
    answer = ledger.record(request, answer)
    fuse.burn()
    report(("published", number, answer))
    fuse.burn()


def check_after(place, published, touched):
    """What must hold whatever was killed where."""
    with Ledger.open(place()) as ledger:
        ledger.verify()
        entries = [json.loads(row.body) for row in ledger.entries()]
        debited = {entry["request"] for entry in entries if entry["kind"] in ("reserve", "debit")}
        answers = {entry["request"]: entry["answer"] for entry in entries if entry["kind"] == "answer"}
        for number, answer in published.items():
            assert f"q{number}" in debited, "an answer without its debit"
            assert answers[f"q{number}"] == answer
        assert ledger.balances()[0].spent.epsilon == len(debited) * PRICE
        assert debited <= {f"q{number}" for number in touched}


@pytest.mark.slow
def test_kill_at_each_step_boundary(place):
    with Ledger.create(place()) as ledger:
        ledger.grant(Privacy(1), dataset="census")
    published, touched, length, survived = {}, set(), 0, 0
    for number in range(ROUNDS):
        touched.add(number)
        code, reports = Child(release_step_by_step, place, number, Fuse(length)).join()
        assert code in (0, -signal.SIGKILL)
        published |= {each[1]: each[2] for each in reports if each[0] == "published"}
        length, survived = (0, survived + 1) if code == 0 else (length + 1, survived)
        if number % 10 == 0 or code == 0:
            check_after(place, published, touched)
    assert survived >= 2, "the fuse went through every boundary, from the first to beyond the last"
    check_after(place, published, touched)
    with Ledger.open(place()) as ledger:  # whoever asks again gets the recorded answer, or finishes what was begun
        for number in touched:
            ledger.debit(request_of(number))
            answer = ledger.record(request_of(number), [number, "again"])
            assert answer == published.get(number, answer)
        assert ledger.balances()[0].spent.epsilon == ROUNDS * PRICE, "none lost, none twice"
        ledger.verify()


def release_without_end(report, place, start):
    with Ledger.open(place()) as ledger:
        for number in range(start, start + 10_000):
            report(("published", number, ledger.release(request_of(number), lambda number=number: [number])))


@pytest.mark.slow
def test_kill_at_any_moment(place):
    source = SeededSource(3)
    with Ledger.create(place()) as ledger:
        ledger.grant(Privacy(10**6, insist=True), dataset="census")
    published = {}
    for turn in range(12):
        child = Child(release_without_end, place, turn * 10_000)
        time.sleep(0.03 + source.bits(6) / 1000)
        child.kill()
        code, reports = child.join()
        assert code == -signal.SIGKILL
        published |= {number: answer for _, number, answer in reports}
        check_after(place, published, range(turn * 10_000 + 10_000))
    assert published


@pytest.mark.parametrize("boundary", ["reserved", "committed", "answered"])
def test_where_a_crash_leaves_a_request(place, boundary):
    """After a crash the same id goes on from where it was, at no further cost."""

    def crash(_):
        ledger = Ledger.open(place())
        ledger.reserve(request_of(1))
        if boundary != "reserved":
            ledger.commit(request_of(1))
        if boundary == "answered":
            ledger.record(request_of(1), "first")
        kill_myself()

    with Ledger.create(place()) as ledger:
        ledger.grant(Privacy(1), dataset="census")
    assert Child(crash).join()[0] == -signal.SIGKILL
    with Ledger.open(place()) as ledger:
        expected = "first" if boundary == "answered" else "second"
        assert ledger.release(request_of(1), lambda: "second") == expected
        assert ledger.balances()[0].spent.epsilon == PRICE

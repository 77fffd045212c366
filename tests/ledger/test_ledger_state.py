"""Reading stored entries: the quick way, which reads what repeats only once, does what the slow way does."""

import json
import re
from itertools import accumulate

import pytest

from leastnoise.accounting import Approximate, Ledger, Opening, Pure, Request
from leastnoise.errors import LedgerDamaged
from leastnoise.exact import SeededSource
from leastnoise.ledger import ledger_state
from leastnoise.ledger.chain import START, link
from leastnoise.ledger.ledger_state import LedgerState
from leastnoise.model.privacy import Privacy


class SlowState(LedgerState):
    """Reads every entry as JSON and applies the rules, entry by entry."""

    def _spend_again(self, seq, body):  # noqa: ARG002
        return False


def ask(name, event, analyst, dataset, purpose):
    return Request(name, event, dataset=dataset, analyst=analyst, purpose=purpose)


@pytest.fixture(scope="module")
def bodies(tmp_path_factory):
    """A few hundred entries of every kind, with plain and other names, budgets that come back, and suspensions."""
    source, now = SeededSource(5), [10**9]
    with Ledger.create(tmp_path_factory.mktemp("ledger") / "a.ledger", clock=lambda: now[0]) as ledger:
        ledger.grant(Privacy(10, "1e-3"), dataset="census")
        ledger.grant(Privacy(10), dataset="monthly", refresh=100)
        ledger.grant(Privacy(5), dataset="monthly", analyst="ada")
        ledger.grant(Privacy(8, "1e-3"), purpose="fun")
        events = [Pure("1/100"), Pure("ln(2)/100"), Approximate("1/100", "1e-6")]
        for number in range(200):
            now[0] += source.bits(3)
            rare = source.bits(3)
            dataset = "monthly" if rare == 0 else "census"
            name = f'"é\\{number}' if rare == 1 else f"q{number}"
            event = events[1] if rare == 2 else events[2] if rare == 3 else events[0]
            purpose = ("fun", "ü", "any", "any")[source.bits(2)]
            request = ask(name, event, "eve" if rare == 4 else "ada", dataset, purpose)
            step = source.bits(4)
            if step < 8:
                ledger.release(request, lambda number=number: {"value": number})
                continue
            ledger.reserve(request, Opening(None, None))
            if step < 10:
                ledger.cancel(request)
                ledger.debit(request)
            elif step < 12 and number % 10 == 0:
                ledger.cancel(request, interrupted=True)
            elif step < 14 and number % 10 == 0:
                ledger.fail(request, floor="1/100")
            elif step < 15:
                ledger.commit(request)
            for suspension in ledger.suspensions():
                if suspension.holds:
                    ledger.clear(suspension.dataset, suspension.analyst)
        return [row.body for row in ledger.entries()]


def chained(bodies):
    """The rows of these texts, with hashes that fit."""
    hashes = accumulate(bodies, link, initial=START.hash)
    next(hashes)
    return [(seq, body, found) for seq, (body, found) in enumerate(zip(bodies, hashes, strict=True), start=1)]


def outcome(kind, rows):
    """All that the entries add up to, or what is wrong with them."""
    state = kind()
    try:
        state.follow(rows)
    except LedgerDamaged as error:
        return str(error)
    budgets = {scope: (budget.account.spent, budget.period) for scope, budget in state.budgets.items()}
    held = {key: (each.dataset, each.analyst, each.purpose, each.cost) for key, each in state._held.items()}
    return budgets, state.requests._known, held, state.suspensions.all(), state.time, state.head, state.units


@pytest.mark.slow
def test_the_quick_way_is_taken_and_agrees(bodies):
    rows = chained(bodies)
    expected = outcome(SlowState, rows)
    taken = []

    class Counting(LedgerState):
        def _spend_again(self, seq, body):
            done = super()._spend_again(seq, body)
            taken.append(done)
            return done

    assert outcome(Counting, rows) == expected
    assert not isinstance(expected, str)
    assert sum(taken) > 40
    kinds = {json.loads(body)["kind"] for body in bodies}
    assert kinds == {"open", "grant", "dataset", "debit", "reserve", "commit", "cancel", "answer", "fail", "clear"}


def edits(bodies, source):
    """What someone who can compute hashes may do: members, characters and entries changed, moved, doubled, removed."""
    for _ in range(200):
        changed = list(bodies)
        place = 1 + source.bits(30) % (len(bodies) - 1)
        other = 1 + source.bits(30) % (len(bodies) - 1)
        how, entry = source.bits(3), json.loads(bodies[place])
        member = sorted(entry)[source.bits(20) % len(entry)]
        if how == 0:
            entry[member] = json.loads(bodies[other]).get(member, "other")
        elif how == 1:
            entry[member] = (0, -1, "", None, "x", 2**70, [], 1.5)[source.bits(3)]
        elif how == 2:
            del entry[member]
        if how < 3:
            changed[place] = json.dumps(entry, sort_keys=True, separators=(",", ":"))
        elif how < 6:
            where = source.bits(30) % len(bodies[place])
            put = ("", '"', "\\", "{", "}", "0", ",", '","kind":"debit')[source.bits(3)]
            changed[place] = bodies[place][:where] + put + bodies[place][where + source.bits(1) :]
        elif how == 6:
            changed[place] = bodies[other]
        else:
            changed.insert(place, re.sub(r'"seq":\d+', f'"seq":{place + 1}', bodies[other]))
        yield changed


@pytest.mark.slow
def test_the_quick_way_agrees_on_whatever_somebody_wrote(bodies):
    rejected = 0
    for changed in edits(bodies, SeededSource(11)):
        rows = chained(changed)
        expected = outcome(SlowState, rows)
        assert outcome(LedgerState, rows) == expected
        rejected += isinstance(expected, str)
    assert 100 < rejected < 200


NESTED = '{"analyst":"ada","cost":["1/50","0","1/5000","1/2500"],"dataset":"census","event":{"epsilon":"1/50"'


def test_a_beginning_that_ends_inside_of_something_is_never_taken_up(bodies):
    """Its end would close another object than it does where it was seen first."""
    seq = len(bodies) + 1
    tail = ',"fingerprint":"{}","kind":"debit","purpose":"any","request":"{}","seq":{},"time":{}}}'
    inner = NESTED + tail.format("0" * 64, "in", 1, 1)
    whole = '"fingerprint":"f","kind":"debit","purpose":"any","request":"é"'
    first = f'{inner},{whole},"seq":{seq},"time":{10**10}}}'
    second = NESTED + tail.format("1" * 64, "new", seq + 1, 10**10)
    assert json.loads(first)["request"] == "é"
    rows = chained([*bodies, first, second])
    assert outcome(LedgerState, rows) == outcome(SlowState, rows)
    assert f"entry {seq + 1}: it is not JSON" in outcome(LedgerState, rows)


def test_a_quick_entry_is_refused_where_no_budget_covers_it(tmp_path):
    with Ledger.create(tmp_path / "a.ledger") as ledger:
        ledger.grant(Privacy(1), dataset="census")
        for number in range(4):
            ledger.debit(ask(f"q{number}", Pure("1/4"), "ada", "census", "any"))
        bodies = [row.body for row in ledger.entries()]
    more = bodies[-1].replace('"q3"', '"q4"').replace('"seq":6', '"seq":7')
    rows = chained([*bodies, more])
    assert "entry 7: it could not have been accepted" in outcome(LedgerState, rows)
    assert ledger_state._SPENDING(more, more.index(',"fingerprint"')) is not None


@pytest.mark.parametrize("times", [1, 3])
def test_a_quick_entry_is_refused_while_its_analyst_is_suspended(tmp_path, times):
    with Ledger.create(tmp_path / "a.ledger") as ledger:
        ledger.grant(Privacy(1), dataset="census")
        debit, bad = (ask(name, Pure("1/8"), "ada", "census", "any") for name in ("q0", "bad"))
        ledger.debit(debit)
        ledger.debit(bad)
        for _ in range(times):
            if times == 1:
                ledger.fail(bad, floor="1/8")
            else:
                ledger.cancel(bad, interrupted=True)
        bodies = [row.body for row in ledger.entries()]
    seq = len(bodies) + 1
    more = re.sub(r'"q0","seq":3,"time":\d+', f'"q1","seq":{seq},"time":{2**36}', bodies[2])
    assert f"entry {seq}: it could not have been accepted (the dataset is suspended" in outcome(
        LedgerState, chained([*bodies, more])
    )

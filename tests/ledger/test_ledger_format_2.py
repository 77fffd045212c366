"""A ledger that was written in format 2, with budgets in ε and δ only, is read as it was and goes on."""

import json
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from leastnoise.accounting import (
    Approximate,
    Concentrated,
    GaussianNoise,
    GaussianPrivacy,
    LaplaceNoise,
    Ledger,
    PrivacyUnit,
    Pure,
    Request,
    read_witness,
)
from leastnoise.errors import BudgetExceeded, DatasetSuspended, LedgerDamaged
from leastnoise.ledger.chain import link
from leastnoise.ledger.ledger_state import LedgerState
from leastnoise.model.privacy import Privacy

STORED = Path(__file__).parent / "version_2" / "version_2_mixed.ledger"
NOW = 1_790_000_100

# What that version said was spent and left of each budget: ε, δ, ρ; then ε, δ, ρ and the share.
SAID = {
    "dataset 'census'": (
        (None, Fraction(1, 10**7)),
        (Fraction(1290024704515, 8796093022208), Fraction(1, 2500000)),
        Fraction(811126607082329596092569, 75557863725914323419136000),
        Fraction(921977864044565809232306, 1733104471126895405324875),
    ),
    "dataset 'rows'": ((Fraction(7, 20), 0), (Fraction(3, 20), 0), 0, Fraction(7, 10)),
    "dataset 'noise'": (
        (None, 0),
        (Fraction(338678746899, 1099511627776), 0),
        Fraction(1422561159164068561709803, 30223145490365729367654400),
        Fraction(1241690367109918546065372, 2664251526273987107775175),
    ),
    "dataset 'monthly'": ((Fraction(3, 4), 0), (Fraction(1, 4), 0), 0, Fraction(3, 4)),
    "analyst 'eve'": (
        (Fraction(21, 100), Fraction(1, 10**7)),
        (Fraction(279, 100), Fraction(49, 10**7)),
        Fraction(121397224987242560715931, 604462909807314587353088),
        Fraction(42446292537694682606, 891377935805125177123),
    ),
}


def ask(name, event, dataset="census", analyst="ada", **parameters):
    return Request(name, event, dataset=dataset, analyst=analyst, parameters=parameters)


@pytest.fixture
def ledger(tmp_path):
    for suffix in ("", ".witness"):
        shutil.copy(f"{STORED}{suffix}", tmp_path / f"old.ledger{suffix}")
    with Ledger.open(tmp_path / "old.ledger", clock=lambda: NOW) as opened:
        yield opened


def test_it_is_read_as_it_was(ledger):
    for balance in ledger.balances():
        (epsilon, delta), (left, left_delta), rho, used = SAID[str(balance.scope)]
        assert (balance.spent.epsilon, balance.spent.delta) == (epsilon, delta)
        assert (balance.left.delta, balance.left.rho, balance.left.used) == (left_delta, rho, used)
        assert abs(balance.left.epsilon - left) < Fraction(1, 10**9), "rounded down, by a search"
    assert ledger.privacy_unit("census") == PrivacyUnit("person")
    assert [(each.dataset, each.failures, each.interruptions) for each in ledger.suspensions()] == [
        ("census", 0, 1),
        ("noise", 1, 0),
    ]
    report = ledger.verify()
    assert (report.entries, report.requests) == (59, 24)
    assert ledger.witness() == read_witness(Path(f"{STORED}.witness")), "reading changes nothing"


def test_it_answers_as_before_and_charges_nothing(ledger):
    again = [
        (ask("first", Pure("1/8"), column="age"), {"count": 42}),
        *((ask(f"pure {i}", Pure("1/50")), i) for i in range(10)),
        (ask("gauss", GaussianNoise("1/800", 20)), "long answer " * 20),
        (ask("approximate", Approximate("1/100", "1e-7"), analyst="eve"), [1, 2.5, None, "é"]),
        (ask("zcdp", Concentrated("1/1000")), 7),
        (ask("noise 2", LaplaceNoise("1/4"), dataset="noise"), 2),
    ]
    before = ledger.balances()
    for request, answer in again:
        assert ledger.release(request, lambda: pytest.fail("drawn again")) == answer
    assert ledger.balances() == before


def test_it_goes_on(ledger):
    assert ledger.release(ask("debited", Pure("1/100")), lambda: "late") == "late"
    assert ledger.commit(ask("reserved", Pure("1/100"))).state == "committed"
    assert ledger.reserve(ask("given back", Pure("1/100"))).fresh
    assert ledger.reserve(ask("failed", Pure("1/100"), dataset="rows", analyst="eve")).state == "failed"
    with pytest.raises(DatasetSuspended):
        ledger.debit(ask("new", Pure("1/100"), dataset="noise", analyst="eve"))
    left = ledger.left("census", "ada")
    with pytest.raises(BudgetExceeded):
        ledger.debit(ask("too much", Concentrated(left.rho * Fraction(1001, 1000))))
    assert ledger.debit(ask("all of it", Concentrated(left.rho))).fresh
    with pytest.raises(BudgetExceeded):
        ledger.debit(ask("more", Pure("1/100")))
    ledger.verify()


def test_the_first_write_raises_the_format(ledger):
    ledger.grant(Privacy(rho="1/10"), dataset="new")
    assert [json.loads(row.body)["kind"] for row in ledger.entries()][59:] == ["version", "grant"]
    assert ledger.debit(ask("new", GaussianPrivacy("1/100"), dataset="new")).fresh
    ledger.verify()


def forged(ledger, *changes):
    """What the entries would add up to with these at the end, their hashes fitting."""
    state, head = LedgerState(), ledger.witness()
    state.follow(ledger.entries())
    seq, before = head.count, head.hash
    for change in changes:
        seq += 1
        body = json.dumps({**change, "seq": seq, "time": 2**36}, sort_keys=True, separators=(",", ":"))
        before = link(before, body)
        state.follow([(seq, body, before)])


def test_each_format_has_its_own_entries(ledger):
    entries = [json.loads(row.body) for row in ledger.entries()]
    grant = next(entry for entry in entries if entry["kind"] == "grant") | {"dataset": "new"}
    debit = next(entry for entry in entries if entry["kind"] == "debit") | {"request": "new"}
    later = {"kind": "version", "version": 3}
    in_rho = {name: value for name, value in grant.items() if name not in ("epsilon", "delta")} | {"rho": "1/10"}
    full = debit | {"cost": [*debit["cost"], "1/100"]}
    for allowed in ([grant], [debit], [later, in_rho | {"event_delta": None}], [later, full]):
        forged(ledger, *allowed)
    for refused in ([in_rho], [grant | {"composition": "basic"}], [full], [later, debit], [later, later]):
        with pytest.raises(LedgerDamaged, match="could not have been accepted"):
            forged(ledger, *refused)

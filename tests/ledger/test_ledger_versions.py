"""Ledgers that version 0.1 wrote are read, go on, and are refused by that version from then on."""

import json
import shutil
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from leastnoise.accounting import Approximate, Ledger, Opening, PostgresStore, PrivacyUnit, Pure, Request, Scope
from leastnoise.errors import BudgetChanged, DatasetSuspended, LedgerDamaged, LedgerUnavailable
from leastnoise.ledger.chain import link
from leastnoise.model.privacy import Privacy

OLD = Path(__file__).parent / "version_1"
BEN = Request("approximate", Approximate("1/10", "1e-7"), dataset="rows", analyst="cid")


def ask(name, epsilon="1/8", dataset="census", **parameters):
    return Request(name, Pure(epsilon), dataset=dataset, analyst="ada", parameters=parameters)


def in_file(name, folder, _):
    for suffix in ("", ".witness"):
        shutil.copy(OLD / f"version_1_{name}.ledger{suffix}", folder / f"old.ledger{suffix}")
    return folder / "old.ledger"


def in_postgres(name, _, request):
    """The same entries in the tables that version 0.1 made."""
    import psycopg

    address = request.getfixturevalue("postgres_address")
    with closing(sqlite3.connect(OLD / f"version_1_{name}.ledger")) as file:
        rows = file.execute("SELECT seq, request, body, hash FROM entries").fetchall()
    with psycopg.connect(address) as connection:
        connection.execute("DROP SCHEMA IF EXISTS old CASCADE")
        connection.execute("CREATE SCHEMA old")
        connection.execute("SET search_path TO old")
        connection.execute("CREATE TABLE leastnoise_ledgers (name text PRIMARY KEY)")
        connection.execute(
            "CREATE TABLE leastnoise_entries (ledger text NOT NULL REFERENCES leastnoise_ledgers (name),"
            " seq bigint NOT NULL, request text, body text NOT NULL, hash text NOT NULL, PRIMARY KEY (ledger, seq))"
        )
        connection.execute("INSERT INTO leastnoise_ledgers VALUES ('old')")
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO leastnoise_entries VALUES ('old', %s, %s, %s, %s)", rows)
    return PostgresStore(f"{address}{'&' if '?' in address else '?'}options=-csearch_path%3Dold", "old")


@pytest.fixture(params=[in_file, in_postgres])
def old(request, tmp_path):
    return lambda name: request.param(name, tmp_path, request)


def spent(ledger, dataset):
    return next(b.spent.epsilon for b in ledger.balances() if b.scope == Scope(dataset))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "answered"])
def test_an_old_ledger_is_read_as_it_is(old, name):
    with Ledger.open(old(name)) as ledger:
        before = ledger.witness()
        assert [str(balance.scope) for balance in ledger.balances()] == [
            "dataset 'census'",
            "dataset 'rows'",
            "dataset 'rows', analyst 'ben'",
        ]
        assert ledger.privacy_unit("census") == PrivacyUnit("person")
        assert ledger.privacy_unit("rows") == PrivacyUnit(None)
        assert spent(ledger, "census") == (Fraction(3, 4) if name == "answered" else Fraction(3, 8))
        assert spent(ledger, "rows") == Fraction(1, 10)
        ledger.verify()
        assert ledger.witness() == before, "reading changes nothing"


def test_an_old_ledger_goes_on(old):
    place = old("answered")
    with Ledger.open(place) as ledger:
        answer = {"count": 42, "cells": [1, 2.5, None, "é"]}
        assert ledger.release(ask("asked", column="age"), lambda: "drawn again") == answer
        assert ledger.release(ask("committed"), lambda: "drawn again") == 7
        assert ledger.reserve(ask("failed", "1/16")).state == "failed", "recorded as an answer by that version"
        assert ledger.release(ask("debited"), lambda: "late") == "late"
        assert not ledger.debit(BEN).fresh
        assert spent(ledger, "census") == Fraction(3, 4)
        assert ledger.reserve(ask("given back")).fresh
        assert ledger.commit(ask("reserved")).state == "committed"
        with pytest.raises(BudgetChanged):
            ledger.reserve(ask("new"), Opening(None, None))
        ledger.reserve(ask("new"), Opening(Privacy(1), "person"))
        ledger.fail(ask("new"), floor="1/10")
        with pytest.raises(DatasetSuspended):
            ledger.debit(ask("newer"))
        assert ledger.verify().requests == 10
        kinds = [json.loads(row.body)["kind"] for row in ledger.entries()]
    assert kinds[23:] == ["version", "answer", "reserve", "commit", "reserve", "fail"]
    with Ledger.open(place) as ledger:
        assert ledger.release(ask("debited"), lambda: "drawn again") == "late"
        ledger.verify()


def test_what_only_the_later_format_has_is_damage_before_it(tmp_path):
    path = in_file("plain", tmp_path, None)
    with Ledger.open(path) as ledger:
        head = ledger.witness()
        entries = [json.loads(row.body) for row in ledger.entries()]
    again = next(entry for entry in entries if (entry["kind"], entry.get("request")) == ("reserve", "given back"))
    extra = [
        {"kind": "dataset", "dataset": "new", "unit": None},
        {"kind": "clear", "dataset": "census", "analyst": "ada"},
        {"kind": "version", "version": 1},
        {"kind": "version", "version": 0},
        {"kind": "version", "version": "2"},
        again,
    ]
    for fields in extra:
        with pytest.raises(LedgerDamaged, match="entry 14: it could not have been accepted"):
            Ledger.open(with_entry(path, head, fields), renew_witness=True)


def test_a_ledger_of_a_later_format_says_so(tmp_path):
    path = in_file("plain", tmp_path, None)
    with Ledger.open(path) as ledger:
        head = ledger.witness()
    with pytest.raises(LedgerUnavailable, match=r"later version.*update leastnoise"):
        Ledger.open(with_entry(path, head, {"kind": "version", "version": 4}), renew_witness=True)


def with_entry(path, head, fields):
    """A copy with one more entry whose hash fits."""
    copy, seq = path.with_name("copy.ledger"), head.count + 1
    body = json.dumps({**fields, "seq": seq, "time": 2**36}, sort_keys=True, separators=(",", ":"))
    shutil.copy(path, copy)
    with closing(sqlite3.connect(copy)) as connection, connection:
        row = (seq, body, link(head.hash, body))
        connection.execute("INSERT INTO entries (seq, body, hash) VALUES (?, ?, ?)", row)
    return copy

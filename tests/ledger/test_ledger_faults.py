"""Full disks, read-only files, edited and truncated files, old copies put back: refused, with the place."""

import json
import os
import re
import resource
import shutil
import sqlite3
import stat
import tempfile
import threading
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from leastnoise.accounting import Ledger, PostgresStore, Pure, Request, SqliteStore, read_witness
from leastnoise.errors import LedgerDamaged, LedgerMissing, LedgerUnavailable
from leastnoise.ledger import postgres as postgres_module, sqlite, write_witness
from leastnoise.ledger.chain import link
from leastnoise.model.privacy import Privacy
from support.processes import Child


def ask(number, epsilon="1/100"):
    return Request(f"q{number}", Pure(epsilon), dataset="census", analyst="ada")


@pytest.fixture
def path(tmp_path):
    """A closed ledger with twenty answered requests: entry 1 opens it, 2 grants, then debits and answers alternate."""
    path = tmp_path / "test.ledger"
    with Ledger.create(path) as ledger:
        ledger.grant(Privacy(1), dataset="census")
        for i in range(20):
            ledger.release(ask(i), lambda i=i: i)
    return path


def edit(path, *statements):
    """What someone with a SQLite shell can do."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TRIGGER IF EXISTS entries_stay")
        connection.execute("DROP TRIGGER IF EXISTS entries_last")
        for statement, *values in statements:
            connection.execute(statement, values)


def rehash(path, change):
    """What someone who knows the format can do: change entries and make every hash fit again."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TRIGGER IF EXISTS entries_stay")
        previous = "0" * 64
        for seq, body in connection.execute("SELECT seq, body FROM entries ORDER BY seq").fetchall():
            entry = json.loads(body)
            change(entry)
            body = json.dumps(entry, sort_keys=True, separators=(",", ":"))
            previous = link(previous, body)
            connection.execute("UPDATE entries SET body = ?, hash = ? WHERE seq = ?", (body, previous, seq))


# ------------------------------------------------------------------ disks


def fill_disk(_, path):
    """Debit until the file may not grow any more: the same error as on a full disk."""
    ledger = Ledger.open(path)
    wal = path.with_name(path.name + "-wal")
    ledger.debit(ask("first"))
    limit = max(wal.stat().st_size, path.stat().st_size) + 20_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    granted = []
    try:
        for i in range(1000, 2000):
            ledger.debit(ask(i, "1/10000"))
            granted.append(i)
    except LedgerUnavailable:
        for i in range(3000, 3003):  # and it stays so, without confusion
            with pytest.raises(LedgerUnavailable, match="nothing was answered"):
                ledger.debit(ask(i))
    return granted


def test_a_debit_is_on_the_disk_before_it_is_reported(tmp_path):
    """A power failure can't be tried here; SQLite promises that its strictest mode survives one."""
    with Ledger.create(tmp_path / "ledger") as ledger:
        ledger.grant(Privacy(1), dataset="census")
        mode = ledger._session.store._connection.execute("PRAGMA synchronous").fetchone()
    assert mode == (2,)  # FULL


def test_a_full_disk_refuses_and_loses_nothing(path):
    granted = Child(fill_disk, path).result()
    assert 0 < len(granted) < 1000
    with Ledger.open(path) as ledger:
        ledger.verify()
        assert ledger.balances()[0].spent.epsilon == Fraction(21, 100) + Fraction(len(granted), 10_000)
        assert all(not ledger.debit(ask(i, "1/10000")).fresh for i in granted)
        assert ledger.debit(ask("after")).fresh


@pytest.fixture
def read_only():
    """A ledger that this process may not write; root gives up its rights in a child."""
    folder = Path(tempfile.mkdtemp())
    with Ledger.create(folder / "test.ledger") as ledger:
        ledger.grant(Privacy(1), dataset="census")
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    yield folder / "test.ledger"
    folder.chmod(0o755)
    shutil.rmtree(folder)


def try_to_debit(_, path):
    if not os.geteuid():
        os.setgid(65534)
        os.setuid(65534)
    try:
        Ledger.open(path).debit(ask(1))
    except LedgerUnavailable as error:
        return str(error)
    return None


def test_a_read_only_file_refuses_and_loses_nothing(read_only):
    before = read_only.read_bytes()
    refusal = Child(try_to_debit, read_only).result()
    assert "writable" in refusal
    assert read_only.read_bytes() == before


def test_a_read_only_file_in_a_writable_folder(read_only):
    read_only.parent.chmod(0o777)
    assert "the witness of the ledger can't be written" in Child(try_to_debit, read_only).result()
    Path(f"{read_only}.witness").chmod(0o666)
    assert "could not be read or written" in Child(try_to_debit, read_only).result()
    with Ledger.open(read_only) as ledger:
        assert ledger.balances()[0].spent.epsilon == 0


def test_a_writer_that_never_ends_is_not_waited_for_forever(path, monkeypatch):
    monkeypatch.setattr(sqlite, "NOTICE_SECONDS", 0.05)
    told = []
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        store = SqliteStore(path, wait_seconds=0.2, waiting=told.append)
        with Ledger.open(store, witness=f"{path}.witness") as ledger:
            assert ledger.balances()[0].spent.epsilon == Fraction(1, 5), "reading goes on"
            assert told == []
            with pytest.raises(LedgerUnavailable, match=r"another process holds.*0\.2 seconds.*fuser .*test\.ledger"):
                ledger.debit(ask("late"))
            assert told == [f"ledger {path}"]
            other.execute("ROLLBACK")
            assert ledger.debit(ask("late")).fresh


def test_waiting_is_told_on_standard_error(path, monkeypatch, capsys):
    monkeypatch.setattr(sqlite, "NOTICE_SECONDS", 0.05)
    with (
        closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other,
        Ledger.open(path) as ledger,
    ):
        other.execute("BEGIN IMMEDIATE")
        threading.Timer(0.3, lambda: other.execute("ROLLBACK")).start()
        assert ledger.debit(ask("late")).fresh
    assert capsys.readouterr().err == f"waiting for another process that holds the ledger {path} …\n"


def test_the_file_is_for_its_owner_only(path):
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(f"{path}.witness").stat().st_mode) == 0o600


# ------------------------------------------------------- edited and truncated


def test_entries_can_not_be_changed_by_mistake(path):
    with closing(sqlite3.connect(path)) as connection:
        for statement in ("UPDATE entries SET body = '{}'", "DELETE FROM entries WHERE seq = 3"):
            with pytest.raises(sqlite3.IntegrityError, match="never"):
                connection.execute(statement)


@pytest.mark.parametrize("keep", [0, 50, 4096, 0.5, -4096, -1])
def test_a_truncated_file_is_refused(path, keep):
    size = path.stat().st_size
    os.truncate(path, int(size * keep) if isinstance(keep, float) else keep if keep >= 0 else size + keep)
    with pytest.raises(LedgerDamaged):
        Ledger.open(path).verify()


def test_a_flipped_byte_is_found_with_its_place(path):
    data = path.read_bytes()
    assert data.count(b'"request":"q7"') == 2, "its debit and its answer"
    path.write_bytes(data.replace(b'"request":"q7"', b'"request":"q8"'))
    with pytest.raises(LedgerDamaged, match=r"damaged at entry 17:"):
        Ledger.open(path)


@pytest.mark.parametrize("seq", [1, 2, 3, 20, 42])
def test_an_edited_entry_is_found_with_its_place(path, seq):
    edit(path, ("UPDATE entries SET body = replace(body, 'time', 'tide') WHERE seq = ?", seq))
    with pytest.raises(LedgerDamaged, match=rf"damaged at entry {seq}:.*do not belong together"):
        Ledger.open(path)


def test_a_removed_entry_is_found_with_its_place(path):
    edit(path, ("DELETE FROM entries WHERE seq = 9",))
    with pytest.raises(LedgerDamaged, match="damaged at entry 9: it is missing"):
        Ledger.open(path)


def test_swapped_entries_are_found(path):
    edit(
        path,
        ("UPDATE entries SET seq = -5 WHERE seq = 5",),
        ("UPDATE entries SET seq = 5 WHERE seq = 7",),
        ("UPDATE entries SET seq = 7 WHERE seq = -5",),
    )
    with pytest.raises(LedgerDamaged, match="damaged at entry 5"):
        Ledger.open(path)


def cheaper(entry):
    if entry["kind"] == "debit" and entry["request"] == "q3":
        entry["cost"] = ["1/1000", "0", "1/1000000", "1/500000"]


def dearer(entry):
    if entry["kind"] == "debit":
        entry["cost"] = ["1/10", "0", "1/200", "1/100"]


def back_in_time(entry):
    if entry["seq"] == 10:
        entry["time"] -= 10_000


def other_kind(entry):
    if entry["seq"] == 10:
        entry["kind"] = "gift"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (dearer, r"entry 23: it could not have been accepted .*does not cover"),
        (back_in_time, r"entry 10: it could not have been accepted .*time goes back"),
        (other_kind, r"entry 10: it could not have been accepted .*unknown kind"),
        (lambda entry: entry.pop("cost", None), r"entry 3: a field is missing"),
        (lambda entry: entry.__setitem__("seq", entry["seq"] + 1), r"entry 1: it carries another"),
    ],
)
def test_entries_that_could_not_have_happened_are_found_though_every_hash_fits(path, change, why):
    rehash(path, change)
    with pytest.raises(LedgerDamaged, match=why):
        Ledger.open(path)


def test_a_lowered_price_is_found_though_every_hash_fits(path):
    rehash(path, cheaper)
    ledger = Ledger.open(path, renew_witness=True)
    with pytest.raises(LedgerDamaged, match="entry 9: its price is not that of its event"):
        ledger.verify()


def test_a_second_answer_is_found_though_every_hash_fits(path):
    with Ledger.open(path) as ledger:
        witness = ledger.witness()
    entry = {"analyst": "ada", "answer": 99, "kind": "answer", "request": "q3", "seq": 43, "time": 2**36}
    body = json.dumps(entry, sort_keys=True, separators=(",", ":"))
    edit(path, ("INSERT INTO entries VALUES (?, ?, ?)", 43, body, link(witness.hash, body)))
    with pytest.raises(LedgerDamaged, match=r"entry 43: .*'answer' can't follow 'answered'"):
        Ledger.open(path)


def test_another_programs_file_is_not_a_ledger(tmp_path):
    for name, content in (("text", b"hello, I am a text file, long enough to have a header" * 20), ("empty", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(LedgerDamaged):
            Ledger.open(tmp_path / name, renew_witness=True)
    with closing(sqlite3.connect(tmp_path / "other.db")) as other, other:
        other.execute("PRAGMA application_id = 77")
        other.execute("CREATE TABLE entries (seq, request, body, hash)")
    with pytest.raises(LedgerDamaged, match="another program"):
        Ledger.open(tmp_path / "other.db", renew_witness=True)


# ------------------------------------------------------------- old copies


def test_a_cut_tail_is_found_by_the_witness_beside(path):
    edit(path, ("DELETE FROM entries WHERE seq > 40",))
    with pytest.raises(LedgerDamaged, match="has 40 entries and had 42: its tail was cut"):
        Ledger.open(path)


def test_an_old_copy_put_back_is_found_by_the_witness_beside(path, tmp_path):
    shutil.copy(path, tmp_path / "old")
    with Ledger.open(path) as ledger:
        ledger.debit(ask("more"))
    shutil.copy(tmp_path / "old", path)
    with pytest.raises(LedgerDamaged, match="old copy put back"):
        Ledger.open(path)


def test_both_files_put_back_are_found_by_a_witness_elsewhere(path, tmp_path):
    for file in (path, Path(f"{path}.witness")):
        shutil.copy(file, tmp_path / f"old {file.name}")
    with Ledger.open(path) as ledger:
        ledger.debit(ask("more"))
        write_witness(tmp_path / "elsewhere", ledger.witness())
    for file in (path, Path(f"{path}.witness")):
        shutil.copy(tmp_path / f"old {file.name}", file)
    with Ledger.open(path) as ledger:
        ledger.verify()
        with pytest.raises(LedgerDamaged, match="has 42 entries and had 43"):
            ledger.verify(read_witness(tmp_path / "elsewhere"))


def test_a_rewritten_past_is_found_by_a_witness_elsewhere(path):
    with Ledger.open(path) as ledger:
        witness = ledger.witness()

    def falsify(entry):
        if entry["kind"] == "answer" and entry["request"] == "q3":
            entry["answer"] = 12345

    rehash(path, falsify)
    with Ledger.open(path, renew_witness=True) as ledger:
        ledger.verify()
        with pytest.raises(LedgerDamaged, match="entry 42 is not the one"):
            ledger.verify(witness)


def test_a_file_replaced_while_it_is_in_use_is_noticed(path, tmp_path):
    shutil.copy(path, tmp_path / "old")
    ledger = Ledger.open(path)
    ledger.debit(ask("more"))
    (tmp_path / "old").replace(path)
    for _ in range(2):
        with pytest.raises(LedgerDamaged, match="replaced by another file"):
            ledger.debit(ask("lost"))
    path.unlink()
    with pytest.raises(LedgerMissing):
        ledger.debit(ask("lost"))
    ledger.close()


def test_a_tail_cut_while_it_is_in_use_is_noticed(path):
    with Ledger.open(path) as ledger:
        ledger.debit(ask("more"))
        edit(path, ("DELETE FROM entries WHERE seq = 43",))
        for _ in range(2):  # and what was noticed once stays noticed
            with pytest.raises(LedgerDamaged, match="entry 43: it was there before"):
                ledger.debit(ask("again"))


def test_a_missing_witness_fails_closed_until_it_is_renewed(path):
    Path(f"{path}.witness").unlink()
    with pytest.raises(LedgerMissing, match="witness"):
        Ledger.open(path)
    Ledger.open(path, renew_witness=True).close()
    Ledger.open(path).close()
    Path(f"{path}.witness").write_text("not a witness")
    with pytest.raises(LedgerDamaged, match="not a witness"):
        Ledger.open(path)


def test_a_ledger_that_was_deleted_is_not_begun_anew(path):
    path.unlink()
    with pytest.raises(LedgerUnavailable, match="would forget what that one spent"):
        Ledger.create(path)
    with pytest.raises(LedgerMissing, match="no ledger file"):
        Ledger.open(path)


def test_another_programs_database_is_left_as_it_is(tmp_path):
    with closing(sqlite3.connect(tmp_path / "other.db")) as other, other:
        other.execute("CREATE TABLE t (x)")
    before = (tmp_path / "other.db").read_bytes()
    with pytest.raises(LedgerDamaged):
        Ledger.open(tmp_path / "other.db", renew_witness=True)
    assert (tmp_path / "other.db").read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["other.db"]


def test_another_ledgers_witness_is_refused(path, tmp_path):
    with Ledger.create(tmp_path / "other.ledger") as other:
        witness = other.witness()
    with Ledger.open(path) as ledger, pytest.raises(LedgerDamaged, match="another ledger"):
        ledger.verify(witness)


# --------------------------------------------------------------- Postgres


@pytest.fixture
def postgres(postgres_address):
    store = PostgresStore(postgres_address, "faults")
    with Ledger.create(store) as ledger:
        ledger.grant(Privacy(1), dataset="census")
        yield ledger, postgres_address
    import psycopg

    with psycopg.connect(postgres_address) as connection:
        connection.execute("DROP TABLE leastnoise_entries, leastnoise_ledgers")


def test_postgres_faults(postgres):
    import psycopg

    ledger, address = postgres
    ledger.release(ask(1), lambda: 1)
    with psycopg.connect(address, autocommit=True) as other:
        for statement in ("UPDATE leastnoise_entries SET body = '{}'", "DELETE FROM leastnoise_entries"):
            with pytest.raises(psycopg.errors.RaiseException, match="never"):
                other.execute(statement)
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND usename = 'tester' AND backend_type = 'client backend'"
        )
        with pytest.raises(LedgerUnavailable, match="same id"):
            ledger.debit(ask(2))
        assert ledger.debit(ask(2)).state == "committed", "it connects again"
        other.execute("ALTER TABLE leastnoise_entries DISABLE TRIGGER ALL")
        other.execute("UPDATE leastnoise_entries SET body = replace(body, '1/100', '1/900') WHERE seq = 3")
    with pytest.raises(LedgerDamaged, match="damaged at entry 3"):
        Ledger.open(PostgresStore(address, "faults"))
    with pytest.raises(LedgerMissing):
        Ledger.open(PostgresStore(address, "unknown"))


def test_a_writer_in_postgres_that_never_ends(postgres, monkeypatch, capsys):
    import psycopg

    monkeypatch.setattr(postgres_module, "_SESSION", "SET lock_timeout TO '100ms'")
    monkeypatch.setattr(postgres_module, "_PATIENTLY", "SET LOCAL lock_timeout TO '200ms'")
    _, address = postgres
    with Ledger.open(PostgresStore(address, "faults")) as ledger, psycopg.connect(address) as other:
        other.execute("SELECT name FROM leastnoise_ledgers WHERE name = 'faults' FOR UPDATE")
        assert ledger.balances()[0].spent.epsilon == 0, "reading goes on"
        with pytest.raises(LedgerUnavailable, match=r"another process holds.*pg_stat_activity"):
            ledger.debit(ask("late"))
        assert capsys.readouterr().err == "waiting for another process that holds the postgresql ledger 'faults' …\n"
        threading.Timer(0.2, other.rollback).start()
        assert ledger.debit(ask("late")).fresh


def test_a_password_is_never_shown(postgres_address):
    address = re.sub("tester@", "tester:hunter2@", postgres_address).replace("/postgres", "/nowhere")
    store = PostgresStore(address)
    with pytest.raises(LedgerUnavailable) as caught:
        Ledger.open(store)
    assert "hunter2" not in f"{caught.value!r} {store.name} {caught.value.__cause__}"
    assert caught.value.__suppress_context__

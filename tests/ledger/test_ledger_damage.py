"""Whatever is changed in the files of a ledger: it behaves as before, or says LedgerDamaged. Nothing else.

Never a second answer, never a second charge, never another program's exception, never advice about the disk.
`LEASTNOISE_FLIPS` sets how many changes each test tries.
"""

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from leastnoise.accounting import Ledger, PostgresStore, Pure, Request
from leastnoise.errors import DatasetSuspended, LedgerDamaged, LedgerMissing
from leastnoise.exact import SeededSource
from leastnoise.ledger import Witness, session as request_steps, write_witness
from leastnoise.ledger.chain import link
from leastnoise.ledger.ledger_state import verify_entries
from leastnoise.ledger.postgres import PostgresTransaction
from leastnoise.model.privacy import Privacy

FLIPS = int(os.environ.get("LEASTNOISE_FLIPS", "200"))
OLD = Path(__file__).parent / "version_1" / "version_1_answered.ledger"
LONG = "long " * 200


@pytest.fixture(autouse=True)
def short_parts(monkeypatch):
    """Parts of a hundred characters, so that a small ledger has a long answer."""
    monkeypatch.setattr(request_steps, "_PART", 100)


@pytest.fixture
def folder(tmp_path):
    """In memory where there is such a place: a thousand ledgers are flushed here, and none outlives the test."""
    memory = Path("/dev/shm")  # noqa: S108
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as made:
        yield Path(made)


def ask(name, epsilon="1/8", analyst="ada", **parameters):
    return Request(name, Pure(epsilon), dataset="census", analyst=analyst, parameters=parameters)


def fill(ledger):
    ledger.grant(Privacy(3), dataset="census")
    ledger.release(ask("asked", column="age"), lambda: {"count": 42})
    ledger.release(ask("long", "1/64"), lambda: LONG)
    ledger.debit(ask("debited"))
    ledger.reserve(ask("given back"))
    ledger.cancel(ask("given back"))
    ledger.reserve(ask("suspended", analyst="eve"))
    ledger.fail(ask("suspended", analyst="eve"), floor="1/4")


def new_ledger(folder):
    with Ledger.create(folder / "new.ledger") as ledger:
        fill(ledger)
    return folder / "new.ledger"


def old_ledger(folder):
    for suffix in ("", ".witness"):
        shutil.copy(f"{OLD}{suffix}", folder)
    return folder / OLD.name


def ledger_with_log(folder):
    """As a killed process leaves it: the last entries are in the write-ahead log only."""
    path = new_ledger(folder)
    with Ledger.open(path) as ledger:
        ledger.debit(ask("late"))
        for suffix in ("", "-wal", ".witness"):
            shutil.copy(f"{path}{suffix}", f"{folder / 'killed'}{suffix}")
    return folder / "killed"


class Copies:
    """Fresh copies of the files of a ledger, each in the place of the one before."""

    def __init__(self, path):
        self._place = path.with_name("copy")
        files = {each: Path(f"{path}{each}") for each in ("", ".witness", "-wal")}
        self.content = {each: file.read_bytes() for each, file in files.items() if file.exists()}

    def fresh(self):
        for stale in self._place.parent.glob("copy*"):
            stale.unlink()
        for each, content in self.content.items():
            Path(f"{self._place}{each}").write_bytes(content)
        return self._place


def behaviour(place):
    """All that a decision rests on, as an analyst can see it; a drawn answer says so."""
    seen = []
    with Ledger.open(place) as ledger:
        before = ledger.left("census", "ada").epsilon
        seen.append(before)
        seen.append(ledger.release(ask("asked", column="age"), lambda: "drawn again"))
        seen.append(ledger.release(ask("long", "1/64"), lambda: "drawn again"))
        for request in (ask("debited"), ask("given back"), ask("new", "1/64")):
            receipt = ledger.debit(request)
            seen.append((receipt.state, receipt.fresh))
        try:
            seen.append(ledger.debit(ask("more", "1/64", analyst="eve")).state)
        except DatasetSuspended:
            seen.append("suspended")
        seen.append(before - ledger.left("census", "ada").epsilon)
        seen.append(ledger.release(ask("new", "1/64"), lambda: "drawn"))
        seen.append(ledger.release(ask("new", "1/64"), lambda: "drawn again"))
    return seen


EXPECTED = [
    Fraction(159, 64),
    {"count": 42},
    LONG,
    ("committed", False),
    ("committed", True),
    ("committed", True),
    "suspended",
    Fraction(9, 64),
    "drawn",
    "drawn",
]


def test_the_behaviour_that_damage_is_compared_with(folder):
    assert behaviour(new_ledger(folder)) == EXPECTED


def holds(place, expected):
    """Whether the ledger still behaves as it should; False where it says that it is damaged."""
    try:
        seen = behaviour(place)
    except LedgerDamaged as found:
        error = found
    else:
        assert seen == expected
        return True
    assert "restore" in error.fix
    assert "disk" not in str(error)
    return False


def changes(data, source):
    """A place and a byte to put there: a flip in each byte of the header, then bits and bytes of any part alike."""
    for place in range(min(100, len(data))):
        yield place, data[place] ^ 1 << source.bits(3)
    for _ in range(FLIPS):
        place, how = source.bits(40) % len(data), source.bits(8)
        byte = data[place] ^ 1 << (how & 7) if how & 8 else (0, 255, how, data[place] + 1 & 255)[how & 3]
        if byte != data[place]:
            yield place, byte


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "suffix"),
    [
        (new_ledger, ""),
        (new_ledger, ".witness"),
        (old_ledger, ""),
        (ledger_with_log, ""),
        (ledger_with_log, "-wal"),
    ],
)
def test_changed_bytes(make, suffix, folder):
    copies = Copies(make(folder))
    expected = behaviour(copies.fresh())
    data, noticed = copies.content[suffix], 0
    for offset, byte in changes(data, SeededSource(len(data))):
        place = copies.fresh()
        with Path(f"{place}{suffix}").open("r+b") as file:
            file.seek(offset)
            file.write(bytes([byte]))
        try:
            noticed += not holds(place, expected)
        except BaseException as error:
            error.add_note(f"byte {offset} of {suffix or 'the ledger'} was {data[offset]} and was set to {byte}")
            raise
    assert noticed


def edits(table, columns, count):
    """What someone with a shell can do to columns and rows without computing hashes."""
    take = "UPDATE {table} SET {column} = (SELECT {column} FROM {table} WHERE seq = {other}) WHERE seq = {seq}"
    alter = "UPDATE {table} SET {column} = replace({column}, 'a', 'b') WHERE seq = {seq}"
    empty = "UPDATE {table} SET {column} = '' WHERE seq = {seq}"
    remove, cut = "DELETE FROM {table} WHERE seq = {seq}", "DELETE FROM {table} WHERE seq >= {seq}"
    move = "UPDATE {table} SET seq = seq + 1000 WHERE seq = {seq}"
    for seq in range(1, count + 1):
        for text in (remove, cut, move):
            yield text.format(table=table, seq=seq)
        for column in columns:
            for other in (seq % count + 1, max(seq - 1, 1)):
                yield take.format(table=table, column=column, seq=seq, other=other)
            for text in (alter, empty):
                yield text.format(table=table, column=column, seq=seq)


@pytest.mark.slow
@pytest.mark.parametrize("make", [new_ledger, old_ledger])
def test_edited_columns(make, folder):
    """An edit of what the chain covers is noticed, and no other column matters."""
    copies = Copies(make(folder))
    expected = behaviour(copies.fresh())
    with closing(sqlite3.connect(copies.fresh())) as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(entries)")][1:]
        before = connection.execute("SELECT seq, body, hash FROM entries ORDER BY seq").fetchall()
    for statement in edits("entries", columns, len(before)):
        place = copies.fresh()
        with closing(sqlite3.connect(place)) as connection, connection:
            connection.execute("DROP TRIGGER entries_stay")
            connection.execute("DROP TRIGGER entries_last")
            connection.execute(statement)
            after = connection.execute("SELECT seq, body, hash FROM entries ORDER BY seq").fetchall()
        assert holds(place, expected) == (before == after), statement


def test_edited_columns_in_postgres(postgres_address):
    import psycopg

    with Ledger.create(PostgresStore(postgres_address, "damage")) as ledger:
        fill(ledger)
        kept = ledger.witness()
    with psycopg.connect(postgres_address, autocommit=True) as editor:
        transaction = PostgresTransaction(editor, "damage")
        before = list(transaction.entries(1))
        for statement in edits("leastnoise_entries", ("body", "hash"), 5):
            with editor.transaction(force_rollback=True):
                editor.execute("ALTER TABLE leastnoise_entries DISABLE TRIGGER ALL")
                editor.execute("DELETE FROM leastnoise_entries WHERE ledger <> 'damage'")
                editor.execute(statement)
                if list(transaction.entries(1)) != before:
                    with pytest.raises(LedgerDamaged):
                        verify_entries(transaction, [kept])


def test_what_is_edited_while_a_ledger_is_in_use_is_noticed_before_it_answers(folder):
    """The answer itself is read again when it is asked for again, and proven by what the chain said before."""
    path = new_ledger(folder)
    with Ledger.open(path) as ledger:
        assert ledger.release(ask("asked", column="age"), lambda: "drawn again") == {"count": 42}
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("DROP TRIGGER entries_stay")
            rows = dict(connection.execute("SELECT seq, hash FROM entries").fetchall())
            seq, body = connection.execute("SELECT seq, body FROM entries WHERE body LIKE '%:42%'").fetchone()
            forged = body.replace(":42", ":43")
            fitting = link(rows[seq - 1], forged)  # a hash that fits the one before does not help
            connection.execute("UPDATE entries SET body = ?, hash = ? WHERE seq = ?", (forged, fitting, seq))
        with pytest.raises(LedgerDamaged, match=f"entry {seq}: .*edited meanwhile"):
            ledger.release(ask("asked", column="age"), lambda: "drawn again")


def test_an_edited_entry_is_not_exported(folder):
    path = new_ledger(folder)
    with Ledger.open(path) as ledger:
        assert len(list(ledger.entries())) > 5
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("DROP TRIGGER entries_stay")
            connection.execute("UPDATE entries SET body = replace(body, ':42', ':43')")
        with pytest.raises(LedgerDamaged):
            list(ledger.entries())


FOREIGN = [
    ["CREATE TRIGGER x BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END"],
    ["CREATE TRIGGER x AFTER INSERT ON entries BEGIN DELETE FROM entries WHERE seq = new.seq; END"],
    ["CREATE TRIGGER x AFTER INSERT ON entries BEGIN UPDATE entries SET body = '{}' WHERE seq = new.seq; END"],
    [
        "ALTER TABLE entries RENAME TO kept",
        "CREATE VIEW entries AS SELECT * FROM kept",
        "CREATE TRIGGER x INSTEAD OF INSERT ON entries BEGIN SELECT 1; END",
    ],
]


@pytest.mark.parametrize("statements", FOREIGN)
def test_a_debit_that_the_database_does_not_keep_is_not_reported_as_done(folder, statements):
    """Foreign triggers and views may drop or change what is written; it is read again before it counts."""
    path = new_ledger(folder)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TRIGGER entries_stay")
        connection.execute("DROP TRIGGER entries_last")
        for statement in statements:
            connection.execute(statement)
    for _ in range(2):
        with Ledger.open(path) as ledger, pytest.raises(LedgerDamaged):
            ledger.debit(ask("next"))


def test_a_debit_that_postgres_does_not_keep_is_not_reported_as_done(postgres_address):
    import psycopg

    store = PostgresStore(postgres_address, "swallowed")
    with Ledger.create(store) as ledger, psycopg.connect(postgres_address, autocommit=True) as editor:
        ledger.grant(Privacy(1), dataset="census")
        editor.execute(
            "CREATE RULE swallow AS ON INSERT TO leastnoise_entries WHERE new.ledger = 'swallowed' DO INSTEAD NOTHING"
        )
        try:
            with pytest.raises(LedgerDamaged):
                ledger.debit(ask("next"))
        finally:
            editor.execute("DROP RULE swallow ON leastnoise_entries")
        assert ledger.debit(ask("next")).fresh


def test_a_witness_that_is_ahead_is_noticed_by_a_running_process(folder):
    """Entries that another process wrote and this one can't see: its next decision would be on an old balance."""
    path = new_ledger(folder)
    with Ledger.open(path) as ledger:
        ledger.debit(ask("mine"))
        seen = ledger.witness()
        write_witness(Path(f"{path}.witness"), Witness(seen.ledger, seen.count + 1, seen.hash))
        with pytest.raises(LedgerDamaged, match="its tail was cut"):
            ledger.debit(ask("next"))
        Path(f"{path}.witness").unlink()
        with pytest.raises(LedgerMissing, match="witness"):
            ledger.debit(ask("next"))
    with Ledger.open(path, renew_witness=True) as ledger:
        assert ledger.debit(ask("next")).fresh

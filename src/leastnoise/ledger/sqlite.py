"""A ledger in one SQLite file, for any number of processes on one machine.

Write-ahead log with `synchronous = FULL`: a transaction that was reported as done survives a power failure.
`BEGIN IMMEDIATE` takes the only write lock before anything is read, so no decision rests on an old balance.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from shlex import quote

from leastnoise.errors import LeastNoiseError, LedgerDamaged, LedgerMissing, LedgerUnavailable
from leastnoise.ledger.store import (
    NOTICE_SECONDS,
    WAIT_SECONDS,
    Row,
    Stored,
    create_file,
    held_by_another,
    remove_drafts,
    say_waiting,
)

__all__ = ["SqliteStore"]

_APPLICATION_ID = 0x4C4E4C47  # "LNLG", so that another program's file is not taken for a ledger
_SCHEMA = """
CREATE TABLE entries (seq INTEGER PRIMARY KEY, body TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries never change'); END;
CREATE TRIGGER entries_last BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END;
"""
_INSERT = "INSERT INTO entries (seq, body, hash) VALUES (?, ?, ?)"
_LAST = 2**63 - 1
_FIXES = {  # what is wrong with the machine and not with the file, and what to do
    sqlite3.SQLITE_FULL: "make room on the disk",
    sqlite3.SQLITE_IOERR: "see that the disk works and has room",
    sqlite3.SQLITE_READONLY: "make file and folder writable",
    sqlite3.SQLITE_CANTOPEN: "make file and folder readable and writable",
    sqlite3.SQLITE_PERM: "make file and folder readable and writable",
    sqlite3.SQLITE_AUTH: "make file and folder readable and writable",
    sqlite3.SQLITE_NOMEM: "free some memory",
    sqlite3.SQLITE_INTERRUPT: "nothing needs to be done",
    sqlite3.SQLITE_LOCKED: "end what else this process does with the file",
    sqlite3.SQLITE_PROTOCOL: "keep the ledger on a local disk",
}
_BROKEN = (sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_CORRUPTFS)

# A connection that was open at a fork belongs to the parent. The child must neither use nor close it: closing could
# give up locks that the parent holds. So the child keeps it here, untouched.
_inherited: list[sqlite3.Connection] = []


class SqliteStore:
    """Entries in one file.

    Args:
        path: The file.
        wait_seconds: How long to wait for another writer.
        waiting: Called once with the ledger's name when that takes longer than a moment; says so on standard error.
    """

    def __init__(
        self, path: Path, wait_seconds: float = WAIT_SECONDS, waiting: Callable[[str], None] = say_waiting
    ) -> None:
        self._path, self._wait_seconds, self._waiting = path, wait_seconds, waiting
        self._name = str(path)
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._process = os.getpid()

    @property
    def name(self) -> str:
        """The file's path."""
        return self._name

    def exists(self) -> bool:
        """See `Store.exists`."""
        with self._translated():
            return self._path.is_file()

    def create(self, first: Row) -> None:
        """See `Store.create`: the file, readable for its owner only."""
        try:
            create_file(self._path, _image(first))
        except FileExistsError:
            raise LedgerUnavailable(
                "there is a file of this name already", given=self.name, fix="open it, or choose another name"
            ) from None
        except OSError as error:
            raise LedgerUnavailable(
                "the ledger can't be created here", given=f"{self.name} ({error.strerror})", fix="choose another folder"
            ) from None

    @contextmanager
    def transaction(self, write: bool) -> Iterator[SqliteTransaction]:
        """See `Store.transaction`."""
        with self._translated():
            connection = self._connect()
            try:
                self._begin(connection, write)
                yield SqliteTransaction(connection, self.name)
                connection.execute("COMMIT")
            except BaseException:
                self._roll_back(connection)
                raise

    def close(self) -> None:
        """See `Store.close`."""
        self._leave_to_parent()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _begin(self, connection: sqlite3.Connection, write: bool) -> None:
        """Wait for the lock in short steps: SQLite's own waiting grows to a tenth of a second a step."""
        began, pause, said = time.monotonic(), 0.0002, False
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                if not write:  # a reader's moment is its first read
                    connection.execute("SELECT 1 FROM entries LIMIT 1").fetchone()
                return
            except sqlite3.OperationalError as error:
                waited = time.monotonic() - began
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or waited > self._wait_seconds:
                    raise
            self._roll_back(connection)
            if waited > NOTICE_SECONDS and not said:
                self._waiting(f"ledger {self.name}")
                said = True
            time.sleep(pause)
            pause = min(2 * pause, 0.003)

    def _connect(self) -> sqlite3.Connection:
        self._leave_to_parent()
        file = self._identity()
        if self._connection is not None and file == self._file:
            return self._connection
        if self._connection is not None:  # it would write to a file that has no name any more
            raise _broken(self.name, "it was replaced by another file while it was in use")
        remove_drafts(self._path)
        self._file = file
        address = f"{self._path.resolve().as_uri()}?mode=rw"
        connection = sqlite3.connect(
            address, uri=True, timeout=self._wait_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            self._set_up(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _set_up(self, connection: sqlite3.Connection) -> None:
        if connection.execute("PRAGMA application_id").fetchone() != (_APPLICATION_ID,):
            empty = not self._path.stat().st_size
            raise _unfinished(self.name) if empty else _broken(self.name, "it belongs to another program")
        if connection.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
            raise LedgerUnavailable(
                "the file system does not allow a write-ahead log",
                given=self.name,
                fix="keep the ledger on a local disk",
            )
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA busy_timeout = 0")

    def _identity(self) -> tuple[int, int]:
        """Which file the path names now."""
        try:
            found = os.stat(self._name)  # noqa: PTH116 - quicker than by the path, and every debit looks
        except FileNotFoundError:
            raise LedgerMissing(
                "there is no ledger file",
                given=self.name,
                fix="check the path; a new ledger is made by Ledger.create or `leastnoise budget create` only",
            ) from None
        return found.st_dev, found.st_ino

    def _leave_to_parent(self) -> None:
        if self._process != os.getpid():
            if self._connection is not None:
                _inherited.append(self._connection)
            self._connection, self._process = None, os.getpid()

    def _roll_back(self, connection: sqlite3.Connection) -> None:
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            self._connection = None  # a connection in an unknown state is not used again
            connection.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """SQLite's errors as ours. What the machine does not allow now may pass; everything else is a broken file."""
        try:
            yield
        except LeastNoiseError:
            raise
        except sqlite3.Error as error:
            raise self._as_ours(error) from None
        except UnicodeError:  # SQLite's own words quoted what is broken
            raise _broken(self.name, "its text can't be read") from None
        except OSError as error:
            raise self._unavailable(str(error.strerror), _FIXES[sqlite3.SQLITE_CANTOPEN]) from None

    def _as_ours(self, error: sqlite3.Error) -> LeastNoiseError:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        if code & 0xFF == sqlite3.SQLITE_BUSY:
            return held_by_another(
                self.name,
                self._wait_seconds,
                f"see which one it is (`fuser {quote(self.name)}`) and wait for it or end it, then ask again under the "
                "same id",
            )
        if code & 0xFF not in _FIXES or code in _BROKEN or (code & 0xFF == sqlite3.SQLITE_READONLY and self._may_write):
            if "no such table" in str(error):
                return _unfinished(self.name)
            name = getattr(error, "sqlite_errorname", type(error).__name__)
            return _broken(self.name, f"SQLite can't make sense of it ({name})")  # whose words may quote what is broken
        return self._unavailable(str(error), _FIXES[code & 0xFF])

    def _unavailable(self, reason: str, fix: str) -> LedgerUnavailable:
        problem = f"the ledger could not be read or written ({reason}), and nothing was answered"
        return LedgerUnavailable(problem, given=self.name, fix=f"{fix}, then ask again under the same id")

    @property
    def _may_write(self) -> bool:
        return os.access(self._path, os.W_OK) and os.access(self._path.parent, os.W_OK)


class SqliteTransaction:
    """See `Transaction`."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection, self._name = connection, name

    def check(self) -> None:
        """See `Transaction.check`: SQLite's own integrity check."""
        report = [row[0] for row in self._connection.execute("PRAGMA integrity_check(1)")]
        if report != ["ok"]:
            raise _broken(self._name, "its integrity check fails")

    def entries(self, first: int, last: int | None = None) -> Iterator[Stored]:
        """See `Transaction.entries`."""
        return self._connection.execute(
            "SELECT seq, body, hash FROM entries WHERE seq BETWEEN ? AND ? ORDER BY seq",
            (first, _LAST if last is None else last),
        )

    def append(self, row: Row) -> None:
        """See `Transaction.append`."""
        self._connection.execute(_INSERT, row)


def _image(first: Row) -> bytes:
    """The bytes of a database with one entry, in write-ahead mode from the start."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.executescript(_SCHEMA)
        connection.execute(_INSERT, first)
        image = bytearray(connection.serialize())
    image[18:20] = b"\x02\x02"  # the file format's versions for reading and writing: 2 is the write-ahead log
    return bytes(image)


def _unfinished(name: str) -> LedgerDamaged:
    return LedgerDamaged(
        "the file holds no ledger: its creation was interrupted, or it was emptied",
        given=name,
        fix="if there is no witness beside it, nothing was ever spent: remove it and create the ledger again; "
        "otherwise restore the newest copy whose witness agrees",
    )


def _broken(name: str, reason: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"the file is not a ledger, or not a whole one: {reason}",
        given=name,
        fix="stop releasing; restore the newest copy whose witness agrees",
    )

"""A ledger in one SQLite file, for any number of processes on one machine.

Write-ahead log with `synchronous = FULL`: a transaction that was reported as done survives a power failure.
`BEGIN IMMEDIATE` takes the only write lock before anything is read, so no decision rests on an old balance.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from leastnoise.errors import LeastNoiseError, LedgerDamaged, LedgerMissing, LedgerUnavailable
from leastnoise.ledger.chain import Row

__all__ = ["SqliteStore"]

_APPLICATION_ID = 0x4C4E4C47  # "LNLG", so that another program's file is not taken for a ledger
_SCHEMA = """
CREATE TABLE entries (seq INTEGER PRIMARY KEY, request TEXT, body TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
CREATE INDEX entries_of_request ON entries (request, seq) WHERE request IS NOT NULL;
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries never change'); END;
CREATE TRIGGER entries_last BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END;
"""

# A connection that was open at a fork belongs to the parent. The child must neither use nor close it: closing could
# give up locks that the parent holds. So the child keeps it here, untouched.
_inherited: list[sqlite3.Connection] = []


class SqliteStore:
    """Entries in one file.

    Args:
        path: The file.
        wait_seconds: How long to wait for another writer.
    """

    def __init__(self, path: Path, wait_seconds: float = 60) -> None:
        self._path, self._wait_seconds = path, wait_seconds
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._process = os.getpid()

    @property
    def name(self) -> str:
        """The file's path."""
        return str(self._path)

    def exists(self) -> bool:
        """See `Store.exists`."""
        return self._path.is_file()

    def create(self) -> None:
        """Make the file, readable for its owner only."""
        try:
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            raise LedgerUnavailable(
                "there is a file of this name already", given=self.name, fix="open it, or choose another name"
            ) from None
        except OSError as error:
            raise LedgerUnavailable(
                "the ledger can't be created here", given=f"{self.name} ({error.strerror})", fix="choose another folder"
            ) from None
        with self._translated():
            connection = self._connect(new=True)
            connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # the name of the file must survive a power failure as its contents do
        finally:
            os.close(folder)

    @contextmanager
    def transaction(self, write: bool) -> Iterator[SqliteSession]:
        """See `Store.transaction`."""
        with self._translated():
            connection = self._connect()
            try:
                self._begin(connection, write)
                yield SqliteSession(connection, self.name)
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
        patience, pause = time.monotonic() + self._wait_seconds, 0.0002
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                if not write:  # a reader's moment is its first read
                    connection.execute("SELECT 1 FROM entries LIMIT 1").fetchone()
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > patience:
                    raise
            self._roll_back(connection)
            time.sleep(pause)
            pause = min(2 * pause, 0.003)

    def _connect(self, new: bool = False) -> sqlite3.Connection:
        self._leave_to_parent()
        file = self._identity()
        if self._connection is not None and file == self._file:
            return self._connection
        if self._connection is not None:  # it would write to a file that has no name any more
            raise _broken(self.name, "it was replaced by another file while it was in use")
        self._file = file
        address = f"{self._path.resolve().as_uri()}?mode=rw"
        connection = sqlite3.connect(
            address, uri=True, timeout=self._wait_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            self._set_up(connection, new)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _set_up(self, connection: sqlite3.Connection, new: bool) -> None:
        if new:
            connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        elif connection.execute("PRAGMA application_id").fetchone() != (_APPLICATION_ID,):
            raise _broken(self.name, "it is empty, or belongs to another program")
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
            found = self._path.stat()
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
        """SQLite's errors as ours: what is broken stays broken, the rest may pass."""
        try:
            yield
        except LeastNoiseError:
            raise
        except (sqlite3.OperationalError, sqlite3.IntegrityError, OSError) as error:
            if "no such table" in str(error):
                raise _broken(self.name, "it holds no ledger") from None
            raise LedgerUnavailable(
                f"the ledger could not be read or written ({_reason(error)}), and nothing was answered",
                given=self.name,
                fix="see that the disk has room and file and folder are writable, then ask again under the same id",
            ) from None
        except sqlite3.DatabaseError as error:
            raise _broken(self.name, _reason(error)) from None


class SqliteSession:
    """See `Session`."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection, self._name = connection, name

    def check(self) -> None:
        """See `Session.check`: SQLite's own integrity check."""
        report = [row[0] for row in self._connection.execute("PRAGMA integrity_check(1)")]
        if report != ["ok"]:
            raise _broken(self._name, "its integrity check fails")

    def entries(self, first: int) -> Iterator[Row]:
        """See `Session.entries`."""
        rows = self._connection.execute(
            "SELECT seq, request, body, hash FROM entries WHERE seq >= ? ORDER BY seq", (first,)
        )
        return map(Row._make, rows)

    def entries_of(self, request: str) -> list[Row]:
        """See `Session.entries_of`."""
        rows = self._connection.execute(
            "SELECT seq, request, body, hash FROM entries WHERE request = ? ORDER BY seq", (request,)
        )
        return [Row._make(row) for row in rows]

    def append(self, row: Row) -> None:
        """See `Session.append`."""
        self._connection.execute(
            "INSERT INTO entries (seq, request, body, hash) VALUES (?, ?, ?, ?)",
            (row.seq, row.request, row.body, row.hash),
        )


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


def _broken(name: str, why: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"the file is not a ledger, or not a whole one: {why}",
        given=name,
        fix="stop releasing; restore the newest copy whose witness agrees",
    )

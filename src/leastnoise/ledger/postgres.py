"""A ledger in Postgres, for any number of processes on any number of hosts.

Each ledger has one row in `leastnoise_ledgers`; `SELECT … FOR UPDATE` on it is the write lock, taken before anything is
read. `synchronous_commit` is switched on for every session, whatever the server's default. Triggers refuse to change or
remove an entry. The engine's own rights are for its administrator to restrict; a witness elsewhere shows what they did.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from leastnoise.errors import LeastNoiseError, LedgerDamaged, LedgerMissing, LedgerUnavailable, MissingPackage
from leastnoise.ledger.record import read_name
from leastnoise.ledger.store import NOTICE_SECONDS, WAIT_SECONDS, Row, Stored, held_by_another, say_waiting

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["PostgresStore"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS leastnoise_ledgers (name text PRIMARY KEY);
CREATE TABLE IF NOT EXISTS leastnoise_entries (
    ledger text NOT NULL REFERENCES leastnoise_ledgers (name),
    seq bigint NOT NULL,
    body text NOT NULL,
    hash text NOT NULL,
    PRIMARY KEY (ledger, seq)
);
CREATE OR REPLACE FUNCTION leastnoise_entries_stay() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'entries never change and are never removed'; END $$;
CREATE OR REPLACE TRIGGER leastnoise_entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON leastnoise_entries
    FOR EACH STATEMENT EXECUTE FUNCTION leastnoise_entries_stay();
"""
_LAST = 2**63 - 1
_INSERT = "INSERT INTO leastnoise_entries (ledger, seq, body, hash) VALUES (%s, %s, %s, %s)"
_LOOK = "SELECT name FROM leastnoise_ledgers WHERE name = %s"
_LOCK = "SELECT name FROM leastnoise_ledgers WHERE name = %s FOR UPDATE"
_SESSION = f"""
SET synchronous_commit TO on;
SET lock_timeout TO '{NOTICE_SECONDS:g}s';
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
"""
_PATIENTLY = f"SET LOCAL lock_timeout TO '{WAIT_SECONDS:g}s'"
_SCHEMA_LOCK = 0x4C4E4C47  # two first users at once must not both create the tables


class PostgresStore:
    """The entries of one ledger in a Postgres database.

    Args:
        address: "postgresql://user:password@host/database", or what else libpq understands. It is never shown.
        ledger: The name of the ledger, where a database holds several.
        waiting: Called once when another process holds the write lock for longer; says so on standard error.
    """

    def __init__(self, address: str, ledger: str = "ledger", waiting: Callable[[str], None] = say_waiting) -> None:
        self._address, self._ledger, self._waiting = address, read_name(ledger, "ledger"), waiting
        self._connection: Connection[Any] | None = None
        self._process = os.getpid()

    @property
    def name(self) -> str:
        """The ledger's name, without the address, which may hold a password."""
        return f"postgresql ledger {self._ledger!r}"

    def exists(self) -> bool:
        """See `Store.exists`."""
        try:
            with self.transaction(write=False):
                return True
        except LedgerMissing:
            return False

    def create(self, first: Row) -> None:
        """See `Store.create`: the tables if need be, the ledger's row and its first entry, in one transaction."""
        with self._translated():
            connection = self._connect()
            with connection.transaction():
                connection.execute(_PATIENTLY)
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_SCHEMA_LOCK,))
                connection.execute(_SCHEMA)
                made = connection.execute(
                    "INSERT INTO leastnoise_ledgers (name) VALUES (%s) ON CONFLICT DO NOTHING", (self._ledger,)
                )
                if made.rowcount != 1:
                    raise LedgerUnavailable(
                        "there is a ledger of this name already",
                        given=self._ledger,
                        fix="open it, or choose another name",
                    )
                connection.execute(_INSERT, (self._ledger, *first))

    @contextmanager
    def transaction(self, write: bool) -> Iterator[PostgresTransaction]:
        """See `Store.transaction`."""
        with self._translated(), ExitStack() as stack:
            connection = self._connect()
            if not write or not self._locked(connection, stack):
                stack.enter_context(connection.transaction())
                if write:
                    self._waiting(self.name)
                    connection.execute(_PATIENTLY)
                self._require_ledger(connection, _LOCK if write else _LOOK)
            yield PostgresTransaction(connection, self._ledger)

    def _locked(self, connection: Connection[Any], stack: ExitStack) -> bool:
        """Begin a transaction that holds the write lock; False where another process holds it for longer."""
        from psycopg.errors import LockNotAvailable

        try:
            with ExitStack() as attempt:
                attempt.enter_context(connection.transaction())
                self._require_ledger(connection, _LOCK)
                stack.enter_context(attempt.pop_all())
        except LockNotAvailable:
            return False
        return True

    def _require_ledger(self, connection: Connection[Any], query: str) -> None:
        if connection.execute(query, (self._ledger,)).fetchone() is None:
            raise self._missing()

    def close(self) -> None:
        """See `Store.close`."""
        self._leave_to_parent()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self) -> Connection[Any]:
        try:
            import psycopg
        except ImportError:
            raise MissingPackage(
                "a ledger in Postgres needs the package psycopg", fix="pip install 'leastnoise[postgres]'"
            ) from None
        self._leave_to_parent()
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self._address, autocommit=True, connect_timeout=10)
            self._connection.execute(_SESSION)
        return self._connection

    def _leave_to_parent(self) -> None:
        """After a fork the connection is the parent's; psycopg does not close a connection of another process."""
        if self._process != os.getpid():
            self._connection, self._process = None, os.getpid()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """The driver's errors as ours, without its texts, which may show the address."""
        try:
            yield
        except LeastNoiseError:
            raise
        except Exception as error:
            raise self._as_ours(error) from None

    def _as_ours(self, error: Exception) -> Exception:
        import psycopg

        if isinstance(error, psycopg.errors.UndefinedTable):
            return self._missing()
        if isinstance(error, psycopg.errors.DataCorrupted | psycopg.errors.IndexCorrupted):
            return LedgerDamaged(
                "Postgres reports broken data in the ledger",
                given=self._ledger,
                fix="stop releasing; restore the newest copy whose witness agrees",
            )
        if isinstance(error, psycopg.errors.LockNotAvailable):
            return held_by_another(
                self.name,
                NOTICE_SECONDS + WAIT_SECONDS,
                "see which session it is (table pg_stat_activity) and wait for it or end it, then ask again under the "
                "same id",
            )
        if isinstance(error, psycopg.Error):
            return LedgerUnavailable(
                f"the ledger could not be read or written ({type(error).__name__}), and nothing was answered",
                given=self._ledger,
                fix="see that the server runs, can be reached and has room, then ask again under the same id",
            )
        return error

    def _missing(self) -> LedgerMissing:
        return LedgerMissing(
            "there is no such ledger in this database",
            given=self._ledger,
            fix="check the address; a new ledger is made by Ledger.create or `leastnoise budget create` only",
        )


class PostgresTransaction:
    """See `Transaction`."""

    def __init__(self, connection: Connection[Any], ledger: str) -> None:
        self._connection, self._ledger = connection, ledger

    def check(self) -> None:
        """See `Transaction.check`: a broken page shows when the entries are read."""

    def entries(self, first: int, last: int | None = None) -> Iterator[Stored]:
        """See `Transaction.entries`; fetched in blocks, each a statement of its own."""
        while True:
            rows = self._connection.execute(
                "SELECT seq, body, hash FROM leastnoise_entries WHERE ledger = %s AND seq BETWEEN %s AND %s"
                " ORDER BY seq LIMIT 10000",
                (self._ledger, first, _LAST if last is None else last),
            ).fetchall()
            yield from rows
            if len(rows) < 10000:
                return
            first = rows[-1][0] + 1

    def append(self, row: Row) -> None:
        """See `Transaction.append`."""
        self._connection.execute(_INSERT, (self._ledger, *row))

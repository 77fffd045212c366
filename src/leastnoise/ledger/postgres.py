"""A ledger in Postgres, for any number of processes on any number of hosts.

Each ledger has one row in `leastnoise_ledgers`; `SELECT … FOR UPDATE` on it is the write lock, taken before anything is
read. `synchronous_commit` is switched on for every session, whatever the server's default. Triggers refuse to change or
remove an entry. The engine's own rights are for its administrator to restrict; a witness elsewhere shows what they did.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from leastnoise.errors import LeastNoiseError, LedgerDamaged, LedgerMissing, LedgerUnavailable, MissingPackage
from leastnoise.ledger.chain import Row
from leastnoise.ledger.record import read_name

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["PostgresStore"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS leastnoise_ledgers (name text PRIMARY KEY);
CREATE TABLE IF NOT EXISTS leastnoise_entries (
    ledger text NOT NULL REFERENCES leastnoise_ledgers (name),
    seq bigint NOT NULL,
    request text,
    body text NOT NULL,
    hash text NOT NULL,
    PRIMARY KEY (ledger, seq)
);
CREATE INDEX IF NOT EXISTS leastnoise_entries_of_request ON leastnoise_entries (ledger, request, seq)
    WHERE request IS NOT NULL;
CREATE OR REPLACE FUNCTION leastnoise_entries_stay() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'entries never change and are never removed'; END $$;
CREATE OR REPLACE TRIGGER leastnoise_entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON leastnoise_entries
    FOR EACH STATEMENT EXECUTE FUNCTION leastnoise_entries_stay();
"""
_LOOK = "SELECT name FROM leastnoise_ledgers WHERE name = %s"
_LOCK = "SELECT name FROM leastnoise_ledgers WHERE name = %s FOR UPDATE"
_SESSION = """
SET synchronous_commit TO on;
SET lock_timeout TO '60s';
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
"""
_SCHEMA_LOCK = 0x4C4E4C47  # two first users at once must not both create the tables


class PostgresStore:
    """The entries of one ledger in a Postgres database.

    Args:
        address: "postgresql://user:password@host/database", or what else libpq understands. It is never shown.
        ledger: The name of the ledger, where a database holds several.
    """

    def __init__(self, address: str, ledger: str = "ledger") -> None:
        self._address, self._ledger = address, read_name(ledger, "ledger")
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

    def create(self) -> None:
        """Make the tables if need be, and the ledger's row."""
        with self._translated():
            connection = self._connect()
            with connection.transaction():
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

    @contextmanager
    def transaction(self, write: bool) -> Iterator[PostgresSession]:
        """See `Store.transaction`."""
        with self._translated():
            connection = self._connect()
            with connection.transaction():
                if connection.execute(_LOCK if write else _LOOK, (self._ledger,)).fetchone() is None:
                    raise self._missing()
                yield PostgresSession(connection, self._ledger)

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


class PostgresSession:
    """See `Session`."""

    def __init__(self, connection: Connection[Any], ledger: str) -> None:
        self._connection, self._ledger = connection, ledger

    def check(self) -> None:
        """See `Session.check`: a broken page shows when the entries are read."""

    def entries(self, first: int) -> Iterator[Row]:
        """See `Session.entries`; fetched in blocks, each a statement of its own."""
        while True:
            rows = self._connection.execute(
                "SELECT seq, request, body, hash FROM leastnoise_entries WHERE ledger = %s AND seq >= %s"
                " ORDER BY seq LIMIT 10000",
                (self._ledger, first),
            ).fetchall()
            yield from map(Row._make, rows)
            if len(rows) < 10000:
                return
            first = rows[-1][0] + 1

    def entries_of(self, request: str) -> list[Row]:
        """See `Session.entries_of`."""
        rows = self._connection.execute(
            "SELECT seq, request, body, hash FROM leastnoise_entries WHERE ledger = %s AND request = %s ORDER BY seq",
            (self._ledger, request),
        )
        return [Row._make(row) for row in rows]

    def append(self, row: Row) -> None:
        """See `Session.append`."""
        self._connection.execute(
            "INSERT INTO leastnoise_entries (ledger, seq, request, body, hash) VALUES (%s, %s, %s, %s, %s)",
            (self._ledger, row.seq, row.request, row.body, row.hash),
        )

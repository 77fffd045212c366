"""What the service remembers beside the ledger: tokens, and what was asked, approved and released.

SQLite in a file, or Postgres for several hosts. Nothing here decides about budget: whoever loses this store loses who
may ask, not what was spent. Of a token only the hash is kept.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leastnoise.errors import BadConfiguration, MissingPackage, ServiceUnavailable
from leastnoise.ledger.record import Json, canonical

__all__ = ["Asked", "ServiceStore", "StoredToken", "brief"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS leastnoise_tokens (
    id TEXT PRIMARY KEY, hash TEXT NOT NULL, name TEXT NOT NULL, role TEXT NOT NULL, datasets TEXT, purposes TEXT,
    created BIGINT NOT NULL, expires BIGINT, revoked BIGINT, made_by TEXT
);
CREATE TABLE IF NOT EXISTS leastnoise_asked (
    id TEXT PRIMARY KEY, analyst TEXT NOT NULL, request TEXT NOT NULL, dataset TEXT NOT NULL, purpose TEXT NOT NULL,
    state TEXT NOT NULL, created BIGINT NOT NULL, changed BIGINT NOT NULL, server TEXT, approver TEXT, expires BIGINT,
    origin TEXT, brief TEXT NOT NULL, problem TEXT, body TEXT NOT NULL, held TEXT, plan TEXT, result TEXT,
    UNIQUE (analyst, request)
);
CREATE INDEX IF NOT EXISTS leastnoise_asked_by_dataset ON leastnoise_asked (dataset, created);
CREATE INDEX IF NOT EXISTS leastnoise_asked_by_state ON leastnoise_asked (state, expires);
"""
_KEPT = "id, hash, name, role, datasets, purposes, created, expires, revoked, made_by"
_ASKED = (
    "id, analyst, request, dataset, purpose, body, state, created, changed, server, plan, problem, approver, expires, "
    "origin"
)
_LISTED = _ASKED.replace("body", "brief").replace("plan", "NULL")
_TABLES = {"leastnoise_tokens": _KEPT, "leastnoise_asked": f"{_ASKED}, brief, held, result"}
_BEGIN = """
INSERT INTO leastnoise_asked
(id, analyst, request, dataset, purpose, body, state, created, changed, server, expires, origin, brief)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id
"""
_OTHERS = "SELECT id FROM leastnoise_tokens WHERE name = ? AND COALESCE(made_by, name) <> ?"
_LONGEST_KEPT = 10_000  # characters of a question in a list, or of one that nothing was spent on
_FORGOTTEN = 60  # seconds after which a price that was not given back is looked at again
_SCHEMA_LOCK = 0x4C4E5356
_WAIT = 10  # seconds for another process to let go of the file


@dataclass(frozen=True)
class StoredToken:
    """A token without its secret.

    Attributes:
        id: Its public part.
        hash: SHA-256 of its secret part.
        name: Who has it: the analyst in the ledger.
        role: What it may do.
        datasets: For which datasets; None for all.
        purposes: For which purposes; None for all.
        created: When it was made, in seconds since 1970.
        expires: When it ends; None for never.
        revoked: When it was revoked.
        made_by: The origin of the curator who made it; None where whoever keeps the service did.
    """

    id: str
    hash: str
    name: str
    role: str
    datasets: tuple[str, ...] | None
    purposes: tuple[str, ...] | None
    created: int
    expires: int | None = None
    revoked: int | None = None
    made_by: str | None = None


@dataclass(frozen=True)
class Asked:
    """A release that was asked for, from the first request on.

    Attributes:
        id: Its public name.
        analyst: Who asked.
        request: The analyst's own id for it.
        dataset: About which data.
        purpose: What for.
        body: The question and its price, as canonical JSON.
        state: "running", "waiting" (for approval), "approved", "denied", "expired", "cancelled", "refused", "failed",
            "unfinished" (the server stopped) or "done".
        created: When it was first asked, in seconds since 1970.
        changed: When it came to its state.
        server: Which server works on it.
        plan: Its plan, once there is one.
        problem: Why there is no answer.
        approver: Who approved or denied it.
        expires: When an approval ends, or what a server works at counts as left behind. Where a request was cancelled,
            denied or expired it stays until its price is given back.
        origin: Who answers for the token under which it was asked.
    """

    id: str
    analyst: str
    request: str
    dataset: str
    purpose: str
    body: str
    state: str
    created: int
    changed: int
    server: str | None = None
    plan: Any = None
    problem: Any = None
    approver: str | None = None
    expires: int | None = None
    origin: str | None = None


class ServiceStore:
    """Tokens and requests, in SQLite or Postgres.

    Args:
        place: A file, or "postgresql://…".
    """

    def __init__(self, place: str) -> None:
        self._place, self._lock = place, threading.Lock()
        self._postgres = place.startswith(("postgresql://", "postgres://"))
        self._connection: Any = None
        with self._transaction() as run:
            if self._postgres:  # two servers that start at once must not both make the tables
                run(f"SELECT pg_advisory_xact_lock({_SCHEMA_LOCK})")
            found = {table: self._columns(run, table) for table in _TABLES}
            fits = all(not columns or columns == _columns_of(_TABLES[table]) for table, columns in found.items())
            for statement in _SCHEMA.split(";") if fits else ():
                if statement.strip():
                    run(statement)
        if not fits:
            raise BadConfiguration(
                "the service's store was made by another version",
                given=None,
                fix="begin with a new store, and make new tokens; what was spent and answered stays in the ledger",
            )

    def add_token(self, token: StoredToken) -> bool:
        """Keep a new token; False where a curator makes it and its name has a token of another origin."""
        values = [token.id, token.hash, token.name, token.role, _listed(token.datasets), _listed(token.purposes)]
        values += [token.created, token.expires, token.revoked, token.made_by]  # type: ignore[list-item]
        with self._transaction() as run:
            if token.made_by is not None and run(_OTHERS, [token.name, token.made_by]):
                return False
            run(f"INSERT INTO leastnoise_tokens ({_KEPT}) VALUES ({_marks(10)})", values)  # noqa: S608
        return True

    def comes_from(self, name: str, origin: str) -> bool:
        """Whether a name has a token that somebody of this origin made."""
        with self._transaction() as run:
            return bool(run("SELECT id FROM leastnoise_tokens WHERE name = ? AND made_by = ?", [name, origin]))

    def token(self, token_id: str) -> StoredToken | None:
        """A token by its public part."""
        with self._transaction() as run:
            rows = run(f"SELECT {_KEPT} FROM leastnoise_tokens WHERE id = ?", [token_id])  # noqa: S608
        return _token(rows[0]) if rows else None

    def tokens(self) -> list[StoredToken]:
        """All tokens, the oldest first."""
        with self._transaction() as run:
            return [_token(row) for row in run(f"SELECT {_KEPT} FROM leastnoise_tokens ORDER BY created, id")]  # noqa: S608

    def revoke(self, token_id: str, now: int) -> bool:
        """End a token; False where there is none that has not ended."""
        with self._transaction() as run:
            changed = run(
                "UPDATE leastnoise_tokens SET revoked = ? WHERE id = ? AND revoked IS NULL RETURNING id",
                [now, token_id],
            )
        return bool(changed)

    def begin(self, asked: Asked) -> bool:
        """Keep a new request; False where the analyst has one of this id already."""
        values = [asked.id, asked.analyst, asked.request, asked.dataset, asked.purpose, asked.body, asked.state]
        values += [asked.created, asked.changed, asked.server, asked.expires, asked.origin, brief(asked.body)]  # type: ignore[list-item]
        with self._transaction() as run:
            made = run(_BEGIN, values)
        return bool(made)

    def move(self, asked_id: str, states: Sequence[str], to: str, now: int, **fields: Any) -> bool:
        """Bring a request from one of some states to another; False where it is in none of them.

        One statement decides, so that of two who try at once only one succeeds.
        """
        if "body" in fields:
            fields["brief"] = brief(fields["body"])
        names = ["state", "changed", *fields]
        values = [to, now, *(canonical(value) if name in _JSON else value for name, value in fields.items())]
        setting = ", ".join(f"{name} = ?" for name in names)
        with self._transaction() as run:
            changed = run(
                f"UPDATE leastnoise_asked SET {setting} WHERE id = ? AND state IN ({_marks(len(states))}) RETURNING id",  # noqa: S608
                [*values, asked_id, *states],
            )
        return bool(changed)

    def asked(self, asked_id: str) -> Asked | None:
        """A request by its public name."""
        return self._one("id = ?", [asked_id])

    def asked_as(self, analyst: str, request: str) -> Asked | None:
        """A request by the analyst's own id."""
        return self._one("analyst = ? AND request = ?", [analyst, request])

    def has_asked(self) -> bool:
        """Whether anything was ever asked that a ledger must know of."""
        with self._transaction() as run:
            return bool(run("SELECT id FROM leastnoise_asked WHERE state <> 'refused' LIMIT 1"))

    def result(self, asked_id: str) -> str | None:
        """What was released, as JSON text."""
        return self._text("result", asked_id)

    def held(self, asked_id: str) -> Json:
        """The ledger's request, as the worker told it before it was held."""
        found = self._text("held", asked_id)
        read: Json = None if found is None else json.loads(found)
        return read

    def listed(self, datasets: Sequence[str], analyst: str | None = None, states: Sequence[str] = ()) -> list[Asked]:
        """The newest requests on some datasets, by one analyst or by all, in some states or in all; without plans."""
        if not datasets:
            return []
        where, values = f"dataset IN ({_marks(len(datasets))})", list(datasets)
        if analyst is not None:
            where, values = f"{where} AND analyst = ?", [*values, analyst]
        if states:
            where, values = f"{where} AND state IN ({_marks(len(states))})", [*values, *states]
        return self._many(f"{where} ORDER BY created DESC, id LIMIT 1000", values, _LISTED)

    def renew(self, asked_ids: Sequence[str], expires: int) -> None:
        """Say that a server is still at some requests."""
        with self._transaction() as run:
            for asked_id in asked_ids:
                run("UPDATE leastnoise_asked SET expires = ? WHERE id = ? AND state = 'running'", [expires, asked_id])

    def due(self, now: int) -> list[Asked]:
        """Waiting and approved requests whose time is over, and ended ones whose price was not given back since."""
        return self._many(
            "(state IN ('waiting', 'approved') AND expires <= ?) OR (state IN ('cancelled', 'denied', 'expired') "
            "AND expires IS NOT NULL AND changed <= ?) ORDER BY expires LIMIT 1000",
            [now, now - _FORGOTTEN],
        )

    def abandon(self, server: str, now: int) -> None:
        """What this server left behind when it stopped, or any server for long, is unfinished: asked again, it goes on.

        A server that comes back under another name, as a new container does, never looks for what the old one left.
        """
        with self._transaction() as run:
            run(
                "UPDATE leastnoise_asked SET state = 'unfinished', changed = ? "
                "WHERE state = 'running' AND (server = ? OR expires <= ?)",
                [now, server, now],
            )

    def close(self) -> None:
        """Let go of the file or connection."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _one(self, where: str, values: Sequence[Any]) -> Asked | None:
        return next(iter(self._many(where, values)), None)

    def _many(self, where: str, values: Sequence[Any], columns: str = _ASKED) -> list[Asked]:
        with self._transaction() as run:
            rows = run(f"SELECT {columns} FROM leastnoise_asked WHERE {where}", values)  # noqa: S608 - own words
        return [Asked(*row[:10], *(_json(text) for text in row[10:12]), *row[12:]) for row in rows]

    def _text(self, column: str, asked_id: str) -> str | None:
        with self._transaction() as run:
            rows = run(f"SELECT {column} FROM leastnoise_asked WHERE id = ?", [asked_id])  # noqa: S608 - own words
        found: str | None = rows[0][0] if rows else None
        return found

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        """A function that runs a statement and gives its rows; all of them happen, or none."""
        with self._lock:
            try:
                connection = self._connect()
                with connection if not self._postgres else connection.transaction():
                    yield self._run
            except self._errors():
                failed = True
                if self._postgres and self._connection is not None:
                    self._connection.close()
                    self._connection = None
            else:
                failed = False
        if failed:  # outside of `except`: what the database says may quote what was asked
            raise ServiceUnavailable("the service's store can't be read or written", fix="look into its database")

    def _run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        if not self._postgres:
            return list(self._connection.execute(statement, values).fetchall())
        cursor = self._connection.execute(statement.replace("?", "%s") if values else statement, values or None)
        return [] if cursor.description is None else list(cursor.fetchall())

    def _connect(self) -> Any:
        if self._connection is None and self._postgres:
            self._connection = self._driver().connect(self._place, autocommit=True)
        elif self._connection is None:
            path = Path(self._place)
            path.touch(mode=0o600, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=_WAIT, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
        return self._connection

    def _columns(self, run: Any, table: str) -> set[str]:
        """The columns of a table; none where it is not there."""
        if self._postgres:
            rows = run(f"SELECT attname FROM pg_attribute WHERE attrelid = to_regclass('{table}') AND attnum > 0 "  # noqa: S608
                       "AND NOT attisdropped")  # fmt: skip
        else:
            rows = run(f"SELECT name FROM pragma_table_info('{table}')")  # noqa: S608 - own words
        return {row[0] for row in rows}

    def _errors(self) -> tuple[type[Exception], ...]:
        return (self._driver().Error,) if self._postgres else (sqlite3.Error,)

    @staticmethod
    def _driver() -> Any:
        try:
            import psycopg
        except ImportError:
            raise MissingPackage("this needs psycopg", fix='pip install "leastnoise[postgres]"') from None
        return psycopg


_JSON = ("plan", "result", "problem", "held")


def brief(body: str) -> str:
    """A request without its question where that is long: for lists, and where nothing was spent on it."""
    if len(body) <= _LONGEST_KEPT:
        return body
    return canonical({**json.loads(body), "question": {"question": "too long to be shown here"}})


def _columns_of(listed: str) -> set[str]:
    return set(listed.split(", "))


def _marks(count: int) -> str:
    return ", ".join("?" * count)


def _listed(names: tuple[str, ...] | None) -> str | None:
    return None if names is None else json.dumps(list(names))


def _json(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _token(row: Sequence[Any]) -> StoredToken:
    datasets, purposes = (None if text is None else tuple(json.loads(text)) for text in row[4:6])
    token_id, digest, name, role, _, _, created, expires, revoked, made_by = row
    return StoredToken(token_id, digest, name, role, datasets, purposes, created, expires, revoked, made_by)

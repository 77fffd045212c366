"""One process's view of a ledger: the books, brought up to date before every decision, and the one way to append.

The entries are the only truth. Every process holds the state they add up to, follows what others have appended before
it decides, and appends within the same transaction, so that no two processes ever decide on the same balance.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from leastnoise.errors import LeastNoiseError, LedgerDamaged
from leastnoise.ledger.books import VERSION, Books
from leastnoise.ledger.chain import START, Head, damaged
from leastnoise.ledger.group_commit import GroupCommit, Ticket
from leastnoise.ledger.record import Entry
from leastnoise.ledger.store import Session, Store
from leastnoise.ledger.witness import Witness, WitnessFile

__all__ = ["Keeper", "Writing"]

Result = TypeVar("Result")


class Writing:
    """What an operation may do within a transaction that holds the write lock, with the books up to date."""

    def __init__(self, session: Session, books: Books, time: int) -> None:
        self._session, self.books, self._time = session, books, time

    @property
    def time(self) -> int:
        """The time of the next entry: never before that of the last."""
        return max(self._time, self.books.time)

    def append(self, kind: str, fields: Entry) -> None:
        """Accept an entry by the rules of the books, and store it."""
        self._session.append(self.books.append(kind, self._time, fields))

    def entries(self, first: int, last: int) -> list[Entry]:
        """Entries read again and proven by the chain.

        Raises:
            LedgerDamaged: They are not what they were.
        """
        return self.books.chain.prove(self._session.entries(first, last), first, last)


class Keeper:
    """Shares a store between the threads of this process, and anew in each process that it is carried into."""

    def __init__(self, store: Store, witness: Path | None, clock: Callable[[], float]) -> None:
        self.store, self.witness_path, self._clock = store, witness, clock
        self._witness_file = None if witness is None else WitnessFile(witness)
        self._seen = START  # the end of the chain as it was last seen: it never goes back
        self._begin()

    def now(self, books: Books) -> int:
        """Seconds since 1970, never less than what the ledger has seen."""
        return max(int(self._clock()), books.time)

    def write(self, operation: Callable[[Writing], Result]) -> Result:
        """Run an operation; when this returns, what it appended is on the disk.

        Raises:
            LeastNoiseError: What the operation raised; then it appended nothing.
        """
        self._after_fork()
        result: Result = self._group.run(operation)
        return result

    @contextmanager
    def read(self) -> Iterator[tuple[Books, Session]]:
        """The books up to date, and the entries as of the same moment."""
        self._after_fork()
        with self._lock, self.store.transaction(write=False) as session:
            self._catch_up(session)
            yield self._books, session

    def close(self) -> None:
        """Let go of this process's connection."""
        self._after_fork()
        with self._lock:
            self.store.close()
            if self._witness_file is not None:
                self._witness_file.close()

    def _begin(self) -> None:
        self._books, self._lock, self._process = Books(), threading.RLock(), os.getpid()
        self._stale = False  # whether the books may hold what the store does not, after a failure
        self._group: GroupCommit[Writing] = GroupCommit(self._run_batch)

    def _after_fork(self) -> None:
        """In a child, start over: another thread of the parent may have held a lock or been half-way through."""
        if self._process != os.getpid():
            self._begin()

    def _run_batch(self, batch: list[Ticket[Writing]]) -> None:
        with self._lock:
            try:
                with self.store.transaction(write=True) as session:
                    self._catch_up(session)
                    known = self._confirmed_witness()
                    writing = Writing(session, self._books, int(self._clock()))
                    if self._books.version != VERSION:  # older programs refuse the ledger from here on
                        writing.append("version", {"version": VERSION})
                    for ticket in batch:
                        before = self._books.head
                        try:
                            ticket.result = ticket.operation(writing)
                        except LedgerDamaged:
                            raise
                        except LeastNoiseError as error:
                            if self._books.head != before:
                                raise
                            ticket.error = error  # refused, and nothing of it was appended
            except BaseException:
                self._stale = True  # it may or may not be on the disk: everything is read again
                raise
            self._seen = self._books.head
            if self._witness_file is not None and known != self._seen.length:
                self._witness_file.advance(Witness(self._books.ledger, self._seen.length, self._seen.hash))

    def _catch_up(self, session: Session) -> None:
        """Take over what other processes have appended; whatever was seen before must still be there."""
        books, self._stale = Books() if self._stale else self._books, True
        rows = iter(session.entries(max(self._seen.length, 1)))
        if self._seen.length:
            last = next(rows, None)
            if last is None or Head(last.seq, last.hash) != self._seen:
                raise damaged(self._seen.length, "it was there before and is no longer: an old copy was put back")
        books.follow(rows if books.head == self._seen else session.entries(1))
        if not books.ledger:
            raise LedgerDamaged(
                "the ledger has no entries: its creation was interrupted, or they were removed",
                given=self.store.name,
                fix="if there is no witness of it, nothing was ever spent: remove it and create it again; "
                "otherwise restore the newest copy",
            )
        if not books.stories.whole:
            raise damaged(books.head.length + 1, "the rest of an answer is missing")
        self._books, self._seen, self._stale = books, books.head, False

    def _confirmed_witness(self) -> int | None:
        """How far the witness is; under the write lock nothing it has seen may be missing."""
        if self._witness_file is None:
            return None
        witness, books = self._witness_file.read(), self._books
        witness.confirm(books.ledger, books.head.length, books.chain.hash_at(witness.count))
        return witness.count

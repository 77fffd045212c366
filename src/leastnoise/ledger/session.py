"""One process's view of a ledger: the state, brought up to date before every decision, and the one way to append.

The entries are the only truth. Every process holds the state they add up to, follows what others have appended before
it decides, and appends within the same transaction, so that no two processes ever decide on the same balance. Threads
that wait for the writer share its next transaction, and its one flush to the disk.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from leastnoise.errors import LeastNoiseError, LedgerDamaged, LedgerUnavailable
from leastnoise.ledger.chain import START, Head, Row, damaged
from leastnoise.ledger.ledger_state import LAST_TIME, VERSION, LedgerState
from leastnoise.ledger.record import Entry
from leastnoise.ledger.store import Store, Transaction
from leastnoise.ledger.witness import Witness, WitnessFile

__all__ = ["GroupCommit", "LedgerSession", "Ticket", "WriteContext"]

Result = TypeVar("Result")


class WriteContext:
    """What an operation may do within a transaction that holds the write lock, with the state up to date."""

    def __init__(self, transaction: Transaction, state: LedgerState, time: int) -> None:
        self._transaction, self.state, self._time = transaction, state, time
        self._appended: list[Row] = []

    @property
    def time(self) -> int:
        """The time of the next entry: never before that of the last."""
        return max(self._time, self.state.time)

    def append(self, kind: str, fields: Entry) -> None:
        """Accept an entry by the rules of the state, and store it."""
        row = self.state.append(kind, self._time, fields)
        self._transaction.append(row)
        self._appended.append(row)

    def confirm(self) -> None:
        """Read again what was appended: a foreign trigger or view may have dropped or changed it.

        Raises:
            LedgerDamaged: The store does not hold it.
        """
        if self._appended:
            first, last = self._appended[0].seq, self._appended[-1].seq
            if list(self._transaction.entries(first, last)) != self._appended:
                raise damaged(first, "the database did not keep it as it was written; look for foreign triggers")

    def entries(self, first: int, last: int) -> list[Entry]:
        """Entries read again and proven by the chain.

        Raises:
            LedgerDamaged: They are not what they were.
        """
        return self.state.chain.prove(self._transaction.entries(first, last), first, last)


class Ticket:
    """An operation in the queue, and what came of it."""

    __slots__ = ("done", "error", "operation", "result")

    def __init__(self, operation: Callable[[WriteContext], Any]) -> None:
        self.operation = operation
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False


class GroupCommit:
    """Runs operations in batches, one batch at a time.

    Args:
        run_batch: Runs all tickets of a batch in one transaction and sets their results or errors. What it raises
            is the fate of the whole batch.
    """

    def __init__(self, run_batch: Callable[[list[Ticket]], None]) -> None:
        self._run_batch = run_batch
        self._queue: list[Ticket] = []
        self._queue_lock, self._writer = threading.Lock(), threading.Lock()

    def run(self, operation: Callable[[WriteContext], Any]) -> Any:
        """The operation's result, once its transaction is over."""
        ticket = Ticket(operation)
        with self._queue_lock:
            self._queue.append(ticket)
        with self._writer:  # whoever comes first runs everything that has queued up meanwhile
            if not ticket.done:
                with self._queue_lock:
                    batch, self._queue = self._queue, []
                try:
                    self._run_batch(batch)
                except BaseException as error:
                    for each in batch:  # an interrupt is for this thread alone
                        each.error = error if isinstance(error, Exception) else _interrupted()
                    raise
                finally:
                    for each in batch:
                        each.done = True
        if ticket.error is not None:
            raise ticket.error
        return ticket.result


class LedgerSession:
    """Shares a store between the threads of this process, and anew in each process that it is carried into."""

    def __init__(self, store: Store, witness: Path | None, clock: Callable[[], float]) -> None:
        self.store, self.witness_path, self._clock = store, witness, clock
        self._witness_file = None if witness is None else WitnessFile(witness)
        self._seen = START  # the end of the chain as it was last seen: it never goes back
        self._begin()

    def now(self, state: LedgerState) -> int:
        """Seconds since 1970, never less than what the ledger has seen."""
        return max(self._read_clock(), state.time)

    def write(self, operation: Callable[[WriteContext], Result]) -> Result:
        """Run an operation; when this returns, what it appended is on the disk.

        Raises:
            LeastNoiseError: What the operation raised; then it appended nothing.
        """
        self._after_fork()
        result: Result = self._group.run(operation)
        return result

    @contextmanager
    def read(self) -> Iterator[tuple[LedgerState, Transaction]]:
        """The state up to date, and the entries as of the same moment."""
        self._after_fork()
        with self._lock, self.store.transaction(write=False) as transaction:
            self._catch_up(transaction)
            yield self._state, transaction

    def close(self) -> None:
        """Let go of this process's connection."""
        self._after_fork()
        with self._lock:
            self.store.close()
            if self._witness_file is not None:
                self._witness_file.close()

    def _begin(self) -> None:
        self._state, self._lock, self._process = LedgerState(), threading.RLock(), os.getpid()
        self._stale = False  # whether the state may hold what the store does not, after a failure
        self._group: GroupCommit = GroupCommit(self._run_batch)

    def _after_fork(self) -> None:
        """In a child, start over: another thread of the parent may have held a lock or been half-way through."""
        if self._process != os.getpid():
            self._begin()

    def _run_batch(self, batch: list[Ticket]) -> None:
        with self._lock:
            try:
                with self.store.transaction(write=True) as transaction:
                    self._catch_up(transaction)
                    known = self._confirmed_witness()
                    context = WriteContext(transaction, self._state, self._read_clock())
                    if self._state.version != VERSION:  # older programs refuse the ledger from here on
                        context.append("version", {"version": VERSION})
                    for ticket in batch:
                        before = self._state.chain.length
                        try:
                            ticket.result = ticket.operation(context)
                        except LedgerDamaged:
                            raise
                        except LeastNoiseError as error:
                            if self._state.chain.length != before:
                                raise
                            ticket.error = error  # refused, and nothing of it was appended
                    context.confirm()
            except BaseException:
                self._stale = True  # it may or may not be on the disk: everything is read again
                raise
            self._seen = self._state.head
            if self._witness_file is not None and known != self._seen.length:
                self._witness_file.advance(Witness(self._state.ledger, self._seen.length, self._seen.hash))

    def _read_clock(self) -> int:
        try:
            time = int(self._clock())
        except (TypeError, ValueError, OverflowError):
            time = LAST_TIME
        if time >= LAST_TIME:
            raise LedgerUnavailable("the clock does not tell seconds since 1970", fix="set the clock of this machine")
        return time

    def _catch_up(self, transaction: Transaction) -> None:
        """Take over what other processes have appended; whatever was seen before must still be there."""
        state, self._stale = LedgerState() if self._stale else self._state, True
        rows = iter(transaction.entries(max(self._seen.length, 1)))
        if self._seen.length:
            last = next(rows, None)
            if last is None or Head(last[0], last[2]) != self._seen:
                raise damaged(self._seen.length, "it was there before and is no longer: an old copy was put back")
        state.follow(rows if state.head == self._seen else transaction.entries(1))
        if not state.ledger:
            raise LedgerDamaged(
                "the ledger has no entries: its creation was interrupted, or they were removed",
                given=self.store.name,
                fix="if there is no witness of it, nothing was ever spent: remove it and create it again; "
                "otherwise restore the newest copy",
            )
        if not state.requests.whole:
            raise damaged(state.head.length + 1, "the rest of an answer is missing")
        self._state, self._seen, self._stale = state, state.head, False

    def _confirmed_witness(self) -> int | None:
        """How far the witness is; under the write lock nothing it has seen may be missing."""
        if self._witness_file is None:
            return None
        witness, state = self._witness_file.read(), self._state
        witness.confirm(state.ledger, state.head.length, state.chain.hash_at(witness.count))
        return witness.count


def _interrupted() -> LedgerUnavailable:
    return LedgerUnavailable(
        "the transaction was interrupted by another thread, and nothing was answered", fix="ask again under the same id"
    )

"""How entries are written: the session in which a process appends, and the steps that a request makes.

The entries are the only truth. Every process holds the state they add up to, follows what others have appended before
it decides, and appends within the same transaction, so that no two processes ever decide on the same balance. Threads
that wait for the writer share its next transaction, and its one flush to the disk.

A request is reserved, committed, answered; or cancelled before it was committed; or failed. Repeating a step that was
made changes nothing and says where the request stands.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from leastnoise.errors import (
    BadParameter,
    BudgetChanged,
    LeastNoiseError,
    LedgerDamaged,
    LedgerUnavailable,
    RequestConflict,
)
from leastnoise.ledger.budgets import Opening, PrivacyUnit, Scope, read_opening, write_grant
from leastnoise.ledger.chain import START, Head, Witness, WitnessFile, damaged
from leastnoise.ledger.ledger_state import LAST_TIME, VERSION, LedgerState
from leastnoise.ledger.record import TRANSITIONS, Entry, Json, Request, RequestState
from leastnoise.ledger.store import Row, Store, Transaction

__all__ = [
    "GroupCommit",
    "LedgerSession",
    "Receipt",
    "Ticket",
    "WriteContext",
    "advance",
    "answer_entries",
    "entry_fields",
    "recorded_answer",
    "require_agreement",
    "require_same",
]

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


_PART = 1 << 20  # characters of an answer's text in one entry


@dataclass(frozen=True)
class Receipt:
    """Where a request stands.

    Args:
        state: "reserved", "committed", "answered", "failed" or "cancelled".
        answer: The recorded answer, once there is one.
        fresh: Whether this very call charged it.
    """

    state: str
    answer: Any = None
    fresh: bool = False


# What to append when a request in some state (None: never seen) is to make a step; None for nothing.
_NEXT: dict[tuple[str | None, str], str | None] = {
    (None, "debit"): "debit",
    (None, "reserve"): "reserve",
    ("cancelled", "debit"): "debit",
    ("cancelled", "reserve"): "reserve",
    ("reserved", "reserve"): None,
    ("reserved", "debit"): "commit",
    ("reserved", "commit"): "commit",
    ("reserved", "cancel"): "cancel",
    ("committed", "reserve"): None,
    ("committed", "debit"): None,
    ("committed", "commit"): None,
    ("committed", "answer"): "answer",
    ("cancelled", "cancel"): None,
    ("failed", "reserve"): None,
    ("failed", "debit"): None,
    ("failed", "commit"): None,
    **{(state, "interrupt"): "cancel" for state in ("reserved", "committed", "answered", "cancelled", "failed")},
    **{(state, "fail"): "fail" for state in ("reserved", "committed", "answered", "cancelled", "failed")},
}
_FIX = {
    "commit": "reserve it first, or debit it at once",
    "cancel": "only a reservation can be cancelled; what is committed stays spent",
    "interrupt": "only a request that was reserved or debited can be interrupted",
    "answer": "debit it first: no answer without its debit; one that failed has none",
    "fail": "only a request that was reserved or debited can fail",
}


def advance(
    context: WriteContext,
    request: Request,
    step: str,
    more: Sequence[Entry] = ({},),
    answer: Json = None,
    opening: Opening | None = None,
) -> Receipt:
    """Append the step where the state of the request asks for it, and say where the request stands now.

    Args:
        context: The state and the store, within a transaction.
        request: Whose step it is.
        step: "debit", "reserve", "commit", "cancel", "interrupt", "answer" or "fail".
        more: Further fields, for each entry that the step takes.
        answer: The answer that the step "answer" records.
        opening: The budget and unit that a reservation fixes where there are none.

    Raises:
        BudgetExceeded: A budget does not cover it.
        BudgetChanged: The dataset has another budget or unit than `opening` says.
        UncoveredDebit: The dataset has no budget.
        DatasetSuspended: Failures or interruptions wait for whoever keeps the ledger.
        RequestConflict: The id was used for something else, or the step does not follow from its state.
    """
    if not isinstance(request, Request):
        raise BadParameter("a step is one of a `Request`", given=request, fix="make one with its id, event and dataset")
    if opening is not None:
        require_agreement(context.state, request.dataset, opening)
    known = context.state.requests.get(request.key)
    if known is not None:
        require_same(context.entries(known.first, known.first)[0], request)
    state = None if known is None else known.state
    if known is not None and state == "answered" and step not in ("cancel", "interrupt", "fail"):
        return Receipt("answered", recorded_answer(context, known))
    if (state, step) not in _NEXT:
        raise RequestConflict(f"a request that is {state or 'unknown'} can't {step}", given=request.id, fix=_FIX[step])
    kind = _NEXT[state, step]
    if step in ("debit", "reserve") and state != "failed":  # one that waits could read the data and fail, too
        context.state.suspensions.require_none(request.dataset, request.analyst)
    if state == "failed" and step == "fail" and _is_suspended(context, request):
        kind = None
    if kind == "reserve" and opening is not None:
        _grant_opening(context, request, opening)
    if state != "failed" and opening is not None and request.dataset not in context.state.units:
        context.append("dataset", {"dataset": request.dataset, "unit": opening.unit})
    if kind is None:
        return Receipt(str(state))
    for fields in more:
        context.append(kind, entry_fields(kind, step, request) | fields)
    reached = TRANSITIONS[state, "interrupt" if step == "interrupt" else kind]
    if known is not None and state == "answered":
        answer = recorded_answer(context, known)
    return Receipt(reached, answer, fresh=kind in ("debit", "reserve"))


def require_same(first: Entry, request: Request) -> None:
    """Go on only where a request is the question that its id was first used for.

    Raises:
        RequestConflict: It is another one.
    """
    if first["fingerprint"] != request.fingerprint:
        raise RequestConflict(
            "this request id was used before with another dataset, purpose, event or parameters",
            given=request.id,
            fix="repeat the request exactly as it was, or take a new id",
        )


def answer_entries(answer: Json, text: str) -> list[Entry]:
    """The fields of the entries that hold an answer: itself, or the parts of its canonical text."""
    if len(text) <= _PART:
        return [{"answer": answer}]
    chunks = [text[start : start + _PART] for start in range(0, len(text), _PART)]
    return [{"part": i, "parts": len(chunks), "text": chunk} for i, chunk in enumerate(chunks, start=1)]


def recorded_answer(context: WriteContext, known: RequestState) -> Json:
    """The answer of a request, read again and proven."""
    (last,) = context.entries(known.last, known.last)
    if "parts" not in last:
        answer: Json = last["answer"]
        return answer
    parts = context.entries(known.last - last["parts"] + 1, known.last)
    whole: Json = json.loads("".join(entry["text"] for entry in parts))
    return whole


def entry_fields(kind: str, step: str, request: Request) -> Entry:
    """What an entry of a kind says for a step of a request."""
    fields: Entry = {"analyst": request.analyst, "request": request.id}
    if step == "interrupt":
        fields |= {"dataset": request.dataset, "interrupted": True}
    if kind in ("debit", "reserve", "fail"):
        fields |= {
            "dataset": request.dataset,
            "purpose": request.purpose,
            "event": request.event.to_dict(),
            "cost": request.cost.to_list(),
            "fingerprint": request.fingerprint,
        }
    return fields


def _is_suspended(context: WriteContext, request: Request) -> bool:
    found = context.state.suspensions.get(request.dataset, request.analyst)
    return found is not None and found.holds


def require_agreement(state: LedgerState, dataset: str, opening: Opening) -> None:
    """Go on only where the dataset has no other budget and no other privacy unit than an opening says.

    Raises:
        BudgetChanged: It has.
    """
    read_opening(opening)
    granted, unit = state.budgets.get(Scope(dataset)), state.units.get(dataset)
    if granted is not None and opening.budget is not None and granted.account.limits.budget != opening.budget:
        raise BudgetChanged(
            f"dataset {dataset!r} was granted {granted.account.limits.budget}, and opening it does not change that",
            given=str(opening.budget),
            fix="leave `budget` out; whoever keeps the ledger can set a new limit with ledger.grant, "
            "or `leastnoise budget grant`",
        )
    if unit is not None and unit != PrivacyUnit(opening.unit):
        raise BudgetChanged(
            "the budget of this dataset protects another privacy unit: one granted per person can't be used per row",
            given=str(PrivacyUnit(opening.unit)),
            fix=f"open it with the first one: {unit}; for another unit, give the dataset another name and a budget of "
            "its own",
        )


def _grant_opening(context: WriteContext, request: Request, opening: Opening) -> None:
    """Grant the first budget of a dataset, if with it the request is admitted; nothing is written where it is not."""
    state, scope = context.state, Scope(request.dataset)
    budgets = state.matching(request.dataset, request.analyst, request.purpose, opening.budget)
    state.admit(request.cost, budgets, [budget.account_at(context.time) for budget in budgets])
    if opening.budget is not None and scope not in state.budgets:
        context.append("grant", write_grant(opening.budget, scope))

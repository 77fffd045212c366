"""The ledger: debit, then answer, then record; nothing lost in between, nothing spent twice.

An answer leaves only after it was recorded, so a crash may waste budget but never overspends, and asking again under
the same id returns the recorded answer.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from leastnoise.composition.cost import Composition, cost_of
from leastnoise.composition.filter import Remaining
from leastnoise.errors import BadParameter, LedgerUnavailable, RequestConflict
from leastnoise.exact import NumberLike, read_exact, system_source
from leastnoise.ledger.budgets import (
    FLOOR,
    Balance,
    Opening,
    PrivacyUnit,
    Scope,
    Suspension,
    balances_at,
    left_at,
    read_opening,
    write_grant,
)
from leastnoise.ledger.chain import Witness, begin_witness, read_entry, read_witness, write_witness
from leastnoise.ledger.ledger_state import VERSION, LedgerState, Verification, verify_entries
from leastnoise.ledger.record import Debit, Json, Request, canonical, debit_of, read_name, request_key
from leastnoise.ledger.report import html_ledger
from leastnoise.ledger.session import (
    LedgerSession,
    Receipt,
    WriteContext,
    advance,
    answer_entries,
    recorded_answer,
    require_agreement,
    require_same,
)
from leastnoise.ledger.sqlite import SqliteStore
from leastnoise.ledger.store import Row, Store
from leastnoise.model import Privacy, Pure

__all__ = ["Ledger"]

Place = str | Path | Store
_LONGEST_NAME = 230  # bytes: file systems allow 255, and a new file first has a longer name


class Ledger:
    """A durable budget that processes and threads share. Made by `Ledger.create`, opened by `Ledger.open`."""

    def __init__(self, session: LedgerSession) -> None:
        self._session = session

    @classmethod
    def create(cls, place: Place, witness: str | Path | None = None, clock: Callable[[], float] = time.time) -> Ledger:
        """Make a new ledger.

        Args:
            place: A file name for SQLite, an address "postgresql://…" for Postgres, or a `Store`.
            witness: Where to keep its end outside of it; for a file, the same name with ".witness" if not said.
            clock: Seconds since 1970.

        Raises:
            LedgerUnavailable: There is one already, or the witness of one, or no place for it.

        >>> import tempfile
        >>> from leastnoise.model.events import Pure
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = Ledger.create(Path(folder.name) / "study.ledger")
        >>> ledger.grant(Privacy(1), dataset="census")
        >>> question = Request("q1", Pure("1/4"), dataset="census", analyst="ada")
        >>> ledger.release(question, lambda: 42), ledger.release(question, lambda: 43)
        (42, 42)
        >>> ledger.balances()[0].left.epsilon
        Fraction(3, 4)
        >>> ledger.close(), folder.cleanup()
        (None, None)
        """
        store, path = _store_at(place, witness)
        if path is not None and path.exists() and not store.exists():
            raise LedgerUnavailable(
                "the witness of an earlier ledger lies here, and a new ledger would forget what that one spent",
                given=str(path),
                fix="restore that ledger, or move its witness away if it is really over",
            )
        name = f"{system_source.bits(128):032x}"
        first = LedgerState().append("open", int(clock()), {"ledger": name, "version": VERSION})
        with _closing_if_refused(store):
            store.create(first)
            if path is not None:  # a ledger with this entry alone needs none: `open` then makes it
                begin_witness(path, Witness(name, 1, first.hash))
        return cls(LedgerSession(store, path, clock))

    @classmethod
    def open(
        cls,
        place: Place,
        witness: str | Path | None = None,
        clock: Callable[[], float] = time.time,
        renew_witness: bool = False,
    ) -> Ledger:
        """Open a ledger: its chain and its sums are checked from the first entry on, and its end against its witness.

        Args:
            place: As for `create`.
            witness: As for `create`.
            clock: Seconds since 1970.
            renew_witness: Take the ledger as it is and write a new witness; only when you know that it is current.

        Raises:
            LedgerMissing: There is no ledger, or its witness is gone.
            LedgerDamaged: It was edited, cut or put back; the place is in the text.
            LedgerUnavailable: It can't be read.
        """
        store, path = _store_at(place, witness)
        session = LedgerSession(store, path, clock)
        with _closing_if_refused(store):
            if path is not None and store.exists():
                _settle_witness(session, path, renew_witness)
                known = read_witness(path)  # before the entries, which only grow
                with session.read() as (state, _):
                    known.confirm(state.ledger, state.head.length, state.chain.hash_at(known.count))
            else:
                with session.read():
                    pass
        return cls(session)

    def grant(
        self,
        budget: Privacy,
        dataset: str | None = None,
        analyst: str | None = None,
        purpose: str | None = None,
        refresh: NumberLike | None = None,
        event_delta: NumberLike | None = None,
        composition: Composition | None = None,
    ) -> None:
        """Grant a budget, or set new limits for one; what was spent stays spent.

        Every dataset needs a budget of its own. A debit must fit into every budget that binds it.

        Args:
            budget: What may be spent, in all or in each period, in ε, (ε, δ), ρ or μ.
            dataset: Only debits on this dataset.
            analyst: Only debits by this analyst.
            purpose: Only debits for this purpose.
            refresh: The length of a period in seconds; None for a budget that never comes back.
            event_delta: The part of δ for the queries' own δ; see `Limits`.
            composition: Which sums decide; see `Limits`. Where nothing is said, the first query fixes it.

        Raises:
            BadParameter: The budget protects hardly anybody and was made without `insist=True`, or see `Limits`.
        """
        fields = write_grant(budget, Scope(dataset, analyst, purpose), refresh, event_delta, composition)
        budget.require_sensible()
        self._session.write(lambda context: context.append("grant", fields))

    def release(self, request: Request, draw: Callable[[], Json]) -> Any:
        """Debit, then draw, then record, then answer; a request that was answered before gets that answer.

        Args:
            request: The question and its price.
            draw: Computes the private answer, as plain JSON. It runs only after the debit is safely stored. Failing may
                itself say something about the data: it is charged at least `FLOOR` and suspends the dataset for the
                analyst until `clear`. An interruption is counted.

        Raises:
            BudgetExceeded: Nothing was spent, and `draw` did not run.
            DatasetSuspended: Failures or interruptions wait for whoever keeps the ledger; `draw` did not run.
            RequestConflict: The id was used for something else, or the request failed before; `draw` did not run.
        """
        receipt = self.debit(request)
        if receipt.state == "failed":
            raise RequestConflict("this request failed before", given=request.id, fix="ask under a new id")
        if receipt.state == "answered":
            return receipt.answer
        try:
            drawn = draw()
            canonical(drawn, "answer")  # whether it can be recorded may depend on the data, too
        except Exception:
            self.fail(request, FLOOR)
            raise
        except BaseException:
            self.cancel(request, interrupted=True)
            raise
        return self.record(request, drawn)

    def debit(self, request: Request) -> Receipt:
        """Charge a request for good, or find that it was charged before."""
        return self._session.write(lambda context: advance(context, request, "debit"))

    def reserve(self, request: Request, opening: Opening | None = None) -> Receipt:
        """Hold the price of a request; it counts as spent until `commit`, `cancel` or `fail`.

        Args:
            request: The question and its price. One that was cancelled may be reserved again.
            opening: The budget and privacy unit to fix where the dataset has none. They are written together with the
                reservation, and only if it is admitted.

        Raises:
            BudgetExceeded: A budget does not cover it; nothing was written.
            BudgetChanged: The dataset has another budget or unit than `opening` says.
            DatasetSuspended: Failures or interruptions wait for whoever keeps the ledger; see `clear`.
        """
        return self._session.write(lambda context: advance(context, request, "reserve", opening=opening))

    def commit(self, request: Request) -> Receipt:
        """Turn a reservation into a debit: it is not given back any more."""
        return self._session.write(lambda context: advance(context, request, "commit"))

    def cancel(self, request: Request, interrupted: bool = False) -> Receipt:
        """Give a reservation back. Only before `commit`: what is committed is never free again.

        Args:
            request: Whose price to give back.
            interrupted: The data may have been looked at. The interruption is counted, in whatever state the request
                is, and `INTERRUPTIONS` of them since the last `clear` suspend the dataset for the analyst.
        """
        step = "interrupt" if interrupted else "cancel"
        return self._session.write(lambda context: advance(context, request, step))

    def fail(self, request: Request, floor: NumberLike) -> Receipt:
        """End a request whose reading or drawing failed, and suspend the dataset for its analyst until `clear`.

        Args:
            request: It is charged its price for good.
            floor: An ε. At least so much is charged; where less is left, what is left.
        """
        read = read_exact(floor, "floor")
        cost_of(Pure(read))
        return self._session.write(lambda context: advance(context, request, "fail", [{"floor": str(read)}]))

    def standing(self, request: Request) -> Receipt | None:
        """Where a request stands, without its answer; None where it was never charged. Nothing is written.

        Raises:
            RequestConflict: The id was used for something else.
        """
        with self._session.read() as (state, transaction):
            known = state.requests.get(request.key)
            if known is None:
                return None
            (first,) = state.chain.prove(transaction.entries(known.first, known.first), known.first, known.first)
            require_same(first, request)
            return Receipt(known.state)

    def clear(self, dataset: str, analyst: str) -> Suspension | None:
        """Begin to count failures and interruptions anew, for whoever keeps the ledger and has looked into them.

        Returns:
            What was counted; None for nothing, and then nothing is written.
        """
        fields = {"dataset": read_name(dataset, "dataset"), "analyst": read_name(analyst, "analyst")}

        def clear(context: WriteContext) -> Suspension | None:
            found = context.state.suspensions.get(dataset, analyst)
            if found is not None:
                context.append("clear", fields)
            return found

        return self._session.write(clear)

    def record(self, request: Request, answer: Json) -> Any:
        """Store the released value and return it; if one was stored before, that one is returned and this one dropped.

        Args:
            request: A request that was debited.
            answer: The value that the mechanism released, as plain JSON of any length. It is what the analyst sees
                anyway; nothing else about the data belongs here.
        """
        text = canonical(answer, "answer")
        kept = json.loads(text)  # as it will be read again: JSON turns tuples into lists
        entries = answer_entries(kept, text)
        return self._session.write(lambda context: advance(context, request, "answer", entries, kept)).answer

    def find(self, analyst: str, request_id: str) -> Receipt | None:
        """Where a request stands, with its recorded answer; None for one that was never made. Nothing is written.

        Args:
            analyst: Who asked.
            request_id: Under which id.
        """
        with self._session.read() as (state, transaction):
            known = state.requests.get(request_key(analyst, request_id))
            if known is None:
                return None
            answer = recorded_answer(WriteContext(transaction, state, 0), known) if known.state == "answered" else None
            return Receipt(known.state, answer)

    def budget_of(self, dataset: str) -> Privacy | None:
        """The budget that was granted to a dataset as a whole; None where none was."""
        scope = Scope(read_name(dataset, "dataset"))
        with self._session.read() as (state, _):
            found = state.budgets.get(scope)
            return None if found is None else found.account.limits.budget

    def privacy_unit(self, dataset: str) -> PrivacyUnit | None:
        """Whom the budget of a dataset protects; None where no request has fixed it yet."""
        read_name(dataset, "dataset")
        with self._session.read() as (state, _):
            return state.units.get(dataset)

    def suspensions(self) -> list[Suspension]:
        """Failures and interruptions since the last clearing; those that `holds` suspend a dataset for an analyst."""
        with self._session.read() as (state, _):
            return state.suspensions.all()

    def balances(self, dataset: str | None = None) -> list[Balance]:
        """Every budget with what is spent and left, as of now, in the order in which they were granted.

        Args:
            dataset: Only budgets that bind this dataset alone.
        """
        with self._session.read() as (state, _):
            budgets = [each for each in state.budgets.values() if dataset is None or each.scope.dataset == dataset]
            return balances_at(budgets, self._session.now(state))

    def debits(self, dataset: str) -> list[Debit]:
        """What was charged on a dataset, each in its own terms, in the order in which it was charged.

        Args:
            dataset: Its entries are read again and proven by the chain.
        """
        named, found = f'"dataset":{canonical(read_name(dataset, "dataset"))}', []
        for row in self.entries():
            if named in row.body:
                entry = read_entry(row)
                if entry["kind"] in ("debit", "reserve", "fail") and entry["dataset"] == dataset:
                    found.append(entry)
        with self._session.read() as (state, _):
            return [debit_of(entry, state.requests) for entry in found]

    def left(self, dataset: str, analyst: str, purpose: str = "any", opening: Opening | None = None) -> Remaining:
        """What one more query may cost: the least that the budgets that bind it leave.

        Args:
            dataset: On which dataset.
            analyst: By whom.
            purpose: What for.
            opening: What the first request would fix, where the dataset has no budget yet.
        """
        for name, what in ((dataset, "dataset"), (analyst, "analyst"), (purpose, "purpose")):
            read_name(name, what)
        first = None if opening is None else read_opening(opening).budget
        with self._session.read() as (state, _):
            return left_at(state.matching(dataset, analyst, purpose, first), self._session.now(state))

    def check_opening(self, dataset: str, opening: Opening) -> None:
        """Go on only where `reserve` could go on with this opening. Nothing is written.

        Raises:
            BudgetChanged: The dataset has another budget or privacy unit.
        """
        with self._session.read() as (state, _):
            require_agreement(state, read_name(dataset, "dataset"), opening)

    def verify(self, witness: Witness | None = None) -> Verification:
        """Re-check everything from the first entry on, trusting nothing that this process knows.

        That is the engine's own structures, the chain, every price, the state of every request, every sum against its
        budget, and the witnesses: the one beside the ledger and the one given.

        Raises:
            LedgerDamaged: Something does not hold; the place is in the text.
        """
        if not isinstance(witness, Witness | None):
            raise BadParameter("this is no witness", given=type(witness).__name__, fix="pass what read_witness gives")
        path = self._session.witness_path
        beside = None if path is None else read_witness(path)  # before the entries, which only grow
        with self._session.read() as (_, transaction):
            transaction.check()
            return verify_entries(transaction, [each for each in (witness, beside) if each is not None])

    def witness(self) -> Witness:
        """The ledger's identity and end, to keep elsewhere."""
        with self._session.read() as (state, _):
            return Witness(state.ledger, state.head.length, state.head.hash)

    def entries(self) -> Iterator[Row]:
        """Every entry as it is stored, proven by the chain.

        Raises:
            LedgerDamaged: An entry is not what it was.
        """
        first = 1
        while True:
            with self._session.read() as (state, transaction):
                last = min(first + 999, state.head.length)
                rows = list(transaction.entries(first, last))
                state.chain.prove(rows, first, last)
            if not rows:
                return
            yield from map(Row._make, rows)
            first = last + 1

    def close(self) -> None:
        """Let go of the file or connection; the ledger itself needs no closing."""
        self._session.close()

    def __enter__(self) -> Ledger:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Where it is."""
        return f"Ledger({self._session.store.name!r})"

    def _repr_html_(self) -> str:
        return html_ledger(repr(self), self.balances)


def _settle_witness(session: LedgerSession, path: Path, renew: bool) -> None:
    """Make the witness of a ledger whose creation was cut off before it had one: nothing was granted or spent yet."""
    if not renew and path.exists():
        return
    with session.read() as (state, _):
        witness = Witness(state.ledger, state.head.length, state.head.hash)
    if renew:
        write_witness(path, witness)
    elif witness.count == 1:
        begin_witness(path, witness)


@contextmanager
def _closing_if_refused(store: Store) -> Iterator[None]:
    try:
        yield
    except BaseException:
        store.close()
        raise


def _store_at(place: Place, witness: str | Path | None) -> tuple[Store, Path | None]:
    path = None if witness is None else _read_path(witness)
    if isinstance(place, Store):
        return place, path
    if not isinstance(place, str | Path):
        raise BadParameter("a ledger is in a file or a `Store`", given=type(place).__name__, fix="pass its path")
    if str(place).startswith(("postgresql://", "postgres://")):
        from leastnoise.ledger.postgres import PostgresStore

        return PostgresStore(str(place)), path
    return SqliteStore(_read_path(place)), path or _read_path(f"{place}.witness")


def _read_path(path: str | Path) -> Path:
    read = Path(path)
    if "\0" in str(path) or len(os.fsencode(read.name)) > _LONGEST_NAME:
        raise BadParameter(
            f"the name of a file has no null character and at most {_LONGEST_NAME} bytes",
            given=str(path)[:100],
            fix="choose another one",
        )
    return read

"""The ledger: debit, then answer, then record; nothing lost in between, nothing spent twice.

An answer leaves only after it was recorded, so a crash may waste budget but never overspends, and asking again under
the same id returns the recorded answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from leastnoise.composition.account import Left, Limits
from leastnoise.errors import LedgerUnavailable
from leastnoise.exact.parameters import NumberLike, read_integer
from leastnoise.exact.sources import system_source
from leastnoise.ledger.balance import Balance, balances_at, left_at
from leastnoise.ledger.books import VERSION
from leastnoise.ledger.chain import Row
from leastnoise.ledger.display import html_ledger
from leastnoise.ledger.keeper import Keeper
from leastnoise.ledger.record import Entry, Json, Request, canonical, read_name
from leastnoise.ledger.sqlite import SqliteStore
from leastnoise.ledger.steps import Receipt, advance
from leastnoise.ledger.store import Store
from leastnoise.ledger.verification import Verification, verify_entries
from leastnoise.ledger.witness import Witness, read_witness, write_witness
from leastnoise.model.privacy import Privacy

__all__ = ["Ledger"]

Place = str | Path | Store


class Ledger:
    """A durable budget that processes and threads share. Made by `Ledger.create`, opened by `Ledger.open`."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper

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
        fields = {"ledger": f"{system_source.bits(128):032x}", "version": VERSION}
        if path is not None and path.exists() and not store.exists():
            raise LedgerUnavailable(
                "the witness of an earlier ledger lies here, and a new ledger would forget what that one spent",
                given=str(path),
                fix="restore that ledger, or move its witness away if it is really over",
            )
        with _closing_if_refused(store):
            store.create()
            keeper = Keeper(store, path, clock)
            keeper.write(lambda writing: writing.append("open", None, fields))
        return cls(keeper)

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
        keeper = Keeper(store, path, clock)
        known = None
        if path is not None and not renew_witness and store.exists():
            known = read_witness(path)  # before the entries, which only grow
        with _closing_if_refused(store), keeper.read() as (books, session):
            if known is not None:
                there = next(iter(session.entries(max(known.count, 1))), None)
                known.confirm(books.ledger, books.head.length, None if there is None else there.hash)
            elif path is not None:
                write_witness(path, Witness(books.ledger, books.head.length, books.head.hash))
        return cls(keeper)

    def grant(
        self,
        budget: Privacy,
        dataset: str | None = None,
        analyst: str | None = None,
        purpose: str | None = None,
        refresh: NumberLike | None = None,
        event_delta: NumberLike | None = None,
    ) -> None:
        """Grant a budget, or set new limits for one; what was spent stays spent.

        Every dataset needs a budget of its own. A debit must fit into every budget that binds it.

        Args:
            budget: What may be spent, in all or in each period.
            dataset: Only debits on this dataset.
            analyst: Only debits by this analyst.
            purpose: Only debits for this purpose.
            refresh: The length of a period in seconds; None for a budget that never comes back.
            event_delta: The part of δ for the queries' own δ; half where nothing is said.
        """
        fields: Entry = {
            "dataset": None if dataset is None else read_name(dataset, "dataset"),
            "analyst": None if analyst is None else read_name(analyst, "analyst"),
            "purpose": None if purpose is None else read_name(purpose, "purpose"),
            "epsilon": str(budget.epsilon),
            "delta": str(budget.delta),
            "event_delta": str(Limits(budget, event_delta).event_delta),
            "refresh": None if refresh is None else read_integer(refresh, "refresh", at_least=1),
        }
        self._keeper.write(lambda writing: writing.append("grant", None, fields))

    def release(self, request: Request, draw: Callable[[], Json]) -> Any:
        """Debit, then draw, then record, then answer; a request that was answered before gets that answer.

        Args:
            request: The question and its price.
            draw: Computes the private answer, as plain JSON. It runs only after the debit is safely stored. If it fails
                the debit stays, because failing may itself say something about the data.

        Raises:
            BudgetExceeded: Nothing was spent, and `draw` did not run.
        """
        receipt = self.debit(request)
        return receipt.answer if receipt.state == "answered" else self.record(request, draw())

    def debit(self, request: Request) -> Receipt:
        """Charge a request for good, or find that it was charged before."""
        return self._keeper.write(lambda writing: advance(writing, request, "debit", {}))

    def reserve(self, request: Request) -> Receipt:
        """Hold the price of a request; it counts as spent until `commit` or `cancel`."""
        return self._keeper.write(lambda writing: advance(writing, request, "reserve", {}))

    def commit(self, request: Request) -> Receipt:
        """Turn a reservation into a debit. From here on the private data may be looked at."""
        return self._keeper.write(lambda writing: advance(writing, request, "commit", {}))

    def cancel(self, request: Request) -> Receipt:
        """Give a reservation back. Only before `commit`: what may have been looked at is never free again."""
        return self._keeper.write(lambda writing: advance(writing, request, "cancel", {}))

    def record(self, request: Request, answer: Json) -> Any:
        """Store the released value and return it; if one was stored before, that one is returned and this one dropped.

        Args:
            request: A request that was debited.
            answer: The value that the mechanism released, as plain JSON. It is what the analyst sees anyway; nothing
                else about the data belongs here.
        """
        canonical(answer, "answer")
        return self._keeper.write(lambda writing: advance(writing, request, "answer", {"answer": answer})).answer

    def balances(self) -> list[Balance]:
        """Every budget with what is spent and left, as of now."""
        with self._keeper.read() as (books, _):
            return balances_at(books, self._keeper.now(books))

    def left(self, dataset: str, analyst: str, purpose: str = "any") -> Left:
        """What one more query may cost: the least that the budgets that bind it leave."""
        with self._keeper.read() as (books, _):
            return left_at(books, self._keeper.now(books), dataset, analyst, purpose)

    def verify(self, witness: Witness | None = None) -> Verification:
        """Re-check everything from the first entry on, trusting nothing that this process knows.

        That is the engine's own structures, the chain, every price, the story of every request, every sum against its
        budget, and the witnesses: the one beside the ledger and the one given.

        Raises:
            LedgerDamaged: Something does not hold; the place is in the text.
        """
        path = self._keeper.witness_path
        beside = None if path is None else read_witness(path)  # before the entries, which only grow
        with self._keeper.read() as (_, session):
            session.check()
            return verify_entries(session, [each for each in (witness, beside) if each is not None])

    def witness(self) -> Witness:
        """The ledger's identity and end, to keep elsewhere."""
        with self._keeper.read() as (books, _):
            return Witness(books.ledger, books.head.length, books.head.hash)

    def entries(self) -> Iterator[Row]:
        """Every entry as it is stored."""
        first = 1
        while True:
            with self._keeper.read() as (_, session):
                rows = list(islice(session.entries(first), 1000))
            yield from rows
            if not rows:
                return
            first = rows[-1].seq + 1

    def close(self) -> None:
        """Let go of the file or connection; the ledger itself needs no closing."""
        self._keeper.close()

    def __enter__(self) -> Ledger:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Where it is."""
        return f"Ledger({self._keeper.store.name!r})"

    def _repr_html_(self) -> str:
        return html_ledger(repr(self), self.balances)


@contextmanager
def _closing_if_refused(store: Store) -> Iterator[None]:
    try:
        yield
    except BaseException:
        store.close()
        raise


def _store_at(place: Place, witness: str | Path | None) -> tuple[Store, Path | None]:
    path = None if witness is None else Path(witness)
    if not isinstance(place, str | Path):
        return place, path
    if str(place).startswith(("postgresql://", "postgres://")):
        from leastnoise.ledger.postgres import PostgresStore

        return PostgresStore(str(place)), path
    return SqliteStore(Path(place)), path or Path(f"{place}.witness")

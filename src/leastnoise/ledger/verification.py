"""A full verification: every entry read again from the first on, trusting nothing that this process knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leastnoise.composition.cost import cost_of
from leastnoise.errors import LeastNoiseError
from leastnoise.ledger.books import Books
from leastnoise.ledger.chain import damaged
from leastnoise.ledger.record import Entry, request_key, write_cost
from leastnoise.ledger.store import Session
from leastnoise.ledger.witness import Witness
from leastnoise.model.events import event_from_dict

__all__ = ["Verification", "verify_entries"]


@dataclass(frozen=True)
class Verification:
    """What was gone through: every entry up to the head, and the story of every request."""

    ledger: str
    entries: int
    head: str
    requests: int


class StrictBooks(Books):
    """Books that also re-check what the quick way takes for granted: prices, and that an id stays one question."""

    def __init__(self) -> None:
        super().__init__()
        self._fingerprints: dict[str, str] = {}
        self._fair: set[object] = set()

    def _check(self, seq: int, entry: Entry) -> None:
        if entry["kind"] in ("debit", "reserve", "fail"):
            key = request_key(entry["analyst"], entry["request"])
            if self._fingerprints.setdefault(key, entry["fingerprint"]) != entry["fingerprint"]:
                raise damaged(seq, "it belongs to another question than the first entry under its id")
            self._check_price(seq, entry)

    def _check_price(self, seq: int, entry: Entry) -> None:
        event, cost = entry["event"], entry["cost"]
        try:
            pair: object = (*event.items(), *cost)  # most events repeat
            known = pair in self._fair
        except TypeError:  # nested
            pair = repr((event, cost))
            known = pair in self._fair
        if known:
            return
        try:
            price = cost_of(event_from_dict(event))
        except (LeastNoiseError, RecursionError):
            raise damaged(seq, "its event has no price") from None
        if write_cost(price) != cost:
            raise damaged(seq, "its price is not that of its event")
        self._fair.add(pair)


def verify_entries(session: Session, witnesses: Sequence[Witness]) -> Verification:
    """Check the chain, the price of every entry, every story, every sum, and the witnesses.

    Raises:
        LedgerDamaged: Something does not hold; the place is in the text.
    """
    books = StrictBooks()
    books.follow(session.entries(1))
    if not books.ledger:
        raise damaged(1, "it is missing")
    if not books.stories.whole:
        raise damaged(books.head.length + 1, "the rest of an answer is missing")
    for witness in witnesses:
        witness.confirm(books.ledger, books.head.length, books.chain.hash_at(witness.count))
    return Verification(books.ledger, books.head.length, books.head.hash, len(books.stories))

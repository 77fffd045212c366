"""A full verification: every entry read again from the first on, trusting nothing that this process knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leastnoise.ledger.books import StrictBooks
from leastnoise.ledger.chain import damaged
from leastnoise.ledger.store import Session
from leastnoise.ledger.witness import Witness

__all__ = ["Verification", "verify_entries"]


@dataclass(frozen=True)
class Verification:
    """What was gone through: every entry up to the head, and the story of every request."""

    ledger: str
    entries: int
    head: str
    requests: int


def verify_entries(session: Session, witnesses: Sequence[Witness]) -> Verification:
    """Check the chain, the price of every entry, every story, every sum, and the witnesses.

    Raises:
        LedgerDamaged: Something does not hold; the place is in the text.
    """
    books = StrictBooks()
    books.follow(session.entries(1))
    if not books.ledger:
        raise damaged(1, "it is missing")
    for witness in witnesses:
        there = next(iter(session.entries(max(witness.count, 1))), None)
        witness.confirm(books.ledger, books.head.length, None if there is None else there.hash)
    return Verification(books.ledger, books.head.length, books.head.hash, len(books.states))

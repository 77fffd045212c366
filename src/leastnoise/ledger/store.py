"""What a ledger needs of a place to keep its entries: one writer at a time, and nothing lost once it said so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from leastnoise.ledger.chain import Row

__all__ = ["Session", "Store"]


class Session(Protocol):
    """Access to the entries within one transaction."""

    def entries(self, first: int) -> Iterator[Row]:
        """The entries from number `first` on, in order."""
        ...

    def entries_of(self, request: str) -> list[Row]:
        """The entries filed under a request, in order."""
        ...

    def append(self, row: Row) -> None:
        """Add an entry; stored for good when the transaction ends well."""
        ...

    def check(self) -> None:
        """Have the engine check its own structures.

        Raises:
            LedgerDamaged: They are broken.
        """
        ...


class Store(Protocol):
    """An append-only list of entries that processes share.

    A store opens its own connection in every process that uses it, so it may be carried across a fork.
    """

    @property
    def name(self) -> str:
        """What to call it in a message; never with a password."""
        ...

    def exists(self) -> bool:
        """Whether there is anything in its place."""
        ...

    def create(self) -> None:
        """Make the place for a new ledger, and refuse if there is one already."""
        ...

    def transaction(self, write: bool) -> AbstractContextManager[Session]:
        """A transaction: all of it lasts, or nothing. With `write`, no other writer runs before it ends.

        Raises:
            LedgerMissing: There is no ledger.
            LedgerUnavailable: It can't be read or written now.
            LedgerDamaged: What is there is no ledger any more.
        """
        ...

    def close(self) -> None:
        """Let go of this process's connection."""
        ...

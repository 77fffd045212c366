"""What a ledger needs of a place to keep its entries: one writer at a time, and nothing lost once it said so."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from leastnoise.errors import LedgerUnavailable
from leastnoise.ledger.chain import Row

__all__ = ["NOTICE_SECONDS", "WAIT_SECONDS", "Session", "Store", "held_by_another", "say_waiting"]

NOTICE_SECONDS = 2.0  # whoever waits for the write lock longer than this is told so
WAIT_SECONDS = 30.0  # and after this the lock is given up on


def say_waiting(name: str) -> None:
    """Tell the person at the terminal why nothing happens."""
    sys.stderr.write(f"waiting for another process that holds the {name} …\n")
    sys.stderr.flush()


def held_by_another(name: str, seconds: float, fix: str) -> LedgerUnavailable:
    """The error after waiting in vain."""
    return LedgerUnavailable(
        f"another process holds the ledger's write lock and did not let go in {seconds:g} seconds; nothing was spent",
        given=name,
        fix=fix,
    )


class Session(Protocol):
    """Access to the entries within one transaction."""

    def entries(self, first: int, last: int | None = None) -> Iterator[Row]:
        """The entries from number `first` on, up to `last` or to the end, in order."""
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

    def create(self, first: Row) -> None:
        """Make a new ledger with its first entry: all of it or nothing, whenever the process is killed.

        Raises:
            LedgerUnavailable: There is one already, or no place for it.
        """
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

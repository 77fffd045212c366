"""What a ledger needs of a place to keep its entries: one writer at a time, and nothing lost once it said so.

A new file appears in its place whole or not at all, whenever the process is killed or the power fails. It is written
under another name, flushed, and then linked to its own name, which never replaces a file that is there. What a killed
process leaves under the other name is removed later; nobody reads it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from leastnoise.errors import LedgerUnavailable
from leastnoise.exact import system_source

__all__ = [
    "NOTICE_SECONDS",
    "WAIT_SECONDS",
    "Row",
    "Store",
    "Stored",
    "Transaction",
    "create_file",
    "held_by_another",
    "remove_drafts",
    "say_waiting",
]

NOTICE_SECONDS = 2.0  # whoever waits for the write lock longer than this is told so
WAIT_SECONDS = 30.0  # and after this the lock is given up on
_LEFT_BEHIND = 60.0  # seconds after which nobody is writing a new file any more; one that is removed is written again


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


Stored: TypeAlias = tuple[int, str, str]  # as a database gives a row: there may be millions


class Row(NamedTuple):
    """An entry as it is stored: its number, its text and its hash."""

    seq: int
    body: str
    hash: str


class Transaction(Protocol):
    """Access to the entries within one transaction."""

    def entries(self, first: int, last: int | None = None) -> Iterator[Stored]:
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


@runtime_checkable
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

    def transaction(self, write: bool) -> AbstractContextManager[Transaction]:
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


def create_file(path: Path, content: bytes) -> None:
    """Make a new file, readable for its owner only.

    Raises:
        FileExistsError: There is a file of this name already; it stays as it is.
        OSError: There is no place for it.
    """
    remove_drafts(path)
    while True:
        draft = path.with_name(f".{path.name}.{system_source.bits(64):016x}.new")
        try:
            handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            try:
                with os.fdopen(handle, "wb", closefd=False) as file:
                    file.write(content)
                os.fsync(handle)
            finally:
                os.close(handle)
            try:
                os.link(draft, path)
            except FileNotFoundError:  # removed by a process that took it for left behind
                continue
        finally:
            draft.unlink(missing_ok=True)
        _flush_folder(path)
        return


def remove_drafts(path: Path) -> None:
    """Remove what killed processes left behind of a file and of what lies beside it."""
    with suppress(OSError):
        for entry in os.scandir(path.parent):
            if entry.name.startswith(f".{path.name}.") and entry.name.endswith(".new"):
                with suppress(OSError):
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime > _LEFT_BEHIND:
                        Path(entry.path).unlink()


def _flush_folder(path: Path) -> None:
    """The name of a file must survive a power failure as its contents do."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)

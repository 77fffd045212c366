"""The hash chain: every entry's hash covers its text and the hash before it, so no entry changes unnoticed.

hash₀ = 64 zeros, hashₙ = SHA-256(hashₙ₋₁ ‖ textₙ). Whoever can write the file can also rewrite the whole chain, or cut
its tail; a witness kept elsewhere notices that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from leastnoise.errors import LedgerDamaged
from leastnoise.ledger.record import Entry

__all__ = ["START", "Chain", "Head", "Row", "Stored", "check_link", "damaged", "link", "read_entry"]


class Head(NamedTuple):
    """How many entries there are, and the hash of the last."""

    length: int
    hash: str


Stored: TypeAlias = tuple[int, str, str]  # as a database gives a row: there may be millions


class Row(NamedTuple):
    """An entry as it is stored: its number, its text and its hash."""

    seq: int
    body: str
    hash: str


_DECODER = json.JSONDecoder()
_SIZE = 32
_AT_ONCE = 1000
START = Head(0, "0" * 64)


class Chain:
    """The hashes of all entries so far, by which an entry that is read again is proven: 32 bytes each."""

    __slots__ = ("_hashes", "_latest", "hash", "length")

    def __init__(self) -> None:
        (self.length, self.hash), self._hashes = START, bytearray(_SIZE)
        self._latest: list[str] = []  # hashes that are not in `_hashes` yet

    @property
    def head(self) -> Head:
        """How many entries there are, and the hash of the last."""
        return Head(self.length, self.hash)

    def add(self, following: str) -> None:
        """Go on to an entry that follows the head and has this hash."""
        self.length += 1
        self.hash = following
        self._latest.append(following)
        if len(self._latest) >= _AT_ONCE:
            self._settle()

    def _settle(self) -> None:
        self._hashes += bytes.fromhex("".join(self._latest))
        self._latest.clear()

    def hash_at(self, seq: int) -> str | None:
        """The hash of an entry; None where there is none of this number."""
        if seq == self.length:
            return self.hash
        self._settle()
        found = self._hashes[_SIZE * seq : _SIZE * (seq + 1)] if seq >= 0 else b""
        return found.hex() if found else None

    def prove(self, rows: Iterable[Stored], first: int, last: int) -> list[Entry]:
        """The entries `first` to `last`, read again.

        Raises:
            LedgerDamaged: They are no longer what they were when the chain was followed.
        """
        found, length, before = [], first - 1, self.hash_at(first - 1) or ""
        for row in rows:
            check_link(row, length, before)
            found.append(read_entry(row))
            length, _, before = row
        if (length, before) != (last, self.hash_at(last)):
            raise damaged(last, "it was there before and is no longer, or was edited meanwhile")
        return found


def link(previous: str, body: str) -> str:
    """The hash of an entry.

    >>> link(START.hash, "{}")[:8]
    '5508d2b7'
    """
    return hashlib.sha256((previous + body).encode()).hexdigest()


def check_link(row: Stored, length: int, previous: str) -> None:
    """Go on only where the row follows so many, of which the last has this hash.

    Raises:
        LedgerDamaged: It is missing or was edited.
    """
    seq, body, stored = row
    if seq != length + 1:
        raise damaged(length + 1, "it is missing")
    if type(body) is not str or hashlib.sha256((previous + body).encode()).hexdigest() != stored:
        raise damaged(seq, "its text and its hash do not belong together, or the entry before it was replaced")


def read_entry(row: Stored) -> Entry:
    """What a row says.

    Raises:
        LedgerDamaged: It is no entry, or has another number.
    """
    seq, body, _ = row
    try:
        entry, end = _DECODER.raw_decode(body)
    except (ValueError, RecursionError):
        raise damaged(seq, "it is not JSON") from None
    if end != len(body) or not isinstance(entry, dict) or entry.get("seq") != seq:
        raise damaged(seq, "it carries another entry's number")
    return entry


def damaged(seq: int, reason: str) -> LedgerDamaged:
    """The error for entry number `seq`."""
    return LedgerDamaged(
        f"the ledger is damaged at entry {seq}: {reason}",
        fix="stop releasing; restore the newest copy whose witness agrees, and find out who changed the file",
    )

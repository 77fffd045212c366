"""The hash chain, and the witness of its end: no entry changes unnoticed, and no tail is cut off unnoticed.

hash₀ = 64 zeros, hashₙ = SHA-256(hashₙ₋₁ ‖ textₙ): every entry's hash covers its text and the hash before it. Whoever
can write the file can also rewrite the whole chain, cut its tail or put an older copy back. A witness, which says how
long a ledger was and the hash of its end, notices that. Beside a ledger file lies one that every debit brings up to
date. A copy on another machine, made by `leastnoise budget witness`, also notices when both files are put back.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import NamedTuple

from leastnoise.errors import LedgerDamaged, LedgerMissing, LedgerUnavailable
from leastnoise.ledger.record import Entry
from leastnoise.ledger.store import Stored, create_file

__all__ = [
    "START",
    "Chain",
    "Head",
    "Witness",
    "WitnessFile",
    "begin_witness",
    "check_link",
    "damaged",
    "link",
    "read_entry",
    "read_witness",
    "write_witness",
]


class Head(NamedTuple):
    """How many entries there are, and the hash of the last."""

    length: int
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


_LENGTH = 256  # one block's worth, written in place: after a power failure it is the old text or the new one


@dataclass(frozen=True)
class Witness:
    """A ledger's identity, its number of entries, and the hash of the last."""

    ledger: str
    count: int
    hash: str

    def to_json(self) -> str:
        """One line of JSON.

        >>> Witness("a1", 2, "ff").to_json()
        '{"count": 2, "hash": "ff", "ledger": "a1"}'
        """
        return f'{{"count": {self.count}, "hash": "{self.hash}", "ledger": {encode_basestring_ascii(self.ledger)}}}'

    def confirm(self, ledger: str, count: int, hash_there: str | None) -> None:
        """Compare with a ledger that has `count` entries and, at the witnessed one, this hash.

        Raises:
            LedgerDamaged: It is another ledger, an older state of it, or one with another past.
        """
        if ledger != self.ledger:
            raise _disagrees("it is another ledger")
        if count < self.count:
            raise _disagrees(f"it has {count} entries and had {self.count}: its tail was cut, or an old copy put back")
        if hash_there != self.hash:
            raise _disagrees(f"entry {self.count} is not the one it was")


def read_witness(path: Path) -> Witness:
    """Read a witness file.

    Raises:
        LedgerMissing: There is none.
        LedgerDamaged: It is not a witness, or was edited.
    """
    try:
        return _parse(path.read_bytes(), path)
    except FileNotFoundError:
        raise _missing(path) from None
    except OSError as error:
        raise LedgerUnavailable(
            "the witness can't be read", given=f"{path} ({error.strerror})", fix="make the file readable"
        ) from None


def write_witness(path: Path, witness: Witness) -> None:
    """Write a witness to a file, replacing what is in it, and flush it."""
    try:
        try:
            create_file(path, _text(witness))
        except FileExistsError:  # in place: processes that use it hold on to this very file
            with path.open("r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.write(_text(witness))
                file.truncate()
                file.flush()
                os.fsync(file.fileno())
    except OSError as error:
        raise _unwritable(path, error, "choose another folder, or make the file writable") from None


def begin_witness(path: Path, witness: Witness) -> None:
    """Make the witness of a ledger that was just made, unless another process was faster."""
    try:
        create_file(path, _text(witness))
    except FileExistsError:
        return
    except OSError as error:
        fix = "make the folder writable and open the ledger again: the ledger itself is there, with nothing spent yet"
        raise _unwritable(path, error, fix) from None


class WitnessFile:
    """A witness file that a process reads and brings up to date again and again.

    Every reading opens the file that has the name now, in a child as in its parent. To compare the open file with the
    one of that name would cost more: Linux gives a file whose times were looked at a new time with the next write, and
    then every flush of the ledger has to write that time, too.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._name = path, str(path)
        self._handle: int | None = None
        self._known: tuple[bytes, Witness] = (b"", Witness("", 0, ""))  # what was read or written last

    def read(self) -> Witness:
        """The witness as it is now.

        Raises:
            LedgerMissing: It is gone.
            LedgerDamaged: It is not a witness any more.
            LedgerUnavailable: It can't be opened for writing.
        """
        try:
            handle = self._open()
            if os.pread(handle, _LENGTH + 1, 0) != self._known[0]:  # it may be half written: read it again, alone
                with _locked(handle):
                    self._look(handle)
        except FileNotFoundError:
            raise _missing(self.path) from None
        except OSError as error:
            raise _unwritable(self.path, error, "make the file writable; nothing was spent") from None
        return self._known[1]

    def advance(self, witness: Witness) -> None:
        """Write a witness, in place; one that is ahead stays, because another process was faster.

        Raises:
            LedgerUnavailable: It can't be written.
        """
        try:
            handle = self._open() if self._handle is None else self._handle  # that of the reading before it
            with _locked(handle):
                if self._look(handle).count < witness.count:
                    text = _text(witness)
                    os.pwrite(handle, text, 0)
                    self._known = text, witness
        except OSError as error:
            fix = "make the file writable; the debit itself is safe, and asking again returns it"
            raise _unwritable(self.path, error, fix) from None

    def close(self) -> None:
        """Let go of the file."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _look(self, handle: int) -> Witness:
        text = os.pread(handle, _LENGTH + 1, 0)
        if text != self._known[0]:
            self._known = text, _parse(text, self.path)
        return self._known[1]

    def _open(self) -> int:
        """A handle of the file that has the name now."""
        self.close()
        self._handle = os.open(self._name, os.O_RDWR)
        return self._handle


@contextmanager
def _locked(handle: int) -> Iterator[None]:
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)


def _text(witness: Witness) -> bytes:
    return (witness.to_json().ljust(_LENGTH - 1) + "\n").encode()


def _parse(text: bytes, path: Path) -> Witness:
    try:
        data = json.loads(text)
        witness = Witness(data["ledger"], data["count"], data["hash"])
        if type(witness.count) is int and witness.count > 0 and witness.to_json().encode() == text.strip():
            return witness
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise LedgerDamaged(
        "this file is not a witness, or was edited",
        given=str(path),
        fix="restore it, or if it lies beside a ledger that you know is current: `leastnoise budget witness --renew`",
    )


def _missing(path: Path) -> LedgerMissing:
    return LedgerMissing(
        "the witness of the ledger is missing, so an old copy could not be told from the current one",
        given=str(path),
        fix="restore it, or if you know that the ledger is current: `leastnoise budget witness --renew`",
    )


def _unwritable(path: Path, error: OSError, fix: str) -> LedgerUnavailable:
    return LedgerUnavailable("the witness of the ledger can't be written", given=f"{path} ({error.strerror})", fix=fix)


def _disagrees(reason: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"the ledger disagrees with its witness: {reason}",
        fix="stop releasing; restore the newest copy of the ledger, not an older one",
    )

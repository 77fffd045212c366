"""A witness: how long a ledger was and the hash of its end, kept outside of it.

A hash chain alone does not show that its tail was cut off or an older copy put back; a witness does. Beside a ledger
file lies one that every debit brings up to date. A copy on another machine, made by `leastnoise budget witness`, also
notices when both files are put back.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from pathlib import Path

from leastnoise.errors import LedgerDamaged, LedgerMissing, LedgerUnavailable
from leastnoise.ledger.store import create_file

__all__ = ["Witness", "WitnessFile", "begin_witness", "read_witness", "write_witness"]

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

"""A witness: how long a ledger was and the hash of its end, kept outside of it.

A hash chain alone does not show that its tail was cut off or an older copy put back; a witness does. Beside a ledger
file lies one that every debit brings up to date. A copy on another machine, made by `leastnoise budget witness`, also
notices when both files are put back.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path

from leastnoise.errors import BadParameter, LedgerDamaged, LedgerMissing, LedgerUnavailable

__all__ = ["Witness", "WitnessFile", "read_witness", "write_witness"]

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
        return f'{{"count": {self.count}, "hash": "{self.hash}", "ledger": {json.dumps(self.ledger)}}}'

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
        BadParameter: It is not a witness.
    """
    try:
        data = json.loads(path.read_text())
        witness = Witness(data["ledger"], data["count"], data["hash"])
    except FileNotFoundError:
        raise LedgerMissing(
            "the witness of the ledger is missing, so an old copy could not be told from the current one",
            given=str(path),
            fix="restore it, or if you know that the ledger is current: `leastnoise budget witness --renew`",
        ) from None
    except OSError as error:
        raise LedgerUnavailable(
            "the witness can't be read", given=f"{path} ({error.strerror})", fix="make the file readable"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise _no_witness(path) from None
    if not (isinstance(witness.ledger, str) and isinstance(witness.count, int) and isinstance(witness.hash, str)):
        raise _no_witness(path)
    return witness


class WitnessFile:
    """A witness file that a process brings up to date again and again; in a child it is opened anew."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None
        self._process = os.getpid()

    def advance(self, witness: Witness, *, create: bool = False) -> None:
        """Write a witness, in place; one that is ahead stays, because another process was faster.

        Args:
            witness: What to write.
            create: Make the file, or replace whatever is in it.

        Raises:
            LedgerUnavailable: It can't be written.
        """
        text = witness.to_json().ljust(_LENGTH - 1) + "\n"
        try:
            handle = self._open(create)
            fcntl.flock(handle, fcntl.LOCK_EX)
            try:
                if create or _count(os.pread(handle, _LENGTH, 0)) < witness.count:
                    os.pwrite(handle, text.encode(), 0)
            finally:
                fcntl.flock(handle, fcntl.LOCK_UN)
        except OSError as error:
            raise LedgerUnavailable(
                "the witness of the ledger can't be written",
                given=f"{self.path} ({error.strerror})",
                fix="make the file writable; the debit itself is safe, and asking again returns it",
            ) from None

    def close(self) -> None:
        """Let go of the file."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _open(self, create: bool) -> int:
        if self._process != os.getpid() or create:  # a handle from before a fork would share its lock with the parent
            self.close()
            self._process = os.getpid()
        if self._handle is None:
            self._handle = os.open(self.path, os.O_RDWR | (os.O_CREAT | os.O_TRUNC if create else 0), 0o600)
        return self._handle


def write_witness(path: Path, witness: Witness) -> None:
    """Write a witness to a file of its own, replacing what is in it."""
    file = WitnessFile(path)
    try:
        file.advance(witness, create=True)
    finally:
        file.close()


def _count(text: bytes) -> int:
    """The count in a witness file, which `to_json` writes first; −1 where it is something else."""
    start, _, rest = text.partition(b":")
    number = rest.partition(b",")[0].strip()
    return int(number) if start == b'{"count"' and number.isdigit() else -1


def _no_witness(path: Path) -> BadParameter:
    return BadParameter("this file is not a witness", given=str(path), fix="make one with `leastnoise budget witness`")


def _disagrees(why: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"the ledger disagrees with its witness: {why}",
        fix="stop releasing; restore the newest copy of the ledger, not an older one",
    )

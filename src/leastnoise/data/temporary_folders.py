"""Temporary folders that only this user can read, and that a killed process does not leave behind for good.

The owner holds a lock on the folder itself for as long as it lives; the system gives the lock up with the process. So
a folder of this user that nobody holds a lock on belongs to nobody any more, and whoever makes the next one beside it
removes it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from leastnoise.errors import BadParameter

__all__ = ["TemporaryFolder"]

_PREFIX = "leastnoise-table-"  # version 0.1 wrote "leastnoise-" and held no lock: what it left is not ours to judge


@dataclass(frozen=True)
class TemporaryFolder:
    """A folder and the lock on it."""

    path: Path
    lock: int

    @classmethod
    def make(cls, parent: str | Path | None) -> TemporaryFolder:
        """A new folder; what dead processes left beside it is removed.

        Raises:
            BadParameter: None can be made there.
        """
        while True:
            try:
                path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
            except (OSError, TypeError, ValueError):
                fix = "name a folder that exists and that you may write to"
                raise BadParameter("no temporary folder can be made there", given=str(parent), fix=fix) from None
            lock = _locked(path, wait=True)
            if lock is not None:
                break  # else another process took it for an old one, in the moment before it was locked
        for other in path.parent.glob(f"{_PREFIX}*"):
            if other != path and _is_ours(other) and (unowned := _locked(other, wait=False)) is not None:
                shutil.rmtree(other, ignore_errors=True)
                os.close(unowned)
        return cls(path, lock)

    def remove(self) -> None:
        """Remove it and give up the lock."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.lock)


def _is_ours(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def _locked(path: Path, wait: bool) -> int | None:
    """A lock on a folder that is there under this name, or None."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        if os.path.samestat(os.fstat(handle), path.lstat()):
            return handle
    except OSError:  # held by its owner, gone, or on a file system without locks
        pass
    os.close(handle)
    return None

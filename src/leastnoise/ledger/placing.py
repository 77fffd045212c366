"""A new file appears in its place whole or not at all, whenever the process is killed or the power fails.

It is written under another name, flushed, and then linked to its own name, which never replaces a file that is there.
What a killed process leaves behind under the other name is removed later; nobody reads it.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from leastnoise.exact.sources import system_source

__all__ = ["flush_folder", "place", "tidy"]

_LEFT_BEHIND = 60.0  # seconds after which nobody is writing a new file any more; one that is removed is written again


def place(path: Path, content: bytes) -> None:
    """Make a new file, readable for its owner only.

    Raises:
        FileExistsError: There is a file of this name already; it stays as it is.
        OSError: There is no place for it.
    """
    tidy(path)
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
            except FileNotFoundError:  # tidied away by a process that took it for left behind
                continue
        finally:
            draft.unlink(missing_ok=True)
        flush_folder(path)
        return


def tidy(path: Path) -> None:
    """Remove what killed processes left behind of a file and of what lies beside it."""
    with suppress(OSError):
        for entry in os.scandir(path.parent):
            if entry.name.startswith(f".{path.name}.") and entry.name.endswith(".new"):
                with suppress(OSError):
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime > _LEFT_BEHIND:
                        Path(entry.path).unlink()


def flush_folder(path: Path) -> None:
    """The name of a file must survive a power failure as its contents do."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)

"""Before a large array is made: does it fit?"""

from __future__ import annotations

import os

from leastnoise.errors import TooLarge

__all__ = ["require_memory"]

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_FALLBACK = 4 << 30  # where the system does not say how much memory it has


def require_memory(needed: int, what: str, fix: str) -> None:
    """Refuse an array of `needed` bytes if it is more than half of the machine's memory.

    Raises:
        TooLarge: With what was asked for, how much it would take and how much there is. Nothing was allocated.

    >>> require_memory(10**18, "the distance matrix of hypercube(28)", "ask for one row of it")
    Traceback (most recent call last):
    leastnoise.errors.TooLarge: the distance matrix of hypercube(28) would need 888.2 PiB, ...
    """
    allowed = _physical_memory() // 2
    if needed > allowed:
        raise TooLarge(
            f"{what} would need {_readable(needed)}, more than the {_readable(allowed)} it may take", fix=fix
        )


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _FALLBACK


def _readable(amount: int) -> str:
    thousands = (amount.bit_length() - 1) // 10
    if thousands >= len(_UNITS):
        return f"2^{amount.bit_length() - 1} B"
    return f"{amount / 1024**thousands:.1f} {_UNITS[thousands]}"

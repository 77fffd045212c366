"""The sizes that a question may have. One table: each limit is a constant here, and says what it follows from.

All of them are public and are checked when a question is made, before anything is planned, spent or read. What is
within them is planned in seconds.

A large array is refused before it is made if it would not fit into memory.
"""

from __future__ import annotations

import os

from leastnoise.errors import TooLarge

__all__ = [
    "LARGEST_ENTRY",
    "LONGEST_ANSWER",
    "MOST_CELLS",
    "MOST_CELLS_FOR_BODIES",
    "MOST_DENSE_CELLS",
    "MOST_DESIGNED",
    "MOST_DESIGNED_CELLS",
    "MOST_ENTRIES",
    "MOST_GROUPS",
    "MOST_LISTED_CELLS",
    "MOST_NUMBERS",
    "MOST_OPTIONS",
    "MOST_POINTS",
    "MOST_RANK_CELLS",
    "MOST_ROWS",
    "MOST_ROWS_OF_BODIES",
    "MOST_ROWS_PER_UNIT",
    "MOST_STRATEGY_CELLS",
    "MOST_TABLES",
    "MOST_TABLE_CELLS",
    "MOST_TURNS",
    "MOST_UNEVEN",
    "require_memory",
]

MOST_CELLS = 100_000
"""Cells of one answer: keys and bins of all axes together, answers of a workload, counts of a sorted list, keys that
are found."""

MOST_NUMBERS = 3 * MOST_CELLS
"""Whole numbers that are drawn for one answer: a variance needs three for each cell."""

LONGEST_ANSWER = 40 * MOST_CELLS
"""Characters of the keys and counts that a search for unknown keys may record: forty for each."""

MOST_ENTRIES = 10 * MOST_CELLS
"""Entries of the matrix of a workload."""

LARGEST_ENTRY = 10**9
"""The largest |entry| of such a matrix. With counts below `MOST_ROWS` an answer stays within 37 digits."""

MOST_ROWS_OF_BODIES, MOST_CELLS_FOR_BODIES = 8, 16
"""Answers and cells up to which noise is also shaped like the columns of a workload: volumes are slow beyond them."""

MOST_TABLES = 1_000
"""Marginal tables of one release: a plan computes the error of each exactly."""

MOST_LISTED_CELLS = 5 * MOST_CELLS
"""Cells of all marginal tables of one release together up to which it holds them as a table of Python's numbers.
Beyond, they are computed table by table when they are read, in doubles, and there is Gaussian noise only."""

MOST_TABLE_CELLS = 400 * MOST_CELLS
"""The same for any release; the table over all columns is never formed. A cell takes some 50 bytes of memory while it
is drawn, and some 6 characters in the ledger: so much is 2 GB, and a quarter of a gigabyte."""

MOST_STRATEGY_CELLS = 4096
"""Cells of one factor of a linear workload whose best strategy is searched for: its matrix has as many rows."""

MOST_DENSE_CELLS = 1024
"""The same where no structure of the workload is known: hierarchies, ranges with weights, the goal "largest" of ranges,
independent answers of a matrix. Each step of the search needs all eigenvectors of a matrix of that size: for 1024 cells
0.2 s of processor time, for 2048 1.3 s, and an uneven tree needs five steps; then the bound is proven from products of
matrices of that size in whole numbers."""

MOST_DESIGNED, MOST_DESIGNED_CELLS = 10_000, 1_000
"""The largest count that an answer is designed for, and the cells of such an answer. Cells times counts are at most
`MOST_CELLS`, too: each count of each cell has its probability."""

MOST_POINTS = 1 << 16
"""Points of a grid for quantiles; as many edges go to the engine."""

MOST_RANK_CELLS = 1 << 22
"""Keys times grid points of quantiles by group: a count for each is held in memory."""

MOST_UNEVEN = 1 << 12
"""Edges and points that are not evenly spaced, or beside a decimal column: each is a test in the text of the query, and
engines take seconds to read so many."""

MOST_TURNS = 100
"""Choices that one release makes in turn, each with its share of ε: levels of quantiles, keys of `most_common`."""

MOST_OPTIONS = 1_000
"""Conditions to choose from, and keys of a vote: the law of a vote is computed option by option."""

MOST_GROUPS = 10 * MOST_CELLS
"""Groups in which one unit may count. With public keys more than `MOST_CELLS` change nothing."""

MOST_ROWS_PER_UNIT = 1 << 31
"""Rows with which one unit may count in a group."""

MOST_ROWS = 1 << 43
"""No table is longer: the widths of all sums are chosen for this many rows, about nine million million."""


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

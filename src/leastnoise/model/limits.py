"""The sizes that a question may have. One table: each limit is a constant here, and says what it follows from.

All of them are public and are checked when a question is made, before anything is planned, spent or read. What is
within them is planned in seconds.
"""

from __future__ import annotations

__all__ = [
    "LARGEST_ENTRY",
    "LONGEST_ANSWER",
    "MOST_CELLS",
    "MOST_CELLS_FOR_BODIES",
    "MOST_ENTRIES",
    "MOST_GROUPS",
    "MOST_NUMBERS",
    "MOST_OPTIONS",
    "MOST_POINTS",
    "MOST_ROWS",
    "MOST_ROWS_OF_BODIES",
    "MOST_ROWS_PER_UNIT",
    "MOST_STRATEGY_CELLS",
    "MOST_TURNS",
    "MOST_UNEVEN",
]

MOST_CELLS = 100_000
"""Cells of one answer: keys and bins of all axes together, cells of all two-way tables together, answers of a workload,
counts of a sorted list, keys that are found."""

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

MOST_STRATEGY_CELLS = 1024
"""Cells of one factor of a linear workload whose best strategy is searched for: its matrix has as many rows."""

MOST_POINTS = 1 << 16
"""Points of a grid for quantiles; as many edges go to the engine."""

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

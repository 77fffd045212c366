"""How large a filter may be, and how far its numbers reach: what keeps every filter finite, cheap and free of errors.

A filter is read by recursion, so its depth is bounded; its literals must fit every engine's widest whole-number type;
and its arithmetic runs in doubles inside a range where no engine overflows or underflows (Postgres raises on both).
"""

from __future__ import annotations

__all__ = [
    "DECIMAL_REACH",
    "MAX_DEPTH",
    "MAX_LITERAL",
    "MAX_SIZE",
    "MAX_TEXT",
    "OPERAND_REACH",
    "RESULT_REACH",
    "VALUES_PER_PART",
]

MAX_DEPTH = 60
MAX_SIZE = 1000
"""Parts of a filter; beyond it the engines' own parsers and optimisers take minutes, or give up."""
VALUES_PER_PART = 20
"""So many values of a list count as one part."""
MAX_TEXT = 400_000
MAX_LITERAL = 10**37
"""Whole literals lie below this: they fit HUGEINT, DECIMAL(38, 0) and NUMERIC."""
OPERAND_REACH = 30
"""In arithmetic a column's value beyond ±10^30 counts as ±10^30, and one closer to zero than 10^-30 as zero."""
RESULT_REACH = 300
"""No intermediate result may be able to leave 10^-300 … 10^300; the bound follows from the formula alone."""
DECIMAL_REACH = 300
"""A DECIMAL beyond ±10^300 counts as ±10^300, and one closer to zero than 10^-300 as zero."""

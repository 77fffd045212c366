"""Reading a matrix of probabilities: exact or float, never negative, every row a distribution; errors name the place.

Text, whole numbers, `Fraction`s and `Decimal`s give an exact matrix, whose rows must sum to exactly one. Floats give a
float matrix: each entry is taken as exactly the number it is (a dyadic rational), so a row sums to one only up to
rounding, and 1e-9 is allowed for. That slack is about reading input; no statement about privacy ever uses it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence, Sized
from fractions import Fraction
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadChannel, BadParameter, TooLarge, shown
from leastnoise.exact import RationalMatrix, read_rational

__all__ = ["Entries", "FloatMatrix", "check_size", "check_sums", "read_entries", "read_table"]

FloatMatrix: TypeAlias = NDArray[np.float64]
Entries: TypeAlias = RationalMatrix | FloatMatrix

_SLACK = Fraction(1, 10**9)
_MOST_EXACT_ENTRIES = 1 << 24  # about 2 GB of fractions
_MOST_FLOAT_ENTRIES = 1 << 28  # 2 GB of doubles
_MOST_UNCOUNTED = 1 << 20

Labels = Sequence[Hashable]


def check_size(rows: int, columns: int, *, exact: bool = True) -> None:
    """Refuse a matrix that would not fit into memory, before anything is allocated."""
    most = _MOST_EXACT_ENTRIES if exact else _MOST_FLOAT_ENTRIES
    if rows * columns > most:
        kind = "exact" if exact else "float"
        raise TooLarge(
            f"{'an' if exact else 'a'} {kind} channel may have at most {most:,} entries",
            given=f"{rows:,} x {columns:,} = {rows * columns:,}",
            fix="merge outputs, restrict the inputs, or split the problem",
        )


def read_table(matrix: Any) -> FloatMatrix | list[list[Any]]:
    """The shape of a matrix as given: an array of doubles, or rows of equal length that are still to be read."""
    if isinstance(matrix, np.ndarray) and matrix.dtype.kind == "f":
        if matrix.ndim != 2 or not matrix.size:
            raise _bad_shape(f"an array of shape {matrix.shape}")
        check_size(*matrix.shape, exact=False)
        return np.array(matrix, dtype=np.float64, order="C")
    try:
        rows = [_taken(row) for row in _taken(matrix)]
    except TypeError:
        raise _bad_shape(type(matrix).__name__) from None
    if not rows or not rows[0] or any(isinstance(row, str | dict) for row in matrix):
        raise _bad_shape("no rows" if not rows else "rows that are no lists of numbers")
    check_size(len(rows), len(rows[0]))
    for place, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise BadChannel(
                f"all rows must be of one length, and row 0 has {len(rows[0])} entries",
                given=f"row {place} has {len(row)}",
                fix="fill in the missing entries, with zeros where an output cannot happen",
            )
    if not any(isinstance(entry, float | np.floating) for row in rows for entry in row):
        return rows
    for x, row in enumerate(rows):
        for y, entry in enumerate(row):
            if isinstance(entry, bool) or not isinstance(entry, float | np.floating | int | np.integer):
                raise BadChannel(
                    "a channel is either exact or in floats, and this one mixes the two",
                    given=f"{shown(entry)} in row {x}, column {y}, beside floats",
                    fix="write every entry as text or Fraction, or every entry as a float",
                )
    return np.array(rows, dtype=np.float64)


def _taken(given: Iterable[Any]) -> list[Any]:
    """As a list; what does not say how long it is may have no end."""
    found = list(given if isinstance(given, Sized) else islice(given, _MOST_UNCOUNTED + 1))
    if len(found) > _MOST_UNCOUNTED and not isinstance(given, Sized):
        raise TooLarge(f"a channel is read from at most {_MOST_UNCOUNTED:,} parts one by one", fix="pass lists of rows")
    return found


def read_entries(table: FloatMatrix | list[list[Any]], inputs: Labels, outputs: Labels) -> Entries:
    """Read what `read_table` gave: numbers, none of them negative."""
    if isinstance(table, np.ndarray):
        wrong = np.argwhere(~np.isfinite(table) | (table < 0))
        if len(wrong):
            x, y = wrong[0]
            raise _bad_entry(table[x, y], inputs[x], outputs[y])
        floats = table + 0.0  # −0.0 becomes 0.0
        floats.flags.writeable = False
        return floats
    return RationalMatrix(
        [
            [_read_entry(e, x, y) for e, y in zip(row, outputs, strict=True)]
            for row, x in zip(table, inputs, strict=True)
        ]
    )


def check_sums(entries: Entries, inputs: Labels, *, rounded: bool = False) -> bool:
    """Check that every row sums to one and tell whether exactly so; `rounded` entries may miss it by 1e-9."""
    if isinstance(entries, np.ndarray):
        rounded = True
        sums: Sequence[Fraction | float] = entries.sum(axis=1).tolist()
    else:
        sums = entries.row_sums()
    for label, total in zip(inputs, sums, strict=True):
        distance = abs(Fraction(total) - 1)
        if distance and not (rounded and distance <= _SLACK):
            close = "write 1/3 for a third, or pass floats" if distance < 0.01 else "make it a distribution"
            raise BadChannel(f"the row of input {shown(label)} must sum to 1", given=f"a sum of {total}", fix=close)
    return not isinstance(entries, np.ndarray) and all(total == 1 for total in sums)


def _read_entry(entry: Any, x: Hashable, y: Hashable) -> Fraction:
    if type(entry) is not Fraction:
        try:
            entry = read_rational(entry, "probability")
        except BadParameter:
            raise _bad_entry(entry, x, y) from None
    if entry < 0:
        raise _bad_entry(entry, x, y)
    return Fraction(entry)


def _bad_entry(entry: object, x: Hashable, y: Hashable) -> BadChannel:
    return BadChannel(
        f"the probability of output {shown(y)} for input {shown(x)} must be a number from 0 to 1",
        given=str(entry) if isinstance(entry, Fraction | float | np.generic) else entry,
        fix="use a float, a Fraction, or text such as '3/20'",
    )


def _bad_shape(given: str) -> BadChannel:
    return BadChannel("a channel is a matrix: a row per input, a column per output", given=given, fix="pass equal rows")

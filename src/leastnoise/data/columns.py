"""What a column holds, in one vocabulary for all engines.

Queries never see a native column but its *plain form*, under the same name, made in the innermost subquery
(`Dialect.plain`). A predicate can therefore rely on these types:

| kind | plain form | missing |
|---|---|---|
| INTEGER | 64 bit, or the engine's widest integer (HUGEINT) for wider columns | NULL |
| REAL | IEEE double; ±0 and ±infinity are values | NULL, NaN |
| DECIMAL | the column's own decimal; Postgres NUMERIC may hold ±Infinity | NULL, NaN, more digits than declared |
| TEXT | text compared by its bytes in UTF-8, whatever the column's collation; also UUID, enumerations | NULL, broken |
| BOOLEAN | the engine's own | NULL |
| DATE | from 0001-01-01 to 9999-12-31; what lies beyond, and ±infinity, is the nearer end | NULL |
| TIMESTAMP | microseconds of the same days, in the same way; a column with time zone is moved to UTC | NULL |
| OTHER | can't be used | |

The plain form of a row depends on that row alone, and making it fails on no row: what a file, a frame or a table can
hold beyond its declared type (times outside of the microseconds of 64 bits, decimals too long) has its place in this
table. Broken text is bytes that are no UTF-8; DuckDB, which reads Parquet by itself, puts a question mark for each.

**A unit is a value of the plain form**: rows belong to one unit where the plain forms of their ids are equal, and
grouping, distinct and hash all see the one canonical form that `Reading` makes: decimals without zeros at the end, one
zero of doubles, CHAR without padding, text by its bytes. Rows belong to nobody where the id is missing, or at an end of
the calendar, where several ids would meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["Column", "Kind", "decimal_text"]


class Kind(Enum):
    """The kinds of columns that queries tell apart."""

    INTEGER = "integer"
    REAL = "real"
    DECIMAL = "decimal"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    OTHER = "other"

    @property
    def numeric(self) -> bool:
        """Whether it can be summed, binned and ranked."""
        return self in (Kind.INTEGER, Kind.REAL, Kind.DECIMAL)


@dataclass(frozen=True)
class Column:
    """A column of a table: its name, its kind, and what the engine calls its type."""

    name: str
    kind: Kind
    native: str
    wide: bool = False  # an integer column that may hold more than 64 bits
    zoned: bool = False  # a time with a time zone
    precision: int | None = None  # digits of a decimal column; None: any number
    scale: int | None = None  # digits after its point; None: any number
    hint: str = ""  # what to do where another kind of column is needed
    sound: bool = False  # text whose encoding was checked when it was read
    coarse: bool = False  # equal for the engine and in plain form differ (nanoseconds, collations): it names no unit


def decimal_text(digits: int, scale: int) -> str:
    """The number digits/10^scale in plain decimal notation.

    >>> decimal_text(-5, 2), decimal_text(70, 0)
    ('-0.05', '70')
    """
    text = str(abs(digits)).rjust(scale + 1, "0")
    whole, places = text[: len(text) - scale], text[len(text) - scale :]
    return f"{'-' if digits < 0 else ''}{whole}{'.' if scale else ''}{places}"

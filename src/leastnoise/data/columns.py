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
table. Broken text is bytes that are no UTF-8. DuckDB, where it reads Parquet by itself, puts a question mark for each,
and such a column names no unit; in a CSV the sign U+FFFD stands for them.

**A unit is a value of the plain form**: rows belong to one unit where the plain forms of their ids are equal, and
grouping, distinct and hash all see the one canonical form that `Relation` makes: decimals without zeros at the end, one
zero of doubles, CHAR without padding, text by its bytes. Rows belong to nobody where the id is missing, and where
several ids would meet: at an end of the calendar, and where a sign stands for broken bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction

import numpy as np

__all__ = ["COLLATION", "NANOSECONDS", "Column", "Kind", "decimal_text", "whole_range"]

NANOSECONDS = "it holds nanoseconds, of which microseconds are read"
COLLATION = "its collation calls different texts equal"
_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


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


def whole_range(bits: int, signed: bool = True) -> tuple[int, int]:
    """The least and the largest whole number of a width."""
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


@dataclass(frozen=True)
class Column:
    """A column of a table: its name, its kind, and what the engine calls its type."""

    name: str
    kind: Kind
    native: str
    limits: tuple[int, int] = whole_range(64)  # the least and the largest number that an integer column can hold
    is_single: bool = False  # doubles of 32 bits
    any_text: bool = False  # text by no other rule than its length
    zoned: bool = False  # a time with a time zone
    precision: int | None = None  # digits of a decimal column; None: any number
    scale: int | None = None  # digits after its point; None: any number
    hint: str = ""  # what to do where another kind of column is needed
    sound: bool = False  # text whose encoding was checked when it was read
    replaced: str = ""  # what reading puts for broken bytes of text: an id that holds it names nobody
    coarse: str = ""  # why two ids may be one in plain form, or differ there and be equal elsewhere: it names no unit
    longest: int | None = None  # letters of a text; None: any number

    @property
    def wide(self) -> bool:
        """Whether it is an integer column that may hold more than 64 bits."""
        low, high = whole_range(64)
        return not low <= self.limits[0] <= self.limits[1] <= high

    @property
    def is_uuid(self) -> bool:
        """Whether it holds identifiers of 128 bits, which are read as text."""
        return self.native.lower() == "uuid"

    def can_hold(self, value: object) -> bool:
        """Whether a row can have this value, by the type alone; false where that is not known.

        >>> age = Column("age", Kind.INTEGER, "UTINYINT", whole_range(8, signed=False))
        >>> age.can_hold(255), age.can_hold(256), age.can_hold(-1), age.can_hold(0.5), age.can_hold(None)
        (True, False, False, False, True)
        """
        if value is None:
            return True
        if self.kind.numeric:
            if isinstance(value, bool) or not isinstance(value, int | Fraction | float | Decimal):
                return False
            return self._can_hold_number(Fraction(value))
        if self.kind is Kind.TEXT:
            return isinstance(value, str) and self._can_hold_text(value)
        return self.kind is not Kind.OTHER  # the extremes of calendars differ, but no key or literal is beyond them

    def _can_hold_number(self, exact: Fraction) -> bool:
        if self.kind is Kind.INTEGER:
            low, high = self.limits
            return exact.denominator == 1 and low <= exact <= high
        if self.kind is Kind.REAL:
            with np.errstate(over="ignore"):
                nearest = float(np.float32(float(exact)) if self.is_single else float(exact))
            return abs(nearest) < float("inf") and Fraction(nearest) == exact
        digits = exact * 10 ** (self.scale or 0)
        within = self.precision is None or abs(digits) < 10**self.precision
        return self.scale is None or (digits.denominator == 1 and within)

    def _can_hold_text(self, value: str) -> bool:
        if self.is_uuid:
            return _UUID.fullmatch(value) is not None
        return self.any_text and (self.longest is None or len(value) <= self.longest)

    @property
    def most_values(self) -> int | None:
        """How many different values it can hold; None for a great many."""
        if self.kind is Kind.INTEGER:
            low, high = self.limits
            return high - low + 1
        if self.kind is Kind.DECIMAL:
            return None if self.precision is None else 2 * 10**self.precision - 1
        if self.kind is Kind.TEXT and (self.any_text or self.is_uuid):
            return None if self.longest is None else 2 ** (8 * self.longest)
        return {Kind.BOOLEAN: 2, Kind.REAL: 2**31, Kind.TIMESTAMP: 2**50, Kind.DATE: 3_000_000}.get(self.kind, 1)


def decimal_text(digits: int, scale: int) -> str:
    """The number digits/10^scale in plain decimal notation.

    >>> decimal_text(-5, 2), decimal_text(70, 0)
    ('-0.05', '70')
    """
    text = str(abs(digits)).rjust(scale + 1, "0")
    whole, places = text[: len(text) - scale], text[len(text) - scale :]
    return f"{'-' if digits < 0 else ''}{whole}{'.' if scale else ''}{places}"

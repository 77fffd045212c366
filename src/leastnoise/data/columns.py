"""What a column holds, in one vocabulary for all engines, and what is asked of a table: axes, measures and bounds.

Queries never see a native column but its *plain form*, under the same name, made in the innermost subquery
(`Dialect.plain`). A predicate can therefore rely on these types:

| kind | plain form | missing |
|---|---|---|
| INTEGER | 64 bit, or the engine's widest integer (HUGEINT) for wider columns | NULL |
| REAL | IEEE double; ±0 and ±infinity are values | NULL, NaN |
| DECIMAL | the column's own decimal; Postgres NUMERIC may hold ±Infinity | NULL, NaN, more digits than declared |
| TEXT | text compared by its bytes in UTF-8, whatever its collation; also UUID, enumerations | NULL, broken, too long |
| BOOLEAN | the engine's own | NULL |
| DATE | from 0001-01-01 to 9999-12-31; what lies beyond, and ±infinity, is the nearer end | NULL |
| TIMESTAMP | microseconds of the same days, in the same way; a column with time zone is moved to UTC | NULL |
| OTHER | can't be used | |

The plain form of a row depends on that row alone, and making it fails on no row: what a file, a frame or a table can
hold beyond its declared type (times outside of the microseconds of 64 bits, decimals too long) has its place in this
table. Broken text is bytes that are no UTF-8. DuckDB, where it reads Parquet by itself, puts a question mark for each,
and such a column names no unit; in a CSV the sign U+FFFD stands for them. Postgres and Spark
fail on very long text: there text of more than 512 KiB is missing (`LONGEST_TEXT` in `leastnoise.data.dialect`).

**A unit is a value of the plain form**: rows belong to one unit where the plain forms of their ids are equal, and
grouping, distinct and hash all see the one canonical form that `Relation` makes: decimals without zeros at the end, one
zero of doubles, CHAR without padding, text by its bytes. Rows belong to nobody where the id is missing, and where
several ids would meet: at an end of the calendar, and where a sign stands for broken bytes.

**A question** has public axes, whose keys or bins are fixed before the data is read, measures that are added up in each
cell, and bounds of what one privacy unit may add. Neighbours differ by all rows of one unit.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import pairwise
from math import floor
from numbers import Integral, Rational
from sys import float_info
from typing import TYPE_CHECKING, Any

import numpy as np

from leastnoise.errors import BadParameter, NumberTooLarge
from leastnoise.exact import read_integer, read_rational
from leastnoise.model import MOST_GROUPS, MOST_ROWS, MOST_ROWS_PER_UNIT

if TYPE_CHECKING:
    from leastnoise.data.predicates import Predicate

__all__ = [
    "COLLATION",
    "LARGEST_REAL",
    "NANOSECONDS",
    "Axis",
    "BinAxis",
    "Column",
    "Contribution",
    "CountRows",
    "CountUnits",
    "KeyAxis",
    "Kind",
    "Measure",
    "SumOf",
    "TimeAxis",
    "counted",
    "cut_name",
    "decimal_text",
    "engine_name",
    "free_name",
    "key_text",
    "whole_range",
]

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


_LONG = range(-(1 << 63), 1 << 63)
_HUGE = range(-(1 << 127), 1 << 127)
_MOST_PLACES = 1200  # after the point: beyond it no number is read
LARGEST_REAL = Fraction(float_info.max)


@dataclass(frozen=True)
class KeyAxis:
    """The public keys of a column, in order; None stands for missing (NULL, NaN). Rows with other keys are dropped.

    Raises:
        BadParameter: No key, or a key twice.

    >>> len(KeyAxis("city", ("Rome", "Oslo", None)))
    3
    """

    column: str
    keys: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        """Refuse what is no axis."""
        if not self.keys:
            raise BadParameter("keys must not be empty", given=self.column, fix="list the public keys")
        if len(set(self.keys)) < len(self.keys):
            raise BadParameter(f"a key of {self.column!r} is listed twice", fix="list each key once")

    def __len__(self) -> int:
        """How many keys."""
        return len(self.keys)


@dataclass(frozen=True)
class BinAxis:
    """Bins [e₀, e₁), [e₁, e₂), …, the last one closed; rows outside, and missing values, are dropped.

    A column of doubles is compared with the double nearest to each edge; whole numbers and decimals exactly.

    Raises:
        BadParameter: Fewer than two edges, or edges that do not increase.

    >>> len(BinAxis("age", (0, 18, 65, 120)))
    3
    """

    column: str
    edges: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        """Read the edges."""
        object.__setattr__(self, "edges", tuple(read_rational(edge, "edges") for edge in self.edges))
        if len(self.edges) < 2 or any(not low < high for low, high in pairwise(self.edges)):
            raise BadParameter("bins need at least two edges that increase", given=self.column, fix="sort the edges")

    def __len__(self) -> int:
        """How many bins."""
        return len(self.edges) - 1


@dataclass(frozen=True)
class TimeAxis:
    """Bins [e₀, e₁), [e₁, e₂), … of dates or times without a zone; rows outside, and missing values, are dropped.

    Raises:
        BadParameter: Fewer than two edges, edges that do not increase, or not one label for each bin.

    >>> len(TimeAxis("day", (datetime(2025, 1, 1), datetime(2026, 1, 1)), ("2025",)))
    1
    """

    column: str
    edges: tuple[datetime, ...]
    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse what is no axis."""
        if len(self.edges) < 2 or any(not low < high for low, high in pairwise(self.edges)):
            raise BadParameter("bins need at least two edges that increase", given=self.column, fix="sort the edges")
        if len(self.labels) != len(self):
            raise BadParameter("there must be one label for each bin", given=self.column, fix="name every bin")

    def __len__(self) -> int:
        """How many bins."""
        return len(self.edges) - 1


Axis = KeyAxis | BinAxis | TimeAxis


def key_text(key: Any, column: Column) -> str | None:
    """A key as text that the engine casts to the column's plain form; None if the column can't hold it.

    Raises:
        BadParameter: The key is of another kind than the column.
    """
    match column.kind, key:
        case Kind.BOOLEAN, bool():
            return "true" if key else "false"
        case Kind.INTEGER | Kind.REAL | Kind.DECIMAL, Integral() | Rational() | float() | Decimal() if not isinstance(
            key, bool
        ):
            return _number_text(key, column)
        case Kind.TEXT, str():
            return _utf8(key)
        case Kind.TIMESTAMP, datetime() if key.tzinfo is None:
            return key.isoformat(" ")
        case Kind.DATE, date() if not isinstance(key, datetime):
            return key.isoformat()
    raise BadParameter(
        f"a key of {column.name!r} is of kind {type(key).__name__}, the column of kind {column.kind.value}",
        fix="pass keys of the column's own kind (dates as datetime.date, times without time zone as datetime.datetime)",
    )


def _number_text(key: Any, column: Column) -> str | None:
    exact = read_rational(key, f"a key of {column.name!r}")
    if column.kind is Kind.REAL:
        return repr(float(exact)) if abs(exact) <= LARGEST_REAL else None
    if column.kind is Kind.DECIMAL:
        return _decimal_text(exact, column)
    fits = exact.denominator == 1 and int(exact) in (_HUGE if column.wide else _LONG)
    return str(int(exact)) if fits else None


def _decimal_text(exact: Fraction, column: Column) -> str | None:
    scale = _MOST_PLACES if column.scale is None else column.scale
    digits = exact * 10**scale
    if digits.denominator != 1 or (column.precision is not None and abs(digits) >= 10**column.precision):
        return None
    return decimal_text(int(digits), scale)


def _utf8(key: str) -> str:
    try:
        key.encode()
    except UnicodeEncodeError:
        raise BadParameter("a key is not valid text (a lone surrogate)", fix="leave it out") from None
    return key


_HALF = Fraction(1, 2)
_MOST_STEPS = 1 << 62


@dataclass(frozen=True)
class Contribution:
    """The contribution bounds that the engine enforces before anything is added up (docs/theory/contribution.md).

    Args:
        privacy_unit: The column that identifies the person each row belongs to; rows where it is missing belong to
            nobody and are dropped. None: every row is a unit of its own.
        groups_per_unit: A unit counts in at most so many groups; which ones is decided by a secret of the call.
        rows_per_unit: In each of them it counts as at most so many rows.

    Raises:
        BadParameter: A limit is not a whole number from 1 to `MOST_GROUPS` or `MOST_ROWS_PER_UNIT`.

    >>> Contribution("person", groups_per_unit=2).rows_per_unit
    1
    """

    privacy_unit: str | None
    groups_per_unit: int = 1
    rows_per_unit: int = 1

    def __post_init__(self) -> None:
        """Read the numbers."""
        for name, most in (("groups_per_unit", MOST_GROUPS), ("rows_per_unit", MOST_ROWS_PER_UNIT)):
            limit = read_integer(getattr(self, name), name, at_least=1, at_most=most)
            object.__setattr__(self, name, 1 if self.privacy_unit is None else limit)


@dataclass(frozen=True)
class CountRows:
    """Rows per group; a unit counts as min(its rows in the group, rows_per_unit)."""


@dataclass(frozen=True)
class CountUnits:
    """Units per group."""


@dataclass(frozen=True)
class SumOf:
    """Σ (q − centre/step)^power with q = ⌊clamp(x, low, high)/step + ½⌋, in whole numbers of any size.

    Missing values (NULL, NaN) add nothing; ±infinity counts as the bound. For a column of doubles the quotient and the
    sum with ½ are rounded as IEEE doubles, and q is clamped once more afterwards; for whole numbers and decimals they
    are exact. What one unit adds to one group lies between `R·lowest` and `R·highest` (and 0), R = rows_per_unit: the
    sum of its rows is clamped there, or, with `averaged`, a unit with n > R rows adds sum·R/n, rounded towards zero.

    A column of booleans, or a condition on a row, is 1 where it holds and 0 where it does not.

    Args:
        column: A numeric column, a column of booleans, or a condition.
        low: The public lower bound.
        high: The public upper bound.
        step: What one unit of the result is worth (to the power).
        power: 1 or 2.
        centre: A whole multiple of the step that values are measured from.
        averaged: Scale a unit with too many rows down instead of clamping its sum. Right where the sum is divided by a
            count (a mean): there the count is scaled down too.

    Raises:
        BadParameter: Bounds that do not increase, a step or centre that does not fit.
        NumberTooLarge: More than 2^62 steps, or a sum that could exceed 38 digits.

    >>> SumOf("age", Fraction(0), Fraction(100), Fraction(1, 2)).highest
    200
    """

    column: str | Predicate
    low: Fraction
    high: Fraction
    step: Fraction
    power: int = 1
    centre: Fraction = Fraction(0)
    averaged: bool = False

    def __post_init__(self) -> None:
        """Read the numbers."""
        for name in ("low", "high", "centre"):
            object.__setattr__(self, name, read_rational(getattr(self, name), name))
        object.__setattr__(self, "step", read_rational(self.step, "step", above=0))
        if self.low > self.high:
            raise BadParameter("bounds must increase", given=f"{self.low} .. {self.high}", fix="exchange them")
        if self.power not in (1, 2):
            raise BadParameter("power must be 1 or 2", given=self.power, fix="pass power=1 for a sum")
        if (self.centre / self.step).denominator != 1:
            raise BadParameter("centre must be a multiple of the step", given=self.centre, fix="round it to one")
        if max(*map(abs, self.steps), *(abs(q - self.offset) for q in self.steps)) > _MOST_STEPS:
            raise NumberTooLarge("the bounds are more than 2^62 steps", given=self.step, fix="pass a larger step")
        if self.largest * MOST_ROWS >= 10**37:
            raise NumberTooLarge("the sum could exceed 37 digits", given=self.step, fix="pass a larger step")

    @property
    def steps(self) -> tuple[int, int]:
        """The least and the largest q."""
        return floor(self.low / self.step + _HALF), floor(self.high / self.step + _HALF)

    @property
    def offset(self) -> int:
        """The centre in steps."""
        return int(self.centre / self.step)

    @property
    def lowest(self) -> int:
        """The least that one row adds."""
        least, most = (q - self.offset for q in self.steps)
        if self.power == 1:
            return least
        return 0 if least <= 0 <= most else min(least * least, most * most)

    @property
    def highest(self) -> int:
        """The most that one row adds."""
        return max(int((q - self.offset) ** self.power) for q in self.steps)

    @property
    def largest(self) -> int:
        """The most that one row changes a sum, up or down."""
        return max(abs(self.lowest), abs(self.highest))


Measure = CountRows | CountUnits | SumOf


def counted(of: str) -> CountRows | CountUnits:
    """What a count of "units" or "rows" adds up."""
    return CountUnits() if of == "units" else CountRows()


_SHORTEST = 63  # bytes of a name that all engines tell apart


def cut_name(name: str) -> str:
    """As much of a column's name as all engines look at."""
    return name.encode(errors="replace")[:_SHORTEST].decode(errors="ignore")


def engine_name(name: str) -> str:
    """What all engines tell apart of a column's name: not its capitals, and nothing behind its first 63 bytes.

    Of two columns of a query that agree in it, DuckDB takes the first for both, without a word.

    >>> engine_name("Age") == engine_name("age"), engine_name("a" * 63) == engine_name("a" * 64)
    (True, True)
    """
    return cut_name(name).casefold()


def free_name(name: str, taken: Iterable[str]) -> str:
    """The name, with underscores until none of those taken is equal to it: in any case, as engines compare columns.

    >>> free_name("key", ["Key"]), free_name("place", ["Key"])
    ('key_', 'place')
    """
    folded = {each.casefold() for each in taken}
    while name.casefold() in folded:
        name += "_"
    return name

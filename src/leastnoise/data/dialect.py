"""Texts of queries: pieces, values that are bound, and the few words in which the engines differ.

Every query is one text with the words of a `Dialect` filled in; each engine has its own, in its file.

No text may fail on any row, so every operation that can fail (a cast that narrows, a sum, a product) gets an argument
that was brought into its range first, by `least` and `greatest` or a comparison in the argument's own type. A guard
alone, `CASE WHEN in range THEN operation END`, is not relied on: an optimiser may compute the operation earlier.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from leastnoise.data.columns import Column, Kind, decimal_text

__all__ = [
    "LONGEST_TEXT",
    "BoundValue",
    "Dialect",
    "Fragment",
    "RowsOf",
    "Secret",
    "SourceRows",
    "bound",
    "join",
    "no_rows",
    "secret",
    "select",
    "sql",
]

Secret = tuple[int, int]
"""Two words of 63 bits, fresh in each call."""
RowsOf = Callable[[tuple[str, ...]], "Fragment"]
"""From the names of columns to the rows that a text reads them from."""

_LONG = (-(1 << 63), (1 << 63) - 1)
_HUGE = (-(1 << 127), (1 << 127) - 1)
FIRST_DAY, LAST_DAY = "0001-01-01", "9999-12-31"
"""The ends of the calendar: what lies beyond, and infinity, counts as the nearer end."""
LONGEST_TEXT = 1 << 19
"""Bytes: longer text is missing in Postgres and Spark, where functions fail on texts of a hundred million bytes, and a
row on more than 1 GB (2 GB) in all its parts. As many parts as a row of Postgres can have, 1664, so fit into it."""


@dataclass(frozen=True)
class BoundValue:
    """A value that the driver hands to the engine beside the text; a secret one decides nothing about its types."""

    value: object
    secret: bool = False


@dataclass(frozen=True)
class SourceRows:
    """Where the rows come from: the table itself, or rows made up for a rehearsal (`leastnoise.data.canary`).

    Args:
        names: The columns that are read.
    """

    names: tuple[str, ...]


@dataclass(frozen=True)
class Fragment:
    """Text pieces and bound values in order; `+` joins two fragments, or a fragment and our own text.

    >>> (sql("age >= ") + bound(18) + " AND TRUE").parts
    ('age >= ', BoundValue(value=18, secret=False), ' AND TRUE')
    """

    parts: tuple[str | BoundValue | SourceRows, ...]

    def __add__(self, other: Fragment | str) -> Fragment:
        """This one, then the other."""
        return Fragment(self.parts + (other.parts if isinstance(other, Fragment) else (other,)))

    def __radd__(self, other: str) -> Fragment:
        """The text, then this one."""
        return Fragment((other, *self.parts))


def sql(text: str) -> Fragment:
    """Text as a fragment; identifiers in it must have gone through `Dialect.quote`."""
    return Fragment((text,))


def bound(value: object) -> Fragment:
    """A value as a fragment."""
    return Fragment((BoundValue(value),))


def secret(word: int) -> Fragment:
    """A word of a secret as a fragment."""
    return Fragment((BoundValue(word, secret=True),))


def join(separator: str, fragments: Iterable[Fragment | str]) -> Fragment:
    """The fragments in a row with text between them.

    >>> join(", ", [sql("a"), bound(1)]).parts
    ('a', ', ', BoundValue(value=1, secret=False))
    """
    parts: list[str | BoundValue | SourceRows] = []
    for number, fragment in enumerate(fragments):
        parts += [separator] if number else []
        parts += fragment.parts if isinstance(fragment, Fragment) else (fragment,)
    return Fragment(tuple(parts))


def select(outputs: Fragment | str, source: Fragment, alias: str, rest: Fragment | str = "") -> Fragment:
    """SELECT outputs FROM (source) AS alias rest.

    >>> "".join(select("a", sql("TABLE t"), "u", "WHERE a > 0").parts)
    'SELECT a FROM (TABLE t) AS u WHERE a > 0'
    """
    return join("", ["SELECT ", outputs, " FROM (", source, f") AS {alias} ", rest])


def no_rows(names: tuple[str, ...]) -> Fragment:
    """For texts that read no table."""
    raise AssertionError(names)  # pragma: no cover - a text without a source names none


class Dialect(ABC):
    """One engine's words; the file of each engine has its own."""

    quote_mark: ClassVar[str] = '"'
    placeholder: ClassVar[str] = "?"
    long: ClassVar[str] = "BIGINT"  # 64 bit integers
    wide: ClassVar[str]  # integers of at least 38 digits
    real: ClassVar[str] = "DOUBLE"  # IEEE doubles
    text: ClassVar[str]
    try_cast: ClassVar[str] = "TRY_CAST"  # a cast that gives NULL where it can't; where there is none, a plain one
    timestamp: ClassVar[str] = "TIMESTAMP"  # without time zone
    binary_collation: ClassVar[str] = '"C"'  # by the bytes of UTF-8
    small: ClassVar[str] = ""  # a hint that a relation is small enough to be sent to every worker
    any_decimal: ClassVar[bool] = False  # decimals have any number of digits, and may be NaN and infinite
    text_tests: ClassVar[Mapping[str, str]] = {test: test for test in ("starts_with", "ends_with", "contains")}
    beyond_calendar: ClassVar[tuple[str, ...]] = ()  # dates and times outside of the calendar, for made-up rows
    odd_values: ClassVar[Mapping[str, tuple[str, ...]]] = {}  # by native type: expressions of values no text can name
    date_parts: ClassVar[Mapping[str, str]] = {  # how a part of a date is asked for, up to the date itself
        **{part: f"EXTRACT({part.upper()} FROM" for part in ("year", "quarter", "month", "week", "day")},
        **{part: f"EXTRACT({part.upper()} FROM" for part in ("hour", "minute")},
        "weekday": "EXTRACT(ISODOW FROM",
    }
    heap: ClassVar[int] = 0  # how many smallest values of a group `min(value, count)` finds; 0: there is none

    def quote(self, identifier: str) -> str:
        """The identifier as one token, whatever characters it has."""
        return f"{self.quote_mark}{identifier.replace(self.quote_mark, 2 * self.quote_mark)}{self.quote_mark}"

    def render(self, fragment: Fragment, rows_of: RowsOf = no_rows) -> tuple[str, list[object]]:
        """Text with placeholders, and the values for them in order."""
        texts, values = list[str](), list[object]()
        for part in fragment.parts:
            if isinstance(part, SourceRows):
                text, inner = self.render(rows_of(part.names))
                texts.append(text)
                values += inner
            elif isinstance(part, BoundValue):
                texts.append(self.placeholder)
                values.append(part.value)
            else:
                texts.append(self.escape(part))
        return "".join(texts), values

    def escape(self, text: str) -> str:
        """Our own text as the driver wants it."""
        return text

    def number(self, value: int | float) -> str:
        """A number that we computed ourselves, written so that no engine rounds it."""
        if isinstance(value, float):
            return f"CAST('{value!r}' AS {self.real})"
        return f"CAST({value} AS {self.long})" if abs(value) < 1 << 63 else f"CAST('{value}' AS {self.wide})"

    def exact_number(self, value: int) -> str:
        """A whole number of any length in the engine's widest type."""
        return f"CAST('{value}' AS {self.wide})"

    def limits(self, column: Column) -> tuple[int, int] | None:
        """The least and the largest X that a column of whole numbers, or of decimals X/10^scale, holds; None: any."""
        if column.kind is Kind.INTEGER:
            return _HUGE if column.wide else _LONG
        if self.any_decimal:
            return None
        most = 10 ** (column.precision or 0) - 1
        return -most, most

    def exact(self, digits: int, column: Column) -> str:
        """The number digits/10^scale in the type of the column's plain form, whose limits it must keep."""
        return f"CAST('{decimal_text(digits, column.scale or 0)}' AS {self.plain_type(column)})"

    def decimal(self, digits: int, scale: int) -> str:
        """The type of decimals with so many digits, and so many of them behind the point."""
        return f"DECIMAL({digits}, {scale})"

    def plain_type(self, column: Column) -> str:
        """The type of the column's plain form."""
        decimal = "NUMERIC" if self.any_decimal else self.decimal(column.precision or 0, column.scale or 0)
        return {
            Kind.INTEGER: self.wide if column.wide else self.long,
            Kind.REAL: self.real,
            Kind.DECIMAL: decimal,
            Kind.TEXT: self.text,
            Kind.BOOLEAN: "BOOLEAN",
            Kind.DATE: "DATE",
            Kind.TIMESTAMP: self.timestamp,
        }[column.kind]

    def plain(self, column: Column) -> str:
        """The column's plain form (see `leastnoise.data.columns`), from its native one."""
        name, type_ = self.quote(column.name), self.plain_type(column)
        if column.kind is Kind.TEXT:
            text = f"CAST({self.short_text(column)} AS {type_})"
            return f"{text if column.sound else self.valid_text(text)} COLLATE {self.binary_collation}"
        if column.kind in (Kind.DATE, Kind.TIMESTAMP):
            return self._in_calendar(name, column)
        if column.kind is Kind.DECIMAL and (limits := self.limits(column)):
            low, high = (self.exact(limit, column) for limit in limits)
            return f"CASE WHEN {name} BETWEEN {low} AND {high} THEN CAST({name} AS {type_}) END"
        return f"CAST({name} AS {type_})"

    def short_text(self, column: Column) -> str:
        """A native column of text, NULL where it is so long that the engine could fail on it."""
        return self.quote(column.name)

    def valid_text(self, text: str) -> str:
        """Text, NULL where its bytes are no UTF-8."""
        return text

    def calendar(self, column: Column) -> tuple[str, str]:
        """The first and the last value of a plain column of dates or times."""
        type_ = self.plain_type(column)
        times = ("", "") if column.kind is Kind.DATE else (" 00:00:00", " 23:59:59.999999")
        return f"CAST('{FIRST_DAY}{times[0]}' AS {type_})", f"CAST('{LAST_DAY}{times[1]}' AS {type_})"

    def _in_calendar(self, name: str, column: Column) -> str:
        """A date or a time brought into the calendar in its native type, and only then cast."""
        first, last = self.calendar(column)
        if column.kind is Kind.DATE:
            return f"CASE WHEN {name} IS NOT NULL THEN least(greatest(CAST({name} AS DATE), {first}), {last}) END"
        zone = "+00:00" if column.zoned else ""
        low = f"CAST('{FIRST_DAY} 00:00:00{zone}' AS {column.native})"
        high = f"CAST('{LAST_DAY} 23:59:59{self.last_fraction(column)}{zone}' AS {column.native})"
        within = f"least(greatest({name}, {low}), {high})"
        told = self.in_utc(within) if column.zoned else f"CAST({within} AS {self.timestamp})"
        beyond = f"WHEN {name} > {high} THEN {last} WHEN {name} < {low} THEN {first}"
        return f"CASE {beyond} WHEN {name} IS NOT NULL THEN {told} END"

    def last_fraction(self, column: Column) -> str:  # noqa: ARG002 - for engines with several widths of times
        """The last fraction of a second that a column of times holds."""
        return ".999999"

    def in_utc(self, name: str) -> str:
        """A time with a zone as the time in UTC without one."""
        return f"timezone('UTC', {name})"

    def not_a_number(self, expression: str) -> str:
        """A test for NaN, for doubles (and Postgres NUMERIC); NULL or false where the value is NULL."""
        return f"isnan({expression})"

    def missing(self, expression: str, column: Column) -> str:
        """A test, true or false, for a missing value in a column's plain form."""
        if column.kind is Kind.REAL or (column.kind is Kind.DECIMAL and self.any_decimal):
            return f"({expression} IS NULL OR {self.not_a_number(expression)})"
        return f"({expression} IS NULL)"

    def present(self, expression: str, column: Column) -> str:
        """The opposite, in the words that optimisers know best."""
        missing = self.missing(expression, column)
        return f"({expression} IS NOT NULL)" if missing == f"({expression} IS NULL)" else f"NOT {missing}"

    def key_text(self, expression: str, kind: Kind) -> str:
        """A value of a plain column as text, the same for equal values."""
        return f"CAST({self.trimmed(expression) if kind is Kind.DECIMAL else expression} AS {self.text})"

    def trimmed(self, expression: str) -> str:
        """A decimal without zeros at the end, where equal ones may differ in them."""
        return expression

    def text_test(self, test: str, value: Fragment, text: str) -> Fragment:
        """Whether text starts with, ends with or contains another; NULL where it is missing."""
        return f"{self.text_tests[test]}(" + value + ", CAST(" + bound(text) + f" AS {self.text}))"

    def has_shape(self, value: Fragment, shape: str) -> Fragment:
        """Whether all of a text matches a regular expression."""
        return "regexp_full_match(" + value + ", CAST(" + bound(shape) + f" AS {self.text}))"

    def without_spaces(self, value: Fragment) -> Fragment:
        """Text without spaces at both ends."""
        return "btrim(" + value + ", ' ')"

    @abstractmethod
    def first_day(self, unit: str, day: Fragment) -> Fragment:
        """The first day of the week, month, quarter or year of a date; the day itself for a day."""

    @abstractmethod
    def divide(self, numerator: str, denominator: str) -> str:
        """The quotient of whole numbers, rounded towards zero."""

    def listed(self, places: Mapping[str, int]) -> Fragment:
        """A relation (key, place) of texts and their places."""
        keys = "SELECT unnest(CAST(" + bound(list(places)) + f" AS {self.text}[])) AS key"
        return keys + ", unnest(CAST(" + bound(list(places.values())) + " AS BIGINT[])) AS place"

    @abstractmethod
    def hash(self, words: Secret, unit: tuple[str, Kind], part: tuple[str, Kind]) -> Fragment:
        """63 bits from the secret, the unit and a whole number or text, by the engine's own fast hash."""

    def word(self, word: int) -> Fragment:
        """A word of a secret; it is bound, so that no log of texts holds it."""
        return "CAST(" + secret(word) + f" AS {self.long})"

    @abstractmethod
    def numbers(self, count: int) -> str:
        """A relation `numbers` with the column `place`: 0, …, count − 1, which no optimiser folds into constants."""

    def picked(self, texts: Sequence[str | None], place: str) -> Fragment:
        """The text at a place, counted from one, of a list."""
        return "(CAST(" + bound(list(texts)) + f" AS {self.text}[]))[CAST({place} AS INTEGER)]"

    @abstractmethod
    def times(self, count: str) -> str:
        """The numbers 1, …, count as rows."""

"""The few words in which the engines differ; every query is one text with these words filled in.

No text may fail on any row, so every operation that can fail (a cast that narrows, a sum, a product) gets an argument
that was brought into its range first, by `least` and `greatest` or a comparison in the argument's own type. A guard
alone, `CASE WHEN in range THEN operation END`, is not relied on: an optimiser may compute the operation earlier.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from leastnoise.data.columns import Column, Kind, decimal_text
from leastnoise.data.fragments import Bound, Fragment, Source, bound, secret, select

__all__ = ["DUCKDB", "POSTGRES", "SPARK", "Dialect", "Secret"]

Secret = tuple[int, int]
"""Two words of 63 bits, fresh in each call."""
Relation = Callable[[tuple[str, ...]], Fragment]
"""From the names of columns to the rows that a text reads them from."""

_LONG = (-(1 << 63), (1 << 63) - 1)
_HUGE = (-(1 << 127), (1 << 127) - 1)
FIRST_DAY, LAST_DAY = "0001-01-01", "9999-12-31"
"""The ends of the calendar: what lies beyond, and infinity, counts as the nearer end."""


def _no_rows(names: tuple[str, ...]) -> Fragment:
    raise AssertionError(names)  # pragma: no cover - a text without a source names none


@dataclass(frozen=True)
class Dialect(ABC):
    """One engine's words.

    >>> DUCKDB.quote('a "b'), SPARK.quote("a`b")
    ('"a ""b"', '`a``b`')
    """

    name: ClassVar[str]
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
    heap: ClassVar[int] = 0  # how many smallest values of a group `min(value, count)` finds; 0: there is none

    def quote(self, identifier: str) -> str:
        """The identifier as one token, whatever characters it has."""
        return f"{self.quote_mark}{identifier.replace(self.quote_mark, 2 * self.quote_mark)}{self.quote_mark}"

    def render(self, fragment: Fragment, relation: Relation = _no_rows) -> tuple[str, list[object]]:
        """Text with placeholders, and the values for them in order.

        >>> POSTGRES.render(Fragment(("a % 2 = ", Bound(1))))
        ('a %% 2 = %s', [1])
        """
        texts, values = list[str](), list[object]()
        for part in fragment.parts:
            if isinstance(part, Source):
                text, inner = self.render(relation(part.names))
                texts.append(text)
                values += inner
            elif isinstance(part, Bound):
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
        most = 10 ** (column.precision or 0) - 1
        return -most, most

    def exact(self, digits: int, column: Column) -> str:
        """The number digits/10^scale in the type of the column's plain form, whose limits it must keep.

        >>> DUCKDB.exact(-5, Column("x", Kind.DECIMAL, "", precision=4, scale=2))
        "CAST('-0.05' AS DECIMAL(4, 2))"
        """
        return f"CAST('{decimal_text(digits, column.scale or 0)}' AS {self.plain_type(column)})"

    def plain_type(self, column: Column) -> str:
        """The type of the column's plain form."""
        decimal = "NUMERIC" if column.scale is None else f"DECIMAL({column.precision}, {column.scale})"
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
            text = f"CAST({name} AS {type_})"
            return f"{text if column.sound else self.valid_text(text)} COLLATE {self.binary_collation}"
        if column.kind in (Kind.DATE, Kind.TIMESTAMP):
            return self._in_calendar(name, column)
        if column.kind is Kind.DECIMAL and (limits := self.limits(column)):
            low, high = (self.exact(limit, column) for limit in limits)
            return f"CASE WHEN {name} BETWEEN {low} AND {high} THEN CAST({name} AS {type_}) END"
        return f"CAST({name} AS {type_})"

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

    def last_fraction(self, column: Column) -> str:
        """The last fraction of a second that a column of times holds."""
        return {"TIMESTAMP_S": "", "TIMESTAMP_MS": ".999"}.get(column.native, ".999999")

    def in_utc(self, name: str) -> str:
        """A time with a zone as the time in UTC without one."""
        return f"timezone('UTC', {name})"

    def not_a_number(self, expression: str) -> str:
        """A test for NaN, for doubles (and Postgres NUMERIC); NULL or false where the value is NULL."""
        return f"isnan({expression})"

    def missing(self, expression: str, column: Column) -> str:
        """A test, true or false, for a missing value in a column's plain form."""
        if column.kind is Kind.REAL or (column.kind is Kind.DECIMAL and self.name == "postgres"):
            return f"({expression} IS NULL OR {self.not_a_number(expression)})"
        return f"({expression} IS NULL)"

    def key_text(self, expression: str, kind: Kind) -> str:
        """A value of a plain column as text, the same for equal values."""
        return f"CAST({self.trimmed(expression) if kind is Kind.DECIMAL else expression} AS {self.text})"

    def trimmed(self, expression: str) -> str:
        """A decimal without zeros at the end, where equal ones may differ in them."""
        return expression

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


class _DuckDB(Dialect):
    name = "duckdb"
    wide = "HUGEINT"
    heap = 1000  # it refuses a million
    text = "VARCHAR"

    def divide(self, numerator: str, denominator: str) -> str:
        return f"({numerator}) // ({denominator})"

    def hash(self, words: Secret, unit: tuple[str, Kind], part: tuple[str, Kind]) -> Fragment:
        # The outer hash mixes: the inner one ends with an exclusive or, which would order all units' groups alike.
        first, second = map(self.word, words)
        return "CAST(hash(hash(" + first + f", {unit[0]}, {part[0]}), " + second + ") >> 1 AS BIGINT)"

    def valid_text(self, text: str) -> str:
        return f"TRY(decode(encode({text})))"

    def plain(self, column: Column) -> str:
        if column.native in ("TIMESTAMP_NS", "TIMESTAMPTZ_NS"):  # from 1677 to 2262: no value fails in microseconds
            first, last = self.calendar(column)
            name = f"CAST({self.quote(column.name)} AS {column.native.removesuffix('_NS')})"
            name = self.in_utc(name) if column.zoned else name
            return f"CASE WHEN {name} IS NOT NULL THEN least(greatest({name}, {first}), {last}) END"
        return super().plain(column)

    def numbers(self, count: int) -> str:
        return f"range({count}) AS numbers(place)"

    def times(self, count: str) -> str:
        return f"unnest(range(1, 1 + {count}))"


class _Postgres(Dialect):
    name = "postgres"
    placeholder = "%s"
    wide = "NUMERIC"
    real = "DOUBLE PRECISION"
    try_cast = "CAST"
    text = "TEXT"

    def escape(self, text: str) -> str:
        return text.replace("%", "%%")

    def plain_type(self, column: Column) -> str:
        return "NUMERIC" if column.kind is Kind.DECIMAL else super().plain_type(column)

    def limits(self, column: Column) -> tuple[int, int] | None:
        return None if column.kind is Kind.DECIMAL else super().limits(column)

    def not_a_number(self, expression: str) -> str:
        return f"{expression} = 'NaN'"

    def trimmed(self, expression: str) -> str:
        return f"trim_scale({expression})"

    def divide(self, numerator: str, denominator: str) -> str:
        return f"div({numerator}, {denominator})"

    def listed(self, places: Mapping[str, int]) -> Fragment:
        held = {key: place for key, place in places.items() if "\0" not in key}  # no Postgres text has a zero
        return super().listed(held)

    def hash(self, words: Secret, unit: tuple[str, Kind], part: tuple[str, Kind]) -> Fragment:
        first, second = map(self.word, words)
        mixed = self._hash(*part, self._hash(*unit, first))
        return "(hashint8extended(" + mixed + ", " + second + f") & {self.number((1 << 63) - 1)})"

    def _hash(self, expression: str, kind: Kind, seed: Fragment) -> Fragment:
        """Equal values give equal hashes: decimals may differ in zeros at the end, so that they are trimmed."""
        if kind is Kind.INTEGER:
            return f"hashint8extended({expression}, " + seed + ")"
        return f'hashtextextended({self.key_text(expression, kind)} COLLATE "C", ' + seed + ")"

    def numbers(self, count: int) -> str:
        return f"generate_series(0, {count - 1}) AS numbers(place)"

    def times(self, count: str) -> str:
        return f"generate_series(CAST(1 AS BIGINT), {count})"


class _Spark(Dialect):
    name = "spark"
    quote_mark = "`"
    wide = "DECIMAL(38, 0)"
    text = "STRING"
    timestamp = "TIMESTAMP_NTZ"
    binary_collation = "UTF8_BINARY"
    small = "/*+ BROADCAST({}) */ "

    def valid_text(self, text: str) -> str:
        return f"try_validate_utf8({text})"

    def in_utc(self, name: str) -> str:
        # By way of the session's zone, an hour in spring and an hour in autumn would be told wrong.
        return f"timestampadd(MICROSECOND, unix_micros({name}), CAST('1970-01-01 00:00:00' AS TIMESTAMP_NTZ))"

    def divide(self, numerator: str, denominator: str) -> str:
        return f"({numerator}) div ({denominator})"

    def listed(self, places: Mapping[str, int]) -> Fragment:
        pairs = json.dumps([[key, str(place)] for key, place in places.items()])
        rows = "SELECT explode(from_json(" + bound(pairs) + ", 'array<array<string>>')) AS pair"
        return select("pair[0] AS key, CAST(pair[1] AS BIGINT) AS place", rows, "pairs")

    def hash(self, words: Secret, unit: tuple[str, Kind], part: tuple[str, Kind]) -> Fragment:
        first, second = map(self.word, words)
        mixed = "(xxhash64(" + first + f", {unit[0]}, {part[0]}, " + second
        return mixed + f") & {self.number((1 << 63) - 1)})"

    def numbers(self, count: int) -> str:
        return f"range({count}) AS numbers(place)"

    def times(self, count: str) -> str:
        return f"explode(sequence(CAST(1 AS BIGINT), {count}))"

    def picked(self, texts: Sequence[str | None], place: str) -> Fragment:
        return "element_at(from_json(" + bound(json.dumps(texts)) + f", 'array<string>'), CAST({place} AS INT))"


DUCKDB: Dialect = _DuckDB()
POSTGRES: Dialect = _Postgres()
SPARK: Dialect = _Spark()

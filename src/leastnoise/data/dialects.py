"""The few words in which the engines differ; every query is one text with these words filled in."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from leastnoise.data.columns import Column, Kind
from leastnoise.data.fragments import Bound, Fragment, bound, select

__all__ = ["DUCKDB", "POSTGRES", "SPARK", "Dialect", "Secret"]

Secret = tuple[int, int]
"""Two words of 63 bits, fresh in each call."""


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
    timestamp: ClassVar[str] = "TIMESTAMP"  # without time zone
    binary_collation: ClassVar[str] = '"C"'  # by the bytes of UTF-8
    small: ClassVar[str] = ""  # a hint that a relation is small enough to be sent to every worker
    heap: ClassVar[int] = 0  # how many smallest values of a group `min(value, count)` finds; 0: there is none

    def quote(self, identifier: str) -> str:
        """The identifier as one token, whatever characters it has."""
        return f"{self.quote_mark}{identifier.replace(self.quote_mark, 2 * self.quote_mark)}{self.quote_mark}"

    def render(self, fragment: Fragment) -> tuple[str, list[object]]:
        """Text with placeholders, and the values for them in order.

        >>> POSTGRES.render(Fragment(("a % 2 = ", Bound(1))))
        ('a %% 2 = %s', [1])
        """
        parts = fragment.parts
        text = "".join(self.placeholder if isinstance(part, Bound) else self.escape(part) for part in parts)
        return text, [part.value for part in parts if isinstance(part, Bound)]

    def escape(self, text: str) -> str:
        """Our own text as the driver wants it."""
        return text

    def number(self, value: int | float) -> str:
        """A number that we computed ourselves, written so that no engine rounds it."""
        if isinstance(value, float):
            return f"CAST('{value!r}' AS {self.real})"
        return f"CAST({value} AS {self.long})" if abs(value) < 1 << 63 else f"CAST('{value}' AS {self.wide})"

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
            return f"CAST({name} AS {type_}) COLLATE {self.binary_collation}"
        if column.zoned:
            return self.in_utc(name)
        return f"CAST({name} AS {type_})"

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
    def hash(self, secret: Secret, unit: tuple[str, Kind], part: tuple[str, Kind]) -> str:
        """63 bits from the secret, the unit and a whole number or text, by the engine's own fast hash."""

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

    def hash(self, secret: Secret, unit: tuple[str, Kind], part: tuple[str, Kind]) -> str:
        # The outer hash mixes: the inner one ends with an exclusive or, which would order all units' groups alike.
        first, second = (self.number(word) for word in secret)
        return f"CAST(hash(hash({first}, {unit[0]}, {part[0]}), {second}) >> 1 AS BIGINT)"

    def times(self, count: str) -> str:
        return f"unnest(range(1, 1 + {count}))"


class _Postgres(Dialect):
    name = "postgres"
    placeholder = "%s"
    wide = "NUMERIC"
    real = "DOUBLE PRECISION"
    text = "TEXT"

    def escape(self, text: str) -> str:
        return text.replace("%", "%%")

    def plain_type(self, column: Column) -> str:
        return "NUMERIC" if column.kind is Kind.DECIMAL else super().plain_type(column)

    def not_a_number(self, expression: str) -> str:
        return f"{expression} = 'NaN'"

    def trimmed(self, expression: str) -> str:
        return f"trim_scale({expression})"

    def divide(self, numerator: str, denominator: str) -> str:
        return f"div({numerator}, {denominator})"

    def listed(self, places: Mapping[str, int]) -> Fragment:
        held = {key: place for key, place in places.items() if "\0" not in key}  # no Postgres text has a zero
        return super().listed(held)

    def hash(self, secret: Secret, unit: tuple[str, Kind], part: tuple[str, Kind]) -> str:
        first, second = (self.number(word) for word in secret)
        mixed = self._hash(*part, self._hash(*unit, first))
        return f"(hashint8extended({mixed}, {second}) & {self.number((1 << 63) - 1)})"

    def _hash(self, expression: str, kind: Kind, seed: str) -> str:
        if kind is Kind.INTEGER:
            return f"hashint8extended({expression}, {seed})"
        return f'hashtextextended(CAST({expression} AS TEXT) COLLATE "C", {seed})'

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

    def in_utc(self, name: str) -> str:
        return f"CAST(to_utc_timestamp({name}, current_timezone()) AS TIMESTAMP_NTZ)"

    def divide(self, numerator: str, denominator: str) -> str:
        return f"({numerator}) div ({denominator})"

    def listed(self, places: Mapping[str, int]) -> Fragment:
        pairs = json.dumps([[key, str(place)] for key, place in places.items()])
        rows = "SELECT explode(from_json(" + bound(pairs) + ", 'array<array<string>>')) AS pair"
        return select("pair[0] AS key, CAST(pair[1] AS BIGINT) AS place", rows, "pairs")

    def hash(self, secret: Secret, unit: tuple[str, Kind], part: tuple[str, Kind]) -> str:
        first, second = (self.number(word) for word in secret)
        return f"(xxhash64({first}, {unit[0]}, {part[0]}, {second}) & {self.number((1 << 63) - 1)})"

    def times(self, count: str) -> str:
        return f"explode(sequence(CAST(1 AS BIGINT), {count}))"


DUCKDB: Dialect = _DuckDB()
POSTGRES: Dialect = _Postgres()
SPARK: Dialect = _Spark()

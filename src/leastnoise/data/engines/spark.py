"""Spark: the caller's session does the work; a DataFrame is named for us by a temporary view."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import uuid4

from leastnoise.data.columns import COLLATION, Column, Kind, whole_range
from leastnoise.data.dialect import LONGEST_TEXT, Dialect, Fragment, Secret, bound, select
from leastnoise.data.identity import Identity, quoted_parts
from leastnoise.data.table import Table
from leastnoise.errors import BadSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SPARK", "SparkTable", "session_table"]

_WHOLE = {name: whole_range(bits) for name, bits in {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}.items()}
_KINDS = {
    **dict.fromkeys(_WHOLE, Kind.INTEGER),
    **dict.fromkeys(("float", "double"), Kind.REAL),
    **dict.fromkeys(("timestamp", "timestamp_ntz"), Kind.TIMESTAMP),
    "boolean": Kind.BOOLEAN,
    "date": Kind.DATE,
}


class SparkDialect(Dialect):
    """Spark's words.

    >>> SPARK.quote("a`b")
    '`a``b`'
    """

    quote_mark = "`"
    wide = "DECIMAL(38, 0)"
    text = "STRING"
    timestamp = "TIMESTAMP_NTZ"
    binary_collation = "UTF8_BINARY"
    small = "/*+ BROADCAST({}) */ "
    text_tests: ClassVar[Mapping[str, str]] = {
        "starts_with": "startswith",
        "ends_with": "endswith",
        "contains": "contains",
    }
    odd_values: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "date": ("date_from_unix_date(2147483647)", "date_from_unix_date(-2147483648)"),
        "timestamp": ("timestamp_micros(9223372036854775807)", "timestamp_micros(-9223372036854775808)"),
        "timestamp_ntz": tuple(
            f"timestampadd(MICROSECOND, {most}, CAST('1970-01-01 00:00:00' AS TIMESTAMP_NTZ))"
            for most in ("9223372036854775807", "-9223372036854775807")
        ),
        "string": ("CAST(X'FFFE61' AS STRING)", "CAST(X'00' AS STRING)", "CAST(X'EDA080' AS STRING)"),
    }

    date_parts: ClassVar[Mapping[str, str]] = {**Dialect.date_parts, "weekday": "EXTRACT(DAYOFWEEK_ISO FROM"}

    def has_shape(self, value: Fragment, shape: str) -> Fragment:
        return "(" + value + " RLIKE CAST(" + bound(rf"\A({shape})\z") + " AS STRING))"

    def first_day(self, unit: str, day: Fragment) -> Fragment:
        return day if unit == "day" else "trunc(" + day + f", '{unit}')"

    def short_text(self, column: Column) -> str:
        name = self.quote(column.name)
        return f"CASE WHEN octet_length({name}) <= {LONGEST_TEXT} THEN {name} END"

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


SPARK = SparkDialect()


class SparkTable(Table):
    """A Spark DataFrame, wherever its session runs.

    Args:
        identity: What it is called.
        frame: The DataFrame.
    """

    dialect = SPARK

    def __init__(self, identity: Identity, frame: DataFrame) -> None:
        self._frame, self._session = frame, frame.sparkSession
        self._views, self._made_up = list[str](), list["DataFrame"]()
        super().__init__(identity, *self._named(frame))

    def find(self, parts: Sequence[str]) -> tuple[Identity, list[Column], str]:
        """Another table of the database."""
        if not self.place:
            return super().find(parts)
        identity, frame = session_table(self._session, ".".join(map(self.dialect.quote, parts)))
        return identity, *self._named(frame)

    def _named(self, frame: DataFrame) -> tuple[list[Column], str]:
        """The columns of a frame, and the temporary view that names it for us."""
        view = f"leastnoise_{uuid4().hex}"
        frame.createTempView(view)
        self._views.append(view)
        return [_column(field, native) for field, native in frame.dtypes], view

    def _execute(self, text: str, values: list[object]) -> Sequence[Sequence[Any]]:
        found = self._session.sql(text, args=values)
        rows = found.collect()
        return list(zip(*rows, strict=True)) if rows else [()] * len(found.columns)

    def _keep(self, text: str, values: list[object], name: str, columns: Iterable[Column]) -> str:  # noqa: ARG002
        made, view = self._session.sql(text, args=values).cache(), f"{self._views[0]}_{name}"
        made.createTempView(view)
        self._views.append(view)
        self._made_up.append(made)
        return view

    def _release(self) -> None:
        """Drop the temporary views; the session is the caller's and stays."""
        for view in self._views:
            self._session.catalog.dropTempView(view)
        for made in self._made_up:
            made.unpersist()


def session_table(session: SparkSession, table: str) -> tuple[Identity, DataFrame]:
    """A table of a session, and what the catalog calls it.

    Raises:
        BadSource: There is none.
    """
    found = None
    try:
        described, frame = session.catalog.getTable(table), session.table(table)
        parts = [*(() if described.isTemporary else (described.catalog, *(described.namespace or ()))), described.name]
        quoted = [quoted_parts([str(part).lower()]) for part in parts if part is not None]
        name, place = "spark:" + ".".join(quoted), "spark:" + ".".join([*quoted[:-1], "*"])
        former = tuple(dict.fromkeys((table, *_endings(parts))))
        found = Identity(name, former_names=former, overlapping=(place,), place=place), frame
    except Exception:
        found = None
    if found is None:
        raise BadSource("Spark has no such table", given=table, fix="see spark.catalog.listTables()")
    return found


def _endings(parts: Sequence[str | None]) -> list[str]:
    """`sales`, `shop.sales`, `catalog.shop.sales`."""
    return [".".join(map(str, parts[start:])) for start in reversed(range(len(parts)))]


def _column(name: str, native: str) -> Column:
    decimal = re.fullmatch(r"decimal\((\d+),(\d+)\)", native)
    if decimal:
        return Column(name, Kind.DECIMAL, native, precision=int(decimal[1]), scale=int(decimal[2]))
    text = re.match(r"(string|varchar|char)\b", native)
    kind = Kind.TEXT if text else _KINDS.get(native, Kind.OTHER)
    collated = "collate" in native and "UTF8_BINARY" not in native.upper().replace("UTF8_BINARY_", "")
    return Column(
        name,
        kind,
        native,
        limits=_WHOLE.get(native, whole_range(64)),
        is_single=native == "float",
        any_text=native == "string",
        zoned=native == "timestamp",
        coarse=COLLATION if collated else "",
    )

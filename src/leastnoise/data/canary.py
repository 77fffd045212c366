"""Made-up rows that hold the worst that each column's type can: every text runs on them before it sees private rows.

A text that fails on some row tells, by failing, that the row is there. The texts are written so that none can fail
(`leastnoise.data.dialect`); the rehearsal is the second line. It runs:

1. every expression of a row (filters test by test, places on axes, values, units) on *all* hostile rows, with nothing
   filtered and nothing joined away;
2. the whole text on the hostile rows;
3. the whole text on no rows;
4. for a join, the whole text on hostile rows of each of its tables, joined with each other.

The hostile values are picked from lists by numbers that the engine generates, so that an optimiser can't replace them
by constants and evaluate the text in another way than on a table: they reach the expressions at run time, as columns.
They span the types, so that no check which an engine leaves out for narrow data is left out here and not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from importlib import import_module
from typing import Any

from leastnoise.data.columns import Column, Kind, decimal_text
from leastnoise.data.dialect import BoundValue, Dialect, Fragment, RowsOf, join, select, sql

__all__ = ["Canary", "odd_rows"]

_ROWS = 512
_LONG = 70_000  # letters: more than a key may have
_MOST_REMEMBERED = 100_000

_WHOLE = (0, *(sign * (2**bits - less) for bits in range(128) for sign in (1, -1) for less in (0, bits % 8 == 7)))
_SINGLE = (
    "0",
    "-0.0",
    "NaN",
    "Infinity",
    "-Infinity",
    "1e-45",
    "-1e-45",
    "3.4e38",
    "-3.4e38",
    "0.1",
    "0.5",
    "16777217",
)
_DOUBLE = (*_SINGLE, "5e-324", "-5e-324", "1e-300", "2.2250738585072014e-308", "1.7976931348623157e308",
           "-1.7976931348623157e308", "9007199254740993", "9.3e18", "-9.3e18",
           *(f"{sign}7e{power}" for power in range(-24, 40, 3) for sign in ("", "-")))  # fmt: skip
_NUMERIC = ("0", "0.00", "-0.10", "0.1", "NaN", "Infinity", "-Infinity", "9.9e131070", "-9.9e131070", "1e-16383",
            "1e309", "1e-400", "9223372036854775808", "0.3333333333333333333333333333333333333333333")  # fmt: skip
_TEXTS = ("", "a", "A", "a ", " a", "'", '"', "\\", "%", "_", "100%", ";--", "1:a-", "-", "\n\t", "NaN", "null", "é",
          "e\u0301", "ß", "İ", "日本", "🙂", "\u202eabc", "\ufeff", "\uffff", "\U0010ffff")  # fmt: skip
_UUIDS = ("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff")
_CALENDAR = ("0001-01-01", "0001-01-02", "1969-12-31", "1970-01-01", "2024-02-29", "9999-12-31")
_CLOCK = ("0001-01-01 00:00:00", "1969-12-31 23:59:59.999999", "1970-01-01 00:00:00", "2024-03-31 02:30:00",
          "9999-12-31 23:59:59.999999")  # fmt: skip
_ODD_TIMES = [2**63 - 2, -(2**63), -(2**63) + 2, 10**17, -(10**17), 0]
_ODD_TEXTS = [b"\xff", b"a\xfe\xfd", b"\xc3", b"\xed\xa0\x80", b"a\0b", b"\xf4\x90\x80\x80"]
_ARROW_UNITS = {"TIMESTAMP_S": "s", "TIMESTAMP_MS": "ms", "TIMESTAMP": "us"}


class Canary:
    """The hostile rows of one table, and which texts have run on them.

    Args:
        dialect: The engine's words.
        columns: The table's columns by name.
        joined: For a join, hostile rows of its tables, joined.
    """

    def __init__(self, dialect: Dialect, columns: Mapping[str, Column], joined: RowsOf | None = None) -> None:
        self._dialect, self._columns, self._joined = dialect, columns, joined
        self._seen, self._kept, self.made = set[bytes](), "", False

    def keep(self, name: str) -> None:
        """From now on read the rows from where the engine keeps them."""
        self._kept = name

    def all_rows(self) -> Fragment:
        """The rows with every column that can be used."""
        return self.rows(column.name for column in self._columns.values() if column.kind is not Kind.OTHER)

    def unseen(self, queries: Sequence[Fragment]) -> Iterator[tuple[str, list[object]]]:
        """The runs that are due: the expressions first, then each text on no rows and on the hostile ones."""
        every, *texts = [(query, self._key(query) not in self._seen) for query in queries]
        if every[1]:
            yield self._dialect.render(every[0], self.hostile)
        for text, due in texts:
            if due:
                yield self._dialect.render(text, self.empty)
                yield self._dialect.render(text, self.hostile)
                if self._joined is not None:
                    yield self._dialect.render(text, self._joined)

    def remember(self, queries: Iterable[Fragment]) -> None:
        """These texts have run without a failure."""
        if len(self._seen) > _MOST_REMEMBERED:
            self._seen.clear()
        self._seen.update(map(self._key, queries))

    def rows(self, names: Iterable[str]) -> Fragment:
        """A query for made-up rows of the named columns, in their native types."""
        columns = [self._column(self._columns[name], number) for number, name in enumerate(names)]
        return "SELECT " + join(", ", columns or ["1 AS one"]) + " FROM " + self._dialect.numbers(_ROWS)  # noqa: S608

    def hostile(self, names: tuple[str, ...]) -> Fragment:
        """The rows that a text reads instead of the table."""
        return sql(f"TABLE {self._kept}") if self._kept else self.rows(names)

    def empty(self, names: tuple[str, ...]) -> Fragment:
        """The same without a row."""
        return select("*", self.hostile(names), "none", "LIMIT 0")

    def _key(self, query: Fragment) -> bytes:
        """What a text does: all of it but the secret, which decides nothing about types and ranges."""
        parts = (("?",) if isinstance(part, BoundValue) and part.secret else part for part in query.parts)
        return sha256(repr(tuple(parts)).encode("utf-8", "surrogatepass")).digest()

    def _column(self, column: Column, number: int) -> Fragment:
        """The values in turn; each round through them starts one value later than that of the column before."""
        texts, dialect = [None, *self._texts(column)], self._dialect
        odd = dialect.odd_values.get(column.native, ())
        count, place = len(texts) + len(odd), "numbers.place"
        turn = f"mod({place} + {number} * ({dialect.divide(place, str(count))}), {count})"
        told = dialect.picked(texts, f"least({turn}, {len(texts) - 1}) + 1")
        value = f"{dialect.try_cast}(" + told + f" AS {self._type(column)})"
        if column.kind is Kind.TEXT and self._type(column) == dialect.text:  # one is enough, it is long
            value = f"CASE WHEN {place} = 1 THEN repeat('x', {_LONG}) ELSE " + value + " END"
        for more, expression in enumerate(odd):
            value = f"CASE WHEN {turn} = {len(texts) + more} THEN {expression} ELSE " + value + " END"
        return value + f" AS {dialect.quote(column.name)}"

    def _texts(self, column: Column) -> Iterable[str]:
        """Values of the column as text; an engine that can try to cast drops those that its type lacks."""
        match column.kind:
            case Kind.INTEGER:
                low, high = column.limits
                return [str(whole) for whole in _WHOLE if low <= whole <= high]
            case Kind.REAL:
                return _SINGLE if column.is_single else _DOUBLE
            case Kind.DECIMAL:
                return _decimals(column, self._dialect)
            case Kind.TEXT:
                return _UUIDS if column.is_uuid else _TEXTS
            case Kind.BOOLEAN:
                return ("true", "false")
            case Kind.DATE:
                return (*_CALENDAR, *self._dialect.beyond_calendar)
            case _:
                return (*_CLOCK, *self._dialect.beyond_calendar)

    def _type(self, column: Column) -> str:
        """The native type; text is text, whatever its length, labels or collation."""
        if column.kind is Kind.DECIMAL:
            return self._dialect.plain_type(column)
        return column.native if column.kind is not Kind.TEXT or column.is_uuid else self._dialect.text


def _decimals(column: Column, dialect: Dialect) -> Iterable[str]:
    if dialect.limits(column) is None:
        return _NUMERIC
    precision, scale = column.precision or 0, column.scale or 0
    digits = {0, 10**precision - 1, *(times * 10**place for place in range(precision) for times in (1, 4, 9))}
    return [f"{sign}{decimal_text(whole, scale)}" for whole in sorted(digits) for sign in ("", "-")]


def odd_rows(columns: Iterable[Column]) -> Any:
    """Rows that no SQL can make: times outside of 64 bits of microseconds, broken text where it may come; or None."""
    arrow, odd = None, dict[str, Any]()
    try:
        arrow = import_module("pyarrow")
    except ImportError:
        return None
    for column in columns:
        if column.native in _ARROW_UNITS:
            odd[column.name] = arrow.array(_ODD_TIMES, arrow.int64()).view(arrow.timestamp(_ARROW_UNITS[column.native]))
        elif column.native == "VARCHAR" and not column.sound:
            odd[column.name] = arrow.array(_ODD_TEXTS, arrow.binary()).view(arrow.string())
    return arrow.table(odd) if odd else None

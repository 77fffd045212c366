"""Keys of several columns as one text and back: each value as its length, a colon and itself; a hyphen for missing.

Text longer than `LONGEST_KEY` characters is no key and counts as missing: joined with others it could exceed what an
engine holds in one text, and the engine would fail on that row.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal

from leastnoise.data.columns import Column, Kind
from leastnoise.data.dialect import Dialect

__all__ = ["LONGEST_KEY", "code_expression", "read_code"]

LONGEST_KEY = 1 << 16

_READ: dict[Kind, Callable[[str], Hashable]] = {
    Kind.INTEGER: int,
    Kind.DECIMAL: Decimal,
    Kind.BOOLEAN: lambda text: text == "true",
    Kind.DATE: date.fromisoformat,
    Kind.TIMESTAMP: datetime.fromisoformat,
}


def code_expression(columns: Sequence[Column], dialect: Dialect, table: str) -> str:
    """The code of a row's values in some columns; it is missing for no row, and differs for different keys."""
    parts = []
    for column in columns:
        value = f"{table}.{dialect.quote(column.name)}"
        text = dialect.key_text(value, column.kind)
        if column.kind is Kind.TEXT:
            text = f"left({text}, {LONGEST_KEY})"
        coded = f"concat(CAST(length({text}) AS {dialect.text}), ':', {text})"
        missing = dialect.missing(value, column)
        if column.kind is Kind.TEXT:
            missing = f"{missing} OR length({value}) > {LONGEST_KEY}"
        parts.append(f"CASE WHEN {missing} THEN '-' ELSE {coded} END")
    return f"concat({', '.join(parts)})"


def read_code(code: str, columns: Sequence[Column]) -> tuple[Hashable, ...]:
    """The key of a code.

    >>> read_code("4:a:-b-3:-12", [Column(x, k, "") for x, k in zip("abc", (Kind.TEXT, Kind.TEXT, Kind.INTEGER))])
    ('a:-b', None, -12)
    """
    texts = list(_texts(code))
    return tuple(
        None if text is None else _value(text, column.kind) for text, column in zip(texts, columns, strict=True)
    )


def _texts(code: str) -> Iterator[str | None]:
    start = 0
    while start < len(code):
        if code[start] == "-":
            yield None
            start += 1
            continue
        length, _ = code[start:].split(":", 1)
        start += len(length) + 1
        yield code[start : start + int(length)]
        start += int(length)


def _value(text: str, kind: Kind) -> Hashable:
    """A value of its kind; text where Python has no such date (infinity, before the year 1)."""
    try:
        return _READ[kind](text) if kind in _READ else text
    except (ValueError, ArithmeticError):
        return text

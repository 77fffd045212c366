"""Kinds that somebody declares, for columns that have none of their own: those of a CSV, and of Python objects.

Such a column is text until its kind is declared. The kind never comes from the rows: else one row could change the
public schema. A text that is no value of the declared kind is missing, and no text can make the reading fail.

| declared | read as a value | else missing |
|---|---|---|
| text | any text | the empty field of a CSV |
| integer | 30, -7, +5, 30.0; 64 bits | 30.5, 1e3, 1_000, 10^20 |
| real | 30, 30.5, .5, 1e3 | nan, inf, 1e999, 1,5 |
| decimal(p,s) | the same, rounded to s digits after the point | more than p digits |
| boolean | true, t, yes, y, 1, false, f, no, n, 0, in any case | |
| date | 2024-01-31, 2024/01/31 | 31.1.2024, 2024-02-30 |
| timestamp | 2024-01-31, 2024-01-31 12:00, 2024-01-31T12:00:00.5, with Z or +02:00 moved to UTC | |

Blanks around a value are left out. Years go from 1 to 9999.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from leastnoise.data.columns import Kind
from leastnoise.data.engines.duckdb import DUCKDB
from leastnoise.errors import BadParameter
from leastnoise.model import unknown_label

__all__ = ["Declared", "declaration_hint", "read_declared", "reading_of"]

Declared = Mapping[str, object] | None

_NUMBER = r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,4})?"
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ZONE = r"Z|[+-][0-9]{2}(:?[0-9]{2})?"
_MOMENT = rf"{_DAY}([ T][0-9]{{2}}:[0-9]{{2}}(:[0-9]{{2}}([.][0-9]{{1,9}})?)?\s*({_ZONE})?)?"
_KINDS = tuple(kind.value for kind in Kind if kind not in (Kind.DECIMAL, Kind.OTHER))
_KNOWN = f"{', '.join(_KINDS)} or decimal(10,2)"


def read_declared(declared: Declared, columns: Iterable[str]) -> dict[str, str]:
    """The declarations as (column, kind as text), each checked; columns without one are text.

    Raises:
        UnknownColumn: A column that is not there.
        BadParameter: No kind, or one that is not known.

    >>> read_declared({"age": "integer", "pay": "decimal(10, 2)"}, ["age", "pay", "city"])
    {'age': 'integer', 'pay': 'decimal(10,2)', 'city': 'text'}
    """
    if declared is not None and not isinstance(declared, Mapping):
        raise BadParameter(
            "columns must map columns to kinds", given=type(declared).__name__, fix='pass columns={"age": "integer"}'
        )
    found = dict.fromkeys(columns, "text")
    for column, kind in (declared or {}).items():
        if column not in found:
            raise unknown_label(column, found, "column")
        found[column] = _read_kind(column, kind)
    return found


def reading_of(column: str, kind: str) -> str:
    """The SQL expression (DuckDB) that reads a column of text as a kind; it has a value or is missing, and never fails.

    >>> reading_of("note", "text")
    '"note"'
    """
    name = DUCKDB.quote(column)
    text = f"trim({name}, chr(32) || chr(9) || chr(10))"
    if kind == "text":
        return name
    if kind == "integer":
        whole = f"TRY_CAST(regexp_extract({text}, '^[+-]?[0-9]+') AS BIGINT)"
        return _if_plain(name, "BIGINT", _if_matches(text, r"[+-]?[0-9]+([.]0*)?", whole))
    if kind == "boolean":
        true, false = ("('true', 't', 'yes', 'y', '1')", "('false', 'f', 'no', 'n', '0')")
        return f"CASE WHEN lower({text}) IN {true} THEN TRUE WHEN lower({text}) IN {false} THEN FALSE END"
    if kind in ("date", "timestamp"):
        text = f"replace({text}, '/', '-')"
    if kind == "date":
        value = f"TRY_CAST({text} AS DATE)"
        return f"CASE WHEN length({text}) = 10 AND CAST({value} AS VARCHAR) = {text} THEN {value} END"
    if kind == "timestamp":
        return _if_plain(name, "TIMESTAMP", _moment(text), f"length({name}) BETWEEN 19 AND 26 AND ")
    if kind == "real":
        value = f"TRY_CAST({text} AS DOUBLE)"
        return f"CASE WHEN isfinite({value}) AND NOT contains({text}, '_') THEN {value} END"
    decimal = kind.upper()
    return _if_plain(name, decimal, _if_matches(text, _NUMBER, f"TRY_CAST({text} AS {decimal})"))


def declaration_hint(column: str) -> str:
    """What to do about a column that is text because nobody declared its kind.

    >>> print(declaration_hint("age"))
    "age" is text until its kind is declared: columns={"age": "integer"}, or --column age=integer
    """
    declared = f'columns={{"{column}": "integer"}}, or --column {column}=integer'
    return f'"{column}" is text until its kind is declared: {declared}'


def _read_kind(column: str, kind: object) -> str:
    text = re.sub(r"\s", "", kind).lower() if isinstance(kind, str) else ""
    decimal = re.fullmatch(r"decimal\(([0-9]{1,2}),([0-9]{1,2})\)", text)
    if text in _KINDS or (decimal and 1 <= int(decimal[1]) <= 38 and int(decimal[2]) <= int(decimal[1])):
        return f"decimal({int(decimal[1])},{int(decimal[2])})" if decimal else text
    raise BadParameter(f"this is no kind of column, for {column!r}", given=kind, fix=f"write {_KNOWN}")


def _if_plain(name: str, type_: str, otherwise: str, guard: str = "") -> str:
    """What a text says that is written as the engine writes the value, which is soon seen; most are."""
    value = f"TRY_CAST({name} AS {type_})"
    return f"CASE WHEN {guard}CAST({value} AS VARCHAR) = {name} THEN {value} ELSE {otherwise} END"


def _if_matches(text: str, pattern: str, value: str, least: str = "", most: str = "") -> str:
    inside = f" AND {value} BETWEEN {least} AND {most}" if least else ""
    return f"CASE WHEN regexp_full_match({text}, '{pattern}'){inside} THEN {value} END"


def _moment(text: str) -> str:
    """The time in UTC. The zone is taken off by arithmetic, for versions of the engine read it in different ways."""
    local = f"TRY_CAST(regexp_extract({text}, '^{_DAY}([ T][0-9:.]+)?') AS TIMESTAMP)"
    zone = f"regexp_extract({text}, '([+-][0-9][0-9]):?([0-9][0-9])?$', {{}})"
    zone = f"CASE WHEN contains({text}, ':') THEN {zone} ELSE '' END"  # else a date would end in one
    hours = f"COALESCE(TRY_CAST({zone.format(1)} AS BIGINT), 0)"
    minutes = f"COALESCE(TRY_CAST({zone.format(2)} AS BIGINT), 0)"
    sign = f"CASE WHEN starts_with({zone.format(1)}, '-') THEN -1 ELSE 1 END"
    moved = f"({local} - to_minutes({hours} * 60 + {sign} * {minutes}))"
    ends = "TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59.999999'"
    return _if_matches(text, _MOMENT, moved, *ends)

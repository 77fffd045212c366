"""Files and frames that hold what their format forbids, or more than DuckDB's own types do, read without a failure.

DuckDB turns some columns into its own types while it scans, before any text of ours could look at a value, and fails on
the first row that it can't turn: times with a zone in seconds or milliseconds, and times in milliseconds in Parquet,
outside of the microseconds of 64 bits; and text in Parquet that is no UTF-8. Here such columns are handed over in a
form that needs no turning; `Dialect.plain` does the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leastnoise.data.columns import Column
from leastnoise.errors import BadSource, MissingPackage

if TYPE_CHECKING:
    import duckdb

__all__ = ["finer_columns", "odd_rows", "parquet_frame", "parquet_options", "readable", "require_one_schema"]

_UNITS = {"TIMESTAMP_S": "s", "TIMESTAMP_MS": "ms", "TIMESTAMP": "us"}
_ODD_TIMES = [2**63 - 2, -(2**63), -(2**63) + 2, 10**17, -(10**17), 0]
_ODD_TEXTS = [b"\xff", b"a\xfe\xfd", b"\xc3", b"\xed\xa0\x80", b"a\0b", b"\xf4\x90\x80\x80"]


def readable(frame: Any) -> Any:
    """An Arrow table or dataset with its times in UTC without a zone, in their own unit, and 64 bit dates as times.

    Raises:
        BadSource: A column is run-end encoded: Arrow can't turn it.
    """
    arrow = import_module("pyarrow")
    schema = getattr(frame, "schema", None)
    if not isinstance(schema, arrow.Schema):
        return frame
    encoded = [field.name for field in schema if arrow.types.is_run_end_encoded(field.type)]
    if encoded:
        raise BadSource("a run-end encoded column can't be read", given=encoded[0], fix="decode it first")
    plain = arrow.schema([arrow.field(field.name, _plain_type(field.type, arrow)) for field in schema])
    if plain.types == schema.types:
        return frame
    if hasattr(frame, "files"):
        datasets = import_module("pyarrow.dataset")
        return datasets.dataset(frame.files, schema=plain, format=frame.format, filesystem=frame.filesystem)
    return frame.cast(plain)


def parquet_options(connection: duckdb.DuckDBPyConnection) -> str:
    """No columns from the names of folders, whose types would follow from them; broken text with question marks."""
    return "hive_partitioning = false" + (", utf8_validation = 'replace'" if _replaces_text(connection) else "")


def _replaces_text(connection: duckdb.DuckDBPyConnection) -> bool:
    offered = "SELECT count(*) FROM duckdb_functions() WHERE list_contains(parameters, 'utf8_validation')"
    return connection.execute(offered).fetchall() != [(0,)]


def _asked_of_footers(connection: duckdb.DuckDBPyConnection, files: Sequence[Path], outputs: str, where: str) -> Any:
    asked = f"SELECT {outputs} FROM parquet_schema(?) WHERE {where}"  # noqa: S608 - our own words
    return connection.execute(asked, [list(map(str, files))]).fetchall()


def finer_columns(files: Sequence[Path], connection: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """The columns that hold nanoseconds, of which DuckDB reads microseconds; only footers are read."""
    fine = "type = 'INT96' OR logical_type LIKE 'Timestamp%NANOS=NanoSeconds%'"
    return frozenset(str(name) for (name,) in _asked_of_footers(connection, files, "name", fine))


def require_one_schema(files: Sequence[Path], connection: duckdb.DuckDBPyConnection) -> None:
    """See that all files have the same columns of the same types: a type that is changed while reading fails on a row.

    Raises:
        BadSource: They differ; only their footers were read.
    """
    shape = "list((name, type, converted_type, logical_type, precision, scale) ORDER BY name)"
    asked = f"SELECT count(DISTINCT shape) FROM (SELECT {shape} AS shape FROM parquet_schema(?) GROUP BY file_name)"  # noqa: S608
    [(kinds,)] = connection.execute(asked, [list(map(str, files))]).fetchall()
    if kinds != 1:
        raise BadSource(
            "the files have different columns, or columns of different types",
            given=f"{len(files)} files",
            fix="write them with one schema",
        )


def parquet_frame(files: Sequence[Path], connection: duckdb.DuckDBPyConnection) -> Any:
    """The files as an Arrow dataset where a column holds what DuckDB may fail on; else None.

    That is times in milliseconds, and text for versions before 2.0, which can't replace broken text.

    Raises:
        MissingPackage: There is such a column, and pyarrow is not installed.
    """
    odd = "converted_type = 'TIMESTAMP_MILLIS' OR logical_type LIKE 'Timestamp%MILLIS=MilliSeconds%'"
    odd += "" if _replaces_text(connection) else " OR type = 'BYTE_ARRAY'"
    [(found,)] = _asked_of_footers(connection, files, "count(*)", odd)
    if not found:
        return None
    try:
        datasets = import_module("pyarrow.dataset")
    except ImportError:
        fix = "pip install 'leastnoise[frames]', or store times in microseconds and take DuckDB 2.0 or later"
        raise MissingPackage("pyarrow is not installed, and these files need it", fix=fix) from None
    return datasets.dataset(list(map(str, files)), format="parquet")


def odd_rows(columns: Iterable[Column]) -> Any:
    """Rows that no SQL can make: times outside of 64 bits of microseconds, broken text where it may come; or None."""
    arrow, odd = None, dict[str, Any]()
    try:
        arrow = import_module("pyarrow")
    except ImportError:
        return None
    for column in columns:
        if column.native in _UNITS:
            odd[column.name] = arrow.array(_ODD_TIMES, arrow.int64()).view(arrow.timestamp(_UNITS[column.native]))
        elif column.native == "VARCHAR" and not column.sound:
            odd[column.name] = arrow.array(_ODD_TEXTS, arrow.binary()).view(arrow.string())
    return arrow.table(odd) if odd else None


def _plain_type(type_: Any, arrow: Any) -> Any:
    if arrow.types.is_dictionary(type_):
        inner = _plain_type(type_.value_type, arrow)
        return type_ if inner == type_.value_type else inner
    if arrow.types.is_timestamp(type_) and type_.tz is not None:
        return arrow.timestamp(type_.unit)
    return arrow.timestamp("ms") if arrow.types.is_date64(type_) else type_

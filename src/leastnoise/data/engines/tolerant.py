"""Files and frames that hold what their format forbids, or more than DuckDB's own types do, read without a failure.

DuckDB turns some columns into its own types while it scans, before any text of ours could look at a value, and fails on
the first row that it can't turn: times with a zone in seconds or milliseconds, and times in milliseconds in Parquet,
outside of the microseconds of 64 bits; and text in Parquet that is no UTF-8. Here such columns are handed over in a
form that needs no turning; `Dialect.plain` does the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leastnoise.errors import MissingPackage

if TYPE_CHECKING:
    import duckdb

__all__ = ["parquet_frame", "parquet_options", "readable"]


def readable(frame: Any) -> Any:
    """An Arrow table or dataset with its times in UTC without a zone, in their own unit, and 64 bit dates as times."""
    arrow = import_module("pyarrow")
    schema = getattr(frame, "schema", None)
    if not isinstance(schema, arrow.Schema):
        return frame
    plain = arrow.schema([arrow.field(field.name, _plain_type(field.type, arrow)) for field in schema])
    if plain.types == schema.types:
        return frame
    if hasattr(frame, "files"):
        datasets = import_module("pyarrow.dataset")
        return datasets.dataset(frame.files, schema=plain, format=frame.format, filesystem=frame.filesystem)
    return frame.cast(plain)


def parquet_options(connection: duckdb.DuckDBPyConnection) -> str:
    """Broken text is read with question marks, where the engine offers it."""
    offered = "SELECT count(*) FROM duckdb_functions() WHERE list_contains(parameters, 'utf8_validation')"
    [(found,)] = connection.execute(offered).fetchall()
    return ", utf8_validation = 'replace'" if found else ""


def parquet_frame(files: Sequence[Path], connection: duckdb.DuckDBPyConnection) -> Any:
    """The files as an Arrow dataset where a column holds times in milliseconds; else None.

    Raises:
        MissingPackage: There is such a column, and pyarrow is not installed.
    """
    times = "converted_type = 'TIMESTAMP_MILLIS' OR logical_type LIKE 'Timestamp%MILLIS=MilliSeconds%'"
    asked = f"SELECT count(*) FROM parquet_schema(?) WHERE {times}"  # noqa: S608 - our own words
    [(found,)] = connection.execute(asked, [list(map(str, files))]).fetchall()
    if not found:
        return None
    try:
        datasets = import_module("pyarrow.dataset")
    except ImportError:
        fix = "pip install 'leastnoise[frames]', or store them in microseconds"
        raise MissingPackage("pyarrow is not installed, and times in milliseconds need it", fix=fix) from None
    return datasets.dataset(list(map(str, files)), format="parquet")


def _plain_type(type_: Any, arrow: Any) -> Any:
    if arrow.types.is_timestamp(type_) and type_.tz is not None:
        return arrow.timestamp(type_.unit)
    return arrow.timestamp("ms") if arrow.types.is_date64(type_) else type_

"""What DuckDB is handed: frames and files in a form that it reads without a failure, whatever a row holds.

DuckDB turns some columns into its own types while it scans, before any text of ours could look at a value, and fails on
the first row that it can't turn: times with a zone in seconds or milliseconds, and times in milliseconds in Parquet,
outside of the microseconds of 64 bits; and text in Parquet that is no UTF-8. Here such columns are handed over in a
form that needs no turning; `Dialect.plain` does the rest.

A pandas column of Python objects has no type of its own: it is text until its kind is declared. Each object becomes
text by its own type alone: text stays, numbers, booleans, dates and times are written as Python writes them, bytes are
read as UTF-8. Equal numbers have one text (7, 7.0 and Decimal("7.00") are 7), and so have equal times (those with a
zone are moved to UTC), so that they are one key and one unit. None, NaN, NA, NaT, broken text and all else is missing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leastnoise.data.columns import NANOSECONDS
from leastnoise.errors import BadSource, MissingPackage

if TYPE_CHECKING:
    import duckdb

__all__ = [
    "arrow_table",
    "coarse_columns",
    "parquet_frame",
    "parquet_options",
    "pyarrow_module",
    "readable",
    "require_one_schema",
]

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_LARGEST = 10**40  # beyond every kind of column; longer numbers would take Python long to write
_REPLACED = "broken bytes in it are read as question marks, unless the table is opened with privacy_unit=…"


def arrow_table(source: Any, module: str) -> tuple[Any, tuple[str, ...]]:
    """The frame as Arrow, and which of its columns hold Python objects.

    Raises:
        BadSource: It is no frame, or has a column of a type that Arrow does not know.
    """
    made = None
    try:
        made = _pandas(source) if module == "pandas" else (_arrow(source, module), ())
    except MissingPackage:
        raise
    except Exception:
        made = None
    if made is None:  # outside of `except`: the text of an error may quote a value
        raise BadSource(
            "this is no frame, or has a column of a type that can't be read, or two columns of one name",
            given=type(source).__name__,
            fix="pass a whole frame, give every column its own name, and leave out what is no text, number or time",
        )
    return made


def pyarrow_module(name: str) -> Any:
    """A module of pyarrow, which is optional."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingPackage("pyarrow is not installed", fix="pip install 'leastnoise[frames]'") from None


def _arrow(source: Any, module: str) -> Any:
    if module == "polars":
        return (source.collect() if hasattr(source, "collect") else source).to_arrow()
    return source


def _pandas(frame: Any) -> tuple[Any, tuple[str, ...]]:
    pa, pandas = pyarrow_module("pyarrow"), import_module("pandas")
    is_object, names = pandas.api.types.is_object_dtype, [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise ValueError

    def untyped(dtype: Any) -> bool:
        return is_object(dtype) or (isinstance(dtype, pandas.StringDtype) and dtype.storage == "python")

    arrays, objects = [], []
    for place, name in enumerate(names):
        column = frame.iloc[:, place]
        categories = column.cat.categories if isinstance(column.dtype, pandas.CategoricalDtype) else None
        if categories is not None and untyped(categories.dtype):
            texts = [_text(category) for category in categories]
            arrays.append(pa.array([texts[code] if code >= 0 else None for code in column.cat.codes], pa.string()))
        elif untyped(column.dtype):
            arrays.append(pa.array([_text(value) for value in column], pa.string()))
        else:
            arrays.append(pa.Table.from_pandas(frame.iloc[:, [place]], preserve_index=False).column(0))
        if is_object((column if categories is None else categories).dtype):
            objects.append(name)
    return pa.table(arrays, names=names), tuple(objects)


def _text(value: Any) -> str | None:
    """The text of an object, by its type; an object of a type that is not known here is not asked for its text."""
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64):
        value = value.item()
    kind = type(value)
    if isinstance(value, str | bytes):
        return _valid_text(value)
    if kind is bool:
        return "true" if value else "false"
    if kind in (int, float, Decimal):
        return _number_text(value)
    if kind is date or isinstance(value, datetime | np.datetime64):
        return _time_text(value)
    return None


def _valid_text(value: str | bytes) -> str | None:
    try:
        return (str.encode(value) if isinstance(value, str) else bytes(value)).decode()
    except UnicodeError:
        return None


def _number_text(value: int | float | Decimal) -> str | None:
    if not (value.is_finite() if isinstance(value, Decimal) else isinstance(value, int) or math.isfinite(value)):
        return None
    if -_LARGEST < value < _LARGEST and value == int(value):
        return str(int(value))
    return None if isinstance(value, int) else str(Decimal(str(value)).normalize(_EXACT))


def _time_text(value: Any) -> str | None:
    try:
        text = str(value.astimezone(UTC) if getattr(value, "tzinfo", None) is not None else value)
    except Exception:  # the zone of a time is code of its own
        return None
    return None if text == "NaT" else text


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


def coarse_columns(files: Sequence[Path], connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Why columns of Parquet files, as DuckDB reads them, do not tell all ids apart; only footers are read."""
    fine = "type = 'INT96' OR logical_type LIKE 'Timestamp%NANOS=NanoSeconds%'"
    nanoseconds = {str(name): NANOSECONDS for (name,) in _asked_of_footers(connection, files, "name", fine)}
    texts = {str(name): _REPLACED for (name,) in _asked_of_footers(connection, files, "name", "type = 'BYTE_ARRAY'")}
    return nanoseconds | texts


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


def parquet_frame(files: Sequence[Path], unit: str | None, connection: duckdb.DuckDBPyConnection) -> Any:
    """The files as an Arrow dataset where DuckDB may fail on a column, or would not tell ids apart; else None.

    It may fail on times in milliseconds, and before version 2.0 on broken text. Later versions put question marks into
    broken text, in which ids of several people would meet.

    Raises:
        MissingPackage: There is such a column, and pyarrow is not installed.
    """
    odd = "converted_type = 'TIMESTAMP_MILLIS' OR logical_type LIKE 'Timestamp%MILLIS=MilliSeconds%'"
    texts = _asked_of_footers(connection, files, "name", "type = 'BYTE_ARRAY'")
    unsafe = (unit,) in texts if _replaces_text(connection) else bool(texts)
    if not unsafe and _asked_of_footers(connection, files, "count(*)", odd) == [(0,)]:
        return None
    try:
        datasets = import_module("pyarrow.dataset")
    except ImportError:
        fix = "pip install 'leastnoise[frames]', or store times in microseconds and ids as whole numbers"
        raise MissingPackage("pyarrow is not installed: milliseconds and ids as text need it", fix=fix) from None
    return datasets.dataset(list(map(str, files)), format="parquet")


def _plain_type(type_: Any, arrow: Any) -> Any:
    if arrow.types.is_dictionary(type_):
        inner = _plain_type(type_.value_type, arrow)
        return type_ if inner == type_.value_type else inner
    if arrow.types.is_timestamp(type_) and type_.tz is not None:
        return arrow.timestamp(type_.unit)
    return arrow.timestamp("ms") if arrow.types.is_date64(type_) else type_

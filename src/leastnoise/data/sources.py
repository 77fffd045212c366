"""`open_table`: whatever holds the rows, opened in the engine that can read it where it lies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from glob import glob
from importlib import import_module
from pathlib import Path
from typing import Any

from leastnoise.data.table import Table
from leastnoise.errors import BadParameter, BadSource, MissingPackage

__all__ = ["open_table"]

_PARQUET = (".parquet", ".pq")
_CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_ARROW = (".arrow", ".feather", ".ipc")
_DATABASE = (".duckdb", ".ddb", ".db")
_EXAMPLES = "pass a Parquet, CSV, Arrow or DuckDB file, a frame, 'postgresql://…' or a Spark DataFrame"


def open_table(
    source: Any,
    *,
    table: str | None = None,
    memory_limit: str | None = None,
    temp_directory: str | Path | None = None,
) -> Table:
    """Open a private table where it lies.

    Args:
        source: A file or pattern (Parquet, CSV, Arrow), a folder of Parquet files, a DuckDB file with `table`,
            "postgresql://…" with `table`, a Spark DataFrame, a SparkSession with `table`, or a pandas, Polars or
            pyarrow table.
        table: The table's name in a database, with its schema where needed: "sales", "shop.sales", '"a.b"."c"'.
        memory_limit: For the embedded engine, such as "8GB".
        temp_directory: For the embedded engine: where what exceeds the memory goes.

    Raises:
        BadSource: It can't be opened.
        BadParameter: Parameters that do not fit the source.

    >>> import pyarrow
    >>> with open_table(pyarrow.table({"city": ["Rome", "Oslo"], "age": [3, 5]})) as people:
    ...     print(dict(people.columns))
    {'city': <Kind.TEXT: 'text'>, 'age': <Kind.INTEGER: 'integer'>}
    """
    module = type(source).__module__.partition(".")[0]
    remote = module == "pyspark" or (isinstance(source, str) and source.startswith(("postgresql://", "postgres://")))
    if remote and (memory_limit is not None or temp_directory is not None):
        raise BadParameter("memory_limit and temp_directory are for the embedded engine", fix="leave them out")
    if module == "pyspark":
        return _spark(source, table)
    if remote:
        from leastnoise.data.engines.postgres import PostgresTable

        return PostgresTable(source, _parts(table))
    limits = {"memory_limit": memory_limit, "temp_directory": temp_directory}
    if isinstance(source, str | Path):
        return _file(Path(source).expanduser(), table, limits)
    if module in ("pandas", "polars", "pyarrow"):
        return _frame(source, module, table, limits)
    raise BadSource("this is no table that can be opened", given=type(source).__name__, fix=_EXAMPLES)


def _file(path: Path, table: str | None, limits: dict[str, Any]) -> Table:
    from leastnoise.data.engines.embedded import EmbeddedTable, file_list

    files = _matching(path)
    suffixes = {_suffix(file) for file in files}
    if len(suffixes) != 1 or "" in suffixes:
        raise BadSource("the files are of different or unknown kinds", given=str(path), fix=_EXAMPLES)
    suffix, name = suffixes.pop(), path.stem if path.suffix else path.name
    if suffix in _DATABASE:
        parts = ["attached", *_parts(table)]
        relation = ".".join(EmbeddedTable.dialect.quote(part) for part in parts)
        return EmbeddedTable(f"{name}.{table}", relation=relation, database=files[0], **limits)
    if table is not None:
        raise BadParameter("a file holds one table", given=f"table={table!r}", fix="leave out table=")
    if suffix in _ARROW:
        return EmbeddedTable(name, frame=_arrow_files(files), **limits)
    reader = "read_parquet" if suffix in _PARQUET else "read_csv"
    # Types from all lines, not from a sample: else a later line could fail to parse, and a failure would tell of it.
    options = "" if suffix in _PARQUET else ", sample_size = -1"
    return EmbeddedTable(name, relation=f"{reader}({file_list(files)}{options})", files=files, **limits)


def _matching(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(file for file in path.rglob("*") if _suffix(file) in _PARQUET)
    elif path.exists():
        found = [path]
    else:
        found = sorted(Path(match) for match in glob(str(path), recursive=True))  # noqa: PTH207 - absolute patterns
    if not found:
        raise BadSource("there is no such file", given=str(path), fix=_EXAMPLES)
    return [file.resolve() for file in found]


def _suffix(path: Path) -> str:
    return next((end for end in (*_PARQUET, *_CSV, *_ARROW, *_DATABASE) if path.name.lower().endswith(end)), "")


def _arrow_files(files: Sequence[Path]) -> object:
    datasets, opened = _pyarrow("pyarrow.dataset"), None
    try:
        opened = datasets.dataset([str(file) for file in files], format="ipc")
    except (OSError, ValueError):
        opened = None
    if opened is None:
        raise BadSource("this is no Arrow file", given=files[0].name, fix=_EXAMPLES)
    return opened


def _pyarrow(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingPackage("pyarrow is not installed", fix="pip install 'leastnoise[frames]'") from None


def _frame(source: Any, module: str, table: str | None, limits: dict[str, Any]) -> Table:
    from leastnoise.data.engines.embedded import EmbeddedTable

    frame = None
    try:
        frame = _arrow(source, module)
    except (TypeError, ValueError, ArithmeticError):  # a column of mixed Python objects: the text would quote one
        frame = None
    if frame is None:
        raise BadSource(
            "the frame has a column that is not all of one kind, or is no frame",
            given=type(source).__name__,
            fix="give every column one type, such as frame['x'].astype('string'), and pass a whole frame",
        )
    return EmbeddedTable(table or "frame", frame=frame, **limits)


def _arrow(source: Any, module: str) -> object:
    if module == "pandas":
        return _pyarrow("pyarrow").Table.from_pandas(source, preserve_index=False)
    if module == "polars":
        collected = source.collect() if hasattr(source, "collect") else source
        return collected.to_arrow()
    return source


def _spark(source: Any, table: str | None) -> Table:
    from leastnoise.data.engines.spark import SparkTable

    if hasattr(source, "createDataFrame"):
        if table is None:
            raise BadParameter("a Spark session needs the name of a table", fix="pass table='shop.sales'")
        frame = None
        try:
            frame = source.table(table)
        except Exception:
            frame = None
        if frame is None:
            raise BadSource("Spark has no such table", given=table, fix="see spark.catalog.listTables()")
        return SparkTable(table, frame)
    return SparkTable(table or "frame", source)


def _parts(table: str | None) -> list[str]:
    """The parts of a dotted name; double quotes keep dots and other characters together."""
    if table is None:
        raise BadParameter("a database holds many tables", fix="pass table='sales' or table='shop.sales'")
    part = r'(?:"(?:[^"]|"")+"|[^".]+)'
    if not re.fullmatch(rf"{part}(?:\.{part})*", table):
        raise BadParameter("this is no table's name", given=table, fix="""write table='shop.sales' or '"a.b"."c"'""")
    return [found[1:-1].replace('""', '"') if found.startswith('"') else found for found in re.findall(part, table)]

"""`open_table`: whatever holds the rows, opened in the engine that can read it where it lies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leastnoise.data.csv_files import load_csv, read_header
from leastnoise.data.declared import Declared, declaration_hint, read_declared, reading_of
from leastnoise.data.engines.arrow_input import (
    arrow_table,
    coarse_columns,
    parquet_frame,
    parquet_options,
    pyarrow_module,
    readable,
    require_one_schema,
)
from leastnoise.data.engines.duckdb import (
    DUCKDB,
    TABLES,
    Attached,
    EmbeddedTable,
    duckdb_tables,
    path_list,
    path_literal,
    view_reads,
)
from leastnoise.data.engines.postgres import PostgresTable, postgres_tables
from leastnoise.data.engines.spark import SparkTable, session_table
from leastnoise.data.identity import (
    Identity,
    database_identity,
    file_identity,
    frame_identity,
    quoted_parts,
    table_parts,
)
from leastnoise.data.table import Table
from leastnoise.errors import BadParameter, BadSource, shown

if TYPE_CHECKING:
    import duckdb

__all__ = ["csv_columns", "open_table", "table_names"]

_PARQUET = (".parquet", ".pq")
_CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_ARROW = (".arrow", ".feather", ".ipc")
_DATABASE = (".duckdb", ".ddb", ".db")
_EXAMPLES = "pass a Parquet, CSV, Arrow or DuckDB file, a frame, 'postgresql://…' or a Spark DataFrame"


def open_table(
    source: Any,
    *,
    table: str | None = None,
    columns: Declared = None,
    privacy_unit: str | None = None,
    memory_limit: str | None = None,
    temp_directory: str | Path | None = None,
) -> Table:
    r"""Open a private table where it lies.

    Args:
        source: A file or pattern (Parquet, CSV, Arrow), a folder of Parquet files, a DuckDB file with `table`,
            "postgresql://…" with `table`, a Spark DataFrame, a SparkSession with `table`, or a pandas, Polars or
            pyarrow table.
        table: The table's name in a database, with its schema where needed: "sales", "shop.sales", '"a.b"."c"'. For a
            frame, what it is called.
        columns: The kinds of columns that have none of their own, those of a CSV and of Python objects in pandas:
            {"age": "integer", "pay": "decimal(10,2)", "born": "date"}. Without one such a column is text. Kinds are
            text, integer, real, decimal(p,s), boolean, date and timestamp; a field that is no such value is missing.
        privacy_unit: The column that will name units, if it is known: text in Parquet is then read so that all ids
            differ, also those that are no valid text.
        memory_limit: For the embedded engine, such as "8GB".
        temp_directory: For the embedded engine: where what exceeds the memory goes.

    Raises:
        BadSource: It can't be opened.
        BadParameter: Parameters that do not fit the source.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "people.csv"
    ...     _ = file.write_text("city,age\nRome,36\nOslo,refused\n")
    ...     with open_table(file, columns={"age": "integer"}) as people:
    ...         print(dict(people.columns))
    {'city': <Kind.TEXT: 'text'>, 'age': <Kind.INTEGER: 'integer'>}
    """
    _require_text(table, "table", "sales")
    _require_text(memory_limit, "memory_limit", "8GB")
    _require_text(
        str(temp_directory) if isinstance(temp_directory, Path) else temp_directory, "temp_directory", "scratch"
    )
    module = type(source).__module__.partition(".")[0]
    remote = module == "pyspark" or (isinstance(source, str) and source.startswith(("postgresql://", "postgres://")))
    if remote and (memory_limit is not None or temp_directory is not None):
        raise BadParameter("memory_limit and temp_directory are for the embedded engine", fix="leave them out")
    if remote:
        _typed_already(columns)
        return _spark(source, table) if module == "pyspark" else _postgres(source, table)
    limits = {"memory_limit": memory_limit, "temp_directory": temp_directory}
    if isinstance(source, str | Path):
        return _file(_at_home(source), table, columns, privacy_unit, limits)
    if module in ("pandas", "polars", "pyarrow"):
        return _frame(source, module, table, columns, limits)
    if module.lstrip("_") == "duckdb":
        raise BadSource(
            "a session of DuckDB is not opened: what it has attached may be read by rules that lose values",
            given=type(source).__name__,
            fix="pass the path of the DuckDB file, and for a Postgres attached to it 'postgresql://…' of its server",
        )
    raise BadSource("this is no table that can be opened", given=type(source).__name__, fix=_EXAMPLES)


def table_names(source: str | Path) -> list[str]:
    """The tables and views of a database, as `table` takes their names; no row is read.

    Args:
        source: A DuckDB file or "postgresql://…".

    Raises:
        BadSource: It is no database, or can't be opened.
    """
    if isinstance(source, str) and source.startswith(("postgresql://", "postgres://")):
        return [_dotted(pair, "public") for pair in postgres_tables(source)]
    path = _at_home(source)
    files = _matching(path)
    if len(files) != 1 or _suffix(files[0]) not in _DATABASE:
        raise BadSource("only a database holds several tables", given=str(source), fix="name a DuckDB file or Postgres")
    return [_dotted(pair, "main") for pair in duckdb_tables(files[0])]


def _dotted(pair: tuple[str, str], usual: str) -> str:
    schema, name = ('"' + part.replace('"', '""') + '"' if not part.isidentifier() else part for part in pair)
    return name if pair[0] == usual else f"{schema}.{name}"


def csv_columns(source: Any) -> tuple[str, ...] | None:
    """The names in the header of CSV files, of which nothing else is read; None for any other source.

    Raises:
        BadSource: There is no such file, or it has no header.
    """
    if not isinstance(source, str | Path) or "://" in str(source) or _suffix(_at_home(source)) not in _CSV:
        return None
    _, names = read_header(_matching(_at_home(source)))
    return tuple(names)


def _require_text(given: object, what: str, example: str) -> None:
    """Refuse what is no text, or a text that no engine and no file system can take."""
    if given is not None and not (isinstance(given, str) and given.isprintable()):
        raise BadParameter(f"{what} must be printable text", given=given, fix=f'pass for example {what}="{example}"')


def _at_home(source: str | Path) -> Path:
    try:
        return Path(source).expanduser()
    except RuntimeError:
        raise BadSource("there is no such home folder", given=str(source), fix="write the whole path") from None


def _typed_already(columns: Declared) -> None:
    if columns:
        raise BadParameter(
            "this source says itself what its columns hold",
            given=f"columns={shown(columns)}",
            fix="leave out columns=, or change the types where the table is made",
        )


def _file(path: Path, table: str | None, columns: Declared, unit: str | None, limits: dict[str, Any]) -> Table:
    files = _matching(path)
    suffixes = {_suffix(file) for file in files}
    if len(suffixes) != 1 or "" in suffixes:
        raise BadSource("the files are of different or unknown kinds", given=str(path), fix=_EXAMPLES)
    suffix = suffixes.pop()
    if suffix not in _CSV:
        _typed_already(columns)
    if suffix in _DATABASE:
        return _database(path, files, table, limits)
    if table is not None:
        raise BadParameter("a file holds one table", given=f"table={shown(table)}", fix="leave out table=")
    identity = file_identity(path, files, suffix)
    if suffix in _CSV:
        return _csv(files, identity, columns, limits)
    return _typed_files(files, suffix, identity, unit, limits)


def _csv(files: list[Path], identity: Identity, columns: Declared, limits: dict[str, Any]) -> Table:
    delimiter, names = read_header(files)
    kinds = read_declared(columns, names)

    def attach(connection: duckdb.DuckDBPyConnection, folder: Path) -> Attached:
        load_csv(connection, folder, files, delimiter, kinds)
        return Attached(identity, sound=True, replaced="\ufffd")

    return EmbeddedTable(identity.name, attach, hints=_hints(names, columns), **limits)


def _hints(untyped: Iterable[str], declared: Declared) -> dict[str, str]:
    return {name: declaration_hint(name) for name in untyped if name not in (declared or {})}


def _typed_files(files: list[Path], suffix: str, identity: Identity, unit: str | None, limits: dict[str, Any]) -> Table:
    arrow = _arrow_files(files) if suffix in _ARROW else None

    def attach(connection: duckdb.DuckDBPyConnection, _: Path) -> Attached:
        if arrow is None:
            require_one_schema(files, connection)
        frame = parquet_frame(files, unit, connection) if arrow is None else arrow
        if frame is not None:
            connection.register("source", readable(frame))
            return Attached(identity)
        connection.execute(f"SET allowed_paths = {path_list(files)}")
        relation = f"read_parquet({path_list(files)}, {parquet_options(connection)})"
        connection.execute(f"CREATE TEMP VIEW source AS FROM {relation}")
        return Attached(identity, sound=True, coarse=coarse_columns(files, connection))

    return EmbeddedTable(identity.name, attach, **limits)


def _database(path: Path, files: list[Path], table: str | None, limits: dict[str, Any]) -> Table:
    parts = _parts(table)
    if len(files) != 1:
        raise BadSource("this pattern stands for several databases", given=str(path), fix="name one of them")
    former_places = dict.fromkeys(f"{place.stem}." for place in (path, files[0]))

    def find(connection: duckdb.DuckDBPyConnection, parts: Sequence[str]) -> tuple[str, Identity]:
        # How the catalog itself spells the name: capitals do not matter to DuckDB.
        found = connection.execute(TABLES).fetchall()
        wanted = ["main", *parts][-2:]
        schema, name = next(pair for pair in found if _folded(pair) == _folded(wanted))
        relation = ".".join(map(DUCKDB.quote, ["attached", *parts]))
        written = str(table) if parts == _parts(table) else quoted_parts(parts)
        reads = view_reads(connection)
        return relation, database_identity(str(files[0]), schema, name, former_places, written, reads)

    def attach(connection: duckdb.DuckDBPyConnection, _: Path) -> Attached:
        connection.execute(f"ATTACH {path_literal(files[0])} AS attached (READ_ONLY)")
        relation, identity = find(connection, parts)
        connection.execute(f"CREATE TEMP VIEW source AS FROM {relation}")
        return Attached(identity, sound=True, find=find)

    return EmbeddedTable(f"{path}, table {table}", attach, **limits)


def _folded(names: Sequence[str]) -> list[bytes]:
    """Names as DuckDB compares them: only the letters A to Z have capitals."""
    return [name.encode().lower() for name in names]


def _matching(path: Path) -> list[Path]:
    """The files that a path stands for, without links: a file, the Parquet files of a folder, or a pattern."""
    found: list[Path] = []
    try:
        if path.is_dir():
            found = [file for file in path.rglob("*") if _suffix(file) in _PARQUET]
        elif path.exists():
            found = [path]
        else:
            found = [Path(match) for match in glob(str(path), recursive=True)]  # noqa: PTH207 - absolute patterns
        found = sorted({file.resolve(strict=True) for file in found})
    except (OSError, ValueError, RuntimeError):  # no rights, a loop of links, a name that can't be one
        found = []
    if not found:
        raise BadSource("there is no such file", given=str(path), fix=_EXAMPLES)
    return found


def _suffix(path: Path) -> str:
    return next((end for end in (*_PARQUET, *_CSV, *_ARROW, *_DATABASE) if path.name.lower().endswith(end)), "")


def _arrow_files(files: Sequence[Path]) -> object:
    datasets, opened = pyarrow_module("pyarrow.dataset"), None
    try:
        opened = datasets.dataset([str(file) for file in files], format="ipc")
    except (OSError, ValueError):
        opened = None
    if opened is None:
        raise BadSource("this is no Arrow file", given=files[0].name, fix=_EXAMPLES)
    return opened


def _frame(source: Any, module: str, table: str | None, columns: Declared, limits: dict[str, Any]) -> Table:
    frame, objects = arrow_table(source, module)
    if not objects or (isinstance(columns, Mapping) and columns.keys() & set(frame.column_names) - set(objects)):
        _typed_already(columns)
    kinds = read_declared(columns, objects)

    def attach(connection: duckdb.DuckDBPyConnection, _: Path) -> Attached:
        connection.register("frame", readable(frame))
        read = [
            f"{reading_of(str(name), kinds.get(str(name), 'text'))} AS {DUCKDB.quote(str(name))}"
            for name, *_ in connection.execute("DESCRIBE frame").fetchall()
        ]
        connection.execute(f"CREATE TEMP VIEW source AS FROM frame SELECT {', '.join(read)}")
        return Attached(frame_identity(table))

    return EmbeddedTable(type(source).__name__, attach, hints=_hints(objects, columns), **limits)


def _postgres(source: str, table: str | None) -> Table:
    return PostgresTable(source, _parts(table))


def _spark(source: Any, table: str | None) -> Table:
    if hasattr(source, "createDataFrame"):
        if table is None:
            raise BadParameter("a Spark session needs the name of a table", fix="pass table='shop.sales'")
        return SparkTable(*session_table(source, table))
    return SparkTable(frame_identity(table), source)


def _parts(table: str | None) -> list[str]:
    if table is None:
        raise BadParameter("a database holds many tables", fix="pass table='sales' or table='shop.sales'")
    parts = table_parts(table) if isinstance(table, str) else None
    if parts is None:
        raise BadParameter("this is no table's name", given=table, fix="""write table='shop.sales' or '"a.b"."c"'""")
    return parts

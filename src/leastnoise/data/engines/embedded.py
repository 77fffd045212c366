"""Embedded DuckDB: files, frames and DuckDB databases, read by an engine inside this process that can do nothing else.

Once the source is attached, the session is locked: no other file can be read or written, nothing can be attached,
loaded or set. What does not fit into memory goes to a temporary folder that only this user can read, and that is
removed with the table.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import threading
import weakref
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leastnoise.data.columns import Column, Kind
from leastnoise.data.dialects import DUCKDB
from leastnoise.data.engines.tolerant import parquet_frame, parquet_options, readable
from leastnoise.data.table import Table, TooLittleMemory
from leastnoise.errors import BadParameter, BadSource, ForeignProcess, MissingPackage

if TYPE_CHECKING:
    import duckdb

__all__ = ["EmbeddedTable", "file_list"]

_KINDS = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"), Kind.INTEGER),
    **dict.fromkeys(("UBIGINT", "HUGEINT"), Kind.INTEGER),
    **dict.fromkeys(("FLOAT", "DOUBLE"), Kind.REAL),
    **dict.fromkeys(("VARCHAR", "UUID"), Kind.TEXT),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), Kind.TIMESTAMP),
    "BOOLEAN": Kind.BOOLEAN,
    "DATE": Kind.DATE,
    "TIMESTAMP WITH TIME ZONE": Kind.TIMESTAMP,
}


class EmbeddedTable(Table):
    """A table read by embedded DuckDB.

    Args:
        name: Its public name.
        relation: The SQL text behind it, or None.
        frame: What to register instead: an Arrow table or dataset.
        files: The only files that may be read.
        database: A DuckDB file to attach, read-only.
        memory_limit: Such as "8GB"; DuckDB's own default otherwise.
        temp_directory: Where to put what does not fit into memory; a private folder otherwise.

    Raises:
        BadSource: The source can't be read.
    """

    dialect = DUCKDB
    smaller_parts = (16, 256)

    def __init__(
        self,
        name: str,
        *,
        relation: str | None = None,
        frame: object = None,
        files: Sequence[Path] = (),
        database: Path | None = None,
        memory_limit: str | None = None,
        temp_directory: str | Path | None = None,
    ) -> None:
        folder = _private_folder(temp_directory)
        self._process, self._lock = os.getpid(), threading.Lock()
        self._connection = _connect(folder, memory_limit)
        self._finalizer = weakref.finalize(self, _let_go, self._connection, folder, self._process)
        columns = None
        try:
            columns = self._attach(relation, frame, files, database)
        except MissingPackage:
            self.close()
            raise
        except Exception:
            self.close()
        if columns is None:  # outside of `except`: the engine's words may quote values of a file that it can't parse
            raise BadSource(
                "the source can't be read as a table", given=name, fix="see that it is complete and readable"
            )
        super().__init__(name, columns, "source")

    def _attach(
        self, relation: str | None, frame: object, files: Sequence[Path], database: Path | None
    ) -> list[Column]:
        connection = self._connection
        if database is not None:
            connection.execute(f"ATTACH {_literal(database)} AS attached (READ_ONLY)")
        if files:
            connection.execute(f"SET allowed_paths = {file_list(files)}")
        if relation is not None and relation.startswith("read_parquet("):
            frame = parquet_frame(files, connection)
            relation = f"read_parquet({file_list(files)}{parquet_options(connection)})"
        if frame is not None:
            connection.register("source", readable(frame))
        else:
            connection.execute(f"CREATE TEMP VIEW source AS FROM {relation}")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        described = connection.execute("DESCRIBE source").fetchall()
        # Of what it reads, DuckDB looks at the encoding of text everywhere but in frames.
        return [replace(_column(str(row[0]), str(row[1])), sound=frame is None) for row in described]

    def _execute(self, text: str, values: list[object]) -> Sequence[Sequence[Any]]:
        if os.getpid() != self._process:
            raise ForeignProcess("the table was opened in another process", fix="open it again in this one")
        import duckdb

        with self._lock:
            try:
                found = self._connection.execute(text, values)
                columns: dict[str, Any] = found.fetchnumpy()
            except duckdb.OutOfMemoryException:
                raise TooLittleMemory from None
            return list(columns.values())

    def _keep(self, text: str, values: list[object]) -> str:
        self._execute(f"CREATE TEMP TABLE made_up AS {text}", values)
        return "made_up"

    def close(self) -> None:
        """Close the engine and remove its temporary files."""
        self._finalizer()


def file_list(files: Sequence[Path]) -> str:
    """Paths as an SQL list: views and settings take no bound values."""
    return f"[{', '.join(map(_literal, files))}]"


def _connect(folder: Path, memory_limit: str | None) -> duckdb.DuckDBPyConnection:
    try:
        import duckdb
    except ImportError:
        raise MissingPackage("DuckDB is not installed", fix="pip install duckdb") from None
    config: dict[str, Any] = {
        "temp_directory": str(folder),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "python_enable_replacements": False,
        "preserve_insertion_order": False,
    }
    if memory_limit is not None:
        config["memory_limit"] = memory_limit
    try:
        return duckdb.connect(":memory:", config=config)
    except duckdb.Error:
        shutil.rmtree(folder, ignore_errors=True)
        raise BadParameter("memory_limit is no size", given=memory_limit, fix='write "8GB" or "500MB"') from None


def _private_folder(parent: str | Path | None) -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix="leastnoise-", dir=parent))
    except OSError:
        fix = "name a folder that exists and that you may write to"
        raise BadParameter("no temporary folder can be made there", given=str(parent), fix=fix) from None


def _let_go(connection: duckdb.DuckDBPyConnection, folder: Path, process: int) -> None:
    if os.getpid() == process:  # a forked child must not touch its parent's files
        connection.close()
        shutil.rmtree(folder, ignore_errors=True)


def _literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _column(name: str, native: str) -> Column:
    decimal = re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", native)
    if decimal:
        return Column(name, Kind.DECIMAL, native, precision=int(decimal[1]), scale=int(decimal[2]))
    kind = Kind.TEXT if native.startswith("ENUM(") else _KINDS.get(native, Kind.OTHER)
    zoned, wide, coarse = (
        native == "TIMESTAMP WITH TIME ZONE",
        native in ("UBIGINT", "HUGEINT"),
        native == "TIMESTAMP_NS",
    )
    return Column(name, kind, native, wide=wide, zoned=zoned, coarse=coarse)

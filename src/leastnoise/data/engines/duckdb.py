"""Embedded DuckDB: files, frames and DuckDB databases, read by an engine inside this process that can do nothing else.

Once the source is attached, the session is locked: no other file can be read or written, nothing can be attached,
loaded or set. What does not fit into memory goes to a temporary folder that only this user can read, and that is
removed with the table.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from leastnoise.data.canary import odd_rows
from leastnoise.data.columns import COLLATION, NANOSECONDS, Column, Kind, whole_range
from leastnoise.data.dialect import Dialect, Fragment, Secret
from leastnoise.data.identity import Identity, quoted_parts
from leastnoise.data.table import Table, TooLittleMemory
from leastnoise.data.temporary_folders import TemporaryFolder
from leastnoise.errors import BadParameter, BadSource, LeastNoiseError, MissingPackage

if TYPE_CHECKING:
    import duckdb
    from numpy.typing import NDArray

__all__ = [
    "DUCKDB",
    "TABLES",
    "Attached",
    "EmbeddedTable",
    "duckdb_tables",
    "path_list",
    "path_literal",
    "view_reads",
    "write_parquet",
]

TABLES = (
    "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'attached' "
    "UNION SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = 'attached' AND NOT internal"
)
"""The schemas and names of the tables and views of a database that is attached."""

_VIEWS = "SELECT schema_name, view_name, sql FROM duckdb_views() WHERE database_name = 'attached' AND NOT internal"
_MACROS = "SELECT macro_definition FROM duckdb_functions() WHERE database_name = 'attached' AND NOT internal"
_WHOLE = {
    **{f"{signed}TINYINT": whole_range(8, not signed) for signed in ("", "U")},
    **{f"{signed}SMALLINT": whole_range(16, not signed) for signed in ("", "U")},
    **{f"{signed}INTEGER": whole_range(32, not signed) for signed in ("", "U")},
    **{f"{signed}BIGINT": whole_range(64, not signed) for signed in ("", "U")},
    "HUGEINT": whole_range(128),
}
_KINDS = {
    **dict.fromkeys(_WHOLE, Kind.INTEGER),
    **dict.fromkeys(("FLOAT", "DOUBLE"), Kind.REAL),
    **dict.fromkeys(("VARCHAR", "UUID"), Kind.TEXT),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMPTZ_NS"), Kind.TIMESTAMP),
    "BOOLEAN": Kind.BOOLEAN,
    "DATE": Kind.DATE,
    "TIMESTAMP WITH TIME ZONE": Kind.TIMESTAMP,
}


class DuckDBDialect(Dialect):
    """DuckDB's words.

    >>> DUCKDB.quote('a "b'), DUCKDB.exact(-5, Column("x", Kind.DECIMAL, "", precision=4, scale=2))
    ('"a ""b"', "CAST('-0.05' AS DECIMAL(4, 2))")
    """

    wide = "HUGEINT"
    heap = 1000  # it refuses a million
    text = "VARCHAR"
    beyond_calendar = (
        *("infinity", "-infinity", "10000-01-01", "0001-12-31 (BC)", "290309-12-23 (BC)", "294247-01-10"),
        *("5881580-07-10", "5877642-06-25 (BC)", "1677-09-22", "2262-04-11"),
    )

    def without_spaces(self, value: Fragment) -> Fragment:
        return "trim(" + value + ", ' ')"

    def first_day(self, unit: str, day: Fragment) -> Fragment:
        return f"CAST(date_trunc('{unit}', " + day + ") AS DATE)"

    def divide(self, numerator: str, denominator: str) -> str:
        return f"({numerator}) // ({denominator})"

    def hash(self, words: Secret, unit: tuple[str, Kind], part: tuple[str, Kind]) -> Fragment:
        # The outer hash mixes: the inner one ends with an exclusive or, which would order all units' groups alike.
        first, second = map(self.word, words)
        return "CAST(hash(hash(" + first + f", {unit[0]}, {part[0]}), " + second + ") >> 1 AS BIGINT)"

    def valid_text(self, text: str) -> str:
        return f"TRY(decode(encode({text})))"

    def plain(self, column: Column) -> str:
        if column.native in ("TIMESTAMP_NS", "TIMESTAMPTZ_NS"):  # from 1677 to 2262: no value fails in microseconds
            first, last = self.calendar(column)
            name = f"CAST({self.quote(column.name)} AS {column.native.removesuffix('_NS')})"
            name = self.in_utc(name) if column.zoned else name
            return f"CASE WHEN {name} IS NOT NULL THEN least(greatest({name}, {first}), {last}) END"
        return super().plain(column)

    def last_fraction(self, column: Column) -> str:
        return {"TIMESTAMP_S": "", "TIMESTAMP_MS": ".999"}.get(column.native, ".999999")

    def numbers(self, count: int) -> str:
        return f"range({count}) AS numbers(place)"

    def times(self, count: str) -> str:
        return f"unnest(range(1, 1 + {count}))"


DUCKDB = DuckDBDialect()


Find = Callable[["duckdb.DuckDBPyConnection", Sequence[str]], tuple[str, Identity]]
"""From the parts of a table's name to its relation and its identity."""


class Attached(NamedTuple):
    """What reading a source says about it.

    Args:
        identity: What the table is called.
        sound: Whether DuckDB has looked at the encoding of its text: everywhere but in frames.
        replaced: The sign that then stands for what is no text.
        coarse: Why columns name no unit.
        find: Where another table of the same database is, and what it is called; None where there is no database.
    """

    identity: Identity
    sound: bool = False
    replaced: str = ""
    coarse: Mapping[str, str] = MappingProxyType({})
    find: Find | None = None


Attach = Callable[["duckdb.DuckDBPyConnection", Path], Attached]
"""Makes the relation `source` in a session that is not locked yet, with a folder for what it needs meanwhile."""

_LEAST_MEMORY = 30 * 10**6  # a row of a CSV takes two million bytes at most; this does for any number of them
_open_here: dict[int, duckdb.DuckDBPyConnection] = {}


class EmbeddedTable(Table):
    """A table read by embedded DuckDB.

    Args:
        given: What was asked for, for an error's text.
        attach: Makes the relation `source` and says what the table is called.
        hints: What to do about columns that are text for want of a declaration.
        memory_limit: Such as "8GB"; DuckDB's own default otherwise.
        temp_directory: Where to put what does not fit into memory; a private folder otherwise.

    Raises:
        BadSource: The source can't be read.
    """

    dialect = DUCKDB
    smaller_parts = (16, 256)

    def __init__(
        self,
        given: str,
        attach: Attach,
        *,
        hints: Mapping[str, str] = MappingProxyType({}),
        memory_limit: str | None = None,
        temp_directory: str | Path | None = None,
    ) -> None:
        folder = TemporaryFolder.make(temp_directory)
        self._lock = threading.Lock()
        self._connection = _connect(folder, memory_limit)
        self._finalizer = weakref.finalize(self, _let_go, self._connection, folder, os.getpid())
        stopped: BaseException | None = None
        try:
            attached = attach(self._connection, folder.path)
            self._lock_down()
            columns = self._described("source", hints, attached)
        except LeastNoiseError as error:
            stopped = error
        except Exception as error:
            stopped = KeyboardInterrupt() if _is_interruption(error) else _bad_source(given)
        except BaseException as error:
            stopped = error
        if stopped is not None:  # outside of `except`: the engine's words may quote values that it can't parse
            self._finalizer()
            raise stopped
        self._attached, self._found = attached, 0
        super().__init__(attached.identity, columns, "source")

    def find(self, parts: Sequence[str]) -> tuple[Identity, list[Column], str]:
        """Another table of the database."""
        if self._attached.find is None:
            return super().find(parts)
        found = None
        with self._lock:
            try:
                relation, identity = self._attached.find(self._connection, parts)
                self._found += 1
                view = f"source_{self._found}"
                self._connection.execute(f"CREATE TEMP VIEW {view} AS FROM {relation}")
                found = identity, self._described(view, {}, self._attached), view
            except Exception:
                found = None
        if found is None:  # outside of `except`, as above
            raise _bad_source(quoted_parts(parts))
        return found

    def _lock_down(self) -> None:
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")

    def _described(self, view: str, hints: Mapping[str, str], attached: Attached) -> list[Column]:
        described = self._connection.execute(f"DESCRIBE {view}").fetchall()
        columns = [_column(str(name), str(native), hints.get(str(name), "")) for name, native, *_ in described]
        return [
            replace(
                column,
                sound=attached.sound,
                replaced=attached.replaced if column.kind is Kind.TEXT else "",
                coarse=column.coarse or attached.coarse.get(column.name, "") or self._collated(view, column),
            )
            for column in columns
        ]

    def _collated(self, view: str, column: Column) -> str:
        """Whether the column's collation calls texts equal that are not the same, such as "bob" and "Bob"."""
        if column.native != "VARCHAR":
            return ""
        told = f"SELECT {DUCKDB.quote(column.name)} AS told FROM {view} WHERE false"  # noqa: S608 - no row is read
        letters = "UNION ALL VALUES ('a'), ('A'), ('á'), ('a ')"
        [(found,)] = self._connection.execute(f"SELECT count(DISTINCT told) FROM ({told} {letters})").fetchall()  # noqa: S608
        return COLLATION if found != 4 else ""

    def _execute(self, text: str, values: list[object]) -> Sequence[Sequence[Any]]:
        import duckdb

        def ask() -> list[Any]:
            columns: dict[str, Any] = self._connection.execute(text, values).fetchnumpy()
            return list(columns.values())

        with self._lock:
            try:
                return _interruptible(ask, self._connection.interrupt)
            except duckdb.OutOfMemoryException:
                raise TooLittleMemory from None

    def _keep(self, text: str, values: list[object], name: str, columns: Iterable[Column]) -> str:
        self._execute(f"CREATE TEMP TABLE {name} AS {text}", values)
        odd = odd_rows(columns)
        if odd is None:
            return name
        with self._lock:
            self._connection.register(f"{name}_odd", odd)
        self._execute(f"CREATE TEMP VIEW {name}_hostile AS FROM {name} UNION ALL BY NAME FROM {name}_odd", [])
        return f"{name}_hostile"

    def _release(self) -> None:
        """Close the engine and remove its temporary files."""
        self._finalizer()


def _interruptible(work: Callable[[], list[Any]], interrupt: Callable[[], None]) -> list[Any]:
    """Do the engine's work in a thread of its own, so that Ctrl-C ends it at once.

    By itself DuckDB looks for Ctrl-C between its tasks only, and waits for those that run; a task may take hours.
    """
    answer, done = Future[list[Any]](), threading.Event()

    def run() -> None:
        try:
            answer.set_result(work())
        except BaseException as error:
            answer.set_exception(error)
        finally:
            done.set()

    threading.Thread(target=run, daemon=True).start()
    try:
        done.wait()
    except BaseException:
        while not done.wait(0.05):  # an interruption before the engine has begun is forgotten
            interrupt()
        raise
    return answer.result()


def _is_interruption(error: Exception) -> bool:
    """Whether this is how DuckDB says that Ctrl-C was pressed while it worked; Python does not hear of it otherwise."""
    return type(error).__name__ == "InterruptException" or repr(error) == "RuntimeError('Query interrupted')"


def _bad_source(given: str) -> BadSource:
    return BadSource(
        "the source can't be read as a table",
        given=given,
        fix="see that it is complete and readable, and that a view reads tables of its own file alone",
    )


def path_list(files: Sequence[Path]) -> str:
    """Paths as an SQL list: views and settings take no bound values."""
    return f"[{', '.join(map(path_literal, files))}]"


def path_literal(path: Path) -> str:
    """A path as SQL text."""
    return "'" + str(path).replace("'", "''") + "'"


def view_reads(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """What each view of the attached database may read: all tables and views that its text or a macro names."""
    named = connection.execute(TABLES).fetchall()
    macros = [str(text) for (text,) in connection.execute(_MACROS).fetchall()]
    found = {}
    for schema, view, own in connection.execute(_VIEWS).fetchall():
        text = "\n".join([str(own), *macros]).replace('""', '"').casefold()
        words = set(re.findall(r"\w+", text))
        found[schema, view] = [
            (other, name)
            for other, name in named
            if (other, name) != (schema, view) and (name.casefold() in (words if re.fullmatch(r"\w+", name) else text))
        ]
    return found


def duckdb_tables(path: Path) -> list[tuple[str, str]]:
    """The schemas and names of the tables and views of a database.

    Raises:
        BadSource: It can't be opened.
    """
    folder, found = TemporaryFolder.make(None), None
    connection = _connect(folder, None)
    try:
        connection.execute(f"ATTACH {path_literal(path)} AS attached (READ_ONLY)")
        found = sorted((str(schema), str(name)) for schema, name in connection.execute(TABLES).fetchall())
    except Exception:
        found = None
    finally:
        _let_go(connection, folder, os.getpid())
    if found is None:
        raise BadSource("this is no database that can be opened", given=path.name, fix="name a DuckDB file")
    return found


def _connect(folder: TemporaryFolder, memory_limit: str | None) -> duckdb.DuckDBPyConnection:
    try:
        import duckdb
    except ImportError:
        raise MissingPackage("DuckDB is not installed", fix="pip install duckdb") from None
    config: dict[str, Any] = {
        "temp_directory": str(folder.path),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "python_enable_replacements": False,
        "preserve_insertion_order": False,
    }
    if memory_limit is not None:
        config["memory_limit"] = _read_size(memory_limit, folder)
    try:
        connection = duckdb.connect(":memory:", config=config)
    except duckdb.Error:
        folder.remove()
        raise BadParameter("memory_limit is no size", given=memory_limit, fix='write "8GB" or "500MB"') from None
    connection.execute("SET enable_progress_bar = false")  # on in notebooks; how far it is depends on the rows
    _open_here[id(connection)] = connection
    return connection


def _read_size(text: object, folder: TemporaryFolder) -> str:
    """A memory limit. Below the least one, whether a source can be read would depend on how long its rows are."""
    found = (
        re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT])(i?)B\s*", text, re.IGNORECASE) if isinstance(text, str) else None
    )
    if found is None:
        folder.remove()
        raise BadParameter("memory_limit is no size", given=text, fix='write "8GB" or "500MB"')
    base = 1024 if found[3] else 1000
    if Fraction(found[1]) * base ** (1 + "KMGT".index(found[2].upper())) < _LEAST_MEMORY:
        folder.remove()
        raise BadParameter("memory_limit is too small to read any table", given=text, fix='write at least "30MB"')
    return found[0]


def _let_go(connection: duckdb.DuckDBPyConnection, folder: TemporaryFolder, process: int) -> None:
    if os.getpid() == process:  # a forked child must not touch its parent's files
        connection.close()
        del _open_here[id(connection)]
        folder.remove()


class _LastBreath:
    """Silences the process when the interpreter is gone: the binding would call the kept connections a leak."""

    def __init__(self) -> None:
        self.nowhere = os.open(os.devnull, os.O_WRONLY)

    def __del__(self, silence: Callable[[int, int], int] = os.dup2) -> None:
        silence(self.nowhere, 2)


def _keep_inherited() -> None:
    """In a forked child: never destroy a connection of the parent.

    Its threads are not here, and closing it without them ends the process by a signal. So each gets a reference that
    nobody gives back, even when the interpreter ends.
    """
    for connection in _open_here.values():
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
    if _open_here:
        _open_here.clear()
        sys.leastnoise_last_breath = _LastBreath()  # type: ignore[attr-defined]  # `sys` is emptied last


os.register_at_fork(after_in_child=_keep_inherited)


def _column(name: str, native: str, hint: str) -> Column:
    decimal = re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", native)
    if decimal:
        return Column(name, Kind.DECIMAL, native, precision=int(decimal[1]), scale=int(decimal[2]))
    return Column(
        name,
        Kind.TEXT if native.startswith("ENUM(") else _KINDS.get(native, Kind.OTHER),
        native,
        limits=_WHOLE.get(native, whole_range(64)),
        is_single=native == "FLOAT",
        any_text=native == "VARCHAR",
        zoned=native in ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"),
        coarse=NANOSECONDS if native in ("TIMESTAMP_NS", "TIMESTAMPTZ_NS") else "",
        hint=hint,
    )


def write_parquet(columns: Mapping[str, NDArray[Any]], file: str | Path) -> None:
    """Write columns of equal length into a Parquet file: for demonstrations and tests, not for private data.

    >>> import numpy as np, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_parquet({"age": np.array([30, 40])}, Path(folder) / "ages.parquet")
    ...     (Path(folder) / "ages.parquet").stat().st_size > 0
    True
    """
    import duckdb

    with duckdb.connect() as connection:
        connection.register("made", dict(columns))
        connection.table("made").write_parquet(str(file))

"""A released table (key columns, then value and error bars, one row per cell), and its way into data frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from leastnoise.data.columns import free_name
from leastnoise.errors import BadParameter, MissingPackage, TooLarge
from leastnoise.model import short_table, unknown_label

__all__ = ["LongTable", "TidyTable", "measure_names"]

TableRow = tuple[Any, ...]
_ROWS_SHOWN = 10  # of a table that is not held


@dataclass(frozen=True, eq=False)
class TidyTable:
    """Columns of equal length, in order; the first ones are keys.

    >>> cities = TidyTable({"city": ("Lyon", "Metz"), "value": (5, 3)}, keys=("city",))
    >>> cities["value"], list(cities)
    ((5, 3), [('Lyon', 5), ('Metz', 3)])
    """

    columns: Mapping[str, tuple[Any, ...]]
    keys: tuple[str, ...] = field(default=())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.columns)

    @property
    def measures(self) -> tuple[str, ...]:
        """The columns that are no keys: the value, and its error bars if there are any."""
        return tuple(name for name in self.columns if name not in self.keys)

    def __eq__(self, other: object) -> bool:
        """Whether names, keys and all entries are equal; entries may be arrays."""
        if not isinstance(other, TidyTable) or (self.names, self.keys) != (other.names, other.keys):
            return False
        if len(self) != len(other):
            return False
        return all(
            np.array_equal(a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else a == b
            for mine, theirs in zip(self, other, strict=True)
            for a, b in zip(mine, theirs, strict=True)
        )

    def __getitem__(self, name: str) -> tuple[Any, ...]:
        """One column."""
        if name not in self.columns:
            raise unknown_label(name, self.columns, "column")
        return self.columns[name]

    def __len__(self) -> int:
        """How many rows."""
        return len(next(iter(self.columns.values())))

    def __iter__(self) -> Iterator[TableRow]:
        """The rows."""
        return zip(*self.columns.values(), strict=True)

    def pieces(self) -> Iterator[TidyTable]:
        """The rows in order, as tables that are small enough to be held: itself."""
        yield self

    def changed(self, change: Callable[[TidyTable], TidyTable]) -> TidyTable:
        """What a change of single rows makes of it."""
        return change(self)

    def shown(self) -> list[list[str]]:
        """The head and the rows as texts, of a long table some."""
        return short_table(self.names, list(self))

    def with_columns(self, **columns: tuple[Any, ...]) -> TidyTable:
        """The same table with some columns replaced."""
        return TidyTable({**self.columns, **columns}, self.keys)

    def to_records(self) -> list[dict[str, Any]]:
        """One dict per row."""
        return [dict(zip(self.names, row, strict=True)) for row in zip(*self.columns.values(), strict=True)]

    def to_pandas(self) -> Any:
        """A pandas data frame."""
        return _package("pandas").DataFrame({name: list(column) for name, column in self.columns.items()})

    def to_polars(self) -> Any:
        """A Polars data frame."""
        return _package("polars").DataFrame({name: list(column) for name, column in self.columns.items()}, strict=False)

    def to_arrow(self) -> Any:
        """An Arrow table; whole numbers beyond 64 bits are doubles there, and keys of several types are texts."""
        return _package("pyarrow").table({name: _narrow(column) for name, column in self.columns.items()})

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """Comma-separated values in UTF-8 with a header: the text, or nothing if it is written to a file.

        Fields with commas, quotes or line breaks are quoted, and so is empty text; a field with nothing in it is a
        missing key. Keys are written as they are: a spreadsheet may read one that starts with "=", "+", "-" or "@" as a
        formula.

        Args:
            path: Where to; if left out, the text is returned.

        >>> print(TidyTable({"city": ("a, b", "", None), "value": (1, 2, 3)}, ("city",)).to_csv(), end="")
        city,value
        "a, b",1
        "",2
        ,3
        """
        if path is None:
            return "".join(self.lines())
        with _writable(path) as file:
            file.writelines(line.encode() for line in self.lines())
        return None

    def lines(self) -> Iterator[str]:
        """The lines of the file that `to_csv` writes."""
        for line in chain([self.names], self):
            yield f"{','.join(map(_field, line))}\n"

    def to_parquet(self, path: str | Path) -> None:
        """A Parquet file.

        Args:
            path: Where to.
        """
        parquet, writer = _package("pyarrow.parquet"), None
        with _writable(path) as file:
            for table in (piece.to_arrow() for piece in self.pieces()):
                writer = writer or parquet.ParquetWriter(file, table.schema)
                writer.write_table(table)
            if writer is not None:
                writer.close()


@dataclass(frozen=True, eq=False)
class LongTable(TidyTable):
    """A table of so many rows that it is not held: `pieces`, `to_csv` and `to_parquet` compute it as they go.

    Attributes:
        length: How many rows.
        walk: Computes the rows, a small table at a time.

    >>> numbers = TidyTable({"n": (1, 2)})
    >>> long = LongTable.of(("n",), (), length=4, walk=lambda: iter([numbers, numbers]))
    >>> len(long), list(long), [piece["n"] for piece in long.pieces()]
    (4, [(1,), (2,), (1,), (2,)], [(1, 2), (1, 2)])
    """

    length: int = 0
    walk: Callable[[], Iterator[TidyTable]] = field(default=list[TidyTable]().__iter__, repr=False)

    @classmethod
    def of(
        cls, names: tuple[str, ...], keys: tuple[str, ...], length: int, walk: Callable[[], Iterator[TidyTable]]
    ) -> LongTable:
        """The table with these columns, of which the first are keys."""
        return cls(_Unheld(names), keys, length, walk)

    def pieces(self) -> Iterator[TidyTable]:
        """The rows in order, as tables that are small enough to be held."""
        return self.walk()

    def changed(self, change: Callable[[TidyTable], TidyTable]) -> TidyTable:
        """What a change of single rows makes of it."""
        return replace(self, walk=partial(self._changed, change))

    def shown(self) -> list[list[str]]:
        """The head and the first rows as texts."""
        return [*short_table(self.names, list(islice(self, _ROWS_SHOWN))), ["…"] * len(self.names)]

    def to_parquet(self, path: str | Path) -> None:
        """A Parquet file, in which all keys are texts.

        Args:
            path: Where to.
        """
        super(LongTable, replace(self, walk=partial(self._changed, _with_texts))).to_parquet(path)

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """The same file as that of any table; there is no text of it.

        Args:
            path: Where to.
        """
        if path is None:
            raise _not_held()
        return super().to_csv(path)

    def __len__(self) -> int:
        """How many rows."""
        return self.length

    def __iter__(self) -> Iterator[TableRow]:
        """The rows, as they are computed."""
        return (row for piece in self.pieces() for row in piece)

    def _changed(self, change: Callable[[TidyTable], TidyTable]) -> Iterator[TidyTable]:
        return map(change, self.walk())


class _Unheld(Mapping[str, tuple[Any, ...]]):
    """The names of columns that are not held; whoever asks for one is refused."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names

    def __getitem__(self, name: str) -> tuple[Any, ...]:
        raise _not_held()

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _with_texts(table: TidyTable) -> TidyTable:
    texts = {key: tuple(None if cell is None else str(cell) for cell in table[key]) for key in table.keys}
    return table.with_columns(**texts)


def _not_held() -> TooLarge:
    return TooLarge(
        "a table of so many rows is not held in memory",
        fix="write it with to_parquet or to_csv, or go through table.pieces(), each of which is a small table",
    )


def measure_names(keys: tuple[str, ...]) -> tuple[str, str, str]:
    """What the value and its bars are called: value, low and high, with underscores where a key has that name.

    >>> measure_names(("city",)), measure_names(("Value",))
    (('value', 'low', 'high'), ('value_', 'low', 'high'))
    """
    return free_name("value", keys), free_name("low", keys), free_name("high", keys)


def _field(cell: Any) -> str:
    text = "" if cell is None else repr(cell) if isinstance(cell, float) else str(cell)
    if (text == "" and cell is not None) or any(sign in text for sign in ',"\r\n') or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text


def _narrow(column: tuple[Any, ...]) -> list[Any]:
    """A column whose cells Arrow can hold: texts, where a star stands beside numbers or days."""
    if any(isinstance(cell, str) for cell in column):
        return [None if cell is None else str(cell) for cell in column]
    if any(isinstance(cell, int) and cell.bit_length() > 63 for cell in column):
        return [float(cell) if isinstance(cell, int) else cell for cell in column]
    return list(column)


@contextmanager
def _writable(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write to.

    Raises:
        BadParameter: It can't be written.
    """
    try:
        with Path(path).open("wb") as file:
            yield file
    except OSError as error:
        raise BadParameter("the file can't be written", given=str(path), fix=f"{error.strerror}") from None


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingPackage(f"this needs {name}", fix='pip install "leastnoise[frames]"') from None

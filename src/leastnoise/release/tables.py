"""A released table (key columns, then value and error bars, one row per cell), and its way into data frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from leastnoise.data.columns import free_name
from leastnoise.errors import BadParameter, MissingPackage
from leastnoise.model import unknown_label

__all__ = ["TidyTable", "measure_names"]

TableRow = tuple[Any, ...]


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

    def with_columns(self, **columns: tuple[Any, ...]) -> TidyTable:
        """The same table with some columns replaced."""
        return TidyTable({**self.columns, **columns}, self.keys)

    def to_records(self) -> list[dict[str, Any]]:
        """One dict per row."""
        return [dict(zip(self.names, row, strict=True)) for row in self]

    def to_pandas(self) -> Any:
        """A pandas data frame."""
        return _package("pandas").DataFrame({name: list(column) for name, column in self.columns.items()})

    def to_polars(self) -> Any:
        """A Polars data frame."""
        return _package("polars").DataFrame({name: list(column) for name, column in self.columns.items()}, strict=False)

    def to_arrow(self) -> Any:
        """An Arrow table; whole numbers beyond 64 bits are doubles there."""
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
        lines = [self.names, *self]
        text = "".join(f"{','.join(map(_field, line))}\n" for line in lines)
        if path is None:
            return text
        with _writable(path) as file:
            file.write(text.encode())
        return None

    def to_parquet(self, path: str | Path) -> None:
        """A Parquet file.

        Args:
            path: Where to.
        """
        table = self.to_arrow()
        with _writable(path) as file:
            _package("pyarrow.parquet").write_table(table, file)


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
    """A column whose numbers Arrow can hold."""
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

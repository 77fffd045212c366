"""A released table (key columns, then value and error bars, one row per cell), its way into data frames, and the eye.

All texts for the eye are public and escaped.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np

from leastnoise.errors import MissingPackage
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import LogSum
from leastnoise.model import notebook
from leastnoise.model.labels import unknown_label
from leastnoise.model.notebook import printable

__all__ = [
    "Line",
    "TidyTable",
    "html_lines",
    "html_table",
    "measure_names",
    "number",
    "rich_lines",
    "rich_table",
    "text_lines",
    "text_table",
]

Row = tuple[Any, ...]
Line = tuple[str, str]

_WIDTH = 110
_MOST_ROWS = 40
_LARGE = 1e15


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

    def __iter__(self) -> Iterator[Row]:
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
        """An Arrow table."""
        return _package("pyarrow").table({name: list(column) for name, column in self.columns.items()})


def measure_names(keys: tuple[str, ...]) -> tuple[str, str, str]:
    """What the value and its bars are called: value, low and high, with underscores where a key has that name.

    >>> measure_names(("city",)), measure_names(("value",))
    (('value', 'low', 'high'), ('value_', 'low', 'high'))
    """

    def free(name: str) -> str:
        while name in keys:
            name += "_"
        return name

    return free("value"), free("low"), free("high")


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingPackage(f"this needs {name}", fix='pip install "leastnoise[frames]"') from None


def number(value: object) -> str:
    """A number as a person writes it: whole numbers in full, others with about six digits.

    >>> number(Fraction(3)), number(Fraction(1, 3)), number(1234567.0)
    ('3', '0.333333', '1234567')
    """
    if isinstance(value, bool) or value is None:
        return "" if value is None else str(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float | Fraction | Enclosure | LogSum):
        rough = float(value)
        if rough.is_integer() and abs(rough) < _LARGE:
            return str(int(rough))
        return f"{rough:.1f}" if 1e5 <= abs(rough) < _LARGE else f"{rough:.6g}"
    return printable(value)


def text_lines(title: str, lines: Sequence[Line]) -> str:
    """A title, and below it each name with its text, wrapped."""
    width = max(len(name) for name, _ in lines)
    shown = [printable(title)]
    for name, text in lines:
        first, *rest = textwrap.wrap(printable(text), _WIDTH - width - 4) or [""]
        shown += [f"  {name.ljust(width)}  {first}".rstrip(), *(" " * (width + 4) + line for line in rest)]
    return "\n".join(shown)


def rich_lines(title: str, lines: Sequence[Line]) -> Any:
    """The same for the terminal."""
    from rich.markup import escape as plain
    from rich.table import Table

    table = Table(title=plain(printable(title)), title_justify="left", show_header=False, box=None)
    table.add_column(style="bold")
    table.add_column()
    for name, text in lines:
        table.add_row(plain(name), plain(printable(text)))
    return table


def html_lines(title: str, lines: Sequence[Line]) -> str:
    """The same for a notebook."""
    return notebook.html_table(title, lines)


def text_table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Aligned columns; long tables show their beginning and end."""
    grid = _grid(names, rows)
    widths = [max(len(row[j]) for row in grid) for j in range(len(names))]
    return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in grid)


def rich_table(names: Sequence[str], rows: Sequence[Sequence[object]], caption: str) -> Any:
    """The same for the terminal."""
    from rich.markup import escape as plain
    from rich.table import Table

    head, *body = _grid(names, rows)
    table = Table(caption=plain(printable(caption)), caption_justify="left")
    for name in head:
        table.add_column(plain(name), justify="right")
    for row in body:
        table.add_row(*(plain(cell) for cell in row))
    return table


def html_table(names: Sequence[str], rows: Sequence[Sequence[object]], caption: str) -> str:
    """The same for a notebook."""
    head, *body = _grid(names, rows)
    return notebook.html_table(caption, body, head)


def _grid(names: Sequence[str], rows: Sequence[Sequence[object]]) -> list[list[str]]:
    shown = [[number(cell) for cell in row] for row in rows[: _MOST_ROWS if len(rows) > _MOST_ROWS + 3 else None]]
    if len(rows) > _MOST_ROWS + 3:
        shown += [["…"] * len(names), *([number(cell) for cell in row] for row in rows[-2:])]
    return [[printable(name) for name in names], *shown]

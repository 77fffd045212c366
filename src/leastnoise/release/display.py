"""Plans and releases for the eye: plain text, the terminal, HTML. All texts are public and escaped."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import LogSum
from leastnoise.model import notebook
from leastnoise.model.notebook import printable

__all__ = ["Line", "html_lines", "html_table", "number", "rich_lines", "rich_table", "text_lines", "text_table"]

Line = tuple[str, str]

_WIDTH = 110
_MOST_ROWS = 40
_LARGE = 1e15


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

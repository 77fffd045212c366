"""HTML for notebooks: one look for all that shows itself, light, every text escaped, nothing loaded from elsewhere.

Text keeps the colour of the page and fills are translucent, so that a table can be read on white and on black.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

__all__ = ["Cell", "html_table", "printable"]

_GREEN, _AMBER, _RED = "46, 160, 96", "214, 140, 30", "219, 80, 74"
_BLUE, _GREY = "47, 129, 199", "128, 128, 128"
_TABLE = "border-collapse: collapse; font-variant-numeric: tabular-nums"
_CAPTION = "caption-side: top; text-align: left; color: inherit; font-weight: 600; padding: 4px 8px"
_LONGEST_UNBROKEN, _LONGEST_CAPTION = 28, 80
_MARKS = {True: ("✓", _GREEN), False: ("✗", _RED)}


class Cell(NamedTuple):
    """A text over a fill.

    Attributes:
        text: What it says.
        heat: How strongly the whole cell is coloured, 0 to 1.
        bar: How far from the left a bar reaches, 0 to 1; None for no bar.
    """

    text: str
    heat: float = 0.0
    bar: float | None = None


def html_table(
    caption: str, rows: Sequence[Sequence[str | Cell]], head: Sequence[str] = (), holds: bool | None = None
) -> str:
    """A table whose first column names the rows.

    Args:
        caption: One line above it.
        rows: Texts, or cells with a fill.
        head: The names of the columns, which then hold numbers and are aligned to the right.
        holds: Puts a green tick or a red cross before the caption, and a rule in that colour beside the table.

    >>> html_table("a < b", []).endswith("a &lt; b</caption></table>")
    True
    """
    mark, colour = ("", _GREY) if holds is None else _MARKS[holds]
    sign = f'<span style="color: rgb({colour})">{mark}</span> ' if mark else ""
    side = "right" if head else "left"
    top = f"<tr>{''.join(_cell('th', name, side if place else 'left') for place, name in enumerate(head))}</tr>"
    body = "".join(
        f"<tr>{_cell('th', name, 'left')}{''.join(_cell('td', cell, side) for cell in cells)}</tr>"
        for name, *cells in rows
    )
    title = f"{_CAPTION}{_unbroken(caption, _LONGEST_CAPTION)}"
    return (
        f'<table cellpadding="5" style="{_TABLE}; border-left: 3px solid rgba({colour}, 0.8)">'
        f'<caption style="{title}">{sign}{_text(caption)}</caption>{top if head else ""}{body}</table>'
    )


def printable(value: object) -> str:
    r"""Text on one line: what can't be seen is written out.

    >>> printable("a\nb")
    'a\\nb'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(value))


def _cell(tag: str, cell: str | Cell, side: str) -> str:
    text, fill = (cell, "") if isinstance(cell, str) else (cell.text, _fill(cell))
    return f'<{tag} style="text-align: {side}{fill}{_unbroken(text, _LONGEST_UNBROKEN)}">{_text(text)}</{tag}>'


def _unbroken(text: str, most: int) -> str:
    """Keep a short text on one line, where a browser might break it."""
    return "; white-space: nowrap" if len(text) <= most and (" " in text or "-" in text) else ""


def _fill(cell: Cell) -> str:
    if cell.bar is None:
        return f"; background: rgba({_BLUE}, {_within(cell.heat) * 0.75:.3f})" if cell.heat > 0 else ""
    share = _within(cell.bar)
    colour = _GREEN if share < 0.5 else _AMBER if share < 0.9 else _RED
    end = f"{100 * share:.1f}%"
    gradient = f"linear-gradient(to right, rgba({colour}, 0.45) {end}, rgba({_GREY}, 0.12) {end})"
    return f"; min-width: 7em; background: {gradient}"


def _within(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def _text(text: str) -> str:
    return escape(printable(text))

"""Numbers, lines and tables for the eye: plain text, the terminal, and HTML for notebooks.

HTML has one look for all that shows itself: light, every text escaped, nothing loaded from elsewhere. Text keeps the
colour of the page and fills are translucent, so that a table can be read on white and on black.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from html import escape
from typing import Any, NamedTuple

from leastnoise.exact import Enclosure, Exact, LogSum

__all__ = [
    "Cell",
    "aligned",
    "brief",
    "channel_html",
    "channel_text",
    "exact_text",
    "html_table",
    "number",
    "printable",
    "rich_lines",
    "rich_table",
    "short_table",
    "show_labels",
    "show_number",
    "text_lines",
]

_LARGE = 1e15
_LONG = 10**24  # a whole number that nobody reads digit by digit
_LONGEST_NUMBER, _LONGEST_FRACTION, _LONGEST_LABEL = 24, 11, 24
_MOST_LABELS = 6
_WIDTH = 110
_MOST_LINES = 40
_MOST_ROWS, _MOST_COLUMNS = 16, 10  # of a channel

_GREEN, _AMBER, _RED = "46, 160, 96", "214, 140, 30", "219, 80, 74"
_BLUE, _GREY = "47, 129, 199", "128, 128, 128"
_TABLE = "border-collapse: collapse; font-variant-numeric: tabular-nums"
_CAPTION = "caption-side: top; text-align: left; color: inherit; font-weight: 600; padding: 4px 8px"
_LONGEST_UNBROKEN, _LONGEST_CAPTION = 28, 80
_MARKS = {True: ("✓", _GREEN), False: ("✗", _RED)}

RowAt = Callable[[int], Sequence[Fraction | float]]


def number(value: object) -> str:
    """A number as a person writes it: whole numbers in full up to 24 digits, others with about six digits.

    >>> number(Fraction(3)), number(Fraction(1, 3)), number(1234567.0), number(10**30), number(float("inf"))
    ('3', '0.333333', '1234567', '1e+30', '∞')
    """
    if isinstance(value, bool) or value is None:
        return "" if value is None else str(value)
    if isinstance(value, int):
        return str(value) if abs(value) < _LONG else _digits(Fraction(value), 6)
    if isinstance(value, float) and not math.isfinite(value):
        return "?" if math.isnan(value) else "∞" if value > 0 else "−∞"
    if isinstance(value, float | Fraction | Enclosure | LogSum):
        if isinstance(value, Fraction) and value and not 2.0**-1000 < abs(value) < 2.0**1000:
            return _digits(value)
        rough = float(value)
        if rough.is_integer() and abs(rough) < _LARGE:
            return str(int(rough))
        return f"{rough:.1f}" if 1e5 <= abs(rough) < _LARGE else f"{rough:.6g}"
    return printable(value)


def brief(number: Exact | Enclosure | float, digits: int = 10) -> str:
    """A number in few characters: itself if it is that short, else some digits.

    >>> from leastnoise.exact.numbers import ln
    >>> brief(Fraction(4, 5)), brief(ln(4)), brief(Fraction(1, 2**90)), brief(float("inf"))
    ('4/5', 'ln(4)', '≈ 8.077935669e-28', '∞')
    """
    if number == math.inf:
        return "∞"
    exact = number.lower if isinstance(number, Enclosure) and number.is_exact else number
    text = exact_text(exact) if isinstance(exact, Fraction | LogSum) else None
    return text if text is not None and len(text) <= _LONGEST_NUMBER else f"≈ {_digits(exact, digits)}"


def show_number(number: Exact | Enclosure | float) -> str:
    """A number in few characters, logarithms with their digits.

    >>> from leastnoise.exact.numbers import ln
    >>> show_number(ln(4))
    'ln(4) ≈ 1.386294361'
    """
    text = brief(number)
    return f"{text} ≈ {_digits(number)}" if isinstance(number, LogSum) and "≈" not in text else text


def exact_text(number: Exact) -> str | None:
    """A number as exact text; None if that would take more digits than Python writes (4300 at most, by default)."""
    try:
        return str(number)
    except ValueError:
        return None


def _digits(number: Exact | Enclosure | float, digits: int = 10) -> str:
    if isinstance(number, Fraction) and number and not 2.0**-1000 < abs(number) < 2.0**1000:
        return f"{'-' if number < 0 else ''}2^{number.numerator.bit_length() - number.denominator.bit_length()}"
    return f"{float(number):.{digits}g}"


def show_labels(labels: Sequence[Hashable]) -> str:
    """A set of labels; a long one shows how many there are.

    >>> show_labels(["a", 1]), show_labels(range(100))
    ("{'a', 1}", '{0, 1, 2, 3, 4, … 100 outputs}')
    """
    if len(labels) <= _MOST_LABELS:
        return f"{{{', '.join(repr(label) for label in labels)}}}"
    shown = ", ".join(repr(label) for label in labels[: _MOST_LABELS - 1])
    return f"{{{shown}, … {len(labels)} outputs}}"


def printable(value: object) -> str:
    r"""Text on one line: what can't be seen is written out.

    >>> printable("a\nb")
    'a\\nb'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(value))


def text_lines(title: str, lines: Sequence[tuple[str, str]]) -> str:
    """A title, and below it each name with its text, wrapped."""
    width = max(len(name) for name, _ in lines)
    shown = [printable(title)]
    for name, text in lines:
        first, *rest = textwrap.wrap(printable(text), _WIDTH - width - 4) or [""]
        shown += [f"  {name.ljust(width)}  {first}".rstrip(), *(" " * (width + 4) + line for line in rest)]
    return "\n".join(shown)


def rich_lines(title: str, lines: Sequence[tuple[str, str]]) -> Any:
    """The same for the terminal."""
    from rich.markup import escape as plain
    from rich.table import Table

    table = Table(title=plain(printable(title)), title_justify="left", show_header=False, box=None)
    table.add_column(style="bold")
    table.add_column()
    for name, text in lines:
        table.add_row(plain(name), plain(printable(text)))
    return table


def short_table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> list[list[str]]:
    """The head and the rows as texts; long tables show their beginning and end."""
    shown = [[number(cell) for cell in row] for row in rows[: _MOST_LINES if len(rows) > _MOST_LINES + 3 else None]]
    if len(rows) > _MOST_LINES + 3:
        shown += [["…"] * len(names), *([number(cell) for cell in row] for row in rows[-2:])]
    return [[printable(name) for name in names], *shown]


def aligned(table: Sequence[Sequence[str]], left: int = 0) -> str:
    """The rows of a table as lines: the first `left` columns are aligned to the left, the others to the right.

    >>> print(aligned([["", "yes"], ["north", "1/2"]], left=1))
           yes
    north  1/2
    """
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    cells = (
        [cell.ljust(w) if j < left else cell.rjust(w) for j, (cell, w) in enumerate(zip(row, widths, strict=True))]
        for row in table
    )
    return "\n".join("  ".join(row).rstrip() for row in cells)


def rich_table(table: Sequence[Sequence[str]], caption: str = "", *, title: str = "", left: int = 0) -> Any:
    """The same table for the terminal; its first row is the head."""
    from rich.markup import escape as plain
    from rich.table import Table

    head, *body = table
    shown = Table(
        title=plain(printable(title)) or None,
        title_justify="left",
        caption=plain(printable(caption)) or None,
        caption_justify="left",
    )
    for place, name in enumerate(head):
        shown.add_column(plain(name), justify="left" if place < left else "right")
    for row in body:
        shown.add_row(*(plain(cell) for cell in row))
    return shown


def channel_text(inputs: Sequence[Hashable], outputs: Sequence[Hashable], row_at: RowAt) -> str:
    """Rows of right-aligned numbers under their outputs, each after its input. Large channels show their corners."""
    columns, rows = _shown(len(outputs), _MOST_COLUMNS), _shown(len(inputs), _MOST_ROWS)
    table = [["", *("…" if j is None else _label(outputs[j]) for j in columns)]]
    for i in rows:
        if i is None:
            table.append(["…"] * (len(columns) + 1))
        else:
            row = row_at(i)
            table.append([_label(inputs[i]), *("…" if j is None else _entry(row[j]) for j in columns)])
    return aligned(table, left=1)


def channel_html(caption: str, inputs: Sequence[Hashable], outputs: Sequence[Hashable], row_at: RowAt) -> str:
    """The same table in HTML, the more likely the bluer."""
    columns, rows = _shown(len(outputs), _MOST_COLUMNS), _shown(len(inputs), _MOST_ROWS)
    head = ["", *(_more(outputs, columns) if j is None else _label(outputs[j]) for j in columns)]
    body: list[list[str | Cell]] = []
    for i in rows:
        if i is None:
            body.append([_more(inputs, rows), *("" for _ in columns)])
        else:
            row = row_at(i)
            cells = ("" if j is None else Cell(_entry(row[j], digits=3), heat=float(row[j])) for j in columns)
            body.append([_label(inputs[i]), *cells])
    return html_table(caption, body, head)


def _more(labels: Sequence[Hashable], shown: Sequence[int | None]) -> str:
    return f"… {len(labels) - len(shown) + 1} more"


def _shown(count: int, most: int) -> list[int | None]:
    """Which of `count` places to show; None stands for those left out."""
    if count <= most:
        return list(range(count))
    return [*range(most - 3), None, count - 2, count - 1]


def _entry(entry: Fraction | float, digits: int = 6) -> str:
    if isinstance(entry, Fraction) and len(str(entry)) <= _LONGEST_FRACTION:
        return str(entry)
    return f"≈{float(entry):.{digits}g}" if isinstance(entry, Fraction) else f"{entry:.{digits}g}"


def _label(label: Hashable) -> str:
    visible = printable(label)
    return visible if len(visible) <= _LONGEST_LABEL else f"{visible[: _LONGEST_LABEL - 1]}…"


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

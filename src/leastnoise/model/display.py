"""A channel for the eye: aligned text, and HTML for notebooks. Large ones show their corners."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction

from leastnoise.model.notebook import Cell, html_table, printable

__all__ = ["html_grid", "text_table"]

_MOST_ROWS, _MOST_COLUMNS = 16, 10
_LONGEST_FRACTION = 11
_LONGEST_LABEL = 24

RowAt = Callable[[int], Sequence[Fraction | float]]


def text_table(inputs: Sequence[Hashable], outputs: Sequence[Hashable], row_at: RowAt) -> str:
    """Rows of right-aligned numbers under their outputs, each after its input."""
    grid = _grid(inputs, outputs, row_at)
    names = max(len(row[0]) for row in grid)
    width = [max(len(row[j]) for row in grid) for j in range(1, len(grid[0]))]
    lines = [
        "  ".join([row[0].ljust(names), *(cell.rjust(w) for cell, w in zip(row[1:], width, strict=True))])
        for row in grid
    ]
    return "\n".join(line.rstrip() for line in lines)


def html_grid(caption: str, inputs: Sequence[Hashable], outputs: Sequence[Hashable], row_at: RowAt) -> str:
    """The same table in HTML, the more likely the bluer; labels are escaped."""
    columns, rows = _shown(len(outputs), _MOST_COLUMNS), _shown(len(inputs), _MOST_ROWS)
    head = ["", *(_more(outputs, columns) if j is None else _label(outputs[j]) for j in columns)]
    body: list[list[str | Cell]] = []
    for i in rows:
        if i is None:
            body.append([_more(inputs, rows), *("" for _ in columns)])
        else:
            row = row_at(i)
            cells = ("" if j is None else Cell(_number(row[j], digits=3), heat=float(row[j])) for j in columns)
            body.append([_label(inputs[i]), *cells])
    return html_table(caption, body, head)


def _more(labels: Sequence[Hashable], shown: Sequence[int | None]) -> str:
    return f"… {len(labels) - len(shown) + 1} more"


def _grid(inputs: Sequence[Hashable], outputs: Sequence[Hashable], row_at: RowAt) -> list[list[str]]:
    columns, rows = _shown(len(outputs), _MOST_COLUMNS), _shown(len(inputs), _MOST_ROWS)
    grid = [["", *("…" if j is None else _label(outputs[j]) for j in columns)]]
    for i in rows:
        if i is None:
            grid.append(["…"] * (len(columns) + 1))
        else:
            row = row_at(i)
            grid.append([_label(inputs[i]), *("…" if j is None else _number(row[j]) for j in columns)])
    return grid


def _shown(count: int, most: int) -> list[int | None]:
    """Which of `count` places to show; None stands for those left out."""
    if count <= most:
        return list(range(count))
    return [*range(most - 3), None, count - 2, count - 1]


def _number(entry: Fraction | float, digits: int = 6) -> str:
    if isinstance(entry, Fraction) and len(str(entry)) <= _LONGEST_FRACTION:
        return str(entry)
    return f"≈{float(entry):.{digits}g}" if isinstance(entry, Fraction) else f"{entry:.{digits}g}"


def _label(label: Hashable) -> str:
    visible = printable(label)
    return visible if len(visible) <= _LONGEST_LABEL else f"{visible[: _LONGEST_LABEL - 1]}…"

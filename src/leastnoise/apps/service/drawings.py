"""Pictures of the page, as SVG: made here, every text escaped, without styles of their own; each says what it shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from leastnoise.model.show import number

__all__ = ["draw_answer", "draw_burning", "draw_prices"]

_MOST = 40  # bars that can be told apart
_WIDTH, _ROW, _LEFT = 640, 24, 180
_HEIGHT = 200


def draw_answer(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Bars of released values with the interval of each; nothing where there are no intervals, or too many rows."""
    if not {"value", "low", "high"} <= set(columns) or not 0 < len(rows) <= _MOST:
        return ""
    value, low, high = (list(columns).index(name) for name in ("value", "low", "high"))
    labels = [place for place, name in enumerate(columns) if name not in ("value", "low", "high")]
    numbers = [[row[place] for place in (value, low, high)] for row in rows]
    if not all(isinstance(each, int | float) for row in numbers for each in row):
        return ""
    least, most = min(0, *(min(row) for row in numbers)), max(0, *(max(row) for row in numbers))

    def across(amount: float) -> str:
        return f"{_LEFT + (amount - least) / ((most - least) or 1) * (_WIDTH - _LEFT - 10):.1f}"

    def bars() -> Iterator[str]:
        for place, (row, (middle, start, end)) in enumerate(zip(rows, numbers, strict=True)):
            top = place * _ROW
            text = ", ".join(str(row[each]) for each in labels) or "answer"
            text = text if len(text) < 24 else f"{text[:22]}…"
            yield f'<text x="{_LEFT - 8}" y="{top + 16}" text-anchor="end">{escape(text)}</text>'
            begin, width = across(min(0, middle)), float(across(max(0, middle))) - float(across(min(0, middle)))
            yield f'<rect class="bar" x="{begin}" y="{top + 5}" width="{width:.1f}" height="14" fill-opacity="0.5"/>'
            yield f'<line class="error" x1="{across(start)}" x2="{across(end)}" y1="{top + 12}" y2="{top + 12}"/>'

    zero = f'<line class="axis" x1="{across(0)}" x2="{across(0)}" y1="0" y2="{len(rows) * _ROW}"/>'
    return _svg(
        "Released values as bars, with the interval of each as a line; the table below has the numbers.",
        len(rows) * _ROW,
        [zero, *bars()],
    )


def draw_prices(points: Sequence[Mapping[str, Any]]) -> str:
    """The expected error at each price; nothing where errors are not known."""
    known = [each for each in points if each["expected"] is not None]
    if len(known) < 2 or len(known) < len(points):
        return ""
    most = max(each["within"] for each in known) or 1
    step = (_WIDTH - 120) / (len(known) - 1)
    places = [
        (60 + place * step, *(_HEIGHT - 30 - each[name] / most * (_HEIGHT - 60) for name in ("expected", "within")))
        for place, each in enumerate(known)
    ]
    parts = [f'<line class="axis" x1="40" x2="{_WIDTH - 40}" y1="{_HEIGHT - 30}" y2="{_HEIGHT - 30}"/>']
    for each, (x, y, far) in zip(known, places, strict=True):
        price = next(iter(each["price"].values()))
        parts.append(f'<line class="error" x1="{x:.1f}" x2="{x:.1f}" y1="{far:.1f}" y2="{_HEIGHT - 30}"/>')
        parts.append(f'<circle class="point{" here" if each["here"] else ""}" cx="{x:.1f}" cy="{y:.1f}" r="6"/>')
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - 10}" text-anchor="middle">{escape(str(price)[:14])}</text>')
        parts.append(f'<text x="{x + 9:.1f}" y="{far + 4:.1f}">±{escape(number(each["within"]))}</text>')
    told = "Price, from cheap to dear, against the expected error (points) and the error within which 95 % are (lines)."
    return _svg(told, _HEIGHT, parts)


def draw_burning(points: Sequence[tuple[int, float]]) -> str:
    """The share of a budget that was left, from each time on to the next."""
    if len(points) < 2:
        return ""
    start, end = points[0][0], points[-1][0]
    line, before = [], points[0][1]
    for time, left in points:
        x = f"{20 + (time - start) / ((end - start) or 1) * (_WIDTH - 40):.1f}"
        line += [f"{x},{90 - before * 80:.1f}", f"{x},{90 - left * 80:.1f}"]
        before = left
    axis = f'<line class="axis" x1="20" x2="{_WIDTH - 20}" y1="90" y2="90"/>'
    told = f"What was left of the budget over time: {before:.1%} now."
    return _svg(told, 100, [axis, f'<polyline class="line" points="{" ".join(line)}"/>'])


def _svg(told: str, height: int, parts: Sequence[str]) -> str:
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    return f'<svg {size} role="img" aria-label="{escape(told)}">{"".join(parts)}</svg>'

"""Pictures of the page, as SVG: made here, every text escaped, without styles of their own; each says what it shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any

from leastnoise.model import number, printable

__all__ = ["draw_answer", "draw_burning", "draw_choices", "draw_error"]

_MOST = 40  # bars that can be told apart
_WIDTH, _ROW, _LEFT, _RIGHT = 640, 24, 180, 80
_HEIGHT = 200
_BAR = 200


def draw_answer(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[tuple[str, str]]:
    """Bars of released values with the interval of each, a picture for each value; none where there are too many."""
    names = list(columns)
    measures = [(name, f"{name}_low", f"{name}_high") for name in names] + [("value", "low", "high")]
    drawn = [[names.index(part) for part in each] for each in measures if set(each) <= set(names)]
    keys = [place for place in range(len(names)) if not any(place in each for each in drawn)]
    labels = [", ".join(str(row[place]) for place in keys) or "answer" for row in rows]
    if not 0 < len(rows) <= _MOST:
        return []
    numbers = [(names[each[0]], [[row[place] for place in each] for row in rows]) for each in drawn]
    return [(name, _bars(name, labels, known)) for name, known in numbers if _are_numbers(known)]


def _are_numbers(rows: Sequence[Sequence[Any]]) -> bool:
    return all(isinstance(each, int | float) and not isinstance(each, bool) for row in rows for each in row)


def _bars(name: str, labels: Sequence[str], numbers: Sequence[Sequence[float]]) -> str:
    least, most = min(0, *(min(row) for row in numbers)), max(0, *(max(row) for row in numbers))

    def across(amount: float) -> float:
        return _LEFT + float((amount - least) / ((most - least) or 1)) * (_WIDTH - _LEFT - _RIGHT)

    def bars() -> Iterator[str]:
        for place, (label, (middle, start, end)) in enumerate(zip(labels, numbers, strict=True)):
            top = place * _ROW
            text = label if len(label) < 24 else f"{label[:22]}…"
            yield f'<text x="{_LEFT - 8}" y="{top + 16}" text-anchor="end">{escape(printable(text))}</text>'
            begin, width = across(min(0, middle)), across(max(0, middle)) - across(min(0, middle))
            yield f'<rect class="bar" x="{begin:.1f}" y="{top + 5}" width="{width:.1f}" height="14"/>'
            yield _whisker(across(start), across(end), top + 12)
            yield f'<text x="{_WIDTH - _RIGHT + 8}" y="{top + 16}">{escape(number(middle))}</text>'

    height = len(labels) * _ROW
    zero = f'<line class="axis" x1="{across(0):.1f}" x2="{across(0):.1f}" y1="0" y2="{height}"/>'
    told = f"{name}: released values as bars, with the interval of each as a line; the table below has the numbers."
    return _svg(told, height, [zero, *bars()])


def draw_error(within: float, widest: float) -> str:
    """An error bar around an answer that is not known yet; as wide as the picture where the error is the widest."""
    half = (_BAR / 2 - 4) * (within / widest if widest else 0)
    axis = f'<line class="axis" x1="{_BAR / 2}" x2="{_BAR / 2}" y1="0" y2="14"/>'
    size = f'viewBox="0 0 {_BAR} 14" width="{_BAR}" height="14"'
    return f'<svg {size} aria-hidden="true">{axis}{_whisker(_BAR / 2 - half, _BAR / 2 + half, 7)}</svg>'


def _whisker(start: float, end: float, y: float) -> str:
    return f'<path class="error" d="M{start:.1f} {y}H{end:.1f}M{start:.1f} {y - 4}v8M{end:.1f} {y - 4}v8"/>'


def draw_choices(choices: Sequence[Mapping[str, Any]]) -> str:
    """The expected error of the first question at each price; nothing where errors are not known."""
    known = [(each, each["errors"][0]) for each in choices if each["errors"][0] is not None]
    if len(known) < 2 or len(known) < len(choices):
        return ""
    most = max(error["within"] for _, error in known) or 1
    step = (_WIDTH - 100) / (len(known) - 1)
    bottom = _HEIGHT - 30
    parts = [f'<line class="axis" x1="40" x2="{_WIDTH - 40}" y1="{bottom}" y2="{bottom}"/>']
    for place, (each, error) in enumerate(known):
        x = 50 + place * step
        y, far = (bottom - error[name] / most * (_HEIGHT - 60) for name in ("expected", "within"))
        price = next(iter(each["price"].values()))
        parts.append(f'<line class="error" x1="{x:.1f}" x2="{x:.1f}" y1="{far:.1f}" y2="{bottom}"/>')
        parts.append(f'<circle class="point{" here" if each["here"] else ""}" cx="{x:.1f}" cy="{y:.1f}" r="5"/>')
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - 10}" text-anchor="middle">{escape(str(price)[:6])}</text>')
        parts.append(
            f'<text x="{x:.1f}" y="{far - 6:.1f}" text-anchor="middle">±{escape(number(error["within"]))}</text>'
        )
    told = (
        "Prices from cheap to dear, each with the expected error (point) and the error that is kept with 95 % "
        "probability (line)."
    )
    return _svg(told, _HEIGHT, parts)


def draw_burning(points: Sequence[tuple[int, float]]) -> str:
    """The share of a budget that was left, from each time on to the next."""
    if len(points) < 2:
        return ""
    start, end = points[0][0], points[-1][0]
    line, before = [], points[0][1]
    for time, left in points:
        x = f"{60 + (time - start) / ((end - start) or 1) * (_WIDTH - 130):.1f}"
        line += [f"{x},{90 - before * 80:.1f}", f"{x},{90 - left * 80:.1f}"]
        before = left
    parts = [f'<line class="axis" x1="60" x2="{_WIDTH - 70}" y1="{y}" y2="{y}"/>' for y in (10, 90)]
    parts.append(f'<polyline class="line" points="{" ".join(line)}"/>')
    parts += [f'<text x="52" y="{y}" text-anchor="end">{text}</text>' for y, text in ((14, "all"), (94, "nothing"))]
    parts.append(f'<text x="{_WIDTH - 62}" y="{94 - before * 80:.1f}">{before:.1%}</text>')
    first, last = (datetime.fromtimestamp(each, UTC).strftime("%Y-%m-%d %H:%M") for each in (start, end))
    parts.append(f'<text x="60" y="110">{first}</text>')
    parts.append(f'<text x="{_WIDTH - 70}" y="110" text-anchor="end">{last}</text>')
    told = f"What was left of the budget over time: {before:.1%} now."
    return _svg(told, 116, parts)


def _svg(told: str, height: int, parts: Sequence[str]) -> str:
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    return f'<svg {size} role="img" aria-label="{escape(printable(told))}">{"".join(parts)}</svg>'

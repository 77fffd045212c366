"""A release as a picture: bars with error bars. Rounded, released numbers only; matplotlib is imported late."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from leastnoise.errors import BadParameter
from leastnoise.release.display import number
from leastnoise.release.plot_style import COLOURS, GREY, literal, picture
from leastnoise.release.tidy import measure_names

if TYPE_CHECKING:
    from leastnoise.release.result import Release

__all__ = ["draw_release"]

_MOST_BARS = 60


def draw_release(release: Release, path: str | Path | None = None) -> Any:
    """Draw the values with their error bars; returns the figure, and writes it if a path is given.

    Raises:
        BadParameter: The values are no numbers, or the file can't be written.
        MissingPackage: matplotlib is not installed.
    """
    table = release.table
    value, low, high = measure_names(table.keys)
    if not all(isinstance(x, int | float) for x in table[value]):
        raise BadParameter("only numbers can be drawn", given=release.plan.question, fix="print the release instead")
    shown = min(len(table), _MOST_BARS)
    labels = [" · ".join(number(row[i]) for i in range(len(table.keys))) or "value" for row in list(table)[:shown]]
    values = [float(x) for x in table[value][:shown]]
    bars = None
    if low in table.columns:
        below = [max(v - float(x), 0.0) for v, x in zip(values, table[low], strict=False)]
        above = [max(float(x) - v, 0.0) for v, x in zip(values, table[high], strict=False)]
        bars = [below, above]
    places = range(shown)
    with picture(path, (7.2, max(2.0, 0.9 + 0.24 * shown))) as figure:
        axes = figure.subplots()
        axes.barh(places, values, xerr=bars, color=COLOURS[0], ecolor=GREY, capsize=3, height=0.7)
        axes.set_yticks(places, [literal(label) for label in labels])
        axes.invert_yaxis()
        axes.set_title(literal(release.plan.question))
        meaning = "; error bars hold the true value with 95 % probability" if bars else ""
        more = "" if shown == len(table) else f"; {len(table) - shown} more not shown"
        axes.set_xlabel(literal(f"cost {release.cost}{meaning}{more}"))
        axes.grid(visible=False, axis="y")
    return figure

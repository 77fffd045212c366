"""Pictures, for those who installed matplotlib (the extra `plots`). They show rounded numbers and decide nothing.

Each function writes a .png, .svg or .pdf file, by its suffix, in the one style of `release.drawing_style`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.release.pictures import COLOURS, GREY, HEAT, literal, picture

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from leastnoise.checker import PrivacyCurve
    from leastnoise.ledger import Ledger
    from leastnoise.model import Channel, Hyper

__all__ = ["plot_burn_down", "plot_channel", "plot_law", "plot_privacy_curve", "plot_simplex"]

_POINTS = 400
_MOST_DRAWN = 400
_MOST_WRITTEN = 8  # rows and columns of a heat map whose numbers can still be read
_LONGEST_LABEL, _LONGEST_SCOPE = 12, 30
_MOST_BUDGETS = 8
_CORNERS = np.array([[0.0, 0.0], [0.5, math.sqrt(0.75)], [1.0, 0.0]])
_MARKERS = "oD^sv"


def plot_privacy_curve(curve: PrivacyCurve, path: str | Path) -> None:
    """Draw δ(ε) with its corners."""
    corners = [(float(epsilon), float(delta)) for epsilon, delta in curve.points()]
    widest = max(1.1 * corners[-1][0], 1e-3)
    steps = [widest * k / _POINTS for k in range(_POINTS + 1)]
    with picture(path) as figure:
        axes = figure.subplots()
        axes.plot(steps, [_delta(curve, epsilon) for epsilon in steps])
        axes.plot(*zip(*corners, strict=True), "o", color=COLOURS[1], markersize=4, clip_on=False)
        axes.set(xlabel="ε", ylabel="δ", title=literal(f"privacy on {curve.graph}"), xlim=(0, widest), ylim=(0, None))


def _delta(curve: PrivacyCurve, epsilon: float) -> float:
    """The highest of the lines, in doubles."""
    return max(
        float(a) - math.exp(min(700.0, epsilon * float(branch.length))) * float(b)
        for branch in curve.branches
        for a, b in branch.lines
    )


def plot_channel(channel: Channel, path: str | Path, title: str = "") -> None:
    """Draw a channel as a heat map: rows are inputs, columns are outputs; a small one shows its numbers.

    Raises:
        TooLarge: It has more than 400 inputs or outputs.
    """
    shape = len(channel.inputs), len(channel.outputs)
    if max(shape) > _MOST_DRAWN:
        raise TooLarge(f"a picture shows at most {_MOST_DRAWN} rows", given=channel, fix="draw a part of it")
    texts = channel.matrix().tolist() if max(shape) <= _MOST_WRITTEN else None
    plot_law(channel.floats(), channel.inputs, channel.outputs, path, title or f"{channel!r}", texts)


def plot_law(
    law: NDArray[np.float64],
    inputs: Sequence[Hashable],
    outputs: Sequence[Hashable],
    path: str | Path,
    title: str,
    entries: Sequence[Sequence[Fraction | float]] | None = None,
) -> None:
    """Draw p(output | input) as a heat map.

    Args:
        law: A row for each input, a column for each output.
        inputs: Their names.
        outputs: Their names.
        path: Where to.
        title: Above it.
        entries: What to write into the cells, if anything.
    """
    with picture(path, (5.6, 4.8)) as figure:
        axes = figure.subplots()
        image = axes.imshow(law, cmap=HEAT, vmin=0, interpolation="nearest", aspect="auto")
        bar = figure.colorbar(image, label="probability")
        bar.outline.set_visible(False)
        axes.set(xlabel="output", ylabel="input", title=literal(title))
        axes.grid(visible=False)
        for axis, labels in ((axes.xaxis, outputs), (axes.yaxis, inputs)):
            places = np.unique(np.linspace(0, len(labels) - 1, 9).astype(int)).tolist()
            axis.set_ticks(places, [literal(_short(labels[place])) for place in places])
        for row, line in enumerate(entries or ()):
            for column, entry in enumerate(line):
                dark = law[row, column] < law.max() * 0.6
                axes.text(column, row, _number(entry), ha="center", va="center", color="white" if dark else "black")


def _short(label: Hashable, most: int = _LONGEST_LABEL) -> str:
    text = str(label)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _number(entry: Fraction | float) -> str:
    text = str(entry)
    return text if isinstance(entry, Fraction) and len(text) <= 6 else f"{float(entry):.3g}"


def plot_simplex(hypers: Mapping[str, Hyper], path: str | Path, title: str = "") -> None:
    """Draw what readers may come to believe about three inputs: posteriors in the triangle of all distributions.

    A corner is certainty of one input, a disc is a posterior, the larger the likelier. A channel whose hull holds the
    posteriors of another tells at least as much wherever its own are linearly independent (FMM 2021, Lemma 11, Fig 1b).

    Args:
        hypers: A name for each; all about the same three inputs.
        path: Where to.
        title: Above it.

    Raises:
        BadParameter: There is none, or one is not about these three inputs.
    """
    inputs = next((hyper.inputs for hyper in hypers.values()), ())
    if len(inputs) != 3 or any(hyper.inputs != inputs for hyper in hypers.values()):
        raise BadParameter(
            "the triangle shows beliefs about three inputs, the same for all",
            given=[len(hyper.inputs) for hyper in hypers.values()],
            fix="restrict the channels to three inputs first",
        )
    with picture(path, (6.0, 5.2)) as figure:
        axes = figure.subplots()
        axes.set(aspect="equal", title=literal(title), xlim=(-0.15, 1.15), ylim=(-0.1, 1.0))
        axes.axis("off")
        _draw_triangle(axes, inputs)
        for place, (name, hyper) in enumerate(hypers.items()):
            colour = COLOURS[(place + 1) % len(COLOURS)]
            points = np.array(hyper.posteriors, dtype=np.float64) @ _CORNERS
            hull = np.array(_hull(points.tolist()))
            axes.fill(*hull.T, facecolor=(colour, 0.08), edgecolor=(colour, 0.6), linewidth=1)
            sizes = 20 + 160 * np.array(hyper.weights, dtype=np.float64)
            marker = _MARKERS[place % len(_MARKERS)]
            axes.scatter(*points.T, s=sizes, color=colour, marker=marker, label=literal(name), zorder=3, linewidths=0)
        axes.legend(loc="upper left")


def _draw_triangle(axes: Any, inputs: Sequence[Hashable]) -> None:
    axes.fill(*_CORNERS.T, facecolor="none", edgecolor=GREY, linewidth=1.2)
    for share in (0.25, 0.5, 0.75):  # where one input has this probability
        for corner in range(3):
            ends = [share * _CORNERS[corner] + (1 - share) * _CORNERS[other] for other in range(3) if other != corner]
            axes.plot(*np.array(ends).T, color=GREY, linewidth=0.6, alpha=0.35)
    centre = _CORNERS.mean(axis=0)
    for corner, label in zip(_CORNERS, inputs, strict=True):
        place = centre + (corner - centre) * 1.1
        axes.text(*place, literal(f"surely {_short(label)}"), ha="center", va="center")


def _hull(points: list[list[float]]) -> list[list[float]]:
    """The corners of the convex hull, in order (Andrew 1979)."""
    ordered = sorted(points)

    def chain(run: list[list[float]]) -> list[list[float]]:
        kept: list[list[float]] = []
        for x, y in run:
            while len(kept) > 1:
                (ax, ay), (bx, by) = kept[-2:]
                if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0:
                    break
                kept.pop()
            kept.append([x, y])
        return kept

    return chain(ordered)[:-1] + chain(ordered[::-1])[:-1] or ordered


def plot_burn_down(ledger: Ledger, path: str | Path, until: int | None = None) -> None:
    """Draw what was left of each budget over time; of more than eight, those of which least is left.

    Args:
        ledger: Its entries are read again from the first on.
        path: Where to.
        until: When the picture ends, in seconds since 1970; with the last entry if left out.

    Raises:
        BadParameter: No budget was granted yet.
    """
    from leastnoise.ledger import budget_histories

    found = budget_histories(ledger, until)
    if not found:
        raise BadParameter("there is no budget to draw", given=ledger, fix="grant one first: leastnoise budget grant")
    shown = sorted(found, key=lambda course: course.points[-1].left)[:_MOST_BUDGETS]
    with picture(path, (7.2, 3.8)) as figure:
        axes = figure.subplots()
        for course in found:
            if course in shown:
                times = [datetime.fromtimestamp(moment.time, UTC) for moment in course.points]
                left = [100 * moment.left for moment in course.points]
                axes.step(times, left, where="post", label=literal(_short(course.scope, _LONGEST_SCOPE)))
                axes.plot(times[-1], left[-1], "o", color=axes.lines[-1].get_color(), markersize=5, clip_on=False)
        more = "" if len(shown) == len(found) else f", {len(found) - len(shown)} more not shown"
        axes.set(ylabel="left of the budget in %", ylim=(0, 103), title=f"what is left of each budget{more}")
        dates = import_module("matplotlib.dates")
        axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(axes.xaxis.get_major_locator(), tz=UTC))
        figure.legend(loc="outside right upper")

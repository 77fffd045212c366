"""Pictures: how all of them look, readable on white and on black, and a release as bars with error bars or as words.

The same numbers give the same file. Only released numbers are drawn, rounded.

The background is transparent, text and axes are a middle grey, and each colour stands out by a contrast of at least
3 : 1 both on white and on the usual dark pages. matplotlib (the extra `plots`) is imported when something is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leastnoise.errors import BadParameter, MissingPackage
from leastnoise.model import number, printable
from leastnoise.release.plan import percent
from leastnoise.release.tables import measure_names

if TYPE_CHECKING:
    from leastnoise.release.result import Release

__all__ = [
    "COLOURS",
    "GREY",
    "HEAT",
    "KINDS",
    "draw_release",
    "literal",
    "make_picture_folder",
    "picture",
    "read_picture_path",
]

GREY = "#7d8590"
COLOURS = ("#2f81c7", "#d9661f", "#23977f", "#a05fc9", "#c9466b", "#96812a", "#3b93a8", "#8d7364")
HEAT = "viridis"
KINDS = (".png", ".svg", ".pdf")
_MOST_BARS = 60
_MOST_LINES, _LONGEST_CHOICE = 20, 40

_TEXT = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color", "grid.color")
_STYLE = {
    **dict.fromkeys(_TEXT, GREY),
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.facecolor": "none",
    "font.family": "sans-serif",
    "font.size": 9.5,
    "grid.alpha": 0.25,
    "legend.fontsize": "small",
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "savefig.dpi": 144,
    "savefig.facecolor": "none",
    "svg.fonttype": "none",  # text stays text: small files, and a reader can search them
    "svg.hashsalt": "leastnoise",
}
_UNDATED = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def read_picture_path(path: str | Path) -> Path:
    """The path of a file that can be drawn into.

    Raises:
        BadParameter: Its name has another suffix, or its folder does not exist.
    """
    found = Path(path)
    if found.suffix.lower() not in KINDS:
        raise BadParameter("a plot is a .png, .svg or .pdf file", given=found.name, fix="name it picture.svg, say")
    if not found.absolute().parent.is_dir():
        raise BadParameter(
            "the plot can't be written: there is no such folder", given=str(found.parent), fix="make it first"
        )
    return found


def make_picture_folder(path: str | Path) -> Path:
    """A folder to draw into, made if it is not there.

    Raises:
        BadParameter: It can't be made.
    """
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadParameter("the folder can't be made", given=str(folder), fix=f"{error.strerror}") from None
    return folder


@contextmanager
def picture(path: str | Path | None, size: tuple[float, float] = (6.4, 4.0)) -> Iterator[Any]:
    """An empty matplotlib figure to draw into; at the end it is written to `path`, if there is one.

    Args:
        path: A .png, .svg or .pdf file.
        size: Width and height in inches.

    Raises:
        BadParameter: The file can't be written.
        MissingPackage: matplotlib is not installed.
    """
    target = None if path is None else read_picture_path(path)
    try:
        matplotlib, figures = import_module("matplotlib"), import_module("matplotlib.figure")
    except ImportError:
        raise MissingPackage("drawing needs matplotlib", fix='pip install "leastnoise[plots]"') from None
    colours = matplotlib.rcsetup.cycler(color=COLOURS)
    with matplotlib.rc_context({**_STYLE, "axes.prop_cycle": colours}):
        figure = _shown_in_notebooks(figures.Figure)(figsize=size, layout="constrained")
        yield figure
        if target is not None:
            try:
                figure.savefig(target, metadata=_UNDATED.get(target.suffix.lower()))
            except OSError as error:
                raise BadParameter("the plot can't be written", given=str(target), fix=f"{error.strerror}") from None


@cache
def _shown_in_notebooks(figure: Any) -> Any:
    """The class of figures that a notebook shows by itself, without a command that selects a backend."""

    def png(self: Any) -> bytes:
        file = BytesIO()
        self.savefig(file, format="png")
        return file.getvalue()

    return type("Figure", (figure,), {"_repr_png_": png})


def literal(text: object) -> str:
    r"""Text on one line that matplotlib does not read as mathematics.

    >>> print(literal("$5 to $10"))
    \$5 to \$10
    """
    return printable(text).replace("$", r"\$")


def draw_release(release: Release, path: str | Path | None = None) -> Any:
    """Draw the values with their error bars, or a choice in words; returns the figure, and writes it to a path.

    Raises:
        BadParameter: The file can't be written.
        MissingPackage: matplotlib is not installed.
    """
    table = release.table
    value, low, high = measure_names(table.keys)
    measured = table[value] if value in table.columns else ()
    if not measured or any(isinstance(x, bool) or not isinstance(x, int | float) for x in measured):
        return _draw_choice(release, path)
    shown = min(len(table), _MOST_BARS)
    labels = [" · ".join(number(row[i]) for i in range(len(table.keys))) or "value" for row in list(table)[:shown]]
    values = [float(x) for x in table[value][:shown]]
    bars = None
    if low in table.columns:
        below = [max(v - float(x), 0.0) for v, x in zip(values, table[low], strict=False)]
        above = [max(float(x) - v, 0.0) for v, x in zip(values, table[high], strict=False)]
        reach = 10 * max(map(abs, values), default=0.0) or 1.0  # an end without a limit leaves the picture
        bars = [[min(far, reach) for far in side] for side in (below, above)]
    places = range(shown)
    with picture(path, (7.2, max(2.0, 0.9 + 0.24 * shown))) as figure:
        axes = figure.subplots()
        axes.barh(places, values, xerr=bars, color=COLOURS[0], ecolor=GREY, capsize=3, height=0.7)
        axes.set_yticks(places, [literal(label) for label in labels])
        axes.invert_yaxis()
        axes.set_title(literal(release.plan.question))
        meaning = f"; error bars hold the true value with {percent(release.confidence)} probability" if bars else ""
        more = "" if shown == len(table) else f"; {len(table) - shown} more not shown"
        axes.set_xlabel(literal(f"cost {release.cost}{meaning}{more}"))
        axes.grid(visible=False, axis="y")
    return figure


def _draw_choice(release: Release, path: str | Path | None) -> Any:
    """What was decided or chosen, in large letters, the best first; it is one of the options and has no error bars."""
    table = release.table
    chosen = [" · ".join(_said(cell) for cell in row) for row in list(table)[:_MOST_LINES]]
    more = "" if len(chosen) == len(table) else f"; {len(table) - len(chosen)} more not shown"
    large = len(chosen) == 1
    with picture(path, (7.2, 1.9 if large else 0.9 + 0.3 * len(chosen))) as figure:
        axes = figure.subplots()
        axes.set_title(literal(release.plan.question))
        axes.set_xlabel("\n".join(map(literal, [f"cost {release.cost}{more}", *release.plan.notes[:1]])))
        axes.set(xlim=(0, 1), ylim=(len(chosen), 0), xticks=[], yticks=[])
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        for place, text in enumerate(chosen):
            axes.text(
                0.5,
                place + 0.5,
                literal(text if len(text) <= _LONGEST_CHOICE else f"{text[:_LONGEST_CHOICE]}…"),
                ha="center",
                va="center",
                color=COLOURS[0],
                size=24 if large else 12,
            )
    return figure


def _said(cell: object) -> str:
    return {True: "yes", False: "no"}[cell] if isinstance(cell, bool) else number(cell)

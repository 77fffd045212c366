"""How every picture of the project looks: readable on white and on black, the same file for the same numbers.

The background is transparent, text and axes are a middle grey, and each colour stands out by a contrast of at least
3 : 1 both on white and on the usual dark pages. matplotlib (the extra `plots`) is imported when something is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from leastnoise.errors import BadParameter, MissingPackage
from leastnoise.model.notebook import printable

__all__ = ["COLOURS", "GREY", "HEAT", "KINDS", "literal", "make_picture_folder", "picture", "read_picture_path"]

GREY = "#7d8590"
COLOURS = ("#2f81c7", "#d9661f", "#23977f", "#a05fc9", "#c9466b", "#96812a", "#3b93a8", "#8d7364")
HEAT = "viridis"
KINDS = (".png", ".svg", ".pdf")

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
        figure = figures.Figure(figsize=size, layout="constrained")
        yield figure
        if target is not None:
            try:
                figure.savefig(target, metadata=_UNDATED.get(target.suffix.lower()))
            except OSError as error:
                raise BadParameter("the plot can't be written", given=str(target), fix=f"{error.strerror}") from None


def literal(text: object) -> str:
    r"""Text on one line that matplotlib does not read as mathematics.

    >>> print(literal("$5 to $10"))
    \$5 to \$10
    """
    return printable(text).replace("$", r"\$")

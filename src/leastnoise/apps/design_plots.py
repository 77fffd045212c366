"""Pictures of designs and comparisons, with matplotlib (the extra `plots`) or in the terminal; rounded numbers only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leastnoise.designer.comparison import LOWER_BOUND, OPTIMAL
from leastnoise.errors import TooLarge

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from leastnoise.designer.comparison import Comparison
    from leastnoise.designer.result import Design

__all__ = ["heat_map_text", "law_of", "plot_design", "plot_frontier", "plot_places"]

_SHADES = " ·░▒▓█"
_MOST_SHOWN = 48
_MOST_DRAWN = 400
_MOST_NAMED = 40  # places whose names are written
_MOST_PLACED = 5000


def law_of(design: Design, most: int = _MOST_DRAWN) -> NDArray[np.float64]:
    """p(y|x) in doubles, a row for each node and a column for each output.

    Raises:
        TooLarge: There are too many nodes or outputs for a picture.
    """
    nodes, outputs = design.problem.graph.size, design.problem.outputs
    if nodes is None or nodes > most or (outputs is not None and len(outputs) > most):
        raise TooLarge(
            f"a picture shows at most {most} nodes", given=design.problem.graph.name, fix="use a smaller graph"
        )
    if design.channel is not None:
        return design.channel.floats()
    answers, pmf = design.problem.answers, design.mechanism.pmf
    return np.array([[float(pmf(output, node)) for output in answers] for node in design.problem.graph.nodes])


def heat_map_text(design: Design) -> str | None:
    """The law in shades, a line for each node; None for too many of them."""
    try:
        law = law_of(design, _MOST_SHOWN)
    except TooLarge:
        return None
    shades = np.ceil(law / law.max() * (len(_SHADES) - 1)).astype(int)
    names = [str(node)[:12] for node in design.problem.graph.nodes]
    width = max(map(len, names))
    return "\n".join(
        f"{name.rjust(width)} {''.join(2 * _SHADES[shade] for shade in row)}"
        for name, row in zip(names, shades, strict=True)
    )


def plot_design(design: Design, path: str | Path) -> None:
    """Draw the law as a heat map into a .png, .svg or .pdf file: rows are inputs, columns are outputs."""
    from leastnoise.apps.plots import plot_law

    problem = design.problem
    plot_law(law_of(design), problem.graph.nodes, problem.answers, path, f"{problem.graph.name}, {problem.privacy}")


def plot_places(design: Design, places: Mapping[str, tuple[Any, Any]], path: str | Path) -> None:
    """Draw places by longitude and latitude: the colour is the expected loss there, the size how likely a place is."""
    from leastnoise.release.pictures import literal, picture

    problem = design.problem
    law, names = law_of(design, _MOST_PLACED), list(problem.graph.nodes)
    table = np.array([[float(cost) for cost in row] for row in problem.loss_table.rows])
    losses = (law * table.T).sum(axis=1)
    weights = np.array([float(weight) for weight in problem.weights])
    unit = ", km" if problem.is_distance_loss else ""
    points = np.array([[float(part) for part in places[str(name)]] for name in names])
    with picture(path, (6.4, 5.4)) as figure:
        axes = figure.subplots()
        sizes = (20 + 380 * weights / weights.max()) * min(1, _MOST_NAMED / len(names)) ** 0.5
        drawn = axes.scatter(
            points[:, 1], points[:, 0], s=sizes, c=losses, cmap="viridis_r", edgecolor="white", zorder=2
        )
        if len(names) <= _MOST_NAMED:
            for name, (latitude, longitude), size in zip(names, points, sizes, strict=True):
                shift = (0, 3 + size**0.5 / 2)
                axes.annotate(literal(str(name)), (longitude, latitude), shift, textcoords="offset points", ha="center")
        axes.set(xlabel="longitude", ylabel="latitude", title=literal(f"{len(names)} places, {problem.privacy} per km"))
        axes.set_aspect(1 / max(0.1, float(np.cos(np.radians(points[:, 0].mean())))), adjustable="datalim")
        axes.margins(0.12)
        figure.colorbar(drawn, label=literal(f"expected {problem.loss_name} there{unit}"))


def plot_frontier(comparison: Comparison, path: str | Path) -> None:
    """Draw the loss of each mechanism against ε into a .png, .svg or .pdf file."""
    from leastnoise.release.pictures import GREY, literal, picture

    bounds: dict[str, dict[str, Any]] = {  # the optimum is wide and pale: a mechanism that reaches it stays in sight
        OPTIMAL: {"color": GREY, "linewidth": 7, "alpha": 0.4, "solid_capstyle": "butt", "zorder": 1},
        LOWER_BOUND: {"color": GREY, "linestyle": ":", "zorder": 3},
    }
    with picture(path) as figure:
        axes = figure.subplots()
        for name, points in comparison.frontier.items():
            axes.plot(*zip(*points, strict=True), label=literal(name), **bounds.get(name, {"marker": "."}))
        axes.set(xlabel="ε", ylabel=literal(f"expected {comparison.loss}"), title=literal(comparison.graph))
        axes.set(xscale="log", yscale="log")
        for axis in (axes.xaxis, axes.yaxis):  # 0.1, 0.2, 0.5, 1, … rather than powers of ten
            axis.get_major_locator().set_params(subs=(1, 2, 5))
            axis.set_major_formatter("{x:g}")
            axis.set_minor_formatter("")
        axes.legend()

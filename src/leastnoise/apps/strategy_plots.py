"""Pictures of publications: a strategy as a heat map, and the error of each table, planned together or not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.mechanisms.strategy import MarginalsMechanism, Strategy
from leastnoise.release.pictures import COLOURS, GREY, HEAT, literal, picture
from leastnoise.release.plan import ReleasePlan

__all__ = ["plot_strategy", "plot_table_errors"]

_MOST_TABLES = 60
_MOST_POINTS = 512


def plot_strategy(strategy: Strategy, path: str | Path | None = None) -> Any:
    """Draw what a strategy measures: one row for each measurement, one column for each cell.

    Args:
        strategy: Made by `plan_strategy` or `plan_pure_strategy` for one workload.
        path: A .png, .svg or .pdf file.

    Returns:
        The matplotlib figure.
    """
    if not isinstance(strategy, Strategy) or len(strategy.parts) != 1:
        raise BadParameter("only the strategy of one workload can be drawn", fix="pass plan_strategy(PrefixSums(64))")
    (part,) = strategy.parts
    matrix = np.abs(part.strategy.doubles())
    scaled = _coarse(matrix / matrix.max())
    with picture(path, (5.6, 4.6)) as figure:
        axes = figure.subplots()
        # the root spreads small entries over more colours
        place = (-0.5, matrix.shape[1] - 0.5, matrix.shape[0] - 0.5, -0.5)
        image = axes.imshow(
            np.sqrt(scaled), cmap=HEAT, aspect="auto", interpolation="nearest", vmin=0, vmax=1, extent=place
        )
        axes.set_title(literal(f"{part.workload}: {strategy.name}"))
        axes.set_xlabel("cell")
        axes.set_ylabel("measurement")
        axes.grid(visible=False)
        bar = figure.colorbar(image, ax=axes, ticks=[0, 0.5, 1])
        bar.ax.set_yticklabels(["0", "1/4", "1"])
        bar.set_label("weight, relative to the largest")
        bar.outline.set_edgecolor(GREY)
    return figure


def _coarse(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest entry of each block, where there are more entries than a picture has points."""
    for axis in (0, 1):
        width = -(-matrix.shape[axis] // _MOST_POINTS)
        matrix = np.maximum.reduceat(matrix, np.arange(0, matrix.shape[axis], width), axis=axis)
    return matrix


def plot_table_errors(plan: ReleasePlan, path: str | Path | None = None, columns: Sequence[str] = ()) -> Any:
    """Draw the root mean squared error of each table of a plan beside that of equal noise on each table.

    Args:
        plan: Of `Dataset.tables`, with Gaussian noise.
        path: A .png, .svg or .pdf file.
        columns: What the columns are called, in their order; numbers if left out.

    Returns:
        The matplotlib figure.
    """
    mechanism = plan.mechanism
    if not isinstance(mechanism, MarginalsMechanism):
        raise BadParameter("only tables with Gaussian noise are drawn", given=plan.question, fix="pass a plan in rho")
    after = [float(error) ** 0.5 for error in mechanism.squared_errors()]
    tables = mechanism.strategy.tables
    before = (len(tables) * (mechanism.groups * mechanism.rows) ** 2 / float(mechanism.mu_squared)) ** 0.5
    shown = min(len(tables), _MOST_TABLES)
    called = list(columns) or [str(i + 1) for i in range(len(mechanism.strategy.sizes))]
    if len(called) != len(mechanism.strategy.sizes):
        raise BadParameter("there must be one name per column", given=len(called), fix="leave the names out")
    names = [" × ".join(str(called[i]) for i in table) or "all" for table in tables[:shown]]
    places = np.arange(shown)
    with picture(path, (7.2, max(2.2, 1.1 + 0.22 * shown))) as figure:
        axes = figure.subplots()
        axes.barh(places - 0.2, [before] * shown, height=0.38, color=GREY, label="equal noise on each table")
        axes.barh(places + 0.2, after[:shown], height=0.38, color=COLOURS[0], label="planned together")
        axes.set_yticks(places, [literal(name) for name in names])
        axes.invert_yaxis()
        axes.set_title(literal(plan.question))
        more = "" if shown == len(tables) else f"; {len(tables) - shown} more tables not shown"
        axes.set_xlabel(literal(f"root mean squared error of a cell{more}"))
        axes.grid(visible=False, axis="y")
        figure.legend(loc="outside lower center", ncols=2)
    return figure

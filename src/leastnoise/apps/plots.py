"""Pictures, for those who installed matplotlib (the extra `plots`). They show rounded numbers and decide nothing."""

from __future__ import annotations

import math
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from leastnoise.errors import BadParameter, MissingPackage

if TYPE_CHECKING:
    from leastnoise.check import PrivacyCurve

__all__ = ["plot_privacy_curve"]

_POINTS = 400


def plot_privacy_curve(curve: PrivacyCurve, path: str | Path) -> None:
    """Draw δ(ε) with its corners into a .png, .svg or .pdf file."""
    path = Path(path)
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise BadParameter("a plot is a .png, .svg or .pdf file", given=path.name, fix="name it for example curve.svg")
    try:
        figures = import_module("matplotlib.figure")
    except ImportError:
        raise MissingPackage("drawing needs matplotlib", fix='pip install "leastnoise[plots]"') from None
    corners = [(float(epsilon), float(delta)) for epsilon, delta in curve.points()]
    widest = max(1.1 * corners[-1][0], 1e-3)
    steps = [widest * k / _POINTS for k in range(_POINTS + 1)]
    figure = figures.Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    axes.plot(steps, [_delta(curve, epsilon) for epsilon in steps])
    axes.plot(*zip(*corners, strict=True), ".")
    axes.set(xlabel="ε", ylabel="δ", title=f"privacy on {curve.graph}", xlim=(0, widest), ylim=(0, None))
    axes.grid(alpha=0.3)
    try:
        figure.savefig(path)
    except OSError as error:
        raise BadParameter("the plot can't be written", given=str(path), fix=f"{error.strerror}") from None


def _delta(curve: PrivacyCurve, epsilon: float) -> float:
    """The highest of the lines, in doubles."""
    return max(
        float(a) - math.exp(min(700.0, epsilon * float(branch.length))) * float(b)
        for branch in curve.branches
        for a, b in branch.lines
    )

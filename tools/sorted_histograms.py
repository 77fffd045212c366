"""Recompute docs/theory/sorted_histograms.md's table and picture: `python tools/sorted_histograms.py`.

How far is the exponential mechanism from the optimum on sorted (N, T)-histograms (Aldà and Simon 2017, Example 2)?
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leastnoise.designer import design
from leastnoise.model.graphs import DatasetGraph, sorted_histograms
from leastnoise.release.pictures import GREY, picture

PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "sorted_histograms.svg"
EPSILON = 1
SIZES = {3: (3, 6, 10, 15, 20, 25, 30), None: (4, 6, 8, 10, 12, 13)}  # T, or as many types as records


class Row(NamedTuple):
    """Expected distances under the uniform prior, and the ε that p ∝ e^(−ε·d) really has."""

    records: int
    types: int
    nodes: int
    optimum: float
    calibrated: float
    textbook: float
    bare: float
    bare_epsilon: float


def row(records: int, types: int, epsilon: float = EPSILON) -> Row:
    """All numbers for one graph."""
    graph = sorted_histograms(records, types)
    distances = np.asarray(graph.distances(), dtype=np.float64)
    rate = _largest(lambda c: _true_epsilon(graph, _law(distances, c)) <= epsilon, epsilon / 2, epsilon)
    bare = _law(distances, epsilon)
    return Row(
        records,
        types,
        len(distances),
        float(design(graph, str(epsilon)).loss),
        _loss(distances, _law(distances, rate)),
        _loss(distances, _law(distances, epsilon / 2)),
        _loss(distances, bare),
        _true_epsilon(graph, bare),
    )


def table() -> Iterator[Row]:
    """All rows of the page."""
    for types, sizes in SIZES.items():
        yield from (row(records, records if types is None else types) for records in sizes)


def _law(distances: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
    weights = np.exp(-rate * distances)
    law: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return law


def _loss(distances: NDArray[np.float64], law: NDArray[np.float64]) -> float:
    return float((law * distances).sum() / len(law))


def _true_epsilon(graph: DatasetGraph, law: NDArray[np.float64]) -> float:
    one, two = graph.edges().T
    return float(np.abs(np.log(law[one] / law[two])).max())


def _largest(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The largest rate between two for which it holds, by bisection."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def markdown(rows: list[Row]) -> str:
    """The table of the page."""
    head = (
        "| N | T | nodes | optimum | exponential, calibrated | exponential, ε/2 | e^(−d), not ε-private | its true ε |"
    )
    lines = [head, "|" + " ---: |" * 8]
    lines += [
        f"| {one.records} | {one.types} | {one.nodes} | {one.optimum:.6f} | {one.calibrated:.6f} "
        f"(× {one.calibrated / one.optimum:.3f}) | {one.textbook:.6f} (× {one.textbook / one.optimum:.3f}) "
        f"| {one.bare:.6f} (× {one.bare / one.optimum:.3f}) | {one.bare_epsilon:.4f} |"
        for one in rows
    ]
    return "\n".join(lines)


def draw(rows: list[Row], path: Path = PICTURE) -> None:
    """Ratios to the optimum against N, for three types and for as many types as records."""
    path.parent.mkdir(exist_ok=True)
    with picture(path, (8.0, 3.6)) as figure:
        for axes, few in zip(figure.subplots(1, 2, sharey=True), (True, False), strict=True):
            chosen = [one for one in rows if (one.types == 3) == few]
            for name, losses in (
                ("exponential, ε/2", [one.textbook for one in chosen]),
                ("exponential, calibrated", [one.calibrated for one in chosen]),
                ("e^(−ε·d), not ε-private", [one.bare for one in chosen]),
            ):
                shares = [loss / one.optimum for loss, one in zip(losses, chosen, strict=True)]
                axes.plot([one.records for one in chosen], shares, ".-", label=name)
            axes.axhline(1, color=GREY, linewidth=1)
            axes.set(xlabel="records N", title="T = 3 types" if few else "T = N types")
            if few:
                axes.set_ylabel("expected distance / optimum")
                axes.legend()


if __name__ == "__main__":
    found = list(table())
    draw(found)
    sys.stdout.write(markdown(found) + "\n")

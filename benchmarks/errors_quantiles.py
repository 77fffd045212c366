"""How far off several private quantiles are: the mean rank error of what the planner picks, and of its alternatives.

The rank error of an answer r to the level q of n rows is the distance from q·n to the ranks of r: max(0, L − q·n,
G − (1 − q)·n), with L rows below r and G above it. So an answer that many rows share is right if it is the quantile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from benchmarks.errors import ErrorRow
from leastnoise.exact import SeededSource
from leastnoise.mechanisms.rank import SeveralQuantiles

__all__ = ["NOTES", "ROWS", "SHAPES", "TOP", "Floats", "quantile_row", "rank_errors", "run"]

NOTES = ("The rows of several levels that are chosen or joint were measured after the others, with the same seeds.",)

ROWS, TOP = 1000, 200.0
Floats = NDArray[np.float64]

SHAPES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "uniform": lambda dice, n: dice.uniform(0, TOP, n),
    "normal": lambda dice, n: dice.normal(TOP / 2, TOP / 10, n),
    "lognormal": lambda dice, n: dice.lognormal(3, 0.8, n),
    "two peaks": lambda dice, n: np.where(dice.random(n) < 0.5, dice.normal(50, 8, n), dice.normal(150, 8, n)),
    "spikes": lambda dice, n: np.where(
        dice.random(n) < 0.6, dice.choice([20.0, 60.0, 90.0], n), dice.uniform(0, TOP, n)
    ),
}
"""Numbers between 0 and 200: smooth, narrow, skewed, in two heaps, and with values that many share."""


def rank_errors(answers: Floats, values: Floats, levels: Sequence[Fraction]) -> Floats:
    """The distance from each level's rank to the ranks of its answer."""
    ordered, wanted = np.sort(values), np.array([float(level) for level in levels]) * len(values)
    below = np.searchsorted(ordered, answers, side="left")
    above = np.searchsorted(ordered, answers, side="right")
    far: Floats = np.maximum(np.maximum(below - wanted, wanted - above), 0.0)
    return far


def several_rows(
    tables: int, draws: int, methods: Sequence[str | None], counts: Sequence[int] = (9, 19)
) -> Iterator[ErrorRow]:
    """Deciles and twentieths at ε = 1, of whole numbers on 201 points and of any numbers on a fine lattice."""
    bounds = {(9, True): 4.7, (19, True): 6.5, (9, False): 5.6, (19, False): 8.3}
    for (count, whole), bound in bounds.items():
        if count not in counts:
            continue
        levels = [Fraction(k, count + 1) for k in range(1, count + 1)]
        for shape, make in SHAPES.items():
            if shape == "spikes" and not whole:
                continue  # where values repeat, the lattice is theirs
            for method in methods:
                asked = SeveralQuantiles(1, levels, 0, 200, step=1 if whole else None, method=method)
                dice, found = np.random.default_rng(1), []
                for table in range(tables):
                    values = np.clip(make(dice, ROWS), 0, TOP)
                    values = np.rint(values) if whole else values
                    drawn = asked.draw(values, size=draws, source=SeededSource(table))
                    found.append(rank_errors(drawn, values, levels).mean())
                job = (
                    f"{count} levels of {ROWS} {'whole numbers on 201 points' if whole else 'numbers'}, {shape}, ε = 1"
                )
                yield quantile_row(job, method or "chosen", found, bound if method is None else None)


def run() -> list[ErrorRow]:
    """What the planner picks, and every alternative."""
    return list(several_rows(20, 10, (None, "joint", "recursive", "permute and flip", "separate")))


def quantile_row(job: str, method: str, errors: Sequence[float], bound: float | None) -> ErrorRow:
    spread = float(np.std(errors, ddof=1)) / len(errors) ** 0.5 if len(errors) > 1 else 0.0
    return ErrorRow(job, method, float(np.mean(errors)), spread, bound)

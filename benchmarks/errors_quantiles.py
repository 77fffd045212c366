"""How far off private quantiles are: the mean rank error of what the planner picks, of its alternatives and of OpenDP.

The rank error of an answer r to the level q of n rows is the distance from q·n to the ranks of r: max(0, L − q·n,
G − (1 − q)·n), with L rows below r and G above it. So an answer that many rows share is right if it is the quantile.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.errors import ErrorRow, environment
from leastnoise.exact import SeededSource
from leastnoise.mechanisms.rank import Quantile, SeveralQuantiles

__all__ = ["SHAPES", "quantile_errors", "rank_errors", "run"]

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
    return np.maximum(np.maximum(below - wanted, wanted - above), 0.0)


def several_rows(tables: int, draws: int, methods: Sequence[str | None]) -> Iterator[ErrorRow]:
    """Deciles and twentieths at ε = 1, of whole numbers on 201 points and of any numbers on a fine lattice."""
    bounds = {(9, True): 4.7, (19, True): 6.5, (9, False): 5.6, (19, False): 8.3}
    for (count, whole), bound in bounds.items():
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
                yield _row(job, method or "chosen", found, bound if method is None else None)


def median_rows(tables: int, draws: int, opendp: str | None = None) -> Iterator[ErrorRow]:
    """One median at ε = 0.1 on a public grid of 2001 points, next to OpenDP's on the same numbers.

    Args:
        tables: How many tables of each shape.
        draws: How many medians of each.
        opendp: The interpreter of an environment with OpenDP 0.16; without one the peer is left out.
    """
    grid = np.linspace(0, TOP, 2001)
    for shape, make in SHAPES.items():
        dice = np.random.default_rng(2)
        samples = [np.clip(make(dice, ROWS), 0, TOP) for _ in range(tables)]
        job, half = f"median of {ROWS} numbers on 2001 points, {shape}, ε = 0.1", [Fraction(1, 2)]
        peer = None
        if opendp is not None:
            answers = _opendp(opendp, grid, samples, draws)
            errors = [rank_errors(np.array(a), v, half).mean() for a, v in zip(answers, samples, strict=True)]
            row = _row(job, "OpenDP 0.16", errors, None)
            peer = row.error + 3 * row.standard_error
            yield row
        for method, bound in (("permute and flip", peer), ("exponential", None)):
            asked = Quantile("1/10", grid, method=method)
            drawn = [asked.draw(v, size=draws, source=SeededSource(i)) for i, v in enumerate(samples)]
            errors = [rank_errors(a, v, half).mean() for a, v in zip(drawn, samples, strict=True)]
            yield _row(job, "chosen" if method == "permute and flip" else method, errors, bound)


def run() -> list[ErrorRow]:
    """All rows, with OpenDP where it installs."""
    return quantile_errors(environment("opendp==0.16.0"))


def quantile_errors(opendp: str | None = None, tables: int = 20, draws: int = 10) -> list[ErrorRow]:
    """All rows: what the planner picks, every alternative, and the peer where its interpreter is given."""
    methods = (None, "joint", "recursive", "permute and flip", "separate")
    return [*several_rows(tables, draws, methods), *median_rows(tables, 20 * draws, opendp)]


def _row(job: str, method: str, errors: Sequence[float], bound: float | None) -> ErrorRow:
    spread = float(np.std(errors, ddof=1)) / len(errors) ** 0.5 if len(errors) > 1 else 0.0
    return ErrorRow(job, method, float(np.mean(errors)), spread, bound)


_PEER = """
import json, sys
import opendp.prelude as dp
dp.enable_features("contrib")
asked = json.load(sys.stdin)
space = dp.vector_domain(dp.atom_domain(T="f64", nan=False)), dp.symmetric_distance()
def measure(scale):
    return dp.m.make_private_quantile(*space, dp.max_divergence(), candidates=asked["grid"], alpha=0.5, scale=scale)
median = dp.binary_search_chain(measure, d_in=1, d_out=asked["epsilon"])
json.dump([[median(values) for _ in range(asked["draws"])] for values in asked["tables"]], sys.stdout)
"""


def _opendp(interpreter: str, grid: Floats, tables: Sequence[Floats], draws: int) -> Any:
    """OpenDP's medians, from its own environment."""
    given = {"grid": grid.tolist(), "tables": [t.tolist() for t in tables], "draws": draws, "epsilon": 0.1}
    done = subprocess.run(
        [interpreter, "-c", _PEER], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)

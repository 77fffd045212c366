"""How far off one private median is, beside OpenDP's on the same numbers in the same run."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.errors import ErrorRow, environment
from benchmarks.errors_quantiles import ROWS, SHAPES, TOP, Floats, quantile_row, rank_errors
from leastnoise.exact import SeededSource
from leastnoise.mechanisms.rank import Quantile

__all__ = ["NOTES", "run"]

TABLES, DRAWS = 60, 400
TIED: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "whole": lambda dice, n: np.rint(dice.normal(TOP / 2, TOP / 6, n)),
    "rounded incomes": lambda dice, n: _rounded(dice, dice.lognormal(4, 0.6, n)),
}
"""Numbers with ties: at every tenth point as many, and 60 % at every hundredth."""
NOTES = (
    f"Every row is {TABLES} tables and {DRAWS} medians of each, the same tables for all. Standard errors are those of "
    "the tables' means, most of which the methods have in common. Where no two numbers are equal, what is chosen and "
    "OpenDP's method have the same law on these grids, and their rows differ by chance. Whole numbers lie at every "
    "tenth point; of rounded incomes 60 % lie at every hundredth.",
)


def _rounded(dice: np.random.Generator, values: Floats) -> Floats:
    """Six of ten of them to tens."""
    return np.where(dice.random(len(values)) < 0.6, np.round(values, -1), values)


def run() -> list[ErrorRow]:
    """All rows, with OpenDP where it installs."""
    return list(median_rows(TABLES, DRAWS, environment("opendp==0.16.0")))


def median_rows(tables: int, draws: int, opendp: str | None = None) -> Iterator[ErrorRow]:
    """One median at ε = 0.1 on a public grid of 2001 points, next to OpenDP's on the same numbers.

    Args:
        tables: How many tables of each shape.
        draws: How many medians of each.
        opendp: The interpreter of an environment with OpenDP 0.16; without one the peer is left out.
    """
    grid = np.linspace(0, TOP, 2001)
    for shape, make in {**SHAPES, **TIED}.items():
        dice = np.random.default_rng(2)
        samples = [np.clip(make(dice, ROWS), 0, TOP) for _ in range(tables)]
        job, half = f"median of {ROWS} numbers on 2001 points, {shape}, ε = 0.1", [Fraction(1, 2)]
        peer = None
        if opendp is not None:
            answers = _opendp(opendp, grid, samples, draws)
            errors = [rank_errors(np.array(a), v, half).mean() for a, v in zip(answers, samples, strict=True)]
            row = quantile_row(job, "OpenDP 0.16", errors, None)
            peer = row.error + 3 * row.standard_error
            yield row
        for method, bound in (("permute and flip", peer), ("exponential", None)):
            asked = Quantile("1/10", grid, method=method)
            drawn = [asked.draw(v, size=draws, source=SeededSource(i)) for i, v in enumerate(samples)]
            errors = [rank_errors(a, v, half).mean() for a, v in zip(drawn, samples, strict=True)]
            yield quantile_row(job, "chosen" if method == "permute and flip" else method, errors, bound)


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

"""Errors of whole publications at equal privacy: ours, what others would publish, and what nobody beats.

Each row is a job, who does it, the root mean squared error of an answer, the standard error of that number (zero where
it is computed and not simulated), and the proven bound for Gaussian noise with unbiased linear answers where there is
one. OpenDP, jax-privacy and mbi run in environments of their own; where one can't be installed its rows are left out.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import prod, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular, toeplitz
from scipy.optimize import minimize

from benchmarks.errors import CHOSEN, ErrorRow, environment, peer_answers
from benchmarks.several_cells import table_bound, workload_bound
from leastnoise.mechanisms.strategy import (
    PrefixSums,
    PureMarginalsMechanism,
    PureStrategyMechanism,
    Ranges,
    RunningTotals,
    plan_marginals,
    plan_pure_strategy,
    plan_running,
    plan_strategy,
    shared_price,
)
from leastnoise.mechanisms.strategy.pure_planning import pure_alternatives
from leastnoise.model.linear_workloads import LinearWorkload

__all__ = ["NOTES", "rows"]

NOTES = (
    'Rows marked "in house" are made here because no package of the method can be installed.',
    "OpenDP's contingency tables and mbi fit a distribution, so no cell is negative: their answers are not unbiased.",
    "With several cells per unit the bound is not known to be attained: the best is between it and what is chosen.",
    "The rows of tables, of several cells per unit, of p-identity and of what is chosen at ε = 1 are from later runs.",
)

ADULT = (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2)
_DRAWS = 200
_MOST_WRITTEN = 1024
_STARTS = 5
_TREE = """
import sys
import numpy as np
import opendp.prelude as dp

dp.enable_features("contrib")
cells, branching, draws = map(int, sys.argv[1:])
space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
tree = dp.t.make_b_ary_tree(*space, leaf_count=cells, branching_factor=branching)
scale = dp.binary_search_param(lambda s: tree >> dp.m.then_laplace(scale=s), d_in=1, d_out=1.0)
release = tree >> dp.m.then_laplace(scale=scale) >> dp.t.make_consistent_b_ary_tree(branching_factor=branching)
for _ in range(draws):
    sums = np.concatenate([[0], np.cumsum(np.array(release([10] * cells), dtype=float)[:cells] - 10)])
    first, last = np.triu_indices(cells + 1, 1)
    print(np.mean(sums[1:] ** 2), np.mean((sums[last] - sums[first]) ** 2))
"""

_JAX = """
import json
import jax

jax.config.update("jax_enable_x64", True)
import numpy as np
from jax_privacy.matrix_factorization import dense, toeplitz

def error(workload, strategy):
    strategy = np.asarray(strategy)
    solved = np.linalg.solve(strategy.T, workload.T)
    return float(np.sqrt((strategy**2).sum(axis=0).max() * np.mean((solved**2).sum(axis=0))))

found = {}
for cells in (64, 256):
    sums = np.tri(cells)
    found[f"prefix sums of {cells} cells"] = [error(sums, dense.optimize(cells))]
    factor = toeplitz.materialize_lower_triangular(toeplitz.optimal_max_error_strategy_coefs(cells))
    found[f"prefix sums of {cells} cells, Toeplitz"] = [error(sums, factor)]
first, last = np.triu_indices(64)
places = np.arange(64)
ranges = ((places >= first[:, None]) & (places <= last[:, None])).astype(float)
found["ranges of 64 cells"] = [error(ranges, dense.optimize(64, A=ranges))]
print(json.dumps(found))
"""
_MBI = """
import itertools, json, warnings
warnings.simplefilter("ignore")
import jax
jax.config.update("jax_enable_x64", True)
import numpy as np
import mbi
from mbi import estimation

sizes, draws = (16, 9, 7, 5), 10
rng = np.random.default_rng(1)
rows = np.stack([rng.binomial(size - 1, rng.uniform(0.2, 0.8, 5000)) for size in sizes], axis=1)
domain = mbi.Domain([str(i) for i in range(len(sizes))], sizes)
tables = list(itertools.combinations(range(len(sizes)), 2))
true = {t: np.histogramdd(rows[:, t], [np.arange(sizes[i] + 1) for i in t])[0] for t in tables}
found = []
for _ in range(draws):
    noise = len(tables) ** 0.5
    measured = [
        mbi.LinearMeasurement(true[t].ravel() + rng.normal(0, noise, true[t].size), tuple(str(i) for i in t), noise)
        for t in tables
    ]
    model = estimation.MirrorDescent().estimate(domain, measured, iters=2000)
    off = [np.asarray(model.project(tuple(str(i) for i in t)).datavector()) - true[t].ravel() for t in tables]
    found.append(float(np.mean(np.concatenate(off) ** 2)))
print(json.dumps({"squares": found}))
"""
_SMALL = (16, 9, 7, 5)
_CONTINGENCY = """
import itertools, json, warnings
warnings.simplefilter("ignore")
import numpy as np
import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")
sizes, draws = (16, 9, 7, 5), 3
rng = np.random.default_rng(1)
rows = np.stack([rng.binomial(size - 1, rng.uniform(0.2, 0.8, 5000)) for size in sizes], axis=1)
names = [f"c{i}" for i in range(len(sizes))]
frame = pl.DataFrame({name: rows[:, i] for i, name in enumerate(names)}).lazy()
tables = list(itertools.combinations(range(len(sizes)), 2))
true = {t: np.histogramdd(rows[:, t], [np.arange(sizes[i] + 1) for i in t])[0] for t in tables}
fixed = dp.mbi.Fixed(queries=[dp.mbi.Count(tuple(names[i] for i in t)) for t in tables])
keys = {name: list(range(size)) for name, size in zip(names, sizes)}
found = {}
for price, loss in (("mu", {"rho": 0.5}), ("epsilon", {"epsilon": 1.0})):
    found[price] = []
    for _ in range(draws):
        context = dp.Context.compositor(
            data=frame, privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(**loss), split_evenly_over=1
        )
        table = context.query().select(*names).contingency_table(keys=keys, algorithm=fixed).release()
        off = []
        for t in tables:
            counts = np.asarray(table.project(tuple(names[i] for i in t)))[: sizes[t[0]], : sizes[t[1]]]
            off.append(counts.ravel() - true[t].ravel())
        found[price].append(float(np.mean(np.concatenate(off) ** 2)))
print(json.dumps(found))
"""


def rows() -> list[ErrorRow]:
    """All of them; some minutes."""
    return [*_gaussian(), *_pure(), *_marginals(), *_several_cells(), *_running()]


def _gaussian() -> Iterator[ErrorRow]:
    python = environment("jax-privacy==2.0.0")
    factored = {} if python is None else peer_answers(python, _JAX)
    for workload in (*map(PrefixSums, (64, 256, 1024, 4096)), *map(Ranges, (64, 256, 1024, 4096))):
        job = f"{workload}, μ = 1"
        plan = plan_strategy(workload)
        bound = sqrt(plan.lower_bound / workload.answers)
        yield ErrorRow(job, CHOSEN, sqrt(plan.error / workload.answers), 0, bound)
        for name, errors in factored.items():
            if name.startswith(str(workload)):
                kind = "best Toeplitz factors" if name.endswith("Toeplitz") else "dense factors"
                yield ErrorRow(job, f"jax-privacy 2.0, {kind}", errors[0], 0, bound)
        for name, strategy in _known(workload.cells) if workload.cells <= _MOST_WRITTEN else ():
            yield ErrorRow(job, name, _error(workload, strategy), 0, bound)


def _known(cells: int) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Strategies of others: cells, a tree over them, and the square root of the prefix sums."""
    yield "noise on the cells", np.eye(cells)
    levels, width = [np.eye(cells)], 2
    while width <= cells:
        levels.append((np.arange(cells) // width == np.arange(-(-cells // width))[:, None]).astype(float))
        width *= 2
    yield "binary tree with least squares, in house", np.vstack(levels)
    coefficients = np.cumprod([1, *((2 * k - 1) / (2 * k) for k in range(1, cells))])
    yield "square root of the prefix sums (Henzinger et al. 2023), in house", np.tril(toeplitz(coefficients))


def _error(workload: LinearWorkload, strategy: NDArray[np.float64]) -> float:
    """At μ = 1, in doubles."""
    scaled = strategy / np.sqrt((strategy**2).sum(axis=0).max())
    if len(scaled) == workload.cells and not np.triu(scaled, 1).any():
        root = solve_triangular(scaled, np.eye(workload.cells), lower=True)
        inverse = root @ root.T
    else:
        inverse = np.linalg.inv(scaled.T @ scaled)
    return sqrt(np.sum(workload.weigh(np.ones(workload.answers)) * inverse) / workload.answers)


def _pure() -> Iterator[ErrorRow]:
    for cells in (64, 256):
        simulated = _opendp(cells)
        for place, workload in enumerate((PrefixSums(cells), Ranges(cells))):
            job = f"{workload}, ε = 1"
            mechanism = PureStrategyMechanism(plan_pure_strategy(workload, epsilon=1), 1)
            yield ErrorRow(job, CHOSEN, sqrt(mechanism.expected_square / workload.answers), 0, None)
            for name, error in pure_alternatives(workload, epsilon=1).items():
                yield ErrorRow(job, name, sqrt(error / workload.answers), 0, None)
            yield ErrorRow(job, "p-identity as in HDMM, in house", _hdmm(workload), 0, None)
            for branching, squares in simulated.items():
                mean, spread = squares[:, place].mean(), squares[:, place].std() / sqrt(len(squares))
                name = f"OpenDP 0.16, tree of {branching} branches, consistent"
                yield ErrorRow(job, name, sqrt(mean), spread / (2 * sqrt(mean)), None)


def _hdmm(workload: LinearWorkload) -> float:
    """The best of some random starts of p-identity, as McKenna et al. 2018 do it: section 5, p = n/16, Laplace noise.

    Written apart from what is chosen: the answer's error from the strategy as a whole matrix, gradients by the chain
    rule through A·D, and nothing rounded.
    """
    size, gram = workload.cells, workload.weigh(np.ones(workload.answers))
    sums, dice = max(1, size // 16), np.random.default_rng(7)

    def cost(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        theta = flat.reshape(sums, size)
        scale = 1 + theta.sum(axis=0)
        strategy = np.vstack([np.eye(size), theta]) / scale
        inverse = np.linalg.inv(strategy.T @ strategy)
        by_entry = -2 * strategy @ (inverse @ gram @ inverse)  # the derivative of tr(V·(AᵀA)⁻¹) by A
        by_scale = -np.sum(by_entry * strategy, axis=0) / scale
        return float(np.sum(gram * inverse)), (by_entry[size:] / scale + by_scale).ravel()

    found = (
        minimize(cost, dice.random(sums * size), jac=True, method="L-BFGS-B", bounds=[(0, None)] * (sums * size))
        for _ in range(_STARTS)
    )
    return sqrt(2 * min(float(one.fun) for one in found) / workload.answers)


def _opendp(cells: int) -> dict[int, NDArray[np.float64]]:
    """For some trees the mean squared errors of prefix sums and ranges, draw by draw; nothing without OpenDP."""
    python = environment("opendp==0.16.0")
    if python is None:
        return {}
    found = {}
    for branching in (2, 4, 16):
        command = [python, "-c", _TREE, str(cells), str(branching), str(_DRAWS)]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found[branching] = np.array([line.split() for line in out.splitlines()], dtype=float)
    return found


def _marginals() -> Iterator[ErrorRow]:
    for most, least in ((2, 2), (3, 0)):
        tables = [table for ways in range(least, most + 1) for table in combinations(range(len(ADULT)), ways)]
        cells = sum(prod(ADULT[i] for i in table) for table in tables)
        plan = plan_marginals(ADULT, tables)
        job = f"{len(tables)} tables of Adult's columns, {'two-way' if least else 'up to three-way'}, μ = 1"
        bound = sqrt(plan.bound("total") / cells)
        yield ErrorRow(job, CHOSEN, sqrt(plan.error("total") / cells), 0, bound)
        yield ErrorRow(job, "equal noise on each table", sqrt(len(tables)), 0, bound)
    tables = list(combinations(range(len(_SMALL)), 2))
    cells = sum(prod(_SMALL[i] for i in table) for table in tables)
    python = environment("opendp[mbi]==0.16.0")
    contingency = {} if python is None else peer_answers(python, _CONTINGENCY)
    plan, job = plan_marginals(_SMALL, tables), "6 two-way tables of 16, 9, 7 and 5 keys, 5000 rows, μ = 1"
    bound = sqrt(plan.bound("total") / cells)
    yield ErrorRow(job, CHOSEN, sqrt(plan.error("total") / cells), 0, bound)
    yield ErrorRow(job, "equal noise on each table", sqrt(len(tables)), 0, bound)
    yield from _simulated(job, "OpenDP 0.16, contingency tables", contingency.get("mu"), bound)
    python = environment("mbi==2.0.0")
    squares = None if python is None else peer_answers(python, _MBI)["squares"]
    yield from _simulated(job, "mbi 2.0, equal noise and mirror descent", squares, bound)
    yield from _pure_tables(_SMALL, tables, "6 two-way tables of 16, 9, 7 and 5 keys, 5000 rows, ε = 1")
    job = "6 two-way tables of 16, 9, 7 and 5 keys, 5000 rows, ε = 1"
    yield from _simulated(job, "OpenDP 0.16, contingency tables", contingency.get("epsilon"), None)
    adult = list(combinations(range(len(ADULT)), 2))
    yield from _pure_tables(ADULT, adult, "91 tables of Adult's columns, two-way, ε = 1")


def _several_cells() -> Iterator[ErrorRow]:
    """Units in several cells: here the bound is not tight, so the best is somewhere between it and what is chosen."""
    one_cell = "best for one cell, noise for as many units"
    for sizes in ((10, 5, 2), _SMALL):
        tables = list(combinations(range(len(sizes)), 2))
        cells = sum(prod(sizes[i] for i in table) for table in tables)
        named = f"{len(tables)} two-way tables of {', '.join(map(str, sizes[:-1]))} and {sizes[-1]} keys"
        for groups in (2, 5, 10):
            job, bound = f"{named}, {groups} cells per unit, μ = 1", sqrt(table_bound(sizes, tables, groups) / cells)
            own = plan_marginals(sizes, tables, groups=groups).error("total", groups)
            alone = plan_marginals(sizes, tables).error("total") * groups**2
            yield ErrorRow(job, CHOSEN, sqrt(own / cells), 0, bound)
            yield ErrorRow(job, one_cell, sqrt(alone / cells), 0, bound)
    for workload in (PrefixSums(64), PrefixSums(256), Ranges(64), Ranges(256)):
        for groups in (2, 5, 20):
            job, own = f"{workload}, {groups} cells per unit, μ = 1", plan_strategy(workload, groups=groups)
            bound = sqrt(max(workload_bound(workload, groups), float(own.lower_bound)) / workload.answers)
            alone = plan_strategy(workload).error * groups**2
            yield ErrorRow(job, CHOSEN, sqrt(own.error / workload.answers), 0, bound)
            yield ErrorRow(job, one_cell, sqrt(alone / workload.answers), 0, bound)


def _pure_tables(sizes: tuple[int, ...], tables: list[tuple[int, ...]], job: str) -> Iterator[ErrorRow]:
    cells = sum(prod(sizes[i] for i in table) for table in tables)
    for name, parts in ((CHOSEN, shared_price(sizes, tables)), ("equal noise on each table, least squares", None)):
        mechanism = PureMarginalsMechanism(sizes, tables, 1, parts=parts)
        yield ErrorRow(job, name, sqrt(mechanism.error().expected.upper / cells), 0, None)


def _simulated(job: str, name: str, squares: list[float] | None, bound: float | None) -> Iterator[ErrorRow]:
    """The root of the mean of squared errors, release by release; nothing where the peer can't be installed."""
    if squares is not None:
        mean, spread = np.mean(squares), np.std(squares) / sqrt(len(squares))
        yield ErrorRow(job, name, float(sqrt(mean)), float(spread / (2 * sqrt(mean))), bound)


def _running() -> Iterator[ErrorRow]:
    for days in (64, 365):
        horizon = RunningTotals(plan_running(days), Fraction(1), 1)
        job = f"running totals of {days} days, μ = 1"
        bound = sqrt(plan_strategy(PrefixSums(days)).lower_bound / days)
        yield ErrorRow(job, CHOSEN, sqrt(sum(horizon.whole.squared_errors()) / days), 0, bound)
        yield ErrorRow(job, "fresh noise on each total", sqrt(days), 0, bound)
        yield ErrorRow(job, "noise on each day", sqrt((days + 1) / 2), 0, bound)


if __name__ == "__main__":
    for row in rows():
        limit = "" if row.bound is None else f"{row.bound:.4f}"
        print(f"{row.job:55} {row.method:65} {row.error:9.4f} ± {row.standard_error:.4f} {limit}")

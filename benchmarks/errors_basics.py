"""Counts, sums, means and histograms at equal privacy: ours by its exact law, other libraries by repeated releases."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import leastnoise as ln
from benchmarks.errors import CHOSEN, ErrorRow, environment, mean_row, peer_answers

__all__ = ["run"]

DRAWS, PEOPLE, GROUPS = 4000, 2000, 20
MEAN_DRAWS = 400

_OPENDP = f"""
import json
import opendp.prelude as dp
dp.enable_features("contrib")
space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
found = {{}}
for epsilon in (0.1, 1.0):
    found[f"count {{epsilon:g}}"] = dp.m.make_laplace(*space, scale=1 / epsilon)([0] * {DRAWS})
found["sum"] = dp.m.make_laplace(*space, scale=100.0)([0] * {DRAWS})
wide = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
def measure(scale):
    return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*wide, scale=scale)), 1e-6)
scale = dp.binary_search_param(measure, d_in={GROUPS}**0.5, d_out=(1.0, 1e-6))
found["histogram"] = dp.m.make_gaussian(*wide, scale=scale)([0] * {DRAWS})
print(json.dumps(found))
"""
_DIFFPRIVLIB = f"""
import json
import numpy as np
from diffprivlib import tools
from diffprivlib.mechanisms import Geometric, Laplace
found = {{}}
for epsilon in (0.1, 1.0):
    count = Geometric(epsilon=epsilon, sensitivity=1)
    found[f"count {{epsilon:g}}"] = [count.randomise(0) for _ in range({DRAWS})]
total = Laplace(epsilon=1.0, sensitivity=100)
found["sum"] = [total.randomise(0.0) for _ in range({DRAWS})]
rows = np.arange({PEOPLE}) % 101
found["mean"] = [float(tools.mean(rows, epsilon=1.0, bounds=(0, 100)) - rows.mean()) for _ in range({MEAN_DRAWS})]
print(json.dumps(found))
"""
_PYDP = f"""
import json
from pydp.algorithms.laplacian import BoundedMean, BoundedSum, Count
rows = [i % 101 for i in range({PEOPLE})]
true = sum(rows) / len(rows)
limits = {{"epsilon": 1.0, "lower_bound": 0, "upper_bound": 100, "dtype": "int"}}
found = {{"sum": [BoundedSum(**limits).quick_result([]) for _ in range({DRAWS})]}}
for epsilon in (0.1, 1.0):
    found[f"count {{epsilon:g}}"] = [Count(epsilon=epsilon, dtype="int").quick_result([]) for _ in range({DRAWS})]
found["mean"] = [BoundedMean(**limits).quick_result(rows) - true for _ in range({MEAN_DRAWS})]
print(json.dumps(found))
"""
PEERS = {
    "OpenDP 0.16.0": (("opendp==0.16.0",), _OPENDP),
    "diffprivlib 0.6.6": (("diffprivlib==0.6.6", "scikit-learn<1.8"), _DIFFPRIVLIB),
    "python-dp 1.1.5": (("python-dp==1.1.5",), _PYDP),
}
JOBS = {
    "count 0.1": "one count, ε = 0.1",
    "count 1": "one count, ε = 1",
    "count 0.1 0.01": "one count, (0.1, 0.01)",
    "sum": "sum of values in 0 … 100, ε = 1",
    "histogram": f"counts where a person is in {GROUPS} groups, (1, 1e-6)",
    "mean": f"mean of {PEOPLE} values in 0 … 100, ε = 1",
}


def run() -> list[ErrorRow]:
    """All jobs, ours first."""
    found = list(_ours())
    for name, (requirements, program) in PEERS.items():
        python = environment(*requirements)
        answers = {} if python is None else peer_answers(python, program)
        found += [mean_row(JOBS[job], name, [abs(error) for error in errors]) for job, errors in answers.items()]
    return sorted(found, key=lambda row: list(JOBS.values()).index(row.job))


def _ours() -> Iterator[ErrorRow]:
    with tempfile.TemporaryDirectory() as folder:
        rows = "\n".join(f"{i},{i % 101},k{i % 40}" for i in range(PEOPLE))
        table = Path(folder) / "people.csv"
        table.write_text(f"person,value,key\n{rows}\n")
        kinds = {"value": "integer"}
        budget = ln.Privacy(10**4, "1/1000", insist=True)
        with ln.open(table, columns=kinds, privacy_unit="person", budget=budget, ledger=Path(folder) / "l") as people:
            keys = [f"k{i}" for i in range(40)]
            asked = {
                "count 0.1": people.count().plan("0.1"),
                "count 1": people.count().plan(1),
                "count 0.1 0.01": people.count().plan("0.1", "0.01"),
                "sum": people.sum("value", bounds=(0, 100)).plan(1),
                "histogram": people.count(by="key", keys=keys, groups_per_unit=GROUPS).plan(1, "1e-6"),
            }
            for job, plan in asked.items():
                bound = None if plan.lower_bound is None else float(plan.lower_bound)
                yield ErrorRow(JOBS[job], CHOSEN, float(plan.expected_error or 0), 0.0, bound)
            true, query = float(np.mean(np.arange(PEOPLE) % 101)), people.mean("value", bounds=(0, 100))
            errors = [abs(float(query.release(1).value) - true) for _ in range(MEAN_DRAWS)]
            yield mean_row(JOBS["mean"], CHOSEN, errors)

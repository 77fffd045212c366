"""K-norm noise for counting queries and prefix sums, which nobody else draws, beside OpenDP's Laplace noise for them.

The job is the same, to release d whole numbers with ε = 1; the error is not: `for_linear_map` says by how much.
"""

from __future__ import annotations

import numpy as np

from benchmarks.measure import Row, race
from leastnoise.mechanisms.vector import CountingBody, CrossPolytope, KNorm

__all__ = ["run"]

DRAWS, RELEASES = 10_000, 200


def run() -> list[Row]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    vector, distance = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    rows = []
    for dimension in (10, 20):
        laplace = dp.m.make_laplace(vector, distance, scale=float(dimension))
        prefix_sums = np.tril(np.ones((dimension, dimension), dtype=int)).tolist()
        mechanisms = {
            f"{dimension} counting queries": KNorm(1, CountingBody(dimension)),
            f"{dimension} prefix sums": KNorm(1, CrossPolytope(dimension), 1, prefix_sums),
        }
        zeros, many = [0] * dimension, np.zeros(dimension * DRAWS, dtype=np.int64)
        for name, mechanism in mechanisms.items():
            rows += [
                race(
                    f"{name}, {DRAWS} draws",
                    lambda m=mechanism, x=zeros: m.draw(x, size=DRAWS),
                    "OpenDP Laplace",
                    lambda m=laplace, x=many: m(x),
                    target=10,
                ),
                race(
                    f"{name}, {RELEASES} releases",
                    lambda m=mechanism, x=zeros: [m.release(x) for _ in range(RELEASES)],
                    "OpenDP Laplace",
                    lambda m=laplace, x=zeros: [m(x) for _ in range(RELEASES)],
                    target=0,
                ),
            ]
    return rows

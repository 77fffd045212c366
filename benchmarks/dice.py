"""The exact samplers against OpenDP's and against NumPy's inexact ones."""

from __future__ import annotations

import math
import tracemalloc
from itertools import product

import numpy as np

from benchmarks.measure import Row, race
from leastnoise import exact

__all__ = ["run"]


def run() -> list[Row]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    generator = np.random.default_rng()
    vectors = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    rows = []
    million, zeros = 10**6, np.zeros(10**5, dtype=np.int64)
    for epsilon in ("1", "0.1", "0.01"):
        scale = 1 / float(epsilon)
        p = 1 - math.exp(-float(epsilon))
        laplace = dp.m.make_laplace(*vectors, scale=scale)
        row = race(
            f"discrete Laplace, 10^6, ε = {epsilon}",
            lambda e=epsilon: exact.discrete_laplace(rate=e, size=million),
            "OpenDP",
            lambda m=laplace: m(zeros),
            target=100,
            rounds=3,
        )
        rows.append(_scaled(row, 10))  # OpenDP drew a tenth as many
        rows.append(
            race(
                f"discrete Laplace, 10^6, ε = {epsilon}",
                lambda e=epsilon: exact.discrete_laplace(rate=e, size=million),
                "NumPy (inexact)",
                lambda p=p: generator.geometric(p, million) - generator.geometric(p, million),
                target=0.5,
            )
        )
    scales = np.linspace(1, 100, million)
    rows.append(
        race(
            "discrete Laplace, one scale each, 10^6",
            lambda: exact.discrete_laplace(scales),
            "NumPy (inexact)",
            lambda: (lambda p: generator.geometric(p) - generator.geometric(p))(1 - np.exp(-1 / scales)),
            target=0.5,
        )
    )
    for sigma in (10, 1000):
        gaussian = dp.m.make_gaussian(
            dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64"), scale=float(sigma)
        )
        row = race(
            f"discrete Gaussian, 10^6, σ = {sigma}",
            lambda s=sigma: exact.discrete_gaussian(s**2, size=million),
            "OpenDP",
            lambda m=gaussian: m(zeros),
            target=20,
            rounds=3,
        )
        rows.append(_scaled(row, 10))
    rows += _rounded_normals(generator)
    # A peer that stops at the first acceptance is quick where many scores are near the best, so both shapes are shown.
    for count, scale in product((10, 10**3, 10**5, 10**6), (2, 20)):
        scores = generator.integers(0, 1000, count)
        noisy_max = dp.m.make_noisy_max(
            dp.vector_domain(dp.atom_domain(T="i64")),
            dp.linf_distance(T="i64"),
            dp.max_divergence(),
            scale=float(scale),
        )
        title = f"choose among {count:,} candidates, scale {scale}"
        ours = lambda s=scores, r=f"1/{scale}": exact.categorical_exp(s, rate=r)  # noqa: E731
        theirs = lambda m=noisy_max, s=scores: m(s)  # noqa: E731
        rows.append(race(title, ours, "OpenDP", theirs, target=5 if count > 10 else 0, rounds=15))
        gumbel = lambda f=scores / scale: np.argmax(f + generator.gumbel(size=len(f)))  # noqa: E731
        rows.append(race(title, ours, "NumPy Gumbel (inexact)", gumbel, target=1 if count == 10**6 else 0))
    rows.append(_memory())
    return rows


def _rounded_normals(generator: np.random.Generator) -> list[Row]:
    """Normal noise on a grid against NumPy's, which is neither exact nor cryptographic, and our discrete Gaussian."""
    million, rows = 10**6, []
    for sigma in (10, 10**6):
        exact.rounded_gaussian(sigma**2, size=100)  # builds the table, once in the life of a process
        title = f"rounded Gaussian, 10^6, σ = {sigma:,}"
        ours = lambda v=sigma**2: exact.rounded_gaussian(v, size=million)  # noqa: E731
        numpy_draw = lambda: generator.standard_normal(million)  # noqa: E731
        rows.append(race(title, ours, "NumPy standard_normal (inexact)", numpy_draw, target=0.33, rounds=9))
        discrete = lambda v=sigma**2: exact.discrete_gaussian(v, size=million)  # noqa: E731
        rows.append(race(title, ours, "our discrete Gaussian", discrete, target=0.5, rounds=9))
    matrix = generator.integers(-9, 10, (100, 100))
    rows.append(
        race(
            "rounded map of 100 normals to 100, 1000 vectors",
            lambda: exact.rounded_gaussian_map(matrix, 10**4, 1000),
            "NumPy, normals times a matrix (inexact)",
            lambda: np.rint(generator.standard_normal((1000, 100)) @ (matrix.T * 100.0)),
            target=0.05,
            rounds=9,
        )
    )
    return rows


def _scaled(row: Row, factor: int) -> Row:
    return row | {"peer_seconds": row["peer_seconds"] * factor, "ratio": row["ratio"] * factor}


def _memory() -> Row:
    size = 10**7
    tracemalloc.start()
    exact.discrete_laplace(10, size=size)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {"name": "memory, 10^7 draws", "bytes_per_sample": peak / size, "target_bytes": 64}

"""Private medians and quantiles of a million numbers against OpenDP's, and against NumPy's sort and median."""

from __future__ import annotations

import numpy as np

from benchmarks.measure import Row, race
from leastnoise.mechanisms.rank import BoundedMean, IntervalQuantile, Quantile, SeveralQuantiles, SmoothMedian

__all__ = ["run"]

RECORDS, CANDIDATES, UPPER = 10**6, 10**4, 200_000.0


def run() -> list[Row]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    values = np.random.default_rng(1).lognormal(10, 1, RECORDS)
    grid = np.linspace(0, UPPER, CANDIDATES)
    numbers = dp.vector_domain(dp.atom_domain(T="f64", nan=False))
    theirs = dp.m.make_private_quantile(
        numbers, dp.symmetric_distance(), dp.max_divergence(), candidates=grid.tolist(), alpha=0.5, scale=1.0
    )
    on_grid, anywhere = Quantile(1, grid), IntervalQuantile(1, 0, UPPER)
    smooth = SmoothMedian(1, 1e-6, 0, UPPER, RECORDS)
    deciles = SeveralQuantiles(1, [f"{k}/10" for k in range(1, 10)], 0, UPPER)
    mean = BoundedMean(1, 0, UPPER)
    return [
        race("median of 10^6 on a grid of 10^4", lambda: on_grid.release(values), "OpenDP", lambda: theirs(values), 1),
        race(
            "median of 10^6 on a grid of 10^4", lambda: on_grid.release(values), "np.sort", lambda: np.sort(values), 1
        ),
        race(
            "median of 10^6 on an interval", lambda: anywhere.release(values), "np.sort", lambda: np.sort(values), 0.5
        ),
        race(
            "median of 10^6 on an interval",
            lambda: anywhere.release(values),
            "np.median, not private",
            lambda: np.median(values),
            0,
        ),
        race("smooth median of 10^6", lambda: smooth.release(values), "np.sort", lambda: np.sort(values), 0),
        race("nine deciles of 10^6", lambda: deciles.release(values), "np.sort", lambda: np.sort(values), 0),
        race("mean of 10^6", lambda: mean.release(values), "np.mean, not private", lambda: np.mean(values), 0),
    ]

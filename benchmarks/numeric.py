"""Noisy numbers and histograms against OpenDP's, and against NumPy's inexact noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from benchmarks.measure import Row, race
from leastnoise.mechanisms.numeric import (
    DiscreteGaussian,
    Geometric,
    LatticeLaplace,
    TruncatedGeometric,
    TruncatedLaplace,
    VectorLaplace,
)

__all__ = ["run"]

BINS = 10**6
RELEASES = 1000


def run() -> list[Row]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    counts = np.arange(BINS) % 1000
    vector, scalar = dp.vector_domain(dp.atom_domain(T="i64")), dp.atom_domain(T="i64")
    rows = []
    for epsilon in ("1", "0.1"):
        ours = VectorLaplace(epsilon, BINS)
        theirs = dp.m.make_laplace(vector, dp.l1_distance(T="i64"), scale=1 / float(epsilon))
        rows.append(
            race(
                f"noisy histogram, 10^6 bins, ε = {epsilon}",
                lambda m=ours: m.release(counts),
                "OpenDP",
                lambda m=theirs: m(counts),
                target=100,
                rounds=3,
            )
        )
    rows.append(_many_bins())
    geometric, laplace = Geometric(1), dp.m.make_laplace(scalar, dp.absolute_distance(T="i64"), scale=1.0)
    rows.append(
        race(
            f"one noisy count, {RELEASES} releases",
            lambda: [geometric.release(42) for _ in range(RELEASES)],
            "OpenDP",
            lambda: [laplace(42) for _ in range(RELEASES)],
            target=0.5,
        )
    )
    reals = dp.atom_domain(T="f64", nan=False)
    lattice = LatticeLaplace(1, sensitivity=1, step=Fraction(1, 1024))
    known = dp.vector_domain(reals, size=BINS // 10)
    floating = dp.m.make_laplace(known, dp.l1_distance(T="f64"), scale=1.0, k=-10)
    zeros = np.zeros(BINS // 10)
    rows.append(
        race(
            "Laplace noise on a lattice of 2^-10, 10^5 draws",
            lambda: lattice.draw(0.3, size=BINS // 10),
            "OpenDP",
            lambda: floating(zeros),
            target=100,
            rounds=3,
        )
    )
    rows += [_bounded(), _calibration()]
    return rows


def _many_bins() -> Row:
    """Ten million bins at once, against the fastest noise there is, which is not exact and not safe."""
    generator = np.random.default_rng()
    many = np.zeros(10 * BINS, dtype=np.int64)
    mechanism, p = VectorLaplace(1, 10 * BINS), 1 - float(np.exp(-1.0))
    return race(
        "noisy histogram, 10^7 bins, ε = 1",
        lambda: mechanism.release(many),
        "NumPy (inexact)",
        lambda: many + generator.geometric(p, 10 * BINS) - generator.geometric(p, 10 * BINS),
        target=0.5,
        rounds=3,
    )


def _bounded() -> Row:
    """Truncated noise, whole against real: the price of answers between the lattice points."""
    whole, real = TruncatedGeometric("1/1000", 0, 10**6), TruncatedLaplace(1, 0, 1000, 1, cells=10**6)
    return race(
        "truncated geometric, 10^6 draws",
        lambda: whole.draw(333_333, size=BINS),
        "our truncated Laplace",
        lambda: real.draw(333.3333, size=BINS),
        target=0.5,
        rounds=3,
    )


def _calibration() -> Row:
    """The least discrete Gaussian for (ε, δ), proven, against one evaluation of the continuous formula in doubles."""
    from scipy.optimize import brentq
    from scipy.stats import norm

    def excess(sigma: float) -> float:
        return float(norm.cdf(0.5 / sigma - 0.1 * sigma) - np.exp(0.1) * norm.cdf(-0.5 / sigma - 0.1 * sigma)) - 1e-6

    return race(
        "discrete Gaussian for (0.1, 10^-6)",
        lambda: DiscreteGaussian.for_privacy("0.1", "1e-6"),
        "SciPy, continuous formula (not safe)",
        lambda: brentq(excess, 1.0, 1000.0),
        target=0.001,
    )

"""Errors of ordinary questions: what is released, against the alternatives, by exact first order and by simulation.

`rows()` gives (job, alternative, error, standard error, bound). The error is the standard deviation of the answer for
ten thousand values between 0 and 1 at ε = 1; the bound is None where nobody knows one.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

__all__ = ["Row", "rows"]

_VALUES = 10_000
_DRAWS = 20_000
_SHAPES = {
    "uniform": (0.5, 1 / 12),
    "narrow in the middle": (0.5, 0.001),
    "skewed": (0.1, 0.02),
    "two ends": (0.5, 0.25),
}
# Parts as polynomials of x in the Bernstein basis, scaled so that a row changes all of them by one in the ℓ₁ norm.
_BERNSTEIN = np.eye(3)
_HALVES = np.array([[0, 0.5, 1], [1, 0.5, 0], [1, -1, 1]]) / 2  # half of ε on number and sum, half on centred squares
_THIRDS = np.array([[1, 1, 1], [0, 0.5, 1], [0, 0, 1]]) / 3  # a third each on number, sum and squares
_MAPS = {"Bernstein polynomials (ours)": _BERNSTEIN, "half for the squares": _HALVES, "a third each": _THIRDS}


class Row(NamedTuple):
    """One line of the table."""

    job: str
    alternative: str
    error: float
    standard_error: float
    bound: float | None


def rows() -> list[Row]:
    """All lines."""
    return [*_means(), *_variances()]


def _means() -> list[Row]:
    """The mean at m: noise X on U and Y on D, against ε/2 on the centred sum and ε/2 on the number."""
    found = []
    for m in (0.5, 0.9):
        ours = sqrt(2) * sqrt((1 - m) ** 2 + m**2) / _VALUES
        halves = sqrt(2) * 2 * sqrt(0.25 + (m - 0.5) ** 2) / _VALUES
        for name, error in (("parts U and D (ours)", ours), ("half for the number", halves)):
            found.append(Row(f"mean at {m} of the width", name, error, 0.0, None))
    return found


def _variances() -> list[Row]:
    """The simulated standard deviation of (b₂ − S²/N)/N with Laplace noise on three linear maps of a row."""
    rng = np.random.default_rng(1)
    found = []
    for shape, (mean, variance) in _SHAPES.items():
        second = variance + mean**2
        true = np.array([1 - 2 * mean + second, 2 * (mean - second), second]) * _VALUES
        for name, rows_of in _MAPS.items():
            noisy = rows_of @ true + rng.laplace(size=(_DRAWS, 3))
            parts = noisy @ np.linalg.inv(rows_of).T
            total = parts.sum(axis=1)
            centre = parts[:, 1] / 2 + parts[:, 2]
            answers = np.clip((parts[:, 2] - centre**2 / total) / total, 0, 0.25)
            error = float(np.sqrt(np.mean((answers - variance) ** 2)))
            found.append(Row(f"variance, {shape}", name, error, error / sqrt(2 * _DRAWS), None))
    return found


if __name__ == "__main__":
    for row in rows():
        print(f"{row.job:32}  {row.alternative:30}  {row.error:.3e} ± {row.standard_error:.1e}")

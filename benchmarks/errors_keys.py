"""Errors with unknown keys and bounds: ours, what else there is, and what is known to be the least.

Each row: job, alternative, error, its standard error (zero where the law is known), and the bar, or None.
"""

from __future__ import annotations

from fractions import Fraction

from benchmarks.errors import CHOSEN
from leastnoise.mechanisms import (
    GaussianThreshold,
    NoisyThreshold,
    SelectionThreshold,
    UnknownKeys,
    UnknownTopK,
    plan_for,
)

__all__ = ["rows"]

EPSILON, DELTA = Fraction(1), Fraction(1, 10**6)
BARS = {1: 14, 5: 52, 20: 107, 100: 251}
KINDS = {
    "best selection": SelectionThreshold,
    "Gaussian threshold": GaussianThreshold,
    "Laplace threshold": NoisyThreshold,
}


def rows() -> list[tuple[str, str, float, float, float | None]]:
    """The count at which a key shows half of the time, and the error of a count that shows; exact."""
    found: list[tuple[str, str, float, float, float | None]] = []
    for groups, bar in BARS.items():
        job = f"unknown keys at (1, 1e-6), {groups} groups per unit"
        ways = {name: kind(EPSILON, DELTA, groups) for name, kind in KINDS.items()}
        best = plan_for(UnknownKeys(EPSILON, DELTA, groups)).best
        for name, mechanism in {CHOSEN: best, **ways}.items():
            found.append((f"{job}: half-shown count", name, mechanism.half_shown, 0.0, bar))
            found.append((f"{job}: error of a count", name, float(mechanism.error().expected), 0.0, None))
        chosen = UnknownTopK(EPSILON, DELTA, 1, groups)
        found.append((f"{job}: most common, half-shown count", "choice", chosen.half_shown, 0.0, None))
    return found


if __name__ == "__main__":
    for row in rows():
        print(*row, sep="\t")

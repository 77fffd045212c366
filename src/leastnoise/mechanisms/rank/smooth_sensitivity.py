"""The smooth sensitivity of the median: how far it can move, discounted by how many records that takes.

Nissim, Raskhodnikova and Smith (STOC 2007), Definition 2.2 and section 3.1: with x₁ ≤ … ≤ x_n sorted, x₀ the lower
bound, x_{n+1} the upper one and m the place of the median,

    S = max over i ≤ m ≤ j of (x_j − x_i)·ρ^(j − i − 1),   0 < ρ < 1.

j − i − 1 records must change before another change can move the median from x_i to x_j. So the median of a neighbour is
at most S away, and S ≤ S'/ρ for neighbours: S is smooth.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST_WINDOW", "smooth_bound"]

LARGEST_WINDOW = 1 << 18  # more records on one side of the median are never looked at

Floats = NDArray[np.float64]


def smooth_bound(below: Floats, above: Floats, decay: float) -> float:
    """A double B with S ≤ B·(1 + 2^-25) ≤ S·(1 + 2^-24).

    For x_i < x_i' the quotient (x_j − x_i)/(x_j' − x_i), j < j', falls as x_i grows to x_i'. So the best j never
    decreases with i, and halving the rows finds all of them in O(w log w) steps for w records.

    Errors: a power of `decay` carries two roundings for each of at most 2^19 factors, the rest of a term one more, so
    a term is off by less than 2^-32, relatively. A j that only seems best is best within 2^-31, and by the quotient
    above it is as nearly best in all rows beyond, so each of at most 19 halvings adds as much: the whole is off by less
    than 2^-26.

    Args:
        below: x_m, x_{m−1}, … in this order, whole numbers below 2^53; at most 2^18 + 1 of them.
        above: x_m, x_{m+1}, ….
        decay: ρ.

    >>> smooth_bound(np.array([5.0, 4.0, 0.0]), np.array([5.0, 9.0, 10.0]), 0.5)
    4.0
    """
    powers = np.concatenate([[1.0], np.cumprod(np.full(len(below) + len(above), decay))])
    largest = 0.0
    rows = [(0, len(below) - 1, 0, len(above) - 1)]  # first and last row, first and last column that may be best
    while rows:
        first, last, left, right = rows.pop()
        if first > last:
            continue
        row = (first + last) // 2
        start = max(left, 1 - row)  # i = j = m is no pair
        if start <= right:
            terms = (above[start : right + 1] - below[row]) * powers[row + start - 1 : row + right]
            best = right - int(np.argmax(terms[::-1]))  # the last of equals: a row of zeros must not narrow the others
            largest = max(largest, float(terms[best - start]))
        else:
            best = right
        rows += [(first, row - 1, best, right), (row + 1, last, left, best)]
    return largest

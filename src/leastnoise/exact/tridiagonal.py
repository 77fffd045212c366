"""Matrices that are zero beside three diagonals: the diagonal of A^-½ from below, without any eigenvalue.

For every t > 0 and whole m

    r_m(t) = (1/m)·Σ_j 1/(t·cos²θ_j + sin²θ_j) ≤ t^-½,      θ_j = (2j − 1)·π/(4m), j = 1, …, m,

for with x = √t and q = ((1 − x)/(1 + x))^2m it is x^-1·(1 − q)/(1 + q): both are the fraction with the simple poles
t = −tan²θ_j, and q ∈ [0, 1). Near t = 1 q is tiny; for t between 1/x² and x² it is about e^(−4m/x) at most. (Kenney and
Laub, SIAM J. Matrix Anal. Appl. 12, 1991, have these approximations.)

So the diagonal of A^-½ is at least a sum of diagonals of inverses of A + p·I. Those come from pivots: with the entries
a_i on the diagonal and the squares b_i of those beside it, f_1 = a_1, f_i = a_i − b_{i-1}/f_{i-1} from above and g in
the same way from below, (A^-1)_ii = 1/(f_i − b_i/g_{i+1}). Pivots are rounded up and quotients down, so that every
number is a bound. All operations are those of IEEE 754 on doubles: the result is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from math import ceil, frexp, fsum, ldexp, sqrt

import numpy as np
from flint import arb
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact.balls import above, below, evaluate

__all__ = ["doubles_above", "doubles_below", "inverse_root_diagonal"]

Floats = NDArray[np.float64]
_UP, _DOWN = (
    1 + 2.0**-52,
    1 - 2.0**-52,
)  # x·_UP is at least the double after a normal x > 0, x·_DOWN at most the one before
_SHARPNESS, _MOST_POLES = 4, 1 << 12
_FARTHEST = 1e140  # an eigenvalue, or one over it: squares are normal doubles, too


def doubles_above(numbers: Iterable[Fraction]) -> Floats:
    """For each number above zero a double that is larger."""
    return np.nextafter([float(number) for number in numbers], np.inf)


def doubles_below(numbers: Iterable[Fraction]) -> Floats:
    """For each number above zero a double that is smaller, and not below zero."""
    return np.nextafter([float(number) for number in numbers], 0)


def inverse_root_diagonal(diagonal: Floats, squares: Floats, least: float, most: float) -> Floats:
    """At most the entries of the diagonal of A^-½, for a positive definite A, and hardly less.

    Args:
        diagonal: At least the entries of A on the diagonal.
        squares: At most the squares of those beside it, one fewer.
        least: About its smallest eigenvalue. A wrong guess makes the bound worse, never wrong.
        most: About its largest.

    Raises:
        BadParameter: A is no positive definite matrix, or its numbers are out of the range of doubles.

    >>> [round(float(entry), 6) for entry in inverse_root_diagonal(np.array([4.0, 9.0]), np.array([0.0]), 4, 9)]
    [0.5, 0.333333]
    """
    if (
        not (1 / _FARTHEST < least <= most < _FARTHEST)
        or not np.all(np.isfinite(diagonal))
        or not np.all(np.isfinite(squares))
    ):
        raise BadParameter("this matrix is out of the range of doubles", fix="use less extreme weights")
    quarter = (frexp(least)[1] + frexp(most)[1]) // 4  # 4^quarter lies between least and most, about in the middle
    centre = ldexp(1.0, 2 * quarter)
    reach = max(sqrt(most / centre), sqrt(centre / least))
    poles, weights = _poles(min(ceil(_SHARPNESS * reach), _MOST_POLES))
    with np.errstate(all="ignore"):
        found = _summed(diagonal / centre, squares / centre**2, poles, weights)
    if not np.all(np.isfinite(found)) or not np.all(found > 0):
        raise BadParameter("this matrix is not positive definite, or nearly so", fix="use less extreme weights")
    scaled: Floats = found * ldexp(1.0, -quarter)
    return scaled


def _summed(diagonal: Floats, squares: Floats, poles: Floats, weights: Floats) -> Floats:
    """Σ_j w_j·diag((A + p_j·I)^-1), rounded down."""
    shifted = (diagonal[:, None] + poles) * _UP
    forward = np.empty_like(shifted)
    forward[0] = shifted[0]
    for i, square in enumerate(squares, start=1):
        forward[i] = (shifted[i] - square / forward[i - 1] * _DOWN) * _UP
    sums, backward = np.empty(len(diagonal)), shifted[-1]
    sums[-1] = _weighed(forward[-1], weights)
    for i in range(len(squares) - 1, -1, -1):
        quotient = squares[i] / backward * _DOWN
        sums[i] = _weighed((forward[i] - quotient) * _UP, weights)
        backward = (shifted[i] - quotient) * _UP
    return sums


def _weighed(pivots: Floats, weights: Floats) -> float:
    """Σ w_j/v_j rounded down; `fsum` rounds once, whatever the order."""
    if not np.all(pivots > 0):
        return float("nan")
    terms: list[float] = (weights / pivots * _DOWN).tolist()
    return fsum(terms) * _DOWN


@lru_cache(maxsize=32)
def _poles(count: int) -> tuple[Floats, Floats]:
    """tan²θ_j rounded up, and 1/(m·cos²θ_j) rounded down."""
    angles = [Fraction(2 * j + 1, 4 * count) for j in range(count)]

    def at(angle: Fraction) -> tuple[arb, arb]:
        sine, cosine = (arb(angle.numerator) / angle.denominator).sin_cos_pi()
        return (sine / cosine) ** 2, 1 / (count * cosine**2)

    balls = evaluate(lambda: [at(angle) for angle in angles], 128)
    return doubles_above(above(pole) for pole, _ in balls), doubles_below(below(weight) for _, weight in balls)

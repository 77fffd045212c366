"""e^x and ln x on arrays of doubles with a proven error, from additions, multiplications and tables only.

NumPy's own `exp` and `log` come without a guarantee. These are built from operations that IEEE 754 rounds correctly
(relative error at most u = 2^-53 each), so their error is a proof and not a hope. They never decide anything:
they give bounds, and whatever the bounds leave open goes to ball arithmetic.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import PrecisionExhausted
from leastnoise.exact.enclosures import exp_below, ln_below

__all__ = [
    "EXP_ERROR",
    "LOG_ERROR",
    "SMALLEST_EXPONENT",
    "UNIT",
    "exp_bounds",
    "exp_of",
    "minus_log_of",
    "require_order",
]

UNIT = 2.0**-53
EXP_ERROR = 2.0**-42  # relative
LOG_ERROR = 2.0**-44  # absolute
SMALLEST_EXPONENT = -700.0

_CELLS = 2048
_LN2 = ln_below(2, 80)
_CELLS_PER_UNIT = float(_CELLS / _LN2)
_CELL = float(_LN2 / _CELLS)

Floats = NDArray[np.float64]


def exp_of(x: Floats) -> Floats:
    """e^x for −700 ≤ x ≤ 0 with relative error below `EXP_ERROR`; smaller x count as −700.

    With k the whole number nearest to x·2048/ln 2 and r = x − k·ln 2/2048 (|r| < 1.75·10⁻⁴), e^x = 2^(k/2048)·e^r.
    k·ln 2/2048 is off by at most 2u·701 < 1.57·10⁻¹³; the series 1 + r + r²/2 + r³/6 leaves out less than 10⁻¹⁶; the
    table's entry and the arithmetic around it cost at most 8u < 10⁻¹⁵. The sum is below 1.6·10⁻¹³ < 2^-42.
    """
    r = np.maximum(x, SMALLEST_EXPONENT)
    cell = r * _CELLS_PER_UNIT
    np.rint(cell, out=cell)
    index = cell.astype(np.int64)
    cell *= _CELL
    r -= cell
    series = np.multiply(r, 1.0 / 6.0, out=cell)  # r + r²/2 + r³/6 as r·(r·(r/6 + ½) + 1)
    series += 0.5
    series *= r
    series += 1.0
    series *= r
    power = np.take(_powers_of_two(), index & (_CELLS - 1))
    series *= power
    power += series
    index >>= 11
    index += 1023
    index <<= 52
    power *= index.view(np.float64)  # an exact power of two
    return power


def exp_bounds(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Bounds of e^x for low ≤ x ≤ high ≤ 0; the lower one is 0 where low is below −700."""
    upper = exp_of(high) * (1 + 2 * EXP_ERROR)
    lower = exp_of(low) * (1 - 2 * EXP_ERROR)
    lower[low < SMALLEST_EXPONENT] = 0.0
    return lower, upper


def require_order(low: Floats, high: Floats) -> None:
    """Refuse bounds that enclose nothing: no NaN, and no slack of the wrong sign, may ever decide.

    NumPy's integers wrap and its floats turn into NaN in silence; integers are widened first (`wide_enough`), and
    whatever was computed in doubles to decide a draw passes here.
    """
    if not (low <= high).all():
        raise PrecisionExhausted("two doubles that should enclose a number do not", fix="report this as a bug")


def minus_log_of(u: Floats) -> Floats:
    """−ln u for 2^-53 ≤ u ≤ 1 with absolute error below `LOG_ERROR`.

    u = 2^e·m with ½ ≤ m < 1, and c the middle of the 2^-11 wide cell that m lies in: m − c is exact and r = (m − c)/c
    has |r| ≤ 2^-11. The series r − r²/2 + r³/3 leaves out less than r⁴/4·(1 + 2r) < 1.5·10⁻¹⁴; e·ln 2 + ln c is
    off by at most 4u·37.5 < 1.7·10⁻¹⁴ after two roundings. The sum is below 4·10⁻¹⁴ < 2^-44.
    """
    mantissa, exponent = np.frexp(u)
    cell = ((mantissa - 0.5) * _CELLS).astype(np.int64)
    inverse, log_middle = _logs_of_middles()
    r = (mantissa - (cell + 0.5) / _CELLS - 0.5) * inverse.take(cell)
    series = r * (1.0 - r * (0.5 - r * (1.0 / 3.0)))
    result: Floats = -(exponent * float(_LN2) + log_middle.take(cell)) - series
    return result


@cache
def _powers_of_two() -> Floats:
    return np.array([float(exp_below(_LN2 * Fraction(j, _CELLS), 70)) for j in range(_CELLS)])


@cache
def _logs_of_middles() -> tuple[Floats, Floats]:
    middles = [Fraction(1, 2) + Fraction(2 * j + 1, 2 * _CELLS) for j in range(_CELLS // 2)]
    return np.array([float(1 / m) for m in middles]), np.array([float(ln_below(m, 70)) for m in middles])

"""Reading true answers. They are private: an error says what is wrong with them and never what they are."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact.arrays import largest_size, whole_array, wide_enough

__all__ = ["add_noise", "real_answer", "whole_answer", "whole_vector"]

_MOST_DIGITS = 400  # of a decimal, before and after the point


def whole_answer(truth: object) -> int:
    """The answer as a Python integer.

    >>> whole_answer(1234.5)
    Traceback (most recent call last):
    leastnoise.errors.BadParameter: the truth must be a whole number; given: float; count, or measure in whole units
    """
    if isinstance(truth, Integral) and not isinstance(truth, bool):
        return int(truth)
    raise BadParameter(
        "the truth must be a whole number", given=type(truth).__name__, fix="count, or measure in whole units"
    )


def real_answer(truth: object) -> Fraction:
    """The answer as exactly the number it is: a float as the dyadic rational that the machine holds.

    Its shortest decimal, which parameters are read as, could lie further from a neighbour's than the sensitivity says.

    >>> real_answer(0.5), real_answer(0.1) == Fraction(1, 10)
    (Fraction(1, 2), False)
    """
    if isinstance(truth, Rational) and not isinstance(truth, bool):
        return Fraction(int(truth.numerator), int(truth.denominator))
    if isinstance(truth, float | np.float32 | np.float16) and np.isfinite(truth):
        return Fraction(float(truth))
    if isinstance(truth, Decimal) and truth.is_finite() and abs(truth.adjusted()) < _MOST_DIGITS:
        return Fraction(truth)
    raise BadParameter(
        "the truth must be a finite number", given=type(truth).__name__, fix="map missing values before asking"
    )


def whole_vector(truth: object, dimension: int) -> NDArray[Any]:
    """The answer as a flat array of integers of any size: some integer type of NumPy's, or Python's own."""
    array = whole_array(truth)
    if array is None or array.shape != (dimension,):
        raise BadParameter(
            f"the truth must be {dimension} whole numbers",
            given=type(truth).__name__ if array is None else f"shape {array.shape}",
            fix="pass an integer array with one number per coordinate",
        )
    return array


def add_noise(truth: NDArray[Any], noise: NDArray[Any]) -> NDArray[Any]:
    """The sum, for fresh noise: 64 bits wide where every sum fits into them, else Python's integers.

    The sums are released, so they may decide about the type; the answer may not.
    """
    true = wide_enough(truth, 1, extra=largest_size(noise))
    if true.dtype != object and noise.dtype != object:
        noise += true
        return noise
    sums: NDArray[Any] = np.add(true.astype(object), noise.astype(object))
    return wide_enough(sums, 1)

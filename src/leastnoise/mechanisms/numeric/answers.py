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


def whole_answer(answer: object) -> int:
    """The answer as a Python integer.

    >>> whole_answer(1234.5)
    Traceback (most recent call last):
    leastnoise.errors.BadParameter: the answer must be a whole number; given: float; count, or measure in whole units
    """
    if isinstance(answer, Integral) and not isinstance(answer, bool):
        return int(answer)
    raise BadParameter(
        "the answer must be a whole number", given=type(answer).__name__, fix="count, or measure in whole units"
    )


def real_answer(answer: object) -> Fraction:
    """The answer as exactly the number it is: a float as the dyadic rational that the machine holds.

    Its shortest decimal, which parameters are read as, could lie further from a neighbour's than the sensitivity says.

    >>> real_answer(0.5), real_answer(0.1) == Fraction(1, 10)
    (Fraction(1, 2), False)
    """
    if isinstance(answer, Rational) and not isinstance(answer, bool):
        return Fraction(int(answer.numerator), int(answer.denominator))
    if isinstance(answer, float | np.float32 | np.float16) and np.isfinite(answer):
        return Fraction(float(answer))
    if isinstance(answer, Decimal) and answer.is_finite() and abs(answer.adjusted()) < _MOST_DIGITS:
        return Fraction(answer)
    raise BadParameter(
        "the answer must be a finite number", given=type(answer).__name__, fix="map missing values before asking"
    )


def whole_vector(answer: object, dimension: int) -> NDArray[Any]:
    """The answer as a flat array of integers of any size: some integer type of NumPy's, or Python's own."""
    array = whole_array(answer)
    if array is None or array.shape != (dimension,):
        raise BadParameter(
            f"the answer must be {dimension} whole numbers",
            given=type(answer).__name__ if array is None else f"shape {array.shape}",
            fix="pass an integer array with one number per coordinate",
        )
    return array


def add_noise(answer: NDArray[Any], noise: NDArray[Any]) -> NDArray[Any]:
    """The sum, for fresh noise: 64 bits wide where every sum fits into them, else Python's integers.

    The sums are released, so they may decide about the type; the answer may not.
    """
    true = wide_enough(answer, 1, extra=largest_size(noise))
    if true.dtype != object and noise.dtype != object:
        noise += true
        return noise
    sums: NDArray[Any] = np.add(true.astype(object), noise.astype(object))
    return wide_enough(sums, 1)

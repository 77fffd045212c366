"""Reading true answers. They are private: an error says what is wrong with them and never what they are."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter

__all__ = ["add_noise", "real_answer", "whole_answer", "whole_vector"]

_MOST_DIGITS = 400  # of a decimal, before and after the point
_SAFE = 1 << 61  # two numbers below this add up within 64 bits


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
    """The answer as a flat array of integers: 64 bits wide, or Python's own."""
    array = np.asarray(answer)
    is_whole = array.dtype.kind in "iu" or (
        array.dtype == object and all(isinstance(v, Integral) and not isinstance(v, bool) for v in array.flat)
    )
    if not is_whole or array.shape != (dimension,):
        raise BadParameter(
            f"the answer must be {dimension} whole numbers",
            given=f"shape {array.shape} of {array.dtype}",
            fix="pass an integer array with one number per coordinate",
        )
    return array


def add_noise(answer: NDArray[Any], noise: NDArray[Any]) -> NDArray[Any]:
    """The sum, for fresh noise; in 64 bits where that surely fits, else in Python's integers."""
    narrow = answer.dtype.kind in "iu" and (answer.dtype.itemsize < 8 or _is_safe(answer))
    if not narrow or noise.dtype == object:
        sums: NDArray[Any] = np.add(_as_objects(answer), _as_objects(noise))
        return sums
    noise += answer.astype(np.int64, copy=False)
    return noise


def _is_safe(numbers: NDArray[Any]) -> bool:
    return not numbers.size or max(-int(numbers.min()), int(numbers.max())) <= _SAFE


def _as_objects(numbers: NDArray[Any]) -> NDArray[Any]:
    objects = np.empty(numbers.shape, dtype=object)
    objects.ravel()[:] = [int(number) for number in numbers.flat]
    return objects

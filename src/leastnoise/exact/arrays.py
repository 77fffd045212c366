"""Arrays of exact parameters: a double for each, within a stated relative error, and the exact number on demand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact.numbers import Exact, LogSum, double_of
from leastnoise.exact.parameters import NumberLike, read_exact

__all__ = [
    "RELATIVE_ERROR",
    "ExactArray",
    "IntArray",
    "Length",
    "Point",
    "Size",
    "is_array",
    "largest_size",
    "read_array",
    "shape_of",
    "whole_array",
    "wide_enough",
]

RELATIVE_ERROR = 2.0**-50
_SMALLEST, _LARGEST = 2.0**-900, 2.0**900

_MOST_DRAWS = 1 << 32

Size = int | tuple[int, ...] | None


@dataclass(frozen=True)
class ExactArray:
    """Exact numbers, flat, with doubles `centers` that are within a factor 1 ± `RELATIVE_ERROR` of them."""

    centers: NDArray[np.float64]
    shape: tuple[int, ...]
    exact: Callable[[int], Exact]

    def rational(self, i: int) -> Fraction:
        """The number itself, where a logarithm has no meaning."""
        number = self.exact(i)
        if isinstance(number, LogSum):
            raise BadParameter("a rational number is needed, not a logarithm", given=number, fix="pass rationals")
        return number

    def reciprocal(self) -> ExactArray:
        """The exact reciprocals, of rationals."""
        return ExactArray(1.0 / self.centers, self.shape, lambda i: 1 / self.rational(i))


def is_array(value: object) -> bool:
    """Whether a parameter is one number per element and not one for all."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def read_array(values: object, name: str, *, zero_allowed: bool = False) -> ExactArray:
    """Read an array of positive exact numbers; floats as their shortest decimals, as everywhere.

    >>> read_array([0.1, "1/3"], "scale").exact(0)
    Fraction(1, 10)
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise BadParameter(f"{name} is ragged", fix="pass rows of equal length") from None
    flat: NDArray[Any] = array.ravel()
    exact: Callable[[int], Exact]
    if array.dtype.kind in "iu":
        centers, exact = flat.astype(np.float64), lambda i: Fraction(int(flat[i]))
    elif array.dtype == np.float64:
        centers, exact = flat, lambda i: read_exact(float(flat[i]), name)
    else:
        items: list[NumberLike] = list(flat if array.dtype.kind == "f" else np.asarray(values, dtype=object).ravel())
        numbers = [read_exact(item, f"{name}[{i}]") for i, item in enumerate(items)]
        # A number below the smallest double is not zero, but no double is near it: it counts as no number here.
        centers = np.array([0.0 if number == 0 else double_of(number) or np.nan for number in numbers])
        exact = numbers.__getitem__
    fine = (centers >= _SMALLEST) & (centers <= _LARGEST)
    if zero_allowed:
        fine |= centers == 0
    if not fine.all():
        place = int(np.flatnonzero(~fine)[0])
        raise BadParameter(
            f"{name}[{place}] must be {'0 or ' if zero_allowed else ''}between 2^-900 and 2^900",
            given=flat[place],
            fix=f"pass positive finite numbers as {name}",
        )
    return ExactArray(centers, array.shape, exact)


def shape_of(size: Size) -> tuple[int, ...]:
    """The shape that `size` asks for; None is a single number.

    >>> shape_of(None), shape_of(3), shape_of((2, 3))
    ((), (3,), (2, 3))
    """
    if size is None:
        return ()
    shape = size if isinstance(size, tuple) else (size,)
    if any(isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0 for n in shape):
        raise BadParameter("size must be whole numbers of at least 0", given=size, fix="pass size=1000 or size=(10, 3)")
    if math.prod(int(n) for n in shape) > _MOST_DRAWS:
        raise TooLarge("so many draws do not fit into memory", given=size, fix="draw them in parts")
    return tuple(int(n) for n in shape)


def largest_size(numbers: NDArray[Any]) -> int:
    """The largest |number| of an array of whole numbers, 0 if it is empty.

    >>> largest_size(np.array([-128, 127], dtype=np.int8))
    128
    """
    return max(-int(numbers.min()), int(numbers.max())) if numbers.size else 0


def wide_enough(numbers: NDArray[Any], growth: int, extra: int = 0) -> NDArray[Any]:
    """Whole numbers as int64 where growth·largest + extra fits into it, else as Python's integers, which never wrap.

    NumPy does not say when an integer array wraps. So whoever computes with one bounds the result first: `growth` and
    `extra` bound every number that is formed, intermediate ones included.

    >>> wide_enough(np.array([100, -100], dtype=np.int8), growth=2).dtype, wide_enough(np.array([2**62]), 2).dtype
    (dtype('int64'), dtype('O'))
    """
    fits = growth * largest_size(numbers) + extra < 1 << 63
    return numbers.astype(np.int64 if fits else object)


def whole_array(values: object) -> NDArray[Any] | None:
    """Whole numbers of any size as an array of some integer type or of Python's integers; None if they are not whole.

    NumPy would read a list such as [2**63, -1] as floats, so that the size of a number would decide whether it counts
    as whole; here only the types of the values do.

    >>> whole_array([2**63, -1]), whole_array([1.0]), whole_array([True])
    (array([9223372036854775808, -1], dtype=object), None, None)
    """
    if not isinstance(values, list | tuple | Integral) and not hasattr(values, "__array__"):
        return None
    array = np.asarray(values, dtype=None if hasattr(values, "__array__") else object)
    if array.dtype.kind in "iu":
        return array
    if array.dtype != object or not all(_is_whole(value) for value in array.flat):
        return None
    whole = np.empty(array.shape, dtype=object)
    whole.ravel()[:] = [int(value) for value in array.flat]
    return whole


def _is_whole(value: object) -> bool:
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))


IntArray: TypeAlias = npt.NDArray[np.int64]
Length: TypeAlias = int | Fraction
Point: TypeAlias = tuple[int, ...]

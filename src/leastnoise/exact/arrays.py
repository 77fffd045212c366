"""Arrays of exact parameters: a double for each, within a stated relative error, and the exact number on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact.numbers import Exact, LogSum
from leastnoise.exact.parameters import NumberLike, read_exact

__all__ = ["RELATIVE_ERROR", "ExactArray", "Size", "is_array", "read_array", "shape_of"]

RELATIVE_ERROR = 2.0**-50
_SMALLEST, _LARGEST = 2.0**-900, 2.0**900

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
        centers, exact = np.array([float(number) for number in numbers]), numbers.__getitem__
    fine = (centers >= _SMALLEST) & (centers <= _LARGEST)
    if zero_allowed:
        fine |= centers == 0
    if not fine.all():
        place = int(np.flatnonzero(~fine)[0])
        raise BadParameter(
            f"{name}[{place}] must be {'at least' if zero_allowed else 'above'} 0 and of ordinary size",
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
    return tuple(int(n) for n in shape)

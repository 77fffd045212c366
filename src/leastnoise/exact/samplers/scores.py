"""Scores, exponents, base weights: long lists of exact numbers, with doubles beside them for the fast path."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import compress
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact.balls import above, evaluate
from leastnoise.exact.numbers import Exact, LogSum, ball_of
from leastnoise.exact.parameters import NumberLike, read_many

__all__ = ["Numbers", "Scores"]

Numbers = Sequence[NumberLike] | NDArray[Any]

_LARGEST_GAP = 2**520  # times any admissible rate this is far below e^-700
_MOST_LISTED = 1 << 24
_LONGEST = 1 << 12  # bits of a common denominator that still pays


class Scores:
    """A list of exact numbers that can be many: an integer or float array as it is, anything else read one by one.

    Rationals of a list are kept as whole numbers over one denominator, which are quick to compare and to subtract.
    """

    def __init__(self, values: Numbers, name: str) -> None:
        self._numbers: list[Exact] = []
        self._whole: list[int] = []
        self._array: NDArray[Any] = np.empty(0)
        if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iuf":
            self._array = _checked(values, name)
        elif isinstance(values, Sequence | np.ndarray) and not isinstance(values, str | bytes) and _is_flat(values):
            if len(values) > _MOST_LISTED:
                raise TooLarge(f"{name} are too many for a list", given=len(values), fix="pass an array of numbers")
            self._read(read_many(values, name))
        if not len(self):
            raise BadParameter(
                f"{name} must be a non-empty list", given=type(values).__name__, fix="pass one number each"
            )

    def _read(self, numbers: list[Exact]) -> None:
        denominator = 1
        for number in numbers:
            if isinstance(number, LogSum) or denominator.bit_length() > _LONGEST:
                self._numbers = numbers
                return
            denominator = lcm(denominator, number.denominator)
        self._denominator = denominator
        self._whole = [n.numerator * (denominator // n.denominator) for n in numbers if not isinstance(n, LogSum)]

    def __len__(self) -> int:
        """How many numbers there are."""
        return len(self._numbers) or len(self._whole) or len(self._array)

    def exact(self, i: int) -> Exact:
        """The number itself; a float of an array as the dyadic rational it is."""
        if self._whole:
            return Fraction(self._whole[i], self._denominator)
        return self._numbers[i] if self._numbers else Fraction(self._array[i].item())

    def largest(self, live: NDArray[np.bool_] | None = None) -> Exact:
        """The largest number, among those that count."""
        if self._whole:
            return Fraction(max(self._whole if live is None else compress(self._whole, live)), self._denominator)
        if self._numbers:
            return max(self._numbers if live is None else compress(self._numbers, live))
        return Fraction((self._array if live is None else self._array[live]).max().item())

    def gaps(self, largest: Exact, block: slice, rate: float) -> NDArray[np.float64]:
        """`rate` times how far the numbers of a block are above the largest that counts, within two roundings.

        None that counts is above it; others get any gap below 0. The rate may be negative. A product beyond the doubles
        is infinite.
        """
        part = self._array[block]
        if part.dtype.kind in "iu" and not isinstance(largest, LogSum):
            # A difference of 64-bit integers may need 65 bits with its sign, but not without it. Where it wraps, the
            # number is above the largest that counts and its gap is arbitrary.
            wrapped = part.view(np.uint64) if part.dtype == np.int64 else part.astype(np.uint64)
            gaps: NDArray[np.float64] = np.multiply(np.uint64(largest.numerator % 2**64) - wrapped, -rate, dtype=float)
            return gaps
        gaps = self._real_gaps(largest, block)
        with np.errstate(over="ignore"):
            gaps *= rate
        return gaps

    def _real_gaps(self, largest: Exact, block: slice) -> NDArray[np.float64]:
        if self._whole and not isinstance(largest, LogSum):
            top, below = largest.numerator * (self._denominator // largest.denominator), self._denominator
            limit = _LARGEST_GAP * below
            return -np.array([min(max(top - whole, 0), limit) / below for whole in self._whole[block]])
        if self._numbers or isinstance(largest, LogSum):
            exact = (min(x - largest, Fraction(0)) for x in self._numbers[block])
            return np.array([float(max(gap, Fraction(-_LARGEST_GAP))) for gap in exact])
        with np.errstate(over="ignore"):
            return np.minimum(self._array[block] - float(largest), 0.0)

    def positive(self) -> NDArray[np.bool_]:
        """Which base weights are above zero; a negative one, or none above zero, is refused."""
        listed = self._whole or self._numbers
        numbers: NDArray[Any] = np.array([(x > 0) - (x < 0) for x in listed]) if listed else self._array
        above_zero, negative = numbers > 0, numbers < 0
        if negative.any() or not above_zero.any():
            raise BadParameter(
                "base must be at least 0, and above 0 for some candidate",
                given=f"base[{np.flatnonzero(negative)[0]}] < 0" if negative.any() else "all zero",
                fix="pass non-negative weights",
            )
        return above_zero

    def shares(self) -> NDArray[np.float64]:
        """Each number over one that is nearly the largest, in doubles within four roundings or 2^-1000 of it."""
        if not self._whole and not self._numbers:
            return self._array.astype(np.float64) / float(self._array.max())
        top = above(evaluate(lambda: ball_of(self.largest()), 96))
        return np.array([float(self.exact(i) / top) for i in range(len(self))])


def _is_flat(values: object) -> bool:
    return not isinstance(values, np.ndarray) or values.ndim == 1


def _checked(array: NDArray[Any], name: str) -> NDArray[Any]:
    if array.dtype.itemsize > 8:
        raise BadParameter(f"{name} must be integers or doubles", given=array.dtype, fix="use astype(float)")
    if array.dtype.kind != "f":
        return array
    finite = np.isfinite(array)
    if not finite.all():
        raise BadParameter(f"{name}[{int(finite.argmin())}] must be finite", fix="drop such candidates first")
    return array.astype(np.float64, copy=False)

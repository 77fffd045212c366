"""Scores, exponents, base weights: long lists of exact numbers, with doubles beside them for the fast path."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact.numbers import Exact, LogSum
from leastnoise.exact.parameters import NumberLike, read_exact

__all__ = ["Numbers", "Scores"]

Numbers = Sequence[NumberLike] | NDArray[Any]

_LARGEST_GAP = 2**520  # times any admissible rate this is far below e^-700


class Scores:
    """A list of exact numbers that can be many: an integer or float array as it is, anything else read one by one."""

    def __init__(self, values: Numbers, name: str) -> None:
        array = np.asarray(values)
        if array.ndim != 1 or not len(array):
            raise BadParameter(
                f"{name} must be a non-empty list", given=f"shape {array.shape}", fix="pass one number each"
            )
        self._numbers: list[Exact] = []
        self._array: NDArray[Any] = array.astype(np.float64, copy=False) if array.dtype.kind == "f" else array
        if array.dtype.kind == "f" and isinstance(values, np.ndarray):
            if not np.isfinite(array).all():
                place = int(np.flatnonzero(~np.isfinite(array))[0])
                raise BadParameter(f"{name}[{place}] must be finite", fix="drop such candidates first")
        elif array.dtype.kind not in "iu":
            self._numbers = [read_exact(value, f"{name}[{i}]") for i, value in enumerate(values)]

    def __len__(self) -> int:
        """How many numbers there are."""
        return len(self._array)

    def exact(self, i: int) -> Exact:
        """The number itself; a float of an array as the dyadic rational it is."""
        return self._numbers[i] if self._numbers else Fraction(self._array[i].item())

    def largest(self, live: NDArray[np.bool_] | None = None) -> Exact:
        """The largest number, among those that count."""
        if self._numbers:
            return max(x for i, x in enumerate(self._numbers) if live is None or live[i])
        return Fraction((self._array if live is None else self._array[live]).max().item())

    def gaps(self, largest: Exact, block: slice) -> NDArray[np.float64]:
        """The numbers of a block minus the largest that counts, within one rounding; for others any gap below 0."""
        if self._numbers or isinstance(largest, LogSum):
            exact = (min(x - largest, Fraction(0)) for x in self._numbers[block])
            return np.array([float(max(gap, Fraction(-_LARGEST_GAP))) for gap in exact])
        part = self._array[block]
        if part.dtype.kind == "f":
            with np.errstate(over="ignore"):  # an infinite gap has weight "below e^-700", which is right
                return np.minimum(part - float(largest), 0.0)
        # A difference of 64-bit integers may need 65 bits with its sign, but not without it. Where it wraps, the number
        # is above the largest that counts and its gap is arbitrary.
        return -(np.uint64(largest.numerator % 2**64) - part.astype(np.uint64)).astype(np.float64)

    def positive(self) -> NDArray[np.bool_]:
        """Which base weights are above zero; a negative one, or none above zero, is refused."""
        numbers: NDArray[Any] = np.array(self._numbers, dtype=object) if self._numbers else self._array
        above, negative = (numbers > 0).astype(np.bool_), (numbers < 0).astype(np.bool_)
        if negative.any() or not above.any():
            raise BadParameter(
                "base must be at least 0, and above 0 for some candidate",
                given=f"base[{np.flatnonzero(negative)[0]}] < 0" if negative.any() else "all zero",
                fix="pass non-negative weights",
            )
        return above

    def shares(self) -> NDArray[np.float64]:
        """Each number divided by the largest, in doubles within four roundings."""
        largest = float(self.largest())
        return np.array([float(x) for x in self._numbers] if self._numbers else self._array, dtype=np.float64) / largest

"""Two kinds of numbers for bounds of non-negative sums: doubles with their rounding added, and balls of any precision.

Sums and products of non-negative numbers never cancel. So in doubles a product of matrices with n terms per entry is
within a factor 1 ± (n + 2)·2^-53 of the true one, unless it is so small that digits are lost: such a lower bound counts
as zero and such an upper bound as 2^-960. Balls carry their own error and have no least number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact import UNIT, Ball, above, below, evaluate

__all__ = ["Arithmetic", "Array", "Balls", "Bounds", "Doubles", "at_precision"]

Array = NDArray[Any]
Bounds = tuple[Array, Array]  # a lower and an upper one
Result = TypeVar("Result")

_LEAST = 2.0**-960  # what a product of two larger numbers loses by underflow is far below it


def at_precision(compute: Callable[[], Result], precision: int) -> Result:
    """Whatever is computed from balls, such as an array of them, at a working precision in bits."""
    results: list[Result] = []

    def run() -> Ball:
        results.append(compute())
        return Ball(0)

    evaluate(run, precision)
    return results[0]


class Arithmetic(Protocol):
    """Lower and upper bounds of arrays of non-negative numbers."""

    precision: int
    exact_range: bool

    def bounds(self, formulas: Sequence[Callable[[], Ball]]) -> Bounds:
        """Bounds of some numbers."""

    def zeros(self, shape: tuple[int, ...]) -> Array:
        """An array of zeros."""

    def below(self, one: Array, other: Array) -> Array:
        """A lower bound of a product of matrices, from lower bounds of both."""

    def above(self, one: Array, other: Array) -> Array:
        """An upper bound of a product of matrices, from upper bounds of both."""

    def scaled(self, low: Array, high: Array) -> tuple[Array, Array, int]:
        """Both vectors times 2^-e, so that the largest entry is of ordinary size, and e."""


class Doubles:
    """The common case."""

    precision = 128
    exact_range = False

    def bounds(self, formulas: Sequence[Callable[[], Ball]]) -> Bounds:
        """The doubles next to the ends of each ball; one and zero stay as they are."""
        balls = [evaluate(formula, self.precision) for formula in formulas]
        low = np.array([float(below(ball)) for ball in balls])
        high = np.array([float(above(ball)) for ball in balls])
        plain = (low == high) & ((low == 0) | (low == 1))
        low, high = np.where(plain, low, np.nextafter(low, 0.0)), np.where(plain, high, np.nextafter(high, np.inf))
        return _flushed(low), np.where(high > 0, np.maximum(high, _LEAST), 0.0)

    def zeros(self, shape: tuple[int, ...]) -> Array:
        """Doubles."""
        return np.zeros(shape)

    def below(self, one: Array, other: Array) -> Array:
        """The product, a little smaller."""
        return _flushed((one @ other) * (1 - (one.shape[-1] + 2) * 2 * UNIT))

    def above(self, one: Array, other: Array) -> Array:
        """The product, a little larger."""
        larger: Array = np.maximum((one @ other) * (1 + (one.shape[-1] + 2) * 2 * UNIT), _LEAST)
        return larger

    def scaled(self, low: Array, high: Array) -> tuple[Array, Array, int]:
        """A power of two changes no digit."""
        exponent = int(np.frexp(high.max())[1])
        return _flushed(np.ldexp(low, -exponent)), np.maximum(np.ldexp(high, -exponent), _LEAST), exponent


class Balls:
    """Any precision, some thousand times slower."""

    exact_range = True

    def __init__(self, precision: int) -> None:
        self.precision = precision

    def bounds(self, formulas: Sequence[Callable[[], Ball]]) -> Bounds:
        """The balls, which are both bounds at once."""
        balls = np.array([evaluate(formula, self.precision) for formula in formulas], dtype=object)
        return balls, balls

    def zeros(self, shape: tuple[int, ...]) -> Array:
        """Exact zeros."""
        return np.full(shape, Ball(0), dtype=object)

    def below(self, one: Array, other: Array) -> Array:
        """The product; its balls reach below the true one."""
        return self._product(one, other)

    def above(self, one: Array, other: Array) -> Array:
        """The product; its balls reach above the true one."""
        return self._product(one, other)

    def scaled(self, low: Array, high: Array) -> tuple[Array, Array, int]:
        """Balls need no scaling."""
        return low, high, 0

    def _product(self, one: Array, other: Array) -> Array:
        return at_precision(lambda: one @ other, self.precision)


def _flushed(numbers: Array) -> Array:
    numbers[numbers < _LEAST] = 0.0
    return numbers

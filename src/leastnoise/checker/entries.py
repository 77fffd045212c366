"""The entries of a channel for fast exact work: doubles that rule out, rationals that decide.

Doubles never decide anything here. A quotient of doubles is the correctly rounded quotient of the numbers, and rounding
is monotone: the largest quotient is among those whose rounded value is largest. What the doubles leave open is
settled with the exact numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ChannelEntries",
    "FloatEntries",
    "Floats",
    "Indices",
    "Mask",
    "RationalEntries",
    "blocks",
    "exact_product",
    "read_entries",
]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

_BLOCK = 1 << 18  # elements worked on at once: they stay in the processor's cache
_SMALLEST_ORDINARY = 2.0**-1000  # quotients of numbers between this and 2 can neither overflow nor underflow
_REMAINDER_SLACK = 2.0**-103
_SPLITTER = 2.0**27 + 1
_PIECE = 18  # a 53-bit mantissa in three pieces
_LIMB = 16
_MOST_AT_ONCE = 1 << 19


def blocks(count: int, width: int) -> Iterator[slice]:
    """Slices of `count` rows of `width` numbers, small enough to be worked on at once."""
    step = max(1, _BLOCK // max(1, width))
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def exact_product(a: Any, b: Any) -> tuple[Floats, Floats]:
    """fl(a·b) and the error a·b − fl(a·b), both doubles, for numbers far from overflow and underflow."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(a: Any) -> tuple[Any, Any]:
    """Two numbers of 26 bits whose sum is a."""
    shifted = _SPLITTER * a
    high = shifted - (shifted - a)
    return high, a - high


class ChannelEntries(ABC):
    """A matrix of probabilities p(y|x): doubles near them, and the exact numbers on demand.

    Attributes:
        floats: The nearest doubles.
        zeros: Where the exact number is zero (a double may be zero because the number is tiny).
        quotient_error: Bound on the relative error of `quotients`; 0 stands for correctly rounded.
        parts_error: Bound on the absolute error of `parts`, beside a relative one of 2^-106.
    """

    floats: Floats
    zeros: Mask
    quotient_error: float
    parts_error: float

    @property
    def shape(self) -> tuple[int, int]:
        """How many inputs and outputs there are."""
        return self.floats.shape[0], self.floats.shape[1]

    @abstractmethod
    def value(self, x: int, y: int) -> Fraction:
        """p(y|x) exactly."""

    @abstractmethod
    def numbers(self, x: Indices, outputs: Indices) -> list[Any]:
        """Some p(y|x), each as the double or the Fraction that it is."""

    @abstractmethod
    def total(self, x: int, chosen: Mask) -> Fraction:
        """Σ p(y|x) over the chosen outputs exactly."""

    @abstractmethod
    def extremes(self) -> tuple[Indices, Indices]:
        """For each output an input that gives it the largest, and one that gives it the least probability."""

    @cached_property
    @abstractmethod
    def identities(self) -> Indices:
        """A whole number for each entry, the same exactly where the entries are equal."""

    @cached_property
    @abstractmethod
    def scaled(self) -> tuple[Floats, NDArray[np.int32]]:
        """Mantissas and exponents, mantissa·2^exponent being the entry, for numbers of any size; 1 for zero."""

    @cached_property
    @abstractmethod
    def parts(self) -> tuple[Floats, Floats]:
        """The nearest doubles, and those nearest to what is left."""

    def pair_keys(self, x: Indices | int, neighbour: Indices | int, outputs: Indices) -> Indices:
        """A whole number for each pair of entries p(y|x), p(y|x'), the same exactly where both are equal."""
        count, numbers = self._numbered
        keys: Indices = numbers[x, outputs] * count + numbers[neighbour, outputs]
        return keys

    @property
    def key_limit(self) -> int:
        """What all `pair_keys` are below."""
        return self._numbered[0] ** 2

    @cached_property
    def _numbered(self) -> tuple[int, Indices]:
        """How many different entries there are, and their numbers in 32 bits where a pair's key is below 2^31."""
        count = int(self.identities.max()) + 1
        return count, self.identities.astype(np.int32) if count**2 < 1 << 31 else self.identities

    @abstractmethod
    def leading(self, groups: Indices, x: Indices, neighbour: Indices, outputs: Indices) -> Indices:
        """Places among these quotients p(y|x)/p(y|x'), none zero, with the largest of each group among them."""

    @cached_property
    def _are_ordinary(self) -> bool:
        return bool(self._plain.min(initial=1.0) >= _SMALLEST_ORDINARY)

    @cached_property
    def _plain(self) -> Floats:
        return np.where(self.zeros, 1.0, self.floats) if self.zeros.any() else self.floats

    def quotients(self, x: Indices, neighbour: Indices) -> Floats:
        """p(y|x)/p(y|x') for pairs of rows, infinity where it overflows; entries that are zero count as one."""
        if self._are_ordinary:
            quotients: Floats = self._plain[x] / self._plain[neighbour]
            return quotients
        mantissas, exponents = self.scaled
        with np.errstate(over="ignore", under="ignore"):
            scaled: Floats = np.ldexp(mantissas[x] / mantissas[neighbour], exponents[x] - exponents[neighbour])
        return scaled

    def largest_quotients(self, x: Indices, neighbour: Indices) -> tuple[Floats, Floats]:
        """For pairs of rows the largest of p(y|x)/p(y|x') and of p(y|x')/p(y|x) over y, as `quotients` has them."""
        if not self._are_ordinary:
            return self.quotients(x, neighbour).max(axis=1), self.quotients(neighbour, x).max(axis=1)
        left, right = self._plain[x], self._plain[neighbour]
        quotients = left / right
        there: Floats = quotients.max(axis=1)
        back: Floats = np.divide(right, left, out=quotients).max(axis=1)
        return there, back


class FloatEntries(ChannelEntries):
    """Doubles, each taken as exactly the dyadic rational that it is."""

    quotient_error = 0.0
    parts_error = 0.0

    def __init__(self, matrix: Floats) -> None:
        self.floats = np.ascontiguousarray(matrix, dtype=np.float64)
        self.zeros = self.floats == 0

    def value(self, x: int, y: int) -> Fraction:
        """p(y|x) exactly."""
        return Fraction(float(self.floats[x, y]))

    def numbers(self, x: Indices, outputs: Indices) -> list[float]:
        """Some of the doubles."""
        chosen: list[float] = self.floats[x, outputs].tolist()
        return chosen

    def total(self, x: int, chosen: Mask) -> Fraction:
        """Σ p(y|x) in fixed point: pieces of 18 bits, shifted by less than 16, add up below 2^53 for 2^19 outputs."""
        outputs = self.floats[x, chosen]
        parts = (self._sum(outputs[start : start + _MOST_AT_ONCE]) for start in range(0, len(outputs), _MOST_AT_ONCE))
        return sum(parts, start=Fraction(0))

    @staticmethod
    def _sum(numbers: Floats) -> Fraction:
        mantissas, exponents = np.frexp(numbers)
        lowest = int(exponents.min())
        limbs, shifts = np.divmod(exponents - lowest, _LIMB)
        whole = (mantissas * 2.0**53).astype(np.int64)
        total = 0
        for start in range(0, 53, _PIECE):
            pieces = ((whole >> start) & ((1 << _PIECE) - 1)) << shifts
            for place, digit in enumerate(np.bincount(limbs, pieces).tolist()):
                total += int(digit) << (start + _LIMB * place)
        return Fraction(total) * Fraction(2) ** (lowest - 53)

    def extremes(self) -> tuple[Indices, Indices]:
        """For each output an input that gives it the largest, and one that gives it the least probability."""
        return self.floats.argmax(axis=0), self.floats.argmin(axis=0)

    @cached_property
    def identities(self) -> Indices:
        """A whole number for each entry, the same exactly where the entries are equal."""
        return np.unique(self.floats, return_inverse=True)[1].reshape(self.shape).astype(np.int64)

    def leading(self, groups: Indices, x: Indices, neighbour: Indices, outputs: Indices) -> Indices:
        """Places of those quotients that are the largest of their group, or so near that doubles can't tell.

        A quotient of mantissas a/b is q·(1 + r) with q = fl(a/b) and r = (a − q·b)/(q·b), at most 2^-53. The remainder
        a − q·b is a double, found exactly by Dekker's product (Numerische Mathematik 18, 1971); dividing it by fl(q·b)
        puts r off by less than 2^-104. The largest quotient has the largest exponent, then the largest q, then an r
        less than twice that from the largest.
        """
        (a, up), (b, down) = np.frexp(self.floats[x, outputs]), np.frexp(self.floats[neighbour, outputs])
        q = a / b
        mantissas, exponents = np.frexp(q)
        product, error = exact_product(q, b)
        places = np.arange(len(groups))
        for key, slack in (
            ((exponents + up - down).astype(np.float64), 0.0),
            (mantissas, 0.0),
            (((a - product) - error) / product, _REMAINDER_SLACK),
        ):
            top = np.full(groups.max(initial=0) + 1, -np.inf)
            np.maximum.at(top, groups[places], key[places])
            places = places[key[places] >= top[groups[places]] - slack]
        return places

    @cached_property
    def parts(self) -> tuple[Floats, Floats]:
        """Nothing is left."""
        return self.floats, np.zeros_like(self.floats)

    @cached_property
    def scaled(self) -> tuple[Floats, NDArray[np.int32]]:
        """Mantissas and exponents; frexp is exact, for subnormal numbers too."""
        mantissas, exponents = np.frexp(self._plain)
        return mantissas, exponents.astype(np.int32)


class RationalEntries(ChannelEntries):
    """Fractions. A double near each is off by a factor 1 ± 2^-53, a quotient of two by less than 2^-51."""

    quotient_error = 2.0**-51
    parts_error = 2.0**-1074

    def __init__(self, matrix: NDArray[Any]) -> None:
        self._exact = matrix
        self.zeros = np.array([[p == 0 for p in row] for row in matrix], dtype=bool).reshape(matrix.shape)
        self.floats = np.array([[float(p) for p in row] for row in matrix], dtype=np.float64).reshape(matrix.shape)
        self._rows: dict[int, tuple[NDArray[Any], int]] = {}

    def value(self, x: int, y: int) -> Fraction:
        """p(y|x) exactly."""
        number: Fraction = self._exact[x, y]
        return number

    def numbers(self, x: Indices, outputs: Indices) -> list[Fraction]:
        """Some of the Fractions."""
        chosen: list[Fraction] = self._exact[x, outputs].tolist()
        return chosen

    def total(self, x: int, chosen: Mask) -> Fraction:
        """Σ p(y|x) over the common denominator of the row."""
        if x not in self._rows:
            bottom = lcm(*(p.denominator for p in self._exact[x]))
            scaled = [p.numerator * (bottom // p.denominator) for p in self._exact[x]]
            self._rows[x] = np.array(scaled, dtype=object), bottom
        tops, bottom = self._rows[x]
        return Fraction(sum(tops[chosen].tolist()), bottom)

    def extremes(self) -> tuple[Indices, Indices]:
        """For each output an input that gives it the largest, and one that gives it the least probability."""
        inputs, outputs = range(self.shape[0]), range(self.shape[1])
        largest = [max(inputs, key=lambda x: self._exact[x, y]) for y in outputs]
        least = [min(inputs, key=lambda x: self._exact[x, y]) for y in outputs]
        return np.array(largest, dtype=np.int64), np.array(least, dtype=np.int64)

    @cached_property
    def identities(self) -> Indices:
        """A whole number for each entry, the same exactly where the entries are equal."""
        known: dict[Fraction, int] = {}
        numbers = [known.setdefault(p, len(known)) for p in self._exact.ravel()]
        return np.array(numbers, dtype=np.int64).reshape(self.shape)

    def leading(
        self,
        groups: Indices,
        x: Indices,  # noqa: ARG002
        neighbour: Indices,  # noqa: ARG002
        outputs: Indices,  # noqa: ARG002
    ) -> Indices:
        """All of them: Fractions are compared one by one."""
        return np.arange(len(groups))

    @cached_property
    def parts(self) -> tuple[Floats, Floats]:
        """Twice the nearest double."""
        pairs = zip(self._exact.ravel(), self.floats.ravel().tolist(), strict=True)
        rests = [float(p - Fraction(nearest)) for p, nearest in pairs]
        return self.floats, np.array(rests, dtype=np.float64).reshape(self.shape)

    @cached_property
    def scaled(self) -> tuple[Floats, NDArray[np.int32]]:
        """Mantissas between ½ and 2; dividing whole numbers rounds correctly in Python, at any size."""
        mantissas, exponents = np.ones(self.shape), np.zeros(self.shape, dtype=np.int32)
        for x, y in zip(*np.nonzero(~self.zeros), strict=True):
            top, bottom = self._exact[x, y].numerator, self._exact[x, y].denominator
            exponents[x, y] = shift = top.bit_length() - bottom.bit_length()
            mantissas[x, y] = (top << max(0, -shift)) / (bottom << max(0, shift))
        return mantissas, exponents


def read_entries(matrix: NDArray[Any]) -> ChannelEntries:
    """Wrap a matrix of doubles or of Fractions."""
    return FloatEntries(matrix) if matrix.dtype.kind == "f" else RationalEntries(matrix)

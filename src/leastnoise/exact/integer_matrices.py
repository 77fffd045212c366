"""Exact matrices of whole numbers of any size: products, sums and quadratic forms, never rounded.

Entries below 2^62 in size are kept as 64-bit integers, larger ones in FLINT (`fmpz_mat`). A matrix is made from rows of
Python's integers and gives them back; nobody outside sees FLINT's types.

**Products by doubles.** Write the entries of both factors in digits of w bits, where 2w + log₂ k ≤ 53 for sums of k
products. Then every partial sum is a whole number of at most 2^53, in whatever order a library adds them, with fused
multiplications or without: doubles hold it exactly. So a product of matrices is a few products of doubles.

**Distances by doubles.** Where entries would need too many digits, ‖I − A·B‖ is bounded instead: a computed sum of k
products is off by at most k·2^-53/(1 − k·2^-53) times the sum of their sizes, in whatever order (Higham, Accuracy and
Stability of Numerical Algorithms, 2002, section 3.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any, cast

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from leastnoise.exact.enclosures import sqrt_above

__all__ = ["IntegerMatrix"]

_WORD = 62  # bits of a size that is kept in 64-bit integers: two of them can be added
_PRODUCT = _WORD - 3  # of a product: it has at most eight parts, each as large as it may be itself
_DOUBLE = 53
_LONGEST = 500  # bits of a denominator whose square, times a number of rows, is a double
_DIGIT = 20  # of sums of products, entry by entry: 40 bits each, so 2^22 of them fit
_MOST_WIDE = 1 << 16  # entries of a product of wide numbers up to which digits are quicker than FLINT
_SMALL = 1 << 12  # entries up to which FLINT alone is quicker


class IntegerMatrix:
    """A matrix of whole numbers.

    Args:
        rows: Rows of equal length.
        columns: How long they are, where there may be none.

    >>> square = IntegerMatrix([[1, 2], [0, 3]])
    >>> (square.transposed() @ square).rows
    ((1, 2), (2, 13))
    """

    __slots__ = ("_flint_matrix", "_words")
    _words: NDArray[np.int64] | None
    _flint_matrix: fmpz_mat | None

    def __init__(self, rows: Iterable[Sequence[int]] | NDArray[Any], columns: int | None = None) -> None:
        table = rows if isinstance(rows, np.ndarray) else list(rows)
        width = columns if columns is not None else len(table[0])
        self._words = _words_of(table, len(table), width)
        self._flint_matrix = None
        if self._words is None:
            self._flint_matrix = fmpz_mat(len(table), width, [int(entry) for row in table for entry in row])

    @staticmethod
    def symmetric(triangle: Sequence[Sequence[int]]) -> IntegerMatrix:
        """The symmetric matrix whose row i begins with the i + 1 entries of row i of a triangle.

        >>> IntegerMatrix.symmetric([[1], [2, 3]]).rows
        ((1, 2), (2, 3))
        """
        size = len(triangle)
        try:
            return IntegerMatrix(_mirrored(triangle, np.zeros((size, size), dtype=np.int64)), size)
        except OverflowError:
            return IntegerMatrix(_mirrored(triangle, np.zeros((size, size), dtype=object)), size)

    @property
    def _flint(self) -> fmpz_mat:
        if self._flint_matrix is None:
            words = cast("NDArray[np.int64]", self._words)
            self._flint_matrix = fmpz_mat(words.shape[0], words.shape[1], words.ravel().tolist())
        return self._flint_matrix

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns."""
        if self._words is not None:
            return self._words.shape[0], self._words.shape[1]
        return self._flint.nrows(), self._flint.ncols()

    @property
    def rows(self) -> tuple[tuple[int, ...], ...]:
        """The entries, row by row."""
        if self._words is not None:
            return tuple(map(tuple, self._words.tolist()))
        return tuple(tuple(int(entry) for entry in row) for row in self._flint.tolist())

    def __len__(self) -> int:
        """How many rows."""
        return self.shape[0]

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        """Row by row."""
        return iter(self.rows)

    def __eq__(self, other: object) -> bool:
        """Same shape, same entries."""
        if not isinstance(other, IntegerMatrix):
            return NotImplemented
        if self._words is not None and other._words is not None:
            return bool(np.array_equal(self._words, other._words))
        return bool(self._flint == other._flint)

    def __hash__(self) -> int:
        """Equal matrices have equal hashes."""
        return hash((self.shape, tuple(self.diagonal())))

    def __reduce__(self) -> tuple[type[IntegerMatrix], tuple[tuple[tuple[int, ...], ...], int]]:
        """Copied and pickled by value."""
        return IntegerMatrix, (self.rows, self.shape[1])

    def copied(self) -> IntegerMatrix:
        """The same entries, and nothing else that was computed from them."""
        return IntegerMatrix(self.rows if self._words is None else self._words.copy(), self.shape[1])

    def array(self) -> NDArray[Any]:
        """The entries as an array of Python's integers, which never wrap."""
        if self._words is not None:
            return self._words.astype(object)
        table = np.empty(self.shape[0] * self.shape[1], dtype=object)
        table[:] = [int(entry) for entry in self._flint.entries()]
        return table.reshape(self.shape)

    def numbers(self, growth: int) -> NDArray[Any]:
        """The entries in numbers that can hold `growth` times as much: 64-bit integers, or Python's where needed."""
        if self._words is not None and self.bits + growth.bit_length() <= _WORD:
            return self._words
        return self.array()

    def doubles(self) -> NDArray[np.float64]:
        """The nearest doubles."""
        return (self.array() if self._words is None else self._words).astype(np.float64)

    @property
    def bits(self) -> int:
        """So many that every |entry| is below 2^bits."""
        if self._words is not None:
            return _bits_of(self._words)
        return max((abs(int(entry)).bit_length() for entry in self._flint.entries()), default=0)

    def __matmul__(self, other: IntegerMatrix) -> IntegerMatrix:
        """The matrix product."""
        (rows, shared), columns = self.shape, other.shape[1]
        entries = rows * columns
        small = max(rows * shared, shared * columns) <= _SMALL
        if not small and shared and (self._words is not None or other._words is not None):
            words = self.bits + other.bits + shared.bit_length() <= _PRODUCT
            if words or entries <= _MOST_WIDE:
                return IntegerMatrix(_product(self._numbers(), other._numbers(), shared, words), columns)
        return _wrap(self._flint * other._flint)

    def _numbers(self) -> NDArray[Any]:
        return self.array() if self._words is None else self._words

    def __sub__(self, other: IntegerMatrix) -> IntegerMatrix:
        """The difference, entry by entry."""
        if self._words is not None and other._words is not None:
            return IntegerMatrix(self._words - other._words, self.shape[1])
        return _wrap(self._flint - other._flint)

    def __rmul__(self, factor: int) -> IntegerMatrix:
        """Every entry times a whole number."""
        if self._words is not None and self.bits + abs(factor).bit_length() <= _WORD:
            return IntegerMatrix(self._words * factor, self.shape[1])
        return _wrap(self._flint * factor)

    def transposed(self) -> IntegerMatrix:
        """Rows become columns."""
        if self._words is not None:
            return IntegerMatrix(self._words.T, self.shape[0])
        return _wrap(self._flint.transpose())

    def rank(self) -> int:
        """How many rows are independent."""
        return int(self._flint.rank())

    def diagonal(self) -> list[int]:
        """The entries whose row and column are the same."""
        if self._words is not None:
            found: list[int] = np.diagonal(self._words).tolist()
            return found
        return [int(entry) for entry in self._flint.entries()[:: self.shape[1] + 1]]

    def inner(self, other: IntegerMatrix) -> int:
        """The sum of the products of entries at the same place.

        >>> IntegerMatrix([[1, 2]]).inner(IntegerMatrix([[3, 4]]))
        11
        """
        if self._words is None or other._words is None:
            return int(sum(map(_times, self._flint.entries(), other._flint.entries())))
        total = 0
        for shift, one in _digits(self._words, self.bits, _DIGIT):
            for other_shift, digit in _digits(other._words, other.bits, _DIGIT):
                total += _sum(one * digit) << shift + other_shift
        return total

    def absolute_sum(self) -> int:
        """The sum of the sizes of all entries."""
        if self._words is not None:
            return _sum(np.abs(self._words))
        return int(sum(map(abs, self._flint.entries())))

    def column_sizes(self) -> list[int]:
        """For each column the sum of the sizes of its entries."""
        if self._words is not None and self.bits + self.shape[0].bit_length() <= _WORD:
            found: list[int] = np.abs(self._words).sum(axis=0).tolist()
            return found
        return [sum(map(abs, column)) for column in self.transposed().rows]

    def largest_row_sum(self, most: int) -> int:
        """The largest sum of the `most` largest sizes of the entries of a row."""
        sizes = np.abs(self.numbers(self.shape[1]))
        least = max(sizes.shape[1] - most, 0)
        kept = np.partition(sizes, least, axis=1)[:, least:] if 0 < least < sizes.shape[1] else sizes
        return int(kept.sum(axis=1).max())

    def distance_above(self, other: IntegerMatrix, denominator: int) -> Fraction:
        """At least ‖I − A·B/denominator‖ in the Frobenius norm, and hardly more.

        Doubles bound it where both matrices are doubles themselves; else the product is multiplied out.

        >>> IntegerMatrix([[2, 0], [0, 1]]).distance_above(IntegerMatrix([[1, 0], [0, 2]]), 2)
        Fraction(0, 1)
        """
        size = self.shape[1]
        if size * size > _SMALL and max(self.bits, other.bits) <= _DOUBLE and denominator.bit_length() <= _LONGEST:
            return _rounded_distance(self.doubles(), other.doubles(), denominator)
        whole = IntegerMatrix([[denominator if i == j else 0 for j in range(len(self))] for i in range(len(self))])
        rest = whole - self @ other
        return sqrt_above(Fraction(rest.inner(rest), denominator**2))


def _rounded_distance(one: NDArray[np.float64], other: NDArray[np.float64], denominator: int) -> Fraction:
    """‖I − A·B/d‖ + γ·‖A‖·‖B‖/d with γ twice as large as needed, which holds what all other operations round.

    Entries are at most 2^(53 + 53) times the size, and the denominator is below 2^500, so no square overflows. The
    computed product is subtracted from d·I with an error below 2^-53 of the result, and a norm of n² numbers is
    computed with a relative error below n²·2^-53 and that of a root: a factor of 1 + 2^-20 covers both up to 2^16 rows.
    """
    size = one.shape[1]
    rest = one @ other
    rest[np.diag_indices(len(rest))] -= float(denominator)  # rounded where it is no double: half of its last place
    lost = Fraction(size + 4, 2**52) * Fraction(float(np.linalg.norm(one))) * Fraction(float(np.linalg.norm(other)))
    diagonal = Fraction(len(rest)) * Fraction(denominator, 2**52)  # √n·d·2^-53 for the denominator, and more
    return (Fraction(float(np.linalg.norm(rest))) + lost + diagonal) * (1 + Fraction(1, 2**20)) / denominator


def _words_of(table: Any, rows: int, columns: int) -> NDArray[np.int64] | None:
    """The entries as 64-bit integers; None where one is too large for them."""
    if isinstance(table, np.ndarray) and table.dtype == np.int64:
        words = table
    else:
        try:
            words = np.array(table if isinstance(table, np.ndarray) else [list(row) for row in table], dtype=np.int64)
        except OverflowError:
            return None
    return words.reshape(rows, columns) if _bits_of(words) <= _WORD else None


def _mirrored(triangle: Sequence[Sequence[int]], table: NDArray[Any]) -> NDArray[Any]:
    for i, row in enumerate(triangle):
        table[i, : i + 1] = row
        table[: i + 1, i] = row
    return table


def _bits_of(numbers: NDArray[Any]) -> int:
    if not numbers.size:
        return 0
    return max(abs(int(numbers.min())), abs(int(numbers.max()))).bit_length()


def _digits(numbers: NDArray[Any], bits: int, width: int) -> Iterator[tuple[int, NDArray[Any]]]:
    """Shifts and digits that sum up to the numbers: all but the last from 0 to 2^width − 1, the last with the sign."""
    for shift in range(0, max(bits, 1), width):
        last = shift + width >= bits
        digit = numbers >> shift
        yield shift, digit if last else digit & ((1 << width) - 1)


def _product(one: NDArray[Any], other: NDArray[Any], shared: int, words: bool) -> NDArray[Any]:
    """The product by doubles; in 64-bit integers if they are known to hold it."""
    width = (_DOUBLE - shared.bit_length()) // 2
    parts = []
    others = [(shift, digit.astype(np.float64)) for shift, digit in _digits(other, _bits_of(other), width)]
    for shift, digit in _digits(one, _bits_of(one), width):
        left = digit.astype(np.float64)
        for other_shift, right in others:
            part = (left @ right).astype(np.int64)
            parts.append((part if words else part.astype(object)) << shift + other_shift)
    total: NDArray[Any] = reduce(add, parts)
    return total


def _sum(numbers: NDArray[np.int64]) -> int:
    """The sum of 64-bit integers of any size, none of which is the least."""
    top, low = numbers >> 32, numbers & 0xFFFFFFFF
    return (int(top.sum()) << 32) + int(low.sum())


def _times(one: Any, other: Any) -> Any:
    return one * other


def _wrap(matrix: fmpz_mat) -> IntegerMatrix:
    wrapped = IntegerMatrix.__new__(IntegerMatrix)
    wrapped._flint_matrix, wrapped._words = matrix, None
    rows, columns = matrix.nrows(), matrix.ncols()
    if rows * columns <= _MOST_WIDE and max(map(abs, matrix.entries()), default=0) < 1 << _WORD:
        wrapped._words = np.array(list(map(int, matrix.entries())), dtype=np.int64).reshape(rows, columns)
    return wrapped

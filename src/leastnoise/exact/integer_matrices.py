"""Exact matrices of whole numbers of any size: products, sums and quadratic forms, never rounded.

The arithmetic is FLINT's (`fmpz_mat`). A matrix is made from rows of Python's integers and gives them back; nobody
outside sees FLINT's types.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

__all__ = ["IntegerMatrix"]


class IntegerMatrix:
    """A matrix of whole numbers.

    Args:
        rows: Rows of equal length.
        columns: How long they are, where there may be none.

    >>> square = IntegerMatrix([[1, 2], [0, 3]])
    >>> (square.transposed() @ square).rows
    ((1, 2), (2, 13))
    """

    __slots__ = ("_flint",)

    def __init__(self, rows: Iterable[Sequence[int]], columns: int | None = None) -> None:
        table = list(rows)
        width = len(table[0]) if columns is None else columns
        self._flint = fmpz_mat(len(table), width, [entry for row in table for entry in row])

    @staticmethod
    def symmetric(triangle: Sequence[Sequence[int]]) -> IntegerMatrix:
        """The symmetric matrix whose row i begins with the i + 1 entries of row i of a triangle.

        >>> IntegerMatrix.symmetric([[1], [2, 3]]).rows
        ((1, 2), (2, 3))
        """
        size = len(triangle)
        table = np.zeros((size, size), dtype=object)
        for i, row in enumerate(triangle):
            table[i, : i + 1] = row
            table[: i + 1, i] = row
        return IntegerMatrix(table.tolist(), size)

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns."""
        return self._flint.nrows(), self._flint.ncols()

    @property
    def rows(self) -> tuple[tuple[int, ...], ...]:
        """The entries, row by row."""
        return tuple(tuple(int(entry) for entry in row) for row in self._flint.tolist())

    def __eq__(self, other: object) -> bool:
        """Same shape, same entries."""
        return self._flint == other._flint if isinstance(other, IntegerMatrix) else NotImplemented

    def __hash__(self) -> int:
        """Equal matrices have equal hashes."""
        return hash(self.rows)

    def __reduce__(self) -> tuple[type[IntegerMatrix], tuple[tuple[tuple[int, ...], ...], int]]:
        """Copied and pickled by value."""
        return IntegerMatrix, (self.rows, self.shape[1])

    def array(self) -> NDArray[Any]:
        """The entries as an array of Python's integers, which never wrap."""
        table = np.empty(self.shape[0] * self.shape[1], dtype=object)
        table[:] = [int(entry) for entry in self._flint.entries()]
        return table.reshape(self.shape)

    def __matmul__(self, other: IntegerMatrix) -> IntegerMatrix:
        """The matrix product."""
        return _wrap(self._flint * other._flint)

    def __sub__(self, other: IntegerMatrix) -> IntegerMatrix:
        """The difference, entry by entry."""
        return _wrap(self._flint - other._flint)

    def __rmul__(self, factor: int) -> IntegerMatrix:
        """Every entry times a whole number."""
        return _wrap(self._flint * factor)

    def transposed(self) -> IntegerMatrix:
        """Rows become columns."""
        return _wrap(self._flint.transpose())

    def rank(self) -> int:
        """How many rows are independent."""
        return int(self._flint.rank())

    def diagonal(self) -> list[int]:
        """The entries whose row and column are the same."""
        return [int(entry) for entry in self._flint.entries()[:: self.shape[1] + 1]]

    def inner(self, other: IntegerMatrix) -> int:
        """The sum of the products of entries at the same place.

        >>> IntegerMatrix([[1, 2]]).inner(IntegerMatrix([[3, 4]]))
        11
        """
        return int(sum(map(_product, self._flint.entries(), other._flint.entries())))

    def absolute_sum(self) -> int:
        """The sum of the sizes of all entries."""
        return int(sum(map(abs, self._flint.entries())))

    def largest_row_sum(self) -> int:
        """The largest sum of the sizes of the entries of a row: at least every |eigenvalue| of a symmetric matrix."""
        return max((int(sum(map(abs, row))) for row in self._flint.tolist()), default=0)


def _product(one: Any, other: Any) -> Any:
    return one * other


def _wrap(matrix: fmpz_mat) -> IntegerMatrix:
    wrapped = IntegerMatrix.__new__(IntegerMatrix)
    wrapped._flint = matrix
    return wrapped

"""Exact linear algebra: matrices of rationals that never change and are never rounded.

The arithmetic is FLINT's (`fmpq_mat`): products, reduced row echelon forms and what follows from them. A matrix is made
from rows of `Fraction`s and gives rows of `Fraction`s back; nobody outside sees FLINT's types.

The values of a whole linear map form the lattice F·Z^n. Write F = B·G with a basis B of the lattice and whole
coordinates G; the columns of G generate Z^r, with r the rank of F.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

__all__ = [
    "IntegerVector",
    "RationalMatrix",
    "beside",
    "coordinates",
    "distinct_columns",
    "fraction_of",
    "lattice_basis",
]

Rows = tuple[tuple[Fraction, ...], ...]

_SMALL = 1 << 14


class RationalMatrix:
    """A matrix of rationals.

    >>> half = RationalMatrix([[Fraction(1, 2), Fraction(1, 2)], [0, 1]])
    >>> (half @ half).rows
    ((Fraction(1, 4), Fraction(3, 4)), (Fraction(0, 1), Fraction(1, 1)))
    """

    __slots__ = ("_flint", "_numerators", "_rows")

    def __init__(self, rows: Iterable[Sequence[Fraction | int]], columns: int | None = None) -> None:
        """Read rows of equal length; `columns` says how long they are where there may be none."""
        table = list(rows)
        width = len(table[0]) if columns is None else columns
        entries = [fmpq(entry.numerator, entry.denominator) for row in table for entry in row]
        self._flint = fmpq_mat(len(table), width, entries)
        self._rows: Rows | None = None
        self._numerators: tuple[list[fmpz], fmpz] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns."""
        return self._flint.nrows(), self._flint.ncols()

    @property
    def rows(self) -> Rows:
        """The entries, row by row."""
        if self._rows is None:
            width, entries = self.shape[1], [fraction_of(entry) for entry in self._flint.entries()]
            self._rows = tuple(tuple(entries[i * width : (i + 1) * width]) for i in range(self.shape[0]))
        return self._rows

    def to_flint(self) -> fmpq_mat:
        """A copy in FLINT's own type, for the neighbours that compute in place."""
        return fmpq_mat(self._flint)

    def __eq__(self, other: object) -> bool:
        """Same shape, same entries."""
        return self._flint == other._flint if isinstance(other, RationalMatrix) else NotImplemented

    def __hash__(self) -> int:
        """Equal matrices have equal hashes."""
        return hash(self.rows)

    def __repr__(self) -> str:
        """The shape; the entries are in `rows`."""
        return "RationalMatrix({} x {})".format(*self.shape)

    def __reduce__(self) -> tuple[type[RationalMatrix], tuple[Rows, int]]:
        """Copied and pickled by value."""
        return RationalMatrix, (self.rows, self.shape[1])

    def __matmul__(self, other: RationalMatrix) -> RationalMatrix:
        """The matrix product."""
        return _wrap(self._flint * other._flint)

    def transposed(self) -> RationalMatrix:
        """Rows become columns."""
        return _wrap(self._flint.transpose())

    def take_rows(self, chosen: Sequence[int]) -> RationalMatrix:
        """The chosen rows, in the order given."""
        width, entries = self.shape[1], self._flint.entries()
        return _wrap(fmpq_mat(len(chosen), width, [e for i in chosen for e in entries[i * width : (i + 1) * width]]))

    def take_columns(self, chosen: Sequence[int]) -> RationalMatrix:
        """The chosen columns, in the order given."""
        height, width = self.shape
        entries = self._flint.entries()
        return _wrap(fmpq_mat(height, len(chosen), [entries[i * width + j] for i in range(height) for j in chosen]))

    def scaled_rows(self, factors: Sequence[Fraction]) -> RationalMatrix:
        """Row i multiplied by factor i."""
        height, width = self.shape
        if not self._is_small():
            scales = [fmpq(factor.numerator, factor.denominator) for factor in factors]
            entries = self._flint.entries()
            return _wrap(fmpq_mat(height, width, [scales[k // width] * entry for k, entry in enumerate(entries)]))
        numerators, denominator = self._over_one_denominator()
        common = lcm(*(factor.denominator for factor in factors))
        whole = [factor.numerator * (common // factor.denominator) for factor in factors]
        scaled = [whole[k // width] * entry for k, entry in enumerate(numerators)]
        result = _wrap(fmpq_mat(fmpz_mat(height, width, scaled)) * (1 / fmpq(denominator * common)))
        result._numerators = scaled, denominator * common
        return result

    def whole_rows(self) -> list[tuple[tuple[int, ...], int]]:
        """Each row as whole numbers and the denominator that they are over.

        >>> RationalMatrix([[Fraction(1, 2), Fraction(1, 3)]]).whole_rows()
        [((3, 2), 6)]
        """
        height, width = self.shape
        if not self._is_small():
            rows = (fmpq_mat(1, width, row).numer_denom() for row in self._flint.tolist())
            return [(tuple(int(entry) for entry in row.entries()), int(denominator)) for row, denominator in rows]
        numerators, denominator = self._over_one_denominator()
        whole, below = [int(entry) for entry in numerators], int(denominator)
        return [(tuple(whole[i * width : (i + 1) * width]), below) for i in range(height)]

    def whole_row(self, place: int) -> tuple[int, ...]:
        """One row times its least common denominator.

        >>> RationalMatrix([[Fraction(1, 2), Fraction(1, 3)]]).whole_row(0)
        (3, 2)
        """
        width = self.shape[1]
        row = fmpq_mat(1, width, [self._flint[place, j] for j in range(width)])
        return tuple(int(entry) for entry in row.numer_denom()[0].entries())

    def _is_small(self) -> bool:
        """Whether one denominator for all entries pays: it makes them quick to compare, but it may be very long."""
        return self.shape[0] * self.shape[1] <= _SMALL

    def _over_one_denominator(self) -> tuple[list[fmpz], fmpz]:
        if self._numerators is None:
            numerators, denominator = self._flint.numer_denom()
            self._numerators = numerators.entries(), denominator
        return self._numerators

    def row_sums(self) -> tuple[Fraction, ...]:
        """The sum of each row."""
        width = self.shape[1]
        return tuple(fraction_of(total) for total in (self._flint * fmpq_mat(width, 1, [1] * width)).entries())

    def column_minima(self) -> list[tuple[Fraction, int]]:
        """The least entry of each column and the first row it stands in."""
        return self._column_ends(min)

    def column_maxima(self) -> list[tuple[Fraction, int]]:
        """The greatest entry of each column and the first row it stands in."""
        return self._column_ends(max)

    def _column_ends(self, end: Callable[[list[Any]], Any]) -> list[tuple[Fraction, int]]:
        small, width = self._is_small(), self.shape[1]
        entries, denominator = self._over_one_denominator() if small else (self._flint.entries(), fmpz(1))
        columns = [entries[j::width] for j in range(width)]
        best = [end(column) for column in columns]
        return [(fraction_of(fmpq(e) / denominator), column.index(e)) for e, column in zip(best, columns, strict=True)]

    def is_nonnegative(self) -> bool:
        """Whether no entry is below zero."""
        return all(entry >= 0 for entry in self._flint.entries())

    def echelon(self) -> tuple[RationalMatrix, list[int]]:
        """The reduced row echelon form without its zero rows, and the pivot column of each row.

        >>> form, pivots = RationalMatrix([[1, 2, 3], [2, 4, 7]]).echelon()
        >>> pivots, [[int(entry) for entry in row] for row in form.rows]
        ([0, 2], [[1, 2, 0], [0, 0, 1]])
        """
        form, rank = self._flint.rref()
        width, entries = self.shape[1], form.entries()
        pivots = [next(j for j in range(width) if entries[i * width + j] != 0) for i in range(rank)]
        return _wrap(fmpq_mat(rank, width, entries[: rank * width])), pivots

    def rank(self) -> int:
        """The number of linearly independent rows."""
        return int(self._flint.rank())

    def solve(self, right: RationalMatrix) -> RationalMatrix | None:
        """Some X with self @ X = right (zero where it is free to choose), or None where there is none.

        >>> RationalMatrix([[2, 0], [0, 4]]).solve(RationalMatrix([[1], [1]])).rows
        ((Fraction(1, 2),), (Fraction(1, 4),))
        """
        width, many = self.shape[1], right.shape[1]
        form, pivots = beside(self, right).echelon()
        if pivots and pivots[-1] >= width:
            return None
        rows = {pivot: row[width:] for pivot, row in zip(pivots, form.rows, strict=True)}
        nothing = (Fraction(0),) * many
        return RationalMatrix([rows.get(j, nothing) for j in range(width)], many)

    def nullspace(self) -> RationalMatrix:
        """A matrix whose columns are a basis of {x: self @ x = 0}.

        >>> RationalMatrix([[1, 1]]).nullspace().rows
        ((Fraction(-1, 1),), (Fraction(1, 1),))
        """
        form, pivots = self.echelon()
        width, row_of = self.shape[1], {pivot: i for i, pivot in enumerate(pivots)}
        free = [j for j in range(width) if j not in row_of]
        rows = form.rows
        basis = [[-rows[row_of[j]][f] if j in row_of else Fraction(j == f) for f in free] for j in range(width)]
        return RationalMatrix(basis, len(free))


def beside(*matrices: RationalMatrix) -> RationalMatrix:
    """Matrices of equal height, put side by side."""
    height = matrices[0].shape[0]
    tables = [(matrix._flint.entries(), matrix.shape[1]) for matrix in matrices]
    entries = [e for i in range(height) for table, width in tables for e in table[i * width : (i + 1) * width]]
    return _wrap(fmpq_mat(height, sum(width for _, width in tables), entries))


def _wrap(matrix: fmpq_mat) -> RationalMatrix:
    wrapped = RationalMatrix.__new__(RationalMatrix)
    wrapped._flint, wrapped._rows, wrapped._numerators = matrix, None, None
    return wrapped


def fraction_of(entry: fmpq) -> Fraction:
    """FLINT's rational as Python's."""
    return Fraction(int(entry.p), int(entry.q))


IntegerVector = tuple[int, ...]


def distinct_columns(matrix: Sequence[Sequence[int]]) -> list[IntegerVector]:
    """The columns, without zeros and without repetitions up to sign.

    >>> distinct_columns([[1, -1, 0, 1], [2, -2, 0, 0]])
    [(1, 2), (1, 0)]
    """
    found: dict[IntegerVector, None] = {}
    for column in zip(*matrix, strict=True):
        opposite = tuple(-entry for entry in column)
        if any(column) and opposite not in found:
            found[column] = None
    return list(found)


def lattice_basis(columns: Sequence[IntegerVector]) -> list[IntegerVector]:
    """A basis of the lattice that the columns generate: the columns themselves where they are independent.

    Otherwise by Euclid's algorithm on one coordinate after the other.

    >>> lattice_basis([(1, 0), (1, 1)]), lattice_basis([(1, 0), (1, 2), (0, 2)]), lattice_basis([(2,), (3,)])
    ([(1, 0), (1, 1)], [(1, 0), (0, 2)], [(1,)])
    """
    if RationalMatrix(columns).rank() == len(columns):
        return list(columns)
    rest, basis = [list(column) for column in columns], []
    for place in range(len(columns[0])):
        live = [column for column in rest if column[place]]
        while len(live) > 1:
            pivot = min(live, key=lambda column: abs(column[place]))
            for column in live:
                if column is not pivot:
                    times = column[place] // pivot[place]
                    column[:] = [entry - times * other for entry, other in zip(column, pivot, strict=True)]
            live = [column for column in live if column[place]]
        if live:
            basis.append(tuple(live[0]))
            rest = [column for column in rest if column is not live[0]]
    return basis


def coordinates(columns: Sequence[IntegerVector], basis: Sequence[IntegerVector]) -> list[IntegerVector]:
    """The whole coordinates of each column in a basis of the lattice.

    >>> coordinates([(1, 1), (2, 1)], [(1, 0), (1, 1)])
    [(0, 1), (1, 1)]
    """
    solved = RationalMatrix(list(zip(*basis, strict=True))).solve(RationalMatrix(list(zip(*columns, strict=True))))
    if solved is None:
        raise ArithmeticError("a column lies outside the lattice")
    return [tuple(int(entry) for entry in column) for column in zip(*solved.rows, strict=True)]

"""The lattice F·Z^n that the answers of a linear map live on, and the coordinates in which noise is drawn.

Noise outside the lattice helps nobody: answers of neighbours differ by columns of F. So write F = B·G with a basis B of
the lattice and whole coordinates G; the columns of G generate Z^r, with r the rank of F.
"""

from __future__ import annotations

from collections.abc import Sequence

from leastnoise.exact.matrices import RationalMatrix

__all__ = ["Column", "coordinates", "distinct_columns", "lattice_basis"]

Column = tuple[int, ...]


def distinct_columns(matrix: Sequence[Sequence[int]]) -> list[Column]:
    """The columns, without zeros and without repetitions up to sign.

    >>> distinct_columns([[1, -1, 0, 1], [2, -2, 0, 0]])
    [(1, 2), (1, 0)]
    """
    found: dict[Column, None] = {}
    for column in zip(*matrix, strict=True):
        opposite = tuple(-entry for entry in column)
        if any(column) and opposite not in found:
            found[column] = None
    return list(found)


def lattice_basis(columns: Sequence[Column]) -> list[Column]:
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


def coordinates(columns: Sequence[Column], basis: Sequence[Column]) -> list[Column]:
    """The whole coordinates of each column in a basis of the lattice.

    >>> coordinates([(1, 1), (2, 1)], [(1, 0), (1, 1)])
    [(0, 1), (1, 1)]
    """
    solved = RationalMatrix(list(zip(*basis, strict=True))).solve(RationalMatrix(list(zip(*columns, strict=True))))
    if solved is None:
        raise ArithmeticError("a column lies outside the lattice")
    return [tuple(int(entry) for entry in column) for column in zip(*solved.rows, strict=True)]

"""A linear map of independent normal numbers, rounded to a grid: round(M·g), each coordinate to the nearest whole one.

g_j has mean 0 and variance v_j; M and v are exact rationals, so that every normal vector with a rational covariance
matrix is of this kind (Σ = L·D·Lᵀ with rational L and D). Each g_j is one real number whose bits are revealed as they
are needed (`Normals`), and all coordinates look at the same bits: the joint law is exact, not only that of each one.

Doubles decide nearly always. Let s_ij be the double of M_ij·√v_j, off by a relative 2^-51 at most, and h_j that of
g_j/√v_j, off by at most `DOUBLE_ERROR`, both below B in size. A sum of n products in doubles, in whatever order, is off
by at most (n + 1)·2^-53·Σ|s_ij|·|h_j| (Higham 2002, (3.5)). Together: Σ_j|s_ij|·(`DOUBLE_ERROR` + (n + 9)·2^-53·B).
Entries below the smallest doubles are lost, which matters to no sum that is near ½.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact.balls import Ball, of_fraction
from leastnoise.exact.enclosures import sqrt_below
from leastnoise.exact.normals import DOUBLE_ERROR, FARTHEST, NEAR, Normals
from leastnoise.exact.numbers import double_of
from leastnoise.exact.parameters import NumberLike, Size, read_rational, shape_of, whole_array
from leastnoise.exact.samplers.rounded_gaussian import nearest_whole, read_variance
from leastnoise.exact.sources import Source, system_source

__all__ = ["RoundedGaussianMap", "rounded_gaussian_map"]

_BLOCK = 1 << 16  # numbers at a time
_MOST_ENTRIES = 1 << 24
_LEAST_CLEAR = 0.25  # a row whose doubles are off by more is left to balls
_UNIT = 2.0**-53
_ROUNDINGS = 16  # in units, of all that is not the sum itself; 9 are proven
_SPARE = 1 + 2.0**-20  # above the roundings of the bound

Rational = int | Fraction
Rows = Sequence[Sequence[NumberLike]] | NDArray[Any]


def rounded_gaussian_map(
    matrix: Rows,
    variances: NumberLike | Sequence[NumberLike] = 1,
    size: Size = None,
    source: Source | None = None,
) -> NDArray[Any]:
    """Draw round(matrix·g) for independent normal g_j with mean 0 and variance variances_j.

    Args:
        matrix: Exact rationals, one row for each coordinate of the result, one column for each normal number.
        variances: One for all columns, or one for each; from 2^-100 to 2^100.
        size: How many independent vectors, along new first axes.
        source: Where the bits come from.

    >>> rounded_gaussian_map([[1, 0], [1, 1], [1, "1/3"]], [100, "1/4"], size=5).shape
    (5, 3)
    """
    return RoundedGaussianMap(matrix, variances).draw(size, source)


class RoundedGaussianMap:
    """One map, ready to draw many times.

    Args:
        matrix: As of `rounded_gaussian_map`.
        variances: As of `rounded_gaussian_map`.
    """

    def __init__(self, matrix: Rows, variances: NumberLike | Sequence[NumberLike] = 1) -> None:
        self.rows = _read_matrix(matrix)
        self.variances = _read_variances(variances, len(self.rows[0]))
        roots = {variance: float(sqrt_below(variance, 80)) for variance in set(self.variances)}
        with np.errstate(over="ignore"):
            doubles = _doubles(self.rows) * np.array([roots[variance] for variance in self.variances])
            self._sizes = np.abs(doubles).sum(axis=1) * _SPARE
        # A row of which hardly a double is clear is left out of the sums, whatever its doubles are.
        self._hopeless = ~(self._sizes * self._error(NEAR) < _LEAST_CLEAR)
        doubles[self._hopeless] = 0.0
        self._columns = np.ascontiguousarray(doubles.T)
        self._dtype = np.int64 if (self._sizes * FARTHEST < 2.0**61).all() else object

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns."""
        return len(self.rows), len(self.variances)

    def row_variances(self) -> list[Fraction]:
        """The variance of each coordinate before it is rounded: Σ_j M_ij²·v_j."""
        columns: dict[Fraction, list[int]] = {}
        for j, variance in enumerate(self.variances):
            columns.setdefault(variance, []).append(j)
        return [
            sum((v * sum(row[j] * row[j] for j in places) for v, places in columns.items()), Fraction(0))
            for row in self.rows
        ]

    def draw(self, size: Size = None, source: Source | None = None) -> NDArray[Any]:
        """round(M·g) along the last axis; Python's integers only where 64 bits may not be enough."""
        shape, (height, width) = shape_of(size), self.shape
        out = np.empty((int(np.prod(shape, dtype=object)), height), dtype=self._dtype)
        at_once = max(_BLOCK // max(height, width), 1)
        for start in range(0, len(out), at_once):
            block = out[start : start + at_once]
            self._draw_into(block, Normals(len(block) * width, source or system_source))
        return out.reshape((*shape, height))

    def _draw_into(self, out: NDArray[Any], normals: Normals) -> None:
        count, (height, width) = len(out), self.shape
        near, reach = _near_all(normals)
        near = near.reshape(count, width)
        sums = np.zeros((count, height))
        for j, column in enumerate(self._columns):
            sums += near[:, j, None] * column
        nearest = np.rint(sums)
        clear = np.abs(sums - nearest) <= 0.5 - self._sizes * self._error(reach)
        clear &= ~self._hopeless
        out[...] = nearest.astype(np.int64)
        for sample, i in np.argwhere(~clear).tolist():
            out[sample, i] = self.settle(i, normals, sample * width)

    def settle(self, i: int, normals: Normals, first: int) -> int:
        """Coordinate i, of the normal numbers from place `first` on, from as many of their bits as it takes."""
        used = [j for j, entry in enumerate(self.rows[i]) if entry]
        return nearest_whole(normals, [first + j for j in used], partial(self._form, i, used))

    def _form(self, i: int, used: Sequence[int], balls: Sequence[Ball]) -> Ball:
        terms = (
            of_fraction(self.rows[i][j]) * of_fraction(self.variances[j]).sqrt() * g
            for j, g in zip(used, balls, strict=True)
        )
        return sum(terms, of_fraction(0))

    def _error(self, reach: float) -> float:
        """Of the double of a sum, relative to Σ_j|s_ij|, if no |h_j| is above `reach`."""
        return DOUBLE_ERROR + (len(self.variances) + _ROUNDINGS) * _UNIT * reach


def _near_all(normals: Normals) -> tuple[NDArray[np.float64], float]:
    """A double within `DOUBLE_ERROR` of every number, also of the far ones, and a bound of their size."""
    near, reach = normals.doubles(), NEAR
    for i in np.flatnonzero(normals.far()).tolist():
        near[i] = normals.double(i)
        reach = max(reach, abs(float(near[i])) + 1)
    return near, reach


def _doubles(rows: Sequence[Sequence[Rational]]) -> NDArray[np.float64]:
    """The nearest doubles; infinity beyond the largest one."""
    try:
        return np.array(rows, dtype=np.float64)
    except OverflowError:
        return np.array([[double_of(Fraction(entry)) for entry in row] for row in rows])


def _read_matrix(matrix: Rows) -> tuple[tuple[Rational, ...], ...]:
    whole = whole_array(matrix) if isinstance(matrix, np.ndarray) else None
    rows = matrix.tolist() if isinstance(matrix, np.ndarray) else matrix
    if (
        not isinstance(rows, list | tuple)
        or not rows
        or not all(isinstance(row, list | tuple) and len(row) == len(rows[0]) > 0 for row in rows)
    ):
        raise BadParameter(
            "matrix must have rows of equal length", given=type(matrix).__name__, fix="pass [[1, 0], [1, 1]]"
        )
    if len(rows) * len(rows[0]) > _MOST_ENTRIES:
        raise TooLarge("matrix has too many entries", given=f"{len(rows)} x {len(rows[0])}", fix="draw it in parts")
    if whole is not None:
        return tuple(tuple(row) for row in rows)
    return tuple(
        tuple(entry if type(entry) is int else read_rational(entry, f"matrix[{i}][{j}]") for j, entry in enumerate(row))
        for i, row in enumerate(rows)
    )


def _read_variances(variances: Any, columns: int) -> tuple[Fraction, ...]:
    if isinstance(variances, np.ndarray):
        variances = variances.tolist()
    if not isinstance(variances, list | tuple):
        return (read_variance(variances, "variances"),) * columns
    if len(variances) != columns:
        raise BadParameter(
            f"variances must be one number, or one for each of the {columns} columns",
            given=len(variances),
            fix="pass for example variances=1",
        )
    return tuple(read_variance(variance, f"variances[{j}]") for j, variance in enumerate(variances))

"""The body K = conv(±columns) of any whole columns, with exact draws and no rejection.

Triangulate the boundary of K by simplices with whole corners v_1, …, v_d. On the cone over a simplex y = Σλ_j·v_j with
λ ≥ 0, and ‖y‖_K = Σλ_j. Split λ into whole parts n_j and rests f_j: then steps(y) = Σn_j + ⌈Σf_j⌉, and p = Σf_j·v_j is
one of the |det(v)| lattice points of the parallelepiped of the simplex. With α = e^-rate, P(y) ∝ α^steps(y) is the law
of a pair (simplex, p) with weight α^⌈Σf_j⌉ and independent geometric numbers n_j. The number of pairs for each value of
⌈Σf_j⌉ is the h*-vector of K.

A point on a border between cones must count once. Fix a direction ξ that lies on no border: y belongs to the cone that
contains y + tξ for small t > 0. With ξ = Σμ_j·v_j that is λ_j ≥ 0 where μ_j > 0 and λ_j > 0 where μ_j < 0, and f_j in
[0, 1) or (0, 1] (Köppe and Verdoolaege, Electronic Journal of Combinatorics 15, 2008, Theorem 3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil, comb, factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact import (
    Enclosure,
    Exact,
    IntegerVector,
    RationalMatrix,
    Source,
    at_alpha,
    categorical_exp,
    geometric,
    largest_size,
    mean_absolute_sum,
    read_integer,
    sum_size,
    uniform_integer,
    wide_enough,
)
from leastnoise.mechanisms.vector.bodies import FramedBody, Points
from leastnoise.mechanisms.vector.hulls import HullBoundary, Simplex, boundary, determinant

__all__ = ["Polytope"]

_MOST_CELLS = 1 << 14
_LARGEST_ENTRY = 1 << 16
_MOST_WORK = 1 << 26  # numbers that are computed for an error along one row
_BASES = (1_000_003, 998_244_353, 2**89 - 1)  # the direction ξ is (1, base, base², …), for the first that serves


@dataclass(frozen=True)
class Polytope(FramedBody):
    """K = conv(±columns), for whole columns that span the space.

    Raises:
        BadParameter: The columns are no whole vectors of one length, or do not span the space.
        TooLarge: K has too many faces or too large a volume; only said when the faces are needed.

    >>> hexagon = Polytope(((1, 0), (0, 1), (1, 1)))
    >>> hexagon.points_within(1), hexagon.volume, hexagon.steps(np.array([[2, 1], [2, -1]])).tolist()
    (7, Enclosure(3), [2, 3])
    """

    columns: tuple[IntegerVector, ...]
    dimension: int = field(init=False)

    def __post_init__(self) -> None:
        """Read the columns; the dimension is their length."""
        if not all(isinstance(part, list | tuple) for part in (self.columns, *_parts(self.columns))):
            raise _not_columns(self.columns)
        columns = tuple(
            tuple(read_integer(entry, f"columns[{i}][{j}]") for j, entry in enumerate(column))
            for i, column in enumerate(self.columns)
        )
        largest = max((abs(entry) for column in columns for entry in column), default=0)
        if largest > _LARGEST_ENTRY:
            raise TooLarge(
                f"the columns of a body must have entries of at most {_LARGEST_ENTRY}",
                given=largest,
                fix="measure in a coarser unit, or use the body of a plain norm",
            )
        lengths = {len(column) for column in columns}
        if len(lengths) != 1 or RationalMatrix(columns).rank() != max(lengths) or not max(lengths):
            raise _not_columns(self.columns)
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "dimension", max(lengths))

    @property
    def name(self) -> str:
        """How many columns in how many dimensions."""
        return f"hull of {len(self.columns)} columns and their opposites in {self.dimension} dimensions"

    @property
    def corners(self) -> tuple[IntegerVector, ...]:
        """The columns."""
        return self.columns

    def steps(self, points: Points) -> NDArray[Any]:
        """The largest |a·y| over all faces, divided by their common height and rounded up."""
        faces = np.array(self._boundary.faces, dtype=object)
        wide = wide_enough(points, self.dimension * max(largest_size(faces), 1), self._boundary.scale)
        heights: NDArray[Any] = np.abs(wide @ faces.astype(wide.dtype).T).max(axis=-1)
        return -(-heights // self._boundary.scale)

    def points_within(self, radius: int) -> int:
        """Σ_i h*_i·C(R − i + d, d)."""
        d = self.dimension
        return sum(weight * comb(radius - i + d, d) for i, weight in enumerate(self._h_star) if radius >= i)

    def draw(self, rate: Exact, count: int, source: Source | None) -> Points:
        """A cell of some level, then geometric steps along the corners of its simplex."""
        weights = self._h_star
        levels = categorical_exp([-i for i in range(len(weights))], weights, count, source, rate=rate)
        starts = np.cumsum([0, *weights[:-1]])
        cells = starts[levels] + uniform_integer(np.array(weights)[levels], source=source)
        corners, offsets = self._cells.corners[self._cells.simplex[cells]], self._cells.offsets[cells]
        growth = self.dimension * largest_size(self._cells.corners)
        along = wide_enough(geometric(rate, (count, self.dimension), source), growth, largest_size(offsets))
        drawn: Points = offsets + (along[:, :, np.newaxis] * corners).sum(axis=1)
        return drawn

    def total(self, rate: Exact, bits: int = 64) -> Enclosure:
        """Σ_i h*_i·α^i/(1 − α)^d."""

        def formula(alpha: Any) -> Any:
            levels = sum((weight * alpha**i for i, weight in enumerate(self._h_star)), start=0 * alpha)
            return levels / (1 - alpha) ** self.dimension

        return at_alpha(rate, formula, bits, power=2 * self.dimension)

    def sum_over_corners(self, rate: Exact) -> Enclosure:
        """Σ e^(−rate·steps(y)) over the y that are sums of steps(y) corners of one simplex.

        In each cone those are the y with whole λ: one cell, whose f are 0 or 1. The sum is at most `total`, and it is
        `total` if every simplex has the volume 1/d!.
        """
        counts = Counter(self._cells.levels[self._cells.at_corner].tolist())
        levels = sorted(counts.items())

        def formula(alpha: Any) -> Any:
            return sum((many * alpha**i for i, many in levels), start=0 * alpha) / (1 - alpha) ** self.dimension

        return at_alpha(rate, formula, power=2 * self.dimension)

    def mean_absolute_along(self, row: Sequence[int], rate: Exact) -> Enclosure:
        """The mean over all cells of E|row·p + Σ_j (row·v_j)·n_j|, cells that look alike along the row counted once."""
        cells = self._cells
        reach = max(largest_size(cells.corners), largest_size(cells.offsets))
        along = wide_enough(np.array(row, dtype=object), self.dimension * reach)
        strides, offsets = np.sort(cells.corners @ along, axis=1), cells.offsets @ along
        alike = Counter(zip(cells.levels.tolist(), offsets.tolist(), map(tuple, strides[cells.simplex]), strict=True))
        work = sum(sum_size(offset, pattern, rate) for _, offset, pattern in alike)
        if work > _MOST_WORK:
            raise TooLarge(
                "the law of the noise along one row is too wide to be computed",
                given=f"{work} values",
                fix="use a larger epsilon or smaller entries",
            )
        lower = upper = Fraction(0)
        normaliser = self.total(rate)
        for (level, offset, pattern), times in alike.items():
            mean, weight = mean_absolute_sum(offset, pattern, rate), self._level_weight(level, rate)
            lower += times * weight.lower * mean.lower / normaliser.upper
            upper += times * weight.upper * mean.upper / normaliser.lower
        return Enclosure(lower, upper)

    @property
    def volume(self) -> Enclosure:
        """Σ_i h*_i/d!."""
        exact = Fraction(sum(self._h_star), factorial(self.dimension))
        return Enclosure(exact, exact)

    def _level_weight(self, level: int, rate: Exact) -> Enclosure:
        return at_alpha(rate, lambda a: a**level / (1 - a) ** self.dimension, power=level + self.dimension)

    @cached_property
    def _boundary(self) -> HullBoundary:
        return boundary(self.columns)

    @cached_property
    def _cells(self) -> _Cells:
        return _cells_of(self._boundary.simplices)

    @property
    def _h_star(self) -> list[int]:
        weights: list[int] = np.bincount(self._cells.levels, minlength=self.dimension + 1).tolist()
        return weights


def _parts(columns: Any) -> Sequence[Any]:
    return columns if isinstance(columns, list | tuple) else ()


def _not_columns(columns: object) -> BadParameter:
    return BadParameter(
        "columns must all have the same length and span the space",
        given=columns,
        fix="pass for example ((1, 0), (0, 1), (1, 1))",
    )


@dataclass(frozen=True)
class _Cells:
    """All pairs (simplex, p), sorted by level ⌈Σf_j⌉."""

    corners: NDArray[np.int64]  # simplices × corners × coordinates
    simplex: NDArray[np.int64]
    offsets: NDArray[np.int64]
    levels: NDArray[np.int64]
    at_corner: NDArray[np.bool_]  # whether all f_j are 0 or 1


def _cells_of(simplices: Sequence[Simplex]) -> _Cells:
    if sum(abs(determinant(simplex)) for simplex in simplices) > _MOST_CELLS:
        raise TooLarge(
            f"the body of the columns has more than {_MOST_CELLS} cells in {len(simplices[0])} dimensions",
            fix="drop columns or rows, or use the body of a plain norm",
        )
    attempts = (_cells_towards(simplices, base) for base in _BASES)
    found = next((cells for cells in attempts if cells is not None), None)
    if found is None:
        raise BadParameter("a fixed direction lies on a border of the cones", fix="put the columns in another order")
    found.sort()
    return _Cells(
        corners=np.array(simplices, dtype=np.int64),
        simplex=np.array([place for _, place, _, _ in found], dtype=np.int64),
        offsets=np.array([offset for _, _, offset, _ in found], dtype=np.int64),
        levels=np.array([level for level, _, _, _ in found], dtype=np.int64),
        at_corner=np.array([whole for _, _, _, whole in found], dtype=np.bool_),
    )


def _cells_towards(simplices: Sequence[Simplex], base: int) -> list[tuple[int, int, IntegerVector, bool]] | None:
    """Level, simplex and p of every cell, and whether its f are whole; None if the direction ξ lies on a border."""
    found = []
    for place, simplex in enumerate(simplices):
        rows = list(zip(*simplex, strict=True))
        points = _rests(rows, base)
        if points is None:
            return None
        for rests in points:
            offset = tuple(int(sum(f * v for f, v in zip(rests, row, strict=True))) for row in rows)
            whole = all(f.denominator == 1 for f in rests)
            found.append((ceil(sum(rests)), place, offset, whole))
    return found


def _rests(rows: Sequence[IntegerVector], base: int) -> list[list[Fraction]] | None:
    """The f of all lattice points Σf_j·v_j with f_j in [0, 1) or (0, 1], for the matrix with columns v_j."""
    size = len(rows)
    right = [[*(int(i == j) for j in range(size)), base**i] for i in range(size)]
    solved = RationalMatrix(rows).solve(RationalMatrix(right))
    if solved is None or not all(row[-1] for row in solved.rows):
        return None
    steps = [[row[j] % 1 for row in solved.rows] for j in range(size)]  # what a unit vector adds to f
    reached = {(Fraction(0),) * size}
    pending = list(reached)
    while pending:
        point = pending.pop()
        for step in steps:
            after = tuple((f + g) % 1 for f, g in zip(point, step, strict=True))
            if after not in reached:
                reached.add(after)
                pending.append(after)
    closed = [row[-1] > 0 for row in solved.rows]  # μ_j > 0
    return [[f if f or keep else Fraction(1) for f, keep in zip(point, closed, strict=True)] for point in reached]

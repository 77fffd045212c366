"""Faces and volume of K = conv(±columns), exactly: qhull guesses, whole numbers decide.

A floating-point hull says which corners it believes to lie on a face together. Each guess is solved for the plane
a·y = 1 through them in rationals and kept only if |a·g| ≤ 1 for every column g. That alone makes the set of all y with
a·y ≤ 1 for all kept a contain K, and privacy needs no more. That nothing is missing is checked too, by `boundary`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import factorial, lcm

import numpy as np

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact import IntegerVector, RationalMatrix

__all__ = ["HullBoundary", "Simplex", "boundary", "determinant"]

_MOST_SIMPLICES = 20_000

Simplex = tuple[IntegerVector, ...]


@dataclass(frozen=True)
class HullBoundary:
    """The boundary of a symmetric polytope around zero.

    Attributes:
        faces: Whole normals with |a·y| ≤ scale on K, one of each pair ±a.
        scale: The common right side.
        simplices: Triangles (in d dimensions: d corners each) that cover the boundary once.
    """

    faces: tuple[IntegerVector, ...]
    scale: int
    simplices: tuple[Simplex, ...]

    @property
    def volume(self) -> Fraction:
        """The sum of |det|/d! of the cones over the simplices."""
        return Fraction(sum(abs(determinant(simplex)) for simplex in self.simplices), factorial(len(self.faces[0])))


def boundary(columns: Sequence[IntegerVector]) -> HullBoundary:
    """The faces and a triangulation of the boundary of conv(±columns), which must span the space.

    Every face is triangulated from its first corner, and so are the faces of faces. The result is accepted only if the
    oriented borders of all simplices cancel and a ray meets exactly one of them. They are then a cycle on the boundary,
    which is a sphere, that covers every point equally often, hence once: no face is missing.

    Raises:
        TooLarge: More faces or simplices than can be handled.

    >>> square = boundary([(1, 1), (1, -1)])
    >>> square.faces, square.scale, square.volume
    (((0, 1), (1, 0)), 1, Fraction(4, 1))
    """
    corners = sorted({*columns, *(tuple(-entry for entry in column) for column in columns)})
    dimension = len(columns[0])
    if dimension == 1:
        reach = corners[-1][0]
        return HullBoundary(((1,),), reach, ((corners[-1],), (corners[0],)))
    normals = _normals(corners, dimension)
    scale = lcm(*(entry.denominator for normal in normals for entry in normal))
    faces = sorted(tuple(int(entry * scale) for entry in normal) for normal in normals)
    members = [frozenset(i for i, corner in enumerate(corners) if _dot(face, corner) == scale) for face in faces]
    simplices = [
        tuple(corners[i] for i in simplex)
        for member in members
        for simplex in _triangulated(member, members, dimension - 1)
    ]
    if len(simplices) > _MOST_SIMPLICES:
        raise _too_many(dimension)
    if not _is_sphere(simplices):
        raise BadParameter(
            "the faces of the body of these columns could not be verified",
            fix="divide the columns by a common factor, or use the body of a plain norm",
        )
    half = tuple(face for face in faces if face > tuple(-entry for entry in face))
    return HullBoundary(half, scale, tuple(simplices))


def determinant(rows: Simplex) -> int:
    """By elimination without fractions (Bareiss).

    >>> determinant(((2, 1), (1, 3)))
    5
    """
    matrix, sign, before = [list(row) for row in rows], 1, 1
    for k in range(len(matrix) - 1):
        pivot = next((i for i in range(k, len(matrix)) if matrix[i][k]), None)
        if pivot is None:
            return 0
        if pivot != k:
            matrix[k], matrix[pivot], sign = matrix[pivot], matrix[k], -sign
        for i in range(k + 1, len(matrix)):
            for j in range(k + 1, len(matrix)):
                matrix[i][j] = (matrix[i][j] * matrix[k][k] - matrix[i][k] * matrix[k][j]) // before
        before = matrix[k][k]
    return sign * matrix[-1][-1]


def _normals(corners: Sequence[IntegerVector], dimension: int) -> list[tuple[Fraction, ...]]:
    """The planes a·y = 1 through corners that qhull takes for a face and that bound all corners, with both signs."""
    points = np.array(corners, dtype=np.float64)
    from scipy.spatial import ConvexHull, QhullError  # slow to import, and seldom needed

    try:
        round_points = np.linalg.solve(np.linalg.cholesky(points.T @ points), points.T).T  # same faces, better shape
        guesses = ConvexHull(round_points, qhull_options="Qt").simplices.tolist()
    except (QhullError, np.linalg.LinAlgError):
        guesses = None
    if guesses is None or len(guesses) > _MOST_SIMPLICES:
        raise _too_many(dimension)
    ones, found, members = RationalMatrix([[1]] * dimension), dict[tuple[Fraction, ...], None](), list[set[int]]()
    for simplex in guesses:
        chosen = tuple(corners[i] for i in simplex)
        if any(member.issuperset(simplex) for member in members) or determinant(chosen) == 0:
            continue
        solved = RationalMatrix(chosen).solve(ones)
        normal = tuple(row[0] for row in solved.rows) if solved is not None else ()
        heights = [_dot(normal, corner) for corner in corners]
        if max(heights) <= 1:
            for sign in (1, -1):
                found[tuple(sign * entry for entry in normal)] = None
                members.append({i for i, height in enumerate(heights) if height == sign})
    return list(found)


def _triangulated(face: frozenset[int], faces: Sequence[frozenset[int]], dimension: int) -> list[tuple[int, ...]]:
    """The simplices of a face of this dimension, as tuples of corners, from its first corner on."""
    if len(face) == dimension + 1:
        return [tuple(sorted(face))]
    apex = min(face)
    shared = {face & other for other in faces} - {face, frozenset()}
    sides = [side for side in shared if apex not in side and not any(side < other for other in shared)]
    return [(apex, *rest) for side in sides for rest in _triangulated(side, faces, dimension - 1)]


def _is_sphere(simplices: Sequence[Simplex]) -> bool:
    """Whether the oriented borders cancel and a generic ray meets one simplex."""
    borders: Counter[Simplex] = Counter()
    for simplex in simplices:
        volume = determinant(simplex)
        if volume == 0:
            return False
        for place in range(len(simplex)):
            border = simplex[:place] + simplex[place + 1 :]
            ordered = tuple(sorted(border))
            borders[ordered] += (-1) ** place * _parity(border, ordered) * (1 if volume > 0 else -1)
    if not simplices or any(borders.values()):
        return False
    ray = tuple(
        sum((2**place + 1) * entry for place, entry in enumerate(row)) for row in zip(*simplices[0], strict=True)
    )
    return sum(_meets(ray, simplex) for simplex in simplices) == 1


def _meets(ray: IntegerVector, simplex: Simplex) -> bool:
    """Whether the ray lies in the cone over a simplex: by Cramer's rule no corner may be replaced at a loss of sign."""
    whole = determinant(simplex)
    parts = (determinant((*simplex[:i], ray, *simplex[i + 1 :])) for i in range(len(simplex)))
    return all(part * whole >= 0 for part in parts)


def _parity(border: Simplex, ordered: Simplex) -> int:
    """The sign of the permutation that sorts the corners."""
    order = [ordered.index(corner) for corner in border]
    inversions = sum(a > b for i, a in enumerate(order) for b in order[i + 1 :])
    return -1 if inversions % 2 else 1


def _dot(normal: Sequence[Fraction | int], corner: IntegerVector) -> Fraction | int:
    return sum(a * g for a, g in zip(normal, corner, strict=True))


def _too_many(dimension: int) -> TooLarge:
    return TooLarge(
        f"the columns span a body in {dimension} dimensions with too many faces",
        fix="drop columns or rows, or use the body of a plain norm",
    )

"""A public metric on the points 0, …, n − 1, rounded to whole steps so that every cost is an exact integer.

Distances count in steps of diameter/resolution, from 0 to `resolution`. What a demand point contributes to a cost must
not depend on the other demand, not even in the last bit of a double. So rows are always computed in the same blocks of
all points, whoever has demand: what comes out is a function of public things.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact import NumberLike, read_integer, read_rational

__all__ = ["MOST_STEPS", "BlockMetric", "Distances", "PointsInSpace", "PublicMetric", "read_metric"]

Distances = NDArray[np.uint16]
BlockMetric = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]

MOST_STEPS = (1 << 16) - 1
_MOST_POINTS = 1 << 15  # all pairs of them are weighed at every swap
_MOST_CHECKED = 1 << 10  # points up to which all triangles of a table are looked at
_TOLERANCE = 2.0**-40  # of the diameter, for the roundings of whoever computed the distances
_LARGEST = Fraction(2**500)
_ROWS = 256
_LARGEST_CACHE = 1 << 30  # bytes of rounded distances that are kept


class PublicMetric(ABC):
    """Distances between points as doubles, in blocks; `rounded` and `columns` give them in steps.

    Args:
        count: How many points there are.
        diameter: The largest distance that counts; larger ones are cut off.
        resolution: How many steps it has.
    """

    def __init__(self, count: int, diameter: float | None, resolution: int) -> None:
        if count > _MOST_POINTS:
            raise TooLarge(f"there may be at most {_MOST_POINTS} points", given=count, fix="join them to fewer points")
        self.count, self.resolution = count, resolution
        self._cache: Distances | None = None
        if diameter is None:
            everyone = np.arange(count)
            diameter = max(float(self._checked(rows, everyone).max()) for rows in self._blocks())
        if not 0 < diameter < np.inf:
            raise BadParameter("the diameter must be above zero and finite", given=diameter, fix="check the metric")
        self.diameter = float(diameter)

    @abstractmethod
    def distances(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """The distances from some points to some points."""

    @cached_property
    def is_metric(self) -> bool:
        """Whether the distances are known to be symmetric, zero from a point to itself, and to obey the triangle.

        All triangles of at most 1024 points are looked at; of more points nothing is known. A triangle may fail by
        2^-40 of the diameter Δ. Then no distance is longer by more than n·2^-40·Δ than the shortest way between its
        ends, which is a metric: that is less than a hundredth of a step.
        """
        if self.count > _MOST_CHECKED:
            return False
        everyone, slack = np.arange(self.count), self.diameter * _TOLERANCE
        table = np.minimum(self._checked(everyone, everyone), self.diameter)
        if (np.abs(table - table.T) > slack).any() or (np.diagonal(table) > slack).any():
            return False
        return not any((table - table[:, i, np.newaxis] > table[i] + slack).any() for i in range(self.count))

    @abstractmethod
    def identity(self) -> tuple[Any, ...]:
        """What makes two metrics the same."""

    def columns(self, places: NDArray[np.int64]) -> Distances:
        """From every point to some points, in steps."""
        if self._cache is not None:
            return self._cache[:, places]
        return np.concatenate([self._round(self._checked(rows, places)) for rows in self._blocks()])

    def rounded(self) -> Iterator[tuple[slice, Distances]]:
        """From every point to every point, in steps, a block of rows at a time; kept in memory where it fits."""
        if self._cache is None and self.count**2 * 2 <= _LARGEST_CACHE:
            cache = np.empty((self.count, self.count), dtype=np.uint16)
            for rows in self._blocks():
                cache[rows] = self._round(self._checked(rows, np.arange(self.count)))
            self._cache = cache
        for rows in self._blocks():
            block = slice(int(rows[0]), int(rows[-1]) + 1)
            if self._cache is not None:
                yield block, self._cache[block]
            else:
                yield block, self._round(self._checked(rows, np.arange(self.count)))

    def _blocks(self) -> Iterator[NDArray[np.int64]]:
        for start in range(0, self.count, _ROWS):
            yield np.arange(start, min(start + _ROWS, self.count))

    def _checked(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        block = np.asarray(self.distances(rows, columns), dtype=np.float64)
        if block.shape != (len(rows), len(columns)) or not (block >= 0).all() or not np.isfinite(block).all():
            raise BadParameter(
                "a metric must give a finite distance of at least 0 for every pair",
                given=f"shape {block.shape}",
                fix="return an array with a row for each of the first and a column for each of the second points",
            )
        return block

    def _round(self, block: NDArray[np.float64]) -> Distances:
        steps: Distances = np.rint(np.minimum(block / self.diameter, 1.0) * self.resolution).astype(np.uint16)
        return steps

    def __eq__(self, other: object) -> bool:
        """The same points, distances, diameter and resolution."""
        if not isinstance(other, PublicMetric) or type(other) is not type(self):
            return NotImplemented
        mine, theirs = ((*metric.identity(), metric.diameter, metric.resolution) for metric in (self, other))
        return all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))

    def __hash__(self) -> int:
        """Equal metrics have as many points and the same diameter."""
        return hash((self.count, self.diameter, self.resolution))

    def __getstate__(self) -> dict[str, Any]:
        """Without the distances that can be computed again."""
        return {**self.__dict__, "_cache": None}


class PointsInSpace(PublicMetric):
    """Euclidean distances, or their squares, a row of coordinates for each point."""

    def __init__(
        self, points: NDArray[np.float64], diameter: float | None, resolution: int, squared: bool = False
    ) -> None:
        self._points, self._squared = points, squared
        super().__init__(len(points), diameter, resolution)

    @property
    def is_metric(self) -> bool:
        """Distances in space are one; their squares do not obey the triangle."""
        return not self._squared

    def distances(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Roots of sums of squares, or the sums."""
        squares = np.zeros((len(rows), len(columns)))
        with np.errstate(over="ignore"):  # an infinite distance is refused
            for axis in self._points.T:  # no matrix product: its last bits would depend on the shape of the block
                difference = np.subtract.outer(axis[rows], axis[columns])
                squares += np.multiply(difference, difference, out=difference)
        return squares if self._squared else np.sqrt(squares, out=squares)

    def identity(self) -> tuple[Any, ...]:
        """The points, and whether distances are squared."""
        return (self._points, self._squared)

    @property
    def axes(self) -> int:
        """How many coordinates a point has."""
        return int(self._points.shape[1])

    def nearest(self, places: NDArray[np.float64]) -> NDArray[np.int64]:
        """The point nearest to each place; −1 for a place that is not finite.

        Each place is looked at alone, coordinate by coordinate: what others there are changes no bit of it.
        """
        found = np.full(len(places), -1, dtype=np.int64)
        finite = np.flatnonzero(np.isfinite(places).all(axis=1))
        for start in range(0, len(finite), _ROWS):
            rows = finite[start : start + _ROWS]
            squares = np.zeros((len(rows), self.count))
            with np.errstate(over="ignore"):  # infinitely far from several points: the first of them
                for place, axis in zip(places[rows].T, self._points.T, strict=True):
                    difference = np.subtract.outer(place, axis)
                    squares += np.multiply(difference, difference, out=difference)
            found[rows] = squares.argmin(axis=1)
        return found


class _Matrix(PublicMetric):
    def __init__(self, table: NDArray[np.float64], diameter: float | None, resolution: int) -> None:
        self._table = table
        super().__init__(len(table), diameter, resolution)

    def distances(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._table[np.ix_(rows, columns)]

    def identity(self) -> tuple[Any, ...]:
        return (self._table,)


class _Called(PublicMetric):
    def __init__(self, function: BlockMetric, count: int, diameter: float | None, resolution: int) -> None:
        self._function = function
        super().__init__(count, diameter, resolution)

    def distances(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._function(rows, columns)

    def identity(self) -> tuple[Any, ...]:
        return (self._function, self.count)


def read_metric(
    *,
    points: Any = None,
    matrix: Any = None,
    metric: BlockMetric | None = None,
    count: NumberLike | None = None,
    diameter: NumberLike | None = None,
    resolution: NumberLike = MOST_STEPS,
    squared: bool = False,
) -> PublicMetric:
    """One of three: points in space, a matrix of distances, or a function on blocks of `count` points.

    Points in space may count with the squares of their distances; the diameter is then the largest square.

    >>> line = read_metric(points=[[0.0], [1.0], [4.0]], resolution=8)
    >>> line.diameter, line.columns(np.array([0])).ravel().tolist()
    (4.0, [0, 2, 8])
    """
    given = [name for name, value in (("points", points), ("matrix", matrix), ("metric", metric)) if value is not None]
    if len(given) != 1:
        raise BadParameter(
            "exactly one of points, matrix and metric must say where the points are",
            given=", ".join(given) or "none",
            fix="pass points=array of n × d coordinates, for example",
        )
    if squared and points is None:
        raise BadParameter(
            "distances of points in space are squared", given=given[0], fix=f"square {given[0]} yourself"
        )
    steps = read_integer(resolution, "resolution", at_least=1, at_most=MOST_STEPS)
    width = None
    if diameter is not None:
        width = float(read_rational(diameter, "diameter", at_least=1 / _LARGEST, at_most=_LARGEST))
    if metric is not None and not callable(metric):
        raise BadParameter("metric must be a function", given=type(metric).__name__, fix="pass matrix=, for example")
    if metric is not None:
        return _Called(metric, read_integer(0 if count is None else count, "count", at_least=2), width, steps)
    table = _table(points if matrix is None else matrix)
    if table is None or (matrix is not None and table.shape[0] != table.shape[1]):
        raise BadParameter(
            f"{given[0]} must be a table of finite numbers" + (", as wide as it is high" if matrix is not None else ""),
            given="no table" if table is None else f"shape {table.shape}",
            fix="pass a row for each point",
        )
    return PointsInSpace(table, width, steps, bool(squared)) if matrix is None else _Matrix(table, width, steps)


def _table(values: Any) -> NDArray[np.float64] | None:
    try:
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    return table if table.ndim == 2 and table.size and np.isfinite(table).all() else None

"""Public lattices: the points 0, 1, …, last that records are moved to and answers are chosen from.

Data without bounds is refused. Tóthmérész (2013, Propositions 3.1 and 3.2): if one record can move the answer by any
amount K, then an ε-private mechanism with expected error at most γ gives any bounded set of outputs with probability at
most e^ε·γ/K, for every K, hence never. Proposition 3.3: so no ε-private mechanism has a bounded expected error for the
median of unbounded data. The databases {x} and {x, x ± 2K} show the same for every other quantile and for the mean.
Bounds, or a finite grid, are therefore a public input that cannot be left out, and they never come from the data.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import islice, pairwise
from math import inf, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, TooLarge, UnboundedData
from leastnoise.exact import NumberLike, read_rational
from leastnoise.mechanisms.rank.tally import PlaceCounts, Places

__all__ = [
    "LARGEST",
    "GridLattice",
    "IntervalLattice",
    "Lattice",
    "Listed",
    "read_bounds",
    "read_grid",
    "read_interval",
    "unbounded",
]

LARGEST = 2**1000  # bounds, and widths between them, are then doubles


def unbounded(what: str, given: object = None) -> UnboundedData:
    """The refusal of unbounded data, with its reason.

    >>> raise unbounded("upper is missing")
    Traceback (most recent call last):
    leastnoise.errors.UnboundedData: upper is missing: one record could then move the answer without limit, and no ...
    """
    return UnboundedData(
        f"{what}: one record could then move the answer without limit, and no differentially private mechanism has a "
        "bounded expected error (Tóthmérész 2013, Propositions 3.1 to 3.3)",
        given=given,
        fix="pass finite public bounds, not taken from the data; values outside are clamped to them",
    )


def read_bounds(lower: NumberLike | None, upper: NumberLike | None) -> tuple[Fraction, Fraction]:
    """Read the public bounds of the data.

    Raises:
        UnboundedData: A bound is missing or infinite.
        BadParameter: A bound is no number, or the lower one is not below the upper one.

    >>> read_bounds(0, "1e6")
    (Fraction(0, 1), Fraction(1000000, 1))
    """
    least, most = _read_bound(lower, "lower"), _read_bound(upper, "upper")
    if least >= most:
        raise BadParameter(
            "lower must be below upper", given=f"lower={least}, upper={most}", fix="swap the two, or widen them"
        )
    return least, most


def _read_bound(bound: NumberLike | None, name: str) -> Fraction:
    if bound is None:
        raise unbounded(f"{name} is missing")
    if isinstance(bound, float | np.floating | Decimal) and math.isinf(bound):
        raise unbounded(f"{name} is infinite", bound)
    return read_rational(bound, name, at_least=-LARGEST, at_most=LARGEST)


_MOST_STEPS = 1 << 52  # a place is then exact as a double
_DEFAULT_STEPS = 1 << 20
_MOST_POINTS = 1 << 22


class Lattice(ABC):
    """Finitely many public points in increasing order; places count from zero."""

    @property
    @abstractmethod
    def last(self) -> int:
        """The last place."""

    @abstractmethod
    def places(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """The place of the point nearest to each value; never decreasing in the value, infinite ones at the ends."""

    @abstractmethod
    def points(self, places: NDArray[np.int64]) -> NDArray[Any]:
        """The points at some places, as they are released."""

    def cells(self, values: NDArray[np.float64]) -> PlaceCounts:
        """The values by their nearest places, and on which side of the point they lie; beyond the ends counts as at."""
        places = self.places(values)
        points = self.points(places)
        sides = (values > points).astype(np.int64) - (values < points)
        sides[((places == 0) & (sides < 0)) | ((places == self.last) & (sides > 0))] = 0
        return PlaceCounts.of(places, sides)

    @abstractmethod
    def find(self, output: Hashable) -> int | None:
        """The place of a released point; None if it is none."""

    @property
    @abstractmethod
    def ends(self) -> tuple[Fraction, Fraction]:
        """The first and the last point."""

    def read_missing(self, missing: NumberLike | None) -> Fraction:
        """What a missing value counts as: a number between the ends, the lower one if none is given."""
        lower, upper = self.ends
        return lower if missing is None else read_rational(missing, "missing", at_least=lower, at_most=upper)


@dataclass(frozen=True)
class GridLattice(Lattice):
    """Any increasing list of numbers."""

    numbers: tuple[int | float, ...]

    @property
    def last(self) -> int:
        """The last place."""
        return len(self.numbers) - 1

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The first and the last number."""
        return Fraction(self.numbers[0]), Fraction(self.numbers[-1])

    @cached_property
    def _array(self) -> NDArray[Any]:
        return np.array(self.numbers)

    @cached_property
    def _middles(self) -> NDArray[np.float64]:
        halves = np.array(self.numbers, dtype=np.float64) / 2
        return halves[:-1] + halves[1:]

    def places(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """By binary search among the middles between neighbours; a value on a middle goes up."""
        return np.searchsorted(self._middles, values, side="right")

    def points(self, places: NDArray[np.int64]) -> NDArray[Any]:
        """The numbers as they were given."""
        return self._array[places]

    def find(self, output: Hashable) -> int | None:
        """By binary search."""
        if not isinstance(output, int | float | Fraction):
            return None
        place = bisect_left(self.numbers, output)
        return place if place <= self.last and self.numbers[place] == output else None


@dataclass(frozen=True)
class IntervalLattice(Lattice):
    """lower, lower + step, …, upper."""

    lower: Fraction
    step: Fraction
    steps: int

    @property
    def last(self) -> int:
        """The last place."""
        return self.steps

    def places(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Each operation on doubles is non-decreasing in the value, so the whole is."""
        lower, upper = float(self.lower), float(self.lower + self.step * self.steps)
        scaled = (np.clip(values, lower, upper) - lower) / float(self.step)
        return np.rint(np.clip(scaled, 0.0, float(self.last))).astype(np.int64)

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The bounds."""
        return self.lower, self.lower + self.step * self.steps

    def point(self, place: int) -> float:
        """One point, rounded to a double once."""
        return float(self.lower + self.step * place)

    def points(self, places: NDArray[np.int64]) -> NDArray[Any]:
        """The points, each rounded to a double once; a quotient of whole doubles is rounded only then."""
        denominator = lcm(self.lower.denominator, self.step.denominator)
        first, stride = int(self.lower * denominator), int(self.step * denominator)
        if max(abs(first) + stride * self.last, denominator) < _MOST_STEPS:
            return (first + stride * places) / float(denominator)
        return np.array([self.point(place) for place in places.ravel().tolist()]).reshape(places.shape)

    def find(self, output: Hashable) -> int | None:
        """The nearest place, if its point is this one."""
        if not isinstance(output, int | float | Fraction) or output != output or abs(output) == inf:
            return None
        place = round((Fraction(output) - self.lower) / self.step)
        return place if 0 <= place <= self.last and self.point(place) == output else None


def read_grid(grid: Sequence[NumberLike] | NDArray[Any] | None) -> GridLattice:
    """Read candidates: whole numbers and floats as they are, others as the doubles nearest to them.

    Raises:
        UnboundedData: No grid, or an infinite point.
        BadParameter: Empty, not increasing, or not numbers.

    >>> read_grid([0, 10, 20]).places(np.array([-3.0, 4.0, 5.0, 99.0])).tolist()
    [0, 0, 1, 2]
    """
    if grid is None:
        raise unbounded("grid is missing")
    if not isinstance(grid, Iterable) or isinstance(grid, str):
        raise BadParameter("grid must be a list of numbers", given=type(grid).__name__, fix="pass grid=range(0, 121)")
    listed = list(islice(grid.tolist() if isinstance(grid, np.ndarray) and grid.ndim == 1 else grid, _MOST_POINTS + 1))
    if len(listed) > _MOST_POINTS:
        raise TooLarge(f"a grid has at most {_MOST_POINTS} points", given="more", fix="pass bounds: IntervalQuantile")
    numbers = tuple(
        x if type(x) in (int, float) else float(read_rational(x, f"grid[{i}]")) for i, x in enumerate(listed)
    )
    if any(abs(x) > LARGEST for x in numbers):
        raise unbounded("grid has an infinite point, or one beyond 2^1000")
    if not numbers:
        raise BadParameter("grid must have at least one point", given="none", fix="pass grid=range(0, 121)")
    if any(not (x < y and float(x) < float(y)) for x, y in pairwise(numbers)):
        raise BadParameter("grid must increase strictly", fix="sort it, drop repeated and missing points")
    if len(numbers) == 1 and numbers[0] != numbers[0]:
        raise BadParameter("grid must hold numbers", given="NaN", fix="pass grid=range(0, 121)")
    return GridLattice(numbers)


def read_interval(lower: NumberLike | None, upper: NumberLike | None, step: NumberLike | None) -> IntervalLattice:
    """Read bounds and a lattice step; 2^20 steps if none is given.

    Raises:
        UnboundedData: A bound is missing or infinite.
        BadParameter: The bounds are in the wrong order, or no whole number of steps apart.

    >>> read_interval(0, 1, 0.25).places(np.array([0.3, 0.9])).tolist(), read_interval(0, 1, None).last
    ([1, 4], 1048576)
    """
    least, most = read_bounds(lower, upper)
    stride = (most - least) / _DEFAULT_STEPS if step is None else read_rational(step, "step", above=0)
    steps = (most - least) / stride
    if steps.denominator != 1:
        raise BadParameter(
            "step must divide upper − lower", given=stride, fix=f"pass for example {(most - least) / 1000}"
        )
    if steps > _MOST_STEPS or stride < Fraction(1, LARGEST):
        raise TooLarge(
            "step must not divide upper − lower into more than 2^52 parts", given=stride, fix="pass a larger step"
        )
    return IntervalLattice(least, stride, int(steps))


@dataclass(frozen=True, eq=False, repr=False)
class Listed:
    """Records as a list of doubles, found on the lattice by selection; only the ranks asked for are sorted.

    Moving a value to the lattice never changes the order, so it is done last, on what was selected.
    """

    values: NDArray[np.float64]
    lattice: Lattice

    @property
    def records(self) -> int:
        """How many there are."""
        return len(self.values)

    @property
    def different(self) -> int:
        """As many as there are, perhaps."""
        return len(self.values)

    def order(self, low: int, high: int) -> Places:
        """The places of the records of these ranks and all between, counted from one."""
        return self.lattice.places(self._ordered(low, high))

    def selected(self, low: int, high: int) -> PlaceCounts:
        """The same records by their places."""
        return self.lattice.cells(self._ordered(low, high))

    def cells(self) -> PlaceCounts:
        """Every place that has a record, and how many."""
        return self.lattice.cells(self.values)

    def _ordered(self, low: int, high: int) -> NDArray[np.float64]:
        if high < low:
            return np.empty(0)
        if 2 * (high - low) > len(self.values):
            return np.sort(self.values)[low - 1 : high]
        return np.sort(np.partition(self.values, (low - 1, high - 1))[low - 1 : high])

"""Numbers as whole steps between public bounds: what a sum adds up, without rounding on the way.

Public grids for quantiles: points at equal distances between bounds, or any increasing list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import floor, log10
from typing import Any, cast

from leastnoise.data import Kind, Table
from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact.parameters import NumberLike, read_rational
from leastnoise.mechanisms.rank.rank_law import read_level
from leastnoise.model.limits import MOST_POINTS, MOST_TURNS
from leastnoise.release.axes import read_edge, require_column, take

__all__ = [
    "Bounds",
    "FixedPoint",
    "decimal_step",
    "is_whole",
    "numeric_column",
    "read_bounds",
    "read_fixed_point",
    "read_grid",
    "read_levels",
]

_DIGITS = 3  # a grid without a step has a thousand points or a few more
_MOST_STEPS = 1 << 52
_LARGEST = 1 << 500
_FINEST = 6  # decimal digits of the width, where no step is given
Bounds = tuple[NumberLike, NumberLike] | None


@dataclass(frozen=True)
class FixedPoint:
    """x counts as q = ⌊clamp(x, low, high)/step + ½⌋ steps; a row is thereby moved by at most half a step.

    >>> FixedPoint(Fraction(0), Fraction(1), Fraction(1, 4)).steps
    (0, 4)
    """

    low: Fraction
    high: Fraction
    step: Fraction

    @property
    def steps(self) -> tuple[int, int]:
        """The least and the largest q."""
        return floor(self.low / self.step + Fraction(1, 2)), floor(self.high / self.step + Fraction(1, 2))

    @property
    def centre(self) -> int:
        """The q in the middle, rounded down."""
        return sum(self.steps) // 2

    def parameters(self) -> dict[str, Any]:
        """As JSON."""
        return {"low": str(self.low), "high": str(self.high), "step": str(self.step)}


def numeric_column(table: Table, column: str) -> str:
    """A column that can be summed and ranked."""
    require_column(table, column)
    if not table.columns[column].numeric:
        numeric = [name for name, kind in table.columns.items() if kind.numeric]
        other = f"choose one of {', '.join(numeric[:8])}" if numeric else "count instead"
        raise BadParameter("this column holds no numbers", given=column, fix=table.hints.get(column, other))
    return column


def read_bounds(column: str, bounds: Bounds) -> tuple[Fraction, Fraction]:
    """Public bounds of a column.

    Raises:
        BadParameter: They are missing, no pair, in the wrong order, or absurdly far or close.
    """
    if bounds is None:
        raise BadParameter(
            f"bounds of {column!r} are missing, and without them one row could change the answer without limit",
            fix=f"pass public ones, not taken from the data: bounds=(0, 100) for {column!r}",
        )
    try:
        first, last = bounds
    except (TypeError, ValueError):
        raise BadParameter("bounds must be a pair", given=bounds, fix="pass bounds=(0, 100)") from None
    low, high = read_rational(first, "bounds"), read_rational(last, "bounds")
    if low >= high:
        raise BadParameter("bounds must increase", given=bounds, fix="pass bounds=(0, 100)")
    if max(abs(low), abs(high)) > _LARGEST or (high - low) * _LARGEST < 1:
        raise BadParameter("bounds must lie within ±2^500 and 2^-500 apart", given=bounds, fix="use another unit")
    return low, high


def decimal_step(width: Fraction, digits: int) -> Fraction:
    """A power of ten that divides the width into 10^digits parts or a little more.

    >>> decimal_step(Fraction(500), 3)
    Fraction(1, 10)
    """
    return Fraction(10) ** (floor(log10(width)) - digits)


def is_whole(table: Table, column: str, low: Fraction, high: Fraction) -> bool:
    """Whether values between the bounds are whole numbers."""
    return table.columns[column] is Kind.INTEGER and low.denominator == high.denominator == 1


def read_fixed_point(table: Table, column: str, bounds: Bounds, step: NumberLike | None) -> FixedPoint:
    """Read public bounds and a step: 1 for whole numbers, else a power of ten that is a millionth of the width or less.

    Raises:
        BadParameter: The bounds are missing or in the wrong order.
        TooLarge: The step is too fine.
    """
    low, high = read_bounds(column, bounds)
    if step is not None:
        stride = read_rational(step, "step", above=0, at_most=high - low)
    else:
        stride = Fraction(1) if is_whole(table, column, low, high) else decimal_step(high - low, _FINEST)
    if max(abs(low), abs(high)) / stride > _MOST_STEPS:
        raise TooLarge("step divides the bounds into more than 2^52 parts", given=stride, fix="pass a larger step")
    return FixedPoint(low, high, stride)


def read_levels(levels: NumberLike | Iterable[NumberLike]) -> tuple[Fraction, ...]:
    """Levels between 0 and 1 that increase.

    >>> read_levels([0.25, 0.5]), read_levels("1/2")
    ((Fraction(1, 4), Fraction(1, 2)), (Fraction(1, 2),))
    """
    several = isinstance(levels, Iterable) and not isinstance(levels, str)
    listed: list[Any] = take(cast("Iterable[NumberLike]", levels), MOST_TURNS, "levels") if several else [levels]
    found = tuple(read_level(level) for level in listed)
    if not found or any(low >= high for low, high in pairwise(found)):
        raise BadParameter("levels must increase", given=listed[:3], fix="pass [0.25, 0.5, 0.75]")
    return found


def read_grid(
    table: Table,
    column: str,
    bounds: Bounds,
    step: NumberLike | None,
    grid: Sequence[NumberLike] | None,
    levels: int,
) -> tuple[tuple[Fraction, ...], Fraction | None]:
    """The points, and their distance where it is the same for all.

    Raises:
        BadParameter: Neither bounds nor a grid, both, or a grid that does not increase.
        TooLarge: More than 65536 points.
    """
    if grid is not None:
        if bounds is not None or step is not None:
            raise BadParameter("a grid needs no bounds and no step", fix="leave them out")
        if isinstance(grid, str) or not isinstance(grid, Iterable):
            raise BadParameter("a grid is a list of numbers", given=grid, fix="pass range(0, 121), for example")
        listed = take(grid, MOST_POINTS, "points in the grid")
        points = tuple(read_edge(point, "grid") for point in listed)
        gaps = {high - low for low, high in pairwise(points)}
        if not points or any(gap <= 0 for gap in gaps):
            raise BadParameter("grid must increase", fix="pass range(0, 121), for example")
        even: Fraction | None = gaps.pop() if len(gaps) == 1 else None
    else:
        low, high = read_bounds(column, bounds)
        if step is not None:
            even = read_rational(step, "step", above=0, at_most=high - low)
        else:
            even = decimal_step(high - low, _DIGITS)
            even = max(even, Fraction(1)) if is_whole(table, column, low, high) else even
        steps = floor((high - low) / even)
        if steps + 1 > MOST_POINTS:
            raise TooLarge(f"a grid has at most {MOST_POINTS} points", given=steps + 1, fix="pass a larger step")
        points = tuple(low + even * k for k in range(steps + 1))
    if levels > 1 and even is None:
        raise BadParameter("several quantiles need a grid with equal distances", fix="pass bounds and a step")
    return points, even

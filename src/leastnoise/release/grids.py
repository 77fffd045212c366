"""Public grids for quantiles: points at equal distances between bounds, or any increasing list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import Any, cast

from leastnoise.data import Table
from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact.parameters import NumberLike, read_rational
from leastnoise.mechanisms.rank.rank_law import read_level
from leastnoise.model.limits import MOST_POINTS, MOST_TURNS
from leastnoise.release.axes import read_edge, take
from leastnoise.release.fixed_point import Bounds, decimal_step, is_whole, read_bounds

__all__ = ["read_grid", "read_levels"]

_DIGITS = 3  # a grid without a step has a thousand points or a few more


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

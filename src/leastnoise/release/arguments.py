"""The public arguments of a question, read: keys, bins and bounds, steps and grids.

Numbers count as whole steps between public bounds: so a sum is added up without rounding on the way. A grid for
quantiles has points at equal distances between bounds, or is any increasing list.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import combinations, islice, pairwise, product
from math import comb, floor, log10, prod
from typing import Any, cast

import numpy as np

from leastnoise.data import Axis, BinAxis, KeyAxis, Kind, Table, TimeAxis
from leastnoise.data.columns import LARGEST_REAL
from leastnoise.errors import BadParameter, NumberTooLarge, TooLarge, shown
from leastnoise.exact import NumberLike, read_integer, read_rational
from leastnoise.ledger.record import Json
from leastnoise.mechanisms.rank.rank_law import read_level
from leastnoise.model import LEVEL, MOST_CELLS, MOST_POINTS, MOST_TABLES, MOST_TURNS, number, unknown_label
from leastnoise.release.calendar_bins import read_time_axis

__all__ = [
    "Bins",
    "Bounds",
    "By",
    "FixedPoint",
    "Keys",
    "axis_labels",
    "axis_parameters",
    "cell_count",
    "cell_keys",
    "numeric_column",
    "read_axes",
    "read_by",
    "read_condition_scale",
    "read_confidence",
    "read_fixed_point",
    "read_grid",
    "read_interval_share",
    "read_key",
    "read_levels",
    "read_tables",
    "require_cells",
    "require_column",
    "take",
    "write_key",
]

By = str | Sequence[str] | None
Keys = Iterable[Hashable] | Mapping[str, Iterable[Hashable]] | None
Edges = str | Sequence[NumberLike] | Sequence[date]
Bins = Edges | Mapping[str, Edges] | None
Bounds = tuple[NumberLike, NumberLike] | str | None  # "private" where a question can choose them

_FEWER = "ask for fewer columns, or list the tables"
_MOST_BITS = 4096  # of a whole number as a key
_DIGITS = 3  # a grid without a step has a thousand points or a few more
_MOST_STEPS = 1 << 52
_LARGEST = 1 << 500
_AVERAGED = 4  # decimal digits of the width, where whole numbers are averaged
_FINEST = 6  # decimal digits of the width, where no step is given


def read_by(table: Table, by: By, keys: Keys, bins: Bins) -> tuple[str, ...]:
    """The columns of a breakdown, from `by` or from the names that `keys` and `bins` have."""
    if by is None:
        named = [*(keys if isinstance(keys, Mapping) else ()), *(bins if isinstance(bins, Mapping) else ())]
        if not named and (keys is not None or bins is not None):
            raise BadParameter("keys and bins need a column", fix='say which one: by="city"')
        by = named
    columns = (by,) if isinstance(by, str) else tuple(take(by, len(table.columns), "columns in `by`"))
    for place, column in enumerate(columns):
        require_column(table, column)
        if column in columns[:place]:
            raise BadParameter("a column is named twice in `by`", given=column, fix="name each once")
    return columns


def require_column(table: Table, name: object) -> str:
    """A column of the table.

    Raises:
        UnknownColumn: There is none of this name; the closest one is in the text.
    """
    if not isinstance(name, str):
        raise BadParameter(
            "a column is named by text", given=name, fix=f"name one of {', '.join([*table.columns][:8])}"
        )
    if name not in table.columns:
        raise unknown_label(name, table.columns, "column")
    return str(name)


def read_axes(
    table: Table, columns: tuple[str, ...], keys: Keys, bins: Bins, *, together: bool = True
) -> tuple[Axis, ...] | None:
    """One axis per column; None where the keys of all of them are unknown.

    Args:
        table: Has the columns.
        columns: Their names.
        keys: Public keys.
        bins: Public edges.
        together: Whether the cells of all axes together are an answer.

    Raises:
        BadParameter: Some columns have public keys and some have not, or keys repeat, or edges do not increase.
        TooLarge: There are more cells than one answer can hold.
    """
    by_keys = _per_column(keys, columns, "keys")
    by_bins = _per_column(bins, columns, "bins")
    found: list[Axis | None] = []
    for column in columns:
        if column in by_keys and column in by_bins:
            raise BadParameter("a column has either keys or bins", given=column, fix="leave one of them out")
        if column in by_keys:
            found.append(KeyAxis(column, _read_keys(column, by_keys[column])))
        elif column in by_bins:
            kind = table.columns[column]
            if kind in (Kind.DATE, Kind.TIMESTAMP):
                found.append(read_time_axis(column, kind, by_bins[column]))
            else:
                found.append(BinAxis(column, _read_edges(column, by_bins[column])))
        elif table.columns[column] is Kind.BOOLEAN:
            found.append(KeyAxis(column, (False, True)))
        else:
            found.append(None)
    axes = tuple(axis for axis in found if axis is not None)
    if columns and len(axes) < len(columns):
        if by_keys or by_bins:
            bare = columns[found.index(None)]
            raise BadParameter(
                "either all columns of `by` have public keys or bins, or none has",
                given=bare,
                fix=f'pass for example keys={{"{bare}": […]}}, or bins={{"{bare}": [0, 10, 20]}} for a numeric column, '
                'or "months from 2026-01 to 2026-12" for dates',
            )
        return None
    if together:
        require_cells(cell_count(axes))
    return axes


def read_tables(ways: NumberLike | Iterable[Iterable[str]], columns: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    """The places of the columns of each table: those of all sets of so many columns, or those that are listed.

    Raises:
        BadParameter: A column is unknown, or a table is there twice.
        TooLarge: There are too many tables.

    >>> read_tables(2, ("a", "b", "c")), read_tables([["b"], []], ("a", "b"))
    (((0, 1), (0, 2), (1, 2)), ((1,), ()))
    """
    if not isinstance(ways, Iterable) or isinstance(ways, str):
        many = read_integer(ways, "ways", at_least=1, at_most=len(columns))
        if comb(len(columns), many) > MOST_TABLES:
            raise TooLarge(f"a release has at most {MOST_TABLES} tables", given=comb(len(columns), many), fix=_FEWER)
        return tuple(combinations(range(len(columns)), many))
    named = [take(one, len(columns), "columns of a table") for one in take(ways, MOST_TABLES, "tables")]
    for name in (name for one in named for name in one):
        if not isinstance(name, str) or name not in columns:
            raise unknown_label(name, columns, "column")
    found = tuple(tuple(sorted({columns.index(name) for name in one})) for one in named)
    if not found or len(set(found)) < len(found):
        raise BadParameter("every table is listed once, and there is at least one", fix="pass ways=2, for example")
    return found


def cell_count(axes: Iterable[Axis]) -> int:
    """How many cells the axes have together."""
    return prod(map(len, axes))


def require_cells(count: int, most: int = MOST_CELLS) -> None:
    """Refuse an answer of more cells than the limit."""
    if count > most:
        raise TooLarge(f"an answer holds at most {most} cells", given=count, fix="ask for fewer keys or bins")


def take(given: Iterable[Any], most: int, what: str) -> list[Any]:
    """A list of at most so many things, from something that may have no end.

    Raises:
        BadParameter: It is no list of things: a number, text, bytes.
        TooLarge: There are more.
    """
    several = None
    if not isinstance(given, str | bytes | bytearray):
        with suppress(TypeError):  # NumPy's point has the methods of a list, and is none
            several = iter(given)
    if several is None:
        raise BadParameter(f"{what} must be a list", given=given, fix="pass a list, even of one")
    taken = list(islice(several, most + 1))
    if len(taken) > most:
        raise TooLarge(f"there may be at most {most} {what}", fix="pass fewer")
    return taken


def read_edge(edge: NumberLike, name: str) -> Fraction:
    """A number that an engine can compare with: no further from zero than the largest double."""
    exact = read_rational(edge, name)
    if abs(exact) > LARGEST_REAL:
        raise NumberTooLarge(f"{name} reach beyond the largest double", fix="take edges near the column's values")
    return exact


def axis_labels(axis: Axis) -> tuple[Any, ...]:
    """What its cells are called: the keys, or the intervals as text."""
    if isinstance(axis, KeyAxis):
        return axis.keys
    if isinstance(axis, TimeAxis):
        return axis.labels
    pairs = list(pairwise(axis.edges))
    return tuple(
        f"[{number(low)}, {number(high)}{']' if place == len(pairs) - 1 else ')'}"
        for place, (low, high) in enumerate(pairs)
    )


def cell_keys(axes: tuple[Axis, ...]) -> dict[str, tuple[Any, ...]]:
    """The key columns of the table of all cells, in the order of the flattened array."""
    rows = list(product(*(axis_labels(axis) for axis in axes)))
    return {axis.column: tuple(row[place] for row in rows) for place, axis in enumerate(axes)}


def axis_parameters(axis: Axis) -> Json:
    """What makes an axis this axis, as JSON."""
    if isinstance(axis, KeyAxis):
        return {"column": axis.column, "keys": [write_key(key) for key in axis.keys]}
    if isinstance(axis, TimeAxis):
        return {"column": axis.column, "times": [edge.isoformat() for edge in axis.edges], "labels": list(axis.labels)}
    return {"column": axis.column, "edges": [str(edge) for edge in axis.edges]}


def write_key(key: Any) -> Json:
    """A key as JSON; dates and decimals say what they are.

    Raises:
        BadParameter: It is no value that a column can hold.
    """
    if isinstance(key, np.generic):
        key = key.item()
    if isinstance(key, int) and key.bit_length() > _MOST_BITS:
        raise NumberTooLarge("a key is larger than any number in a table", fix="list keys that a column can hold")
    if key is None or isinstance(key, bool | int | str):
        return key
    if (isinstance(key, Decimal) and not key.is_finite()) or (isinstance(key, datetime) and key != key):
        raise BadParameter("a key must be a value", given=key, fix="write None for missing values")
    if isinstance(key, float):
        return {"float": key.hex()}
    if isinstance(key, datetime):
        return {"timestamp": key.isoformat()}
    if isinstance(key, date):
        return {"date": key.isoformat()}
    if isinstance(key, Decimal | Fraction):
        return {"decimal": str(key)}
    raise BadParameter(
        "a key must be text, a number, a date or missing", given=type(key).__name__, fix="convert it, or write None"
    )


def read_key(written: Json) -> Any:
    """The inverse of `write_key`.

    >>> read_key(write_key(date(2024, 2, 29))), read_key("Lyon")
    (datetime.date(2024, 2, 29), 'Lyon')
    """
    if not isinstance(written, dict):
        return written
    ((kind, text),) = written.items()
    readers = {"float": float.fromhex, "timestamp": datetime.fromisoformat, "date": date.fromisoformat}
    return readers.get(kind, Decimal)(str(text))


def _per_column(given: Any, columns: tuple[str, ...], what: str) -> dict[str, Any]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        for name in given:
            if not isinstance(name, str) or name not in columns:
                raise unknown_label(name, columns, "column")
        return dict(given)
    if not columns:
        raise BadParameter(f"{what} need a column", fix='say which one: by="city"')
    if len(columns) != 1:
        raise BadParameter(
            f"with several columns {what} must say which are whose",
            given=type(given).__name__,
            fix=f'pass {what}={{"{columns[0]}": […], …}}',
        )
    return {columns[0]: given}


def _read_keys(column: str, keys: Any) -> tuple[Hashable, ...]:
    if isinstance(keys, str | bytes) or not isinstance(keys, Iterable):
        raise BadParameter(f"keys of {column!r} must be a list", given=keys, fix='pass for example ["Lyon", "Metz"]')
    listed = take(keys, MOST_CELLS, f"keys of {column!r}")
    found = tuple(key.item() if isinstance(key, np.generic) else key for key in listed)
    seen: set[Hashable] = set()
    for key in found:
        write_key(key)
        if key in seen:
            raise BadParameter(f"a key of {column!r} is listed twice", given=shown(key), fix="list each key once")
        seen.add(key)
    if not found:
        raise BadParameter(f"keys of {column!r} are empty", fix="list the public keys, or leave `keys` out")
    return found


def _read_edges(column: str, edges: Any) -> tuple[Fraction, ...]:
    if isinstance(edges, str | bytes) or not isinstance(edges, Iterable):
        raise BadParameter(f"bins of {column!r} must be a list of edges", given=edges, fix="pass [0, 10, 20]")
    listed = take(edges, MOST_CELLS + 1, f"edges of {column!r}")
    found = tuple(read_edge(edge, f"bins of {column!r}") for edge in listed)
    if len(found) < 2 or any(low >= high for low, high in pairwise(found)):
        raise BadParameter(f"bins of {column!r} must be at least two increasing edges", fix="pass [0, 10, 20]")
    return found


@dataclass(frozen=True)
class FixedPoint:
    """x counts as q = ⌊clamp(x, low, high)/step + ½⌋ steps; a row is thereby moved by at most half a step.

    >>> FixedPoint(Fraction(0), Fraction(1), Fraction(1, 4)).steps
    (0, 4)
    """

    low: Fraction
    high: Fraction
    step: Fraction

    @cached_property
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
            fix=f'pass public ones, not taken from the data: bounds=(0, 100) for {column!r}; or bounds="private" for '
            "sums, means, variances and quantiles where nobody knows them",
        )
    if isinstance(bounds, str):
        raise BadParameter("bounds must be a pair of public numbers here", given=bounds, fix="pass bounds=(0, 100)")
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


def read_fixed_point(
    table: Table, column: str, bounds: Bounds, step: NumberLike | None, averaged: bool = False
) -> FixedPoint:
    """Read public bounds and a step: 1 for whole numbers, else a power of ten that is a millionth of the width or less.

    Where a unit with too many rows counts with their average, whole numbers get a step of a ten thousandth of the width
    or less: averages are not whole.

    Raises:
        BadParameter: The bounds are missing or in the wrong order.
        TooLarge: The step is too fine.
    """
    low, high = read_bounds(column, bounds)
    if step is not None:
        stride = read_rational(step, "step", above=0, at_most=high - low)
    else:
        whole = is_whole(table, column, low, high)
        stride = decimal_step(high - low, _AVERAGED if whole else _FINEST)
        if whole and (not averaged or stride > 1):
            stride = Fraction(1)
    if max(abs(low), abs(high)) / stride > _MOST_STEPS:
        raise TooLarge("step divides the bounds into more than 2^52 parts", given=stride, fix="pass a larger step")
    return FixedPoint(low, high, stride)


def read_condition_scale(averaged: bool) -> FixedPoint:
    """Of a condition, which is 0 or 1: in one step, or in steps as fine as an average needs."""
    return FixedPoint(Fraction(0), Fraction(1), Fraction(10) ** -_AVERAGED if averaged else Fraction(1))


def read_levels(levels: NumberLike | Iterable[NumberLike]) -> tuple[Fraction, ...]:
    """Levels from 0 to 1 that increase.

    >>> read_levels([0.25, 0.5]), read_levels("1/2")
    ((Fraction(1, 4), Fraction(1, 2)), (Fraction(1, 2),))
    """
    several = isinstance(levels, Iterable) and not isinstance(levels, str)
    listed: list[Any] = take(cast("Iterable[NumberLike]", levels), MOST_TURNS, "levels") if several else [levels]
    found = tuple(read_level(level) for level in listed)
    if not found or any(low >= high for low, high in pairwise(found)):
        raise BadParameter("levels must increase", given=listed[:3], fix="pass [0.25, 0.5, 0.75]")
    return found


def read_interval_share(
    levels: tuple[Fraction, ...], share: NumberLike | None, confidence: NumberLike
) -> tuple[Fraction | None, Fraction]:
    """The share of the price that pays for intervals, None for no intervals, and their confidence.

    >>> read_interval_share((Fraction(1, 2),), "1/3", 0.9)
    (Fraction(1, 3), Fraction(9, 10))
    """
    level = read_rational(confidence, "interval_confidence", above=0, below=1)
    if share is None:
        if level != LEVEL:
            raise BadParameter(
                "no interval is asked for", given=f"interval_confidence={level}", fix='pass interval_share="1/2", too'
            )
        return None, level
    found = read_rational(share, "interval_share", above=0, below=1)
    if levels[0] == 0 or levels[-1] == 1:
        raise BadParameter(
            "a minimum or maximum has no interval", fix="leave out interval_share, or ask for level 0.01"
        )
    return found, level


def read_grid(
    table: Table,
    column: str,
    bounds: Bounds,
    step: NumberLike | None,
    grid: Sequence[NumberLike] | None,
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
    return points, even


def read_confidence(confidence: NumberLike) -> Fraction:
    """A probability with which an interval holds.

    >>> read_confidence(0.9)
    Fraction(9, 10)
    """
    return read_rational(confidence, "confidence", above=0, below=1)

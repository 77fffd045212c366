"""What one unit can change: at most, from what the engine enforces and nothing else; and at least, for lower bounds.

The engine keeps at most g = `groups_per_unit` cells of a unit and lets it count in each of them as at most
r = `rows_per_unit` rows, each worth between `low` and `high` steps. What a unit adds to a cell therefore lies
between r·min(low, 0) and r·max(high, 0), and what others add does not depend on it. So of n cells a unit changes at
most min(g, n), each by at most r·max(|low|, |high|), and all of them the same way unless low < 0 < high.
tests/release/test_neighbours.py compares this with all neighbours of small tables, for every question.

A lower bound rests on neighbours: one unit more, in any cell, by any whole number of steps up to the sensitivity. The
public keys, bins and bounds of a question say what may occur. A filter may rule cells out, a bin of whole numbers may
hold none, a column's type may not reach a key, a bin or a bound, and a unit that is itself an axis is in one cell only.
In a join, what one table holds restricts what another adds, and a public table holds what it holds.
Where a row for each cell is not found, the answer is no, and no bound is printed.

A bound also supposes any number of units. If the type of the unit has n values, the best mechanism for at most n units
errs less than the one for any number by a factor that differs from one by about e^(−nε/2). So nε has to be large.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import islice, pairwise, product
from math import ceil, floor, inf

import numpy as np

from leastnoise.data import (
    Axis,
    BinAxis,
    Column,
    Contribution,
    CountUnits,
    Kind,
    Measure,
    Predicate,
    SumOf,
    Table,
    TimeAxis,
    holds,
)
from leastnoise.data.predicates.nodes import Literal, Node
from leastnoise.exact import Exact
from leastnoise.model import Norm, Sensitivity, number
from leastnoise.release.arguments import FixedPoint

__all__ = [
    "cells_reachable",
    "enough_units",
    "points_reachable",
    "sensitivity_of",
    "sensitivity_of_distinct",
    "steps_reachable",
    "unit_name",
]

_LARGEST_REAL = Fraction(1.7976931348623157e308)
_MANY = 128  # nε from which "any number of units" is true to 27 digits
_MOST_TRIES = 2_000
_MOST_CELLS = 200  # that are tried one by one
_PLAIN: dict[Kind, tuple[object, ...]] = {
    Kind.INTEGER: (0, 1, -1),
    Kind.REAL: (0.0, 1.0, -1.0),
    Kind.DECIMAL: (Decimal(0), Decimal(1), Decimal(-1)),
    Kind.TEXT: ("", "a"),
    Kind.BOOLEAN: (False, True),
    Kind.DATE: (date(2000, 1, 1),),
    Kind.TIMESTAMP: (datetime(2000, 1, 1),),
}


def sensitivity_of(
    contribution: Contribution,
    measure: Measure,
    counted: int | None = 1,
    *,
    parts: bool = False,
    norm: Norm = "l1",
) -> Sensitivity:
    """How much one unit, added or removed, changes what is released.

    Args:
        contribution: What the engine enforces.
        measure: What the engine adds up in each cell; from it follow what a row is worth and what a step is.
        counted: The number of cells that units are counted in; None where it is not limited.
        parts: Whether a cell holds the parts of a whole in place of one sum: Σ(q − low) and Σ(high − q), or the same
            of squares and what is left. None is negative and together a row is worth the width of the bounds to the
            power of the measure, so that a unit moves them by no more than its rows times that in the ℓ₁ norm.
        norm: What the mechanism is calibrated to.

    >>> from leastnoise.data import CountRows
    >>> sensitivity_of(Contribution("person", 2, 3), CountRows(), 5).l1
    6
    >>> sensitivity_of(Contribution("person", 2, 3), SumOf("x", Fraction(-7), Fraction(4), Fraction(1)), 5).l1
    42
    """
    groups, rows = contribution.groups_per_unit, contribution.rows_per_unit
    low, high, step = 1, 1, Fraction(1)
    if isinstance(measure, SumOf):
        low, high, step = measure.lowest, measure.highest, measure.step**measure.power
        if parts:
            low = high = (measure.steps[1] - measure.steps[0]) ** measure.power
    if isinstance(measure, CountUnits):
        rows = 1
    cells = groups if counted is None else min(groups, counted)
    return Sensitivity(
        cells=cells,
        each=rows * max(abs(low), abs(high)),
        reason=_reason(contribution, measure, counted, cells, (low * step, high * step)),
        step=step,
        norm=norm,
        monotone=low >= 0 or high <= 0,
    )


def sensitivity_of_distinct(contribution: Contribution) -> Sensitivity:
    """How much one unit changes a number of different values, of which it keeps at most `groups_per_unit`.

    >>> sensitivity_of_distinct(Contribution("person", 3)).l1
    3
    """
    most = contribution.groups_per_unit
    brings = f"{unit_name(contribution)}, added or removed, brings at most {_many(most, 'value')} that no other has"
    return Sensitivity(cells=1, each=most, reason=brings)


def unit_name(contribution: Contribution) -> str:
    """What one unit is called."""
    return "a row" if contribution.privacy_unit is None else f"one {contribution.privacy_unit}"


def _reason(
    contribution: Contribution,
    measure: Measure,
    counted: int | None,
    cells: int,
    worth: tuple[Fraction | int, Fraction | int],
) -> str:
    rows, several = contribution.rows_per_unit, counted != 1
    where = f" in at most {_many(cells, 'cell')}" if several else ""
    if contribution.privacy_unit is None or isinstance(measure, CountUnits):
        amount = "once" + (" in each" if several else "")
    else:
        amount = f"with at most {_many(rows, 'row')}" + (" in each" if several else "")
    values = ""
    if isinstance(measure, SumOf):
        low, high = map(number, worth)
        values = f", a row worth {low}" if low == high else f", a row worth between {low} and {high}"
    return f"{unit_name(contribution)}, added or removed, counts{where} {amount}{values}"


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def enough_units(table: Table, unit: str | None, epsilon: Exact) -> bool:
    """Whether the type of the unit has so many values that a bound for any number of units is one here."""
    most = None if unit is None else table.types[unit].most_values
    return most is None or most * epsilon >= _MANY


def cells_reachable(
    table: Table, contribution: Contribution, axes: tuple[Axis, ...], where: Predicate | None = None
) -> bool:
    """Whether any number of units can be in each cell, each unit in that one alone."""
    listed = {axis.column: _cells(axis, table.types[axis.column]) for axis in axes}
    return all(None not in cells for cells in listed.values()) and _free(table, contribution, listed, where)


def points_reachable(
    table: Table,
    contribution: Contribution,
    column: str,
    grid: tuple[Fraction, ...],
    where: Predicate | None,
    every: int = 1,
) -> bool:
    """Whether any number of units can be nearest to each point of a grid, or to every so many-th."""
    middles = [(low + high) / 2 for low, high in pairwise(grid)]
    spans = list(zip([grid[0], *middles], [*middles, grid[-1] + 1], strict=True))
    points = [_value_in(low, high, table.types[column], closed=False) for low, high in spans[::every]]
    return None not in points and _free(table, contribution, {column: points}, where)


def steps_reachable(
    table: Table, contribution: Contribution, column: str, scale: FixedPoint, where: Predicate | None
) -> bool:
    """Whether one unit can change a sum by any whole number of steps up to the largest.

    Values must be as fine as the steps, and the smallest change one step: bounds of (100, 110) leave none below 100.
    """
    if column in (contribution.privacy_unit, *table.tied) or (where is not None and column in where.columns):
        return False
    kind, held = table.columns[column], table.types[column]
    fine = (
        kind is Kind.INTEGER and scale.step >= 1 and held.can_hold(ceil(scale.low)) and held.can_hold(floor(scale.high))
    )
    low, high = scale.steps
    if kind is Kind.REAL:
        smallest, digits = (-126, 22) if held.is_single else (-1000, 51)
        fine = scale.step >= Fraction(2) ** smallest and max(abs(low), abs(high)) < 1 << digits
    return fine and low <= 1 and high >= -1


def _cells(axis: Axis, column: Column) -> list[object]:
    """A value in each cell; None where none is known."""
    if isinstance(axis, BinAxis):
        spans = list(pairwise(axis.edges))
        return [_value_in(low, high, column, closed=place == len(spans) - 1) for place, (low, high) in enumerate(spans)]
    if isinstance(axis, TimeAxis):
        return [edge.date() if column.kind is Kind.DATE else edge for edge in axis.edges[:-1]]
    return [_Missing if key is None else key if column.can_hold(key) else None for key in axis.keys]


class _Missing:
    """Stands for a value that is missing, where None says that none is known."""


def _value_in(low: Fraction, high: Fraction, column: Column, *, closed: bool) -> object:
    """A value that the column can hold, at least `low` and below `high`, or at most `high`; None if none is found."""
    found: object = ceil(low)
    if column.kind is Kind.INTEGER:
        found = max(ceil(low), column.limits[0])
    elif column.kind is Kind.REAL:
        found = _real_above(low, column)
    elif column.kind is Kind.DECIMAL:
        found = Decimal(ceil(low))
    inside = isinstance(found, int | float | Decimal) and (found < high or (closed and found == high))
    return found if inside and column.can_hold(found) else None


def _real_above(low: Fraction, column: Column) -> float | None:
    """The least float of the column's width that is not below; None beyond the largest."""
    kind = np.float32 if column.is_single else np.float64
    with np.errstate(over="ignore"):
        near = kind(float(low)) if abs(low) <= _LARGEST_REAL else kind("inf")
        found = float(near if near >= low else np.nextafter(near, kind("inf")))
    return found if abs(found) < inf else None


def _free(
    table: Table, contribution: Contribution, listed: Mapping[str, list[object]], where: Predicate | None
) -> bool:
    """Whether the filter and the unit leave each of the listed values possible."""
    looked_at = frozenset() if where is None else where.columns
    if contribution.privacy_unit in table.tied or {contribution.privacy_unit, *table.tied} & {*listed, *looked_at}:
        return False
    if where is None:
        return True
    filtered = {column: values for column, values in listed.items() if column in looked_at}
    others = [column for column in sorted(looked_at) if column not in filtered]
    tries = [_tries(where, table.types[column]) for column in others]
    cells = list(islice(product(*filtered.values()), _MOST_CELLS + 1))
    return len(cells) <= _MOST_CELLS and all(
        any(holds(where, row) for row in _rows(dict(zip(filtered, cell, strict=True)), others, tries)) for cell in cells
    )


def _rows(fixed: Mapping[str, object], others: list[str], tries: list[list[object]]) -> Iterable[dict[str, object]]:
    given = {column: None if value is _Missing else value for column, value in fixed.items()}
    for values in islice(product(*tries), _MOST_TRIES):
        yield {**given, **dict(zip(others, values, strict=True))}


def _tries(where: Predicate, column: Column) -> list[object]:
    """Values at which tests of the filter may turn: its own numbers and texts, and their neighbours."""
    kind = column.kind
    found: list[object] = [*_PLAIN.get(kind, ())]
    waiting: list[Node] = [where]
    while waiting:
        node = waiting.pop()
        waiting += node.children()
        if isinstance(node, Literal):
            found += _near(node.value, kind)
    return [*filter(column.can_hold, dict.fromkeys(found)), None]


def _near(value: object, kind: Kind) -> list[object]:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        fits = {Kind.TEXT: str, Kind.BOOLEAN: bool, Kind.DATE: date, Kind.TIMESTAMP: datetime}.get(kind)
        return [value] if fits is not None and isinstance(value, fits) else []
    exact = Fraction(value)
    if kind is Kind.INTEGER:
        return [floor(exact) + k for k in (-1, 0, 1)]
    if kind is Kind.REAL:
        return [float(exact) + k for k in (-1, 0, 1)]
    return [Decimal(floor(exact) + k) for k in (-1, 0, 1)] if kind is Kind.DECIMAL else []

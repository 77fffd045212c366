"""What one unit can change: at most, from what the engine enforces and nothing else; and at least, for lower bounds.

The engine keeps at most g = `groups_per_unit` cells of a unit in each table and lets it count in each of them as at
most r = `rows_per_unit` rows, each worth between `low` and `high` steps. What a unit adds to a cell therefore lies
between r·min(low, 0) and r·max(high, 0), and the tables without the unit do not depend on it. So a unit changes at most
Σ min(g, size) cells over the tables, each by at most r·max(|low|, |high|), and all of them the same way unless
low < 0 < high. tests/release/test_neighbours.py compares this with all neighbours of small tables, for every question.

A lower bound rests on neighbours: one unit more, in any cell, by any whole number of steps up to the sensitivity. The
public keys, bins and bounds of a question say what may occur. A filter may rule cells out, a bin of whole numbers may
hold none, and a unit that is itself an axis is in one cell only. Where a row for each cell is not found, the answer is
no, and no bound is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import islice, pairwise, product
from math import ceil, floor

from leastnoise.data import Axis, BinAxis, Contribution, CountUnits, Kind, Measure, Predicate, SumOf
from leastnoise.data.predicates.terms import Literal, Node
from leastnoise.model.sensitivity import Norm, Sensitivity
from leastnoise.release.arguments import FixedPoint
from leastnoise.release.tables import number

__all__ = ["cells_reachable", "points_reachable", "sensitivity_of", "steps_reachable", "unit_name"]

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
Kinds = Mapping[str, Kind]


def sensitivity_of(
    contribution: Contribution,
    measure: Measure,
    tables: Sequence[int | None] = (1,),
    *,
    pair: bool = False,
    norm: Norm = "l1",
) -> Sensitivity:
    """How much one unit, added or removed, changes what is released.

    Args:
        contribution: What the engine enforces.
        measure: What the engine adds up in each cell; from it follow what a row is worth and what a step is.
        tables: The number of cells of each table that is released; None where it is not limited.
        pair: Whether a cell holds both Σ(q − low) and Σ(high − q) in place of Σ(q − centre): a row is worth the width
            of the bounds to the two together.
        norm: What the mechanism is calibrated to.

    >>> from leastnoise.data import CountRows
    >>> sensitivity_of(Contribution("person", 2, 3), CountRows(), (5,)).l1
    6
    >>> sensitivity_of(Contribution("person", 2, 3), SumOf("x", Fraction(-7), Fraction(4), Fraction(1)), (5,)).l1
    42
    """
    groups, rows = contribution.groups_per_unit, contribution.rows_per_unit
    low, high, step = 1, 1, Fraction(1)
    if isinstance(measure, SumOf):
        low, high, step = measure.lowest, measure.highest, measure.step**measure.power
        if pair:
            low = high = measure.steps[1] - measure.steps[0]
    if isinstance(measure, CountUnits):
        rows = 1
    cells = sum(groups if size is None else min(groups, size) for size in tables)
    return Sensitivity(
        cells=cells,
        each=rows * max(abs(low), abs(high)),
        reason=_reason(contribution, measure, tables, cells, (low * step, high * step)),
        step=step,
        norm=norm,
        monotone=low >= 0 or high <= 0,
    )


def unit_name(contribution: Contribution) -> str:
    """What one unit is called."""
    return "a row" if contribution.privacy_unit is None else f"one {contribution.privacy_unit}"


def _reason(
    contribution: Contribution,
    measure: Measure,
    tables: Sequence[int | None],
    cells: int,
    worth: tuple[Fraction | int, Fraction | int],
) -> str:
    rows, several = contribution.rows_per_unit, tuple(tables) != (1,)
    where = f" in at most {_many(cells, 'cell')}" if several else ""
    where += f" of {len(tables)} tables" if len(tables) > 1 else ""
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


def cells_reachable(
    kinds: Kinds, contribution: Contribution, axes: tuple[Axis, ...], where: Predicate | None = None
) -> bool:
    """Whether any number of units can be in each cell, each unit in that one alone."""
    listed = {axis.column: _cells(axis, kinds[axis.column]) for axis in axes}
    return all(None not in cells for cells in listed.values()) and _free(kinds, contribution, listed, where)


def points_reachable(
    kinds: Kinds,
    contribution: Contribution,
    column: str,
    grid: tuple[Fraction, ...],
    where: Predicate | None,
) -> bool:
    """Whether any number of units can be nearest to each point of a grid."""
    middles = [(low + high) / 2 for low, high in pairwise(grid)]
    spans = zip([grid[0], *middles], [*middles, grid[-1] + 1], strict=True)
    points = [_value_in(low, high, kinds[column], closed=False) for low, high in spans]
    return None not in points and _free(kinds, contribution, {column: points}, where)


def steps_reachable(
    kinds: Kinds, contribution: Contribution, column: str, scale: FixedPoint, where: Predicate | None
) -> bool:
    """Whether one unit can change a sum by any whole number of steps up to the largest.

    Values must be as fine as the steps, and the smallest change one step: bounds of (100, 110) leave none below 100.
    """
    if column == contribution.privacy_unit or (where is not None and column in where.columns):
        return False
    fine = kinds[column] is Kind.REAL or (kinds[column] is Kind.INTEGER and scale.step >= 1)
    low, high = scale.steps
    return fine and low <= 1 and high >= -1


def _cells(axis: Axis, kind: Kind) -> list[object]:
    """A value in each cell; None where none is known."""
    if isinstance(axis, BinAxis):
        spans = list(pairwise(axis.edges))
        return [_value_in(low, high, kind, closed=place == len(spans) - 1) for place, (low, high) in enumerate(spans)]
    whole = kind is Kind.INTEGER and any(type(key) is not int for key in axis.keys)
    return [_Missing if key is None else None if whole and not _is_whole(key) else key for key in axis.keys]


class _Missing:
    """Stands for a value that is missing, where None says that none is known."""


def _is_whole(key: object) -> bool:
    return isinstance(key, int | float | Decimal | Fraction) and Fraction(key).denominator == 1


def _value_in(low: Fraction, high: Fraction, kind: Kind, *, closed: bool) -> object:
    if kind is Kind.REAL:
        return float(low)
    first = ceil(low)
    if first < high or (closed and first == high):
        return first if kind is Kind.INTEGER else Decimal(first)
    return None


def _free(
    kinds: Kinds, contribution: Contribution, listed: Mapping[str, list[object]], where: Predicate | None
) -> bool:
    """Whether the filter and the unit leave each of the listed values possible."""
    unit = contribution.privacy_unit
    looked_at = frozenset() if where is None else where.columns
    if unit is not None and (unit in listed or unit in looked_at or kinds[unit] is Kind.BOOLEAN):
        return False
    if where is None:
        return True
    filtered = {column: values for column, values in listed.items() if column in looked_at}
    others = [column for column in sorted(looked_at) if column not in filtered]
    tries = [_tries(where, kinds[column]) for column in others]
    cells = list(islice(product(*filtered.values()), _MOST_CELLS + 1))
    return len(cells) <= _MOST_CELLS and all(
        any(where.holds(row) for row in _rows(dict(zip(filtered, cell, strict=True)), others, tries)) for cell in cells
    )


def _rows(fixed: Mapping[str, object], others: list[str], tries: list[list[object]]) -> Iterable[dict[str, object]]:
    given = {column: None if value is _Missing else value for column, value in fixed.items()}
    for values in islice(product(*tries), _MOST_TRIES):
        yield {**given, **dict(zip(others, values, strict=True))}


def _tries(where: Predicate, kind: Kind) -> list[object]:
    """Values at which tests of the filter may turn: its own numbers and texts, and their neighbours."""
    found: list[object] = [*_PLAIN.get(kind, ())]
    waiting: list[Node] = [where]
    while waiting:
        node = waiting.pop()
        waiting += node.children()
        if isinstance(node, Literal):
            found += _near(node.value, kind)
    return [*dict.fromkeys(found), None]


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

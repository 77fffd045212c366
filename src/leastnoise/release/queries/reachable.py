"""Whether every cell of a question can be reached: only then is a lower bound one for this question.

A lower bound rests on neighbours: one unit more, in any cell, by any whole number of steps up to the sensitivity. The
public keys, bins and bounds of a question say what may occur. A filter may rule cells out, a bin of whole numbers may
hold none, and a unit that is itself an axis is in one cell only. Where a row for each cell is not found, the answer is
no, and no bound is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import islice, pairwise, product
from math import ceil, floor

from leastnoise.data import Axis, BinAxis, Contribution, Kind, Predicate
from leastnoise.data.predicates.terms import Literal, Node
from leastnoise.release.arguments import FixedPoint

__all__ = ["cells_reachable", "points_reachable", "steps_reachable"]

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

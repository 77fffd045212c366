"""Where a row lies on public axes: a join with the listed keys, or comparisons with the edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from leastnoise.data.axes import Axis, BinAxis, KeyAxis, TimeAxis, key_text
from leastnoise.data.columns import Column, Kind
from leastnoise.data.dialect import Dialect, Fragment, select, sql
from leastnoise.data.values import ReachedThresholds
from leastnoise.errors import BadParameter, TooLarge
from leastnoise.model.limits import MOST_UNEVEN

__all__ = ["CellIndex", "index_cells"]

_MOST_CELLS = 1 << 31
_LONG = 1 << 62


@dataclass(frozen=True)
class CellIndex:
    """How the cells of some axes are numbered, 0, 1, …, as in NumPy's C order; NULL outside of the axes."""

    joins: Fragment
    outer_joins: Fragment  # the same, but keeping every row
    joined: tuple[str, ...]  # the aliases in the joins
    expression: str
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many there are."""
        return prod(self.shape)


def index_cells(axes: Sequence[Axis], columns: Mapping[str, Column], dialect: Dialect, table: str) -> CellIndex:
    """The cells of the axes, for rows of the relation `table` of plain columns.

    Raises:
        BadParameter: A key or an edge does not fit its column.
        TooLarge: More than 2^31 cells.
    """
    shape = tuple(len(axis) for axis in axes)
    if prod(shape) > _MOST_CELLS:
        raise TooLarge("the axes have more than 2^31 cells together", given=shape, fix="take fewer or shorter axes")
    joins, outer, joined, terms = sql(""), sql(""), list[str](), [dialect.number(0)]
    for number, axis in enumerate(axes):
        column, stride = columns[axis.column], prod(shape[number + 1 :])
        value = f"{table}.{dialect.quote(axis.column)}"
        if isinstance(axis, KeyAxis) and column.kind is Kind.INTEGER and (run := _run_of(axis)):
            place = _run_place(run, value, dialect)
        elif isinstance(axis, KeyAxis):
            key, spot = (free_name(name, columns) for name in ("key", "place"))
            listed, place = _key_place(axis, column, value, (f"axis{number}", key, spot), dialect)
            kind = " LEFT JOIN (" if None in axis.keys else " JOIN ("
            joins, outer, joined = joins + kind + listed, outer + " LEFT JOIN (" + listed, [*joined, f"axis{number}"]
        elif isinstance(axis, TimeAxis):
            place = _time_place(axis, column, value, dialect)
        else:
            place = _bin_place(axis, column, value, dialect)
        terms.append(f"{place} * {dialect.number(stride)}")
    return CellIndex(joins, outer, tuple(joined), " + ".join(terms), shape)


def _run_of(axis: KeyAxis) -> range | None:
    """The keys as consecutive whole numbers of 64 bits in order, if they are; they need no join."""
    first, count = axis.keys[0], len(axis.keys)
    if type(first) is not int or not -_LONG <= first < _LONG - count:
        return None
    run = range(first, first + count)
    return run if all(type(key) is int and key == number for key, number in zip(axis.keys, run, strict=True)) else None


def _run_place(run: range, value: str, dialect: Dialect) -> str:
    first, last = dialect.number(run[0]), dialect.number(run[-1])
    place = f"CAST(least(greatest({value}, {first}), {last}) - {first} AS {dialect.long})"
    return f"CASE WHEN {value} BETWEEN {first} AND {last} THEN {place} END"


def free_name(name: str, columns: Mapping[str, Column]) -> str:
    """A name that no column has: a filter beside the join says its columns without a table.

    >>> free_name("key", {"Key": Column("Key", Kind.TEXT, "VARCHAR")}), free_name("place", {})
    ('key_', 'place')
    """
    taken = {column.casefold() for column in columns}
    while name in taken:
        name += "_"
    return name


def _key_place(
    axis: KeyAxis, column: Column, value: str, names: tuple[str, str, str], dialect: Dialect
) -> tuple[Fragment, str]:
    alias, called, spot = names
    found = {key: key_text(key, column) for key in axis.keys if key is not None}
    if len({text for text in found.values() if text is not None}) < sum(text is not None for text in found.values()):
        raise BadParameter(f"two keys of {axis.column!r} are the same in the column", fix="list each key once")
    places = {
        text: place for place, key in enumerate(axis.keys) if key is not None and (text := found[key]) is not None
    }
    hole = axis.keys.index(None) if None in axis.keys else None
    key = f"CAST(key AS {dialect.plain_type(column)})"
    if column.kind is Kind.TEXT:
        key = f"{key} COLLATE {dialect.binary_collation}"
    outputs = f"{key} AS {called}, CAST(place AS {dialect.long}) AS {spot}"
    matched = select(outputs, dialect.listed(places), "texts") + f") AS {alias} ON {value} = {alias}.{called}"
    if hole is None:
        return matched, f"{alias}.{spot}"
    return matched, f"CASE WHEN {dialect.missing(value, column)} THEN {dialect.number(hole)} ELSE {alias}.{spot} END"


def _bin_place(axis: BinAxis, column: Column, value: str, dialect: Dialect) -> str:
    edges = ReachedThresholds(axis.edges, column, value, dialect)
    lower = ReachedThresholds(axis.edges[:-1], column, value, dialect)
    inside = f"NOT {dialect.missing(value, column)} AND {edges.reached(0)} AND {edges.at_most(-1)}"
    return f"CASE WHEN {inside} THEN {lower.count_reached()} - {dialect.number(1)} END"


def _time_place(axis: TimeAxis, column: Column, value: str, dialect: Dialect) -> str:
    """Comparisons with literals of the column's own plain type, by halving; a value is never changed."""
    if column.kind not in (Kind.DATE, Kind.TIMESTAMP):
        raise BadParameter(
            f"{column.name!r} holds no dates and no times",
            given=column.kind.value,
            fix="give it keys, or edges of numbers",
        )
    if len(axis) > MOST_UNEVEN:
        raise TooLarge(f"there may be at most {MOST_UNEVEN} bins of times", given=len(axis), fix="take longer ones")
    days, type_ = column.kind is Kind.DATE, dialect.plain_type(column)
    edges = [f"CAST('{edge.date().isoformat() if days else edge.isoformat(' ')}' AS {type_})" for edge in axis.edges]

    def searched(low: int, high: int) -> str:
        if low == high:
            return dialect.number(low)
        middle = (low + high + 1) // 2
        return (
            f"CASE WHEN {value} >= {edges[middle]} THEN {searched(middle, high)} ELSE {searched(low, middle - 1)} END"
        )

    inside = f"NOT {dialect.missing(value, column)} AND {value} >= {edges[0]} AND {value} < {edges[-1]}"
    return f"CASE WHEN {inside} THEN {searched(0, len(axis) - 1)} END"

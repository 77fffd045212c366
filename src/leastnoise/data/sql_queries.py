"""The texts of the queries: one per shape, for every engine. Each bounds the contributions before it adds up.

All start from *rows*: a relation with `unit` (never missing), `cell` or `code` (never missing) and values. A row lies
on public axes by a join with the listed keys, or by comparisons with the edges; cells are numbered. The kept groups of
a unit are those with the smallest picks; a pick is a keyed hash of unit and group, so that the choice for one unit
depends on its own rows and the secret only (docs/theory/contribution.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from leastnoise.data.columns import (
    Axis,
    BinAxis,
    Column,
    Contribution,
    CountRows,
    CountUnits,
    KeyAxis,
    Kind,
    Measure,
    SumOf,
    TimeAxis,
    free_name,
    key_text,
)
from leastnoise.data.dialect import Dialect, Fragment, Secret, select, sql
from leastnoise.data.values import ReachedThresholds, total_type
from leastnoise.errors import BadParameter, NumberTooLarge, TooLarge
from leastnoise.model import MOST_ROWS, MOST_UNEVEN

__all__ = ["MOST_NUMBERED", "BoundedQueries", "CellIndex", "index_cells"]

MOST_NUMBERED = 1 << 31
"""Cells that have one number together."""
_LONG = 1 << 62


@dataclass(frozen=True)
class CellIndex:
    """How the cells of some axes are numbered, 0, 1, …, as in NumPy's C order; NULL outside of the axes."""

    dialect: Dialect
    joins: Fragment
    outer_joins: Fragment  # the same, but keeping every row
    joined: tuple[str, ...]  # the aliases in the joins
    places: tuple[str, ...]  # where a row lies on each axis, from 0 on; NULL outside of it
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many there are."""
        return prod(self.shape)

    @property
    def expression(self) -> str:
        """The number of a row's cell.

        Raises:
            TooLarge: More than 2^31 cells.
        """
        if self.count > MOST_NUMBERED:
            fix = "take fewer or shorter axes"
            raise TooLarge("the axes have more than 2^31 cells together", given=self.shape, fix=fix)
        number = self.dialect.number
        strides = [prod(self.shape[place + 1 :]) for place in range(len(self.shape))]
        terms = [f"{place} * {number(stride)}" for place, stride in zip(self.places, strides, strict=True)]
        return " + ".join([number(0), *terms])


def index_cells(axes: Sequence[Axis], columns: Mapping[str, Column], dialect: Dialect, table: str) -> CellIndex:
    """The cells of the axes, for rows of the relation `table` of plain columns.

    Raises:
        BadParameter: A key or an edge does not fit its column.
    """
    joins, outer, joined, places = sql(""), sql(""), list[str](), list[str]()
    for number, axis in enumerate(axes):
        column = columns[axis.column]
        value = f"{table}.{dialect.quote(axis.column)}"
        if isinstance(axis, KeyAxis) and column.kind is Kind.INTEGER and (run := _run_of(axis)):
            place = _run_place(run, value, dialect)
        elif isinstance(axis, KeyAxis):
            # a filter beside the join says its columns without a table
            key, spot = (free_name(name, columns) for name in ("key", "place"))
            listed, place = _key_place(axis, column, value, (f"axis{number}", key, spot), dialect)
            kind = " LEFT JOIN (" if None in axis.keys else " JOIN ("
            joins, outer, joined = joins + kind + listed, outer + " LEFT JOIN (" + listed, [*joined, f"axis{number}"]
        elif isinstance(axis, TimeAxis):
            place = _time_place(axis, column, value, dialect)
        else:
            place = _bin_place(axis, column, value, dialect)
        places.append(place)
    return CellIndex(dialect, joins, outer, tuple(joined), tuple(places), tuple(len(axis) for axis in axes))


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


_POSITIVE = (1 << 63) - 1
_TOLD_APART = 1 << 16  # copies of a row in one cell that a choice of rows tells apart
_MOST_COPIES = 1 << 24  # a list of them fits every engine
_COPIES = 1 << 32
_MOST_PACKED = 1 << 62
_MOST_IN_PRODUCT = MOST_NUMBERED  # cells of a product that have numbers; in a larger one a cell is a list of numbers


def table_lengths(tables: Sequence[Sequence[int]], shape: Sequence[int]) -> dict[int, int]:
    """The axes that some table has, each with one place more than it has: the first is for tables without it."""
    return {i: shape[i] + 1 for i in sorted({i for table in tables for i in table})}


def packed_words(lengths: Mapping[int, int]) -> list[list[int]]:
    """The axes whose places share a whole number, the last one varying fastest."""
    words: list[list[int]] = [[]]
    for axis, length in lengths.items():
        if prod(lengths[i] for i in words[-1]) * length > _MOST_PACKED:
            words.append([])
        words[-1].append(axis)
    return words


class _PackedCells:
    """The places on many axes as a few whole numbers below 2^62: as many axes in each as it has room for.

    Args:
        lengths: How many places each of the axes has.
        dialect: The engine's words.

    Attributes:
        names: What the numbers are called.
        packed: How they are made of the places p0, p1, …
        places: How the places are read from them.
        numbered: Whether there is one, so small that the number of a cell and a hash share 63 bits.
    """

    def __init__(self, lengths: Mapping[int, int], dialect: Dialect) -> None:
        words = packed_words(lengths)
        self.names = [f"w{number}" for number in range(len(words))]
        self.packed, self.places = list[str](), list[str]()
        for name, axes in zip(self.names, words, strict=True):
            terms, stride = [dialect.number(0)], 1
            for axis in reversed(axes):
                length = lengths[axis]
                terms.append(f"p{axis} * {dialect.number(stride)}")
                above = dialect.divide(name, dialect.number(stride))
                self.places.append(f"mod({above}, {dialect.number(length)}) AS p{axis}")
                stride *= length
            self.packed.append(f"{' + '.join(terms)} AS {name}")
        self.numbered = prod(lengths.values()) <= _MOST_IN_PRODUCT


@dataclass(frozen=True)
class BoundedQueries:
    """The queries for one engine and one contribution bound.

    Args:
        dialect: The engine's words.
        contribution: What a unit may add.
        unit_kind: The kind of the unit column.
        secret: Decides what a unit keeps.
        earliest: Whether a unit keeps the first of its cells instead, in their order.
    """

    dialect: Dialect
    contribution: Contribution
    unit_kind: Kind
    secret: Secret
    earliest: bool = False

    def totals(self, rows: Fragment, cells: int, measures: tuple[Measure, ...]) -> Fragment:
        """(cell, one total per measure) from rows (unit, cell, v0, v1, …)."""
        most, numbered = self.contribution.groups_per_unit, list(enumerate(measures))
        if self.contribution.privacy_unit is None:
            return self._sum_rows(rows, measures)
        if cells > most and self._only_presence(measures):
            distinct = "DISTINCT " if most > 1 else ""  # the smallest of one needs none
            picks = select(f"{distinct}unit, " + self._pick("cell", cells) + " AS pick", rows, "placed")
            return self._kept(picks, most, cells, len(measures))
        values = "".join(f", {self._unit_value(measure, i)} AS s{i}" for i, measure in numbered)
        pairs = select(f"unit, cell{values}", rows, "placed", "GROUP BY unit, cell")
        sums = "".join(f", {self._total(measure, f's{i}')} AS m{i}" for i, measure in numbered)
        if cells <= most:
            return select(f"cell{sums}", pairs, "pairs", "GROUP BY cell")
        return self._chosen(pairs, cells, len(measures), sums)

    def marginals(
        self, rows: Fragment, cells: CellIndex, tables: Sequence[Sequence[int]], measure: Measure
    ) -> Fragment:
        """(the places of the columns that tables have, packed; total) of all tables from rows (unit, p0, p1, …).

        A unit keeps at most `groups_per_unit` cells of the big table over all axes, and counts in each as at most
        `rows_per_unit` rows, once for all tables: each of them is a sum of that bounded big table, which is never
        formed. Places count from one (`table_lengths`), and are zero where a table does not have the column.
        """
        kept = self._kept_cells(rows, cells, measure)
        sets = ", ".join(f"({', '.join(f'p{i}' for i in table)})" for table in tables)
        code = _PackedCells(lengths := table_lengths(tables, cells.shape), self.dialect)
        named = [f"p{i}" for i in lengths]
        none = self.dialect.number(0)
        once = self.contribution.privacy_unit is None or self._only_presence((measure,))
        total = self._count("*") if once else f"coalesce({self._total(measure, 's')}, {none})"
        summed = select(", ".join([*named, f"{total} AS m0"]), kept, "cells", f"GROUP BY GROUPING SETS ({sets})")
        shown = [f"coalesce({name} + {self.dialect.number(1)}, {none}) AS {name}" for name in named]
        placed = select(", ".join([*shown, "m0"]), summed, "summed")
        return select(", ".join([*code.packed, "m0"]), placed, "tables")

    def _kept_cells(self, rows: Fragment, cells: CellIndex, measure: Measure) -> Fragment:
        """(p0, p1, …, s): what each unit adds to each cell of the big table that it keeps; without units each row."""
        most, dialect = self.contribution.groups_per_unit, self.dialect
        if self.contribution.privacy_unit is None:
            return rows
        code = _PackedCells(dict(enumerate(cells.shape)), dialect)
        words = ", ".join(code.names)
        packed = select(f"unit, {', '.join(code.packed)}", rows, "placed")
        if cells.count <= most:
            pairs = self._unit_cells(packed, words, measure)
        elif self._only_presence((measure,)) and code.numbered:
            distinct = "DISTINCT " if most > 1 else ""  # the smallest of one needs none
            picks = select(f"{distinct}unit, " + self._pick(words, cells.count) + " AS pick", packed, "packed")
            cell = f"pick & {dialect.number(self._mask(cells.count))} AS {words}, {dialect.number(1)} AS s"
            pairs = select(cell, self._smallest(picks, most), "kept")
        else:
            pick = self._pick(words, cells.count) if code.numbered else self._long_pick(code)
            picked = select(
                f"unit, {words}, s, " + pick + " AS pick", self._unit_cells(packed, words, measure), "pairs"
            )
            place = f"row_number() OVER (PARTITION BY unit ORDER BY pick, {words}) AS place"
            ranked = select(f"{words}, s, {place}", picked, "picks")
            pairs = select(f"{words}, s", ranked, "ranked", f"WHERE place <= {most}")
        return select(f"{', '.join(code.places)}, s", pairs, "kept")

    def _unit_cells(self, packed: Fragment, words: str, measure: Measure) -> Fragment:
        value = self._unit_value(measure, 0)
        return select(f"unit, {words}, {value} AS s", packed, "packed", f"GROUP BY unit, {words}")

    def _long_pick(self, code: _PackedCells) -> Fragment:
        """The hash of a cell that has no short number. Two cells may have one hash: the words decide between them."""
        texts = ", ',', ".join(f"CAST({word} AS {self.dialect.text})" for word in code.names)
        return self.dialect.hash(self.secret, ("unit", self.unit_kind), (f"concat({texts}, '')", Kind.TEXT))

    def totals_by_code(self, rows: Fragment, measures: tuple[Measure, ...]) -> Fragment:
        """(code, one total per measure) from rows (unit, code, v0, v1, …), after each unit has chosen its groups."""
        dialect, numbered, most = self.dialect, list(enumerate(measures)), self.contribution.groups_per_unit
        if self.contribution.privacy_unit is None:
            return self._sum_rows(rows, measures, "code")
        order = dialect.hash(self.secret, ("unit", self.unit_kind), ("code", Kind.TEXT))
        prefix = "CAST(" + order + f" | {dialect.number(1 << 62)} AS {dialect.text})"  # always 19 digits
        pick = "concat(" + prefix + ", code) AS pick"
        if self._only_presence(measures):
            kept = self._smallest(select("DISTINCT unit, " + pick, rows, "coded"), most)
            counted = "".join(f", {self._count('*')} AS m{i}" for i, _ in numbered)
            return select(f"code{counted}", select("substr(pick, 20) AS code", kept, "kept"), "codes", "GROUP BY code")
        values = "".join(f", {self._unit_value(measure, i)} AS s{i}" for i, measure in numbered)
        pairs = select(f"unit, code{values}", rows, "coded", "GROUP BY unit, code")
        named = "".join(f", s{i}" for i, _ in numbered)
        ranked = self._ranked(f"code{named}", select("unit, code, " + pick + named, pairs, "pairs"))
        sums = "".join(f", {self._total(measure, f's{i}')} AS m{i}" for i, measure in numbered)
        return select(f"code{sums}", ranked, "ranked", f"WHERE place <= {most} GROUP BY code")

    def units_on_scale(self, rows: Fragment, most: int, *, groups: bool) -> Fragment:
        """(cell, units) from rows (unit, cell): units by ⌈log₂⌉ of their groups, or of the rows of the largest one.

        Nobody is beyond place `most`.
        """
        dialect = self.dialect
        pairs = select("unit, count(*) AS copies", rows, "placed", "GROUP BY unit, cell")
        size = "count(*)" if groups else "max(copies)"
        largest = select(f"unit, {size} AS copies", pairs, "pairs", "GROUP BY unit")
        tests = "".join(f"WHEN copies <= {dialect.number(1 << k)} THEN {dialect.number(k)} " for k in range(most))
        placed = select(f"CASE {tests}ELSE {dialect.number(most)} END AS cell", largest, "units")
        return select(f"cell, {self._count('*')} AS m0", placed, "places", "GROUP BY cell")

    def chosen_rows(self, rows: Fragment, parts: int, cells: int) -> Fragment:
        """(cell, rows) from rows (unit, part, cell): `rows_per_unit` rows of each unit in each part that it keeps.

        Rows are drawn without replacement. A cell lies in one part; a unit keeps at most `groups_per_unit` parts.
        """
        if self.contribution.privacy_unit is None:
            return self._sum_rows(rows, (CountRows(),))
        dialect, most = self.dialect, self.contribution.rows_per_unit
        if most > _MOST_COPIES:
            fix = "pass a smaller rows_per_unit"
            raise TooLarge("rows are drawn from at most 2^24 rows of a unit", given=most, fix=fix)
        owner = "unit" if parts == 1 else "unit, part"
        copies = f"least(count(*), {dialect.number(max(most, _TOLD_APART))})"
        pairs = select(f"{owner}, cell, {copies} AS copies", rows, "placed", f"GROUP BY {owner}, cell")
        if parts > self.contribution.groups_per_unit:
            pairs = self._kept_parts(pairs, parts)
        numbered = select(f"{owner}, cell, {dialect.times('copies')} AS copy", pairs, "pairs")
        pick = self._pick("cell", cells, f"cell * {dialect.number(_COPIES)} + copy")
        picks = select(f"{owner}, " + pick + " AS pick", numbered, "numbered")
        return self._kept(picks, most, cells, 1, owner)

    def scores(self, rows: Fragment, options: int) -> Fragment:
        """One row (o0, o1, …) from rows (unit, o0, o1, …) of marks: Σ over units of min(marked rows, rows_per_unit)."""
        marked = ", ".join(f"{self._count(f'o{i}')} AS o{i}" for i in range(options))
        if self.contribution.privacy_unit is None:
            return select(marked, rows, "marks")
        most, none = self.dialect.number(self.contribution.rows_per_unit), self.dialect.number(0)
        capped = (f"CAST(sum(least(o{i}, {most})) AS {self.dialect.long})" for i in range(options))
        sums = ", ".join(f"coalesce({total}, {none}) AS o{i}" for i, total in enumerate(capped))
        return select(sums, select(marked, rows, "marks", "GROUP BY unit"), "units")

    def _sum_rows(self, rows: Fragment, measures: tuple[Measure, ...], group: str = "cell") -> Fragment:
        sums = "".join(
            f", {self._total(m, f'v{i}') if isinstance(m, SumOf) else self._count('*')} AS m{i}"
            for i, m in enumerate(measures)
        )
        return select(f"{group}{sums}", rows, "placed", f"GROUP BY {group}")

    def _only_presence(self, measures: tuple[Measure, ...]) -> bool:
        """Whether a kept group counts as one for every measure."""
        single = self.contribution.rows_per_unit == 1
        return all(isinstance(m, CountUnits) or (single and isinstance(m, CountRows)) for m in measures)

    def _pick(self, cell: str, cells: int, hashed: str | None = None) -> Fragment:
        """The cell in the low bits, so that picks differ and the cell can be read back; the hash in the high ones."""
        if self.earliest:
            return sql(cell)
        mask = self._mask(cells)
        bits = self.dialect.hash(self.secret, ("unit", self.unit_kind), (hashed or cell, Kind.INTEGER))
        return "((" + bits + f" & {self.dialect.number(_POSITIVE ^ mask)}) | {cell})"

    def _kept_parts(self, pairs: Fragment, parts: int) -> Fragment:
        """The pairs in the parts that a unit keeps; hashed apart from its rows, so that the two choices are."""
        pick = self._pick("part", parts, f"{self.dialect.number(-1)} - part")
        picked = select("unit, part, cell, copies, " + pick + " AS pick", pairs, "pairs")
        place = "dense_rank() OVER (PARTITION BY unit ORDER BY pick) AS place"
        ranked = select(f"unit, part, cell, copies, {place}", picked, "picks")
        most = self.contribution.groups_per_unit
        return select("unit, part, cell, copies", ranked, "ranked", f"WHERE place <= {most}")

    def _smallest(self, picks: Fragment, most: int, owner: str = "unit") -> Fragment:
        """The `most` smallest picks of each owner: by a heap where the engine has one, else in a window."""
        if most == 1:
            return select("min(pick) AS pick", picks, "picks", f"GROUP BY {owner}")
        if most <= self.dialect.heap:
            return select(f"unnest(min(pick, {most})) AS pick", picks, "picks", f"GROUP BY {owner}")
        return select("pick", self._ranked("pick", picks, owner), "ranked", f"WHERE place <= {most}")

    def _ranked(self, values: str, picks: Fragment, owner: str = "unit") -> Fragment:
        return select(f"{values}, row_number() OVER (PARTITION BY {owner} ORDER BY pick) AS place", picks, "picks")

    def _kept(self, picks: Fragment, most: int, cells: int, measures: int, owner: str = "unit") -> Fragment:
        """The kept picks counted by cell, once for each measure."""
        counted = "".join(f", {self._count('*')} AS m{number}" for number in range(measures))
        cell = f"pick & {self.dialect.number(self._mask(cells))} AS cell"
        return select(
            f"cell{counted}", select(cell, self._smallest(picks, most, owner), "kept"), "cells", "GROUP BY cell"
        )

    def _chosen(self, pairs: Fragment, cells: int, measures: int, sums: str) -> Fragment:
        """Keep the pairs up to the last pick that a unit may keep: with a heap, a join is cheaper than a window."""
        most, values = self.contribution.groups_per_unit, "".join(f", s{i}" for i in range(measures))
        picked = select("unit, cell, " + self._pick("cell", cells) + f" AS pick{values}", pairs, "pairs")
        if most > self.dialect.heap:
            ranked = self._ranked(f"cell{values}", picked)
            return select(f"cell{sums}", ranked, "ranked", f"WHERE place <= {most} GROUP BY cell")
        limits = select(f"unit, min(pick, {most})[-1] AS top", sql("TABLE picked"), "picks", "GROUP BY unit")
        kept = "JOIN limits ON kept.unit = limits.unit AND kept.pick <= limits.top GROUP BY cell"
        named = "WITH picked AS MATERIALIZED (" + picked + "), limits AS (" + limits + ") "
        return named + select(f"cell{sums}", sql("TABLE picked"), "kept", kept)

    def _mask(self, cells: int) -> int:
        return (1 << max((cells - 1).bit_length(), 1)) - 1

    def _unit_value(self, measure: Measure, number: int) -> str:
        """What one unit adds to one group."""
        dialect, most = self.dialect, self.contribution.rows_per_unit
        if isinstance(measure, CountUnits):
            return dialect.number(1)
        if isinstance(measure, CountRows):
            return f"least(count(*), {dialect.number(most)})"
        value, type_ = f"v{number}", total_type(measure, dialect)
        if most * measure.largest >= 10**37 // (MOST_ROWS if measure.averaged else 1):
            raise NumberTooLarge("rows_per_unit rows could exceed 37 digits", given=most, fix="take a larger step")
        total = f"coalesce(sum(CAST({value} AS {type_})), {dialect.number(0)})"
        if measure.averaged:
            if most * measure.largest >= 1 << 62:
                raise NumberTooLarge("rows_per_unit rows exceed 2^62 steps", given=most, fix="take a larger step")
            limit = dialect.number(most)  # with no more rows than that, sum·R/R is the sum
            share = dialect.divide(f"CAST({total} AS {dialect.wide}) * {limit}", f"greatest(count({value}), {limit})")
            return f"CAST({share} AS {type_})"
        low, high = min(0, most * measure.lowest), max(0, most * measure.highest)
        return f"least(greatest({total}, {dialect.number(low)}), {dialect.number(high)})"

    def _total(self, measure: Measure, value: str) -> str:
        """A sum over units as a 64 bit integer, or as text where it may be wider."""
        dialect = self.dialect
        if not isinstance(measure, SumOf):
            return f"CAST(sum({value}) AS {dialect.long})"
        type_ = total_type(measure, dialect)
        shown = dialect.long if type_ == dialect.long else dialect.text
        return f"CAST(coalesce(sum(CAST({value} AS {type_})), {dialect.number(0)}) AS {shown})"

    def _count(self, what: str) -> str:
        return f"CAST(count({what}) AS {self.dialect.long})"

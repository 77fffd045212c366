"""The texts of the queries: one per shape, for every engine. Each bounds the contributions before it adds up.

All start from *rows*: a relation with `unit` (never missing), `cell` or `code` (never missing) and values. The kept
groups of a unit are those with the smallest picks; a pick is a keyed hash of unit and group, so that the choice for
one unit depends on its own rows and the secret only (docs/theory/contribution.md).
"""

from __future__ import annotations

from dataclasses import dataclass

from leastnoise.data.columns import Kind
from leastnoise.data.contribution import Contribution, CountRows, CountUnits, Measure, SumOf
from leastnoise.data.dialect import Dialect, Fragment, Secret, select, sql
from leastnoise.data.values import total_type
from leastnoise.errors import NumberTooLarge, TooLarge
from leastnoise.model.limits import MOST_ROWS

__all__ = ["BoundedQueries"]

_POSITIVE = (1 << 63) - 1
_TOLD_APART = 1 << 16  # copies of a row in one cell that a choice of rows tells apart
_MOST_COPIES = 1 << 24  # a list of them fits every engine
_COPIES = 1 << 32


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

    def units_by_rows(self, rows: Fragment, most: int) -> Fragment:
        """(cell, units) from rows (unit, cell): units by ⌈log₂⌉ of the rows of their largest group, at most `most`."""
        dialect = self.dialect
        pairs = select("unit, count(*) AS copies", rows, "placed", "GROUP BY unit, cell")
        largest = select("unit, max(copies) AS copies", pairs, "pairs", "GROUP BY unit")
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

"""The innermost part of every query: the plain columns, the filter, the privacy unit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from leastnoise.data.columns import Column, Kind
from leastnoise.data.contribution import Contribution
from leastnoise.data.dialects import Dialect
from leastnoise.data.fragments import Fragment, join, select, sql
from leastnoise.errors import BadParameter, UnknownColumn

if TYPE_CHECKING:
    from leastnoise.data.predicates import Predicate

__all__ = ["Reading"]


@dataclass(frozen=True)
class Reading:
    """A table as queries see it.

    Args:
        dialect: The engine's words.
        columns: The columns by name.
        source: The table's name in the engine, quoted.
        empty: See none of its rows.
    """

    dialect: Dialect
    columns: Mapping[str, Column]
    source: str
    empty: bool = False

    def column(self, name: str, *, numeric: bool = False) -> Column:
        """A usable column.

        Raises:
            UnknownColumn: It is not there; the nearest name is in the text.
            BadParameter: It is of a kind that can't be used here.
        """
        if name not in self.columns:
            near = get_close_matches(str(name), self.columns, 1)
            fix = f"did you mean {near[0]!r}?" if near else f"the columns are {', '.join(self.columns)}"
            raise UnknownColumn("there is no such column", given=name, fix=fix)
        column = self.columns[name]
        if numeric and not column.kind.numeric:
            raise BadParameter(
                f"{name!r} holds no numbers", given=column.kind.value, fix=column.hint or "pass a numeric column"
            )
        if column.kind is Kind.OTHER:
            raise BadParameter(f"{name!r} is of a type that can't be used", given=column.native, fix="pass another one")
        return column

    def unit_kind(self, contribution: Contribution) -> Kind:
        """The kind of the unit column."""
        return Kind.OTHER if contribution.privacy_unit is None else self.column(contribution.privacy_unit).kind

    def rows(
        self,
        contribution: Contribution,
        where: Predicate | None,
        needed: Iterable[str],
        outputs: Sequence[Fragment | str],
        joins: Fragment | str = "",
        joined: Sequence[str] = (),
    ) -> Fragment:
        """SELECT unit, outputs from the plain columns (as `base`) of rows that belong to a unit and pass the filter."""
        dialect, unit = self.dialect, contribution.privacy_unit
        names, conditions, given = set(needed), list[Fragment | str](), list(outputs)
        if where is not None:
            where = where.typed({column.name: column.kind for column in self.columns.values()})
            names |= where.columns
            conditions.append(where.fragment(dialect))
        if unit is not None:
            names.add(unit)
            conditions.append(f"NOT {dialect.missing(dialect.quote(unit), self.column(unit))}")
            given.append(f"{self._unit(self.column(unit))} AS unit")
        plain = [f"{dialect.plain(self.column(name))} AS {dialect.quote(name)}" for name in sorted(names)]
        nobody = "WHERE 1 = 0" if self.empty else ""
        base = select(", ".join(plain) or "1 AS one", sql(f"TABLE {self.source}"), "native", nobody)
        if conditions:
            base = select("*", base, "plain", "WHERE " + join(" AND ", conditions))
        hints = "".join(dialect.small.format(alias) for alias in joined)
        return select(hints + join(", ", given), base, "base", joins)

    def _unit(self, column: Column) -> str:
        """The unit's identity; the two zeros of doubles are one."""
        value = f"base.{self.dialect.quote(column.name)}"
        if column.kind is not Kind.REAL:
            return value
        zero = self.dialect.number(0.0)
        return f"CASE WHEN {value} = {zero} THEN {zero} ELSE {value} END"

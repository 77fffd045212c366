"""Several tables of one database: members that share a session, and joins of them that are asked like a table.

The text of a join reads each table by itself first: the columns that are needed, and the plain form of those that are
compared. All comparisons are of values of one type, so that none can fail on a row; a missing value equals nothing.
Rehearsals see the join twice: as one table with made-up rows, and as made-up rows of each table joined with each other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from leastnoise.data.canary import Canary
from leastnoise.data.columns import Column, Kind
from leastnoise.data.dialect import Fragment, RowsOf, join, select, sql
from leastnoise.data.identity import Identity
from leastnoise.data.joins import End, Join, Source
from leastnoise.data.links import DatabaseShape
from leastnoise.data.table import Table

__all__ = ["JoinedTable", "MemberTable"]

_MET = 48  # made-up rows of each table that meet those of the others: their values repeat, and so would their pairs


class MemberTable(Table):
    """A table of a database whose session belongs to another one.

    Args:
        engine: The table that was opened first: it runs the texts.
        identity: What the table is called.
        columns: Its columns.
        rows: Its name in the engine, or what makes its rows.
    """

    def __init__(self, engine: Table, identity: Identity, columns: Iterable[Column], rows: str | RowsOf) -> None:
        self._engine, self.dialect, self.smaller_parts = engine, engine.dialect, engine.smaller_parts
        super().__init__(identity, columns, rows)

    def require_ready(self) -> None:
        """See that the session is there."""
        self._engine.require_ready()
        super().require_ready()

    def _execute(self, text: str, values: list[object]) -> Sequence[Sequence[Any]]:
        return self._engine._execute(text, values)

    def _keep(self, text: str, values: list[object], name: str, columns: Iterable[Column]) -> str:
        return self._engine._keep(text, values, name, columns)

    def _release(self) -> None:
        """Nothing: the session is the engine's."""


class JoinedTable(MemberTable):
    """A join of tables of one database.

    Args:
        engine: The table that runs the texts.
        identity: What the database is called.
        shape: What is declared about the database.
        members: Its tables by name.
        joined: The join.

    Attributes:
        unit: What the column is called that carries the unit.
    """

    def __init__(
        self, engine: Table, identity: Identity, shape: DatabaseShape, members: Mapping[str, Table], joined: Join
    ) -> None:
        self._join, self._members, self.unit = joined, members, joined.unit
        self._of = {source.alias: members[source.table].types for source in joined.sources}
        columns = [replace(self._of[alias][column], name=name) for name, (alias, column) in joined.columns.items()]
        super().__init__(engine, identity, columns, self._private_rows)
        self._canary = Canary(self.dialect, dict(self.types), self._made_up_rows)
        self.tied = frozenset(self.columns) - joined.free
        left = {source.alias for source in joined.sources if source.left}
        self.looked_up = frozenset(name for name, (alias, _) in joined.columns.items() if alias in left)
        self.joined_from = _words(shape, joined)

    def _private_rows(self, names: tuple[str, ...]) -> Fragment:
        return self._rows(names, lambda table, columns: self._members[table].private_rows(columns))

    def _made_up_rows(self, names: tuple[str, ...]) -> Fragment:
        def few(table: str, columns: tuple[str, ...]) -> Fragment:
            return select("*", self._members[table]._canary.hostile(columns), "few", f"LIMIT {_MET}")

        return self._rows(names, few)

    def _rows(self, names: tuple[str, ...], rows_of: Callable[[str, tuple[str, ...]], Fragment]) -> Fragment:
        """The joined rows with these columns in their native types."""
        dialect, shown = self.dialect, {name: self._join.columns[name] for name in names}
        sources = self._needed({alias for alias, _ in shown.values()})
        places = {source.alias: f"j{number}" for number, source in enumerate(sources)}
        compared = dict.fromkeys(end for source in sources for pair in source.on for end in pair)
        keys = {end: f"k{number}" for number, end in enumerate(compared)}
        native = {end: f"c{number}" for number, end in enumerate(dict.fromkeys(shown.values()))}
        text: Fragment = sql("")
        for source in sources:
            own = [end for end in (*native, *keys) if end[0] == source.alias]
            outputs = [f"{dialect.quote(end[1])} AS {native[end]}" for end in native if end in own]
            outputs += [f"{dialect.plain(self._of[end[0]][end[1]])} AS {keys[end]}" for end in keys if end in own]
            rows = rows_of(source.table, tuple(sorted({column for _, column in own})))
            part = "(" + select(", ".join(outputs) or "1 AS one", rows, "native") + f") AS {places[source.alias]}"
            told = [self._equal(pair, places, keys) for pair in source.on]
            word = "" if source is sources[0] else " LEFT JOIN " if source.left else " JOIN "
            text = text + word + part + (" ON " + " AND ".join(told) if told else "")
        listed = [f"{places[end[0]]}.{native[end]} AS {dialect.quote(name)}" for name, end in shown.items()]
        return join("", ["SELECT ", ", ".join(listed) or "1 AS one", " FROM ", text])

    def _equal(self, pair: tuple[End, End], places: Mapping[str, str], keys: Mapping[End, str]) -> str:
        """The test that two columns are equal and there; NaN, which a decimal may be, is missing."""
        one, other = (f"{places[end[0]]}.{keys[end]}" for end in pair)
        column = self._of[pair[0][0]][pair[0][1]]
        own = column.kind is Kind.DECIMAL and self.dialect.any_decimal  # NULL equals nothing by itself
        return f"{one} = {other}" + (f" AND {self.dialect.present(one, column)}" if own else "")

    def _needed(self, named: set[str]) -> list[Source]:
        """The sources of a question that names columns of these; what is optional and not named is left out."""
        kept = []
        for source in reversed(self._join.sources):
            if not source.optional or source.alias in named:
                named = named | {alias for pair in source.on for alias, _ in pair}
                kept.append(source)
        return kept[::-1]


def _words(shape: DatabaseShape, joined: Join) -> str:
    """All that tells a join from others, in one text: requests are bound to it."""
    sources = [
        [source.table, source.alias, source.left, source.optional, [[list(end) for end in pair] for pair in source.on]]
        for source in joined.sources
    ]
    links = [str(link) for link in shape.links]
    return json.dumps({"unit": str(shape.unit), "links": links, "public": sorted(shape.public), "joined": sources})

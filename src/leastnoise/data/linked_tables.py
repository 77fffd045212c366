"""The tables of a database that are opened together: one session, one name, and the joins that count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from leastnoise.data.identity import Identity, joined_identity, table_parts
from leastnoise.data.joined_table import JoinedTable, MemberTable
from leastnoise.data.joins import Join, Source, plan_join, plan_view
from leastnoise.data.links import ColumnPlace, DatabaseShape, named_tables, read_shape
from leastnoise.data.table import Table
from leastnoise.errors import BadParameter

__all__ = ["LinkedTables", "link_tables"]


@dataclass(frozen=True)
class LinkedTables:
    """The tables of a database with its declared shape. Made by `link_tables`.

    Args:
        engine: The table of the unit, which was opened first; closing it closes all.
        shape: What is declared.
        members: The tables by name.
        identity: What the database is called.
    """

    engine: Table
    shape: DatabaseShape
    members: Mapping[str, Table]
    identity: Identity
    _views: dict[tuple[Source, ...] | str, JoinedTable] = field(default_factory=dict, repr=False, compare=False)

    def view(self, table: str) -> JoinedTable:
        """The rows of a private table that belong to a unit, with the columns that its links lead to.

        Raises:
            UnsafeJoin: The table is public.
            BadParameter: There is no such table.
        """
        return self._views.get(table) or self._made(table, plan_view(self.shape, table))

    def join(self, sources: Sequence[Source]) -> JoinedTable:
        """The rows of a FROM clause.

        Raises:
            UnsafeJoin: A joined row could depend on several units.
            BadParameter: Tables, aliases or conditions that make no sense.
        """
        given = tuple(sources)
        return self._views.get(given) or self._made(given, plan_join(self.shape, given))

    def _made(self, key: tuple[Source, ...] | str, joined: Join) -> JoinedTable:
        self._views[key] = made = JoinedTable(self.engine, self.identity, self.shape, self.members, joined)
        return made


def link_tables(engine: Table, unit: ColumnPlace, links: object, public: object) -> LinkedTables:
    """The tables that links and public names speak of, found in the database of a table. No row is read.

    Args:
        engine: The table of the unit, opened.
        unit: The column that identifies the person.
        links: From "table.column" to "table.column".
        public: The names of public tables.

    Raises:
        BadSource: A table that is not there.
        BadParameter: A shape in which a row leads to no unit or to several, or one table under two names.
    """
    read, declared = named_tables(links, public)
    named = [unit.table, *(place.table for link in sorted(read.items()) for place in link), *declared]
    members: dict[str, Table] = {}
    called: dict[str, str] = {}
    for name in dict.fromkeys(named):
        members[name] = engine if name == unit.table else _member(engine, name)
        other = called.setdefault(members[name].name, name)
        if other != name:
            raise BadParameter("one table has two names here", given=f"{other}, {name}", fix="write one of them")
    shape = read_shape(unit, read, declared, {name: member.types for name, member in members.items()})
    private = [_identity(member) for name, member in members.items() if name not in shape.public]
    return LinkedTables(engine, shape, members, joined_identity(engine.place, private))


def _member(engine: Table, name: str) -> Table:
    return MemberTable(engine, *engine.find(table_parts(name) or [name]))


def _identity(table: Table) -> Identity:
    return Identity(table.name, overlapping=table.overlapping, place=table.place)

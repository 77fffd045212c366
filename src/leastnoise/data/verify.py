"""Whether the rows are as they were declared: for whoever keeps the data, and never for an analyst.

No promise rests on it. A link that is not many-to-one makes joined rows of several units out of one row, each counted
for its own unit (docs/theory/joins.md). But a row that belongs to several units stays when one of them leaves, so that
such rows deserve to be mended. Values outside of their bounds are brought to the nearer one, and rows with other keys
are not counted: the answers stay private, and are wrong.

All numbers here are exact and **not private**.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leastnoise.data.columns import Axis, Contribution, CountRows, KeyAxis
from leastnoise.data.dialect import Fragment, select
from leastnoise.data.linked_tables import LinkedTables
from leastnoise.data.links import ColumnPlace, Link
from leastnoise.data.table import Table
from leastnoise.errors import LeastNoiseError, engine_failure

__all__ = ["KeyReport", "LinkReport", "count_outside", "verify_keys", "verify_links"]


@dataclass(frozen=True)
class LinkReport:
    """What the rows say about a link. **Not private**: for whoever keeps the data.

    Attributes:
        link: The link.
        rows: Rows of the table that it starts from.
        missing: Those that name nothing.
        dangling: Those that name a row that is not there.
        ambiguous: Those that name several rows.
        shared: Those that belong to several units, by all links together.
    """

    link: Link
    rows: int
    missing: int
    dangling: int
    ambiguous: int
    shared: int

    @property
    def holds(self) -> bool:
        """Whether the link is what it was declared to be: each row names one row that is there, or nothing."""
        return not (self.dangling or self.ambiguous or self.shared)


@dataclass(frozen=True)
class KeyReport:
    """What the rows say about a column that names them. **Not private**: for whoever keeps the data.

    Attributes:
        place: The column: that of the unit in its own table, or the end of a link.
        rows: Rows of its table.
        missing: Those without a value there.
        repeated: Those with a value that another row has, too, all but one of each value.
    """

    place: ColumnPlace
    rows: int
    missing: int
    repeated: int

    @property
    def holds(self) -> bool:
        """Whether it names each row by a value of its own."""
        return not (self.missing or self.repeated)


def verify_links(tables: LinkedTables) -> tuple[LinkReport, ...]:
    """Count, for each link, the rows that break it. **The answers are exact and not private**: for the curator.

    Raises:
        EngineFailure: The engine failed.
    """
    return tuple(_report(tables, link) for link in tables.shape.links)


def verify_keys(tables: LinkedTables) -> tuple[KeyReport, ...]:
    """Count the rows that the column of the unit, and each end of a link, does not name by a value of its own.

    **The answers are exact and not private**: for the curator.

    Raises:
        EngineFailure: The engine failed.
    """
    places = dict.fromkeys([tables.shape.unit, *(link.end for link in tables.shape.links)])
    counted = "count(*), count(told), count(DISTINCT told)"
    found = []
    for place in places:
        rows, there, different = _run(tables, select(counted, _keys(tables, place), "keys"))
        found.append(KeyReport(place, rows, rows - there, there - different))
    return tuple(found)


def count_outside(table: Table, axis: Axis) -> tuple[int, int]:
    """How many rows have a value that lies on no place of an axis, and how many rows there are.

    A missing value lies nowhere, and is not counted. **The answers are exact and not private**: for the curator.

    Raises:
        BadParameter: The axis does not fit its column.
        EngineFailure: The engine failed.
    """

    def rows(*axes: Axis) -> int:
        (found,) = table.aggregate(Contribution(None), axes, (CountRows(),))
        return int(found.sum())

    every, placed, missing = rows(), rows(axis), rows(KeyAxis(axis.column, (None,)))
    held = None in getattr(axis, "keys", ())
    return every - placed - (0 if held else missing), every


def _report(tables: LinkedTables, link: Link) -> LinkReport:
    starts, ends = _keys(tables, link.start), _keys(tables, link.end)
    targets = select("told, count(*) AS many", ends, "ends", "GROUP BY told")
    matched = "LEFT JOIN (" + targets + ") AS targets ON starts.told = targets.told"
    counted = (
        "count(*), count(starts.told), count(targets.many), coalesce(sum(CASE WHEN many > 1 THEN 1 ELSE 0 END), 0)"
    )
    rows, there, found, several = _run(tables, select(counted, starts, "starts", matched))
    shared = 0
    if link.end.table not in tables.shape.public and tables.shape.carried(link.start.table) is None:
        view = tables.view(link.end.table)
        names = tuple(sorted({link.end.column, view.unit}))
        plain = [f"{view.dialect.plain(view.types[name])} AS {alias}"
                 for name, alias in ((link.end.column, "told"), (view.unit, "unit"))]  # fmt: skip
        owned = select(", ".join(plain), view.private_rows(names), "native")
        owners = select("told, count(DISTINCT unit) AS many", owned, "owned", "GROUP BY told")
        both = "JOIN (" + owners + ") AS owners ON starts.told = owners.told WHERE many > 1"
        [shared] = _run(tables, select("count(*)", starts, "starts", both))
    return LinkReport(link, rows, rows - there, there - found, several, shared)


def _keys(tables: LinkedTables, place: ColumnPlace) -> Fragment:
    member = tables.members[place.table]
    plain = member.dialect.plain(member.types[place.column])
    return select(f"{plain} AS told", member.private_rows((place.column,)), "native")


def _run(tables: LinkedTables, query: Fragment) -> list[int]:
    found: Sequence[Sequence[Any]] | None = None
    try:
        found = tables.engine._execute(*tables.engine.dialect.render(query))
    except LeastNoiseError:
        raise
    except Exception:
        found = None
    if found is None:  # outside of `except`: the engine's words may quote values
        raise engine_failure()
    return [int(column[0]) for column in found]

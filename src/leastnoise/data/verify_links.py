"""Whether links are what they were declared to be: for whoever keeps the data, and never for an analyst.

No promise rests on it: a link that is not many-to-one makes joined rows of several units out of one row, each counted
for its own unit (docs/theory/joins.md). But a row that belongs to several units stays when one of them leaves, so that
such rows deserve to be mended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leastnoise.data.dialect import Fragment, select
from leastnoise.data.linked_tables import LinkedTables
from leastnoise.data.links import Link
from leastnoise.errors import LeastNoiseError, engine_failure

__all__ = ["LinkReport", "verify_links"]


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


def verify_links(tables: LinkedTables) -> tuple[LinkReport, ...]:
    """Count, for each link, the rows that break it. **The answers are exact and not private**: for the curator.

    Raises:
        EngineFailure: The engine failed.
    """
    return tuple(_report(tables, link) for link in tables.shape.links)


def _report(tables: LinkedTables, link: Link) -> LinkReport:
    starts, ends = _keys(tables, link, "start"), _keys(tables, link, "end")
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


def _keys(tables: LinkedTables, link: Link, side: str) -> Fragment:
    place = link.start if side == "start" else link.end
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

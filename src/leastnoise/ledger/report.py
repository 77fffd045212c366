"""A ledger for people: budgets as tables, how they were used up over time, and every entry as JSON or CSV.

Names are public, and escaped in HTML.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TextIO

from leastnoise.errors import LeastNoiseError
from leastnoise.ledger.budgets import Balance, Budget, Scope
from leastnoise.ledger.ledger_state import LedgerState
from leastnoise.ledger.record import Debit
from leastnoise.ledger.store import Row
from leastnoise.model import Cell, html_table

if TYPE_CHECKING:
    from leastnoise.ledger.ledger import Ledger

__all__ = [
    "COLUMNS",
    "DEBIT_COLUMNS",
    "BudgetHistory",
    "HistoryPoint",
    "balance_texts",
    "budget_histories",
    "debit_texts",
    "export_csv",
    "export_json",
    "html_ledger",
    "show_share",
]

COLUMNS = ("budget of", "allows", "spent", "used", "still fits", "renews")
DEBIT_COLUMNS = ("time", "analyst", "purpose", "request", "price", "state")


def balance_texts(balance: Balance) -> tuple[str, str, str, str, str, str]:
    """A text for each column."""
    budget = balance.limits.budget
    allows = (
        f"ε = {budget.epsilon}, δ = {float(budget.delta):.3g}"
        if budget.currency == "epsilon and delta"
        else str(budget)
    )
    used = show_share(float(balance.left.used))
    return str(balance.scope), allows, balance.left.share, used, _still_fits(balance), _renews(balance)


def debit_texts(debit: Debit) -> tuple[str, str, str, str, str, str]:
    """A text for each column: the price as it was asked for."""
    price = str(debit.cost) if debit.floor is None else f"{debit.cost}, at least ε = {debit.floor}"
    moment = datetime.fromtimestamp(debit.time, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return moment, debit.analyst, debit.purpose, debit.request, price, debit.state


def html_ledger(name: str, read: Callable[[], Sequence[Balance]]) -> str:
    """A row for each budget, with a bar for what is used of it; a ledger that can't be read says why."""
    try:
        balances = read()
    except LeastNoiseError as error:
        return html_table(name, [("unreadable", str(error))], holds=False)
    rows: list[list[str | Cell]] = []
    for balance in balances:
        whom, allows, spent, used, *rest = balance_texts(balance)
        rows.append([whom, allows, spent, Cell(used, bar=float(balance.left.used)), *rest])
    return html_table(name, rows, COLUMNS) if rows else html_table(name, [("no budget yet",)])


def show_share(used: float) -> str:
    """A share in percent; 100 % only where nothing is left.

    >>> show_share(0.25), show_share(0.99999), show_share(1.0)
    ('25.0%', '99.9%', '100.0%')
    """
    return f"{min(used, 0.999) if used < 1 else 1.0:.1%}"


def _still_fits(balance: Balance) -> str:
    text = str(balance.left).removeprefix("a query of at most ").removesuffix(" still fits")
    return "nothing" if "nothing" in text else text


def _renews(balance: Balance) -> str:
    if balance.refresh is None or balance.renewed is None:
        return "never"
    return datetime.fromtimestamp(min(balance.renewed + balance.refresh, _LAST_DATE), UTC).strftime(
        "%Y-%m-%d %H:%M UTC"
    )


_MOST_POINTS = 1000
_LAST_DATE = 253402300799  # the end of the year 9999


class HistoryPoint(NamedTuple):
    """The share of a budget that is left, from 0 to 1, from a time on (seconds since 1970)."""

    time: int
    left: float


@dataclass(frozen=True)
class BudgetHistory:
    """One budget over time.

    Attributes:
        scope: Whom it binds.
        points: What was left, from each time on to the next; the last is the end of the account.
    """

    scope: Scope
    points: tuple[HistoryPoint, ...]


def budget_histories(ledger: Ledger, until: int | None = None) -> list[BudgetHistory]:
    """What was left of each budget after each entry, in the order in which they were granted.

    Of a long ledger about a thousand points are kept, evenly among its entries.

    Args:
        ledger: Its entries are read again from the first on.
        until: When the account ends, in seconds since 1970; with the last entry if left out.

    Raises:
        LedgerDamaged: The entries do not follow from each other; the place is in the text.
    """
    step, rows = -(-ledger.witness().count // _MOST_POINTS), ledger.entries()
    state = LedgerState()
    found: dict[Scope, list[HistoryPoint]] = {}
    while batch := list(islice(rows, step)):
        state.follow(batch)
        _add(found, state, state.time)
    _add(found, state, max(state.time, until or 0))
    return [BudgetHistory(scope, tuple(points)) for scope, points in found.items()]


def _add(found: dict[Scope, list[HistoryPoint]], state: LedgerState, time: int) -> None:
    for scope, budget in state.budgets.items():
        points = found.setdefault(scope, [])
        if points:
            points += _renewal(budget, points[-1].time, time)
        points.append(HistoryPoint(time, 1 - float(budget.account_at(time).used)))


def _renewal(budget: Budget, before: int, time: int) -> Iterator[HistoryPoint]:
    """The first renewal between two times, if there is one: from then on all is there again."""
    if budget.refresh is not None:
        renewed = budget.start + (max(budget.period_at(before), 0) + 1) * budget.refresh
        if before < renewed <= time:
            yield HistoryPoint(renewed, 1.0)


_COLUMNS = (
    "seq",
    "time",
    "kind",
    "dataset",
    "analyst",
    "purpose",
    "request",
    "epsilon",
    "delta",
    "rho",
    "mu",
    "mu_squared",
    "event",
    "floor",
    "unit",
    "interrupted",
    "part",
    "answer",
    "hash",
)


def export_json(rows: Iterable[Row], out: TextIO) -> None:
    """One JSON object per line: the text of the entry as it is stored, and its hash, so that anyone can check both."""
    for row in rows:
        out.write(json.dumps({"body": row.body, "hash": row.hash}) + "\n")


def export_csv(rows: Iterable[Row], out: TextIO) -> None:
    """One line per entry, and for a long answer one for each part of its text.

    A spreadsheet never takes a name for a formula: such cells begin with an apostrophe.
    """
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    for row in rows:
        entry = json.loads(row.body)
        if "cost" in entry:
            entry.update(zip(("epsilon", "delta", "rho", "mu_squared"), entry["cost"], strict=False))
        if "parts" in entry:
            entry["part"], entry["answer"] = f"{entry['part']} of {entry['parts']}", entry["text"]
        entry["time"] = datetime.fromtimestamp(entry["time"], UTC).isoformat()
        entry["hash"] = row.hash
        writer.writerow(_cell(entry.get(column)) for column in _COLUMNS)


def _cell(value: object) -> str:
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text

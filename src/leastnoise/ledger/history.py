"""How a ledger's budgets were used up over time, read again from its entries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from leastnoise.ledger.books import Books
from leastnoise.ledger.budgets import Budget, Scope

if TYPE_CHECKING:
    from leastnoise.ledger.ledger import Ledger

__all__ = ["Course", "Moment", "courses"]

_MOST_MOMENTS = 1000


class Moment(NamedTuple):
    """The share of a budget that is left, from 0 to 1, from a time on (seconds since 1970)."""

    time: int
    left: float


@dataclass(frozen=True)
class Course:
    """One budget over time.

    Attributes:
        scope: Whom it binds.
        moments: What was left, from each time on to the next; the last is the end of the account.
    """

    scope: Scope
    moments: tuple[Moment, ...]


def courses(ledger: Ledger, until: int | None = None) -> list[Course]:
    """What was left of each budget after each entry, in the order in which they were granted.

    Of a long ledger about a thousand moments are kept, evenly among its entries.

    Args:
        ledger: Its entries are read again from the first on.
        until: When the account ends, in seconds since 1970; with the last entry if left out.

    Raises:
        LedgerDamaged: The entries do not follow from each other; the place is in the text.
    """
    step, rows = -(-ledger.witness().count // _MOST_MOMENTS), ledger.entries()
    books = Books()
    found: dict[Scope, list[Moment]] = {}
    while batch := list(islice(rows, step)):
        books.follow(batch)
        _add(found, books, books.time)
    _add(found, books, max(books.time, until or 0))
    return [Course(scope, tuple(moments)) for scope, moments in found.items()]


def _add(found: dict[Scope, list[Moment]], books: Books, time: int) -> None:
    for scope, budget in books.budgets.items():
        moments = found.setdefault(scope, [])
        if moments:
            moments += _renewal(budget, moments[-1].time, time)
        moments.append(Moment(time, 1 - float(budget.account_at(time).used)))


def _renewal(budget: Budget, before: int, time: int) -> Iterator[Moment]:
    """The first renewal between two times, if there is one: from then on all is there again."""
    if budget.refresh is not None:
        renewed = budget.start + (max(budget.period_at(before), 0) + 1) * budget.refresh
        if before < renewed <= time:
            yield Moment(renewed, 1.0)

"""What is spent and left of every budget, as of a moment."""

from __future__ import annotations

from dataclasses import dataclass

from leastnoise.composition.account import Left, Limits
from leastnoise.composition.cost import Cost
from leastnoise.ledger.books import Books
from leastnoise.ledger.budgets import Scope
from leastnoise.model.privacy import Privacy

__all__ = ["Balance", "balances_at", "left_at"]


@dataclass(frozen=True)
class Balance:
    """One budget.

    Args:
        scope: Whom it binds.
        limits: What it allows.
        spent: What is spent in this period.
        left: What one more query may cost.
        refresh: The length of a period in seconds; None for a budget that never comes back.
        renewed: When this period began, in seconds since 1970.
    """

    scope: Scope
    limits: Limits
    spent: Cost
    left: Left
    refresh: int | None
    renewed: int | None


def balances_at(books: Books, now: int) -> list[Balance]:
    """Every budget, in the order in which they were granted."""
    found = []
    lefts: dict[tuple[int, Cost], Left] = {}  # many budgets are alike, and nothing was spent of most
    for scope, budget in books.budgets.items():
        account, period = budget.account_at(now), max(budget.period, budget.period_at(now))
        renewed = None if budget.refresh is None else budget.start + period * budget.refresh
        limits, spent = account.limits, account.spent
        alike = (id(limits), spent)
        if alike not in lefts:
            lefts[alike] = account.left
        found.append(Balance(scope, limits, spent, lefts[alike], budget.refresh, renewed))
    return found


def left_at(books: Books, now: int, dataset: str, analyst: str, purpose: str, first: Privacy | None = None) -> Left:
    """What one more query may cost: the least that the budgets that bind it leave, or the first one would leave."""
    each = [budget.account_at(now).left for budget in books.matching(dataset, analyst, purpose, first)]
    return Left(
        min(left.epsilon for left in each),
        min(left.rho for left in each),
        min(left.delta for left in each),
        max(left.used for left in each),
    )

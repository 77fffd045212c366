"""Budgets for the eye: the same texts in the terminal and in a notebook. Names are public, and escaped in HTML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from leastnoise.errors import LeastNoiseError
from leastnoise.ledger.balance import Balance
from leastnoise.model.notebook import Cell, html_table

__all__ = ["COLUMNS", "balance_texts", "html_ledger", "show_share"]

COLUMNS = ("budget of", "allows", "spent", "used", "still fits", "renews")


def balance_texts(balance: Balance) -> tuple[str, str, str, str, str, str]:
    """A text for each column."""
    budget = balance.limits.budget
    allows = f"ε = {budget.epsilon}" + ("" if budget.is_pure else f", δ = {float(budget.delta):.3g}")
    used = show_share(float(balance.left.used))
    return str(balance.scope), allows, str(balance.spent), used, _still_fits(balance), _renews(balance)


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
    left = balance.left
    if not left.epsilon and not left.rho:
        return "nothing"
    parts = [f"ε = {float(left.epsilon):.4g}"]
    parts += [f"or ρ = {float(left.rho):.4g}"] if left.rho else []
    parts += [f"with δ = {float(left.delta):.2g}"] if left.delta else []
    return " ".join(parts)


def _renews(balance: Balance) -> str:
    if balance.refresh is None or balance.renewed is None:
        return "never"
    return datetime.fromtimestamp(balance.renewed + balance.refresh, UTC).strftime("%Y-%m-%d %H:%M UTC")

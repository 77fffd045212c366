"""Granted budgets: whom one binds, what it allows, and what was spent of it in its current period."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from leastnoise.composition.account import Account, Limits
from leastnoise.errors import BadParameter
from leastnoise.exact.parameters import NumberLike, read_integer
from leastnoise.ledger.record import Entry, read_name, read_purpose
from leastnoise.model.privacy import Privacy

__all__ = ["Budget", "Scope", "read_grant", "write_grant"]


@dataclass(frozen=True)
class Scope:
    """Whom a budget binds: a dataset, an analyst, a purpose, or any combination; None is everyone or everything."""

    dataset: str | None = None
    analyst: str | None = None
    purpose: str | None = None

    def __str__(self) -> str:
        """The names that are set."""
        names = (("dataset", self.dataset), ("analyst", self.analyst), ("purpose", self.purpose))
        return ", ".join(f"{what} {name!r}" for what, name in names if name is not None)


class Budget:
    """A granted budget and what was spent of it in the current period."""

    __slots__ = ("account", "period", "refresh", "scope", "start")

    def __init__(self, scope: Scope, limits: Limits, start: int, refresh: int | None) -> None:
        self.scope, self.start, self.refresh = scope, start, refresh
        self.account, self.period = Account(limits), 0

    def period_at(self, time: int) -> int:
        """The number of the period that a time falls into; without a refresh there is only one."""
        return 0 if self.refresh is None else (time - self.start) // self.refresh

    def account_at(self, time: int) -> Account:
        """The account that a debit at this time goes to: a fresh one where a new period has begun."""
        if self.refresh is None or self.period_at(time) <= self.period:
            return self.account
        return Account(self.account.limits)

    def enter(self, time: int, account: Account) -> None:
        """Go on with the account that `account_at` gave; the ledger's time never goes back."""
        self.period, self.account = max(self.period, self.period_at(time)), account


def write_grant(
    budget: Privacy, scope: Scope, refresh: NumberLike | None = None, event_delta: NumberLike | None = None
) -> Entry:
    """The fields of a grant."""
    if not isinstance(budget, Privacy):
        raise BadParameter("a budget is a `Privacy`", given=budget, fix='pass for example Privacy(1, "1e-6")')
    return {
        "dataset": None if scope.dataset is None else read_name(scope.dataset, "dataset"),
        "analyst": None if scope.analyst is None else read_name(scope.analyst, "analyst"),
        "purpose": None if scope.purpose is None else read_purpose(scope.purpose),
        "epsilon": str(budget.epsilon),
        "delta": str(budget.delta),
        "event_delta": str(Limits(budget, event_delta).event_delta),
        "refresh": None if refresh is None else read_integer(refresh, "refresh", at_least=1),
    }


def read_grant(entry: Entry, time: int) -> Budget:
    """The inverse of `write_grant`: the budget as granted at a time, with nothing spent of it."""
    scope = Scope(*(None if entry[k] is None else read_name(entry[k], k) for k in ("dataset", "analyst", "purpose")))
    refresh = None if entry["refresh"] is None else read_integer(entry["refresh"], "refresh", at_least=1)
    return Budget(scope, _limits(entry["epsilon"], entry["delta"], entry["event_delta"]), time, refresh)


@lru_cache(maxsize=4096)
def _limits(epsilon: str, delta: str, event_delta: str) -> Limits:
    return Limits(Privacy(epsilon, delta), event_delta)

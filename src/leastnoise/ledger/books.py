"""The state that a ledger's entries add up to, and the rules by which an entry may follow.

The same rules admit a new entry and re-check an old one, so what verification accepts is what could have
happened, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from leastnoise.composition.account import Account, Limits
from leastnoise.composition.cost import Cost, cost_of
from leastnoise.errors import BudgetExceeded, LeastNoiseError, LedgerDamaged, RequestConflict, UncoveredDebit
from leastnoise.exact.parameters import read_integer
from leastnoise.ledger.chain import START, Head, Row, damaged, link, read_entry
from leastnoise.ledger.record import Entry, canonical, read_cost, read_name, request_key, write_cost
from leastnoise.model.events import event_from_dict
from leastnoise.model.privacy import Privacy

__all__ = ["Books", "Budget", "Scope", "StrictBooks"]

VERSION = 1
_SPENDING = ("debit", "reserve")
_STORY = {  # which entry of a request may follow which
    (None, "debit"),
    (None, "reserve"),
    ("reserve", "commit"),
    ("reserve", "cancel"),
    ("debit", "answer"),
    ("commit", "answer"),
}


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


@dataclass(frozen=True)
class _Held:
    """A reservation: its entry, and the accounts it was charged to."""

    entry: Entry
    charged: tuple[tuple[Budget, Account], ...]


class Books:
    """Budgets, reservations and the end of the chain, after the entries so far."""

    def __init__(self) -> None:
        self.head, self.time, self.ledger = START, 0, ""
        self.budgets: dict[Scope, Budget] = {}
        self.held: dict[str, _Held] = {}
        self._matching: dict[tuple[str, str, str], list[Budget]] = {}

    def follow(self, rows: Iterable[Row]) -> None:
        """Take over stored entries.

        Raises:
            LedgerDamaged: An entry does not follow from the ones before it; its number is in the text.
        """
        for row in rows:
            entry = read_entry(row, self.head)
            try:
                self._check(row, entry)
                self.apply(entry)
            except LedgerDamaged:
                raise
            except LeastNoiseError as error:
                raise damaged(row.seq, f"it could not have been accepted ({error.problem})") from None
            except (KeyError, TypeError, AttributeError, ValueError):
                raise damaged(row.seq, "a field is missing or not what it should be") from None
            self.head = Head(row.seq, row.hash)

    def append(self, kind: str, time: int, key: str | None, fields: Entry) -> Row:
        """Accept a new entry and give its row to store.

        Raises:
            BudgetExceeded: A budget does not cover it.
            UncoveredDebit: The dataset has no budget.
            RequestConflict: It does not follow from the state of its request.
        """
        entry = {"kind": kind, "seq": self.head.length + 1, "time": max(time, self.time), **fields}
        body = canonical(entry, "entry")
        self.apply(entry)
        row = Row(self.head.length + 1, key, body, link(self.head.hash, body))
        self.head = Head(row.seq, row.hash)
        return row

    def apply(self, entry: Entry) -> None:
        """Change the state as the entry says, or refuse it and change nothing."""
        kind, time = entry["kind"], entry["time"]
        if type(time) is not int or time < self.time:
            raise RequestConflict("the ledger's time goes back", fix="restore the ledger")
        if (kind == "open") != (self.head.length == 0):
            raise RequestConflict("a ledger is opened once, by its first entry", fix="restore the ledger")
        if kind in _SPENDING:
            self._spend(entry, time)
        elif kind in ("commit", "cancel"):
            self._settle(entry, time)
        elif kind == "grant":
            self._grant(entry, time)
        elif kind == "open":
            if entry["version"] != VERSION:
                raise RequestConflict("unknown version of the ledger", given=entry["version"], fix="update leastnoise")
            self.ledger = read_name(entry["ledger"], "ledger")
        elif kind != "answer":
            raise RequestConflict("unknown kind of entry", given=kind, fix="restore the ledger")
        self.time = time

    def matching(self, dataset: str, analyst: str, purpose: str) -> list[Budget]:
        """The budgets that a debit must fit into.

        Raises:
            UncoveredDebit: The dataset has no budget of its own.
        """
        key = (dataset, analyst, purpose)
        found = self._matching.get(key)
        if found is None:
            scopes = [Scope(d, a, p) for d in (dataset, None) for a in (analyst, None) for p in (purpose, None)]
            found = [self.budgets[scope] for scope in scopes if scope in self.budgets]
            if Scope(dataset) not in self.budgets:
                raise UncoveredDebit(
                    "the dataset has no budget, and what no budget covers is refused",
                    given=dataset,
                    fix=f'grant one: ledger.grant(Privacy(1, "1e-6"), dataset={dataset!r})',
                )
            self._matching[key] = found
        return found

    def _check(self, row: Row, entry: Entry) -> None:
        """What only a full verification asks of an entry."""

    def _grant(self, entry: Entry, time: int) -> None:
        scope = Scope(
            *(None if entry[k] is None else read_name(entry[k], k) for k in ("dataset", "analyst", "purpose"))
        )
        if scope == Scope():
            raise RequestConflict("a budget must bind a dataset, an analyst or a purpose", fix="name one of them")
        limits = Limits(Privacy(entry["epsilon"], entry["delta"]), entry["event_delta"])
        refresh = None if entry["refresh"] is None else read_integer(entry["refresh"], "refresh", at_least=1)
        known = self.budgets.get(scope)
        if known is None:
            self.budgets[scope] = Budget(scope, limits, time, refresh)
        else:  # new limits, but what is spent stays spent
            known.enter(time, known.account_at(time))
            known.start, known.refresh, known.period = time, refresh, 0
            known.account.limits = limits
        self._matching.clear()

    def _spend(self, entry: Entry, time: int) -> None:
        cost = read_cost(entry["cost"])
        budgets = self.matching(entry["dataset"], entry["analyst"], entry["purpose"])
        accounts = [budget.account_at(time) for budget in budgets]
        for account in accounts:
            if not account.admits(cost):
                raise self._refusal(cost, budgets, accounts)
        for budget, account in zip(budgets, accounts, strict=True):
            account.add(cost)
            if account is not budget.account:
                budget.enter(time, account)
        if entry["kind"] == "reserve":
            held = _Held(entry, tuple(zip(budgets, accounts, strict=True)))
            self.held[request_key(entry["analyst"], entry["request"])] = held

    def _refusal(self, cost: Cost, budgets: list[Budget], accounts: list[Account]) -> BudgetExceeded:
        pairs = [pair for pair in zip(budgets, accounts, strict=True) if not pair[1].admits(cost)]
        budget, account = min(pairs, key=lambda pair: pair[1].left.epsilon)
        return BudgetExceeded(
            f"the budget of {budget.scope} does not cover this query", given=str(cost), fix=account.advice(cost)
        )

    def _settle(self, entry: Entry, time: int) -> None:
        key = request_key(entry["analyst"], entry["request"])
        held = self.held.get(key)
        if held is None:
            raise RequestConflict("there is no reservation under this id", given=entry["request"], fix="reserve first")
        if entry["kind"] == "cancel":
            for _, account in held.charged:  # one of a period that is over no longer counts anywhere
                account.take_back(read_cost(held.entry["cost"]))
        else:
            budgets = self.matching(held.entry["dataset"], held.entry["analyst"], held.entry["purpose"])
            now = [(id(budget), id(budget.account_at(time))) for budget in budgets]
            if now != [(id(budget), id(account)) for budget, account in held.charged]:
                raise RequestConflict(
                    "the reservation was charged to other budgets, or to an earlier period, than would be charged now",
                    given=entry["request"],
                    fix="cancel it and reserve again under a new id",
                )
        del self.held[key]


class StrictBooks(Books):
    """Books that also re-check what the quick way takes for granted: prices, and each request's story."""

    def __init__(self) -> None:
        super().__init__()
        self.states: dict[str, str] = {}
        self._fair: set[object] = set()

    def _check(self, row: Row, entry: Entry) -> None:
        kind = entry.get("kind")
        if kind in ("open", "grant"):
            if row.request is not None:
                raise damaged(row.seq, "it belongs to no request, but is filed under one")
            return
        key = request_key(entry.get("analyst"), entry.get("request"))
        if row.request != key:
            raise damaged(row.seq, "it is filed under another request")
        before = self.states.get(key)
        if (before, kind) not in _STORY:
            raise damaged(row.seq, f"{kind!r} can't follow {before!r}")
        self.states[key] = str(kind)
        if kind in _SPENDING:
            self._check_price(row.seq, entry)

    def _check_price(self, seq: int, entry: Entry) -> None:
        event, cost = entry["event"], entry["cost"]
        try:
            pair: object = (*event.items(), *cost)  # most events repeat
            known = pair in self._fair
        except TypeError:  # nested
            pair = repr((event, cost))
            known = pair in self._fair
        if known:
            return
        try:
            price = cost_of(event_from_dict(event))
        except (LeastNoiseError, RecursionError):
            raise damaged(seq, "its event has no price") from None
        if write_cost(price) != cost:
            raise damaged(seq, "its price is not that of its event")
        self._fair.add(pair)

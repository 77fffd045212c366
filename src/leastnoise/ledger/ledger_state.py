"""The state that a ledger's entries add up to, and the rules by which an entry may follow.

The same rules admit a new entry and re-check an old one, so what verification accepts is what could have
happened, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from leastnoise.composition.cost import Cost, Limits, cost_of
from leastnoise.composition.filter import Account
from leastnoise.errors import (
    BudgetChanged,
    BudgetExceeded,
    LeastNoiseError,
    LedgerDamaged,
    LedgerUnavailable,
    RequestConflict,
    UncoveredDebit,
)
from leastnoise.exact import read_exact
from leastnoise.ledger.budgets import (
    Budget,
    PrivacyUnit,
    Scope,
    Suspensions,
    raised,
    read_grant,
    read_unit_purpose,
    require_currency,
)
from leastnoise.ledger.chain import Chain, Head, Witness, check_link, damaged, link, read_entry
from leastnoise.ledger.record import (
    UNIT_PURPOSE,
    Entry,
    RequestStates,
    canonical,
    read_name,
    read_purpose,
    request_key,
)
from leastnoise.ledger.store import Row, Stored, Transaction
from leastnoise.model import Privacy, event_from_dict

__all__ = ["LAST_TIME", "VERSION", "LedgerState", "Verification", "verify_entries"]

VERSION = 3
LAST_TIME = 1 << 37  # the year 6325, so that every time and the renewal after it are dates
_FIRST_VERSION = {"grant", "reserve", "commit", "cancel", "debit", "answer", "version"}  # what format 1 may hold
_LATER_FIELDS = ("rho", "mu", "composition")  # what grants before format 3 did not have
_OLD_PARTS = 3  # of a price before format 3: ε, δ and ρ
_FINGERPRINT = ',"fingerprint":"'
_PLAIN = r'"([ !#-\[\]-~]+)"'  # text that JSON writes as it is

# An entry `debit` or `reserve` from its fingerprint on, if names are plain: kind, purpose, request, number, time. These
# are whole members that close the object, so in a text that is JSON they stand on the top level. What stands before
# them therefore says the same in any other text that goes on in this way.
_SPENDING = re.compile(
    rf',"fingerprint":"[0-9a-f]{{64}}","kind":"(debit|reserve)","purpose":{_PLAIN},"request":{_PLAIN},'
    r'"seq":([1-9][0-9]{0,17}),"time":(0|[1-9][0-9]{0,11})\}'
).fullmatch
_FAILED_ONCE = {"failed": True}  # what format 1 recorded as the answer of a request that failed


class _Spending(NamedTuple):
    """What is charged, and to which accounts."""

    dataset: str
    analyst: str
    purpose: str
    cost: Cost
    budgets: list[Budget]
    accounts: list[Account]


class LedgerState:
    """Budgets, units, the state of every request, suspensions, and the end of the chain, after the entries so far.

    Args:
        verified: For a full verification, where entries can be read again. Then it is also checked what opening takes
            for granted: that every price is that of its event, and that an id stays one question.
    """

    def __init__(self, verified: Transaction | None = None) -> None:
        self._verified = verified
        self._fair: set[str] = set()  # events with prices that were checked
        self.chain, self.time, self.ledger, self.version = Chain(), 0, "", 0
        self.budgets: dict[Scope, Budget] = {}
        self.units: dict[str, PrivacyUnit] = {}
        self.requests, self.suspensions = RequestStates(), Suspensions()
        self._held: dict[str, _Spending] = {}  # the reservations
        self._matching: dict[tuple[str, str, str], list[Budget]] = {}
        self._spendings: dict[tuple[str, str], _Spending] = {}  # by the beginning of the entry's text and the purpose
        self._rules = {
            "open": self._open,
            "version": self._raise_version,
            "grant": self._grant,
            "dataset": self._fix_unit,
            "clear": self._clear,
        }
        self._steps = {
            "debit": self._spend,
            "reserve": self._spend,
            "commit": self._commit,
            "cancel": self._cancel,
            "fail": self._fail,
        }

    @property
    def head(self) -> Head:
        """How many entries there are, and the hash of the last."""
        return self.chain.head

    def follow(self, rows: Iterable[Stored]) -> None:
        """Take over stored entries.

        Raises:
            LedgerDamaged: An entry does not follow from the ones before it; its number is in the text.
            LedgerUnavailable: They are in a later format.
        """
        chain = self.chain
        for row in rows:
            check_link(row, chain.length, chain.hash)
            try:
                if not self._spend_again(row[0], row[1]):
                    self._take(row)
            except (LedgerDamaged, LedgerUnavailable):
                raise
            except LeastNoiseError as error:
                raise damaged(row[0], f"it could not have been accepted ({error.problem})") from None
            except (KeyError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError):
                raise damaged(row[0], "a field is missing or not what it should be") from None
            chain.add(row[2])

    def append(self, kind: str, time: int, fields: Entry) -> Row:
        """Accept a new entry and give its row to store.

        Raises:
            BudgetExceeded: A budget does not cover it.
            UncoveredDebit: The dataset has no budget.
            DatasetSuspended: The dataset is suspended for the analyst.
            RequestConflict: It does not follow from the state of its request.
        """
        seq = self.chain.length + 1
        entry = {"kind": kind, "seq": seq, "time": max(time, self.time), **fields}
        body = canonical(entry, "entry")
        self.apply(entry)
        row = Row(seq, body, link(self.chain.hash, body))
        self.chain.add(row.hash)
        return row

    def _spend_again(self, seq: int, body: str) -> bool:
        """Apply an entry that begins like an earlier one, of a request that is new; False where it needs a closer look.

        It does what `_take` would do, without reading again what was read before.
        """
        start = body.find(_FINGERPRINT)
        found = None if start < 0 else _SPENDING(body, start)
        if found is None:
            return False
        kind, purpose, request, number, moment = found.groups()
        spending, time = self._spendings.get((body[:start], purpose)), int(moment)
        if spending is None or int(number) != seq or not self.time <= time < LAST_TIME:
            return False
        cost, accounts = spending.cost, spending.accounts
        for account in accounts:
            if not account.admits(cost):
                return False
        key = request_key(spending.analyst, request)
        if not self.requests.begin(key, kind, seq):
            return False
        for account in accounts:
            account.add(cost)
        if kind == "reserve":
            self._held[key] = spending
        self.time = time
        return True

    def _take(self, row: Stored) -> None:
        """Apply a stored entry, and remember how one that spends begins."""
        entry = read_entry(row)
        if self._verified is not None and entry["kind"] in ("debit", "reserve", "fail"):
            self._check_price(entry)
            self._check_question(entry)
        self.apply(entry)
        start = row[1].find(_FINGERPRINT)
        if self.version > 1 and start >= 0 and _SPENDING(row[1], start):
            spending = self._spending(entry, entry["time"])
            if all(budget.refresh is None for budget in spending.budgets):
                self._spendings[row[1][:start], spending.purpose] = spending

    def apply(self, entry: Entry) -> None:
        """Change the state as the entry says, or refuse it and change nothing."""
        kind, time = entry["kind"], entry["time"]
        if type(time) is not int or not self.time <= time < LAST_TIME:
            raise RequestConflict("the ledger's time goes back, or is no time", fix="restore the ledger")
        if (kind == "open") == (self.version > 0):
            raise RequestConflict("a ledger is opened once, by its first entry", fix="restore the ledger")
        if self.version == 1 and kind not in _FIRST_VERSION:
            raise RequestConflict("unknown kind of entry in format 1", given=kind, fix="restore the ledger")
        if kind == "answer":
            self._answer(entry)
        elif not self.requests.whole:
            raise RequestConflict("the rest of an answer is missing", fix="restore the ledger")
        elif kind in self._steps:
            self._step(entry, kind, time)
        elif kind in self._rules:
            self._rules[kind](entry, time)
        else:
            raise RequestConflict("unknown kind of entry", given=kind, fix="restore the ledger")
        self.time = time

    def matching(self, dataset: str, analyst: str, purpose: str, first: Privacy | None = None) -> list[Budget]:
        """The budgets that a debit must fit into.

        Args:
            dataset: On which dataset.
            analyst: By whom.
            purpose: What for.
            first: The budget that the dataset is about to be granted, if it has none.

        Raises:
            UncoveredDebit: The dataset has no budget of its own.
        """
        key = (dataset, analyst, purpose)
        found = self._matching.get(key)
        if found is None:
            if self.version > 1 and purpose.startswith(UNIT_PURPOSE):
                raise RequestConflict("this purpose is none that a query may have", given=purpose, fix="choose another")
            scopes = [Scope(d, a, p) for d in (dataset, None) for a in (analyst, None) for p in (purpose, None)]
            found = [self.budgets[scope] for scope in scopes if scope in self.budgets]
            if Scope(dataset) not in self.budgets:
                if first is not None:
                    return [Budget(Scope(dataset), Limits(first), self.time, None), *found]
                raise UncoveredDebit(
                    "the dataset has no budget, and what no budget covers is refused",
                    given=dataset,
                    fix=f'grant one: ledger.grant(Privacy(1, "1e-6"), dataset={dataset!r})',
                )
            self._matching[key] = found
        return found

    def admit(self, cost: Cost, budgets: list[Budget], accounts: list[Account]) -> None:
        """Go on only where a cost fits into all accounts.

        Raises:
            WrongCurrency: In one of them it never would, however small it was.
            BudgetExceeded: In one of them it does not.
        """
        for budget in budgets:
            require_currency(budget, cost)
        for tried in accounts:
            if not tried.admits(cost):
                pairs = [pair for pair in zip(budgets, accounts, strict=True) if not pair[1].admits(cost)]
                budget, account = min(pairs, key=lambda pair: pair[1].left.epsilon)
                raise BudgetExceeded(
                    f"the budget of {budget.scope} does not cover this query", given=str(cost), fix=account.advice(cost)
                )

    def _check_price(self, entry: Entry) -> None:
        pair = canonical([entry["event"], entry["cost"]])  # most repeat
        if pair not in self._fair:
            try:
                price = cost_of(event_from_dict(entry["event"]))
            except (LeastNoiseError, RecursionError):
                raise damaged(entry["seq"], "its event has no price") from None
            if price.to_list()[: None if self.version == VERSION else _OLD_PARTS] != entry["cost"]:
                raise damaged(entry["seq"], "its price is not that of its event")
            self._fair.add(pair)

    def _check_question(self, entry: Entry) -> None:
        known = self.requests.get(request_key(entry["analyst"], entry["request"]))
        if known is not None and self._verified is not None:
            (first,) = self.chain.prove(self._verified.entries(known.first, known.first), known.first, known.first)
            if first["fingerprint"] != entry["fingerprint"]:
                raise damaged(entry["seq"], "it belongs to another question than the first entry under its id")

    # ------------------------------------------------------------------ entries of no request

    def _open(self, entry: Entry, _: int) -> None:
        _require_known(entry["version"])
        self.ledger, self.version = read_name(entry["ledger"], "ledger"), entry["version"]

    def _raise_version(self, entry: Entry, _: int) -> None:
        _require_known(entry["version"])
        if entry["version"] <= self.version:
            raise RequestConflict("the version of the ledger goes back", fix="restore the ledger")
        self.version = entry["version"]
        self._forget_matches()

    def _grant(self, entry: Entry, time: int) -> None:
        if self.version < VERSION and any(name in entry for name in _LATER_FIELDS):
            raise RequestConflict("budgets before format 3 are in epsilon and delta", fix="restore the ledger")
        granted = read_grant(entry, time)
        scope = granted.scope
        if scope == Scope():
            raise RequestConflict("a budget must bind a dataset, an analyst or a purpose", fix="name one of them")
        if scope.purpose is not None and self.version > 1:
            read_purpose(scope.purpose)
        elif scope.purpose is not None and scope.dataset is not None and scope.purpose.startswith(UNIT_PURPOSE):
            self.units.setdefault(scope.dataset, read_unit_purpose(scope.purpose))
            return
        known = self.budgets.get(scope)
        if known is None:
            self.budgets[scope] = granted
        else:  # new limits, but what is spent stays spent
            known.enter(time, known.account_at(time))
            known.start, known.refresh, known.period = time, granted.refresh, 0
            known.account.limits = granted.account.limits
        self._forget_matches()

    def _forget_matches(self) -> None:
        self._matching.clear()
        self._spendings.clear()

    def _fix_unit(self, entry: Entry, _: int) -> None:
        dataset, unit = read_name(entry["dataset"], "dataset"), PrivacyUnit(entry["unit"])
        if dataset in self.units:
            raise BudgetChanged("the privacy unit of a dataset never changes", given=dataset, fix="restore the ledger")
        self.units[dataset] = unit

    def _clear(self, entry: Entry, _: int) -> None:
        self.suspensions.clear(read_name(entry["dataset"], "dataset"), read_name(entry["analyst"], "analyst"))

    # ------------------------------------------------------------------ entries of a request

    def _step(self, entry: Entry, kind: str, time: int) -> None:
        key = request_key(entry["analyst"], entry["request"])
        step = "interrupt" if kind == "cancel" and entry.get("interrupted") else kind
        reached = self.requests.after(key, step, self.chain.length + 1)
        self._steps[kind](entry, time, key)
        self.requests.go_on(key, reached)

    def _answer(self, entry: Entry) -> None:
        key, seq = request_key(entry["analyst"], entry["request"]), self.chain.length + 1
        failed = self.version == 1 and entry["answer"] == _FAILED_ONCE
        reached = self.requests.after(key, "answer", seq)
        if self.requests.answer(key, entry):
            self.requests.go_on(key, ("failed", *reached[1:]) if failed else reached)

    def _spend(self, entry: Entry, time: int, key: str) -> None:
        if self.version == 1 and self.requests.get(key) is not None:
            raise RequestConflict("format 1 keeps a cancelled id cancelled", fix="restore the ledger")
        spending = self._spending(entry, time)
        self.admit(spending.cost, spending.budgets, spending.accounts)
        for budget, account in zip(spending.budgets, spending.accounts, strict=True):
            account.add(spending.cost)
            if account is not budget.account:
                budget.enter(time, account)
        if entry["kind"] == "reserve":
            self._held[key] = spending

    def _spending(self, entry: Entry, time: int) -> _Spending:
        dataset, analyst, purpose = entry["dataset"], entry["analyst"], entry["purpose"]
        self.suspensions.require_none(dataset, analyst)
        budgets = self.matching(dataset, analyst, purpose)
        accounts = [budget.account_at(time) for budget in budgets]
        return _Spending(dataset, analyst, purpose, self._cost(entry), budgets, accounts)

    def _cost(self, entry: Entry) -> Cost:
        if (len(entry["cost"]) > _OLD_PARTS) != (self.version == VERSION):
            raise RequestConflict("a price has other parts in this format", fix="restore the ledger")
        return Cost.from_list(entry["cost"])

    def _commit(self, entry: Entry, time: int, key: str) -> None:
        held = self._held[key]
        budgets = self.matching(held.dataset, held.analyst, held.purpose)
        if budgets != held.budgets or any(
            budget.account_at(time) is not account for budget, account in zip(budgets, held.accounts, strict=True)
        ):
            raise RequestConflict(
                "the reservation was charged to other budgets, or to an earlier period, than would be charged now",
                given=entry["request"],
                fix="cancel it and reserve it again",
            )
        del self._held[key]

    def _cancel(self, entry: Entry, time: int, key: str) -> None:
        held = self._held.get(key)
        if entry.get("interrupted"):
            dataset = read_name(entry["dataset"], "dataset")
            if held is not None and held.dataset != dataset:
                raise RequestConflict("it names another dataset than its reservation", fix="restore the ledger")
            self.suspensions.count(dataset, entry["analyst"], time, interruptions=1)
            self._spendings.clear()
        if held is not None:
            del self._held[key]
            for account in held.accounts:  # one of a period that is over no longer counts anywhere
                account.take_back(held.cost)

    def _fail(self, entry: Entry, time: int, key: str) -> None:
        reached, cost = self.requests.get(key), self._cost(entry)
        due = raised(cost, read_exact(entry["floor"], "floor"))
        budgets = self.matching(entry["dataset"], entry["analyst"], entry["purpose"])
        held = self._held.pop(key, None)
        for budget in budgets:
            account = budget.account_at(time)
            if held is not None:  # charged to the budgets that it was reserved in, and to no other
                paid = cost if any(account is each for each in held.accounts) else None
            else:
                paid = {"committed": cost, "answered": cost, "failed": due}.get(reached.state if reached else "")
            account.add_at_most(due if paid is None else due.without(paid))
            if account is not budget.account:
                budget.enter(time, account)
        self.suspensions.count(entry["dataset"], entry["analyst"], time, failures=1)
        self._spendings.clear()


def _require_known(version: object) -> None:
    if type(version) is not int or version < 1:
        raise RequestConflict("a version is a number from one on", fix="restore the ledger")
    if version > VERSION:
        raise LedgerUnavailable(
            "the ledger was written by a later version of leastnoise",
            given=f"format {version}",
            fix="update leastnoise",
        )


@dataclass(frozen=True)
class Verification:
    """What was gone through: every entry up to the head, and the state of every request."""

    ledger: str
    entries: int
    head: str
    requests: int


def verify_entries(transaction: Transaction, witnesses: Sequence[Witness]) -> Verification:
    """Check the chain, the price of every entry, the state of every request, every sum, and the witnesses.

    Raises:
        LedgerDamaged: Something does not hold; the place is in the text.
    """
    state = LedgerState(transaction)
    state.follow(transaction.entries(1))
    if not state.ledger:
        raise damaged(1, "it is missing")
    if not state.requests.whole:
        raise damaged(state.head.length + 1, "the rest of an answer is missing")
    for witness in witnesses:
        witness.confirm(state.ledger, state.head.length, state.chain.hash_at(witness.count))
    return Verification(state.ledger, state.head.length, state.head.hash, len(state.requests))

"""Budgets: whom one binds, what it allows, whom it protects, what is spent and left; and who may not spend for now.

Failures and interruptions are rationed. That a question failed on the data, or took longer than some time, may tell a
bit about the data which no price bounds. So a failure suspends its dataset for its analyst, and so do `INTERRUPTIONS`
interruptions. Only `clear`, by whoever keeps the ledger, lifts it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from shlex import quote

from leastnoise.composition.cost import Composition, Cost, Limits, cost_of
from leastnoise.composition.filter import Account, Remaining
from leastnoise.errors import BadParameter, DatasetSuspended, WrongCurrency
from leastnoise.exact import Exact, NumberLike, read_integer
from leastnoise.ledger.record import UNIT_PURPOSE, Entry, read_name, read_purpose
from leastnoise.model import Privacy, Pure

__all__ = [
    "FLOOR",
    "INTERRUPTIONS",
    "Balance",
    "Budget",
    "Opening",
    "PrivacyUnit",
    "Scope",
    "Suspension",
    "Suspensions",
    "balances_at",
    "left_at",
    "raised",
    "read_grant",
    "read_opening",
    "read_unit_purpose",
    "require_currency",
    "write_grant",
]

_LONGEST_PERIOD = 10**10  # seconds: three hundred years


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
    budget: Privacy,
    scope: Scope,
    refresh: NumberLike | None = None,
    event_delta: NumberLike | None = None,
    composition: Composition | None = None,
) -> Entry:
    """The fields of a grant."""
    if not isinstance(budget, Privacy):
        raise BadParameter("a budget is a `Privacy`", given=budget, fix='pass for example Privacy(1, "1e-6")')
    return {
        "dataset": None if scope.dataset is None else read_name(scope.dataset, "dataset"),
        "analyst": None if scope.analyst is None else read_name(scope.analyst, "analyst"),
        "purpose": None if scope.purpose is None else read_purpose(scope.purpose),
        **Limits(budget, event_delta, composition).to_dict(),
        "refresh": None if refresh is None else read_integer(refresh, "refresh", at_least=1, at_most=_LONGEST_PERIOD),
    }


def read_grant(entry: Entry, time: int) -> Budget:
    """The inverse of `write_grant`: the budget as granted at a time, with nothing spent of it."""
    scope = Scope(*(None if entry[k] is None else read_name(entry[k], k) for k in ("dataset", "analyst", "purpose")))
    refresh = None if entry["refresh"] is None else read_integer(entry["refresh"], "refresh", at_least=1)
    names = ("epsilon", "delta", "rho", "mu", "event_delta", "composition")
    return Budget(scope, _limits(tuple((name, entry.get(name)) for name in names)), time, refresh)


def require_currency(budget: Budget, cost: Cost) -> None:
    """Go on only where a price of this kind may fit into a budget, if it is small enough.

    Raises:
        WrongCurrency: It has a δ and the budget has none, or it has no finite ε, ρ or μ where the budget counts that.
    """
    account = budget.account
    currency, (epsilon, delta) = account.limits.budget.currency, cost.basic
    counted = {"epsilon": epsilon, "epsilon and delta": 0, "rho": cost.rho, "mu": cost.mu_squared}[currency]
    own_delta = delta if currency == "epsilon" else cost.delta
    if counted is None or (own_delta and currency != "epsilon and delta"):
        raise WrongCurrency(
            f"the budget of {budget.scope} is in {currency} and can't take this price",
            given=str(cost),
            fix="ask without a delta, or grant a budget in epsilon and delta" if own_delta else account.advice(cost),
        )


@lru_cache(maxsize=4096)
def _limits(fields: tuple[tuple[str, str | None], ...]) -> Limits:
    return Limits.from_dict(dict(fields))


@dataclass(frozen=True)
class PrivacyUnit:
    """Whom a dataset's budget protects: those whom a column names, or single rows where `column` is None.

    >>> print(PrivacyUnit("person"), PrivacyUnit(None), sep=", ")
    column 'person', single rows
    """

    column: str | None

    def __post_init__(self) -> None:
        """Check the name."""
        if self.column is not None:
            read_name(self.column, "privacy_unit")

    def __str__(self) -> str:
        """In words."""
        return "single rows" if self.column is None else f"column {self.column!r}"


@dataclass(frozen=True)
class Opening:
    """The budget and privacy unit that the first admitted request on a dataset fixes.

    Args:
        budget: What all questions together may cost; None for whatever was granted.
        unit: The column that identifies the person each row belongs to; None for single rows.
    """

    budget: Privacy | None
    unit: str | None

    def __post_init__(self) -> None:
        """Check both."""
        if not isinstance(self.budget, Privacy | None):
            raise BadParameter("budget must be a Privacy", given=type(self.budget).__name__, fix="pass Privacy(1)")
        PrivacyUnit(self.unit)


def read_opening(value: object) -> Opening:
    """Refuse what is no opening."""
    if not isinstance(value, Opening):
        raise BadParameter("this is no `Opening`", given=type(value).__name__, fix="pass Opening(Privacy(1), 'person')")
    return value


def read_unit_purpose(purpose: str) -> PrivacyUnit:
    """The unit that format 1 kept as the purpose of a grant.

    >>> read_unit_purpose("privacy unit: 'person'").column, read_unit_purpose("privacy unit: row").column
    ('person', None)
    """
    text = purpose.removeprefix(UNIT_PURPOSE)
    if text == "row":
        return PrivacyUnit(None)
    try:
        column = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        column = text
    return PrivacyUnit(column if isinstance(column, str) and column else text)


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
    left: Remaining
    refresh: int | None
    renewed: int | None


def balances_at(budgets: Iterable[Budget], now: int) -> list[Balance]:
    """What is spent and left of each."""
    found = []
    lefts: dict[tuple[int, Cost], Remaining] = {}  # many budgets are alike, and nothing was spent of most
    for budget in budgets:
        account, period = budget.account_at(now), max(budget.period, budget.period_at(now))
        renewed = None if budget.refresh is None else budget.start + period * budget.refresh
        limits, spent = account.limits, account.spent
        alike = (id(limits), spent)
        if alike not in lefts:
            lefts[alike] = account.left
        found.append(Balance(budget.scope, limits, spent, lefts[alike], budget.refresh, renewed))
    return found


def left_at(budgets: Iterable[Budget], now: int) -> Remaining:
    """What one more query may cost: the least that the budgets that bind it leave."""
    return Remaining.least(budget.account_at(now).left for budget in budgets)


INTERRUPTIONS = 3  # so many since the last clearing suspend a dataset for an analyst
FLOOR = Fraction(1, 10)  # the least ε that a failure is charged, or what is left
_ZERO = Fraction(0)


@dataclass(frozen=True)
class Suspension:
    """What has happened since the last clearing.

    Args:
        dataset: On which dataset.
        analyst: To whose questions.
        failures: How many questions failed while they saw the data.
        interruptions: How many were interrupted.
        since: When the first of them happened, in seconds since 1970.
    """

    dataset: str
    analyst: str
    failures: int
    interruptions: int
    since: int

    @property
    def holds(self) -> bool:
        """Whether the dataset is suspended; fewer interruptions than `INTERRUPTIONS` are only counted."""
        return self.failures > 0 or self.interruptions >= INTERRUPTIONS

    @property
    def remedy(self) -> str:
        """The command that clears it."""
        return f"leastnoise budget clear {quote(self.dataset)} --analyst {quote(self.analyst)}"

    def __str__(self) -> str:
        """What happened, and since when."""
        counts = ((self.failures, "failed"), (self.interruptions, "interrupted"))
        what = " and ".join(f"{count} {word}" for count, word in counts if count)
        return f"{what} since {datetime.fromtimestamp(self.since, UTC):%Y-%m-%d %H:%M UTC}"


class Suspensions:
    """Failures and interruptions since the last clearing, for each dataset and analyst."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Suspension] = {}

    def get(self, dataset: str, analyst: str) -> Suspension | None:
        """What is counted against an analyst on a dataset; None for nothing."""
        return self._known.get((dataset, analyst))

    def all(self) -> list[Suspension]:
        """Whatever is counted, the oldest first."""
        return list(self._known.values())

    def count(self, dataset: str, analyst: str, time: int, *, failures: int = 0, interruptions: int = 0) -> None:
        """Count a failure or an interruption."""
        known = self._known.get((dataset, analyst)) or Suspension(dataset, analyst, 0, 0, time)
        self._known[dataset, analyst] = replace(
            known, failures=known.failures + failures, interruptions=known.interruptions + interruptions
        )

    def clear(self, dataset: str, analyst: str) -> None:
        """Begin to count anew."""
        self._known.pop((dataset, analyst), None)

    def require_none(self, dataset: str, analyst: str) -> None:
        """Go on only where the dataset is not suspended for the analyst.

        Raises:
            DatasetSuspended: It is.
        """
        found = self._known.get((dataset, analyst))
        if found is not None and found.holds:
            raise DatasetSuspended(
                f"the dataset is suspended for this analyst: of their questions {found}",
                given=f"dataset {dataset!r}, analyst {analyst!r}",
                fix=f"whoever keeps the ledger finds out why, then clears it: {found.remedy}; "
                "recorded answers can be asked for meanwhile",
            )


def raised(cost: Cost, floor: Exact) -> Cost:
    """The cost, and in each part at least that of a query of ε = floor.

    >>> raised(cost_of(Pure("1/100")), Fraction(1, 10)).epsilon
    Fraction(1, 10)
    """
    return cost.at_least(cost_of(Pure(floor)))

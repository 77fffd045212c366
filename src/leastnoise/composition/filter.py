"""A budget that can't be overdrawn, though queries and their prices are chosen after seeing earlier answers.

The rule (see `limits`) is fixed before the first answer: a query is admitted while, with it, Σδ ≤ δ_e and (Σε ≤ ε or
Σρ ≤ ρ*), or the same with Σμ² ≤ μ²*. Then the whole interaction is (ε, δ)-private. Each arm is a known filter: Σε ≤ ε
is basic composition (Rogers, Roth, Ullman and Vadhan 2016), Σρ ≤ ρ* the approximate-zCDP filter (Whitehouse, Ramdas,
Rogers and Wu 2023, section 3), Σμ² ≤ μ²* the filter of Gaussian privacy (Smith and Thakurta 2022; Koskela, Tobaben and
Honkela 2023). Σε may decide beside one of the others, query by query, because an interaction that ends with Σε ≤ ε has
a loss of at most ε and adds nothing to δ, and the others never left the second arm. Σρ and Σμ² may not decide beside
each other: their two δ would add up. The theory page on composition has the proofs. Tighter accountants (optimal
composition, loss distributions) are not valid filters; a list that was fixed in advance may use them as one query
(`Fixed`).
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NoReturn

from leastnoise.composition.cost import Composition, Cost, Limits, Rule, cost_of
from leastnoise.composition.gaussian import mu_squared_of_pure, pure_of_mu
from leastnoise.composition.normal_form import rho_of
from leastnoise.errors import BudgetExceeded, ForeignProcess
from leastnoise.exact import (
    Exact,
    NumberLike,
    RunningTotal,
    largest_fitting,
    rational_above,
    read_exact,
    read_integer,
    sqrt_above,
    sqrt_below,
)
from leastnoise.model import Event, Privacy, Pure

__all__ = ["Account", "Filter", "Remaining"]

_ZERO, _ONE = Fraction(0), Fraction(1)
_SURELY = 1 - 2.0**-20  # a running sum of doubles errs by less for any number of terms below 2^32
_OWN: dict[Composition, str] = {"basic": "ε", "concentrated": "ρ", "gaussian": "μ²"}


@dataclass(frozen=True)
class Remaining:
    """What one more query may cost.

    Args:
        budget: The budget, which says the currency.
        epsilon: The largest pure ε that fits, rounded down.
        rho: The largest ρ that fits.
        mu_squared: The largest μ² of Gaussian privacy that fits.
        delta: The largest δ that fits beside ε; also beside ρ and μ, once the first query has fixed the rule.
        spent: What was spent, in the sum that decides: of those that the rule allows, the one with the smaller share.
        limit: The limit of that sum.
        unit: Its name: "ε", "ρ" or "μ²".
    """

    budget: Privacy
    epsilon: Fraction
    rho: Fraction
    mu_squared: Fraction
    delta: Fraction
    spent: Fraction
    limit: Fraction
    unit: str

    @property
    def used(self) -> Fraction:
        """Which share of the budget is gone, 0 to 1: `spent` of `limit`."""
        return min(self.spent / self.limit, Fraction(1)) if self.limit else Fraction(1)

    @property
    def mu(self) -> Fraction:
        """The largest μ that fits, rounded down."""
        return sqrt_below(self.mu_squared)

    @property
    def share(self) -> str:
        """How much of which sum is gone, in words."""
        return f"{self.unit} = {float(self.spent):.4g} of {float(self.limit):.4g}"

    @staticmethod
    def least(each: Iterable[Remaining]) -> Remaining:
        """What is left where several budgets bind the same query."""
        known = list(each)
        fullest = max(known, key=lambda one: one.used)
        return Remaining(
            fullest.budget,
            min(one.epsilon for one in known),
            min(one.rho for one in known),
            min(one.mu_squared for one in known),
            min(one.delta for one in known),
            fullest.spent,
            fullest.limit,
            fullest.unit,
        )

    def __str__(self) -> str:
        """What would fit, in words, the budget's own currency first."""
        fits = [
            ("ε", self.epsilon, "epsilon"),
            ("ρ", self.rho, "rho"),
            ("μ", self.mu if self.mu_squared else _ZERO, "mu"),
        ]
        fits.sort(key=lambda one: one[2] != self.budget.currency)
        texts = [f"{name} = {float(amount):.6g}" for name, amount, _ in fits if amount]
        if not texts:
            return "nothing fits any more"
        delta = f", with δ = {float(self.delta):.3g}" if self.delta else ""
        return f"a query of at most {' or '.join(texts)}{delta} still fits"


class Account:
    """Running totals against limits: the filter's rule, without locks.

    Doubles that are surely not below the totals settle the common case; where they come near a limit, what is pending
    is added up exactly and the exact totals decide.
    """

    __slots__ = ("_count", "_limits", "_pending", "_rough", "_rough_limits", "_rule", "_totals")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._empty()

    def _empty(self) -> None:
        self._count = 0  # queries that were added and not taken back
        self._totals = _Totals()
        self._pending: dict[int, _Pending] = {}  # by identity: hashing exact numbers takes long
        self._follow(None)

    @property
    def limits(self) -> Limits:
        """The budget, and by which rule it is kept."""
        return self._limits

    @limits.setter
    def limits(self, limits: Limits) -> None:
        """Other limits, while what is spent stays spent: the same kind of rule goes on where the limits have it.

        What was spent must not choose the rule, since it depends on answers.
        """
        before, self._limits = self._rule, limits
        if before is None:
            return
        rules = limits.rules()
        same = [rule for rule in rules if rule.composition == before.composition] or list(rules)
        alike = [rule for rule in same if (rule.event_delta == 0) == (before.event_delta == 0)]
        self._follow((alike or same)[0])

    @property
    def rule(self) -> Rule | None:
        """The rule that holds; None while nothing was spent and the first query may still decide."""
        return self._rule

    def _fixed_by(self, cost: Cost) -> Rule:
        """The rule that holds; the first query fixes it."""
        rule = self._rule
        if rule is None:
            rule = self._limits.first_rule(cost) or self._limits.rules(cost)[0]
            self._follow(rule)
        return rule

    def _follow(self, rule: Rule | None) -> None:
        self._rule: Rule | None = rule
        if rule is not None:
            exact = (rule.epsilon, rule.event_delta, None if rule.composition == "basic" else rule.amount)
            self._rough_limits = [-1.0 if limit is None else float(limit) * _SURELY for limit in exact]
            self._rough = list(self.spent.rough[rule.composition])

    def admits(self, cost: Cost) -> bool:
        """Whether the rule still holds with this cost added; for the first query, whether one of the rules holds."""
        rule = self._rule
        if rule is None:
            return self._limits.first_rule(cost) is not None
        (epsilon, delta, own), (most_epsilon, most_delta, most_own) = cost.rough[rule.composition], self._rough_limits
        had_epsilon, had_delta, had_own = self._rough
        if had_delta + delta <= most_delta and (had_own + own <= most_own or had_epsilon + epsilon <= most_epsilon):
            return True
        self._settle()
        return self._totals.fit(cost, rule)

    def add(self, cost: Cost) -> None:
        """Add a cost; the first one fixes the rule."""
        rule = self._fixed_by(cost)
        self._count += 1
        known = self._pending.get(id(cost))
        if known is None:
            self._pending[id(cost)] = _Pending(cost)
        else:
            known.count += 1
        (epsilon, delta, own), rough = cost.rough[rule.composition], self._rough
        rough[0] += epsilon
        rough[1] += delta
        rough[2] += own

    def add_at_most(self, cost: Cost) -> None:
        """Add a cost, or if it does not fit, of each part what is left.

        So whichever arm of the rule held before holds after, and nothing is left in it.
        """
        if not self.admits(cost):
            rule = self._fixed_by(cost)
            self._settle()
            cost = self._totals.clipped(cost, rule)
        self.add(cost)

    def take_back(self, cost: Cost) -> None:
        """Remove a cost that was added before; the first query after nothing is left fixes the rule anew."""
        self._settle()
        self._totals.add(cost, -1)
        self._count -= 1
        if self._count:
            self._follow(self._rule)  # the rough totals begin again from the exact ones
        else:
            self._empty()

    def _settle(self) -> None:
        """Add up what is pending."""
        for each in self._pending.values():
            self._totals.add(each.cost, each.count)
        self._pending.clear()

    @property
    def spent(self) -> Cost:
        """The totals; None where a query had no finite number of the kind."""
        self._settle()
        return self._totals.cost

    @property
    def left(self) -> Remaining:
        """What one more query may cost."""
        spent, limits = self.spent, self.limits
        if self._rule is None:
            each = [_remaining(limits.budget, rule, spent) for rule in limits.rules()]
            return Remaining(
                limits.budget,
                max(one.epsilon for one in each),
                max(one.rho for one in each),
                max(one.mu_squared for one in each),
                max(one.delta for one in each),
                _ZERO,
                each[-1].limit,
                each[-1].unit,
            )
        return _remaining(limits.budget, self._rule, spent)

    @property
    def used(self) -> Fraction:
        """Which share of the budget is gone, 0 to 1."""
        return _ZERO if self._rule is None else _used(self._rule, self.spent)[0]

    def advice(self, cost: Cost) -> str:
        """What to do about a query that does not fit."""
        budget, left = self.limits.budget, self.left
        rule = self._rule or self.limits.rules(cost)[0]
        epsilon, delta = rule.basic(cost)
        if budget.currency in ("rho", "mu") and delta:
            return f"a budget in {budget.currency} has no room for a δ: grant one in epsilon and delta; {left}"
        if rule.composition == "gaussian" and cost.mu_squared is None and epsilon is None:
            why = "" if budget.currency == "mu" else ", and the first query, which was Gaussian, fixed how it is kept"
            return (
                f"this noise is not known to be Gaussian-private (discrete Gaussian noise is not){why}: use rounded "
                f"Gaussian noise or a pure mechanism; {left}"
            )
        if budget.is_pure and epsilon is None:
            return "concentrated privacy has no finite ε: grant a budget with some δ, or use a pure mechanism"
        if delta > left.delta:
            return f"the budget leaves δ = {float(left.delta):.3g} for the queries' own δ; {left}"
        return str(left)

    def to_dict(self) -> dict[str, Any]:
        """The state beside the limits, JSON-ready and exact."""
        self._settle()
        rule = None if self._rule is None else self.limits.rules().index(self._rule)
        return {"rule": rule, "count": self._count, "totals": self._totals.to_list()}

    @classmethod
    def from_dict(cls, limits: Limits, data: Mapping[str, Any]) -> Account:
        """An account with these limits that goes on from what `to_dict` gave."""
        account = cls(limits)
        account._count, account._totals = int(data["count"]), _Totals.from_list(data["totals"])
        account._follow(None if data["rule"] is None else limits.rules()[data["rule"]])
        return account


class _Pending:
    """A cost that was added so many times since the last exact sum."""

    __slots__ = ("cost", "count")

    def __init__(self, cost: Cost) -> None:
        self.cost, self.count = cost, 1


class _Totals:
    """The exact sums of all parts of costs, whichever rule holds: the limits may change later."""

    __slots__ = ("delta", "epsilon", "mu_squared", "rho", "whole_delta", "whole_epsilon")

    def __init__(self) -> None:
        self.epsilon, self.delta, self.rho, self.mu_squared = (
            RunningTotal(),
            RunningTotal(),
            RunningTotal(),
            RunningTotal(),
        )
        self.whole_epsilon, self.whole_delta = RunningTotal(), RunningTotal()  # as basic composition sees a query

    @property
    def tallies(self) -> tuple[RunningTotal, ...]:
        return (self.epsilon, self.delta, self.rho, self.mu_squared, self.whole_epsilon, self.whole_delta)

    def add(self, cost: Cost, count: int) -> None:
        """Add `count` copies of a cost; below zero, take back what was added."""
        for tally, part in zip(self.tallies, _parts(cost), strict=True):
            tally.add(part, count)

    @property
    def cost(self) -> Cost:
        epsilon, delta, rho, mu_squared, whole, whole_delta = (tally.value for tally in self.tallies)
        return Cost(
            epsilon,
            rational_above(delta or _ZERO),
            rational_above(rho or _ZERO),
            None if mu_squared is None else rational_above(mu_squared),
            None if whole is None else (whole, rational_above(whole_delta or _ZERO)),
        )

    def fit(self, cost: Cost, rule: Rule) -> bool:
        """Whether the rule holds with the cost added."""
        basic = rule.composition == "basic"
        epsilon, delta = (self.whole_epsilon, self.whole_delta) if basic else (self.epsilon, self.delta)
        cost_epsilon, cost_delta = rule.basic(cost)
        if not delta.fits(cost_delta, rule.event_delta):
            return False
        if not basic:
            own = self.rho if rule.composition == "concentrated" else self.mu_squared
            if own.fits(rule.own(cost), rule.amount):
                return True
        return rule.epsilon is not None and epsilon.fits(cost_epsilon, rule.epsilon)

    def clipped(self, cost: Cost, rule: Rule) -> Cost:
        """The cost, but of each part no more than the rule leaves."""
        spent = self.cost
        (epsilon, delta), (had_epsilon, had_delta) = rule.basic(cost), rule.basic(spent)
        left = _ZERO if had_epsilon is None or rule.epsilon is None else max(rule.epsilon - had_epsilon, _ZERO)
        epsilon = left if epsilon is None else min(epsilon, left)
        delta = min(delta, max(rule.event_delta - had_delta, _ZERO))
        own, had = rule.own(cost), rule.own(spent)
        rest = _ZERO if had is None else max(rule.amount - had, _ZERO)
        own = rest if own is None else min(own, rest)
        if rule.composition == "gaussian":
            return Cost(epsilon, delta, cost.rho, own, (epsilon, delta))
        rho = own if rule.composition == "concentrated" else cost.rho
        return Cost(epsilon, delta, rho, cost.mu_squared, (epsilon, delta))

    def to_list(self) -> list[list[Any]]:
        return [tally.to_list() for tally in self.tallies]

    @classmethod
    def from_list(cls, data: Iterable[list[Any]]) -> _Totals:
        totals = cls()
        for name, each in zip(
            ("epsilon", "delta", "rho", "mu_squared", "whole_epsilon", "whole_delta"), data, strict=True
        ):
            setattr(
                totals,
                name,
                RunningTotal.of(read_exact(each[0], "total"), read_integer(each[1], "missing", at_least=0)),
            )
        return totals


def _parts(cost: Cost) -> tuple[Exact | None, ...]:
    return (cost.epsilon, cost.delta, cost.rho, cost.mu_squared, *cost.basic)


@lru_cache(maxsize=1024)  # many ask for the same budget between two debits
def _remaining(budget: Privacy, rule: Rule, spent: Cost) -> Remaining:
    (epsilon, delta), own = rule.basic(spent), rule.own(spent)
    _, gone, limit, unit = _used(rule, spent)
    if delta > rule.event_delta:
        return Remaining(budget, _ZERO, _ZERO, _ZERO, _ZERO, gone, limit, unit)
    basic = _ZERO
    if rule.epsilon is not None and epsilon is not None:
        basic = _below(rule.epsilon - epsilon)
    left = max(rule.amount - own, _ZERO) if own is not None else _ZERO
    return Remaining(
        budget,
        max(basic, _largest_pure(rule, left)) if left else basic,
        left if rule.composition == "concentrated" else _ZERO,
        {"basic": _ZERO, "concentrated": 2 * left, "gaussian": left}[rule.composition],
        rule.event_delta - delta,
        gone,
        limit,
        unit,
    )


def _used(rule: Rule, spent: Cost) -> tuple[Fraction, Fraction, Fraction, str]:
    """The share that is gone, of the sum in which it is least; what was spent in it, its limit, its unit."""
    (epsilon, delta), own = rule.basic(spent), rule.own(spent)
    sums: list[tuple[Fraction, Fraction, str]] = []
    if rule.epsilon is not None and epsilon is not None:
        sums.append((rational_above(epsilon), rational_above(rule.epsilon), "ε"))
    if rule.composition != "basic" and own is not None:
        sums.append((own, rule.amount, _OWN[rule.composition]))
    shares = [(min(gone / limit, _ONE) if limit else _ONE, gone, limit, unit) for gone, limit, unit in sums]
    least = min(shares, key=lambda one: one[0], default=(_ONE, _ONE, _ONE, _OWN[rule.composition]))
    return (_ONE, least[2], least[2], least[3]) if delta > rule.event_delta else least


def _largest_pure(rule: Rule, left: Fraction) -> Fraction:
    """The largest pure ε whose ρ or μ² is at most what is left of it, rounded down."""
    if rule.composition == "concentrated":  # ε·tanh(ε/2) ≥ ε²/(2 + ε), hence ε ≤ ρ + √(2ρ)
        return largest_fitting(lambda e: rho_of(Pure(e)) <= left, at_most=left + sqrt_above(2 * left))
    most = Fraction(math.floor(pure_of_mu(sqrt_below(left)) * (1 << 100)), 1 << 100)
    return largest_fitting(lambda e: mu_squared_of_pure(e) <= left, at_most=most) if most else _ZERO


def _below(number: Exact) -> Fraction:
    """A rational at most the number and at least zero."""
    if number <= 0:
        return _ZERO
    return number if isinstance(number, Fraction) else largest_fitting(lambda e: e <= number, at_most=number)


class Filter:
    """A budget in the memory of one process; `leastnoise.accounting.Ledger` keeps one for many, and through crashes.

    Args:
        budget: What the whole interaction may cost, in any currency.
        event_delta: The part of δ for the queries' own δ; see `Limits`.
        composition: Which sums decide; see `Limits`.

    Raises:
        BadParameter: The budget protects hardly anybody and was not made with `insist=True`, or see `Limits`.

    >>> from leastnoise.model.events import Pure
    >>> budget = Filter(Privacy(1))
    >>> for _ in range(10):
    ...     budget.debit(Pure("1/10"))
    >>> budget.debit(Pure("1/10"))
    Traceback (most recent call last):
    leastnoise.errors.BudgetExceeded: the budget does not cover this query; given: ε = 1/10; nothing fits any more
    """

    def __init__(
        self, budget: Privacy, event_delta: NumberLike | None = None, composition: Composition | None = None
    ) -> None:
        self._account = Account(Limits(budget.require_sensible(), event_delta, composition))
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def limits(self) -> Limits:
        """The budget, and by which rule it is kept."""
        return self._account.limits

    @property
    def spent(self) -> Cost:
        """What was debited so far."""
        with self._lock:
            return self._account.spent

    @property
    def left(self) -> Remaining:
        """What one more query may cost."""
        with self._lock:
            return self._account.left

    def admits(self, event: Event) -> bool:
        """Whether a debit of this event would be accepted now."""
        with self._lock:
            return self._account.admits(cost_of(event))

    def debit(self, event: Event) -> None:
        """Spend; all of it or nothing.

        Raises:
            BudgetExceeded: The event does not fit; the text says what would.
            UnknownEvent: Not in the vocabulary.
            BadParameter: The event is a list that costs more than it claims.
            ForeignProcess: This is a copy in another process, and would spend the budget a second time.
        """
        if os.getpid() != self._process:
            raise ForeignProcess(
                "a filter belongs to the process that made it, and this is a copy of it",
                fix="use a leastnoise.accounting.Ledger, which processes can share",
            )
        cost = cost_of(event)
        with self._lock:
            if not self._account.admits(cost):
                raise BudgetExceeded(
                    "the budget does not cover this query", given=str(cost), fix=self._account.advice(cost)
                )
            self._account.add(cost)

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied: two copies would spend the budget twice."""
        raise ForeignProcess(
            "a filter can't be copied or pickled: each copy would spend the whole budget",
            fix="share the object within the process, or use a leastnoise.accounting.Ledger",
        )

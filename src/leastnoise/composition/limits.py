"""What a budget allows: the rule by which a filter admits queries, fixed before anything was answered.

A rule admits a query while, with it, Σδ ≤ δ_e and (Σε ≤ ε or Σρ ≤ ρ*), or the same with Σμ² ≤ μ²*. Here δ_e is the part
of δ for the queries' own δ, and ρ* or μ²* the largest that is (ε, δ − δ_e)-private. `filter` says why that is enough.
A budget in ρ or μ has that one sum and no others.

Which rule holds for an (ε, δ) budget is decided by the grant or, where it leaves that open, by the first query, which
is chosen before there is an answer. Changing the rule later would not be private: an adversary who was told little so
far would spend the δ, one who was told much would go on with the rest of μ², and both would add up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

from leastnoise.composition.concentrated import rho_within
from leastnoise.composition.cost import Cost
from leastnoise.composition.gaussian import mu_squared_within
from leastnoise.errors import BadParameter
from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike, read_exact, read_rational
from leastnoise.model.privacy import Privacy

__all__ = ["Composition", "Limits", "Rule"]

Composition: TypeAlias = Literal["basic", "concentrated", "gaussian"]

_LARGEST = 10**6
_ZERO = Fraction(0)


@dataclass(frozen=True)
class Rule:
    """One rule of admission.

    Args:
        composition: What is summed beside ε: nothing, ρ or μ².
        epsilon: The limit of Σε; None where the budget has none.
        event_delta: The limit of Σδ.
        amount: The limit of Σρ or Σμ²; zero where neither is summed.
    """

    composition: Composition
    epsilon: Exact | None
    event_delta: Fraction
    amount: Fraction

    def own(self, cost: Cost) -> Fraction | None:
        """What a cost adds to the rule's own sum; None where it can't be added."""
        return {"basic": None, "concentrated": cost.rho, "gaussian": cost.mu_squared}[self.composition]

    def basic(self, cost: Cost) -> tuple[Exact | None, Fraction]:
        """What a cost adds to Σε and Σδ; the claim of a whole list is another split, for basic composition alone."""
        return cost.basic if self.composition == "basic" else (cost.epsilon, cost.delta)

    def holds(self, total: Cost) -> bool:
        """Whether the sums are within the limits."""
        own, (epsilon, delta) = self.own(total), self.basic(total)
        if delta > self.event_delta:
            return False
        if own is not None and own <= self.amount:
            return True
        return self.epsilon is not None and epsilon is not None and bool(epsilon <= self.epsilon)


@dataclass(frozen=True, init=False)
class Limits:
    """A budget, and by which rule it is kept.

    Args:
        budget: What the whole interaction may cost; an ε, ρ or μ above a million promises nothing and is refused.
        event_delta: δ_e. All of it leaves basic composition alone, none of it suits queries without a δ of their own.
            None for half of δ, or, where the first query is Gaussian, a sixteenth; where that query would not fit
            otherwise, all or none of it.
        composition: "concentrated" or "gaussian" for Σρ or Σμ² beside Σε, "basic" for Σε alone. None lets the first
            query decide: "gaussian" if it is Gaussian, else "concentrated", and "basic" if it would not fit otherwise.

    Raises:
        BadParameter: A number is out of its range, or a budget in ρ or μ has a choice it does not have.

    >>> Limits(Privacy(1, "1e-6"), "1e-7").event_delta
    Fraction(1, 10000000)
    """

    budget: Privacy
    event_delta: Fraction | None
    composition: Composition | None

    def __init__(
        self, budget: Privacy, event_delta: NumberLike | None = None, composition: Composition | None = None
    ) -> None:
        currency = budget.currency
        if currency in ("rho", "mu"):
            read_rational(budget.rho if currency == "rho" else budget.mu, currency, at_most=_LARGEST)
            ours = "concentrated" if currency == "rho" else "gaussian"
            if composition not in (None, ours) or event_delta is not None:
                raise BadParameter(
                    f"a budget in {currency} is kept by one rule, and has no delta to divide",
                    given=f"event_delta = {event_delta}, composition = {composition}",
                    fix="leave out both, or grant a budget in epsilon and delta",
                )
        else:
            read_exact(budget.epsilon, "epsilon", at_most=_LARGEST)
        if composition not in (None, *get_args(Composition)):
            raise BadParameter(
                "composition is 'basic', 'concentrated' or 'gaussian'",
                given=composition,
                fix="pass one, or leave it out",
            )
        share = None
        if event_delta is not None:
            share = read_rational(event_delta, "event_delta", at_least=0, at_most=budget.delta)
        object.__setattr__(self, "budget", budget)
        object.__setattr__(self, "event_delta", share)
        object.__setattr__(self, "composition", composition)

    def rules(self, first: Cost | None = None) -> tuple[Rule, ...]:
        """The rules that the budget may be kept by, in the order in which they are tried on the first query.

        Args:
            first: The first query; None for all rules that there may be.
        """
        budget = self.budget
        if budget.currency == "rho":
            return (Rule("concentrated", None, _ZERO, budget.rho),)
        if budget.currency == "mu":
            return (Rule("gaussian", None, _ZERO, budget.mu_squared),)
        delta = budget.delta
        if budget.is_pure or self.event_delta == delta:
            return (_rule(budget, "basic", delta),)
        given = self.event_delta
        shares: dict[Composition, tuple[Fraction, ...]] = {
            "gaussian": (delta / 16, _ZERO) if given is None else (given,),
            "concentrated": (delta / 2 if given is None else given,),
            "basic": (delta,) if given is None else (given,) if self.composition == "basic" else (),
        }
        if self.composition is not None:
            shares = {self.composition: shares[self.composition]}
        elif first is not None and (first.epsilon is not None or first.mu_squared is None):
            del shares["gaussian"]
        return tuple(_rule(budget, kind, share) for kind, each in shares.items() for share in each)

    def first_rule(self, first: Cost) -> Rule | None:
        """The rule that the first query fixes; None where it does not fit by any."""
        return next((rule for rule in self.rules(first) if rule.holds(first)), None)

    def to_dict(self) -> dict[str, str | None]:
        """JSON-ready, exact.

        >>> Limits(Privacy(rho="1/10")).to_dict()
        {'rho': '1/10', 'event_delta': None, 'composition': None}
        """
        share = None if self.event_delta is None else str(self.event_delta)
        return {**self.budget.to_dict(), "event_delta": share, "composition": self.composition}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Limits:
        """The inverse of `to_dict`; other fields of the mapping are not read.

        >>> Limits.from_dict({"epsilon": "1", "delta": "0", "event_delta": "0"}) == Limits(Privacy(1), 0)
        True
        """
        budget = {name: data[name] for name in ("epsilon", "delta", "rho", "mu") if data.get(name) is not None}
        return cls(Privacy(**budget), data.get("event_delta"), data.get("composition"))


@lru_cache(maxsize=4096)
def _rule(budget: Privacy, composition: Composition, share: Fraction) -> Rule:
    rest = budget.delta - share
    amount = _ZERO
    if composition != "basic":
        amount = (rho_within if composition == "concentrated" else mu_squared_within)(budget.epsilon, rest)
    return Rule(composition, budget.epsilon, share, amount)

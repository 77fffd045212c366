"""What an event costs, what a budget allows, and what a price pays for, where prices may be chosen on the way.

**Cost.** Numbers that add up under full adaptivity. An event that was split into δ, with which all may be lost, and the
rest, costs δ in every filter, and beside it ε in the basic one, ρ in that of concentrated and μ² in that of Gaussian
privacy. A list of events that was fixed in advance may be (ε, δ) together with less than its sums; that is a different
split, which the basic filter alone may use.

**Limits.** The rule by which a filter admits queries, fixed before anything was answered. A rule admits a query while,
with it, Σδ ≤ δ_e and (Σε ≤ ε or Σρ ≤ ρ*), or the same with Σμ² ≤ μ²*. Here δ_e is the part of δ for the queries' own δ,
and ρ* or μ²* the largest that is (ε, δ − δ_e)-private. `filter` says why that is enough. A budget in ρ or μ has that
one sum and no others.

Which rule holds for an (ε, δ) budget is decided by the grant or, where it leaves that open, by the first query, which
is chosen before there is an answer. Changing the rule later would not be private: an adversary who was told little so
far would spend the δ, one who was told much would go on with the rest of μ², and both would add up.

**Price.** A price (ε, δ) pays for what is (ε, δ)-private, a price ρ for what is ρ-zero-concentrated, and a price μ for
what is μ-Gaussian private. Gaussian noise is priced by its exact profile (`composition.gaussian`); of other events the
three numbers of their normal form are compared, which are never too small.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeAlias, get_args

from leastnoise.composition.best_bound import compose
from leastnoise.composition.concentrated import rho_within
from leastnoise.composition.gaussian import delta_of, mu_squared_within
from leastnoise.composition.group import group_delta_above
from leastnoise.composition.normal_form import parts_of
from leastnoise.composition.thresholded_gaussian import is_within
from leastnoise.errors import BadParameter
from leastnoise.exact import Exact, NumberLike, add_above, largest_fitting, rational_above, read_exact, read_rational
from leastnoise.model import Composed, Event, Fixed, Grouped, Parallel, Privacy, Pure, ThresholdedGaussian, brief

__all__ = [
    "LEAST_DELTA",
    "LEAST_EPSILON",
    "LEAST_RHO",
    "Composition",
    "Cost",
    "Limits",
    "Rule",
    "cost_of",
    "covers",
    "gaussian_within",
    "pure_within",
]

LEAST_EPSILON = Fraction(1, 10**9)
LEAST_DELTA = LEAST_RHO = Fraction(1, 10**18)
_ZERO = Fraction(0)


@dataclass(frozen=True)
class Cost:
    """All but a part δ of an event is ρ-zCDP, and ε-private or μ-Gaussian-private where these are not None.

    Args:
        epsilon: The pure part, or None where there is no finite one.
        delta: The probability with which all may be lost.
        rho: The concentrated part.
        mu_squared: The Gaussian part, or None where none is known.
        together: Another (ε, δ) that holds of the event as a whole; None where it is (epsilon, delta).
    """

    epsilon: Exact | None
    delta: Fraction
    rho: Fraction
    mu_squared: Fraction | None = None
    together: tuple[Exact, Fraction] | None = None

    @cached_property
    def basic(self) -> tuple[Exact | None, Fraction]:
        """ε and δ in the basic filter."""
        return (self.epsilon, self.delta) if self.together is None else self.together

    @cached_property
    def rough(self) -> dict[str, tuple[float, float, float]]:
        """For each filter ε, δ and its own amount as doubles that are not below them, infinite where there is none."""
        epsilon, delta = _double_above(self.epsilon), _double_above(self.delta)
        return {
            "basic": (_double_above(self.basic[0]), _double_above(self.basic[1]), math.inf),
            "concentrated": (epsilon, delta, _double_above(self.rho)),
            "gaussian": (epsilon, delta, _double_above(self.mu_squared)),
        }

    def __post_init__(self) -> None:
        """Say what holds of the whole only where it is something else."""
        if self.together == (self.epsilon, self.delta):
            object.__setattr__(self, "together", None)

    def at_least(self, other: Cost) -> Cost:
        """The larger of the two in each part.

        >>> Cost(None, Fraction(0), Fraction(1)).at_least(Cost(Fraction(1), Fraction(1, 9), Fraction(1, 2)))
        Cost(epsilon=None, delta=Fraction(1, 9), rho=Fraction(1, 1), mu_squared=None, together=None)
        """
        (ours, our_delta), (theirs, their_delta) = self.basic, other.basic
        whole = _larger(ours, theirs)
        return Cost(
            _larger(self.epsilon, other.epsilon),
            max(self.delta, other.delta),
            max(self.rho, other.rho),
            _rational(_larger(self.mu_squared, other.mu_squared)),
            None if whole is None else (whole, max(our_delta, their_delta)),
        )

    def without(self, paid: Cost) -> Cost:
        """What is due after `paid`, which is nowhere more; what is unbounded is paid by what is unbounded."""
        (ours, our_delta), (theirs, their_delta) = self.basic, paid.basic
        whole = _rest(ours, theirs)
        return Cost(
            _rest(self.epsilon, paid.epsilon),
            self.delta - paid.delta,
            self.rho - paid.rho,
            _rational(_rest(self.mu_squared, paid.mu_squared)),
            None if whole is None else (whole, our_delta - their_delta),
        )

    def to_list(self) -> list[str | None]:
        """Exact numbers as text: ε, δ, ρ, μ², and ε and δ of the event as a whole where these differ.

        >>> from leastnoise.model.events import Pure
        >>> cost_of(Fixed([Pure("1/10")] * 9, "1/2", "1/10")).to_list()[4:]
        ['1/2', '1/10']
        """
        return list(self._texts)

    @cached_property
    def _texts(self) -> tuple[str | None, ...]:
        parts = (self.epsilon, self.delta, self.rho, self.mu_squared, *(self.together or ()))
        return tuple(None if part is None else str(part) for part in parts)

    @classmethod
    def from_list(cls, data: Sequence[str | None]) -> Cost:
        """The inverse of `to_list`; a list without μ², as ledgers once held, gets the μ² of a pure ε, if it has one.

        Raises:
            BadParameter: Not such a list.

        >>> Cost.from_list(["1/10", "0", "1/200"]).mu_squared
        Fraction(11, 700)
        """
        try:
            return _read_cost(*data)
        except TypeError:
            raise BadParameter("a cost is three to six numbers as text", given=str(data), fix="restore it") from None

    def __str__(self) -> str:
        """The parts that say most."""
        if self.together is not None:
            return f"ε = {_brief(self.together[0])}" + _delta_text(self.together[1])
        if self.epsilon is not None:
            first = f"ε = {brief(self.epsilon)}"
        elif self.mu_squared is not None:
            first = f"μ = {math.sqrt(self.mu_squared):.4g}"
        else:
            first = f"ρ = {float(self.rho):.4g}"
        return first + _delta_text(self.delta)


@lru_cache(maxsize=4096)
def cost_of(event: Event) -> Cost:
    """The cost of an event, rounded up where it is irrational.

    Raises:
        UnknownEvent: Not in the vocabulary.
        BadParameter: The event costs less than the least charge: ε of 10^-9, or δ or ρ of 10^-18; or it is `Fixed` and
            claims less than it costs.

    >>> from leastnoise.model.events import Approximate, GaussianPrivacy, Pure
    >>> cost_of(Pure("1/10")).epsilon, cost_of(Approximate("1/10", "1e-9")).delta
    (Fraction(1, 10), Fraction(1, 1000000000))
    >>> cost_of(GaussianPrivacy("1/25")).mu_squared
    Fraction(1, 25)
    """
    parts = parts_of(event)
    cost = Cost(parts.epsilon, parts.delta, parts.rho, parts.mu_squared, _together(event, 1))
    pure = cost.rho >= LEAST_RHO if cost.epsilon is None else cost.epsilon >= LEAST_EPSILON
    enough = pure or cost.delta >= LEAST_DELTA
    if cost.together is not None:
        enough = enough and (cost.together[0] >= LEAST_EPSILON or cost.together[1] >= LEAST_DELTA)
    if not enough:
        raise BadParameter(
            "an event costs less than the least charge (epsilon of 1e-9, or delta or rho of 1e-18)",
            given=str(cost),
            fix="ask with at least epsilon=1e-9",
        )
    return cost


def _together(event: Event, size: int) -> tuple[Exact, Fraction] | None:
    """The ε and δ of an event for groups of `size`, where claims about lists are proven and used; None where none is.

    Sums for what is composed, the largest for disjoint parts, and group privacy for a claim.
    """
    if isinstance(event, Fixed):
        _require_proven(event)
        return event.epsilon * size, group_delta_above(event.epsilon, event.delta, size)
    if isinstance(event, Grouped):
        return _together(event.event, size * event.size)
    if isinstance(event, Composed | Parallel):
        epsilon: Exact = _ZERO
        delta = _ZERO
        for part in event.events:
            found = _together(part, size)
            if found is None:
                return None
            if isinstance(event, Composed):
                epsilon, delta = add_above(epsilon, found[0]), rational_above(add_above(delta, found[1]))
            else:
                epsilon, delta = max(epsilon, found[0]), max(delta, found[1])
        return epsilon, delta
    parts = parts_of(Grouped(event, size))
    return None if parts.epsilon is None else (parts.epsilon, parts.delta)


@lru_cache(maxsize=4096)
def _require_proven(event: Fixed) -> None:
    """Refuse a claim that the events do not bear out: by the exact profile of Gaussian noise, else by `compose`."""
    for part in event.events:
        _together(part, 1)  # claims within claims
    parts = parts_of(event)
    (first, *others) = event.events
    if isinstance(first, ThresholdedGaussian) and not others:
        proven = is_within(first, event.epsilon, event.delta)
    elif parts.is_gaussian and not parts.deltas and parts.mu_squared:
        proven = delta_of(parts.mu_squared, event.epsilon).upper <= event.delta
    else:
        proven = compose(event.events, event.delta).epsilon <= event.epsilon
    if not proven:
        raise BadParameter(
            "the events cost more together than is claimed",
            given=f"ε = {_brief(event.epsilon)}{_delta_text(event.delta)}",
            fix=f"claim what they cost: {compose(event.events, event.delta)}" if event.delta else "claim a δ, or more",
        )


@lru_cache(maxsize=4096)
def _read_cost(
    epsilon: str | None,
    delta: str,
    rho: str,
    mu_squared: str | None = "",
    whole_epsilon: str | None = None,
    whole_delta: str | None = None,
) -> Cost:
    texts = (epsilon, delta, rho, mu_squared, whole_epsilon, whole_delta)
    if not all(isinstance(text, str | None) for text in texts) or (whole_epsilon is None) != (whole_delta is None):
        raise TypeError
    known = None if epsilon is None else read_exact(epsilon, "epsilon", at_least=0)
    gaussian = None if mu_squared is None else _simple_mu_squared(known)
    if mu_squared:
        gaussian = read_rational(mu_squared, "mu_squared", at_least=0)
    together = None
    if whole_epsilon is not None and whole_delta is not None:
        whole = read_exact(whole_epsilon, "epsilon", at_least=0)
        together = whole, read_rational(whole_delta, "delta", at_least=0)
    return Cost(
        known, read_rational(delta, "delta", at_least=0), read_rational(rho, "rho", at_least=0), gaussian, together
    )


def _simple_mu_squared(epsilon: Exact | None) -> Fraction | None:
    """A μ² that a pure ε surely has: at most (π/2)ε², since Φ⁻¹(logistic) is concave, and at most 8ε."""
    if epsilon is None:
        return None
    above = rational_above(epsilon)
    return min(Fraction(11, 7) * above**2, 8 * above)


def _larger(one: Exact | None, other: Exact | None) -> Exact | None:
    return None if one is None or other is None else max(one, other)


def _rest(due: Exact | None, paid: Exact | None) -> Exact | None:
    if paid is None:
        return _ZERO
    return None if due is None else due - paid


def _rational(number: Exact | None) -> Fraction | None:
    return None if number is None else rational_above(number)


def _double_above(number: Exact | None) -> float:
    """A double that is not below the number: a conversion errs by half a unit at most."""
    if number is None:
        return math.inf
    try:
        return math.nextafter(float(number), math.inf) if number else 0.0
    except OverflowError:
        return math.inf


def _brief(number: Exact) -> str:
    text = str(number)
    return text if len(text) <= 16 else f"{float(number):.6g}"


def _delta_text(delta: Fraction) -> str:
    return f", δ = {float(delta):.4g}" if delta else ""


Composition: TypeAlias = Literal["basic", "concentrated", "gaussian"]

_LARGEST = 10**6


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


_DIGITS = 30  # binary digits to which a search settles
_MOST_EPSILON = 1 << 20  # no ε above this is looked for


def covers(price: Privacy, event: Event) -> bool:
    """Whether an event costs at most the price, by its Gaussian profile, a proven claim or basic composition.

    >>> covers(Privacy(1), Pure(1)), covers(Privacy(rho="1/2"), Pure(1)), covers(Privacy(mu=1), Pure(1))
    (True, True, False)
    """
    parts = parts_of(event)
    if isinstance(event, Fixed) and price.currency not in ("rho", "mu"):
        epsilon, delta = cost_of(event).basic
        return epsilon is not None and epsilon <= price.epsilon and delta <= price.delta
    if price.currency == "rho":
        return not parts.delta and parts.rho <= price.rho
    if price.currency == "mu":
        return not parts.delta and parts.mu_squared is not None and parts.mu_squared <= price.mu_squared
    if parts.epsilon is not None:
        return parts.epsilon <= price.epsilon and parts.delta <= price.delta
    slack = parts.slack(price.delta)
    return slack > 0 and parts.mu_squared is not None and delta_of(parts.mu_squared, price.epsilon).upper <= slack


def gaussian_within(price: Privacy) -> Fraction:
    """The largest μ² of Gaussian noise that a price pays for; zero where it pays for none.

    >>> gaussian_within(Privacy(rho="1/2")), gaussian_within(Privacy(1)), float(gaussian_within(Privacy(1, "1e-6")))
    (Fraction(1, 1), Fraction(0, 1), 0.0560...)
    """
    if price.currency == "rho":
        return 2 * price.rho
    return price.mu_squared if price.currency == "mu" else mu_squared_within(price.epsilon, price.delta)


def pure_within(price: Privacy, event_at: Callable[[Exact], Event] = Pure) -> Exact:
    """The largest ε at which a mechanism with a pure ε costs at most the price.

    Args:
        price: In any currency.
        event_at: What the mechanism costs at a given ε; more for a larger one.

    >>> from leastnoise.model.events import BoundedRange
    >>> pure_within(Privacy("ln(3)", "1e-6")), float(pure_within(Privacy(rho="1/8"), BoundedRange))
    (ln(3), 1.0)
    """
    if price.currency not in ("rho", "mu"):
        return price.epsilon

    def fits(epsilon: Fraction) -> bool:
        return covers(price, event_at(epsilon))

    ceiling = Fraction(price.rho if price.currency == "rho" else price.mu)
    while ceiling < _MOST_EPSILON and fits(ceiling):
        ceiling *= 2
    return largest_fitting(fits, at_most=ceiling, digits=_DIGITS)

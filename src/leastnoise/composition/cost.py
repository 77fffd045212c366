"""What an event costs where prices may be chosen on the way: numbers that add up under full adaptivity.

An event that was split into δ, with which all may be lost, and the rest, costs δ in every filter, and beside it ε in
the basic one, ρ in that of concentrated and μ² in that of Gaussian privacy. A list of events that was fixed in advance
may be (ε, δ) together with less than its sums; that is a different split, which the basic filter alone may use.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from leastnoise.composition.best_bound import compose
from leastnoise.composition.gaussian import delta_of
from leastnoise.composition.group import group_delta_above
from leastnoise.composition.normal_form import parts_of
from leastnoise.composition.thresholded_gaussian import is_within
from leastnoise.errors import BadParameter
from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import read_exact, read_rational
from leastnoise.exact.sums import add_above, rational_above
from leastnoise.model.events import Composed, Event, Fixed, Grouped, Parallel, ThresholdedGaussian
from leastnoise.model.show import brief

__all__ = ["LEAST_DELTA", "LEAST_EPSILON", "LEAST_RHO", "Cost", "cost_of"]

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

"""What an event costs where prices may be chosen on the way: three numbers that add up under full adaptivity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from leastnoise.composition.normal_form import parts_of
from leastnoise.errors import BadParameter
from leastnoise.exact.numbers import Exact
from leastnoise.model.events import Event

__all__ = ["LEAST_DELTA", "LEAST_EPSILON", "LEAST_RHO", "Cost", "cost_of"]

LEAST_EPSILON = Fraction(1, 10**9)
LEAST_DELTA = LEAST_RHO = Fraction(1, 10**18)


@dataclass(frozen=True)
class Cost:
    """An event is δ-approximately ρ-zCDP and, where ε is not None, (ε, δ)-private.

    Args:
        epsilon: The pure part, or None where there is no finite one.
        delta: The probability with which all may be lost.
        rho: The concentrated part.
    """

    epsilon: Exact | None
    delta: Fraction
    rho: Fraction

    @cached_property
    def rough(self) -> tuple[float, float, float]:
        """The three numbers as doubles that are not below them, infinite where there is no ε."""
        epsilon = math.inf if self.epsilon is None else _double_above(self.epsilon)
        return epsilon, _double_above(self.delta), _double_above(self.rho)

    def __str__(self) -> str:
        """The parts that are there."""
        first = f"ρ = {float(self.rho):.4g}" if self.epsilon is None else f"ε = {self.epsilon}"
        return f"{first}, δ = {float(self.delta):.4g}" if self.delta else first


@lru_cache(maxsize=4096)
def cost_of(event: Event) -> Cost:
    """The cost of an event, rounded up where it is irrational.

    Raises:
        UnknownEvent: Not in the vocabulary.
        BadParameter: The event costs less than the least charge: ε of 10^-9, or δ or ρ of 10^-18.

    >>> from leastnoise.model.events import Approximate, Pure
    >>> cost_of(Pure("1/10")).epsilon, cost_of(Approximate("1/10", "1e-9")).delta
    (Fraction(1, 10), Fraction(1, 1000000000))
    """
    parts = parts_of(event)
    cost = Cost(parts.epsilon, parts.delta, parts.rho)
    enough = cost.delta >= LEAST_DELTA or cost.rho >= LEAST_RHO
    if not enough if cost.epsilon is None else not (cost.epsilon >= LEAST_EPSILON or cost.delta >= LEAST_DELTA):
        raise BadParameter(
            "an event costs less than the least charge (epsilon of 1e-9, or delta or rho of 1e-18)",
            given=str(cost),
            fix="ask with at least epsilon=1e-9",
        )
    return cost


def _double_above(number: Exact) -> float:
    """A double that is not below the number: a conversion errs by half a unit at most."""
    try:
        return math.nextafter(float(number), math.inf) if number else 0.0
    except OverflowError:
        return math.inf

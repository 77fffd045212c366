"""What a price pays for: how much noise may be saved for ε, (ε, δ), ρ or μ.

A price (ε, δ) pays for what is (ε, δ)-private, a price ρ for what is ρ-zero-concentrated, and a price μ for what is
μ-Gaussian private. Gaussian noise is priced by its exact profile (`composition.gaussian`); of other events the three
numbers of their normal form are compared, which are never too small.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from leastnoise.composition.cost import cost_of
from leastnoise.composition.gaussian import delta_of, mu_squared_within
from leastnoise.composition.normal_form import parts_of
from leastnoise.exact.numbers import Exact
from leastnoise.exact.search import largest_fitting
from leastnoise.model.events import Event, Fixed, Pure
from leastnoise.model.privacy import Privacy

__all__ = ["covers", "gaussian_within", "pure_within"]

_DIGITS = 30  # binary digits to which a search settles
_LARGEST = 1 << 20  # no ε above this is looked for


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
    while ceiling < _LARGEST and fits(ceiling):
        ceiling *= 2
    return largest_fitting(fits, at_most=ceiling, digits=_DIGITS)

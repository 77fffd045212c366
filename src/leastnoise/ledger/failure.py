"""What a failed request is charged: its price and at least a floor, or what is left."""

from __future__ import annotations

from fractions import Fraction

from leastnoise.composition.account import Account
from leastnoise.composition.cost import Cost, cost_of
from leastnoise.exact.numbers import Exact
from leastnoise.model.events import Pure

__all__ = ["charge_at_most", "raised", "rest_of"]

_ZERO = Fraction(0)


def raised(cost: Cost, floor: Exact) -> Cost:
    """The cost, and in each part at least that of a query of ε = floor.

    >>> raised(cost_of(Pure("1/100")), Fraction(1, 10)).epsilon
    Fraction(1, 10)
    """
    least = cost_of(Pure(floor))
    epsilon = None if cost.epsilon is None or least.epsilon is None else max(cost.epsilon, least.epsilon)
    return Cost(epsilon, cost.delta, max(cost.rho, least.rho))


def rest_of(due: Cost, paid: Cost) -> Cost:
    """What is due after `paid`, which is nowhere more; an unbounded ε is paid by an unbounded one."""
    epsilon: Exact | None = None
    if paid.epsilon is None:
        epsilon = _ZERO
    elif due.epsilon is not None:
        epsilon = due.epsilon - paid.epsilon
    return Cost(epsilon, due.delta - paid.delta, due.rho - paid.rho)


def charge_at_most(account: Account, due: Cost) -> None:
    """Add a cost, or if it does not fit, of each part what is left.

    So whichever arm of the account's rule held before holds after, and nothing is left in it.
    """
    if not account.admits(due):
        spent, limits = account.spent, account.limits
        left = _ZERO if spent.epsilon is None else max(limits.budget.epsilon - spent.epsilon, _ZERO)
        due = Cost(
            left if due.epsilon is None else min(due.epsilon, left),
            min(due.delta, max(limits.event_delta - spent.delta, _ZERO)),
            min(due.rho, max(limits.rho - spent.rho, _ZERO)),
        )
    account.add(due)

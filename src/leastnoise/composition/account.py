"""Running totals against the limits of a budget: the rule by which a filter and a ledger admit a query.

A query is admitted while, with it, Σδ ≤ δ_e and (Σε ≤ ε or Σρ ≤ ρ*); `filter` says why that is enough.

A running total that is exact, quick to add to, and quick to compare.

It keeps one whole number over a common denominator, and logarithms beside it. Where the denominator or the number of
logarithms would grow without end, the total goes on as the next multiple of 2^-128: it may overcount, never undercount.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from leastnoise.composition.atomic_events import rho_of
from leastnoise.composition.concentrated import rho_within
from leastnoise.composition.cost import Cost
from leastnoise.composition.exact_sums import add_above, rational_above, round_up
from leastnoise.composition.search import largest_fitting
from leastnoise.exact.numbers import Exact, LogSum
from leastnoise.exact.parameters import NumberLike, read_exact, read_rational
from leastnoise.model.events import Pure
from leastnoise.model.privacy import Privacy

__all__ = ["Account", "Left", "Limits", "Tally"]

_LONGEST_DENOMINATOR = 512  # bits
_SURELY = 1 - 2.0**-20  # a running sum of doubles errs by less for any number of terms below 2^32


@dataclass(frozen=True, init=False)
class Limits:
    """A budget, with its δ divided between the queries' own δ and the conversion of ρ.

    Args:
        budget: What the whole interaction may cost; an ε of more than a million promises nothing and is refused.
        event_delta: δ_e; None for half of δ. All of it leaves basic composition alone, none of it suits queries
            without a δ of their own.

    Raises:
        BadParameter: A number is out of its range.

    >>> Limits(Privacy(1, "1e-6")).event_delta
    Fraction(1, 2000000)
    """

    budget: Privacy
    event_delta: Fraction
    rho: Fraction

    def __init__(self, budget: Privacy, event_delta: NumberLike | None = None) -> None:
        read_exact(budget.epsilon, "epsilon", at_most=10**6)
        share = budget.delta / 2 if event_delta is None else event_delta
        share = read_rational(share, "event_delta", at_least=0, at_most=budget.delta)
        object.__setattr__(self, "budget", budget)
        object.__setattr__(self, "event_delta", share)
        object.__setattr__(self, "rho", rho_within(budget.epsilon, budget.delta - share))


@dataclass(frozen=True)
class Left:
    """What one more query may cost.

    Args:
        epsilon: The largest pure ε that fits, rounded down.
        rho: The largest ρ that fits.
        delta: The largest δ that fits beside either.
        used: Which share of the budget is gone, in the more generous arm: 0 to 1.
    """

    epsilon: Fraction
    rho: Fraction
    delta: Fraction
    used: Fraction

    def __str__(self) -> str:
        """What would fit, in words."""
        if not self.epsilon and not self.rho:
            return "nothing fits any more"
        concentrated = f" or ρ = {float(self.rho):.6g}" if self.rho else ""
        delta = f", with δ = {float(self.delta):.3g}" if self.delta else ""
        return f"a query of at most ε = {float(self.epsilon):.6g}{concentrated}{delta} still fits"


class Account:
    """Running totals against limits: the filter's rule, without locks.

    Doubles that are surely not below the totals settle the common case; where they come near a limit, what is pending
    is added up exactly and the exact totals decide.
    """

    __slots__ = ("_delta", "_epsilon", "_limits", "_pending", "_rho", "_rough", "_rough_limits", "_unbounded")

    def __init__(self, limits: Limits) -> None:
        self._epsilon, self._delta, self._rho = Tally(), Tally(), Tally()
        self._unbounded = 0  # queries without a finite ε
        self._pending: dict[int, _Pending] = {}  # by identity: hashing exact numbers takes long
        self._rough = [0.0, 0.0, 0.0]
        self.limits = limits

    @property
    def limits(self) -> Limits:
        """The budget and how its δ is divided."""
        return self._limits

    @limits.setter
    def limits(self, limits: Limits) -> None:
        self._limits = limits
        exact = (limits.budget.epsilon, limits.event_delta, limits.rho)
        self._rough_limits = [float(limit) * _SURELY for limit in exact]

    def admits(self, cost: Cost) -> bool:
        """Whether the rule still holds with this cost added."""
        (epsilon, delta, rho), (most_epsilon, most_delta, most_rho) = cost.rough, self._rough_limits
        had_epsilon, had_delta, had_rho = self._rough
        if had_delta + delta <= most_delta and (had_rho + rho <= most_rho or had_epsilon + epsilon <= most_epsilon):
            return True
        self._settle()
        if not self._delta.fits(cost.delta, self.limits.event_delta):
            return False
        if self._rho.fits(cost.rho, self.limits.rho):
            return True
        if cost.epsilon is None or self._unbounded:
            return False
        return self._epsilon.fits(cost.epsilon, self.limits.budget.epsilon)

    def add(self, cost: Cost) -> None:
        """Add a cost."""
        known = self._pending.get(id(cost))
        if known is None:
            self._pending[id(cost)] = _Pending(cost)
        else:
            known.count += 1
        (epsilon, delta, rho), rough = cost.rough, self._rough
        rough[0] += epsilon
        rough[1] += delta
        rough[2] += rho

    def take_back(self, cost: Cost) -> None:
        """Remove a cost that was added before."""
        self._settle()
        self._delta.take_back(cost.delta)
        self._rho.take_back(cost.rho)
        if cost.epsilon is None:
            self._unbounded -= 1
        else:
            self._epsilon.take_back(cost.epsilon)
        self._rough = list(self.spent.rough)  # the rough totals begin again from the exact ones

    def _settle(self) -> None:
        """Add up what is pending."""
        for cost, count in ((each.cost, each.count) for each in self._pending.values()):
            self._delta.add(cost.delta * count)
            self._rho.add(cost.rho * count)
            if cost.epsilon is None:
                self._unbounded += count
            else:
                self._epsilon.add(cost.epsilon * count)
        self._pending.clear()

    @property
    def spent(self) -> Cost:
        """The totals; ε is None where a query had no finite one."""
        self._settle()
        epsilon = None if self._unbounded else self._epsilon.value
        return Cost(epsilon, rational_above(self._delta.value), rational_above(self._rho.value))

    @property
    def left(self) -> Left:
        """What one more query may cost."""
        spent, limits = self.spent, self.limits
        delta = max(limits.event_delta - spent.delta, Fraction(0))
        rho = max(limits.rho - spent.rho, Fraction(0))
        basic = Fraction(0) if spent.epsilon is None else _below(limits.budget.epsilon - spent.epsilon)
        by_rho = (
            largest_fitting(lambda e: rho_of(Pure(e)) <= rho, at_most=limits.budget.epsilon) if rho else Fraction(0)
        )
        if spent.delta > limits.event_delta:
            return Left(Fraction(0), Fraction(0), Fraction(0), Fraction(1))
        return Left(max(basic, by_rho), rho, delta, self.used)

    @property
    def used(self) -> Fraction:
        """Which share of the budget is gone, in the more generous arm: 0 to 1."""
        spent, limits = self.spent, self.limits
        if spent.delta > limits.event_delta:
            return Fraction(1)
        shares = [Fraction(1)]
        if limits.rho:
            shares.append(spent.rho / limits.rho)
        if spent.epsilon is not None and limits.budget.epsilon > 0:
            shares.append(rational_above(spent.epsilon) / rational_above(limits.budget.epsilon))
        return min(shares)

    def advice(self, cost: Cost) -> str:
        """What to do about a query that does not fit."""
        if cost.epsilon is None and not self.limits.rho:
            return "concentrated privacy has no finite ε: grant a budget with some δ, or use a pure mechanism"
        if cost.delta > self.limits.event_delta - self.spent.delta:
            return f"the budget leaves δ = {float(self.left.delta):.3g} for the queries' own δ; {self.left}"
        return str(self.left)


class _Pending:
    """A cost that was added so many times since the last exact sum."""

    __slots__ = ("cost", "count")

    def __init__(self, cost: Cost) -> None:
        self.cost, self.count = cost, 1


def _below(number: Exact) -> Fraction:
    """A rational at most the number and at least zero."""
    if number <= 0:
        return Fraction(0)
    return number if isinstance(number, Fraction) else largest_fitting(lambda e: e <= number, at_most=number)


class Tally:
    """The sum of what was added; numbers of at least zero only.

    >>> total = Tally()
    >>> for _ in range(10):
    ...     total.add(Fraction(1, 10))
    >>> total.value, total.fits(Fraction(0), Fraction(1)), total.fits(Fraction(1, 10**9), Fraction(1))
    (Fraction(1, 1), True, False)
    """

    __slots__ = ("_bottom", "_logs", "_top")

    def __init__(self) -> None:
        self._top, self._bottom = 0, 1
        self._logs: Exact = Fraction(0)  # everything that was ever added together with a logarithm

    @property
    def value(self) -> Exact:
        """The sum."""
        return self._logs + Fraction(self._top, self._bottom)

    def add(self, number: Exact) -> None:
        """Add a number."""
        if isinstance(number, LogSum):
            self._logs = add_above(self._logs, number)
            return
        if self._bottom % number.denominator:
            common = lcm(self._bottom, number.denominator)
            self._top, self._bottom = self._top * (common // self._bottom), common
        self._top += number.numerator * (self._bottom // number.denominator)
        if self._bottom.bit_length() > _LONGEST_DENOMINATOR:
            short = round_up(Fraction(self._top, self._bottom))
            self._top, self._bottom = short.numerator, short.denominator

    def take_back(self, number: Exact) -> None:
        """Remove a number that was added before."""
        if isinstance(number, LogSum):
            self._logs = self._logs - number
        else:
            self.add(-number)

    def fits(self, number: Exact, limit: Exact) -> bool:
        """Whether the sum stays at most `limit` with `number` added."""
        if isinstance(number, LogSum) or isinstance(limit, LogSum) or self._logs:
            return bool(self.value + number <= limit)
        top = self._top * number.denominator + number.numerator * self._bottom
        return top * limit.denominator <= limit.numerator * self._bottom * number.denominator

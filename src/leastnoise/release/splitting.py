"""How one price is split among several questions, so that their weighted squared errors are least in sum.

With Gaussian noise the squared error of a question is v/s at a share s of μ² (or ρ), and Σ w·v/s is least where s is in
proportion to √(w·v); with pure noise it is v/s² at a share s of ε, and s is in proportion to the cube root. Errors that
follow these laws only nearly are split again by what they are at the split before (docs/theory/batch.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from leastnoise.composition import compose, cost_of
from leastnoise.composition.cost import LEAST_EPSILON
from leastnoise.composition.gaussian import mu_squared_within, pure_of_mu
from leastnoise.errors import WrongCurrency
from leastnoise.exact import Exact
from leastnoise.model import Composed, Event, Fixed, Parallel, Privacy, number
from leastnoise.release.plan import AnswerPlan
from leastnoise.release.queries.query import Query

__all__ = ["PriceSplit", "Splitter", "claimed", "expected_error", "parts_of", "rounded_up", "sum_of"]

_ROUNDS = 4  # of splitting again
_UNIT = 1 << 16  # shares are whole multiples of 2^-16: so coarse that no rounding of a double changes them
_WORTH_IT = 1 - Fraction(1, 10**6)  # another round must be better by this factor
_HALVINGS = 10  # of the range in which the largest total ε is looked for
_FARTHEST = 4  # times the ε of the price: its upper end
_ROUNDED = 1 + Fraction(1, 10**7)
_LEAST_ERROR = Fraction(1, 1 << 1100)  # of a question that is answered without noise


@dataclass(frozen=True)
class PriceSplit:
    """Answer plans of all questions at their shares, with what they cost together.

    Attributes:
        how: The plan of each question.
        shares: The price of each.
        event: What they cost together.
        total: The weighted sum of squared expected errors; no double may hold it.
        note: How they were found.
        group_shares: The share of each group of questions that no unit can touch at the same time.
    """

    how: tuple[AnswerPlan, ...]
    shares: tuple[Privacy, ...]
    event: Event
    total: Fraction
    note: str
    group_shares: tuple[Fraction, ...] = ()


@dataclass(frozen=True)
class Splitter:
    """Finds shares for groups of questions; a group is charged for the dearest of its questions."""

    queries: tuple[Query, ...]
    groups: tuple[tuple[int, ...], ...]
    weights: list[Fraction]

    def within(self, price: Privacy) -> PriceSplit:
        """The best of all splits that there are in the currency of the price."""
        if price.currency == "rho":
            return self.best(lambda _, s: Privacy(rho=price.rho * s), 1, Composed, "ρ is split")
        if price.currency == "mu":
            return self.best(lambda _, s: Privacy(mu=_root_below(price.mu_squared * s)), 1, Composed, "μ² is split")
        if price.is_pure:
            return self.best(lambda _, s: Privacy(price.epsilon * s), 2, Composed, "ε is split")
        options = [self.pure_by_joint_law(price)]
        with suppress(WrongCurrency):  # a question that has no answer in μ
            options.append(self.gaussian(price))
        best = min(options, key=lambda option: option.total)
        compared = "; ".join(f"{option.note} {number(option.total)}" for option in options)
        return replace(best, note=f"weighted squared errors in all: {compared}")

    def best(
        self,
        price_at: Callable[[Query, Fraction], Privacy],
        power: int,
        join: Callable[[tuple[Event, ...]], Event],
        note: str,
    ) -> PriceSplit:
        """The shares at which the weighted squared errors are least, if each goes with share^-power."""
        many = len(self.groups)
        shares, found = [Fraction(1, many)] * many, self._at([Fraction(1, many)] * many, price_at, join, note)
        for _ in range(_ROUNDS if many > 1 else 0):
            needs = [
                sum(self.weights[i] * expected_error(found.how[i]) ** 2 for i in group) * share**power
                for group, share in zip(self.groups, shares, strict=True)
            ]
            largest = max(needs)
            roots = [float(need / largest) ** (1 / (1 + power)) for need in needs]
            shares = [Fraction(max(int(root / sum(roots) * _UNIT), 1), _UNIT) for root in roots]
            if sum(shares) > 1:  # a share too small to be one was rounded up
                shares = [share / sum(shares) for share in shares]
            tried = self._at(shares, price_at, join, note)
            if tried.total > found.total * _WORTH_IT:
                break
            found = tried
        return found

    def gaussian(self, price: Privacy) -> PriceSplit:
        """A split of the μ² that the exact Gaussian profile allows at (ε, δ)."""
        own = self.own_delta(price.delta)
        mu_squared = mu_squared_within(price.epsilon, price.delta - own * self._needy())

        def at(query: Query, share: Fraction) -> Privacy:
            mu = _root_below(mu_squared * share)
            return Privacy(pure_of_mu(mu), own) if query.needs_delta else Privacy(mu=mu)

        return self.best(at, 1, partial(claimed, price), "Gaussian noise")

    def pure_by_joint_law(self, price: Privacy) -> PriceSplit:
        """A split of the largest total ε whose joint law is still (ε, δ)."""
        own = self.own_delta(price.delta)

        def price_at(total: Exact) -> Callable[[Query, Fraction], Privacy]:
            return lambda query, s: Privacy(total * s, own) if query.needs_delta else Privacy(total * s)

        def fits(split: PriceSplit) -> bool:
            return compose(parts_of(split.event), price.delta).epsilon <= price.epsilon

        low, high = Fraction(1), Fraction(_FARTHEST)
        best = self.best(price_at(price.epsilon), 2, Composed, "pure noise")
        shares = list(best.group_shares)
        for _ in range(_HALVINGS if len(self.groups) > 1 else 0):
            middle = (low + high) / 2
            tried = self._at(shares, price_at(price.epsilon * middle), Composed, "pure noise")
            if fits(tried):
                low, best = middle, tried
            else:
                high = middle
        return replace(best, event=claimed(price, parts_of(best.event)))

    def _at(
        self,
        shares: list[Fraction],
        price_at: Callable[[Query, Fraction], Privacy],
        join: Callable[[tuple[Event, ...]], Event],
        note: str,
    ) -> PriceSplit:
        share_of = {place: share for group, share in zip(self.groups, shares, strict=True) for place in group}
        prices = tuple(price_at(query, share_of[place]) for place, query in enumerate(self.queries))
        return replace(self.at_prices(prices, join, note), group_shares=tuple(shares))

    def at_prices(
        self, prices: tuple[Privacy, ...], join: Callable[[tuple[Event, ...]], Event], note: str
    ) -> PriceSplit:
        """All questions at these prices."""
        how = tuple(query.public.answer_plan(price) for query, price in zip(self.queries, prices, strict=True))
        events = [tuple(how[place].event for place in group) for group in self.groups]
        joined = join(tuple(parts[0] if len(parts) == 1 else Parallel(parts) for parts in events))
        squares = (weight * expected_error(each) ** 2 for weight, each in zip(self.weights, how, strict=True))
        return PriceSplit(how, prices, joined, sum(squares, Fraction(0)), note)

    def _needy(self) -> int:
        return sum(query.needs_delta for query in self.queries)

    def own_delta(self, delta: Fraction) -> Fraction:
        """The δ of each question that can't be answered without one: half of all is left for the joint law."""
        return delta / (2 * max(self._needy(), 1))


def claimed(price: Privacy, events: tuple[Event, ...]) -> Event:
    """Events fixed in advance that cost no more than a price together; whoever reads the claim proves it again."""
    return Fixed(events, price.epsilon, price.delta)


def parts_of(event: Event) -> tuple[Event, ...]:
    """The events of a composition; the event itself where it is not a composition."""
    return event.events if isinstance(event, Composed) else (event,)


def sum_of(event: Event, currency: str) -> Privacy:
    """What events cost together where one number adds up."""
    cost = cost_of(event)
    if currency == "rho":
        return Privacy(rho=cost.rho).require_sensible()
    if currency == "mu" and cost.mu_squared is not None:
        return Privacy(mu=rounded_up(_root_above(cost.mu_squared))).require_sensible()
    if cost.epsilon is None:
        raise WrongCurrency("a question has no finite ε", given=str(cost), fix="pass a delta, or another currency")
    return Privacy(cost.epsilon).require_sensible()


def expected_error(how: AnswerPlan) -> Fraction:
    """The expected error, or that of the noise where the error depends on how many rows there are; for splitting."""
    error = how.mechanism.error() if how.error is None else how.error
    return max(error.expected.upper, _LEAST_ERROR)


def _root_below(square: Fraction) -> Fraction:
    """A rational just below the root."""
    shift = max(0, square.denominator.bit_length() - square.numerator.bit_length()) // 2 + 48
    return Fraction(math.isqrt(int(square * (1 << (2 * shift)))), 1 << shift)


def _root_above(square: Fraction) -> Fraction:
    root = _root_below(square)
    return root if root**2 == square else root + Fraction(root, 1 << 40)


def rounded_up(price: Exact) -> Fraction:
    """A little more, with few digits: the claim stands also where another version finds a slightly larger bound."""
    near = Fraction(max(float(price), float(LEAST_EPSILON))) * _ROUNDED
    digits = 8 - math.ceil(math.log10(near))
    return Fraction(math.ceil(near * Fraction(10) ** digits)) / Fraction(10) ** digits

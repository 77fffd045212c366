"""The price that earns most, from what buyers are willing to pay (Cummings, Lecture 2, Example 2).

The score of a price r is its revenue r·#{valuations ≥ r}. A buyer of valuation v who joins or leaves moves the revenues
of all r ≤ v by r, the same way; so two revenues move against each other by at most the second highest price (v below
the highest), or the highest less the lowest. Whoever changes their valuation moves them by at most the highest price.
Noise on the best price itself would not do: a little above a valuation the revenue is gone (Dwork and Roth 2014,
Example 3.5).

Valuations need a public bound. Without one a single buyer moves the best revenue without limit, and the error of every
private price has no limit either: at its worst it is a share of the highest price that depends on ε only.
"""

from __future__ import annotations

import dataclasses
import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, LeastNoiseError, UnboundedData
from leastnoise.exact import Enclosure, NumberLike, Numbers, exp_enclosure, read_integer, read_rational
from leastnoise.mechanisms.choice.permute_and_flip import PermuteAndFlip
from leastnoise.mechanisms.truths import read_candidates
from leastnoise.model import Reason

__all__ = ["BestPrice"]

_MOST = 1 << 62  # prices fit into 64 bits
_MOST_PRICES = 1 << 20


@dataclass(frozen=True, init=False)
class BestPrice(PermuteAndFlip):
    """The price that earns nearly most, by permute-and-flip; the truth is a list of buyers' valuations.

    A valuation above the highest counts as the highest, a missing one (NaN) as a buyer of nothing.

    Args:
        epsilon: The privacy of one release.
        highest_valuation: What no valuation exceeds, public.
        prices: Which prices to choose from, public, at most the highest valuation; or how many, in equal steps.
        replace: Whether neighbours differ in the valuation of one buyer, and not in one buyer's being there.

    Raises:
        UnboundedData: There is no highest valuation.

    >>> shop = BestPrice(2, highest_valuation=10, prices=[1, 2, 5, 10])
    >>> shop.release([1, 1, 1, 6] * 1000), str(shop.sensitivity)
    (Fraction(5, 1), '9')
    >>> BestPrice(2, highest_valuation=None)
    Traceback (most recent call last):
    leastnoise.errors.UnboundedData: valuations without a bound move the best revenue without limit, and then no ...
    """

    name: ClassVar[str] = "best price"
    highest_valuation: Fraction
    replace: bool

    def __init__(
        self,
        epsilon: NumberLike,
        highest_valuation: NumberLike | None,
        prices: Sequence[NumberLike] | NumberLike = 100,
        *,
        replace: bool = False,
    ) -> None:
        if highest_valuation is None or (isinstance(highest_valuation, float) and math.isinf(highest_valuation)):
            raise UnboundedData(
                "valuations without a bound move the best revenue without limit, and then no private price has a "
                "bounded error (Tóthmérész 2013, Proposition 3.1)",
                given=highest_valuation,
                fix="pass what nobody would pay more than, not taken from the data",
            )
        highest = read_rational(highest_valuation, "highest_valuation", above=0, at_most=_MOST)
        if not isinstance(replace, bool):
            raise BadParameter("replace must be True or False", given=replace, fix="leave it out if in doubt")
        grid = _read_prices(prices, highest)
        super().__init__(epsilon, grid, max(grid) if replace else _largest_shift(grid), monotone=True)
        object.__setattr__(self, "highest_valuation", highest)
        object.__setattr__(self, "replace", replace)

    @property
    def prices(self) -> tuple[Fraction, ...]:
        """The prices to choose from."""
        return cast(tuple[Fraction, ...], self.candidates)

    @property
    def grid_share(self) -> Fraction:
        """The share of the best revenue of all that the best listed price earns, if that costs at least the lowest one.

        The next listed price below the best of all sells to as many buyers.
        """
        return min(low / high for low, high in pairwise([*sorted(self.prices), self.highest_valuation]))

    def revenues(self, valuations: Any) -> list[Fraction]:
        """What each price earns: private, for simulations only."""
        ascending = sorted(self.prices)
        reached = np.bincount(_prices_reached(valuations, ascending), minlength=len(ascending) + 1)
        buyers = dict(zip(ascending, reached[::-1].cumsum()[::-1][1:].tolist(), strict=True))
        return [price * buyers[price] for price in self.prices]

    def scores_of(self, truth: Any) -> Numbers:
        """The revenues, as an array of integers where the prices are whole."""
        revenues = self.revenues(truth)
        if all(price.denominator == 1 for price in self.prices) and max(revenues) < _MOST:
            return np.array([int(revenue) for revenue in revenues], dtype=np.int64)
        return revenues

    def reason(self) -> Reason:
        """Permute-and-flip, with what no private price can beat: it is proportional to the highest price.

        One buyer at the highest price h, or at a lower one p. With a the chance of a price above p for the first, the
        regret is at least (1 − a)·(h − p) for the first and e^-dε·a·p for the second, d the records between the two.
        """
        ascending, factor = sorted(self.prices), exp_enclosure(self.epsilon * (1 if self.replace else 2))
        top, bounds = ascending[-1], [Enclosure(Fraction(0), Fraction(0))]
        for price in ascending[:-1]:
            low, high = ((top - price) * price / ((top - price) * f + price) for f in (factor.upper, factor.lower))
            bounds.append(Enclosure(low, high))
        return dataclasses.replace(super().reason(), lower_bound=max(bounds, key=lambda bound: bound.lower))


def _read_prices(prices: Sequence[NumberLike] | NumberLike, highest: Fraction) -> tuple[Fraction, ...]:
    if isinstance(prices, Sequence | np.ndarray) and not isinstance(prices, str):
        if (isinstance(prices, np.ndarray) and prices.ndim != 1) or not 0 < len(prices) <= _MOST_PRICES:
            raise BadParameter(
                f"prices must be a list of 1 to {_MOST_PRICES} prices", given=type(prices).__name__, fix="pass [5, 10]"
            )
        read = [read_rational(price, f"prices[{i}]", above=0, at_most=highest) for i, price in enumerate(prices)]
        return tuple(cast(Sequence[Fraction], read_candidates(read, "prices")))
    count = read_integer(prices, "prices", at_least=1, at_most=_MOST_PRICES)
    return tuple(highest * step / count for step in range(1, count + 1))


def _largest_shift(prices: tuple[Fraction, ...]) -> Fraction:
    """By how much a buyer who joins moves two revenues against each other at most."""
    if len(prices) == 1:
        return prices[0]
    lowest, *_, second, highest = (min(prices), *sorted(prices))
    return max(second, highest - lowest)


def _prices_reached(valuations: Any, prices: list[Fraction]) -> NDArray[np.int64]:
    """For each valuation, how many of the ascending prices it is not below, compared exactly."""
    kind = valuations.dtype.kind if isinstance(valuations, np.ndarray) and valuations.ndim == 1 else ""
    if kind in ("i", "u"):
        whole = np.array([math.ceil(price) for price in prices], dtype=np.int64)
        capped: NDArray[np.int64] = np.minimum(valuations.astype(f"{kind}8"), _MOST).astype(np.int64)
        return np.searchsorted(whole, capped, side="right")
    if kind == "f" and valuations.dtype.itemsize <= 8:
        known: NDArray[np.float64] = np.where(np.isnan(valuations), -np.inf, valuations.astype(np.float64))
        return np.searchsorted(np.array([_double_above(price) for price in prices]), known, side="right")
    try:
        reached = [_price_reached(valuation, prices) for valuation in valuations]
    except (LeastNoiseError, TypeError, ValueError):
        reached = None  # the reason may show a valuation
    if reached is None:
        raise BadParameter("the valuations must be a list of numbers", fix="leave out or map what is no number")
    return np.array(reached, dtype=np.int64)


def _price_reached(valuation: Any, prices: list[Fraction]) -> int:
    if isinstance(valuation, float | np.floating):
        if not math.isfinite(valuation):
            return len(prices) if valuation > 0 else 0
        return bisect_right(prices, Fraction(float(valuation)))
    return bisect_right(prices, read_rational(valuation, "valuation"))


def _double_above(price: Fraction) -> float:
    """The least double that is not below the price: a double reaches the one if and only if it reaches the other."""
    nearest = float(price)
    return nearest if Fraction(nearest) >= price else math.nextafter(nearest, math.inf)

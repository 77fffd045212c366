"""The price of a wanted error: the least one with four digits at which it is kept."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import floor, isqrt, log10

from leastnoise.errors import BadParameter, UnreachableTarget
from leastnoise.model import Privacy

__all__ = ["least_price", "multiple_of", "split_price"]

_MOST = {"epsilon": 20, "rho": 20, "mu": 6}  # beyond it a price protects hardly anybody
_LEAST = {"epsilon": Fraction(1, 10**8), "rho": Fraction(1, 10**16), "mu": Fraction(1, 10**8)}
_DECADE = 9000  # numbers of four digits between two powers of ten


def least_price(within: Callable[[Privacy], Fraction], wanted: Fraction, currency: str, delta: Fraction) -> Privacy:
    """The least price of four digits at which an error is kept.

    It is found by halving: the error is kept at this price and not at the next smaller one. A smaller price may choose
    a mechanism with shorter tails, so that prices far below do as well; one that is about half as large is tried.

    Args:
        within: The error that is kept at a price; mostly less at a larger one.
        wanted: How large it may be.
        currency: "epsilon", "rho" or "mu".
        delta: The δ beside ε.

    Raises:
        UnreachableTarget: Even the largest sensible price is not enough.

    >>> least_price(lambda price: 1 / price.epsilon, Fraction(3), "epsilon", Fraction(0))
    Privacy(epsilon=1667/5000, delta=0)
    """
    if currency not in _MOST or (delta and currency != "epsilon"):
        raise BadParameter(
            "a price is looked for in epsilon, in epsilon beside a delta, in rho or in mu",
            given=f"{currency} and delta" if delta else currency,
            fix='pass currency="epsilon", and delta only with it',
        )

    def price_at(place: int) -> Privacy:
        return _price(currency, _amount(place), delta)

    @cache
    def is_enough(place: int) -> bool:
        return within(price_at(place)) <= wanted

    first, last = _place(_LEAST[currency]), _place(Fraction(_MOST[currency]))
    smaller = range(last, max(first, last - 2 * _DECADE), -_DECADE // 3)  # whose mechanisms may have shorter tails
    enough = next((place for place in smaller if is_enough(place)), None)
    if enough is None:
        raise UnreachableTarget(
            "no sensible price keeps the error that low",
            given=f"at {price_at(last)} it is {float(within(price_at(last))):.6g}",
            fix="ask for a larger error or less confidence, or use another step or fewer groups per unit",
        )
    last = enough
    at_one = within(_price(currency, Fraction(1), delta)) / wanted if wanted else Fraction(1)
    guess = _place(min(max(at_one ** (2 if currency == "rho" else 1), _LEAST[currency]), Fraction(_MOST[currency])))
    found = _first_enough(is_enough, min(guess, last), first, last)
    while found - _DECADE // 3 > first and is_enough(found - _DECADE // 3):
        found = _first_enough(is_enough, found - _DECADE // 3, first, last)
    return price_at(found)


def multiple_of(price: Privacy, factor: Fraction) -> Privacy:
    """So many times a price in its own currency, beside the same δ, sensible or not."""
    if price.currency == "rho":
        return Privacy(rho=price.rho * factor, insist=True)
    if price.currency == "mu":
        return Privacy(mu=price.mu * factor, insist=True)
    return Privacy(price.epsilon * factor, price.delta, insist=True)


def split_price(price: Privacy, share: Fraction) -> tuple[Privacy, Privacy]:
    """A price for a first question and one for a second, which together cost no more; the δ goes to the second.

    >>> split_price(Privacy(1, "1e-6"), Fraction(1, 10)), split_price(Privacy(mu=1), Fraction(9, 100))[0]
    ((Privacy(epsilon=1/10, delta=0), Privacy(epsilon=9/10, delta=1/1000000)), Privacy(mu=3/10))
    """
    if price.currency == "rho":
        return Privacy(rho=price.rho * share, insist=True), Privacy(rho=price.rho * (1 - share), insist=True)
    if price.currency == "mu":
        first, second = (_root_below(part) for part in (share, 1 - share))
        return Privacy(mu=price.mu * first, insist=True), Privacy(mu=price.mu * second, insist=True)
    return Privacy(price.epsilon * share, insist=True), Privacy(price.epsilon * (1 - share), price.delta, insist=True)


def _root_below(square: Fraction) -> Fraction:
    """The root, or a number of sixteen binary digits just below."""
    found = Fraction(isqrt(square.numerator << 32), 1) / isqrt(square.denominator << 32)
    if found**2 == square:
        return found
    return Fraction(isqrt(int(square * (1 << 32))), 1 << 16)


def _first_enough(is_enough: Callable[[int], bool], guess: int, first: int, last: int) -> int:
    """A place that is enough, next to one that is not, or the first of all; the last one is enough."""
    low, high, stride = guess, guess, 64
    while low > first and is_enough(low):
        low, high, stride = max(low - stride, first), low, 2 * stride
    while high < last and not is_enough(high):
        low, high, stride = high, min(high + stride, last), 2 * stride
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return low if is_enough(low) else high


def _price(currency: str, amount: Fraction, delta: Fraction) -> Privacy:
    if currency == "epsilon":
        return Privacy(amount, delta)
    return Privacy(rho=amount) if currency == "rho" else Privacy(mu=amount)


def _amount(place: int) -> Fraction:
    """The number of four digits at a place of their increasing list.

    >>> [str(_amount(place)) for place in (0, 1, 9000, -1)]
    ['1', '1001/1000', '10', '9999/10000']
    """
    power, digits = divmod(place, _DECADE)
    return (1000 + digits) * Fraction(10) ** (power - 3)


def _place(amount: Fraction) -> int:
    """The place of the largest number of four digits that is not above.

    >>> _amount(_place(Fraction(2, 3)))
    Fraction(3333, 5000)
    """
    power = floor(log10(amount))
    power += (amount >= Fraction(10) ** (power + 1)) - (amount < Fraction(10) ** power)
    return power * _DECADE + floor(amount / Fraction(10) ** (power - 3)) - 1000

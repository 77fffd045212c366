"""The noise with which keys show as often as (ε, δ) allows at all, and with their counts.

A key of n units may show with probability at most π(n), where π(0) = 0 and

    π(n + 1) = min(e^ε·π(n) + δ, 1 − e^-ε·(1 − π(n) − δ), 1)

(Desfontaines, Voss and Gipson 2022, Theorem 1). Let X = h − n with probability π(n) − π(n − 1), h being the least n
with π(n) ≥ ½. A count c with this noise reaches h with probability π(c), and c + X is itself (ε, δ)-private if one
unit changes c by one (docs/theory/noisy_threshold.md). So the best possible choice of keys comes with their counts.

For irrational e^ε a rational just below takes its place. All π(n) are whole multiples of a power of two, rounded down;
that the law is (ε, δ)-private is proven in whole numbers each time a law is made.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar

from leastnoise.errors import BadParameter, NumberTooLarge, PrecisionExhausted
from leastnoise.exact import (
    Enclosure,
    Exact,
    InverseTable,
    NumberLike,
    Size,
    Source,
    Thresholds,
    exp_below,
    in_shape,
    least_whole,
    read_exact,
    read_rational,
)
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.model import LEVEL, Approximate, Certificate, Reason

__all__ = ["SelectionNoise", "no_certificate", "show_chances"]

_MOST_OUTCOMES = 1 << 17
_LARGEST_EPSILON = 64
_BITS = 256


@lru_cache(maxsize=64)
def show_chances(epsilon: Exact, delta: Fraction) -> tuple[tuple[int, ...], int]:
    """0, π(1), π(2), … up to the first that is one, as whole multiples of 1/one, and `one`.

    Raises:
        NumberTooLarge: There are more than 2^17 of them, or ε is above 64.

    >>> from leastnoise.exact import ln
    >>> chances, one = show_chances(ln(2), Fraction(1, 100))
    >>> [round(float(Fraction(chance, one)), 6) for chance in chances[:8]]
    [0.0, 0.01, 0.03, 0.07, 0.15, 0.31, 0.63, 0.82]
    """
    if epsilon > _LARGEST_EPSILON:
        raise NumberTooLarge("the law of a selection is for epsilon up to 64", given=epsilon, fix="pass a smaller one")
    ratio = exp_below(epsilon, _BITS)
    up, down = ratio.numerator, ratio.denominator
    one = 1 << (2 * _BITS + delta.denominator.bit_length())
    lost = int(delta * one) - (int(ratio) + 2) * (2 * _MOST_OUTCOMES)  # each step is rounded by a few units at most
    chances = [0]
    while chances[-1] < one:
        last = chances[-1]
        rest = max(one - last - lost, 0)
        chances.append(min(last * up // down + lost, one + (-rest * down) // up))
        if len(chances) > _MOST_OUTCOMES:
            raise NumberTooLarge("a selection has too many outcomes", given=len(chances), fix="pass a larger epsilon")
    shares = [0, *(high - low for low, high in pairwise(chances)), 0]
    for way in (shares, shares[::-1]):
        excess = sum(max(after * down - before * up, 0) for before, after in pairwise(way))
        if excess > delta * one * down:
            raise PrecisionExhausted("the law of a selection is not private enough", fix="report this as a bug")
    return tuple(chances), one


@lru_cache(maxsize=64)
def _table(epsilon: Exact, delta: Fraction) -> InverseTable:
    chances, one = show_chances(epsilon, delta)
    noise = SelectionNoise(epsilon, delta)
    sums = [one - chance for chance in chances[-2:0:-1]]

    def law(bits: int) -> Thresholds:
        low, high = [(c << bits) // one for c in sums], [-((-c << bits) // one) for c in sums]
        return Thresholds(noise.half - (len(chances) - 1), low, high)

    return InverseTable(law)


@dataclass(frozen=True, init=False)
class SelectionNoise(IntegerNoise):
    """A count plus noise X with P(X ≥ h − n) = π(n), for counts that one unit changes by one.

    Args:
        epsilon: The privacy of one release.
        delta: Its δ.

    >>> SelectionNoise(1, "1e-6").half, SelectionNoise("ln(2)", "1/100").error().quantiles
    (14, {Fraction(19, 20): Fraction(4, 1)})
    """

    name: ClassVar[str] = "noise of the best selection"
    sensitivity = 1
    epsilon: Exact
    delta: Fraction

    def __init__(self, epsilon: NumberLike, delta: NumberLike) -> None:
        object.__setattr__(self, "epsilon", read_exact(epsilon, "epsilon", above=0))
        object.__setattr__(self, "delta", read_rational(delta, "delta", above=0, below=1))
        show_chances(self.epsilon, self.delta)

    @property
    def half(self) -> int:
        """The least count at which a key shows half of the time, and the threshold."""
        chances, one = show_chances(self.epsilon, self.delta)
        return bisect_left(chances, -(-one // 2))

    @property
    def event(self) -> Approximate:
        """(ε, δ)."""
        return Approximate(self.epsilon, self.delta)

    def noise(self, size: Size = None, source: Source | None = None) -> Any:
        """Draw X, by inversion."""
        return in_shape(_table(self.epsilon, self.delta).draw, size, source)

    def reach(self, least: int) -> Fraction:
        """P(X ≥ least), for any whole number."""
        chances, one = show_chances(self.epsilon, self.delta)
        return Fraction(chances[min(max(self.half - least, 0), len(chances) - 1)], one)

    def noise_pmf(self, noise: int, bits: int = 64) -> Enclosure:  # noqa: ARG002 - it is exact
        """π(h − noise) − π(h − noise − 1)."""
        return _exact(self.reach(noise) - self.reach(noise + 1))

    def tail(self, least: int, bits: int = 64) -> Enclosure:  # noqa: ARG002 - it is exact
        """π(h − least)."""
        return _exact(self.reach(least))

    def cdf(self, output: Any, truth: Any, bits: int = 64) -> Enclosure:  # noqa: ARG002 - it is exact
        """P(Y ≤ output | truth); X and −X do not have quite the same law."""
        return _exact(1 - self.reach(int(output) - int(truth) + 1))

    def moment(self, order: int, bits: int = 64) -> Enclosure:  # noqa: ARG002 - it is exact
        """E|X|^order, a finite sum."""
        chances, one = show_chances(self.epsilon, self.delta)
        shares = enumerate(high - low for low, high in pairwise(chances))
        total = sum(share * (abs(self.half - n - 1) ** order if order else n + 1 != self.half) for n, share in shares)
        return _exact(Fraction(total, one))

    def quantile(self, level: NumberLike = LEVEL, tails: int = 2) -> int:
        """The least t with P(|X| > t) at most 1 − level; with one tail, P(X > t)."""
        rest = 1 - read_rational(level, "level", above=0, below=1)
        return least_whole(lambda t: self.reach(t + 1) + (1 - self.reach(-t) if tails == 2 else 0) <= rest)

    def reason(self) -> Reason:
        """No private selection shows a key more often, whatever its count."""
        return Reason(
            "a key of any number of units shows with the largest probability that (ε, δ) allows",
            "Desfontaines, Voss and Gipson, PoPETs 2022, Theorem 1; with counts: docs/theory/noisy_threshold.md",
        )

    def certificate(self) -> Certificate:
        """There is none.

        Raises:
            BadParameter: Always.
        """
        raise no_certificate()


def no_certificate() -> BadParameter:
    """The refusal of a certificate where a δ is needed."""
    return BadParameter(
        "certificates are for pure epsilon, and unknown keys need a delta",
        fix="list the public keys, or rely on docs/theory/noisy_threshold.md",
    )


def _exact(number: Fraction) -> Enclosure:
    return Enclosure(number, number)

"""Counts by keys that are not known in advance: a key is shown only if its noisy count reaches a threshold.

A key that nobody has is never shown, and one that a single unit has is shown with probability at most p: that is the
δ. With rate = ε/(groups·rows), α = e^-rate and a key that only one unit has, with at most `rows` rows,
p(τ) = P(rows + X ≥ τ) = α^(τ − rows)/(1 + α); with at most `groups` such keys δ(τ) = 1 − (1 − p)^groups, and no less:
the threshold is the least τ > rows with δ(τ) ≤ δ. Statement and proof: docs/theory/noisy_threshold.md; the idea is
from Korolova, Kenthapadi, Mishra and Ntoulas, WWW 2009.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.exact.arrays import Size, shape_of
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.formulas import least_whole
from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike, read_exact, read_integer, read_rational
from leastnoise.exact.sources import Source
from leastnoise.mechanisms.histogram.independent_noise import repeated
from leastnoise.mechanisms.numeric import Geometric
from leastnoise.model.certificate import Certificate
from leastnoise.model.events import Approximate, Composed, Event, Pure
from leastnoise.model.limits import MOST_GROUPS
from leastnoise.model.mechanism import ErrorEstimate, Mechanism, Reason

__all__ = ["Counts", "NoisyThreshold", "least_threshold"]

Counts = Mapping[Hashable, int]
_LONGEST_POWER = 1 << 14  # bits
_NOTHING = Enclosure(Fraction(0), Fraction(0))


def least_threshold(noise: Geometric, delta: Fraction, groups: int, rows: int) -> int:
    """The least τ > rows with 1 − (1 − P(rows + X ≥ τ))^groups ≤ δ.

    >>> least_threshold(Geometric("ln(2)"), Fraction(1, 100), 1, 1)
    8
    """
    bits = 256 + delta.denominator.bit_length()

    def is_enough(above: int) -> bool:
        shown = noise.tail(above, bits=bits).upper
        return 1 - _power_below(1 - shown, groups, bits) <= delta

    return rows + least_whole(is_enough, start=1)


def _power_below(base: Fraction, exponent: int, bits: int) -> Fraction:
    """A rational at most base^exponent, for a base between 0 and 1.

    It is the power itself where that is quick to write out; else each product is rounded down to so many bits.

    >>> _power_below(Fraction(1, 3), 3, 64), round(float(_power_below(1 - Fraction(1, 10**9), 10**6, 64)), 9)
    (Fraction(1, 27), 0.9990005)
    """
    if exponent * base.denominator.bit_length() <= _LONGEST_POWER:
        return base**exponent
    one = 1 << bits
    square, power = base.numerator * one // base.denominator, one
    while exponent:
        if exponent & 1:
            power = power * square >> bits
        square, exponent = square * square >> bits, exponent >> 1
    return Fraction(power, one)


@dataclass(frozen=True, init=False)
class NoisyThreshold(Mechanism):
    """Noisy counts of the keys that reach the threshold. The truth is a mapping of the keys there are to counts.

    Args:
        epsilon: The privacy of the whole release.
        delta: The chance that a key of a single unit is shown.
        groups: The most keys that a unit has.
        rows: The most that it adds to the count of one.

    >>> histogram = NoisyThreshold("ln(2)", "1/100")
    >>> histogram.threshold, histogram.pmf((("Lyon", 9),), {"Lyon": 9})
    (8, Enclosure(1/3))
    """

    name: ClassVar[str] = "noisy counts above a threshold"
    epsilon: Exact
    delta: Fraction
    groups: int
    rows: int
    threshold: int

    def __init__(self, epsilon: NumberLike, delta: NumberLike, groups: NumberLike = 1, rows: NumberLike = 1) -> None:
        object.__setattr__(self, "epsilon", read_exact(epsilon, "epsilon", above=0))
        if delta == 0:
            raise BadParameter(
                "keys that are not known in advance need a delta above zero: showing a key shows that someone has it",
                given=0,
                fix='list the public keys, keys=[…], or pass for example delta="1e-6"',
            )
        object.__setattr__(self, "delta", read_rational(delta, "delta", above=0, below=1))
        object.__setattr__(self, "groups", read_integer(groups, "groups", at_least=1, at_most=MOST_GROUPS))
        object.__setattr__(self, "rows", read_integer(rows, "rows", at_least=1))
        object.__setattr__(self, "threshold", least_threshold(self.noise, self.delta, self.groups, self.rows))

    @property
    def noise(self) -> Geometric:
        """What every count gets."""
        return Geometric(self.epsilon, self.groups * self.rows)

    @property
    def event(self) -> Event:
        """The noise on the keys of a unit, and the δ with which one of its own keys shows."""
        noise = Geometric(self.epsilon / self.groups, self.rows).event
        return Composed((repeated(noise, self.groups, Pure(self.epsilon)), Approximate(0, self.delta)))

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """A tuple of keys with their noisy counts, in an order that depends on the keys alone."""
        found = _read(truth)
        shape = shape_of(size)
        noise = self.noise.noise((prod(shape), len(found)), source)
        drawn = np.empty(len(noise), dtype=object)
        for i, row in enumerate(noise.tolist()):
            noisy = ((key, count + x) for (key, count), x in zip(found, row, strict=True))
            drawn[i] = tuple(pair for pair in noisy if pair[1] >= self.threshold)
        return drawn[0] if size is None else drawn.reshape(shape)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """The product over the keys there are: of its noisy count where it is shown, of staying below where not."""
        found = dict(_read(truth))
        shown = dict(output) if isinstance(output, tuple) else {}
        if not shown.keys() <= found.keys() or any(count < self.threshold for count in shown.values()):
            return _NOTHING
        low = high = Fraction(1)
        for key, count in found.items():
            part = self.noise.pmf(shown[key], count, bits) if key in shown else self.hidden(count, bits)
            low, high = low * part.lower, high * part.upper
        return Enclosure(low, high)

    def hidden(self, count: int, bits: int = 64) -> Enclosure:
        """P(count + X < threshold)."""
        return self.noise.cdf(self.threshold - 1, count, bits)

    def error(self) -> ErrorEstimate:
        """The noise of a count that is shown, before it was compared with the threshold."""
        return self.noise.error()

    def reason(self) -> Reason:
        """The least threshold for this noise."""
        return Reason(
            f"the least threshold, {self.threshold}, at which keys of a single unit show with probability at most δ",
            "Korolova, Kenthapadi, Mishra and Ntoulas, WWW 2009; exact law in docs/theory/noisy_threshold.md",
        )

    def certificate(self) -> Certificate:
        """There is none.

        Raises:
            BadParameter: Always.
        """
        raise BadParameter(
            "certificates are for pure epsilon, and unknown keys need a delta",
            fix="list the public keys, or rely on docs/theory/noisy_threshold.md",
        )


def _read(truth: Any) -> list[tuple[Hashable, int]]:
    """The keys that someone has with their counts, sorted by what they are called."""
    if not isinstance(truth, Mapping) or any(type(count) is bool or int(count) != count for count in truth.values()):
        raise BadParameter("the true answer must map keys to whole counts", fix="count units by key")
    pairs = [(key, int(count)) for key, count in truth.items() if count > 0]
    return sorted(pairs, key=lambda pair: (type(pair[0]).__name__, repr(pair[0])))

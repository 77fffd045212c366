"""The pairs of inputs that a privacy promise speaks about, each in both directions, with their lengths.

With one set of outputs a pair is a line P(S|x) − t·P(S|x') in the factor t, which is held against e^ε exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from leastnoise.checker.entries import Indices, Mask
from leastnoise.exact import Enclosure, Exact, exp_enclosure, ln

__all__ = ["Factor", "Pairs", "TradeoffLine", "both_ways"]


@dataclass(frozen=True)
class Pairs:
    """Ordered pairs (x, x') for which P(S|x) ≤ e^(ε·length)·P(S|x') + δ is asked.

    Attributes:
        x: Row of the first input of each pair.
        neighbour: Row of the second.
        lengths: The different lengths.
        length_of: For each pair the place of its length in `lengths`.
        is_complete: Whether these are all pairs of inputs, all of the same length.
    """

    x: Indices
    neighbour: Indices
    lengths: tuple[Fraction, ...]
    length_of: Indices
    is_complete: bool

    def __len__(self) -> int:
        """The number of ordered pairs."""
        return len(self.x)

    def of(self, chosen: Mask | Indices) -> Pairs:
        """Some of the pairs."""
        return Pairs(self.x[chosen], self.neighbour[chosen], self.lengths, self.length_of[chosen], is_complete=False)


def both_ways(edges: Indices, lengths: tuple[Sequence[Fraction], Indices] | None, inputs: int) -> Pairs:
    """Each edge as two ordered pairs; without lengths every edge has length one.

    Args:
        edges: Two places of inputs in each row.
        lengths: The different lengths, and for each edge the place of its own among them.
        inputs: How many inputs there are.
    """
    different, place = ([Fraction(1)], np.zeros(len(edges), dtype=np.int64)) if lengths is None else lengths
    return Pairs(
        x=np.concatenate([edges[:, 0], edges[:, 1]]),
        neighbour=np.concatenate([edges[:, 1], edges[:, 0]]),
        lengths=tuple(different),
        length_of=np.concatenate([place, place]),
        is_complete=len(different) == 1 and 2 * len(edges) == inputs * (inputs - 1),
    )


@dataclass(frozen=True)
class TradeoffLine:
    """P(S|x) − t·P(S|x') as a function of t, for rows x and x' at distance `length`."""

    x: int
    neighbour: int
    length: Fraction
    outputs: tuple[int, ...]
    probability: Fraction
    neighbour_probability: Fraction

    def is_above(self, other: TradeoffLine, factor: Factor) -> bool:
        """Whether A − t·B > A' − t·B', that is A − A' > t·(B − B')."""
        rise = self.probability - other.probability
        run = self.neighbour_probability - other.neighbour_probability
        return factor.compare(rise / run) < 0 if run < 0 else factor.is_exceeded(rise, run)

    def exceeds(self, delta: Fraction, epsilon: Exact) -> bool:
        """Whether P(S|x) > e^(ε·length)·P(S|x') + δ."""
        return Factor(epsilon * self.length).is_exceeded(self.probability - delta, self.neighbour_probability)

    def excess(self, delta: Fraction, epsilon: Exact) -> Fraction | Enclosure:
        """P(S|x) − e^(ε·length)·P(S|x') − δ."""
        return Factor(epsilon * self.length).excess(self.probability - delta, self.neighbour_probability)

    def root(self, delta: Fraction) -> Fraction | None:
        """The t at which the line is at δ; None where it is level."""
        return (self.probability - delta) / self.neighbour_probability if self.neighbour_probability else None


_FIRST_BITS = 64
_GOOD_BITS = 48


@dataclass(frozen=True)
class Factor:
    """t = e^exponent. Every comparison of t with a rational is decided, whether or not t is rational.

    A rational r is compared with an enclosure of t first; what that leaves open is ln r against the exponent, two
    numbers whose order `LogSum` decides exactly, equality included.

    >>> Factor(ln(4)).compare(Fraction(4)), Factor(Fraction(1)).compare(Fraction(3))
    (0, 1)
    """

    exponent: Exact

    @cached_property
    def bounds(self) -> Enclosure:
        """Rationals around t; both are t where it is known to be rational."""
        return exp_enclosure(self.exponent, _FIRST_BITS)

    def compare(self, ratio: Fraction) -> int:
        """The sign of ratio − t: −1, 0 or 1."""
        if ratio < self.bounds.lower:
            return -1
        if ratio > self.bounds.upper:
            return 1
        if self.bounds.is_exact:
            return 0
        logarithm = ln(ratio)
        return 0 if logarithm == self.exponent else 1 if logarithm > self.exponent else -1

    def is_exceeded(self, probability: Fraction, neighbour: Fraction) -> bool:
        """Whether probability > t·neighbour, for a neighbour of at least zero."""
        if neighbour == 0 or probability <= 0:
            return probability > 0
        return self.compare(probability / neighbour) > 0

    def excess(self, probability: Fraction, neighbour: Fraction) -> Fraction | Enclosure:
        """The difference probability − t·neighbour, exact where t is rational, else to 48 bits relative to its size."""
        if neighbour and self.compare(probability / neighbour) == 0:
            return Fraction(0)
        bits = _FIRST_BITS
        while True:
            t = exp_enclosure(self.exponent, bits)
            low, high = probability - t.upper * neighbour, probability - t.lower * neighbour
            if low == high:
                return low
            if (high - low) * 2**_GOOD_BITS <= min(abs(low), abs(high)):
                return Enclosure(low, high)
            bits *= 2

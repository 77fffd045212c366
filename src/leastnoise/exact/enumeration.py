"""The exact law of a sampler, found by walking the tree of all bits it may draw.

Each run replays a given string of bits; where the sampler asks for more, the string is extended in every way. A
finished run of b bits has probability exactly 2^-b. What is not finished within the depth is the undecided mass.
Nothing is simulated: the result is a proof about the code that ran.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import OutOfBits
from leastnoise.exact.parameters import read_integer
from leastnoise.exact.sources import Source

__all__ = ["EnumeratedLaw", "ReplaySource", "enumerate_law"]


class ReplaySource(Source):
    """Gives out the bits of one string, first bit first, and raises `OutOfBits` at its end.

    >>> ReplaySource(0b1010_0001, 8).words(1, 8).tolist()
    [161]
    """

    def __init__(self, string: int, length: int) -> None:
        self._string, self._left = string, length
        self.missing = 0

    def bits(self, count: int) -> int:
        """The next `count` bits."""
        if count > self._left:
            self.missing = count - self._left
            raise OutOfBits("the replayed bits have run out", given=f"{self.missing} too few", fix="enumerate deeper")
        self._left -= count
        return (self._string >> self._left) & ((1 << count) - 1)

    def words(self, count: int, bits: int) -> NDArray[Any]:
        """The next `count` words."""
        return np.array([self.bits(bits) for _ in range(count)], dtype=f"<u{bits // 8}")


@dataclass(frozen=True)
class EnumeratedLaw:
    """What every string of bits leads to: exact masses, and the mass that is still undecided."""

    masses: dict[Hashable, Fraction]
    undecided: Fraction

    def agrees_with(self, outcome: Hashable, low: Fraction, high: Fraction) -> bool:
        """Whether a probability between `low` and `high` is possible: the mass seen, plus at most what is undecided."""
        mass = self.masses.get(outcome, Fraction(0))
        return mass <= high and low <= mass + self.undecided


def enumerate_law(draw: Callable[[Source], Hashable], depth: int) -> EnumeratedLaw:
    """The law of `draw(source)` as far as `depth` bits decide it.

    >>> from leastnoise.exact import uniform_integer
    >>> law = enumerate_law(lambda source: uniform_integer(3, source=source), depth=8)
    >>> {face: str(mass) for face, mass in sorted(law.masses.items())}, law.undecided
    ({0: '1/4', 1: '1/4', 2: '1/4'}, Fraction(1, 4))
    """
    depth = read_integer(depth, "depth", at_least=1, at_most=24)
    counts: Counter[Hashable] = Counter()  # in units of 2^-depth
    undecided = 0
    open_strings = [(0, 0)]
    while open_strings:
        string, length = open_strings.pop()
        source = ReplaySource(string, length)
        try:
            outcome = draw(source)
        except OutOfBits:
            longer = length + source.missing
            if longer > depth:
                undecided += 1 << (depth - length)
            else:
                open_strings += [((string << source.missing) | tail, longer) for tail in range(1 << source.missing)]
        else:
            counts[outcome] += 1 << (depth - length)
    return EnumeratedLaw(
        {outcome: Fraction(count, 1 << depth) for outcome, count in counts.items()}, Fraction(undecided, 1 << depth)
    )

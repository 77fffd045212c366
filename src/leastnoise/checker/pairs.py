"""The pairs of inputs that a privacy promise speaks about, each in both directions, with their lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from leastnoise.checker.entries import Indices, Mask

__all__ = ["Pairs", "both_ways"]


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


def both_ways(edges: Indices, lengths: Sequence[Fraction | int] | None, inputs: int) -> Pairs:
    """Each edge as two ordered pairs; without lengths every edge has length one."""
    different = [Fraction(1)] if lengths is None else sorted({Fraction(length) for length in lengths})
    if lengths is None:
        place = np.zeros(len(edges), dtype=np.int64)
    else:
        known = {length: i for i, length in enumerate(different)}
        place = np.array([known[Fraction(length)] for length in lengths], dtype=np.int64)
    return Pairs(
        x=np.concatenate([edges[:, 0], edges[:, 1]]),
        neighbour=np.concatenate([edges[:, 1], edges[:, 0]]),
        lengths=tuple(different),
        length_of=np.concatenate([place, place]),
        is_complete=len(different) == 1 and 2 * len(edges) == inputs * (inputs - 1),
    )

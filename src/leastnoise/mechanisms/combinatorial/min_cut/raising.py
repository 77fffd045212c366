"""Raising the minimum cut to about a public target, privately, by adding λ to the weight of every pair of nodes.

c(λ) = min over cuts C of G(C) + λ·|C|·(n − |C|) is increasing, concave and piecewise linear. λ is chosen from a public
grid with probability ∝ e^(−rate·|c(λ) − target|). This is the ladder of Tóthmérész 2013 (Algorithm 2, after Gupta et
al. 2010) with fractions of edges for its rungs: it reaches every target, while adding whole edges cannot raise a
minimum cut above n − 1, so that the thesis needs n − 1 > 8·ln n/ε (see `ladder_reaches`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact import Exact, NumberLike, ln, read_epsilon, read_integer
from leastnoise.mechanisms.combinatorial.min_cut.contraction import LARGEST_SUM, Matrix, lighter_cut

__all__ = ["Raising", "ladder_reaches"]

_RATIO = Fraction(17, 16)


def ladder_reaches(nodes: NumberLike, epsilon: NumberLike) -> bool:
    """Whether adding edges one by one can raise a minimum cut of zero to 8·ln n/ε: whether n − 1 > 8·ln n/ε.

    >>> ladder_reaches(30, 1), ladder_reaches(31, 1), ladder_reaches(100, 0.1)
    (True, True, False)
    """
    count = read_integer(nodes, "nodes", at_least=2)
    rate: Exact = read_epsilon(epsilon)
    return bool(rate * (count - 1) > ln(count) * 8)


@dataclass(frozen=True)
class Raising:
    """The public grid of λ = amount/resolution, and the target; all in steps of the weights.

    Args:
        nodes: How many nodes there are.
        target: Where the minimum cut should be.
        resolution: Amounts are multiples of 1/resolution.
    """

    nodes: int
    target: int
    resolution: int

    @property
    def amounts(self) -> tuple[int, ...]:
        """0, 1, 2, … and then in ratios of at most 17/16, up to target·resolution/(n − 1), where c(λ) ≥ target.

        >>> Raising(3, 5, 2).amounts
        (0, 1, 2, 3, 4, 5)
        """
        top, grid = self._top, [0]
        while grid[-1] < top:
            grid.append(min(max(grid[-1] + 1, int(grid[-1] * _RATIO)), top))
        return tuple(grid)

    @property
    def _top(self) -> int:
        return max(-(-self.target * self.resolution // (self.nodes - 1)), 1)

    @property
    def slack(self) -> Fraction:
        """How far the nearest c(λ) on the grid can be from the target, if c(0) is below it.

        Between two amounts c grows by at most n²/4 for each unit of λ, and, as it is concave and at least 0, by at most
        the ratio of the amounts: one of the two ends is within half of that.
        """
        return max(self.target * (_RATIO - 1), Fraction(self.nodes**2, 4 * self.resolution)) / 2

    @property
    def room(self) -> int:
        """How many steps a pair may weigh so that all raised weights add up to less than `LARGEST_SUM`.

        >>> Raising(60, 50, 4096).room
        156374987060
        """
        return (LARGEST_SUM // self.nodes**2 - self._top) // self.resolution

    def raised(self, matrix: Matrix, amount: int) -> Matrix:
        """The weights, none of them above `room`, in units of 1/resolution, with the amount added to every pair."""
        raised: Matrix = matrix * self.resolution + amount
        np.fill_diagonal(raised, 0)
        return raised

    def curve(self, matrix: Matrix, progress: Callable[[str, int], None] | None = None) -> NDArray[np.int64]:
        """c(λ) at every amount of the grid, in units of 1/resolution.

        A cut that is minimal at one amount bounds c(λ) at all others by a line; and c, being concave, is never below a
        chord. Where the two meet, nothing has to be computed; elsewhere they narrow the search.
        """
        amounts, nodes = self.amounts, self.nodes
        lines: list[tuple[int, int]] = []  # the weight at amount 0 and the slope of each cut found
        values: dict[int, int] = {}

        def find(place: int, chord: Fraction) -> int:
            amount = amounts[place]
            known = min((weight + slope * amount for weight, slope in lines), default=LARGEST_SUM)
            if known > chord:
                if progress is not None:
                    progress("raising the minimum cut", len(lines))
                known, size = lighter_cut(self.raised(matrix, amount), ceil(chord), known)
                if size:
                    slope = size * (nodes - size)
                    lines.append((known - slope * amount, slope))
            values[place] = known
            return known

        result = np.zeros(len(amounts), dtype=np.int64)
        for end in (0, len(amounts) - 1):
            find(end, Fraction(0))
        stretches = [(0, len(amounts) - 1)]
        while stretches:
            left, right = stretches.pop()
            middle = (left + right) // 2
            width, rise = amounts[right] - amounts[left], values[right] - values[left]
            chord = values[left] + Fraction(rise * (amounts[middle] - amounts[left]), width)
            if right - left > 1 and find(middle, chord) > chord:
                stretches += [(left, middle), (middle, right)]
                continue
            for place in range(left, right + 1):
                result[place] = values[left] + rise * (amounts[place] - amounts[left]) // width
        return result

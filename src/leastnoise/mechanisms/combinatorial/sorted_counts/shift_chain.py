"""The shift between two borders as a Markov chain, and what 2^j steps of it do.

Follow the borders of x and y side by side along the diagonals. The point of y lies k to the upper right of the point of
x (k below zero: to the lower left), and ‖x − y‖₁ = Σ|k| over the diagonals. Where x goes right, k stays or falls by
one; where x goes down, k stays or rises by one. So Σ_y q^‖x−y‖ is a product of matrices with entries q^|k|.

Within a run k is monotone: the matrix of a step right is triangular, its powers of two come by squaring, and a step
down is its mirror image under k ↔ −k. Shifts beyond ±width are bounded, not forgotten: two more states hold upper
bounds of all weight below −width and above width. A step from there to there weighs at most q^(width+1), in at most two
ways.

The filter goes forward through the runs of a border and bounds the weight of all walks that reach shift k before each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import accumulate
from operator import mul

import numpy as np

from leastnoise.exact import Ball, evaluate, of_fraction
from leastnoise.mechanisms.combinatorial.sorted_counts.diagram import Border
from leastnoise.mechanisms.combinatorial.sorted_counts.numbers import Arithmetic, Array, Bounds, at_precision

__all__ = ["LARGEST_DECAY", "Progress", "ShiftChain", "WalkFilter", "pieces_of"]

LARGEST_DECAY = Fraction(9952, 10000)


@dataclass
class ShiftChain:
    """Bounds of the chain's matrices; entry k + width + 1 belongs to shift k, the first and last to all beyond.

    Attributes:
        decay: q. In doubles at most LARGEST_DECAY: then no entry of 2^j steps is above 1e150, however many, and neither
            is any sum of products of two entries outside the range of doubles.
        width: Shifts −width..width have states of their own; q^width ≤ ½ is needed.
        arithmetic: Doubles or balls.
    """

    decay: Fraction
    width: int
    arithmetic: Arithmetic
    _powers: list[Bounds] = field(default_factory=list)

    def power(self, exponent: int) -> Bounds:
        """2^exponent steps right: row from, column to."""
        while len(self._powers) <= exponent:
            self._powers.append(self._square() if self._powers else self._step())
        return self._powers[exponent]

    def beginning(self) -> Bounds:
        """Weights of all ways from shift 0, far up the axis, to shift k at the border's first point.

        Π_{j≤k} q^j/(1 − q^j), as the walk of y stays at least one step at each of 1, …, k. The ratio r of neighbours
        falls with k, so that all beyond width is at most r/(1 − r) times the last.
        """
        products = self._products()

        def beyond() -> Ball:
            ratio = self._odds(self.width + 1)
            return products[-1] * ratio / (1 - ratio)

        return self._bounds(products, evaluate(beyond, self.arithmetic.precision))

    def ending(self) -> Bounds:
        """Weights of all ways from shift k, at the border's last point, to shift 0 far along the axis.

        Π_{j≤k} q^j/(1 − q^j)·q^-k, since the last point itself has been weighed; it falls with k from q^k ≤ ½ on.
        """
        products = self._products()

        def weights() -> list[Ball]:
            return [product / self._kept(k) for k, product in enumerate(products)]

        weighed = at_precision(weights, self.arithmetic.precision)
        return self._bounds(weighed, weighed[-1])

    def closed_ending(self) -> Bounds:
        """Shift 0 and no other."""
        return self._bounds([Ball(1)] + [Ball(0)] * self.width, Ball(0))

    def _kept(self, steps: int) -> Ball:
        return of_fraction(self.decay) ** steps

    def _odds(self, steps: int) -> Ball:
        return self._kept(steps) / (1 - self._kept(steps))

    def _products(self) -> list[Ball]:
        def products() -> list[Ball]:
            odds = (self._odds(j) for j in range(1, self.width + 1))
            return list(accumulate(odds, mul, initial=Ball(1)))

        return at_precision(products, self.arithmetic.precision)

    def _bounds(self, weights: list[Ball], beyond: Ball) -> Bounds:
        nothing = [Ball(0)] * (self.width + 1)
        low, high = self.arithmetic.bounds([partial(_same, weight) for weight in [*nothing, *weights, beyond]])
        low = low.copy()
        low[-1] = low[0]
        return low, high

    def _step(self) -> Bounds:
        size = 2 * self.width + 3
        states = np.arange(1, size - 1)
        shifts = np.abs(states - self.width - 1)
        formulas = [partial(self._kept, steps) for steps in range(self.width + 2)]
        matrices = []
        for kept in self.arithmetic.bounds(formulas):
            matrix = self.arithmetic.zeros((size, size))
            matrix[states, states] = kept[shifts]
            matrix[states[1:], states[:-1]] = kept[shifts[:-1]]
            matrices.append(matrix)
        inside, beyond = matrices
        far = self.arithmetic.bounds([formulas[-1], lambda: 2 * formulas[-1](), formulas[-2]])[1]
        beyond[1, 0], beyond[0, 0], beyond[-1, -2] = far
        beyond[-1, -1] = far[1]
        return inside, beyond

    def _square(self) -> Bounds:
        low, high = self._powers[-1]
        low, high = self.arithmetic.below(low, low), self.arithmetic.above(high, high)
        if not self.arithmetic.exact_range:
            self._settle_diagonal(low, high, 1 << len(self._powers))
        return low, high

    def _settle_diagonal(self, low: Array, high: Array, steps: int) -> None:
        """Staying at k for n steps weighs q^(|k|·n), computed afresh.

        Without this the error of doubles would double with every square. With it, it stops growing as soon as staying
        at k ≠ 0 weighs nothing, for staying at 0 has weight one exactly.
        """
        formulas = [partial(self._kept, k * steps) for k in range(self.width + 1)]
        far = [lambda: (2 * self._kept(self.width + 1)) ** steps]
        bottoms, tops = self.arithmetic.bounds(formulas + far)
        bottoms[-1] = 0.0
        shifts = np.abs(np.arange(-self.width - 1, self.width + 2))
        np.fill_diagonal(low, bottoms[shifts])
        np.fill_diagonal(high, tops[shifts])


def _same(ball: Ball) -> Ball:
    return ball


Progress = Callable[[float], object]

_REPORT_EVERY = 256  # runs


def pieces_of(length: int) -> list[int]:
    """The exponents of the powers of two that make up a run, largest first.

    >>> pieces_of(11)
    [3, 1, 0]
    """
    return [exponent for exponent in reversed(range(length.bit_length())) if length >> exponent & 1]


class WalkFilter:
    """The weights before each run and after the last one, each up to a power of two: 2^exponent after the last.

    Args:
        border: The border of x.
        chain: The matrices.
        closed: Whether y has no columns beyond those of the border.
        report: Called now and then with the share of the runs that are done.
    """

    def __init__(
        self, border: Border, chain: ShiftChain, *, closed: bool = False, report: Progress | None = None
    ) -> None:
        self.border, self.chain = border, chain
        weights, self.exponent = chain.beginning(), 0
        self.before: list[Bounds] = []
        for run, length in enumerate(border.lengths.tolist()):
            self.before.append(weights)
            for piece in pieces_of(length):
                weights, doublings = self.step(weights, run, piece)
                self.exponent += doublings
            if report is not None and run % _REPORT_EVERY == 0:
                report(run / len(border.lengths))
        ending = chain.closed_ending() if closed else chain.ending()
        # Weights of the whole walks by their shift at the border's last point.
        self.last: Bounds = at_precision(
            lambda: (weights[0] * ending[0], weights[1] * ending[1]), chain.arithmetic.precision
        )

    def step(self, weights: Bounds, run: int, piece: int) -> tuple[Bounds, int]:
        """The weights after 2^piece steps of a run, and the power of two that they were divided by."""
        low, high = self.chain.power(piece)
        mirror = slice(None) if self.border.right[run] else slice(None, None, -1)
        numbers = self.chain.arithmetic
        least, most, doublings = numbers.scaled(
            numbers.below(weights[0][mirror], low), numbers.above(weights[1][mirror], high)
        )
        return (least[mirror], most[mirror]), doublings

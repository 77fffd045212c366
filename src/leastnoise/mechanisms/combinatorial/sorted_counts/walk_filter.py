"""Forward through the runs of a border: bounds of the weight of all walks that reach shift k before each run."""

from __future__ import annotations

from collections.abc import Callable

from leastnoise.mechanisms.combinatorial.sorted_counts.diagram import Border
from leastnoise.mechanisms.combinatorial.sorted_counts.numbers import Bounds, at_precision
from leastnoise.mechanisms.combinatorial.sorted_counts.shift_chain import ShiftChain

__all__ = ["Progress", "WalkFilter", "pieces_of"]

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

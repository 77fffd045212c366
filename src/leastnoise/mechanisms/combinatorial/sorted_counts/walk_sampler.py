"""Backward through the runs: one walk y with probability exactly ∝ q^‖x−y‖₁.

Given where the walk is after a piece of a run, the shift before it is drawn from forward weight times the piece's
matrix, from the last run to the first. A piece of 2^j steps whose ends agree has no turn in it; `halving` finds the
turns of the others. Level 0 decides by doubles. What they leave open (a chance of a millionth or so) is decided by
balls, with more precision and a wider band at each further level; a level is computed when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, log, sqrt

import numpy as np

from leastnoise.exact import Source, geometric, ln
from leastnoise.mechanisms.combinatorial.sorted_counts.diagram import Border, Turns
from leastnoise.mechanisms.combinatorial.sorted_counts.halving import (
    Piece,
    decide_by_doubles,
    settle,
    turns_of,
    words_of,
)
from leastnoise.mechanisms.combinatorial.sorted_counts.numbers import Balls, Bounds, Doubles
from leastnoise.mechanisms.combinatorial.sorted_counts.shift_chain import Progress, ShiftChain, WalkFilter, pieces_of

__all__ = ["WalkSampler", "band_width"]

_REST_EXPONENT = 45  # what lies beyond the band has a share of about e^-45
_REPORT_EVERY = 256  # runs


def band_width(decay: Fraction, steps: int) -> int:
    """How far the shift goes at most, but for a share of e^-45 or so of the walks.

    At an inner corner of two long runs shift k has weight q^(k²)/Π_{j≤k}(1 − q^j)², which falls from q^k = ½ on.
    The guess decides the speed only: shifts beyond are bounded, and drawn where U asks for them.

    >>> band_width(Fraction(1, 2), 10**6), band_width(Fraction(39, 40), 10**6)
    (12, 77)
    """
    rate = -log(decay)
    return ceil(log(2) / rate + sqrt((_REST_EXPONENT + log(steps + 2)) / rate)) + 1


class WalkSampler:
    """Draws walks around one border.

    Args:
        border: The border of x.
        decay: q.
        closed: Whether y has no columns beyond those of the border.
        report: Called now and then with the share of the work that is done.
        width: The band of level 0; a guess if left out.
    """

    def __init__(
        self,
        border: Border,
        decay: Fraction,
        *,
        closed: bool = False,
        report: Progress | None = None,
        width: int | None = None,
    ) -> None:
        self.border, self.decay, self.closed, self._report = border, decay, closed, report
        self._width = band_width(decay, int(border.lengths.sum())) if width is None else width
        self._starts = border.starts()
        self._levels: dict[int, WalkFilter] = {}

    def level(self, level: int) -> WalkFilter:
        """The forward weights in doubles (level 0) or in ever finer balls."""
        if level not in self._levels:
            width = self._width + level * max(self._width // 2, 4)
            numbers = Doubles() if level == 0 else Balls(64 + 128 * level)
            report = None if level else self._halfway(0.0)
            self._levels[level] = WalkFilter(
                self.border, ShiftChain(self.decay, width, numbers), closed=self.closed, report=report
            )
        return self._levels[level]

    def draw(self, source: Source) -> Turns:
        """One walk."""
        turning: dict[int, list[Piece]] = {}
        last = shift = self._choose(lambda walk: walk.last, source)
        report = self._halfway(0.5)
        for run in reversed(range(len(self.border.lengths))):
            shift = self._back_through(run, shift, turning, source)
            if report is not None and run % _REPORT_EVERY == 0:
                report(1 - run / len(self.border.lengths))
        before, after = self._stays(shift, source), self._stays(last, source)
        steps = turns_of(turning, lambda level: self.level(level).chain, source)
        return Turns(steps, before, after[::-1])

    def _back_through(self, run: int, shift: int, turning: dict[int, list[Piece]], source: Source) -> int:
        """The shift before a run from the one after it; notes the pieces that have turns."""
        pieces = pieces_of(int(self.border.lengths[run]))
        sign = 1 if self.border.right[run] else -1
        doubles = _inside(self.level(0), run, pieces)
        step = int(self._starts[run] + self.border.lengths[run])
        for place in reversed(range(len(pieces))):
            step -= 1 << pieces[place]

            def arrivals(walk: WalkFilter, place: int = place, stop: int = shift) -> Bounds | None:
                if abs(stop) > walk.chain.width:
                    return None
                inside = doubles if walk is self._levels[0] else _inside(walk, run, pieces)
                low, high = walk.chain.power(pieces[place])
                column = walk.chain.width + 1 + sign * stop
                return inside[place][0] * low[::sign, column], inside[place][1] * high[::sign, column]

            before = self._choose(arrivals, source)
            if before != shift:
                turning.setdefault(pieces[place], []).append(Piece(step, sign * before, sign * shift))
            shift = before
        return shift

    def _choose(self, weights: Callable[[WalkFilter], Bounds | None], source: Source) -> int:
        """A shift with probability ∝ its weight; the weights are None where the band is too narrow for the question."""
        walk, word = self.level(0), words_of(source, 1)
        known = weights(walk)
        if known is not None:
            index, sure = decide_by_doubles((known[0][None], known[1][None]), word)
            if sure[0] and abs(shift := int(index[0]) - walk.chain.width - 1) <= walk.chain.width:
                return shift

        def law(level: int) -> tuple[int, Bounds] | None:
            finer = self.level(level)
            balls = weights(finer)
            return None if balls is None else (-finer.chain.width - 1, balls)

        return settle(int(word[0]), law, source, endless=True)

    def _stays(self, shift: int, source: Source) -> tuple[int, ...]:
        """How long the walk stays at 1, …, shift beyond the border: m ≥ 1 steps at j with probability ∝ q^(j·m)."""
        if shift == 0:
            return ()
        rates = [j * ln(1 / self.decay) for j in range(1, shift + 1)]
        return tuple(1 + stay for stay in geometric(np.array(rates, dtype=object), source=source).tolist())

    def _halfway(self, start: float) -> Progress | None:
        report = self._report
        return None if report is None else lambda share: report(start + share / 2)


def _inside(walk: WalkFilter, run: int, pieces: list[int]) -> list[Bounds]:
    """The forward weights before each piece of a run."""
    weights = [walk.before[run]]
    for piece in pieces[:-1]:
        weights.append(walk.step(weights[-1], run, piece)[0])
    return weights

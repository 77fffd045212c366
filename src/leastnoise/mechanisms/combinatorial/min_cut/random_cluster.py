"""P(C) ∝ e^(−rate·W(C)) over all cuts, by coupling from the past: for graphs with a minimum cut too light to contract.

Let x be rate times the weight of a pair of nodes. In the random-cluster model of q = 2 a set A of pairs has probability
∝ Π_{A} (1 − e^-x)·Π_{not in A} e^-x·2^(number of its components). Put each component on either side with chance ½: then
a division of the nodes comes out with probability ∝ e^(−rate·W) (Edwards and Sokal, Phys. Rev. D 38, 1988). A division
with an empty side is no cut and is drawn again.

Heat bath: given all other pairs, a pair is in A with probability 1 − e^-x if they connect its two nodes, else with
tanh(x/2). So each update is of one of three kinds, drawn beforehand: out with e^-x; else in with 1/(1 + e^-x), whatever
the others are; else in where the others connect. All three keep A ⊆ B. Sweeps over all pairs from everything and from
nothing that meet at time 0, having started at a time before it, show where sweeps from for ever ago are (Propp and
Wilson, Random Struct. Alg. 9, 1996): that set has the law exactly. For q = 2 the expected time is polynomial in n
(Guo and Jerrum, Ann. Appl. Probab. 28, 2018), whatever the weights are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact import (
    UNIT,
    Ball,
    Exact,
    Source,
    ball_of,
    coins_between,
    evaluate,
    exp_bounds,
    scaled_bounds,
    uniform_integer,
)
from leastnoise.mechanisms.combinatorial.min_cut.contraction import Matrix

__all__ = ["RandomCluster"]

_SLACK = 8 * UNIT  # the roundings of an exponent, or of a sum and a quotient, with room to spare
_OUT, _IN = 0, 1  # kinds of updates; 2 is "in where the others connect"

Neighbours = list[int]  # of each node, as bits


class RandomCluster:
    """Draws cuts of one graph.

    Args:
        matrix: Symmetric integers that sum to less than `LARGEST_SUM`, zeros on the diagonal.
        rate: Above zero.
    """

    def __init__(self, matrix: Matrix, rate: Exact) -> None:
        self._nodes, self._rate = len(matrix), rate
        tails, heads = np.nonzero(np.triu(matrix))
        self._pairs = list(zip(tails.tolist(), heads.tolist(), strict=True))
        self._weights = matrix[tails, heads]
        exponents = -float(rate) * self._weights.astype(np.float64)
        self._out = exp_bounds(exponents * (1 + _SLACK), exponents * (1 - _SLACK))
        low, high = self._out
        self._in = (1 - _SLACK) / (1 + high), np.minimum((1 + _SLACK) / (1 + low), 1.0)

    def draw(self, source: Source, progress: Callable[[str, int], None] | None = None) -> NDArray[np.bool_]:
        """A cut, as a truth value for each node; node 0 has False. `progress` is told how many sweeps are made."""
        while True:
            side = self.attempt(source, progress)
            if side is not None:
                return side

    def attempt(self, source: Source, progress: Callable[[str, int], None] | None = None) -> NDArray[np.bool_] | None:
        """A cut, or None where one side is empty: nearly always so if the minimum cut is heavy."""
        side = np.zeros(self._nodes, dtype=np.bool_)
        for part in _parts(self._stationary(source, progress)):
            side[part] = bool(uniform_integer(2, source=source))
        from_first: NDArray[np.bool_] = side ^ side[0]
        return from_first if from_first.any() else None

    def _stationary(self, source: Source, progress: Callable[[str, int], None] | None) -> Neighbours:
        """A set of pairs with the law of the model."""
        past: list[NDArray[np.int8]] = []  # the sweeps before time 0, the last one first
        while True:
            if progress is not None:
                progress("sweeps", len(past))
            past += [self._sweep(source) for _ in range(max(len(past), 1))]
            most, least = self._everything(), [0] * self._nodes
            for kinds in reversed(past):
                self._update(most, kinds)
                self._update(least, kinds)
            if most == least:
                return most

    def _sweep(self, source: Source) -> NDArray[np.int8]:
        """The kind of update of each pair."""
        goes = coins_between(self._out, lambda place: partial(self._scaled, place, False), source)
        stays = coins_between(self._in, lambda place: partial(self._scaled, place, True), source)
        return np.where(goes, _OUT, np.where(stays, _IN, 2)).astype(np.int8)

    def _scaled(self, place: int, stays: bool, bits: int) -> tuple[int, int]:
        """e^-x, or 1/(1 + e^-x), between two multiples of 2^-bits."""

        def chance() -> Ball:
            out = ball_of(self._rate * -int(self._weights[place])).exp()
            return 1 / (1 + out) if stays else out

        return scaled_bounds(evaluate(chance, bits + 64), bits)

    def _update(self, neighbours: Neighbours, kinds: NDArray[np.int8]) -> None:
        for (tail, head), kind in zip(self._pairs, kinds.tolist(), strict=True):
            neighbours[tail] &= ~(1 << head)
            neighbours[head] &= ~(1 << tail)
            if kind == _IN or (kind != _OUT and _reached(neighbours, tail) >> head & 1):
                neighbours[tail] |= 1 << head
                neighbours[head] |= 1 << tail

    def _everything(self) -> Neighbours:
        neighbours = [0] * self._nodes
        for tail, head in self._pairs:
            neighbours[tail] |= 1 << head
            neighbours[head] |= 1 << tail
        return neighbours


def _reached(neighbours: Neighbours, node: int) -> int:
    """All nodes that are connected to this one, as bits."""
    found = new = 1 << node
    while new:
        first = new & -new
        new ^= first
        more = neighbours[first.bit_length() - 1] & ~found
        found |= more
        new |= more
    return found


def _parts(neighbours: Neighbours) -> list[list[int]]:
    """The nodes of each component."""
    left, parts = (1 << len(neighbours)) - 1, []
    while left:
        found = _reached(neighbours, (left & -left).bit_length() - 1)
        parts.append([node for node in range(len(neighbours)) if found >> node & 1])
        left &= ~found
    return parts

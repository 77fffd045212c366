"""The cheapest private column for given prices, by closures and flows, in whole numbers.

A column is private if q_i ≤ λ_a·q_j on every arc a = (i, j). Its extreme rays are powers q_i = β^f_i with whole
*potentials* f that satisfy f_i − f_j ≤ length of a (a tight arc is one with equality): along a spanning tree of tight
arcs every ratio is a power of β. So private columns are held as whole numbers, and no rounding ever breaks privacy.

To minimise Σ g_i·q_i with q = 1 at the column's home, let b_i = g_i·q_i. If the nodes with b < 0 can send their b along
tight arcs to those with b > 0, the home taking or giving what is left over, then q is the best: a flow w on the tight
arcs gives multipliers u_a = w_a/q_i ≥ 0 with g_i + Σ_out u − Σ_in λ·u = 0 for every i but the home (strong duality). If
they can't, the set S that stuck supplies reach is left by no tight arc, and Σ_S b < 0: multiplying q by β on S (or, if
the home is in S, dividing by β elsewhere) keeps privacy and costs less. Each step is a gain, so the search ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from leastnoise.designer.linear.cells import Column
from leastnoise.designer.linear.flow import send
from leastnoise.designer.linear.powers import Powers
from leastnoise.model.graphs.aliases import IntArray

__all__ = ["Priced", "price"]


class Priced(NamedTuple):
    """The best potentials, and the flow that proves it.

    Attributes:
        potentials: f, the largest is 0.
        weights: Whole numbers in the ratio of β^f.
        value: Σ g_i·weight_i; below zero if the column lowers the loss.
        arcs: The tight arcs, as places in the column's lists.
        flows: w on each of them, in the unit of g·weight.
    """

    potentials: IntArray
    weights: list[int]
    value: int
    arcs: IntArray
    flows: list[int]


def price(column: Column, gains: Sequence[int], start: IntArray, powers: Powers) -> Priced:
    """Minimise Σ gains·q over the private columns q with q = 1 at home, beginning at the potentials `start`."""
    potentials = start.copy()
    while True:
        potentials -= potentials.max()
        weights = powers.whole(potentials.tolist())
        supplies = [-gain * weight for gain, weight in zip(gains, weights, strict=True)]
        value = -sum(supplies)
        supplies[column.home] += value
        arcs = np.flatnonzero(potentials[column.tails] - potentials[column.heads] == column.lengths)
        pairs = list(zip(column.tails[arcs].tolist(), column.heads[arcs].tolist(), strict=True))
        flows, stuck = send(supplies, pairs)
        if not stuck:
            return Priced(potentials, weights, value, arcs, flows)
        inside = np.zeros(len(potentials), dtype=bool)
        inside[list(stuck)] = True
        leaving = inside[column.tails] & ~inside[column.heads]
        slack = column.lengths - potentials[column.tails] + potentials[column.heads]
        potentials[inside] += slack[leaving].min()  # if the home is inside: the same as lowering all others

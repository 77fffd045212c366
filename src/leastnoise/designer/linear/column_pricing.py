"""The cheapest private column for given prices, by closures and flows, in whole numbers.

A column is private if q_i ≤ λ_a·q_j on every arc a = (i, j). Its extreme rays are powers q_i = β^f_i with whole
*potentials* f that satisfy f_i − f_j ≤ length of a (a tight arc is one with equality): along a spanning tree of tight
arcs every ratio is a power of β. So private columns are held as whole numbers, and no rounding ever breaks privacy.

To minimise Σ g_i·q_i with q = 1 at the column's home, let b_i = g_i·q_i. If the nodes with b < 0 can send their b along
tight arcs to those with b > 0, the home taking or giving what is left over, then q is the best: a flow w on the tight
arcs gives multipliers u_a = w_a/q_i ≥ 0 with g_i + Σ_out u − Σ_in λ·u = 0 for every i but the home (strong duality). If
they can't, the set S that stuck supplies reach is left by no tight arc, and Σ_S b < 0: multiplying q by β on S (or, if
the home is in S, dividing by β elsewhere) keeps privacy and costs less. Each step is a gain, so the search ends.

A private column taken apart into columns of whole potentials.

Write a private column as β^t. Then |t_i − t_j| ≤ length on every arc, and with whole lengths ⌊t + θ⌋ keeps to the same
bounds for every θ. The columns β^⌊t + θ⌋ for the different fractional parts of t have the given one in their cone: with
φ_0 < φ_1 < … the fractional parts, the weight of step k is (β^φ_k − β^φ_{k−1})/(β − 1).

Sending supplies to demands along arcs, in whole numbers, or the set in which supplies are stuck.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leastnoise.designer.linear.orbit_program import OutputOrbit
from leastnoise.designer.linear.powers import Powers
from leastnoise.exact import IntArray

__all__ = ["Priced", "first_rays", "price", "rays_of", "route_flow"]

Arcs = Sequence[tuple[int, int]]
Step = tuple[int, int, bool]  # arc, the node it leads to, whether it is taken along its direction
_SAME = 1e-5  # fractional parts that a float solver can't tell apart
_VISIBLE = 1e-6  # below this share of the largest scaled entry, digits of a float solver mean nothing
_MOST = 24


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


def price(column: OutputOrbit, gains: Sequence[int], start: IntArray, powers: Powers) -> Priced:
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
        flows, stuck = route_flow(supplies, pairs)
        if not stuck:
            return Priced(potentials, weights, value, arcs, flows)
        inside = np.zeros(len(potentials), dtype=bool)
        inside[list(stuck)] = True
        leaving = inside[column.tails] & ~inside[column.heads]
        slack = column.lengths - potentials[column.tails] + potentials[column.heads]
        potentials[inside] += slack[leaving].min()  # if the home is inside: the same as lowering all others


def first_rays(column: OutputOrbit) -> list[IntArray]:
    """Two columns that are always worth having: β^−d around the home, and the constant."""
    return [-column.distances[column.home], np.zeros(len(column.cells), dtype=np.int64)]


def rays_of(column: OutputOrbit, values: NDArray[np.float64], powers: Powers) -> list[IntArray]:
    """The potentials that a solver's column is made of; a guess, but private whatever the solver said."""
    away = column.distances[column.home]
    if not values.max() > 0:
        return []
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(values, 0)) / powers.float_rate
    scaled = logs + away
    seen = scaled >= scaled.max() + np.log(_VISIBLE) / powers.float_rate
    levels = (logs[seen] - column.distances[:, seen]).max(axis=1)  # the least private column above what is seen
    levels -= levels[column.home] - _SAME
    parts = levels % 1
    steps = np.unique(np.floor(parts / (2 * _SAME)))[:_MOST] * 2 * _SAME
    lower = np.floor(levels).astype(np.int64)
    return [_closed(column, lower + (parts >= step)) for step in steps]


def _closed(column: OutputOrbit, potentials: IntArray) -> IntArray:
    closed: IntArray = (potentials - column.distances).max(axis=1)
    closed -= closed.max()
    return closed


def route_flow(supplies: Sequence[int], arcs: Arcs) -> tuple[list[int], set[int]]:
    """Move supplies (above zero) to demands (below zero) along arcs that carry any amount.

    Dinic's algorithm on whole numbers of any size: nothing is rounded, and it ends.

    Args:
        supplies: What each node has to give, negative where it wants; they sum to zero.
        arcs: Pairs (from, to).

    Returns:
        The amount on each arc, and the nodes that supplies which found no way can still reach. There are none if and
        only if all was delivered. Otherwise no arc leaves that set, and its supplies sum to more than zero.

    >>> route_flow([3, -1, -2], [(0, 1), (1, 2)])
    ([3, 2], set())
    >>> route_flow([-2, 3, -1], [(1, 2)])
    ([1], {1, 2})
    """
    left = list(supplies)
    flows = [0] * len(arcs)
    ways: list[list[Step]] = [[] for _ in left]
    for number, (start, end) in enumerate(arcs):
        ways[start].append((number, end, True))
        ways[end].append((number, start, False))
    while True:
        levels = _levels(left, flows, ways)
        if not any(amount < 0 and levels[node] >= 0 for node, amount in enumerate(left)):
            return flows, {node for node, level in enumerate(levels) if level >= 0}
        tried = [0] * len(left)
        for node in range(len(left)):
            while left[node] > 0 and (steps := _way(node, left, flows, levels, ways, tried)):
                _push(node, steps, left, flows)


def _way(
    node: int, left: list[int], flows: list[int], levels: list[int], ways: list[list[Step]], tried: list[int]
) -> list[Step]:
    """Steps from a node to one that wants something, each one level up; none if there is no such way."""
    steps: list[Step] = []
    passed = [node]
    while passed:
        here = passed[-1]
        if left[here] < 0:
            return steps
        for number, other, along in ways[here][tried[here] :]:
            if levels[other] == levels[here] + 1 and (along or flows[number]):
                steps.append((number, other, along))
                passed.append(other)
                break
            tried[here] += 1
        else:
            passed.pop()
            if steps:
                steps.pop()
                tried[passed[-1]] += 1
    return []


def _push(node: int, steps: list[Step], left: list[int], flows: list[int]) -> None:
    """Send as much as the way holds."""
    end = steps[-1][1]
    amount = min(left[node], -left[end], *(flows[number] for number, _, along in steps if not along))
    for number, _, along in steps:
        flows[number] += amount if along else -amount
    left[node] -= amount
    left[end] += amount


def _levels(left: list[int], flows: list[int], ways: list[list[Step]]) -> list[int]:
    """Steps from the nearest node with something left to give; −1 where none can reach."""
    levels = [0 if amount > 0 else -1 for amount in left]
    waiting = [node for node, level in enumerate(levels) if level == 0]
    for node in waiting:
        for number, other, along in ways[node]:
            if levels[other] < 0 and (along or flows[number]):
                levels[other] = levels[node] + 1
                waiting.append(other)
    return levels

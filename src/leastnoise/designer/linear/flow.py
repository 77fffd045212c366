"""Sending supplies to demands along arcs, in whole numbers, or the set in which supplies are stuck."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["send"]

Arcs = Sequence[tuple[int, int]]
Step = tuple[int, int, bool]  # arc, the node it leads to, whether it is taken along its direction


def send(supplies: Sequence[int], arcs: Arcs) -> tuple[list[int], set[int]]:
    """Move supplies (above zero) to demands (below zero) along arcs that carry any amount.

    Dinic's algorithm on whole numbers of any size: nothing is rounded, and it ends.

    Args:
        supplies: What each node has to give, negative where it wants; they sum to zero.
        arcs: Pairs (from, to).

    Returns:
        The amount on each arc, and the nodes that supplies which found no way can still reach. There are none if and
        only if all was delivered. Otherwise no arc leaves that set, and its supplies sum to more than zero.

    >>> send([3, -1, -2], [(0, 1), (1, 2)])
    ([3, 2], set())
    >>> send([-2, 3, -1], [(1, 2)])
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

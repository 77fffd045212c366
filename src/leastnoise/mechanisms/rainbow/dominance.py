"""Dominance: better for every utility that never prefers a worse colour (Gu et al. 2024, Definition 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate

from leastnoise.errors import BadParameter
from leastnoise.mechanisms.rainbow.rainbow_graph import RainbowGraph
from leastnoise.model.channel import Channel

__all__ = ["dominates", "dominates_lexicographically", "preferred_rows"]

Sorted = Sequence[Fraction | int]


def dominates(one: Sorted | Channel, other: Sorted | Channel, rainbow_graph: RainbowGraph | None = None) -> bool:
    """Whether `one` is at least as likely as `other` to be among the k best colours, for every k.

    Args:
        one: A distribution, best colour first, or a channel from datasets to colours.
        other: The same.
        rainbow_graph: The preferences of the datasets, for channels; each dataset must agree.

    >>> dominates([Fraction(1, 2), Fraction(1, 2), 0], [Fraction(1, 3)] * 3)
    True
    """
    return _compare(_above, one, other, rainbow_graph)


def dominates_lexicographically(
    one: Sorted | Channel, other: Sorted | Channel, rainbow_graph: RainbowGraph | None = None
) -> bool:
    """Whether `one` equals `other` or has more on the best colour where they differ; weaker than dominance.

    >>> half, third = [Fraction(1, 2), 0, Fraction(1, 2)], [Fraction(1, 3)] * 3
    >>> dominates_lexicographically(half, third), dominates(half, third)
    (True, False)
    """
    return _compare(lambda p, q: tuple(p) >= tuple(q), one, other, rainbow_graph)


def preferred_rows(channel: Channel, rainbow_graph: RainbowGraph) -> list[tuple[Fraction, ...]]:
    """Each dataset's distribution, its own best colour first, in node order."""
    return [
        tuple(Fraction(channel.probability(colour, node)) for colour in rainbow_graph.rainbow(node))
        for node in rainbow_graph.graph.nodes
    ]


def _above(one: Sorted, other: Sorted) -> bool:
    return all(s >= r for s, r in zip(accumulate(one), accumulate(other), strict=True))


def _compare(
    better: Callable[[Sorted, Sorted], bool],
    one: Sorted | Channel,
    other: Sorted | Channel,
    rainbow_graph: RainbowGraph | None,
) -> bool:
    if not isinstance(one, Channel) and not isinstance(other, Channel):
        return better(one, other)
    if not (isinstance(one, Channel) and isinstance(other, Channel) and rainbow_graph is not None):
        raise BadParameter(
            "two channels are compared by the preferences of a rainbow graph",
            given=f"{type(one).__name__} and {type(other).__name__}",
            fix="pass two channels and the rainbow graph, or two distributions",
        )
    pairs = zip(preferred_rows(one, rainbow_graph), preferred_rows(other, rainbow_graph), strict=True)
    return all(better(p, q) for p, q in pairs)

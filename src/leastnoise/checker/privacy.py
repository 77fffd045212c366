"""Does a channel keep a promise (ε, δ) on a dataset graph? Exactly, with the tight numbers and a counterexample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from leastnoise.checker.entries import ChannelEntries, read_entries
from leastnoise.checker.excess import RatioThresholds, least_epsilon
from leastnoise.checker.pairs import Pairs, TradeoffLine, both_ways
from leastnoise.checker.ratios import largest_ratio
from leastnoise.checker.verdict import Counterexample, Verdict
from leastnoise.errors import BadChannel, BadParameter
from leastnoise.exact import Enclosure, Exact, NumberLike, read_integer
from leastnoise.model import Channel, Privacy
from leastnoise.model.graphs import DatasetGraph

__all__ = ["check_channel", "largest", "read_pairs", "rows_of_nodes"]


def check_channel(
    channel: Channel, graph: DatasetGraph, epsilon: NumberLike, delta: NumberLike = 0, *, group: int = 1
) -> Verdict:
    """Decide whether P(S|x) ≤ e^(ε·d(x, x'))·P(S|x') + δ for all neighbours x, x', both ways, and all sets S.

    There is no tolerance: every entry counts as exactly the number it is, a double as the dyadic rational it is.

    Args:
        channel: Its inputs are the nodes of the graph; inputs without names are taken in node order.
        graph: Each edge is a pair of neighbours. A metric asks ε·d(x, x') of every pair.
        epsilon: The promise, exact.
        delta: The promise, exact.
        group: Ask the same (ε, δ) of all inputs up to this distance from each other.

    Raises:
        BadChannel: The inputs are not the nodes of the graph.
        BadParameter: ε, δ or `group` make no sense.
    """
    privacy = Privacy(epsilon, delta)
    reach = read_integer(group, "group", at_least=1)
    entries, pairs = read_pairs(channel, graph, reach)
    if privacy.is_pure:
        peak = largest_ratio(entries, pairs)
        tight = Fraction(0) if peak is None else peak.epsilon
        worst = None if peak is None else peak.line
        holds = tight is not None and tight <= privacy.epsilon
        measure = partial(_measure_delta, entries, pairs, privacy.epsilon)
    else:
        thresholds = RatioThresholds(entries, pairs, privacy.epsilon).of_different_pairs()
        tight = least_epsilon(entries, thresholds.pairs, privacy.delta)
        lines = thresholds.worst_lines()
        worst = max(lines, key=lambda line: float(line.excess(privacy.delta, privacy.epsilon)), default=None)
        holds = not any(line.exceeds(privacy.delta, privacy.epsilon) for line in lines)
        measure = partial(_highest, lines, privacy.epsilon)
    return Verdict(
        holds=holds,
        privacy=privacy,
        graph=graph.name,
        group=reach,
        tight_epsilon=math.inf if tight is None else tight,
        worst=None if worst is None or not worst.outputs else _witness(worst, channel, graph, privacy),
        measure_delta=measure,
    )


def read_pairs(channel: Channel, graph: DatasetGraph, group: int) -> tuple[ChannelEntries, Pairs]:
    """The channel's entries in node order, and the ordered pairs of nodes that must be close."""
    rows, matrix = rows_of_nodes(channel, graph), channel.matrix()
    entries = read_entries(matrix if rows == list(range(len(rows))) else matrix[rows])
    if group == 1:
        return entries, both_ways(graph.edges(), graph.different_lengths(), len(channel.inputs))
    if graph.edge_lengths() is not None:
        raise BadParameter(
            "a metric already speaks of every pair, near or far", given=f"group={group}", fix="leave `group` out"
        )
    distances = graph.distances()
    edges = np.argwhere(np.triu((distances > 0) & (distances <= group)))
    return entries, both_ways(edges, None, len(channel.inputs))


def rows_of_nodes(channel: Channel, graph: DatasetGraph) -> list[int]:
    """The row of each node: by name, or in order for a channel that only numbers its inputs."""
    if graph.size != len(channel.inputs):
        raise BadChannel(
            f"the channel's inputs must be the nodes of {graph.name}, which has {graph.size or 'infinitely many'}",
            given=f"{len(channel.inputs)} inputs",
            fix="check it on the graph of its own inputs",
        )
    places = {label: place for place, label in enumerate(channel.inputs)}
    if channel.inputs == tuple(range(graph.size)) and any(node not in places for node in graph.nodes):
        return list(range(graph.size))
    for label in channel.inputs:
        graph.index(label)
    return [places[node] for node in graph.nodes]


def _witness(line: TradeoffLine, channel: Channel, graph: DatasetGraph, privacy: Privacy) -> Counterexample:
    return Counterexample(
        x=graph.nodes[line.x],
        neighbour=graph.nodes[line.neighbour],
        outputs=tuple(channel.outputs[y] for y in line.outputs),
        probability=line.probability,
        neighbour_probability=line.neighbour_probability,
        length=line.length,
        excess=line.excess(privacy.delta, privacy.epsilon),
    )


def _measure_delta(entries: ChannelEntries, pairs: Pairs, epsilon: Exact) -> Fraction | Enclosure:
    return _highest(RatioThresholds(entries, pairs, epsilon).worst_lines(), epsilon)


def _highest(lines: Sequence[TradeoffLine], epsilon: Exact) -> Fraction | Enclosure:
    return largest([line.excess(Fraction(0), epsilon) for line in lines])


def largest(values: Sequence[Fraction | Enclosure]) -> Fraction | Enclosure:
    """The largest of some numbers, each known or enclosed; zero if there are none."""
    lower = max((value.lower if isinstance(value, Enclosure) else value for value in values), default=Fraction(0))
    upper = max((value.upper if isinstance(value, Enclosure) else value for value in values), default=Fraction(0))
    return lower if lower == upper else Enclosure(lower, upper)

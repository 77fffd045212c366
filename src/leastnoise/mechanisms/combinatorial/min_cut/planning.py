"""Which private cut is the lightest, before anything is spent.

How much too heavy a cut comes out depends on the graph. So the ways are compared on graphs that are public: an example
that the user gives, or two that are made up, one that grows node by node and two cliques with a bridge. The true graph
is never looked at. A way that takes too long on an example is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from leastnoise.exact import Enclosure, NumberLike, SeededSource, read_rational
from leastnoise.mechanisms.combinatorial.graph_input import GraphLike, Nodes, read_nodes
from leastnoise.mechanisms.combinatorial.min_cut.contraction import minimum_cut
from leastnoise.mechanisms.combinatorial.min_cut.cut_mechanism import CutMechanism, EdgeWeights
from leastnoise.mechanisms.combinatorial.min_cut.exponential_cut import MOST_NODES, ExponentialCut
from leastnoise.mechanisms.combinatorial.min_cut.node_cut import NodeCut
from leastnoise.mechanisms.combinatorial.min_cut.perfect_cut import MOST_PERFECT, PerfectCut
from leastnoise.mechanisms.combinatorial.min_cut.raised_cut import RaisedCut
from leastnoise.mechanisms.combinatorial.min_cut.raising import ladder_reaches
from leastnoise.mechanisms.combinatorial.min_cut.stopped_cut import StoppedCut

__all__ = ["CutPlan", "plan_min_cut"]

_MOST_DRAWS, _FEWEST_DRAWS = 20, 3
_PAIRS = 20_000  # in all draws of an example
_TRIALS = 1000  # after which a draw of the example is given up
_UPDATES = 10**6  # of pairs, likewise
_DEGREE = 3  # of a node to earlier ones in the example


@dataclass(frozen=True)
class CutPlan:
    """The mechanism to use, why, and its extra weight beside what no mechanism can beat.

    Attributes:
        mechanism: Ready to release.
        reason: Why this one.
        on_example: By the mechanism's name, the mean extra weight of simulated releases on the examples.
        expected_extra: At most so much heavier than the minimum cut, expected, on any graph.
        lower_bound: Every private mechanism is so much heavier, expected, on some graph; None with a delta.
        ladder_reaches: Whether the thesis' way of raising, by whole edges, would reach its target here.
    """

    mechanism: CutMechanism
    reason: str
    on_example: Mapping[str, float]
    expected_extra: Enclosure
    lower_bound: Enclosure | None
    ladder_reaches: bool


def plan_min_cut(
    nodes: Nodes,
    epsilon: NumberLike,
    delta: NumberLike = 0,
    weights: EdgeWeights | None = None,
    *,
    example: GraphLike | None = None,
) -> CutPlan:
    """Compare the ways to a private cut by the mean extra weight of simulated releases on a public graph.

    Args:
        nodes: The public nodes: labels, or how many.
        epsilon: The privacy, where an edge comes or goes.
        delta: Above zero it lets a raised cut leave out what is surely too rare to matter.
        weights: How weighted edges are read; left out, an edge is there or not.
        example: A public graph on the same nodes, like the true one. If left out, two made-up ones, for up to 200
            nodes; for more the cut is raised, which has the least bound for the worst graph. A perfect cut of more than
            26 nodes takes a time that depends on the true graph, so it is considered only beside an example.

    >>> import networkx
    >>> plan_min_cut(34, 1, example=networkx.karate_club_graph()).mechanism.name
    'one node by its degree'
    >>> plan_min_cut(40, 1, example=networkx.barbell_graph(20, 0)).mechanism.name
    'exponential mechanism over all cuts, sampled perfectly'
    """
    public = read_nodes(nodes)
    slack = read_rational(delta, "delta", at_least=0, below=1)
    raised = RaisedCut(epsilon, public, slack, weights)
    ways: list[CutMechanism] = [NodeCut(epsilon, public, weights), raised]
    if len(public) <= MOST_NODES:
        ways.insert(0, ExponentialCut(epsilon, public, weights))
    elif example is not None and len(public) <= MOST_PERFECT:
        ways.insert(0, PerfectCut(epsilon, public, weights))
    best: CutMechanism = raised
    extras: dict[str, float] = {}
    reason = f"{len(public)} nodes have too many cuts to weigh; a raised minimum cut leaves few that matter"
    if example is not None or len(public) <= MOST_PERFECT:
        examples = [example] if example is not None else _made_up(ways[0])
        found = [(way, [_extra(way, graph) for graph in examples]) for way in ways]
        if isinstance(ways[0], PerfectCut) and None in found[0][1]:  # all cuts may be heavy
            ways[0] = StoppedCut(epsilon, public, weights)
            found[0] = (ways[0], [_extra(ways[0], graph) for graph in examples])
        extras = {way.name: fmean(each for each in mean if each is not None) for way, mean in found if None not in mean}
        best = min((way for way in ways if way.name in extras), key=lambda way: extras[way.name])
        reason = "the least extra weight in simulated releases on " + ("the example" if example else "made-up graphs")
    reaches = ladder_reaches(len(public), raised.second_epsilon if best is raised else raised.epsilon)
    bound = None if slack else best.reason().lower_bound
    return CutPlan(best, reason, extras, best.error().expected, bound, reaches)


class _TooLong(Exception):
    """A draw on an example is given up."""


def _extra(way: CutMechanism, graph: GraphLike) -> float | None:
    """The mean extra weight on a public graph, or None if that takes too long."""
    matrix = way.matrix(graph)
    pairs, least = int((matrix > 0).sum()) // 2, minimum_cut(matrix)
    draws = min(max(_PAIRS // max(pairs, 1), _FEWEST_DRAWS), _MOST_DRAWS)

    def progress(what: str, times: int) -> None:
        if (what == "sweeps" and times * pairs > _UPDATES) or (what == "drawing a cut" and times > _TRIALS):
            raise _TooLong

    try:  # the graph is public, and a plan must not come out differently when it is made again
        sides = way.sides(matrix, draws, SeededSource(0), progress)
    except _TooLong:
        return None
    return fmean(int(matrix[side][:, ~side].sum()) - least for side in sides) * float(way.step)


def _made_up(way: CutMechanism) -> list[GraphLike]:
    """A graph whose degrees fall like those of growing networks, and two cliques with a bridge."""
    count, half = len(way.nodes), len(way.nodes) // 2
    grown = {(part**2 * i // (_DEGREE + 1) ** 2, i) for part in range(1, _DEGREE + 1) for i in range(1, count)}
    cliques = {*combinations(range(half), 2), *combinations(range(half, count), 2), (0, count - 1)}
    names, weight = way.nodes, () if way.weights is None else (way.weights.sensitivity,)
    return [[(names[a], names[b], *weight) for a, b in sorted(edges)] for edges in (grown, cliques)]

"""Which way to a private cut, and what it costs in weight: from public numbers only."""

from __future__ import annotations

from dataclasses import dataclass

from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.parameters import NumberLike, read_rational
from leastnoise.mechanisms.combinatorial.graph_input import Nodes, read_nodes
from leastnoise.mechanisms.combinatorial.min_cut.cut_mechanism import CutMechanism, EdgeWeights
from leastnoise.mechanisms.combinatorial.min_cut.exponential_cut import MOST_NODES, ExponentialCut
from leastnoise.mechanisms.combinatorial.min_cut.raised_cut import RaisedCut
from leastnoise.mechanisms.combinatorial.min_cut.raising import ladder_reaches

__all__ = ["CutPlan", "plan_min_cut"]


@dataclass(frozen=True)
class CutPlan:
    """The mechanism to use, why, and its extra weight beside what no mechanism can beat.

    Attributes:
        mechanism: Ready to release.
        reason: Why this one.
        expected_extra: At most so much heavier than the minimum cut, expected, on any graph.
        lower_bound: Every private mechanism is so much heavier, expected, on some graph; None with a delta.
        ladder_reaches: Whether the thesis' way of raising, by whole edges, would reach its target here.
    """

    mechanism: CutMechanism
    reason: str
    expected_extra: Enclosure
    lower_bound: Enclosure | None
    ladder_reaches: bool


def plan_min_cut(
    nodes: Nodes, epsilon: NumberLike, delta: NumberLike = 0, weights: EdgeWeights | None = None
) -> CutPlan:
    """All cuts where they can be listed, else raise and sample.

    >>> plan = plan_min_cut(34, 1)
    >>> plan.mechanism.name, plan.ladder_reaches
    ('raised minimum cut', False)
    >>> plan_min_cut(20, 1).mechanism.name
    'exponential mechanism over all cuts'
    """
    public = read_nodes(nodes)
    slack = read_rational(delta, "delta", at_least=0, below=1)
    mechanism: CutMechanism
    if len(public) <= MOST_NODES:
        mechanism = ExponentialCut(epsilon, public, weights)
        reaches = ladder_reaches(len(mechanism.nodes), epsilon)
        reason = (
            f"all {2 ** (len(public) - 1) - 1:,} cuts can be weighed, and the whole of epsilon goes into the choice"
        )
        if slack:
            reason += "; no delta is needed"
    else:
        mechanism = RaisedCut(epsilon, public, slack, weights)
        reaches = ladder_reaches(len(public), mechanism.second_epsilon)
        reason = f"{len(public)} nodes have too many cuts to weigh; a raised minimum cut leaves few that matter"
        if not reaches:
            reason += "; whole edges could not raise it far enough, fractions can"
    return CutPlan(mechanism, reason, mechanism.error().expected, mechanism.reason().lower_bound, reaches)

"""A private cut that takes one node from all others: the node whose edges weigh nearly least.

An edge more adds to two degrees, both upwards and by Δ at most. So the scores −degree are monotone with sensitivity Δ,
and permute-and-flip with the whole of ε is ε-private. Only n of the 2^(n−1) − 1 cuts can come out. On most graphs that
people have, a node of few edges is a minimum cut or nearly one, and among n candidates the choice is far sharper.

Between two large parts that few edges join it finds nothing. Let C be a minimum cut of weight c, let its smaller side S
have k ≤ n/2 nodes, and no pair weigh more than w. The least degree d has k·d ≤ Σ_S degree(v) ≤ k(k − 1)w + c, so
    d − c ≤ (k − 1)·w ≤ (⌊n/2⌋ − 1)·w,
and two cliques without an edge between them reach it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact import Enclosure, Exact, NumberLike, Source, read_epsilon
from leastnoise.mechanisms.choice.permute_and_flip import PermuteAndFlip
from leastnoise.mechanisms.combinatorial.graph_input import Nodes
from leastnoise.mechanisms.combinatorial.min_cut.contraction import LARGEST_SUM, Matrix
from leastnoise.mechanisms.combinatorial.min_cut.cut_law import Progress
from leastnoise.mechanisms.combinatorial.min_cut.cut_mechanism import (
    CutMechanism,
    EdgeWeights,
    read_cut_nodes,
    read_weights,
)
from leastnoise.model import LEVEL, ErrorEstimate, PrivacyCertificate, Pure, Reason

__all__ = ["NodeCut"]

_MOST_NODES = 4000  # a matrix of weights is held in memory
_SMALL = 4  # nodes of a certificate


@dataclass(frozen=True, init=False)
class NodeCut(CutMechanism):
    """The cut between one node of nearly least degree and all others.

    Args:
        epsilon: The privacy of one release.
        nodes: The public nodes: labels, or how many.
        weights: How weighted edges are read; left out, an edge is there or not.

    >>> triangle_with_a_tail = [("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")]
    >>> NodeCut("ln(4)", "abcd").pmf(frozenset("d"), triangle_with_a_tail)
    Enclosure(767/1024)
    """

    name: ClassVar[str] = "one node by its degree"
    epsilon: Exact
    nodes: Sequence[Hashable]
    weights: EdgeWeights | None

    def __init__(self, epsilon: NumberLike, nodes: Nodes, weights: EdgeWeights | None = None) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(epsilon))
        object.__setattr__(self, "nodes", read_cut_nodes(nodes, _MOST_NODES, "join nodes to public groups first"))
        object.__setattr__(self, "weights", read_weights(weights))
        self.require_room()
        _ = self._choice  # refuses a rate that no sampler takes

    @property
    def room(self) -> int:
        """How many steps a pair may weigh so that no sum leaves 64 bits."""
        return LARGEST_SUM // len(self.nodes) ** 2

    @property
    def rates(self) -> tuple[Exact, ...]:
        """The one rate."""
        return (self._choice.rate,)

    @property
    def event(self) -> Pure:
        """Epsilon."""
        return Pure(self.epsilon)

    def sides(self, matrix: Matrix, count: int, source: Source, progress: Progress | None) -> list[NDArray[np.bool_]]:
        """Nodes chosen by permute-and-flip, each against all others."""
        if progress is not None:
            progress("choosing a node", 0)
        chosen = self._choice.choose(-matrix.sum(axis=1), count, source)
        return [np.arange(len(self.nodes)) == place for place in chosen.tolist()]

    def chances(self, matrix: Matrix, bits: int) -> list[Enclosure]:
        """P(cut) for cut 1, 2, … of `all_cut_weights`: zero unless one side is a node."""
        count, scores = len(self.nodes), -matrix.sum(axis=1)
        chances = [Enclosure(Fraction(0), Fraction(0))] * (2 ** (count - 1) - 1)
        for place in range(count):
            cut = 1 << (place - 1) if place else 2 ** (count - 1) - 1
            before, chance = chances[cut - 1], self._choice.chance(place, scores, bits)
            chances[cut - 1] = Enclosure(before.lower + chance.lower, before.upper + chance.upper)
        return chances

    def error(self) -> ErrorEstimate:
        """How much heavier than the minimum cut, at most: what one node may miss, the choice, and the rounding."""
        return self.extra_weight(self.mean(), self.far(LEVEL))

    def mean(self) -> Fraction:
        """The extra weight in steps that is not exceeded in expectation, before any rounding."""
        return self._missed + self._choice.worst_gap().upper

    def far(self, level: Fraction) -> Fraction:
        """The extra weight in steps that is not exceeded with this probability, before any rounding."""
        return self._missed + self._choice.quantile(level)

    def reason(self) -> Reason:
        """Few candidates, all of them light in most graphs; none of them in two parts that hang together loosely."""
        return Reason(
            "an edge moves two degrees the same way, so that choosing among n nodes takes the whole of epsilon; a cut "
            "between two large parts is never found",
            "McKenna and Sheldon, NeurIPS 2020; docs/theory/min_cut.md",
            self.least_extra_weight(),
        )

    def certificate(self) -> PrivacyCertificate:
        """The same law on all graphs with at most four nodes.

        Raises:
            BadParameter: e^epsilon is irrational.
        """
        return NodeCut(self.epsilon, min(len(self.nodes), _SMALL)).certify()

    @property
    def _missed(self) -> Fraction:
        return Fraction(max(len(self.nodes) // 2 - 1, 0) * self.most)

    @cached_property
    def _choice(self) -> PermuteAndFlip:
        return PermuteAndFlip(self.epsilon, len(self.nodes), self.sensitivity, monotone=True)

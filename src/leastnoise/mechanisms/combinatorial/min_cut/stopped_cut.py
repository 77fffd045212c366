"""A cut by so many attempts at the exponential mechanism as chance allows, or else one node by its degree.

`PerfectCut` draws divisions of the nodes with P ∝ e^(−r·W), one of which has an empty side and weighs nothing, until it
gets another one. Where all cuts are heavy that takes for ever. After a fixed number of attempts the failure itself
tells of the graph, for its chance may be tiny at one graph and far larger at a neighbour. So the number of attempts is
drawn: one more with probability 1 − γ, without a look at the graph. With Z = Σ e^(−r·W) over all cuts an attempt
succeeds with probability Z/(1 + Z), and
    P(cut C) = (1 − γ)·e^(−r·W(C))/(Z + γ),        P(none) = γ(1 + Z)/(Z + γ).
A heavier pair makes e^(−r·W(C)) and Z smaller, both by a factor of e^-ε₁ at least. So P(C) changes by a factor between
e^-ε₁ and e^ε₁; and P(none), which falls as Z grows, becomes (Z + γ)/(Z' + γ) ≤ e^ε₁ times as large at most. That is
ε₁-private without a δ. If there is none, a node is chosen by its degree with the rest of ε, as in `node_cut`.

All attempts are made whichever is the first to succeed. What still depends on the private graph is how many sweeps each
of them takes until it has met: few on all graphs that were tried, and no useful bound is known.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Scores,
    Source,
    at_chances,
    read_epsilon,
    read_integer,
    read_rational,
    uniform_integer,
)
from leastnoise.mechanisms.choice.selection import exponential_quantile, exponential_regret
from leastnoise.mechanisms.combinatorial.graph_input import Nodes
from leastnoise.mechanisms.combinatorial.min_cut.contraction import LARGEST_SUM, Matrix
from leastnoise.mechanisms.combinatorial.min_cut.cut_law import Progress, all_cut_weights
from leastnoise.mechanisms.combinatorial.min_cut.cut_mechanism import (
    CutMechanism,
    EdgeWeights,
    read_cut_nodes,
    read_weights,
)
from leastnoise.mechanisms.combinatorial.min_cut.node_cut import NodeCut
from leastnoise.mechanisms.combinatorial.min_cut.perfect_cut import MOST_PERFECT
from leastnoise.mechanisms.combinatorial.min_cut.random_cluster import RandomCluster
from leastnoise.mechanisms.combinatorial.min_cut.utility import all_cuts
from leastnoise.model import LEVEL, Composed, ErrorEstimate, PrivacyCertificate, Pure, Reason

__all__ = ["StoppedCut"]

_SMALL = 4  # nodes of a certificate
_MOST_ATTEMPTS = 10**6


@dataclass(frozen=True, init=False)
class StoppedCut(CutMechanism):
    """A nearly minimal cut of a graph with at most 200 nodes, in a number of attempts that does not depend on it.

    Args:
        epsilon: The privacy of one release.
        nodes: The public nodes: labels, or how many.
        weights: How weighted edges are read; left out, an edge is there or not.
        attempts: How many there are on average, 1/γ − 1.
        share: Which part of epsilon goes to the attempts, ε₁; the rest chooses a node if all of them fail.

    >>> import networkx
    >>> cut = StoppedCut(4, 60).release(networkx.barbell_graph(30, 0))
    >>> len(cut) in (1, 30, 59)
    True
    """

    name: ClassVar[str] = "exponential mechanism over all cuts in a drawn number of attempts"
    epsilon: Exact
    nodes: Sequence[Hashable]
    weights: EdgeWeights | None
    attempts: int
    share: Fraction

    def __init__(
        self,
        epsilon: NumberLike,
        nodes: Nodes,
        weights: EdgeWeights | None = None,
        *,
        attempts: NumberLike = 31,
        share: NumberLike = Fraction(1, 2),
    ) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(epsilon))
        object.__setattr__(self, "nodes", read_cut_nodes(nodes, MOST_PERFECT, "use RaisedCut"))
        object.__setattr__(self, "weights", read_weights(weights))
        number = read_integer(attempts, "attempts", at_least=1, at_most=_MOST_ATTEMPTS)
        object.__setattr__(self, "attempts", number)
        object.__setattr__(self, "share", read_rational(share, "share", above=0, below=1))
        self.require_room()
        _ = self.otherwise  # refuses a rate that no sampler takes

    @property
    def stop(self) -> Fraction:
        """γ, the probability that there is no further attempt."""
        return Fraction(1, self.attempts + 1)

    @property
    def first_epsilon(self) -> Exact:
        """ε₁, of the attempts."""
        return self.epsilon * self.share

    @property
    def otherwise(self) -> NodeCut:
        """What answers if all attempts fail."""
        return NodeCut(self.epsilon * (1 - self.share), self.nodes, self.weights)

    @property
    def room(self) -> int:
        """How many steps a pair may weigh so that no sum leaves 64 bits."""
        return LARGEST_SUM // len(self.nodes) ** 2

    @property
    def rate(self) -> Exact:
        """ε₁ for each sensitivity, in steps."""
        return self.first_epsilon / self.sensitivity

    @property
    def rates(self) -> tuple[Exact, ...]:
        """That of the attempts, and that of the choice of a node."""
        return (self.rate, *self.otherwise.rates)

    @property
    def event(self) -> Composed:
        """The attempts, and the choice of a node."""
        return Composed((Pure(self.first_epsilon), self.otherwise.event))

    def sides(self, matrix: Matrix, count: int, source: Source, progress: Progress | None) -> list[NDArray[Any]]:
        """The first attempt that succeeds, `count` times; or else a node."""
        law = RandomCluster(matrix, self.rate)
        return [self._side(law, matrix, source, progress) for _ in range(count)]

    def chances(self, matrix: Matrix, bits: int) -> list[Enclosure]:
        """P(cut) for cut 1, 2, … of `all_cut_weights`."""
        levels, places, counts = np.unique(all_cut_weights(matrix)[1:], return_inverse=True, return_counts=True)
        scores = Scores(-np.append(levels, 0).astype(np.int64), "weights")
        base = [*(Fraction(count) for count in counts.tolist()), self.stop]
        shares = [at_chances(scores, self.rate, partial(_share, level), bits, base) for level in range(len(base))]
        goes_on, gives_up = 1 - self.stop, shares[-1]
        failed = Enclosure(self.stop + goes_on * gives_up.lower, self.stop + goes_on * gives_up.upper)
        found = []
        for level, node in zip(places.tolist(), self.otherwise.chances(matrix, bits), strict=True):
            each = goes_on / base[level]
            low = shares[level].lower * each + failed.lower * node.lower
            found.append(Enclosure(low, shares[level].upper * each + failed.upper * node.upper))
        return found

    def error(self) -> ErrorEstimate:
        """How much heavier than the minimum cut, at most: by an attempt, or by a node, added up; and the rounding."""
        odds, node = all_cuts(len(self.nodes)), self.otherwise
        likely = (1 + LEVEL) / 2
        far = max(exponential_quantile(odds, self.rate, likely), node.far(likely))
        return self.extra_weight(exponential_regret(odds, self.rate).upper + node.mean(), far)

    def reason(self) -> Reason:
        """Light cuts between large parts are found, and heavy ones do not hold it up."""
        return Reason(
            "an edge moves the weights of all cuts the same way, so that attempts at the exponential mechanism cost "
            "one epsilon however many they are, if their number is drawn; where all of them fail a node is chosen",
            "Tóthmérész 2013, Algorithm 1; Liu and Talwar, STOC 2019, for the drawn number; docs/theory/min_cut.md",
            self.least_extra_weight(),
        )

    def certificate(self) -> PrivacyCertificate:
        """The same law on all graphs with at most four nodes.

        Raises:
            BadParameter: e^epsilon is irrational.
        """
        count = min(len(self.nodes), _SMALL)
        return StoppedCut(self.epsilon, count, attempts=self.attempts, share=self.share).certify()

    def _side(self, law: RandomCluster, matrix: Matrix, source: Source, progress: Progress | None) -> NDArray[Any]:
        found: NDArray[Any] | None = None
        while uniform_integer(self.attempts + 1, source=source):
            drawn = law.attempt(source, progress)
            found = drawn if found is None else found
        node = self.otherwise.sides(matrix, 1, source, None)[0]
        return node if found is None else found


def _share(place: int, weights: list[Any], _: list[Any]) -> Any:
    return weights[place] / sum(weights)

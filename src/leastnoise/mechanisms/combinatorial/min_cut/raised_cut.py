"""A private cut of a large graph, in two phases: raise the minimum cut, then draw from all cuts by the raised weights.

Phase 1 adds a private λ to every pair of nodes so that the minimum cut is about a public target (`raising`); its scores
move both ways, so it costs 2ε₁. Phase 2 draws P(C) ∝ e^(−ε₂·W(C)/Δ) over all cuts of the raised graph, exactly and
without listing them all (`cut_law`); its scores are one-sided, so it costs ε₂. Together 2ε₁ + ε₂ = ε and no δ.
Tóthmérész 2013, Algorithms 2 and 3, has 4ε for ε₁ = ε₂ = ε, and a δ of at least 3/n² for stopping at n⁷ random
contractions; the 2ε that Gupta et al. 2010 claim does not hold. Docs: docs/theory/min_cut.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import ceil, log
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
    categorical_exp,
    exp_below,
    read_epsilon,
    read_integer,
    read_rational,
)
from leastnoise.mechanisms.combinatorial.graph_input import Nodes
from leastnoise.mechanisms.combinatorial.min_cut.contraction import Matrix
from leastnoise.mechanisms.combinatorial.min_cut.cut_law import CutLaw, Progress, all_cut_weights
from leastnoise.mechanisms.combinatorial.min_cut.cut_mechanism import (
    CutMechanism,
    EdgeWeights,
    exponential_chances,
    read_cut_nodes,
    read_weights,
)
from leastnoise.mechanisms.combinatorial.min_cut.raising import Raising
from leastnoise.mechanisms.combinatorial.min_cut.utility import RaisedUtility
from leastnoise.model import (
    LEVEL,
    Approximate,
    BoundedRange,
    Composed,
    ErrorEstimate,
    Event,
    PrivacyCertificate,
    Reason,
)

__all__ = ["RaisedCut"]

_MOST_NODES = 4000  # a matrix of weights is held in memory
_SMALL = 3  # nodes of a certificate
_SHARE = Fraction(2, 5)


@dataclass(frozen=True, init=False)
class RaisedCut(CutMechanism):
    """A cut that is nearly minimal, of a graph with up to thousands of nodes.

    Args:
        epsilon: The privacy of one release.
        nodes: The public nodes: labels, or how many.
        delta: Where it is above zero, cuts that are surely too rare to matter are left out, which saves time.
        weights: How weighted edges are read; left out, an edge is there or not.
        raising_share: Which part of epsilon goes to phase 1.
        target: Where the minimum cut is raised to, in steps; (ln n + 5)·Δ/ε₁ + 4·ln n·Δ/ε₂ if left out.
        resolution: λ is a multiple of 1/resolution; a power of two of at least n² if left out.

    >>> import networkx
    >>> cut = RaisedCut(2, 60)
    >>> cut.release(networkx.circulant_graph(60, [1, 2])) < set(range(60))
    True
    """

    name: ClassVar[str] = "raised minimum cut"
    epsilon: Exact
    nodes: Sequence[Hashable]
    delta: Fraction
    weights: EdgeWeights | None
    raising_share: Fraction
    raising: Raising

    def __init__(
        self,
        epsilon: NumberLike,
        nodes: Nodes,
        delta: NumberLike = 0,
        weights: EdgeWeights | None = None,
        *,
        raising_share: NumberLike = _SHARE,
        target: NumberLike | None = None,
        resolution: NumberLike | None = None,
    ) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(epsilon))
        object.__setattr__(self, "nodes", read_cut_nodes(nodes, _MOST_NODES, "join nodes to public groups first"))
        object.__setattr__(self, "delta", read_rational(delta, "delta", at_least=0, below=1))
        object.__setattr__(self, "weights", read_weights(weights))
        object.__setattr__(self, "raising_share", read_rational(raising_share, "raising_share", above=0, below=1))
        count = len(self.nodes)
        fine = (
            1 << (count**2 - 1).bit_length()
            if resolution is None
            else read_integer(resolution, "resolution", at_least=1)
        )
        goal = self._good_target() if target is None else read_integer(target, "target", at_least=1)
        object.__setattr__(self, "raising", Raising(count, goal, fine))
        self.require_room()

    @property
    def room(self) -> int:
        """How many steps a pair may weigh so that no sum leaves 64 bits."""
        return self.raising.room

    @property
    def first_epsilon(self) -> Exact:
        """ε₁, which is paid twice."""
        return self.epsilon * (self.raising_share / 2)

    @property
    def second_epsilon(self) -> Exact:
        """ε₂."""
        return self.epsilon * (1 - self.raising_share)

    @property
    def event(self) -> Event:
        """Two exponential mechanisms, one after the other; with delta only their sum is claimed."""
        if self.delta:
            return Approximate(self.epsilon, self.delta)
        return Composed((BoundedRange(self.first_epsilon * 2), BoundedRange(self.second_epsilon)))

    @property
    def negligible(self) -> Fraction:
        """η = δ/(1 + e^ε): a law within total variation η of an ε-private one is (ε, (1 + e^ε)·η)-private."""
        return self.delta / (1 + 1 / exp_below(-self.epsilon)) if self.delta else Fraction(0)

    def sides(self, matrix: Matrix, count: int, source: Source, progress: Progress | None) -> list[NDArray[np.bool_]]:
        """Both phases, `count` times; what one graph and one λ need is prepared once."""
        curve = self.raising.curve(matrix, progress)
        scores = -np.abs(curve - self.raising.target * self.raising.resolution)
        chosen = [int(categorical_exp(scores, source=source, rate=self._first_rate)) for _ in range(count)]
        laws: dict[int, CutLaw] = {}
        drawn = []
        for place in chosen:
            if place not in laws:
                raised = self.raising.raised(matrix, self.raising.amounts[place])
                laws[place] = CutLaw(raised, self._second_rate, least_cut=int(curve[place]), progress=progress)
            drawn.append(laws[place].draw(source, self.negligible))
        return drawn

    def chances(self, matrix: Matrix, bits: int) -> list[Enclosure]:
        """Σ_λ P(λ)·P(cut | λ); with delta, up to what may be left out."""
        raising, eta = self.raising, self.negligible
        distances = np.abs(raising.curve(matrix) - raising.target * raising.resolution)
        scores = Scores(-distances, "distances")
        low, high = [Fraction(0)] * (2 ** (raising.nodes - 1) - 1), [Fraction(0)] * (2 ** (raising.nodes - 1) - 1)
        for place, amount in enumerate(raising.amounts):
            first = at_chances(scores, self._first_rate, partial(_share, place), bits)
            second = exponential_chances(all_cut_weights(raising.raised(matrix, amount))[1:], self._second_rate, bits)
            for cut, chance in enumerate(second):
                low[cut] += first.lower * chance.lower
                high[cut] += first.upper * chance.upper
        pairs = zip(low, high, strict=True)
        return [Enclosure(max(least - eta, Fraction(0)), min(most + eta, Fraction(1))) for least, most in pairs]

    def error(self) -> ErrorEstimate:
        """How much heavier than the minimum cut, at most, over all graphs without a pair heavier than `largest`."""
        return self.extra_weight(self._utility.expected().upper, self._utility.quantile(LEVEL))

    def reason(self) -> Reason:
        """A raised graph has few light cuts, so that the error is O(ln n/ε) and not O(n/ε)."""
        return Reason(
            "a graph with a large minimum cut has few cuts that are nearly as light (Karger), so that raising it first "
            "brings the extra weight from O(n/epsilon) to O(ln n/epsilon); the law is sampled exactly",
            "Tóthmérész 2013, Propositions 2.1 and 2.2, Theorem 4.2; Gupta et al., SODA 2010; docs/theory/min_cut.md",
            None if self.delta else self.least_extra_weight(),
        )

    def certificate(self) -> PrivacyCertificate:
        """The same law on all graphs with at most three nodes, with the same target and resolution.

        Raises:
            BadParameter: A chance is irrational, as it is unless the resolution is 1.
        """
        count, raising = min(len(self.nodes), _SMALL), self.raising
        return RaisedCut(
            self.epsilon,
            count,
            raising_share=self.raising_share,
            target=raising.target,
            resolution=raising.resolution,
        ).certify()

    @property
    def rates(self) -> tuple[Exact, ...]:
        """Of both phases, per unit of the raised weights."""
        return self._first_rate, self._second_rate

    @property
    def _first_rate(self) -> Exact:
        return self.first_epsilon / (self.sensitivity * self.raising.resolution)

    @property
    def _second_rate(self) -> Exact:
        return self.second_epsilon / (self.sensitivity * self.raising.resolution)

    @cached_property
    def _utility(self) -> RaisedUtility:
        raising = self.raising
        rates = self.first_epsilon / self.sensitivity, self.second_epsilon / self.sensitivity
        return RaisedUtility(raising.nodes, len(raising.amounts), raising.target, raising.slack, *rates)

    def _good_target(self) -> int:
        """High enough that phase 2 has few light cuts even if phase 1 misses it by (ln n + 5)·Δ/ε₁."""
        spread = log(len(self.nodes))
        goal = (spread + 5) / float(self.first_epsilon) + 4 * spread / float(self.second_epsilon)
        return ceil(Fraction(goal) * self.sensitivity)


def _share(place: int, weights: list[Any], _: list[Any]) -> Any:
    return weights[place] / sum(weights)

"""The exponential mechanism over all cuts of a small graph: P(C) ∝ e^(−ε·W(C)/Δ).

Tóthmérész 2013, Algorithm 1, after Gupta et al. 2010. An edge more makes every cut heavier or leaves it as it is, by Δ
at most: the scores are one-sided, so that this is ε-private, where the thesis counts 2ε.

The same holds for every public set of cuts: those that keep two public nodes apart (s–t cuts), and those that leave at
least so many nodes on each side (balanced cuts).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, shown
from leastnoise.exact import Enclosure, Exact, NumberLike, Source, categorical_exp, read_epsilon, read_integer
from leastnoise.mechanisms.choice.selection import exponential_quantile, exponential_regret
from leastnoise.mechanisms.combinatorial.graph_input import Nodes
from leastnoise.mechanisms.combinatorial.min_cut.contraction import LARGEST_SUM, Matrix
from leastnoise.mechanisms.combinatorial.min_cut.cut_law import Progress, all_cut_weights
from leastnoise.mechanisms.combinatorial.min_cut.cut_mechanism import (
    CutMechanism,
    EdgeWeights,
    exponential_chances,
    read_cut_nodes,
    read_weights,
)
from leastnoise.mechanisms.combinatorial.min_cut.utility import all_cuts
from leastnoise.model import LEVEL, BoundedRange, ErrorEstimate, PrivacyCertificate, Reason

__all__ = ["MOST_NODES", "ExponentialCut"]

MOST_NODES = 26
_SMALL = 4  # nodes of a certificate


@dataclass(frozen=True, init=False)
class ExponentialCut(CutMechanism):
    """A cut that is nearly minimal, of a graph with at most 26 nodes.

    Args:
        epsilon: The privacy of one release.
        nodes: The public nodes: labels, or how many.
        weights: How weighted edges are read; left out, an edge is there or not.
        apart: Two nodes that the cut keeps apart; any two if left out.
        smallest: The fewest nodes on a side.

    >>> bridge = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]
    >>> cut = ExponentialCut("ln(16)", 6)
    >>> cut.pmf(frozenset({3, 4, 5}), bridge), cut.weight_of(frozenset({3, 4, 5}), bridge)
    (Enclosure(65536/91801), Fraction(1, 1))
    >>> ExponentialCut(60, 6, apart=(0, 5)).release(bridge), ExponentialCut(60, 6, smallest=3).release(bridge[1:])
    (frozenset({3, 4, 5}), frozenset({3, 4, 5}))
    """

    name: ClassVar[str] = "exponential mechanism over all cuts"
    epsilon: Exact
    nodes: Sequence[Hashable]
    weights: EdgeWeights | None
    apart: tuple[Hashable, Hashable] | None = None
    smallest: int = 1

    def __init__(
        self,
        epsilon: NumberLike,
        nodes: Nodes,
        weights: EdgeWeights | None = None,
        *,
        apart: Sequence[Hashable] | None = None,
        smallest: NumberLike = 1,
    ) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(epsilon))
        object.__setattr__(self, "nodes", read_cut_nodes(nodes, MOST_NODES, "use RaisedCut"))
        object.__setattr__(self, "weights", read_weights(weights))
        object.__setattr__(self, "apart", None if apart is None else _two_nodes(apart, self.nodes))
        half = len(self.nodes) // 2
        object.__setattr__(self, "smallest", read_integer(smallest, "smallest", at_least=1, at_most=half))
        self.require_room()

    @property
    def room(self) -> int:
        """How many steps a pair may weigh so that no sum leaves 64 bits."""
        return LARGEST_SUM // len(self.nodes) ** 2

    @property
    def rate(self) -> Exact:
        """ε for each sensitivity, in steps."""
        return self.epsilon / self.sensitivity

    @property
    def rates(self) -> tuple[Exact, ...]:
        """The one rate."""
        return (self.rate,)

    @property
    def event(self) -> BoundedRange:
        """epsilon, of bounded range."""
        return BoundedRange(self.epsilon)

    def sides(self, matrix: Matrix, count: int, source: Source, progress: Progress | None) -> list[NDArray[np.bool_]]:
        """All cuts are weighed, then some are chosen."""
        if progress is not None:
            progress("weighing all cuts", 0)
        exponents = -all_cut_weights(matrix)[1:][self._allowed]
        if count == 1:
            places = np.array([categorical_exp(exponents, source=source, rate=self.rate)])
        else:
            places = categorical_exp(exponents, size=count, source=source, rate=self.rate)
        codes = places if self._is_whole else np.flatnonzero(self._allowed)[places]
        bits = (codes[:, np.newaxis] + 1) >> np.arange(len(self.nodes) - 1) & 1
        return list(np.column_stack([np.zeros(count, dtype=np.bool_), bits.astype(np.bool_)]))

    def chances(self, matrix: Matrix, bits: int) -> list[Enclosure]:
        """P(cut) for cut 1, 2, … of `all_cut_weights`; exact where e^epsilon is rational."""
        return exponential_chances(all_cut_weights(matrix)[1:], self.rate, bits, self._allowed)

    def error(self) -> ErrorEstimate:
        """How much heavier than the minimum cut, at most: W(M/e)·Δ/ε for M other cuts, expected, plus the rounding.

        The minimum is that of the cuts that are allowed. It holds for all graphs in which no pair weighs more than
        `largest`.
        """
        odds = all_cuts(len(self.nodes)) if self._is_whole else Fraction(int(self._allowed.sum()) - 1)
        rate = self.rate
        return self.extra_weight(exponential_regret(odds, rate).upper, exponential_quantile(odds, rate, LEVEL))

    def reason(self) -> Reason:
        """One-sided scores cost ε and not 2ε; the packing bound of Theorem 4.2, sharpened."""
        return Reason(
            "an edge moves the weights of all cuts the same way, so that the exponential mechanism with the whole of "
            "epsilon is private; it is sampled exactly",
            "Tóthmérész 2013, Algorithm 1 and Theorem 4.2; Gupta et al., SODA 2010; docs/theory/min_cut.md",
            self.least_extra_weight() if self._is_whole else None,
        )

    def certificate(self) -> PrivacyCertificate:
        """The same law on all graphs with at most four nodes.

        Raises:
            BadParameter: e^epsilon is irrational.
        """
        count = min(len(self.nodes), _SMALL)
        ends = None if self.apart is None else (0, count - 1)
        return ExponentialCut(self.epsilon, count, apart=ends, smallest=min(self.smallest, count // 2)).certify()

    @property
    def _is_whole(self) -> bool:
        """Whether all cuts are allowed."""
        return self.apart is None and self.smallest == 1

    @cached_property
    def _allowed(self) -> Any:
        """Which of the cuts 1, 2, … may come out; public."""
        if self._is_whole:
            return slice(None)
        codes = np.arange(1, 1 << (len(self.nodes) - 1), dtype=np.int64)
        size = np.bitwise_count(codes)
        allowed: NDArray[np.bool_] = np.minimum(size, len(self.nodes) - size) >= self.smallest
        if self.apart is not None:
            one, other = (2 * codes >> self.nodes.index(node) & 1 for node in self.apart)
            allowed &= one != other
        return allowed


def _two_nodes(apart: Sequence[Hashable], nodes: Sequence[Hashable]) -> tuple[Hashable, Hashable]:
    """Two different public nodes."""
    try:
        one, other = apart
        fits = one != other and one in nodes and other in nodes
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise BadParameter(
            "apart must be two different nodes", given=shown(apart), fix="pass apart=(nodes[0], nodes[1])"
        )
    return one, other

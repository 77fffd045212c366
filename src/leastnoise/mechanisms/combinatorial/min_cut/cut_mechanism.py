"""What private cuts have in common: public nodes, private edges, and a set of nodes for an answer.

The answer of a database is the graph, in any form that `graph_input` reads; which facts about it are public is said
there. Neighbours differ in one edge, which is there or not; or, with weights, in the weight of one pair, by at most the
stated sensitivity. Every graph is answered: a pair that weighs more than a public bound counts as that. A cut is
released as the frozen set of the nodes that are not on the first node's side.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, compress, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, NumberTooLarge, TooLarge
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Scores,
    Size,
    Source,
    at_chances,
    exact_exp,
    read_rational,
    require_secure,
    shape_of,
    system_source,
)
from leastnoise.mechanisms.combinatorial.graph_input import GraphLike, Nodes, read_graph, read_nodes
from leastnoise.mechanisms.combinatorial.min_cut.contraction import Matrix
from leastnoise.mechanisms.combinatorial.min_cut.cut_law import Progress
from leastnoise.mechanisms.lower_bounds import min_cut_bound
from leastnoise.model import LEVEL, Channel, ErrorEstimate, Mechanism, Privacy, PrivacyCertificate
from leastnoise.model.graphs import hamming

__all__ = [
    "Cut",
    "CutMechanism",
    "EdgeWeights",
    "exponential_chances",
    "read_cut_nodes",
    "read_weights",
    "weight_between",
]

Cut = frozenset[Hashable]

_FINE = 256  # steps of a sensitivity
_NEVER = Enclosure(Fraction(0), Fraction(0))
_LARGEST = 2**500  # and its inverse: weights and steps between them are doubles
_ENUMERABLE = 16  # nodes up to which the whole law is written down


@dataclass(frozen=True, init=False)
class EdgeWeights:
    """How a weighted graph is read.

    Args:
        sensitivity: The most by which the weight of one pair of nodes differs between neighbours.
        step: Weights count as the nearest multiple of this, halves up. Rounded weights of neighbours differ by at most
            the sensitivity rounded up to a multiple. Errors include the rounding, so a small step is the better one:
            1/256 of the sensitivity if left out.
        name: The edge attribute that holds the weight; for a matrix or a list its entries or third column.
        largest: A pair that weighs more counts as this. Public; if left out, the largest weight for which sums of all
            weights fit into 64 bits. Errors are stated for graphs without heavier pairs.

    >>> EdgeWeights(sensitivity="1/3", step="1/4").steps
    2
    """

    sensitivity: Fraction
    step: Fraction
    name: str
    largest: Fraction | None

    def __init__(
        self,
        sensitivity: NumberLike = 1,
        step: NumberLike | None = None,
        name: str = "weight",
        largest: NumberLike | None = None,
    ) -> None:
        least, most = Fraction(1, _LARGEST), Fraction(_LARGEST)
        unit = read_rational(sensitivity, "sensitivity", at_least=least, at_most=most)
        object.__setattr__(self, "sensitivity", unit)
        fine = unit / _FINE if step is None else read_rational(step, "step", at_least=least, at_most=most)
        object.__setattr__(self, "step", fine)
        if not isinstance(name, str) or not name:
            raise BadParameter("name must be the name of an edge attribute", given=type(name).__name__, fix='"weight"')
        object.__setattr__(self, "name", name)
        top = None if largest is None else read_rational(largest, "largest", at_least=unit, at_most=most)
        object.__setattr__(self, "largest", top)

    @property
    def steps(self) -> int:
        """The sensitivity in steps, rounded up."""
        return int(-(-self.sensitivity // self.step))


class CutMechanism(Mechanism):
    """A private cut; a subclass says how it is drawn from the matrix of weights in steps."""

    epsilon: Exact
    nodes: Sequence[Hashable]
    weights: EdgeWeights | None

    @abstractmethod
    def sides(self, matrix: Matrix, count: int, source: Source, progress: Progress | None) -> list[NDArray[Any]]:
        """`count` independent cuts, each as a truth value for each node: which side it is on."""

    @abstractmethod
    def chances(self, matrix: Matrix, bits: int) -> list[Enclosure]:
        """P(cut) for cut 1, 2, … of `all_cut_weights`."""

    @property
    @abstractmethod
    def rates(self) -> tuple[Exact, ...]:
        """What the exponents are multiplied by; the law is rational where e to the power of each is."""

    @property
    @abstractmethod
    def room(self) -> int:
        """How many steps a pair may weigh so that no sum leaves 64 bits."""

    @property
    def sensitivity(self) -> int:
        """How many steps one neighbour can move the weight of a cut."""
        return 1 if self.weights is None else self.weights.steps

    @property
    def step(self) -> Fraction:
        """The unit of the weights."""
        return Fraction(1) if self.weights is None else self.weights.step

    @property
    def most(self) -> int:
        """How many steps a pair weighs at most; what weighs more counts as this."""
        if self.weights is None:
            return 1
        largest = self.weights.largest
        return self.room if largest is None else int(-(-largest // self.step))

    def require_room(self) -> None:
        """Refuse public numbers with which some graph could not be answered.

        Raises:
            NumberTooLarge: A sum of weights could leave 64 bits.
        """
        if self.room < max(self.sensitivity, 1 if self.weights is None or self.weights.largest is None else self.most):
            raise NumberTooLarge(
                "sums of weights could leave 64 bits",
                given=f"{len(self.nodes)} nodes, epsilon {self.epsilon}",
                fix="choose a larger epsilon or step, a smaller largest weight, or a lower resolution",
            )

    def matrix(self, truth: GraphLike) -> Matrix:
        """The weights of all pairs of nodes, in steps."""
        name = None if self.weights is None else self.weights.name
        return read_graph(truth, self.nodes, weight=name, step=self.step, largest=self.most).matrix()

    @property
    def pairs_apart(self) -> int:
        """How many pairs of nodes at most are apart in one of two cuts and not in the other."""
        return len(self.nodes) ** 2 // 4

    def extra_weight(self, expected: Fraction, quantile: Fraction) -> ErrorEstimate:
        """What bounds of the extra weight, in steps, say about the weights that were read.

        Let C be drawn, M minimal, and w a weight. W(C) − W(M) adds w over the pairs that C cuts and M does not, and
        takes it away for those that M cuts and C does not. Together these pairs are a cut again, so there are at most
        ⌊n²/4⌋ of them, and each was rounded by half a step at most. Nor is a cut of as many pairs heavier than all.
        """
        pairs = self.pairs_apart
        rounding = 0 if self.weights is None else Fraction(pairs, 2)
        bound, far = (min(extra + rounding, Fraction(pairs * self.most)) * self.step for extra in (expected, quantile))
        return ErrorEstimate("extra weight", Enclosure(bound, bound), {LEVEL: far}, attained=False)

    def least_extra_weight(self) -> Enclosure:
        """The packing bound for graphs whose edges weigh as much as one neighbour can add; before any rounding."""
        least = min_cut_bound(len(self.nodes), self.epsilon)
        unit = Fraction(1) if self.weights is None else self.weights.sensitivity
        return Enclosure(least.lower * unit, least.upper * unit)

    def draw(
        self, truth: GraphLike, size: Size = None, source: Source | None = None, progress: Progress | None = None
    ) -> Any:
        """A cut of the graph; with `size` an array of independent ones.

        `progress(what, times)` is called now and then. What it is told depends on the private graph, as does the time
        it all takes: it is for whoever holds the graph. An exception raised in it ends the draw; nothing is kept.
        """
        matrix, shape = self.matrix(truth), shape_of(size)
        drawn = np.empty(prod(shape), dtype=object)
        drawn[:] = [self.named(side) for side in self.sides(matrix, len(drawn), source or system_source, progress)]
        return drawn[0] if size is None else drawn.reshape(shape)

    def release(self, truth: GraphLike, source: Source | None = None, progress: Progress | None = None) -> Any:
        """One cut, with unpredictable noise only."""
        return self.draw(truth, source=require_secure(source), progress=progress)

    def law(self, truth: GraphLike, bits: int = 64) -> Mapping[Cut, Enclosure]:
        """P(cut | graph) for all cuts of a small graph.

        Raises:
            TooLarge: There are too many cuts to be written down.
        """
        if len(self.nodes) > _ENUMERABLE:
            raise TooLarge(
                f"the law on all cuts is only written down for at most {_ENUMERABLE} nodes",
                given=len(self.nodes),
                fix="draw from it instead",
            )
        chances = self.chances(self.matrix(truth), bits)
        return {self.named(side): chance for side, chance in zip(self.divisions(), chances, strict=True)}

    def divisions(self) -> Iterator[NDArray[Any]]:
        """Cut 1, 2, … of `all_cut_weights`, as `sides` gives them."""
        return (_side(cut, len(self.nodes)) for cut in range(1, 1 << (len(self.nodes) - 1)))

    def pmf(self, output: Hashable, truth: GraphLike, bits: int = 64) -> Enclosure:
        """P(output | graph), for small graphs."""
        return self.law(truth, bits).get(output, _NEVER) if isinstance(output, frozenset) else _NEVER

    def weight_of(self, cut: Cut, truth: GraphLike) -> Fraction:
        """What a cut weighs in a graph. This is private: for whoever holds the graph."""
        return weight_between(self.matrix(truth), self.division_of(cut)) * self.step

    def division_of(self, cut: Any) -> NDArray[Any]:
        """A cut as `sides` gives it."""
        return np.array([node in cut for node in self.nodes])

    def separates(self, cut: Any, one: Hashable, other: Hashable) -> bool:
        """Whether a cut keeps two nodes apart."""
        return (one in cut) != (other in cut)

    def listed(self, cut: Any) -> tuple[Any, ...]:
        """A cut as a tuple, in the order of the nodes."""
        return tuple(sorted(cut, key=self.nodes.index))

    def named(self, side: NDArray[Any]) -> Cut:
        """The nodes that are not on the first node's side."""
        return frozenset(self.nodes[i] for i in np.flatnonzero(side ^ side[0]).tolist())

    def certify(self) -> PrivacyCertificate:
        """The law on all graphs with these (few) nodes, as an exact channel on the graph of neighbours."""
        if any(exact_exp(rate) is None for rate in self.rates):
            raise BadParameter(
                f"the law of the {self.name} is irrational at this epsilon, so no exact channel can be certified",
                fix='choose an epsilon with rational e^epsilon, such as "ln(3)", and for a raised cut resolution=1',
            )
        pairs = list(combinations(self.nodes, 2))
        databases, graphs = hamming(len(pairs), 2), product((False, True), repeat=len(pairs))
        laws = [self.law(list(compress(pairs, present))) for present in graphs]
        cuts = [self.listed(cut) for cut in laws[0]]
        rows = [[p.lower for p in law.values()] for law in laws]
        return PrivacyCertificate(databases, Privacy(self.epsilon), Channel(rows, databases.nodes, cuts))


def weight_between(matrix: Matrix, side: NDArray[Any]) -> int:
    """The weight of all pairs whose nodes are on different sides; the matrix has each of them twice."""
    return int(matrix[side[:, np.newaxis] != side].sum()) // 2


def exponential_chances(weights: NDArray[Any], rate: Exact, bits: int, allowed: Any = slice(None)) -> list[Enclosure]:
    """P(cut) ∝ e^(−rate·W) for cuts of these weights, among those that are allowed."""
    levels, places, counts = np.unique(weights[allowed], return_inverse=True, return_counts=True)
    scores, base = Scores(-levels.astype(np.int64), "weights"), [Fraction(count) for count in counts.tolist()]

    def share(level: int) -> Enclosure:
        together = at_chances(scores, rate, lambda chances, _: chances[level] / sum(chances), bits, base)
        return Enclosure(together.lower / base[level], together.upper / base[level])

    shares = [share(level) for level in range(len(levels))]
    chances = [_NEVER] * len(weights)
    for cut, place in zip(np.arange(len(weights))[allowed].tolist(), places.tolist(), strict=True):
        chances[cut] = shares[place]
    return chances


def read_cut_nodes(nodes: Nodes, most: int, fix: str) -> Sequence[Hashable]:
    """At least two public nodes, and not more than can be handled."""
    public = read_nodes(nodes)
    if len(public) < 2:
        raise BadParameter("nodes must be two at least, or there is no cut", given=len(public), fix="pass nodes=2")
    if len(public) > most:
        raise TooLarge(f"nodes must be at most {most} here", given=len(public), fix=fix)
    return public


def read_weights(weights: EdgeWeights | None) -> EdgeWeights | None:
    """How weighted edges are read, or None for edges without weights."""
    if weights is not None and not isinstance(weights, EdgeWeights):
        raise BadParameter("weights must be EdgeWeights", given=type(weights).__name__, fix="pass EdgeWeights()")
    return weights


def _side(cut: int, count: int) -> NDArray[np.bool_]:
    return np.array([False, *(bool(cut >> i & 1) for i in range(count - 1))])

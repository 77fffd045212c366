"""A vertex cover that stays private: an order of the nodes, from which whoever holds the edges reads off a cover.

Algorithm 5 of Tóthmérész 2013, after Gupta, Ligett, McSherry, Roth and Talwar, SODA 2010: with l nodes left, choose one
with probability ∝ its number of live edges + s/√l, and drop it with its edges. In the order released, every edge is
covered by whichever of its ends comes first. A cover itself can't be released: see `plain_cover`.

Beside its degree a vertex has the weight w = s/√l with l vertices left, for the least s that is ε-private. For
neighbours that differ in an edge, the probabilities of an order differ by at most the factors 1 + √n/s (the graph with
the edge is the likelier one) and Π_{l=2}^n (1 + 2/(s√l)) (the one without), and the second is the larger
(docs/theory/vertex_cover.md). Gupta et al. take s = 4√n/ε, which bounds the product; here s is solved for. The sum of
logarithms is bounded from above: ln(1 + b/√x) is convex, so each term beyond the first few is at most its integral from
l − ½ to l + ½, and ∫ ln(1 + b/√x) dx = x·ln(1 + b/√x) + b√x − b²·ln(√x + b).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import ceil, prod
from typing import Any, ClassVar, NoReturn

import numpy as np

from leastnoise.errors import BadParameter, NoPrivateAnswer, TooLarge
from leastnoise.exact import (
    Ball,
    Enclosure,
    Exact,
    NumberLike,
    Size,
    Source,
    above,
    enclose,
    evaluate,
    of_fraction,
    read_epsilon,
    read_exact,
    require_secure,
    shape_of,
    sqrt_above,
    system_source,
)
from leastnoise.mechanisms.combinatorial.graph_input import EdgeList, GraphLike, Nodes, read_graph, read_nodes
from leastnoise.mechanisms.combinatorial.vertex_cover.noisy_order import Integers, Progress, noisy_order
from leastnoise.mechanisms.lower_bounds import vertex_cover_bound
from leastnoise.model import Certificate, ErrorEstimate, Mechanism, Pure, Reason

__all__ = ["VertexCoverOrder", "decode", "least_noise", "plain_cover", "privacy_above", "textbook_noise"]

_ONE_BY_ONE = 256  # terms of the sum
_DIGITS = 24  # binary digits of s
_PRECISION = 128


def privacy_above(nodes: int, noise: Fraction) -> Fraction:
    """A rational at least Σ_{l=2}^n ln(1 + 2/(s√l)), s = `noise`.

    >>> float(privacy_above(2, Fraction(1)))
    0.881373587019543
    """
    return above(evaluate(lambda: _loss(nodes, of_fraction(2 / noise)), _PRECISION))


def textbook_noise(nodes: int, epsilon: Exact) -> Fraction:
    """4√n/ε, or a rational just above it: Gupta, Ligett, McSherry, Roth and Talwar, SODA 2010."""
    below = epsilon if isinstance(epsilon, Fraction) else Fraction(float(epsilon)) * (1 - Fraction(1, 2**40))
    return 4 * sqrt_above(nodes) / below


@lru_cache(maxsize=256)
def least_noise(nodes: int, epsilon: Exact) -> Fraction:
    """The least s of 24 binary digits for which the order of n vertices is surely ε-private.

    >>> [round(float(least_noise(n, Fraction(1)) / textbook_noise(n, Fraction(1))), 2) for n in (10, 100, 1000)]
    [0.6, 0.87, 0.96]
    """
    if nodes < 2:
        return Fraction(1)  # no edge, no secret
    high = textbook_noise(nodes, epsilon)
    unit = high / 2**_DIGITS
    low, steps = 0, 2**_DIGITS
    while steps - low > 1:
        middle = (low + steps) // 2
        if privacy_above(nodes, middle * unit) <= epsilon:
            steps = middle
        else:
            low = middle
    found = steps * unit
    digits = _DIGITS - ceil(found).bit_length()
    scale = 2 ** max(digits, 0)
    return Fraction(ceil(found * scale), scale)  # a short rational, a little above


def _loss(nodes: int, b: Ball) -> Ball:
    last = min(nodes, _ONE_BY_ONE)
    total = sum(((1 + b / of_fraction(left).sqrt()).log() for left in range(2, last + 1)), start=Ball(0))
    if nodes > last:
        half = Fraction(1, 2)
        total += _integral(of_fraction(nodes + half), b) - _integral(of_fraction(last + half), b)
    return total


def _integral(x: Ball, b: Ball) -> Ball:
    root = x.sqrt()
    return x * (1 + b / root).log() + b * root - b * b * (root + b).log()


_MOST_NODES = 1 << 25  # some gigabytes
_MOST_IN_LAW = 1 << 11
_SMALLEST_EPSILON, _LARGEST_EPSILON = Fraction(1, 10**9), 1000  # within them doubles hold every chance


@dataclass(frozen=True, init=False)
class VertexCoverOrder(Mechanism):
    """An order of the public nodes that encodes a small vertex cover. The truth is the graph.

    Args:
        epsilon: The privacy of one release, where a neighbour has one edge more or less; from 1e-9 to 1000.
        nodes: The public nodes: labels, or how many.

    >>> order = VertexCoverOrder(epsilon=1, nodes="abcd")
    >>> star = [("a", "b"), ("a", "c"), ("a", "d")]
    >>> released = order.release(star)
    >>> sorted(released), set(decode(["b", "a", "c", "d"], star)) == {"a", "b"}
    (['a', 'b', 'c', 'd'], True)
    """

    name: ClassVar[str] = "noisy order of the nodes"
    epsilon: Exact
    nodes: Sequence[Hashable]

    def __init__(self, epsilon: NumberLike, nodes: Nodes) -> None:
        number = read_exact(epsilon, "epsilon", at_least=_SMALLEST_EPSILON, at_most=_LARGEST_EPSILON)
        object.__setattr__(self, "epsilon", number)
        object.__setattr__(self, "nodes", read_nodes(nodes))
        if len(self.nodes) > _MOST_NODES:
            raise TooLarge(f"nodes must be at most {_MOST_NODES}", given=len(self.nodes), fix="join nodes first")

    @property
    def noise(self) -> Fraction:
        """s, where a node of degree d has weight d + s/√l with l nodes left."""
        return least_noise(len(self.nodes), self.epsilon)

    @property
    def event(self) -> Pure:
        """Epsilon."""
        return Pure(self.epsilon)

    def release(self, truth: GraphLike, source: Source | None = None, progress: Progress | None = None) -> Any:
        """One order, with unpredictable noise only; `progress` is called with the share of the nodes that are done."""
        return self.draw(truth, source=require_secure(source), progress=progress)

    def draw(
        self, truth: GraphLike, size: Size = None, source: Source | None = None, progress: Progress | None = None
    ) -> Any:
        """An order of the nodes: an array if they are only counted, else a list of labels.

        With `size` a list of orders. An exception raised by `progress` ends the work and nothing is returned.
        """
        edges = read_graph(truth, self.nodes)
        ends, bits = (edges.tails, edges.heads), source or system_source
        orders = [
            self._named(noisy_order(len(self.nodes), *ends, self.noise, bits, progress))
            for _ in range(prod(shape_of(size)))
        ]
        return orders[0] if size is None else orders

    def pmf(self, output: Hashable, truth: GraphLike, bits: int = 64) -> Enclosure:
        """P(output | truth), a product over the places of (live degree + s/√l)/(2·live edges + s√l)."""
        if len(self.nodes) > _MOST_IN_LAW:
            raise TooLarge(f"the law is only written down for {_MOST_IN_LAW} nodes", given=len(self.nodes), fix="draw")
        order = list(output) if isinstance(output, tuple | list | np.ndarray) else []
        places = {node: place for place, node in enumerate(self.nodes)}
        if len(order) != len(places) or set(order) != set(places):
            return Enclosure(Fraction(0), Fraction(0))
        graph = read_graph(truth, self.nodes)
        return enclose(partial(_chance, [places[node] for node in order], graph, self.noise), bits)

    def error(self) -> ErrorEstimate:
        """How many times larger than the smallest cover the decoded one is, expected, at most, on every graph.

        2 + (2/n)·Σ_l s/√l ≤ 2 + 2s(2√n − 1)/n (Tóthmérész 2013, Proposition 3.7), and n − 1 if that is less.
        """
        count = len(self.nodes)

        def ratio() -> Ball:
            return 2 + 2 * of_fraction(self.noise) * (2 * of_fraction(count).sqrt() - 1) / count

        bound, most = enclose(ratio), Fraction(max(count - 1, 1))
        return ErrorEstimate("ratio", Enclosure(min(bound.lower, most), min(bound.upper, most)), attained=False)

    def reason(self) -> Reason:
        """Within a constant factor of the best ratio that is private."""
        return Reason(
            "no private mechanism can release a cover of fewer than n − 1 nodes, and for orders of the nodes the ratio "
            "2 + O(1/ε) is the best possible up to constants",
            "Tóthmérész 2013, Propositions 3.5 to 3.7 and Theorem 4.3; Gupta et al., SODA 2010",
            vertex_cover_bound(self.epsilon, max(len(self.nodes), 2)),
        )

    def certificate(self) -> Certificate:
        """There is none: √l is irrational for some l.

        Raises:
            BadParameter: Always.
        """
        raise BadParameter(
            f"the law of the {self.name} is irrational for every epsilon, so no exact channel can be certified",
            fix="see the proof in docs/theory/vertex_cover.md",
        )

    def _named(self, order: Integers) -> Any:
        return order if isinstance(self.nodes, range) else [self.nodes[place] for place in order.tolist()]


def decode(order: Sequence[Hashable] | Integers, graph: GraphLike) -> Any:
    """The cover that an order encodes: the nodes that come first of the two ends of some edge, in that order.

    For whoever holds the edges; the result is as private as they are. It is a cover for every order and every graph.

    >>> decode([2, 0, 1], [(0, 1), (1, 2)]).tolist(), decode(["x", "y"], [])
    ([2, 0], [])
    """
    named = order.tolist() if isinstance(order, np.ndarray) else list(order)
    counted = set(named) == set(range(len(named)))  # a released array may hold names, or numbers that are names
    edges = read_graph(graph, range(len(named)) if counted else named)
    rank = np.argsort(np.asarray(order)) if counted else np.arange(len(order))
    covers = np.zeros(len(order), dtype=np.bool_)
    covers[np.minimum(rank[edges.tails], rank[edges.heads])] = True
    return np.asarray(order)[covers] if counted else [named[place] for place in np.flatnonzero(covers).tolist()]


def plain_cover(epsilon: NumberLike, nodes: Nodes) -> NoReturn:
    """Refuse to release a vertex cover as a set of nodes, and say why.

    Raises:
        NoPrivateAnswer: Always.

    >>> plain_cover(1, 100)
    Traceback (most recent call last):
    leastnoise.errors.NoPrivateAnswer: a private mechanism that always gives a vertex cover gives at least 99 of 100 ...
    """
    read_epsilon(epsilon)
    count = len(read_nodes(nodes))
    raise NoPrivateAnswer(
        f"a private mechanism that always gives a vertex cover gives at least {max(count - 1, 0)} of {count} nodes: if "
        "it ever left out two nodes, then an edge between them would turn a possible answer into an impossible one "
        "(Tóthmérész 2013, Proposition 3.5)",
        fix="release an order of the nodes (VertexCoverOrder), or let an uncovered edge have a price (PenalisedCover)",
    )


def _chance(order: list[int], graph: EdgeList, noise: Fraction) -> Ball:
    matrix, left, chance = graph.matrix() > 0, len(order), Ball(1)
    for place in order:
        weight = of_fraction(noise) / of_fraction(left).sqrt()
        chance *= (int(matrix[place].sum()) + weight) / (int(matrix.sum()) + left * weight)
        matrix[place, :] = matrix[:, place] = False
        left -= 1
    return chance

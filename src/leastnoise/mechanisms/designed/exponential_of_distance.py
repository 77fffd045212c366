"""p(y|x) = γ^d(x, y) / Σ_z γ^d(x, z), γ = e^-ε: ε-private where the normaliser is the same for every x.

On Hamming graphs it is a randomized response for each coordinate. Elsewhere the distance is drawn first, each with its
number of nodes times γ^d, and then one of the nodes at that distance. Neither needs a matrix.
Why it is optimal: docs/theory/optimal_transitive.md.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import lcm, prod
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Enclosure,
    Exact,
    Size,
    Source,
    at_alpha,
    categorical_exp,
    least_whole,
    shape_of,
    uniform_integer,
)
from leastnoise.mechanisms.choice.randomized_response import RandomizedResponse
from leastnoise.mechanisms.truths import name_places
from leastnoise.model import LEVEL, Certificate, ErrorEstimate, Mechanism, Pure, Reason
from leastnoise.model.graphs import DatasetGraph
from leastnoise.model.graphs.grids import Hamming

__all__ = ["ExponentialOfDistance", "mean_over_layers"]


@dataclass(frozen=True)
class ExponentialOfDistance(Mechanism):
    """Made by a design, on a vertex-transitive graph.

    Attributes:
        epsilon: The privacy between neighbours.
        graph: The nodes.
        loss: The name of the loss.
        losses: What an output costs at each distance.
        optimality: Why it is optimal.
        prove: Writes the design's certificate.
    """

    name: ClassVar[str] = "exponential mechanism of the distance"
    epsilon: Exact
    graph: DatasetGraph
    loss: str
    losses: Sequence[Fraction] = field(repr=False)
    optimality: Reason = field(repr=False)
    prove: Callable[[], Certificate] = field(repr=False, compare=False)

    @property
    def event(self) -> Pure:
        """That of one release."""
        return Pure(self.epsilon)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """Draw from the law at a node; several draws as an array of labels."""
        count = 1 if size is None else prod(shape_of(size))
        labels = self._draw(self._node(truth), count, source)
        return labels[0] if size is None else name_places(np.arange(count).reshape(shape_of(size)), labels)

    def _draw(self, node: Hashable, count: int, source: Source | None) -> list[Hashable]:
        if isinstance(self.graph, Hamming):
            point = self.graph.nodes[self.graph.index(node)]
            responses = RandomizedResponse(self.epsilon, self.graph.alphabet).draw_each(point * count, source)
            return [tuple(row) for row in responses.reshape(count, len(point)).tolist()]
        distances = categorical_exp(
            -np.arange(len(self._layer_sizes)), self._layer_sizes, count, source, rate=self.epsilon
        )
        layers = {distance: self.graph.layer(node, distance) for distance in set(distances.tolist())}
        return [
            layers[distance][uniform_integer(len(layers[distance]), source=source)] for distance in distances.tolist()
        ]

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth)."""
        distance = int(self.graph.distance(self._node(truth), output))
        sizes = self._layer_sizes
        return at_alpha(self.epsilon, lambda a: a**distance / _polynomial(sizes, a), bits, power=2 * len(sizes))

    def error(self) -> ErrorEstimate:
        """The expected loss and its 95 % quantile, the same at every node."""
        sizes = self._layer_sizes

        def within(distance: int) -> bool:
            near = [size if d <= distance else 0 for d, size in enumerate(sizes)]
            share = at_alpha(self.epsilon, lambda a: _polynomial(near, a) / _polynomial(sizes, a), power=2 * len(sizes))
            return share.lower >= LEVEL

        quantile = self.losses[least_whole(within)]
        return ErrorEstimate(self.loss, mean_over_layers(self.epsilon, sizes, self.losses), {LEVEL: quantile})

    def reason(self) -> Reason:
        """The theorem."""
        return self.optimality

    def certificate(self) -> Certificate:
        """The design's proof."""
        return self.prove()

    @cached_property
    def _layer_sizes(self) -> list[int]:
        return list(self.graph.layer_sizes(self.graph.nodes[0]).values())

    def _node(self, truth: Any) -> Hashable:
        """A private node; an error does not show it."""
        if truth in self.graph:
            return self.graph.nodes[self.graph.index(truth)]
        raise BadParameter("the truth must be a node of the graph", fix="map other values to a node before asking")


def mean_over_layers(rate: Exact, sizes: list[int], losses: Sequence[Fraction], bits: int = 128) -> Enclosure:
    """Σ m_d·k_d·γ^d / Σ k_d·γ^d with γ = e^-rate, k_d the layer sizes and m_d the loss at distance d.

    >>> from leastnoise.exact import ln
    >>> mean_over_layers(ln(3), [1, 2], [Fraction(0), Fraction(1)])
    Enclosure(2/5)
    """
    common = lcm(*(loss.denominator for loss in losses))
    weights = [int(size * loss * common) for size, loss in zip(sizes, losses, strict=True)]
    if not any(weights):
        return Enclosure(Fraction(0), Fraction(0))
    mean = at_alpha(rate, lambda a: _polynomial(weights, a) / _polynomial(sizes, a), bits, power=2 * len(sizes))
    return Enclosure(mean.lower / common, mean.upper / common)


def _polynomial(coefficients: list[int], a: Any) -> Any:
    """Σ coefficient_d·a^d."""
    total = coefficients[-1] + 0 * a
    for coefficient in reversed(coefficients[:-1]):
        total = total * a + coefficient
    return total

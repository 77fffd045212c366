"""One mechanism for each coordinate, drawn independently.

P(y | x) = Π_k P_k(y_k | x_k). Neighbours in a Cartesian product differ in one coordinate, along an edge of that factor,
so the laws of all other coordinates are the same and the promise is that of the one that differs: ε and δ are not added
up. Why it is optimal: docs/theory/optimal_product.md.

The error is the sum of the coordinates' errors where they are worst. By Markov's inequality a loss is within twenty
times its expectation in 95 of 100 cases.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.exact import Enclosure, Size, Source
from leastnoise.model import (
    LEVEL,
    Approximate,
    Certificate,
    DesignProblem,
    ErrorEstimate,
    Event,
    Mechanism,
    Pure,
    Reason,
)

__all__ = ["ProductMechanism"]


@dataclass(frozen=True)
class ProductMechanism(Mechanism):
    """Made by a design, which knows the graph.

    Attributes:
        parts: The mechanism of each coordinate, private on the factor of the graph.
        problem: What it was made for: graph, privacy, prior and loss.
        optimality: Why it is optimal.
        prove: Writes the design's certificate.
    """

    name: ClassVar[str] = "product of mechanisms"
    parts: tuple[Mechanism, ...]
    problem: DesignProblem = field(repr=False)
    optimality: Reason = field(repr=False)
    prove: Callable[[], Certificate] = field(repr=False, compare=False)

    @property
    def event(self) -> Event:
        """That of one coordinate: neighbours differ in one."""
        privacy = self.problem.privacy
        return Pure(privacy.epsilon) if privacy.is_pure else Approximate(privacy.epsilon, privacy.delta)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """Draw each coordinate from its law."""
        drawn = [part.draw(x, size, source) for part, x in zip(self.parts, self._point(truth), strict=True)]
        if size is None:
            return tuple(drawn)
        labels = np.empty(drawn[0].shape, dtype=object)
        flat = labels.reshape(-1)
        flat[:] = list(zip(*(column.ravel().tolist() for column in drawn), strict=True))
        return labels

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth), a product."""
        point = self._point(truth)
        low = high = Fraction(1)
        if not isinstance(output, tuple) or len(output) != len(self.parts):
            return Enclosure(Fraction(0), Fraction(0))
        for part, y, x in zip(self.parts, output, point, strict=True):
            chance = part.pmf(y, x, bits)
            low, high = low * chance.lower, high * chance.upper
        return Enclosure(low, high)

    def error(self) -> ErrorEstimate:
        """The sum of the largest expected losses; 95 of 100 losses stay within twenty times of it."""
        errors = [part.error() for part in self.parts]
        low = sum((error.expected.lower for error in errors), start=Fraction(0))
        high = sum((error.expected.upper for error in errors), start=Fraction(0))
        attained = all(error.attained for error in errors)
        return ErrorEstimate(self.problem.loss_name, Enclosure(low, high), {LEVEL: high / (1 - LEVEL)}, attained)

    def reason(self) -> Reason:
        """The theorem."""
        return self.optimality

    def certificate(self) -> Certificate:
        """The design's proof."""
        return self.prove()

    def _point(self, truth: Any) -> tuple[Any, ...]:
        """The coordinates of a private node; an error does not show it."""
        if truth in self.problem.graph:
            return tuple(int(x) for x in truth)
        raise BadParameter("the truth must be a node of the graph", fix="map other values to a node before asking")

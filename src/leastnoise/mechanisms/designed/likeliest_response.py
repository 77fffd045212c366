"""Randomized response among the likeliest labels: the rest answer with one of these at random.

With j labels kept and γ = e^-ε: P(y | x) = 1/(1 + (j − 1)γ) for y = x and γ/(1 + (j − 1)γ) for each other y, if x is
one of the j; 1/j for each of them if x is none. As γ/(1 + (j − 1)γ) ≤ 1/j ≤ 1/(1 + (j − 1)γ), no two labels differ by
more than e^ε. The third law is randomized response on a label drawn at random, and this is how it is drawn.
Why it is optimal: docs/theory/optimal_complete.md.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.exact import Enclosure, Exact, Size, Source, shape_of, uniform_integer
from leastnoise.mechanisms.choice.randomized_response import RandomizedResponse
from leastnoise.mechanisms.designed.designed_mechanism import worst_estimate
from leastnoise.mechanisms.truths import name_places
from leastnoise.model import LEVEL, Certificate, DesignProblem, ErrorEstimate, Mechanism, Pure, Reason
from leastnoise.model.graphs import DatasetGraph

__all__ = ["LikeliestResponse"]


_ENUMERATED = 256  # labels for which the loss of each answer is looked at


@dataclass(frozen=True)
class LikeliestResponse(Mechanism):
    """Made by a design, which knows the prior.

    Attributes:
        epsilon: The privacy of one release.
        graph: All labels, each a neighbour of each.
        kept: The labels that may be answered.
        problem: What it was made for: prior and loss.
        optimality: Why it is optimal.
        prove: Writes the design's certificate.
    """

    name: ClassVar[str] = "randomized response among the likeliest"
    epsilon: Exact
    graph: DatasetGraph
    kept: tuple[Hashable, ...]
    problem: DesignProblem = field(repr=False)
    optimality: Reason = field(repr=False)
    prove: Callable[[], Certificate] = field(repr=False, compare=False)

    @property
    def event(self) -> Pure:
        """That of one release."""
        return Pure(self.epsilon)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """Draw one of the labels that are kept; what is drawn from does not depend on the answer."""
        known = self._kept_place(truth)
        any_label = uniform_integer(len(self.kept), shape_of(size), source)
        places = any_label if known is None else np.full_like(any_label, known)
        if self._response is not None:
            places = self._response.draw_each(places.ravel().tolist(), source).reshape(places.shape)
        return self.kept[int(places)] if size is None else name_places(places, self.kept)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth)."""
        known = self._kept_place(truth)
        share = Fraction(1, len(self.kept)) if output in self.kept else Fraction(0)
        if known is None or output not in self.kept or self._response is None:
            return Enclosure(share, share)
        return self._response.pmf(self.kept.index(output), known, bits)

    def error(self) -> ErrorEstimate:
        """The expected loss where it is worst."""
        if len(self.graph.nodes) > _ENUMERATED:
            return self._error_of_many()
        nodes, losses = self.graph.nodes, self.problem.loss_table.transposed().rows
        laws = ([self.pmf(y, x) for y in nodes] for x in nodes)
        return worst_estimate(self.problem.loss_name, zip(laws, losses, strict=True))

    def _error_of_many(self) -> ErrorEstimate:
        """Being wrong, with many labels: certain for one that is not kept, else as often as randomized response is."""
        wrong = Enclosure(Fraction(1), Fraction(1))
        if len(self.kept) == len(self.graph.nodes):
            right = self.pmf(self.kept[0], self.kept[0])
            wrong = Enclosure(1 - right.upper, 1 - right.lower)
        quantile = Fraction(wrong.upper > 1 - LEVEL)
        return ErrorEstimate(self.problem.loss_name, wrong, {LEVEL: quantile}, attained=False)

    def reason(self) -> Reason:
        """The theorem."""
        return self.optimality

    def certificate(self) -> Certificate:
        """The design's proof."""
        return self.prove()

    @cached_property
    def _response(self) -> RandomizedResponse | None:
        """None where one label is kept: it is then the answer."""
        return RandomizedResponse(self.epsilon, len(self.kept)) if len(self.kept) > 1 else None

    def _kept_place(self, truth: Any) -> int | None:
        """The place of a private label among those kept, None if it is not; an error does not show it."""
        if truth not in self.graph:
            raise BadParameter("the truth must be a node of the graph", fix="map other values to a node before asking")
        return self.kept.index(truth) if truth in self.kept else None

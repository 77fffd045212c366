"""The truncated geometric mechanism along a line of nodes, each output said as its reader would best read it.

P(w | x) = Σ G(y | x) over the outputs y that are said as w, with G the truncated geometric channel for α = e^(−ε·gap).
Saying it is post-processing, so it is as private as G: ε between neighbours, ε·d between any two nodes. Why it is
optimal: docs/theory/optimal_path.md.

On the natural numbers P(y | x) = G(y | x) for y > 0 with G the geometric channel, and all mass below zero is at 0.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.exact import Enclosure, Exact, NumberLike, Size, Source, categorical, scaled
from leastnoise.mechanisms.designed.designed_mechanism import worst_estimate
from leastnoise.mechanisms.numeric.integer_noise import Geometric
from leastnoise.mechanisms.numeric.truncated_geometric import TruncatedGeometric
from leastnoise.mechanisms.truths import read_whole
from leastnoise.model import (
    LEVEL,
    Certificate,
    DesignProblem,
    ErrorEstimate,
    LaplaceNoise,
    Mechanism,
    Pure,
    Reason,
    squared,
    zero_one,
)
from leastnoise.model.graphs import naturals
from leastnoise.model.graphs.path_cycle_complete import EvenLine

__all__ = ["ClampedGeometric", "RemappedGeometric"]

_ENUMERATED = 1000  # nodes for which the error is computed at each


@dataclass(frozen=True)
class RemappedGeometric(Mechanism):
    """Made by a design, which knows prior and loss.

    Attributes:
        epsilon: The privacy between nodes at distance one.
        line: The nodes in their order.
        said: What is said for the outputs that are not said as the node they are, place to label.
        problem: What it was made for: prior and loss.
        optimality: Why it is optimal.
        prove: Writes the design's certificate.
        mixed: What is said at random, place to labels and their probabilities.
    """

    name: ClassVar[str] = "truncated geometric mechanism, remapped"
    epsilon: Exact
    line: EvenLine
    said: Mapping[int, Hashable] = field(repr=False)
    problem: DesignProblem = field(repr=False)
    optimality: Reason = field(repr=False)
    prove: Callable[[], Certificate] = field(repr=False, compare=False)
    mixed: Mapping[int, tuple[tuple[Hashable, Fraction], ...]] = field(repr=False, default_factory=dict)

    @property
    def event(self) -> Pure:
        """That of the geometric noise; on a metric, of two nodes at distance one."""
        is_graph = self.line.graph.edge_lengths() is None
        return LaplaceNoise(self.epsilon) if is_graph else Pure(self.epsilon)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """Draw from the law at a node."""
        places = self._noise.draw(self._place(truth), size, source)
        if size is None:
            return self._say(int(places), source)
        labels = np.empty(places.shape, dtype=np.int64 if self._says_integers else object)
        flat = labels.reshape(-1)
        for k, place in enumerate(places.ravel().tolist()):  # one by one: a label may be a tuple
            flat[k] = self._say(place, source)
        return labels

    def sayings(self, place: int) -> tuple[tuple[Hashable, Fraction], ...]:
        """What is said for an output of the geometric mechanism, with the probabilities."""
        if place in self.mixed:
            return self.mixed[place]
        return ((self.said[place] if place in self.said else self.line.label(place), Fraction(1)),)

    def _say(self, place: int, source: Source | None) -> Hashable:
        labels = self.sayings(place)
        drawn = 0 if len(labels) == 1 else int(categorical([share for _, share in labels], source=source))
        return labels[drawn][0]

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth)."""
        places, x = self._sources_of(output), self._place(truth)
        chances = [scaled(self._noise.pmf(place, x, bits), share) for place, share in places]
        zero = Fraction(0)
        return Enclosure(sum((p.lower for p in chances), zero), sum((p.upper for p in chances), zero))

    def error(self) -> ErrorEstimate:
        """The expected loss where it is worst; on long paths that of the noise plus the longest way to what is said."""
        size, name = len(self.line.order), self.problem.loss_name
        if size > _ENUMERATED:
            return self._bounded_error(name)
        rows = dict(zip(self.problem.answers, self.problem.loss_table.rows, strict=True))
        heard = [(y, share, rows[label]) for y in range(size) for label, share in self.sayings(y)]

        def at(x: int, node: int) -> tuple[list[Enclosure], list[Fraction]]:
            law = [self._noise.pmf(y, x) for y in range(size)]
            return [scaled(law[y], share) for y, share, _ in heard], [cost[node] for _, _, cost in heard]

        return worst_estimate(name, (at(x, node) for x, node in enumerate(self.line.order)))

    def _bounded_error(self, name: str) -> ErrorEstimate:
        """(|noise| + shift)^p for the distance and its square; a named loss of a long line has no other values."""
        noise, step, shift, gap = self._noise.worst_error(), self.within(), self._shift, self.line.gap
        if self.problem.loss is zero_one:
            return ErrorEstimate(name, Enclosure(Fraction(0), Fraction(1)), {LEVEL: Fraction(1)}, attained=False)
        if self.problem.loss is squared:
            square = self._noise.worst_error(squared)
            most = square.upper + 2 * shift * noise.upper + shift**2
            return ErrorEstimate(name, Enclosure(Fraction(0), most), {LEVEL: Fraction(step**2)}, attained=False)
        worst = Enclosure(noise.lower * gap, (noise.upper + shift) * gap)
        return ErrorEstimate(name, worst, {LEVEL: step * gap}, attained=False)

    def within(self, level: NumberLike = LEVEL) -> int:
        """A number of places t: what is said is at most t away from the truth with this probability, at every truth.

        That of the noise plus the longest way to what is said.
        """
        return self._noise.quantile(level) + self._shift

    def truths(self, output: Hashable, level: NumberLike = LEVEL) -> tuple[int, int]:
        """The first and the last place of the truth that an answer leaves, with this probability at every truth.

        The place that the noise drew is one of those said as this output, and at most the noise's quantile from the
        truth.
        """
        drawn, far = [place for place, _ in self._sources_of(output)], self._noise.quantile(level)
        return max(0, min(drawn) - far), min(len(self.line.order) - 1, max(drawn) + far)

    def reason(self) -> Reason:
        """The theorem."""
        return self.optimality

    def certificate(self) -> Certificate:
        """The design's proof."""
        return self.prove()

    @cached_property
    def _shift(self) -> int:
        """The longest way from a place to what is said there."""
        places = [*self.said, *self.mixed]
        return max(
            (abs(self._node_place(label) - place) for place in places for label, _ in self.sayings(place)), default=0
        )

    @cached_property
    def _noise(self) -> TruncatedGeometric:
        return TruncatedGeometric(self.epsilon * self.line.gap, 0, len(self.line.order) - 1)

    @cached_property
    def _says_integers(self) -> bool:
        labels = [label for place in [*self.said, *self.mixed] for label, _ in self.sayings(place)]
        return self.line.is_numbered and all(type(label) is int for label in labels)

    @cached_property
    def _place_of_node(self) -> Mapping[int, int]:
        return {node: place for place, node in enumerate(self.line.order)}

    @cached_property
    def _moved_to(self) -> dict[Hashable, list[tuple[int, Fraction]]]:
        places: dict[Hashable, list[tuple[int, Fraction]]] = {}
        for place in [*self.said, *self.mixed]:
            for label, share in self.sayings(place):
                places.setdefault(label, []).append((place, share))
        return places

    def _node_place(self, label: Hashable) -> int:
        node = self.line.graph.index(label)
        return node if isinstance(self.line.order, range) else self._place_of_node[node]

    def _sources_of(self, output: Hashable) -> list[tuple[int, Fraction]]:
        """The places that are said as this output, and how often they are."""
        moved = self._moved_to.get(output, [])
        own = self._node_place(output) if output in self.line.graph else None
        if own is None or own in self.said or own in self.mixed:
            return moved
        return [(own, Fraction(1)), *moved]

    def _place(self, truth: Any) -> int:
        """The place of a private node; an error does not show it."""
        if truth in self.line.graph:
            return self._node_place(truth)
        raise BadParameter("the truth must be a node of the graph", fix="map other values to a node before asking")


_SHOWN = 24  # steps of the path in the certificate: the theorem is the same for all


@dataclass(frozen=True)
class ClampedGeometric(Mechanism):
    """A natural number plus geometric noise, and zero where that is negative.

    >>> ClampedGeometric(Geometric("ln(2)").epsilon).pmf(0, 1)
    Enclosure(1/3)
    """

    name: ClassVar[str] = "geometric mechanism, clamped at zero"
    epsilon: Exact

    @property
    def event(self) -> LaplaceNoise:
        """That of one release."""
        return LaplaceNoise(self.epsilon)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """Draw a natural number; an answer below zero counts as zero."""
        drawn = self._noise.draw(self._clamped(truth), size, source)
        return max(0, drawn) if size is None else np.maximum(drawn, 0)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth)."""
        if output == 0:
            return self._noise.cdf(0, self._clamped(truth), bits)
        if output not in naturals():
            return Enclosure(Fraction(0), Fraction(0))
        return self._noise.pmf(output, self._clamped(truth), bits)

    def error(self) -> ErrorEstimate:
        """That of the noise, an upper bound near zero."""
        noise = self._noise.error()
        return ErrorEstimate(noise.loss, noise.expected, noise.quantiles, attained=False)

    def reason(self) -> Reason:
        """No mechanism does better far from zero."""
        return self._noise.reason()

    def certificate(self) -> Certificate:
        """The optimality theorem on a stretch of the path."""
        return TruncatedGeometric(self.epsilon, 0, _SHOWN).certificate()

    @property
    def _noise(self) -> Geometric:
        return Geometric(self.epsilon)

    @staticmethod
    def _clamped(truth: Any) -> int:
        return max(0, read_whole(truth))

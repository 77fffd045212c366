"""Smooth sensitivity: noise as wide as a smooth bound of what one change does near the data at hand.

f is a number at every node of a finite dataset graph, LS(x) the most that f differs between x and a neighbour. For a
growth g > 1 the smooth sensitivity is (Nissim, Raskhodnikova and Smith, STOC 2007, Definition 2.2, with g = e^β)

    S(x) = max over all nodes z of LS(z)·g^(−d(x, z)).

It is at least LS(x), and neighbours have S(x) ≤ g·S(x'). The release is one of finitely many public outputs y,

    P(y | x) ∝ ⌈2^b·w⌉,   w = (1 + (g − 1)·|y − f(x)|/S(x))^(−γ),

a law with polynomial tails like theirs (Lemma 2.6), made so that it is rational and has finitely many outputs.

Privacy, pure ε: let a = |y − f(x)|, so that |y − f(x')| ≤ a + S(x'). Then

    (w/w')^(1/γ) ≤ (1 + (g − 1)(a + S')/S')/(1 + (g − 1)·a/S) = (g + (g − 1)·a/S')/(1 + (g − 1)·a/S) ≤ g,

for S/S' ≤ g. b is so large that 2^b·w ≥ 1/η for every output and node, so rounding up costs a factor of at most 1 + η.
Weights of neighbours are then within (1 + η)·g^γ, the sum of the weights too, and P within the square of it. It is at
most e^ε for g ≤ e^((ε − 2η)/(2γ)).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import ceil, floor, frexp, lcm
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadGraph, BadParameter
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Size,
    Source,
    categorical,
    double_of,
    exp_below,
    read_epsilon,
    read_integer,
    read_rational,
)
from leastnoise.mechanisms.designed.designed_mechanism import worst_estimate
from leastnoise.mechanisms.function.graph_function import Function, node_place, read_finite_graph, values_of
from leastnoise.mechanisms.lower_bounds import least_worst_error
from leastnoise.mechanisms.truths import name_places
from leastnoise.model import Certificate, Channel, ErrorEstimate, Mechanism, Privacy, PrivacyCertificate, Pure, Reason
from leastnoise.model.graphs import DatasetGraph

__all__ = ["SmoothSensitivity"]

_DIGITS = 8  # bits of g − 1: a shorter number makes shorter weights, for less than a hundredth of it
_MOST_OUTPUTS = 1 << 16


@dataclass(frozen=True, init=False)
class SmoothSensitivity(Mechanism):
    """A number that a function gives on a dataset graph, with noise in proportion to its smooth sensitivity.

    The truth is a node of the graph. Graph and function are public. Pure ε.

    Args:
        epsilon: The privacy of one release.
        graph: The datasets and which are neighbours, finite. Text such as "path:20" works too.
        function: Its value at a node, a rational number; or a mapping from nodes to numbers.
        outputs: The numbers that may be released; the values of the function if left out.
        power: γ. A large one makes short tails, and S larger.

    >>> square = SmoothSensitivity("8*ln(2)", "path:9", lambda n: n * n)
    >>> square.growth, square.smooth_sensitivity(0), square.smooth_sensitivity(8)
    (Fraction(1023, 512), Fraction(512, 341), Fraction(15, 1))
    >>> square.release(3) in square.outputs
    True
    """

    name: ClassVar[str] = "smooth sensitivity mechanism"
    epsilon: Exact
    graph: DatasetGraph
    values: tuple[Fraction, ...]
    outputs: tuple[Fraction, ...]
    power: int

    def __init__(
        self,
        epsilon: NumberLike,
        graph: DatasetGraph | str,
        function: Function,
        outputs: Sequence[NumberLike] | None = None,
        power: int = 4,
    ) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(epsilon))
        object.__setattr__(self, "graph", read_finite_graph(graph))
        if self.graph.edge_lengths() is not None:
            raise BadGraph(
                "smooth sensitivity needs a graph, whose edges have length one",
                given=self.graph.name,
                fix="use InverseSensitivity, which takes a metric",
            )
        values = values_of(function, self.graph)
        object.__setattr__(self, "values", tuple(read_rational(v, "a value of the function") for v in values))
        if len(set(self.values)) == 1:
            raise BadParameter(
                "the function is the same at all nodes", given=values[0], fix="it hides nothing: tell it"
            )
        listed = self.values if outputs is None else [read_rational(y, "outputs") for y in outputs]
        object.__setattr__(self, "outputs", tuple(sorted(set(listed))))
        if not 0 < len(self.outputs) <= _MOST_OUTPUTS:
            raise BadParameter(
                f"outputs must be 1 to {_MOST_OUTPUTS} numbers", given=len(self.outputs), fix="pass fewer, rounded"
            )
        object.__setattr__(self, "power", read_integer(power, "power", at_least=1, at_most=64))

    @cached_property
    def growth(self) -> Fraction:
        """g, at most e^((ε − 2η)/(2γ)) and a number of few digits."""
        most = exp_below((self.epsilon - 2 * self._slack) / (2 * self.power), 256) - 1
        shift = Fraction(2) ** (_DIGITS - most.numerator.bit_length() + most.denominator.bit_length())
        return 1 + floor(most * shift) / shift

    @property
    def event(self) -> Pure:
        """Pure epsilon."""
        return Pure(self.epsilon)

    def local_sensitivity(self, truth: Any) -> Fraction:
        """LS(truth), the most that one change moves the value. It is private."""
        return self._local[node_place(truth, self.graph)]

    def smooth_sensitivity(self, truth: Any) -> Fraction:
        """S(truth), exactly. It is private."""
        return self._smooth[node_place(truth, self.graph)]

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """One of the outputs, or an array of them."""
        drawn = categorical(self._weights(node_place(truth, self.graph)), size, source)
        return self.outputs[int(drawn)] if size is None else name_places(drawn, self.outputs)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:  # noqa: ARG002 - exact at any precision
        """P(output | truth), exactly."""
        weights = self._weights(node_place(truth, self.graph))
        share = Fraction(weights[self.outputs.index(output)], sum(weights)) if output in self.outputs else Fraction(0)
        return Enclosure(share, share)

    def error(self) -> ErrorEstimate:
        """The absolute error at the node where it is worst, and one that 95 of 100 answers stay within."""
        places = {(self.values[x], self._smooth[x]): x for x in range(len(self.values))}.values()

        def at(x: int) -> tuple[list[Enclosure], list[Fraction]]:
            weights = self._weights(x)
            law = [Fraction(weight, sum(weights)) for weight in weights]
            return [Enclosure(p, p) for p in law], [abs(y - self.values[x]) for y in self.outputs]

        return worst_estimate("absolute", map(at, places))

    def reason(self) -> Reason:
        """Noise as wide as these data need."""
        return Reason(
            "noise in proportion to a smooth upper bound of the local sensitivity, with polynomial tails, is private "
            "without δ",
            "Nissim, Raskhodnikova and Smith, STOC 2007, Lemmas 2.5 and 2.6; docs/theory/smooth_sensitivity.md",
            least_worst_error(max(self._local), self.epsilon, 1),
        )

    def certificate(self) -> Certificate:
        """The law at every node, as an exact channel: it is rational for every epsilon."""
        rows = [self._weights(x) for x in range(len(self.values))]
        law = [[Fraction(weight, sum(row)) for weight in row] for row in rows]
        return PrivacyCertificate(
            self.graph, Privacy(self.epsilon), Channel(law, inputs=self.graph.nodes, outputs=self.outputs)
        )

    @cached_property
    def _slack(self) -> Fraction:
        """η, a power of two of about a thousandth of epsilon: what rounding the weights may cost."""
        return Fraction(2) ** min(frexp(double_of(self.epsilon))[1] - 12, -12)

    @cached_property
    def _local(self) -> list[Fraction]:
        largest = [Fraction(0)] * len(self.values)
        for i, j in self.graph.edges().tolist():
            gap = abs(self.values[i] - self.values[j])
            largest[i], largest[j] = max(largest[i], gap), max(largest[j], gap)
        return largest

    @cached_property
    def _smooth(self) -> list[Fraction]:
        """S at every node: from the furthest layer inwards, s becomes max(LS of the layer, s/g)."""
        steps = sorted(set(self._local))
        rank = {step: place for place, step in enumerate(steps)}
        ranks = np.array([rank[step] for step in self._local])
        distances = self.graph.distances()
        found = []
        for row in distances:
            best = np.zeros(int(row.max()) + 1, dtype=np.int64)
            np.maximum.at(best, row, ranks)
            inwards = accumulate(best[::-1].tolist(), lambda s, k: max(steps[k], s / self.growth), initial=Fraction(0))
            found.append(list(inwards)[-1])
        return found

    @cached_property
    def _bits(self) -> int:
        """b: 2^b·w ≥ 1/η at every node and output."""
        width = max(self.outputs[-1], *self.values) - min(self.outputs[0], *self.values)
        least = (1 + (self.growth - 1) * width / min(self._smooth)) ** self.power
        return ceil(least / self._slack).bit_length()

    @cached_property
    def _unit(self) -> int:
        """A common denominator of all values and outputs."""
        return lcm(*(number.denominator for number in (*self.values, *self.outputs)))

    def _weights(self, place: int) -> list[int]:
        """⌈2^b·w⌉ for every output."""
        scale = self._smooth[place] / (self.growth - 1) * self._unit
        top, down, own = scale.numerator, scale.denominator, int(self.values[place] * self._unit)
        raised = top**self.power << self._bits
        return [-(-raised // (top + down * abs(int(y * self._unit) - own)) ** self.power) for y in self.outputs]

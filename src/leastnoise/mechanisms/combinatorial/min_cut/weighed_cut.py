"""A private cut together with its weight: the cut by a part of ε, then its weight with geometric noise of the rest.

The cut is drawn by any of the other mechanisms. Given the cut, its weight is a sum over public pairs of nodes, and one
neighbour moves it by Δ at most. So noise of ε₂ on it is ε₂-private for every cut that came out before, and the two
together cost the sum (adaptive composition). The weight is that of this cut: of the minimum cut it says no more than
that it is no heavier.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, compress, product
from math import comb, prod
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Size,
    Source,
    exact_exp,
    read_epsilon,
    require_secure,
    shape_of,
    system_source,
)
from leastnoise.mechanisms.combinatorial.graph_input import GraphLike
from leastnoise.mechanisms.combinatorial.min_cut.cut_law import Progress
from leastnoise.mechanisms.combinatorial.min_cut.cut_mechanism import Cut, CutMechanism, weight_between
from leastnoise.mechanisms.numeric import Geometric
from leastnoise.model import Channel, Composed, ErrorEstimate, Mechanism, Privacy, PrivacyCertificate, Reason

__all__ = ["WeighedCut"]


@dataclass(frozen=True, init=False)
class WeighedCut(Mechanism):
    """A cut, and how much it weighs. The answer is a pair: the frozen set of nodes, and the noisy weight.

    Args:
        cut: Draws the cut.
        epsilon: The privacy of the weight, beside that of the cut.

    >>> from leastnoise.mechanisms.combinatorial.min_cut import ExponentialCut
    >>> bridge = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]
    >>> WeighedCut(ExponentialCut(60, 6), 60).release(bridge)
    (frozenset({3, 4, 5}), Fraction(1, 1))
    """

    name: ClassVar[str] = "private cut with its weight"
    cut: CutMechanism
    epsilon: Exact

    def __init__(self, cut: CutMechanism, epsilon: NumberLike) -> None:
        if not isinstance(cut, CutMechanism):
            raise BadParameter("cut must draw cuts", given=type(cut).__name__, fix="pass for example NodeCut(1, 34)")
        object.__setattr__(self, "cut", cut)
        object.__setattr__(self, "epsilon", read_epsilon(epsilon))

    @property
    def nodes(self) -> Sequence[Hashable]:
        """The public nodes."""
        return self.cut.nodes

    @property
    def noise(self) -> Geometric:
        """What is added to the weight, in steps."""
        return Geometric(self.epsilon, self.cut.sensitivity)

    @property
    def event(self) -> Composed:
        """That of the cut and that of the noise."""
        return Composed((self.cut.event, self.noise.event))

    def draw(
        self, truth: GraphLike, size: Size = None, source: Source | None = None, progress: Progress | None = None
    ) -> Any:
        """A cut and its noisy weight; with `size` an array of independent pairs."""
        bits, matrix, shape = source or system_source, self.cut.matrix(truth), shape_of(size)
        drawn = np.empty(prod(shape), dtype=object)
        for place, side in enumerate(self.cut.sides(matrix, len(drawn), bits, progress)):
            weight = self.noise.draw(weight_between(matrix, side), source=bits)
            drawn[place] = (self.cut.named(side), int(weight) * self.cut.step)
        return drawn[0] if size is None else drawn.reshape(shape)

    def release(self, truth: GraphLike, source: Source | None = None, progress: Progress | None = None) -> Any:
        """One cut with its weight, with unpredictable noise only."""
        return self.draw(truth, source=require_secure(source), progress=progress)

    def pmf(self, output: Hashable, truth: GraphLike, bits: int = 64) -> Enclosure:
        """P(cut | graph)·P(noisy weight | cut, graph), for small graphs."""
        never = Enclosure(Fraction(0), Fraction(0))
        if not isinstance(output, tuple) or len(output) != 2 or not isinstance(output[0], frozenset):
            return never
        chosen: Cut = output[0]
        steps = Fraction(output[1]) / self.cut.step
        cut = self.cut.pmf(chosen, truth, bits)
        if steps.denominator > 1 or not cut.upper:
            return never
        weight = self.noise.pmf(int(steps), int(self.cut.weight_of(chosen, truth) / self.cut.step), bits)
        return Enclosure(cut.lower * weight.lower, cut.upper * weight.upper)

    def error(self) -> ErrorEstimate:
        """How much heavier than the lightest cut; the weight's own error is that of `noise`, in steps."""
        return self.cut.error()

    def reason(self) -> Reason:
        """That of the cut; its bound is for all of epsilon, and is left out."""
        why = self.cut.reason()
        return Reason(f"{why.theorem}; given the cut, its weight is one number with geometric noise", why.citation)

    def certificate(self) -> PrivacyCertificate:
        """The law on the small graphs of the cut's certificate, noisy weights clamped to those that there are.

        Raises:
            BadParameter: The law is irrational.
        """
        whole, noise = self.cut.certificate(), Geometric(self.epsilon)
        if exact_exp(self.epsilon) is None or not isinstance(whole, PrivacyCertificate):
            raise BadParameter(
                f"the law of the {self.name} is irrational here, so no exact channel can be certified",
                fix='choose epsilons with rational e^epsilon, such as "ln(3)"',
            )
        cuts: list[Any] = list(whole.channel.outputs)
        laws, rows = whole.channel.rationals().rows, []
        count = next(nodes for nodes in range(2, len(laws) + 1) if 1 << comb(nodes, 2) == len(laws))
        pairs = list(combinations(range(count), 2))
        for present, law in zip(product((False, True), repeat=len(pairs)), laws, strict=True):
            edges = list(compress(pairs, present))
            weights = [sum(self.cut.separates(cut, a, b) for a, b in edges) for cut in cuts]
            told = [_clamped(noise, weight, len(pairs)) for weight in weights]
            rows.append([chance * share for chance, shares in zip(law, told, strict=True) for share in shares])
        outputs = [(cut, weight) for cut in cuts for weight in range(len(pairs) + 1)]
        channel = Channel(rows, whole.channel.inputs, outputs)
        return PrivacyCertificate(whole.graph, Privacy(self.cut.epsilon + self.epsilon), channel)


def _clamped(noise: Geometric, weight: int, most: int) -> list[Fraction]:
    """P(clamp(weight + noise, 0, most) = w) for w = 0..most."""
    inner = [noise.pmf(w, weight).lower for w in range(1, most)]
    ratio = noise.pmf(most + 1, weight).lower / noise.pmf(most, weight).lower
    above = noise.pmf(most, weight).lower / (1 - ratio)
    return [1 - sum(inner) - above, *inner, above]

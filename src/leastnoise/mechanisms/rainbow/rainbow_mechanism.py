"""The rainbow mechanism: the best (ε, δ)-private answer that a boundary allows, from a rainbow and a distance alone.

A dataset of rainbow c at distance t from the boundary of its region answers by T^t(m^c), m^c the distribution fixed at
that boundary. No private mechanism with the same boundary dominates it anywhere (Gu et al. 2024, Theorem 2, with the
operator put right). The graph is never needed: a query has to know its rainbow and its distance.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter, BadRainbow, LeastNoiseError
from leastnoise.exact.arrays import Size
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike, read_integer
from leastnoise.exact.samplers.shaping import in_shape
from leastnoise.exact.sources import Source, system_source
from leastnoise.mechanisms.rainbow.boundary import BoundaryLike, read_boundary, require_valid
from leastnoise.mechanisms.rainbow.boundary_graph import lines_graph
from leastnoise.mechanisms.rainbow.distributions import Distribution
from leastnoise.mechanisms.rainbow.line import Line
from leastnoise.mechanisms.rainbow.rainbow_graph import Rainbow, read_rainbow
from leastnoise.mechanisms.rainbow.rainbow_operator import Operator
from leastnoise.model.certificate import Certificate, PrivacyCertificate
from leastnoise.model.channel import Channel
from leastnoise.model.events import Approximate, Pure
from leastnoise.model.labels import unknown_label
from leastnoise.model.mechanism import LEVEL, ErrorEstimate, Mechanism, Reason
from leastnoise.model.privacy import Privacy

__all__ = ["RainbowMechanism", "event_of", "name_ranks"]

_SHOWN = 3  # steps into each region, and rainbows, in a certificate


def event_of(operator: Operator) -> Pure | Approximate:
    """What one answer costs."""
    if operator.delta:
        return Approximate(operator.epsilon, operator.delta)
    if operator.epsilon == 0:
        raise BadParameter("epsilon and delta must not both be zero", fix='pass epsilon="ln(3)", for example')
    return Pure(operator.epsilon)


def name_ranks(ranks: Any, colours: Sequence[Hashable]) -> Any:
    """The colours at some places, as an array of the same shape."""
    labels = np.empty(len(colours), dtype=object)
    for place, colour in enumerate(colours):
        labels[place] = colour
    return labels[ranks]


@dataclass(frozen=True, init=False)
class RainbowMechanism(Mechanism):
    """A colour for a dataset of which only the rainbow and the distance to the boundary are known.

    The truth is the pair (rainbow, distance).

    Args:
        epsilon: The privacy of one release.
        delta: The same; may be zero.
        boundary: For each rainbow the distribution at its boundary: a list, best colour of that rainbow first, or
            {colour: probability}.
        touching: The pairs of rainbows whose regions touch; all pairs if left out.

    Raises:
        BadBoundary: Not private across two regions that touch; they are named, with the excess.
        BadGraph: The regions do not hang together, as those of a connected graph do.

    >>> boundary = {("yes", "no"): [0.6, 0.4], ("no", "yes"): [0.6, 0.4]}
    >>> vote = RainbowMechanism("ln(3/2)", 0, boundary)
    >>> vote.pmf("no", (("yes", "no"), 2))
    Enclosure(8/45)
    >>> vote.release((("yes", "no"), 100))
    'yes'
    """

    name: ClassVar[str] = "rainbow mechanism"
    operator: Operator
    lines: tuple[tuple[Rainbow, Line], ...]
    touching: frozenset[tuple[int, int]]

    def __init__(
        self,
        epsilon: NumberLike,
        delta: NumberLike,
        boundary: BoundaryLike,
        *,
        touching: Iterable[tuple[Sequence[Hashable], Sequence[Hashable]]] | None = None,
    ) -> None:
        operator = Operator(epsilon, delta)
        event_of(operator)
        read = read_boundary(boundary)
        rainbows = tuple(read)
        pairs = list(combinations(rainbows, 2)) if touching is None else [_pair(pair, rainbows) for pair in touching]
        require_valid(read, pairs, operator)
        object.__setattr__(self, "operator", operator)
        object.__setattr__(self, "lines", tuple((rainbow, Line(operator, read[rainbow])) for rainbow in rainbows))
        numbers = (sorted((rainbows.index(one), rainbows.index(other))) for one, other in pairs)
        object.__setattr__(self, "touching", frozenset((one, other) for one, other in numbers))
        lines_graph(rainbows, (0,) * len(rainbows), self.touching)  # refuses regions that do not hang together

    @property
    def epsilon(self) -> Exact:
        """The privacy of one release."""
        return self.operator.epsilon

    @property
    def delta(self) -> Fraction:
        """The privacy of one release."""
        return self.operator.delta

    @property
    def colours(self) -> Rainbow:
        """All colours, in the order of the first rainbow."""
        return self.lines[0][0]

    @cached_property
    def _line_of(self) -> dict[Rainbow, Line]:
        return dict(self.lines)

    @property
    def event(self) -> Pure | Approximate:
        """epsilon, and delta if there is one."""
        return event_of(self.operator)

    def law(self, rainbow: Sequence[Hashable], distance: int) -> Distribution:
        """The exact distribution at a distance, best colour of the rainbow first."""
        known, steps = self._read((rainbow, distance))
        return self._line_of[known].law(steps)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """A colour for (rainbow, distance)."""
        rainbow, distance = self._read(truth)
        draw = partial(self._line_of[rainbow].draw, distance)
        if size is None:
            return rainbow[int(draw(1, source or system_source)[0])]
        return name_ranks(in_shape(draw, size, source), rainbow)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | rainbow, distance): exact at small distances, else within 2^-bits."""
        rainbow, distance = self._read(truth)
        if output not in rainbow:
            raise unknown_label(output, self.colours, "colour")
        return self._line_of[rainbow].chance(rainbow.index(output), distance, bits)

    def error(self) -> ErrorEstimate:
        """How often the answer is not the best colour, at most: on the boundary of the worst region."""
        wrong = 1 - min(line.boundary[0] for _, line in self.lines)
        quantile = Fraction(wrong > 1 - LEVEL)
        return ErrorEstimate("zero-one", Enclosure(wrong, wrong), {LEVEL: quantile}, attained=False)

    def reason(self) -> Reason:
        """Dominates every private mechanism with the same boundary."""
        return Reason(
            "at every dataset it dominates every private mechanism with the same boundary: none is more often "
            "among the k best colours, for any k",
            "Gu et al., Generalized rainbow differential privacy, 2024, Theorem 2; docs/theory/rainbow_operator.md",
        )

    def certificate(self) -> Certificate:
        """The law on the first steps of every line, as an exact channel."""
        rainbows = tuple(rainbow for rainbow, _ in self.lines)
        graph = lines_graph(rainbows, (_SHOWN,) * len(rainbows), self.touching)
        return PrivacyCertificate(graph, Privacy(self.epsilon, self.delta), self.on_lines(graph.nodes))

    def on_lines(self, nodes: Sequence[Hashable]) -> Channel:
        """The law as an exact channel on pairs (rainbow, distance)."""
        rows = []
        for node in nodes:
            rainbow, distance = self._read(node)
            law = dict(zip(rainbow, self._line_of[rainbow].law(distance), strict=True))
            rows.append([law[colour] for colour in self.colours])
        return Channel(rows, nodes, self.colours)

    def _read(self, truth: Any) -> tuple[Rainbow, int]:
        """The private pair; an error does not show it."""
        try:
            preference, distance = truth
            rainbow, steps = read_rainbow(preference), read_integer(distance, "distance", at_least=0)
            if rainbow in self._line_of:
                return rainbow, steps
        except (LeastNoiseError, TypeError, ValueError):
            pass
        raise BadParameter(
            "the truth must be (rainbow, distance) with a rainbow of the boundary and a whole distance of at least 0",
            fix="ask RainbowGraph or a Decision for them",
        )


def _pair(pair: tuple[Sequence[Hashable], Sequence[Hashable]], rainbows: Sequence[Rainbow]) -> tuple[Rainbow, Rainbow]:
    one, other = (read_rainbow(preference, frozenset(rainbows[0])) for preference in pair)
    if one == other or one not in rainbows or other not in rainbows:
        raise BadRainbow(
            "two different rainbows of the boundary touch", given=(one, other), fix="name pairs of rainbows"
        )
    return one, other

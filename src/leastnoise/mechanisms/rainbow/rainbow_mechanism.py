"""The rainbow mechanism: the best (ε, δ)-private answer that a boundary allows, from a rainbow and a distance alone.

A dataset of rainbow c at distance t from the boundary of its region answers by T^t(m^c), m^c the distribution fixed at
that boundary. No private mechanism with the same boundary dominates it anywhere (Gu et al. 2024, Theorem 2, with the
operator put right). The graph is never needed: a query has to know its rainbow and its distance.

The best mechanism on a whole rainbow graph: the lines' laws, pulled back along the boundary morphism.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, BadRainbow, LeastNoiseError
from leastnoise.exact import Enclosure, Exact, NumberLike, Size, Source, in_shape, read_integer, system_source
from leastnoise.mechanisms.rainbow.batch_operator import along_path
from leastnoise.mechanisms.rainbow.boundary import BoundaryLike, lines_graph, read_boundary, require_valid
from leastnoise.mechanisms.rainbow.path_law import PathLaw
from leastnoise.mechanisms.rainbow.rainbow_graph import Rainbow, RainbowGraph, read_rainbow
from leastnoise.mechanisms.rainbow.rainbow_operator import Distribution, Operator
from leastnoise.model import (
    LEVEL,
    Approximate,
    Certificate,
    Channel,
    ErrorEstimate,
    Mechanism,
    Privacy,
    PrivacyCertificate,
    Pure,
    Reason,
    require_memory,
    unknown_label,
)

__all__ = ["OptimalMechanism", "RainbowMechanism", "event_of", "name_ranks", "optimal_mechanism"]

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
    lines: tuple[tuple[Rainbow, PathLaw], ...]
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
        object.__setattr__(self, "lines", tuple((rainbow, PathLaw(operator, read[rainbow])) for rainbow in rainbows))
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
    def _line_of(self) -> dict[Rainbow, PathLaw]:
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


Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OptimalMechanism:
    """The mechanism that dominates every private one with the same boundary, on one rainbow graph.

    Attributes:
        rainbow_graph: The graph and its preferences.
        mechanism: The same law for (rainbow, distance), which releases.
    """

    rainbow_graph: RainbowGraph
    mechanism: RainbowMechanism

    def law(self, dataset: Hashable) -> Distribution:
        """The exact distribution of a dataset, its best colour first."""
        return self.mechanism.law(self.rainbow_graph.rainbow(dataset), self.rainbow_graph.distance(dataset))

    def channel(self) -> Channel:
        """The mechanism as an exact matrix: a row per dataset, a column per colour."""
        graph = self.rainbow_graph
        require_memory(200 * len(graph.regions) * len(graph.colours), "the exact channel", "ask for floats() or law(x)")
        places = list(zip(graph.regions.tolist(), graph.distances.tolist(), strict=True))
        images = {
            node: (graph.rainbows[region], distance)
            for node, (region, distance) in zip(graph.graph.nodes, places, strict=True)
        }
        return self.mechanism.on_lines(list(dict.fromkeys(images.values()))).select(images)

    def floats(self) -> tuple[Floats, Floats]:
        """Doubles below and above each exact probability: a row per dataset in node order, its best colour first."""
        graph = self.rainbow_graph
        depths = graph.depths()
        bounds = [
            along_path(self.mechanism.operator, line.boundary, depths[graph.number(rainbow)]).probabilities()
            for rainbow, line in self.mechanism.lines
        ]
        starts = np.cumsum([0, *(depth + 1 for depth in depths[:-1])])
        places = starts[graph.regions] + graph.distances
        low, high = (np.concatenate(ends)[places] for ends in zip(*bounds, strict=True))
        return low, high


def optimal_mechanism(
    rainbow_graph: RainbowGraph, boundary: BoundaryLike, epsilon: NumberLike, delta: NumberLike = 0
) -> OptimalMechanism:
    """The best (ε, δ)-private mechanism on a rainbow graph with a homogeneous boundary (Gu et al. 2024, Theorem 2).

    Args:
        rainbow_graph: The datasets, their neighbours and their preferences.
        boundary: For each rainbow the distribution of its boundary datasets.
        epsilon: The privacy of one release.
        delta: The same; may be zero.

    Raises:
        BadBoundary: A region has no distribution, or two that touch are not close; they are named.

    >>> from leastnoise.model.graphs import path
    >>> votes = RainbowGraph(path(5), lambda n: ("yes", "no") if n >= 3 else ("no", "yes"))
    >>> print(optimal_mechanism(votes, {c: ["2/3", "1/3"] for c in votes.rainbows}, "ln(2)").channel())
          no   yes
    0  11/12  1/12
    1    5/6   1/6
    2    2/3   1/3
    3    1/3   2/3
    4    1/6   5/6
    """
    read = read_boundary(boundary, rainbow_graph.rainbows)
    fitting = {rainbow: read[rainbow] for rainbow in rainbow_graph.rainbows}
    pairs = [(rainbow_graph.rainbows[one], rainbow_graph.rainbows[other]) for one, other in rainbow_graph.touching]
    return OptimalMechanism(rainbow_graph, RainbowMechanism(epsilon, delta, fitting, touching=pairs))

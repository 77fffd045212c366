"""The k best of several candidates, in order: k choices in turn, each among those that are left, each with ε/k.

`PeelingTopK` makes each choice by permute-and-flip: the least error under pure ε. `OneShotTopK` has the law of adding
independent Gumbel noise of scale 2Δk/ε (Δk/ε for monotone scores) once to every score and reading off the k largest,
which is exactly that of k exponential mechanisms in turn (Durfee and Rogers, NeurIPS 2019, section 4.1). So it composes
as k events of bounded range ε/k, hence ε²/(8k)-zCDP, and takes one pass over the scores. No Gumbel noise is drawn, for
that would have to be rounded: among independent draws ∝ e^(rate·score) those that are not repeats are choices in turn.
Qiao, Su and Zhang (ICML 2021) add Laplace noise once and need δ > 0 for it; that mechanism is not offered here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations, permutations, product
from math import perm, prod
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import TooLarge
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Numbers,
    Scores,
    Size,
    Source,
    ball_of,
    enclose,
    read_integer,
    read_rate,
    shape_of,
    system_source,
)
from leastnoise.mechanisms.choice.exponential import Exponential
from leastnoise.mechanisms.choice.permute_and_flip import PermuteAndFlip
from leastnoise.mechanisms.choice.selection import RatedSelection
from leastnoise.mechanisms.truths import Candidates, name_places, place_of, read_candidates, read_scores
from leastnoise.model import LEVEL, Certificate, Composed, ErrorEstimate, Mechanism, Privacy, PrivacyCertificate, Reason
from leastnoise.model.graphs import from_edges

__all__ = ["OneShotTopK", "PeelingTopK", "TopK"]

_MOST_LISTS = 10_000
_SHOWN = 3  # candidates in a certificate


@dataclass(frozen=True, init=False)
class TopK(Mechanism):
    """What both have in common: the law of k choices in turn, and its error. The truth is one score per candidate.

    Args:
        epsilon: The privacy of the whole list.
        candidates: What can be chosen, public: labels, or how many.
        k: How many to choose, the best first.
        sensitivity: The most that one record can move a score.
        monotone: Whether a record moves all scores the same way.
    """

    kind: ClassVar[type[PermuteAndFlip] | type[Exponential]]
    k: int
    turn: RatedSelection

    def __init__(
        self,
        epsilon: NumberLike,
        candidates: Candidates,
        k: NumberLike,
        sensitivity: NumberLike = 1,
        *,
        monotone: bool = False,
    ) -> None:
        labels = read_candidates(candidates)
        length = read_integer(k, "k", at_least=1, at_most=len(labels))
        share = read_rate(epsilon, "epsilon") / length
        object.__setattr__(self, "k", length)
        object.__setattr__(self, "turn", self.kind(share, labels, sensitivity, monotone=monotone))

    @abstractmethod
    def pick(self, scores: Numbers, source: Source) -> list[int]:
        """The places of k choices in turn."""

    @property
    def candidates(self) -> Sequence[Hashable]:
        """What can be chosen."""
        return self.turn.candidates

    @property
    def epsilon(self) -> Exact:
        """The privacy of the whole list."""
        return self.turn.epsilon * self.k

    @property
    def event(self) -> Composed:
        """K events, one for each turn."""
        return Composed((self.turn.event,) * self.k)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """A tuple of k candidates, the best first; an array with k columns more if `size` is given."""
        scores, bits = read_scores(truth, len(self.candidates)), source or system_source
        if size is None:
            return tuple(self.candidates[place] for place in self.pick(scores, bits))
        shape = shape_of(size)
        lists = [self.pick(scores, bits) for _ in range(prod(shape))]
        return name_places(np.array(lists, dtype=np.int64).reshape(*shape, self.k), self.candidates)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | scores), output a tuple of k candidates."""
        scores = read_scores(truth, len(self.candidates))
        if not isinstance(output, tuple) or len(output) != self.k or len(set(output)) < self.k:
            return Enclosure(Fraction(0), Fraction(0))
        return self._chance([place_of(label, self.candidates) for label in output], scores, bits)

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """How far the sum of the chosen scores is below that of the k best: bounds for all scores.

        The best score that is left at turn j is at least the j-th best of all, so the gaps of the turns add up to at
        least the loss. The quantile lets each turn exceed its own with a k-th of the chance.
        """
        turns = [self.turn.representative(len(self.candidates) - taken) for taken in range(self.k)]
        gaps = [turn.worst_gap() for turn in turns]
        expected = Enclosure(
            sum((gap.lower for gap in gaps), Fraction(0)), sum((gap.upper for gap in gaps), Fraction(0))
        )
        quantile = sum((turn.quantile(1 - (1 - level) / self.k) for turn in turns), Fraction(0))
        return ErrorEstimate("scores below the best", expected, {level: quantile}, attained=False)

    def error_at(self, truth: Any, bits: int = 64) -> Enclosure:
        """E[sum of the k best scores − sum of the chosen] at these scores, over all lists: for simulations.

        Raises:
            TooLarge: There are more than ten thousand lists.
        """
        count = len(self.candidates)
        if perm(count, self.k) > _MOST_LISTS:
            raise TooLarge("there are too many lists to sum over", given=perm(count, self.k), fix="use `error`")
        scores = read_scores(truth, count)
        values = [Scores(scores, "scores").exact(place) for place in range(count)]
        best = _sum(sorted(values, reverse=True)[: self.k])
        low, high = Fraction(0), Fraction(0)
        for places in permutations(range(count), self.k):
            chance = self._chance(list(places), scores, bits)
            gap = best - _sum([values[place] for place in places])
            reach = Enclosure(gap, gap) if isinstance(gap, Fraction) else enclose(partial(ball_of, gap), bits)
            low, high = low + chance.lower * reach.lower, high + chance.upper * reach.upper
        return Enclosure(low, high)

    def certificate(self) -> Certificate:
        """Privacy on all scores 0, Δ of at most three candidates, as an exact channel.

        Raises:
            BadParameter: The law is irrational.
        """
        count = min(len(self.candidates), _SHOWN)
        k = min(self.k, count)
        small = type(self)(self.epsilon, count, k, self.turn.sensitivity, monotone=self.turn.monotone)
        nodes = list(product([Fraction(0), self.turn.sensitivity], repeat=count))
        edges = [(x, y) for x, y in combinations(nodes, 2) if self.turn.are_neighbours(x, y)]
        channel = small.channel(nodes, list(permutations(range(count), k)))
        return PrivacyCertificate(from_edges(edges, nodes), Privacy(self.epsilon), channel)

    def _chance(self, places: list[int], scores: Numbers, bits: int) -> Enclosure:
        low, high = Fraction(1), Fraction(1)
        for turn, place in enumerate(places):
            taken = places[:turn]
            among = place - sum(other < place for other in taken)
            chance = self.turn.chance(among, _without(scores, taken), bits)
            low, high = low * chance.lower, high * chance.upper
        return Enclosure(low, high)


class PeelingTopK(TopK):
    """The k best candidates by k turns of permute-and-flip, each with epsilon/k; made like `TopK`.

    >>> lunch = PeelingTopK("2*ln(4)", ["soup", "salad", "bread"], 2, monotone=True)
    >>> lunch.pmf(("soup", "salad"), [10, 9, 8]), lunch.error_at([10, 9, 8])
    (Enclosure(1141/1536), Enclosure(299/2048))
    >>> lunch.release([5000, 3000, 10])
    ('soup', 'salad')
    """

    name: ClassVar[str] = "top k by peeling"
    kind = PermuteAndFlip

    def pick(self, scores: Numbers, source: Source) -> list[int]:
        """The places of k choices in turn."""
        places: list[int] = []
        for _ in range(self.k):
            place = int(self.turn.choose(_without(scores, places), 1, source)[0])
            places.append(_place_before(place, places))
        return places

    def reason(self) -> Reason:
        """Each turn is never worse than the exponential mechanism with the same epsilon."""
        return Reason(
            "k turns of the best single choice, with the privacy of their composition",
            "McKenna and Sheldon, NeurIPS 2020; Dwork and Roth 2014, section 3.5",
        )


class OneShotTopK(TopK):
    """The k best candidates after Gumbel noise; made like `TopK`.

    >>> lunch = OneShotTopK("2*ln(4)", ["soup", "salad", "bread"], 2, monotone=True)
    >>> lunch.pmf(("soup", "salad"), [10, 9, 8]), lunch.event.events[0].kind
    (Enclosure(64/105), 'bounded range')
    """

    name: ClassVar[str] = "top k in one shot"
    kind = Exponential

    def pick(self, scores: Numbers, source: Source) -> list[int]:
        """The places of k choices in turn: draws among all that are left, without the repeats, until there are k."""
        places: list[int] = []
        while (missing := self.k - len(places)) > 0:
            drawn = self.turn.choose(_without(scores, places), 2 * missing, source)
            fresh = list(dict.fromkeys(drawn.tolist()))[:missing]
            places += [_place_before(place, places) for place in fresh]
        return places

    def reason(self) -> Reason:
        """The bounded range of each turn is worth a factor of four in concentrated accounting."""
        return Reason(
            "k exponential mechanisms in one pass; their composition is epsilon²/(8k)-zCDP",
            "Durfee and Rogers, NeurIPS 2019, section 4; Cesar and Rogers, ALT 2021",
        )


def _without(scores: Numbers, places: list[int]) -> Numbers:
    """The scores of the candidates that are left."""
    if not places:
        return scores
    if isinstance(scores, np.ndarray):
        return np.delete(scores, places)
    return [score for place, score in enumerate(scores) if place not in places]


def _place_before(place: int, taken: list[int]) -> int:
    """The place among all candidates of one that is at `place` among those that are left."""
    for other in sorted(taken):
        place += other <= place
    return place


def _sum(numbers: list[Exact]) -> Exact:
    total: Exact = Fraction(0)
    for number in numbers:
        total = total + number
    return total

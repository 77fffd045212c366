"""Choosing one of several candidates by a private score: what all such mechanisms share.

The true answer is a list of scores q(x, r), one per candidate r, and a record moves each of them by at most the
sensitivity Δ. What counts is by how much a record moves two scores against each other: at most 2Δ, and at most Δ if
every record moves all scores the same way (monotone scores, such as counts when a record is added or removed). Hence
a mechanism that uses the scores only through e^(rate·q) takes rate = ε/(2Δ), or ε/Δ for monotone scores.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact.arrays import Size
from leastnoise.exact.enclosures import Enclosure, enclose
from leastnoise.exact.numbers import Exact, LogSum, ball_of
from leastnoise.exact.parameters import NumberLike, read_exact, read_integer, read_rate, read_rational
from leastnoise.exact.samplers.scores import Numbers, Scores
from leastnoise.exact.samplers.shaping import in_shape
from leastnoise.exact.sources import Source, system_source
from leastnoise.mechanisms.choice.regret import least_regret, utility_gap
from leastnoise.mechanisms.truths import Candidates, name_places, place_of, read_candidates, read_scores
from leastnoise.model.certificate import Certificate, PrivacyCertificate
from leastnoise.model.graphs import from_edges
from leastnoise.model.mechanism import LEVEL, ErrorEstimate, Mechanism
from leastnoise.model.privacy import Privacy

__all__ = ["LOSS", "RatedSelection", "Selection"]

LOSS = "score below the best"
_SHOWN = 3  # candidates, and levels of their scores, in a certificate


class Selection(Mechanism):
    """One of several candidates, better ones more likely; a subclass says how much more.

    Attributes:
        epsilon: The privacy of one release.
        candidates: What can be chosen, public.
        sensitivity: The most that one record can move a score.
        monotone: Whether a record moves all scores the same way, none up while another goes down.
    """

    epsilon: Exact
    candidates: Sequence[Hashable]
    sensitivity: Fraction
    monotone: bool

    @abstractmethod
    def choose(self, scores: Numbers, count: int, source: Source) -> NDArray[np.int64]:
        """`count` independent choices, as places among the candidates."""

    @abstractmethod
    def chance(self, place: int, scores: Numbers, bits: int, /) -> Enclosure:
        """P(the candidate at this place is chosen)."""

    @abstractmethod
    def expected_gap(self, scores: Numbers, bits: int, /) -> Enclosure:
        """E[best score − score of the choice]."""

    @abstractmethod
    def worst_gap(self, bits: int = 64) -> Enclosure:
        """The largest `expected_gap` over all scores."""

    @abstractmethod
    def quantile(self, level: NumberLike = LEVEL) -> Fraction:
        """A gap that is not exceeded with at least this probability, whatever the scores."""

    @abstractmethod
    def representative(self, count: int) -> Selection:
        """The same mechanism with candidates 0..count − 1 and plain scores as its answer."""

    def read_parameters(
        self, epsilon: NumberLike, candidates: Candidates, sensitivity: NumberLike, monotone: bool
    ) -> None:
        """Set what all selections have."""
        if not isinstance(monotone, bool):
            raise BadParameter("monotone must be True or False", given=monotone, fix="leave it out if in doubt")
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon"))
        object.__setattr__(self, "candidates", read_candidates(candidates))
        object.__setattr__(self, "sensitivity", read_rational(sensitivity, "sensitivity", above=0))
        object.__setattr__(self, "monotone", monotone)

    def scores_of(self, truth: Any) -> Numbers:
        """The scores of the candidates, from the private answer."""
        return read_scores(truth, len(self.candidates))

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """Choose a candidate by the scores; an array of independent choices if `size` is given."""
        scores = self.scores_of(truth)
        if size is None:
            return self.candidates[int(self.choose(scores, 1, source or system_source)[0])]
        return name_places(in_shape(partial(self.choose, scores), size, source), self.candidates)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | scores)."""
        return self.chance(place_of(output, self.candidates), self.scores_of(truth), bits)

    def error(self) -> ErrorEstimate:
        """How far below the best score the choice is: the largest expectation over all scores, and a 95 % quantile."""
        return ErrorEstimate(LOSS, self.worst_gap(), {LEVEL: self.quantile()}, attained=False)

    def error_at(self, truth: Any, bits: int = 64) -> Enclosure:
        """E[best score − score of the choice] at these scores: private, for simulations only."""
        return self.expected_gap(self.scores_of(truth), bits)

    def expected_score(self, truth: Any, bits: int = 64) -> Enclosure:
        """E[score of the choice] at these scores: private, for simulations only."""
        scores = self.scores_of(truth)
        best, gap = self.best_of(scores), self.expected_gap(scores, bits)
        high = Enclosure(best, best) if not isinstance(best, LogSum) else enclose(lambda: ball_of(best), bits)
        return Enclosure(high.lower - gap.upper, high.upper - gap.lower)

    def best_of(self, scores: Numbers) -> Exact:
        """The score that the choice is measured against."""
        return Scores(scores, "scores").largest()

    def certificate(self) -> Certificate:
        """Privacy on all scores 0, Δ, 2Δ of at most three candidates, as an exact channel.

        Raises:
            BadParameter: The law is irrational.
        """
        small = self.representative(min(len(self.candidates), _SHOWN))
        nodes = list(product([self.sensitivity * level for level in range(_SHOWN)], repeat=len(small.candidates)))
        edges = [(x, y) for x, y in combinations(nodes, 2) if self.are_neighbours(x, y)]
        channel = small.channel(nodes, small.candidates)
        return PrivacyCertificate(from_edges(edges, nodes), Privacy(self.epsilon), channel)

    def are_neighbours(self, x: Sequence[Fraction], y: Sequence[Fraction]) -> bool:
        """Whether one record can turn the scores x into y, or y into x."""
        moves = [b - a for a, b in zip(x, y, strict=True)]
        one_way = not self.monotone or min(moves) >= 0 or max(moves) <= 0
        return one_way and max(map(abs, moves)) <= self.sensitivity


class RatedSelection(Selection):
    """A selection that sees the scores only through e^(rate·score)."""

    @cached_property
    def rate(self) -> Exact:
        """The factor of the scores: epsilon/(2·sensitivity), twice that for monotone scores."""
        return self.epsilon / (self.sensitivity * (1 if self.monotone else 2))

    def utility_bound(self, t: NumberLike, optimal: int = 1) -> Enclosure:
        """A gap that is reached with probability e^-t at most: (ln(n/optimal) + t)/rate.

        Tóthmérész 2013, Theorem 2.2, for the exponential mechanism, if at least `optimal` of the n candidates are best.
        """
        best = read_integer(optimal, "optimal", at_least=1, at_most=len(self.candidates))
        return utility_gap(Fraction(len(self.candidates), best), self.rate, read_exact(t, "t", at_least=0))

    def least_regret(self) -> Enclosure:
        """What no private choice can beat at its worst scores."""
        return least_regret(len(self.candidates), self.epsilon, self.sensitivity, self.monotone)

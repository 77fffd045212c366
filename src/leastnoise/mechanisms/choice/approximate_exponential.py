"""The approximate exponential mechanism: candidate r with probability ∝ 1 + a·q(x, r), for scores of at least zero.

Tóthmérész 2013, Theorem 3.1, which replaces e^(a·q) by 1 + a·q and proves 3aΔ for aΔ ≤ 1/3. More is true: a record
moves ln(1 + a·q) by at most ln(1 + aΔ), so for every a the law is of bounded range 2·ln(1 + aΔ), and half of that for
monotone scores; from q = 0 to Δ that is attained. So a = (e^(ε/2) − 1)/Δ, or (e^ε − 1)/Δ for monotone scores.

It is drawn by rejection: a uniform candidate, kept if a uniform height below 1 + a·max q is below 1 + a·q (the text has
1 + max q and 1 + q). Weights grow linearly where the exponential mechanism's grow exponentially, so that the error
grows with the scores themselves: it is here to be compared with, and as the first step of private vertex cover.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, NumberTooLarge
from leastnoise.exact.enclosures import Enclosure, exp_below, sqrt_enclosure
from leastnoise.exact.numbers import Exact, LogSum
from leastnoise.exact.parameters import NumberLike, read_rational
from leastnoise.exact.samplers.scores import Numbers, Scores
from leastnoise.exact.samplers.uniform import uniform_integer
from leastnoise.exact.sources import Source
from leastnoise.mechanisms.choice.selection import Selection
from leastnoise.mechanisms.truths import Candidates
from leastnoise.model.events import BoundedRange
from leastnoise.model.mechanism import LEVEL, Reason

__all__ = ["ApproximateExponential"]

_LEAST_TRIES = 64
_LARGEST_EPSILON = 1000


@dataclass(frozen=True, init=False)
class ApproximateExponential(Selection):
    """A candidate with probability ∝ 1 + a·score; the truth is one score per candidate, in their order.

    A score outside 0..largest_score counts as the nearer end: that never raises the sensitivity.

    Args:
        epsilon: The privacy of one release.
        candidates: What can be chosen, public: labels, or how many.
        sensitivity: The most that one record can move a score.
        largest_score: The most that a score can be, public: without it nothing can be said about the error.
        monotone: Whether a record moves all scores the same way.

    >>> lunch = ApproximateExponential("ln(4)", ["soup", "salad"], largest_score=100, monotone=True)
    >>> lunch.factor, lunch.pmf("soup", [10, 3]), lunch.error().expected
    (Fraction(3, 1), Enclosure(31/41), Enclosure(≈ 17.2144784837989))
    """

    name: ClassVar[str] = "approximate exponential mechanism"
    epsilon: Exact
    candidates: Sequence[Hashable]
    sensitivity: Fraction
    largest_score: Fraction
    monotone: bool

    def __init__(
        self,
        epsilon: NumberLike,
        candidates: Candidates,
        sensitivity: NumberLike = 1,
        *,
        largest_score: NumberLike,
        monotone: bool = False,
    ) -> None:
        self.read_parameters(epsilon, candidates, sensitivity, monotone)
        if self.epsilon > _LARGEST_EPSILON:  # e^epsilon is written out
            raise NumberTooLarge(f"epsilon must be at most {_LARGEST_EPSILON}", given=epsilon, fix="use Exponential")
        object.__setattr__(self, "largest_score", read_rational(largest_score, "largest_score", above=0))

    @cached_property
    def factor(self) -> Fraction:
        """The a of 1 + a·q: a rational that is not above (e^(ε/2) − 1)/Δ, or (e^ε − 1)/Δ for monotone scores."""
        return (exp_below(self.epsilon / (1 if self.monotone else 2), 128) - 1) / self.sensitivity

    @property
    def event(self) -> BoundedRange:
        """epsilon, with log-probability ratios in an interval of that length."""
        return BoundedRange(self.epsilon)

    def scores_of(self, truth: Any) -> Numbers:
        """The scores of the candidates, which must be rational."""
        scores = super().scores_of(truth)
        if not isinstance(scores, np.ndarray) and any(isinstance(score, LogSum) for score in scores):
            raise BadParameter("the scores must be rational numbers", fix="pass no logarithms")
        return scores

    def choose(self, scores: Numbers, count: int, source: Source) -> NDArray[np.int64]:
        """`count` independent choices, as places among the candidates; only scores that are looked at are read."""
        read, chosen, tries = Scores(scores, "scores"), np.empty(0, dtype=np.int64), max(2 * count, _LEAST_TRIES)
        highest = self._weight(read.largest())
        while len(chosen) < count:
            picks: NDArray[np.int64] = uniform_integer(len(read), tries, source)
            places, which = np.unique(picks, return_inverse=True)
            shares = [self._weight(read.exact(place)) / highest for place in places.tolist()]
            steps = lcm(*(share.denominator for share in shares))
            heights = np.array([int(share * steps) for share in shares], dtype=object)
            kept = (uniform_integer(steps, tries, source) < heights[which]).astype(np.bool_)
            chosen = np.concatenate([chosen, picks[kept]])
        return chosen[:count]

    def chance(self, place: int, scores: Numbers, _bits: int, /) -> Enclosure:
        """P(the candidate at this place is chosen), exactly."""
        weights = self._weights(scores)
        share = weights[place] / sum(weights)
        return Enclosure(share, share)

    def expected_gap(self, scores: Numbers, _bits: int, /) -> Enclosure:
        """E[best score − score of the choice], exactly."""
        weights = self._weights(scores)
        highest = max(weights)
        total = sum((weight * (highest - weight) for weight in weights), start=Fraction(0))
        mean = total / (sum(weights) * self.factor)
        return Enclosure(mean, mean)

    def best_of(self, scores: Numbers) -> Fraction:
        """The best score, within its bounds."""
        return (max(self._weights(scores)) - 1) / self.factor

    def worst_gap(self, bits: int = 64) -> Enclosure:
        """The largest expected gap over all scores up to Q, the largest: nearly all of Q if candidates are many.

        One candidate has Q, the others weigh v each (v·(V − v) is concave, so it is worst if they are alike), and
        (n − 1)·v·(V − v)/(V + (n − 1)·v)/a with V = 1 + a·Q is largest at v = V/(√n + 1), where it is
        V/a·(√n − 1)/(√n + 1); or at v = 1, which is no score at all, if that is more.
        """
        others, top = len(self.candidates) - 1, 1 + self.factor * self.largest_score
        root = sqrt_enclosure(others + 1, bits)
        if top >= root.upper + 1:
            ends = [top / self.factor * (end - 1) / (end + 1) for end in (root.lower, root.upper)]
            return Enclosure(*ends)
        gap = others * self.largest_score / (top + others)
        return Enclosure(gap, gap)

    def quantile(self, level: NumberLike = LEVEL) -> Fraction:
        """A gap that is not exceeded with at least this probability, whatever the scores up to the largest."""
        kept, others = read_rational(level, "level", above=0, below=1), len(self.candidates) - 1
        if others == 0:
            return Fraction(0)
        top = 1 + self.factor * self.largest_score
        gap = (top - top * (1 - kept) / (kept * others)) / self.factor
        return min(max(gap, Fraction(0)), self.largest_score)

    def representative(self, count: int) -> ApproximateExponential:
        """The same with candidates 0..count − 1."""
        return ApproximateExponential(
            self.epsilon, count, self.sensitivity, largest_score=self.largest_score, monotone=self.monotone
        )

    def reason(self) -> Reason:
        """Easy to draw from, and little else: the exponential mechanism's error does not grow with the scores."""
        return Reason(
            "log-probability ratios of neighbours lie in an interval of length epsilon; it is drawn by looking at few "
            "scores, but its error is a constant share of the largest one",
            "Tóthmérész 2013, Theorem 3.1, with the constant put right in docs/theory/approximate_exponential.md",
        )

    def _weight(self, score: Exact) -> Fraction:
        return 1 + self.factor * min(max(cast(Fraction, score), Fraction(0)), self.largest_score)

    def _weights(self, scores: Numbers) -> list[Fraction]:
        read = Scores(scores, "scores")
        return [self._weight(read.exact(place)) for place in range(len(read))]

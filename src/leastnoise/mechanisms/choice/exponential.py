"""The exponential mechanism: candidate r with probability ∝ μ(r)·e^(rate·q(x, r)), μ a public base measure.

rate = ε/(2Δ), or ε/Δ for monotone scores (the normaliser then moves against the weight by as much as it moves with it).
McSherry and Talwar, "Mechanism design via differential privacy", FOCS 2007, Theorem 6; Cummings, Lecture 2, Theorem 3.
Log-probability ratios of neighbours lie in an interval of length ε (bounded range: Durfee and Rogers 2019), hence
ε²/8-zCDP (Cesar and Rogers 2021). With one release permute-and-flip is the better choice; with many releases under
concentrated accounting, or with a base measure, this one.

The approximate exponential mechanism: candidate r with probability ∝ 1 + a·q(x, r), for scores of at least zero.
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
from leastnoise.exact import (
    Enclosure,
    Exact,
    LogSum,
    NumberLike,
    Numbers,
    Scores,
    Source,
    at_chances,
    categorical_exp,
    exp_below,
    read_exact,
    read_integer,
    read_rate,
    read_rational,
    sqrt_enclosure,
    uniform_integer,
)
from leastnoise.mechanisms.choice.selection import (
    RatedSelection,
    Selection,
    exponential_quantile,
    exponential_regret,
    utility_gap,
)
from leastnoise.mechanisms.truths import Candidates
from leastnoise.model import LEVEL, BoundedRange, Reason

__all__ = ["ApproximateExponential", "Exponential"]


@dataclass(frozen=True, init=False)
class Exponential(RatedSelection):
    """The candidate with nearly the best score; the truth is one score per candidate, in their order.

    Args:
        epsilon: The privacy of one release.
        candidates: What can be chosen, public: labels, or how many.
        sensitivity: The most that one record can move a score.
        monotone: Whether a record moves all scores the same way. It halves the error.
        base: A public weight for each candidate, of at least zero; all alike if left out. A candidate of weight zero is
            never chosen, and the best score is that of the others.

    >>> lunch = Exponential("ln(4)", ["soup", "salad", "bread"], monotone=True)
    >>> [str(lunch.pmf(dish, [10, 9, 8]).lower) for dish in lunch.candidates], lunch.error_at([10, 9, 8])
    (['16/21', '4/21', '1/21'], Enclosure(2/7))
    """

    name: ClassVar[str] = "exponential mechanism"
    epsilon: Exact
    candidates: Sequence[Hashable]
    sensitivity: Fraction
    monotone: bool
    base: tuple[Fraction, ...] | None

    def __init__(
        self,
        epsilon: NumberLike,
        candidates: Candidates,
        sensitivity: NumberLike = 1,
        *,
        monotone: bool = False,
        base: Sequence[NumberLike] | None = None,
    ) -> None:
        self.read_parameters(epsilon, candidates, sensitivity, monotone)
        read_rate(self.rate, "epsilon/sensitivity", reach=500)
        object.__setattr__(self, "base", None if base is None else _read_base(base, len(self.candidates)))

    @property
    def event(self) -> BoundedRange:
        """epsilon, with log-probability ratios in an interval of that length."""
        return BoundedRange(self.epsilon)

    def choose(self, scores: Numbers, count: int, source: Source) -> NDArray[np.int64]:
        """`count` independent choices, as places among the candidates."""
        drawn: NDArray[np.int64] = categorical_exp(scores, self._weights, count, source, rate=self.rate)
        return drawn

    def chance(self, place: int, scores: Numbers, bits: int, /) -> Enclosure:
        """P(the candidate at this place is chosen)."""
        read = Scores(scores, "scores")
        return at_chances(read, self.rate, lambda weights, _: weights[place] / sum(weights), bits, self.base)

    def expected_gap(self, scores: Numbers, bits: int, /) -> Enclosure:
        """E[best score − score of the choice]."""

        def mean(weights: list[Any], gaps: list[Any]) -> Any:
            return sum(weight * gap for weight, gap in zip(weights, gaps, strict=True)) / sum(weights)

        return at_chances(Scores(scores, "scores"), self.rate, mean, bits, self.base)

    def best_of(self, scores: Numbers) -> Exact:
        """The best score among the candidates of positive weight."""
        return Scores(scores, "scores").largest(None if self.base is None else np.array(self.base) > 0)

    def worst_gap(self, bits: int = 64) -> Enclosure:
        """The largest expected gap over all scores: W(odds/e)/rate, n − 1 for the odds if there is no base measure."""
        return exponential_regret(self._odds, self.rate, bits)

    def quantile(self, level: NumberLike = LEVEL) -> Fraction:
        """A gap that is not exceeded with at least this probability, whatever the scores."""
        return exponential_quantile(self._odds, self.rate, read_rational(level, "level", above=0, below=1))

    def utility_bound(self, t: NumberLike, optimal: int = 1) -> Enclosure:
        """A gap that is reached with probability e^-t at most: (ln(μ(R)/μ(best)) + t)/rate.

        Tóthmérész 2013, Theorem 2.2. With a base measure, μ(best) is the least that `optimal` candidates can weigh.
        """
        if self.base is None:
            return super().utility_bound(t, optimal)
        positive = sorted(weight for weight in self.base if weight)
        least = sum(positive[: read_integer(optimal, "optimal", at_least=1, at_most=len(positive))])
        return utility_gap(sum(positive) / Fraction(least), self.rate, read_exact(t, "t", at_least=0))

    def representative(self, count: int) -> Exponential:
        """The same with candidates 0..count − 1, of which each weighs as much as one of positive weight."""
        base = None if self.base is None else sorted(self.base)[-count:]
        return Exponential(self.epsilon, count, self.sensitivity, monotone=self.monotone, base=base)

    def reason(self) -> Reason:
        """The most concentrated law of bounded range; permute-and-flip has the smaller error for a single release."""
        return Reason(
            "log-probability ratios of neighbours lie in an interval of length epsilon, so that it composes as "
            "epsilon²/8-zCDP; for a single release without a base measure permute-and-flip is never worse",
            "McSherry and Talwar, FOCS 2007, Theorem 6; Cesar and Rogers, ALT 2021",
            self.least_regret() if self.base is None else None,
        )

    @cached_property
    def _odds(self) -> Fraction:
        """What the others weigh for each unit of the best, which is at worst the lightest."""
        if self.base is None:
            return Fraction(len(self.candidates) - 1)
        return sum(self.base) / min(weight for weight in self.base if weight) - 1

    @cached_property
    def _weights(self) -> Numbers | None:
        """The base measure as an array where that is exact, so that it need not be read for every draw."""
        if self.base is None:
            return None
        if all(weight.denominator == 1 and weight < 1 << 63 for weight in self.base):
            return np.array([int(weight) for weight in self.base], dtype=np.int64)
        floats = np.array([float(weight) for weight in self.base])
        exact = all(Fraction(value) == weight for value, weight in zip(floats.tolist(), self.base, strict=True))
        return floats if exact else list(self.base)


def _length(base: Any) -> int:
    return -1 if isinstance(base, np.ndarray) and base.ndim != 1 else len(base)


def _read_base(base: Sequence[NumberLike], count: int) -> tuple[Fraction, ...]:
    if not isinstance(base, Sequence | np.ndarray) or isinstance(base, str) or _length(base) != count:
        raise BadParameter(
            f"base must hold a weight for each of the {count} candidates",
            given=type(base).__name__,
            fix="leave it out if all are alike",
        )
    weights = tuple(read_rational(weight, f"base[{place}]", at_least=0) for place, weight in enumerate(base))
    if not any(weights):
        raise BadParameter("base must not hold only zeros", fix="leave it out if all are alike")
    return weights


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

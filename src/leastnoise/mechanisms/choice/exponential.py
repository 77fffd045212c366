"""The exponential mechanism: candidate r with probability ∝ μ(r)·e^(rate·q(x, r)), μ a public base measure.

rate = ε/(2Δ), or ε/Δ for monotone scores (the normaliser then moves against the weight by as much as it moves with it).
McSherry and Talwar, "Mechanism design via differential privacy", FOCS 2007, Theorem 6; Cummings, Lecture 2, Theorem 3.
Log-probability ratios of neighbours lie in an interval of length ε (bounded range: Durfee and Rogers 2019), hence
ε²/8-zCDP (Cesar and Rogers 2021). With one release permute-and-flip is the better choice; with many releases under
concentrated accounting, or with a base measure, this one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike, read_exact, read_integer, read_rate, read_rational
from leastnoise.exact.samplers.categorical_exp import categorical_exp
from leastnoise.exact.samplers.chances import at_chances
from leastnoise.exact.samplers.scores import Numbers, Scores
from leastnoise.exact.sources import Source
from leastnoise.mechanisms.choice.regret import exponential_quantile, exponential_regret, utility_gap
from leastnoise.mechanisms.choice.selection import RatedSelection
from leastnoise.mechanisms.truths import Candidates
from leastnoise.model.events import BoundedRange
from leastnoise.model.mechanism import LEVEL, Reason

__all__ = ["Exponential"]


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

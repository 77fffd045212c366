"""Permute-and-flip: the default choice among candidates.

Look at the candidates in random order and take the first whose coin, of chance p(r) = e^(−rate·(best score − q(x, r))),
is heads; rate = ε/(2Δ), or ε/Δ for monotone scores. P(r) = p(r)·∫₀¹ Π_{s≠r} (1 − p(s)·u) du. McKenna and Sheldon,
"Permute-and-Flip: a new mechanism for differentially private selection", NeurIPS 2020. Ding, Kifer et al. 2021: it is
report-noisy-max with exponential noise, from which the privacy follows in one line.

It is ε-private and never further below the best than the exponential mechanism, whatever the scores and however "far"
is measured. It is not of bounded range ε: what composition may use is pure ε, that is ε²/2-zCDP.

The most common of several options, such as eye colours (Cummings, Lecture 2, Example 1). The score of an option is how
many people have it. One person has one option: whoever joins or leaves moves one count by one, so the scores are
monotone with sensitivity one and rate = ε, where the lecture has ε/2. Whoever changes their option moves one count up
and another down, which needs ε/2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Numbers,
    PermuteAndFlipLaw,
    Scores,
    Source,
    read_rate,
    read_rational,
)
from leastnoise.mechanisms.choice.selection import RatedSelection, permute_and_flip_quantile, permute_and_flip_regret
from leastnoise.mechanisms.truths import Candidates, read_candidates
from leastnoise.model import LEVEL, Pure, Reason

__all__ = ["MostCommon", "PermuteAndFlip"]


@dataclass(frozen=True, init=False)
class PermuteAndFlip(RatedSelection):
    """The candidate with nearly the best score; the truth is one score per candidate, in their order.

    Args:
        epsilon: The privacy of one release.
        candidates: What can be chosen, public: labels, or how many.
        sensitivity: The most that one record can move a score.
        monotone: Whether a record moves all scores the same way. It halves the error.

    >>> lunch = PermuteAndFlip("ln(4)", ["soup", "salad", "bread"], monotone=True)
    >>> [str(lunch.pmf(dish, [10, 9, 8]).lower) for dish in lunch.candidates], lunch.error_at([10, 9, 8])
    (['163/192', '47/384', '11/384'], Enclosure(23/128))
    >>> lunch.release([1000, 3, 5])
    'soup'
    """

    name: ClassVar[str] = "permute-and-flip mechanism"
    epsilon: Exact
    candidates: Sequence[Hashable]
    sensitivity: Fraction
    monotone: bool

    def __init__(
        self, epsilon: NumberLike, candidates: Candidates, sensitivity: NumberLike = 1, *, monotone: bool = False
    ) -> None:
        self.read_parameters(epsilon, candidates, sensitivity, monotone)
        read_rate(self.rate, "epsilon/sensitivity", reach=500)

    @property
    def event(self) -> Pure:
        """epsilon, and no better composition than that."""
        return Pure(self.epsilon)

    def choose(self, scores: Numbers, count: int, source: Source) -> NDArray[np.int64]:
        """`count` independent choices, as places among the candidates."""
        return PermuteAndFlipLaw(Scores(scores, "scores"), self.rate).draw(count, source)

    def chance(self, place: int, scores: Numbers, bits: int, /) -> Enclosure:
        """P(the candidate at this place is chosen), in O(n²) steps."""
        return PermuteAndFlipLaw(Scores(scores, "scores"), self.rate).pmf(place, bits)

    def expected_gap(self, scores: Numbers, bits: int, /) -> Enclosure:
        """E[best score − score of the choice], in O(n²) steps."""
        return PermuteAndFlipLaw(Scores(scores, "scores"), self.rate).expected_gap(bits)

    def worst_gap(self, bits: int = 64) -> Enclosure:
        """The largest expected gap over all scores."""
        return permute_and_flip_regret(len(self.candidates), self.rate, bits)

    def quantile(self, level: NumberLike = LEVEL) -> Fraction:
        """A gap that is not exceeded with at least this probability, whatever the scores."""
        return permute_and_flip_quantile(
            len(self.candidates), self.rate, read_rational(level, "level", above=0, below=1)
        )

    def representative(self, count: int) -> PermuteAndFlip:
        """The same with candidates 0..count − 1."""
        return PermuteAndFlip(self.epsilon, count, self.sensitivity, monotone=self.monotone)

    def reason(self) -> Reason:
        """Never worse than the exponential mechanism; within a factor of about two of what is possible."""
        return Reason(
            "for every list of scores the gap to the best is stochastically at most that of the exponential mechanism",
            "McKenna and Sheldon, NeurIPS 2020; proof in docs/theory/permute_and_flip.md",
            self.least_regret(),
        )


@dataclass(frozen=True, init=False)
class MostCommon(PermuteAndFlip):
    """The most common option, by permute-and-flip; the truth is a count for each option, in their order or by name.

    Args:
        epsilon: The privacy of one release.
        options: All options there are, public; or how many.
        replace: Whether neighbours differ in the option of one person, and not in one person's being there.

    >>> eyes = MostCommon(1, ["brown", "blue", "green"])
    >>> eyes.release({"brown": 5210, "blue": 2804, "green": 371})
    'brown'
    >>> eyes.tally(["brown", "blue", "brown"]), eyes.error().expected
    ([2, 1, 0], Enclosure(≈ 0.325727865273124))
    """

    name: ClassVar[str] = "most common option"

    def __init__(self, epsilon: NumberLike, options: Candidates, *, replace: bool = False) -> None:
        if not isinstance(replace, bool):
            raise BadParameter("replace must be True or False", given=replace, fix="leave it out if in doubt")
        super().__init__(epsilon, read_candidates(options, "options"), monotone=not replace)

    def tally(self, records: Iterable[Hashable]) -> list[int]:
        """How many records have each option; records with none of the options do not count."""
        counts = Counter(records)
        return [counts[option] for option in self.candidates]

    def scores_of(self, truth: Any) -> Numbers:
        """The counts; names that are no option do not count, options that are not named count zero."""
        named = isinstance(truth, Mapping)
        scores = super().scores_of([truth.get(option, 0) for option in self.candidates] if named else truth)
        if not (scores.dtype.kind in "iu" if isinstance(scores, np.ndarray) else all(map(_is_whole, scores))):
            raise BadParameter("the counts must be whole numbers", fix="count people, each once")
        return scores


def _is_whole(count: object) -> bool:
    return getattr(count, "denominator", 0) == 1

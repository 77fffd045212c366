"""The most common of several options, such as eye colours (Cummings, Lecture 2, Example 1).

The score of an option is how many people have it. One person has one option: whoever joins or leaves moves one count by
one, so the scores are monotone with sensitivity one and rate = ε, where the lecture has ε/2. Whoever changes their
option moves one count up and another down, which needs ε/2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.exact.parameters import NumberLike
from leastnoise.exact.samplers.scores import Numbers
from leastnoise.mechanisms.choice.permute_and_flip import PermuteAndFlip
from leastnoise.mechanisms.truths import Candidates, read_candidates

__all__ = ["MostCommon"]


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

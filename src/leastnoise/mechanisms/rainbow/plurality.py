"""Which option has most votes? With a public order of the options that breaks ties.

One person moves a count by at most r: joining or leaving moves the lead of one option over another by at most r, a
change of vote by at most 2r. The winner is overtaken by a later option once its lead is below zero, by an earlier one
once it is zero; the distance to the boundary is the least number of people that takes, less one.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter, LeastNoiseError
from leastnoise.exact.parameters import NumberLike, read_integer
from leastnoise.mechanisms.rainbow.decision import Decision
from leastnoise.mechanisms.rainbow.line import Line
from leastnoise.mechanisms.rainbow.rainbow_graph import Rainbow

__all__ = ["Plurality"]


@dataclass(frozen=True, init=False)
class Plurality(Decision):
    """The option with the largest count; the truth is one count per option, in their order or by name.

    Args:
        epsilon: The privacy of one release.
        delta: The same; may be zero.
        options: All options, public; the first of those that tie wins.
        contribution: The most that one person can add to any one count.
        replace: Whether neighbours differ in the votes of one person, and not in one person's being there.

    >>> vote = Plurality("ln(2)", options=["red", "blue"])
    >>> vote.locate([5, 5]), vote.locate([5, 6]), vote.locate([3, 9])
    ((0, 0), (1, 0), (1, 5))
    """

    name: ClassVar[str] = "plurality vote"
    line: Line
    options: Rainbow
    step: Fraction
    everyone_touches: bool

    def __init__(
        self,
        epsilon: NumberLike,
        delta: NumberLike = 0,
        *,
        options: Sequence[Hashable],
        contribution: NumberLike = 1,
        replace: bool = False,
    ) -> None:
        if not isinstance(replace, bool):
            raise BadParameter("replace must be True or False", given=replace, fix="leave it out if in doubt")
        most = read_integer(contribution, "contribution", at_least=1)
        self.read_parameters(epsilon, delta, options, Fraction(most * (2 if replace else 1)))
        # With replacement (n, n, n), (n−1, n+1, n), (n−1, n, n+1) are neighbours of each other with three winners.
        object.__setattr__(self, "everyone_touches", replace or len(self.options) == 2)

    def locate(self, truth: Any) -> tuple[int, int]:
        """The winner's place, and the distance: how many people it takes for another to win, less one."""
        counts = self._read(truth)
        winner = counts.index(max(counts))
        distances = (
            self.distance_at(counts[winner] - count, favoured=winner < place)
            for place, count in enumerate(counts)
            if place != winner
        )
        return winner, min(distances)

    def _read(self, truth: Any) -> list[int]:
        """The private counts; an error does not show them."""
        try:
            if isinstance(truth, Mapping):
                truth = [truth.get(option, 0) for option in self.options]
            counts = [read_integer(count, "count", at_least=0) for count in truth]
            if len(counts) == len(self.options) and not isinstance(truth, str | np.ma.MaskedArray):
                return counts
        except (LeastNoiseError, TypeError, ValueError):
            pass
        raise BadParameter(
            f"the truth must be {len(self.options)} whole counts of at least 0, one for each option in their order",
            fix="count people, each once",
        )

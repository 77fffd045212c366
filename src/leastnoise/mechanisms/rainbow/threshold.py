"""Is a bounded sum at least k? A count is a sum of zeros and ones, and the sign of a sum is the case k = 0.

One person adds a number within [low, high]: who joins or leaves moves the sum by at most max(|low|, |high|), who
changes by at most high − low; call it B. From a sum S ≥ k it takes ⌊(S − k)/B⌋ + 1 people to get below k, from S < k it
takes ⌈(k − S)/B⌉ to get to k; the distance to the boundary is one less.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter, LeastNoiseError
from leastnoise.exact.parameters import NumberLike, read_rational
from leastnoise.mechanisms.rainbow.decision import Decision
from leastnoise.mechanisms.rainbow.line import Line
from leastnoise.mechanisms.rainbow.rainbow_graph import Rainbow

__all__ = ["Threshold"]


@dataclass(frozen=True, init=False)
class Threshold(Decision):
    """Whether a sum is at least k; the truth is the exact sum, or count.

    Args:
        epsilon: The privacy of one release.
        delta: The same; may be zero.
        at_least: k, public.
        bounds: What one person can add to the sum: (0, 1) for a count.
        replace: Whether neighbours differ in the contribution of one person, and not in one person's being there.
        options: The two answers, that for "at least" first.

    >>> test = Threshold("ln(2)", at_least=10)
    >>> test.locate(12), test.locate(9), test.pmf(True, 12), test.pmf(True, 9)
    ((0, 2), (1, 0), Enclosure(11/12), Enclosure(1/3))
    """

    name: ClassVar[str] = "threshold test"
    line: Line
    options: Rainbow
    step: Fraction
    everyone_touches: bool
    at_least: Fraction
    bounds: tuple[Fraction, Fraction]

    def __init__(
        self,
        epsilon: NumberLike,
        delta: NumberLike = 0,
        *,
        at_least: NumberLike,
        bounds: tuple[NumberLike, NumberLike] = (0, 1),
        replace: bool = False,
        options: Sequence[Hashable] = (True, False),
    ) -> None:
        low, high = _read_bounds(bounds)
        limit = read_rational(at_least, "at_least")
        if (low >= 0 and limit <= 0) or (high <= 0 and limit > 0):
            raise BadParameter(
                "at_least must be a limit that sums can miss and reach",
                given=f"at_least={limit}, bounds=({low}, {high})",
                fix="the answer is the same for all data: no mechanism is needed",
            )
        if not isinstance(replace, bool):
            raise BadParameter("replace must be True or False", given=replace, fix="leave it out if in doubt")
        step = high - low if replace else max(abs(low), abs(high))
        self.read_parameters(epsilon, delta, options, step)
        if len(self.options) != 2:
            raise BadParameter("options must be two, that for at least first", given=self.options, fix="leave it out")
        object.__setattr__(self, "everyone_touches", True)
        object.__setattr__(self, "at_least", limit)
        object.__setattr__(self, "bounds", (low, high))

    def locate(self, truth: Any) -> tuple[int, int]:
        """Which answer is right, and the distance: how many people it takes to change it, less one."""
        margin = _read_sum(truth) - self.at_least
        return int(margin < 0), self.distance_at(abs(margin), favoured=margin >= 0)


def _read_bounds(bounds: tuple[NumberLike, NumberLike]) -> tuple[Fraction, Fraction]:
    try:
        first, last = bounds
    except (TypeError, ValueError):
        raise BadParameter("bounds must be a pair", given=bounds, fix="pass bounds=(0, 1) for a count") from None
    low, high = read_rational(first, "bounds[0]"), read_rational(last, "bounds[1]")
    if low >= high:
        raise BadParameter("bounds must be increasing", given=f"({low}, {high})", fix="pass the lower one first")
    return low, high


def _read_sum(truth: Any) -> Fraction:
    """The private sum as the number it is, a float as the one the machine holds; an error does not show it."""
    try:
        if isinstance(truth, float | np.floating):
            return Fraction(float(truth))
        return read_rational(truth, "answer")
    except (LeastNoiseError, TypeError, ValueError, OverflowError):
        pass
    raise BadParameter("the truth must be a finite number", fix="map missing values before asking")

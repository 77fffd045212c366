"""The least expected distance on a path of n nodes under the uniform prior, in closed form: no matrix, any n.

The truncated geometric mechanism has the columns c_y·α^|x − y|, c_y = (1 − α)/(1 + α), and 1/(1 + α) at the two ends.
Under the uniform prior the best guess for an output is a median of its column. With N = n − 1, S₀(m) = Σ_{d=1}^m α^d
and S₁(m) = Σ_{d=1}^m d·α^d, guessing y itself costs S₁(y) + S₁(N − y), and guessing one node further from the near end
than y + k costs 1 + S₀(y) + 2S₀(k) − S₀(N − y) more. This grows with k and with y: it is negative only for the y near
an end, and for those the best guess is the first y + k where it is not. For α ≤ 1/2 there are none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from leastnoise.exact import Enclosure, Exact, at_alpha, least_whole

__all__ = ["UniformCount", "uniform_count"]

_BITS = 128
_CLOSE = 1e-6  # a step whose sign doubles may get wrong is decided by enclosures


class UniformCount(NamedTuple):
    """The least expected distance, and where the best guess for an output is not the output, place to place."""

    loss: Enclosure
    moved: Mapping[int, int]


def uniform_count(rate: Exact, size: int) -> UniformCount:
    """The optimum on a path.

    Args:
        rate: −ln α, above zero.
        size: n, at least two.

    >>> from leastnoise.exact import ln
    >>> uniform_count(ln(2), 3).loss, float(uniform_count(ln(3), 10**6).loss)
    (Enclosure(5/9), 0.749998875)
    """
    last = size - 1
    shifts: list[int] = []
    while len(shifts) <= (last - 1) // 2 and (shift := _shift(rate, len(shifts), last)):
        shifts.append(shift)
    loss = at_alpha(rate, lambda a: _loss(a, last, shifts), _BITS, power=4 * size)
    near = {place: place + shift for place, shift in enumerate(shifts)}
    return UniformCount(loss, near | {last - place: last - guess for place, guess in near.items()})


def _shift(rate: Exact, place: int, last: int) -> int:
    """How many nodes further from its end than `place` the best guess lies."""
    return least_whole(lambda k: _step_is_no_gain(rate, place, k, last))


def _step_is_no_gain(rate: Exact, place: int, k: int, last: int) -> bool:
    """Whether 1 + S₀(y) + 2S₀(k) − S₀(N − y) ≥ 0."""
    alpha = math.exp(-float(rate))
    rough = (1 - alpha) + alpha * (alpha ** (last - place) - alpha**place + 2 - 2 * alpha**k)  # times 1 − α
    if abs(rough) > _CLOSE * (1 - alpha):
        return rough > 0

    def far_end_aside(a: Any) -> Any:  # where this is zero, a^(N − y) alone may be too small to be told from it
        return 1 - a + a * (2 - 2 * a**k - a**place)

    if at_alpha(rate, far_end_aside, _BITS, power=place + k + 1).lower >= 0:
        return True
    return at_alpha(rate, lambda a: far_end_aside(a) + a ** (last - place + 1), _BITS, power=last + 2).upper >= 0


def _loss(a: Any, last: int, shifts: list[int]) -> Any:
    """The mean over all columns: those near the ends one by one, those between by the sum of geometric sums."""
    inner, least = (1 - a) / (1 + a), max(len(shifts), 1)
    ends = sum(
        (1 / (1 + a) if place == 0 else inner) * _column(a, place, shifts[place] if shifts else 0, last)
        for place in range(least)
    )
    between = inner * _sums_of_s1(a, least, last - least) if least <= last - least else 0
    return 2 * (ends + between) / (last + 1)


def _column(a: Any, place: int, shift: int, last: int) -> Any:
    """What guessing place + shift costs: the sum of `shift` steps from guessing the place itself."""
    steps = shift * (1 + _s0(a, place) - _s0(a, last - place))
    sums = 2 * a / (1 - a) * (shift - (1 - a**shift) / (1 - a))  # 2·Σ_{k<shift} S₀(k)
    return _s1(a, place) + _s1(a, last - place) + steps + sums


def _s0(a: Any, m: int) -> Any:
    return a * (1 - a**m) / (1 - a)


def _s1(a: Any, m: int) -> Any:
    return a * (1 - (m + 1) * a**m + m * a ** (m + 1)) / ((1 - a) * (1 - a))


def _sums_of_s1(a: Any, first: int, last: int) -> Any:
    """Σ_{m=first}^{last} S₁(m)."""
    powers = (a**first - a ** (last + 1)) / (1 - a)
    weighted = (first * a**first - (last + 1) * a ** (last + 1) + a * powers) / (1 - a)
    return a / ((1 - a) * (1 - a)) * ((last - first + 1) - powers - (1 - a) * weighted)

"""What an answer is worth by its rank among a dataset's preferences."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from leastnoise.errors import BadParameter
from leastnoise.exact.parameters import NumberLike, read_rational

__all__ = ["UtilityLike", "read_utility"]

UtilityLike: TypeAlias = str | Sequence[NumberLike]


def read_utility(utility: UtilityLike, count: int) -> tuple[Fraction, ...]:
    """The worth of each rank, best first; a worse colour is never worth more (an order-reasonable utility).

    Args:
        utility: "best colour" is worth 1 if the best is answered; "rank" is minus the number of colours that are
            preferred to the answer; else one number per rank.
        count: How many colours there are.

    >>> [str(worth) for worth in read_utility("rank", 3)]
    ['0', '-1', '-2']
    """
    if utility == "best colour":
        return (Fraction(1), *[Fraction(0)] * (count - 1))
    if utility == "rank":
        return tuple(Fraction(-rank) for rank in range(count))
    if isinstance(utility, str) or len(utility) != count:
        raise BadParameter(
            f'utility must be "best colour", "rank" or {count} numbers', given=utility, fix="give one number per colour"
        )
    worth = tuple(read_rational(value, f"utility[{rank}]") for rank, value in enumerate(utility))
    if any(better < worse for better, worse in pairwise(worth)):
        raise BadParameter("utility must not prefer a worse colour", given=utility, fix="sort it from large to small")
    return worth

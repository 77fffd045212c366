"""Choosing one of many: exact weights, and weights base·e^exponent."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact.arrays import Size
from leastnoise.exact.parameters import NumberLike, read_integer, read_rational
from leastnoise.exact.samplers.shaping import Draws, in_shape
from leastnoise.exact.samplers.uniform import uniform_integer
from leastnoise.exact.sources import Source

__all__ = ["categorical", "categorical_cdf", "categorical_pmf"]

Weights = Sequence[NumberLike] | NDArray[Any]

_MOST_LISTED = 1 << 27


def categorical(weights: Weights, size: Size = None, source: Source | None = None) -> Draws:
    """Draw an index i with probability weights[i] / Σ weights, for exact weights of at least zero.

    Brings the weights to a common denominator and draws a uniform integer below their sum.

    >>> categorical([0, "1/3", 0]), categorical([1, 2, 3], size=4).shape
    (1, (4,))
    """
    sums = _cumulative(weights)
    if sums[-1] < 1 << 62:
        borders = np.array(sums, dtype=np.int64)

        def draw(count: int, bits: Source) -> NDArray[Any]:
            drawn: NDArray[Any] = uniform_integer(sums[-1], count, bits)
            return np.searchsorted(borders, drawn, side="right")
    else:

        def draw(count: int, bits: Source) -> NDArray[Any]:
            return np.array([bisect_right(sums, uniform_integer(sums[-1], source=bits)) for _ in range(count)])

    return in_shape(draw, size, source)


def categorical_pmf(outcome: int, weights: Weights) -> Fraction:
    """P(X = outcome) of `categorical`.

    >>> categorical_pmf(2, [1, 2, 3])
    Fraction(1, 2)
    """
    place = read_integer(outcome, "outcome")
    return categorical_cdf(place, weights) - categorical_cdf(place - 1, weights)


def categorical_cdf(outcome: int, weights: Weights) -> Fraction:
    """P(X ≤ outcome) of `categorical`."""
    sums, place = _cumulative(weights), read_integer(outcome, "outcome")
    return Fraction(sums[min(place, len(sums) - 1)], sums[-1]) if place >= 0 else Fraction(0)


def _cumulative(weights: Weights) -> list[int]:
    is_list = weights.ndim == 1 if isinstance(weights, np.ndarray) else isinstance(weights, list | tuple | range)
    if not is_list or not 0 < len(weights) <= _MOST_LISTED:
        raise BadParameter("weights must be a non-empty list", given=type(weights).__name__, fix="pass one weight each")
    if isinstance(weights, np.ndarray) and weights.dtype.kind in "iu":
        if (weights < 0).any():
            place = int((weights < 0).argmax())
            raise BadParameter(
                f"weights[{place}] must be at least 0", given=int(weights[place]), fix="drop or raise it"
            )
        whole = weights.tolist()
    else:
        exact = [read_rational(w, f"weights[{i}]", at_least=0) for i, w in enumerate(weights)]
        denominator = lcm(*(w.denominator for w in exact))
        whole = [w.numerator * (denominator // w.denominator) for w in exact]
    sums = list(accumulate(whole))
    if sums[-1] == 0:
        raise BadParameter("the weights are all zero", fix="give at least one candidate a positive weight")
    return sums

"""Choosing one of many: exact weights, and weights base·e^exponent."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact.parameters import NumberLike, Size, read_integer, read_rational
from leastnoise.exact.samplers.categorical_rows import CategoricalRows
from leastnoise.exact.samplers.uniform import uniform_integer
from leastnoise.exact.sources import Draws, Source, in_shape

__all__ = ["categorical", "categorical_cdf", "categorical_pmf"]

Weights = Sequence[NumberLike] | NDArray[Any]

_MOST_LISTED = 1 << 27


def categorical(weights: Weights, size: Size = None, source: Source | None = None) -> Draws:
    """Draw an index i with probability weights[i] / Σ weights, for exact weights of at least zero.

    Brings the weights to a common denominator and draws a uniform integer below their sum, or, where that has more than
    62 bits, a word to hold against the shares (`CategoricalRows`).

    >>> categorical([0, "1/3", 0]), categorical([1, 2, 3], size=4).shape
    (1, (4,))
    """
    whole = _whole(weights)
    sums = list(accumulate(whole))
    if sums[-1] < 1 << 62:
        borders = np.array(sums, dtype=np.int64)

        def draw(count: int, bits: Source) -> NDArray[Any]:
            drawn: NDArray[Any] = uniform_integer(sums[-1], count, bits)
            return np.searchsorted(borders, drawn, side="right")
    else:
        rows = CategoricalRows(lambda _: whole)

        def draw(count: int, bits: Source) -> NDArray[Any]:
            return rows.draw_from(0, count, bits)

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
    sums, place = list(accumulate(_whole(weights))), read_integer(outcome, "outcome")
    return Fraction(sums[min(place, len(sums) - 1)], sums[-1]) if place >= 0 else Fraction(0)


def _whole(weights: Weights) -> list[int]:
    """The weights over a common denominator."""
    is_list = weights.ndim == 1 if isinstance(weights, np.ndarray) else isinstance(weights, list | tuple | range)
    if not is_list or not 0 < len(weights) <= _MOST_LISTED:
        raise BadParameter("weights must be a non-empty list", given=type(weights).__name__, fix="pass one weight each")
    if isinstance(weights, np.ndarray) and weights.dtype.kind in "iu":
        if (weights < 0).any():
            place = int((weights < 0).argmax())
            raise BadParameter(
                f"weights[{place}] must be at least 0", given=int(weights[place]), fix="drop or raise it"
            )
        whole: list[int] = weights.tolist()
    else:
        exact = [read_rational(w, f"weights[{i}]", at_least=0) for i, w in enumerate(weights)]
        denominator = lcm(*(w.denominator for w in exact))
        whole = [w.numerator * (denominator // w.denominator) for w in exact]
    if not any(whole):
        raise BadParameter("the weights are all zero", fix="give at least one candidate a positive weight")
    return whole

"""Coins: Bernoulli(p) for exact p, and Bernoulli(e^-x) for exact x ≥ 0."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact.balls import evaluate, scaled_bounds
from leastnoise.exact.enclosures import Enclosure, exp_enclosure
from leastnoise.exact.floats import exp_bounds, require_order
from leastnoise.exact.inversion import is_below
from leastnoise.exact.numbers import Exact, ball_of
from leastnoise.exact.parameters import (
    RELATIVE_ERROR,
    ExactArray,
    NumberLike,
    Size,
    is_array,
    read_array,
    read_exact,
    read_rational,
)
from leastnoise.exact.sources import Draws, Source, in_shape, per_element

__all__ = ["bernoulli", "bernoulli_exp", "bernoulli_exp_pmf", "bernoulli_pmf", "coins_between", "scaled_exp"]

ScaledBounds = Callable[[int], tuple[int, int]]


def bernoulli(p: NumberLike | NDArray[Any], size: Size = None, source: Source | None = None) -> Draws:
    """Draw True with probability exactly p, else False.

    Reveals a uniform U bit by bit until U < p is decided: 32 bits at once, more where they agree with those of p.
    An array of p gives one coin for each.

    >>> bernoulli(1), bernoulli(0), bernoulli("1/3", size=4).dtype
    (True, False, dtype('bool'))
    """
    if is_array(p):
        array = read_array(p, "p", zero_allowed=True)
        # A number of a list may round to 1 and be more; one of a numeric array is what its double says.
        rounded = () if isinstance(p, np.ndarray) and p.dtype != object else np.flatnonzero(array.centers == 1)
        if (array.centers > 1).any() or any(array.rational(int(i)) > 1 for i in rounded):
            raise BadParameter("p must be at most 1", given=array.centers.max(), fix="pass probabilities")
        slack = array.centers * RELATIVE_ERROR
        bounds = (array.centers - slack, array.centers + slack)
        return per_element(
            lambda block, bits: coins_between(
                (bounds[0][block], bounds[1][block]),
                lambda i: _scaled_rational(array.rational(block.start + i)),
                bits,
            ),
            array,
            size,
            source,
            np.bool_,
        )
    chance = read_rational(p, "p", at_least=0, at_most=1)
    return _coins(_scaled_rational(chance), size, source)


def bernoulli_pmf(outcome: bool, p: NumberLike) -> Fraction:
    """P(X = outcome) of `bernoulli`."""
    chance = read_rational(p, "p", at_least=0, at_most=1)
    return chance if _is_heads(outcome) else 1 - chance


def bernoulli_exp(x: NumberLike | NDArray[Any], size: Size = None, source: Source | None = None) -> Draws:
    """Draw True with probability exactly e^-x, for x ≥ 0, else False; an array of x gives one coin for each.

    >>> bernoulli_exp(0), bernoulli_exp("ln(2)", size=3).shape
    (True, (3,))
    """
    if is_array(x):
        array = read_array(x, "x", zero_allowed=True)
        return per_element(lambda block, bits: _exp_coins(array, block, bits), array, size, source, np.bool_)
    exponent = read_exact(x, "x", at_least=0)
    return _coins(scaled_exp(exponent), size, source)


def bernoulli_exp_pmf(outcome: bool, x: NumberLike, bits: int = 64) -> Enclosure:
    """P(X = outcome) of `bernoulli_exp`, enclosed; exact where e^-x is rational."""
    chance = exp_enclosure(-read_exact(x, "x", at_least=0), bits)
    return chance if _is_heads(outcome) else Enclosure(1 - chance.upper, 1 - chance.lower)


def _is_heads(outcome: object) -> bool:
    if not isinstance(outcome, bool | np.bool_ | int):
        raise BadParameter("outcome must be True or False", given=type(outcome).__name__, fix="pass outcome=True")
    return bool(outcome)


def coins_between(
    bounds: tuple[NDArray[np.float64], NDArray[np.float64]], exact: Callable[[int], ScaledBounds], source: Source
) -> NDArray[np.bool_]:
    """One coin per element whose probability pᵢ lies between two doubles and is `exact(i)` exactly.

    With w the first 53 bits of U: w + 1 ≤ low·2^53 shows U < p and w ≥ high·2^53 shows U ≥ p. Scaling by 2^53 is exact.
    """
    low, high = bounds
    require_order(low, high)
    words = source.words(len(low), 64) >> np.uint64(11)
    position = words.astype(np.float64)  # below 2^53: exact
    heads: NDArray[np.bool_] = position + 1.0 <= low * 2.0**53
    for i in np.flatnonzero(~heads & (position < high * 2.0**53)):
        heads[i] = is_below(int(words[i]), 53, exact(int(i)), source)
    return heads


def _coins(threshold: ScaledBounds, size: Size, source: Source | None) -> Draws:
    low, high = threshold(32)

    def draw(count: int, bits: Source) -> NDArray[np.bool_]:
        words = bits.words(count, 32).astype(np.int64)
        heads: NDArray[np.bool_] = words < low
        if low < high:
            for i in np.flatnonzero((words >= low) & (words < high)):
                heads[i] = is_below(int(words[i]), 32, threshold, bits)
        return heads

    return in_shape(draw, size, source, np.bool_)


def _exp_coins(array: ExactArray, block: slice, source: Source) -> NDArray[np.bool_]:
    x = array.centers[block]
    bounds = exp_bounds(-x * (1 + RELATIVE_ERROR), -x * (1 - RELATIVE_ERROR))
    return coins_between(bounds, lambda i: scaled_exp(array.exact(block.start + i)), source)


def _scaled_rational(p: Fraction) -> ScaledBounds:
    return lambda bits: (
        (p.numerator << bits) // p.denominator,
        -(-(p.numerator << bits) // p.denominator),
    )


def scaled_exp(x: Exact) -> ScaledBounds:
    """Bounds of e^-x·2^b as a function of b."""
    return lambda bits: scaled_bounds(evaluate(lambda: (-ball_of(x)).exp(), bits + 64), bits)

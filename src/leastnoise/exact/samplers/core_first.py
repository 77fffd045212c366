"""Choosing one of many where a few candidates have nearly all the weight, and the rest is dear to compute."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact.parameters import NumberLike, Size
from leastnoise.exact.samplers.bernoulli import ScaledBounds, coins_between
from leastnoise.exact.samplers.categorical_exp import categorical_exp, categorical_exp_cdf
from leastnoise.exact.samplers.scores import Numbers
from leastnoise.exact.sources import Draws, Source, in_shape

__all__ = ["categorical_exp_core_first"]

_SPARE_BITS = 8
_BELOW = 0.0  # towards which the chance of the core is rounded


def categorical_exp_core_first(
    exponents: Numbers,
    base: Numbers,
    rest: Callable[[], tuple[NDArray[np.int64], NDArray[np.int64]]],
    rest_share: Fraction,
    size: Size = None,
    source: Source | None = None,
    *,
    rate: NumberLike = 1,
) -> Draws:
    """Draw an index with probability ∝ base·e^(rate·exponent) among the core and, after it, the rest.

    A coin says core or rest, then the index is drawn within it. The coin's chance lies between 1 − rest_share and 1:
    that settles it nearly always. Only where it does not, the rest is computed and the coin is settled exactly, so the
    law is that of `categorical_exp` over all candidates.

    Args:
        exponents: Of the core; integers.
        base: Of the core; integers.
        rest: Computes the exponents and base weights of all other candidates.
        rest_share: A number that is surely not below the total probability of the rest.
        size: How many independent draws.
        source: Where the bits come from.
        rate: A positive factor of all exponents, exact.

    >>> rest = lambda: (np.array([-100, -200]), np.array([1, 1]))
    >>> categorical_exp_core_first([0], [1], rest, Fraction(1, 2**60), rate=1)
    0
    """
    if not 0 <= rest_share < 1:
        raise BadParameter("rest_share must be at least 0 and below 1", given=rest_share, fix="widen the core")
    core = len(base)
    rest_once = cache(rest)

    def core_chance(_: int) -> ScaledBounds:
        far_exponents, far_base = rest_once()
        everything = np.concatenate([exponents, far_exponents]), np.concatenate([base, far_base])

        def bounds(bits: int) -> tuple[int, int]:
            chance = categorical_exp_cdf(core - 1, *everything, bits + _SPARE_BITS, rate=rate)
            return floor(chance.lower * 2**bits), ceil(chance.upper * 2**bits)

        return bounds

    low = np.nextafter(float(1 - rest_share), _BELOW)

    def draw(count: int, bits: Source) -> NDArray[np.int64]:
        inside = coins_between((np.full(count, low), np.ones(count)), core_chance, bits)
        chosen = np.empty(count, dtype=np.int64)
        chosen[inside] = categorical_exp(exponents, base, int(inside.sum()), bits, rate=rate)
        if not inside.all():
            chosen[~inside] = core + categorical_exp(*rest_once(), int((~inside).sum()), bits, rate=rate)
        return chosen

    return in_shape(draw, size, source)

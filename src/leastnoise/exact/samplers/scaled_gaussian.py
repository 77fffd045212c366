"""Rounded normal numbers of many different variances at once: round(√(v·m_i)·g_i) for whole multiples m_i of one v.

Each has the law of `rounded_gaussian` with variance v·m_i, and its proof: a double near √(v·m_i)·g_i decides unless
it is about half-way between two whole numbers, and then the bits of g_i are revealed until it is clear.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact.balls import Ball, of_fraction
from leastnoise.exact.enclosures import sqrt_below
from leastnoise.exact.normals import DOUBLE_ERROR, Normals
from leastnoise.exact.samplers.rounded_gaussian import nearest_whole, read_variance
from leastnoise.exact.sources import Source, system_source

__all__ = ["scaled_gaussian"]

Wholes = NDArray[np.int64]

_MOST_MULTIPLE = 1 << 53  # a double holds it
_PRODUCT_ERROR = 2 * DOUBLE_ERROR  # relative to σ, of a double near σ·g: five roundings at |g| < 5 are below 2^-47


def scaled_gaussian(
    variance: Fraction, multiples: NDArray[np.int64], source: Source | None = None
) -> NDArray[np.int64]:
    """One draw for each multiple m: the whole number nearest to a normal number of variance `variance`·m.

    Args:
        variance: Exact; all products lie between 2^-100 and 2^100.
        multiples: Whole numbers from 1 to 2^53.
        source: Where the bits come from.

    >>> scaled_gaussian(Fraction(1, 1000), np.array([1, 2])).tolist()
    [0, 0]
    """
    if not multiples.size:
        return np.zeros(0, dtype=np.int64)
    least, most = int(multiples.min()), int(multiples.max())
    read_variance(variance * least)
    read_variance(variance * most)
    if least < 1 or most > _MOST_MULTIPLE:
        raise BadParameter("multiples must be whole numbers from 1 to 2^53", fix="use a larger variance instead")
    normals = Normals(multiples.size, source or system_source)
    sigmas = float(sqrt_below(variance, 80)) * np.sqrt(multiples.ravel().astype(np.float64))
    near = normals.doubles() * sigmas
    nearest = np.rint(near)
    clear = np.abs(near - nearest) <= 0.5 - sigmas * _PRODUCT_ERROR
    clear &= ~normals.far()
    out = nearest.astype(np.int64)
    for i in np.flatnonzero(~clear):
        out[i] = nearest_whole(normals, [int(i)], partial(_product, variance * int(multiples.ravel()[i])))
    return out.reshape(multiples.shape)


def _product(variance: Fraction, normals: Sequence[Ball]) -> Ball:
    """σ·g."""
    return normals[0] * of_fraction(variance).sqrt()

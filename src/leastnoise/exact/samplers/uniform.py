"""Uniform integers and permutations."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact.parameters import NumberLike, Size, is_array, read_integer, shape_of, whole_array
from leastnoise.exact.sources import Draws, Source, in_shape, system_source

__all__ = ["permutation", "permutation_pmf", "uniform_integer", "uniform_integer_cdf", "uniform_integer_pmf"]


_LONGEST = 1 << 27  # permutation: a gigabyte
_MOST_LISTED = 1 << 16  # places of an order whose chance is written out


def uniform_integer(bound: NumberLike | NDArray[Any], size: Size = None, source: Source | None = None) -> Draws:
    """Draw from 0, 1, …, bound − 1, each with probability 1/bound.

    Takes as many bits as bound − 1 has and draws again where they exceed it. A bound beyond 2^63 gives Python integers;
    an array of bounds gives one number for each.

    >>> 0 <= uniform_integer(6) < 6, uniform_integer(6, size=(2, 3)).shape
    (True, (2, 3))
    """
    if is_array(bound):
        return _one_for_each(bound, size, source or system_source)
    limit = read_integer(bound, "bound", at_least=1)
    if limit > 1 << 63:
        return in_shape(lambda n, bits: _wide(limit, n, bits), size, source, object)
    return in_shape(lambda n, bits: _narrow(np.full(n, limit - 1, dtype=np.uint64), bits), size, source)


def uniform_integer_pmf(outcome: int, bound: int) -> Fraction:
    """P(X = outcome) of `uniform_integer`."""
    limit = read_integer(bound, "bound", at_least=1)
    return Fraction(1, limit) if 0 <= read_integer(outcome, "outcome") < limit else Fraction(0)


def uniform_integer_cdf(outcome: int, bound: int) -> Fraction:
    """P(X ≤ outcome) of `uniform_integer`."""
    limit = read_integer(bound, "bound", at_least=1)
    return Fraction(min(max(read_integer(outcome, "outcome") + 1, 0), limit), limit)


def permutation(length: NumberLike, size: Size = None, source: Source | None = None) -> NDArray[np.int64]:
    """Draw an order of 0, …, length − 1, each of the length! orders equally likely.

    Sorts independent 64-bit keys and draws all of them again if two agree: given distinct keys, every order is equally
    likely. With `size`, an array of that shape whose last axis (added) holds the permutations.

    >>> sorted(permutation(5).tolist())
    [0, 1, 2, 3, 4]
    """
    count = read_integer(length, "length", at_least=0, at_most=_LONGEST)
    shape, bits = shape_of(size), source or system_source
    orders = np.empty((int(np.prod(shape, dtype=object)), count), dtype=np.int64)
    for order in orders:
        while True:
            keys = bits.words(count, 64)
            order[:] = np.argsort(keys)
            ranked = keys[order]
            if not (ranked[1:] == ranked[:-1]).any():
                break
    return orders.reshape((*shape, count))


def permutation_pmf(order: Sequence[int]) -> Fraction:
    """P(order) of `permutation`.

    >>> permutation_pmf([2, 0, 1]), permutation_pmf([0, 0, 1])
    (Fraction(1, 6), Fraction(0, 1))
    """
    places = whole_array(order)
    if places is None or places.ndim != 1 or len(places) > _MOST_LISTED:
        raise BadParameter(
            "order must be a list of places", given=type(order).__name__, fix="pass for example [2, 0, 1]"
        )
    count = len(places)
    return Fraction(1, factorial(count)) if sorted(places.tolist()) == list(range(count)) else Fraction(0)


def _one_for_each(bounds: object, size: Size, source: Source) -> NDArray[np.int64]:
    array = whole_array(bounds)
    if array is None or (array.size and not (array.min() >= 1 and int(array.max()) <= 1 << 63)):
        raise BadParameter(
            "bound must hold whole numbers from 1 to 2^63", given=type(bounds).__name__, fix="pass an integer array"
        )
    if size is not None and shape_of(size) != array.shape:
        raise BadParameter(
            f"size must match the bounds, which have shape {array.shape}", given=size, fix="leave it out"
        )
    return _narrow(array.ravel().astype(np.uint64) - np.uint64(1), source).reshape(array.shape)


def _narrow(largest: NDArray[np.uint64], source: Source) -> NDArray[np.int64]:
    """One uniform integer in 0..largest[i] each, by masking and rejection."""
    most = int(largest.max(initial=0))
    width = next(w for w in (8, 16, 32, 64) if most < 1 << w)
    mask = largest.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        if most >> shift:
            mask |= mask >> np.uint64(shift)
    out = source.words(len(largest), width).astype(np.uint64) & mask
    again = (out > largest).nonzero()[0]
    while len(again):
        out[again] = source.words(len(again), width).astype(np.uint64) & mask[again]
        again = again[out[again] > largest[again]]
    return out.astype(np.int64)


def _wide(limit: int, count: int, source: Source) -> NDArray[Any]:
    bits = (limit - 1).bit_length()
    out = np.empty(count, dtype=object)
    for i in range(count):
        out[i] = source.bits(bits)
        while out[i] >= limit:
            out[i] = source.bits(bits)
    return out

"""Σ_y max(0, p(y|x) − t·p(y|x')) for many pairs and many t, to about twice the precision of doubles.

The best set S of outputs for t holds the largest ratios p(y|x)/p(y|x'), down to t. With the ratios of a pair sorted and
their numbers added up once, the sum at any t is a search and one difference A_k − t·B_k. All of it is done in pairs of
doubles (Dekker, Numerische Mathematik 18, 1971), with a proven error relative to A_k.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from leastnoise.checker.entries import ChannelEntries, Floats, Indices, exact_product
from leastnoise.checker.pairs import Pairs

__all__ = ["RatioOrder"]

_SCALE = 2.0**900  # makes the products of subnormal numbers exact too, and those of one finite
_LARGEST_RATIO = 2.0**500  # larger ones count as infinite: no factor comes near them
_LARGEST_FACTOR = 2.0**400
_RATIO_ERROR = 2.0**-99


class RatioOrder:
    """Ratios of each pair from the largest down to one, and sums of the numbers above and below them."""

    def __init__(self, entries: ChannelEntries, pairs: Pairs) -> None:
        parts = [part * _SCALE for part in entries.parts]
        (a, a_rest), (b, b_rest) = ([part[rows] for part in parts] for rows in (pairs.x, pairs.neighbour))
        ratios, rests = _ratios(a, a_rest, b, b_rest)
        matters = (a > 0) & (ratios > 1 - 2.0**-50)
        ratios[~matters] = rests[~matters] = 0.0
        self._width, self._pairs = int(matters.sum(axis=1).max(initial=0)), len(pairs)
        order = np.lexsort((-rests, -ratios))[:, : self._width]
        self._ratios, self._rests = (np.take_along_axis(part, order, axis=1).T.ravel() for part in (ratios, rests))
        self._sums = [
            _sums_of_first(*(np.take_along_axis(part * matters, order, axis=1).T for part in parts_of))
            for parts_of in ((a, a_rest), (b, b_rest))
        ]
        outputs = entries.shape[1]
        self._error = outputs * 2.0**-100 + 2.0**-96
        self._lost = outputs * entries.parts_error * _SCALE

    def sums(self, pairs: Indices, t: Fraction) -> tuple[Floats, Floats, Floats]:
        """For each pair (by its place) `scaled` sums at t ≥ 1 as two doubles, and how far these can be from the truth.

        Adding two pairs of doubles is off by less than 2^-103 of the sum, so A_k and B_k by k·2^-103 of theirs. Ratios
        are off by less than 2^-100; with t lowered by twice that none above t is left out, and each of the others that
        come in takes less than 2^-97 of a number that is part of A_k. As t·B_k is at most A_k·(1 + 2^-97), all errors,
        those of the last few operations included, are below (m·2^-100 + 2^-96)·A_k for m outputs, and (1 + t)·m times
        what the entries' parts lack. Above 2^400 nothing is known of a sum.
        """
        if t > _LARGEST_FACTOR:
            return np.zeros(len(pairs)), np.zeros(len(pairs)), np.full(len(pairs), np.inf)
        first, rest = _two_doubles(t)
        places = self._search(pairs, first, rest - first * 2 * _RATIO_ERROR) * self._pairs + pairs
        (a, a_low), (b, b_low) = ((high.take(places), low.take(places)) for high, low in self._sums)
        product, error = exact_product(b, first)
        total = a - product
        moved = total - a
        lost = (a - (total - moved)) - (product + moved)  # what the difference rounds away (Knuth)
        low = lost + (a_low - error - first * b_low - rest * b)
        return total, low, self._error * a + self._lost * (1 + first)

    @staticmethod
    def scaled(number: Fraction) -> tuple[float, float]:
        """A number on the scale of `sums`, as two doubles."""
        return _two_doubles(number * Fraction(_SCALE))

    def _search(self, pairs: Indices, first: float, rest: float) -> Indices:
        """How many ratios of each pair are above first + rest."""
        known = np.zeros(len(pairs), dtype=np.int64)
        step = 1 << self._width.bit_length() >> 1
        while step:
            place = np.minimum(known + step, self._width) - 1
            probe = place * self._pairs + pairs
            ratio = self._ratios.take(probe)
            above = ratio > first
            equal = np.flatnonzero(ratio == first)
            above[equal] = self._rests.take(probe[equal]) > rest
            known += step * (above & (known + step <= self._width))
            step >>= 1
        return known


def _two_doubles(number: Fraction) -> tuple[float, float]:
    """The nearest double, and the double nearest to what is left."""
    first = float(number)
    return first, float(number - Fraction(first))


def _ratios(a: Floats, a_rest: Floats, b: Floats, b_rest: Floats) -> tuple[Floats, Floats]:
    """(a + a_rest)/(b + b_rest) as two doubles, off by less than 2^-100 of it; infinite beyond 2^500."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios = a / b
    is_far = ~(ratios <= _LARGEST_RATIO)
    nearest, below = np.where(is_far, 1.0, ratios), np.where(is_far, 1.0, b)
    product, error = exact_product(nearest, below)
    rests = (((a - product) - error) + (a_rest - nearest * b_rest)) / below
    total = nearest + rests
    return np.where(is_far, np.inf, total), np.where(is_far, 0.0, (nearest - total) + rests)


def _sums_of_first(high: Floats, low: Floats) -> tuple[Floats, Floats]:
    """The sums of the first 0, 1, 2, … rows of numbers high + low, row after row."""
    highs, lows = (np.zeros((len(high) + 1, high.shape[1])) for _ in range(2))
    for place, (number, rest) in enumerate(zip(high, low, strict=True)):
        total = highs[place] + number
        moved = total - highs[place]
        lost = (highs[place] - (total - moved)) + (number - moved) + (lows[place] + rest)
        np.add(total, lost, out=highs[place + 1])
        np.subtract(lost, highs[place + 1] - total, out=lows[place + 1])
    return highs.ravel(), lows.ravel()

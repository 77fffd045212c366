"""Coins with an irrational chance, exactly: U < f√l/(f√l + 1) ⟺ U² < f²l·(1 − U)², U revealed bit by bit.

Doubles decide unless U is within 2^-49 or so of the chance; then whole numbers do.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact.floats import UNIT
from leastnoise.exact.sources import Source

__all__ = ["Uniforms", "root_coins"]

_WORD_BITS = 53
_MORE_BITS = 64
_SLACK = 16 * UNIT  # the roundings of a root, two products, a sum and a quotient


class Uniforms:
    """Numbers U between 0 and 1, known by their first 53 bits and, once asked for, by more: the same at every look."""

    def __init__(self, count: int, source: Source) -> None:
        self.words = (source.words(count, 64) >> np.uint64(11)).astype(np.float64)
        self._source = source
        self._longer: dict[int, tuple[int, int]] = {}

    def prefix(self, place: int, bits: int) -> int:
        """The first `bits` bits of one of them, 53 or more."""
        prefix, known = self._longer.get(place, (int(self.words[place]), _WORD_BITS))
        if known < bits:
            prefix, known = (prefix << (bits - known)) | self._source.bits(bits - known), bits
            self._longer[place] = prefix, known
        return prefix >> (known - bits)


def root_coins(factor: Fraction, numbers: NDArray[np.int64], uniforms: Uniforms) -> NDArray[np.bool_]:
    """For each l of `numbers` whether its U is below f√l/(f√l + 1), f = `factor`.

    A second look at the same U with another l is a look at the same number.
    """
    root = float(factor) * np.sqrt(np.maximum(numbers, 0).astype(np.float64))
    chance = root / (root + 1.0) * 2.0**_WORD_BITS
    heads: NDArray[np.bool_] = uniforms.words + 1.0 <= chance * (1 - _SLACK)
    for place in np.flatnonzero(~heads & (uniforms.words < chance * (1 + _SLACK))):
        heads[place] = _settle(factor**2 * max(int(numbers[place]), 0), uniforms, int(place))
    return heads


def _settle(square: Fraction, uniforms: Uniforms, place: int) -> bool:
    """Whether U² < square·(1 − U)², from both ends of what is known of U."""
    bits = _WORD_BITS
    while True:
        word, one = uniforms.prefix(place, bits), 1 << bits
        if (word + 1) ** 2 * square.denominator <= square.numerator * (one - word - 1) ** 2:
            return True
        if word**2 * square.denominator >= square.numerator * (one - word) ** 2:
            return False
        bits += _MORE_BITS

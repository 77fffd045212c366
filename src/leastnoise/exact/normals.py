"""Independent standard normal numbers: each is one real number, whose bits are revealed as they are needed.

With p uniform on (0, 1) and a fair sign, g = ±√2·erfc⁻¹(p) is standard normal, since P(|g| ≥ t) = erfc(t/√2). Of p the
first b bits are known, so p ∈ [w, w + 1)·2^-b, and g lies between two numbers that ball arithmetic encloses. More bits
of the same p make that interval as narrow as anybody needs; nothing that was said about g is ever taken back.

A double near each g makes most decisions cheap. `doubles` has an error that is proven, cell by cell, when its table is
built. p is rounded to a double, whose exponent and first 8 digits name a cell, and g is its Taylor polynomial of degree
4 around the middle c of the cell. All derivatives are known: g⁽ⁿ⁾ = (g′)ⁿ·Pₙ(g) with g′ = −√(π/2)·e^(g²/2), P₁ = 1 and
Pₙ₊₁ = Pₙ′ + n·g·Pₙ (docs/theory/gaussian.md has the whole bound).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from math import factorial

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import PrecisionExhausted
from leastnoise.exact.balls import Ball, evaluate, of_fraction
from leastnoise.exact.sources import Source

__all__ = ["DOUBLE_ERROR", "FARTHEST", "NEAR", "Normals"]

DOUBLE_ERROR = 2.0**-45  # of `doubles`, absolute, where p is at least 2^-18
NEAR = 5.0  # more than |g| and its double are there
FARTHEST = 1 << 11  # more than any |g|: p has at most 2^20 bits, and √(2·ln 2·2^20) < 1206

_P_BITS = 63  # one bit of a word of 64 is the sign
_CELL_BITS = 8  # each octave of p has 2^8 cells
_OCTAVES = 18
_DEGREE = 4
_MOST_BITS = 1 << 20
_DERIVATIVES = (1,), (0, 1), (1, 0, 2), (0, 7, 0, 6), (7, 0, 46, 0, 24)  # the Pₙ, the lowest degree first
_FEW = 16  # numbers for which no table is built: balls are quicker
_PRECISION = 80  # of the table
_SPARE = 64  # of the working precision, beyond the bits of p
_SHIFT = 52 - _CELL_BITS  # what is left of a double after this shift names its cell
_FIRST_KEY = int(np.float64(2.0 ** (_P_BITS - _OCTAVES)).view(np.int64)) >> _SHIFT
_FIRST_WORD = np.uint64(1 << (64 - _OCTAVES))


class Normals:
    """`count` independent standard normal numbers; number i by its place.

    Args:
        count: How many.
        source: Where the bits come from, now and later.
        word_bits: How many bits are revealed at a time; `doubles` needs 64.
    """

    def __init__(self, count: int, source: Source, word_bits: int = 64) -> None:
        self._words = source.words(count, word_bits)
        self._source, self._word_bits = source, word_bits
        self._revealed: dict[int, tuple[int, int]] = {}
        self._balls: dict[int, Ball | None] = {}

    def doubles(self) -> NDArray[np.float64]:
        """A double within `DOUBLE_ERROR` of each g, and below `NEAR` in size; meaningless where `far` says so."""
        if len(self._words) <= _FEW:
            return np.array([self.double(i) for i in range(len(self._words))])
        w = (self._words >> np.uint64(1)).view(np.int64).astype(np.float64)
        key = w.view(np.int64) >> _SHIFT
        w -= ((key << _SHIFT) | (1 << (_SHIFT - 1))).view(np.float64)  # from the middle of the cell; exact
        key -= _FIRST_KEY
        coefficients = _taylor_table()
        value: NDArray[np.float64] = coefficients[_DEGREE].take(key, mode="clip")
        for row in coefficients[-2::-1]:
            value *= w
            value += row.take(key, mode="clip")
        bits = value.view(np.uint64)
        bits ^= self._words << np.uint64(63)  # the last bit of a word is the sign
        return value

    def far(self) -> NDArray[np.bool_]:
        """Where p is below 2^-18, so that only balls speak of g."""
        return self._words < _FIRST_WORD

    def prefix(self, i: int) -> tuple[int, int]:
        """The bits of p that number i has revealed so far, as a whole number, and how many they are."""
        return self._revealed.get(i) or (int(self._words[i]) >> 1, self._word_bits - 1)

    def reveal(self, i: int) -> None:
        """Draw further bits of number i.

        Raises:
            PrecisionExhausted: It has 2^20 bits already; the probability of that is far below 2^-1000000.
        """
        word, bits = self.prefix(i)
        if bits >= _MOST_BITS:
            raise PrecisionExhausted("2^20 bits of one normal number decided nothing", fix="report this as a bug")
        self._balls.pop(i, None)
        self._revealed[i] = (word << self._word_bits) | self._source.bits(self._word_bits), bits + self._word_bits

    def precision(self, i: int) -> int:
        """The working precision at which number i is known to all its revealed bits."""
        return self.prefix(i)[1] + _SPARE

    def ball(self, i: int) -> Ball | None:
        """A ball around number i that says all that its revealed bits say; None if they say nothing yet."""
        if i not in self._balls:
            self._balls[i] = evaluate(partial(self._enclose, i), self.precision(i))
        return self._balls[i]

    def double(self, i: int) -> float:
        """A double within `DOUBLE_ERROR` of number i, whatever its size."""
        while True:
            ball = self.ball(i)
            if ball is not None and evaluate(partial(_is_near, ball), self.precision(i)):
                return float(ball.mid())
            self.reveal(i)

    def _enclose(self, i: int) -> Ball | None:
        word, bits = self.prefix(i)
        if word == 0:
            return None
        p = of_fraction(Fraction(word, 1 << bits)).union(of_fraction(Fraction(word + 1, 1 << bits)))
        size = p.erfcinv() * of_fraction(2).sqrt()
        if not size.is_finite():
            return None
        return -size if int(self._words[i]) & 1 else size


def _is_near(ball: Ball) -> bool:
    """Whether every number of the ball is within `DOUBLE_ERROR` of the double of its middle."""
    return bool(abs(ball - float(ball.mid())) < DOUBLE_ERROR)


@cache
def _taylor_table() -> NDArray[np.float64]:
    """The coefficients of every cell, the lowest degree first, with p in units of 2^-63; one more cell for p = 1.

    What rounds up to p = 1 lies within 2^9 units of it, so that |g| < √(π/2)·2^-53 there: zeros are near enough.
    """
    cells = 1 << _CELL_BITS
    reaches = [1 << (octave - _CELL_BITS - 1) for octave in range(_P_BITS - _OCTAVES, _P_BITS)]
    table = evaluate(lambda: [_cell((2 * (cells + j) + 1) * r, r) for r in reaches for j in range(cells)], _PRECISION)
    return np.array([*table, [0.0] * (_DEGREE + 1)]).T.copy()


def _cell(middle: int, reach: int) -> list[float]:
    """The coefficients around `middle`; their error is proven to be small enough for all p within `reach` of it.

    p·|g′| = Q(g)/φ(g) falls as g grows (Mills), so |g′| at the low end of the cell is at most |g′(c)|·c/low; every
    |g⁽ⁿ⁾| grows with g, so it is at most its value there.
    """
    g = (Ball(middle) / 2**_P_BITS).erfcinv() * Ball(2).sqrt()
    slope = -(Ball.pi() / 2).sqrt() * (g * g / 2).exp() / 2**_P_BITS
    exact = [g, *(slope**n * _taylor_factor(n, g) for n in range(1, _DEGREE + 1))]
    rounded = [float(c.mid()) for c in exact]
    low = middle - reach
    steepest = -slope * middle / (Ball(low) - 2 - Ball(low) / 2**53)
    left_out = (steepest * reach) ** (_DEGREE + 1) * _taylor_factor(_DEGREE + 1, g + steepest * reach)
    of_table = sum((abs(r - c) * reach**n for n, (r, c) in enumerate(zip(rounded, exact, strict=True))), Ball(0))
    size = sum((Ball(abs(r)) * reach**n for n, r in enumerate(rounded)), Ball(0))
    of_horner = size * (2 * _DEGREE + 1) / 2**53  # Higham 2002, (5.3)
    of_p = steepest * (1 + Ball(middle + reach) / 2**53)  # p lies beyond w, and w was rounded
    if not left_out + of_table + of_horner + of_p < DOUBLE_ERROR:
        raise PrecisionExhausted("a cell of the normal law is not known well enough", fix="report this as a bug")
    return rounded


def _taylor_factor(order: int, g: Ball) -> Ball:
    """Pₙ(g)/n!."""
    value = Ball(0)
    for coefficient in reversed(_DERIVATIVES[order - 1]):
        value = value * g + coefficient
    return value / factorial(order)

"""Permute-and-flip (McKenna and Sheldon 2020): in random order, keep each candidate with chance e^(−rate·gap).

The first candidate that is kept is the choice; gap = largest score − score, so the best is always kept. Nothing need be
permuted: flip all coins, and the first head in a uniformly random order is uniform over the set H of heads. One pass
over the scores decides H and one uniform number picks a member; how many bits that takes hardly depends on the scores.

A coin is heads where −ln U > x, x = rate·gap. The first 12 bits of U bound −ln U by an entry of a small table, which
rules most coins out; the first 16 bits leave it between two entries of a larger one, and all but one in 65536 decided;
the rest is settled in ball arithmetic. A score too low for a double to tell its chance from zero keeps its true chance.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact.balls import Ball, evaluate, scaled_bounds
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.floats import LOG_ERROR, minus_log_of
from leastnoise.exact.inversion import is_below
from leastnoise.exact.numbers import Exact, ball_of
from leastnoise.exact.parameters import NumberLike, Size, read_integer, read_rate
from leastnoise.exact.samplers.chances import at_chances
from leastnoise.exact.samplers.scores import Numbers, Scores
from leastnoise.exact.samplers.uniform import uniform_integer
from leastnoise.exact.sources import Draws, Source, in_shape

__all__ = ["PermuteAndFlipLaw", "permute_and_flip", "permute_and_flip_pmf"]

_BLOCK = 1 << 15  # coins at a time: what they touch stays in the processor's cache
_COARSE_BITS = 12  # of U that sort out most coins, by a table small enough for the nearest cache
_DOUBT = LOG_ERROR + 2.0**-46  # of a table entry, and of x < 12 after three roundings

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


def permute_and_flip(
    scores: Numbers, size: Size = None, source: Source | None = None, *, rate: NumberLike = 1
) -> Draws:
    """Draw an index: the first, in a uniformly random order, whose coin of chance e^(−rate·gap) is heads.

    With p the chances, P(i) = pᵢ·∫₀¹ Π_{j≠i} (1 − pⱼ·u) du.

    Args:
        scores: One per candidate. Integers and float arrays are taken exactly as they are (a float in an array as the
            dyadic rational it is); other sequences are read like any parameter.
        size: How many independent draws.
        source: Where the bits come from.
        rate: A positive factor of all scores, exact.

    >>> permute_and_flip([0.0, -1e6, -2e6]), permute_and_flip(["ln(3)", 0], size=2).shape
    (0, (2,))
    """
    law = PermuteAndFlipLaw(Scores(scores, "scores"), read_rate(rate, "rate", reach=500))
    return in_shape(law.draw, size, source)


def permute_and_flip_pmf(outcome: int, scores: Numbers, bits: int = 64, *, rate: NumberLike = 1) -> Enclosure:
    """P(X = outcome) of `permute_and_flip`, in O(n²) steps: exact where all chances are rational, else enclosed.

    >>> permute_and_flip_pmf(0, [1, 0], rate="ln(2)"), permute_and_flip_pmf(1, [1, 0], rate=1)
    (Enclosure(3/4), Enclosure(≈ 0.183939720585721))
    """
    return PermuteAndFlipLaw(Scores(scores, "scores"), read_rate(rate, "rate", reach=500)).pmf(
        read_integer(outcome, "outcome"), bits
    )


class PermuteAndFlipLaw:
    """The law for some scores: the coins in doubles at once, exactly on demand.

    Args:
        scores: One per candidate.
        rate: The factor of all scores.
        word_bits: How many bits decide most coins; 8 or 16.
    """

    def __init__(self, scores: Scores, rate: Exact, word_bits: int = 16) -> None:
        self._scores, self._rate, self._rate_float = scores, rate, float(rate)
        self._word_bits = word_bits
        self._largest = scores.largest()
        self._near, self._far, self._coarse, self._spare_bits = _tables(word_bits)

    def draw(self, count: int, source: Source) -> Places:
        """`count` independent choices."""
        rows = _BLOCK // len(self._scores)
        if rows == 0:
            return np.array([self._choice(source) for _ in range(count)], dtype=np.int64)
        if count <= rows:
            return self._choices(count, source)
        return np.concatenate([self._choices(min(rows, count - done), source) for done in range(0, count, rows)])

    def _choices(self, rows: int, source: Source) -> Places:
        """Several choices from one block that holds each coin `rows` times."""
        count = len(self._scores)
        x = self._exponents(0, count)
        words, possible = self._flip_all(x, rows, source)
        heads = possible.nonzero()[0]
        if rows == 1:  # only coins that are picked get settled: the others may be heads or not
            while True:
                pick = _below(len(heads), source)
                place = int(heads[pick])
                if self._is_head(place, int(words[place]), source, x[place]):
                    return heads[pick : pick + 1]
                heads = np.delete(heads, pick)
        unclear = (x[heads % count] > self._near.take(words[heads])).nonzero()[0]
        if len(unclear):
            flips = [(place % count, int(words[place])) for place in heads[unclear].tolist()]
            tails = [not self._is_head(coin, word, source, x[coin]) for coin, word in flips]
            heads = np.delete(heads, unclear[tails])
        per_row = np.bincount(heads // count, minlength=rows)
        picks: Places = np.cumsum(per_row) - per_row + uniform_integer(per_row, source=source)
        return heads[picks] % count

    def _choice(self, source: Source) -> int:
        """One choice from many blocks. Only coins that are picked get settled: the others may be heads or not."""
        starts = range(0, len(self._scores), _BLOCK)
        flips = [self._flip_all(self._exponents(start, _BLOCK), 1, source) for start in starts]
        counts = [int(np.count_nonzero(possible)) for _, possible in flips]
        while True:
            pick, block = _below(sum(counts), source), 0
            while pick >= counts[block]:
                pick, block = pick - counts[block], block + 1
            words, possible = flips[block]
            place = int(possible.nonzero()[0][pick])
            coin = block * _BLOCK + place
            if self._is_head(coin, int(words[place]), source, self._exponents(coin, 1)[0]):
                return coin
            possible[place] = False
            counts[block] -= 1

    def _flip_all(self, x: Floats, rows: int, source: Source) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The first word w of U for `rows` flips of each coin, and which may be heads: not if x ≥ −ln(w·2^-bits)."""
        words = source.words(rows * len(x), self._word_bits)
        borders = self._coarse.take(words >> self._spare_bits)
        return words, x <= borders if rows == 1 else (x <= borders.reshape(rows, -1)).ravel()

    def _is_head(self, coin: int, word: int, source: Source, x: float) -> bool:
        """Whether a coin of exponent x is heads for the U that starts with `word`."""
        if not self._near[word] < x <= self._far[word]:
            return bool(x <= self._near[word])

        def chance() -> Ball:
            return (-(ball_of(self._rate) * ball_of(self._largest - self._scores.exact(coin)))).exp()

        return is_below(word, self._word_bits, lambda bits: scaled_bounds(evaluate(chance, bits + 64), bits), source)

    def _exponents(self, start: int, count: int) -> Floats:
        """The exponents rate·gap of some coins, each within three roundings; an infinite one is beyond the tables."""
        return self._scores.gaps(self._largest, slice(start, start + count), -self._rate_float)

    def pmf(self, outcome: int, bits: int = 64) -> Enclosure:
        """P(X = outcome) = pᵢ·E[1/(1 + K)], K the number of other heads: pᵢ·∫₀¹ E[t^K] dt."""
        if not 0 <= outcome < len(self._scores):
            return Enclosure(Fraction(0), Fraction(0))

        def mass(chances: list[Any], _gaps: list[Any]) -> Any:
            heads = reduce(_flip, (p for j, p in enumerate(chances) if j != outcome), [1])
            return _integral([chances[outcome] * weight for weight in heads])

        return at_chances(self._scores, self._rate, mass, bits)

    def expected_gap(self, bits: int = 64) -> Enclosure:
        """How far below the largest score the choice is on average: Σ gapᵢ·P(i), in O(n²) steps."""

        def mean(chances: list[Any], gaps: list[Any]) -> Any:
            heads, costs = [1], [0 * chances[0]]  # E[t^K] of the coins so far, and Σᵢ gapᵢ·pᵢ·E[t^(K without i)]
            for p, gap in zip(chances, gaps, strict=True):
                costs = [cost + gap * p * weight for cost, weight in zip(_flip(costs, p), [*heads, 0], strict=True)]
                heads = _flip(heads, p)
            return _integral(costs)

        return at_chances(self._scores, self._rate, mean, bits)


def _flip(heads: list[Any], p: Any) -> list[Any]:
    """E[t^K] with one more coin: times 1 − p + p·t."""
    return [stay * (1 - p) + step * p for stay, step in zip([*heads, 0], [0, *heads], strict=True)]


def _integral(coefficients: list[Any]) -> Any:
    """∫₀¹ Σ cₖ·t^k dt."""
    return sum(c / (k + 1) for k, c in enumerate(coefficients))


def _below(count: int, source: Source) -> int:
    """A uniform integer in 0..count − 1, by rejection; for one number this is faster than an array of one."""
    if count == 1:
        return 0
    bits = (count - 1).bit_length()
    while (drawn := source.bits(bits)) >= count:
        pass
    return drawn


@cache
def _borders(bits: int) -> tuple[Floats, Floats]:
    """For each first word w of U, a lower bound of −ln((w + 1)·2^-bits) and an upper bound of −ln(w·2^-bits)."""
    logs = minus_log_of(np.arange(1, (1 << bits) + 1) / (1 << bits))
    return logs - _DOUBT, np.concatenate([[np.inf], logs[:-1] + _DOUBT])


def _coarse_borders(bits: int, spare: int) -> Floats:
    """An upper bound of −ln U for each choice of the first bits of U, all but `spare` ones: a table for every coin."""
    return np.ascontiguousarray(_borders(bits)[1][:: 1 << spare])


@cache
def _tables(bits: int) -> tuple[Floats, Floats, Floats, int]:
    """Both borders, the coarse ones, and how many bits those spare."""
    spare = max(bits - _COARSE_BITS, 0)
    return *_borders(bits), _coarse_borders(bits, spare), spare

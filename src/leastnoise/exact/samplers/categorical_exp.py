"""Choosing one of up to millions with weights base·e^(rate·exponent): the heart of the exponential mechanism.

Doubles give cumulative sums with a proven error; a uniform draw that is not surely between two of them is settled in
ball arithmetic with as many bits as it takes. Probabilities are never formed in floats: a weight too small for a
double still has its true probability.
"""

from __future__ import annotations

from functools import cached_property, partial
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact.balls import Ball, evaluate, of_fraction, scaled_bounds
from leastnoise.exact.enclosures import Enclosure, enclose
from leastnoise.exact.floats import EXP_ERROR, UNIT, exp_of, require_order
from leastnoise.exact.inversion import Thresholds
from leastnoise.exact.numbers import Exact, ball_of
from leastnoise.exact.parameters import NumberLike, Size, read_integer, read_rate
from leastnoise.exact.samplers.scores import Numbers, Scores
from leastnoise.exact.samplers.uniform import uniform_integer
from leastnoise.exact.sources import Draws, Source, in_shape, system_source

__all__ = ["ExponentialLaw", "categorical_exp", "categorical_exp_cdf", "categorical_exp_pmf"]

_BLOCK = 1 << 14
_ROW = 1 << 10
_MANY = 1 << 12
_GUARD_BITS = 64  # of a weight, beyond those of a threshold


def categorical_exp(
    exponents: Numbers,
    base: Numbers | None = None,
    size: Size = None,
    source: Source | None = None,
    *,
    rate: NumberLike = 1,
) -> Draws:
    """Draw an index i with probability ∝ base[i]·e^(rate·exponents[i]).

    Args:
        exponents: One per candidate. Integers and float arrays are taken exactly as they are (a float in an array as
            the dyadic rational it is); other sequences are read like any parameter.
        base: Non-negative base weights, all one if left out; read in the same way.
        size: How many independent draws.
        source: Where the bits come from.
        rate: A positive factor of all exponents, exact.

    >>> categorical_exp([0.0, -1e6, -2e6]), categorical_exp(["ln(3)", 0], size=2).shape
    (0, (2,))
    """
    factor = read_rate(rate, "rate", reach=500)
    if size is None and base is None and isinstance(exponents, np.ndarray) and _has_few_levels(exponents):
        return _through_levels(exponents, factor, source)
    return in_shape(ExponentialLaw(exponents, base, factor).draw, size, source)


def categorical_exp_pmf(
    outcome: int, exponents: Numbers, base: Numbers | None = None, bits: int = 64, *, rate: NumberLike = 1
) -> Enclosure:
    """P(X = outcome) of `categorical_exp`, enclosed to `bits` bits relative to its size.

    >>> categorical_exp_pmf(0, ["ln(3)", 0])
    Enclosure(≈ 0.75)
    """
    law = ExponentialLaw(exponents, base, read_rate(rate, "rate", reach=500))
    place = read_integer(outcome, "outcome")
    return law.mass(range(place, place + 1), bits)


def categorical_exp_cdf(
    outcome: int, exponents: Numbers, base: Numbers | None = None, bits: int = 64, *, rate: NumberLike = 1
) -> Enclosure:
    """P(X ≤ outcome) of `categorical_exp`, enclosed to `bits` bits relative to its size."""
    law = ExponentialLaw(exponents, base, read_rate(rate, "rate", reach=500))
    return law.mass(range(read_integer(outcome, "outcome") + 1), bits)


def _has_few_levels(exponents: NDArray[Any]) -> bool:
    """Whether a long integer array has so few distinct values that counting them beats weighing each element."""
    if exponents.ndim != 1 or exponents.dtype.kind not in "iu" or len(exponents) < _MANY:
        return False
    return bool(int(exponents.max()) - int(exponents.min()) < len(exponents) // 4)


def _through_levels(exponents: NDArray[Any], rate: Exact, source: Source | None) -> int:
    """Choose a value with weight count·e^(rate·value), then one of its candidates: each gets its own share."""
    # Differences of 64-bit integers are right modulo 2^64, and these are few enough to fit.
    levels = (exponents.astype(np.uint64) - exponents.min().astype(np.uint64)).astype(np.int64)
    counts = np.bincount(levels)
    level = ExponentialLaw(np.arange(len(counts)), counts, rate).draw(1, source or system_source)[0]
    place: int = uniform_integer(int(counts[level]), source=source)
    return int(np.flatnonzero(levels == level)[place])


class ExponentialLaw:
    """Weights base·e^(rate·gap), gap = exponent − largest exponent: in doubles at once, exactly on demand.

    Args:
        exponents: One per candidate.
        base: Non-negative base weights; all one if None.
        rate: A positive factor of all exponents, at most 2^500.
    """

    def __init__(self, exponents: Numbers, base: Numbers | None, rate: Exact) -> None:
        self._rate, self._scores = rate, Scores(exponents, "exponents")
        self._base = None if base is None else Scores(base, "base")
        live: NDArray[np.bool_] | None = None
        if self._base is not None:
            if len(self._base) != len(self._scores):
                raise BadParameter(
                    f"base must have one weight for each of the {len(self._scores)} exponents",
                    given=len(self._base),
                    fix="pass lists of the same length",
                )
            live = self._base.positive()
        self._largest = self._scores.largest(live)

    @cached_property
    def _sums(self) -> NDArray[np.float64]:
        """Cumulative weights in doubles, summed in rows of 1024 so that few roundings add up."""
        count, rate = len(self._scores), float(self._rate)
        base = None if self._base is None else self._base.shares()
        if count <= _ROW and base is None:
            return np.cumsum(exp_of(self._scores.gaps(self._largest, slice(None), rate)))
        rows = np.zeros((-(-count // _ROW), _ROW))
        sums = rows.ravel()
        for start in range(0, count, _BLOCK):  # a block stays in the processor's cache
            block = slice(start, min(start + _BLOCK, count))
            sums[block] = exp_of(self._scores.gaps(self._largest, block, rate))
            if base is not None:
                sums[block] *= base[block]
            touched = slice(start // _ROW, (start + _BLOCK) // _ROW)
            np.cumsum(rows[touched], axis=1, out=rows[touched])
        rows[1:] += np.cumsum(rows[:-1, -1])[:, np.newaxis]
        return sums[:count]

    @cached_property
    def _doubt(self) -> float:
        """How far U·total may seem to lie from a cumulative sum that it does not cross.

        An exponent above −700 carries three roundings, so its weight is off by at most 3u·700 and the error of e^x, and
        the base by four roundings; a sum adds one rounding per term of its row, per row, and one. An exponent below
        −700 counts as e^-700 < 10^-304. The total is off by as much, so all is taken twice; U by four roundings.
        """
        count = len(self._scores)
        relative = EXP_ERROR + (3 * 700 + 8 + _ROW + count / _ROW) * UNIT * 1.01
        return float(self._sums[-1] * (2.1 * relative + 4 * UNIT) + 4 * count * 1e-304)

    def draw(self, count: int, source: Source) -> NDArray[np.int64]:
        """`count` independent choices."""
        words = source.words(count, 64) >> np.uint64(11)
        point = words.astype(np.float64) * (UNIT * self._sums[-1])
        require_order(point - self._doubt, point + self._doubt)
        chosen: NDArray[np.int64] = np.searchsorted(self._sums, point - self._doubt, side="right")
        unclear = chosen != np.searchsorted(self._sums, point + self._doubt, side="right")
        for i in np.flatnonzero(unclear):
            chosen[i] = self._settle(int(words[i]), source)
        return chosen

    def _settle(self, prefix: int, source: Source) -> int:
        """The choice of the U that starts with the 53 bits of `prefix`."""
        bits = 53
        while (outcome := self.thresholds(bits).decide(prefix)) is None:
            prefix, bits = (prefix << 32) | source.bits(32), bits + 32
        return outcome

    def thresholds(self, bits: int) -> Thresholds:
        """Enclosures of the cumulative shares A/(A + B), A up to a candidate and B after it, at `bits` bits."""
        guard = bits + _GUARD_BITS
        pairs = [scaled_bounds(evaluate(partial(self._weight, i), guard + 64), guard) for i in range(len(self._scores))]
        low_sums = list(accumulate(max(low, 0) for low, _ in pairs))
        high_sums = list(accumulate(high for _, high in pairs))
        low, high = [], []
        for least, most in zip(low_sums[:-1], high_sums[:-1], strict=True):
            low.append((least << bits) // max(least + high_sums[-1] - most, 1))
            high.append(-(-(most << bits) // max(most + low_sums[-1] - least, 1)))
        return Thresholds(0, low, high)

    def _weight(self, i: int) -> Ball:
        weight = (ball_of(self._rate) * ball_of(self._scores.exact(i) - self._largest)).exp()
        return weight if self._base is None else weight * ball_of(self._base.exact(i))

    def mass(self, outcomes: range, bits: int) -> Enclosure:
        """The share of some candidates."""
        inside = range(max(outcomes.start, 0), min(outcomes.stop, len(self._scores)))

        def share() -> Ball:
            weights = [self._weight(i) for i in range(len(self._scores))]
            return sum((weights[i] for i in inside), start=of_fraction(0)) / sum(weights, start=of_fraction(0))

        return enclose(share, bits)

"""A private sorted list of counts: the exponential mechanism over all lists, P(y) ∝ q^‖x − y‖₁.

How often the most frequent password occurs, the next one, and so on, without the passwords. Blocki, Datta and Bonneau,
NDSS 2016; Aldà and Simon 2017, section 6. A record that comes or goes changes one entry of the sorted list by one.
Their sampler takes time and memory in proportion to N^1.5 and gives up an exact law; here a few thousand matrices
suffice for any list of ten million counts and the law is exact (docs/theory/sorted_counts.md).

The rational q is the largest for which this is ε-private. With q = e^-c one record changes the distance by one and the
normaliser by a factor between q and 1/q, so ε(q) ≤ 2c. The normaliser can't use all of that. For neighbours that differ
in box b of the diagram, Z(x')/Z(x) = q + (1/q − q)·p with p = P(b on the other side), and p ≤ 1 − Φ(q), Φ(q) =
Π_{j≥1}(1 − q^j) (docs/theory/sorted_counts.md). Hence

    ε(q) = 2c + ln(1 − (1 − q²)·Φ(q)),

which the empty list and its neighbour attain: no smaller number will do.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Ball,
    Enclosure,
    Exact,
    NumberLike,
    Size,
    Source,
    enclose,
    exact_exp,
    exp_above,
    exp_below,
    of_fraction,
    read_exact,
    read_integer,
    require_secure,
    shape_of,
    system_source,
)
from leastnoise.mechanisms.combinatorial.sorted_counts.diagram import (
    LARGEST_COUNT,
    Integers,
    border_of,
    distance,
    read_counts,
    read_list,
    turned,
)
from leastnoise.mechanisms.combinatorial.sorted_counts.isotonic_counts import MOST_COUNTS
from leastnoise.mechanisms.combinatorial.sorted_counts.partition_weights import (
    distance_bounds,
    expected_distance,
    normaliser,
)
from leastnoise.mechanisms.combinatorial.sorted_counts.shift_chain import Progress
from leastnoise.mechanisms.combinatorial.sorted_counts.walk_sampler import WalkSampler
from leastnoise.mechanisms.lower_bounds import sorted_counts_bound
from leastnoise.model import LEVEL, BoundedRange, Certificate, ErrorEstimate, Mechanism, Pure, Reason

__all__ = ["LEAST_EPSILON", "SortedCounts", "half_decay", "privacy_of", "tight_decay"]

_DIGITS = 32  # binary digits of q beyond its leading one, and of 1 − q
_MOST_FACTORS = 1000  # of Φ; with fewer the privacy is stated too large, never too small


def privacy_of(decay: Fraction, bits: int = 64) -> Enclosure:
    """ε(q) for q = `decay`; for q very near one the upper end is the plain 2·ln(1/q).

    >>> privacy_of(Fraction(1, 2))
    Enclosure(≈ 1.14219390065589)
    """
    least, most = _no_partition(decay, Fraction(1, 2 ** (bits + 8)))

    def loss(share: Fraction) -> Callable[[], Ball]:
        return lambda: (1 - of_fraction((1 - decay**2) * share)).log() - 2 * of_fraction(decay).log()

    return Enclosure(enclose(loss(most), bits).lower, enclose(loss(least), bits).upper)


@lru_cache(maxsize=64)
def tight_decay(epsilon: Exact) -> Fraction:
    """The least q of some 32 binary digits with ε(q) ≤ epsilon, surely.

    >>> from math import log
    >>> [round(-log(tight_decay(Fraction(e))), 4) for e in (1, 2, 4)]
    [0.5685, 1.7237, 3.963]
    """
    factor, unit = exp_below(epsilon, 96), _unit(epsilon)

    def private(steps: int) -> bool:
        decay = steps * unit
        least, _ = _no_partition(decay, unit / 2**8)
        return 1 - (1 - decay**2) * least <= decay**2 * factor

    high = half_decay(epsilon, unit) / unit
    low, steps = floor(exp_below(-epsilon, 96) / unit), ceil(high)
    while steps - low > 1:
        middle = (low + steps) // 2
        low, steps = (low, middle) if private(middle) else (middle, steps)
    return min(steps * unit, half_decay(epsilon))


@lru_cache(maxsize=64)
def half_decay(epsilon: Exact, unit: Fraction | None = None) -> Fraction:
    """e^(−ε/2), or the next number of some 32 binary digits above it: the plain calibration, of bounded range ε.

    >>> from leastnoise.exact import ln
    >>> half_decay(2 * ln(3))
    Fraction(1, 3)
    """
    known = exact_exp(-epsilon / 2)
    if known is not None:
        return known
    step = unit or _unit(epsilon)
    decay = ceil(exp_above(-epsilon / 2, 96) / step) * step
    if decay >= 1:
        raise BadParameter("epsilon is too small to be met", given=epsilon, fix="choose an epsilon above 1e-20")
    return decay


def _unit(epsilon: Exact) -> Fraction:
    size = epsilon if isinstance(epsilon, Fraction) else Fraction(float(epsilon))
    small = max(Fraction(1), 1 / exp_below(-epsilon, 32), 1 / size)
    return Fraction(1, 2 ** (_DIGITS + ceil(small).bit_length()))


def _no_partition(decay: Fraction, precision: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of Φ(q): of its first J factors, and of those times 1 − q^(J+1)/(1 − q), as Π(1 − aⱼ) ≥ 1 − Σaⱼ."""
    scale = max(precision.denominator.bit_length() + 64, 128)
    one = 1 << scale
    step_low, step_high = floor(decay * one), ceil(decay * one)
    low, high, power_low, power_high = one, one, one, one
    for _ in range(_MOST_FACTORS):
        power_low, power_high = (power_low * step_low) >> scale, ((power_high * step_high) >> scale) + 1
        low, high = (low * (one - power_high)) >> scale, ((high * (one - power_low)) >> scale) + 1
        if power_high * decay < precision * (1 - decay) * one:
            break
    rest = power_high * decay / (1 - decay) / one
    return max(Fraction(low, one) * (1 - rest), Fraction(0)), Fraction(high, one)


LEAST_EPSILON = Fraction(1, 100)  # below it the sampler takes too long, and its weights leave the range of doubles
_MOST_EPSILON = 100  # beyond it the list itself is released anyway, but for a chance of 1e-40


@dataclass(frozen=True, init=False)
class SortedCounts(Mechanism):
    """The sorted list of counts, or its beginning. The truth is the list of counts, in any order.

    Each count is clamped to [0, 2^60], which keeps neighbours neighbours (see `read_counts`): no list is refused.

    Args:
        epsilon: The privacy of one release, where a neighbour has one record more or less; from 0.01 to 100.
        total: How many records the error is stated for, at most; it does not change the law.
        top: Only so many of the largest counts are asked for; all if left out.
        bounded_range: Take q = e^(−ε/2). Its log-probability ratios lie in an interval of length ε, so that it composes
            as ε²/8-zCDP; without it q is smaller, the error too, and nothing more than ε is claimed.

    >>> passwords = SortedCounts(epsilon=1, total=1000)
    >>> passwords.error().loss, passwords.event, passwords.pmf((2, 1), [1, 2]).lower > Fraction(1, 40)
    ('l1', Pure(epsilon=Fraction(1, 1)), True)
    >>> bool((np.diff(passwords.release([520, 311, 12, 1, 1])) <= 0).all())
    True
    """

    name: ClassVar[str] = "exponential mechanism over sorted lists"
    epsilon: Exact
    total: int
    top: int | None
    bounded_range: bool

    def __init__(
        self,
        epsilon: NumberLike,
        total: NumberLike,
        top: NumberLike | None = None,
        *,
        bounded_range: bool = False,
    ) -> None:
        number = read_exact(epsilon, "epsilon", at_least=LEAST_EPSILON, at_most=_MOST_EPSILON)
        object.__setattr__(self, "epsilon", number)
        object.__setattr__(self, "total", read_integer(total, "total", at_least=1, at_most=LARGEST_COUNT))
        most = None if top is None else read_integer(top, "top", at_least=1, at_most=MOST_COUNTS)
        object.__setattr__(self, "top", most)
        if not isinstance(bounded_range, bool):
            raise BadParameter("bounded_range must be True or False", given=bounded_range, fix="leave it out")
        object.__setattr__(self, "bounded_range", bounded_range)

    @property
    def decay(self) -> Fraction:
        """q, a rational on the private side of what ε allows."""
        return half_decay(self.epsilon) if self.bounded_range else tight_decay(self.epsilon)

    @property
    def event(self) -> Pure:
        """epsilon; of bounded range where that was asked for."""
        return BoundedRange(self.epsilon) if self.bounded_range else Pure(self.epsilon)

    def release(self, truth: Any, source: Source | None = None, progress: Progress | None = None) -> Any:
        """One list, with unpredictable noise only; `progress` is called with the share of the work that is done."""
        return self.draw(truth, source=require_secure(source), progress=progress)

    def draw(
        self, truth: Any, size: Size = None, source: Source | None = None, progress: Progress | None = None
    ) -> Any:
        """A list of counts, largest first, without zeros (`top` of them with zeros, if that is given).

        With `size` a list of such lists. An exception raised by `progress` ends the work and nothing is returned.
        """
        count = prod(shape_of(size))
        border = border_of(*read_counts(truth, self.top), columns=self.top)
        sampler = WalkSampler(border, self.decay, closed=self.top is not None, report=progress)
        bits = source or system_source
        lists = [self._list(*turned(border, sampler.draw(bits))) for _ in range(count)]
        return lists[0] if size is None else lists

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth) = q^‖x−y‖/Z; for lists of moderate size, without a released count above 2^60."""
        true, released = read_counts(truth, self.top), read_list(output)
        if released is None or (self.top is not None and int(released[1].sum()) > self.top):
            return Enclosure(Fraction(0), Fraction(0))
        weights = _normaliser(*(tuple(part.tolist()) for part in true), self.decay, self.top, bits)
        weight = enclose(lambda: of_fraction(self.decay) ** distance(true, released), bits + 8)
        return Enclosure(weight.lower / weights.upper, weight.upper / weights.lower)

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """The ℓ₁ error on the worst list of `total` records; `error_at` tells how much smaller it is on a given one."""
        expected, quantile = distance_bounds(self.total, self.top, self.decay, level)
        return ErrorEstimate("l1", expected, {level: quantile}, attained=False)

    def error_at(self, counts: Any) -> Enclosure:
        """The expected ℓ₁ error on a public or made-up list. On private counts it is itself private."""
        border = border_of(*read_counts(counts, self.top), columns=self.top)
        return expected_distance(border, self.decay, closed=self.top is not None)

    def reason(self) -> Reason:
        """The order of magnitude is the best possible."""
        return Reason(
            "its expected error of O(√N/ε) on N records is within a factor O(1/√ε) of what every private mechanism "
            "needs, Ω(√(N/ε)); geometric noise on each count adds up to far more unless the list is short",
            "Blocki, Datta and Bonneau, NDSS 2016; Aldà and Simon, CSCML 2017, Theorem 3; docs/theory/sorted_counts.md",
            sorted_counts_bound(self.total, self.epsilon, self.top),
        )

    def certificate(self) -> Certificate:
        """There is none: every probability is divided by the sum over all partitions.

        Raises:
            BadParameter: Always.
        """
        raise BadParameter(
            f"the law of the {self.name} is irrational for every epsilon, so no exact channel can be certified",
            fix="see the proof in docs/theory/sorted_counts.md",
        )

    def _list(self, heights: Integers, columns: Integers) -> NDArray[np.int64]:
        counts = np.repeat(heights, columns)
        return counts if self.top is None else np.pad(counts, (0, self.top - len(counts)))


@lru_cache(maxsize=1024)
def _normaliser(
    heights: tuple[int, ...], columns: tuple[int, ...], decay: Fraction, top: int | None, bits: int
) -> Enclosure:
    border = border_of(np.array(heights, dtype=np.int64), np.array(columns, dtype=np.int64), columns=top)
    return normaliser(border, decay, closed=top is not None, bits=bits)

"""Which way to a private sorted list is the better one for so many records and this ε, before anything is spent.

Both errors depend on the list, so they are taken on an example that is public: last year's list, a list of someone
else's, or one made up by Zipf's law. The true list is never looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact import Enclosure, NumberLike, SeededSource, read_epsilon, read_integer, read_rational
from leastnoise.mechanisms.combinatorial.sorted_counts.diagram import Integers, distance, read_counts
from leastnoise.mechanisms.combinatorial.sorted_counts.isotonic_counts import MOST_COUNTS, IsotonicCounts
from leastnoise.mechanisms.combinatorial.sorted_counts.sorted_counts import LEAST_EPSILON, SortedCounts
from leastnoise.mechanisms.lower_bounds import sorted_counts_bound

__all__ = ["SortedCountsPlan", "plan_sorted_counts", "zipf_counts"]

_MOST_COUNTS = 10**9
_SIMULATED = 10**6  # counts, in as many draws as that gives, but one at least
_MOST_DRAWS = 200


@dataclass(frozen=True)
class SortedCountsPlan:
    """Both ways side by side.

    Attributes:
        mechanism: The one with the smaller error on the example.
        on_example: By the mechanism's name, the expected ℓ₁ error on the example: computed for the exponential
            mechanism, the mean of simulated draws for the other.
        at_worst: By name, what the expected error does not exceed on any list of so many records.
        lower_bound: What no private mechanism can beat on all lists of so many records: Ω(√(N/ε)).
    """

    mechanism: SortedCounts | IsotonicCounts
    on_example: Mapping[str, float]
    at_worst: Mapping[str, float]
    lower_bound: Enclosure


def plan_sorted_counts(
    epsilon: NumberLike,
    total: NumberLike,
    top: NumberLike | None = None,
    *,
    longest: NumberLike | None = None,
    example: Any = None,
) -> SortedCountsPlan:
    """Compare the exponential mechanism over lists with geometric noise and isotonic regression.

    Args:
        epsilon: The privacy, where a record comes or goes.
        total: About how many records there are.
        top: How many of the largest counts are asked for; all if left out.
        longest: How many counts there can be at most; `total` if left out. Where it is given, so many are released, the
            last of them zeros, which is less noise than a list of any length.
        example: A public list of counts like the one to be released; one by Zipf's law if left out.

    >>> plan = plan_sorted_counts(epsilon=0.25, total=10_000)
    >>> plan.mechanism.name, plan.lower_bound.lower < plan.on_example[plan.mechanism.name]
    ('exponential mechanism over sorted lists', True)
    """
    records = read_integer(total, "total", at_least=1)
    counts = zipf_counts(records) if example is None else _read_example(example)
    length = top if top is not None else records if longest is None else longest
    ways: list[SortedCounts | IsotonicCounts] = []
    short = read_integer(length, "longest", at_least=1) <= MOST_COUNTS
    most = length if short and longest is not None else top
    if read_epsilon(epsilon) >= LEAST_EPSILON:
        ways.append(SortedCounts(epsilon, records, most))
    if short:
        ways.append(IsotonicCounts(epsilon, records, length))
    if not ways:
        raise TooLarge(
            "epsilon is too small for a list this long", given=f"{length} counts", fix="ask for top=1000 counts"
        )
    seen = {way.name: _error_on(way, counts) for way in ways}
    best = min(ways, key=lambda way: seen[way.name])
    at_worst = {way.name: float(way.error().expected.upper) for way in ways}
    return SortedCountsPlan(best, seen, at_worst, sorted_counts_bound(records, ways[0].epsilon, most))


def zipf_counts(total: NumberLike, exponent: NumberLike = 1, distinct: NumberLike | None = None) -> Integers:
    """About `total` records by Zipf's law: the i-th count is ⌊a/i^exponent⌋, for as long as that is not zero.

    With `distinct` there are so many counts, at least one each. For made-up examples; nothing here is private.

    >>> zipf_counts(100).tolist()
    [27, 13, 9, 6, 5, 4, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    """
    records = read_integer(total, "total", at_least=1)
    power = float(read_rational(exponent, "exponent", above=Fraction(1, 10), at_most=10))
    number = None if distinct is None else read_integer(distinct, "distinct", at_least=1, at_most=records)
    if records > _MOST_COUNTS:
        raise BadParameter("total is too large for an example", given=records, fix="pass at most 10^9 records")

    def slopes(length: int) -> NDArray[np.float64]:
        return np.arange(1, min(length, records) + 1, dtype=np.float64) ** power

    fixed = None if number is None else slopes(number)

    def counts(largest: int) -> Integers:
        falling = slopes(int(largest ** (1 / power))) if fixed is None else fixed
        heights = np.floor(largest / falling).astype(np.int64)
        return heights[heights > 0] if fixed is None else np.maximum(heights, 1)

    def size(largest: int) -> int:
        """About the sum of the counts: those of the first places, and by their height all others."""
        if fixed is not None:
            return int(counts(largest).sum())
        first = slopes(int(largest ** (1 / (1 + power))))
        heights = np.arange(1, int(largest / (len(first) + 1) ** power) + 1)
        places = np.minimum(np.floor((largest / heights) ** (1 / power)), records)
        return int(np.floor(largest / first).sum()) + int((places - len(first)).sum())

    low, high = 1, records
    while high - low > max(low >> 12, 1):
        middle = (low + high) // 2
        low, high = (middle, high) if size(middle) <= records else (low, middle)
    return counts(low)


def _read_example(example: Any) -> Any:
    """The example, if it is a list of at most 10^9 records."""
    values, times = read_counts(example)
    if sum(value * count for value, count in zip(values.tolist(), times.tolist(), strict=True)) > _MOST_COUNTS:
        raise BadParameter("the example has too many records", fix="pass at most 10^9 records")
    return example


def _error_on(way: SortedCounts | IsotonicCounts, counts: Any) -> float:
    if isinstance(way, SortedCounts):
        return float(way.error_at(counts))
    draws = min(max(_SIMULATED // way.longest, 1), _MOST_DRAWS)
    true = read_counts(counts, way.longest)
    # The example is public, and a plan must not come out differently when it is made again.
    simulated = way.draw(counts, size=draws, source=SeededSource(0))
    return sum(distance(true, read_counts(drawn)) for drawn in simulated) / draws

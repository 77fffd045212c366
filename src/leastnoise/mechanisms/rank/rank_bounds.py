"""How many records away a private quantile lands: the worst case over all databases, and what no mechanism can beat.

Every record lies on the lattice, so some point needs no change; let there be M others. Whatever their numbers of
changes, E[changes] is largest when all M need the same number k: for a fixed value E of the maximum each of them
maximises (k − E)·e^(−ck), which is the same problem for all. A database with its records at the two ends and on one
point in between attains it; for permute-and-flip the worst case is the same (McKenna and Sheldon 2020). The chance of
more than t changes is largest when all M need t + 1.

Packing: move the records in between from point to point. That gives M + 1 databases that are all `distance(k)` records
apart, and on each only its own point needs fewer than k changes. A mechanism with E[changes] ≤ E on all of them gives
each its own point with probability at least 1 − E/k, so (1 − E/k)·(1 + M·e^(−ε·distance(k))) ≤ 1.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import exp, log
from typing import Any

from leastnoise.exact import Enclosure, Exact, at_alpha, larger, least_whole, ln
from leastnoise.mechanisms.rank.rank_law import RankRule

__all__ = ["changes_quantile", "expected_changes", "least_expected_changes"]

NOTHING = Enclosure(Fraction(0), Fraction(0))


def expected_changes(others: int, rate: Exact, most: int | None, flips: bool = False) -> Enclosure:
    """The largest k·P(another point), k ≤ most, where all others need k changes: no database needs more on average.

    With p = e^(−rate·k), P = M·p/(1 + M·p) for the exponential law. Permute-and-flip picks the best with probability
    E[1/(1 + X)], X heads among M coins of chance p: P = 1 − (1 − (1 − p)^(M+1))/((M + 1)·p). As functions of k both
    products rise and then fall; for the first, 1 + e^(ck)(1 − ck)/M, which has the sign of its derivative, falls.

    >>> expected_changes(9, ln(2), None), expected_changes(1, ln(2), None, flips=True)
    (Enclosure(27/17), Enclosure(1/4))
    """
    if not others or most == 0:
        return NOTHING

    def at(k: int) -> Enclosure:
        def mean(a: Any) -> Any:
            p = a**k
            if flips:
                return k * (1 - (1 - (1 - p) ** (others + 1)) / ((others + 1) * p))
            return k * others * p / (1 + others * p)

        return at_alpha(rate, mean, power=k * (others + 1 if flips else 1))

    peak = least_whole(lambda k: (most is not None and k >= most) or at(k + 1).lower <= at(k).upper, start=1)
    return at(peak) if peak == 1 else larger(at(peak - 1), at(peak))


def changes_quantile(others: int, rate: Exact, most: int | None, level: Fraction) -> int:
    """The least t such that on every database more than t changes are needed with probability at most 1 − level.

    M·e^(−rate·(t+1)) ≤ (1 − level)/level is what makes the chance small enough.

    >>> changes_quantile(9, ln(2), None, Fraction(19, 20))
    7
    """
    if not others:
        return 0
    needed = ln(others * level / (1 - level))
    least = least_whole(lambda t: (t + 1) * rate >= needed)
    return least if most is None else min(least, most)


def least_expected_changes(others: int, epsilon: Exact, rule: RankRule, records: int | None) -> Enclosure:
    """The packing bound: every ε-private mechanism needs at least so many changes on average, on some database."""
    distance, most = _distances(rule, records)
    guess = int(log(others + 1) / float(epsilon)) + 2
    longest = guess if most is None else min(guess, most)

    def rough(k: int) -> float:
        share = others * exp(-min(float(epsilon) * distance(k), 700.0))
        return k * share / (1 + share)

    if longest < 1:
        return NOTHING
    best = max(range(1, min(longest, 10_000) + 1), key=rough)
    apart = distance(best)
    return at_alpha(epsilon, lambda a: best * others * a**apart / (1 + others * a**apart), power=apart)


def _distances(rule: RankRule, records: int | None) -> tuple[Callable[[int], int], int | None]:
    """How far apart the packed databases are for a margin of k changes, and the largest k that fits."""
    top, bottom = rule.level.numerator, rule.level.denominator
    if records is not None and rule.exchange:
        # With A = ⌈q·n⌉ − k records at the lower end and ⌈(1 − q)·n⌉ − k at the upper one.
        low, high = -(-top * records // bottom), -(-(bottom - top) * records // bottom)
        return lambda k: 2 * k - (low + high - records), min(low, high)
    # e records in between with q·n − A and (1 − q)·n − B above (k − 1)·unit; each is removed and added again.
    return lambda k: 2 * -(-2 * (rule.unit * (k - 1) + 1) // bottom), None

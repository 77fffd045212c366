"""What no ε-private mechanism can beat for cuts, covers and sorted counts, as numbers.

One step between neighbours takes an event of probability p to at most g(p) = min(e^ε·p, 1 − e^-ε·(1 − p)); k steps take
it to g^k(p), and 1 − g^k(p) = max over t ≤ k of e^(−ε(k − t))·(1 − e^(εt)·p). The function g^k is concave, so if one of
m events happens at a database, then k steps away from it, on average over m directions, "its" event has probability at
most g^k(1/m). This sharpens the packing argument of Gupta et al. (SODA 2010) and Tóthmérész (2013, section 4). The
sizes that make a bound largest are searched for in doubles, then the bound is evaluated exactly: any sizes would do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.formulas import at_alpha
from leastnoise.exact.parameters import NumberLike, read_epsilon, read_integer

__all__ = ["count_bound", "min_cut_bound", "sorted_counts_bound", "vertex_cover_bound"]

_LARGEST = 1 << 60  # numbers of nodes and records are then doubles, nearly
_LARGEST_STAR = 2048
_CANDIDATES = 512


def min_cut_bound(nodes: NumberLike, epsilon: NumberLike) -> Enclosure:
    """What every ε-private mechanism for the minimum cut adds to its size, expected, on some graph.

    max over r < n of (r − 1)·(1 − g^r(1/m)), where m is n, or n − 1 if r·n is odd; edges come and go one by one.

    Harary's graph on n nodes stays connected unless r nodes are removed, and m of its nodes have r neighbours. Without
    the r edges at such a node v the cut around v costs nothing, while any other one separates the remaining nodes and
    costs r − 1 at least, for they are still (r − 1)-connected. At Harary's graph the cuts around m nodes have
    probability 1/m on average. Tóthmérész (2013, Theorem 4.2) has ln n/(12ε) for 3·ln n/n < ε < 1/12.

    >>> float(min_cut_bound(1000, 0.1)) > 41, min_cut_bound(3, "ln(2)")
    (True, Enclosure(1/6))
    """
    n, rate = read_integer(nodes, "nodes", at_least=2, at_most=_LARGEST), read_epsilon(epsilon)
    step = float(rate)
    cuts = _sizes(2, min(n - 1, 2 + int((2 * math.log(n) + 8) / step)))

    def ways(degree: int) -> int:
        return n - degree * n % 2

    def guess(degree: int) -> float:
        return (degree - 1) * float(_misses(np.array([1 / ways(degree)]), degree, step)[0])

    best = max(cuts, key=guess, default=1)
    share = ways(best)
    grow = int(_growth(np.array([1 / share]), best, step)[0])
    return at_alpha(rate, lambda a: (best - 1) * (a ** (best - grow) - a ** (best - 2 * grow) / share), power=2 * best)


def vertex_cover_bound(epsilon: NumberLike, nodes: NumberLike | None = None) -> Enclosure:
    """The ratio to the smallest vertex cover that every ε-private order of the nodes has, expected, on some graph.

    max over m ≤ n of Σ_{s=0}^{m−2} (1 − g^(m−1)(s/m)), and at least 1; stars of at most 2048 nodes are tried.

    An edge is covered by whichever of its ends comes first. In a star of m nodes whose centre comes t-th among them the
    cover has min(t, m − 1) nodes, where one would do. Without edges the centre comes among the first s with probability
    s/m, on average over the nodes that could be it; m − 1 edges make the star. Tóthmérész (2013, Theorem 4.3) has the
    bound up to a constant.

    Args:
        epsilon: The privacy, where an edge comes or goes.
        nodes: How many the graphs have; any number of them if left out.

    >>> float(vertex_cover_bound(0.1)) > 3, vertex_cover_bound("ln(2)", nodes=3)
    (True, Enclosure(7/6))
    """
    rate = read_epsilon(epsilon)
    most = _LARGEST_STAR if nodes is None else min(_LARGEST_STAR, read_integer(nodes, "nodes", at_least=2))
    step = float(rate)

    def earlier(size: int) -> NDArray[np.float64]:
        return np.arange(1, size - 1) / size

    best = max(_sizes(2, min(most, 3 + int(12 / step))), key=lambda m: float(_misses(earlier(m), m - 1, step).sum()))
    grows = _growth(earlier(best), best - 1, step).tolist()

    def ratio(a: Any) -> Any:
        misses = (
            a ** (best - 1 - grow) - a ** (best - 1 - 2 * grow) * s / best for s, grow in enumerate(grows, start=1)
        )
        return sum(misses, start=1 + 0 * a)

    value = at_alpha(rate, ratio, power=best**2)
    return Enclosure(max(value.lower, Fraction(1)), max(value.upper, Fraction(1)))


def sorted_counts_bound(
    total: NumberLike, epsilon: NumberLike, longest: NumberLike | None = None, step: NumberLike = 1
) -> Enclosure:
    """What every ε-private sorted list of counts is off in ℓ₁, expected, on some data of at most `total` records.

    max over k of rows(k) · 2kα/((1 + α)(k + 1 − (k − 1)α)), α = e^-ε, where rows(k) is the largest r ≤ longest with
    k·r(r + 1)/2 ≤ total; records come and go one by one. With steps of s, s times that for rows(s·k).

    Let the i-th shortest row of the list lie anywhere in [(i − 1)k, ik]: whatever the rows are, they are sorted. For
    each row alone, the others fixed, the mechanism is a private count of 0..k, and `count_bound` is what it costs. For
    small ε this is about ½√(N/ε), and for long lists of r counts r·2α/(1 − α²), which geometric noise attains. Aldà and
    Simon (2017, Theorem 3) have √(N/ε) and r/ε up to constants.

    Args:
        total: How many records there can be.
        epsilon: The privacy, where a record comes or goes.
        longest: How many counts are asked for; all if left out.
        step: How much neighbours can differ in ℓ₁: one, or two where a record is replaced by another.

    >>> sorted_counts_bound(1, "ln(3)"), float(sorted_counts_bound(10**6, 0.1)) > 1500
    (Enclosure(1/4), True)
    """
    records = read_integer(total, "total", at_least=1, at_most=_LARGEST)
    most = records if longest is None else read_integer(longest, "longest", at_least=1, at_most=_LARGEST)
    rate, unit = read_epsilon(epsilon), read_integer(step, "step", at_least=1, at_most=_LARGEST)

    def rows(width: int) -> int:
        return min(most, (math.isqrt(1 + 8 * (records // (unit * width))) - 1) // 2)

    def guess(width: int) -> float:
        alpha = math.exp(-float(rate))
        return rows(width) * 2 * width * alpha / ((1 + alpha) * (width + 1 - (width - 1) * alpha))

    best = max(_sizes(1, records), key=guess)
    return at_alpha(rate, lambda a: unit * rows(best) * _count_loss(a, best))


def count_bound(largest: NumberLike, epsilon: NumberLike) -> Enclosure:
    """What every ε-private count of 0..k is off, expected, at some count: 2kα/((1 + α)(k + 1 − (k − 1)α)), α = e^-ε.

    Under the prior that gives the two ends 1/(1 − α) times as much as each count between them, the truncated geometric
    mechanism needs no remap: on either side of y the posterior weighs α/(1 − α) for each unit at y, or nothing. It is
    then optimal (Ghosh, Roughgarden and Sundararajan, SIAM J. Comput. 2012), and this is its loss. Between two counts
    it is 1/(1 + e^ε), and 2α/(1 − α²) in the limit of many.

    >>> count_bound(1, "ln(3)"), count_bound(2, "ln(2)")
    (Enclosure(1/4), Enclosure(8/15))
    """
    width, rate = read_integer(largest, "largest", at_least=1, at_most=_LARGEST), read_epsilon(epsilon)
    return at_alpha(rate, lambda a: _count_loss(a, width))


def _count_loss(alpha: Any, largest: int) -> Any:
    """The formula of `count_bound`, for any kind of number."""
    return 2 * largest * alpha / ((1 + alpha) * (largest + 1 - (largest - 1) * alpha))


def _growth(chances: NDArray[np.float64], steps: int, epsilon: float) -> NDArray[np.int64]:
    """In how many of the first steps g is e^ε·p: while p ≤ 1/(1 + e^ε)."""
    room = -np.log(chances) - np.logaddexp(0, epsilon)
    taken: NDArray[np.int64] = np.clip(np.floor(room / epsilon) + 1, 0, steps).astype(np.int64)
    return taken


def _misses(chances: NDArray[np.float64], steps: int, epsilon: float) -> NDArray[np.float64]:
    """1 − g^steps(p) in doubles."""
    grow = _growth(chances, steps, epsilon)
    missed: NDArray[np.float64] = np.exp(-epsilon * (steps - grow)) * (1 - np.exp(epsilon * grow) * chances)
    return missed


def _sizes(least: int, most: int) -> Sequence[int]:
    """All sizes, or some hundreds of them, evenly in their logarithm."""
    if most - least < _CANDIDATES:
        return range(least, most + 1)
    return sorted({int(size) for size in np.geomspace(least, most, _CANDIDATES)})

"""What no ε-private mechanism can beat, as numbers.

For cuts, covers and sorted counts: one step between neighbours takes an event of probability p to at most g(p) =
min(e^ε·p, 1 − e^-ε·(1 − p)); k steps take it to g^k(p), and 1 − g^k(p) = max over t ≤ k of e^(−ε(k − t))·(1 −
e^(εt)·p). The function g^k is concave, so if one of m events happens at a database, then k steps away from it, on
average over m directions, "its" event has probability at most g^k(1/m). This sharpens the packing argument of Gupta et
al. (SODA 2010) and Tóthmérész (2013, section 4). The sizes that make a bound largest are searched for in doubles, then
the bound is evaluated exactly: any sizes would do.

For a linear map: the packing bound. Hardt and Talwar (STOC 2010, Theorem 3.4) and Tóthmérész (2013, Theorem 4.1) state
it up to a constant. Here it is with the constant. Averaging a mechanism over all databases makes its noise ν the same
for all of them, so ν(S + v) ≥ e^(−ε·d(v))·ν(S) for every set S and every v that d(v) records can add to an answer.
Adding this up over all v bounds ν(S) from above, and a measure that puts little on every ball around zero has a large
mean norm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact import (
    Ball as Interval,
    Enclosure,
    Exact,
    IntegerMatrix,
    IntegerVector,
    NumberLike,
    at_alpha,
    ball_of,
    coordinates,
    enclose,
    exp_enclosure,
    lattice_basis,
    least_whole,
    of_fraction,
    read_epsilon,
    read_integer,
    scaled,
)
from leastnoise.mechanisms.vector.norms import CrossPolytope
from leastnoise.mechanisms.vector.polytope import Polytope

__all__ = [
    "MOST_COLUMNS",
    "changes_bound",
    "count_bound",
    "lattice_packing_bound",
    "least_worst_error",
    "min_cut_bound",
    "packing_bound",
    "sorted_counts_bound",
    "squares_bound",
    "vertex_cover_bound",
]

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


_MOST_ANSWERS = 512  # for which the bound is computed
MOST_COLUMNS = {2: 500, 3: 200, 4: 60, 5: 40, 6: 24, 7: 16, 8: 13}  # for which a hull is found in seconds, by rank


def packing_bound(dimension: int, volume: Fraction, epsilon: Exact, loss: str = "l2") -> Enclosure:
    """d/(d+1)·(d!/ε^d·Vol K/Vol B)^(1/d) for real databases, where d(v) = ‖v‖_K may be any real number.

    The density of ν is at most f = ε^d/(d!·Vol K), the reciprocal of ∫e^(−ε‖v‖_K)dv. The mean norm is least for density
    f on the ball ρB with f·ρ^d·Vol B = 1, and there it is ρ·d/(d+1).

    Args:
        dimension: d.
        volume: Of K.
        epsilon: The privacy.
        loss: The norm in which the error is measured: "l1", "l2" or "l∞"; B is its unit ball.

    >>> packing_bound(1, Fraction(2), Fraction(1), "l1")
    Enclosure(≈ 0.5)
    """
    unit, d = _log_unit_ball(dimension, loss), dimension

    def formula() -> Interval:
        density = of_fraction(d + 1).lgamma() - d * ball_of(epsilon).log() + of_fraction(volume).log()
        bound: Interval = of_fraction(Fraction(d, d + 1)) * ((density - unit()) / d).exp()
        return bound

    return enclose(formula)


def lattice_packing_bound(dimension: int, total: Enclosure) -> Enclosure:
    """The bound for whole answers and the ℓ₁ error, where d(v) is a whole number of records: S − Σ_{s<S} L(s)/Z.

    Z = Σ_v e^(−ε·d(v)) over the differences v of answers, L(s) the number of whole vectors with Σ|y_i| ≤ s, and S the
    least number with L(S) ≥ Z. Rounding each coordinate of a real output at random, up or down without bias, keeps the
    mean of |y_i − x_i| for whole x_i, so ν may be taken to live on whole vectors. No point has more than 1/Z, and the
    mean norm is least if the points nearest to zero all have that much.

    Args:
        dimension: How many answers there are.
        total: Z.

    >>> lattice_packing_bound(1, Enclosure(Fraction(2), Fraction(2)))  # ε = ln 3: the geometric mechanism has 3/4
    Enclosure(1/2)
    """
    ball = CrossPolytope(dimension)

    def least_mean(mass: Fraction) -> Fraction:  # it grows with the mass
        radius = least_whole(lambda s: ball.points_within(s) >= mass)
        last = min(dimension, radius)
        within: int = sum(comb(dimension, k) * comb(radius, k + 1) * 2**k for k in range(last + 1))  # Σ_{s<S} L(s)
        return radius - within / mass

    return Enclosure(least_mean(total.lower), least_mean(total.upper))


def squares_bound(gram: IntegerMatrix, epsilon: Exact) -> Enclosure:
    """What the squared errors of W·x add up to, expected, for every ε-private mechanism on some histogram x.

    Σ_i max_j (u_i·w_j)²·v, up to any small number. Here v = 2α/(1 − α)² is the variance of geometric noise, w_j the
    columns of W, V = WᵀW, one unit adds one to one cell, and the u_i are any vectors with Σ u_i·u_iᵀ ≤ I. Then
    ‖e‖² ≥ Σ (u_i·e)² for the vector e of errors, and it remains to bound each term for the same prior: all x_j
    independent and uniform on 0..N, N → ∞. Given the other cells, u_i·W·x is u_i·w_j times a count on 0..N. Given
    what was released, the weights p of the values k of this count have p(k ± 1) ≥ α·p(k), and
    Σ p(k)·(k − c)² ≥ v·Σ p(k) for every c: let c lie in [0, ½] after a shift. In units of p(0), p is α^|k| plus
    multiples ≥ 0 of its parts on k ≥ s and on k ≤ −s, s ≥ 1. The first has v + c², and of the others the one on k ≥ 1
    has least, for c = ½: v + ¼. What is cut off at the ends 0 and N matters for a vanishing share of the prior.

    The u_i are those of Gram and Schmidt on the columns, the longest remainder first, in doubles: u_i = W·y_i with y_i
    rounded to whole numbers, so that Σ u_i·u_iᵀ is at most the largest row sum of |Y·V·Yᵀ|, by which it is divided.

    Args:
        gram: V, which has an inverse.
        epsilon: The privacy.

    >>> from leastnoise.exact import ln
    >>> round(float(squares_bound(IntegerMatrix([[2, 1], [1, 1]]), ln(2))), 6)  # v = 4; two prefix sums
    10.0
    """
    rest = gram.doubles().copy()
    changes = np.zeros_like(rest)  # u_i·w_j
    for change in changes:
        longest = int(np.argmax(np.diagonal(rest)))
        if rest[longest, longest] <= 0:
            break
        change[:] = rest[longest] / np.sqrt(rest[longest, longest])
        rest -= np.outer(change, change)
    guess = np.linalg.solve(gram.doubles(), changes.T).T
    directions = IntegerMatrix(np.rint(np.ldexp(guess, 40 - math.frexp(np.abs(guess).max())[1])).astype(np.int64))
    moved = directions @ gram
    most = max(sum(map(abs, row)) for row in (moved @ directions.transposed()).rows)
    share = Fraction(sum(max(map(abs, row)) ** 2 for row in moved.rows), most)
    return scaled(at_alpha(epsilon, lambda a: 2 * a / (1 - a) ** 2), share)


@lru_cache(maxsize=64)
def changes_bound(changes: tuple[IntegerVector, ...], epsilon: Exact) -> Enclosure | None:
    """`lattice_packing_bound` for whole histograms x and F·x, where one record changes F·x by a column of F.

    Z = Σ_v e^(−ε·d(v)) over v in F·Z^n, d(v) the least number of columns, with signs, that add up to v. A smaller Z
    gives a smaller bound, so what is left out of the sum does no harm. With independent columns v has one such sum, and
    Z = ((1 + α)/(1 − α))^n. Otherwise that holds of any independent columns among them, and of the cone over each
    simplex of the boundary of conv(±columns): the larger of the two sums is taken.

    Args:
        changes: The columns of F, one of each opposite pair; all of one length, not zero.
        epsilon: The privacy.

    >>> from leastnoise.exact import ln
    >>> changes_bound(((1, 1),), ln(3)), changes_bound(((1, 0), (0, 1)), ln(3))
    (Enclosure(1/2), Enclosure(3/4))
    """
    answers = len(changes[0])
    if answers > _MOST_ANSWERS:
        return None
    basis = lattice_basis(changes)
    totals = [CrossPolytope(len(basis)).total(epsilon)]
    if len(basis) < len(changes) <= MOST_COLUMNS.get(len(basis), 0):
        with suppress(TooLarge, BadParameter):  # the other sum is a bound by itself
            totals.append(Polytope(tuple(coordinates(changes, basis))).sum_over_corners(epsilon))
    return lattice_packing_bound(answers, max(totals, key=lambda total: total.lower))


def _log_unit_ball(d: int, loss: str) -> Callable[[], Any]:
    """The logarithm of the volume of the unit ball of a norm."""

    def log_of(number: int) -> Any:
        return of_fraction(number).log()

    formulas: dict[str, Callable[[], Any]] = {
        "l1": lambda: d * log_of(2) - of_fraction(d + 1).lgamma(),
        "l2": lambda: (4 * of_fraction(1).atan()).log() * d / 2 - of_fraction(Fraction(d, 2) + 1).lgamma(),
        "l∞": lambda: d * log_of(2),
    }
    if loss not in formulas:
        raise BadParameter("the loss is unknown", given=loss, fix='pass "l1", "l2" or "l∞"')
    return formulas[loss]


def least_worst_error(width: Fraction, epsilon: Exact, distance: int) -> Enclosure:
    """width/(e^(⌊d/2⌋·ε) + e^(⌈d/2⌉·ε)): no mechanism has a smaller expected absolute error on every database.

    Valid where two databases d records apart have their answers `width` apart. Let f be the share of the width between
    the first answer and the output. Half-way between the two databases E f or E(1 − f) is at least ½, and so at one of
    the two it is at least ½e^(−(d/2)·ε). For odd d the two databases in the middle have E f ≥ 1/(1 + e^ε) at the one or
    E(1 − f) ≥ 1/(1 + e^ε) at the other.

    For the median of data in [a, b] d is one where a record may change and two where it may come or go, which gives
    (b − a)/(1 + e^ε) and (b − a)/(2e^ε); Tóthmérész (2013, Proposition 3.4) has (b − a)/8 for ε < 1/2.

    >>> from leastnoise.exact import ln
    >>> least_worst_error(Fraction(8), ln(3), 1), least_worst_error(Fraction(6), ln(3), 2)
    (Enclosure(2), Enclosure(1))
    """
    near, far = exp_enclosure(epsilon * (distance // 2)), exp_enclosure(epsilon * (distance - distance // 2))
    return Enclosure(width / (near.upper + far.upper), width / (near.lower + far.lower))

"""Optimal composition of k equal queries (Kairouz, Oh and Viswanath 2015, Theorem 3.3).

Randomized response is the worst of all ε-private queries, so the exact answer is its privacy loss: (k − 2j)ε with
probability C(k, j)·e^((k−j)ε)/(1 + e^ε)^k, and δ(x) = Σ_j max(0, a_j − e^x·b_j) with a_j that probability and
b_j = a_j·e^(−(k−2j)ε) the one under the other dataset. Between two losses δ is linear in e^x, so the least x for a
given δ is a logarithm of a quotient of sums; everything is summed in ball arithmetic from the largest loss down.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from leastnoise.composition.bound import Bound
from leastnoise.composition.concentrated import concentrated_per_query
from leastnoise.composition.normal_form import Parts, epsilon_of
from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Ball,
    Exact,
    NumberLike,
    above,
    ball_of,
    evaluate,
    largest_fitting,
    of_fraction,
    read_exact,
    read_integer,
    read_rational,
)
from leastnoise.model import Privacy

__all__ = ["homogeneous_bound", "homogeneous_delta", "homogeneous_epsilon", "homogeneous_per_query"]

NAME = "optimal homogeneous composition"
CITATION = "Kairouz, Oh and Viswanath 2015, Theorem 3.3"
_MOST_QUERIES = 100_000  # the sums have half as many terms; loss distributions go further


def homogeneous_bound(parts: Parts, delta: Fraction) -> Bound | None:
    """The exact answer for pure privacy where all atoms have the same ε, and a bound where more is known; else None."""
    epsilon = epsilon_of(parts.atoms[0][0]) if parts.atoms else None
    slack = parts.slack(delta)
    if epsilon is None or slack <= 0 or parts.queries > _MOST_QUERIES:
        return None
    if any(epsilon_of(atom) != epsilon for atom, _ in parts.atoms):
        return None
    return Bound(NAME, _epsilon_above(epsilon, parts.queries, slack), delta, CITATION)


def homogeneous_epsilon(epsilon: NumberLike, queries: NumberLike, delta: NumberLike) -> Fraction:
    """The least ε at which `queries` queries of pure `epsilon` each are (ε, delta)-private, rounded up.

    >>> float(homogeneous_epsilon("0.01", 1000, "1e-6"))
    1.3654...
    """
    each = read_exact(epsilon, "epsilon", above=0)
    count = read_integer(queries, "queries", at_least=1, at_most=_MOST_QUERIES)
    return _epsilon_above(each, count, read_rational(delta, "delta", above=0, below=1))


def homogeneous_delta(epsilon: NumberLike, queries: NumberLike, total_epsilon: NumberLike) -> Fraction:
    """The least δ at which `queries` queries of pure `epsilon` each are (total_epsilon, δ)-private, rounded up.

    >>> float(homogeneous_delta("ln(3)", 1, 0))
    0.5
    """
    each = read_exact(epsilon, "epsilon", above=0)
    count = read_integer(queries, "queries", at_least=1, at_most=_MOST_QUERIES)
    return _delta_above(each, count, read_exact(total_epsilon, "total_epsilon", at_least=0))


def homogeneous_per_query(total: Privacy, queries: NumberLike) -> Privacy:
    """The largest pure ε that each of `queries` queries may have so that all are `total`-private, rounded down.

    No mechanism-independent rule allows more.

    >>> float(homogeneous_per_query(Privacy(1, "1e-6"), 100).epsilon)
    0.0240...
    """
    count = read_integer(queries, "queries", at_least=1, at_most=_MOST_QUERIES)
    if total.epsilon <= 0:
        raise BadParameter("nothing can be divided", given="epsilon = 0", fix="pass a total with epsilon above zero")
    if total.delta == 0:
        return Privacy(total.epsilon / count)
    known = concentrated_per_query(total, count)  # always a little less, and found at once

    def fits(each: Fraction) -> bool:
        return _delta_above(each, count, total.epsilon) <= total.delta

    reach = known
    while reach < total.epsilon and fits(reach):
        known, reach = reach, reach * Fraction(9, 8)
    return Privacy(largest_fitting(fits, at_most=min(reach, total.epsilon), at_least=known, digits=30))


def _epsilon_above(epsilon: Exact, count: int, delta: Fraction) -> Fraction:
    """Sum until δ is reached at a loss; the crossing is between that loss and the one before it."""

    def crossing() -> Ball:
        step, target = ball_of(epsilon), of_fraction(delta)
        for j, (ours, theirs) in enumerate(_sums(epsilon, count), start=1):
            loss = (count - 2 * j) * step
            if count <= 2 * j or not ours - loss.exp() * theirs <= target:
                # At the loss before this one δ is surely kept, and from there down to here these are all the terms.
                ratio = (ours - target) / theirs
                least = loss if count > 2 * j else of_fraction(0)
                return least.max(ratio.log()) if ratio > 0 else least
        return of_fraction(0)

    return above(evaluate(crossing, _precision(count, delta)))


def _delta_above(epsilon: Exact, count: int, total: Exact) -> Fraction:
    def reached() -> Ball:
        factor, sums = ball_of(total).exp(), of_fraction(0)
        for j, (ours, theirs) in enumerate(_sums(epsilon, count), start=1):
            sums = ours - factor * theirs
            if (count - 2 * j) * epsilon <= total:
                break
        return sums

    return above(evaluate(reached, _precision(count, Fraction(1))))


def _sums(epsilon: Exact, count: int) -> Iterator[tuple[Ball, Ball]]:
    """Σ_{i<j} a_i and Σ_{i<j} b_i for j = 1, 2, …, at the current working precision."""
    down, up = (-ball_of(epsilon)).exp(), ball_of(epsilon).exp()
    a = (-count * down.log1p()).exp()
    b = (-count * up.log1p()).exp()
    ours = theirs = of_fraction(0)
    for j in range(count + 1):
        ours, theirs = ours + a, theirs + b
        yield ours, theirs
        ratio = of_fraction(Fraction(count - j, j + 1))
        a, b = a * ratio * down, b * ratio * up


def _precision(count: int, delta: Fraction) -> int:
    """Enough bits that the rounding of all terms stays far below δ."""
    return 128 + 2 * count.bit_length() + delta.denominator.bit_length()

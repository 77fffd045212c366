"""Advanced composition: with a little δ, ε grows with the square root of the number of queries.

k queries of (ε, δ) each are (ε√(2k·ln(1/δ')) + kε(e^ε − 1), kδ + δ') for every δ' > 0 (C-L2, Theorem 8; Dwork, Rothblum
and Vadhan 2010, Theorem III.3). The same proof gives √(2·ln(1/δ')·Σε²) + Σε(e^ε − 1) for queries of different ε:
each has an expected loss of at most ε(e^ε − 1) within ±ε, and Azuma's inequality does the rest.
"""

from __future__ import annotations

from fractions import Fraction

from leastnoise.composition.bound import Bound
from leastnoise.composition.normal_form import Parts, epsilon_of
from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Ball,
    Exact,
    NumberLike,
    ball_of,
    enclose,
    largest_fitting,
    of_fraction,
    read_integer,
    read_rational,
)
from leastnoise.model import Privacy

__all__ = ["advanced_bound", "advanced_per_query", "corollary_per_query"]

NAME = "advanced composition"
_LARGEST = 64  # beyond such an ε the formula, which has e^ε in it, says nothing
CITATION = "Dwork, Rothblum and Vadhan 2010, Theorem III.3"


def advanced_bound(parts: Parts, delta: Fraction) -> Bound | None:
    """Theorem 8 for queries of any ε, with δ' = δ − Σδ; None where an event has no finite ε or no δ' is left."""
    slack = delta - parts.delta
    known = [(epsilon_of(atom), count) for atom, count in parts.atoms]
    epsilons = [(epsilon, count) for epsilon, count in known if epsilon is not None]
    if slack <= 0 or not known or len(epsilons) < len(known) or max(epsilon for epsilon, _ in epsilons) > _LARGEST:
        return None
    return Bound(NAME, _formula_above(epsilons, slack), delta, CITATION)


def advanced_per_query(total: Privacy, queries: NumberLike, delta_each: NumberLike = 0) -> Privacy:
    """The largest ε that `queries` queries of (ε, delta_each) may have by Theorem 8, rounded down.

    Args:
        total: What all of them together may cost; its δ must exceed queries·delta_each.
        queries: How many.
        delta_each: The δ of each query.

    Raises:
        BadParameter: No δ is left for the theorem.

    >>> float(advanced_per_query(Privacy(1, "1e-6"), 100).epsilon)
    0.01837...
    """
    count = read_integer(queries, "queries", at_least=1)
    each = read_rational(delta_each, "delta_each", at_least=0, below=1)
    slack = total.delta - count * each
    if slack <= 0:
        raise BadParameter(
            "advanced composition needs a total delta above the sum of the queries' deltas",
            given=f"total delta = {total.delta}, {count} queries of {each}",
            fix="raise the total delta, lower delta_each, or use basic_per_query",
        )
    if total.epsilon <= 0:
        raise BadParameter("nothing can be divided", given="epsilon = 0", fix="pass a total with epsilon above zero")
    fits = largest_fitting(
        lambda epsilon: _formula_above(((epsilon, count),), slack) <= total.epsilon, at_most=total.epsilon
    )
    return Privacy(fits, each)


def corollary_per_query(total: Privacy, queries: NumberLike) -> Privacy:
    """ε/√(8k·ln(1/δ)) per query, rounded down: simple, and smaller than `advanced_per_query` allows.

    C-L2, Corollary 9, asks for ε < 1 only. Theorem 8 does not give it for every δ: near one the logarithm vanishes, and
    at ε = 0.99, δ = 9/10, k = 100 the theorem yields 1.72. For δ ≤ 1/2 it does: ε₀ ≤ ε/√(8k·ln 2) < 0.43, so
    kε₀(e^ε₀ − 1) ≤ 1.25·kε₀² < ε/4, and the other term is ε/2.

    Raises:
        BadParameter: ε is not in (0, 1) or δ is not in (0, 1/2].

    >>> float(corollary_per_query(Privacy("0.9", "1e-6"), 100).epsilon)
    0.0085...
    """
    count = read_integer(queries, "queries", at_least=1)
    if not (0 < total.epsilon < 1 and 0 < total.delta <= Fraction(1, 2)):
        raise BadParameter(
            "the corollary holds for epsilon in (0, 1) and delta in (0, 1/2]",
            given=total,
            fix="use advanced_per_query, which holds for all",
        )
    each = enclose(lambda: ball_of(total.epsilon) / (-of_fraction(total.delta).log() * 8 * count).sqrt()).lower
    return Privacy(each)


def _formula_above(epsilons: list[tuple[Exact, int]] | tuple[tuple[Exact, int], ...], slack: Fraction) -> Fraction:
    """√(2·ln(1/δ')·Σε²) + Σε(e^ε − 1), rounded up."""

    def formula() -> Ball:
        squares = drift = of_fraction(0)
        for epsilon, count in epsilons:
            ball = ball_of(epsilon)
            squares += count * ball * ball
            drift += count * ball * ball.expm1()
        return (-2 * of_fraction(slack).log() * squares).sqrt() + drift

    return enclose(formula).upper

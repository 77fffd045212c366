"""Sums Σ_R P(R)·α^R over R = 0, 1, 2, …, for polynomials P given by their values, as rational functions of α.

If P has degree at most m, then (1 − α)^(m+1)·Σ_R P(R)·α^R is the polynomial Σ_i h_i·α^i, i ≤ m, with
h_i = Σ_j (−1)^j·C(m+1, j)·P(i − j). For P(R) = #(R·K ∩ Z^d), K a polytope with whole corners, the h_i are whole numbers
and never negative (Stanley, Annals of Discrete Mathematics 6, 1980): they are the h*-vector of K.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import comb
from typing import Any

from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import Exact
from leastnoise.mechanisms.numeric.formulas import at_alpha

__all__ = ["numerator", "power_sum", "ratio_of_power_sums", "tail_sum"]

Number = int | Fraction


def numerator(values: Sequence[Any]) -> list[Any]:
    """The h_i of the polynomial with these values at 0, 1, …, m.

    >>> numerator([1, 9, 25])  # lattice points of the square [−R, R]²
    [1, 6, 1]
    """
    terms = len(values)
    return [sum((-1) ** j * comb(terms, j) * values[i - j] for j in range(i + 1)) for i in range(terms)]


def power_sum(values: Sequence[Number], rate: Exact, bits: int = 64) -> Enclosure:
    """Σ_R (P(R) − P(R − 1))·e^(−rate·R), P(−1) counting as 0, for the polynomial with these values at 0, 1, …, m.

    That is (1 − α)·Σ_R P(R)·α^R: the sum of α^steps over points of which P(R) need at most R steps.

    >>> from leastnoise.exact import ln
    >>> power_sum([1, 3], ln(2)), power_sum([1, 3, 5], ln(2))
    (Enclosure(3), Enclosure(3))
    """
    sums = _formula(values)
    return at_alpha(rate, lambda a: (1 - a) * sums(a), bits, power=len(values))


def tail_sum(values: Sequence[int], before: int, start: int, rate: Exact, bits: int = 64) -> Enclosure:
    """α^start·((1 − α)·Σ_j P(j)·α^j − before) for the polynomial with these values at 0, 1, …, m.

    >>> from leastnoise.exact import ln
    >>> tail_sum([5, 7], 3, 2, ln(2))  # 2/4 + 2/8 + …
    Enclosure(1)
    """
    sums = _formula(values)
    return at_alpha(rate, lambda a: a**start * ((1 - a) * sums(a) - before), bits, power=start + len(values))


def ratio_of_power_sums(top: Sequence[Number], bottom: Sequence[Number], rate: Exact, bits: int = 64) -> Enclosure:
    """The quotient of two such sums.

    >>> from leastnoise.exact import ln
    >>> ratio_of_power_sums([0, 1], [1, 1], ln(2))
    Enclosure(1)
    """
    above, below = _formula(top), _formula(bottom)
    return at_alpha(rate, lambda a: above(a) / below(a), bits, power=len(top) + len(bottom))


def _formula(values: Sequence[Number]) -> Callable[[Any], Any]:
    # Balls know whole numbers, not fractions: a common denominator goes outside.
    denominator = 1
    for value in values:
        denominator *= Fraction(denominator * value).denominator
    weights = numerator([int(value * denominator) for value in values])

    def formula(alpha: Any) -> Any:
        total = sum((weight * alpha**i for i, weight in enumerate(weights) if weight), start=0 * alpha)
        return total / ((1 - alpha) ** len(weights) * denominator)

    return formula

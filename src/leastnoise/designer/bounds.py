"""Lower bounds: what no ε-private mechanism can beat, as numbers, with statement and source.

>>> from leastnoise import bounds
>>> print(bounds.median_bound(0, 8, "ln(3)"))
2: every ε-private median of data in [0, 8] is off by at least this, expected, on some data (after T13 Proposition 3.4)

T13 is Tóthmérész, "Differential Privacy" (M.Sc. thesis, 2013), AS17 Aldà and Simon (CSCML 2017). Where
a source gives a bound up to a constant, or with a constant that could be better, the better number is given.

On paths, where AS17 (sections 4 and 5) is followed with its conditions corrected and γ = e^-ε, the loss is the distance
and the prior uniform. The optimum itself is known too (`path_optimum`); the bounds show how close the paper's argument
comes, and what the exponential mechanism loses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    at_alpha,
    ball_of,
    enclose,
    exp_enclosure,
    of_fraction,
    read_exact,
    read_integer,
    read_rational,
)
from leastnoise.mechanisms import lower_bounds
from leastnoise.mechanisms.lower_bounds import count_bound, least_worst_error, packing_bound
from leastnoise.mechanisms.rank.lattice import read_bounds, unbounded
from leastnoise.model.uniform_count import uniform_count

__all__ = [
    "LowerBound",
    "exponential_share",
    "exponential_upper_bound",
    "layered_path",
    "linear_map_bound",
    "long_path_bound",
    "median_bound",
    "min_cut_bound",
    "neighbours_bound",
    "path_bound",
    "path_optimum",
    "sorted_counts_bound",
    "sorting_bound",
    "vertex_cover_bound",
    "worst_path_bound",
]


@dataclass(frozen=True, repr=False)
class LowerBound(Enclosure):
    """An enclosed number with its meaning; its lower end is what may be relied on.

    Attributes:
        statement: What is bounded, by which formula, under which conditions.
        citation: Where it is proven.
    """

    statement: str
    citation: str

    @classmethod
    def of(cls, value: Enclosure, statement: str, citation: str) -> LowerBound:
        """Put words to a number."""
        return cls(value.lower, value.upper, statement, citation)

    def __repr__(self) -> str:
        """The number alone."""
        return super().__repr__().replace("Enclosure", "LowerBound", 1)

    def __str__(self) -> str:
        """Number, statement and source."""
        number = str(self.lower) if self.is_exact else f"≈ {float(self):.12g}"
        return f"{number}: {self.statement} ({self.citation})"


def min_cut_bound(nodes: NumberLike, epsilon: NumberLike) -> LowerBound:
    """What every ε-private cut adds to the size of the minimum cut, expected, on some graph; see the theory page.

    >>> min_cut_bound(3, "ln(2)")
    LowerBound(1/6)
    """
    return LowerBound.of(
        lower_bounds.min_cut_bound(nodes, epsilon),
        f"every ε-private mechanism on graphs of {nodes} nodes, where an edge comes or goes, returns a cut that is "
        "larger than the minimum by at least this, expected, on some graph",
        "after Gupta et al., SODA 2010, and T13 Theorem 4.2, with Harary graphs",
    )


def vertex_cover_bound(epsilon: NumberLike, nodes: NumberLike | None = None) -> LowerBound:
    """The ratio to the least vertex cover that every ε-private order of the nodes has, expected, on some graph.

    >>> vertex_cover_bound("ln(2)", nodes=3)
    LowerBound(7/6)
    """
    return LowerBound.of(
        lower_bounds.vertex_cover_bound(epsilon, nodes),
        "every ε-private order of the nodes, where an edge comes or goes, covers some graph with at least this many "
        "times the least number of nodes, expected",
        "after Gupta et al., SODA 2010, and T13 Theorem 4.3",
    )


def sorted_counts_bound(total: NumberLike, epsilon: NumberLike, longest: NumberLike | None = None) -> LowerBound:
    """What every ε-private sorted list of counts is off in ℓ₁, expected, where a record comes or goes.

    >>> sorted_counts_bound(1, "ln(3)")
    LowerBound(1/4)
    """
    return LowerBound.of(
        lower_bounds.sorted_counts_bound(total, epsilon, longest),
        f"every ε-private sorted list of counts of at most {total} records, one of which comes or goes, is off by at "
        "least this in ℓ₁, expected, on some data",
        "after AS17 Theorem 3",
    )


def sorting_bound(total: NumberLike, epsilon: NumberLike, longest: NumberLike | None = None) -> LowerBound:
    """AS17 Theorem 3 with constants: neighbours differ by at most 2 in ℓ₁, as where a record is replaced by another.

    The paper has Ω(N) for N ≤ 1 + 1/(4ε), Ω(√(N/ε)) for N ≥ 1/(2ε), which also needs N to be at most about r²/(4ε), and
    Ω(r/ε) for N ≥ r(r + 1)/(4ε) + r, all for ε ≤ 1/8. Here it is one formula for all of them, and for every ε.

    >>> sorting_bound(2, "ln(3)")
    LowerBound(1/2)
    """
    return LowerBound.of(
        lower_bounds.sorted_counts_bound(total, epsilon, longest, step=2),
        f"every ε-private mechanism for the sorted values of a vector of ℓ₁ norm at most {total}, whose neighbours are "
        "within 2 of it, is off by at least this in ℓ₁, expected, on some vector",
        "after AS17 Theorem 3",
    )


def linear_map_bound(dimension: NumberLike, volume: NumberLike, epsilon: NumberLike, loss: str = "l2") -> LowerBound:
    """T13 Theorem 4.1 with its constant: d/(d+1)·(d!/ε^d·Vol K/Vol B)^(1/d), K the image of the ℓ₁ ball.

    Args:
        dimension: d, how many numbers are answered.
        volume: Of K.
        epsilon: The privacy of databases at ℓ₁ distance one; they are vectors of real numbers, of any sign.
        loss: The norm of the error: "l1", "l2" or "l∞".

    >>> linear_map_bound(1, 2, 1, "l1")
    LowerBound(≈ 0.5)
    """
    d, size = read_integer(dimension, "dimension", at_least=1), read_rational(volume, "volume", above=0)
    return LowerBound.of(
        packing_bound(d, size, read_exact(epsilon, "epsilon", above=0), loss),
        f"every ε-private mechanism for a linear map to {d} numbers is off by at least this in {loss}, expected, on "
        "some database of real numbers",
        "Hardt and Talwar, STOC 2010, Theorem 3.4; T13 Theorem 4.1",
    )


def median_bound(lower: NumberLike, upper: NumberLike, epsilon: NumberLike, neighbours: str = "replace") -> LowerBound:
    """The median of data in [a, b]: (b − a)/(1 + e^ε) where a record changes, (b − a)/(2e^ε) where it comes or goes.

    T13 Proposition 3.4 has (b − a)/8 for ε < 1/2.

    Raises:
        UnboundedData: A bound is missing: then no mechanism has a bounded error (T13 Proposition 3.3).

    >>> median_bound(0, 8, "ln(3)")
    LowerBound(2)
    """
    distances = {"replace": 1, "add-remove": 2}
    if neighbours not in distances:
        raise BadParameter("neighbours must be one of two words", given=neighbours, fix='"replace" or "add-remove"')
    least, most = read_bounds(lower, upper)
    rate = read_exact(epsilon, "epsilon", above=0)
    return LowerBound.of(
        least_worst_error(most - least, rate, distances[neighbours]),
        f"every ε-private median of data in [{least}, {most}] is off by at least this, expected, on some data",
        "after T13 Proposition 3.4",
    )


def neighbours_bound(difference: NumberLike | None, epsilon: NumberLike, distance: NumberLike = 1) -> LowerBound:
    """If two databases d records apart have answers K apart, then K/(e^(⌊d/2⌋ε) + e^(⌈d/2⌉ε)) is lost at one of them.

    This is also the check whether there is anything to hope for. Where no bound on K exists there is no private
    mechanism with a bounded expected error (T13 Propositions 3.1 and 3.2), and the error says what to do about it.

    Args:
        difference: K; None or infinity if there is no bound.
        epsilon: The privacy.
        distance: d.

    Raises:
        UnboundedData: There is no bound on the difference.

    >>> neighbours_bound(100, "ln(4)")
    LowerBound(20)
    >>> neighbours_bound(None, 1)
    Traceback (most recent call last):
    leastnoise.errors.UnboundedData: the difference between answers to neighbours has no bound: one record could ...
    """
    if difference is None or (isinstance(difference, float | np.floating | Decimal) and math.isinf(difference)):
        raise unbounded("the difference between answers to neighbours has no bound", difference)
    apart = read_rational(difference, "difference", above=0)
    steps, rate = read_integer(distance, "distance", at_least=1), read_exact(epsilon, "epsilon", above=0)
    return LowerBound.of(
        least_worst_error(apart, rate, steps),
        f"every ε-private mechanism is off by at least this, expected, at one of two databases {steps} apart whose "
        f"answers are {apart} apart",
        "two-point bound; T13 Propositions 3.1 and 3.2 for answers arbitrarily far apart",
    )


_PAPER = "Aldà and Simon, CSCML 2017"
_SLACKS = [Fraction(k, 8) for k in range(9, 200)]


def path_optimum(nodes: NumberLike, epsilon: NumberLike) -> LowerBound:
    """The least expected distance on a path under the uniform prior, itself.

    >>> path_optimum(40, 1)
    LowerBound(≈ 0.817264811781135)
    """
    size, rate = read_integer(nodes, "nodes", at_least=2), read_exact(epsilon, "epsilon", above=0)
    return LowerBound.of(
        uniform_count(rate, size).loss,
        f"no ε-private mechanism on a path of {size} nodes has a smaller expected distance under the uniform prior",
        "Ghosh, Roughgarden and Sundararajan, SIAM J. Comput. 2012, Theorem 3.2",
    )


def worst_path_bound(nodes: NumberLike, epsilon: NumberLike) -> LowerBound:
    """What every mechanism on a path costs at its worst node: 2kγ/((1 + γ)(k + 1 − (k − 1)γ)) for k + 1 nodes.

    >>> worst_path_bound(2, "ln(3)")
    LowerBound(1/4)
    """
    size = read_integer(nodes, "nodes", at_least=2)
    return LowerBound.of(
        count_bound(size - 1, epsilon),
        f"every ε-private mechanism on a path of {size} nodes has at least this expected distance at some node",
        "Ghosh, Roughgarden and Sundararajan, SIAM J. Comput. 2012, with a prior that needs no remap",
    )


def layered_path(steps: NumberLike, epsilon: NumberLike) -> LowerBound:
    """Lemma 6: f(ℓ) = 2Σγ^d·d/(1 + 2Σγ^d) over d = 1..ℓ, the least mean distance to the middle of 2ℓ + 1 nodes.

    It grows with ℓ towards 2γ/(1 − γ²) and is above 2γ/(1 − γ²)·(1 − γ^ℓ − ℓγ^ℓ(1 − γ)).

    >>> layered_path(1, "ln(2)")
    LowerBound(1/2)
    """
    reach, rate = read_integer(steps, "steps", at_least=1), read_exact(epsilon, "epsilon", above=0)
    return LowerBound.of(
        at_alpha(rate, lambda a: _layered(a, reach), power=2 * reach + 4),
        f"the least mean distance to the middle of a path of {2 * reach + 1} nodes where each step away from it keeps "
        "at least e^-ε of the probability",
        f"{_PAPER}, Lemma 6",
    )


def path_bound(nodes: NumberLike, epsilon: NumberLike, slack: NumberLike | None = None) -> LowerBound:
    """Theorem 2: the optimum is at least min{1 − 4sℓ/K, 2γ/(1 + γ)·(1 − 1/s)(1 − (s + 1)e^-s)}/(1 − γ) on K nodes.

    Args:
        nodes: K, at least 4ℓ with ℓ = ⌈s/(1 − γ)⌉.
        epsilon: The privacy.
        slack: s ≥ 1; the best of many if left out.

    Raises:
        BadParameter: There are fewer nodes than the theorem needs.

    >>> path_bound(1000, 1)
    LowerBound(≈ 0.7...)
    """
    size, rate = read_integer(nodes, "nodes", at_least=2), read_exact(epsilon, "epsilon", above=0)
    given = None if slack is None else read_rational(slack, "slack", at_least=1)
    choices = [s for s in (_SLACKS if given is None else [given]) if size >= 4 * _reach(rate, s)]
    if not choices:
        raise _too_short(size, 4 * _reach(rate, _SLACKS[0] if given is None else given))
    s = max(choices, key=lambda s: min(map(float, _terms(rate, size, s))))
    first, second = _terms(rate, size, s)
    return LowerBound.of(
        Enclosure(min(first.lower, second.lower), min(first.upper, second.upper)),
        f"no ε-private mechanism on a path of {size} nodes has a smaller expected distance (s = {s})",
        f"{_PAPER}, Theorem 2",
    )


def long_path_bound(nodes: NumberLike, epsilon: NumberLike, slack: NumberLike) -> LowerBound:
    """Corollary 3: the optimum is at least 2γ/(1 − γ²)·(1 − 1/s)(1 − (s + 1)e^-s) if K ≥ 4s²ℓ, ℓ = ⌈s/(1 − γ)⌉, s ≥ 2.

    The paper has K ≥ s²ℓ(1 + γ)/γ, under which the first of Theorem 2's two terms can still be the smaller one, and a
    bracket that closes too late; with K ≥ 4s²ℓ the first term is at least 1 − 1/s, and the second is not more.

    >>> long_path_bound(10**4, "ln(2)", 3)
    LowerBound(≈ 0.711868201358706)
    """
    size, rate = read_integer(nodes, "nodes", at_least=2), read_exact(epsilon, "epsilon", above=0)
    s = read_rational(slack, "slack", at_least=2)
    least = math.ceil(4 * s * s * _reach(rate, s))
    if size < least:
        raise _too_short(size, least)
    return LowerBound.of(
        _terms(rate, size, s)[1],
        f"no ε-private mechanism on a path of at least {least} nodes has a smaller expected distance (s = {s})",
        f"{_PAPER}, Corollary 3, corrected",
    )


def exponential_upper_bound(epsilon: NumberLike) -> LowerBound:
    """Lemma 7: p(y|x) ∝ γ^d(x, y), which is only 2ε-private on a path, costs less than 2γ/(1 − γ²) there.

    >>> exponential_upper_bound("ln(3)")
    LowerBound(3/4)
    """
    rate = read_exact(epsilon, "epsilon", above=0)
    return LowerBound.of(
        at_alpha(rate, lambda a: 2 * a / (1 - a * a)),
        "the exponential mechanism with weights e^(−ε·d), which is 2ε-private, has a smaller expected loss on paths",
        f"{_PAPER}, Lemma 7",
    )


def exponential_share(nodes: NumberLike, epsilon: NumberLike, slack: NumberLike) -> LowerBound:
    """Corollary 4: optimum / loss of the ε-private exponential mechanism ≥ √γ/(1 + γ)·(1 − 1/s)(1 − (s + 1)e^-s).

    The conditions are those of Corollary 3; the mechanism has the weights e^(−ε·d/2).

    >>> exponential_share(10**4, "ln(2)", 3)
    LowerBound(≈ 0.251683416245906)
    """
    size, rate = read_integer(nodes, "nodes", at_least=2), read_exact(epsilon, "epsilon", above=0)
    s = read_rational(slack, "slack", at_least=2)
    bound = long_path_bound(size, epsilon, s)
    above = exponential_upper_bound(str(rate / 2))
    return LowerBound.of(
        Enclosure(bound.lower / above.upper, bound.upper / above.lower),
        f"the optimum is at least this share of what the exponential mechanism costs (s = {s})",
        f"{_PAPER}, Corollary 4, with the conditions of Corollary 3 corrected",
    )


def _layered(a: Any, reach: int) -> Any:
    """Σ d·a^d = a(1 − (ℓ + 1)a^ℓ + ℓ·a^(ℓ+1))/(1 − a)² and 1 + 2Σ a^d = (1 + a − 2a^(ℓ+1))/(1 − a)."""
    ends = a**reach
    return 2 * a * (1 - (reach + 1) * ends + reach * ends * a) / ((1 - a) * (1 + a - 2 * ends * a))


def _reach(rate: Exact, s: Fraction) -> int:
    """⌈s/(1 − γ)⌉, or one more where γ is too close to tell."""
    return math.ceil(s / (1 - exp_enclosure(-rate).upper))


def _terms(rate: Exact, size: int, s: Fraction) -> tuple[Enclosure, Enclosure]:
    """The two terms of Theorem 2, divided by 1 − γ."""
    share = 1 - 4 * s * _reach(rate, s) / Fraction(size)
    gamma = exp_enclosure(-rate, 128)
    ends = [share / (1 - gamma.lower), share / (1 - gamma.upper)]

    def second() -> Any:
        a, slack = (-ball_of(rate)).exp(), of_fraction(s)
        return 2 * a / (1 - a * a) * (1 - 1 / slack) * (1 - (slack + 1) * (-slack).exp())

    later = enclose(second) if s > 1 else Enclosure(Fraction(0), Fraction(0))
    return Enclosure(min(ends), max(ends)), later


def _too_short(size: int, least: int) -> BadParameter:
    return BadParameter(
        f"the path must have at least {least} nodes for this bound",
        given=size,
        fix="use path_optimum, which holds for every path",
    )

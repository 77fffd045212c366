"""Lower bounds for answers of other kinds: sorted counts, linear maps, cuts, covers, medians.

T13 is Tóthmérész, "Differential privacy and the exponential mechanism" (2013), AS17 Aldà and Simon (CSCML 2017). Where
a source gives a bound up to a constant, or with a constant that could be better, the better number is given.
"""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np

from leastnoise.designer.bounds.bound import Bound
from leastnoise.errors import BadParameter
from leastnoise.exact.parameters import NumberLike, read_exact, read_integer, read_rational
from leastnoise.mechanisms import lower_bounds
from leastnoise.mechanisms.lower_bounds import least_worst_error, packing_bound
from leastnoise.mechanisms.rank.lattice import read_bounds, unbounded

__all__ = [
    "linear_map_bound",
    "median_bound",
    "min_cut_bound",
    "neighbours_bound",
    "sorted_counts_bound",
    "sorting_bound",
    "vertex_cover_bound",
]


def min_cut_bound(nodes: NumberLike, epsilon: NumberLike) -> Bound:
    """What every ε-private cut adds to the size of the minimum cut, expected, on some graph; see the theory page.

    >>> min_cut_bound(3, "ln(2)")
    Bound(1/6)
    """
    return Bound.of(
        lower_bounds.min_cut_bound(nodes, epsilon),
        f"every ε-private mechanism on graphs of {nodes} nodes, where an edge comes or goes, returns a cut that is "
        "larger than the minimum by at least this, expected, on some graph",
        "after Gupta et al., SODA 2010, and T13 Theorem 4.2, with Harary graphs",
    )


def vertex_cover_bound(epsilon: NumberLike, nodes: NumberLike | None = None) -> Bound:
    """The ratio to the least vertex cover that every ε-private order of the nodes has, expected, on some graph.

    >>> vertex_cover_bound("ln(2)", nodes=3)
    Bound(7/6)
    """
    return Bound.of(
        lower_bounds.vertex_cover_bound(epsilon, nodes),
        "every ε-private order of the nodes, where an edge comes or goes, covers some graph with at least this many "
        "times the least number of nodes, expected",
        "after Gupta et al., SODA 2010, and T13 Theorem 4.3",
    )


def sorted_counts_bound(total: NumberLike, epsilon: NumberLike, longest: NumberLike | None = None) -> Bound:
    """What every ε-private sorted list of counts is off in ℓ₁, expected, where a record comes or goes.

    >>> sorted_counts_bound(1, "ln(3)")
    Bound(1/4)
    """
    return Bound.of(
        lower_bounds.sorted_counts_bound(total, epsilon, longest),
        f"every ε-private sorted list of counts of at most {total} records, one of which comes or goes, is off by at "
        "least this in ℓ₁, expected, on some data",
        "after AS17 Theorem 3",
    )


def sorting_bound(total: NumberLike, epsilon: NumberLike, longest: NumberLike | None = None) -> Bound:
    """AS17 Theorem 3 with constants: neighbours differ by at most 2 in ℓ₁, as where a record is replaced by another.

    The paper has Ω(N) for N ≤ 1 + 1/(4ε), Ω(√(N/ε)) for N ≥ 1/(2ε), which also needs N to be at most about r²/(4ε), and
    Ω(r/ε) for N ≥ r(r + 1)/(4ε) + r, all for ε ≤ 1/8. Here it is one formula for all of them, and for every ε.

    >>> sorting_bound(2, "ln(3)")
    Bound(1/2)
    """
    return Bound.of(
        lower_bounds.sorted_counts_bound(total, epsilon, longest, step=2),
        f"every ε-private mechanism for the sorted values of a vector of ℓ₁ norm at most {total}, whose neighbours are "
        "within 2 of it, is off by at least this in ℓ₁, expected, on some vector",
        "after AS17 Theorem 3",
    )


def linear_map_bound(dimension: NumberLike, volume: NumberLike, epsilon: NumberLike, loss: str = "l2") -> Bound:
    """T13 Theorem 4.1 with its constant: d/(d+1)·(d!/ε^d·Vol K/Vol B)^(1/d), K the image of the ℓ₁ ball.

    Args:
        dimension: d, how many numbers are answered.
        volume: Of K.
        epsilon: The privacy of databases at ℓ₁ distance one; they are vectors of real numbers, of any sign.
        loss: The norm of the error: "l1", "l2" or "l∞".

    >>> linear_map_bound(1, 2, 1, "l1")
    Bound(≈ 0.5)
    """
    d, size = read_integer(dimension, "dimension", at_least=1), read_rational(volume, "volume", above=0)
    return Bound.of(
        packing_bound(d, size, read_exact(epsilon, "epsilon", above=0), loss),
        f"every ε-private mechanism for a linear map to {d} numbers is off by at least this in {loss}, expected, on "
        "some database of real numbers",
        "Hardt and Talwar, STOC 2010, Theorem 3.4; T13 Theorem 4.1",
    )


def median_bound(lower: NumberLike, upper: NumberLike, epsilon: NumberLike, neighbours: str = "replace") -> Bound:
    """The median of data in [a, b]: (b − a)/(1 + e^ε) where a record changes, (b − a)/(2e^ε) where it comes or goes.

    T13 Proposition 3.4 has (b − a)/8 for ε < 1/2.

    Raises:
        UnboundedData: A bound is missing: then no mechanism has a bounded error (T13 Proposition 3.3).

    >>> median_bound(0, 8, "ln(3)")
    Bound(2)
    """
    distances = {"replace": 1, "add-remove": 2}
    if neighbours not in distances:
        raise BadParameter("neighbours must be one of two words", given=neighbours, fix='"replace" or "add-remove"')
    least, most = read_bounds(lower, upper)
    rate = read_exact(epsilon, "epsilon", above=0)
    return Bound.of(
        least_worst_error(most - least, rate, distances[neighbours]),
        f"every ε-private median of data in [{least}, {most}] is off by at least this, expected, on some data",
        "after T13 Proposition 3.4",
    )


def neighbours_bound(difference: NumberLike | None, epsilon: NumberLike, distance: NumberLike = 1) -> Bound:
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
    Bound(20)
    >>> neighbours_bound(None, 1)
    Traceback (most recent call last):
    leastnoise.errors.UnboundedData: the difference between answers to neighbours has no bound: one record could ...
    """
    if difference is None or (isinstance(difference, float | np.floating | Decimal) and math.isinf(difference)):
        raise unbounded("the difference between answers to neighbours has no bound", difference)
    apart = read_rational(difference, "difference", above=0)
    steps, rate = read_integer(distance, "distance", at_least=1), read_exact(epsilon, "epsilon", above=0)
    return Bound.of(
        least_worst_error(apart, rate, steps),
        f"every ε-private mechanism is off by at least this, expected, at one of two databases {steps} apart whose "
        f"answers are {apart} apart",
        "two-point bound; T13 Propositions 3.1 and 3.2 for answers arbitrarily far apart",
    )

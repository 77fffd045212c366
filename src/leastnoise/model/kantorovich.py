"""The Kantorovich (Wasserstein) distance between two hypers: the least work to move one's posteriors onto the other's.

W(Δ, Γ) = min Σ_ij T_ij·d(δ_i, γ_j) over plans T ≥ 0 whose rows sum to the weights of Δ and columns to those of Γ. By
Kantorovich and Rubinstein it bounds how far two channels can be apart in expected loss: if ℓ(w, ·) is κ-Lipschitz for
every guess then so is the least expected loss as a function of the posterior, in the earth mover's distance between
posteriors, and |$(π, A, ℓ) − $(π, B, ℓ)| ≤ κ·W (FMM 2021, section IV-D and Theorem 13).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TypeAlias

import numpy as np

from leastnoise.errors import BadChannel, BadParameter
from leastnoise.exact import Enclosure, NumberLike, Optimum, RationalMatrix, minimise, read_rational, sqrt_enclosure
from leastnoise.model.float_programs import guess_optimum
from leastnoise.model.hyper import Hyper
from leastnoise.model.labels import label_number

__all__ = ["GroundMetric", "earth_mover", "euclidean", "kantorovich", "total_variation"]

Exacts: TypeAlias = Sequence[Fraction]
GroundMetric: TypeAlias = Callable[[Exacts, Exacts], NumberLike | Enclosure]


def total_variation(first: Exacts, second: Exacts) -> Fraction:
    """½·Σ|p − q|: the largest difference in the probability of any set of inputs.

    >>> total_variation([Fraction(1), Fraction(0)], [Fraction(1, 3), Fraction(2, 3)])
    Fraction(2, 3)
    """
    return sum((abs(p - q) for p, q in zip(first, second, strict=True)), start=Fraction(0)) / 2


def euclidean(first: Exacts, second: Exacts) -> Enclosure:
    """√Σ(p − q)², the distance in the picture of posteriors as points."""
    return sqrt_enclosure(sum(((p - q) ** 2 for p, q in zip(first, second, strict=True)), start=Fraction(0)))


def earth_mover(inputs: Sequence[Hashable]) -> GroundMetric:
    """The Kantorovich distance on the line, for inputs that are numbers: the area between the distribution functions.

    >>> earth_mover([0, 0.5])([Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)])
    Fraction(1, 2)
    """
    numbers = [label_number(label, "input") for label in inputs]
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    gaps = [numbers[after] - numbers[before] for before, after in pairwise(order)]

    def distance(first: Exacts, second: Exacts) -> Fraction:
        heights = accumulate(first[place] - second[place] for place in order)
        return sum((abs(height) * gap for gap, height in zip(gaps, heights, strict=False)), start=Fraction(0))

    return distance


def kantorovich(first: Hyper, second: Hyper, metric: GroundMetric = total_variation) -> Enclosure:
    """The Kantorovich distance between two hypers of exact channels, exact where the ground metric is rational.

    Args:
        first: A hyper.
        second: A hyper over the same inputs.
        metric: The distance between two posteriors: `total_variation`, `euclidean`, `earth_mover(first.inputs)`, or
            a function of your own.

    Raises:
        BadChannel: The hypers have different inputs, or floats.

    >>> from leastnoise.model.channel import Channel
    >>> prior = [0.5, 0.5]
    >>> kantorovich(Channel.identity(2).hyper(prior), Channel.uniform(2, 2).hyper(prior))
    Enclosure(1/2)
    """
    _check(first, second)
    costs = [[_distance(metric(p, q)) for q in second.posteriors] for p in first.posteriors]
    upper = [cost.upper for row in costs for cost in row]
    slack = max(cost.width for row in costs for cost in row)
    height, width = len(first), len(second)
    rows = [[int(i == k) for i in range(height) for _ in range(width)] for k in range(height)]
    columns = [[int(j == k) for _ in range(height) for j in range(width)] for k in range(width)]
    right = [*first.weights, *second.weights]
    answer = minimise(upper, RationalMatrix([*rows, *columns]), right, _likely_columns(upper, rows + columns, right))
    if not isinstance(answer, Optimum):
        raise BadChannel(
            "the weights of the two hypers have different sums",
            given=[sum(first.weights), sum(second.weights)],
            fix="use channels whose rows sum to exactly one",
        )
    # Plans move a mass of one, so the optimum of the upper costs is above the truth by at most the widest enclosure.
    return Enclosure(max(Fraction(0), answer.cost - slack), answer.cost)


def _check(first: Hyper, second: Hyper) -> None:
    if first.inputs != second.inputs:
        raise BadChannel(
            "the two hypers must be over the same inputs", given=[first.inputs, second.inputs], fix="use `restrict`"
        )
    for hyper in (first, second):
        if not all(isinstance(weight, Fraction) for weight in hyper.weights):
            raise BadChannel(
                "the distance is computed exactly, and needs exact channels",
                given="a hyper of floats",
                fix="use channel.to_exact(normalise=True).hyper(prior)",
            )


def _distance(value: NumberLike | Enclosure) -> Enclosure:
    if not isinstance(value, Enclosure):
        exact = read_rational(value, "distance")
        value = Enclosure(exact, exact)
    if value.lower < 0:
        raise BadParameter("a distance between posteriors must be at least 0", given=value, fix="correct the metric")
    return value


def _likely_columns(cost: Exacts, rows: Sequence[Sequence[int]], right: Exacts) -> list[int]:
    """The columns in the order in which a float solver would have them in the basis: used ones, then cheap ones."""
    matrix = np.array(rows, dtype=np.float64)
    floats = np.array([float(c) for c in cost])
    masses = np.array([float(b) for b in right])
    guess = guess_optimum(floats, matrix, masses, masses)
    if guess is None:
        return []
    reduced = floats - guess.prices @ matrix
    return [int(place) for place in np.lexsort((reduced, -guess.point))]

"""Records between two points of the grid: the whole exact law on all small databases, and all their neighbours."""

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from leastnoise.mechanisms.rank import Quantile, QuantileBound, SeveralQuantiles
from leastnoise.mechanisms.rank.tally import Tally
from mechanisms.rank.databases import is_quantile

POINTS = 3
PLACES = [(0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)]  # a point, and below it, at it or above it
DATABASES = [d for size in range(4) for d in combinations_with_replacement(PLACES, size)]
NEIGHBOURS = [(d[:i] + d[i + 1 :], d) for d in DATABASES for i in range(len(d)) if i == 0 or d[i] != d[i - 1]]
EPSILON = "2*ln(3)"
MECHANISMS = {
    "median": Quantile(EPSILON, range(POINTS)),
    "median by flips": Quantile(EPSILON, range(POINTS), method="permute and flip"),
    "lower third": Quantile(EPSILON, range(POINTS), "1/3", method="permute and flip"),
    "minimum": Quantile(EPSILON, range(POINTS), 0, method="permute and flip"),
    "maximum": Quantile(EPSILON, range(POINTS), 1),
    "lower end": QuantileBound(EPSILON, range(POINTS), miss="1/3"),
    "lower end by flips": QuantileBound(EPSILON, range(POINTS), miss="1/3", method="permute and flip"),
    "upper end": QuantileBound(EPSILON, range(POINTS), "1/3", side="upper", miss="1/3"),
    "upper end by flips": QuantileBound(EPSILON, range(POINTS), side="upper", miss="1/2", method="permute and flip"),
}


def counted(database):
    table = np.zeros((POINTS, 3), dtype=np.int64)
    for place in database:
        table[place] += 1
    return Tally(table)


def loss(mechanism, outputs):
    """The largest exact ratio of the chances of an output on two neighbours."""
    laws = {}
    for database in DATABASES:
        masses = [mechanism.pmf(output, counted(database)) for output in outputs]
        assert all(mass.is_exact for mass in masses)
        assert sum(mass.lower for mass in masses) == 1
        laws[database] = [mass.lower for mass in masses]
    pairs = [pair for less, more in NEIGHBOURS for pair in zip(laws[less], laws[more], strict=True)]
    assert all((p > 0) == (q > 0) for p, q in pairs)
    return max(max(p / q, q / p) for p, q in pairs if p)


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_one_of_the_points_is_private(name):
    assert 3 < loss(MECHANISMS[name], range(POINTS)) <= 9


@pytest.mark.slow
@pytest.mark.parametrize("method", ["joint", "recursive", "separate", "permute and flip"])
@pytest.mark.parametrize("levels", [("1/3", "2/3"), ("0", "1/2"), ("0", "1")], ids=str)
def test_several_points_are_private(method, levels):
    shares = 2 if method != "joint" else 1
    several = SeveralQuantiles(f"{2 * shares}*ln(2)", levels, 0, POINTS - 1, step=1, method=method, jitter=1)
    outputs = [(low, high) for low in range(POINTS) for high in range(POINTS)]
    assert Fraction(4, 3) < loss(several, outputs) <= 4**shares


@pytest.mark.parametrize("level", ["1/2", "1/3"])
def test_where_a_point_is_right_by_true_ranks_no_other_gains_from_a_score_below_zero(level):
    """Then a score is the lesser of two numbers of changes that are not below zero, at every point that is wrong."""
    law, below_zero = Quantile(EPSILON, range(POINTS), level).law, 0
    for database in DATABASES:
        ranks = [3 * point + side for point, side in database]
        right = [is_quantile(3 * point + 1, ranks, Fraction(level)) for point in range(POINTS)]
        runs = law.all_runs(counted(database).cells())
        scores = np.repeat(-runs.exponents, runs.lengths)
        if any(right):
            assert all((score <= 0) == so for score, so in zip(scores.tolist(), right, strict=True))
            below_zero += (scores < 0).any()
    assert below_zero > 10


def test_ranks_of_nearest_points_would_miss_the_lower_end():
    """Three of five lie just below the upper point: the ends count them at their true sides."""
    tally = Tally([(0, 0, 0), (0, 2, 0), (3, 0, 0)])
    low = QuantileBound("40*ln(3)", range(POINTS), miss="1/1000")
    nearest = Quantile("40*ln(3)", range(POINTS))
    assert low.pmf(2, tally).upper < Fraction(1, 10**6)
    assert nearest.pmf(2, tally).lower > Fraction(1, 3)

"""The ends of intervals: on the right side as often as promised, on every database."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from leastnoise.exact import SeededSource
from leastnoise.mechanisms.rank import Quantile, QuantileBound, QuantileTable
from leastnoise.mechanisms.rank.tally import Tally
from support.statistics import ALPHA

GRID = list(range(101))
SHAPES = {
    "uniform": lambda dice, n: dice.integers(0, 101, n),
    "narrow": lambda dice, n: np.clip(np.rint(dice.normal(50, 2, n)), 0, 100),
    "skewed": lambda dice, n: np.clip(np.rint(dice.lognormal(2, 1, n)), 0, 100),
    "two values": lambda dice, n: dice.choice([10, 90], n),
    "one value": lambda _, n: np.full(n, 100),
    "ends": lambda _, n: np.where(np.arange(n) < n // 2, 0, 100),
    "just below a point": lambda _, n: np.full(n, 50.7),
    "just above a point": lambda _, n: np.full(n, 50.3),
    "close together": lambda dice, n: dice.normal(50.2, 0.2, n),
}


def quantiles_of(values, level):
    """The least and the largest number that may be called the quantile."""
    ordered, exact = np.sort(values), level * len(values)
    return ordered[-(-exact.numerator // exact.denominator) - 1], ordered[min(int(exact), len(values) - 1)]


def misses(values, level, method, epsilon="1/2", size=300, margin=True):
    """How often each end is on the wrong side."""
    found = []
    for side, true in zip(("lower", "upper"), quantiles_of(values, level), strict=True):
        bound = QuantileBound(epsilon, GRID, level, side=side, miss="1/20", method=method)
        mechanism = bound if margin else Quantile(epsilon, GRID, level, method=method)
        drawn = mechanism.draw(values, size=size, source=SeededSource(5))
        found.append(int((drawn > true).sum() if side == "lower" else (drawn < true).sum()))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("method", ["exponential", "permute and flip"])
@pytest.mark.parametrize("shape", SHAPES)
def test_ends_are_on_their_side_whatever_the_records(shape, method):
    dice = np.random.default_rng(3)
    for records in (1, 2, 5, 30, 1000):
        values = SHAPES[shape](dice, records)
        for level in (Fraction(1, 2), Fraction(1, 10), Fraction(9, 10)):
            for wrong in misses(values, level, method):
                assert binom.sf(wrong - 1, 300, 0.05) >= ALPHA, (records, level)


def test_a_quantile_without_margin_would_be_caught():
    values = np.random.default_rng(4).integers(0, 101, 1000)
    wrong = misses(values, Fraction(1, 2), "exponential", epsilon="1/50", margin=False)
    assert max(binom.sf(count - 1, 300, 0.05) for count in wrong) < ALPHA


def test_with_many_records_an_interval_is_narrow_and_with_few_it_is_everything():
    many = np.random.default_rng(5).integers(0, 101, 100_000)
    for side, low, high in (("lower", 48, 51), ("upper", 49, 52)):
        bound = QuantileBound(1, GRID, side=side, method="permute and flip")
        drawn = bound.draw(many, size=200, source=SeededSource(6))
        assert (drawn >= low).mean() > 0.9 if side == "lower" else (drawn <= high).mean() > 0.9
        few = bound.draw([50], size=200, source=SeededSource(6))
        assert (few == (0 if side == "lower" else 100)).mean() > 0.9


def test_a_table_draws_each_group_from_its_own_counts():
    table = QuantileTable((Quantile(20, range(4)), QuantileBound(20, range(4))), groups=3, touched=2)
    counts = np.array([[10**12, 0, 0, 0], [0, 0, 10**12, 0], [0, 0, 0, 10**12]])
    assert table.release(counts)[:, 0].tolist() == [0, 2, 3]
    assert table.draw(counts, size=5, source=SeededSource(1)).shape == (5, 3, 2)
    assert len(table.event.events) == 4
    one = Quantile(20, range(4)).pmf(2, Tally(counts[1]))
    medians = QuantileTable((Quantile(20, range(4)),), groups=2)
    both = medians.pmf(((2,), (2,)), counts[[1, 1]])
    assert (both.lower, both.upper) == (one.lower**2, one.upper**2)
    assert medians.pmf(((2,),), counts[:2]).upper == 0

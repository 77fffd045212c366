"""Permute-and-flip on ranks, minima and maxima, and the reference by which a law is chosen."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from benchmarks.errors_quantiles import SHAPES, rank_errors
from leastnoise.errors import TooLarge
from leastnoise.exact import Enclosure, SeededSource, ln, permute_and_flip_pmf
from leastnoise.mechanisms.rank import IntervalQuantile, Quantile
from leastnoise.mechanisms.rank.rank_law import RankLaw, RankRule
from leastnoise.mechanisms.rank.tally import PlaceCounts, Tally
from leastnoise.model.events import BoundedRange, Pure
from mechanisms.rank.databases import neighbours
from support.statistics import fits

HALF = Fraction(1, 2)


def test_flips_are_never_worse_than_the_exponential_law():
    """By the exact laws, on databases of every kind: ties, gaps, few records, none."""
    for counts in ([0, 0, 0, 0], [1, 0, 0, 0], [3, 0, 0, 4], [1, 5, 1, 1], [0, 9, 0, 0], [7, 1, 0, 30]):
        cells = Tally(counts).cells()
        for level in (HALF, Fraction(1, 3), Fraction(0), Fraction(1)):
            rule = RankRule(level, exchange=False)
            means = []
            for flips in (True, False):
                law = RankLaw(rule, Fraction(1, 3), 3, flips)
                runs = law.all_runs(cells)
                gaps = np.repeat(-runs.exponents, runs.lengths)
                means.append(sum(law.pmf(place, cells).upper * max(int(gaps[place]), 0) for place in range(4)))
            assert means[0] <= means[1] + Fraction(1, 2**40)


@pytest.mark.parametrize("exchange", [False, True])
@pytest.mark.parametrize("flips", [False, True])
def test_a_score_below_zero_makes_no_rank_error_more_likely(flips, exchange):
    """By the exact laws, beside those of max(0, score): all databases of at most five records on four points."""
    rate, better = ln(2), 0
    for level in (HALF, Fraction(1, 3), Fraction(9, 10)):
        law = RankLaw(RankRule(level, exchange), rate, 3, flips)
        for counts in itertools.product(range(6), repeat=4):
            if sum(counts) > 5:
                continue
            cells = Tally(counts).cells()
            runs = law.all_runs(cells)
            scores = np.repeat(-runs.exponents, runs.lengths)
            wrong, kept = np.maximum(scores, 0), -np.maximum(scores, 0)
            before = [_mass(place, kept, rate, flips) for place in range(4)]
            after = [law.pmf(place, cells) for place in range(4)]
            assert all(p.is_exact for p in after)
            for limit in set(wrong.tolist()):
                one, two = (sum(p.lower for p, w in zip(ps, wrong, strict=True) if w > limit) for ps in (before, after))
                assert two <= one, (level, counts, limit)
                better += two < one
    assert better > 100


def _mass(place, exponents, rate, flips):
    if flips:
        return permute_and_flip_pmf(place, exponents, rate=rate)
    weights = [Fraction(2) ** int(exponent) for exponent in exponents]
    return Enclosure(weights[place] / sum(weights), weights[place] / sum(weights))


@pytest.mark.parametrize("level", ["1/2", 0, 1])
def test_draws_fit_the_law(level):
    median = Quantile(1, range(8), level, method="permute and flip")
    values = [0, 1, 1, 3, 3, 3, 6]
    drawn = median.draw(values, size=6000, source=SeededSource(3))
    masses = [float(median.pmf(point, values).lower) for point in range(8)]
    assert fits(drawn, lambda x: sum(masses[: x + 1]), 0, 7)
    if median.level == HALF:  # the laws of a minimum of seven records hardly differ
        other = [float(Quantile(1, range(8), level).pmf(point, values).lower) for point in range(8)]
        assert not fits(drawn, lambda x: sum(other[: x + 1]), 0, 7)


def test_what_each_law_costs_and_how_many_points_it_takes():
    assert Quantile(1, range(3)).event == BoundedRange(1)
    assert type(Quantile(1, range(3), method="permute and flip").event) is Pure
    with pytest.raises(TooLarge, match="permute-and-flip"):
        IntervalQuantile(1, 0, 1, step=Fraction(1, 1 << 22), method="permute and flip")


@pytest.mark.parametrize("rows", [40, 1000])
@pytest.mark.parametrize("flips", [True, False])
def test_the_reference_is_the_law_on_evenly_spread_rows(flips, rows):
    law = Quantile("1/5", range(21), method="permute and flip" if flips else "exponential")
    counts = np.diff(np.arange(22) * rows // 21)
    exact = 0.0
    for point in range(21):
        below, above = counts[:point].sum(), counts[point + 1 :].sum()
        exact += float(law.pmf(point, Tally(counts)).lower) * max(0, below - rows / 2, above - rows / 2)
    assert law.reference_error(rows) == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize("method", ["exponential", "permute and flip"])
def test_a_minimum_is_near_the_lowest_records_and_seldom_beyond(method):
    values = np.random.default_rng(1).integers(300, 700, 2000)
    for level in (0, 1):
        asked = Quantile(1, range(1001), level, method=method)
        drawn = asked.draw(values, size=500, source=SeededSource(2))
        beyond = (drawn < values.min()) if level == 0 else (drawn > values.max())
        assert beyond.mean() < 0.1
        crossed = [(values < x).sum() if level == 0 else (values > x).sum() for x in drawn]
        assert np.mean(crossed) <= float(asked.error().expected.upper)
        assert (np.array(crossed) <= float(asked.error().quantiles[Fraction(19, 20)])).mean() >= 0.95
    assert 0 <= Quantile(1, range(1001), 0, method=method).release([]) <= 1000


def test_a_minimum_of_few_records_ends_at_their_median():
    """With a margin of 100 and four records, 1 2 3 4, nothing stands against 2 and 3."""
    below, above = np.array([0, 0, 1, 2, 3, 4]), np.array([4, 3, 2, 1, 0, 0])
    for level, margin in ((Fraction(0), 100), (Fraction(1), -100)):
        assert RankRule(level, False, margin).changes(below, above, 4).tolist() == [2, 1, 0, 0, 1, 2]


@pytest.mark.parametrize("exchange", [False, True])
def test_a_neighbour_changes_every_number_of_changes_by_at_most_one(exchange):
    """All databases of at most five records on three points, with margins and an anchor."""
    for level, margin in itertools.product((Fraction(0), Fraction(1, 3), HALF, Fraction(1)), (-7, -2, -1, 0, 1, 3)):
        for anchor in (None, (0, 2)):
            law = RankLaw(RankRule(level, exchange, margin), Fraction(1), 2, anchor=anchor)
            found = {}
            for size in range(6):
                for database in itertools.combinations_with_replacement(range(3), size):
                    runs = law.all_runs(PlaceCounts.of(np.array(database, dtype=np.int64)))
                    found[database] = np.repeat(runs.exponents, runs.lengths)
            for database, changes in found.items():
                for other in neighbours(database, range(3), exchange=exchange) & found.keys():
                    assert np.abs(changes - found[other]).max() <= 1, (level, margin, database, other)


def test_the_anchor_needs_no_more_changes_than_it_may():
    law = RankLaw(RankRule(HALF, exchange=False), Fraction(1, 2), 9, anchor=(4, 2))
    cells = PlaceCounts.of(np.array([9] * 20))
    runs = law.all_runs(cells)
    changes = np.repeat(-runs.exponents, runs.lengths)
    assert changes.tolist() == [20] * 4 + [2] + [20] * 4 + [-20]
    assert runs.starts[runs.lengths > 0].tolist() == [0, 4, 5, 9]


def test_the_median_is_better_by_flips_where_few_points_are_good():
    """What the plan promises: on shapes with ties the rank error is clearly smaller."""
    dice = np.random.default_rng(2)
    values = np.clip(np.rint(SHAPES["lognormal"](dice, 1000)), 0, 200)
    errors = [
        rank_errors(
            Quantile("1/10", range(201), method=method).draw(values, size=2000, source=SeededSource(4)), values, [HALF]
        ).mean()
        for method in ("permute and flip", "exponential")
    ]
    assert errors[0] < errors[1]

"""The law of private quantiles: changes by searching databases, runs by counting, the reach that never shows."""

from fractions import Fraction
from itertools import combinations_with_replacement
from math import log

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from leastnoise.checker import check
from leastnoise.exact import SeededSource, exact_exp, ln
from leastnoise.mechanisms.rank import IntervalQuantile, Quantile
from leastnoise.mechanisms.rank.rank_law import RankLaw, RankRule
from leastnoise.mechanisms.rank.tally import PlaceCounts
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import path
from mechanisms.rank.databases import distance_from_quantile, distance_to_quantile
from support.sources import ScriptedSource

LEVELS = [Fraction(1, 2), Fraction(1, 4), Fraction(2, 3), Fraction(1, 10), Fraction(3, 5)]
POINTS = range(3)


def counted(rule, point, database):
    below, above = (np.array([n]) for n in (sum(x < point for x in database), sum(x > point for x in database)))
    return int(rule.changes(below, above, len(database))[0])


@pytest.mark.parametrize("level", LEVELS)
def test_with_a_public_number_of_records_changes_are_the_least_number_of_exchanges(level):
    rule = RankRule(level, exchange=True)
    for size in range(5):
        for database in combinations_with_replacement(POINTS, size):
            for point in POINTS:
                least = distance_to_quantile(point, database, level, POINTS, exchange=True)
                assert max(counted(rule, point, database), 0) == least


@pytest.mark.parametrize("exchange", [True, False])
@pytest.mark.parametrize("level", LEVELS)
def test_below_zero_they_are_how_many_may_change_before_a_point_is_no_quantile(level, exchange):
    """By searching all databases around, on points that go on at both sides; exact but for other levels' units."""
    rule, gaps = RankRule(level, exchange), set()
    for size in range(1, 5):
        for database in combinations_with_replacement(POINTS, size):
            for point in POINTS:
                changes = counted(rule, point, database)
                if changes <= 0:
                    around = range(-1, 4)
                    safe = distance_from_quantile(point, database, level, around, exchange=exchange) - 1
                    gaps.add(safe + changes)
    assert gaps <= ({0} if exchange or level == Fraction(1, 2) else {0, 1, 2})
    assert 0 in gaps


@pytest.mark.parametrize("level", LEVELS)
def test_otherwise_they_are_at_most_one_less_than_the_records_to_add_or_remove_and_right_for_the_median(level):
    rule = RankRule(level, exchange=False)
    gaps = {
        distance_to_quantile(point, database, level, POINTS, exchange=False) - max(counted(rule, point, database), 0)
        for size in range(5)
        for database in combinations_with_replacement(POINTS, size)
        for point in POINTS
    }
    assert gaps <= ({0} if level == Fraction(1, 2) else {0, 1})


levels = st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50)
databases = st.integers(0, 8).flatmap(lambda top: st.tuples(st.just(top), st.lists(st.integers(0, top), max_size=12)))


@pytest.mark.slow
@given(levels, st.booleans(), databases, st.integers(0, 8))
def test_a_neighbour_changes_no_count_by_more_than_one(level, exchange, case, added):
    top, database = case
    rule, added = RankRule(level, exchange), min(added, top)
    if exchange and not database:
        return
    other = [*database[1:], added] if exchange else [*database, added]
    for point in range(top + 1):
        assert abs(counted(rule, point, database) - counted(rule, point, other)) <= 1


def scored(law, database):
    """The score of every place, word for word; records are thirds of places, k is nearest to (k + 1) // 3."""
    found = []
    for point in range(law.last + 1):
        nearest = counted(law.rule, point, [(x + 1) // 3 for x in database])
        found.append(min(counted(law.rule, 3 * point, database), nearest + law.spare))
    return found


def thirds(database):
    """The same records as places and sides."""
    array = np.array(database, dtype=np.int64)
    places = (array + 1) // 3
    return PlaceCounts.of(places, array - 3 * places)


sided = st.integers(0, 6).flatmap(lambda top: st.tuples(st.just(top), st.lists(st.integers(0, 3 * top), max_size=14)))


def spread_out(runs, top):
    found = np.full(top + 1, -1)
    for start, length, exponent in zip(runs.starts, runs.lengths, runs.exponents, strict=True):
        assert (found[start : start + length] == -1).all()
        found[start : start + length] = -exponent
    return found.tolist()


@pytest.mark.slow
@given(levels, st.booleans(), sided, st.sampled_from([Fraction(1, 2), Fraction(2), Fraction(5)]))
def test_the_runs_are_the_points_by_their_scores(level, exchange, case, rate):
    top, database = case
    law = RankLaw(RankRule(level, exchange), rate, top)
    assert spread_out(law.all_runs(thirds(database)), top) == scored(law, database)


@example(Fraction(1, 4), True, (1, [0, 3, 3]), 1)  # what lies beyond is one change away, and has a share
@given(levels, st.booleans(), sided, st.integers(0, 12))
def test_near_runs_are_a_stretch_of_all_runs_beside_which_the_rest_has_no_share(level, exchange, case, near):
    top, database = case
    law = RankLaw(RankRule(level, exchange), Fraction(40), top)
    found = law.near_runs(thirds(database), near) if database else None
    if found is not None:
        runs, bottom, up = found
        wanted = scored(law, database)
        assert spread_out(runs, top)[bottom + 1 : up] == wanted[bottom + 1 : up]
        beyond = wanted[: bottom + 1] + wanted[up:]
        assert not beyond or min(beyond) - min(wanted[bottom + 1 : up]) >= law.reach


@given(levels, st.booleans(), sided, st.integers(0, 18))
def test_a_neighbour_changes_no_score_by_more_than_one(level, exchange, case, added):
    top, database = case
    if exchange and not database:
        return
    law, added = RankLaw(RankRule(level, exchange), Fraction(2), top), min(added, 3 * top)
    other = [*database[1:], added] if exchange else [*database, added]
    scores = [spread_out(law.all_runs(thirds(each)), top) for each in (database, other)]
    assert max(abs(one - two) for one, two in zip(*scores, strict=True)) <= 1


def test_records_between_two_points_find_the_nearer_one():
    """By true ranks alone all points would be alike."""
    for method in ("exponential", "permute and flip"):
        median = Quantile(1, range(0, 2001, 10), method=method)
        drawn = median.draw([41] * 60, size=300, source=SeededSource(1))
        assert (drawn == 40).mean() > 0.98


@pytest.mark.slow
@given(levels, st.booleans(), databases)
def test_the_mass_is_that_of_the_formula(level, exchange, case):
    top, database = case
    rule, rate = RankRule(level, exchange), ln(2)
    weights = [exact_exp(-rate * counted(rule, point, database)) for point in range(top + 1)]
    law = RankLaw(rule, rate, top)
    places = np.sort(np.array(database, dtype=np.int64))
    assert [law.pmf(point, places).lower for point in range(top + 1)] == [w / sum(weights) for w in weights]


@pytest.mark.parametrize("exchange", [True, False])
def test_what_lies_beyond_the_reach_has_less_than_its_share(exchange):
    for top, rate in [(1, Fraction(3)), (10**6, Fraction(1, 10)), (100, ln(3))]:
        law = RankLaw(RankRule(Fraction(1, 2), exchange), rate, top)
        assert log(top + 1) - float(rate) * (law.reach + 1) < -64 * log(2)
        assert log(top + 1) - float(rate) * law.reach > -66 * log(2) - float(rate)


def test_a_draw_beyond_the_reach_looks_at_all_records():
    """The first coin is set to all ones: only then is it open, and the next bits decide for the rest of the runs."""
    places = np.arange(1000, dtype=np.int64)
    law = RankLaw(RankRule(Fraction(1, 2), exchange=True), Fraction(1), 999)
    assert law.reach < 100
    asked = []

    class Watched(PlaceCounts):
        def selected(self, low, high):
            asked.append((low, high))
            return super().selected(low, high)

        def cells(self):
            asked.append("all")
            return self

    records = Watched(places, np.ones(1000, dtype=np.int64))
    near = law.draw(records, 50, SeededSource(1))
    assert asked == [(500 - 2 * law.reach, 501 + 2 * law.reach)]
    assert np.abs(near - 500).max() < 100
    ones = [2**64 - 1]
    far = law.draw(records, 1, ScriptedSource(ones, *[[255] * 4] * 4))
    assert asked[-1] == "all"
    assert abs(far[0] - 500) > 2 * law.reach


def test_the_factor_two_can_not_be_spared():
    """Nearly all weight gains a step while one point loses one: the tight ε tends to ε as the grid grows."""
    epsilon, found = 2 * ln(3), []
    for points in (3, 30, 300):
        # Two records: the lower one moves to the far end, and all between it and the other become medians.
        mechanism = Quantile(epsilon, range(points), records=2)
        rows = [[mechanism.pmf(r, database).lower for r in range(points)] for database in ([0, 1], [1, points - 1])]
        found.append(float(check(Channel(rows), path(2), epsilon).tight_epsilon))
    assert found[0] < found[1] < found[2] < float(epsilon)
    assert found[2] > 0.97 * float(epsilon)


def test_a_median_of_many_records_lies_within_a_hundred_ranks():
    rng = np.random.default_rng(1)
    values = rng.lognormal(10, 1, 500_000)
    mechanism = IntervalQuantile(1, 0, 10**6)
    released = mechanism.draw(values, size=200, source=SeededSource(2))
    ranks = np.searchsorted(np.sort(values), released)
    assert np.abs(ranks - 250_000).max() < 100


@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(123_456_789, 10**9)])
@pytest.mark.parametrize("exchange", [True, False])
def test_any_number_of_records_is_answered_by_the_same_formula(level, exchange):
    """Counts far beyond 10^9: changes by Python's integers, draws by no more runs than twice the places."""
    rule = RankRule(level, exchange)
    law = RankLaw(rule, ln(2) / 10**17, 3)
    for counts in ([10**9, 1, 0, 0], [10**9, 0, 0, 2], [2**60, 5, 2**60, 2**61], [1, 0, 0, 2**62]):
        cells = PlaceCounts(np.flatnonzero(counts), np.array([count for count in counts if count]))
        runs, records = law.all_runs(cells), sum(counts)
        for start, length, exponent in zip(runs.starts, runs.lengths, runs.exponents, strict=True):
            for point in range(start, start + length):
                below, above = sum(counts[:point]), sum(counts[point + 1 :])
                excess = max(below - level * records, above - (1 - level) * records)
                assert -exponent == -(-excess // (1 if exchange else max(level, 1 - level)))
        assert set(law.draw(cells, 20, SeededSource(1)).tolist()) <= {0, 1, 2, 3}
        for near in (0, 1, 7):
            assert law.near_runs(cells, near) is None  # at this rate every place has a share

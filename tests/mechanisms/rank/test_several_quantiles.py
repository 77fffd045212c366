"""Several quantiles: rounds, shares of ε, ties, and the method that is chosen."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from benchmarks.errors_quantiles import rank_errors, several_rows
from leastnoise.checker import check
from leastnoise.errors import TooLarge
from leastnoise.exact import SeededSource, ln
from leastnoise.mechanisms.rank import SeveralQuantiles
from leastnoise.mechanisms.rank.joint_ranks import JointRanks
from leastnoise.mechanisms.rank.quantile import growing_databases
from leastnoise.mechanisms.rank.splitting import Splitting
from leastnoise.mechanisms.rank.tally import PlaceCounts, Tally
from leastnoise.model.channel import Channel
from leastnoise.model.events import BoundedRange, Composed, Grouped, Pure
from leastnoise.model.graphs import hamming

DECILES = [Fraction(k, 10) for k in range(1, 10)]


@pytest.mark.parametrize("count", range(1, 34))
def test_every_level_is_split_once_and_a_record_takes_part_in_one_split_of_each_round(count):
    levels = tuple(Fraction(k, count + 1) for k in range(1, count + 1))
    splitting = Splitting(levels, Fraction(1), 10)
    splits, depth = splitting.splits(), {-1: 0, count: 0}
    assert sorted(split.middle for split in splits) == list(range(count))
    for split in splits:
        assert split.low < split.middle < split.high
        assert 0 < split.level < 1
        depth[split.middle] = 1 + max(depth[split.low], depth[split.high])
    assert max(depth.values()) == splitting.rounds


def test_the_levels_between_split_points_are_shares():
    first, second, third = Splitting((Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)), Fraction(1), 10).splits()
    assert (first.middle, first.level) == (1, Fraction(1, 2))
    assert (second.middle, second.level) == (0, Fraction(1, 2))
    assert (third.middle, third.level) == (2, Fraction(1, 2))


def test_what_is_paid_for():
    assert SeveralQuantiles(1, DECILES, 0, 1, method="joint").event == BoundedRange(1)
    flips = SeveralQuantiles(1, ["1/4", "1/2"], 0, 1, method="permute and flip")
    assert flips.event == Composed((Pure("1/2"),) * 2)
    separate = SeveralQuantiles(1, ["1/4", "1/2", "3/4"], 0, 1, method="separate", records=9)
    assert separate.event == Composed((BoundedRange("1/3"),) * 3)
    recursive = SeveralQuantiles(1, ["1/4", "1/2", "3/4"], 0, 1, method="recursive")
    assert recursive.event == Composed((BoundedRange("1/2"),) * 2)
    exchanged = SeveralQuantiles(1, ["1/4", "1/2", "3/4"], 0, 1, method="recursive", records=9)
    assert exchanged.event == Grouped(Composed((BoundedRange("1/4"),) * 2), 2)
    assert exchanged.splitting.rate == Fraction(1, 8)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["separate", "recursive", "joint", "permute and flip"])
def test_the_rank_errors_keep_the_promise(method):
    values = np.random.default_rng(3).normal(50, 15, 20_000)
    mechanism = SeveralQuantiles(1, DECILES, 0, 100, method=method)
    drawn = mechanism.draw(values, size=20, source=SeededSource(5))
    wanted = np.array([float(level) for level in DECILES]) * len(values)
    errors = np.abs(np.searchsorted(np.sort(values), drawn) - wanted)
    assert errors.mean() <= float(mechanism.error().expected.upper)
    assert (errors <= float(mechanism.error().quantiles[Fraction(19, 20)])).mean() >= 0.95


@pytest.mark.parametrize("method", ["recursive", "joint"])
def test_answers_never_decrease(method):
    drawn = SeveralQuantiles(1, DECILES, 0, 100, method=method).draw(range(50), size=50, source=SeededSource(1))
    assert drawn.shape == (50, 9)
    assert (np.diff(drawn, axis=1) >= 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["recursive", "joint"])
def test_many_equal_records_are_shared_out_by_the_jitter(method):
    """60 % of the records are 50, so the quartiles are; without jitter the split sends them all to one side."""
    values = [10] * 2000 + [50] * 6000 + [90] * 2000
    asked = {"levels": ["1/4", "1/2", "3/4"], "lower": 0, "upper": 100, "step": 1, "method": method}
    spread = SeveralQuantiles(5, **asked).draw(values, size=20, source=SeededSource(2))
    assert (spread == 50).all()
    plain = SeveralQuantiles(5, **asked, jitter=1).draw(values, size=20, source=SeededSource(2))
    assert (plain == 50).all(axis=1).mean() < 0.1


@pytest.mark.slow
def test_the_method_with_the_least_error_on_the_reference_is_chosen():
    for count, rows in ((2, 1000), (3, 1000), (9, 1000), (31, 50)):
        levels = [Fraction(k, count + 1) for k in range(1, count + 1)]
        chosen = SeveralQuantiles(1, levels, 0, 200, step=1, expected_rows=rows)
        errors = {each.method: each.reference_error(rows) for each in chosen.alternatives()}
        assert errors[chosen.method] == min(errors.values())
    percentiles = [Fraction(k, 100) for k in range(1, 100)]
    assert SeveralQuantiles(1, DECILES, 0, 1).method == "joint"
    assert SeveralQuantiles(1, percentiles, 0, 1).method == "recursive"  # the joint law takes too long
    assert "joint" not in {each.method for each in SeveralQuantiles(1, DECILES, 0, 1).alternatives(groups=10**4)}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["joint", "recursive", "permute and flip", "separate"])
@pytest.mark.parametrize("step", [1, "1/64"])
def test_the_reference_is_what_happens(method, step):
    """Within a tenth, or three standard errors: evenly spread records, with and without ties."""
    mechanism = SeveralQuantiles(1, DECILES, 0, 200, step=step, method=method)
    found = []
    for shift in range(5):  # the wanted rank may lie anywhere among records with the same value
        placed = mechanism.lattice.points(mechanism.lattice.places((np.arange(1000) + 0.5 + shift) / 5))
        drawn = mechanism.draw(placed, size=30, source=SeededSource(shift))
        found.append(rank_errors(drawn, placed, DECILES).mean(axis=1))
    errors = np.concatenate(found)
    away = abs(errors.mean() - mechanism.reference_error(1000))
    assert away <= 0.1 * mechanism.reference_error(1000) + 3 * errors.std() / len(errors) ** 0.5
    assert away < abs(errors.mean() - mechanism.reference_error(1000) * 2)  # what a factor of two would look like


@pytest.mark.parametrize("count", [9, pytest.param(19, marks=pytest.mark.slow)])
def test_the_bars_of_the_errors(count):
    """1000 numbers at ε = 1, on every shape; by a wide margin, so six draws of each are enough."""
    for row in several_rows(3, 2, (None,), (count,)):
        assert row.error <= row.bound, row


def test_accumulated_errors_are_the_shares_of_the_borders():
    """Three levels: the middle one errs by 1, the others by 1 and half of that."""
    quartiles = Splitting((Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)), Fraction(1), 10)
    assert quartiles.accumulated_error() == Fraction(3, 2)
    assert Splitting((Fraction(1, 2),), Fraction(1), 10).accumulated_error() == 1


def test_the_jittered_law_adds_up_over_the_finer_places():
    asked = {"epsilon": "4*ln(2)", "levels": ["1/3", "2/3"], "lower": 0, "upper": 1, "step": 1, "method": "recursive"}
    jittered = SeveralQuantiles(**asked, jitter=2)
    splitting = Splitting((Fraction(1, 3), Fraction(2, 3)), ln(2), 3)
    for records, finer in (([0, 1], [0, 2]), ([0, 0, 0, 1], [0, 1, 0, 2]), ([], [])):
        dealt = PlaceCounts.of(np.array(finer, dtype=np.int64))
        assert jittered.pmf((0.0, 1.0), records) == splitting.pmf([range(2), range(2, 4)], dealt)


@given(st.lists(st.integers(0, 6), max_size=5), st.integers(0, 4), st.integers(1, 9))
def test_one_more_record_is_one_more_finer_record(counts, place, shares):
    """So dealing out changes no privacy claim; without turns, the finer places of other records would move."""
    counts = [*counts, *[0] * (5 - len(counts))]
    more = [count + (i == place) for i, count in enumerate(counts)]
    one, two = (Counter(_each(Tally(each).cells().dealt_out(shares))) for each in (counts, more))
    assert not one - two
    assert [finer // shares for finer in (two - one).elements()] == [place]
    assert Counter(finer // shares for finer in one.elements()) == Counter(np.repeat(np.arange(5), counts).tolist())


def _each(cells):
    return np.repeat(cells.places, cells.counts).tolist()


@pytest.mark.slow
@pytest.mark.parametrize(("method", "epsilon"), [("recursive", "4*ln(2)"), ("joint", "8*ln(2)")])
def test_the_whole_jittered_law_is_private_on_all_small_databases(method, epsilon):
    """Checked as an exact channel, jitter included."""
    graph = growing_databases(3, 2)
    law = SeveralQuantiles(epsilon, ["1/3", "2/3"], 0, 1, step=1, method=method, jitter=3)
    outputs = list(product((0.0, 1.0), repeat=2))
    rows = [[law.pmf(output, list(node)).lower for output in outputs] for node in graph.nodes]
    assert check(Channel(rows, graph.nodes, outputs), graph, law.epsilon)


def test_the_joint_law_needs_its_own_total():
    """With parts that follow the private number of records, the same rate is not private; the checker finds out."""
    graph = growing_databases(3, 2)
    levels = (Fraction(1, 4), Fraction(1, 2))
    for own, private in ((JointRanks(levels, ln(2), 1), True), (JointRanks(levels, ln(2), 1, exchange=True), False)):
        records = [PlaceCounts.of(np.array(node, dtype=np.int64)) for node in graph.nodes]
        outputs = [(a, b) for a in range(2) for b in range(a, 2)]
        rows = [[own.pmf([range(o, o + 1) for o in output], each).lower for output in outputs] for each in records]
        assert bool(check(Channel(rows, graph.nodes, outputs), graph, 2 * ln(2))) is private


@pytest.mark.parametrize("method", ["joint", "recursive", "separate", "permute and flip"])
def test_an_exchange_of_one_of_so_many_records_is_hidden(method):
    """Where their number is public: all databases of four records on three points, without jitter."""
    graph = hamming(4, 3)
    law = SeveralQuantiles("8*ln(2)", ["1/2", "3/4"], 0, 2, step=1, records=4, method=method, jitter=1)
    outputs = list(product((0.0, 1.0, 2.0), repeat=2))
    known = {}
    for node in graph.nodes:
        rows = tuple(sorted(node))
        if rows not in known:
            known[rows] = [law.pmf(output, list(rows)) for output in outputs]
    assert all(mass.lower == mass.upper for row in known.values() for mass in row)
    rows = [[mass.lower for mass in known[tuple(sorted(node))]] for node in graph.nodes]
    assert check(Channel(rows, graph.nodes, outputs), graph, law.epsilon)
    assert not check(Channel(rows, graph.nodes, outputs), graph, law.epsilon / 8)


@pytest.mark.parametrize("records", [300, 1000, 1500])
@pytest.mark.parametrize("levels", [(Fraction(1, 2),), (Fraction(1, 4), Fraction(3, 4))], ids=str)
@pytest.mark.parametrize("holes", [1, 5])
def test_what_is_beyond_the_reach_has_a_share_below_two_to_the_minus_64(records, levels, holes):
    """Nearly all places need many changes: records side by side in the middle, and a wide lattice around them."""
    last = 10**9
    places = np.arange(records) * holes + last // 2
    law, _ = JointRanks(levels, Fraction(1, 20), last, exchange=True).law(PlaceCounts.of(np.sort(places)))
    low, _ = law._core_share(128)
    assert (1 << 128) - low <= 1 << 64


def test_a_law_over_too_many_finer_places_is_refused_whatever_the_records_are():
    for records in ([], [0.25], [0.25] * 9):
        with pytest.raises(TooLarge, match="jitter"):
            SeveralQuantiles(1, ["1/3", "2/3"], 0, 1, method="recursive").pmf((0.0, 0.5), records)


@pytest.mark.parametrize("method", ["separate", "recursive", "joint", "permute and flip"])
def test_tallies_of_any_size_are_answered(method):
    law = SeveralQuantiles(1, ["1/4", "1/2", "3/4"], 0, 3, step=1, method=method)
    for count in (10**9, 10**9 + 1, 2**40, 2**62, 2**63, 2**64, 10**30):
        assert law.release(Tally([1, 0, count, 0])).tolist() == [2, 2, 2]


def test_outputs_that_cannot_be_have_no_mass():
    mechanism = SeveralQuantiles(1, ["1/3", "2/3"], 0, 1, step=1)
    for output in [(0.0,), (0.5, 1.0), 0.0, "01"]:
        assert mechanism.pmf(output, [0, 1]).upper == 0

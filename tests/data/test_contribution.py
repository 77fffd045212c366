"""One unit changes an answer by no more than Contribution promises, whatever it does, and nobody else's part of it."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.data import BinAxis, Contribution, CountRows, CountUnits, KeyAxis, SumOf, col, open_table
from leastnoise.data.predicates import typed
from leastnoise.errors import BadParameter, NumberTooLarge
from support.statistics import fits

from .rows import WEIRD, arrow, make_rows

F = Fraction
SECRET = (11, 22)
ROWS = make_rows(seed=3, count=250)
TAGS = KeyAxis("tag", ("a", "O'Hara", "日本", None, "ünï"))
FLAGS = KeyAxis("flag", (True, False, None))
AXES = [(TAGS,), (), (BinAxis("x", (F(-3), F(0), F(1), F(10))), KeyAxis(WEIRD, (1, 2, 3)))]
MEASURES = (
    CountRows(),
    CountUnits(),
    SumOf("x", F(-5), F(10), F(1, 4)),
    SumOf("n", F(-50), F(50), F(7, 3), 2),
    SumOf("money", F(2), F(10), F("0.01"), averaged=True),
    SumOf("n", F(-50), F(-10), F(1)),
)


def without(person):
    return [row for row in ROWS if row["person"] != person]


def reach(measure, rows_per_unit):
    if isinstance(measure, CountUnits):
        return 1
    return rows_per_unit * (1 if isinstance(measure, CountRows) else measure.largest)


@pytest.fixture(scope="module")
def neighbours():
    people = [-3, 0, 7, 11]
    tables = [open_table(arrow(ROWS)), *(open_table(arrow(without(person))) for person in people)]
    yield tables[0], dict(zip(people, tables[1:], strict=True))
    for table in tables:
        table.close()


@pytest.mark.slow
@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("bound", [Contribution("person"), Contribution("person", 2, 1), Contribution("person", 2, 3)])
def test_one_unit_changes_few_groups_by_little(neighbours, axes, bound):
    everybody, fewer = neighbours
    full = everybody._aggregate(bound, axes, MEASURES, None, SECRET)
    alone = []
    for person, others in fewer.items():
        rest = others._aggregate(bound, axes, MEASURES, None, SECRET)
        only = everybody._aggregate(bound, axes, MEASURES, (col("person") == person), SECRET)
        changed = np.zeros(full[0].shape, dtype=bool)
        for measure, before, after, own in zip(MEASURES, full, rest, only, strict=True):
            # The choice is local to the unit: what is missing without it is exactly what it gives when it is alone.
            assert ((before - after) == own).all()
            assert (np.abs(own) <= reach(measure, bound.rows_per_unit)).all()
            changed |= own != 0
        assert changed.sum() <= bound.groups_per_unit
        alone.append(changed.sum())
    assert max(alone) == min(bound.groups_per_unit, max(full[0].size, 1))  # the bound is used, not undercut


@pytest.mark.slow
def test_ranks_scores_and_discovered_keys(neighbours):
    everybody, fewer = neighbours
    grid = [F(i) for i in range(-5, 40)]
    options = [typed(col("n") > 0, everybody.columns), typed(col("tag").is_missing(), everybody.columns)]
    for bound in (Contribution("person", 1, 1), Contribution("person", 2, 3)):
        ranks = everybody._ranks(bound, "x", grid, None, SECRET)
        found = Counter(everybody._discover(bound, ("tag", WEIRD), None, SECRET))
        scores = everybody.scores(bound, options)
        for others in fewer.values():
            moved = ranks - others._ranks(bound, "x", grid, None, SECRET)
            assert (moved >= 0).all()
            assert moved.sum() == bound.rows_per_unit  # each of these people has more rows than that
            by_key = [each._ranks(bound, "x", grid, None, SECRET, (FLAGS,)) for each in (everybody, others)]
            parts = (by_key[0] - by_key[1]).sum(axis=1)
            assert (by_key[0] >= by_key[1]).all()
            assert (parts <= bound.rows_per_unit).all()
            assert (parts > 0).sum() == bound.groups_per_unit
            gone = found - Counter(others._discover(bound, ("tag", WEIRD), None, SECRET))
            assert sum(gone.values()) == bound.groups_per_unit
            assert max(gone.values()) == 1
            assert (np.abs(scores - others.scores(bound, options)) <= bound.rows_per_unit).all()


def test_rows_of_nobody_are_dropped(neighbours):
    everybody, _ = neighbours
    nobody = [row for row in ROWS if row["person"] is None]
    assert nobody
    with open_table(arrow([row for row in ROWS if row["person"] is not None])) as known:
        for bound in (Contribution("person"), Contribution("person", 2, 3)):
            asked = bound, (TAGS,), MEASURES, None, SECRET
            for ours, theirs in zip(everybody._aggregate(*asked), known._aggregate(*asked), strict=True):
                assert (ours == theirs).all()
    assert everybody.aggregate(Contribution(None), (), (CountRows(),))[0] == len(ROWS)


def test_real_units_with_nan_and_two_zeros():
    units = pa.table({"u": [0.0, -0.0, float("nan"), None, 1.5], "k": [1, 2, 3, 4, 5]})
    with open_table(units) as table:
        found = table.aggregate(Contribution("u", 1), (KeyAxis("k", (1, 2, 3, 4, 5)),), (CountUnits(),))[0]
    assert found.sum() == 2
    assert found[[2, 3]].sum() == 0


CHOICES = 3 * 4000
KEYS = tuple("abc")


@pytest.fixture(scope="module")
def crowd():
    units = np.repeat(np.arange(CHOICES // 3), 3)
    with open_table(pa.table({"u": units, "k": np.tile(list(KEYS), CHOICES // 3)})) as table:
        yield table


def test_every_group_is_as_likely_as_another(crowd):
    """Each unit has three groups and keeps one, then two; the engine's hash favours none."""
    for most in (1, 2):
        kept = crowd.aggregate(Contribution("u", most), (KeyAxis("k", KEYS),), (CountRows(),))[0]
        assert kept.sum() == most * CHOICES // 3
        samples = np.repeat(np.arange(3), kept) if most == 1 else np.repeat(np.arange(3), CHOICES // 3 - kept)
        assert fits(samples, lambda k: F(k + 1, 3), 0, 1)


def test_a_hash_that_favours_a_group_would_be_found():
    skewed = np.repeat(np.arange(3), [1500, 1250, 1250])
    assert not fits(skewed, lambda k: F(k + 1, 3), 0, 1)


def test_the_choice_is_fresh_each_time(crowd):
    asked = Contribution("u"), (KeyAxis("k", KEYS),), (CountRows(),)
    assert len({tuple(crowd.aggregate(*asked)[0].tolist()) for _ in range(12)}) > 6
    assert len({tuple(crowd.ranks(Contribution("u"), "u", [F(0), F(1)]).tolist()) for _ in range(2)}) == 1


def small(rows):
    schema = pa.schema({"u": pa.int64(), "k": pa.int64(), "x": pa.float64()})
    return pa.table([list(column) for column in zip(*rows, strict=True)] or [[], [], []], schema=schema)


@pytest.mark.slow
@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.floats() | st.none()), max_size=12),
    st.integers(1, 2),
    st.integers(1, 3),
)
def test_any_small_table(rows, groups, most):
    """Hypothesis looks for a unit that gives more than it may."""
    bound, axis = Contribution("u", groups, most), (KeyAxis("k", (0, 1, 2)),)
    sums = (CountRows(), SumOf("x", F(-1), F(3), F(1, 8)), SumOf("x", F(1), F(3), F(1, 8), 2, averaged=True))
    with open_table(small(rows)) as table, open_table(small([row for row in rows if row[0]])) as rest:
        full, fewer = (t._aggregate(bound, axis, sums, None, SECRET) for t in (table, rest))
    moved = [before - after for before, after in zip(full, fewer, strict=True)]
    assert all((np.abs(change) <= reach(measure, most)).all() for change, measure in zip(moved, sums, strict=True))
    assert sum(change != 0 for change in np.stack(moved).any(axis=0)) <= groups


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, 2**40, "many"])
def test_limits_that_are_none(limit):
    with pytest.raises(BadParameter):
        Contribution("person", groups_per_unit=limit)


def test_sums_that_could_overflow_are_refused_before_the_data_is_read():
    with pytest.raises(NumberTooLarge):
        SumOf("x", F(0), F(2**63), F(1))
    with pytest.raises(NumberTooLarge):
        SumOf("x", F(0), F(2**50), F(1), 2)


def test_the_extremes_do_not_overflow():
    """Rows at the bounds of the widest sums, and of 64 bit columns."""
    table = pa.table({"u": [1, 1, 2], "n": [2**63 - 1, 2**63 - 1, -(2**63)], "x": [1e308, float("inf"), -1e308]})
    wide = SumOf("n", F(-(2**62)), F(2**62), F(1))
    square = SumOf("x", F(-(10**12)), F(10**12), F(1), 2)
    with open_table(table) as opened:
        for bound in (Contribution(None), Contribution("u", 1, 2**31)):
            sums, squares = opened.aggregate(bound, (), (wide, square))
            assert (sums.item(), squares.item()) == (2**62, 3 * 10**24)

"""Counts on the lattice give the same law as the records they stand for."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.errors import BadParameter
from leastnoise.exact import SeededSource
from leastnoise.mechanisms import IntervalQuantile, Quantile, SeveralQuantiles
from leastnoise.mechanisms.rank.tally import Tally

TOP = 4
RECORDS = st.lists(st.integers(0, TOP), max_size=8)


def tally_of(records):
    counts = Counter(records)
    return Tally([counts[place] for place in range(TOP + 1)])


@pytest.mark.slow
@given(RECORDS, st.sampled_from([Fraction(1, 2), Fraction(1, 4)]), st.integers(0, TOP))
def test_one_quantile(records, level, point):
    for law in (
        Quantile("2*ln(2)", range(TOP + 1), level),
        IntervalQuantile("2*ln(2)", 0, TOP, level, step=1),
    ):
        assert law.pmf(point, tally_of(records)) == law.pmf(point, records)
        drawn = [law.draw(answer, 50, SeededSource(3)).tolist() for answer in (records, tally_of(records))]
        assert drawn[0] == drawn[1]


@pytest.mark.slow
@settings(max_examples=25)
@given(RECORDS, st.tuples(st.integers(0, TOP), st.integers(0, TOP)))
def test_several_quantiles(records, points):
    for method in ("separate", "recursive"):
        law = SeveralQuantiles("4*ln(2)", ["1/3", "2/3"], 0, TOP, step=1, method=method, jitter=1)
        assert law.pmf(points, tally_of(records)) == law.pmf(points, records)
        drawn = [law.draw(answer, 20, SeededSource(3)).tolist() for answer in (records, tally_of(records))]
        assert drawn[0] == drawn[1]


@given(RECORDS)
def test_order_statistics(records):
    tally, ordered = tally_of(records), sorted(records)
    if records:
        cells = tally.cells().selected(1, len(records))
        assert np.repeat(cells.places, cells.counts).tolist() == ordered
        for low in range(1, len(records) + 1):
            for high in range(low, len(records) + 1):
                cells = tally.cells().selected(low, high)
                assert np.repeat(cells.places, cells.counts).tolist() == ordered[low - 1 : high]
    assert tally.records == len(records)


def test_what_is_no_tally_is_refused_and_never_shown():
    for bad in ([41.5], [[41]], [None, 41], "41", [True]):
        with pytest.raises(BadParameter) as caught:
            Tally(bad)
        assert "41" not in str(caught.value)
    law = Quantile(1, range(TOP + 1))
    with pytest.raises(BadParameter, match="5 counts"):
        law.draw(Tally([1, 2]))
    with pytest.raises(BadParameter, match="exactly 3 records"):
        Quantile(1, range(TOP + 1), records=3).draw(Tally(np.ones(TOP + 1, dtype=int)))
    assert "41" not in repr(Tally([41]))

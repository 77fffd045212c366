"""The made-up table is the same everywhere, and its true answers are true."""

from collections import Counter

import numpy as np

from leastnoise.apps.demo_table import CITIES, DIAGNOSES, MOST_VISITS, make_visits

VISITS = make_visits(5000)


def rows():
    return list(zip(*(column.tolist() for column in VISITS.columns.values()), strict=True))


def test_it_is_the_same_every_time():
    again = make_visits(5000)
    assert len(again) == 5000
    for name, column in VISITS.columns.items():
        assert np.array_equal(column, again.columns[name], equal_nan=column.dtype.kind == "f")


def test_a_longer_table_is_another_one_of_the_same_kind():
    longer = make_visits(20_000)
    shares = [longer.persons_by_city()[city] / VISITS.persons_by_city()[city] for city in CITIES[:5]]
    assert all(2.5 < share < 6 for share in shares)


def test_persons_live_in_one_town_and_come_at_most_eight_times():
    towns, visits = {}, Counter()
    for person, town, *_ in rows():
        assert towns.setdefault(person, town) == town
        visits[person] += 1
    assert 1 < max(visits.values()) <= MOST_VISITS
    assert VISITS.persons_by_city() == {city: list(towns.values()).count(city) for city in CITIES}


def test_the_most_common_diagnoses_count_persons():
    pairs = {(person, diagnosis) for person, _, _, diagnosis, *_ in rows()}
    counts = Counter(diagnosis for _, diagnosis in pairs)
    best = sorted(DIAGNOSES, key=lambda name: -counts[name])[:5]
    assert VISITS.most_common_diagnoses(5) == best


def test_it_has_missing_and_absurd_costs():
    cost = VISITS.columns["cost"]
    assert np.isnan(cost).any()
    assert (cost > 1e8).any()
    assert np.nanmin(cost) >= 20
    assert 0 <= VISITS.columns["age"].min() < VISITS.columns["age"].max() < 100

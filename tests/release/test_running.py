"""Running totals day by day: charges cover what is released, the record carries on, and nothing else is let in."""

import datetime
from collections import Counter
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.data import Contribution, open_table
from leastnoise.errors import BadParameter, BudgetExceeded, LeastNoiseError, RequestConflict, WrongCurrency
from leastnoise.ledger import Opening
from leastnoise.mechanisms.strategy.running_totals import RunningTotals, plan_running
from leastnoise.model.privacy import Privacy
from leastnoise.release.dataset import Dataset

DAYS = [datetime.date(2026, 3, day) for day in range(1, 7)]
ROWS = [
    ("ann", 0),
    ("ann", 0),
    ("ann", 3),
    ("bob", 1),
    ("bob", 4),
    ("bob", 5),
    ("cy", 2),
    ("cy", 2),
    ("di", 5),
    (None, 1),
]


def table_of(rows):
    people = pa.array([person for person, _ in rows], pa.string())
    return pa.table({"who": people, "day": pa.array([DAYS[day] for _, day in rows], pa.date32())})


@pytest.fixture
def opened(tmp_path):
    def open_it(rows=ROWS, budget=None, **options):
        limits = {"privacy_unit": "who", "groups_per_unit": 2, "rows_per_unit": 2, "ledger": tmp_path / "ledger"}
        return ln.open(table_of(rows), name="cases", budget=budget or Privacy(mu=3), **limits | options)

    return open_it


def test_the_charges_cover_what_every_unit_changes_at_the_end_of_every_day():
    for days, limit in product((1, 2, 5), (1, 4)):
        horizon = RunningTotals(plan_running(days), Fraction(1), limit)
        assert sum(horizon.charges) <= 1
        for change in product(range(limit + 1), repeat=days):
            if sum(change) > limit:
                continue
            moved = [horizon.day(t).measure(change[: t + 1]) for t in range(days)]
            for last in range(days):
                lost = sum(Fraction(step**2) / horizon.variance for step in moved[: last + 1])
                assert lost <= sum(horizon.charges[: last + 1])
    lost = sum(Fraction(horizon.day(t).measure([limit] + [0] * t) ** 2) / horizon.variance for t in range(days))
    assert lost > sum(horizon.charges) * Fraction(999, 1000)  # and no more than that is charged


@pytest.mark.slow
def test_neighbours_change_one_vector_whatever_the_day_of_reading():
    """Every unit of the table is removed in turn; the days are read one after the other, as on those days."""
    price = Privacy(mu=1)
    for bound in (Contribution("who", 1, 1), Contribution("who", 2, 2), Contribution("who", 3, 1), Contribution(None)):
        gone = [None] if bound.privacy_unit is None else ["ann", "bob", "cy", "di"]
        lists = [ROWS, *([row for row in ROWS if row[0] != who] if who else ROWS[1:] for who in gone)]
        reads = []
        for rows in lists:
            with open_table(table_of(rows)) as table:
                dataset = Dataset(table, None, "t", "a", "p", bound, Opening(None, bound.privacy_unit))
                run = dataset.running("day", "r", DAYS)
                days = [run.of_day(place, plan_running(6)) for place in range(6)]
                reads.append([day.read().tolist() for day in days])
                horizon = days[0].horizon(price)
        for counts in reads:
            assert all(later[: len(now)] == now for now, later in pairwise(counts))
        for other in reads[1:]:
            moved = [horizon.day(t).measure(reads[0][t]) - horizon.day(t).measure(other[t]) for t in range(6)]
            for last in range(6):
                lost = sum(Fraction(step**2) / horizon.variance for step in moved[: last + 1])
                assert lost <= sum(horizon.charges[: last + 1])


def test_changed_rows_of_past_days_cost_their_own_unit_alone():
    """All histories of a unit that stands on one day, another on each reading: c changes, at most c + 1 times μ²."""
    horizon, most = RunningTotals(plan_running(6), Fraction(1), 2), Fraction(0)
    for places in product(*(range(t + 1) for t in range(6))):
        moved = [horizon.day(t).measure([2 * (j == place) for j in range(t + 1)]) for t, place in enumerate(places)]
        changes = sum(now != before for before, now in pairwise(places))
        lost = sum(Fraction(step**2) / horizon.variance for step in moved)
        assert lost <= sum(horizon.charges) * (changes + 1)
        most = max(most, lost)
    assert most > 3 * sum(horizon.charges)  # who rewrites history every day is protected less


@pytest.mark.slow
def test_a_run_goes_on_in_another_process_and_repeats_at_no_cost(opened):
    tables = []
    for place, day in enumerate(DAYS):
        with opened() as dataset:  # opened anew every day
            release = dataset.running("day", "cases", DAYS).release(day, mu=1)
            tables.append(release.table)
            left = dataset.left
            again = dataset.running("day", "cases", DAYS).release(DAYS[place], mu=1)
            assert again.table == release.table
            assert dataset.left == left
            assert all(low <= value <= high for _, value, low, high in release.table)
            with pytest.raises(BadParameter, match="order"):
                dataset.running("day", "other", DAYS).release(DAYS[1], mu=1)
    for now, later in pairwise(tables):
        assert later["value"][: len(now)] == now["value"]  # what was published stays
    with opened() as dataset:
        spent = [debit.event.mu_squared for debit in dataset.ledger.debits("cases")]
        assert len(spent) == 6
        assert Fraction(999, 1000) < sum(spent) <= 1
        assert dataset.ledger.verify()


@pytest.mark.slow
def test_the_totals_are_right(opened):
    with opened(budget=Privacy(mu=10**6, insist=True)) as dataset:
        run = dataset.running("day", "cases", DAYS)
        price = Privacy(mu=10**5, insist=True)
        release = [run.release(day, price) for day in DAYS][-1]
        kept = {"ann": [0, 0, 3], "bob": [1, 4], "cy": [2, 2], "di": [5]}  # the first two days of each
        count = Counter(day for days in kept.values() for day in days)
        assert [round(value) for value in release.table["value"]] == np.cumsum([count[d] for d in range(6)]).tolist()


def test_another_question_or_price_under_the_name_is_refused(opened):
    with opened() as dataset:
        dataset.running("day", "cases", DAYS).release(DAYS[0], mu=1)
        others = [
            (dataset.running("day", "cases", DAYS, where="who = 'ann'"), {"mu": 1}),
            (dataset.running("day", "cases", DAYS, of="units"), {"mu": 1}),
            (dataset.running("day", "cases", DAYS[:5]), {"mu": 1}),
            (dataset.running("day", "cases", DAYS, groups_per_unit=1), {"mu": 1}),
            (dataset.running("day", "cases", DAYS), {"mu": 2}),
            (dataset.running("day", "cases", DAYS), {"rho": "1/2"}),
        ]
        left = dataset.left
        for other, price in others:
            for day in DAYS[:2]:
                with pytest.raises(RequestConflict):
                    other.release(day, **price)
        assert dataset.left == left
        dataset.count().release(mu="1/10", request_id="cases, day 2")
        with pytest.raises(RequestConflict):
            dataset.running("day", "cases", DAYS).release(DAYS[1], mu=1)
        with pytest.raises(RequestConflict):
            dataset.running("day", "cases", DAYS).release(DAYS[2], mu=1)


def test_the_price_of_the_horizon_is_known_on_day_one_and_days_beyond_the_budget_are_refused(opened):
    with opened(budget=Privacy(mu="1/2")) as dataset:
        run = dataset.running("day", "cases", DAYS)
        plan = run.plan(mu=1)
        assert Fraction(999, 1000) < plan.event.mu_squared <= 1
        assert plan.error_within > 0
        with pytest.raises(BudgetExceeded):
            run.release(DAYS[0], mu=1)
        with pytest.raises(WrongCurrency):
            run.plan(1)
        for day in ("monday", None, datetime.date(2027, 1, 1), [], 3):
            with pytest.raises(LeastNoiseError):
                run.release(day, mu="1/4")
        assert dataset.left.used == 0


def test_wrong_runs_are_refused(opened):
    with opened() as dataset:
        for column, name, keys in (
            ("town", "a", DAYS),
            ("day", "", DAYS),
            ("day", 3, DAYS),
            ("day", "a", []),
            ("day", "a", None),
        ):
            with pytest.raises(LeastNoiseError):
                dataset.running(column, name, keys)
    for rows in ((), ((0,),), ((1,), (1,)), ((1,), (1, -1))):
        with pytest.raises(BadParameter):
            RunningTotals(rows, Fraction(1), 1)
    with pytest.raises(BadParameter, match="price"):
        RunningTotals(plan_running(3), Fraction(1, 10**18), 1)


def test_what_a_day_reads_is_the_same_in_every_engine(postgres_address, spark):
    """Of each unit the first two days, by the same rule in DuckDB, Postgres and Spark."""
    import psycopg

    with psycopg.connect(postgres_address) as connection:
        connection.execute("CREATE TABLE running_days (who text, day date)")
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO running_days VALUES (%s, %s)", [(who, DAYS[day]) for who, day in ROWS])
    frame = spark.createDataFrame([(who, DAYS[day]) for who, day in ROWS], schema="who string, day date")
    tables = [open_table(table_of(ROWS)), open_table(postgres_address, table="running_days"), open_table(frame)]
    for bound in (Contribution("who", 1, 1), Contribution("who", 2, 2)):
        found = []
        for table in tables:
            dataset = Dataset(table, None, "t", "a", "p", bound, Opening(None, "who"))
            run = dataset.running("day", "r", DAYS)
            found.append([run.of_day(place, plan_running(6)).read().tolist() for place in range(6)])
        assert found[0] == found[1] == found[2]
    for table in tables:
        table.close()

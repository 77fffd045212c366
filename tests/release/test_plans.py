"""Plans: free, from public things only, and true."""

import json
import subprocess
import sys
from fractions import Fraction

import pytest

import leastnoise.release as ln
from leastnoise.data import Table
from leastnoise.errors import UnsafeQuestion
from leastnoise.model.events import event_from_dict
from leastnoise.model.show import number
from leastnoise.release.plan import unit_of
from leastnoise.release.queries.counts import Count
from support.people import CITIES


class Untouchable(Table):
    """The schema of a table, and an alarm on every way to its data."""

    def __init__(self, model):
        named = "name", "identity", "former_names", "overlapping", "place"
        for public in (*named, "columns", "types", "hints", "dialect", "_relation"):
            setattr(self, public, getattr(model, public))

    def _execute(self, *_):
        raise AssertionError("the data was touched")

    def _run(self, *_):
        self._execute()

    def __getattr__(self, name):
        self._execute()

    def require_ready(self):
        pass

    def close(self):
        pass

    def _release(self):
        pass


@pytest.fixture
def dataset(open_people, tmp_path):
    model = open_people(privacy_unit="person")
    with ln.open(
        Untouchable(model.table),
        privacy_unit="person",
        budget=(1, "1e-6"),
        ledger=tmp_path / "sealed",
        groups_per_unit=2,
        rows_per_unit=3,
    ) as opened:
        yield opened


BINS = {"age": [0, 25, 50, 100]}
KEYS = {"city": CITIES}
QUERIES = {
    "count": lambda d: d.count(where="age >= 18"),
    "units": lambda d: d.count(of="units", by="city", keys=CITIES),
    "histogram": lambda d: d.count(keys=KEYS, bins=BINS),
    "discovery": lambda d: d.count(by="city", of="units"),
    "sum": lambda d: d.sum("income", bounds=(0, 1000), by="city", keys=CITIES),
    "mean": lambda d: d.mean("income", bounds=(0, 1000), expected_rows=10_000),
    "variance": lambda d: d.variance("age", bounds=(0, 100), expected_rows=10_000),
    "median": lambda d: d.median("age", bounds=(0, 100)),
    "quantiles": lambda d: d.quantile("income", [0.25, 0.75], bounds=(0, 1000)),
    "most common": lambda d: d.most_common(2, by="city", keys=CITIES),
    "choose": lambda d: d.choose(["age < 30", "age >= 30"]),
    "best sum": lambda d: d.choose(by="city", keys=CITIES, sum_of="income", bounds=(0, 1000)),
    "prefix sums": lambda d: d.workload("prefix sums", bins=BINS),
    "tables": lambda d: d.tables(keys={**KEYS, "sex": ["m", "f"]}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", QUERIES)
def test_a_plan_says_all_and_touches_neither_data_nor_budget(dataset, name):
    before = dataset.left
    plan = QUERIES[name](dataset).plan("1/2", "1e-7")
    assert dataset.left == before == plan.left
    told = json.loads(json.dumps(plan.to_dict()))
    assert told["error"]["expected"] > 0
    assert told["error"]["within"] >= told["error"]["expected"] / 2
    assert event_from_dict(told["event"]) == plan.event
    assert plan.cost.epsilon == Fraction(1, 2)
    assert plan.reason.theorem
    assert plan.reason.citation
    errors = [each.within for each in plan.prices]
    assert errors == sorted(errors, reverse=True)
    shown = " ".join(str(plan).split())
    assert all(f"±{number(far)}{unit_of(plan.error)} at ε = " in shown for far in errors)
    for text in (str(plan), plan._repr_html_()):
        assert plan.question.split(" where ")[0] in text
        assert "ε = 1/2" in text
    if plan.lower_bound is not None:
        assert plan.lower_bound.lower <= plan.error.expected.upper


def test_the_alarm_would_go_off(dataset):
    with pytest.raises(UnsafeQuestion):  # already the rehearsal, before a private row
        dataset.count().read()


@pytest.mark.parametrize("name", ["histogram", "sum", "median", "choose", "prefix sums"])
def test_the_table_of_prices_says_what_plans_at_these_prices_say(dataset, name):
    query = QUERIES[name](dataset)
    for priced in query.plan(1).prices:
        plan = query.plan(priced.price)
        assert (priced.expected, priced.within) == (plan.error.expected.upper, plan.error_within)


def test_a_plan_asks_for_no_other_prices_until_it_is_shown(dataset, monkeypatch):
    query = dataset.count(by="city", keys=CITIES)
    asked = []
    plan_at = Count.answer_plan
    monkeypatch.setattr(Count, "answer_plan", lambda self, price: asked.append(price) or plan_at(self, price))
    plan = query.plan(1)
    assert len(asked) == 1
    str(plan), plan.to_dict(), str(plan)
    assert len(asked) == 1 + len(plan.prices) == 5


def test_the_sensitivity_comes_from_the_bounds(dataset):
    assert dataset.count(by="city", keys=CITIES).plan(1).sensitivity.l1 == 2 * 3
    assert dataset.count(by="city", keys=CITIES, groups_per_unit=1).plan(1).sensitivity.l1 == 3
    assert dataset.count(by="city", keys=CITIES, groups_per_unit=50).plan(1).sensitivity.l1 == 3 * 3
    assert dataset.count(of="units").plan(1).sensitivity.l1 == 1
    total = dataset.sum("age", bounds=(-20, 50), rows_per_unit=1).plan(1).sensitivity
    assert total.l1 * total.step == 50
    assert "one person" in str(total)
    assert "at most 1 row" in str(total)
    assert "between -20 and 50" in str(total)


@pytest.mark.parametrize("kind", ["mean", "variance"])
def test_the_error_of_a_moment_is_not_guessed(dataset, kind):
    ask = getattr(dataset, kind)
    plan = ask("age", bounds=(0, 100)).plan(1)
    assert plan.error is plan.error_within is plan.expected_error is None
    assert plan.prices == ()
    assert plan.to_dict()["error"] is None
    assert "95 %" not in str(plan)
    assert "depends on the number of rows" in str(plan)
    for rows in (1_000, 100_000):  # the note gives two examples
        known = ask("age", bounds=(0, 100), expected_rows=rows).plan(1)
        assert f"{known.expected_error:.6g} with {rows}" in plan.notes[0]
        assert str(known).count(f"if there are {rows} values in each cell") == 2


def test_a_histogram_with_one_group_per_unit_costs_no_more_than_one_count(dataset):
    one = dataset.count(of="units").plan(1)
    many = dataset.count(by="city", keys=CITIES, of="units", groups_per_unit=1).plan(1)
    assert many.cost == one.cost
    assert many.error == one.error


def test_names_and_keys_are_escaped(dataset):
    query = dataset.count(where="city = '<script>alert(1)</script>'")
    html = query.plan(1)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


@pytest.mark.slow
def test_a_plan_needs_no_data_frames_and_no_pictures(people, tmp_path):
    code = (
        "import sys, leastnoise.release as ln\n"
        f"dataset = ln.open({str(people[0])!r}, budget=1, ledger={str(tmp_path / 'cold')!r})\n"
        "print(dataset.count(by='city', keys=['Lyon']).plan(1))\n"
        "heavy = {'pandas', 'polars', 'pyarrow', 'matplotlib', 'rich'}\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"

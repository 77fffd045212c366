"""Every query on a real table: with an ε at which noise is all but impossible the truth comes back, bounded by unit."""

from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction
from math import isnan

import numpy as np
import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.data import col
from leastnoise.errors import BadParameter, TooLarge, UnknownLabel
from leastnoise.model.privacy import Privacy
from support.people import CITIES, SURE


def values(release):
    return dict(zip(release.table[release.table.keys[0]], release.table["value"], strict=True))


def is_missing(value):
    return value is None or (isinstance(value, float) and isnan(value))


def test_the_number_of_rows_and_of_people(open_people, people):
    _, rows = people
    assert open_people().count().release(SURE).value == len(rows)
    by_person = open_people(name="by person", privacy_unit="person")
    assert by_person.count(of="units").release(SURE).value == len({row["person"] for row in rows})
    twice = sum(min(n, 2) for n in Counter(row["person"] for row in rows).values())
    assert by_person.count(rows_per_unit=2).release(SURE).value == twice


def test_a_histogram_by_public_keys_shows_zeros_for_keys_nobody_has(open_people, people):
    truth = Counter(row["city"] for row in people[1])
    found = values(open_people().count(by="city", keys=[*CITIES, "Nowhere"]).release(SURE))
    assert found == {**truth, "Nowhere": 0}
    assert list(found) == [*CITIES, "Nowhere"]


def test_a_histogram_by_two_columns_of_which_one_is_binned(open_people, people):
    query = open_people().count(by=["sex", "age"], keys={"sex": ["m", "f"]}, bins={"age": [0, 18, 65, 100]})
    release = query.release(SURE)
    truth = Counter()
    for row in people[1]:
        if row["age"] is not None:
            truth[row["sex"], "[0, 18)" if row["age"] < 18 else "[18, 65)" if row["age"] < 65 else "[65, 100]"] += 1
    assert {(sex, age): n for sex, age, n, _, _ in release.table} == truth


def test_boolean_columns_need_no_keys(open_people, people):
    found = values(open_people().count(by="member").release(SURE))
    assert found == Counter(row["member"] for row in people[1])


def test_filters_as_text_and_as_predicates(open_people, people):
    truth = sum(row["age"] is not None and row["age"] >= 18 and row["city"] == "Metz" for row in people[1])
    dataset = open_people()
    assert dataset.count(where="age >= 18 AND city = 'Metz'").release(SURE).value == truth
    assert dataset.count(where=(col("age") >= 18) & (col("city") == "Metz")).release(SURE).value == truth


def test_at_most_so_many_groups_per_person(open_people, people):
    cities = defaultdict(set)
    for row in people[1]:
        cities[row["person"]].add(row["city"])
    dataset = open_people(privacy_unit="person")
    for most in (1, 2, 3):
        found = dataset.count(by="city", keys=CITIES, of="units", groups_per_unit=most).release(SURE)
        assert sum(found.table["value"]) == sum(min(len(each), most) for each in cities.values())


def test_keys_that_are_not_known_in_advance(open_people, people):
    truth = Counter(row["age"] for row in people[1])
    dataset = open_people()
    query = dataset.count(by="age")
    found = {age: n for age, n, _, _ in query.release(Privacy(SURE.epsilon, "1e-9", insist=True)).table}
    threshold = query.plan(Privacy(SURE.epsilon, "1e-9", insist=True)).mechanism.threshold
    assert found == {age: n for age, n in truth.items() if n >= threshold}
    shown = query.release("1/2", "1e-6", request_id="some")
    assert all(n >= query.plan("1/2", "1e-6").mechanism.threshold for n in shown.table["value"])
    assert shown == query.release("1/2", "1e-6", request_id="some")
    with pytest.raises(BadParameter, match="delta above zero"):
        query.plan(1)


def test_sums_in_exact_fixed_point(open_people, people):
    incomes = [Fraction(row["income"]) for row in people[1] if not is_missing(row["income"])]
    found = open_people().sum("income", bounds=(100, 900), step="1/4").release(Privacy(200_000, insist=True))
    assert found.value == float(sum(min(max(x, Fraction(100)), Fraction(900)) for x in incomes))


def test_a_sum_by_city_with_negative_bounds(open_people, people):
    truth = Counter()
    for row in people[1]:
        if row["age"] is not None:
            truth[row["city"]] += min(max(row["age"], -10), 50)
    assert values(open_people().sum("age", bounds=(-10, 50), by="city", keys=CITIES).release(SURE)) == truth


@pytest.mark.parametrize("by", [None, "city"])
def test_means_and_variances(open_people, people, by):
    groups = defaultdict(list)
    for row in people[1]:
        if row["age"] is not None:
            groups[row["city"] if by else "all"].append(row["age"])
    keys = None if by is None else CITIES
    dataset = open_people()
    for name, moment, close in (("mean", np.mean, 1e-12), ("variance", np.var, 1e-2)):
        release = getattr(dataset, name)("age", bounds=(0, 100), by=by, keys=keys).release(Privacy(10_000, insist=True))
        found = [release.value] if by is None else release.table["value"]
        truth = [moment(groups[key]) for key in (CITIES if by else ["all"])]
        assert found == pytest.approx(truth, rel=close)
        lows, highs = release.table["low"], release.table["high"]
        assert all(
            low <= true + 1e-9 and true - 1e-9 <= high for low, true, high in zip(lows, truth, highs, strict=True)
        )


def test_the_median_and_several_quantiles(open_people, people):
    ages = sorted(row["age"] for row in people[1] if row["age"] is not None)
    dataset = open_people()
    medians = range(ages[(len(ages) - 1) // 2], ages[len(ages) // 2] + 1)
    assert dataset.median("age", bounds=(0, 100)).release(SURE).value in medians
    assert dataset.median("age", grid=[0, 10, 48, 60, 100]).release(SURE).value == 48
    several = values(dataset.quantile("age", [0.1, 0.5, 0.9], bounds=(0, 100)).release(SURE))
    for level, found in several.items():
        below, above = sum(a < found for a in ages), sum(a > found for a in ages)
        assert below <= level * len(ages) + 2
        assert above <= (1 - level) * len(ages) + 2


def test_medians_by_key_with_intervals(open_people, people):
    ages = defaultdict(list)
    for row in people[1]:
        if row["age"] is not None:
            ages[row["city"]].append(row["age"])
    asked = open_people().median("age", bounds=(0, 100), by="city", keys=CITIES, interval_share="1/2")
    release = asked.release(SURE)
    assert release.table.names == ("city", "value", "low", "high")
    for city, value, low, high in release.table:
        ordered = sorted(ages[city])
        assert value in range(ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2] + 1)
        assert low <= value <= high
    assert release.interval(0.9) == release.interval()
    with pytest.raises(BadParameter, match="interval_confidence"):
        release.interval(0.99)  # that was not paid for
    assert "95 % error" in release.caption
    assert release.caption.endswith("rows")
    assert "50 % of the price pay for intervals that hold with 95 %" in " ".join(str(release.plan).split())


@pytest.mark.parametrize(
    ("kind", "value", "grid", "ends"),
    [
        (pa.float64(), 50.7, {"bounds": (0, 100), "step": 1}, (50 - 1 / 16, 51 + 1 / 16)),
        (pa.float64(), 0.0, {"bounds": (0, 100), "step": 1}, (0, 1 / 16)),
        (pa.int64(), 57, {"bounds": (0, 100), "step": 10}, (49, 60)),  # counted at every fifth: 57 is between
        (pa.int64(), 57, {"bounds": (0, 100), "step": 1}, (57, 57)),
        (pa.float64(), 57, {"grid": [0, 50, 60, 100]}, (55, 80)),
        (pa.decimal128(9, 2), Decimal("57.25"), {"grid": [0, 50, 60, 100]}, (55, 80)),
    ],
    ids=str,
)
def test_an_interval_holds_a_median_between_two_points(kind, value, grid, ends, tmp_path):
    table = pa.table({"pay": pa.array([value] * 999, kind)})
    with ln.open(table, name="paid", budget=SURE, ledger=tmp_path / "ledger") as paid:
        asked = paid.median("pay", **grid, interval_share="1/2")
        low, high = asked.release("1/2").interval()
        assert low <= value <= high
        low, high = asked.release(20).interval()
        assert (low, high) == ends


def test_quantiles_by_two_axes_have_a_row_for_each_group_and_level(open_people):
    asked = open_people().quantile(
        "age", [0.25, 0.5], bounds=(0, 100), keys={"city": CITIES[:2]}, bins={"age": [0, 50, 100]}, expected_rows=50
    )
    table = asked.release(SURE).table
    assert table.names == ("city", "age", "level", "value")
    assert len(table) == 8
    assert table["level"] == (0.25, 0.5) * 4
    assert "if 50 rows of each group were spread evenly" in " ".join(str(asked.plan(1)).split())


@pytest.mark.slow
def test_the_minimum_and_the_maximum(open_people, people):
    ages = [row["age"] for row in people[1] if row["age"] is not None]
    for level, name, extreme in ((0, "minimum", min(ages)), (1, "maximum", max(ages))):
        asked = open_people().quantile("age", level, bounds=(0, 100))
        assert asked.question == f"{name} of age"
        assert abs(asked.release(SURE).value - extreme) <= 5
    both = open_people().quantile("age", [0, 0.5, 1], bounds=(0, 100)).release(SURE).table["value"]
    assert abs(both[0] - min(ages)) <= 5
    assert abs(both[2] - max(ages)) <= 5
    with pytest.raises(BadParameter, match="no interval"):
        open_people().quantile("age", 0, bounds=(0, 100), interval_share="1/2")


@pytest.mark.slow
def test_the_law_with_less_error_at_the_price_is_chosen(open_people):
    """Permute-and-flip for a pure ε; at a price in ρ the exponential law has twice its ε."""
    median = open_people().median("age", bounds=(0, 100))
    assert median.plan(1).mechanism.method == "permute and flip"
    assert median.plan(rho="1/8").mechanism.method == "exponential"
    deciles = open_people().quantile("age", [Fraction(k, 10) for k in range(1, 10)], bounds=(0, 100))
    assert deciles.plan(1).mechanism.method == "joint"
    assert deciles.plan(rho="1/8").mechanism.method == "joint"
    percentiles = open_people().quantile("age", [Fraction(k, 100) for k in range(1, 100)], bounds=(0, 100))
    assert percentiles.plan(1).mechanism.method == "recursive"


@pytest.mark.slow
def test_groups_and_grid_points_have_a_limit_together(open_people):
    with pytest.raises(TooLarge, match="keys times grid points"):
        open_people().median("age", bounds=(0, 50_000), step=1, bins={"age": range(101)})


def test_the_most_common_keys_and_the_best_option(open_people, people):
    truth = Counter(row["city"] for row in people[1])
    dataset = open_people()
    ranked = [city for city, _ in truth.most_common()]
    assert dataset.most_common(by="city", keys=CITIES, of="rows").release(SURE).value == ranked[0]
    assert values(dataset.most_common(3, by="city", keys=CITIES, of="rows").release(SURE)) == dict(enumerate(ranked, 1))
    chosen = dataset.choose({"young": "age < 30", "old": "age >= 30"}).release(SURE)
    assert chosen.value == "old"
    sums = Counter()
    for row in people[1]:
        sums[row["city"]] += row["age"] or 0
    best = dataset.choose(by="city", keys=CITIES, sum_of="age", bounds=(0, 100)).release(SURE)
    assert best.value == max(sums, key=sums.get)


def test_workloads_agree_with_the_histogram(open_people, people):
    truth = np.histogram([row["age"] for row in people[1] if row["age"] is not None], bins=[0, 25, 50, 75, 100])[0]
    dataset, bins = open_people(), {"age": [0, 25, 50, 75, 100]}
    assert dataset.workload("prefix sums", bins=bins).release(SURE).table["value"] == tuple(np.cumsum(truth))
    ranges = dataset.workload("ranges", bins=bins).release(SURE)
    assert ranges.table["value"] == tuple(truth[a : b + 1].sum() for a in range(4) for b in range(a, 4))
    matrix = [[1, -1, 0, 0], [0, 2, 0, 3]]
    custom = dataset.workload(matrix, bins=bins, names=["gap", "mix"]).release(SURE)
    assert values(custom) == dict(zip(["gap", "mix"], np.array(matrix) @ truth, strict=True))


def test_two_way_tables_agree_where_they_share_a_column(open_people, people):
    keys = {"city": ["Lyon", "Metz"], "sex": ["m", "f"], "member": [True, False]}
    dataset = open_people()
    release = dataset.tables(keys=keys).release(SURE)
    truth = Counter((row["city"], row["sex"]) for row in people[1] if row["city"] in keys["city"])
    assert {(city, sex): n for table, city, sex, _, n, _, _ in release.table if table == "city × sex"} == truth
    noisy = dataset.tables(keys=keys).release(1)
    totals = Counter()
    for table, city, _, _, n, _, _ in noisy.table:
        if city in keys["city"]:
            totals[table, city] += Fraction(n)
    for city in keys["city"]:
        assert float(totals["city × sex", city]) == pytest.approx(float(totals["city × member", city]), abs=1e-9)


def test_wrong_questions_are_refused_with_the_closest_name_and_an_example(open_people):
    dataset = open_people()
    with pytest.raises(UnknownLabel, match="'city'"):
        dataset.count(by="ctiy", keys=["Lyon"])
    with pytest.raises(BadParameter, match=r"bounds=\(0, 100\)"):
        dataset.sum("age")
    with pytest.raises(BadParameter, match=r"holds no numbers.*age"):
        dataset.mean("city", bounds=(0, 1))
    with pytest.raises(BadParameter, match="listed twice"):
        dataset.count(by="city", keys=["Lyon", "Lyon"])
    with pytest.raises(BadParameter, match="either all columns"):
        dataset.count(by=["city", "age"], keys={"city": CITIES})
    with pytest.raises(TooLarge, match="at most"):
        dataset.count(bins={"age": range(200_001)})
    with pytest.raises(BadParameter, match="counts once"):
        open_people(privacy_unit="person", name="units").count(by="city", of="units", rows_per_unit=2)


def test_a_key_of_the_wrong_kind_costs_nothing(open_people):
    dataset = open_people()
    before = dataset.left
    with pytest.raises(BadParameter, match="kind"):
        dataset.count(by="city", keys=[1, 2]).release(1)
    assert dataset.left == before

"""Bounds and limits that nobody knows: what is chosen, what is recorded, and what is refused."""

import random
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import leastnoise.release as ln
from leastnoise.composition.cost import covers
from leastnoise.data import Kind
from leastnoise.errors import BadParameter
from leastnoise.model.events import Approximate, Concentrated, GaussianPrivacy, Pure
from leastnoise.model.privacy import Privacy
from leastnoise.release.pricing import split_price
from leastnoise.release.queries.private_scale import magnitudes

pytestmark = pytest.mark.slow

SURE = Privacy(20_000, insist=True)


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Three thousand people with one to seven visits each, and a few odd numbers."""
    dice = random.Random(5)
    rows = [
        {"who": who, "city": dice.choice("ab"), "age": dice.randint(0, 99), "pay": dice.uniform(-300, 900)}
        for who in range(3000)
        for _ in range(1 + who % 7)
    ]
    rows += [
        {"who": 1, "city": "a", "age": 2**62, "pay": float("inf")},
        {"who": 2, "city": "a", "age": None, "pay": None},
    ]
    place = tmp_path_factory.mktemp("people") / "ledger"
    table = pa.Table.from_pylist(rows)
    with ln.open(
        table, name="t", privacy_unit="who", budget=Privacy(10**6, "1e-3", insist=True), ledger=place
    ) as opened:
        yield opened, rows


def test_bounds_are_the_powers_of_two_around_the_values(people):
    dataset, rows = people
    release = dataset.sum("age", bounds="private", rows_per_unit=8, where="age < 1000").release(SURE)
    assert (release.table["bounds_low"], release.table["bounds_high"]) == ((0,), (128,))
    assert release.value == sum(row["age"] for row in rows if row["age"] is not None and row["age"] < 1000)
    usual = dataset.mean("age", bounds="private", where="age < 1000").release(SURE)
    assert usual.table["bounds_high"] == (128,)
    ages = [row["age"] for row in rows if row["age"] is not None and row["age"] < 1000]
    assert abs(usual.value - sum(ages) / len(ages)) < 3
    signed = dataset.mean("pay", bounds="private", by="city", keys=["a", "b"], where="pay < 1000").release(SURE)
    assert set(signed.table["bounds_low"]) == {-1024.0}
    assert set(signed.table["bounds_high"]) == {1024.0}
    spread = dataset.variance("age", bounds="private", where="age < 1000").release(8)
    assert 600 < spread.value < 1100  # uniform on 0 to 99: 833


def test_rows_per_unit_are_enough_for_most(people):
    dataset, rows = people
    release = dataset.count(rows_per_unit="private").release(5)
    assert release.table["rows_per_unit"] == (8,)
    assert abs(release.value - len(rows)) < 60
    total = dataset.sum("age", bounds=(0, 100), rows_per_unit="private", by="city", keys=["a", "b"]).release(5)
    assert set(total.table["rows_per_unit"]) <= {4, 8}


def test_groups_per_unit_are_enough_for_most(people):
    dataset, rows = people
    keys = {"city": ["a", "b"], "age": list(range(100))}
    release = dataset.count(keys=keys, of="rows", groups_per_unit="private").release(20)
    assert set(release.table["groups_per_unit"]) <= {4, 8}
    few = dataset.count(by="city", keys=["a", "b"], groups_per_unit="private").release(5)
    assert set(few.table["groups_per_unit"]) == {2}
    truth = len({row["who"] for row in rows if row["city"] == "a"})
    assert abs(few.table["value"][0] - truth) < 30


def test_groups_per_unit_of_means_and_quantiles(people):
    """Half of the people are in two cities; whoever is not left out counts in both."""
    dataset, rows = people
    cities = ["a", "b"]
    ages = [min(row["age"], 100) for row in rows if row["city"] == "a" and row["age"] is not None]
    asked = {"by": "city", "keys": cities, "groups_per_unit": "private", "rows_per_unit": 16}
    for query, truth, far in (
        (dataset.mean("age", bounds=(0, 100), **asked), np.mean(ages), 8),
        (dataset.proportion("age >= 50", **asked), np.mean([age >= 50 for age in ages]), 0.1),
        (dataset.median("age", bounds=(0, 100), **asked), np.median(ages), 8),
        (dataset.quantile("age", ["1/4", "1/2"], bounds=(0, 100), **asked), np.quantile(ages, 0.25), 8),
    ):
        release = query.release(20)
        assert set(release.table["groups_per_unit"]) == {2}
        assert abs(release.table["value"][0] - truth) < far
        plan = query.plan(20)
        assert plan.cost.epsilon <= 20
        assert "groups per unit" in str(plan)


def test_every_option_has_the_price_of_the_answer(people):
    """Also of a quantile, whose price is that of several events: whichever is chosen costs what was charged."""
    dataset, _ = people
    asked = {"by": "city", "keys": ["a", "b"], "groups_per_unit": "private"}
    for query in (
        dataset.quantile("age", ["1/4", "1/2"], bounds=(0, 100), rows_per_unit=2, interval_share="1/2", **asked),
        dataset.mean("age", bounds=(0, 100), **asked),
    ):
        for price in (Privacy(1), Privacy(1, "1e-6"), Privacy(rho="1/10"), Privacy(mu="1/2")):
            _, second = split_price(price, Fraction(1, 10))
            how = query.answer_plan(price)
            assert covers(price, how.event)
            for option in query.options:
                assert covers(second, option.answer_plan(second).event)


def test_quantiles_need_no_bounds(people):
    """No share of the price: the same mechanism on a public scale, whatever the data is."""
    dataset, rows = people
    query = dataset.quantile("pay", [0, "1/2", 1], bounds="private", rows_per_unit=7)
    release = query.release(5)
    pays = sorted(row["pay"] for row in rows if row["pay"] is not None)
    assert release.table["value"] == tuple(sorted(release.table["value"]))
    assert abs(release.table["value"][1] - pays[len(pays) // 2]) < 12
    assert -305 < release.table["value"][0] < -200
    assert 800 < release.table["value"][2] < 1000
    text = " ".join(str(query.plan(1)).split())
    assert "no share of the price is spent on bounds" in text
    assert "to know them would save" in text
    assert covers(Privacy(1), query.answer_plan(Privacy(1)).event)
    assert query.parameters()["grid"] == ["magnitudes", "10000000000", 3843]
    by_city = dataset.median("age", bounds="private", by="city", keys=["a", "b"]).release(2)
    assert all(40 < value < 60 for value in by_city.table["value"])


@pytest.mark.parametrize("kind", [Kind.INTEGER, Kind.REAL])
def test_the_public_scale_has_a_number_within_a_hundredth(kind):
    scale = magnitudes(kind)
    assert list(scale) == sorted({*scale, *(-point for point in scale)})
    dice = random.Random(1)
    for _ in range(1000):
        value = 10 ** dice.uniform(0, 9.9)
        value = round(value) if kind is Kind.INTEGER else value
        assert min(abs(float(point) - value) for point in scale[len(scale) // 2 :]) <= 0.0125 * value


def test_one_request_one_debit_one_record(people):
    dataset, _ = people
    query = dataset.sum("age", bounds="private", where="age < 1000")
    before = len(list(dataset.ledger.entries()))
    first = query.release("1/2", request_id="once")
    kinds = len(list(dataset.ledger.entries())) - before
    assert str(first.cost) == "ε = 1/2"
    assert query.release("1/2", request_id="once").table == first.table
    assert len(list(dataset.ledger.entries())) == before + kinds
    noisy, place, answer = first.recorded
    assert len(noisy) == len(query.edges) - 1
    assert first.with_confidence("9/10").table["bounds_high"] == first.table["bounds_high"]
    assert 0 <= place < len(query.options)
    assert len(answer) == 1


def test_the_plan_says_what_knowing_would_save(people):
    dataset, _ = people
    text = " ".join(str(dataset.count(rows_per_unit="private").plan(1)).split())
    assert "0.1 of the price, ε = 0.1, chooses the rows per unit among 11 public options" in text
    assert "would save that share" in text


BY_CITY = {"by": "city", "keys": ["a", "b"], "groups_per_unit": 2}
QUESTIONS = {
    "count": lambda d: d.count(rows_per_unit="private", **BY_CITY),
    "sum": lambda d: d.sum("age", bounds="private", rows_per_unit=3, **BY_CITY),
    "sum of rows": lambda d: d.sum("age", bounds=(-3, 5), rows_per_unit="private", **BY_CITY),
    "mean": lambda d: d.mean("pay", bounds="private", rows_per_unit=3, **BY_CITY),
    "variance": lambda d: d.variance("age", bounds="private", rows_per_unit=3),
}


CLAIMS = {
    "epsilon": lambda price: Pure(price.epsilon),
    "epsilon and delta": lambda price: Approximate(price.epsilon, price.delta),
    "rho": lambda price: Concentrated(price.rho),
    "mu": lambda price: GaussianPrivacy(price.mu_squared),
}


@pytest.mark.parametrize("price", [Privacy(1), Privacy(1, "1e-6"), Privacy(rho="1/2"), Privacy(mu="1/2")], ids=str)
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_two_steps_cost_no_more_than_the_price(people, name, price):
    """Whichever option is chosen, so every one of them is looked at, and what its question would be charged."""
    query = QUESTIONS[name](people[0])
    how = query.answer_plan(price)
    assert covers(price, how.event)
    first, second = split_price(price, Fraction(1, 10))
    assert how.mechanism.event.events == (how.mechanism.first.event, how.mechanism.price)
    assert how.mechanism.price == CLAIMS[price.currency](second)
    assert covers(first, how.mechanism.first.event)
    plans = [option.answer_plan(second) for option in query.options]
    assert [plan.mechanism for plan in plans] == list(how.mechanism.options)
    assert all(covers(second, plan.event) for plan in plans)


def test_refusals(people):
    dataset, _ = people
    for ask in (
        lambda: dataset.sum("age", bounds="private", step=1),
        lambda: dataset.sum("age", bounds="public"),
        lambda: dataset.median("age", bounds="private", step=1),
        lambda: dataset.median("age", bounds="private", grid=[0, 1]),
        lambda: dataset.median("city", bounds="private"),
        lambda: dataset.count(groups_per_unit="private"),
        lambda: dataset.count(by="city", keys=["a"], groups_per_unit="private", rows_per_unit="private"),
        lambda: dataset.count(by="city", groups_per_unit="private"),
        lambda: dataset.mean("age", bounds=(0, 100), groups_per_unit="private"),
        lambda: dataset.mean("age", bounds="private", by="city", keys=["a"], groups_per_unit="private"),
        lambda: dataset.mean("age", bounds=(0, 100), by="city", groups_per_unit="private"),
        lambda: dataset.mean(["age"], bounds={"age": (0, 1)}, by="city", keys=["a"], groups_per_unit="private"),
        lambda: dataset.median("age", bounds=(0, 100), groups_per_unit="private"),
        lambda: dataset.median("age", bounds=(0, 100), rows_per_unit="private"),
        lambda: dataset.variance("age", bounds=(0, 100), by="city", keys=["a"], groups_per_unit="private"),
        lambda: dataset.sum("age", bounds="private", by="city"),
        lambda: dataset.sum("age", bounds="private", rows_per_unit="private"),
        lambda: dataset.count(of="units", rows_per_unit="private"),
        lambda: dataset.mean("age", bounds=(0, 100), rows_per_unit="private"),
        lambda: dataset.sum("city", bounds="private"),
    ):
        with pytest.raises(BadParameter):
            ask()

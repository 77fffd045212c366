"""Batches: one price, one debit, one record; the claimed price is never below the truth."""

import json
import random
from decimal import Decimal
from fractions import Fraction
from math import pi, sqrt

import numpy as np
import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.composition import compose, cost_of
from leastnoise.composition.cost import covers
from leastnoise.composition.gaussian import mu_squared_within
from leastnoise.data.predicates import holds
from leastnoise.errors import BadParameter, BudgetExceeded, RequestConflict, UnreachableTarget
from leastnoise.exact.numbers import exact_exp
from leastnoise.model.events import Composed, Fixed, GaussianPrivacy, Parallel, Pure
from leastnoise.model.privacy import Privacy
from leastnoise.release.queries.joint import joined
from leastnoise.release.tables import measure_names
from support.composition import composed, true_delta, worst_pair
from support.judging import is_private
from support.people import CITIES

PRICES = [{"epsilon": 1}, {"epsilon": 1, "delta": "1e-9"}, {"rho": "1/10"}, {"mu": "1/5"}]


def tables(people, groups):
    """Counts by city of rows that differ by a filter: none of them is about the same histogram as another."""
    return [
        people.count(by="city", keys=CITIES, groups_per_unit=many, rows_per_unit=1, where=f"age < {200 + place}")
        for place, many in enumerate(groups)
    ]


def leaves(event):
    """The events that are asked one by one; of disjoint ones the dearest counts, so each is listed."""
    if isinstance(event, Composed | Fixed | Parallel):
        return [leaf for part in event.events for leaf in leaves(part)]
    return [event]


@pytest.mark.slow
@pytest.mark.parametrize("price", PRICES, ids=str)
def test_a_batch_costs_no_more_than_its_price(open_people, price):
    people = open_people(privacy_unit="person")
    batch = people.batch([*tables(people, [1, 2, 3]), people.sum("age", bounds=(0, 100), rows_per_unit=1)])
    plan = batch.plan(**price)
    cost = cost_of(plan.event)
    if "rho" in price:
        assert cost.rho <= Fraction(1, 10)
    elif "mu" in price:
        assert cost.mu_squared is not None
        assert cost.mu_squared <= Fraction(1, 25)
    else:
        epsilon, delta = cost.basic
        assert epsilon <= 1
        assert delta <= Fraction(price.get("delta", 0))
        assert compose(leaves(plan.event), price.get("delta", 0) or 0).epsilon <= 1
    assert len(plan.plans) == 4
    assert all(each.error is not None for each in plan.plans)


@pytest.mark.slow
def test_ten_tables_have_the_errors_of_the_best_split(open_people):
    """Squared errors v/μ² with v the squared sensitivity: the least total is (Σ√v)²/μ² (Cauchy and Schwarz)."""
    people = open_people(privacy_unit="person")
    groups = [1, 1, 1, 2, 2, 2, 3, 3, 3, 3]
    plan = people.batch(tables(people, groups)).plan(epsilon="1/10", delta="1e-9")
    best = sum(map(sqrt, groups)) ** 2 / float(mu_squared_within(Fraction(1, 10), Fraction(1, 10**9))) * 2 / pi
    assert plan.total <= best * 1.01
    even = sum(groups) * len(groups) / sum(map(sqrt, groups)) ** 2
    assert even > 1.03  # an even split would be noticed


def test_weights_move_the_split(open_people):
    people = open_people(privacy_unit="person")
    questions = tables(people, [1, 1])
    shares = people.batch(questions, weights=[9, 1]).plan(rho="1/10").shares
    assert float(shares[0].rho / shares[1].rho) == pytest.approx(3, rel=0.01)  # √9 : √1
    shares = people.batch(questions, weights=[8, 1]).plan(epsilon=1).shares
    assert float(shares[0].epsilon / shares[1].epsilon) == pytest.approx(2, rel=0.05)  # the cube root


@pytest.mark.slow
@pytest.mark.parametrize("price", [{"epsilon": "1e-6"}, {"epsilon": 1, "delta": "1e-9"}, {"rho": "1/10"}], ids=str)
def test_the_unit_of_a_column_does_not_move_the_split(open_people, price):
    """Errors whose squares are beyond all doubles, or below them, have the shares of errors of ordinary size."""
    people = open_people(privacy_unit="person")

    def split(first, second, weights=None):
        scales = [Fraction(2) ** power for power in (first, second)]
        questions = [people.sum("age", bounds=(0, scale), step=scale / 2) for scale in scales]
        return people.batch(questions, weights=weights).plan(**price).shares

    ordinary, heavy = split(0, 0), split(0, 0, [8, 1])
    assert ordinary == split(490, -490) == split(490, 490) == split(-490, -490)
    assert heavy == split(490, 490, [8 * 10**28, 10**28]) != ordinary


@pytest.mark.slow
def test_one_debit_one_record_one_id(open_people, people):
    dataset = open_people(privacy_unit="person", budget=(3, "1e-6"))
    batch = dataset.batch(tables(dataset, [1, 2]))
    first = batch.release(epsilon=1, delta="1e-7", request_id="monthly")
    spent = dataset.left
    again = dataset.batch(tables(dataset, [1, 2])).release(epsilon=1, delta="1e-7", request_id="monthly")
    assert [release.table for release in again] == [release.table for release in first]
    assert dataset.left == spent
    spending = [row for row in dataset.ledger.entries() if json.loads(row.body)["kind"] in ("reserve", "debit")]
    assert len(spending) == 1
    with pytest.raises(RequestConflict):
        dataset.batch(tables(dataset, [2, 1])).release(epsilon=1, delta="1e-7", request_id="monthly")
    with pytest.raises(BudgetExceeded):
        batch.release(epsilon=3, delta="1e-7")
    assert dataset.left == spent
    truth = {city: sum(row["city"] == city for row in people[1]) for city in CITIES}
    assert set(first[0].table["city"]) == set(truth)


@pytest.mark.slow
def test_a_claim_is_never_below_the_truth():
    """200 random lists of pure events with rational e^ε, composed exactly: every claim that is accepted is true."""
    rng, accepted = random.Random(7), 0
    for _ in range(200):
        events = [Pure(f"ln({rng.choice(['3/2', '5/4', '2', '9/8', '6/5'])})") for _ in range(rng.randrange(2, 7))]
        delta = Fraction(1, rng.choice([10, 100, 1000]))
        total = Privacy(f"ln({rng.choice([2, 3, 4, 6])})", delta)
        truth = true_delta(composed(map(worst_pair, events)), exact_exp(total.epsilon))
        try:
            cost_of(Fixed(events, total.epsilon, delta))
        except BadParameter:
            continue
        accepted += 1
        assert truth <= delta
    assert accepted > 40


def test_gaussian_claims_are_exact():
    fits = mu_squared_within(Fraction(1), Fraction(1, 10**6))
    cost_of(Fixed([GaussianPrivacy(fits / 4)] * 4, 1, "1e-6"))
    with pytest.raises(BadParameter, match="cost more together"):
        cost_of(Fixed([GaussianPrivacy(fits / 4 * (1 + Fraction(1, 2**30)))] * 4, 1, "1e-6"))


def test_disjoint_questions_cost_once(open_people):
    rows = open_people()  # single rows are protected
    young, old, all_ages = rows.count(where="age < 40"), rows.count(where="age >= 40"), rows.count()
    plan = rows.batch([young, old, all_ages]).plan(epsilon=1)
    assert plan.groups == ((0, 1), (2,))
    assert plan.shares[0] == plan.shares[1]
    assert cost_of(plan.event).epsilon <= 1
    assert plan.shares[0].epsilon + plan.shares[2].epsilon > Fraction(99, 100)
    cities = [rows.count(by="city", keys=[city]) for city in CITIES]
    assert rows.batch(cities).groups == ((0, 1, 2),)


def test_persons_may_have_rows_on_both_sides(open_people):
    persons = open_people(privacy_unit="person")
    both = [persons.count(where="age < 40"), persons.count(where="age >= 40")]
    assert persons.batch(both).groups == ((0,), (1,))
    by_id = [persons.count(where="person < 350"), persons.count(where="person >= 350")]
    assert persons.batch(by_id).groups == ((0, 1),)
    also = [persons.count(where="person < 350 AND age < 40"), persons.count(where="person >= 350 OR person IS NULL")]
    assert persons.batch(also).groups in (((0, 1),), ((0,), (1,)))


@pytest.mark.slow
def test_questions_in_one_group_share_no_unit(open_people, people):
    """For random filters, what the batch calls disjoint is so for every person of the table."""
    persons, rows, rng, claimed = open_people(privacy_unit="person"), people[1], random.Random(3), 0
    for _ in range(60):
        cut, other = rng.randrange(700), rng.randrange(700)
        texts = rng.choice(
            [
                (f"person < {cut}", f"person >= {other}"),
                (f"person = {cut}", f"person != {other}"),
                (f"person IN ({cut}, {other})", f"person = {rng.choice([cut, cut + 1])}"),
                (f"age < {cut % 100}", f"age >= {cut % 100}"),
                (f"person <= {cut} AND sex = 'm'", f"person > {other} AND age > 3"),
            ]
        )
        batch = persons.batch([persons.count(where=text) for text in texts])
        if len(batch.groups) == 1:
            claimed += 1
            one, two = ({row["person"] for row in rows if holds(query.where, row)} for query in batch.queries)
            assert one.isdisjoint(two), texts
    assert claimed > 10


@pytest.mark.slow
def test_the_price_of_wanted_errors(open_people):
    people = open_people(privacy_unit="person")
    batch = people.batch(tables(people, [1, 3]))
    for options in ({}, {"delta": "1e-9"}, {"currency": "rho"}, {"currency": "mu"}):
        plan = batch.price([10, 20], **options)
        reached = [each.error.quantiles[each.confidence] for each in plan.plans]
        assert reached[0] <= 10
        assert reached[1] <= 20
        cost = cost_of(plan.event)
        if plan.price.currency in ("epsilon", "epsilon and delta"):
            assert cost.basic[0] <= plan.price.epsilon
            assert cost.basic[1] <= plan.price.delta
    with pytest.raises(UnreachableTarget):
        people.batch([people.mean("age", bounds=(0, 100))]).price([1])  # depends on how many rows there are
    with pytest.raises(BadParameter):
        batch.price([10])


def test_bad_batches_are_refused_and_cost_nothing(open_people, tmp_path):
    people = open_people(privacy_unit="person")
    other = open_people(privacy_unit="person", ledger=tmp_path / "other")
    before = people.left
    question = people.count()
    run = people.running("age", "run", [1, 2, 3])
    for queries in (
        [],
        question,
        "count",
        [question, run],
        [question, 3],
        [question, other.count()],
        [question] * 201,
        None,
    ):
        with pytest.raises(BadParameter):
            people.batch(queries)
    for weights in ([1], ["1e400", 1], ["1e-400", "1e-400"], [1, 0], [1, -1], "11", [1, float("nan")], 3):
        with pytest.raises(BadParameter):
            people.batch([question, question], weights=weights)
    for price in ({}, {"epsilon": 1, "rho": 1}, {"epsilon": 30}, {"epsilon": 1, "delta": "1/2"}, {"epsilon": -1}):
        with pytest.raises(BadParameter):
            people.batch([question]).release(**price)
    assert people.left == before


@pytest.mark.slow
def test_unknown_keys_get_a_delta_of_their_own(open_people):
    people = open_people(privacy_unit="person")
    batch = people.batch([people.count(by="city"), people.count(by="city", keys=CITIES)])
    plan = batch.plan(epsilon=1, delta="1e-6")
    epsilon, delta = cost_of(plan.event).basic
    assert epsilon <= 1
    assert delta <= Fraction(1, 10**6)
    assert len(batch.release(epsilon=1, delta="1e-6")) == 2


@pytest.mark.slow
def test_the_front_door(tmp_path, people):
    with ln.open(people[0], privacy_unit="person", budget=(1, "1e-6"), ledger=tmp_path / "budget") as opened:
        batch = opened.batch([opened.count(), opened.count(by="city", keys=CITIES)])
        plan = batch.plan(epsilon=1, delta="1e-9")
        assert "costs together" in str(plan)
        answers = batch.release(epsilon=1, delta="1e-9")
        assert len(answers) == 2
        assert isinstance(answers[0], ln.Release)


@pytest.mark.slow
def test_questions_without_an_error_and_axes_that_no_filter_can_say(open_people):
    people = open_people(privacy_unit="person")
    certain = people.most_common(by="city", keys=["Lyon"])
    long = people.count(by="city", keys=[f"city {number}" for number in range(25_000)])
    batch = people.batch([certain, people.count(), long])
    for price in PRICES:
        assert len(batch.plan(**price).plans) == 3


@pytest.mark.slow
def test_several_questions_that_need_a_delta_have_a_price(open_people):
    people = open_people(privacy_unit="person")
    unknown = people.count(by="city")
    plan = people.batch([unknown, unknown]).price([20, 20], delta="1e-6")
    assert cost_of(plan.event).basic[1] <= Fraction(1, 10**6)
    assert people.batch([people.count()] * 2).price(["1e30", "1e30"], delta="1e-6").price.epsilon > 0


def test_decimals_that_share_a_double_are_not_disjoint(tmp_path):
    """A filter on decimals compares doubles: one row passes both, and must be paid for twice."""
    table = pa.table({"d": pa.array([Decimal(2**53)] * 5, pa.decimal128(30, 0))})
    with ln.open(table, name="t", budget=5, ledger=tmp_path / "ledger") as opened:
        one, two = opened.count(where=f"d <= {2**53}"), opened.count(where=f"d >= {2**53 + 1}")
        keyed = opened.count(by="d", keys=[Decimal(2**53)])
        binned = opened.count(by="d", bins={"d": [0, 2**53]})
        for pair in ([one, two], [keyed, two], [binned, two]):
            assert opened.batch(pair).groups == ((0,), (1,))
        apart = [opened.count(where="d < 100"), opened.count(where="d >= 100")]
        assert opened.batch(apart).groups == ((0, 1),)


# What is asked about one histogram, in all kinds that can be put together.
BINS = {"age": [0, 20, 40, 60, 80, 120]}
AREAS = {"city": CITIES, "sex": ["m", "f"]}
SHARED = {
    "count and prefix sums": lambda d: [d.count(bins=BINS), d.workload("prefix sums", bins=BINS)],
    "ranges, a matrix and a count": lambda d: [
        d.workload("ranges", by="city", keys=CITIES),
        d.workload([[1, 0, 0], [0, 1, 0], [1, 1, 2], [1, 1, 1]], by="city", keys=CITIES),
        d.count(by="city", keys=CITIES),
    ],
    "hierarchy and count": lambda d: [
        d.hierarchy(["side", "city"], {"n": CITIES[:2], "s": CITIES[2:]}),
        d.count(by="city", keys=CITIES),
    ],
    "tables and count": lambda d: [d.count(keys=AREAS), d.tables(keys=AREAS, ways=1), d.tables(keys=AREAS, ways=[[]])],
    "axes in another order": lambda d: [
        d.count(keys=AREAS),
        d.count(keys=dict(reversed(AREAS.items()))),
        d.tables(keys=dict(reversed(AREAS.items())), ways=[["sex", "city"], ["city"]]),
    ],
    "twice the same": lambda d: [d.count(by="city", keys=CITIES)] * 2,
}
LIMITS = [{}, {"privacy_unit": "person"}, {"privacy_unit": "person", "groups_per_unit": 2, "rows_per_unit": 3}]


@pytest.mark.slow
@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("name", SHARED)
def test_questions_about_the_same_cells_share_one_mechanism_and_no_neighbour_is_told_apart(
    tmp_path, people, monkeypatch, name, limits
):
    """Every person (or some rows) of a small table removed in turn: the joint release keeps its price exactly."""
    monkeypatch.setattr("leastnoise.data.table._fresh_secret", lambda: (2024, 7))
    rows = [row for row in people[1] if row["person"] is not None][:40]
    rows = [{**row, "person": place // 4} for place, row in enumerate(rows)]
    ids = sorted({row["person"] for row in rows})
    fewer = [rows[1:], rows[:-1]] if not limits else [[row for row in rows if row["person"] != one] for one in ids[:5]]
    opened = [
        ln.open(
            pa.Table.from_pylist(listed), name=f"t{place}", budget=(9, "1e-3"), ledger=tmp_path / f"{place}", **limits
        )
        for place, listed in enumerate([rows, *fewer])
    ]
    weights = [Fraction(1), Fraction(2), Fraction(3)]
    for price in (Privacy(1), Privacy(rho="1/10"), Privacy(1, "1e-6")):
        batches = [dataset.batch(SHARED[name](dataset)) for dataset in opened]
        asked = batches[0]._asked(joined(batches[0].queries, weights), weights, price)
        assert len(asked.queries) == 1
        how, (truth, *others) = (
            asked.split.how[0],
            [joined(batch.queries, weights)[0][0].read() for batch in batches],
        )
        assert covers(price, asked.split.event)
        for other in others:
            assert is_private(how.mechanism, how.event, truth, other)
            assert is_private(how.mechanism, how.event, other, truth)
    for dataset in opened:
        dataset.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("price", PRICES, ids=str)
def test_the_better_of_joint_and_separate_is_taken_and_shown(open_people, name, price):
    people = open_people()
    batch = people.batch(SHARED[name](people))
    plan = batch.plan(**price)
    (compared,) = [note for note in plan.notes if "joint" in note]
    joint, separate = (
        float(compared.split(f"{word} ")[1].split(",")[0].split(":")[0]) for word in ("joint", "separate")
    )
    assert plan.total == pytest.approx(min(joint, separate), rel=1e-3)
    assert bool(plan.together) == (joint < separate)
    if plan.together:
        assert plan.together == (tuple(range(len(batch.queries))),)
        assert len(set(plan.shares)) == 1
    answers = batch.release(**price, request_id="all")
    again = people.batch(SHARED[name](people)).release(**price, request_id="all")
    assert [one.table for one in again] == [one.table for one in answers]
    for one in answers:
        value, low, high = one._names
        wide, exact = one.with_confidence("1/1000"), one.table[value]
        assert all(a <= v <= b for v, a, b in zip(exact, one.table[low], one.table[high], strict=True))
        assert wide.table[value] == exact


@pytest.mark.slow
def test_joint_answers_agree_and_are_where_they_should_be(open_people, people):
    dataset = open_people(budget=Privacy("1e6", "1e-3", insist=True))
    cells, sums = dataset.batch(SHARED["count and prefix sums"](dataset)).release(Privacy("1e5", insist=True))
    truth = [sum(row["age"] is not None and a <= row["age"] < b for row in people[1]) for a, b in [(0, 20), (20, 40)]]
    assert cells.table["value"][:2] == tuple(truth)
    assert sums.table["value"][1] == sum(truth)
    assert sums.range(20, 40).value == truth[1]
    assert ln.check(sums.certificate)
    assert cells.whole(1).table["value"] == cells.table["value"]
    plan = dataset.batch(SHARED["tables and count"](dataset)).plan(rho=1)
    assert plan.together
    count, by_one, everybody = dataset.batch(SHARED["tables and count"](dataset)).release(rho=1)
    by_sex = {row["sex"]: row["value"] for row in by_one.table.to_records() if row["table"] == "sex"}
    summed = {sex: sum(r["value"] for r in count.table.to_records() if r["sex"] == sex) for sex in by_sex}
    assert by_sex == pytest.approx(summed, abs=1e-6)
    assert everybody.table["value"][0] == pytest.approx(sum(by_sex.values()), abs=1e-6)
    whole = by_one.whole(2)
    assert whole.table["value"] == tuple(map(int, whole.table["value"]))


@pytest.mark.slow
def test_axes_may_stand_in_another_order(open_people, people):
    dataset = open_people(budget=Privacy("1e6", "1e-3", insist=True))
    asked = SHARED["axes in another order"](dataset)
    truth = {
        (c, s): sum(row["city"] == c and row["sex"] == s for row in people[1]) for c in CITIES for s in AREAS["sex"]
    }
    assert max(truth.values()) - min(truth.values()) > 20
    for found in (
        dataset.batch(asked).release(Privacy("1e5", insist=True)),
        dataset.batch(asked[::-1]).release(Privacy("1e5", insist=True))[::-1],
    ):
        for one in (*found, *(release.whole(1) for release in found)):
            value = measure_names(one.table.keys)[0]
            rows = [row for row in one.table.to_records() if row.get("table", " × ") != "city"]
            assert {(row["city"], row["sex"]): row[value] for row in rows} == pytest.approx(truth, abs=3)
        assert list(found[1].table.columns)[:2] == ["sex", "city"]
    loose = dataset.batch(asked).release(rho="1/100")
    first, second = ({(row["city"], row["sex"]): row["value"] for row in one.table.to_records()} for one in loose[:2])
    assert first == second


def test_a_workload_is_joined_to_cells_in_its_own_order_only(open_people):
    dataset = open_people()
    matrix = np.eye(6, dtype=int).tolist()
    cells = dict(reversed(AREAS.items()))
    asked = [dataset.count(keys=AREAS), dataset.count(keys=cells), dataset.workload(matrix, keys=cells)]
    assert [places for _, places in joined([*asked, asked[0]], [1.0] * 4)] == [(0, 3), (1, 2)]


@pytest.mark.slow
def test_what_is_answered_together_need_not_be_asked_in_a_row(open_people, people):
    dataset = open_people(budget=Privacy("1e6", "1e-3", insist=True))
    cells, sums = SHARED["count and prefix sums"](dataset)
    batch = dataset.batch([cells, dataset.count(by="city", keys=CITIES), sums, dataset.count()])
    assert batch.plan(rho=1).together == ((0, 2),)
    found = batch.release(Privacy("1e5", insist=True), request_id="mixed")
    again = batch.release(Privacy("1e5", insist=True), request_id="mixed")
    assert [one.table for one in again] == [one.table for one in found]
    rows = people[1]
    assert (
        found[0].table["value"][0]
        == found[2].table["value"][0]
        == sum(0 <= (row["age"] or -1) < 20 or row["age"] == 0 for row in rows)
    )
    assert found[1].table["value"] == tuple(sum(row["city"] == city for row in rows) for city in CITIES)
    assert found[3].value == len(rows)


@pytest.mark.slow
def test_only_questions_about_the_same_histogram_are_put_together(open_people):
    dataset = open_people(privacy_unit="person")
    base = dataset.count(by="city", keys=CITIES)
    others = [
        dataset.count(by="city", keys=CITIES[:2]),
        dataset.count(by="city", keys=CITIES, where="age > 3"),
        dataset.count(by="city", keys=CITIES, of="rows"),
        dataset.count(by="city", keys=CITIES, groups_per_unit=2),
        dataset.sum("age", bounds=(0, 9), by="city", keys=CITIES),
        dataset.count(),
        dataset.workload([[1, 0, 0], [1, 1, 0]], by="city", keys=CITIES),  # its columns are not independent
    ]
    for other in others:
        assert dataset.batch([base, other]).plan(rho="1/10").together == ()

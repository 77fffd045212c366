"""Batches: one price, one debit, one record; the claimed price is never below the truth."""

import json
import random
from decimal import Decimal
from fractions import Fraction
from math import pi, sqrt

import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.composition import compose, cost_of
from leastnoise.composition.gaussian import mu_squared_within
from leastnoise.data.predicates import holds
from leastnoise.errors import BadParameter, BudgetExceeded, RequestConflict, UnreachableTarget
from leastnoise.exact.numbers import exact_exp
from leastnoise.model.events import Composed, Fixed, GaussianPrivacy, Parallel, Pure
from leastnoise.model.privacy import Privacy
from support.composition import composed, true_delta, worst_pair
from support.people import CITIES

PRICES = [{"epsilon": 1}, {"epsilon": 1, "delta": "1e-9"}, {"rho": "1/10"}, {"mu": "1/5"}]


def tables(people, groups):
    return [people.count(by="city", keys=CITIES, groups_per_unit=many, rows_per_unit=1) for many in groups]


def leaves(event):
    """The events that are asked one by one; of disjoint ones the dearest counts, so each is listed."""
    if isinstance(event, Composed | Fixed | Parallel):
        return [leaf for part in event.events for leaf in leaves(part)]
    return [event]


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
    for queries in ([], question, "count", [question, 3], [question, other.count()], [question] * 201, None):
        with pytest.raises(BadParameter):
            people.batch(queries)
    for weights in ([1], ["1e400", 1], ["1e-400", "1e-400"], [1, 0], [1, -1], "11", [1, float("nan")], 3):
        with pytest.raises(BadParameter):
            people.batch([question, question], weights=weights)
    for price in ({}, {"epsilon": 1, "rho": 1}, {"epsilon": 30}, {"epsilon": 1, "delta": "1/2"}, {"epsilon": -1}):
        with pytest.raises(BadParameter):
            people.batch([question]).release(**price)
    assert people.left == before


def test_unknown_keys_get_a_delta_of_their_own(open_people):
    people = open_people(privacy_unit="person")
    batch = people.batch([people.count(by="city"), people.count(by="city", keys=CITIES)])
    plan = batch.plan(epsilon=1, delta="1e-6")
    epsilon, delta = cost_of(plan.event).basic
    assert epsilon <= 1
    assert delta <= Fraction(1, 10**6)
    assert len(batch.release(epsilon=1, delta="1e-6")) == 2


def test_the_front_door(tmp_path, people):
    with ln.open(people[0], privacy_unit="person", budget=(1, "1e-6"), ledger=tmp_path / "budget") as opened:
        batch = opened.batch([opened.count(), opened.count(by="city", keys=CITIES)])
        plan = batch.plan(epsilon=1, delta="1e-9")
        assert "costs together" in str(plan)
        answers = batch.release(epsilon=1, delta="1e-9")
        assert len(answers) == 2
        assert isinstance(answers[0], ln.Release)


def test_questions_without_an_error_and_axes_that_no_filter_can_say(open_people):
    people = open_people(privacy_unit="person")
    certain = people.most_common(by="city", keys=["Lyon"])
    long = people.count(by="city", keys=[f"city {number}" for number in range(25_000)])
    batch = people.batch([certain, people.count(), long])
    for price in PRICES:
        assert len(batch.plan(**price).plans) == 3


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

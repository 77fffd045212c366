"""Every question has a JSON form, and the JSON makes the same question; hostile JSON is refused with a typed error."""

import inspect
import json
import pickle
import random
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import leastnoise as ln
from leastnoise.errors import BadParameter, LeastNoiseError, UnknownLabel
from leastnoise.release import Batch, Dataset
from leastnoise.release.calls import (
    _read,
    _write,
    asked_as_json,
    asked_at,
    call_of,
    make_asked,
    questions_of,
    read_written_price,
)

CITIES = ["Lyon", "Metz", "Nice"]
SEXES = {"city": CITIES, "sex": ["f", "m"]}
QUESTIONS = {
    "count": [
        lambda d: d.count(),
        lambda d: d.count("city", CITIES, where=(ln.col("age") >= 18) & ~ln.col("city").is_in(["Lyon"])),
        lambda d: d.count(by="city", keys=iter(CITIES), of="units"),
        lambda d: d.count(bins={"income": [0, Fraction(1, 3), Decimal("1.5"), 1000]}),
        lambda d: d.count(by="city", groups_per_unit=2, rest=True),
        lambda d: d.count(rows_per_unit="private"),
        lambda d: d.count(by="age", bins=np.arange(0, 101, 10)),
        lambda d: d.count(by="age", keys=[1, None, np.int64(3)]),
    ],
    "workload": [
        lambda d: d.workload("ranges", by="age", bins=[0, 20, 50, 100]),
        lambda d: d.workload(np.array([[1, 1, 0], [0, 1, 1]]), by="city", keys=CITIES, names=("a", "b")),
    ],
    "tables": [lambda d: d.tables(by=["city", "sex"], ways=[["city"], []], keys=SEXES, goal="largest")],
    "sum": [lambda d: d.sum("income", (0, 1000), step="1/4", by="sex", keys={"f", "m"})],
    "mean": [
        lambda d: d.mean("age", bounds=(0, 100), expected_rows=100),
        lambda d: d.mean("age", bounds="private", expected_rows=100),
        lambda d: d.mean(["age", "income"], bounds={"age": (0, 100), "income": (0, "1/3")}),
    ],
    "proportion": [lambda d: d.proportion(ln.col("age") >= 65, by="city", keys=CITIES)],
    "ratio": [lambda d: d.ratio("income", "age", {"income": (-5, 1000), "age": (0, 100)}, step={"age": 1})],
    "deviation": [lambda d: d.deviation("age", bounds=(0, 100))],
    "count_distinct": [lambda d: d.count_distinct("city", groups_per_unit=2)],
    "min": [lambda d: d.min("age", bounds=(0, 100))],
    "max": [lambda d: d.max("age", bounds=(0, 100))],
    "variance": [lambda d: d.variance("age", bounds=(0, 100.5))],
    "median": [lambda d: d.median("age", bounds=(0, 100), step=Decimal("0.5"))],
    "quantile": [lambda d: d.quantile("age", [0.25, "1/2"], grid=range(0, 101, 5), rows_per_unit=2)],
    "most_common": [lambda d: d.most_common(2, by="city", keys=CITIES)],
    "choose": [
        lambda d: d.choose({"$date": "age < 18", "date": ln.col("age") >= 18}),
        lambda d: d.choose(["age < 18", ln.col("sex") == "f"]),
        lambda d: d.choose(by="city", keys=CITIES, sum_of="income", bounds=(0, 1000)),
    ],
    "decision": [lambda d: d.decision(at_least=100), lambda d: d.decision(by="city", keys=CITIES)],
    "design": [
        lambda d: d.design("city", keys=CITIES, at_most=3, prior=[1, "1/2", 0.25, Fraction(1, 3)]),
        lambda d: d.design(at_most=100, prior={40: 1, 50: 2}, loss="squared", where="age >= 18"),
    ],
    "graph": [
        lambda d: d.graph("degrees", "city", "sex", [*CITIES, "f"], where="age > 3", groups_per_unit=2),
        lambda d: d.graph("cut", "city", "sex", nodes=CITIES),
    ],
    "sorted_counts": [lambda d: d.sorted_counts("city", 700, top=3)],
    "batch": [lambda d: d.batch([d.count(), d.mean("age", bounds=(0, 100))], weights=[1, Fraction(1, 3)])],
}
CASES = [(name, place) for name, makers in QUESTIONS.items() for place in range(len(makers))]


@pytest.fixture(scope="module")
def people(people, tmp_path_factory):
    place = tmp_path_factory.mktemp("calls") / "ledger"
    with ln.open(people[0], privacy_unit="person", budget=(4, "1e-6"), ledger=place) as dataset:
        yield dataset


def _bound(question):
    if isinstance(question, Batch):
        return [[query.recorded_as, query.parameters()] for query in question.queries], question.weights
    return question.recorded_as, question.parameters()


@pytest.mark.parametrize(("name", "place"), CASES)
def test_a_question_comes_back_from_its_json(people, name, place):
    question = QUESTIONS[name][place](people)
    text = json.dumps(question.to_dict(), allow_nan=False)
    again = people.ask(json.loads(text))
    assert json.loads(text)["question"] == name
    assert _bound(again) == _bound(question)  # all that a request id is bound to
    assert again.to_dict() == question.to_dict()


def test_every_method_that_makes_a_question_is_among_these():
    """A new question needs no new code here, but a case of its own."""
    made = {
        name
        for name, method in inspect.getmembers(Dataset, inspect.isfunction)
        if method.__annotations__.get("return") in ("Query", "Batch", "Query | Batch")
        and not name.startswith("_")
        and name != "ask"
    }
    assert set(questions_of(Dataset)) == made
    assert set(QUESTIONS) <= made


def test_what_is_passed_may_change_afterwards(people):
    keys = ["Lyon", "Metz"]
    question = people.count(by="city", keys=keys)
    keys.append("Nice")
    assert question.to_dict()["keys"] == ["Lyon", "Metz"]


def test_a_release_can_still_be_pickled_and_holds_no_call(people):
    question = people.count(by="city", keys=CITIES, where=ln.col("age") > 3)
    assert "call" not in vars(question.public)
    assert pickle.loads(pickle.dumps(question.plan(1))).question == question.question  # noqa: S301 - its own bytes


def test_dates_decimals_and_fractions_say_what_they_are(people):
    asked = people.count(by="age", keys=[1]).to_dict()
    asked["bins"], asked["keys"] = [0, {"$fraction": "1/3"}, {"$decimal": "2.50"}], None
    assert people.ask(asked).axes[0].edges == (0, Fraction(1, 3), Fraction(5, 2))
    with pytest.raises(BadParameter):
        people.count(by="age", keys=[date(2024, 1, 1)])  # no key of this column, but it has a JSON form
    for value in (date(2024, 2, 29), Decimal("1.50"), Fraction(-1, 3), {"$date": "x"}, {1: "a"}):
        assert _read(json.loads(json.dumps(_write(value)))) == value


@pytest.mark.parametrize(
    "price",
    [ln.Privacy("ln(3)"), ln.Privacy(1, "1e-6"), ln.Privacy(rho="1/10"), ln.Privacy(mu=1), ln.Privacy(30, insist=True)],
)
def test_a_price_comes_back(people, price):
    asked = json.loads(json.dumps(asked_at(people.count(), price)))
    assert read_written_price(asked["price"]) == price
    assert read_written_price(asked["price"]).insists == price.insists


@pytest.mark.parametrize(
    "price", [None, [], {}, {"epsilon": True}, {"epsilon": [1]}, {"eps": 1}, {"epsilon": "nan"}, {"insist": 1}]
)
def test_what_is_no_price_is_refused(price):
    with pytest.raises(LeastNoiseError):
        read_written_price(price)


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        (None, BadParameter),
        ([], BadParameter),
        ("count", BadParameter),
        ({}, BadParameter),
        ({"question": 3}, BadParameter),
        ({"question": "cuont"}, UnknownLabel),
        ({"question": "close"}, UnknownLabel),
        ({"question": "__repr__"}, UnknownLabel),
        ({"question": "ask"}, UnknownLabel),
        ({"question": "require_ready"}, UnknownLabel),
        ({"question": "count", "self": 1}, UnknownLabel),
        ({"question": "count", "whre": "age > 1"}, UnknownLabel),
        ({"question": "sum"}, BadParameter),
        ({"question": "count", "steps": {}}, BadParameter),
        ({"question": "count", "steps": [{}] * 100}, BadParameter),
        ({"question": "count", "steps": [{"step": "close"}]}, UnknownLabel),
        ({"question": "count", "by": {"$nonsense": "x"}}, BadParameter),
        ({"question": "count", "by": {"$date": "2024-02-30"}}, BadParameter),
        ({"question": "count", "by": {"$fraction": "1/0"}}, BadParameter),
        ({"question": "count", "by": {"$fraction": "1e999999999"}}, BadParameter),
        ({"question": "count", "by": {"$decimal": "x"}}, BadParameter),
        ({"question": "count", "by": {"$dict": [[[], 1]]}}, BadParameter),
        ({"question": "count", "by": {"$dict": "ab"}}, BadParameter),
        ({"question": "batch", "queries": []}, BadParameter),
        ({"question": "batch", "queries": "count"}, BadParameter),
        ({"question": "batch", "queries": [{"question": "batch", "queries": []}]}, BadParameter),
    ],
)
def test_hostile_json_is_refused(people, asked, kind):
    with pytest.raises(kind):
        people.ask(asked)


def _hostile(dice, depth=0):
    leaves = [None, True, 0, -1, 10**400, 1e308, -0.0, "", "age", "city", "a\0b", "\ud800", "(" * 2000, "x" * 10**5]
    if depth > 3 or dice.random() < 0.5:
        return dice.choice(leaves)
    inner = [_hostile(dice, depth + 1) for _ in range(dice.randrange(4))]
    if dice.random() < 0.5:
        return inner
    names = dice.choices(["age", "city", "$date", "$dict", "$decimal", "", "question", "steps"], k=len(inner))
    return dict(zip(names, inner, strict=True))


def test_no_json_makes_an_untyped_error(people):
    """Any JSON for any argument of any question gives a question or a typed error."""
    dice, refused = random.Random(20), 0
    for name, signature in questions_of(Dataset).items():
        for _ in range(60):
            chosen = dice.sample(list(signature.parameters), dice.randint(1, len(signature.parameters)))
            given = {each: _hostile(dice) for each in chosen}
            for each, parameter in signature.parameters.items():
                if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD:
                    given.setdefault(each, _hostile(dice))
            try:
                people.ask({"question": name, **given})
            except LeastNoiseError:
                refused += 1
    assert refused > 500


def test_steps_are_remembered_in_order():
    """A method that makes another dataset stands before the question."""

    @asked_as_json
    class Steps:
        made = ()

        def after(self, *, more: int = 0, **columns: str) -> "Dataset":
            found = Steps()
            found.made = (*self.made, (more, columns))
            return found

        def count(self, by: str | None = None) -> "Query":  # noqa: F821
            question = type("Question", (), {})()
            question.of, question.by = self.made, by
            return question

    question = Steps().after(more=2, a="x").after().count(by="c")
    asked = json.loads(json.dumps(call_of(question)))
    again = make_asked(Steps(), asked)
    assert [step["step"] for step in asked["steps"]] == ["after", "after"]
    assert (again.of, again.by) == (question.of, question.by) == (((2, {"a": "x"}), (0, {})), "c")

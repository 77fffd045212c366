"""Wanted errors of the answers of a publication: planned in proportion, kept at the price that is found."""

import pickle
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.errors import BadParameter, LeastNoiseError
from leastnoise.release.queries.joint import joined

SIZES = {"a": 4, "b": 6, "c": 3}
KEYS = {name: range(size) for name, size in SIZES.items()}
WAYS = [["a", "b"], ["b", "c"], ["a"]]
TREE = {0: [0, 1, 2], 1: [3, 4, 5]}
QUESTIONS = {
    "tables": (lambda data, **aim: data.tables(list(SIZES), WAYS, KEYS, **aim), [10, 20, 3], 3),
    "hierarchy": (lambda data, **aim: data.hierarchy(["g", "b"], TREE, **aim), {"all": 2, "g": 7, "b": 10}, 9),
    "workload": (lambda data, **aim: data.workload("prefix sums", by="b", keys=range(6), **aim), [3, 3, 3, 3, 3, 1], 6),
}


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(7)
    columns = {name: pa.array(rng.integers(0, size, 500)) for name, size in SIZES.items()}
    budget = ln.Privacy(rho=500, insist=True)
    with ln.open(pa.table(columns), name="t", budget=budget, ledger=tmp_path / "ledger") as dataset:
        yield dataset


def targets_of(name, targets):
    """The wanted error of each squared error that a mechanism states."""
    if name == "hierarchy":
        return [targets["b"]] * 6 + [targets["g"]] * 2 + [targets["all"]]
    return targets


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("price", [{"mu": 1}, {"epsilon": 1}])
def test_the_largest_error_beside_its_target_is_the_least_that_is_proven(data, name, price):
    """Under Gaussian noise it meets the bound; under any noise it is no worse than what other aims find."""
    make, targets, answers = QUESTIONS[name]
    wanted = targets_of(name, targets)
    assert len(wanted) == answers

    def squared(plan):
        if name == "tables":
            return plan.mechanism.squared_errors()
        return make(data).problem(ln.Privacy(**price)).squared_errors(plan.mechanism)

    def farthest(plan):
        squares = squared(plan)
        return max(s / Fraction(t) ** 2 for s, t in zip(squares, wanted, strict=True))

    plan = make(data, targets=targets).plan(**price)
    if "mu" in price:
        bound = plan.reason.lower_bound
        assert bound is None  # that of the question; the note has the one that is proven
        (proven,) = [note for note in plan.notes if "no Gaussian noise" in note]
        least = float(proven.split("less than ")[1].split(";")[0].strip("."))
        assert farthest(plan) == pytest.approx(least**2, rel=1e-4)
        others = [make(data).plan(**price), make(data, goal="largest").plan(**price)]
        assert all(farthest(plan) < farthest(other) for other in others)
    (said,) = [note for note in plan.notes if "divided by its target" in note]
    assert float(said.split("here it is ")[1]) ** 2 == pytest.approx(float(farthest(plan)), rel=1e-4)
    assert float(plan.error.expected) ** 2 == pytest.approx(float(max(squared(plan))))


@pytest.mark.slow
@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("currency", ["mu", "epsilon"])
def test_the_price_of_targets_keeps_every_one_of_them_and_the_next_smaller_one_does_not(data, name, currency):
    make, targets, _ = QUESTIONS[name]
    question = make(data, targets=targets)
    price = question.price(currency=currency).price
    share = question.public.answer_plan(price).share_of_targets
    assert share(Fraction(19, 20)) <= 1
    amount = price.mu if currency == "mu" else price.epsilon
    less = {currency: amount * Fraction(9985, 10000)}
    assert question.public.answer_plan(ln.Privacy(**less)).share_of_targets(Fraction(19, 20)) > 1
    table = question.release(price).table
    reached = [(high - low) / 2 for low, high in zip(table["low"], table["high"], strict=True)]
    asked = targets_of(name, targets)
    if name == "tables":
        asked = [t for t, way in zip(asked, WAYS, strict=True) for _ in range(int(np.prod([SIZES[c] for c in way])))]
    assert all(half <= target * (1 + 1e-9) for half, target in zip(reached, asked, strict=True))


@pytest.mark.parametrize("name", ["tables", "hierarchy"])
def test_weights_move_the_error_and_belong_to_the_question(data, name):
    make, _, _ = QUESTIONS[name]
    weights = [1, 1, 50] if name == "tables" else {"all": 50}
    plain, weighted = make(data).plan(mu=1), make(data, weights=weights).plan(mu=1)
    assert weighted.mechanism.squared_errors()[-1] < plain.mechanism.squared_errors()[-1]
    assert weighted.mechanism.squared_errors()[0] > plain.mechanism.squared_errors()[0]
    make(data).release(rho="1/10", request_id="one")
    with pytest.raises(LeastNoiseError, match="id"):
        make(data, weights=weights).release(rho="1/10", request_id="one")


def test_a_level_that_is_called_all_is_not_the_total(data):
    question = data.hierarchy(["all", "b"], TREE, targets={"all": 7, "b": 10, "all_": 2})
    assert set(question.release(mu=1).table["level"]) == {"all", "b", "all_"}


@pytest.mark.parametrize(
    ("name", "aim"),
    [
        ("tables", {"targets": [1, 2]}),
        ("tables", {"targets": [1, 2, 0]}),
        ("tables", {"targets": [1, 2, 3], "goal": "largest"}),
        ("tables", {"targets": [1, 2, 3], "weights": [1, 2, 3]}),
        ("tables", {"weights": [0, 0, 0]}),
        ("tables", {"weights": [1, 1, -1]}),
        ("tables", {"targets": {"a": 1}}),
        ("hierarchy", {"targets": {"b": 1, "g": 1}}),
        ("hierarchy", {"targets": {"b": 1, "g": 1, "all": 1, "h": 1}}),
        ("hierarchy", {"targets": {"b": 1, "g": -1, "all": 1}}),
        ("hierarchy", {"targets": [1, 1, 1]}),
        ("hierarchy", {"targets": {"b": 1, "g": 1, "all": 1}, "weights": {"b": 2}}),
        ("workload", {"targets": [1, 2]}),
        ("workload", {"targets": [1] * 6, "goal": "largest"}),
    ],
)
def test_aims_that_are_none_are_refused(data, name, aim):
    with pytest.raises(LeastNoiseError):
        QUESTIONS[name][0](data, **aim)


def test_without_targets_an_error_is_named(data):
    with pytest.raises(BadParameter, match="wanted error is missing"):
        QUESTIONS["tables"][0](data).price()


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_release_with_targets_can_be_sent_and_read_elsewhere(data, name):
    make, targets, _ = QUESTIONS[name]
    release = make(data, targets=targets).release(mu=1)
    again = pickle.loads(pickle.dumps(release))  # noqa: S301 - our own bytes
    assert again.table == release.table
    assert again.how.share_of_targets(Fraction(1, 2)) == release.how.share_of_targets(Fraction(1, 2))


@pytest.mark.parametrize("name", ["tables", "hierarchy", "workload"])
def test_questions_that_are_answered_together_keep_their_own_weights(data, name):
    """A count of the same cells is answered with them; what counts more in a question has less error there, too."""
    make, _, answers = QUESTIONS[name]
    heavy = {"tables": [1, 1, 500], "hierarchy": {"all": 500}, "workload": [1, 1, 1, 1, 1, 500]}[name]
    by, keys = (list(SIZES), KEYS) if name == "tables" else ("b", range(6))
    errors = []
    for weights in (None, heavy):
        both = [make(data, weights=weights), data.count(by=by, keys=keys)]
        ((asked, places),) = joined(both, [Fraction(100), Fraction(1)])
        assert places == (0, 1)
        found = asked.answer_plan(ln.Privacy(mu=1)).mechanism.squared_errors()
        errors.append(found[2 if name == "tables" else answers - 1])
    assert errors[1] < errors[0]

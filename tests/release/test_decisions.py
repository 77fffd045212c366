"""Decisions and sorted frequencies on a real table."""

from collections import Counter

import pytest

from leastnoise.checker import check
from leastnoise.errors import BadParameter, RequestConflict
from leastnoise.model.privacy import Privacy
from support.people import CITIES
from support.statistics import fits

SURE = Privacy(50, insist=True)  # wrong with a chance of e^-50


def units_by(rows, column):
    return Counter(value for _, value in {(row["person"], row[column]) for row in rows})


def test_a_threshold_on_units_and_on_rows(open_people, people):
    persons = len({row["person"] for row in people[1]})
    dataset = open_people(privacy_unit="person")
    for at_least, truth in ((persons, True), (persons + 1, False)):
        assert dataset.decision(at_least=at_least).release(SURE).value is truth
    rows = sum(min(n, 3) for n in Counter(row["person"] for row in people[1]).values())
    for at_least, truth in ((rows, True), (rows + 1, False)):
        assert dataset.decision(at_least=at_least, of="rows", rows_per_unit=3).release(SURE).value is truth


def test_a_vote_and_its_tie_break(open_people, people):
    dataset = open_people(privacy_unit="person")
    votes = units_by(people[1], "city")
    assert dataset.decision(by="city", keys=CITIES).release(SURE).value == votes.most_common(1)[0][0]
    nobody = dataset.decision(by="city", keys=["Atlantis", "Utopia"])
    assert nobody.release(SURE).value == "Atlantis"


def test_the_law_of_a_close_call_is_that_of_the_theorem(open_people, people):
    """One unit above the threshold: right with probability λ/(1 + λ), λ = 3; rejected if it were 0.78."""
    persons = len({row["person"] for row in people[1]})
    mechanism = open_people(privacy_unit="person").decision(at_least=persons).plan("ln(3)").mechanism
    wrong = [not answer for answer in mechanism.draw(persons, size=20_000)]
    assert fits(wrong, lambda x: 0.75 if x < 1 else 1, 0, 0)
    assert not fits(wrong, lambda x: 0.78 if x < 1 else 1, 0, 0)


def test_a_plan_says_how_likely_the_right_answer_is(open_people):
    plan = open_people(privacy_unit="person").decision(at_least=50).plan("ln(3)", "1e-6")
    shown = " ".join(str(plan).split())
    assert "right with probability 95.0% from a margin of 3 on, 99.9% from a margin of 7 on" in shown
    odds = [float(plan.mechanism.probability_correct(margin)) for margin in (2, 3, 6, 7)]
    assert odds[0] < 0.95 <= odds[1] < odds[2] < 0.999 <= odds[3]
    assert plan.prices == ()
    assert check(plan.mechanism.certificate())


@pytest.mark.slow
def test_a_repeated_decision_is_the_recorded_one(open_people):
    dataset = open_people(privacy_unit="person")
    question = dataset.decision(by="city", keys=CITIES)
    first = [question.release("1/100", request_id=f"v{i}").value for i in range(20)]
    left = dataset.left.epsilon
    assert [question.release("1/100", request_id=f"v{i}").value for i in range(20)] == first
    assert dataset.left.epsilon == left
    with pytest.raises(RequestConflict):
        dataset.decision(by="city", keys=CITIES[:2]).release("1/100", request_id="v1")


@pytest.mark.parametrize(
    "arguments",
    [{}, {"at_least": 3, "by": "city", "keys": CITIES}, {"at_least": 0}, {"by": "city", "keys": ["Lyon"]}],
)
def test_a_decision_that_is_none_is_refused(open_people, arguments):
    with pytest.raises(BadParameter):
        open_people().decision(**arguments)


def test_sorted_counts_are_the_true_ones_without_noise(open_people, people):
    dataset = open_people()
    truth = sorted(Counter(row["city"] for row in people[1]).values(), reverse=True)
    release = dataset.sorted_counts(by="city", total=2000, top=5).release(Privacy(30, insist=True))
    assert release.table["rank"] == (1, 2, 3, 4, 5)
    assert list(release.table["value"]) == [*truth, 0, 0]


def test_a_unit_counts_once_in_the_sorted_list(open_people, people):
    persons = len({row["person"] for row in people[1]})
    dataset = open_people(privacy_unit="person")
    release = dataset.sorted_counts(by="city", total=700, top=10).release(Privacy(30, insist=True))
    assert sum(release.table["value"]) == persons


@pytest.mark.slow
def test_planning_a_sorted_list_twice_gives_the_same_mechanism(open_people):
    query = open_people().sorted_counts(by="city", total=2000, top=5)
    assert len({query.plan("1/2").mechanism for _ in range(5)}) == 1
    assert query.release(1, request_id="list").table == query.release(1, request_id="list").table

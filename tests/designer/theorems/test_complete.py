"""Complete graphs where wrong answers cost alike: randomized response among the likeliest, for every prior."""

import json
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.checker import check
from leastnoise.designer.theorems import recognise
from leastnoise.designer.theorems.complete import recognise_complete
from leastnoise.errors import BadParameter
from leastnoise.exact import SeededSource
from leastnoise.mechanisms import RandomizedResponse
from leastnoise.model.certificate import Certificate
from leastnoise.model.design_problem import read_problem
from leastnoise.model.graphs import complete, cycle, from_edges
from leastnoise.model.losses import absolute, from_matrix, zero_one
from support.optimum import least_loss
from support.statistics import fits


@pytest.mark.slow
@given(
    weights=st.lists(st.integers(0, 6), min_size=3, max_size=4).filter(any),
    stakes=st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 3)), min_size=4, max_size=4),
    factor=st.sampled_from([Fraction(6, 5), Fraction(2), Fraction(5)]),
)
@settings(max_examples=25)
def test_it_is_the_optimum_for_every_prior(weights, stakes, factor):
    size = len(weights)
    table = [[low if w == x else low + more for x, (low, more) in enumerate(stakes[:size])] for w in range(size)]
    prior = [Fraction(weight, sum(weights)) for weight in weights]
    problem = read_problem(complete(size), f"ln({factor})", prior=prior, loss=from_matrix(table))
    found = recognise_complete(problem)
    assert found.gap == 0
    assert found.loss.lower == least_loss(table, list(combinations(range(size), 2)), factor, prior)
    assert check(found.certificate)
    for x in range(size):
        assert tuple(found.mechanism.pmf(y, x).lower for y in range(size)) == found.channel.row(x)


def test_equal_weights_give_randomized_response():
    found = recognise_complete(read_problem("complete:5", "ln(3)", loss=zero_one))
    classic = RandomizedResponse("ln(3)", 5)
    assert found.loss == classic.error().expected
    assert found.channel == classic.channel(range(5), range(5))


def test_where_e_to_the_epsilon_is_irrational_the_gap_is_tiny_and_proven():
    found = recognise(read_problem("complete:4", 1, prior=[0.4, 0.3, 0.2, 0.1], loss=zero_one))
    assert 0 < found.gap < Fraction(1, 10**18)
    assert check(found.certificate)
    gamma = np.exp(-1)
    best = max(0.4, 0.7 / (1 + gamma), 0.9 / (1 + 2 * gamma), 1 / (1 + 3 * gamma))
    assert float(found.loss) == pytest.approx(1 - best, rel=1e-12)


@pytest.mark.parametrize(
    "problem",
    [
        read_problem("cycle:4", 1, prior=[0.4, 0.3, 0.2, 0.1], loss=zero_one),
        read_problem("complete:4", 1, prior=[0.4, 0.3, 0.2, 0.1], loss=absolute),
        read_problem("complete:4", 1, prior=[0.4, 0.3, 0.2, 0.1], loss=zero_one, delta=0.1),
        read_problem("complete:3", 1, prior=[0.4, 0.3, 0.3], loss=from_matrix([[2, 0, 0], [0, 2, 0], [0, 0, 2]])),
        read_problem("complete:4", 1, loss=zero_one, outputs=[0, 1]),
        read_problem("complete:4", 1, loss=zero_one, objective="worst"),
    ],
    ids=lambda problem: f"{problem.graph.name}-{problem.loss_name}",
)
def test_other_problems_are_left_to_others(problem):
    assert recognise_complete(problem) is None


@pytest.mark.parametrize("answer", ["a", "c"])
def test_the_sampler_follows_the_law(answer):
    graph = from_edges([("a", "b"), ("b", "c"), ("a", "c")])
    found = recognise(read_problem(graph, "ln(2)", prior={"a": 0.5, "b": 0.4, "c": 0.1}, loss=zero_one))
    assert found.mechanism.kept == ("a", "b")
    chance = float(found.mechanism.pmf("a", answer))
    assert chance == (2 / 3 if answer == "a" else 1 / 2)
    drawn = found.mechanism.draw(answer, size=20_000, source=SeededSource(2))
    places = np.array([0 if label == "a" else 1 for label in drawn])
    assert fits(places, lambda _: chance, 0, 0)
    assert not fits(places, lambda _: chance + 0.05, 0, 0)
    assert found.mechanism.draw(answer) in "ab"


def test_one_label_far_likelier_than_all_others_is_always_the_answer():
    found = recognise(read_problem("complete:3", "ln(2)", prior=[0.9, 0.05, 0.05], loss=zero_one))
    assert found.mechanism.kept == (0,)
    assert found.loss.lower == Fraction(1, 10)
    assert found.mechanism.draw(2) == 0
    assert found.mechanism.draw(2, size=3).tolist() == [0, 0, 0]
    assert found.mechanism.pmf(0, 2).lower == 1


def test_a_wrong_answer_is_refused_without_being_shown():
    problem = read_problem("complete:3", "ln(2)", prior=[0.9, 0.05, 0.05], loss=zero_one)
    with pytest.raises(BadParameter) as error:
        recognise(problem).release("secret")
    assert "secret" not in str(error.value)


def test_a_cycle_of_three_is_complete():
    prior = [0.5, 0.3, 0.2]
    one, other = (recognise(read_problem(graph, "ln(2)", prior=prior)) for graph in (cycle(3), complete(3)))
    assert one.loss == other.loss


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, "ln(40)", 8])
def test_many_labels_need_no_table(epsilon):
    """Against the route that writes the dual solution down, on labels that few enough have any weight."""
    weights = [Fraction(1, 2), Fraction(1, 4), *[Fraction(1, 4 * 48)] * 48]
    few = recognise_complete(read_problem("complete:50", epsilon, prior=weights, loss=zero_one))
    many = recognise_complete(read_problem("complete:3000", epsilon, prior=[*weights, *[Fraction(0)] * 2950]))
    assert abs(few.loss.upper - many.loss.upper) < Fraction(1, 10**15)
    assert many.gap < Fraction(1, 10**15)
    assert many.mechanism.kept == few.mechanism.kept
    assert many.mechanism.error().expected.upper == 1
    assert many.mechanism.draw(2999) in many.mechanism.kept
    data = json.loads(many.certificate.to_json())
    assert check(Certificate.from_json(json.dumps(data)))
    swapped = [data["prior"][1], data["prior"][2], data["prior"][0], *data["prior"][3:]]
    changes = [
        {"epsilon": "2"},
        {"value": "1/2"},
        {"lower_bound": "1"},
        {"gap": "1"},
        {"kept": [0, 7, 9]},
        {"kept": []},
    ]
    changes += [{"delta": "1/9"}, {"kept": [0, 0]}, {"kept": [5000]}, {"prior": data["prior"][1:]}]
    changes += [{"prior": swapped}] if len(data["kept"]) < 3 else []
    for change in changes:
        assert not check(Certificate.from_json(json.dumps(data | change))), change

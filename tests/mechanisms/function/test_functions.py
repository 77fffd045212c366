"""Inverse and smooth sensitivity by their definitions, and their privacy on random graphs in rationals."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from leastnoise.checker import check
from leastnoise.composition import cost_of
from leastnoise.errors import BadParameter
from leastnoise.exact import exp_enclosure
from leastnoise.mechanisms import Exponential, InverseSensitivity, SmoothSensitivity
from leastnoise.model.channel import Channel
from leastnoise.model.events import BoundedRange, Pure
from leastnoise.model.graphs import from_edges, path


def random_function(seed, values):
    """A connected random graph with a random function on it."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(4, 9))
    tree = [(int(rng.integers(0, node)), node) for node in range(1, size)]
    more = [pair for pair in combinations(range(size), 2) if pair not in tree and rng.random() < 0.2]
    graph = from_edges(tree + more, range(size))
    return graph, dict(enumerate(rng.integers(0, values, size).tolist()))


FUNCTIONS = [random_function(seed, values) for seed in range(12) for values in (2, 3, 5)]


@pytest.mark.parametrize(("graph", "function"), FUNCTIONS)
def test_changes_are_the_distance_to_the_nearest_node_with_that_value(graph, function):
    mechanism = InverseSensitivity(1, graph, function)
    for x in graph.nodes:
        nearest = [min(graph.distance(x, z) for z in graph.nodes if function[z] == y) for y in mechanism.outputs]
        assert mechanism.changes(x) == tuple(nearest)
        assert mechanism.changes(x)[mechanism.outputs.index(function[x])] == 0


@pytest.mark.slow
@pytest.mark.parametrize("method", [None, "exponential", "permute and flip"])
@pytest.mark.parametrize(("graph", "function"), FUNCTIONS)
def test_inverse_sensitivity_is_private_on_random_graphs(graph, function, method):
    for epsilon in ("2*ln(2)", "2*ln(10)"):
        mechanism = InverseSensitivity(epsilon, graph, function, method)
        assert check(mechanism.channel(graph.nodes, mechanism.outputs), graph, epsilon)


def test_two_values_use_the_whole_epsilon_and_more_values_may_not():
    two = InverseSensitivity("ln(3)", path(6), lambda n: n > 2)
    assert [two.pmf(True, n).lower for n in range(6)] == [Fraction(1, 1 + 3**d) for d in (3, 2, 1)] + [
        Fraction(3**d, 1 + 3**d) for d in (1, 2, 3)
    ]
    assert two.event == Pure(two.epsilon)  # log-ratios reach from -ε to ε: it is of bounded range 2ε only
    assert cost_of(two.event).epsilon == two.epsilon
    three = InverseSensitivity("2*ln(3)", path(9), lambda n: n // 3, "exponential")
    assert three.event == BoundedRange(three.epsilon)
    whole = Exponential("2*ln(3)", three.outputs, monotone=True)  # rate ε
    rows = [[whole.pmf(y, [-d for d in three.changes(n)]).lower for y in three.outputs] for n in range(9)]
    assert not check(Channel(rows), path(9), "2*ln(3)")


def test_permute_and_flip_is_closer_than_the_exponential_law():
    laws = [
        InverseSensitivity("2*ln(2)", "path:12", lambda n: n // 2, method)
        for method in ("permute and flip", "exponential")
    ]
    flip, exponential = (law.error().expected.upper for law in laws)
    assert flip < exponential


def test_the_sign_of_the_thesis_prefers_wrong_answers():
    mechanism = InverseSensitivity("2*ln(2)", "path:7", lambda n: n)
    law = [mechanism.pmf(y, 3).lower for y in range(7)]
    assert law[3] == max(law)
    assert law == law[::-1]


def test_the_error_of_many_values_is_a_bound_of_the_exact_one():
    small = InverseSensitivity(1, "path:30", lambda n: n)
    exact, bound = small.error(), small._choice.error()
    assert exact.expected.upper <= bound.expected.upper
    large = InverseSensitivity(1, "path:200", lambda n: n).error()
    assert not large.attained
    assert large.loss == "changes"


def test_reach_is_the_largest_difference_within_so_many_changes():
    mechanism = InverseSensitivity(1, "path:5", lambda n: Fraction(n * n, 2))
    assert [mechanism.reach(d) for d in range(5)] == [0, Fraction(7, 2), 6, Fraction(15, 2), 8]
    with pytest.raises(BadParameter, match="value"):
        InverseSensitivity(1, "path:3", str).reach(1) and InverseSensitivity(1, "path:3", lambda n: "abc"[n]).reach(1)


def smooth_by_definition(graph, function, growth, x):
    def local(z):
        return max(abs(Fraction(function[z]) - function[w]) for w in graph.neighbours(z))

    return max(local(z) / growth ** graph.distance(x, z) for z in graph.nodes)


VARYING = [(graph, function) for graph, function in FUNCTIONS if len(set(function.values())) > 1]


@pytest.mark.parametrize(("graph", "function"), VARYING)
def test_smooth_sensitivity_is_the_one_of_the_definition(graph, function):
    mechanism = SmoothSensitivity("8*ln(2)", graph, function)
    for x in graph.nodes:
        smooth = mechanism.smooth_sensitivity(x)
        assert smooth == smooth_by_definition(graph, function, mechanism.growth, x)
        assert smooth >= mechanism.local_sensitivity(x)
        assert all(smooth <= mechanism.growth * mechanism.smooth_sensitivity(z) for z in graph.neighbours(x))


@pytest.mark.parametrize("power", [1, 2, 4, 9])
@pytest.mark.parametrize("epsilon", ["1e-9", "1/100", 1, "ln(3)", 30])
def test_smooth_sensitivity_is_private_at_every_epsilon(epsilon, power):
    for graph, function in VARYING[:6]:
        mechanism = SmoothSensitivity(epsilon, graph, {x: Fraction(v, 7) for x, v in function.items()}, power=power)
        assert check(mechanism.certificate())
        growth = mechanism.growth ** (2 * power) * (1 + mechanism._slack) ** 2
        assert growth <= exp_enclosure(mechanism.epsilon, 256).lower
        assert growth >= exp_enclosure(mechanism.epsilon * Fraction(49, 50)).upper - Fraction(1, 10**6)


def test_the_noise_follows_the_data():
    """A function that is steep at one end only: at the other end the answer is nearer to the truth."""
    steep = SmoothSensitivity(8, "path:40", lambda n: max(n - 30, 0) ** 2)
    means = [sum(steep.pmf(y, x).lower * abs(y - max(x - 30, 0) ** 2) for y in steep.outputs) for x in (0, 38)]
    assert 10 * means[0] < means[1]


def test_rounding_the_weights_is_what_the_slack_pays_for():
    mechanism = SmoothSensitivity(1, "path:9", lambda n: n * n)
    for x in range(9):
        for weight, y in zip(mechanism._weights(x), mechanism.outputs, strict=True):
            ratio = 1 + (mechanism.growth - 1) * abs(y - x * x) / mechanism.smooth_sensitivity(x)
            true = 2**mechanism._bits / ratio**mechanism.power
            assert true <= weight <= true * (1 + mechanism._slack)

"""Where no mechanism is best, and which boundary is: exact linear programs against formulas and against each other."""

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.checker import check
from leastnoise.errors import BadBoundary, BadParameter, BadRainbow, UnknownLabel
from leastnoise.mechanisms.rainbow.private_program import read_utility
from leastnoise.model.graphs import complete, cycle, path
from leastnoise.rainbow import (
    BestMechanism,
    NoBestMechanism,
    Operator,
    RainbowGraph,
    after,
    best_boundary,
    best_for,
    dominates,
    find_best,
    optimal_mechanism,
    randomized_response,
    response_boundary,
    violations,
)
from mechanisms.rainbow.examples import RAINBOWS, boundaries, rainbow_graphs

OPERATORS = [Operator("ln(2)"), Operator("ln(3/2)", "1/20")]


@pytest.mark.slow
@settings(max_examples=20)
@given(st.data(), st.sampled_from(OPERATORS))
def test_a_homogeneous_boundary_has_its_best_mechanism(data, operator):
    found = data.draw(rainbow_graphs(largest=4, rainbows=RAINBOWS[:3]))
    boundary = data.draw(boundaries(found.rainbows, operator))
    fixed = {x: boundary[found.rainbow(x)] for c in found.rainbows for x in found.boundary(c)}
    best = find_best(found, fixed, operator.epsilon, operator.delta)
    assert isinstance(best, BestMechanism)
    assert best.channel == optimal_mechanism(found, boundary, operator.epsilon, operator.delta).channel()


@pytest.mark.parametrize("delta", [0, "1/100"])
def test_two_witnesses_rule_out_a_best_mechanism(delta):
    five = RainbowGraph(cycle(5), lambda n: (1, 3, 2) if n == 4 else (1, 2, 3))
    fixed = {0: [0.2, 0.1, 0.7], 3: [0.4, 0.1, 0.5]}
    found = find_best(five, fixed, "ln(2)", delta)
    assert isinstance(found, NoBestMechanism)
    for channel in (found.first, found.second):
        assert check(channel, five.graph, "ln(2)", delta)
        assert all(channel.row(x) == tuple(Fraction(str(p)) for p in law) for x, law in fixed.items())
    assert not dominates(found.first, found.second, five)
    assert not dominates(found.second, found.first, five)
    top = [sum(channel.row(found.dataset)[: found.among]) for channel in (found.first, found.second)]
    assert top[0] < top[1]


def test_one_dataset_at_a_time_the_program_agrees_with_the_operator():
    """Fix one end of a path of two and ask for the best other end: that is what T is."""
    for operator in OPERATORS:
        pair = RainbowGraph(path(2), {0: ("a", "b", "c"), 1: ("b", "a", "c")})
        p = [Fraction(1, 10), Fraction(2, 10), Fraction(7, 10)]
        found = find_best(pair, {0: p}, operator.epsilon, operator.delta)
        assert isinstance(found, BestMechanism)
        swapped = operator([p[1], p[0], p[2]])
        assert found.channel.row(1) == (swapped[1], swapped[0], swapped[2])


@pytest.mark.slow
@settings(max_examples=15)
@given(st.integers(2, 4), st.sampled_from(["0", "1/50", "1/3"]), st.sampled_from(["ln(2)", "ln(6/5)", "1/3"]))
def test_where_all_regions_touch_randomized_response_is_best(count, delta, epsilon):
    rainbows = [(top, *(other for other in range(count) if other != top)) for top in range(count)]
    response = response_boundary(rainbows, epsilon, delta)
    chosen = best_boundary(rainbows, epsilon, delta)
    operator = Operator(epsilon, delta)
    assert set(response.values()) == {randomized_response(operator, count)}
    for boundary in (response, chosen):
        assert not violations(boundary, [(c, d) for c in rainbows for d in rainbows if c != d], operator)
    assert sum(law[0] for law in chosen.values()) == sum(law[0] for law in response.values())


def test_no_mechanism_on_the_complete_graph_beats_randomized_response():
    whole = RainbowGraph(complete(3), lambda n: [(0, 1, 2), (1, 2, 0), (2, 0, 1)][n])
    rival = best_for(whole, {}, "ln(3)", "1/10")
    right = sum(rival.probability(n, n) for n in range(3)) / 3
    assert right == randomized_response(Operator("ln(3)", "1/10"), 3)[0]


def test_regions_that_do_not_touch_leave_more_room():
    """On a line of three regions the middle one is surrounded, and the ends never meet."""
    rainbows = [(0, 1, 2), (1, 0, 2), (2, 1, 0)]
    line = RainbowGraph(path(6), lambda n: rainbows[n // 2])
    assert line.touching == {(0, 1), (1, 2)}
    together, apart = (best_boundary(regions, "ln(2)") for regions in (rainbows, line))
    gain = [sum(law[0] for law in boundary.values()) for boundary in (together, apart)]
    assert gain[0] < gain[1]
    optimal_mechanism(line, apart, "ln(2)")  # valid


@pytest.mark.parametrize("utility", ["best colour", "rank", [5, 4, 0]])
def test_the_whole_line_counts_if_it_has_mass(utility):
    """The chosen boundary is at least as good as others for the masses given, by the mechanism that it leads to."""
    operator = Operator("ln(3/2)", "1/100")
    rainbows = [(0, 1, 2), (1, 0, 2), (2, 1, 0)]
    masses = {rainbows[0]: {0: 1, 3: 5}, rainbows[1]: {0: 1}, rainbows[2]: {1: 2}}
    worth = read_utility(utility, 3)

    def value(boundary):
        return sum(
            mass * sum(w * p for w, p in zip(worth, after(operator, boundary[c], t), strict=True))
            for c, by_distance in masses.items()
            for t, mass in by_distance.items()
        )

    chosen = best_boundary(rainbows, operator.epsilon, operator.delta, utility=utility, masses=masses)
    assert not violations(chosen, [(c, d) for c in rainbows for d in rainbows if c != d], operator)
    plain = best_boundary(rainbows, operator.epsilon, operator.delta, utility=utility)
    response = response_boundary(rainbows, operator.epsilon, operator.delta)
    assert value(chosen) >= max(value(plain), value(response))


def test_all_six_rainbows_of_three_colours():
    six = list(permutations("abc"))
    chosen = best_boundary(six, "ln(2)", utility="rank")
    uniform = {c: (Fraction(1, 3),) * 3 for c in six}
    response = response_boundary(six, "ln(2)")
    assert response[six[1]] == (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    assert not violations(response, [(c, d) for c in six for d in six if c != d], Operator("ln(2)"))
    worth = [
        sum(Fraction(-k) * p for law in b.values() for k, p in enumerate(law)) for b in (chosen, response, uniform)
    ]
    assert worth == sorted(worth, reverse=True)


@pytest.mark.parametrize(
    ("call", "kind", "match"),
    [
        (lambda: read_utility("best", 3), BadParameter, "utility"),
        (lambda: read_utility([1, 2, 3], 3), BadParameter, "worse colour"),
        (lambda: read_utility([1, 2], 3), BadParameter, "3 numbers"),
        (lambda: response_boundary([("a", "b")], 1), BadBoundary, "same best colour"),
        (lambda: best_boundary([("a", "b"), ("b", "a")], 1, masses={}), BadParameter, "masses"),
        (lambda: best_boundary([("a", "b"), ("a", "b")], 1), BadRainbow, "different"),
        (lambda: best_boundary([], 1), BadRainbow, "different"),
        (
            lambda: find_best(RainbowGraph(path(2), {0: ("a", "b"), 1: ("b", "a")}), {0: [1, 0], 1: [1, 0]}, 1),
            BadBoundary,
            "no private mechanism",
        ),
        (
            lambda: best_for(RainbowGraph(path(2), {0: ("a", "b"), 1: ("b", "a")}), {7: [1, 0]}, 1),
            UnknownLabel,
            "no such node",
        ),
        (
            lambda: best_for(RainbowGraph(path(2), {0: ("a", "b"), 1: ("b", "a")}), {0: [1]}, 1),
            BadBoundary,
            "one probability per colour",
        ),
    ],
)
def test_bad_input_is_refused(call, kind, match):
    with pytest.raises(kind, match=match):
        call()

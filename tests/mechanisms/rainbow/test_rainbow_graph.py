"""Regions, boundaries and distances against the definitions; the optimal mechanism against every rival."""

from fractions import Fraction

import networkx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.checker import check
from leastnoise.errors import BadBoundary, BadGraph, BadRainbow, NotAMorphism, UnknownLabel
from leastnoise.mechanisms.rainbow.rainbow_graph import preferred_rows
from leastnoise.mechanisms.rainbow.rainbow_operator import Operator
from leastnoise.model.graphs import Morphism, cycle, from_distance, grid, path
from leastnoise.rainbow import (
    RainbowGraph,
    best_for,
    boundary_morphism,
    boundary_rainbow_graph,
    dominates,
    dominates_lexicographically,
    homogeneous_boundary,
    optimal_mechanism,
    read_boundary,
    require_rainbow_preserving,
    require_valid,
)
from mechanisms.rainbow.examples import RAINBOWS, boundaries, rainbow_graphs
from support.channels import distributions


@pytest.mark.slow
@given(rainbow_graphs())
def test_regions_and_distances_are_those_of_the_definitions(found):
    graph = networkx.Graph(found.graph.edges().tolist())
    for rainbow in found.rainbows:
        region = set(found.region(rainbow))
        edge = {x for x in region if any(y not in region for y in graph[x])}
        assert (set(found.boundary(rainbow)), set(found.interior(rainbow))) == (edge, region - edge)
        for x in region:
            lengths = networkx.single_source_shortest_path_length(graph, x)
            assert found.distance(x) == min(lengths[y] for y in edge)
        assert found.depths()[found.number(rainbow)] == max(map(found.distance, region))


@pytest.mark.slow
@given(rainbow_graphs())
def test_the_boundary_map_is_a_morphism_that_keeps_rainbows(found):
    lines, morphism = boundary_rainbow_graph(found), boundary_morphism(found)
    require_rainbow_preserving(morphism, found, lines)
    assert boundary_rainbow_graph(lines).graph == lines.graph  # folding up what is folded up changes nothing
    for node in found.graph.nodes:
        assert lines.distance(morphism(node)) == found.distance(node)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.data(), st.sampled_from([Operator("ln(2)"), Operator("ln(6/5)", "1/20"), Operator(1, "1/10")]))
def test_the_optimal_mechanism_is_private_and_keeps_the_boundary(data, operator):
    found = data.draw(rainbow_graphs())
    boundary = data.draw(boundaries(found.rainbows, operator))
    best = optimal_mechanism(found, boundary, operator.epsilon, operator.delta)
    channel = best.channel()
    assert check(channel, found.graph, operator.epsilon, operator.delta)
    rows = preferred_rows(channel, found)
    low, high = best.floats()
    for place, node in enumerate(found.graph.nodes):
        assert rows[place] == best.law(node)
        assert all(
            Fraction(a) <= p <= Fraction(b) for a, p, b in zip(low[place], rows[place], high[place], strict=True)
        )
        if found.distance(node) == 0:
            assert rows[place] == boundary[found.rainbow(node)]
    assert channel == boundary_morphism(found).pull_back(
        best.mechanism.on_lines(boundary_rainbow_graph(found).graph.nodes)
    )


@pytest.mark.slow
@settings(max_examples=25)
@given(st.data(), st.sampled_from([Operator("ln(2)"), Operator("ln(3/2)", "1/20")]))
def test_it_dominates_every_rival_even_the_extreme_ones(data, operator):
    """Rivals are corners of the polytope of private mechanisms with the same boundary, by random objectives."""
    found = data.draw(rainbow_graphs(largest=5, rainbows=RAINBOWS[:3]))
    boundary = data.draw(boundaries(found.rainbows, operator))
    fixed = {x: boundary[found.rainbow(x)] for c in found.rainbows for x in found.boundary(c)}
    best = optimal_mechanism(found, boundary, operator.epsilon, operator.delta).channel()
    worth = sorted(data.draw(st.lists(st.integers(0, 5), min_size=3, max_size=3)), reverse=True)
    weights = data.draw(distributions(len(found.graph.nodes)))
    rival = best_for(found, fixed, operator.epsilon, operator.delta, utility=worth, prior=weights)
    assert check(rival, found.graph, operator.epsilon, operator.delta)
    assert dominates(best, rival, found)
    assert dominates_lexicographically(best, rival, found)
    assert homogeneous_boundary(found, fixed) == {c: boundary[c] for c in found.rainbows}


@pytest.mark.slow
def test_a_million_datasets():
    side = 1000
    x, y = np.indices((side, side)).reshape(2, -1)
    rainbows = [("a", "b", "c"), ("b", "a", "c"), ("c", "a", "b")]
    found = RainbowGraph.from_regions(grid(side, side), rainbows, (x > 300).astype(int) + (y > x))
    best = optimal_mechanism(found, {c: ["1/2", "1/4", "1/4"] for c in rainbows}, "0.7", "1e-6")
    low, high = best.floats()
    assert (high - low).max() < 1e-14
    for node in [(0, 0), (300, 17), (999, 1), (500, 500)]:
        place, exact = found.graph.index(node), best.law(node)
        assert all(Fraction(a) <= p <= Fraction(b) for a, p, b in zip(low[place], exact, high[place], strict=True))


def test_inhomogeneous_conditions_are_noticed():
    five = RainbowGraph(cycle(5), lambda n: (1, 3, 2) if n == 4 else (1, 2, 3))
    conditions = {0: [0.2, 0.1, 0.7], 3: [0.4, 0.1, 0.5], 4: [0.4, 0.5, 0.1]}
    assert homogeneous_boundary(five, conditions) is None
    assert homogeneous_boundary(five, {**conditions, 3: [0.2, 0.1, 0.7]})[(1, 2, 3)][2] == Fraction(7, 10)
    with pytest.raises(BadBoundary, match="boundary dataset"):
        homogeneous_boundary(five, {0: [1, 0, 0]})


AB, BA = ("a", "b"), ("b", "a")
TWO = RainbowGraph(path(4), {0: AB, 1: AB, 2: BA, 3: BA})


def test_an_invalid_boundary_names_the_regions_and_the_excess():
    with pytest.raises(BadBoundary, match=r"\('b', 'a'\) and \('a', 'b'\).*P\(\{'b'\}\) is too large by 9/20"):
        optimal_mechanism(TWO, {AB: [0.9, 0.1], BA: [0.65, 0.35]}, "ln(2)")
    require_valid(read_boundary({AB: [0.9, 0.1], BA: [0.1, 0.9]}), [], Operator(0))  # regions that do not touch


@pytest.mark.parametrize(
    ("call", "kind", "match"),
    [
        (lambda: RainbowGraph(path(2), {0: ("a", "b"), 1: ("a", "a")}), BadRainbow, "every colour once"),
        (lambda: RainbowGraph(path(2), {0: ("a", "b"), 1: ("a", "c")}), BadRainbow, "every colour once"),
        (lambda: RainbowGraph(path(2), {0: "ab", 1: "ba"}), BadRainbow, "list of colours"),
        (lambda: RainbowGraph(path(2), {0: AB}), UnknownLabel, "no preference"),
        (lambda: RainbowGraph(path(2), lambda _: AB), BadRainbow, "same preference"),
        (lambda: RainbowGraph(from_distance([[0, 1], [1, 0]]), {0: AB, 1: BA}), BadGraph, "metric"),
        (lambda: RainbowGraph.from_regions(path(2), [AB, BA], [0, 0]), BadRainbow, "regions"),
        (lambda: RainbowGraph.from_regions(path(2), [AB, BA], [0, 1, 1]), BadRainbow, "regions"),
        (lambda: TWO.region(("a", "c")), BadRainbow, "every colour once"),
        (lambda: optimal_mechanism(TWO, {AB: [0.5, 0.5]}, 1), BadBoundary, "no boundary distribution"),
        (lambda: read_boundary({}), BadBoundary, "rainbow: distribution"),
        (lambda: read_boundary({AB: [1]}), BadBoundary, "one probability per colour"),
        (lambda: read_boundary({AB: {"c": 1}}), BadBoundary, "no rainbow"),
        (
            lambda: require_rainbow_preserving(Morphism(path(4), path(4), lambda n: 3 - n), TWO, TWO),
            NotAMorphism,
            "another preference",
        ),
        (
            lambda: require_rainbow_preserving(Morphism(path(2), path(2), lambda n: n), TWO, TWO),
            NotAMorphism,
            "other graphs",
        ),
    ],
)
def test_bad_input_is_refused(call, kind, match):
    with pytest.raises(kind, match=match):
        call()

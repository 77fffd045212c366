"""Distances against breadth-first search on enumerated graphs; privacy of whole databases by the checker."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from leastnoise.checker import check
from leastnoise.errors import BadBoundary, BadGraph, BadParameter, BadRainbow, UnknownLabel
from leastnoise.exact import SeededSource
from leastnoise.mechanisms.choice import Exponential, PermuteAndFlip
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import from_edges, hamming, histograms
from leastnoise.rainbow import Decision, Operator, PathLaw, PluralityDecision, RainbowGraph, RainbowMechanism
from mechanisms.rainbow.examples import votes
from support.statistics import fits


def same_as_search(decision, graph, answer_of=lambda node: node, inner=lambda _: True):
    """The decision's winner and distance are those that a search on the graph of datasets finds."""
    places = {node: decision.locate(answer_of(node)) for node in graph.nodes}
    found = RainbowGraph(graph, {node: decision.rainbow(place) for node, (place, _) in places.items()})
    checked = [node for node in graph.nodes if inner(node)]
    assert checked
    assert [found.distance(node) for node in checked] == [places[node][1] for node in checked]


def sums(low, high, furthest):
    nodes = list(range(low, high + 1))
    return from_edges([(x, y) for x, y in combinations(nodes, 2) if y - x <= furthest], nodes)


@pytest.mark.parametrize("contribution", [1, 2, 3, 5])
@pytest.mark.parametrize("at_least", [1, 4, 9])
def test_the_distance_of_a_count(at_least, contribution):
    same_as_search(Decision.threshold(1, at_least=at_least, contribution=contribution), sums(0, 25, contribution))


@pytest.mark.parametrize(
    ("bounds", "replace", "furthest"), [((-2, 3), False, 3), ((-4, 1), False, 4), ((-2, 3), True, 5)]
)
def test_the_distance_of_a_sum(bounds, replace, furthest):
    decision = Decision.sign(1, bounds=bounds, replace=replace)
    assert decision.step == furthest
    same_as_search(decision, sums(-40, 40, furthest))


def test_the_distance_of_a_sum_of_rationals():
    decision = Decision.sign(1, bounds=("-1/2", "1/3"))
    assert [decision.locate(x) for x in ("0", "1/2", "0.6", "-0.1", "-1/2", "-3/4", 1e-300)] == [
        (0, 0), (0, 1), (0, 1), (1, 0), (1, 0), (1, 1), (0, 0),
    ]  # fmt: skip


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("contribution", [1, 2])
@pytest.mark.parametrize("replace", [False, True])
def test_the_distance_of_a_vote(count, contribution, replace):
    graph = votes(6 if count == 2 else 4, count, replace=replace, contribution=contribution)
    decision = PluralityDecision(1, options=range(count), contribution=contribution, replace=replace)
    same_as_search(decision, graph)


@pytest.mark.parametrize(("people", "count"), [(1, 2), (5, 2), (6, 3), (4, 4)])
def test_the_distance_where_everyone_votes_once_and_one_changes(people, count):
    """On histograms with a public total, and on the lists of votes themselves."""
    decision = PluralityDecision(1, options=range(count), replace=True)
    same_as_search(decision, histograms(people, count))
    if people * count <= 18:
        ballots = hamming(people, count)
        same_as_search(decision, ballots, lambda votes: [Counter(votes)[option] for option in range(count)])


def test_the_distance_where_people_come_and_go():
    """On the ballots themselves: multisets of at most seven votes; near seven a search runs into the end."""
    nodes = [(a, b, c) for a, b, c in product(range(8), repeat=3) if a + b + c <= 7]
    edges = [(x, y) for x, y in combinations(nodes, 2) if sum(abs(p - q) for p, q in zip(x, y, strict=True)) == 1]
    decision = Decision.plurality(1, options=["a", "b", "c"])
    same_as_search(decision, from_edges(edges, nodes), inner=lambda node: sum(node) <= 4)


def tally(count):
    return lambda ballots: [ballots.count(option) for option in range(count)]


def one_or_two_each(people):
    """Each of six values is a group of three, counted once or twice."""
    return [sum(1 + value // 3 for value in people if value % 3 == group) for group in range(3)]


DATABASES = [
    (Decision.plurality("ln(2)", "1/30", options=[0, 1, 2], replace=True), hamming(4, 3), tally(3)),
    (Decision.majority("ln(2)", options=[0, 1], replace=True), hamming(5, 2), tally(2)),
    (Decision.threshold("ln(3/2)", "1/20", at_least=3), hamming(5, 2), sum),
    (Decision.threshold("ln(3/2)", at_least=4, contribution=3), hamming(3, 4), sum),
    (Decision.sign("ln(2)", "1/50", bounds=(-1, 2), replace=True), hamming(4, 4), lambda x: sum(x) - len(x)),
    (Decision.argmax("ln(2)", groups=[0, 1, 2], contribution=2, replace=True), hamming(2, 6), one_or_two_each),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("decision", "graph", "answer_of"), DATABASES, ids=lambda value: getattr(value, "name", None))
def test_whole_databases_are_private(decision, graph, answer_of):
    rows = []
    for database in graph.nodes:
        row = [decision.pmf(option, answer_of(database)) for option in decision.options]
        assert all(p.is_exact for p in row)
        rows.append([p.lower for p in row])
    channel = Channel(rows, graph.nodes, decision.options)
    assert check(channel, graph, decision.epsilon, decision.delta)
    assert not check(channel, graph, decision.epsilon - Fraction(1, 100), decision.delta)


@given(st.lists(st.integers(0, 10**6), min_size=3, max_size=3), st.booleans(), st.integers(1, 3))
def test_the_margin_alone_tells_the_probability(counts, replace, contribution):
    decision = PluralityDecision(
        "ln(6/5)", "1/100", options=["a", "b", "c"], replace=replace, contribution=contribution
    )
    winner, _ = decision.locate(counts)
    right = decision.pmf(decision.options[winner], counts)
    margin = max(counts) - sorted(counts)[-2]
    assert right in {decision.probability_correct(margin), decision.probability_correct(margin, favoured=True)}
    assert decision.probability_correct(margin).upper <= decision.probability_correct(margin, favoured=True).upper


def test_one_person_who_counts_more_costs_margin():
    one, five = (Decision.threshold(1, at_least=100, contribution=r) for r in (1, 5))
    assert five.probability_correct(10) == one.probability_correct(2)
    assert one.distance_at(10) == 9
    assert one.distance_at(10, favoured=True) == 10


@pytest.mark.parametrize("epsilon", [1, "1e-30", 500])
@pytest.mark.parametrize("delta", [0, "1e-9"])
def test_no_count_is_too_large(epsilon, delta):
    decision = Decision.threshold(epsilon, delta, at_least=1)
    assert decision.release(10**400)
    assert not Decision.sign(epsilon, delta, bounds=(-1, 1), options=(1, 0)).release(-(10**400))
    chances = [decision.probability_correct(margin) for margin in (1, 10, 10**5, 10**40, 10**400)]
    assert all(low.lower <= high.upper for low, high in pairwise(chances))
    assert chances[-1].lower > 1 - Fraction(1, 2**60)


def test_no_boundary_is_right_more_often():
    """The lower bound for the worst dataset of any mechanism is attained where datasets of all options touch."""
    for decision in (
        Decision.threshold("ln(3)", "1/10", at_least=1),
        Decision.plurality("ln(3)", "1/10", options=["a", "b", "c"], replace=True),
    ):
        assert decision.everyone_touches
        assert decision.reason().lower_bound == decision.error().expected
    loose = Decision.plurality("ln(3)", options=["a", "b", "c"])
    assert loose.reason().lower_bound.upper < loose.error().expected.lower


def test_the_plan_says_what_the_mechanisms_do():
    decision = Decision.plurality("ln(2)", "1/1000", options=["a", "b", "c"], contribution=2)
    for row in decision.plan([0, 1, 4, 9]).rows:
        scores = [int(row.margin), 0, 0]
        assert row.permute_and_flip == PermuteAndFlip("ln(2)", 3, 2, monotone=True).pmf(0, scores)
        assert row.exponential == Exponential("ln(2)", 3, 2, monotone=True).pmf(0, scores)
        assert row.ties_won == decision.pmf("a", scores)
        behind = PermuteAndFlip("ln(2)", 3, 2, monotone=True).pmf(0, [*scores[:2], -400])
        assert float(row.others_far) == pytest.approx(float(behind), abs=1e-12)
        if row.margin:
            assert row.ties_lost == decision.pmf("c", [0, 0, int(row.margin)])
    shown = str(decision.plan(range(3))).splitlines()
    assert len(shown) == 4
    assert len({len(line) for line in shown}) == 1


def test_for_two_options_without_delta_ties_decide_against_permute_and_flip():
    """Averaged over who wins ties both are wrong with ½·e^(−ε·margin); a δ makes the decision right for sure."""
    for margin in range(1, 8):
        row = Decision.majority("ln(2)").plan([margin]).rows[0]
        assert (row.ties_lost.lower + row.ties_won.lower) / 2 == row.permute_and_flip.lower
        assert row.exponential.upper < row.permute_and_flip.lower
    certain = Decision.majority("ln(2)", "1/1000").plan([12]).rows[0]
    assert certain.ties_lost.lower == 1 > certain.permute_and_flip.upper


def test_answers_may_be_named_counts_and_numpy_numbers():
    vote = Decision.plurality("ln(2)", options=["tea", "coffee"])
    assert vote.locate({"coffee": 7}) == vote.locate([0, 7]) == vote.locate(np.array([0, 7])) == (1, 6)
    assert (
        Decision.threshold(1, at_least=5).locate(np.int64(9))
        == Decision.threshold(1, at_least=5).locate("9.0")
        == (0, 4)
    )
    with pytest.raises(UnknownLabel, match="tea"):
        vote.pmf("te", [1, 2])
    with pytest.raises(BadParameter, match="majority"):
        Decision.majority(1, options=["a", "b", "c"])
    with pytest.raises(BadParameter, match="epsilon and delta"):
        Decision.majority(0)


@pytest.mark.slow
@pytest.mark.parametrize("distance", [0, 3, 12, 400, 10**12])
@pytest.mark.parametrize("operator", [Operator("ln(6/5)"), Operator("1/7", "1/1000")], ids=str)
def test_draws_follow_the_law_at_any_distance(operator, distance):
    line = PathLaw(operator, ["1/20", "3/20", "4/5"])
    chances = [line.chance(rank, distance) for rank in range(3)]
    assert abs(sum(map(float, chances)) - 1) < 1e-12
    drawn = line.draw(distance, 50_000, SeededSource(distance))
    single = np.array([line.draw(distance, 1, source)[0] for source in [SeededSource(7)] for _ in range(2000)])
    cumulative = np.cumsum([float(chance) for chance in chances])
    if chances[0].lower > 1 - Fraction(1, 10**9):
        assert not drawn.any()
        assert not single.any()
        return
    assert fits(drawn, lambda rank: cumulative[rank], 0, 1)
    assert fits(single, lambda rank: cumulative[rank], 0, 1)
    shifted = [float(p) for p in line.law(distance + 1)]
    assert not fits(drawn, lambda rank: np.cumsum(shifted)[rank], 0, 1)


def test_a_rainbow_mechanism_knows_which_regions_touch():
    ab, ba = ("a", "b"), ("b", "a")
    far_apart = {ab: [1, 0], ba: [1, 0]}
    with pytest.raises(BadBoundary, match="not private between"):
        RainbowMechanism("ln(2)", 0, far_apart)
    level = {ab: [0.5, 0.5], ba: [0.5, 0.5]}
    with pytest.raises(BadRainbow, match="two different rainbows"):
        RainbowMechanism("ln(2)", 0, level, touching=[(ab, ab)])
    with pytest.raises(BadGraph, match="not connected"):
        RainbowMechanism("ln(2)", 0, far_apart, touching=[])
    assert RainbowMechanism("ln(2)", 0, level, touching=[(ba, ab)]) == RainbowMechanism("ln(2)", 0, level)

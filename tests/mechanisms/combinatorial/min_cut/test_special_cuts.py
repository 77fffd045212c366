"""Cuts that keep two nodes apart, balanced cuts, cuts with their weights: laws on all small graphs, in rationals."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from leastnoise import combinatorial
from leastnoise.checker import check
from leastnoise.errors import BadParameter, LeastNoiseError
from leastnoise.exact import SeededSource
from leastnoise.ledger import Ledger
from leastnoise.mechanisms.combinatorial import (
    EdgeWeights,
    ExponentialCut,
    KWayCut,
    NodeCut,
    PerfectCut,
    RaisedCut,
    StoppedCut,
    WeighedCut,
)
from leastnoise.model import Privacy
from support.statistics import fits

RATIO = 3  # e^epsilon
BRIDGE = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]
SPECIAL = [{"apart": (0, 3)}, {"apart": (3, 1)}, {"smallest": 2}, {"apart": (1, 2), "smallest": 2}]


def all_graphs(count):
    pairs = list(combinations(range(count), 2))
    for chosen in product((False, True), repeat=len(pairs)):
        yield [pair for pair, there in zip(pairs, chosen, strict=True) if there]


def allowed(count, apart=None, smallest=1):
    """By definition: every set without node 0 that is large enough and holds one of the two nodes."""
    for size in range(1, count):
        for side in combinations(range(1, count), size):
            fits_apart = apart is None or (apart[0] in side) != (apart[1] in side)
            if fits_apart and min(size, count - size) >= smallest:
                yield frozenset(side)


def follows(drawn, law):
    """Whether draws fit a law; what the law leaves out is the last cell."""
    ordered = sorted(law, key=law.get)
    places, sums = {answer: place for place, answer in enumerate(ordered)}, np.cumsum([law[each] for each in ordered])
    samples = [places.get(answer, len(ordered)) for answer in drawn]
    return fits(samples, lambda place: sums[place], 0, len(ordered) - 2)


@pytest.mark.parametrize("limits", SPECIAL, ids=str)
def test_the_law_is_that_of_all_cuts_given_that_they_are_allowed(limits):
    mechanism = ExponentialCut(f"ln({RATIO})", 4, **limits)
    for graph in all_graphs(4):
        weights = {cut: sum((a in cut) != (b in cut) for a, b in graph) for cut in allowed(4, **limits)}
        total = sum(Fraction(1, RATIO**weight) for weight in weights.values())
        law = mechanism.law(graph)
        for cut, chance in law.items():
            wanted = Fraction(1, RATIO ** weights[cut]) / total if cut in weights else 0
            assert chance.lower == chance.upper == wanted
        assert mechanism.release(graph) in weights


@pytest.mark.parametrize("limits", SPECIAL, ids=str)
def test_special_cuts_cost_epsilon_on_all_neighbours(limits):
    certificate = ExponentialCut(f"ln({RATIO})", 4, **limits).certify()
    assert check(certificate.channel, certificate.graph, f"ln({RATIO})")
    assert not check(certificate.channel, certificate.graph, f"1/2*ln({RATIO})")
    kept = ExponentialCut(f"ln({RATIO})", 9, smallest=3, apart=(2, 5)).certificate()
    assert check(kept)


def test_draws_of_special_cuts_follow_the_law():
    mechanism = ExponentialCut(1, 6, apart=(5, 1), smallest=2)
    law = {cut: float(chance.lower) for cut, chance in mechanism.law(BRIDGE).items() if chance.upper}
    assert follows(mechanism.draw(BRIDGE, size=4000, source=SeededSource(4)), law)


def test_a_special_cut_errs_no_more_than_stated():
    mechanism = ExponentialCut(1, 6, apart=(0, 5), smallest=3)
    worst = mechanism.error().expected.upper
    assert worst < ExponentialCut(1, 6).error().expected.upper
    assert mechanism.reason().lower_bound is None
    for graph in (BRIDGE, [], BRIDGE[:3]):
        law = mechanism.law(graph)
        weights = {cut: mechanism.weight_of(cut, graph) for cut in law}
        least = min(weight for cut, weight in weights.items() if law[cut].upper)
        assert sum(law[cut].upper * (weights[cut] - least) for cut in law) <= worst


@pytest.mark.parametrize(
    "limits",
    [{"apart": (0, 0)}, {"apart": (0,)}, {"apart": 3}, {"apart": (0, 9)}, {"smallest": 4}, {"smallest": 0}],
    ids=str,
)
def test_bad_limits_are_refused(limits):
    with pytest.raises(BadParameter):
        ExponentialCut(1, 6, **limits)


# ── A cut with its weight ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize("make", [ExponentialCut, NodeCut], ids=lambda make: make.name)
@pytest.mark.parametrize("weights", [None, EdgeWeights(1, "1/2")], ids=["edges", "weights"])
def test_a_pair_has_the_product_law_and_costs_both(make, weights):
    mechanism = WeighedCut(make("2*ln(2)", 3, weights), "2*ln(2)")
    pairs, steps = list(combinations(range(3), 2)), [0, 1, 2]
    graphs = [
        [(*pair, Fraction(w)) if weights else pair for pair, w in zip(pairs, ws, strict=True) if weights or w]
        for ws in product(steps if weights else [0, 1], repeat=3)
    ]
    outputs = [(cut, Fraction(k, 2)) for cut in allowed(3) for k in range(-6, 12)]
    laws = [[mechanism.pmf(output, graph) for output in outputs] for graph in graphs]
    assert all(chance.lower == chance.upper for law in laws for chance in law)
    ratios = [
        p.lower / q.lower
        for one, first in zip(graphs, laws, strict=True)
        for other, second in zip(graphs, laws, strict=True)
        if _neighbours(one, other)
        for p, q in zip(first, second, strict=True)
        if q.lower
    ]
    assert 4 < max(ratios) <= 16  # more than the weight alone, and e^epsilon of both together at most


def _neighbours(one, other):
    """Whether one pair differs, by one."""
    first, second = ({edge[:2]: edge[2] if len(edge) > 2 else 1 for edge in graph} for graph in (one, other))
    differ = [abs(first.get(pair, 0) - second.get(pair, 0)) for pair in {*first, *second}]
    return sum(differ) == 1


@pytest.mark.slow
def test_draws_of_pairs_follow_the_law():
    mechanism = WeighedCut(ExponentialCut(1, 4), 2)
    graph = [(0, 1), (1, 2), (2, 3)]
    law = {
        pair: float(mechanism.pmf(pair, graph).lower)
        for pair in ((cut, Fraction(weight)) for cut in allowed(4) for weight in range(-12, 16))
    }
    assert follows(mechanism.draw(graph, size=4000, source=SeededSource(5)), law)
    other = {pair: float(mechanism.pmf(pair, graph[:2]).lower) for pair in law}
    assert not follows(mechanism.draw(graph, size=4000, source=SeededSource(5)), other)


def test_weighed_cuts_are_charged_recorded_and_read_again(tmp_path):
    with Ledger.create(tmp_path / "ledger") as ledger:
        ledger.grant(Privacy(300, insist=True), dataset="graph")
        ask = {"ledger": ledger, "dataset": "graph", "nodes": 6, "weigh": "1/4"}
        first = combinatorial.min_cut(BRIDGE, 120, request_id="a", **ask)
        assert first.value == (frozenset({3, 4, 5}), 1)
        assert combinatorial.min_cut(BRIDGE, 120, request_id="a", **ask).value == first.value
        assert str(first.cost) == "ε = 120"
        balanced = combinatorial.min_cut(BRIDGE, 60, request_id="b", smallest=2, apart=(0, 1), **ask)
        assert balanced.value[0] in set(allowed(6, (0, 1), 2))
        with pytest.raises(LeastNoiseError):
            combinatorial.min_cut(BRIDGE, 60, request_id="b", smallest=2, apart=(0, 2), **ask)


@pytest.mark.parametrize("make", [RaisedCut, NodeCut], ids=lambda make: make.name)
def test_a_pair_of_a_larger_graph_is_drawn_by_any_way(make):
    cut, path = make(2, 30), [(i, i + 1) for i in range(29)]
    side, weight = WeighedCut(cut, 200).release(path)
    assert weight == cut.weight_of(side, path) > 0


# ── Several parts ─────────────────────────────────────────────────────────────────────────────────────────────────────


def partitions(nodes, parts):
    """By definition: all ways to divide the nodes into so many sets that are not empty."""
    found = set()
    for colours in product(range(parts), repeat=len(nodes)):
        if len(set(colours)) == parts:
            sets = [frozenset(n for n, c in zip(nodes, colours, strict=True) if c == part) for part in range(parts)]
            found.add(frozenset(sets))
    return found


def between(graph, division):
    return sum(not any(a in part and b in part for part in division) for a, b in graph)


@pytest.mark.parametrize(("count", "parts"), [(3, 2), (3, 3), (4, 2), (4, 3), (4, 4), (5, 3)])
def test_the_law_of_several_parts_on_all_graphs(count, parts):
    mechanism, wanted = KWayCut(f"ln({RATIO})", count, parts), partitions(range(count), parts)
    assert mechanism.count == len(wanted)
    graphs = list(all_graphs(count))
    for graph in graphs if count < 5 else graphs[::53]:
        weights = {division: between(graph, division) for division in wanted}
        total = sum(Fraction(1, RATIO**weight) for weight in weights.values())
        law = mechanism.law(graph)
        assert set(law) == wanted
        for division, chance in law.items():
            assert chance.lower == chance.upper == Fraction(1, RATIO ** weights[division]) / total
            assert mechanism.weight_of(division, graph) == weights[division]


def test_two_parts_are_the_cuts_of_all_pairs():
    two, cut = KWayCut(1, 6, 2), ExponentialCut(1, 6)
    law = two.law(BRIDGE)
    for side, chance in cut.law(BRIDGE).items():
        assert law[frozenset({side, frozenset(range(6)) - side})] == chance
    assert two.error().expected.upper == cut.error().expected.upper


@pytest.mark.parametrize("parts", [2, 3])
def test_several_parts_cost_epsilon_on_all_neighbours(parts):
    certificate = KWayCut(f"ln({RATIO})", 4, parts).certify()
    assert check(certificate.channel, certificate.graph, f"ln({RATIO})")
    assert not check(certificate.channel, certificate.graph, f"1/2*ln({RATIO})")
    assert check(KWayCut("ln(4)", 9, parts).certificate())
    both = WeighedCut(KWayCut("ln(3)", 9, parts), "ln(2)")
    assert check(both.certificate())
    assert not check(both.certificate().channel, both.certificate().graph, "1/2*ln(6)")


def test_draws_of_several_parts_follow_the_law_and_weigh_what_is_said():
    mechanism = KWayCut(1, 6, 3)
    law = {division: float(chance.lower) for division, chance in mechanism.law(BRIDGE).items()}
    assert follows(mechanism.draw(BRIDGE, size=4000, source=SeededSource(4)), law)
    division, weight = WeighedCut(KWayCut(60, 6, 3), 60).release(BRIDGE)
    assert weight == between(BRIDGE, division)
    worst = mechanism.error().expected.upper
    least = min(between(BRIDGE, division) for division in law)
    assert sum(chance * (between(BRIDGE, division) - least) for division, chance in law.items()) <= worst


def test_weights_of_several_parts_are_rounded_within_what_is_said():
    weights = EdgeWeights(step="1/2")
    mechanism = KWayCut(40, 5, 3, weights)
    graph = [(a, b, 0.24 + 0.02 * (a + b)) for a, b in combinations(range(5), 2)]
    exact = {
        division: sum(w for a, b, w in graph if not any(a in p and b in p for p in division))
        for division in partitions(range(5), 3)
    }
    law = mechanism.law(graph)
    extra = sum(float(chance.upper) * exact[division] for division, chance in law.items()) - min(exact.values())
    assert extra <= mechanism.error().expected.upper


def test_a_release_in_several_parts(tmp_path):
    names, triangles = "abcdefghi", ("abc", "def", "ghi")
    graph = [("a", "d"), *(pair for triangle in triangles for pair in combinations(triangle, 2))]
    parts = frozenset(map(frozenset, triangles))
    release = combinatorial.min_cut(graph, 60, nodes=names, parts=3)
    assert release.value == parts
    division, weight = combinatorial.min_cut(graph, 160, nodes=names, parts=3, weigh="1/4").value
    assert (division, weight) == (parts, 1)
    with Ledger.create(tmp_path / "parts.ledger") as ledger:
        ledger.grant(Privacy(300, insist=True), dataset="town")
        paid = {"ledger": ledger, "dataset": "town", "analyst": "ana", "purpose": "test", "request_id": "a"}
        first = combinatorial.min_cut(graph, 60, nodes=names, parts=3, **paid)
        assert combinatorial.min_cut(graph, 60, nodes=names, parts=3, **paid).value == first.value == parts
        with pytest.raises(LeastNoiseError):
            combinatorial.min_cut(graph, 60, nodes=names, parts=4, **paid)


def test_what_several_parts_refuse():
    with pytest.raises(LeastNoiseError, match="4194304 divisions"):
        KWayCut(1, 16, 3)
    assert KWayCut(1, 15, 3).count == 2375101
    for parts in (1, 7, "x"):
        with pytest.raises(BadParameter, match="parts"):
            KWayCut(1, 6, parts)
    with pytest.raises(BadParameter, match="two parts"):
        combinatorial.min_cut([(0, 1)], 1, nodes=6, parts=3, smallest=2)


# ── A drawn number of attempts ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("attempts", [1, 5, 31])
def test_the_law_of_a_drawn_number_of_attempts_on_all_graphs(attempts):
    """From the geometric series: attempt after attempt, each of which fails with 1/(1 + Z), or else a node."""
    mechanism, stop = StoppedCut("ln(9)", 4, attempts=attempts), Fraction(1, attempts + 1)
    for graph in all_graphs(4):
        weights = {cut: sum((a in cut) != (b in cut) for a, b in graph) for cut in allowed(4)}
        whole = sum(Fraction(1, RATIO**weight) for weight in weights.values())
        fails = 1 / (1 + whole)
        none = stop / (1 - (1 - stop) * fails)
        node = NodeCut(f"ln({RATIO})", 4).law(graph)
        for cut, chance in mechanism.law(graph).items():
            wanted = (1 - none) * Fraction(1, RATIO ** weights[cut]) / whole + none * node[cut].lower
            assert chance.lower == chance.upper == wanted


@pytest.mark.parametrize("attempts", [1, 31, 10**6])
def test_a_drawn_number_of_attempts_costs_epsilon_however_many(attempts):
    certificate = StoppedCut("ln(9)", 4, attempts=attempts).certify()
    assert check(certificate.channel, certificate.graph, "ln(9)")
    assert not check(certificate.channel, certificate.graph, "ln(2)")
    assert check(StoppedCut("ln(9)", 90, attempts=attempts).certificate())


def test_a_fixed_number_of_attempts_would_tell_of_the_graph():
    """Why the number is drawn: all of thirty attempts fail at one graph far more often than at its neighbour."""
    one, other = (
        sum(Fraction(1, RATIO ** sum((a in c) != (b in c) for a, b in g)) for c in allowed(4))
        for g in ([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)], [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
    )
    assert (1 / (1 + other)) ** 30 > RATIO * (1 / (1 + one)) ** 30
    drawn = [Fraction(1, 31) * (1 + z) / (z + Fraction(1, 31)) for z in (one, other)]
    assert 1 <= drawn[1] / drawn[0] <= RATIO


def test_draws_in_a_drawn_number_of_attempts_follow_the_law():
    mechanism = StoppedCut(2, 6, attempts=3)
    law = {cut: float(chance.lower) for cut, chance in mechanism.law(BRIDGE).items()}
    assert follows(mechanism.draw(BRIDGE, size=4000, source=SeededSource(4)), law)
    least = min(sum((a in cut) != (b in cut) for a, b in BRIDGE) for cut in law)
    extra = sum(chance * (sum((a in cut) != (b in cut) for a, b in BRIDGE) - least) for cut, chance in law.items())
    assert extra <= mechanism.error().expected.upper


def test_heavy_cuts_do_not_hold_it_up_and_a_bridge_is_found():
    whole = list(combinations(range(40), 2))
    assert len(StoppedCut(2, 40).draw(whole, source=SeededSource(1))) in (1, 39)
    bridge = [*combinations(range(20), 2), *combinations(range(20, 40), 2), (0, 20)]
    found = StoppedCut(1, 40, attempts=100).draw(bridge, size=10, source=SeededSource(2))
    assert sum(cut == frozenset(range(20, 40)) for cut in found) >= 9


def test_a_plan_takes_attempts_where_perfect_cuts_take_too_long(monkeypatch):
    ring = [(place, (place + 1) % 30) for place in range(30)]
    assert PerfectCut.name in combinatorial.plan_min_cut(30, 1, example=ring).on_example
    monkeypatch.setattr("leastnoise.mechanisms.combinatorial.min_cut.planning._TRIALS", -1)
    plan = combinatorial.plan_min_cut(30, 1, example=ring)
    assert StoppedCut.name in plan.on_example
    assert PerfectCut.name not in plan.on_example
    assert plan.on_example[plan.mechanism.name] == min(plan.on_example.values())

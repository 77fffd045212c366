"""Private cuts as mechanisms: privacy on all neighbouring pairs of small graphs, law, error, input."""

import pickle
from fractions import Fraction
from itertools import combinations

import igraph
import networkx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

from leastnoise import check
from leastnoise.errors import BadParameter, InsecureSource, LeastNoiseError, NumberTooLarge, TooLarge
from leastnoise.exact import SeededSource
from leastnoise.mechanisms.combinatorial.min_cut import (
    EdgeWeights,
    ExponentialCut,
    NodeCut,
    PerfectCut,
    RaisedCut,
    StoppedCut,
    plan_min_cut,
    planning,
)
from leastnoise.model.certificate import Certificate
from leastnoise.model.events import Approximate, BoundedRange, Composed, event_from_dict
from support.statistics import fits

EXACT_RAISED = {"raising_share": "2/5", "target": 4, "resolution": 1}  # ε₁ = ln 2 and ε₂ = 3·ln 2 at ε = 5·ln 2


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [2, 3, 4, 5])
def test_the_exponential_mechanism_over_cuts_costs_epsilon_and_not_two(nodes):
    """On all neighbouring pairs; the textbook constant would be twice as much."""
    certificate = ExponentialCut("ln(3)", nodes).certify()
    assert check(certificate.channel, certificate.graph, "ln(3)")
    if nodes == 5:
        assert not check(certificate.channel, certificate.graph, "3/4*ln(3)")


@pytest.mark.parametrize(
    "mechanism",
    [
        RaisedCut("5*ln(2)", 3, **EXACT_RAISED),
        RaisedCut("5*ln(2)", 4, **EXACT_RAISED),
        RaisedCut("10*ln(2)", 4, raising_share="2/5", target=2, resolution=2),
        RaisedCut("4*ln(3)", 4, raising_share="1/2", target=3, resolution=1),
    ],
    ids=lambda m: f"{m.epsilon}, {len(m.nodes)} nodes, resolution {m.raising.resolution}",
)
def test_raising_and_sampling_together_cost_epsilon(mechanism):
    certificate = mechanism.certify()
    assert check(certificate.channel, certificate.graph, mechanism.epsilon)
    assert not check(certificate.channel, certificate.graph, mechanism.second_epsilon / 2)


@pytest.mark.parametrize("make", [ExponentialCut, NodeCut])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_weights_of_any_sensitivity_cost_epsilon(make, steps):
    """All weights 0..3 in steps of one half on three nodes; neighbours differ by the sensitivity at most."""
    mechanism = make("6*ln(2)", 3, EdgeWeights(Fraction(steps, 2), "1/2"))
    graphs = [(a, b, c) for a in range(4) for b in range(4) for c in range(4)]
    pairs = list(combinations(range(3), 2))
    laws = {g: mechanism.law([(*pair, Fraction(w, 2)) for pair, w in zip(pairs, g, strict=True)]) for g in graphs}
    worst = 0
    for one in graphs:
        for place in range(3):
            for more in range(1, steps + 1):
                other = tuple(w + more * (i == place) for i, w in enumerate(one))
                if other in laws:
                    ratios = [laws[one][cut].lower / laws[other][cut].lower for cut in laws[one]]
                    worst = max(worst, *ratios, *(1 / ratio for ratio in ratios))
    assert 8 < worst <= 64


def test_rounding_keeps_neighbours_within_the_sensitivity():
    mechanism = ExponentialCut(1, 2, EdgeWeights(sensitivity="0.3", step="1/4"))
    assert mechanism.sensitivity == 2
    for low in (0, 0.1, 0.124, 0.125, 0.37, 0.375):
        near, far = (mechanism.matrix([(0, 1, w)])[0, 1] for w in (low, low + 0.3))
        assert 0 <= far - near <= mechanism.sensitivity


@pytest.mark.parametrize(
    "mechanism",
    [
        ExponentialCut("ln(3)", 5),
        PerfectCut("ln(3)", 5),
        NodeCut("ln(3)", 5),
        RaisedCut("5*ln(2)", 5, **EXACT_RAISED),
        RaisedCut(3, 5, target=6),
    ],
    ids=lambda m: m.name,
)
class TestPrivateCuts:
    """What both mechanisms promise."""

    GRAPH = ((0, 1), (0, 2), (1, 2), (2, 3), (3, 4))

    def test_the_law_sums_to_one(self, mechanism):
        law = mechanism.law(self.GRAPH)
        assert len(law) == 15
        assert sum(p.lower for p in law.values()) <= 1 <= sum(p.upper for p in law.values())
        assert sum(p.width for p in law.values()) < Fraction(1, 2**40)

    @pytest.mark.slow
    def test_draws_follow_the_law(self, mechanism):
        law = sorted(mechanism.law(self.GRAPH).items(), key=lambda item: item[1].lower)
        places = {cut: place for place, (cut, _) in enumerate(law)}
        sums = np.cumsum([float(p) for _, p in law])
        drawn = mechanism.draw(self.GRAPH, size=2000, source=SeededSource(4))
        samples = np.array([places[cut] for cut in drawn])
        assert fits(samples, lambda place: sums[place], 0, len(law) - 2)
        flat = np.cumsum(np.full(len(law), 1 / len(law)))
        assert not fits(samples, lambda place: flat[place], 0, len(law) - 2)

    def test_the_error_bounds_hold(self, mechanism):
        error = mechanism.error()
        for graph in (self.GRAPH, [], list(combinations(range(5), 2))):
            law = mechanism.law(graph)
            weights = {cut: mechanism.weight_of(cut, graph) for cut in law}
            least = min(weights.values())
            assert sum(p.lower * (weights[cut] - least) for cut, p in law.items()) <= error.expected.upper
            for level, extra in error.quantiles.items():
                assert sum(p.upper for cut, p in law.items() if weights[cut] - least <= extra) >= level
        assert mechanism.reason().lower_bound.lower <= error.expected.upper

    def test_a_copy_is_the_same_and_the_event_is_readable(self, mechanism):
        assert pickle.loads(pickle.dumps(mechanism)) == mechanism  # noqa: S301 - our own bytes
        assert event_from_dict(mechanism.event.to_dict()) == mechanism.event

    def test_predictable_noise_is_refused(self, mechanism):
        with pytest.raises(InsecureSource):
            mechanism.release(self.GRAPH, source=SeededSource(1))
        assert 0 not in mechanism.release(self.GRAPH)

    @pytest.mark.parametrize("bad", [[(0, 1, 777)], [([777], 1)], 777, [(0,)], scipy.sparse.eye_array(777)])
    def test_a_bad_graph_is_refused_without_showing_it(self, mechanism, bad):
        with pytest.raises(LeastNoiseError) as caught:
            mechanism.release(bad)
        assert "777" not in f"{caught.value} {caught.value.__context__}"


def test_certificates_pass_the_checker():
    for mechanism in (ExponentialCut("ln(2)", 20), NodeCut("ln(2)", 20), RaisedCut("5*ln(2)", 50, **EXACT_RAISED)):
        certificate = mechanism.certificate()
        assert check(certificate)
        assert Certificate.from_json(certificate.to_json()) == certificate
    for mechanism in (ExponentialCut(1, 4), RaisedCut("5*ln(2)", 4)):
        with pytest.raises(BadParameter, match="irrational"):
            mechanism.certificate()


def test_delta_widens_the_claim_and_the_enclosures():
    exact, loose = RaisedCut(3, 4, target=5), RaisedCut(3, 4, "1e-6", target=5)
    assert exact.event == Composed((BoundedRange("6/5"), BoundedRange("9/5")))
    assert loose.event == Approximate(3, "1e-6")
    assert loose.negligible * (1 + Fraction(21)) >= Fraction(1, 10**6) >= loose.negligible * (1 + Fraction(20))
    assert loose.reason().lower_bound is None
    for cut, chance in loose.law([(0, 1)]).items():
        assert exact.pmf(cut, [(0, 1)]).lower in chance
    assert loose.release([(0, 1)])


def test_all_forms_of_a_graph_are_read_alike():
    graph = networkx.les_miserables_graph()
    places = {name: place for place, name in enumerate(graph)}
    pairs = np.array([(places[a], places[b]) for a, b in graph.edges])
    mechanism = RaisedCut(2, graph.nodes)
    by_number = RaisedCut(2, len(places))
    first = mechanism.matrix(graph)
    named = igraph.Graph.TupleList(graph.edges)
    sparse = scipy.sparse.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(77, 77))
    assert (first == mechanism.matrix(named)).all()
    assert (first == mechanism.matrix(list(graph.edges))).all()
    assert (first == by_number.matrix(sparse)).all()
    assert (first == by_number.matrix(pairs)).all()


def test_a_clear_cut_is_found():
    """Two cliques of 40 with two edges between them: no other cut is below 39."""
    graph = networkx.barbell_graph(40, 0)
    graph.add_edge(0, 79)
    mechanism = RaisedCut(6, 80, target=30)
    hits = [mechanism.weight_of(cut, graph) == 2 for cut in mechanism.draw(graph, size=20, source=SeededSource(3))]
    assert sum(hits) >= 15


@pytest.mark.slow
def test_real_graphs_are_cut_within_the_bound():
    for graph in (networkx.karate_club_graph(), networkx.grid_2d_graph(12, 12)):
        plan = plan_min_cut(graph.nodes, 2)
        cut = plan.mechanism.release(graph)
        assert 0 < len(cut) < len(graph)
        assert plan.mechanism.weight_of(cut, graph) <= 2 + 2 * plan.mechanism.error().quantiles[Fraction(19, 20)]


@pytest.mark.slow
def test_the_plan_goes_by_the_extra_weight_on_public_graphs():
    small, large = plan_min_cut(15, 1), plan_min_cut(40, 1, "1e-9")
    assert isinstance(small.mechanism, ExponentialCut)
    assert isinstance(large.mechanism, NodeCut | RaisedCut)  # the time of a perfect cut depends on the true graph
    assert large.lower_bound is None
    assert small.lower_bound.lower <= small.expected_extra.upper
    for plan in (small, large):
        assert plan.on_example[plan.mechanism.name] == min(plan.on_example.values())
    assert (len(small.on_example), len(large.on_example)) == (3, 2)
    many = plan_min_cut(300, 1, "1e-9")
    assert isinstance(many.mechanism, RaisedCut)
    assert many.mechanism.delta == Fraction(1, 10**9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "graph", [networkx.karate_club_graph(), networkx.florentine_families_graph(), networkx.les_miserables_graph()]
)
def test_on_real_graphs_the_plan_takes_the_lightest_way(graph):
    """A node by its degree errs by 0.3 to 1.1 edges at ε = 1 there, whole cuts by 3 to 9."""
    plan = plan_min_cut(graph.nodes, 1, example=graph)
    assert isinstance(plan.mechanism, NodeCut)
    drawn = plan.mechanism.draw(graph, size=400, source=SeededSource(9))
    extra = np.mean([float(plan.mechanism.weight_of(cut, graph)) for cut in drawn]) - 1
    assert extra < 1.2
    assert extra < min(mean for name, mean in plan.on_example.items() if name != plan.mechanism.name)


@pytest.mark.slow
def test_beside_two_large_cliques_the_plan_takes_all_cuts():
    """Half of the draws fail there with an empty side; that must not look like a draw that never ends."""
    plan = plan_min_cut(100, 1, example=networkx.barbell_graph(50, 0))
    assert isinstance(plan.mechanism, PerfectCut)
    assert plan.on_example[PerfectCut.name] < 5 < 40 < plan.on_example[NodeCut.name]


@pytest.mark.slow
def test_a_bridge_between_two_cliques_is_found():
    """Raising hides it at ε = 1, and no single node is near it; all cuts by their weights show it."""
    graph = networkx.barbell_graph(50, 0)
    cuts = PerfectCut(1, 100).draw(graph, size=10, source=SeededSource(1))
    assert sum(cut == frozenset(range(50, 100)) for cut in cuts) >= 9


@pytest.mark.parametrize(("nodes", "epsilon"), [(40, 1), (100, 1), (60, 4)])
def test_heavy_minimum_cuts_are_drawn_too(nodes, epsilon):
    """In a clique coupling from the past nearly always ends with an empty side; contractions do not."""
    graph = networkx.complete_graph(nodes)
    assert len(PerfectCut(epsilon, nodes).draw(graph, source=SeededSource(2))) in (1, nodes - 1)


def test_a_way_that_takes_too_long_on_the_example_is_left_out(monkeypatch):
    monkeypatch.setattr(planning, "_TRIALS", -1)
    plan = plan_min_cut(30, 1, example=networkx.barbell_graph(15, 0))
    assert set(plan.on_example) == {StoppedCut.name, NodeCut.name}


def test_one_node_misses_no_more_than_stated():
    """Two cliques without an edge between them reach the bound of what a single node can miss."""
    for half in (2, 3, 4):
        graph = [(a + side, b + side) for side in (0, half) for a, b in combinations(range(half), 2)]
        mechanism = NodeCut(100, 2 * half)
        assert half - 1 <= sum(p.upper * mechanism.weight_of(cut, graph) for cut, p in mechanism.law(graph).items())
        assert half - 1 <= mechanism.error().expected.upper < half


@pytest.mark.parametrize("make", [ExponentialCut, PerfectCut, NodeCut, RaisedCut])
def test_the_default_step_rounds_no_weight_of_a_sensitivity_away(make):
    for unit in ("1/100", 1, 50):
        mechanism = make(1, 5, weights=EdgeWeights(sensitivity=unit))
        light = Fraction(unit) * Fraction(49, 100)
        assert abs(mechanism.matrix([(0, 1, light)])[0, 1] * mechanism.step - light) <= Fraction(unit) / 512


def test_twice_the_weight_is_twice_the_error():
    for make in (ExponentialCut, RaisedCut):
        one = make(1, 20, weights=EdgeWeights(1, 1))
        two = make(1, 20, weights=EdgeWeights(2, 2))
        assert two.error().expected.upper == 2 * one.error().expected.upper
        assert two.reason().lower_bound.upper == 2 * one.reason().lower_bound.upper


@pytest.mark.parametrize(
    ("make", "parameters", "name"),
    [
        (ExponentialCut, {"epsilon": 0, "nodes": 3}, "epsilon"),
        (ExponentialCut, {"epsilon": 1, "nodes": 1}, "nodes"),
        (ExponentialCut, {"epsilon": 1, "nodes": 27}, "nodes"),
        (ExponentialCut, {"epsilon": 1, "nodes": "aa"}, "nodes"),
        (RaisedCut, {"epsilon": 1, "nodes": 10**6}, "nodes"),
        (RaisedCut, {"epsilon": 1, "nodes": 9, "delta": 1}, "delta"),
        (RaisedCut, {"epsilon": 1, "nodes": 9, "raising_share": 1}, "raising_share"),
        (RaisedCut, {"epsilon": 1, "nodes": 9, "target": 0}, "target"),
        (RaisedCut, {"epsilon": 1, "nodes": 9, "resolution": 0.5}, "resolution"),
        (EdgeWeights, {"sensitivity": 0}, "sensitivity"),
        (EdgeWeights, {"step": -1}, "step"),
    ],
)
def test_bad_parameters_are_refused_by_name(make, parameters, name):
    with pytest.raises(LeastNoiseError, match=name):
        make(**parameters)


def regret(mechanism, edges):
    """The expected extra weight in the weights as they are, before any rounding."""
    true = {frozenset(edge[:2]): Fraction(str(edge[2])) for edge in edges}

    def weight(cut):
        return sum(w for pair, w in true.items() if len(pair & cut) == 1)

    law = mechanism.law(edges)
    least = min(weight(cut) for cut in law)
    return sum(p.upper * (weight(cut) - least) for cut, p in law.items())


@pytest.mark.slow
@pytest.mark.parametrize("make", [ExponentialCut, RaisedCut])
@pytest.mark.parametrize("weight", [0.49, 0.5, 0.51, 1])
def test_errors_of_weighted_cuts_include_the_rounding(make, weight):
    """A clique of five and a node of its own: at ε = 100 nothing but the rounding hides which cut is the least."""
    clique = [(a, b, weight) for a, b in combinations(range(5), 2)]
    for step in (1, "1/2", "1/64"):
        mechanism = make(100, 6, weights=EdgeWeights(step=step))
        assert regret(mechanism, clique) <= mechanism.error().expected.upper
    assert regret(make(100, 6, weights=EdgeWeights(step=1)), [(a, b, 0.49) for a, b, _ in clique]) > 1


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 12), min_size=6, max_size=6), st.sampled_from(["1/4", "1/2", 1, 2, 3]))
def test_no_weighted_graph_has_a_larger_error_than_stated(weights, step):
    edges = [(*pair, w / 4) for pair, w in zip(combinations(range(4), 2), weights, strict=True)]
    mechanism = ExponentialCut(8, 4, weights=EdgeWeights(step=step, largest=3))
    assert regret(mechanism, edges) <= mechanism.error().expected.upper


def test_no_error_is_larger_than_a_whole_cut():
    for nodes in (2, 5, 9, 40):
        for make in (ExponentialCut, RaisedCut)[nodes > 26 :]:
            error = make("1e-6", nodes).error()
            assert error.expected.upper <= nodes**2 // 4
            assert max(error.quantiles.values()) <= nodes**2 // 4
    heavy = ExponentialCut("1e-6", 4, weights=EdgeWeights(step=1, largest=10)).error()
    assert heavy.expected.upper <= 40


def test_the_lower_bound_is_that_of_the_stated_sensitivity_and_not_of_the_rounded_one():
    fine = ExponentialCut(1, 9, weights=EdgeWeights(sensitivity="1/100", step=1)).reason().lower_bound
    unit = ExponentialCut(1, 9).reason().lower_bound
    assert fine.upper == unit.upper / 100


def test_heavier_pairs_count_as_the_largest_and_neighbours_stay_neighbours():
    mechanism = ExponentialCut("6*ln(2)", 3, EdgeWeights("1/2", "1/2", largest=2))
    assert mechanism.matrix([(0, 1, 99), (1, 2, 1.75), (0, 2, -3)]).tolist() == [[0, 4, 0], [4, 0, 4], [0, 4, 0]]
    for low in (0, 1, 1.25, 1.5, 1.75, 2, 5, 10**30, float("inf")):
        near, far = (mechanism.matrix([(0, 1, w)])[0, 1] for w in (low, low + 0.5))
        assert 0 <= far - near <= mechanism.sensitivity
    with pytest.raises(NumberTooLarge):
        ExponentialCut(1, 9, weights=EdgeWeights(largest=2**60))
    with pytest.raises(NumberTooLarge):
        RaisedCut("1e-15", 40)


def test_a_large_law_is_not_written_down():
    with pytest.raises(TooLarge, match="draw"):
        RaisedCut(1, 30).law([])
    assert RaisedCut(1, 5).pmf("no cut", []).upper == 0

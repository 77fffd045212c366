"""Cuts, facilities, covers and lists as releases: charged once, recorded, repeated for nothing."""

from itertools import combinations, pairwise

import networkx
import numpy as np
import pytest

from leastnoise import combinatorial
from leastnoise.accounting import Ledger
from leastnoise.errors import BadParameter, BudgetExceeded, EngineFailure, engine_failure
from leastnoise.mechanisms.combinatorial.graph_input import read_graph
from leastnoise.model.privacy import Privacy

CLUB = networkx.karate_club_graph()
TOWN = [[x, y] for x in range(4) for y in range(4)]

RELEASES = {
    "min cut": lambda **charge: combinatorial.min_cut(CLUB, 1, **charge),
    "k-median": lambda **charge: combinatorial.k_median(TOWN, [0, 0, 5, 15], 2, 1, **charge),
    "vertex cover": lambda **charge: combinatorial.vertex_cover(CLUB, 1, **charge),
    "sorted counts": lambda **charge: combinatorial.sorted_counts([9, 4, 4, 1], 1, total=20, **charge),
}


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "graphs.ledger") as made:
        made.grant(Privacy(2), dataset="graph")
        yield made


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
def test_it_is_charged_once_and_repeated_for_nothing(release, ledger):
    first = release(ledger=ledger, dataset="graph", request_id="q")
    assert str(first.cost) == "ε = 1"
    assert ledger.left("graph", "anyone").epsilon == 1
    again = release(ledger=ledger, dataset="graph", request_id="q")
    assert ledger.left("graph", "anyone").epsilon == 1
    assert np.array_equal(np.asarray(sorted_value(first)), np.asarray(sorted_value(again)))
    release(ledger=ledger, dataset="graph")
    with pytest.raises(BudgetExceeded):
        release(ledger=ledger, dataset="graph")


def sorted_value(release):
    return sorted(release.value) if isinstance(release.value, frozenset) else release.value


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
def test_an_interruption_leaves_no_answer_and_no_doubt(release, ledger):
    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release(ledger=ledger, dataset="graph", request_id="q", progress=stop)
    # The graph may have been looked at: the price is spent, and the same request still has its one answer to come.
    assert ledger.left("graph", "anyone").epsilon == 1
    release(ledger=ledger, dataset="graph", request_id="q")
    assert ledger.left("graph", "anyone").epsilon == 1


def test_the_values_are_what_they_should_be():
    cut = combinatorial.min_cut(CLUB, 20).value
    assert 0 < len(cut) < 34
    assert 0 not in cut
    order = combinatorial.vertex_cover(CLUB, 1).value
    assert sorted(order.tolist()) == list(range(34))
    cover = combinatorial.decode(order, CLUB)
    assert all(u in cover or v in cover for u, v in CLUB.edges)
    counts = combinatorial.sorted_counts([9, 4, 4, 1], 1, total=20).value
    assert all(one >= other for one, other in pairwise(counts))


def test_every_release_names_its_error_and_lower_bound():
    for release in (make() for make in RELEASES.values()):
        assert release.error.expected.upper > 0
        assert release.plan.reason.citation


@pytest.mark.slow
def test_a_long_answer_is_recorded(ledger):
    charge = {"nodes": 300_000, "ledger": ledger, "dataset": "graph", "request_id": "q"}
    first = combinatorial.vertex_cover([(0, 1)], 1, **charge).value
    assert np.array_equal(combinatorial.vertex_cover([(0, 1)], 1, **charge).value, first)
    assert ledger.left("graph", "anyone").epsilon == 1


# The form of what is private is public: who passes the wrong one has made a mistake, and it is free.
WRONG_FORM = {
    "no graph": lambda **charge: combinatorial.min_cut(7, 1, nodes=3, **charge),
    "a directed graph": lambda **charge: combinatorial.min_cut(networkx.DiGraph([(0, 1)]), 1, **charge),
    "no file": lambda **charge: combinatorial.vertex_cover("nowhere.txt", 1, nodes=3, **charge),
    "text for demand": lambda **charge: combinatorial.k_median(TOWN, "0, 1", 2, 1, **charge),
    "no counts": lambda **charge: combinatorial.sorted_counts(None, 1, total=20, **charge),
    "a bad price": lambda **charge: combinatorial.min_cut(CLUB, -1, **charge),
    "too many facilities": lambda **charge: combinatorial.k_median(TOWN, [0], 99, 1, **charge),
}
# What it holds is not: whatever is wrong with it is answered, or has one text, and is charged.
WRONG_CONTENT = {
    "an edge outside": lambda **charge: combinatorial.min_cut([(0, 1), (0, 99)], 1, nodes=3, **charge),
    "half an edge": lambda **charge: combinatorial.vertex_cover([(0, 1), (2,)], 1, nodes=3, **charge),
    "an edge that is text": lambda **charge: combinatorial.vertex_cover([(0, 1), "ab"], 1, nodes=3, **charge),
    "no weight": lambda **charge: combinatorial.min_cut(
        [(0, 1)], 1, nodes=3, weights=combinatorial.EdgeWeights(), **charge
    ),
    "demand outside": lambda **charge: combinatorial.k_median(TOWN, [0, 99], 2, 1, **charge),
    "demand of text": lambda **charge: combinatorial.k_median(TOWN, ["a"], 2, 1, **charge),
    "a count of text": lambda **charge: combinatorial.sorted_counts([3, "a"], 1, total=20, **charge),
}


@pytest.mark.parametrize("ask", WRONG_FORM.values(), ids=WRONG_FORM)
def test_a_wrong_form_is_refused_at_no_cost(ask, ledger):
    before = len(list(ledger.entries()))
    with pytest.raises(BadParameter):
        ask(ledger=ledger, dataset="graph")
    assert len(list(ledger.entries())) == before


@pytest.mark.parametrize("ask", WRONG_CONTENT.values(), ids=WRONG_CONTENT)
def test_wrong_private_content_is_answered_or_one_failure_and_charged_either_way(ask, ledger):
    said = []
    for charge in ({"ledger": ledger, "dataset": "graph"}, {}):
        try:
            said.append(str(ask(**charge).cost))
        except EngineFailure as failure:
            said.append(str(failure))
    assert said in (["ε = 1"] * 2, [str(engine_failure())] * 2)
    assert ledger.left("graph", "anyone").epsilon == 1


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"k": 3}, "k"),
        ({"epsilon": "1/10"}, "epsilon"),
        ({"delta": "1e-6"}, "delta"),
        ({"steps": 9}, "steps"),
    ],
)
def test_parameters_beside_a_ready_mechanism_must_be_its_own(ledger, asked, named):
    ready = combinatorial.KMedian(1, 2, points=TOWN)
    given = {"k": 2, "epsilon": 1} | asked
    with pytest.raises(BadParameter, match=f"^{named} is not that of the ready mechanism"):
        combinatorial.k_median(ready, [0, 5], **given, ledger=ledger, dataset="graph")
    assert ledger.left("graph", "anyone").epsilon == 2
    release = combinatorial.k_median(ready, [0, 5], 2, 1.0, 0, steps="6", ledger=ledger, dataset="graph")
    assert str(release.cost) == "ε = 1"


def test_a_list_of_edges_needs_its_nodes():
    with pytest.raises(BadParameter, match="nodes"):
        combinatorial.min_cut([(0, 1)], 1)


def test_one_edge_moves_one_count_of_edges_and_two_degrees():
    """All graphs on four nodes and all their neighbours at edge level: sensitivities 1 and 2."""
    pairs = list(combinations(range(4), 2))
    for code in range(1 << len(pairs)):
        edges = [pair for place, pair in enumerate(pairs) if code >> place & 1]
        here = read_graph(edges, 4)
        for more in pairs:
            if more not in edges:
                there = read_graph([*edges, more], 4)
                assert len(there.tails) - len(here.tails) == 1
                assert abs(there.degrees() - here.degrees()).sum() == 2


def test_edges_and_degrees_are_near_the_truth_and_cost_epsilon():
    star = [(0, leaf) for leaf in range(1, 50)]
    count = combinatorial.number_of_edges(star, 20, nodes=50)
    each = combinatorial.degrees(star, 40, nodes=50)
    assert abs(count.value - 49) <= 3
    assert abs(each.value[0] - 49) <= 3
    assert (str(count.cost), str(each.cost)) == ("ε = 20", "ε = 40")

"""Cuts, facilities, covers and lists as releases: charged once, recorded, repeated for nothing."""

from itertools import pairwise

import networkx
import numpy as np
import pytest

from leastnoise.accounting import Ledger
from leastnoise.errors import BadParameter, BudgetExceeded, TooLarge
from leastnoise.model.privacy import Privacy
from leastnoise.release import combinatorial

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


def test_what_would_not_fit_into_the_record_is_refused_before_it_is_charged(ledger):
    with pytest.raises(TooLarge):
        combinatorial.vertex_cover([(0, 1)], 1, nodes=10**6, ledger=ledger, dataset="graph")
    with pytest.raises(TooLarge):
        combinatorial.sorted_counts([3], 1, total=2 * 10**9, example=[3], ledger=ledger, dataset="graph")
    assert ledger.left("graph", "anyone").epsilon == 2


def test_a_list_of_edges_needs_its_nodes():
    with pytest.raises(BadParameter, match="nodes"):
        combinatorial.min_cut([(0, 1)], 1)

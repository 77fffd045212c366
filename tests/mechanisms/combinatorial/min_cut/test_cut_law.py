"""The sampler over all cuts follows its law, however few cuts are listed; and the test would notice if not."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from leastnoise.exact import SeededSource
from leastnoise.mechanisms.combinatorial.min_cut import cut_law
from leastnoise.mechanisms.combinatorial.min_cut.contraction import Contractions, minimum_cut
from leastnoise.mechanisms.combinatorial.min_cut.cut_law import CutLaw
from leastnoise.mechanisms.combinatorial.min_cut.random_cluster import RandomCluster
from mechanisms.combinatorial.min_cut.random_graphs import cut_sides, cut_weights, symmetric
from support.statistics import fits

RATE = Fraction(1, 2)
GRAPH = symmetric(5, [3, 2, 4, 1, 5, 1, 2, 3, 2, 4])
WEIGHTS = np.array(cut_weights(GRAPH))
ORDER = np.argsort(WEIGHTS, kind="stable")
PLACES = {tuple(side.tolist()): place for place, side in enumerate(cut_sides(5))}
RANKS = np.argsort(ORDER)


def law_of(rate):
    chances = np.exp(-float(rate) * (WEIGHTS - WEIGHTS.min()))[ORDER]
    sums = np.cumsum(chances / chances.sum())
    return lambda rank: sums[rank]


def ranks_of(law, count, **options):
    source = SeededSource(5)
    return np.array([RANKS[PLACES[tuple(law.draw(source, **options).tolist())]] for _ in range(count)])


@cache
def ranks(limit):
    return ranks_of(CutLaw(GRAPH, RATE, limit=limit), 1500)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [None, -1, 10, 13, 100])
def test_every_cut_has_its_probability(limit):
    drawn = ranks(limit)
    assert fits(drawn, law_of(RATE), 0, len(ORDER) - 2)


@pytest.mark.parametrize("wrong", [RATE * Fraction(5, 4), RATE * Fraction(3, 4)])
def test_a_law_that_is_a_little_wrong_is_noticed(wrong):
    drawn = ranks(-1)
    assert not fits(drawn, law_of(wrong), 0, len(ORDER) - 2)


@pytest.mark.slow
def test_disconnected_graphs_have_the_same_law():
    graph = symmetric(4, [2, 0, 0, 0, 0, 3])
    weights = np.array(cut_weights(graph))
    order = np.argsort(weights, kind="stable")
    rank = {tuple(side.tolist()): int(np.flatnonzero(order == i)[0]) for i, side in enumerate(cut_sides(4))}
    sums = np.cumsum(np.exp(-0.5 * weights)[order] / np.exp(-0.5 * weights).sum())
    for limit in (None, -1):
        law, source = CutLaw(graph, RATE, limit=limit), SeededSource(2)
        drawn = np.array([rank[tuple(law.draw(source).tolist())] for _ in range(600)])
        assert fits(drawn, lambda i: sums[i], 0, len(order) - 2)


CLUSTERS = [
    (GRAPH, RATE / 2, 700),
    (GRAPH, Fraction(1, 50), 1500),
    (symmetric(4, [2, 0, 0, 0, 0, 3]), RATE, 1500),
    (symmetric(4, [30, 1, 0, 2, 3, 20]), RATE / 4, 1000),
]


@pytest.mark.slow
@pytest.mark.parametrize(("graph", "rate", "count"), CLUSTERS)
def test_coupling_from_the_past_has_the_same_law(graph, rate, count):
    weights = np.array(cut_weights(graph))
    order = np.argsort(weights, kind="stable")
    rank = {tuple(side.tolist()): int(np.flatnonzero(order == i)[0]) for i, side in enumerate(cut_sides(len(graph)))}

    def sums(factor):
        chances = np.exp(-factor * float(rate) * (weights - weights.min()))[order]
        return np.cumsum(chances / chances.sum())

    clusters, source = RandomCluster(graph, rate), SeededSource(7)
    drawn = np.array([rank[tuple(clusters.draw(source).tolist())] for _ in range(count)])
    assert fits(drawn, lambda i: sums(1.0)[i], 0, len(order) - 2)
    if rate == RATE:
        assert not fits(drawn, lambda i: sums(0.6)[i], 0, len(order) - 2)


def test_a_cut_is_drawn_however_light_the_minimum_is(monkeypatch):
    """A ring at a rate at which nearly every trial is rejected; without coupling the draw would not end."""
    ring = np.roll(np.eye(40, dtype=np.int64), 1, axis=1)
    told = []
    law = CutLaw(ring + ring.T, Fraction(1), limit=-1, progress=lambda what, _: told.append(what))
    assert 0 < law.draw(SeededSource(1)).sum() < 40
    assert told[-1] == "sweeps"
    assert "coupling from the past" in told
    assert told.count("drawing a cut") == cut_law._MOST_TRIALS
    monkeypatch.setattr(cut_law, "_MOST_TRIALS", 0)
    assert fits(ranks_of(CutLaw(GRAPH, RATE / 2), 500), law_of(RATE / 2), 0, len(ORDER) - 2)


@pytest.mark.parametrize("span", [10**3, 10**9, 10**15])
def test_contraction_ends_in_less_rounds_than_nodes(span):
    """Weights that span many powers of ten: pairs inside a part would be drawn for ever."""
    rng, count = np.random.default_rng(3), 24
    upper = (span ** rng.random(count * (count - 1) // 2)).astype(np.int64)
    matrix = symmetric(count, upper)
    rounds = []

    class Counted(SeededSource):
        def words(self, number, width):
            rounds.append(number)
            return super().words(number, width)

    contractions = Contractions(matrix, minimum_cut(matrix), 0, Fraction(1))
    parts, merges = contractions._contract(2, Counted(1))
    assert len(parts) == 2
    assert len(merges) == count - 2
    assert len(rounds) < 10 * count


def test_the_share_of_what_is_not_listed_is_a_bound():
    for limit in (10, 13):
        law = CutLaw(GRAPH, RATE, limit=limit)
        chances = np.exp(-0.5 * WEIGHTS)
        assert chances[limit < WEIGHTS].sum() / chances.sum() <= law.unlisted_share <= 1
    assert CutLaw(GRAPH, RATE, limit=-1).unlisted_share == 1


def test_what_is_surely_negligible_is_left_out_and_nothing_else():
    law = CutLaw(GRAPH, Fraction(3), limit=int(WEIGHTS.min()) + 6)
    listed = int((WEIGHTS.min() + 6 >= WEIGHTS).sum())
    assert 0 < law.unlisted_share < 1
    seen = ranks_of(law, 400, negligible=law.unlisted_share)
    assert seen.max() < listed
    bold = CutLaw(GRAPH, Fraction(1, 50), limit=int(WEIGHTS.min()))
    assert ranks_of(bold, 200, negligible=Fraction(1, 1000)).max() > 1


def test_progress_is_told_and_can_stop_the_draw():
    told = []
    law = CutLaw(GRAPH, RATE, limit=-1, progress=lambda what, times: told.append((what, times)))
    law.draw(SeededSource(1))
    drawn = [times for what, times in told if what == "drawing a cut"]
    assert drawn == list(range(len(drawn)))
    assert told[0] == ("listing light cuts", 0)

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        CutLaw(GRAPH, RATE, progress=stop).draw()

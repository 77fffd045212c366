"""Orders that encode a cover, and sets with a price on uncovered edges: laws, privacy, errors, bad input."""

from fractions import Fraction
from itertools import combinations, permutations

import igraph
import networkx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import coo_array

from leastnoise.checker import check
from leastnoise.errors import BadParameter, NoPrivateAnswer, TooLarge
from leastnoise.exact import SeededSource
from leastnoise.mechanisms.combinatorial.vertex_cover import PenalisedCover, VertexCoverOrder, decode, plain_cover
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import from_edges
from mechanisms.conformance import Case, Conformance
from support.statistics import fits

BAD_NODES = [0, -1, 2.5, "", [1, 1]]
BAD_GRAPHS = [[([12345], 0)], [(12345,)], 12345, [(0, 1, 12345)], "no such file"]


def all_graphs(count):
    """Every graph on so many nodes, and which of them differ in one edge."""
    pairs = list(combinations(range(count), 2))
    graphs = [tuple(p for i, p in enumerate(pairs) if code >> i & 1) for code in range(1 << len(pairs))]
    edges = [(graphs[c ^ (1 << i)], graphs[c]) for c in range(len(graphs)) for i in range(len(pairs)) if c >> i & 1]
    return graphs, from_edges(edges, graphs)


def smallest_cover(count, edges):
    sets = (set(chosen) for size in range(count + 1) for chosen in combinations(range(count), size))
    return len(next(chosen for chosen in sets if all(chosen & set(edge) for edge in edges)))


def cost(chosen, edges, price=1):
    return len(chosen) + price * sum(not set(edge) & set(chosen) for edge in edges)


def order_case(epsilon, count):
    graphs, graph = all_graphs(count)
    return Case(
        VertexCoverOrder,
        {"epsilon": epsilon, "nodes": count},
        answers=graphs,
        graph=graph,
        outputs=list(permutations(range(count))),
        tight=False,  # the bound drops a factor w/(1 + w): docs/theory/vertex_cover.md
        samples=4000,
        bad_parameters={"epsilon": [0, -1, "one", 1001, float("nan"), None], "nodes": BAD_NODES},
        bad_answers=BAD_GRAPHS,
    )


def set_case(epsilon, count, price):
    graphs, graph = all_graphs(count)
    sets = [chosen for size in range(count + 1) for chosen in combinations(range(count), size)]
    return Case(
        PenalisedCover,
        {"epsilon": epsilon, "nodes": count, "price": price},
        answers=graphs,
        graph=graph,
        outputs=sets,
        tight=False,
        samples=20_000,
        bad_parameters={"epsilon": [0, "one"], "nodes": BAD_NODES, "price": [0, -1, "x", 10**9]},
        bad_answers=BAD_GRAPHS,
    )


@pytest.mark.parametrize(
    "case",
    [
        order_case(1, 3),
        order_case("1/2", 4),
        set_case("ln(2)", 3, 1),
        set_case("3*ln(2)", 3, Fraction(3, 2)),
        set_case(1, 4, 2),
    ],
    ids=str,
)
class TestVertexCovers(Conformance):
    """On every graph of three or four nodes."""


@pytest.mark.slow
def test_a_slightly_wrong_law_of_orders_would_be_noticed():
    graph, right, wrong = ((0, 1), (0, 2)), VertexCoverOrder(4, 3), VertexCoverOrder(1, 3)
    orders = list(permutations(range(3)))
    drawn = [orders.index(tuple(order.tolist())) for order in right.draw(graph, size=6000, source=SeededSource(9))]
    for mechanism in (right, wrong):
        sums = np.cumsum([float(mechanism.pmf(order, graph)) for order in orders])
        assert fits(drawn, lambda i, sums=sums: sums[i], 0, len(orders) - 2) == (mechanism is right)


@pytest.mark.parametrize("price", [1, Fraction(3, 2)])
def test_no_graph_on_three_nodes_costs_a_set_more_than_the_error_says(price):
    mechanism = PenalisedCover("3*ln(2)", 3, price)
    sets = [chosen for size in range(4) for chosen in combinations(range(3), size)]
    estimate = mechanism.error()
    for edges in all_graphs(3)[0]:
        least = min(cost(chosen, edges, price) for chosen in sets)
        law = [(mechanism.pmf(chosen, edges).lower, cost(chosen, edges, price) - least) for chosen in sets]
        assert 0 < sum(p * gap for p, gap in law) <= estimate.expected.upper
        assert sum(p for p, gap in law if gap <= estimate.quantiles[Fraction(19, 20)]) >= Fraction(19, 20)


@pytest.mark.slow
@pytest.mark.parametrize("price", [Fraction(1), Fraction(3, 2)])
def test_the_checker_passes_all_pairs_of_graphs_on_four_nodes(price):
    graphs, graph = all_graphs(4)
    mechanism = PenalisedCover("3*ln(2)", 4, price)
    sets = [chosen for size in range(5) for chosen in combinations(range(4), size)]
    channel = Channel([[mechanism.pmf(y, x).lower for y in sets] for x in graphs], inputs=graphs, outputs=sets)
    assert check(channel, graph, "3*ln(2)")
    assert not check(channel, graph, "2*ln(2)")


def test_the_expected_cover_is_within_the_ratio_on_every_small_graph():
    mechanism = VertexCoverOrder(3, 4)
    bound = mechanism.error().expected.upper
    graphs, _ = all_graphs(4)
    for edges in graphs[1:]:
        sizes = {order: len(decode(order, edges)) for order in permutations(range(4))}
        mean = sum(float(mechanism.pmf(order, edges)) * size for order, size in sizes.items())
        assert smallest_cover(4, edges) <= mean + 1e-9 <= bound * smallest_cover(4, edges)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.data())
def test_every_order_decodes_to_a_cover(count, data):
    edges = data.draw(st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=60))
    order = VertexCoverOrder(1, count).draw(edges, source=SeededSource(data.draw(st.integers(0, 99))))
    assert sorted(order.tolist()) == list(range(count))
    cover, rank = decode(order, edges).tolist(), {node: place for place, node in enumerate(order.tolist())}
    assert set(cover) == {min(edge, key=rank.__getitem__) for edge in edges if edge[0] != edge[1]}
    assert cover == sorted(cover, key=rank.__getitem__)


def test_a_hub_comes_early():
    """A star of 400 among 401 nodes: the centre has weight 400 + 80·w against w for each leaf."""
    star = [(0, leaf) for leaf in range(1, 401)]
    orders = VertexCoverOrder(10, 401).draw(star, size=60, source=SeededSource(1))
    assert np.mean([len(decode(order, star)) for order in orders]) < 8
    noisier = VertexCoverOrder("1/10", 401).draw(star, size=60, source=SeededSource(1))
    assert np.mean([len(decode(order, star)) for order in noisier]) > 20


def test_large_sparse_and_dense_graphs_are_ordered_completely():
    random = np.random.default_rng(3)
    for count, edges in ((20_000, 100_000), (600, 80_000), (5000, 0)):
        graph = random.integers(0, count, (edges, 2))
        order = VertexCoverOrder(1, count).draw(graph)
        assert (np.sort(order) == np.arange(count)).all()


@pytest.mark.parametrize("name", ["karate club", "Les Misérables"])
def test_graphs_of_the_literature_in_every_form(name):
    known = {"karate club": networkx.karate_club_graph, "Les Misérables": networkx.les_miserables_graph}[name]()
    nodes = list(known)
    mechanism = VertexCoverOrder(4, nodes)
    order = mechanism.release(known)
    cover = set(decode(order, known))
    assert all(set(edge) & cover for edge in known.edges)
    assert set(order) == set(nodes)
    places = {node: place for place, node in enumerate(nodes)}
    pairs = np.array([(places[a], places[b]) for a, b in known.edges])
    forms = [
        pairs,
        igraph.Graph(len(nodes), pairs.tolist()),
        coo_array((np.ones(len(pairs)), pairs.T), (len(nodes),) * 2),
    ]
    counted = VertexCoverOrder(4, len(nodes))
    drawn = [counted.draw(form, source=SeededSource(2)).tolist() for form in forms]
    assert drawn[0] == drawn[1] == drawn[2]


def test_a_plain_cover_is_refused_with_its_reason():
    with pytest.raises(NoPrivateAnswer, match=r"at least 33 of 34 nodes.*Proposition 3\.5.*VertexCoverOrder"):
        plain_cover(1, 34)
    with pytest.raises(BadParameter, match="epsilon"):
        plain_cover(0, 34)


def test_no_private_law_on_three_nodes_gives_always_a_small_cover():
    """Proposition 3.5 in the checker: a law on covers that ever leaves out two nodes fails for every epsilon."""
    graphs, graph = all_graphs(3)
    sets = [(0,), (0, 1, 2)]
    rows = [[Fraction(1, 2), Fraction(1, 2)] if (1, 2) not in edges else [Fraction(0), Fraction(1)] for edges in graphs]
    assert not check(Channel(rows, inputs=graphs, outputs=sets), graph, 1000)


def test_too_many_nodes_for_sets():
    with pytest.raises(TooLarge, match="VertexCoverOrder"):
        PenalisedCover(1, 21)
    with pytest.raises(TooLarge, match="price"):
        PenalisedCover(1, 3, "1/3000000")


def test_progress_is_told_and_an_interruption_returns_nothing():
    told, graph = [], [(i, i + 1) for i in range(2000)]
    VertexCoverOrder(1, 2001).release(graph, progress=told.append)
    assert told == sorted(told)
    assert 0 < told[0] < told[-1] <= 1

    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        VertexCoverOrder(1, 2001).release(graph, progress=stop)


def test_the_bounds_are_in_order():
    for epsilon, count in ((1, 34), ("1/10", 1000), (10, 5), (1, 1), (1, 2)):
        mechanism = VertexCoverOrder(epsilon, count)
        assert mechanism.reason().lower_bound.lower <= max(mechanism.error().expected.upper, 1)
    with pytest.raises(BadParameter, match="irrational"):
        VertexCoverOrder(1, 3).certificate()

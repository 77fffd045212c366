"""Lower bounds for cuts, covers and sorted counts: never above what exact linear programs attain on small instances."""

from fractions import Fraction
from itertools import combinations, permutations

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import lil_array

from leastnoise.errors import BadParameter
from leastnoise.exact import ln
from leastnoise.mechanisms.lower_bounds import (
    count_bound,
    min_cut_bound,
    sorted_counts_bound,
    vertex_cover_bound,
)
from leastnoise.model.graphs import sorted_histograms
from support.optimum import least_loss

FACTORS = [Fraction(6, 5), Fraction(2), Fraction(4)]


def all_graphs(nodes):
    """Every graph as a set of edges, and the pairs of graphs that differ in one."""
    edges = list(combinations(range(nodes), 2))
    graphs = [frozenset(edge for k, edge in enumerate(edges) if code >> k & 1) for code in range(1 << len(edges))]
    steps = [(code, code | 1 << k) for code in range(len(graphs)) for k in range(len(edges)) if not code >> k & 1]
    return graphs, steps


def cut_losses(nodes):
    """How much larger than the minimum each cut is, a row per cut and a column per graph."""
    graphs, steps = all_graphs(nodes)
    sides = [set(side) for size in range(1, nodes) for side in combinations(range(nodes), size) if 0 in side]
    costs = [[sum((u in side) != (v in side) for u, v in graph) for graph in graphs] for side in sides]
    least = [min(column) for column in zip(*costs, strict=True)]
    return [[cost - low for cost, low in zip(row, least, strict=True)] for row in costs], steps


def roughly_least_loss(loss, edges, factor):
    """The minimax optimum in doubles, for instances too large for rationals."""
    table = np.array(loss, float)
    outputs, inputs = table.shape
    width = inputs * outputs + 1
    rows = lil_array((2 * len(edges) * outputs + inputs, width))
    directed = [pair for a, b in edges for pair in ((a, b), (b, a))]
    for k, (x, z) in enumerate(directed):
        for y in range(outputs):
            rows[k * outputs + y, x * outputs + y] = 1
            rows[k * outputs + y, z * outputs + y] = -float(factor)
    ones = lil_array((inputs, width))
    for x in range(inputs):
        rows[len(directed) * outputs + x, x * outputs : (x + 1) * outputs] = table[:, x]
        rows[len(directed) * outputs + x, width - 1] = -1
        ones[x, x * outputs : (x + 1) * outputs] = 1
    cost = np.zeros(width)
    cost[-1] = 1
    found = linprog(cost, rows.tocsr(), np.zeros(rows.shape[0]), ones.tocsr(), np.ones(inputs), method="highs")
    return found.fun


@pytest.mark.parametrize("factor", FACTORS)
def test_no_private_cut_is_better(factor):
    loss, steps = cut_losses(3)
    bound = min_cut_bound(3, f"ln({factor})")
    assert bound.is_exact
    assert 0 < bound.lower <= least_loss(loss, steps, factor)


def test_no_private_cut_of_four_nodes_is_better():
    """The optimum at ε = 1 is 0.455, where the exponential mechanism has 0.896."""
    optimum = roughly_least_loss(*cut_losses(4), np.e)
    assert optimum == pytest.approx(0.4548, abs=5e-4)
    assert 0.1 < min_cut_bound(4, 1).upper < optimum


@pytest.mark.parametrize(("nodes", "degree"), [(n, r) for n in range(3, 9) for r in range(2, n)])
def test_harary_graphs_are_what_the_proof_needs(nodes, degree):
    """n nodes of degree r, one fewer if both are odd; around one of them the cut is free, all others cost r − 1."""
    graph = nx.hkn_harary_graph(degree, nodes)
    regular = [node for node in graph if graph.degree(node) == degree]
    assert len(regular) == nodes - degree * nodes % 2
    for node in regular:
        rest = graph.copy()
        rest.remove_edges_from(list(graph.edges(node)))
        others = [other for other in graph if other != node]
        for size in range(1, nodes - 1):
            for side in combinations(others[1:], size):
                if set(side) != set(others):
                    assert nx.cut_size(rest, side) >= degree - 1


def test_min_cut_bounds_of_many_nodes():
    """Twelve times the thesis' ln n/(12ε) and more is not possible: n = 1000 at ε = 0.1 has 41.8, the thesis 5.8."""
    assert float(min_cut_bound(1000, 0.1)) == pytest.approx(41.799, abs=1e-3)
    assert float(min_cut_bound(1000, 0.1)) > 7 * np.log(1000) / 1.2
    assert float(min_cut_bound(10**6, 0.01)) > 1037
    assert min_cut_bound(2, 1).upper == 0
    assert [float(min_cut_bound(50, e)) for e in (0.1, 1, 5)] == sorted(
        (float(min_cut_bound(50, e)) for e in (0.1, 1, 5)), reverse=True
    )


def cover_ratios(nodes):
    """The size of the cover that an order gives over the least one, a row per order; 0 for the empty graph."""
    graphs, steps = all_graphs(nodes)

    def least(graph):
        return next(
            size
            for size in range(nodes + 1)
            for kept in map(set, combinations(range(nodes), size))
            if all(kept & set(edge) for edge in graph)
        )

    def size(order, graph):
        return len({min(edge, key=order.index) for edge in graph})

    ratios = [
        [Fraction(size(order, graph), least(graph) or 1) for graph in graphs] for order in permutations(range(nodes))
    ]
    return ratios, steps


@pytest.mark.parametrize("factor", FACTORS)
def test_no_private_order_covers_better(factor):
    ratios, steps = cover_ratios(3)
    bound = vertex_cover_bound(f"ln({factor})", nodes=3)
    assert bound.is_exact
    assert 1 < bound.lower <= least_loss(ratios, steps, factor)


@pytest.mark.slow
def test_no_private_order_of_four_nodes_covers_better():
    optimum = roughly_least_loss(*cover_ratios(4), np.exp(0.5))
    assert 1.1 < vertex_cover_bound(0.5, nodes=4).upper < optimum


def test_vertex_cover_bounds_of_many_nodes():
    """At ε = 0.1 the ratio is at least 3.6, where ½(1 + m·e^(−ε(m−1))) gives 2.53 at best; it is about 0.29/ε."""
    simple = max((1 + m * np.exp(-0.1 * (m - 1))) / 2 for m in range(2, 100))
    assert simple == pytest.approx(2.53, abs=5e-3)
    assert float(vertex_cover_bound(0.1)) > 1.4 * simple
    assert float(vertex_cover_bound("1/500")) * 0.002 == pytest.approx(
        np.sqrt(2) * (2 + np.sqrt(2)) / 4 * np.exp(-np.sqrt(2)), rel=0.03
    )
    assert vertex_cover_bound(1, nodes=2).lower == 1
    assert vertex_cover_bound(50).lower >= 1


def partitions_up_to(total):
    found = {p for n in range(total + 1) for p in sorted_histograms(n, total).nodes}
    return sorted(found)


@pytest.mark.slow
def test_no_private_list_of_counts_is_better():
    lists = partitions_up_to(3)
    loss = [[sum(abs(a - b) for a, b in zip(one, two, strict=True)) for two in lists] for one in lists]
    for step in (1, 2):
        edges = [pair for pair in combinations(range(len(lists)), 2) if loss[pair[0]][pair[1]] <= step]
        for factor in FACTORS:
            bound = sorted_counts_bound(3, f"ln({factor})", step=step)
            assert 0 < bound.lower <= least_loss(loss, edges, factor)


def test_sorted_counts_of_many_records():
    """½√(N/ε) for small ε; for r counts among many records the r·2α/(1 − α²) that geometric noise has."""
    assert float(sorted_counts_bound(10**8, "1/1000")) == pytest.approx(0.5 * np.sqrt(10**11), rel=0.01)
    alpha = np.exp(-1)
    assert float(sorted_counts_bound(10**9, 1, longest=5)) == pytest.approx(5 * 2 * alpha / (1 - alpha**2), rel=1e-4)
    assert float(sorted_counts_bound(10**9, 1, longest=5)) < 5 * 2 * alpha / (1 - alpha**2)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("largest", [1, 2, 3])
def test_no_private_count_is_better(factor, largest):
    nodes = range(largest + 1)
    loss = [[abs(w - x) for x in nodes] for w in nodes]
    edges = [(x, x + 1) for x in range(largest)]
    bound = count_bound(largest, ln(factor))
    assert bound.lower <= least_loss(loss, edges, factor)
    alpha = 1 / factor
    weights = [1 / (1 - alpha) if x in (0, largest) else Fraction(1) for x in nodes]
    assert bound.lower == least_loss(loss, edges, factor, [weight / sum(weights) for weight in weights])


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (min_cut_bound, (1, 1)),
        (min_cut_bound, (5, 0)),
        (vertex_cover_bound, (-1,)),
        (vertex_cover_bound, (1, 1)),
        (sorted_counts_bound, (0, 1)),
        (sorted_counts_bound, (5, "nan")),
        (sorted_counts_bound, (5, 1, 0)),
        (count_bound, (0, 1)),
    ],
)
def test_bad_parameters_are_refused(function, arguments):
    with pytest.raises(BadParameter):
        function(*arguments)

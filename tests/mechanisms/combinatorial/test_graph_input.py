"""Graphs in every form are read alike; loops and doubles by rule; nothing private in an error."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction

import igraph
import networkx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, strategies as st

from leastnoise.errors import BadParameter, LeastNoiseError
from leastnoise.mechanisms.combinatorial.graph_input import public_nodes, read_graph, read_nodes

EDGES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=20)


def as_set(graph):
    return set(zip(graph.tails.tolist(), graph.heads.tolist(), strict=True))


@pytest.mark.slow
@given(EDGES)
def test_every_form_gives_the_same_edges(edges):
    expected = {(min(e), max(e)) for e in edges if e[0] != e[1]}
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    network = networkx.MultiGraph(edges)
    network.add_nodes_from(range(6))
    sparse = scipy.sparse.coo_array((np.ones(len(edges)), pairs.T), shape=(6, 6)).tocsr()
    for form in (edges, pairs, network, igraph.Graph(6, edges), sparse + sparse.T):
        read = read_graph(form, 6)
        assert as_set(read) == expected
        assert read.weights.tolist() == [1] * len(expected)
        matrix = read.matrix()
        assert (matrix == matrix.T).all()
        assert matrix.sum() == 2 * len(expected)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 9)), max_size=15))
def test_weights_of_a_pair_add_up(edges):
    expected = Counter()
    for a, b, w in edges:
        if a != b:
            expected[min(a, b), max(a, b)] += w
    read = read_graph([(a, b, w / 2) for a, b, w in edges], 5, weight="weight", step="1/2")
    found = zip(read.tails.tolist(), read.heads.tolist(), read.weights.tolist(), strict=True)
    assert {(a, b): w for a, b, w in found} == {pair: w for pair, w in expected.items() if w}


def test_weights_are_rounded_to_the_nearest_step():
    weights = ["0.1", 0.125, 0.13, Fraction(1, 2), 3]
    read = read_graph([(0, i + 1, w) for i, w in enumerate(weights)], 6, weight="w", step="1/4")
    assert read.weights.tolist() == [1, 1, 2, 12]
    assert read.heads.tolist() == [2, 3, 4, 5]


def test_listings_of_a_pair_are_rounded_together():
    """Else a small change of each listing would move the sum by a step each."""
    read = read_graph([(0, 1, 0.4), (1, 0, 0.4), (0, 1, 0.4)], 2, weight="weight")
    assert read.weights.tolist() == [1]


def test_named_weights_of_graph_objects():
    graph = networkx.les_miserables_graph()
    expected = sum(weight for *_, weight in graph.edges(data="weight"))
    twin = igraph.Graph.TupleList(graph.edges(data="weight"), weights=True)
    assert read_graph(graph, graph.nodes, weight="weight").weights.sum() == expected
    assert read_graph(twin, graph.nodes, weight="weight").weights.sum() == expected
    assert set(public_nodes(twin)) == set(public_nodes(graph))
    sparse = networkx.to_scipy_sparse_array(graph)
    assert read_graph(sparse, 77, weight="weight").weights.sum() == expected
    assert read_graph(scipy.sparse.triu(sparse), 77, weight="weight").weights.sum() == expected


def test_edge_list_files(tmp_path):
    plain, named = tmp_path / "plain.txt", tmp_path / "named.csv"
    plain.write_text("# a comment\n% another\n0 1\n2 1\n1 2\n")
    named.write_text("# who knows whom\nAda,Bob,1.5\nBob,Cem,2\n\n")
    assert as_set(read_graph(plain, 3)) == {(0, 1), (1, 2)}
    assert as_set(read_graph(str(plain), ["0", "1", "2"])) == {(0, 1), (1, 2)}
    read = read_graph(named, ["Ada", "Bob", "Cem"], weight="weight", step="1/2")
    assert read.weights.tolist() == [3, 4]
    with pytest.raises(BadParameter, match="no file"):
        read_graph(tmp_path / "nowhere.txt", 3)


@pytest.mark.parametrize(
    "bad",
    [
        [(0, 1, 7777)],
        [(7777,)],
        np.array([[0, 1, 7777]]),
        np.array([7777, 0]),
        [[{}, 7777]],
        7777,
        None,
        scipy.sparse.csr_array(([1], ([0], [7776])), shape=(7777, 7777)),
    ],
    ids=lambda bad: type(bad).__name__,
)
def test_a_bad_graph_is_refused_without_showing_an_edge(bad):
    with pytest.raises(LeastNoiseError) as caught:
        read_graph(bad, 3)
    assert "7777" not in f"{caught.value} {caught.value.__context__} {caught.value.__cause__}"


OUTSIDE = [
    [(0, 7), (0, 1)],
    [(-7, 0), (1, 0), (2**80, 1)],
    [("x", 0), (0, 1), (None, 1)],
    np.array([[0, 7], [0, 1], [-1, 2]]),
    np.array([[0, 2**63 + 1], [0, 1]], dtype=np.uint64),
    np.array([[0.5, 7.0], [0.0, 1.0]]),
    networkx.Graph([(0, 7), (0, 1)]),
    igraph.Graph(9, [(0, 8), (0, 1)]),
]


@pytest.mark.parametrize("graph", OUTSIDE, ids=lambda graph: type(graph).__name__)
def test_an_edge_outside_the_nodes_does_not_count(graph):
    """A refusal would tell whoever chooses the nodes that somebody has such an edge."""
    assert as_set(read_graph(graph, 3)) == {(0, 1)}


WEIGHTS = [  # a weight, its steps, and those of a pair that weighs one more
    (-7777, 0, 0),
    (float("nan"), 0, 1),
    (None, 0, 1),
    (float("inf"), 99, 99),
    (float("-inf"), 0, 0),
    ("nan", 0, 1),
    ("1e99999", 99, 99),
    (Decimal("sNaN"), 0, 1),
    (Decimal("1e-99999"), 0, 1),
    (10**400, 99, 99),
    (2**63, 99, 99),
    (5e-324, 0, 1),
    ("7/2", 4, 5),
    (np.float32(2.5), 3, 4),
]


@pytest.mark.parametrize(("weight", "alone", "with_one"), WEIGHTS, ids=str)
def test_every_number_is_a_weight(weight, alone, with_one):
    for edges, steps in (([(0, 1, weight)], alone), ([(0, 1, weight), (1, 0, 1)], with_one)):
        assert read_graph(edges, 2, weight="weight", largest=99).weights.tolist() == [steps] * (steps > 0)


@pytest.mark.parametrize("weight", ["7777x", [7777], {}, b"7777", 7777j])
def test_what_is_no_number_is_refused_without_showing_it(weight):
    with pytest.raises(BadParameter, match="weight") as caught:
        read_graph([(0, 1, weight)], 2, weight="weight")
    assert "7777" not in f"{caught.value} {caught.value.__context__}"


def test_matrices_need_not_be_symmetric():
    """The larger entry of a pair counts; entries listed twice add up, beyond the range of their type too."""
    lopsided = scipy.sparse.csr_array(([1, 7, 2], ([0, 1, 2], [1, 0, 1])), shape=(3, 3))
    assert read_graph(lopsided, 3, weight="w").weights.tolist() == [7, 2]
    twice = scipy.sparse.coo_array((np.array([100, 100], dtype=np.int8), ([0, 0], [1, 1])), shape=(3, 3))
    assert read_graph(twice, 3, weight="w").weights.tolist() == [200]
    assert read_graph(networkx.path_graph(2), 2, weight="nowhere").weights.tolist() == [1]


def test_a_bad_line_of_a_file_is_not_shown(tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("0 1\n99999999999999999999 x\nx \xff\n", encoding="latin-1")
    for nodes in (3, ["0", "1"]):
        assert as_set(read_graph(path, nodes)) == {(0, 1)}
    path.write_text("0 1\n7777\n")
    for nodes in (3, ["0", "1"]):
        with pytest.raises(BadParameter) as caught:
            read_graph(path, nodes)
        assert "7777" not in f"{caught.value} {caught.value.__context__}"


def test_directed_graphs_and_missing_nodes_are_refused():
    for graph in (networkx.DiGraph([(0, 1)]), igraph.Graph(2, [(0, 1)], directed=True)):
        with pytest.raises(BadParameter, match="directed"):
            read_graph(graph, 2)
    with pytest.raises(BadParameter, match="publish"):
        public_nodes([(0, 1)])


def test_nodes_are_labels_or_a_number():
    assert read_nodes(range(4)) == range(4)
    assert read_nodes(["b", "a"]) == ("b", "a")
    assert read_nodes(np.int64(3)) == range(3)
    for bad in (0, -1, 2.5, ["a", "a"], None):
        with pytest.raises(LeastNoiseError, match="nodes"):
            read_nodes(bad)


def test_an_edge_list_does_not_show_its_edges():
    assert repr(read_graph([(0, 1)], 4)) == "EdgeList(4 nodes)"

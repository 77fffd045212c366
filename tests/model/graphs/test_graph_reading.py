"""JSON there and back, and graphs from short text."""

import json
from fractions import Fraction

import pytest

from leastnoise.errors import LeastNoiseError
from leastnoise.model import graphs
from model.graphs.reference import CASES

OTHERS = [
    graphs.integers(),
    graphs.naturals(),
    graphs.from_edges([("a", 1), (1, (2, "b")), ("a", Fraction(1, 3)), (1, None)]),
    graphs.from_edges([], [0]),
    graphs.from_distance([[0, "1/3", 0.5], ["1/3", 0, "1/6"], [0.5, "1/6", 0]], ["x", (0, 1), Fraction(1, 2)]),
    graphs.from_distance([[0]]),
]


@pytest.mark.parametrize("graph", [case.graph for case in CASES] + OTHERS, ids=str)
def test_json_there_and_back(graph: graphs.DatasetGraph) -> None:
    again = graphs.from_dict(json.loads(json.dumps(graph.to_dict())))
    assert again == graph
    assert again.name == graph.name
    assert hash(again) == hash(graph)
    assert repr(graph) == graph.name


@pytest.mark.parametrize(
    ("text", "graph"),
    [
        ("path:20", graphs.path(20)),
        ("cycle:12", graphs.cycle(12)),
        ("complete:5", graphs.complete(5)),
        ("hypercube:4", graphs.hypercube(4)),
        ("hamming:3,4", graphs.hamming(3, 4)),
        ("grid:3x4", graphs.grid(3, 4)),
        ("grid:3,4,5", graphs.grid(3, 4, 5)),
        ("histograms:5,3", graphs.histograms(5, 3)),
        ("sorted_histograms:10,4", graphs.sorted_histograms(10, 4)),
        ("sorted_histograms:10,4,2", graphs.sorted_histograms(10, 4, 2)),
        (" path : 20 ", graphs.path(20)),
        ("integers", graphs.integers()),
        ("naturals", graphs.naturals()),
    ],
)
def test_short_text(text: str, graph: graphs.DatasetGraph) -> None:
    assert graphs.parse_graph(text) == graph


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pth:20", "did you mean 'path'"),
        ("", "no kind of graph"),
        ("path", "missing a required argument: 'size'.*write for example path:20"),
        ("path:", "size must be a number"),
        ("path:3,4", "too many positional arguments"),
        ("path:x", "path:20|number"),
        ("path:-3", "size must be at least 1"),
        ("path:2.5", "whole number"),
        ("integers:3", "too many positional arguments"),
        ("edges:3", "no kind of graph"),
        ("hamming:3", "missing a required argument: 'alphabet'"),
    ],
)
def test_text_that_is_no_graph(text: str, message: str) -> None:
    with pytest.raises(LeastNoiseError, match=message):
        graphs.parse_graph(text)


@pytest.mark.parametrize(
    "data",
    [
        5,
        [],
        {},
        {"graph": 3},
        {"graph": "pth", "size": 3},
        {"graph": "path"},
        {"graph": "path", "size": 3, "more": 1},
        {"graph": "path", "size": "many"},
        {"graph": "path", "size": [3]},
        {"graph": "grid", "sides": 3},
        {"graph": "grid", "sides": [3, None]},
        {"graph": "edges", "nodes": ["a", "b"], "edges": [[0, 2]]},
        {"graph": "edges", "nodes": ["a", "b"], "edges": [[0, -1]]},
        {"graph": "edges", "nodes": ["a", "b"], "edges": [[0, True]]},
        {"graph": "edges", "nodes": ["a", "b"], "edges": [[0, 1, 1]]},
        {"graph": "edges", "nodes": ["a", "b"], "edges": []},
        {"graph": "edges", "nodes": "ab", "edges": [[0, 1]]},
        {"graph": "edges", "nodes": ["a", {"tuple": 3}], "edges": [[0, 1]]},
        {"graph": "edges", "nodes": 3, "edges": None},
        {"graph": "metric", "nodes": ["a", "b"], "distances": [["1"], ["1"]]},
        {"graph": "metric", "nodes": ["a", "b"], "distances": [["x"]]},
        {"graph": "metric", "nodes": ["a", "b"], "distances": ["1"]},
        {"graph": "metric", "nodes": ["a", "b"], "distances": 7},
        {"graph": "metric", "nodes": ["a", "b", "c"], "distances": [["1", "3"], ["1"]]},
    ],
)
def test_json_that_is_no_graph(data) -> None:
    with pytest.raises(LeastNoiseError):
        graphs.from_dict(data)

"""Dataset graphs from JSON and from short text such as "path:20"."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from inspect import signature
from typing import Any, TypeAlias, TypeVar

from leastnoise.errors import BadGraph, UnknownLabel
from leastnoise.model.graphs.base import DatasetGraph
from leastnoise.model.graphs.explicit import read_edges
from leastnoise.model.graphs.grids import grid, hamming, hypercube
from leastnoise.model.graphs.histograms import histograms
from leastnoise.model.graphs.infinite import integers, naturals
from leastnoise.model.graphs.metric import read_metric
from leastnoise.model.graphs.path_cycle_complete import complete, cycle, path
from leastnoise.model.graphs.sorted_histograms import sorted_histograms

__all__ = ["graph_from_dict", "parse_graph"]

Maker: TypeAlias = Callable[..., DatasetGraph]
Entry = TypeVar("Entry")

_FAMILIES: dict[str, tuple[Maker, str]] = {
    "complete": (complete, "complete:5"),
    "cycle": (cycle, "cycle:12"),
    "grid": (grid, "grid:3x4"),
    "hamming": (hamming, "hamming:3,4"),
    "histograms": (histograms, "histograms:5,3"),
    "hypercube": (hypercube, "hypercube:4"),
    "integers": (integers, "integers"),
    "naturals": (naturals, "naturals"),
    "path": (path, "path:20"),
    "sorted_histograms": (sorted_histograms, "sorted_histograms:10,4"),
}


def parse_graph(text: str) -> DatasetGraph:
    """Read a family and its parameters from text.

    Raises:
        BadGraph: Too many parameters, or too few.
        BadParameter: A parameter is no number, or out of range.
        UnknownLabel: There is no such family.

    >>> parse_graph("path:20"), parse_graph("hamming:3,4"), parse_graph("grid:3x4"), parse_graph("naturals")
    (path(20), hamming(3, 4), grid(3, 4), naturals())
    """
    kind, colon, rest = text.strip().partition(":")
    maker, example = _find(kind.strip(), _FAMILIES)
    parameters = re.split(r"\s*[,x]\s*", rest.strip()) if colon else []
    return _make(maker, parameters, {}, text, f"write for example {example}")


def graph_from_dict(data: Mapping[str, Any]) -> DatasetGraph:
    """Read what `DatasetGraph.to_dict` wrote.

    Raises:
        BadGraph: Not a mapping, a missing or unknown field, or what is read is no graph.
        UnknownLabel: The kind of graph is unknown.
    """
    fix = "write graphs with to_dict"
    if not isinstance(data, Mapping) or not isinstance(data.get("graph"), str):
        raise BadGraph('a graph in JSON is an object with the text field "graph"', given=repr(data), fix=fix)
    makers: dict[str, Maker] = {
        **{kind: maker for kind, (maker, _) in _FAMILIES.items()},
        "edges": read_edges,
        "grid": _read_grid,
        "metric": read_metric,
    }
    fields = {str(name): value for name, value in data.items() if name != "graph"}
    return _make(_find(data["graph"], makers), [], fields, data, fix)


def _read_grid(sides: Sequence[Any]) -> DatasetGraph:
    if not isinstance(sides, list | tuple):
        raise BadGraph(
            "the sides of a grid are a list", given=repr(sides), fix='write {"graph": "grid", "sides": [3, 4]}'
        )
    return grid(*sides)


def _find(kind: str, known: Mapping[str, Entry]) -> Entry:
    if kind not in known:
        closest = get_close_matches(kind, known, n=1, cutoff=0.0)[0]
        raise UnknownLabel("there is no such kind of graph", given=repr(kind), fix=f"did you mean {closest!r}?")
    return known[kind]


def _make(maker: Maker, parameters: Sequence[str], fields: Mapping[str, Any], given: object, fix: str) -> DatasetGraph:
    try:
        signature(maker).bind(*parameters, **fields)
    except TypeError as mismatch:
        raise BadGraph(f"the parameters do not fit: {mismatch}", given=given, fix=fix) from None
    return maker(*parameters, **fields)

"""Dataset graphs from short text such as "path:20", from JSON, and from files: JSON, GraphML, or a list of edges.

An edge list has two labels on a line, separated by a comma, a semicolon or blanks; empty lines and those that begin
with # are skipped. Labels that look like whole numbers are whole numbers. Directions, weights and other attributes of
GraphML are refused where they would change which nodes are neighbours, else not used.

A dataset graph is public: it says which datasets are neighbours. So whatever is wrong with it is refused, and the error
shows the line or the edge. Graphs that are private data are read by `mechanisms/combinatorial/graph_input.py`, which
refuses no edge for the nodes that it joins, and shows none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from xml.parsers import expat

from leastnoise.errors import BadGraph, shown
from leastnoise.model.graphs.base import DatasetGraph
from leastnoise.model.graphs.explicit import from_edges, read_edges
from leastnoise.model.graphs.grids import grid, hamming, hypercube, torus
from leastnoise.model.graphs.histograms import histograms
from leastnoise.model.graphs.infinite import integers, naturals
from leastnoise.model.graphs.metric import read_metric
from leastnoise.model.graphs.path_cycle_complete import complete, cycle, path
from leastnoise.model.graphs.sorted_histograms import sorted_histograms
from leastnoise.model.labels import unknown_label

__all__ = ["from_dict", "parse_graph", "read_graph"]

Maker: TypeAlias = Callable[..., DatasetGraph]
Found = TypeVar("Found")

_LARGEST = 1 << 26  # bytes
_ENDINGS = (".json", ".graphml", ".xml", ".csv", ".tsv", ".txt", ".edges", ".edgelist")

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
    "torus": (torus, "torus:5x7"),
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


def from_dict(data: Mapping[str, Any]) -> DatasetGraph:
    """Read what `DatasetGraph.to_dict` wrote.

    Raises:
        BadGraph: Not a mapping, a missing or unknown field, or what is read is no graph.
        UnknownLabel: The kind of graph is unknown.

    >>> from_dict({"graph": "hamming", "length": 3, "alphabet": 4})
    hamming(3, 4)
    """
    fix = "write graphs with to_dict"
    if not isinstance(data, Mapping) or not isinstance(data.get("graph"), str):
        raise BadGraph('a graph in JSON is an object with the text field "graph"', given=shown(data), fix=fix)
    makers: dict[str, Maker] = {
        **{kind: maker for kind, (maker, _) in _FAMILIES.items()},
        "edges": read_edges,
        "grid": partial(_read_box, grid),
        "metric": read_metric,
        "torus": partial(_read_box, torus),
    }
    fields = {str(name): value for name, value in data.items() if name != "graph"}
    return _make(_find(data["graph"], makers), [], fields, data, fix)


def _read_box(maker: Maker, sides: Sequence[Any]) -> DatasetGraph:
    if not isinstance(sides, list | tuple):
        raise BadGraph("the sides are a list", given=shown(sides), fix='write {"graph": "grid", "sides": [3, 4]}')
    return maker(*sides)


def _find(kind: str, known: Mapping[str, Found]) -> Found:
    if kind not in known:
        raise unknown_label(kind, known, "kind of graph")
    return known[kind]


def _make(maker: Maker, parameters: Sequence[str], fields: Mapping[str, Any], given: object, fix: str) -> DatasetGraph:
    try:
        signature(maker).bind(*parameters, **fields)
    except TypeError as mismatch:
        raise BadGraph(f"the parameters do not fit: {mismatch}", given=given, fix=fix) from None
    return maker(*parameters, **fields)


def read_graph(text: str) -> DatasetGraph:
    """A graph from a file, told by its ending, or from text such as "path:20".

    Raises:
        BadGraph: The file can't be read, or is no graph.
    """
    path = Path(text)
    if path.suffix.lower() not in _ENDINGS:
        return parse_graph(text)
    try:
        if path.stat().st_size > _LARGEST:
            raise BadGraph("the file is too large", given=text, fix=f"at most {_LARGEST >> 20} MB are read")
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadGraph("the graph can't be read", given=f"{text}: {error}", fix="name a readable text file") from None
    if path.suffix.lower() == ".json":
        return _from_json(content, text)
    return _from_graphml(content, text) if path.suffix.lower() in (".graphml", ".xml") else _from_lines(content, text)


def _from_json(content: str, name: str) -> DatasetGraph:
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadGraph("the file is no JSON", given=f"{name}: {error}", fix="write graphs with to_dict") from None
    return from_dict(data)


def _from_lines(content: str, name: str) -> DatasetGraph:
    edges = []
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        cells = [cell for cell in re.split(r"[,;\s]+", line.strip()) if cell]
        if len(cells) != 2:
            raise BadGraph(
                "a line of an edge list names two nodes",
                given=f"{name}, line {number}: {shown(line[:60])}",
                fix="write a,b",
            )
        edges.append((_label(cells[0]), _label(cells[1])))
    return from_edges(edges)


class _GraphML:
    """Collects nodes and edges while expat reads; entities and document types, which can hide much, are refused."""

    def __init__(self, name: str) -> None:
        self.name, self.is_graph = name, False
        self.nodes: list[Hashable] = []
        self.edges: list[tuple[Hashable, Hashable]] = []

    def read(self, content: str) -> DatasetGraph:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler = self._element
        parser.StartDoctypeDeclHandler = self._doctype
        try:
            parser.Parse(content, True)
        except expat.ExpatError as error:
            raise BadGraph("the file is no XML", given=f"{self.name}: {error}", fix="write it as GraphML") from None
        if not self.is_graph:
            raise BadGraph("the file holds no GraphML graph", given=self.name, fix="write it as GraphML")
        return from_edges(self.edges, self.nodes or None)

    def _element(self, tag: str, attributes: dict[str, str]) -> None:
        kind = tag.rpartition(" ")[2]
        if kind == "graph":
            self.is_graph = True
            self._refuse_directions(attributes.get("edgedefault", "undirected") == "directed")
        elif kind == "node":
            self.nodes.append(_label(self._attribute(attributes, "id")))
        elif kind == "edge":
            self._refuse_directions(attributes.get("directed", "false") == "true")
            ends = (self._attribute(attributes, "source"), self._attribute(attributes, "target"))
            self.edges.append((_label(ends[0]), _label(ends[1])))

    def _attribute(self, attributes: dict[str, str], name: str) -> str:
        if name not in attributes:
            raise BadGraph(f"an element has no {name}", given=self.name, fix="write it as GraphML")
        return attributes[name]

    def _refuse_directions(self, is_directed: bool) -> None:
        if is_directed:
            raise BadGraph(
                "neighbours have no direction, but the edges do", given=self.name, fix='use edgedefault="undirected"'
            )

    def _doctype(self, *_: object) -> None:
        raise BadGraph("a document type is not read", given=self.name, fix="leave the DOCTYPE out")


def _from_graphml(content: str, name: str) -> DatasetGraph:
    return _GraphML(name).read(content)


def _label(text: str) -> Hashable:
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else text

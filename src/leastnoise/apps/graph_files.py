"""Graphs in files: JSON as `to_dict` writes it, GraphML, and plain lists of edges.

An edge list has two labels on a line, parted by a comma, a semicolon or blanks; empty lines and those that begin with #
are skipped. Labels that look like whole numbers are whole numbers. Directions, weights and other attributes of GraphML
are refused where they would change which nodes are neighbours, else not used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable
from pathlib import Path
from xml.parsers import expat

from leastnoise.errors import BadGraph
from leastnoise.model.graphs import DatasetGraph, from_edges, parse_graph

__all__ = ["read_graph"]

_LARGEST = 1 << 26  # bytes
_ENDINGS = (".json", ".graphml", ".xml", ".csv", ".tsv", ".txt", ".edges", ".edgelist")


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
    return DatasetGraph.from_dict(data)


def _from_lines(content: str, name: str) -> DatasetGraph:
    edges = []
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        cells = [cell for cell in re.split(r"[,;\s]+", line.strip()) if cell]
        if len(cells) != 2:
            raise BadGraph(
                "a line of an edge list names two nodes", given=f"{name}, line {number}: {line[:60]!r}", fix="write a,b"
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

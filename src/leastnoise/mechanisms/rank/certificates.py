"""Certificates of exact laws on all small databases."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement

from leastnoise.errors import BadParameter
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import Exact
from leastnoise.model.certificate import PrivacyCertificate
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import DatasetGraph, from_edges
from leastnoise.model.privacy import Privacy

__all__ = ["certify", "growing_databases"]


def certify(name: str, graph: DatasetGraph, epsilon: Exact, rows: Sequence[Sequence[Enclosure]]) -> PrivacyCertificate:
    """A privacy certificate of an exact law on a graph; an irrational law has none."""
    if not all(p.is_exact for row in rows for p in row):
        raise BadParameter(
            f"the law of the {name} is irrational here, so no exact channel can be certified",
            fix='choose an epsilon with rational e^(epsilon/2), such as "2*ln(3)"',
        )
    return PrivacyCertificate(graph, Privacy(epsilon), Channel([[p.lower for p in row] for row in rows], graph.nodes))


def growing_databases(records: int, points: int) -> DatasetGraph:
    """All databases of at most so many records on so many points; neighbours have one record more or less.

    >>> growing_databases(2, 2).nodes
    ((), (0,), (1,), (0, 0), (0, 1), (1, 1))
    """
    nodes = [d for size in range(records + 1) for d in combinations_with_replacement(range(points), size)]
    edges = [(d[:i] + d[i + 1 :], d) for d in nodes for i in range(len(d)) if i == 0 or d[i] != d[i - 1]]
    return from_edges(edges, nodes)

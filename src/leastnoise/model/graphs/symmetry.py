"""Automorphisms and their orbits: which nodes, and which pairs of nodes, look the same.

Generators come from BLISS (through igraph) or from a family's own closed form. A permutation that comes from outside is
used only after it was checked to be an automorphism; were one missing, orbits would be finer than need be, never wrong.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from leastnoise.errors import BadGraph, MissingPackage
from leastnoise.exact import IntArray
from leastnoise.model.limits import require_memory

__all__ = ["Colors", "find_generators", "keeps", "node_orbits", "pair_orbits"]

Colors: TypeAlias = Sequence[Hashable] | Mapping[Hashable, Hashable]


def find_generators(nodes: Sequence[Hashable], edge_classes: Sequence[IntArray], colors: Colors | None) -> IntArray:
    """Generators of the automorphisms that keep every edge class and every colour, one permutation per row.

    BLISS knows colours of nodes, not of edges. Every node gets one copy per edge class, the copies are joined to a path
    and coloured by their class, and an edge of class k joins the k-th copies (nauty User's Guide, "Variations", on
    edge-coloured graphs). Automorphisms of that graph are the ones wanted, acting on all copies alike.
    """
    size, copies = len(nodes), len(edge_classes)
    codes = _color_codes(nodes, colors)
    rungs = np.arange(size * (copies - 1))
    joins = [edges + k * size for k, edges in enumerate(edge_classes)]
    encoded = np.concatenate([*joins, np.column_stack([rungs, rungs + size])])
    shades = np.concatenate([codes + k * (codes.max() + 1) for k in range(copies)])
    guesses = _igraph().Graph(n=size * copies, edges=encoded).automorphism_group(color=shades.tolist())
    permutations = np.array(guesses, dtype=np.int64).reshape(-1, size * copies)[:, :size]
    kept = [g for g in permutations if np.array_equal(codes[g], codes) and all(keeps(g, e) for e in edge_classes)]
    return np.array(kept, dtype=np.int64).reshape(-1, size)


def keeps(permutation: IntArray, edges: IntArray) -> bool:
    """Whether a permutation of the nodes takes the sorted list of edges to itself; only edges it moves are compared."""
    size = len(permutation)
    moved = (permutation != np.arange(size))[edges].any(axis=1)
    before = edges[moved]
    after = np.sort(permutation[before], axis=1)
    return np.array_equal(np.sort(after @ [size, 1]), before @ [size, 1])


def node_orbits(generators: IntArray, size: int) -> IntArray:
    """The orbit of each node, numbered by first appearance."""
    orbits = np.arange(size)
    for generator in generators:
        orbits = _joined(orbits, orbits[generator])
    return _renumbered(orbits)


def pair_orbits(generators: IntArray, size: int) -> IntArray:
    """The orbit of each ordered pair of nodes as a matrix, numbered by first appearance row by row."""
    require_memory(
        64 * size * size, f"the pair orbits of {size} nodes", "use a smaller graph, or one known by a formula"
    )
    orbits = np.arange(size * size).reshape(size, size)
    for generator in generators:
        orbits = _joined(orbits, orbits[np.ix_(generator, generator)])
    return _renumbered(orbits)


def _joined(orbits: IntArray, images: IntArray) -> IntArray:
    """Unite the orbit of each element with the orbit of its image; orbits are numbered without gaps."""
    moved = orbits != images
    if not moved.any():
        return orbits
    count = int(orbits.max()) + 1
    from scipy.sparse import coo_array  # slow to import, and seldom needed
    from scipy.sparse.csgraph import connected_components

    joins = coo_array((np.ones(int(moved.sum())), (orbits[moved], images[moved])), shape=(count, count))
    return connected_components(joins, directed=False)[1].astype(np.int64)[orbits]


def _renumbered(orbits: IntArray) -> IntArray:
    _, first, inverse = np.unique(orbits, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].reshape(orbits.shape)


def _color_codes(nodes: Sequence[Hashable], colors: Colors | None) -> IntArray:
    size = len(nodes)
    if colors is None:
        return np.zeros(size, dtype=np.int64)
    if isinstance(colors, Mapping):
        missing = [node for node in nodes if node not in colors]
        if missing:
            raise BadGraph("a node has no colour", given=missing[0], fix="give every node a colour")
        colors = [colors[node] for node in nodes]
    if len(colors) != size:
        raise BadGraph(
            f"there must be one colour for each of {size} nodes",
            given=f"{len(colors)} colours",
            fix="pass the colours in node order, or a mapping from node to colour",
        )
    codes: dict[Hashable, int] = {}
    return np.array([codes.setdefault(color, len(codes)) for color in colors], dtype=np.int64)


def _igraph() -> Any:
    try:
        return import_module("igraph")
    except ImportError as error:
        raise MissingPackage(
            "finding the symmetries of a graph needs igraph, which is not installed", fix="pip install igraph"
        ) from error

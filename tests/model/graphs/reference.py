"""Every family once more, straight from its definition, and symmetries by trying every permutation."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from typing import Any

import networkx as nx
import numpy as np

from leastnoise.model import graphs


def by_rule(nodes: Sequence[Any], are_neighbours: Callable[[Any, Any], bool]) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from((x, y) for x, y in combinations(nodes, 2) if are_neighbours(x, y))
    return graph


def exchanged(x: tuple[int, ...], y: tuple[int, ...]) -> bool:
    """Whether one record of x was given another type."""
    return sorted(b - a for a, b in zip(x, y, strict=True) if a != b) == [-1, 1]


def all_histograms(total: int, types: int) -> list[tuple[int, ...]]:
    return [x for x in product(range(total + 1), repeat=types) if sum(x) == total]


def sorted_beginnings(total: int, types: int, top: int) -> nx.Graph:
    """Sort all histograms, keep the beginnings, and join two if any two histograms behind them are neighbours."""

    def beginning(x: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(x, reverse=True)[:top])

    full = by_rule(all_histograms(total, types), exchanged)
    graph = nx.Graph()
    graph.add_nodes_from(map(beginning, full))
    graph.add_edges_from((beginning(x), beginning(y)) for x, y in full.edges if beginning(x) != beginning(y))
    return graph


@dataclass
class Case:
    graph: graphs.DatasetGraph
    truth: nx.Graph

    def __str__(self) -> str:
        return self.graph.name


def cube_rule(x: tuple[int, ...], y: tuple[int, ...]) -> bool:
    return sum(a != b for a, b in zip(x, y, strict=True)) == 1


def grid_rule(x: tuple[int, ...], y: tuple[int, ...]) -> bool:
    return sum(abs(a - b) for a, b in zip(x, y, strict=True)) == 1


def torus_rule(sides: tuple[int, ...]) -> Callable[[tuple[int, ...], tuple[int, ...]], bool]:
    def rule(x: tuple[int, ...], y: tuple[int, ...]) -> bool:
        steps = [(a - b) % side for a, b, side in zip(x, y, sides, strict=True)]
        moved = [step in (1, side - 1) for step, side in zip(steps, sides, strict=True) if step]
        return moved == [True]

    return rule


CASES = [
    *(Case(graphs.path(n), nx.path_graph(n)) for n in (1, 2, 3, 4, 5, 8)),
    *(Case(graphs.cycle(n), nx.cycle_graph(n)) for n in (3, 4, 5, 6, 9)),
    *(Case(graphs.complete(n), nx.complete_graph(n)) for n in (1, 2, 3, 6)),
    *(
        Case(graphs.hypercube(n), by_rule(list(product(range(2), repeat=n)), cube_rule))
        for n in (1, 2, 3, 4)
    ),
    *(
        Case(graphs.hamming(n, a), by_rule(list(product(range(a), repeat=n)), cube_rule))
        for n, a in ((1, 1), (3, 1), (1, 5), (2, 3), (2, 4), (3, 3))
    ),
    *(
        Case(graphs.grid(*sides), by_rule(list(product(*map(range, sides))), grid_rule))
        for sides in ((1,), (4,), (1, 3), (2, 2), (2, 3), (3, 3), (3, 4), (2, 2, 2), (1, 2, 1, 2), (2, 3, 2), (3, 2, 3))
    ),
    *(
        Case(graphs.torus(*sides), by_rule(list(product(*map(range, sides))), torus_rule(sides)))
        for sides in ((3,), (5,), (3, 3), (3, 4), (4, 5))
    ),
    *(
        Case(graphs.histograms(n, t), by_rule(all_histograms(n, t), exchanged))
        for n, t in ((0, 1), (0, 3), (1, 1), (1, 4), (2, 2), (2, 3), (3, 2), (3, 3), (5, 3), (2, 4), (4, 4), (7, 1))
    ),
    *(
        Case(graphs.sorted_histograms(n, t, r), sorted_beginnings(n, t, t if r is None else r))
        for n, t, r in (
            (0, 2, None), (1, 3, None), (4, 3, None), (6, 3, None), (6, 4, None), (7, 2, None), (5, 1, None),
            (6, 4, 1), (6, 4, 2), (6, 4, 3), (7, 3, 2), (5, 4, 4), (0, 3, 2), (8, 3, 1),
        )
    ),
]  # fmt: skip


def explicit(case: Case) -> graphs.DatasetGraph:
    """The same graph with nothing but its list of edges."""
    return graphs.from_edges(case.truth.edges, case.graph.nodes)


def brute_automorphisms(distances: np.ndarray, colors: Sequence[Hashable] | None = None) -> list[tuple[int, ...]]:
    """Every permutation that keeps the matrix, and the colours."""
    size = len(distances)
    shades = [0] * size if colors is None else colors
    return [
        p
        for p in permutations(range(size))
        if all(shades[p[i]] == shades[i] for i in range(size)) and (distances[np.ix_(p, p)] == distances).all()
    ]


def brute_pair_orbits(group: list[tuple[int, ...]], size: int) -> set[frozenset[tuple[int, int]]]:
    return {frozenset((p[i], p[j]) for p in group) for i, j in product(range(size), repeat=2)}


def brute_orbits(group: list[tuple[int, ...]], size: int) -> set[frozenset[int]]:
    return {frozenset(p[i] for p in group) for i in range(size)}


def classes(labels: np.ndarray) -> set[frozenset[Any]]:
    """The classes of an array of class numbers, as sets of places."""
    places = {tuple(map(int, place)) if len(place) > 1 else int(place[0]) for place in np.ndindex(labels.shape)}
    by_label: dict[int, set[Any]] = {}
    for place in places:
        by_label.setdefault(int(labels[place]), set()).add(place)
    return {frozenset(members) for members in by_label.values()}


def random_connected(size: int, extra: Sequence[tuple[int, int]], parents: Sequence[int]) -> list[tuple[int, int]]:
    """The edges of a random tree (node k hangs from parents[k]) and some more."""
    tree = {(parents[k] % k, k) for k in range(1, size)}
    more = {(min(i, j) % size, max(i, j) % size) for i, j in extra}
    return sorted(tree | {(min(i, j), max(i, j)) for i, j in more if i != j})

"""Private minimum cuts and k-medians at the sizes people have, against the minute they may take.

Nobody else draws these exactly. Beside the minimum cuts stands that of igraph, of the same graph and not private.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import networkx as nx
import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from benchmarks.measure import Row, race
from leastnoise.mechanisms.combinatorial.k_median import KMedian
from leastnoise.mechanisms.combinatorial.min_cut import ExponentialCut, RaisedCut

__all__ = ["run"]

MINUTE = 60.0
ROUNDS = 3


def run() -> list[Row]:
    rows = []
    for name, graph in _graphs().items():
        mechanism, private = (
            RaisedCut(3, graph.number_of_nodes()),
            scipy.sparse.csr_array(nx.to_scipy_sparse_array(graph)),
        )
        rows.append(_within_a_minute(f"minimum cut, {name}", lambda m=mechanism, g=private: m.release(g)))
    rows += [_beside_igraph(name, graph) for name, graph in _graphs().items() if len(graph) <= 600]
    small = nx.gnp_random_graph(26, 0.5, seed=1)
    rows.append(_within_a_minute("minimum cut, all cuts of 26 nodes", lambda: ExponentialCut(1, 26).release(small)))
    for count in (1000, 10_000):
        points, demand = _town(count)
        rows.append(
            _within_a_minute(
                f"10-median, {count:,} points and as much demand",
                lambda p=points, d=demand: KMedian(1, 10, points=p).release(d),
            )
        )
    return rows


def _graphs() -> dict[str, nx.Graph]:
    return {
        "dense G(400, 1/2)": nx.gnp_random_graph(400, 0.5, seed=1),
        "dense G(600, 1/2)": nx.gnp_random_graph(600, 0.5, seed=2),
        "dense G(2000, 1/2)": nx.gnp_random_graph(2000, 0.5, seed=3),
        "two communities of 200": nx.stochastic_block_model([200, 200], [[0.6, 0.0005], [0.0005, 0.6]], seed=4),
        "degree 10, 350 nodes": nx.random_regular_graph(10, 350, seed=5),
        "average degree 10, 350 nodes": nx.gnp_random_graph(350, 10 / 349, seed=6),
        "average degree 10, 2000 nodes": nx.gnp_random_graph(2000, 10 / 1999, seed=7),
        "cycle of 200": nx.cycle_graph(200),
        "roads 30 × 30": nx.convert_node_labels_to_integers(nx.grid_2d_graph(30, 30)),
    }


def _town(count: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    random = np.random.default_rng(1)
    points, centres = random.random((count, 2)), random.random((10, 2))
    closest = np.sqrt(((points[:, None] - centres) ** 2).sum(axis=2)).min(axis=1)
    weights = np.exp(-(closest**2) / 0.002) + 1e-6
    return points, random.choice(count, count, p=weights / weights.sum())


def _beside_igraph(name: str, graph: nx.Graph) -> Row:
    import igraph

    mechanism, private = RaisedCut(3, graph.number_of_nodes()), scipy.sparse.csr_array(nx.to_scipy_sparse_array(graph))
    theirs = igraph.Graph(graph.number_of_nodes(), list(graph.edges))
    return race(
        f"minimum cut, {name}",
        lambda: mechanism.release(private),
        "igraph, not private",
        lambda: theirs.mincut(capacity=[1.0] * theirs.ecount()),
        target=0,
        rounds=ROUNDS,
    )


def _within_a_minute(name: str, release: Callable[[], object]) -> Row:
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        release()
        times.append(time.perf_counter() - started)
    ours = median(times)
    return {
        "name": name,
        "ours_seconds": ours,
        "peer": "a minute allowed",
        "peer_seconds": MINUTE,
        "ratio": MINUTE / ours,
        "target": 1,
    }

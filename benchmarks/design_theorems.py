"""Designs by theorem, against a plain linear program (scipy with HiGHS) and against `qif` (PyPI), on the same problem.

What the two call optimal is not private where ε times the diameter is above about 18; the losses agree to six digits,
and that is checked before anything is timed. Ours is the exact optimum, with the mechanism. The last rows have no peer:
no program holds the matrix of a path of a million nodes, so they are timed against one second.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from benchmarks.measure import Row, race
from leastnoise.designer import design
from leastnoise.model.graphs import DatasetGraph, parse_graph

__all__ = ["run"]

EPSILON = 1
AGAINST_HIGHS = (("path:100", 100, 3), ("hypercube:6", 100, 1), ("cycle:150", 100, 1))
AGAINST_QIF = (("path:100", 100, 3), ("hypercube:5", 100, 3))
ALONE = ("path:1000000", "hypercube:20", "cycle:10000")


def run() -> list[Row]:
    """Peers first, then what no peer can do."""
    return [
        *(_against(graph, "scipy HiGHS", _highs, target, rounds) for graph, target, rounds in AGAINST_HIGHS),
        *_all_against_qif(),
        *(_alone(graph) for graph in ALONE),
    ]


def _against(text: str, peer: str, solve: Any, target: float, rounds: int) -> Row:
    graph = parse_graph(text)
    ours = float(design(graph, EPSILON).loss)
    assert math.isclose(ours, solve(graph), rel_tol=2e-5), f"{peer} disagrees on {text}"  # noqa: S101 - a benchmark
    return race(f"design {text}, ε = 1", lambda: design(text, EPSILON), peer, lambda: solve(graph), target, rounds)


def _highs(graph: DatasetGraph) -> float:
    """The linear program as it is written down: a variable for each entry, a constraint for each edge and output."""
    distances = np.asarray(graph.distances(), dtype=np.float64)
    size, edges = len(distances), np.concatenate([graph.edges(), graph.edges()[:, ::-1]])
    outputs = np.arange(size)
    lines = np.arange(len(edges) * size)
    larger, smaller = (edges[:, side, None] * size + outputs for side in (0, 1))
    factor = math.exp(EPSILON)
    private = csr_array(
        (
            np.concatenate([np.ones(len(lines)), np.full(len(lines), -factor)]),
            (np.tile(lines, 2), np.concatenate([larger.ravel(), smaller.ravel()])),
        ),
        shape=(len(lines), size * size),
    )
    sums = csr_array((np.ones(size * size), (np.repeat(outputs, size), np.arange(size * size))))
    found = linprog(
        distances.ravel() / size, private, np.zeros(len(lines)), sums, np.ones(size), bounds=(0, None), method="highs"
    )
    return float(found.fun)


def _all_against_qif() -> list[Row]:
    try:
        import qif
    except ImportError:
        print("design_theorems: qif is missing; `pip install qif==1.6.0`")
        return []

    def solve(graph: DatasetGraph) -> float:
        """Its fast way: pairs that are no neighbours are chained and need no constraint of their own."""
        distances = graph.distances()
        size = len(distances)
        prior = qif.probab.uniform(size)
        law = qif.mechanism.d_privacy.min_loss_given_d(
            pi=prior,
            n_cols=size,
            d_priv=lambda x, z: EPSILON * float(distances[x, z]),
            loss=lambda w, x: float(distances[w, x]),
            d_priv_ch=lambda x, z: bool(distances[x, z] > 1),
        )
        return float((np.asarray(law) * distances).sum() / size)

    peer = f"qif {qif.__version__}"
    return [_against(graph, peer, solve, target, rounds) for graph, target, rounds in AGAINST_QIF]


def _alone(text: str) -> Row:
    def everything() -> None:
        best = design(text, EPSILON)
        node = best.problem.graph.nodes[0]
        best.mechanism.pmf(node, node)
        best.mechanism.draw(node)

    return race(f"loss, pmf and a draw, {text}", everything, "one second", lambda: time.sleep(1), target=1, rounds=3)

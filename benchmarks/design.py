"""Designs beside the same linear program in plain HiGHS (through SciPy and through highspy), and beside qif.

The peers' answers are floating-point guesses and have no certificate; where ε·diameter is large they are not private.
Ours is exact. Writing the certificate down is timed on its own, in the rows that say so (there is no target for those).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

import networkx
import numpy as np
import scipy.sparse as sparse
from scipy.optimize import linprog

from benchmarks.measure import Row, race
from leastnoise.designer import design
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import DatasetGraph, cycle, from_distance, from_networkx, hypercube

__all__ = ["run"]

PATIENCE = 120.0  # seconds for a peer; what takes longer counts as that long


def run() -> list[Row]:
    """No symmetry, then much of it, then the certificates."""
    lonely = from_networkx(networkx.gnp_random_graph(60, 0.08, seed=4))
    rows = [
        _race("no symmetry, 60 nodes", lonely, "HiGHS", _highs, 1 / 1.5, rounds=3),
        _race("no symmetry, 60 nodes", lonely, "scipy linprog", _linprog, 1 / 1.5, rounds=1),
        _race("cycle of 150, by symmetry", cycle(150), "HiGHS", _highs, 100, rounds=3),
        _race("hypercube 2^5, by symmetry", hypercube(5), "qif", _qif, 20, rounds=1),
        _race("hypercube 2^7, by symmetry", hypercube(7), "HiGHS", _highs, 100, rounds=1),
    ]
    return [*rows, *(_certificate(graph) for graph in (lonely, cycle(150), hypercube(7))), _samples(), _places()]


def _places() -> Row:
    """Random places of a square, an uneven prior: a proven gap of about one percent; HiGHS alone proves none."""
    rng = np.random.default_rng(5)
    points, weights = rng.random((60, 2)), rng.integers(1, 100, 60)
    far = np.ceil(np.hypot(*(points[:, None] - points).T) * 10**6).astype(int)
    metric, prior = from_distance(far.tolist()), [Fraction(int(w), int(weights.sum())) for w in weights]
    costs = weights[:, None] / weights.sum() * far / 10**6

    def theirs() -> object:
        rows, near = 60 * 60, np.exp(-8e-6 * far)
        first, second = (one.ravel() for one in np.nonzero(~np.eye(60, dtype=bool)))
        parts = sparse.coo_array(
            (
                np.concatenate([near[first, second], -np.ones(len(first))]),
                (np.tile(np.arange(len(first)), 2), np.concatenate([first, second])),
            ),
            shape=(len(first), 60),
        )
        return linprog(
            costs.ravel(),
            A_ub=sparse.kron(parts, sparse.eye_array(60)),
            b_ub=np.zeros(len(first) * 60),
            A_eq=sparse.kron(sparse.eye_array(60), np.ones((1, 60))),
            b_eq=np.ones(60),
            bounds=[(0, 1)] * rows,
            method="highs",
            options={"time_limit": PATIENCE},
        )

    return race(
        "design of 60 places, gap ≤ 1 %",
        lambda: design(metric, Fraction(8, 10**6), prior=prior),
        "scipy linprog",
        theirs,
        target=1,
        rounds=1,
    )


def _race(
    name: str, graph: DatasetGraph, peer: str, theirs: Callable[[DatasetGraph], object], target: float, rounds: int
) -> Row:
    design(
        graph, 1, route="symmetry"
    )  # distances and automorphisms are remembered by the graph; the peers get them too
    return race(
        f"design at ε = 1, {name}",
        lambda: design(graph, 1, route="symmetry"),
        peer,
        lambda: theirs(graph),
        target=target,
        rounds=rounds,
    )


def _certificate(graph: DatasetGraph) -> Row:
    """How long it takes to write down channel and certificate, as JSON; beside the design itself."""
    started = time.perf_counter()
    best = design(graph, 1, route="symmetry")
    designed = time.perf_counter()
    best.certificate.to_json()
    written = time.perf_counter()
    return {
        "name": f"certificate of the design on {graph.name}",
        "ours_seconds": written - designed,
        "peer": "our design itself",
        "peer_seconds": designed - started,
        "ratio": (designed - started) / (written - designed),
        "target": 0,
    }


def _program(graph: DatasetGraph) -> tuple[np.ndarray, sparse.csc_array, int]:
    """Costs, rows (sums first, then p(y|x) − e·p(y|x') ≤ 0), and how many inputs; unknowns p(y|x) row by row."""
    distances = graph.distances().astype(float)
    size = len(distances)
    edges = np.concatenate([graph.edges(), graph.edges()[:, ::-1]])
    cells = np.arange(size * size).reshape(size, size)
    bounds = size + np.arange(len(edges) * size)
    rows = np.concatenate([np.repeat(np.arange(size), size), bounds, bounds])
    columns = np.concatenate([cells.ravel(), cells[edges[:, 0]].ravel(), cells[edges[:, 1]].ravel()])
    values = np.concatenate([np.ones(size * size), np.ones(len(bounds)), np.full(len(bounds), -np.e)])
    matrix = sparse.csc_array((values, (rows, columns)), shape=(size + len(bounds), size * size))
    return distances.ravel() / size, matrix, size


def _highs(graph: DatasetGraph) -> None:
    import highspy

    cost, matrix, size = _program(graph)
    height, width = matrix.shape
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = width, height
    program.col_cost_, program.col_lower_, program.col_upper_ = cost, np.zeros(width), np.full(width, np.inf)
    program.row_lower_ = np.concatenate([np.ones(size), np.full(height - size, -np.inf)])
    program.row_upper_ = np.concatenate([np.ones(size), np.zeros(height - size)])
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
    program.a_matrix_.value_ = matrix.data
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("time_limit", PATIENCE)
    solver.passModel(program)
    solver.run()


def _linprog(graph: DatasetGraph) -> None:
    cost, matrix, size = _program(graph)
    rows = matrix.tocsr()
    linprog(
        cost,
        A_ub=rows[size:],
        b_ub=np.zeros(matrix.shape[0] - size),
        A_eq=rows[:size],
        b_eq=np.ones(size),
        method="highs",
        options={"time_limit": PATIENCE},
    )


def _qif(graph: DatasetGraph) -> None:
    import qif

    size = len(graph.nodes)
    distances = graph.distances()
    prior = qif.probab.uniform(size)
    qif.mechanism.d_privacy.min_loss_given_d(
        prior, size, lambda x, y: float(distances[x, y]), lambda w, x: float(distances[w, x])
    )


def _samples() -> Row:
    """A million people, each with an input of their own, in a channel of 2000 exact rows; NumPy rounds the borders."""
    size, people = 2000, 10**6
    weights = [[2 * size - abs(y - x) for y in range(size)] for x in range(size)]
    channel = Channel([[Fraction(weight, sum(row)) for weight in row] for row in weights])
    draw = np.random.default_rng(1)
    given = draw.integers(0, size, people)
    borders = channel.floats().cumsum(axis=1)

    def inexact() -> object:
        order, words = np.argsort(given, kind="stable"), draw.random(people)
        runs = np.split(order, np.flatnonzero(np.diff(given[order])) + 1)
        return [np.searchsorted(borders[given[places[0]]], words[places], side="right") for places in runs]

    channel.sample_each(given)  # the words of the rows are kept
    return race("a million draws from 2000 rows", lambda: channel.sample_each(given), "NumPy", inexact, target=1 / 10)

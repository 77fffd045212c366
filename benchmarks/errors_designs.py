"""The expected loss of mechanisms that are designed for a finite problem, and whether others' are private."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from benchmarks.errors import (
    CHOSEN,
    ErrorRow,
    Wanted,
    ask_peer,
    environment,
    everything,
    mean_row,
    missing_row,
    why_missing,
)
from benchmarks.errors_basics import PEERS
from leastnoise.checker import check
from leastnoise.designer import design
from leastnoise.model import Channel
from leastnoise.model.graphs import DatasetGraph, parse_graph

__all__ = ["NOTES", "run"]

GRAPHS = ("path:10", "path:20", "cycle:12", "hypercube:4", "grid:4x4")
QIF = ("qif==1.6.0",)
EPSILON, DRAWS = 1, 8000
NOTES = (
    "The expected distance between truth and answer, all inputs alike, at ε = 1. What is chosen has a proof that no "
    "private mechanism loses less; that is the bound. For a matrix in floating point its exact loss is shown, and the "
    "tight ε that ln.check finds; one that is not private may lose less than the bound.",
)


def run(wanted: Wanted = everything) -> list[ErrorRow]:
    """Ours, linear programs in floating point, and truncated noise of libraries on paths."""
    return [row for row in _rows() if wanted(row.job, row.method)]


def _rows() -> Iterator[ErrorRow]:
    graphs = {name: parse_graph(name) for name in GRAPHS}
    matrices = _of_qif(graphs)
    for name, graph in graphs.items():
        job = f"design on {name.replace(':', ' ')}, ε = 1"
        bound = float(design(graph, EPSILON).loss)
        yield ErrorRow(job, CHOSEN, bound, 0.0, bound)
        for method, matrix in (("SciPy's HiGHS", _highs(graph)), ("qif 1.6.0", matrices[name])):
            if isinstance(matrix, str):
                yield missing_row(job, method, matrix)
            else:
                yield _judged(job, method, graph, matrix, bound)
        if name.startswith("path"):
            yield from _truncated(job, len(graph.nodes), bound)


def _judged(job: str, method: str, graph: DatasetGraph, matrix: Any, bound: float) -> ErrorRow:
    rows = np.clip(np.asarray(matrix), 0, None)
    rows /= rows.sum(axis=1, keepdims=True)
    found = check(Channel(rows.tolist()), graph, epsilon=EPSILON)
    loss = float((rows * np.asarray(graph.distances())).sum() / len(rows))
    return ErrorRow(job, f"{method} (tight ε = {float(found.tight_epsilon):.9g})", loss, 0.0, bound)


def _of_qif(graphs: dict[str, DatasetGraph]) -> dict[str, Any]:
    """The matrices of qif, or what the program saw instead."""
    python = environment(*QIF)
    if python is None:
        return dict.fromkeys(graphs, f"not installed: {why_missing(*QIF)}")
    distances = {name: np.asarray(graph.distances()).tolist() for name, graph in graphs.items()}
    told = {"distances": distances, "epsilon": EPSILON, "draws": dict.fromkeys(graphs, 1)}
    answers = ask_peer(python, "with_qif.py", told)
    return {name: found if isinstance(found, str) else found[0] for name, found in answers.items()}


def _truncated(job: str, size: int, bound: float) -> Iterator[ErrorRow]:
    """Whole noise that stays in the range, as libraries have it."""
    for peer in PEERS:
        if (Path(__file__).parent / "peers" / peer.program).read_text().count('"truncated"') == 0:
            continue
        python = environment(*peer.requirements)
        if python is None:
            yield missing_row(job, peer.name, f"not installed: {why_missing(*peer.requirements)}")
            continue
        answers = ask_peer(python, peer.program, {"size": size, "draws": {"truncated": DRAWS}})["truncated"]
        if isinstance(answers, str):
            yield missing_row(job, peer.name, answers)
        else:
            errors = [abs(value - place % size) for place, value in enumerate(answers)]
            yield mean_row(job, f"{peer.name}, truncated noise", errors, bound)


def _highs(graph: DatasetGraph) -> Any:
    """The linear program as it is written down: a variable for each entry, a constraint for each edge and output."""
    distances = np.asarray(graph.distances(), dtype=float)
    size, edges = len(distances), np.concatenate([graph.edges(), graph.edges()[:, ::-1]])
    outputs, lines = np.arange(size), np.arange(len(edges) * size)
    larger, smaller = ((edges[:, side, None] * size + outputs).ravel() for side in (0, 1))
    values = np.concatenate([np.ones(len(lines)), np.full(len(lines), -np.exp(EPSILON))])
    private = csr_array((values, (np.tile(lines, 2), np.concatenate([larger, smaller]))), shape=(len(lines), size**2))
    sums = csr_array((np.ones(size**2), (np.repeat(outputs, size), np.arange(size**2))), shape=(size, size**2))
    solved = linprog(distances.ravel() / size, private, np.zeros(len(lines)), sums, np.ones(size), method="highs")
    return solved.x.reshape(size, size) if solved.success else f"HiGHS: {solved.message}"

"""The linear program of a design, with one unknown for each orbit of pairs (input, output), here called a cell.

With z_o the probability p(y|x) of every pair of cell o, r(o) the orbit of its inputs, k_o the number of outputs that
one input has in it, the program is

    minimise    Σ_o c_o·z_o
    subject to  Σ_{o in row r} k_o·z_o = 1,    z_o ≤ λ_a·z_o' for each arc a = (o, o'),    z ≥ 0.

The cells of an orbit of outputs form a *column*; arcs join cells of one column only. Without symmetries a cell is a
pair and a column is a copy of the graph.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from leastnoise.exact import IntArray
from leastnoise.model import DesignProblem

__all__ = ["EdgeKind", "OrbitProgram", "OutputOrbit", "codes_of"]


@dataclass(frozen=True)
class OutputOrbit:
    """The cells of one orbit of outputs, numbered from zero, with the arcs among them.

    Attributes:
        cells: Their numbers in the program.
        arcs: Numbers of the arcs in the program.
        tails: Where each arc starts, as a place in `cells`.
        heads: Where it ends.
        lengths: Its length in units.
        distances: The length of a shortest way between any two of the cells, in units.
        home: The place of the cell with the least loss.
    """

    cells: IntArray
    arcs: IntArray
    tails: IntArray
    heads: IntArray
    lengths: IntArray
    distances: IntArray
    home: int


class EdgeKind(NamedTuple):
    """Ordered edges whose two ends see the same pairs of cells, equally often.

    Attributes:
        edges: How many ordered edges there are of this kind.
        arcs: Their arcs, one for each output that the two ends do not have in one cell, with repetitions.
    """

    edges: int
    arcs: tuple[int, ...]


@dataclass(frozen=True)
class OrbitProgram:
    """The program; arrays over cells, rows (orbits of inputs) or arcs.

    Attributes:
        problem: What it solves.
        is_reduced: Whether there were symmetries.
        cell_of: The cell of each pair (input, output).
        row_of_input: The row of each input.
        row_of: The row of each cell.
        outputs_of: k_o, how many outputs one input has in the cell.
        row_sizes: How many inputs a row has.
        losses: (ℓ − least_loss)/loss_range of each cell: from 0 to 1, whatever unit the loss is in.
        least_loss: The least ℓ of a cell.
        loss_range: The largest less the least, or 1 if they are equal.
        tails: The cell where each arc starts.
        heads: The cell where it ends.
        lengths: Its length in units.
        triples: How many (x, x', y) it stands for.
        unit: What the whole numbers of `lengths` are multiples of.
        edges: Ordered pairs of neighbours, the first of them one input per row, with their lengths in units.
    """

    problem: DesignProblem
    is_reduced: bool
    cell_of: IntArray
    row_of_input: IntArray
    row_of: IntArray
    outputs_of: IntArray
    row_sizes: IntArray
    losses: tuple[Fraction, ...]
    least_loss: Fraction
    loss_range: Fraction
    tails: IntArray
    heads: IntArray
    lengths: IntArray
    triples: IntArray
    unit: Fraction
    edges: IntArray

    @property
    def count(self) -> int:
        """How many cells there are."""
        return len(self.row_of)

    @cached_property
    def prior(self) -> tuple[Fraction, ...]:
        """The probability of each row."""
        first = np.unique(self.row_of_input, return_index=True)[1].tolist()
        weights = self.problem.weights
        return tuple(weights[x] * size for x, size in zip(first, self.row_sizes.tolist(), strict=True))

    def costs(self, prior: tuple[Fraction, ...]) -> list[Fraction]:
        """c_o = (the row's probability)·k_o·ℓ_o."""
        rows, outputs = self.row_of.tolist(), self.outputs_of.tolist()
        return [prior[r] * k * loss for r, k, loss in zip(rows, outputs, self.losses, strict=True)]

    @cached_property
    def columns(self) -> tuple[OutputOrbit, ...]:
        """The columns."""
        shape = (self.count, self.count)
        joins = csr_array((np.ones(len(self.tails)), (self.tails, self.heads)), shape=shape)
        number, column_of = connected_components(joins, directed=False)
        by_cell = np.split(np.argsort(column_of, kind="stable"), np.cumsum(np.bincount(column_of))[:-1])
        column_of_arc = column_of[self.tails]
        counts = np.bincount(column_of_arc, minlength=number)
        by_arc = np.split(np.argsort(column_of_arc, kind="stable"), np.cumsum(counts)[:-1])
        places = np.empty(self.count, dtype=np.int64)
        for cells in by_cell:
            places[cells] = np.arange(len(cells))
        made: list[OutputOrbit] = []
        for cells, arcs in zip(by_cell, by_arc, strict=True):
            # Without symmetries every column is a copy of the graph, and one table of distances serves them all.
            known = made[0].distances if made and not self.is_reduced else None
            made.append(self._column(cells, arcs, places, known))
        return tuple(made)

    def arcs_of(self, edges: IntArray) -> IntArray:
        """The arc of each triple (edge, output), −1 where both ends are in one cell or a shorter arc stands in."""
        starts, ends, lengths = edges.T
        codes = self._codes(self.tails, self.heads, self.lengths)
        wanted = self._codes(self.cell_of[starts], self.cell_of[ends], lengths[:, None])
        if not len(codes):
            return np.full_like(wanted, -1)
        places = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
        return np.where(codes[places] == wanted, places, -1)

    def _codes(self, tails: IntArray, heads: IntArray, lengths: IntArray) -> IntArray:
        return codes_of(tails, heads, lengths, self.count, self.edges[:, 2])

    @cached_property
    def edge_kinds(self) -> tuple[EdgeKind, ...]:
        """The kinds of ordered edges, in order of first appearance among `edges`; only δ > 0 asks for them."""
        counts: Counter[tuple[int, ...]] = Counter()
        sizes = self.row_sizes[self.row_of_input[self.edges[:, 0]]].tolist()
        for profile, size in zip(_profiles(self.arcs_of(self.edges)), sizes, strict=True):
            counts[profile] += size
        return tuple(EdgeKind(edges, arcs) for arcs, edges in counts.items())

    @cached_property
    def kinds_of_arc(self) -> dict[int, list[tuple[int, int]]]:
        """For each arc the kinds of edges that have it, and for how many outputs."""
        found: dict[int, list[tuple[int, int]]] = {}
        for number, kind in enumerate(self.edge_kinds):
            for arc, times in Counter(kind.arcs).items():
                found.setdefault(arc, []).append((number, times))
        return found

    def kinds_of(self, arcs: IntArray) -> list[int]:
        """The kind of each edge, given its arcs."""
        known = {kind.arcs: number for number, kind in enumerate(self.edge_kinds)}
        return [known[profile] for profile in _profiles(arcs)]

    def _column(self, cells: IntArray, arcs: IntArray, places: IntArray, distances: IntArray | None) -> OutputOrbit:
        tails, heads, lengths = places[self.tails[arcs]], places[self.heads[arcs]], self.lengths[arcs]
        if distances is None:
            ways = csr_array((lengths, (tails, heads)), shape=(len(cells), len(cells)))
            distances = dijkstra(ways).astype(np.int64)
        losses = [self.losses[cell] for cell in cells.tolist()]
        return OutputOrbit(cells, arcs, tails, heads, lengths, distances, home=losses.index(min(losses)))


def codes_of(tails: IntArray, heads: IntArray, lengths: IntArray, count: int, known: IntArray) -> IntArray:
    """One number for each (tail, head, length), ordered like these; `known` are the lengths that occur."""
    different = np.unique(known)
    return (tails * count + heads) * len(different) + np.searchsorted(different, lengths)


def _profiles(arcs: IntArray) -> list[tuple[int, ...]]:
    return [tuple(arc for arc in row if arc >= 0) for row in np.sort(arcs, axis=1).tolist()]

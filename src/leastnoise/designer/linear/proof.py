"""From a solved program over cells to what is handed over: the channel over inputs and outputs, and its certificate."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from leastnoise.designer.linear.powers import Powers
from leastnoise.designer.linear.reduction import directed_edges
from leastnoise.designer.linear.solution import Solution
from leastnoise.exact import RationalMatrix
from leastnoise.model import Channel, Multiplier, OptimalityCertificate

__all__ = ["Proof"]


@dataclass(frozen=True)
class Proof:
    """Writes a solution out for all pairs and triples; each once, when it is first asked for."""

    solution: Solution

    @cached_property
    def channel(self) -> Channel:
        """p(y|x), the value of the cell of (x, y)."""
        cells, problem = self.solution.cells, self.solution.cells.problem
        values = self.solution.values
        rows = [[values[cell] for cell in row] for row in cells.cell_of.tolist()]
        return Channel.of_entries(RationalMatrix(rows), tuple(problem.graph.nodes), tuple(problem.answers))

    @cached_property
    def certificate(self) -> OptimalityCertificate:
        """Channel, loss, bound and the multipliers that prove it."""
        solution, problem = self.solution, self.solution.cells.problem
        return OptimalityCertificate(
            problem.graph,
            problem.privacy,
            self.channel,
            objective=problem.objective,
            prior=self._prior(),
            loss=problem.loss_table.rows,
            value=solution.loss,
            lower_bound=solution.lower_bound,
            gap=solution.gap,
            factors=self._factors(),
            multipliers=self._multipliers(),
        )

    def _prior(self) -> tuple[Fraction, ...]:
        """The weight of each input: that of its row, shared evenly."""
        cells = self.solution.cells
        shares = [weight / size for weight, size in zip(self.solution.prior, cells.row_sizes.tolist(), strict=True)]
        return tuple(shares[row] for row in cells.row_of_input.tolist())

    def _factors(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """λ for each length that an edge of the graph has, also for those that no arc needed."""
        cells = self.solution.cells
        powers = Powers(cells.problem.privacy.epsilon * cells.unit)
        lengths = sorted(set(cells.problem.graph.edge_lengths() or [Fraction(1)]))
        return tuple((length, powers.above(int(length / cells.unit))) for length in lengths)

    def _multipliers(self) -> tuple[Multiplier, ...]:
        """The multiplier of each triple (x, x', y), where it is above zero."""
        solution, cells = self.solution, self.solution.cells
        edges = directed_edges(cells.problem, np.arange(len(cells.cell_of)))[0]
        arcs = cells.arcs_of(edges)
        shares = [cells.loss_range * solution.shares.get(arc, 0) for arc in range(len(cells.tails))]
        rates = None if solution.rates is None else [solution.rates[kind] for kind in cells.kinds_of(arcs)]
        multipliers = []
        carried = np.append([share > 0 for share in shares], False)[arcs]  # arc −1: no arc
        for edge, output in np.argwhere(carried).tolist():
            value = shares[arcs[edge, output]] * (1 if rates is None else rates[edge])
            if value:
                multipliers.append(Multiplier(int(edges[edge, 0]), int(edges[edge, 1]), output, value))
        return tuple(multipliers)

"""A solved program: exact values of the cells, exact multipliers, and what the two prove together.

The best answer that tells nothing: one orbit of outputs, whatever the input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from leastnoise.designer.linear.orbit_program import OrbitProgram
from leastnoise.designer.linear.powers import Powers
from leastnoise.errors import PrecisionExhausted

__all__ = ["Solution", "best_constant", "best_of"]


@dataclass(frozen=True)
class Solution:
    """Primal and dual of a program over cells, both exactly feasible.

    Multipliers are for the cells' losses, from 0 to 1; those of the problem's own loss are `loss_range` times as large.

    The multiplier of a triple (x, x', y) is the share of its arc times, for δ > 0, the rate of its edge.

    Attributes:
        cells: The program.
        values: z, a probability for each cell.
        prior: The weight of each row that makes the bound: the prior, or for "worst" the dual weights.
        shares: For arcs with a multiplier above zero.
        rates: For δ > 0 the rate of each kind of edge, in the order of `cells.edge_kinds`; None for δ = 0.
    """

    cells: OrbitProgram
    values: Sequence[Fraction]
    prior: tuple[Fraction, ...]
    shares: Mapping[int, Fraction]
    rates: tuple[Fraction, ...] | None = None

    @cached_property
    def loss(self) -> Fraction:
        """The expected loss under the prior, or the largest of a row."""
        means = [Fraction(0)] * len(self.cells.row_sizes)
        rows, outputs = self.cells.row_of.tolist(), self.cells.outputs_of.tolist()
        for value, row, count, loss in zip(self.values, rows, outputs, self.cells.losses, strict=True):
            means[row] += count * loss * value
        if self.cells.problem.objective == "worst":
            return self._in_own_unit(max(means))
        return self._in_own_unit(sum((p * mean for p, mean in zip(self.prior, means, strict=True)), start=Fraction(0)))

    @cached_property
    def factors(self) -> dict[int, Fraction]:
        """For each length of an arc, in units, a rational λ ≥ e^(ε·length)."""
        powers = Powers(self.cells.problem.privacy.epsilon * self.cells.unit)
        return {length: powers.above(length) for length in sorted(set(self.cells.lengths.tolist()))}

    @cached_property
    def lower_bound(self) -> Fraction:
        """Σ_r min over the cells o of row r of (c_o + Σ_out w − Σ_in λ·w)/k_o, less δ times what the edges weigh.

        w is the sum of the multipliers over the triples of an arc. It is the bound that the checker computes from the
        single multipliers, summed over orbits.
        """
        cells = self.cells
        costs = cells.costs(self.prior)
        tails, heads, lengths = cells.tails.tolist(), cells.heads.tolist(), cells.lengths.tolist()
        for arc, share in self.shares.items():
            weight = share * self._triples(arc)
            costs[tails[arc]] += weight
            costs[heads[arc]] -= self.factors[lengths[arc]] * weight
        least: dict[int, Fraction] = {}
        for cost, row, count in zip(costs, cells.row_of.tolist(), cells.outputs_of.tolist(), strict=True):
            least[row] = min(least.get(row, cost / count), cost / count)
        return self._in_own_unit(sum(least.values(), start=-cells.problem.privacy.delta * self._edge_weight()))

    @property
    def gap(self) -> Fraction:
        """How far the loss is above the bound."""
        return self.loss - self.lower_bound

    def require_private(self) -> None:
        """Refuse what is not exactly a private channel. The solvers' repairs see to it; this sees that they did.

        Raises:
            PrecisionExhausted: An entry is negative, a row does not sum to one, or two neighbours are too far apart.
        """
        cells, values = self.cells, self.values
        powers = Powers(cells.problem.privacy.epsilon * cells.unit)
        left = [Fraction(1)] * len(cells.row_sizes)
        for value, row, count in zip(values, cells.row_of.tolist(), cells.outputs_of.tolist(), strict=True):
            left[row] -= count * value
        ends = zip(cells.tails.tolist(), cells.heads.tolist(), cells.lengths.tolist(), strict=True)
        pairs = [(values[tail], powers.below(length) * values[head]) for tail, head, length in ends]
        if cells.problem.privacy.is_pure:
            is_private = all(value <= bound for value, bound in pairs)
        else:
            over = [max(value - bound, Fraction(0)) for value, bound in pairs]
            excesses = (sum((over[arc] for arc in kind.arcs), start=Fraction(0)) for kind in cells.edge_kinds)
            is_private = max(excesses) <= cells.problem.privacy.delta
        if any(left) or min(values) < 0 or not is_private:
            raise PrecisionExhausted(
                "the program was not solved to a private channel; nothing is handed out",
                given=f"{cells.problem.graph.name}, {cells.problem.privacy}",
                fix="report this request, please",
            )

    def _in_own_unit(self, loss: Fraction) -> Fraction:
        return self.cells.least_loss + self.cells.loss_range * loss

    def _triples(self, arc: int) -> Fraction:
        """How many triples an arc stands for, each counted with the rate of its edge."""
        if self.rates is None:
            return Fraction(int(self.cells.triples[arc]))
        kinds = self.cells.edge_kinds
        return sum((self.rates[k] * n * kinds[k].edges for k, n in self.cells.kinds_of_arc[arc]), start=Fraction(0))

    def _edge_weight(self) -> Fraction:
        """Σ over ordered edges of the largest multiplier of an output."""
        if self.rates is None:
            return Fraction(0)
        nothing = Fraction(0)
        largest = [
            max((self.shares.get(arc, nothing) for arc in kind.arcs), default=nothing) for kind in self.cells.edge_kinds
        ]
        return sum(
            (
                rate * kind.edges * share
                for rate, kind, share in zip(self.rates, self.cells.edge_kinds, largest, strict=True)
            ),
            start=nothing,
        )


def best_of(solutions: Sequence[Solution]) -> Solution:
    """The least loss of them all, with the best bound of them all; a bound without multipliers is one, too."""
    first = solutions[0]
    rates = None if first.rates is None else (Fraction(0),) * len(first.rates)
    free = replace(first, prior=_hardest_row(first.cells), shares={}, rates=rates)
    least = min(solutions, key=lambda solution: solution.loss)
    proof = max([*solutions, free], key=lambda solution: solution.lower_bound)
    return replace(proof, values=least.values)


def _hardest_row(cells: OrbitProgram) -> tuple[Fraction, ...]:
    """The weights of rows for which even answers that need not be private cost most; the prior if there is one."""
    if cells.problem.objective == "average":
        return cells.prior
    least: dict[int, Fraction] = {}
    for loss, row in zip(cells.losses, cells.row_of.tolist(), strict=True):
        least[row] = min(loss, least.get(row, loss))
    hardest = max(least, key=lambda row: least[row])
    return tuple(Fraction(row == hardest) for row in range(len(cells.row_sizes)))


def best_constant(cells: OrbitProgram) -> list[Fraction]:
    """The value of each cell if every input is answered by the outputs of the column that costs least."""
    losses = np.array(cells.losses, dtype=np.float64) * cells.outputs_of
    weights = np.array(cells.prior, dtype=np.float64)
    sizes = [int(cells.outputs_of[column.cells][cells.row_of[column.cells] == 0].sum()) for column in cells.columns]
    means = [
        float((losses[column.cells] * weights[cells.row_of[column.cells]]).sum()) / size
        for column, size in zip(cells.columns, sizes, strict=True)
    ]
    best = int(np.argmin(means))
    values = [Fraction(0)] * cells.count
    for cell in cells.columns[best].cells.tolist():
        values[cell] = Fraction(1, sizes[best])
    return values

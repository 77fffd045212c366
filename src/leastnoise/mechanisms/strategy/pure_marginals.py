"""Marginal tables with Laplace noise: every cell of every table gets some, then least squares makes all of them agree.

One unit changes each of the k tables by at most groups·rows in the ℓ1 norm, so discrete Laplace noise for k times
that is ε-private. Each table B ⊇ A holds the interaction A of columns (`model/marginals.py`) with a variance in
proportion to m_B = Π n_i over B∖A. Interactions are orthogonal, so the least squares estimate of A is the average
over these tables, weighted by 1/m_B, and σ_A² = Var/Σ_B (1/m_B) in the formulas of docs/theory/marginals.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import lcm, prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact import Enclosure, Exact, NumberLike, Size, Source, read_integer, read_rate, shape_of, sqrt_above
from leastnoise.mechanisms.histogram.independent_noise import require_drawable
from leastnoise.mechanisms.histogram.mapped_noise import reach_of
from leastnoise.mechanisms.numeric import Geometric
from leastnoise.mechanisms.strategy.marginals import plan_marginals, read_tables
from leastnoise.mechanisms.truths import add_noise, read_whole_vector
from leastnoise.model import (
    LEVEL,
    MOST_GROUPS,
    MOST_ROWS_PER_UNIT,
    Certificate,
    Columns,
    ErrorEstimate,
    MarginalStrategy,
    Mechanism,
    Pure,
    Reason,
    variance_of,
)

__all__ = ["PureMarginalsMechanism"]


@dataclass(frozen=True, init=False)
class PureMarginalsMechanism(Mechanism):
    """All tables with discrete Laplace noise on every cell; the truth are the counts of all tables.

    Args:
        sizes: How many values each column has.
        tables: Which columns each table has.
        epsilon: The privacy of all tables together.
        groups: The most cells of each table that one unit is in.
        rows: The most that it adds to one of them.

    >>> both = PureMarginalsMechanism((2, 3), [(0,), (1,)], 1)
    >>> first, second = both.tables(both.release([4, 5, 2, 3, 4]))
    >>> sum(first) == sum(second)
    True
    """

    name: ClassVar[str] = "Laplace noise on all tables, then least squares"
    plan: MarginalStrategy
    epsilon: Exact
    groups: int
    rows: int

    def __init__(
        self,
        sizes: Sequence[int],
        tables: Sequence[Sequence[int]],
        epsilon: NumberLike,
        groups: NumberLike = 1,
        rows: NumberLike = 1,
    ) -> None:
        object.__setattr__(self, "plan", plan_marginals(sizes, tables))
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon"))
        object.__setattr__(self, "groups", read_integer(groups, "groups", at_least=1, at_most=MOST_GROUPS))
        object.__setattr__(self, "rows", read_integer(rows, "rows", at_least=1, at_most=MOST_ROWS_PER_UNIT))
        require_drawable(self.noise.sensitivity, self.epsilon)

    @cached_property
    def noise(self) -> Geometric:
        """What every cell gets."""
        return Geometric(self.epsilon, self.groups * self.rows * len(self.plan.tables))

    @property
    def event(self) -> Pure:
        """ε."""
        return Pure(self.epsilon)

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shape of each table."""
        return [tuple(self.plan.sizes[i] for i in table) for table in self.plan.tables]

    @property
    def dimension(self) -> int:
        """How many whole numbers are released."""
        return sum(prod(shape) for shape in self.shapes)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """The cells of all tables plus noise, one after the other; with `size` that many along new first axes."""
        true, shape = read_whole_vector(truth, self.dimension), shape_of(size)
        return add_noise(true, np.asarray(self.noise.noise((*shape, self.dimension), source)))

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """The product over all cells."""
        drawn, true = (read_whole_vector(side, self.dimension) for side in (output, truth))
        masses = [self.noise.noise_pmf(int(y) - int(x), bits) for y, x in zip(drawn, true, strict=True)]
        one = Fraction(1)
        return Enclosure(prod((p.lower for p in masses), start=one), prod((p.upper for p in masses), start=one))

    def tables(self, released: Any) -> Iterator[NDArray[Any]]:
        """The tables that a release gives, as exact fractions, one after the other: all their sums agree."""
        noisy = read_tables(released, self.plan)
        sizes = self.plan.sizes
        found = {part: self._interaction(part, noisy) for part in self.plan.interactions}
        for table, shape in zip(self.plan.tables, self.shapes, strict=True):
            parts = [part for size in range(len(table) + 1) for part in combinations(table, size)]
            below = {part: found[part][1] * (prod(shape) // prod(sizes[i] for i in part)) for part in parts}
            common, total = lcm(*below.values()), np.zeros(shape, dtype=object)
            for part in parts:
                fitted = found[part][0].reshape([sizes[i] if i in part else 1 for i in table])
                total = total + fitted * (common // below[part])
            yield np.asarray(total * Fraction(1, common), dtype=object)

    def _interaction(self, part: Columns, noisy: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], int]:
        """The weighted average of an interaction over all tables that hold it, as whole numbers over one."""
        sizes, cells = self.plan.sizes, prod(self.plan.sizes[i] for i in part)
        holding = [(t, table) for t, table in zip(self.plan.tables, noisy, strict=True) if set(part) <= set(t)]
        beyond = [prod(sizes[i] for i in t) // cells for t, _ in holding]
        common = lcm(*beyond)
        total = np.zeros([sizes[i] for i in part], dtype=object)
        for (columns, table), many in zip(holding, beyond, strict=True):
            others = tuple(axis for axis, column in enumerate(columns) if column not in part)
            total = total + (table.sum(axis=others) if others else table) * (common // many)
        total = np.asarray(total, dtype=object)
        for axis in range(len(part)):  # n·x − Σx along each column
            total = total * total.shape[axis] - np.expand_dims(total.sum(axis=axis), axis)
        return total, cells * sum(common // many for many in beyond)

    @cached_property
    def shares(self) -> tuple[Fraction, ...]:
        """The squared error of each cell of each table, in units of the variance of the noise."""
        sizes, variances = self.plan.sizes, {}
        for part in self.plan.interactions:
            cells = prod(sizes[i] for i in part)
            holding = (prod(sizes[i] for i in table) for table in self.plan.tables if set(part) <= set(table))
            variances[part] = 1 / sum((Fraction(cells, many) for many in holding), Fraction(0))
        return tuple(variance_of(sizes, table, variances) for table in self.plan.tables)

    def squared_errors(self) -> tuple[Fraction, ...]:
        """The expected squared error of each cell of each table, at most."""
        variance = self.noise.moment(2).upper
        return tuple(share * variance for share in self.shares)

    def mean_errors(self) -> tuple[Fraction, ...]:
        """The expected absolute error of each cell of each table, at most: the root of the expected square."""
        return tuple(sqrt_above(error) for error in self.squared_errors())

    def half_widths(self, level: Fraction = LEVEL) -> tuple[Fraction, ...]:
        """For each table an error that none of its cells exceeds with this probability, each for itself.

        A cell is off by Σ a_l·Z_l with |a_l| ≤ 1, by Chernoff's bound: least squares is a projection.
        """
        found = {share: reach_of(self.noise, share, Fraction(1), level) for share in set(self.shares)}
        return tuple(found[share] for share in self.shares)

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """The expected squared error of all cells in sum, and the error of the worst cell at a level."""
        pairs = zip(self.shapes, self.squared_errors(), strict=True)
        total = sum((prod(shape) * error for shape, error in pairs), Fraction(0))
        return ErrorEstimate("squared", Enclosure(total, total), {level: max(self.half_widths(level))}, attained=False)

    def reason(self) -> Reason:
        """Post-processing is free; with the bound for strategies that measure in whole numbers with this noise."""
        least = self.rows**2 * self.plan.bound("total") * Geometric(self.epsilon).moment(2).lower
        return Reason(
            "least squares makes all tables agree at no cost and lowers their error",
            "Barak et al., PODS 2007; any number of columns and the bound in docs/theory/marginals.md",
            Enclosure(least, least),
        )

    def certificate(self) -> Certificate:
        """That of one cell, for the share of the privacy that it has."""
        return self.noise.certificate()

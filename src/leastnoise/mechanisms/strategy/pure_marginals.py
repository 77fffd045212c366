"""Marginal tables with Laplace noise on the cells of some of them, then least squares makes all of them agree.

What is measured are tables k that are part of those asked for, with parts p_k of the price: one unit changes each by at
most groups·rows in the ℓ1 norm, so discrete Laplace noise for that at ε·p_k/Σp is ε-private for all together. Each
table k ⊇ A holds the interaction A of columns (`model/marginals.py`) with the variance Var_k·m_k, m_k = Π n_i over
k∖A. Interactions are orthogonal, and A is estimated by the average over these tables, weighted by q_k/m_k with
q_k = p_k². For equal parts that is least squares; else it is nearly, for Var_k is nearly in proportion to 1/p_k². So
σ_A² = Σ (q_k²·Var_k/m_k)/(Σ q_k/m_k)² in the formulas of docs/theory/marginals.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import ceil, lcm, prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact import Enclosure, Exact, NumberLike, Size, Source, read_integer, read_rate, shape_of, sqrt_above
from leastnoise.mechanisms.histogram.independent_noise import require_drawable
from leastnoise.mechanisms.histogram.mapped_noise import reach_along, reach_of
from leastnoise.mechanisms.numeric import Geometric
from leastnoise.mechanisms.numeric.sum_of_geometrics import reach_of_geometrics
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
    share_of,
    variance_of,
)

__all__ = ["PureMarginalsMechanism"]

_MOST_PART = 1 << 32
_DIGITS = 64  # of what an interval needs
_MOST_TERMS = 1 << 14  # kinds of noisy cells of all tables up to which intervals look at each


@dataclass(frozen=True, init=False)
class PureMarginalsMechanism(Mechanism):
    """Some tables with discrete Laplace noise on every cell; the truth are the counts of all tables asked for.

    Args:
        sizes: How many values each column has.
        tables: Which columns each table has.
        epsilon: The privacy of all tables together.
        groups: The most cells of each table that one unit is in.
        rows: The most that it adds to one of them.
        parts: Which tables are measured, each a part of one that is asked for, and whole numbers in proportion to what
            each gets of ε; None for all tables and equal parts. `shared_price` finds good ones.

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
    measured: tuple[Columns, ...]
    parts: tuple[int, ...]

    def __init__(
        self,
        sizes: Sequence[int],
        tables: Sequence[Sequence[int]],
        epsilon: NumberLike,
        groups: NumberLike = 1,
        rows: NumberLike = 1,
        parts: Mapping[Columns, int] | None = None,
    ) -> None:
        object.__setattr__(self, "plan", plan_marginals(sizes, tables))
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon"))
        object.__setattr__(self, "groups", read_integer(groups, "groups", at_least=1, at_most=MOST_GROUPS))
        object.__setattr__(self, "rows", read_integer(rows, "rows", at_least=1, at_most=MOST_ROWS_PER_UNIT))
        given = dict.fromkeys(self.plan.tables, 1) if parts is None else dict(parts)
        object.__setattr__(self, "measured", tuple(given))
        read = tuple(read_integer(part, "parts", at_least=1, at_most=_MOST_PART) for part in given.values())
        object.__setattr__(self, "parts", read)
        within = all(any(set(one) <= set(table) for table in self.plan.tables) for one in self.measured)
        covered = all(any(set(table) <= set(one) for one in self.measured) for table in self.plan.tables)
        if not within or not covered or any(list(one) != sorted(set(one)) for one in self.measured):
            raise BadParameter(
                "measured are parts of the tables, each table within one of them", fix="leave `parts` out, for all"
            )
        for noise in self.noises:
            require_drawable(noise.sensitivity, noise.epsilon)

    @cached_property
    def noises(self) -> tuple[Geometric, ...]:
        """What the cells of each measured table get: rates in proportion to the parts, ε/(groups·rows) in sum."""
        most, whole = self.groups * self.rows, sum(self.parts)
        return tuple(Geometric(self.epsilon * Fraction(part, whole), most) for part in self.parts)

    @property
    def event(self) -> Pure:
        """ε."""
        return Pure(self.epsilon)

    @property
    def cell_noises(self) -> list[Geometric]:
        """The noise of each number that is released."""
        return [noise for noise, cells in zip(self.noises, self._counts, strict=True) for _ in range(cells)]

    @cached_property
    def _counts(self) -> list[int]:
        """How many cells each measured table has."""
        return [prod(self.plan.sizes[i] for i in table) for table in self.measured]

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shape of each table."""
        return [tuple(self.plan.sizes[i] for i in table) for table in self.plan.tables]

    @property
    def dimension(self) -> int:
        """How many whole numbers are released."""
        return sum(self._counts)

    def measure(self, truth: Any) -> NDArray[Any]:
        """The cells of the measured tables, one table after the other."""
        read, found = read_tables(truth, self.plan), []
        for one in self.measured:
            columns, table = next((c, t) for c, t in zip(self.plan.tables, read, strict=True) if set(one) <= set(c))
            others = tuple(axis for axis, column in enumerate(columns) if column not in one)
            found.append(np.ravel(table.sum(axis=others) if others else table))
        return np.concatenate(found)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """The cells of the measured tables plus noise; with `size` that many of them along new first axes."""
        true, shape = self.measure(truth), shape_of(size)
        pairs = zip(self.noises, self._counts, strict=True)
        return add_noise(true, np.concatenate([noise.noise((*shape, n), source) for noise, n in pairs], axis=-1))

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """The product over all cells."""
        drawn, true = read_whole_vector(output, self.dimension), self.measure(truth)
        cells = zip(self.cell_noises, drawn, true, strict=True)
        masses = [noise.noise_pmf(int(y) - int(x), bits) for noise, y, x in cells]
        one = Fraction(1)
        return Enclosure(prod((p.lower for p in masses), start=one), prod((p.upper for p in masses), start=one))

    def tables(self, released: Any) -> Iterator[NDArray[Any]]:
        """The tables that a release gives, as exact fractions, one after the other: all their sums agree."""
        flat = np.split(read_whole_vector(released, self.dimension).astype(object), np.cumsum(self._counts)[:-1])
        sizes = self.plan.sizes
        noisy = [one.reshape([sizes[i] for i in t]) for one, t in zip(flat, self.measured, strict=True)]
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
        holding = [
            (t, table, q**2)
            for t, table, q in zip(self.measured, noisy, self.parts, strict=True)
            if set(part) <= set(t)
        ]
        beyond = [prod(sizes[i] for i in t) // cells for t, _, _ in holding]
        common = lcm(*beyond)
        total = np.zeros([sizes[i] for i in part], dtype=object)
        for (columns, table, weight), many in zip(holding, beyond, strict=True):
            others = tuple(axis for axis, column in enumerate(columns) if column not in part)
            total = total + (table.sum(axis=others) if others else table) * (weight * (common // many))
        total = np.asarray(total, dtype=object)
        for axis in range(len(part)):  # n·x − Σx along each column
            total = total * total.shape[axis] - np.expand_dims(total.sum(axis=axis), axis)
        return total, cells * sum(q * (common // many) for (_, _, q), many in zip(holding, beyond, strict=True))

    @cached_property
    def _heights(self) -> dict[Columns, Fraction]:
        """Σ q_k/m_k of each interaction."""
        sizes, found = self.plan.sizes, {}
        for part in self.plan.interactions:
            cells = prod(sizes[i] for i in part)
            holding = (
                Fraction(p**2 * cells, n)
                for t, p, n in zip(self.measured, self.parts, self._counts, strict=True)
                if set(part) <= set(t)
            )
            found[part] = sum(holding, Fraction(0))
        return found

    @property
    def _averages(self) -> dict[Columns, Fraction]:
        """1/(Σ q_k/m_k)² of each interaction."""
        return {part: 1 / height**2 for part, height in self._heights.items()}

    def squared_errors(self) -> tuple[Fraction, ...]:
        """The expected squared error of each cell of each table, at most."""
        return self._squared_errors

    @cached_property
    def _squared_errors(self) -> tuple[Fraction, ...]:
        sizes, variances = self.plan.sizes, {}
        moments = [noise.moment(2).upper for noise in self.noises]
        for part, average in self._averages.items():
            cells = prod(sizes[i] for i in part)
            holding = (
                p**4 * moment * cells / n
                for t, p, n, moment in zip(self.measured, self.parts, self._counts, moments, strict=True)
                if set(part) <= set(t)
            )
            variances[part] = average * sum(holding, Fraction(0))
        return tuple(variance_of(sizes, table, variances) for table in self.plan.tables)

    def mean_errors(self) -> tuple[Fraction, ...]:
        """The expected absolute error of each cell of each table, at most: the root of the expected square."""
        return tuple(sqrt_above(error) for error in self.squared_errors())

    def half_widths(self, level: Fraction = LEVEL) -> tuple[Fraction, ...]:
        """For each table an error that none of its cells exceeds with this probability, each for itself.

        A cell is off by Σ a_l·Z_l, and `reach_of_geometrics` knows the law of that. Where the terms are too many there
        is a bound: by E e^(λZ) = 1/(1 − 2·Var·sinh²(λ/2)) its ln is convex in u = 2·Var·sinh²(λ/2), and
        sinh²(aλ/2) ≤ a²/b²·sinh²(bλ/2) for |a| ≤ b. So for a noise Z of variance V and a b with |a_l| ≤ b and
        a_l²·Var_l ≤ b²·V for all l, Chernoff's bound for Σ a_l·Z_l is that for n numbers b·Z, n = Σ a_l²·Var_l/(b²·V).
        """
        loud = sum(noise.moment(0).upper * cells for noise, cells in zip(self.noises, self._counts, strict=True))
        if loud <= 1 - level:  # so surely no noise is drawn at all; the formulas below divide by its variance
            return (Fraction(0),) * len(self.plan.tables)
        if len(self.measured) == 1:  # of one table sums are taken
            counts = [self.dimension // prod(shape) for shape in self.shapes]
            return tuple(reach_along(self.noises[0], ((1, count),), level) for count in counts)
        found: dict[tuple[Fraction, Fraction, int], Fraction] = {}
        halves = []
        for error, (largest, place) in zip(self.squared_errors(), self._coefficients, strict=True):
            asked = (error, largest, place)
            if asked not in found:
                noise = self.noises[place]
                squares = max(error / noise.moment(2).lower, Fraction(257, 256) * largest**2)  # more than one number
                found[asked] = reach_of(noise, squares, largest, level)
            halves.append(found[asked])
        variances, near = np.array([float(noise.moment(2).upper) for noise in self.noises]), dict[bytes, Fraction]()
        for k, terms in enumerate(self._terms):
            asked_for = terms.tobytes()
            if asked_for not in near:
                places, weights, counts = terms
                reach = reach_of_geometrics(variances[places.astype(int)], weights, counts, level)
                near[asked_for] = halves[k] if reach is None else reach
            halves[k] = min(halves[k], near[asked_for])
        return tuple(halves)

    @cached_property
    def _terms(self) -> list[NDArray[np.float64]]:
        """For each table the noises that a cell is made of; none where they are too many.

        Columns are kinds of noisy cells: the place of the measured table k, the size of their coefficient, how many
        they are. Let C = B∩k, and M be the columns in C where a cell of k has the value of the cell of table B. Its
        coefficient is q_k/(cells_k·cells_B)·Σ g_A·Π_{i∈A} (n_i·[i∈M] − 1) over A ⊆ C, for g_A = cells_A/Σ_j q_j/m_j.
        """
        sizes, sums = self.plan.sizes, dict[Columns, tuple[NDArray[np.float64], NDArray[np.float64]]]()
        shared = [[tuple(i for i in one if i in set(table)) for one in self.measured] for table in self.plan.tables]
        if sum(1 << len(both) for row in shared for both in row) > _MOST_TERMS:
            return []
        for both in {both for row in shared for both in row}:
            parts = [
                tuple(i for i, taken in zip(both, some, strict=True) if taken) for some in np.ndindex(*[2] * len(both))
            ]
            pieces = np.array([prod(sizes[i] for i in part) / self._heights[part] for part in parts], dtype=object)
            pieces, many = pieces.reshape([2] * len(both)), np.ones((), dtype=object)
            for axis, column in enumerate(both):
                without, within = np.moveaxis(pieces, axis, 0)
                moved = [without - within, without + (sizes[column] - 1) * within]
                pieces = np.moveaxis(np.array(moved, dtype=object), 0, axis)
                many = np.multiply.outer(many, np.array([sizes[column] - 1, 1], dtype=object))
            sums[both] = (
                np.abs(pieces.ravel()).astype(np.float64),
                np.asarray(many, dtype=object).ravel().astype(np.float64),
            )
        found = []
        for table, row in zip(self.plan.tables, shared, strict=True):
            cells, kinds = prod(sizes[i] for i in table), list[NDArray[np.float64]]()
            for place, (both, part, count) in enumerate(zip(row, self.parts, self._counts, strict=True)):
                weights, many = sums[both]
                factor, beyond = float(Fraction(part**2, count * cells)), count // prod(sizes[i] for i in both)
                kinds.append(np.array([np.full(len(weights), float(place)), weights * factor, many * beyond]))
            found.append(np.hstack(kinds))
        return found

    @cached_property
    def _coefficients(self) -> list[tuple[Fraction, int]]:
        """For each table the b and the place of the noise Z of `half_widths`.

        The squares of the coefficients of table k for a cell of table B have the sum q_k²/(cells_k·cells_B²)·Σ h_A over
        the interactions A ⊆ B∩k, h_A = d_A·cells_A³/(Σ_j q_j/m_j)²; no coefficient is above its root.
        """
        sizes, sums = self.plan.sizes, dict[Columns, int]()
        averages = self._averages.items()
        pieces, below = _above([c * share_of(sizes, one) * prod(sizes[i] for i in one) ** 3 for one, c in averages])
        by_part = dict(zip(self._averages, pieces, strict=True))
        shares, under = _above([Fraction(p**4, n) for p, n in zip(self.parts, self._counts, strict=True)])
        variances, unit = _above([noise.moment(2).upper for noise in self.noises])
        found = []
        for table in self.plan.tables:
            own, squares = set(table), []
            for one, share in zip(self.measured, shares, strict=True):
                both = tuple(i for i in one if i in own)
                if both not in sums:
                    parts = (part for size in range(len(both) + 1) for part in combinations(both, size))
                    sums[both] = sum(by_part[part] for part in parts)
                squares.append(share * sums[both])
            noise = [square * variance for square, variance in zip(squares, variances, strict=True)]
            place = max(range(len(noise)), key=noise.__getitem__)
            most = max(Fraction(max(squares)), noise[place] / (self.noises[place].moment(2).lower * unit))
            cells = prod(sizes[i] for i in table)
            found.append((sqrt_above(most / (below * under * cells**2)), place))
        return found

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
        """That of one cell of the first measured table, for the part of the privacy that it has."""
        return self.noises[0].certificate()


def _above(numbers: Sequence[Fraction]) -> tuple[list[int], int]:
    """Whole numbers over a common one that are at least these, and hardly more."""
    least = min((number for number in numbers if number), default=Fraction(1))
    unit = 1 << (_DIGITS + max(0, ceil(1 / least).bit_length()))
    return [ceil(number * unit) for number in numbers], unit

"""Marginal tables with the least noise: each interaction of columns is measured once, and all tables agree.

The interaction of the columns A is measured by integer contrasts along each column (Helmert's: row k has k ones, then
−k), h_k·x for k = 1..n − 1. They are orthogonal with ‖h_k‖² = k·(k + 1), so independent noise of variance σ_A²·Π
k_i·(k_i + 1) on the product of contrasts k_i is the same as noise of variance σ_A² in every direction of the
interaction. Contrasts of whole numbers are whole, so the noise is rounded Gaussian noise on a grid, and the privacy
is exactly that of the continuous Gaussian mechanism. The variances σ_A² and their proof: `model/marginals.py` and
docs/theory/marginals.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import ceil, floor, log2, prod, sqrt
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact import (
    Enclosure,
    NumberLike,
    Size,
    Source,
    largest_size,
    ln_above,
    read_integer,
    read_rational,
    read_variance,
    rounded_gaussian_pmf,
    scaled_gaussian,
    shape_of,
    sqrt_above,
    wide_enough,
)
from leastnoise.mechanisms.strategy.strategy_mechanism import normal_reach
from leastnoise.mechanisms.truths import add_noise, read_whole_vector
from leastnoise.model import (
    GOALS,
    LEVEL,
    MOST_GROUPS,
    MOST_LISTED_CELLS,
    MOST_ROWS_PER_UNIT,
    Columns,
    ErrorEstimate,
    GaussianPrivacy,
    MarginalsCertificate,
    MarginalStrategy,
    Mechanism,
    Reason,
    costs_of,
    interactions_of,
    share_of,
)

__all__ = ["MarginalsMechanism", "plan_marginals", "read_tables"]

_LEAST_VARIANCE_BITS = 40  # of the noise on the finest grid: rounding then adds less than 10^-13 of it
_LEAST_FOR_MANY = 20  # the same for more than `MOST_LISTED_CELLS` numbers, which are recorded with 20 bits less: 10^-7
_UNIT_ROUNDOFF = 2.0**-53
_COARSEST = Fraction(1, 4)  # squared steps of noise: above it rounding adds less than 1/8 to the variance
_ESTIMATE_BITS = 64
_LONGEST_FACTOR, _FACTOR_BITS = 2048, 128
_MOST_INTERACTIONS = 1 << 16
_MOST_TABLE = 1 << 26  # cells of one table
_VARIANCE_BITS = 40
_ROUNDS = 2000
_ROUNDING_PARTS = (Fraction(1, 100), Fraction(1, 10**6))  # of the chance to be beyond an interval
_Residual = TypeVar("_Residual")
_POWERS = (0.5, 0.0, 0.125, 0.25, 0.375, 0.625, 0.75, 1.0)


def plan_marginals(
    sizes: Sequence[int],
    tables: Sequence[Sequence[int]],
    weights: Sequence[NumberLike] | None = None,
    goal: str = "total",
    groups: NumberLike = 1,
) -> MarginalStrategy:
    """The noise of each interaction that makes the error of the tables least.

    For units in several cells σ_A² ∝ 1/(cells_A·v_A^s), v_A = c_A/(d_A·cells_A²), for the best of some s; s = 1/2 is
    best for one cell, s = 0 is equal noise in all directions, and s = 1 equal noise on all tables.

    Args:
        sizes: How many values each column has.
        tables: Which columns each table has.
        weights: How much the squared error of each cell of a table counts; None for ones.
        goal: "total" for the least sum of the squared errors of all cells, "largest" for the least largest one.
        groups: The most cells of the full table that one unit is in.

    Raises:
        BadParameter: A table has a column that there is not, or the goal is unknown.
        TooLarge: A table has too many cells, or there are too many interactions.

    >>> plan = plan_marginals((2, 3, 5), [(0, 1), (0, 2), (1, 2)])
    >>> round(float(plan.error("total")), 6), plan.error("total") / plan.bound("total") - 1 < Fraction(1, 10**10)
    (61.462962, True)
    """
    if goal not in GOALS:
        raise BadParameter("unknown goal", given=goal, fix='pass "total" or "largest"')
    read_sizes = tuple(read_integer(size, "sizes", at_least=1) for size in sizes)
    named = tuple(tuple(sorted({read_integer(i, "tables", at_least=0) for i in table})) for table in tables)
    if not named or any(table and table[-1] >= len(read_sizes) for table in named) or len(set(named)) < len(named):
        raise BadParameter("tables name columns from 0 on, each table once", fix="pass for example [(0, 1), (0, 2)]")
    cells = [prod(read_sizes[i] for i in table) for table in named]
    if max(cells) > _MOST_TABLE or sum(2 ** len(table) for table in named) > _MOST_INTERACTIONS:
        raise TooLarge("the tables are too large, or have too many columns", fix="ask for smaller tables")
    if weights is not None and len(weights) != len(named):
        raise BadParameter("weights needs one number for each table", fix="leave it out for equal weights")
    read = tuple(read_rational(weight, "weights", at_least=0) for weight in weights or (1,) * len(named))
    parts = interactions_of(named)
    shares = np.array([float(share_of(read_sizes, part)) for part in parts])
    shown = read
    omegas: tuple[Fraction, ...] = ()
    if goal == "largest":
        omegas = _largest(read_sizes, named, read, parts, shares)
        shown = tuple(omega * weight / count for omega, weight, count in zip(omegas, read, cells, strict=True))
    costs = costs_of(read_sizes, named, shown)
    most = read_integer(groups, "groups", at_least=1, at_most=MOST_GROUPS)
    exact = {part: share_of(read_sizes, part) for part in parts}
    found = []
    for power in (0.5,) if most == 1 else _POWERS:
        variances = tuple(
            _variance(exact[part], costs[part], prod(read_sizes[i] for i in part), power) for part in parts
        )
        found.append(MarginalStrategy(read_sizes, named, read, variances, omegas))
    return found[0] if most == 1 else min(found, key=lambda one: one.error(goal, most))


def _variance(share: Fraction, cost: Fraction, cells: int, power: float) -> Fraction:
    """(d_A/c_A)^s·cells^(2s − 1) to 40 bits; what nobody asks for, or has no rows, gets some noise all the same."""
    if share == 0:
        return Fraction(1)
    ratio = float(share / cost) if cost else 1e12
    root = sqrt(ratio) if power == 0.5 else ratio**power * float(cells) ** (2 * power - 1)
    bits = _VARIANCE_BITS - floor(log2(root))
    return Fraction(round(root * 2.0**bits), 1) / Fraction(2) ** bits


def _largest(
    sizes: tuple[int, ...],
    tables: tuple[Columns, ...],
    weights: tuple[Fraction, ...],
    parts: tuple[Columns, ...],
    shares: NDArray[np.float64],
) -> tuple[Fraction, ...]:
    """Weights ω of the tables at which the least weighted error has the largest: ω_B ← ω_B·e_B, repeated."""
    places = {part: place for place, part in enumerate(parts)}
    spread = np.zeros((len(parts), len(tables)))
    for column, table in enumerate(tables):
        cells = prod(sizes[i] for i in table)
        for size in range(len(table) + 1):
            for part in combinations(table, size):
                beyond = cells // prod(sizes[i] for i in part)
                spread[places[part], column] = shares[places[part]] * float(weights[column]) / float(beyond) ** 2
    omega = np.ones(len(tables)) / len(tables)
    used = shares > 0
    for _ in range(_ROUNDS):
        costs = np.maximum(spread[used] @ omega, 1e-300)
        roots = np.sqrt(costs * shares[used])
        errors = (np.sqrt(shares[used] / costs) * roots.sum()) @ spread[used]
        if errors.max() <= roots.sum() ** 2 * (1 + 1e-7):
            break
        omega *= errors / (omega @ errors)
    return tuple(Fraction(max(int(share * 2.0**40), 1), 2**40) for share in omega / omega.max())


@dataclass(frozen=True, init=False)
class MarginalsMechanism(Mechanism):
    """Every interaction with rounded Gaussian noise; the truth are the counts of all true tables.

    Args:
        strategy: The tables and the noise of each interaction, up to a common factor.
        mu_squared: μ² of the Gaussian privacy of the release.
        groups: The most cells of the full table that one unit is in.
        rows: The most that it adds to one of them.
        grid: Measurements are rounded to multiples of 2^-grid; None for grids so fine that it hardly adds any noise.

    >>> plan = plan_marginals((2, 3), [(0,), (1,)])
    >>> both = MarginalsMechanism(plan, mu_squared=1)
    >>> first, second = both.tables(both.release([4, 5, 2, 3, 4]))
    >>> sum(first) == sum(second)
    True
    """

    name: ClassVar[str] = "the best marginals with Gaussian noise"
    strategy: MarginalStrategy
    mu_squared: Fraction
    groups: int
    rows: int
    grid: int | None

    def __init__(
        self,
        strategy: MarginalStrategy,
        mu_squared: NumberLike,
        groups: NumberLike = 1,
        rows: NumberLike = 1,
        grid: int | None = None,
    ) -> None:
        if max(prod(strategy.sizes[i] for i in table) for table in strategy.tables) > _MOST_TABLE:
            raise TooLarge(f"a table has more than {_MOST_TABLE} cells", fix="ask for smaller tables")
        object.__setattr__(self, "strategy", strategy)
        object.__setattr__(self, "mu_squared", read_rational(mu_squared, "mu_squared", above=0))
        object.__setattr__(self, "groups", read_integer(groups, "groups", at_least=1, at_most=MOST_GROUPS))
        object.__setattr__(self, "rows", read_integer(rows, "rows", at_least=1, at_most=MOST_ROWS_PER_UNIT))
        fine = None if grid is None else read_integer(grid, "grid", at_least=0, at_most=_ESTIMATE_BITS)
        object.__setattr__(self, "grid", fine)
        if self._least_variance < _COARSEST:
            raise BadParameter("grid is coarser than the noise", given=grid, fix="pass a larger grid, or leave it out")
        read_variance(max(block.base * prod(k * (k + 1) for k in block.shape) for block in self.blocks))

    @property
    def event(self) -> GaussianPrivacy:
        """μ-Gaussian privacy."""
        return GaussianPrivacy(self.mu_squared)

    @cached_property
    def _factor(self) -> Fraction:
        """What the variances of the strategy are multiplied by, so that one unit costs μ² and no more.

        Of hundreds of interactions it has thousands of digits; it is then rounded up, which only adds noise.
        """
        factor = self.strategy.privacy_of(self.groups, self.rows) / self.mu_squared
        if factor.denominator.bit_length() <= _LONGEST_FACTOR:
            return factor
        bits = max(0, _FACTOR_BITS - floor(log2(factor)))
        return Fraction(ceil(factor * (1 << bits)), 1 << bits)

    @cached_property
    def blocks(self) -> tuple[InteractionBlock, ...]:
        """The measurements of each interaction, in the order of a release."""
        sizes, strategy = self.strategy.sizes, self.strategy
        smallest = sorted(range(len(strategy.tables)), key=lambda k: prod(sizes[i] for i in strategy.tables[k]))
        pairs = zip(strategy.interactions, strategy.variances, strict=True)
        least = _LEAST_VARIANCE_BITS if self.dimension <= MOST_LISTED_CELLS else _LEAST_FOR_MANY
        return tuple(
            InteractionBlock(
                part,
                sizes,
                next(k for k in smallest if set(part) <= set(strategy.tables[k])),
                variance * self._factor,
                self.grid,
                least,
            )
            for part, variance in pairs
        )

    @cached_property
    def dimension(self) -> int:
        """How many whole numbers are released."""
        return sum(prod(self.strategy.sizes[i] - 1 for i in part) for part in self.strategy.interactions)

    def measure(self, truth: Any) -> list[NDArray[Any]]:
        """The contrasts of each interaction, exactly, each on its own grid."""
        read = read_tables(truth, self.strategy)
        return [block.measure(read[block.table], self.strategy.tables[block.table]) for block in self.blocks]

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """The contrasts plus noise, one after the other; with `size` that many of them along new first axes."""
        read, shape, tables = read_tables(truth, self.strategy), shape_of(size), self.strategy.tables
        drawn = (b.noisy(b.measure(read[b.table], tables[b.table]), shape, source) for b in self.blocks)
        return np.concatenate(list(drawn), axis=-1)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """The product over all measurements."""
        true = [int(entry) for exact in self.measure(truth) for entry in exact.ravel()]
        drawn = read_whole_vector(output, self.dimension)
        variances = [v for block in self.blocks for v in block.variances()]
        rows = zip(drawn, true, variances, strict=True)
        masses = [rounded_gaussian_pmf(int(y) - x, variance, bits) for y, x, variance in rows]
        one = Fraction(1)
        return Enclosure(prod((p.lower for p in masses), start=one), prod((p.upper for p in masses), start=one))

    def tables(self, released: Any) -> Iterator[NDArray[Any]]:
        """The tables that a release gives, as exact fractions, one after the other: all their sums agree."""
        for table, residuals in self._by_table(released, lambda block, noisy: block.residual(noisy.astype(object))):
            yield _summed(table, self.strategy.sizes, residuals)

    def double_tables(self, released: Any) -> Iterator[tuple[NDArray[np.float64], float]]:
        """The same tables in doubles, quicker and smaller, each with a bound on what its roundings change."""
        for table, residuals in self._by_table(released, lambda block, noisy: block.double_residual(noisy)):
            yield _double_sum(table, self.strategy.sizes, residuals)

    def _by_table(
        self, released: Any, residual: Callable[[InteractionBlock, NDArray[Any]], _Residual]
    ) -> Iterator[tuple[Columns, dict[Columns, _Residual]]]:
        """Each table with its interactions, which are held no longer than a later table needs them."""
        flat, tables = read_whole_vector(released, self.dimension), self.strategy.tables
        ends = np.cumsum([0, *(prod(block.shape) for block in self.blocks)]).tolist()
        places = {block.part: place for place, block in enumerate(self.blocks)}
        needed = Counter(part for table in tables for part in _subsets(table))
        held = dict[Columns, _Residual]()
        for table in tables:
            for part in _subsets(table):
                if part not in held:
                    block, place = self.blocks[places[part]], places[part]
                    held[part] = residual(block, flat[ends[place] : ends[place + 1]].reshape(block.shape))
            yield table, held
            for part in _subsets(table):
                needed[part] -= 1
                if not needed[part]:
                    del held[part]

    def squared_errors(self) -> tuple[Fraction, ...]:
        """The expected squared error of each cell of each table, at most."""
        rounding = 1 + Fraction(1, 8) / self._least_variance
        return tuple(error * self._factor * rounding for error in self.strategy.cell_errors)

    @property
    def _least_variance(self) -> Fraction:
        """The least noise of a measurement, in squared steps of its grid."""
        return min(block.base for block in self.blocks if prod(block.shape))

    def mean_errors(self) -> tuple[Fraction, ...]:
        """The expected absolute error of each cell of each table, at most: E|g| = √(2/π)·σ, and 2/π < 0.63662.

        What rounding adds, Σ a_l·r_l with |r_l| ≤ 1/2, has a variance of at most e/4s, see `half_widths`.
        """
        return self._roots(sqrt_above(Fraction(63662, 100000)) + sqrt_above(1 / (4 * self._least_variance)))

    def half_widths(self, level: Fraction = LEVEL) -> tuple[Fraction, ...]:
        """For each table an error that none of its cells exceeds with this probability, each for itself.

        A cell is off by Σ a_l·round(g_l). Its normal part has the variance e, so that Σ a_l² ≤ e/s, where s is the
        least variance in squared steps. What rounding adds is Σ a_l·r_l with |r_l| ≤ 1/2: at most √(numbers·e/s)/2. The
        r_l are independent, and symmetric as the g_l are. So by Hoeffding's inequality it is beyond √(e·ln(2/p)/2s)
        with a probability p of at most a hundredth or a millionth of 1 − level, which the normal part then lacks. The
        smallest of the three counts. The estimates are rounded to 2^-64.
        """
        least, rest = self._least_variance, 1 - level
        found = [normal_reach(level) + sqrt_above(Fraction(self.dimension) / (4 * least))]
        for part in _ROUNDING_PARTS:
            beyond = sqrt_above(ln_above(2 / (rest * part)) / (2 * least))
            found.append(normal_reach(1 - rest * (1 - part)) + beyond)
        return self._roots(min(found))

    def _roots(self, factor: Fraction) -> tuple[Fraction, ...]:
        found = []
        for table, error in zip(self.strategy.tables, self.strategy.cell_errors, strict=True):
            grid = Fraction(prod(self.strategy.sizes[i] for i in table) << len(table), 1 << _ESTIMATE_BITS)
            found.append(sqrt_above(error * self._factor) * factor + grid)
        return tuple(found)

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """The expected squared error of all cells in sum, weighted, and the error of the worst cell at a level."""
        sizes, strategy = self.strategy.sizes, self.strategy
        cells = (prod(sizes[i] for i in table) for table in strategy.tables)
        rows = zip(strategy.weights, cells, self.squared_errors(), strict=True)
        total = sum((weight * count * error for weight, count, error in rows), Fraction(0))
        return ErrorEstimate("squared", Enclosure(total, total), {level: max(self.half_widths(level))}, attained=False)

    def reason(self) -> Reason:
        """The closed form; for units in several cells it is a bound."""
        goal, what = ("largest", "the least largest") if self.strategy.table_weights else ("total", "the least")
        bound = self.rows**2 * self.strategy.bound(goal) / self.mu_squared
        best = f"of all releases of Gaussian noise with linear unbiased answers this has {what} squared error"
        near = "no Gaussian noise with linear unbiased answers has a squared error below the bound"
        return Reason(
            best if self.groups == 1 else near,
            "Xiao, He, Zhang and Kifer, NeurIPS 2023; closed form and proof in docs/theory/marginals.md",
            Enclosure(bound, bound),
        )

    def certificate(self) -> MarginalsCertificate:
        """The strategy with its error and bound."""
        goal = "largest" if self.strategy.table_weights else "total"
        error = self.strategy.error(goal, self.groups, self.rows)
        bound = self.rows**2 * self.strategy.bound(goal)
        return MarginalsCertificate(self.strategy, goal, self.groups, self.rows, error, bound, error - bound)


class InteractionBlock:
    """The measurements of one interaction."""

    def __init__(
        self,
        part: Columns,
        sizes: tuple[int, ...],
        table: int,
        variance: Fraction,
        grid: int | None,
        least: int = _LEAST_VARIANCE_BITS,
    ) -> None:
        self.part, self.table = part, table
        self.shape = tuple(sizes[i] - 1 for i in part)
        spare = least - floor(log2(variance))
        self.bits = max(0, -(-spare // 2)) if grid is None else grid
        self.base = variance * (1 << 2 * self.bits)

    @property
    def multiples(self) -> NDArray[np.int64]:
        """‖h‖² of each contrast: below 2^53, for a table has at most 2^26 cells."""
        found = np.ones((), dtype=np.int64)
        for size in self.shape:
            contrasts = np.arange(1, size + 1, dtype=np.int64)
            found = np.multiply.outer(found, contrasts * (contrasts + 1))
        return found

    def variances(self) -> list[Fraction]:
        """Those of the noise, in squared steps of the grid."""
        return [self.base * int(multiple) for multiple in self.multiples.ravel()]

    def measure(self, table: NDArray[Any], columns: Columns) -> NDArray[Any]:
        """The contrasts of a table that has all the columns and perhaps more, times 2^bits."""
        beyond = tuple(axis for axis, column in enumerate(columns) if column not in self.part)
        values = np.asarray(table.sum(axis=beyond) if beyond else table)
        # No number on the way is larger than the sum of all |counts| times the product of the sizes.
        reach = int(np.sum(np.abs(values))) * prod(size + 1 for size in self.shape) << self.bits
        values = values.astype(np.int64 if reach < 1 << 62 else object)
        for axis in range(len(self.shape)):
            moved = np.moveaxis(values, axis, -1)
            before = np.cumsum(moved, axis=-1)[..., :-1]
            contrasts = before - moved[..., 1:] * np.arange(1, moved.shape[-1]).astype(values.dtype)
            values = np.moveaxis(contrasts, -1, axis)
        return np.asarray(values * (1 << self.bits))

    def noisy(self, exact: NDArray[Any], shape: tuple[int, ...], source: Source | None) -> NDArray[Any]:
        """Measurements plus noise, flat."""
        multiples = np.broadcast_to(self.multiples.ravel(), (*shape, self.multiples.size))
        return add_noise(exact.ravel(), scaled_gaussian(self.base, multiples, source))

    def residual(self, noisy: NDArray[Any]) -> NDArray[Any]:
        """The interaction as a table over its columns, in multiples of 2^-64; it sums to zero along each column.

        Each measurement is divided by ‖h‖² and rounded; the contrasts of what is left sum to zero exactly.
        """
        scaled, whole = noisy << _ESTIMATE_BITS, self.multiples.astype(object) << self.bits
        values = (2 * scaled + whole) // (2 * whole)
        for axis in range(len(self.shape)):
            moved = np.moveaxis(np.asarray(values, dtype=object), axis, -1)
            zero = np.zeros((*moved.shape[:-1], 1), dtype=object)
            later = np.concatenate([np.cumsum(moved[..., ::-1], axis=-1)[..., ::-1], zero], axis=-1)
            own = np.concatenate([zero, moved * np.arange(1, moved.shape[-1] + 1).astype(object)], axis=-1)
            values = np.moveaxis(later - own, -1, axis)
        return np.asarray(values, dtype=object)

    def double_residual(self, noisy: NDArray[Any]) -> tuple[NDArray[np.float64], float]:
        """The interaction in doubles, and how far roundings may move one of its entries.

        Each entry is a sum of products that meets at most 4 roundings and n_i + 2 along each column, in whatever order:
        it is off by less than their number·2^-53·1.01 times the same sum of sizes (Higham 2002, section 3.1).
        """
        values = noisy.astype(np.float64) / (self.multiples * 2.0**self.bits)
        sizes = np.abs(values)
        for axis in range(len(self.shape)):
            values, sizes = _spread(values, axis, -1.0), _spread(sizes, axis, 1.0)
        roundings = 4 + sum(size + 3 for size in self.shape)
        return values, 1.01 * _UNIT_ROUNDOFF * roundings * float(sizes.max(initial=0.0))


def _spread(values: NDArray[np.float64], axis: int, sign: float) -> NDArray[np.float64]:
    """Along one column Σ_{k>j} v_k ± j·v_j: with minus, the contrasts put together again."""
    moved = np.moveaxis(values, axis, -1)
    zero = np.zeros((*moved.shape[:-1], 1))
    later = np.concatenate([np.cumsum(moved[..., ::-1], axis=-1)[..., ::-1], zero], axis=-1)
    later[..., 1:] += sign * moved * np.arange(1.0, moved.shape[-1] + 1)
    return np.moveaxis(later, -1, axis)


def _subsets(table: Columns) -> Iterator[Columns]:
    return (part for size in range(len(table) + 1) for part in combinations(table, size))


def _double_sum(
    table: Columns, sizes: tuple[int, ...], residuals: Mapping[Columns, tuple[NDArray[np.float64], float]]
) -> tuple[NDArray[np.float64], float]:
    """The sum of all interactions of a table in doubles, and how far roundings may move one of its cells."""
    shape = tuple(sizes[i] for i in table)
    cells, total = float(prod(shape)), np.zeros(shape)
    off, largest = 0.0, 0.0
    for part in _subsets(table):
        fitted, moved = residuals[part]
        share = prod(sizes[i] for i in part) / cells
        total += fitted.reshape([sizes[i] if i in part else 1 for i in table]) * share
        off += moved * share
        largest += float(np.abs(fitted).max(initial=0.0)) * share
    return total, 1.01 * (off + _UNIT_ROUNDOFF * (2 ** len(table) + 3) * largest)


def _summed(table: Columns, sizes: tuple[int, ...], residuals: dict[Columns, NDArray[Any]]) -> NDArray[Any]:
    """The sum of all interactions of a table, each over the cells that it is spread over."""
    shape = tuple(sizes[i] for i in table)
    total = np.zeros(shape, dtype=object)
    for size in range(len(table) + 1):
        for part in combinations(table, size):
            fitted = residuals[part].reshape([sizes[i] if i in part else 1 for i in table])
            total = total + fitted * prod(sizes[i] for i in part)
    return np.asarray(total * Fraction(1, prod(shape) << _ESTIMATE_BITS), dtype=object)


def read_tables(truth: Any, strategy: MarginalStrategy) -> list[NDArray[Any]]:
    """The true tables from the counts of all their cells, one table after the other; no sum of cells wraps."""
    shapes = [tuple(strategy.sizes[i] for i in table) for table in strategy.tables]
    flat = read_whole_vector(truth, sum(map(prod, shapes)))
    if flat.dtype != np.int64 or largest_size(flat) * flat.size >= 1 << 63:
        flat = wide_enough(flat, flat.size)
    ends = np.cumsum([prod(shape) for shape in shapes]).tolist()
    parts = np.split(flat, ends[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

"""Marginal tables of one big table, all of them together, in closed form: nothing as large as the big table is formed.

Columns 1..d have n_1..n_d values. The interaction of a set A of columns is what a table over A says beyond the tables
over fewer columns. Every table is the sum of the interactions of its subsets: the cell of table B gets that of A ⊆ B
divided by Π n_i over B∖A. A strategy measures each interaction A that some table needs with noise of its own, σ_A²
(the measurements are in `mechanisms/strategy/marginals.py`). With d_A = Π_{i∈A} (1 − 1/n_i)

    one unit in one cell changes the measurements by         μ² = Σ_A d_A/σ_A²   (in standard deviations, squared),
    each cell of table B has the squared error               e_B = Σ_{A⊆B} σ_A²·d_A·Π_{i∈B∖A} 1/n_i²,
    and Σ_B w_B·(cells of B)·e_B = Σ_A c_A·σ_A² is least for  σ_A² ∝ √(d_A/c_A), where it is (Σ_A √(c_A·d_A))²/μ².

No strategy at all has less (docs/theory/marginals.md). For units in several cells see `privacy_of`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import ceil, floor, isqrt, prod
from typing import Any

from leastnoise.errors import BadCertificate
from leastnoise.model.certificate_form import (
    as_places,
    as_rationals,
    as_sequence,
    read_indices,
    read_list,
    read_rational_text,
)

__all__ = ["MarginalStrategy", "costs_of", "interactions_of", "share_of", "variance_of"]

Columns = tuple[int, ...]
_ROOT_BITS = 128
_MOST_PRODUCTS = 1 << 17  # in the bound for units in several cells: a tenth of a second


def interactions_of(tables: Iterable[Columns]) -> tuple[Columns, ...]:
    """All sets of columns that are part of a table, small ones first.

    >>> interactions_of([(0, 2)])
    ((), (0,), (2,), (0, 2))
    """
    found = {part for table in tables for size in range(len(table) + 1) for part in combinations(table, size)}
    return tuple(sorted(found, key=lambda part: (len(part), part)))


def share_of(sizes: Sequence[int], interaction: Columns) -> Fraction:
    """d_A.

    >>> share_of((2, 3), (0, 1))
    Fraction(1, 3)
    """
    return Fraction(prod(sizes[i] - 1 for i in interaction), prod(sizes[i] for i in interaction))


def costs_of(sizes: Sequence[int], tables: Sequence[Columns], weights: Sequence[Fraction]) -> dict[Columns, Fraction]:
    """c_A: what one unit of σ_A² adds to the weighted error."""
    found: dict[Columns, Fraction] = {}
    for table, weight in zip(tables, weights, strict=True):
        cells = prod(sizes[i] for i in table)
        for size in range(len(table) + 1):
            for part in combinations(table, size):
                beyond = cells // prod(sizes[i] for i in part)
                found[part] = found.get(part, Fraction(0)) + weight * Fraction(cells, beyond**2)
    return {part: cost * share_of(sizes, part) for part, cost in found.items()}


def variance_of(sizes: Sequence[int], table: Columns, variances: Mapping[Columns, Fraction]) -> Fraction:
    """e_B: the squared error of each cell of a table."""
    cells, total = prod(sizes[i] for i in table), Fraction(0)
    for size in range(len(table) + 1):
        for part in combinations(table, size):
            beyond = cells // prod(sizes[i] for i in part)
            total += variances[part] * share_of(sizes, part) / beyond**2
    return total


@dataclass(frozen=True)
class MarginalStrategy:
    """Marginal tables and the noise of each interaction. Nothing of it is believed.

    Args:
        sizes: How many values each column has.
        tables: Which columns each table has, in order.
        weights: How much the squared error of each cell of a table counts.
        variances: σ_A² of each of `interactions`, in that order.
        table_weights: ω ≥ 0 of each table, for the bound of the largest error; else empty.

    >>> one = MarginalStrategy((2, 3), ((0,), (1,)), (1, 1), (1, 1, 1))
    >>> one.interactions, one.privacy
    (((), (0,), (1,)), Fraction(13, 6))
    """

    sizes: tuple[int, ...]
    tables: tuple[Columns, ...]
    weights: tuple[Fraction, ...]
    variances: tuple[Fraction, ...]
    table_weights: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        """Refuse parts that are none."""
        sizes = as_places(self.sizes, "sizes")
        tables = tuple(as_places(table, "tables") for table in as_sequence(self.tables, "tables"))
        if not sizes or min(sizes) < 1:
            raise BadCertificate("every column has at least one value", fix="list the sizes of the columns")
        if not tables or any(list(t) != sorted(set(t)) or (t and t[-1] >= len(sizes)) for t in tables):
            raise BadCertificate("a table is a list of columns in order, each once", fix="number columns from zero")
        if len(set(tables)) < len(tables):
            raise BadCertificate("a table is there twice", fix="give it a larger weight instead")
        weights = as_rationals(self.weights, "weights", len(tables))
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "tables", tables)
        object.__setattr__(self, "weights", weights)
        variances = as_rationals(self.variances, "variances", len(self.interactions))
        shares = as_rationals(self.table_weights, "table_weights", len(tables) if self.table_weights else 0)
        for name, numbers in (("weights", weights), ("table_weights", shares)):
            if numbers and (min(numbers) < 0 or not any(numbers)):
                raise BadCertificate(f"{name} are at least zero, and not all zero", fix="leave out what counts nothing")
        if min(variances) <= 0:
            raise BadCertificate("variances are above zero", fix="plan the tables again")
        object.__setattr__(self, "variances", variances)
        object.__setattr__(self, "table_weights", shares)

    @cached_property
    def interactions(self) -> tuple[Columns, ...]:
        """All sets of columns that are part of a table."""
        return interactions_of(self.tables)

    @property
    def privacy(self) -> Fraction:
        """μ² of one unit in one cell."""
        pairs = zip(self.interactions, self.variances, strict=True)
        return sum((share_of(self.sizes, part) / variance for part, variance in pairs), Fraction(0))

    def privacy_of(self, groups: int, rows: int) -> Fraction:
        """At least μ² of one unit in so many cells, with so many rows in each.

        Two cells that differ in the columns S have X_S = Σ_A 1/σ_A²·Π_{i∈A∩S} (−1/n_i)·Π_{i∈A∖S} (1 − 1/n_i) in the
        matrix X of what is measured, in squared standard deviations. A unit's change Δ has ΔᵀXΔ ≤ rows²·Σ |X_ij| over
        the pairs of its cells, so at most rows²·groups times the sum of the `groups` largest |X_ij| of a row, and at
        most (rows·groups)²·X_ii. Where there are too many S it is the latter.

        >>> two = MarginalStrategy((3, 3), ((0, 1),), (1,), (9, 3, 3, 1))
        >>> [round(float(two.privacy_of(groups, 3)), 9) for groups in (1, 2, 5)]  # noise on nine cells
        [9.0, 18.0, 45.0]
        """
        plain = self.privacy * rows**2
        used = sorted({i for table in self.tables for i in table})
        if groups == 1 or len(self.interactions) << len(used) > _MOST_PRODUCTS:
            return groups**2 * plain
        cells = prod(self.sizes)
        most, left, total = min(groups, cells), min(groups, cells), 0
        bits, weights = self._precisions
        below = cells // prod(self.sizes[i] for i in used)  # cells that differ in no column that is used
        sets = (chosen for size in range(len(used) + 1) for chosen in combinations(used, size))
        sums = [(self._product(weights, chosen), chosen) for chosen in sets]
        for size, chosen in sorted(sums, reverse=True):
            count = min(left, below * prod(self.sizes[i] - 1 for i in chosen))
            total, left = total + count * size, left - count
        return min(most**2 * plain, Fraction(rows**2 * most * total, 1 << bits))

    @cached_property
    def _precisions(self) -> tuple[int, dict[Columns, int]]:
        """1/(σ_A²·cells) of each interaction in multiples of 2^-bits, rounded down; all of them are large."""
        scaled = {
            part: variance * prod(self.sizes[i] for i in part)
            for part, variance in zip(self.interactions, self.variances, strict=True)
        }
        bits = _ROOT_BITS + max((ceil(entry).bit_length() for entry in scaled.values()), default=0)
        return bits, {part: floor((1 << bits) / entry) for part, entry in scaled.items()}

    def _product(self, weights: Mapping[Columns, int], differing: Columns) -> int:
        """At least 2^bits·|X_S|: what rounding may have taken away is added."""
        total, spare = 0, 0
        for part, weight in weights.items():
            factor = prod(self.sizes[i] - 1 for i in part if i not in differing)
            spare += factor
            total += -factor * weight if sum(i in differing for i in part) % 2 else factor * weight
        return abs(total) + spare

    @cached_property
    def cell_errors(self) -> tuple[Fraction, ...]:
        """e_B of each table, with the noise as it is."""
        variances = dict(zip(self.interactions, self.variances, strict=True))
        return tuple(variance_of(self.sizes, table, variances) for table in self.tables)

    def error(self, goal: str, groups: int = 1, rows: int = 1) -> Fraction:
        """The weighted error at μ = 1, for units in so many cells: of all cells in sum, or the largest."""
        privacy = self.privacy_of(groups, rows)
        if goal == "largest":
            return privacy * max(w * e for w, e in zip(self.weights, self.cell_errors, strict=True))
        cells = (prod(self.sizes[i] for i in table) for table in self.tables)
        counted = zip(self.weights, cells, self.cell_errors, strict=True)
        return privacy * sum((w * count * e for w, count, e in counted), Fraction(0))

    def bound(self, goal: str) -> Fraction:
        """What no strategy beats at μ = 1: (Σ √(c_A·d_A))², rounded down; for "largest" with the ω as weights."""
        weights, total = self.weights, Fraction(1)
        if goal == "largest":
            if not self.table_weights:
                raise BadCertificate("a bound on the largest error needs weights of the tables", fix="plan again")
            total = sum(self.table_weights, Fraction(0))
            cells = [prod(self.sizes[i] for i in table) for table in self.tables]
            rows = zip(self.table_weights, self.weights, cells, strict=True)
            weights = tuple(share * weight / count for share, weight, count in rows)
        costs = costs_of(self.sizes, self.tables, weights)
        roots = sum(_root_below(costs[part] * share_of(self.sizes, part)) for part in self.interactions)
        return roots**2 / total

    def fields(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "sizes": list(self.sizes),
            "tables": [list(table) for table in self.tables],
            "weights": [str(weight) for weight in self.weights],
            "variances": [str(variance) for variance in self.variances],
            "table_weights": [str(weight) for weight in self.table_weights],
        }

    @staticmethod
    def of_fields(data: Mapping[str, Any]) -> MarginalStrategy:
        """Read what `fields` wrote."""
        numbers = (
            tuple(read_rational_text(entry) for entry in read_list(data[name], name))
            for name in ("weights", "variances", "table_weights")
        )
        tables = tuple(read_indices(table) for table in read_list(data["tables"], "tables"))
        return MarginalStrategy(read_indices(data["sizes"]), tables, *numbers)


def _root_below(number: Fraction) -> Fraction:
    """A rational at most √number."""
    return Fraction(isqrt((number.numerator << 2 * _ROOT_BITS) // number.denominator), 1 << _ROOT_BITS)

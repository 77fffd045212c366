"""Linear workloads: many sums of the cells of one histogram, named and never written out where there is a formula.

With cells x ∈ Z^n a workload asks for the answers W·x. All that a plan needs of W is

    F   a whole matrix whose rows span those of W (the identity where the columns of W are independent), and
    V = Mᵀ·diag(weights)·M   for the M with W = M·F,

so that Σ weight·(error of an answer)² = tr(V·C) if F·x is known up to noise of covariance C. For prefix sums V has
the entries n − max(i, j), for ranges (min(i, j) + 1)·(n − max(i, j)) where all weights are one. In both cases V⁻¹ is
zero beside three diagonals (`bands`), which makes thousands of cells quick.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from math import lcm
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact import IntegerMatrix, NumberLike, RationalMatrix, beside, read_integer, read_rational
from leastnoise.model.limits import LARGEST_ENTRY, MOST_CELLS, MOST_DENSE_CELLS, MOST_ENTRIES, MOST_STRATEGY_CELLS

__all__ = [
    "ExplicitWorkload",
    "HierarchyWorkload",
    "IdentityWorkload",
    "LinearWorkload",
    "PrefixSums",
    "Ranges",
    "StackedWorkload",
    "TotalWorkload",
    "workload_from_dict",
]

Weights = tuple[Fraction, ...]
Numbers = NDArray[Any]  # Python's integers or Fractions, which never wrap; doubles where a guess is enough


class Bands(NamedTuple):
    """A symmetric V⁻¹ that is zero beside three diagonals.

    Attributes:
        diagonal: Its diagonal.
        beside: The sizes of the entries beside it.
        loads: The diagonal of V.
    """

    diagonal: Numbers
    beside: Numbers
    loads: Numbers


@dataclass(frozen=True)
class LinearWorkload(ABC):
    """Answers W·x for a histogram x of `cells` counts.

    Args:
        cells: How many cells.
    """

    kind: ClassVar[str]
    most_cells: ClassVar[int] = MOST_STRATEGY_CELLS
    cells: int

    def __post_init__(self) -> None:
        """Refuse a size that is not a whole number above zero, or too large."""
        object.__setattr__(self, "cells", read_integer(self.cells, "cells", at_least=1))
        if self.cells > self.most_cells:
            raise TooLarge(
                f"a strategy is planned for at most {self.most_cells} cells", given=self.cells, fix="use wider bins"
            )

    @property
    @abstractmethod
    def answers(self) -> int:
        """How many answers."""

    @property
    def basis(self) -> IntegerMatrix | None:
        """F; None for the identity."""
        return None

    @property
    def unpivot(self) -> tuple[IntegerMatrix, int] | None:
        """The inverse of a square of columns of F, as a whole matrix over a whole number; None for F = I."""
        return None

    @property
    def independent(self) -> bool:
        """Whether the columns of W are independent, so that F is the identity."""
        return self.basis is None

    @property
    def rank(self) -> int:
        """The rows of F."""
        return self.cells if self.basis is None else self.basis.shape[0]

    def gram(self, weights: Weights | None = None) -> tuple[IntegerMatrix, int]:
        """V as a whole matrix over a whole number."""
        whole, common = _whole(weights or (Fraction(1),) * self.answers)
        return IntegerMatrix(self.weigh(whole), self.rank), common * self.below**2

    def bands(self, weights: Numbers | None = None) -> Bands | None:  # noqa: ARG002
        """V⁻¹ where it is zero beside three diagonals, for weights above zero; None where it is not."""
        return None

    @property
    def below(self) -> int:
        """A whole number whose product with M is whole."""
        return 1

    @abstractmethod
    def weigh(self, weights: Numbers) -> Numbers:
        """V times the square of `below`, for weights that are whole numbers or doubles."""

    @abstractmethod
    def evaluate(self, estimates: Numbers) -> Numbers:
        """All answers, from estimates of F·x along the last axis."""

    @abstractmethod
    def forms(self, matrix: Numbers) -> Numbers:
        """m·S·mᵀ, times the square of `below`, for each row m of M and a symmetric S of whole numbers or doubles."""

    @abstractmethod
    def lengths(self) -> list[Fraction]:
        """The squared length of each row of M."""

    @property
    def longest(self) -> Fraction:
        """The largest of them."""
        return max(self.lengths())

    def coordinates(self, histogram: Numbers) -> Numbers:
        """F·x, for cells along the last axis."""
        if self.basis is None:
            return histogram
        mapped: Numbers = histogram.astype(object) @ self.basis.array().T
        return mapped

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"kind": self.kind, "cells": self.cells}

    @classmethod
    def of_dict(cls, data: Mapping[str, Any]) -> LinearWorkload:
        """Read what `to_dict` wrote."""
        return cls(data["cells"])

    def __str__(self) -> str:
        """Name and size."""
        return f"{self.kind} of {self.cells} cells"

    def read_weights(self, weights: Sequence[NumberLike] | None) -> Weights | None:
        """One exact number of at least zero for each answer, not all zero; None for ones.

        Raises:
            BadParameter: There are too few or too many, or one is below zero.
        """
        if weights is None:
            return None
        if isinstance(weights, str) or len(weights) != self.answers:
            raise BadParameter(
                f"weights needs one number for each of the {self.answers} answers", fix="leave it out for equal weights"
            )
        read = tuple(read_rational(weight, "weights", at_least=0) for weight in weights)
        if not any(read):
            raise BadParameter("all weights are zero", fix="give what matters a weight above zero")
        return read


def _ones(count: int) -> Numbers:
    ones = np.empty(count, dtype=object)
    ones[:] = Fraction(1)
    return ones


def _whole(weights: Sequence[Fraction]) -> tuple[Numbers, int]:
    """Weights as whole numbers over one denominator."""
    common = lcm(*(weight.denominator for weight in weights))
    whole = np.empty(len(weights), dtype=object)
    whole[:] = [weight.numerator * (common // weight.denominator) for weight in weights]
    return whole, common


@dataclass(frozen=True)
class IdentityWorkload(LinearWorkload):
    """Every cell.

    >>> IdentityWorkload(2).gram()[0].rows
    ((1, 0), (0, 1))
    """

    kind: ClassVar[str] = "cells"

    @property
    def answers(self) -> int:
        """As many as cells."""
        return self.cells

    def weigh(self, weights: Numbers) -> Numbers:
        """The weights on the diagonal."""
        return np.diag(weights)

    def bands(self, weights: Numbers | None = None) -> Bands | None:
        """One over the weights."""
        loads = _ones(self.cells) if weights is None else weights
        return Bands(1 / loads, 0 * loads[1:], loads)

    def evaluate(self, estimates: Numbers) -> Numbers:
        """The estimates."""
        return estimates

    def forms(self, matrix: Numbers) -> Numbers:
        """The diagonal."""
        return np.diagonal(matrix).copy()

    def lengths(self) -> list[Fraction]:
        """Ones."""
        return [Fraction(1)] * self.cells


@dataclass(frozen=True)
class PrefixSums(LinearWorkload):
    """x_0, x_0 + x_1, …, the sum of all: a running total.

    >>> PrefixSums(3).gram()[0].rows
    ((3, 2, 1), (2, 2, 1), (1, 1, 1))
    """

    kind: ClassVar[str] = "prefix sums"

    @property
    def answers(self) -> int:
        """As many as cells."""
        return self.cells

    def weigh(self, weights: Numbers) -> Numbers:
        """V_ij is the weight of all answers from max(i, j) on."""
        later, places = np.cumsum(weights[::-1])[::-1], np.arange(self.cells)
        return later[np.maximum.outer(places, places)]

    def gram(self, weights: Weights | None = None) -> tuple[IntegerMatrix, int]:
        """The entries n − max(i, j) where all weights are one."""
        if weights is not None:
            return super().gram(weights)
        places = np.arange(self.cells, dtype=np.int64)
        return IntegerMatrix(self.cells - np.maximum.outer(places, places)), 1

    def bands(self, weights: Numbers | None = None) -> Bands:
        """W⁻¹·diag(1/weights)·W⁻ᵀ: differences of neighbours have the entries 1 and −1."""
        read = _ones(self.cells) if weights is None else weights
        each = 1 / read
        return Bands(each + np.concatenate([0 * each[:1], each[:-1]]), each[:-1], np.cumsum(read[::-1])[::-1])

    def mirrored_bands(self, multipliers: Numbers) -> Bands:
        """The same for the transposed matrix: (W·diag(multipliers)·Wᵀ)⁻¹."""
        bands = self.bands(multipliers[::-1])
        return Bands(bands.diagonal[::-1], bands.beside[::-1], bands.loads[::-1])

    def evaluate(self, estimates: Numbers) -> Numbers:
        """Running sums."""
        return np.cumsum(estimates, axis=-1)

    def forms(self, matrix: Numbers) -> Numbers:
        """Sums over the leading squares of the matrix."""
        return np.diagonal(_corners(matrix)).copy()

    def lengths(self) -> list[Fraction]:
        """One more for each answer."""
        return [Fraction(k + 1) for k in range(self.cells)]


@dataclass(frozen=True)
class Ranges(LinearWorkload):
    """Every sum of consecutive cells, by its first cell and then by its last.

    >>> Ranges(2).gram()[0].rows, Ranges(2).place(1, 1)
    (((2, 1), (1, 2)), 2)
    """

    kind: ClassVar[str] = "ranges"

    @property
    def answers(self) -> int:
        """n·(n + 1)/2."""
        return self.cells * (self.cells + 1) // 2

    def place(self, first: int, last: int) -> int:
        """Which answer the sum of the cells from `first` to `last` is.

        Raises:
            BadParameter: These are no cells in order.
        """
        if not 0 <= first <= last < self.cells:
            raise BadParameter(
                f"a range goes from a cell to a later one of {self.cells}", given=(first, last), fix="count from zero"
            )
        return first * self.cells - first * (first - 1) // 2 + last - first

    def weigh(self, weights: Numbers) -> Numbers:
        """V_ij is the weight of all ranges that hold both cells."""
        places = np.arange(self.cells)
        table = np.zeros((self.cells, self.cells), dtype=weights.dtype)  # row: first cell, column: last cell
        table[np.triu_indices(self.cells)] = weights
        holding = np.cumsum(np.cumsum(table, axis=0)[:, ::-1], axis=1)[:, ::-1]
        return holding[np.minimum.outer(places, places), np.maximum.outer(places, places)]

    def gram(self, weights: Weights | None = None) -> tuple[IntegerMatrix, int]:
        """(min(i, j) + 1)·(n − max(i, j)) where all weights are one."""
        if weights is not None:
            return super().gram(weights)
        places = np.arange(self.cells, dtype=np.int64)
        table = (np.minimum.outer(places, places) + 1) * (self.cells - np.maximum.outer(places, places))
        return IntegerMatrix(table), 1

    def bands(self, weights: Numbers | None = None) -> Bands | None:
        """2 and −1, over n + 1: second differences; only where all weights are one."""
        if weights is not None:
            return None
        each, places = _ones(self.cells) / (self.cells + 1), np.arange(self.cells).astype(object)
        return Bands(2 * each, each[1:], (places + 1) * (self.cells - places))

    def evaluate(self, estimates: Numbers) -> Numbers:
        """All ranges: differences of running sums."""
        zero = np.zeros_like(estimates[..., :1])
        sums = np.concatenate([zero, np.cumsum(estimates, axis=-1)], axis=-1)
        first, last = np.triu_indices(self.cells)
        answers: Numbers = sums[..., last + 1] - sums[..., first]
        return answers

    def forms(self, matrix: Numbers) -> Numbers:
        """Sums over the squares on the diagonal of the matrix."""
        corners = np.zeros((self.cells + 1, self.cells + 1), dtype=matrix.dtype)
        corners[1:, 1:] = _corners(matrix)
        first, last = np.triu_indices(self.cells)
        end = last + 1
        sums: Numbers = corners[end, end] - corners[first, end] - corners[end, first] + corners[first, first]
        return sums

    @property
    def longest(self) -> Fraction:
        """That of all cells."""
        return Fraction(self.cells)

    def lengths(self) -> list[Fraction]:
        """How many cells each range has."""
        first, last = np.triu_indices(self.cells)
        return [Fraction(int(length)) for length in last - first + 1]


def _corners(matrix: Numbers) -> Numbers:
    """The sums of all entries above and to the left."""
    return np.cumsum(np.cumsum(matrix, axis=0), axis=1)


@dataclass(frozen=True)
class TotalWorkload(LinearWorkload):
    """The sum of all cells.

    >>> TotalWorkload(3).basis.rows, TotalWorkload(3).gram()[0].rows
    (((1, 1, 1),), ((1,),))
    """

    kind: ClassVar[str] = "total"

    @property
    def answers(self) -> int:
        """One."""
        return 1

    @property
    def basis(self) -> IntegerMatrix:
        """One row of ones."""
        return IntegerMatrix([[1] * self.cells])

    @property
    def unpivot(self) -> tuple[IntegerMatrix, int]:
        """The first column is a one."""
        return IntegerMatrix([[1]]), 1

    def weigh(self, weights: Numbers) -> Numbers:
        """The weight."""
        gram: Numbers = weights[:, None]
        return gram

    def evaluate(self, estimates: Numbers) -> Numbers:
        """The one estimate."""
        return estimates

    def forms(self, matrix: Numbers) -> Numbers:
        """The one entry."""
        return np.diagonal(matrix).copy()

    def lengths(self) -> list[Fraction]:
        """One."""
        return [Fraction(1)]


@dataclass(frozen=True, init=False)
class ExplicitWorkload(LinearWorkload):
    """Answers given by a matrix of whole numbers, one row each.

    F is made of the first independent rows; it is the identity where the columns are independent.

    Args:
        matrix: One row per answer, one column per cell.

    >>> sums = ExplicitWorkload([[1, 1, 0], [0, 1, 1], [1, 2, 1]])
    >>> sums.basis.rows, sums.gram()[0].rows
    (((1, 1, 0), (0, 1, 1)), ((2, 1), (1, 2)))
    """

    kind: ClassVar[str] = "matrix"
    matrix: tuple[tuple[int, ...], ...]

    def __init__(self, matrix: Sequence[Sequence[NumberLike]]) -> None:
        if isinstance(matrix, str) or not isinstance(matrix, Sequence) or not matrix:
            raise BadParameter("a matrix is a list of rows of whole numbers", fix="pass [[1, 0], [1, 1]]")
        if len(matrix) > MOST_CELLS or len(matrix) * len(matrix[0]) > MOST_ENTRIES:
            raise TooLarge(f"a workload has at most {MOST_ENTRIES} entries", fix="ask for fewer answers")
        rows = tuple(tuple(_entry(entry) for entry in row) for row in matrix)
        if len({len(row) for row in rows}) != 1 or not any(map(any, rows)):
            raise BadParameter("a matrix has rows of equal length, and not only zeros", fix="pass [[1, 0], [1, 1]]")
        object.__setattr__(self, "matrix", rows)
        super().__init__(len(rows[0]))

    @property
    def answers(self) -> int:
        """The rows."""
        return len(self.matrix)

    @cached_property
    def independent(self) -> bool:
        """Whether there are as many independent answers as cells."""
        return len(self.matrix) >= self.cells == IntegerMatrix(self.matrix).rank()

    @cached_property
    def _pivots(self) -> tuple[int, ...]:
        if self.independent:
            return tuple(range(self.cells))
        return tuple(RationalMatrix(self.matrix).echelon()[1])

    @cached_property
    def basis(self) -> IntegerMatrix | None:
        """F."""
        if len(self._pivots) == self.cells:
            return None
        columns = RationalMatrix(self.matrix).take_columns(self._pivots).transposed()
        return IntegerMatrix([self.matrix[k] for k in columns.echelon()[1]])

    @cached_property
    def unpivot(self) -> tuple[IntegerMatrix, int] | None:
        """The inverse of the columns of F at the pivots."""
        if self.basis is None:
            return None
        size = len(self._pivots)
        square = RationalMatrix([[row[j] for j in self._pivots] for row in self.basis.rows])
        beside_one = beside(square, RationalMatrix([[int(i == j) for j in range(size)] for i in range(size)]))
        whole = beside_one.echelon()[0].take_columns(range(size, 2 * size)).whole_rows()
        common = lcm(*(below for _, below in whole))
        return IntegerMatrix([[entry * (common // below) for entry in row] for row, below in whole]), common

    @cached_property
    def _map(self) -> tuple[IntegerMatrix, int]:
        """M as a whole matrix over a whole number."""
        if self.unpivot is None:
            return IntegerMatrix(self.matrix), 1
        inverse, common = self.unpivot
        return IntegerMatrix([[row[j] for j in self._pivots] for row in self.matrix]) @ inverse, common

    @property
    def below(self) -> int:
        """The common denominator of M."""
        return self._map[1]

    def weigh(self, weights: Numbers) -> Numbers:
        """Mᵀ·diag(weights)·M."""
        rows = self._map[0].array()
        if weights.dtype != object:
            rows = rows.astype(float)
            rough: Numbers = rows.T @ (rows * weights[:, None])
            return rough
        weighted = IntegerMatrix((rows * weights[:, None]).tolist(), self.rank)
        return (self._map[0].transposed() @ weighted).array()

    def evaluate(self, estimates: Numbers) -> Numbers:
        """M times the estimates."""
        mapped: Numbers = estimates.astype(object) @ self._map[0].array().T
        return mapped if self.below == 1 else mapped * Fraction(1, self.below)

    def forms(self, matrix: Numbers) -> Numbers:
        """m·S·mᵀ."""
        rows = self._map[0].array()
        if matrix.dtype == np.float64:
            rows = rows.astype(float)
            mapped = rows @ matrix
        else:
            mapped = (self._map[0] @ IntegerMatrix(matrix, self.rank)).array()
        forms: Numbers = (mapped * rows).sum(axis=1)
        return forms

    def lengths(self) -> list[Fraction]:
        """The squared lengths of the rows of M."""
        rows, below = self._map
        return [Fraction(sum(entry**2 for entry in row), below**2) for row in rows.rows]

    def to_dict(self) -> dict[str, Any]:
        """The matrix."""
        return {"kind": self.kind, "matrix": [list(row) for row in self.matrix]}

    @classmethod
    def of_dict(cls, data: Mapping[str, Any]) -> LinearWorkload:
        """Read what `to_dict` wrote."""
        return cls(data["matrix"])

    def __str__(self) -> str:
        """The size."""
        return f"{self.answers} answers from {self.cells} cells"


def _entry(entry: NumberLike) -> int:
    whole = entry if type(entry) is int else read_integer(entry, "matrix")
    if abs(whole) > LARGEST_ENTRY:
        raise BadParameter("an entry of the matrix is too large", fix=f"keep within ±{LARGEST_ENTRY}")
    return whole


@dataclass(frozen=True, init=False)
class HierarchyWorkload(LinearWorkload):
    """The cells and the sums of their groups, level by level: towns, counties, regions, the whole country.

    Args:
        levels: For each level the group of each cell, numbered from zero without gaps; the cells are a level too.

    >>> tree = HierarchyWorkload([[0, 0, 1], [0, 0, 0]])
    >>> tree.answers, tree.gram()[0].rows
    (6, ((3, 2, 1), (2, 3, 1), (1, 1, 3)))
    """

    kind: ClassVar[str] = "hierarchy"
    most_cells: ClassVar[int] = MOST_DENSE_CELLS
    levels: tuple[tuple[int, ...], ...]

    def __init__(self, levels: Sequence[Sequence[int]]) -> None:
        if isinstance(levels, str) or not isinstance(levels, Sequence) or not levels:
            raise BadParameter("levels are lists of group numbers, one for each cell", fix="pass [[0, 0, 1]]")
        read = tuple(tuple(read_integer(group, "levels", at_least=0) for group in level) for level in levels)
        if len({len(level) for level in read}) != 1 or any(set(level) != set(range(max(level) + 1)) for level in read):
            raise BadParameter("each level numbers its groups from 0 without gaps, one for each cell", fix="renumber")
        if any(len(set(zip(fine, coarse, strict=True))) > len(set(fine)) for fine, coarse in pairwise(read)):
            raise BadParameter("each group must lie in one group of the next level", fix="order levels fine to coarse")
        object.__setattr__(self, "levels", read)
        super().__init__(len(read[0]))

    @property
    def answers(self) -> int:
        """The cells and all groups."""
        return self.cells + sum(max(level) + 1 for level in self.levels)

    def weigh(self, weights: Numbers) -> Numbers:
        """V_ij is the weight of all groups that hold both cells."""
        table, start = np.diag(weights[: self.cells]), self.cells
        for level in self.levels:
            groups = np.array(level)
            held = np.where(groups[:, None] == groups, weights[start + groups][:, None], 0)
            table, start = table + held, start + max(level) + 1
        return table

    def evaluate(self, estimates: Numbers) -> Numbers:
        """The cells, then the sums of each level."""
        flat = estimates.astype(object)
        sums = [flat] + [self._summed(flat, level) for level in self.levels]
        return np.concatenate(sums, axis=-1)

    def _summed(self, values: Numbers, level: tuple[int, ...]) -> Numbers:
        sums = np.zeros((*values.shape[:-1], max(level) + 1), dtype=values.dtype)
        np.add.at(np.moveaxis(sums, -1, 0), np.array(level), np.moveaxis(values, -1, 0))
        return sums

    def forms(self, matrix: Numbers) -> Numbers:
        """Sums of the entries between cells of one group."""
        parts = [np.diagonal(matrix)]
        for level in self.levels:
            sums = self._summed(self._summed(matrix, level).T, level)
            parts.append(np.diagonal(sums))
        return np.concatenate(parts)

    def lengths(self) -> list[Fraction]:
        """How many cells each group has."""
        sizes = [size for level in self.levels for size in np.bincount(level).tolist()]
        return [Fraction(1)] * self.cells + [Fraction(size) for size in sizes]

    def to_dict(self) -> dict[str, Any]:
        """The levels."""
        return {"kind": self.kind, "levels": [list(level) for level in self.levels]}

    @classmethod
    def of_dict(cls, data: Mapping[str, Any]) -> LinearWorkload:
        """Read what `to_dict` wrote."""
        return cls(data["levels"])

    def __str__(self) -> str:
        """The size."""
        return f"{len(self.levels)} levels above {self.cells} cells"


@dataclass(frozen=True, init=False)
class StackedWorkload(LinearWorkload):
    """The answers of several workloads over the same cells, one after the other.

    Args:
        parts: The workloads; the columns of each are independent.

    >>> both = StackedWorkload([IdentityWorkload(2), PrefixSums(2)])
    >>> both.answers, both.gram()[0].rows
    (4, ((3, 1), (1, 2)))
    """

    kind: ClassVar[str] = "several workloads"
    parts: tuple[LinearWorkload, ...]

    def __init__(self, parts: Sequence[LinearWorkload]) -> None:
        flat = all(part.independent and not isinstance(part, StackedWorkload) for part in parts)
        if not parts or not flat or len({part.cells for part in parts}) > 1:
            raise BadParameter(
                "workloads are stacked once, over the same cells, with independent columns", fix="ask apart"
            )
        object.__setattr__(self, "parts", tuple(parts))
        super().__init__(parts[0].cells)

    @property
    def answers(self) -> int:
        """Those of all parts."""
        return sum(part.answers for part in self.parts)

    @property
    def spans(self) -> list[slice]:
        """Where the answers of each part stand."""
        ends = list(accumulate((part.answers for part in self.parts), initial=0))
        return [slice(start, end) for start, end in pairwise(ends)]

    def weigh(self, weights: Numbers) -> Numbers:
        """The sum over the parts; each over its own denominator, which is one where columns are independent."""
        pairs = zip(self.parts, self.spans, strict=True)
        return sum(part.weigh(weights[span]) for part, span in pairs)  # type: ignore[return-value]

    def evaluate(self, estimates: Numbers) -> Numbers:
        """The answers of all parts."""
        return np.concatenate([part.evaluate(estimates) for part in self.parts], axis=-1)

    def forms(self, matrix: Numbers) -> Numbers:
        """Those of all parts."""
        return np.concatenate([part.forms(matrix) for part in self.parts])

    def lengths(self) -> list[Fraction]:
        """Those of all parts."""
        return [length for part in self.parts for length in part.lengths()]

    def to_dict(self) -> dict[str, Any]:
        """The parts."""
        return {"kind": self.kind, "parts": [part.to_dict() for part in self.parts]}

    @classmethod
    def of_dict(cls, data: Mapping[str, Any]) -> LinearWorkload:
        """Read what `to_dict` wrote."""
        return cls([workload_from_dict(part) for part in data["parts"]])

    def __str__(self) -> str:
        """The parts."""
        return ", ".join(map(str, self.parts))


_KINDS: dict[str, type[LinearWorkload]] = {
    kind.kind: kind
    for kind in (
        IdentityWorkload,
        PrefixSums,
        Ranges,
        TotalWorkload,
        ExplicitWorkload,
        HierarchyWorkload,
        StackedWorkload,
    )
}


def workload_from_dict(data: Mapping[str, Any]) -> LinearWorkload:
    """Read what `to_dict` wrote.

    >>> workload_from_dict({"kind": "ranges", "cells": 3})
    Ranges(cells=3)

    Raises:
        BadParameter: The kind is unknown.
    """
    kind = _KINDS.get(str(data.get("kind"))) if isinstance(data, Mapping) else None
    if kind is None:
        raise BadParameter("unknown workload", given=data, fix=f"known are {', '.join(_KINDS)}")
    return kind.of_dict(data)

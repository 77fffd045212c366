"""What a strategy costs and what no strategy can beat, in whole-number arithmetic.

A strategy for a workload W = M·F (`linear_workloads`) is a whole matrix T: T·F·x is released with independent
Gaussian noise on each number, and every answer is read off by least squares. With G = TᵀT and noise of variance σ²
the weighted squared error of all answers is σ²·tr(V·G⁻¹). One unit that changes cell j alone by one changes T·F·x by
√(f_jᵀ·G·f_j).

* **Error.** For a symmetric N with e = ‖I − G·N‖ < 1, (1 + e)⁻¹·N ⪯ G⁻¹ ⪯ (1 − e)⁻¹·N, so every squared error
  w·G⁻¹·wᵀ is at most w·N·wᵀ/(1 − e), and hardly less.

* **Bound.** Let Z be any positive definite matrix with f_jᵀ·Z·f_j ≤ 1 for all cells j. For every symmetric D and
  every u ≥ 0, tr(V·Z⁻¹) ≥ tr(V·D)²/κ with κ = Σ u_j + Σ |H·R·Hᵀ|, R = D·V·D − Σ u_j·f_j·f_jᵀ, where H is the inverse
  of a square of columns of F. (The second sum runs over all entries.) For F = I and u > 0 the best D makes it
  tr((U^½·V·U^½)^½)²/Σ u_j with U = diag(u): n numbers prove it where V⁻¹ is zero beside three diagonals.

Proofs: docs/theory/strategy.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from heapq import nlargest
from math import fsum, prod
from typing import Any

import numpy as np

from leastnoise.errors import BadCertificate, BadParameter
from leastnoise.exact import IntegerMatrix, doubles_above, doubles_below, inverse_root_diagonal, sqrt_above
from leastnoise.model.certificate_form import as_places, as_rationals, as_whole_table
from leastnoise.model.linear_workloads import LinearWorkload, Weights, workload_from_dict

__all__ = [
    "GOALS",
    "NORMS",
    "Precision",
    "StrategyPart",
    "Table",
    "answer_errors",
    "banded_bound",
    "least_error",
    "sensitivity_of",
    "squared_sensitivity",
    "strategy_bound",
    "strategy_error",
    "total_error",
]

GOALS = ("total", "largest")
NORMS = ("l2", "l1")  # of the change that one unit makes: for Gaussian noise, and for Laplace noise
_MOST_COEFFICIENTS = 1 << 17
_CLOSENESS = range(1, 257)  # of an inverse, in bits

Table = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Precision:
    """G⁻¹ up to a proven factor: N/(1 + e) ⪯ G⁻¹ ⪯ N/(1 − e) with e = 2^-closeness.

    Args:
        gram: G = TᵀT.
        inverse: N, symmetric, over `denominator`.
        denominator: A whole number above zero.
        closeness: At least one.

    Raises:
        BadParameter: It is not proven that N is so near to the inverse of G.
    """

    gram: IntegerMatrix
    inverse: IntegerMatrix
    denominator: int
    closeness: int

    def __post_init__(self) -> None:
        """Bound ‖I − G·N‖, and refuse an N that may be too far off."""
        if self.closeness < 1 or self.gram.distance_above(self.inverse, self.denominator) > self.off:
            raise BadParameter("the inverse is not that of the strategy", fix="plan the strategy again")

    @property
    def off(self) -> Fraction:
        """The distance e."""
        return Fraction(1, 1 << self.closeness)

    @property
    def factor(self) -> Fraction:
        """1/(1 − e), over the denominator: forms of the whole N times it are at least those of G⁻¹."""
        return 1 / (self.denominator * (1 - self.off))


def total_error(precision: Precision, workload: LinearWorkload, weights: Weights | None = None) -> Fraction:
    """At least tr(V·G⁻¹), and hardly more: the error of all answers at σ = 1.

    >>> from leastnoise.model.linear_workloads import PrefixSums
    >>> unit = IntegerMatrix([[1, 0], [0, 1]])
    >>> float(total_error(Precision(unit, unit, 1, 60), PrefixSums(2)))
    3.0
    """
    gram, common = workload.gram(weights)
    return gram.inner(precision.inverse) * precision.factor / common


def answer_errors(precision: Precision, workload: LinearWorkload) -> list[Fraction]:
    """For each answer at least m·G⁻¹·mᵀ, and hardly more: its squared error at σ = 1."""
    factor = precision.factor / workload.below**2
    return [int(form) * factor for form in _forms(precision, workload)]


def _forms(precision: Precision, workload: LinearWorkload) -> Any:
    """m·N·mᵀ for every answer; sums of at most all entries, and four of those for ranges."""
    return workload.forms(precision.inverse.numbers(4 * workload.rank**2))


def least_error(
    workload: LinearWorkload,
    dual: IntegerMatrix,
    multipliers: Sequence[int] = (),
    weights: Weights | None = None,
) -> Fraction:
    """What no strategy of sensitivity one beats: tr(V·D)²/κ.

    Args:
        workload: What is asked.
        dual: D, symmetric.
        multipliers: u, a whole number of at least zero for each cell, in units of the denominator of V; none for
            zeros.
        weights: Of the answers.

    Raises:
        BadParameter: D proves nothing, or a multiplier is below zero.

    >>> from leastnoise.model.linear_workloads import IdentityWorkload
    >>> least_error(IdentityWorkload(2), IntegerMatrix([[1, 0], [0, 1]]))
    Fraction(2, 1)
    """
    gram, common = workload.gram(weights)
    mapped = gram @ dual
    rest, below = dual @ mapped, 1
    if multipliers:
        if len(multipliers) != workload.cells or min(multipliers) < 0:
            raise BadParameter("multipliers are numbers of at least zero, one for each cell", fix="plan again")
        rest = rest - _weighted_columns(workload, multipliers)
    if workload.unpivot is not None:
        inverse, below = workload.unpivot
        rest = inverse @ rest @ inverse.transposed()
    kappa = sum(multipliers) + Fraction(rest.absolute_sum(), below**2)
    trace = sum(mapped.diagonal())
    if kappa == 0 or trace <= 0:
        raise BadParameter("the dual matrix proves nothing", fix="plan the strategy again")
    return Fraction(trace**2) / (common * kappa)


def banded_bound(workload: LinearWorkload, multipliers: Sequence[int], weights: Weights | None = None) -> Fraction:
    """What no strategy of sensitivity one beats: tr((U^½·V·U^½)^½)²/Σu, where V⁻¹ is zero beside three diagonals.

    Args:
        workload: What is asked.
        multipliers: u, a whole number above zero for each cell.
        weights: Of the answers, above zero.

    Raises:
        BadParameter: V⁻¹ has no such form, or a number is not above zero.

    >>> from leastnoise.model.linear_workloads import IdentityWorkload
    >>> round(float(banded_bound(IdentityWorkload(2), [3, 3])), 6)
    2.0
    """
    if len(multipliers) != workload.cells or min(multipliers) < 1 or (weights is not None and min(weights) <= 0):
        raise BadParameter("multipliers and weights of such a bound are above zero", fix="plan the strategy again")
    bands = workload.bands(None if weights is None else np.array(weights, dtype=object))
    if bands is None:
        raise BadParameter("multipliers alone prove nothing for this workload", fix="plan the strategy again")
    diagonal = [Fraction(entry) / u for entry, u in zip(bands.diagonal, multipliers, strict=True)]
    both = zip(bands.beside, multipliers, multipliers[1:], strict=False)
    squares = [Fraction(entry) ** 2 / (u * v) for entry, u, v in both]
    aside = zip(bands.diagonal, [0, *bands.beside], [*bands.beside, 0], multipliers, strict=True)
    most = max(Fraction(middle + left + right) / u for middle, left, right, u in aside)
    least = 1 / Fraction(sum(u * load for u, load in zip(multipliers, bands.loads, strict=True)))
    try:
        ends = min(float(least), float(most)), float(most)
        found = inverse_root_diagonal(doubles_above(diagonal), doubles_below(squares), *ends)
    except OverflowError:  # a certificate may hold any numbers
        raise BadParameter("these numbers are out of the range of doubles", fix="use less extreme weights") from None
    trace = Fraction(fsum(found.tolist())) * (1 - Fraction(1, 2**52))  # the sum is rounded once
    return trace**2 / sum(multipliers)


def _weighted_columns(workload: LinearWorkload, multipliers: Sequence[int]) -> IntegerMatrix:
    """Σ u_j·f_j·f_jᵀ."""
    if workload.basis is None:
        size = workload.cells
        return IntegerMatrix([[multipliers[i] if i == j else 0 for j in range(size)] for i in range(size)], size)
    basis = workload.basis
    scaled = IntegerMatrix([[e * u for e, u in zip(row, multipliers, strict=True)] for row in basis.rows])
    return scaled @ basis.transposed()


def squared_sensitivity(parts: Sequence[tuple[LinearWorkload, IntegerMatrix]], groups: int = 1, rows: int = 1) -> int:
    """At least ‖A·Δ‖² for every change Δ of at most `groups` cells by at most `rows` each.

    A is the Kronecker product of the T·F of all parts, and X = AᵀA. Then ΔᵀXΔ ≤ rows²·Σ |X_ij| over the pairs of the
    cells that change, which is at most rows²·groups times the largest sum of `groups` entries of a row of |X|; and
    ‖A·Δ‖ ≤ rows·groups times the longest column of A.

    Args:
        parts: For each factor its workload and G = TᵀT.
        groups: The most cells that a unit is in.
        rows: The most that it adds to one of them.

    >>> from leastnoise.model.linear_workloads import IdentityWorkload
    >>> squared_sensitivity([(IdentityWorkload(3), IntegerMatrix([[4, 1, 0], [1, 4, 1], [0, 1, 4]]))], groups=2)
    10
    """
    longest = 1
    tables = []
    for workload, gram in parts:
        table = gram if workload.basis is None else workload.basis.transposed() @ gram @ workload.basis
        longest *= max(table.diagonal())
        tables.append(table)
    if groups == 1:
        return rows**2 * longest
    if len(tables) == 1:
        together = tables[0].largest_row_sum(groups)
    else:  # the k-th largest entry of a row of the product is at most that of the rows of k-th largest entries
        best = [1]
        for table in tables:
            sorted_rows = [nlargest(groups, map(abs, row)) for row in table.rows]
            tops = [max(row[k] for row in sorted_rows) for k in range(len(sorted_rows[0]))]
            best = nlargest(groups, (one * other for one in best for other in tops))
        together = sum(best)
    return rows**2 * min(groups * together, groups**2 * longest)


def sensitivity_of(parts: Sequence[StrategyPart], norm: str, groups: int, rows: int) -> int:
    """The square of the largest change of what is measured: in the ℓ2 norm, or in the ℓ1 norm.

    ‖A·Δ‖₁ ≤ Σ|Δ_j|·‖A_j‖₁, and the columns of a Kronecker product have the products of the norms of theirs.
    """
    if norm == "l2":
        return squared_sensitivity([(part.workload, part.gram) for part in parts], groups, rows)
    best = [1]
    for part in parts:
        basis = part.workload.basis
        written = part.strategy if basis is None else part.strategy @ basis
        lengths = nlargest(groups, written.column_sizes())
        best = nlargest(groups, (one * other for one in best for other in lengths))
    return (rows * sum(best)) ** 2


@dataclass(frozen=True)
class StrategyPart:
    """A strategy for one workload, with what proves its error and its bound. Nothing of it is believed.

    Args:
        workload: What is asked.
        weights: How much the squared error of each answer counts; None for ones.
        strategy: T, whole numbers.
        inverse: Row i holds the first i + 1 entries of row i of N ≈ G⁻¹, times `denominator`.
        denominator: Above zero.
        closeness: ‖I − G·N‖ is at most 2^-closeness.
        dual: D in the same form, up to a factor; empty where `multipliers` prove the bound alone, or nothing does.
        multipliers: u, for the bound.
        answer_weights: ω ≥ 0 for each answer: max c_k·e_k ≥ Σ ω_k·c_k·e_k/Σω. Only for the goal "largest".
    """

    workload: LinearWorkload
    weights: Weights | None
    strategy: IntegerMatrix
    inverse: IntegerMatrix
    denominator: int
    closeness: int
    dual: IntegerMatrix | None = None
    multipliers: tuple[int, ...] = ()
    answer_weights: Weights = ()

    def __post_init__(self) -> None:
        """Refuse parts that are none, and make the workload again from what it says of itself."""
        if not isinstance(self.workload, LinearWorkload):
            raise BadCertificate("a strategy answers a workload", given=type(self.workload).__name__, fix="name one")
        again = workload_from_dict(self.workload.to_dict())
        if type(again) is not type(self.workload):
            raise BadCertificate("this workload is not in the vocabulary", fix="use one of those that there are")
        rank = again.rank
        weights = None if self.weights is None else as_rationals(self.weights, "weights", again.answers)
        if weights is not None and (min(weights) < 0 or not any(weights)):
            raise BadCertificate("weights are at least zero, and not all zero", fix="leave them out for ones")
        strategy = _matrix(self.strategy, "strategy")
        if strategy is None or strategy.shape[1] != rank:
            raise BadCertificate(f"a row of the strategy has {rank} entries", fix="plan the strategy again")
        for name in ("inverse", "dual"):
            table = _matrix(getattr(self, name), name, symmetric=True)
            if table is None if name == "inverse" else table is not None and len(table) != rank:
                raise BadCertificate(f"{name} is a triangle of {rank} rows", fix="plan the strategy again")
            object.__setattr__(self, name, table)
        if len(self.inverse) != rank:
            raise BadCertificate(f"inverse is a triangle of {rank} rows", fix="plan the strategy again")
        denominator, closeness = as_places((self.denominator, self.closeness), "denominator and closeness")
        multipliers = as_places(self.multipliers, "multipliers", again.cells if self.multipliers else 0)
        shares = as_rationals(self.answer_weights, "answer_weights", again.answers if self.answer_weights else 0)
        if denominator == 0 or closeness not in _CLOSENESS or (shares and (min(shares) < 0 or not any(shares))):
            raise BadCertificate("denominator, closeness and answer_weights are above zero", fix="plan again")
        for name, value in {
            "workload": again,
            "weights": weights,
            "strategy": strategy,
            "denominator": denominator,
            "closeness": closeness,
            "multipliers": multipliers,
            "answer_weights": shares,
        }.items():
            object.__setattr__(self, name, value)

    @cached_property
    def gram(self) -> IntegerMatrix:
        """G = TᵀT."""
        return self.strategy.transposed() @ self.strategy

    @cached_property
    def precision(self) -> Precision:
        """G⁻¹ up to a proven error.

        Raises:
            BadParameter: N is too far from it.
        """
        return Precision(self.gram, self.inverse, self.denominator, self.closeness)

    @cached_property
    def answer_errors(self) -> list[Fraction]:
        """The squared error of each answer at σ = 1, rounded up."""
        return answer_errors(self.precision, self.workload)

    def form(self, row: Sequence[int]) -> Fraction:
        """At least w·G⁻¹·wᵀ for a row w of whole numbers."""
        wanted = IntegerMatrix([list(row)])
        return (wanted @ self.inverse).inner(wanted) * self.precision.factor

    @cached_property
    def largest_error(self) -> Fraction:
        """The largest squared error of an answer at σ = 1, rounded up; no list of all answers is made."""
        precision, workload = self.precision, self.workload
        return int(_forms(precision, workload).max()) * precision.factor / workload.below**2

    @cached_property
    def largest_coefficients(self) -> list[Fraction]:
        """For each answer at least every |a_l|, where Σ a_l·y_l is its least squares estimate.

        Where there are many answers it is only √s ≥ ‖a‖, s its squared error; else |m·N·t| and what that leaves open:
        |m·(G⁻¹ − N)·t| ≤ e/(1 − e)·√(m·N·m)·√(t·N·t), and t·N·t ≤ (1 + e)·t·G⁻¹·t ≤ 1 + e.
        """
        errors = self.answer_errors
        if self.workload.answers * len(self.strategy) > _MOST_COEFFICIENTS:
            roots = {error: sqrt_above(error) for error in set(errors)}
            return [roots[error] for error in errors]
        coefficients, open_yet = self.coefficients()
        below = self.precision.denominator
        return [Fraction(max(row)) / below + rest for row, rest in zip(coefficients, open_yet, strict=True)]

    def coefficients(self) -> tuple[list[list[int]], list[Fraction]]:
        """|m·N·t| for each answer m and row t, times the denominator of N, and for each answer what it may be off."""
        precision = self.precision
        estimates = (self.strategy @ precision.inverse).array()
        found = abs(self.workload.evaluate(estimates)).T.tolist()
        share = 2 * precision.off / (1 - precision.off)
        return found, [share * sqrt_above(error) for error in self.answer_errors]

    @cached_property
    def largest_coefficient(self) -> Fraction:
        """The largest of them, or √s for the largest error."""
        if self.workload.answers * len(self.strategy) > _MOST_COEFFICIENTS:
            return sqrt_above(self.largest_error)
        return max(self.largest_coefficients)

    def error(self, goal: str) -> Fraction:
        """The weighted error at σ = 1, rounded up: of all answers in sum, or the largest."""
        if goal == "total":
            return total_error(self.precision, self.workload, self.weights)
        if self.weights is None:
            return self.largest_error
        return max(weight * error for weight, error in zip(self.weights, self.answer_errors, strict=True))

    def bound(self, goal: str) -> Fraction:
        """What no strategy of sensitivity one beats; zero where nothing is proven."""
        if self.dual is None and not self.multipliers:
            return Fraction(0)
        weights, total = self.weights, Fraction(1)
        if goal == "largest":
            if not self.answer_weights:
                raise BadCertificate("a bound on the largest error needs weights of the answers", fix="plan again")
            total = sum(self.answer_weights, Fraction(0))
            ones = weights or (Fraction(1),) * self.workload.answers
            weights = tuple(share * one for share, one in zip(self.answer_weights, ones, strict=True))
        if self.dual is None:
            return banded_bound(self.workload, self.multipliers, weights) / total
        return least_error(self.workload, self.dual, self.multipliers, weights) / total

    def fields(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "workload": self.workload.to_dict(),
            "weights": None if self.weights is None else [str(weight) for weight in self.weights],
            "strategy": [list(row) for row in self.strategy],
            "inverse": _triangle(self.inverse),
            "denominator": self.denominator,
            "closeness": self.closeness,
            "dual": [] if self.dual is None else _triangle(self.dual),
            "multipliers": list(self.multipliers),
            "answer_weights": [str(weight) for weight in self.answer_weights],
        }


def _matrix(given: Any, name: str, symmetric: bool = False) -> IntegerMatrix | None:
    """A matrix of its own, from one or from rows of whole numbers; None where there are no rows."""
    if type(given) is IntegerMatrix:
        if symmetric and given != given.transposed():
            raise BadCertificate(f"{name} is symmetric", fix="plan the strategy again")
        return given.copied()
    if given is None:
        return None
    table = as_whole_table(given, name)
    widths = range(1, len(table) + 1) if symmetric else [len(row) for row in table[:1]] * len(table)
    if [len(row) for row in table] != list(widths):
        raise BadCertificate(f"the rows of {name} have other lengths", fix="plan the strategy again")
    if not table:
        return None
    return IntegerMatrix.symmetric(table) if symmetric else IntegerMatrix(table)


def _triangle(matrix: IntegerMatrix) -> list[list[int]]:
    return [list(row[: i + 1]) for i, row in enumerate(matrix)]


def strategy_error(parts: Sequence[StrategyPart], goal: str, sensitivity: int) -> Fraction:
    """The error of all parts together, for noise that makes one unit's change as large as one standard deviation."""
    return sensitivity * prod((part.error(goal) for part in parts), start=Fraction(1))


def strategy_bound(parts: Sequence[StrategyPart], goal: str, rows: int) -> Fraction:
    """What no strategy beats for units that may put all their rows into any one cell."""
    return rows**2 * prod((part.bound(goal) for part in parts), start=Fraction(1))

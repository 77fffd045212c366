"""What a strategy costs and what no strategy can beat, in whole-number arithmetic.

A strategy for a workload W = M·F (`linear_workloads`) is a whole matrix T: T·F·x is released with independent
Gaussian noise on each number, and every answer is read off by least squares. With G = TᵀT and noise of variance σ²
the weighted squared error of all answers is σ²·tr(V·G⁻¹). One unit that changes cell j alone by one changes T·F·x by
√(f_jᵀ·G·f_j).

* **Error.** For a symmetric N ≈ G⁻¹ let E = I − G·N. Then G⁻¹ = 2N − N·G·N + Eᵀ·G⁻¹·E, so that with ‖E‖² ≤ 1/4

      0 ≤ w·G⁻¹·wᵀ − w·(2N − N·G·N)·wᵀ ≤ 2·‖N‖·‖E‖²·‖w‖²      for every row w.

* **Bound.** Let Z be any positive definite matrix with f_jᵀ·Z·f_j ≤ 1 for all cells j. For every symmetric D and
every
  u ≥ 0, tr(V·Z⁻¹) ≥ tr(V·D)²/κ with κ = Σ u_j + Σ |H·R·Hᵀ|, R = D·V·D − Σ u_j·f_j·f_jᵀ, where H is the inverse of a
  square of columns of F. (The second sum runs over all entries.)

Proofs: docs/theory/strategy.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from heapq import nlargest
from math import prod
from typing import Any

from leastnoise.errors import BadCertificate, BadParameter
from leastnoise.exact.enclosures import sqrt_above
from leastnoise.exact.integer_matrices import IntegerMatrix
from leastnoise.model.certificate_form import as_places, as_rationals, as_whole_table
from leastnoise.model.linear_workloads import LinearWorkload, Weights, workload_from_dict

__all__ = [
    "GOALS",
    "NORMS",
    "Precision",
    "StrategyPart",
    "Table",
    "answer_errors",
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

Table = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Precision:
    """G⁻¹ up to a proven error: S/denominator ≤ G⁻¹ ≤ S/denominator + slack·I in the order of symmetric matrices.

    Args:
        gram: G = TᵀT.
        inverse: N, symmetric, over `denominator`.
        denominator: A whole number above zero.

    Raises:
        BadParameter: N is too far from the inverse of G.
    """

    gram: IntegerMatrix
    inverse: IntegerMatrix
    denominator: int
    product: IntegerMatrix  # G·N
    off: Fraction  # ‖E‖² in the Frobenius norm
    slack: Fraction

    @staticmethod
    def of(gram: IntegerMatrix, inverse: IntegerMatrix, denominator: int) -> Precision:
        """Multiply out, and refuse an N that is too far off."""
        product, size = gram @ inverse, gram.shape[0]
        one = IntegerMatrix([[denominator if i == j else 0 for j in range(size)] for i in range(size)], size)
        rest = one - product
        off = Fraction(rest.inner(rest), denominator**2)
        if off > Fraction(1, 4):
            raise BadParameter("the inverse is not that of the strategy", fix="plan the strategy again")
        slack = 2 * Fraction(inverse.largest_row_sum(), denominator) * off
        return Precision(gram, inverse, denominator, product, off, slack)

    def middle(self) -> IntegerMatrix:
        """2N − N·G·N, over the square of the denominator."""
        return 2 * self.denominator * self.inverse - self.inverse @ self.product


def total_error(precision: Precision, workload: LinearWorkload, weights: Weights | None = None) -> Fraction:
    """At least tr(V·G⁻¹), and hardly more: the error of all answers at σ = 1.

    >>> from leastnoise.model.linear_workloads import PrefixSums
    >>> unit = IntegerMatrix([[1, 0], [0, 1]])
    >>> total_error(Precision.of(unit, unit, 1), PrefixSums(2))
    Fraction(3, 1)
    """
    gram, common = workload.gram(weights)
    mapped, denominator = gram @ precision.inverse, precision.denominator
    straight = 2 * denominator * sum(mapped.diagonal()) - mapped.inner(precision.product.transposed())
    rest = precision.slack * sum(gram.diagonal())
    return (Fraction(straight, denominator**2) + rest) / common


def answer_errors(precision: Precision, workload: LinearWorkload) -> list[Fraction]:
    """For each answer at least m·G⁻¹·mᵀ, and hardly more: its squared error at σ = 1."""
    forms = workload.forms(precision.middle().array())
    below = precision.denominator**2 * workload.below**2
    lengths = workload.lengths()
    return [Fraction(int(f), below) + precision.slack * length for f, length in zip(forms, lengths, strict=True)]


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
        together = max(sum(nlargest(groups, map(abs, row))) for row in tables[0].rows)
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
        strategy, basis = IntegerMatrix(part.strategy), part.workload.basis
        written = strategy if basis is None else strategy @ basis
        lengths = [sum(map(abs, column)) for column in written.transposed().rows]
        best = nlargest(groups, (one * other for one in best for other in nlargest(groups, lengths)))
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
        dual: D in the same form, up to a factor; empty where there is no bound.
        multipliers: u, for the bound.
        answer_weights: ω ≥ 0 for each answer: max c_k·e_k ≥ Σ ω_k·c_k·e_k/Σω. Only for the goal "largest".
    """

    workload: LinearWorkload
    weights: Weights | None
    strategy: Table
    inverse: Table
    denominator: int
    dual: Table = ()
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
        strategy = as_whole_table(self.strategy, "strategy")
        if not strategy or {len(row) for row in strategy} != {rank}:
            raise BadCertificate(f"a row of the strategy has {rank} entries", fix="plan the strategy again")
        for name in ("inverse", "dual"):
            table = as_whole_table(getattr(self, name), name)
            if (table or name == "inverse") and [len(row) for row in table] != list(range(1, rank + 1)):
                raise BadCertificate(f"{name} is a triangle of {rank} rows", fix="plan the strategy again")
            object.__setattr__(self, name, table)
        (denominator,) = as_places((self.denominator,), "denominator")
        multipliers = as_places(self.multipliers, "multipliers", again.cells if self.multipliers else 0)
        shares = as_rationals(self.answer_weights, "answer_weights", again.answers if self.answer_weights else 0)
        if denominator == 0 or (shares and (min(shares) < 0 or not any(shares))):
            raise BadCertificate("denominator and answer_weights are above zero", fix="plan the strategy again")
        for name, value in {
            "workload": again,
            "weights": weights,
            "strategy": strategy,
            "denominator": denominator,
            "multipliers": multipliers,
            "answer_weights": shares,
        }.items():
            object.__setattr__(self, name, value)

    @cached_property
    def gram(self) -> IntegerMatrix:
        """G = TᵀT."""
        strategy = IntegerMatrix(self.strategy)
        return strategy.transposed() @ strategy

    @cached_property
    def precision(self) -> Precision:
        """G⁻¹ up to a proven error.

        Raises:
            BadParameter: N is too far from it.
        """
        return Precision.of(self.gram, IntegerMatrix.symmetric(self.inverse), self.denominator)

    @cached_property
    def answer_errors(self) -> list[Fraction]:
        """The squared error of each answer at σ = 1, rounded up."""
        return answer_errors(self.precision, self.workload)

    def form(self, row: Sequence[int]) -> Fraction:
        """At least w·G⁻¹·wᵀ for a row w of whole numbers: 2·w·N·wᵀ − (N·w)ᵀ·G·(N·w), and what that leaves open."""
        precision, wanted = self.precision, IntegerMatrix([list(row)])
        mapped = wanted @ precision.inverse
        straight = 2 * precision.denominator * mapped.inner(wanted) - (mapped @ precision.gram).inner(mapped)
        return Fraction(straight, precision.denominator**2) + precision.slack * sum(entry**2 for entry in row)

    @cached_property
    def largest_error(self) -> Fraction:
        """The largest squared error of an answer at σ = 1, rounded up; no list of all answers is made."""
        middle, below = self.precision.middle().array(), self.precision.denominator**2 * self.workload.below**2
        return Fraction(int(self.workload.forms(middle).max()), below) + self.precision.slack * self.workload.longest

    @cached_property
    def largest_coefficients(self) -> list[Fraction]:
        """For each answer at least every |a_l|, where Σ a_l·y_l is its least squares estimate.

        Where there are many answers it is only √e ≥ ‖a‖; else m·S·tᵀ, with at most slack·‖m‖·‖t‖ left open.
        """
        errors, rows = self.answer_errors, IntegerMatrix(self.strategy)
        if self.workload.answers * len(self.strategy) > _MOST_COEFFICIENTS:
            roots = {error: sqrt_above(error) for error in set(errors)}
            return [roots[error] for error in errors]
        estimates = (rows @ self.precision.middle()).array()
        coefficients = abs(self.workload.evaluate(estimates)).max(axis=0)
        longest = max((rows @ rows.transposed()).diagonal())
        lengths = self.workload.lengths()
        slack = [self.precision.slack * sqrt_above(length * longest) for length in lengths]
        below = self.precision.denominator**2
        return [Fraction(most) / below + rest for most, rest in zip(coefficients, slack, strict=True)]

    @cached_property
    def largest_coefficient(self) -> Fraction:
        """The largest of them, or √e for the largest error."""
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
        if not self.dual:
            return Fraction(0)
        dual, weights, total = IntegerMatrix.symmetric(self.dual), self.weights, Fraction(1)
        if goal == "largest":
            if not self.answer_weights:
                raise BadCertificate("a bound on the largest error needs weights of the answers", fix="plan again")
            total = sum(self.answer_weights, Fraction(0))
            ones = weights or (Fraction(1),) * self.workload.answers
            weights = tuple(share * one for share, one in zip(self.answer_weights, ones, strict=True))
        return least_error(self.workload, dual, self.multipliers, weights) / total

    def fields(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "workload": self.workload.to_dict(),
            "weights": None if self.weights is None else [str(weight) for weight in self.weights],
            "strategy": [list(row) for row in self.strategy],
            "inverse": [list(row) for row in self.inverse],
            "denominator": self.denominator,
            "dual": [list(row) for row in self.dual],
            "multipliers": list(self.multipliers),
            "answer_weights": [str(weight) for weight in self.answer_weights],
        }


def strategy_error(parts: Sequence[StrategyPart], goal: str, sensitivity: int) -> Fraction:
    """The error of all parts together, for noise that makes one unit's change as large as one standard deviation."""
    return sensitivity * prod((part.error(goal) for part in parts), start=Fraction(1))


def strategy_bound(parts: Sequence[StrategyPart], goal: str, rows: int) -> Fraction:
    """What no strategy beats for units that may put all their rows into any one cell."""
    return rows**2 * prod((part.bound(goal) for part in parts), start=Fraction(1))

"""Linear workloads: many sums of cells of one histogram (ranges, prefix sums, any whole matrix), released together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import floor
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from leastnoise.composition.concentrated import rho_within
from leastnoise.data import Axis, Contribution, CountRows, CountUnits, Predicate
from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike, read_integer
from leastnoise.ledger.record import Json
from leastnoise.mechanisms import DiscreteGaussian, Geometric, KNorm, LinearMapProblem, VectorLaplace, plan_for
from leastnoise.mechanisms.histogram.mapped_noise import MappedNoise, Matrix
from leastnoise.mechanisms.histogram.noisy_cells import Block, NoisyCells
from leastnoise.mechanisms.numeric.formulas import scaled
from leastnoise.mechanisms.numeric.integer_noise import LEVEL
from leastnoise.model.events import Approximate, Pure
from leastnoise.model.mechanism import ErrorEstimate, Mechanism
from leastnoise.model.sensitivity import Sensitivity
from leastnoise.release.axes import axis_labels
from leastnoise.release.counts import common_parameters, described, options_in_steps, sensitivity_of, whole_numbers
from leastnoise.release.display import number
from leastnoise.release.method import Method
from leastnoise.release.query import Query
from leastnoise.release.tidy import TidyTable

if TYPE_CHECKING:
    from leastnoise.release.asking import Asking

__all__ = ["Workload", "WorkloadProblem", "named_matrix", "read_matrix"]

_MOST_ENTRIES = 4_000_000
_MOST_ANSWERS_FOR_BODIES = 8  # beyond this the volumes of bodies take longer than a plan may
_MOST_CELLS_FOR_BODIES = 16


@dataclass(frozen=True)
class WorkloadProblem:
    """F·x is asked for, where one unit changes x by at most `sensitivity` in the ℓ₁ norm; the cost is the ℓ₁ error."""

    matrix: Matrix
    epsilon: Exact
    delta: Fraction
    sensitivity: int

    def candidates(self) -> Iterator[Mechanism]:
        """Noise on the answers, noise on the cells, and for small maps noise shaped like the columns of F."""
        share = self.epsilon / self.sensitivity
        yield MappedNoise(self.matrix, Geometric(self.epsilon, self.sensitivity), Pure(self.epsilon))
        if len(self.matrix) <= _MOST_ANSWERS_FOR_BODIES and len(self.matrix[0]) <= _MOST_CELLS_FOR_BODIES:
            yield from LinearMapProblem(self.matrix, share).candidates()
        else:
            yield VectorLaplace.for_linear_map([list(row) for row in self.matrix], share)
        rho = rho_within(self.epsilon, self.delta) if self.delta else Fraction(0)
        if rho:
            event = Approximate(self.epsilon, self.delta)
            yield MappedNoise(self.matrix, DiscreteGaussian.for_rho(rho, self.sensitivity), event)
            longest = max(sum(entry**2 for entry in column) for column in zip(*self.matrix, strict=True))
            noise = DiscreteGaussian(self.sensitivity**2 * longest / (2 * rho), self.sensitivity)
            yield NoisyCells((Block(noise, len(self.matrix), event),))

    def expected_loss(self, mechanism: Mechanism) -> Enclosure:
        """The expected sum of absolute errors."""
        if isinstance(mechanism, KNorm):
            return mechanism.expected_error()
        if isinstance(mechanism, NoisyCells):
            return scaled(mechanism.error().expected, len(self.matrix))
        return mechanism.error().expected

    def reaches(self, mechanism: Mechanism) -> list[Fraction]:
        """For each answer an error that it does not exceed with 95 % probability."""
        if isinstance(mechanism, MappedNoise):
            return mechanism.reaches()
        if isinstance(mechanism, NoisyCells):
            far = mechanism.error().quantiles[LEVEL]
        elif isinstance(mechanism, VectorLaplace):
            far = Fraction(Geometric(mechanism.epsilon, mechanism.sensitivity).quantile())
        else:
            far = mechanism.error().quantiles[LEVEL]  # of all answers together, so of each
        return [far] * len(self.matrix)


@dataclass(frozen=True, repr=False)
class Workload(Query):
    """Whole linear combinations of the counts of a histogram.

    Attributes:
        dataset: The table with its ledger.
        contribution: What one unit may add to the histogram.
        axes: The cells of the histogram.
        matrix: One row per answer, one column per cell.
        names: What the answers are called.
        what: What kind of workload.
        of: "rows" or "units".
        where: Which rows count; None for all.
    """

    dataset: Asking
    contribution: Contribution
    axes: tuple[Axis, ...]
    matrix: Matrix
    names: tuple[str, ...]
    what: str
    of: str
    where: Predicate | None

    @property
    def question(self) -> str:
        """What is asked."""
        return described(f"{self.what} ({len(self.matrix)} answers) of the count of {self.of}", self.axes, self.where)

    def parameters(self) -> dict[str, Json]:
        """As JSON."""
        common = common_parameters(self.contribution, self.axes, self.where)
        return {**common, "of": self.of, "matrix": [list(row) for row in self.matrix], "names": list(self.names)}

    def sensitivity(self) -> Sensitivity:
        """Of the histogram."""
        each = 1 if self.of == "units" else self.contribution.rows_per_unit
        return sensitivity_of(self.contribution, self.axes, each, self.of)

    def method(self, epsilon: Exact, delta: Fraction) -> Method:
        """The candidate with the least expected error in sum."""
        sensitivity = self.sensitivity()
        problem = WorkloadProblem(self.matrix, epsilon, delta, sensitivity.l1)
        plan = plan_for(problem)
        best, expected = plan.best, plan.options[0].expected
        reaches, reason = problem.reaches(best), best.why()
        share, single = Fraction(1, len(self.matrix)), sensitivity.l1 == 1
        return Method(
            mechanism=best,
            event=best.privacy if single or isinstance(best, MappedNoise | NoisyCells) else Pure(epsilon),
            error=ErrorEstimate("absolute", scaled(expected, share), {LEVEL: max(reaches)}, attained=False),
            sensitivity=sensitivity,
            write=whole_numbers,
            show=partial(self.show, reaches),
            reason=reason,
            lower_bound=None if reason.lower_bound is None or not single else scaled(reason.lower_bound, share),
            options=options_in_steps(plan.options, share),
            notes=("the expected error is the average over the answers, the 95 % error that of the worst answer",),
        )

    def half_error(self, epsilon: Exact, delta: Fraction) -> Exact | None:
        """Twice ε, if that is enough: finer steps would compute the errors of all candidates many times over."""
        now, then = (self.method(e, delta).error.expected.upper for e in (epsilon, 2 * epsilon))
        return 2 * epsilon if 2 * then <= now else None

    def read(self) -> NDArray[Any]:
        """F·x."""
        measure = CountUnits() if self.of == "units" else CountRows()
        (counts,) = self.dataset.table.aggregate(self.contribution, self.axes, (measure,), self.where)
        cells = np.array([int(count) for count in np.ravel(counts)], dtype=object)
        return cast("NDArray[Any]", np.array(self.matrix, dtype=object) @ cells)

    def show(self, reaches: list[Fraction], drawn: list[int]) -> TidyTable:
        """The answers with their intervals."""
        pairs = list(zip(drawn, reaches, strict=True))
        columns = {
            "query": self.names,
            "value": tuple(drawn),
            "low": tuple(k - floor(far) for k, far in pairs),
            "high": tuple(k + floor(far) for k, far in pairs),
        }
        return TidyTable(columns, ("query",))


def named_matrix(kind: str, axes: tuple[Axis, ...]) -> tuple[Matrix, tuple[str, ...]]:
    """The matrix and the names of "prefix sums" or "ranges" along one axis.

    Raises:
        BadParameter: The kind is unknown, or there are several axes.
        TooLarge: There would be too many answers.
    """
    if kind not in ("prefix sums", "ranges"):
        raise BadParameter("unknown workload", given=kind, fix='pass "prefix sums", "ranges" or a matrix')
    if len(axes) != 1:
        raise BadParameter(f"{kind} run along one column", given=len(axes), fix="name one column in `by`")
    labels = [number(label) for label in axis_labels(axes[0])]
    size = len(labels)
    starts = [0] if kind == "prefix sums" else list(range(size))
    spans = [(first, last) for first in starts for last in range(first, size)]
    if len(spans) * size > _MOST_ENTRIES:
        raise TooLarge("the workload has too many answers", given=len(spans), fix="use fewer keys or bins")
    matrix = tuple(tuple(int(first <= cell <= last) for cell in range(size)) for first, last in spans)
    return matrix, tuple(labels[a] if a == b else f"{labels[a]} … {labels[b]}" for a, b in spans)


def read_matrix(matrix: Sequence[Sequence[NumberLike]] | NDArray[Any], cells: int) -> Matrix:
    """A matrix of whole numbers with one column per cell."""
    listed = matrix.tolist() if isinstance(matrix, np.ndarray) else list(matrix)
    rows = [list(row) if isinstance(row, Sequence) and not isinstance(row, str) else None for row in listed]
    if not rows or any(row is None or len(row) != cells for row in rows):
        raise BadParameter(f"the matrix must have {cells} columns, one for each cell", fix="add zeros where needed")
    if len(rows) * cells > _MOST_ENTRIES:
        raise TooLarge("the matrix has too many entries", given=len(rows) * cells, fix="ask for fewer answers")
    found = tuple(tuple(read_integer(entry, "matrix") for entry in row) for row in rows if row is not None)
    if not any(any(row) for row in found):
        raise BadParameter("the matrix is zero", fix="a known answer needs no noise")
    return found

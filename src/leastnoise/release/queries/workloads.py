"""Linear workloads: many sums of cells of one histogram (ranges, prefix sums, any whole matrix), released together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import floor
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from leastnoise.composition.price import gaussian_within, pure_within
from leastnoise.data import Axis
from leastnoise.errors import BadParameter, NumberTooLarge, TooLarge
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.formulas import larger, scaled
from leastnoise.exact.matrices import RationalMatrix
from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike, read_integer
from leastnoise.ledger.record import Json
from leastnoise.mechanisms import (
    Geometric,
    KNorm,
    LinearMapProblem,
    Staircase,
    VectorLaplace,
    plan_for,
)
from leastnoise.mechanisms.histogram.independent_noise import (
    WIDEST_STAIRS,
    IndependentNoise,
    NoiseBlock,
    gaussian_noise,
    is_drawable,
    repeated,
)
from leastnoise.mechanisms.histogram.mapped_noise import MappedNoise, Matrix
from leastnoise.mechanisms.lower_bounds import lattice_packing_bound
from leastnoise.mechanisms.vector import CrossPolytope
from leastnoise.model.events import Event, GaussianPrivacy, Pure
from leastnoise.model.limits import (
    LARGEST_ENTRY,
    MOST_CELLS,
    MOST_CELLS_FOR_BODIES,
    MOST_ENTRIES,
    MOST_ROWS_OF_BODIES,
)
from leastnoise.model.mechanism import LEVEL, ErrorEstimate, Mechanism
from leastnoise.model.privacy import Privacy
from leastnoise.model.sensitivity import Sensitivity
from leastnoise.model.show import number
from leastnoise.release.arguments import axis_labels, take
from leastnoise.release.plan import AnswerPlan
from leastnoise.release.queries.counts import options_in_steps, whole_numbers
from leastnoise.release.queries.query import CountQuery
from leastnoise.release.tables import TidyTable

__all__ = ["Workload", "WorkloadProblem", "named_matrix", "read_matrix"]

_LARGEST_FOR_BODIES = 8  # entries of a matrix up to which bodies are quick to find


@dataclass(frozen=True)
class WorkloadProblem:
    """F·x is asked for, x a histogram; the cost is the ℓ₁ error.

    One unit changes at most L cells of x, each by at most m. So F·x changes by at most m times the sum of the L largest
    ℓ₁ norms of columns of F, in the ℓ₁ norm. In the ℓ₂ norm the square of the change is at most m²·L times the sum of
    the L largest squared norms of columns (Cauchy and Schwarz).

    Args:
        matrix: F, one row per answer.
        price: The privacy of the whole release, in any currency.
        sensitivity: Of x.
        reachable: Whether one unit can change each cell alone, any number of units one after the other.
    """

    matrix: Matrix
    price: Privacy
    sensitivity: Sensitivity
    reachable: bool = False

    def candidates(self) -> Iterator[Mechanism]:
        """Noise on the answers, noise on the cells, and for small maps noise shaped like the columns of F."""
        yield from self._pure()
        mu_squared = gaussian_within(self.price)
        cells, each = self.sensitivity.cells, self.sensitivity.each
        on_cells = gaussian_noise(mu_squared, cells * each**2, each)
        if on_cells is not None:
            yield MappedNoise(self.matrix, on_cells, GaussianPrivacy(mu_squared))
        lengths = sorted((sum(entry**2 for entry in column) for column in self._columns), reverse=True)
        on_answers = gaussian_noise(mu_squared, each**2 * cells * sum(lengths[:cells]), each)
        if on_answers is not None:
            yield IndependentNoise((NoiseBlock(on_answers, len(self.matrix), GaussianPrivacy(mu_squared)),))

    def _pure(self) -> Iterator[Mechanism]:
        most, cells, each = self.sensitivity.l1, self.sensitivity.cells, self.sensitivity.each

        def event_on_cells(epsilon: Exact) -> Event:
            return repeated(Geometric(epsilon / cells, each).event, cells, Pure(epsilon))

        epsilon = pure_within(self.price, event_on_cells)
        if is_drawable(most, epsilon):
            yield MappedNoise(self.matrix, Geometric(epsilon, most), event_on_cells(epsilon))
        epsilon = pure_within(self.price)
        if is_drawable(most, epsilon):
            lengths = sorted((sum(map(abs, column)) for column in self._columns), reverse=True)
            yield VectorLaplace(epsilon, len(self.matrix), each * sum(lengths[:cells]))
            if self._has_bodies():
                yield from self._shaped(epsilon / most)

    def _shaped(self, share: Exact) -> Iterator[KNorm]:
        """Noise shaped like bodies that hold the columns; none where the noise would be too wide for them."""
        try:
            for mechanism in LinearMapProblem(self.matrix, share).candidates():
                if isinstance(mechanism, KNorm):
                    yield mechanism
        except NumberTooLarge:
            return

    @property
    def lower_bound(self) -> Enclosure | None:
        """The ℓ₁ error that no ε-private mechanism beats; None where that is not known.

        Each answer alone changes by f·k for the largest |entry| f of its row and every k = 1..m, so its error is at
        least f times that of the best staircase for m. Where the columns of F are independent, the packing bound for
        histograms that change by m in one cell is another one (docs/theory/releasing.md).
        """
        each = self.sensitivity.each
        if not self.price.is_pure or not self.reachable or each > WIDEST_STAIRS:
            return None
        largest = sum(max(map(abs, row)) for row in self.matrix)
        bound = scaled(Staircase(self.price.epsilon, each).moment(1), largest)
        count = len(self.matrix[0])
        if count <= len(self.matrix) <= MOST_ROWS_OF_BODIES and RationalMatrix(self.matrix).rank() == count:
            total = CrossPolytope(count).total(self.price.epsilon)
            bound = larger(bound, scaled(lattice_packing_bound(len(self.matrix), total), each))
        return bound

    @property
    def _columns(self) -> Iterator[tuple[int, ...]]:
        return zip(*self.matrix, strict=True)

    def _has_bodies(self) -> bool:
        return (
            1 < len(self.matrix) <= MOST_ROWS_OF_BODIES
            and len(self.matrix[0]) <= MOST_CELLS_FOR_BODIES
            and max(max(map(abs, row)) for row in self.matrix) <= _LARGEST_FOR_BODIES
        )

    def expected_loss(self, mechanism: Mechanism) -> Enclosure:
        """The expected sum of absolute errors."""
        if isinstance(mechanism, KNorm):
            return mechanism.expected_error()
        if isinstance(mechanism, IndependentNoise):
            return scaled(mechanism.error().expected, len(self.matrix))
        return mechanism.error().expected

    def reach(self, mechanism: Mechanism, level: Fraction) -> Fraction:
        """That of the worst answer."""
        return max(self.reaches(mechanism, level))

    def reaches(self, mechanism: Mechanism, level: Fraction = LEVEL) -> list[Fraction]:
        """For each answer an error that it does not exceed with this probability."""
        if isinstance(mechanism, MappedNoise):
            return mechanism.reaches(level)
        if isinstance(mechanism, IndependentNoise):
            far = Fraction(mechanism.blocks[0].noise.quantile(level))
        elif isinstance(mechanism, VectorLaplace):
            far = Fraction(Geometric(mechanism.epsilon, mechanism.sensitivity).quantile(level))
        else:
            far = cast(KNorm, mechanism).error(level).quantiles[level]  # of all answers together, so of each
        return [far] * len(self.matrix)


@dataclass(frozen=True, repr=False, kw_only=True)
class Workload(CountQuery):
    """Whole linear combinations of the counts of a histogram.

    Attributes:
        matrix: One row per answer, one column per cell.
        names: What the answers are called.
        what: What kind of workload.
    """

    recorded_as: ClassVar[str] = "Workload"
    shown_multiples: ClassVar[tuple[Fraction, ...]] = (Fraction(2),)  # each compares all candidates anew
    matrix: Matrix
    names: tuple[str, ...]
    what: str

    @property
    def question(self) -> str:
        return self.described(f"{self.what} ({len(self.matrix)} answers) of the count of {self.of}")

    def parameters(self) -> dict[str, Json]:
        return {**super().parameters(), "matrix": [list(row) for row in self.matrix], "names": list(self.names)}

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """The candidate with the least expected error in sum."""
        sensitivity = self.sensitivity_of_counts()
        problem = WorkloadProblem(self.matrix, price, sensitivity, self.reachable)
        ranking, bound = plan_for(problem), problem.lower_bound
        best, expected = ranking.best, ranking.options[0].expected
        reaches, share = partial(problem.reaches, best), Fraction(1, len(self.matrix))
        return AnswerPlan(
            mechanism=best,
            event=Pure(pure_within(price)) if isinstance(best, KNorm) else best.event,
            error=ErrorEstimate("absolute", scaled(expected, share), {LEVEL: max(reaches())}, attained=False),
            within=partial(problem.reach, best),
            sensitivity=sensitivity,
            encode=whole_numbers,
            to_table=partial(self.to_table, reaches),
            reason=best.reason(),
            lower_bound=None if bound is None else scaled(bound, share),
            options=options_in_steps(ranking.options, share),
            notes=("the expected error is the average over the answers, the other that of the worst answer",),
        )

    def read(self) -> NDArray[Any]:
        """F·x."""
        cells = np.array([int(count) for count in self.totals(self.counted)], dtype=object)
        return cast("NDArray[Any]", np.array(self.matrix, dtype=object) @ cells)

    def to_table(self, reaches: Callable[[Fraction], list[Fraction]], drawn: list[int], level: Fraction) -> TidyTable:
        """The answers with their intervals."""
        pairs = list(zip(drawn, reaches(level), strict=True))
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
    answers = size if kind == "prefix sums" else size * (size + 1) // 2
    require_size(answers, size)
    spans = [(first, last) for first in starts for last in range(first, size)]
    matrix = tuple((0,) * first + (1,) * (last + 1 - first) + (0,) * (size - 1 - last) for first, last in spans)
    return matrix, tuple(labels[a] if a == b else f"{labels[a]} … {labels[b]}" for a, b in spans)


def require_size(answers: int, cells: int) -> None:
    """Refuse a workload of more answers or entries than the limits."""
    if answers > MOST_CELLS or answers * cells > MOST_ENTRIES:
        raise TooLarge(
            f"a workload has at most {MOST_CELLS} answers and {MOST_ENTRIES} entries",
            given=f"{answers} answers from {cells} cells",
            fix="ask for fewer answers, or use fewer keys or bins",
        )


def read_matrix(matrix: Iterable[Iterable[NumberLike]] | NDArray[Any], cells: int) -> Matrix:
    """A matrix of whole numbers with one column per cell.

    Raises:
        BadParameter: It is no matrix, or zero.
        TooLarge: It has too many rows, or an entry is too large.
    """
    most = min(MOST_CELLS, MOST_ENTRIES // cells)
    rows = take(_listed(matrix), most, f"answers from {cells} cells")
    found = tuple(tuple(take(_listed(row), cells, "entries in a row of the matrix")) for row in rows)
    if not found or any(len(row) != cells for row in found):
        raise BadParameter(f"the matrix must have {cells} columns, one for each cell", fix="add zeros where needed")
    whole = tuple(tuple(_read_entry(entry) for entry in row) for row in found)
    if not any(any(row) for row in whole):
        raise BadParameter("the matrix is zero", fix="a known answer needs no noise")
    return whole


def _listed(given: object) -> Iterable[Any]:
    if isinstance(given, np.ndarray):
        return cast("list[Any]", given.tolist()) if given.ndim else ()
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise BadParameter("a matrix is a list of rows of whole numbers", given=given, fix="pass [[1, 0], [1, 1]]")
    return given


def _read_entry(entry: Any) -> int:
    whole = entry if type(entry) is int else read_integer(entry, "matrix")
    if abs(whole) > LARGEST_ENTRY:
        raise NumberTooLarge("an entry of the matrix is too large", fix=f"keep within ±{LARGEST_ENTRY}")
    return whole

"""Which mechanism answers a linear workload: strategies, noise on cells or on answers, bodies; by expected error.

Where the columns of the workload are independent, everything is compared by its exact expected squared error. Where
they are not, and the workload is small, noise shaped like a body that holds the columns is a candidate too. Its squares
have no closed form, so that there expected absolute errors are compared.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import cast

import numpy as np

from leastnoise.composition.cost import gaussian_within, pure_within
from leastnoise.errors import BadParameter, NumberTooLarge
from leastnoise.exact import Enclosure, Exact, larger, scaled, sqrt_enclosure
from leastnoise.mechanisms import Geometric, KNorm, LinearMapProblem, Staircase, VectorLaplace
from leastnoise.mechanisms.histogram.independent_noise import (
    WIDEST_STAIRS,
    IndependentNoise,
    NoiseBlock,
    gaussian_noise,
    is_drawable,
    repeated,
)
from leastnoise.mechanisms.histogram.mapped_noise import MappedNoise, Matrix
from leastnoise.mechanisms.lower_bounds import lattice_packing_bound, squares_bound
from leastnoise.mechanisms.strategy import (
    PureStrategyMechanism,
    StrategyMechanism,
    StrategyRelease,
    plan_pure_strategy,
    plan_strategy,
)
from leastnoise.mechanisms.vector import CrossPolytope
from leastnoise.model import (
    LEVEL,
    MOST_CELLS_FOR_BODIES,
    MOST_ROWS_OF_BODIES,
    Event,
    ExplicitWorkload,
    GaussianPrivacy,
    LinearWorkload,
    Mechanism,
    Privacy,
    Pure,
    Sensitivity,
    Weights,
)

__all__ = ["WorkloadProblem"]

_LARGEST_FOR_BODIES = 8  # entries of a matrix up to which bodies are quick to find
_MOST_WRITTEN = 1 << 14  # entries of a named workload up to which its matrix is written out
_MOST_SEARCHED = 1 << 24  # cells times the square of the independent answers, where these are fewer: seconds
_MOST_DIRECTIONS = 256  # cells up to which the bound on squares takes a fraction of a second
_UNWRITTEN = (BadParameter, NumberTooLarge, np.linalg.LinAlgError)


@dataclass(frozen=True)
class WorkloadProblem:
    """W·x is asked for, x a histogram.

    One unit changes at most L cells of x, each by at most m. So W·x changes by at most m times the sum of the L largest
    ℓ₁ norms of columns of W, in the ℓ₁ norm. In the ℓ₂ norm the square of the change is at most m²·L times the sum of
    the L largest squared norms of columns (Cauchy and Schwarz). What a strategy measures changes by
    `model.strategies.sensitivity_of`.

    Args:
        workload: W.
        price: The privacy of the whole release, in any currency.
        sensitivity: Of x.
        reachable: Whether one unit can change each cell alone, any number of units one after the other.
        weights: How much the squared error of each answer counts; None for ones.
        goal: "total" for the least weighted sum of squared errors, "largest" for the least largest one.
    """

    workload: LinearWorkload
    price: Privacy
    sensitivity: Sensitivity
    reachable: bool = False
    weights: Weights | None = None
    goal: str = "total"

    @cached_property
    def matrix(self) -> Matrix | None:
        """W, where it is small or was given as a matrix."""
        if isinstance(self.workload, ExplicitWorkload):
            return self.workload.matrix
        if self.workload.answers * self.workload.cells > _MOST_WRITTEN:
            return None
        columns = self.workload.evaluate(np.eye(self.workload.cells, dtype=int).astype(object))
        return tuple(tuple(map(int, row)) for row in columns.T)

    @cached_property
    def has_bodies(self) -> bool:
        """Whether bodies are candidates, so that absolute errors are compared; else the body is noise on the cells."""
        matrix, plain = self.matrix, self.weights is None and self.goal == "total"
        return (
            plain
            and matrix is not None
            and 1 < len(matrix) <= MOST_ROWS_OF_BODIES
            and len(matrix[0]) <= MOST_CELLS_FOR_BODIES
            and not self.workload.independent
            and max(max(map(abs, row)) for row in matrix) <= _LARGEST_FOR_BODIES
        )

    @property
    def is_searched(self) -> bool:
        """Whether a strategy is looked for; else there is noise on the cells and on the answers only."""
        workload = self.workload
        if isinstance(workload, ExplicitWorkload) and workload.answers < workload.cells:
            return workload.answers**2 * workload.cells <= _MOST_SEARCHED
        return workload.independent or workload.rank**2 * workload.cells <= _MOST_SEARCHED

    def candidates(self) -> Iterator[Mechanism]:
        """Noise on the cells and on the answers, strategies, and for small maps noise shaped like the columns of W."""
        mu_squared, cells, each = gaussian_within(self.price), self.sensitivity.cells, self.sensitivity.each
        if self.matrix is not None:
            yield from self._pure(self.matrix)
            on_cells = gaussian_noise(mu_squared, cells * each**2, each)
            if on_cells is not None:
                yield MappedNoise(self.matrix, on_cells, GaussianPrivacy(mu_squared))
            lengths = sorted((sum(entry**2 for entry in column) for column in _columns(self.matrix)), reverse=True)
            on_answers = gaussian_noise(mu_squared, each**2 * cells * sum(lengths[:cells]), each)
            if on_answers is not None:
                yield IndependentNoise((NoiseBlock(on_answers, len(self.matrix), GaussianPrivacy(mu_squared)),))
        if self.is_searched:
            yield from self._strategies(mu_squared)

    def _pure(self, matrix: Matrix) -> Iterator[Mechanism]:
        most, cells, each = self.sensitivity.l1, self.sensitivity.cells, self.sensitivity.each

        def event_on_cells(epsilon: Exact) -> Event:
            return repeated(Geometric(epsilon / cells, each).event, cells, Pure(epsilon))

        epsilon = pure_within(self.price, event_on_cells)
        if is_drawable(most, epsilon):
            yield MappedNoise(matrix, Geometric(epsilon, most), event_on_cells(epsilon))
        epsilon = pure_within(self.price)
        if is_drawable(most, epsilon):
            lengths = sorted((sum(map(abs, column)) for column in _columns(matrix)), reverse=True)
            yield VectorLaplace(epsilon, len(matrix), each * sum(lengths[:cells]))
            if self.has_bodies:
                yield from self._shaped(matrix, epsilon / most)

    def _shaped(self, matrix: Matrix, share: Exact) -> Iterator[KNorm]:
        """Noise shaped like bodies that hold the columns; none where the noise would be too wide for them."""
        try:
            for mechanism in LinearMapProblem(matrix, share).candidates():
                if isinstance(mechanism, KNorm):
                    yield mechanism
        except NumberTooLarge:
            return

    def _strategies(self, mu_squared: Fraction) -> Iterator[StrategyRelease]:
        """The best strategies found; none where one can't be written in whole numbers or its noise be drawn."""
        cells, each, epsilon = self.sensitivity.cells, self.sensitivity.each, pure_within(self.price)
        gaussian: StrategyMechanism | None = None
        if mu_squared > 0:
            with contextlib.suppress(*_UNWRITTEN):
                plan = plan_strategy(self.workload, weights=self.weights, goal=self.goal, groups=cells, rows=each)
                gaussian = StrategyMechanism(plan, mu_squared)
                yield gaussian
        if epsilon > 0 and not self._is_beaten(gaussian, epsilon):
            with contextlib.suppress(*_UNWRITTEN):
                pure = plan_pure_strategy(
                    self.workload, epsilon=epsilon, weights=self.weights, goal=self.goal, groups=cells, rows=each
                )
                yield PureStrategyMechanism(pure, epsilon)

    def _is_beaten(self, gaussian: StrategyMechanism | None, epsilon: Exact) -> bool:
        """Whether no strategy with Laplace noise can have a smaller error, so that none is looked for.

        The bound for all strategies holds for Laplace noise too (`PureStrategyMechanism.reason`).
        """
        if gaussian is None or self.has_bodies:
            return False
        least = Geometric(epsilon).moment(2).lower * gaussian.strategy.lower_bound
        return gaussian.expected_square <= least

    @property
    def lower_bound(self) -> Enclosure | None:
        """The ℓ₁ error that no ε-private mechanism beats; None where that is not known.

        Each answer alone changes by f·k for the largest |entry| f of its row and every k = 1..m, so its error is at
        least f times that of the best staircase for m. Where the columns of W are independent, the packing bound for
        histograms that change by m in one cell is another one (docs/theory/releasing.md).
        """
        each, workload = self.sensitivity.each, self.workload
        if not self.price.is_pure or not self.reachable or each > WIDEST_STAIRS or self.weights is not None:
            return None
        largest = workload.answers
        if isinstance(workload, ExplicitWorkload):
            largest = sum(max(map(abs, row)) for row in workload.matrix)
        bound = scaled(Staircase(self.price.epsilon, each).moment(1), largest)
        if workload.cells <= workload.answers <= MOST_ROWS_OF_BODIES and self.workload.independent:
            total = CrossPolytope(workload.cells).total(self.price.epsilon)
            bound = larger(bound, scaled(lattice_packing_bound(workload.answers, total), each))
        return bound

    @cached_property
    def least_square_error(self) -> Enclosure | None:
        """The root of the mean of the squared errors that no ε-private mechanism beats on every histogram, if known."""
        workload, plain = self.workload, self.weights is None and self.goal == "total"
        if not (plain and self.price.is_pure and self.reachable and workload.independent):
            return None
        if workload.cells > _MOST_DIRECTIONS:
            return None
        gram, common = workload.gram()
        squares = squares_bound(gram, self.price.epsilon).lower * self.sensitivity.each**2
        return sqrt_enclosure(squares / common / workload.answers)

    def expected_loss(self, mechanism: Mechanism) -> Enclosure:
        """The root of the weighted mean of the squared errors, or of the largest; the mean size beside bodies."""
        if self.has_bodies:
            return self._absolute(mechanism)
        squares = mechanism.expected_square if isinstance(mechanism, StrategyRelease) else self._squares(mechanism)
        if self.goal == "total":
            squares /= self.workload.answers if self.weights is None else sum(self.weights)
        return sqrt_enclosure(squares)

    def naive(self, mechanism: Mechanism) -> Enclosure:
        """The same loss with independent noise of the same kind on the cells and nothing else, for the goal "total"."""
        gram, common = self.workload.gram(self.weights)
        cells, each, total = self.sensitivity.cells, self.sensitivity.each, self.workload.answers
        if isinstance(mechanism.event, GaussianPrivacy):
            variance = Fraction(cells * each**2) / mechanism.event.mu_squared
        else:
            variance = Geometric(pure_within(self.price), cells * each).moment(2).upper
        weights = Fraction(total) if self.weights is None else sum(self.weights, Fraction(0))
        return sqrt_enclosure(Fraction(sum(gram.diagonal()), common) * variance / weights)

    def squared_errors(self, mechanism: Mechanism) -> list[Fraction]:
        """The expected squared error of each answer, at most."""
        if isinstance(mechanism, StrategyRelease):
            return list(mechanism.squared_errors())
        variance, times = self._of_one_variance(mechanism)
        return [variance * each for each in times]

    def _squares(self, mechanism: Mechanism) -> Fraction:
        """The weighted squared errors, in sum or the largest."""
        variance, times = self._of_one_variance(mechanism)
        if self.weights is not None:
            times = [weight * each for weight, each in zip(self.weights, times, strict=True)]
        return variance * (sum(times) if self.goal == "total" else max(times))

    def _of_one_variance(self, mechanism: Mechanism) -> tuple[Fraction, Sequence[int | Fraction]]:
        """A variance, and the squared error of each answer in multiples of it."""
        times: Sequence[int | Fraction] = [1] * self.workload.answers  # of one variance
        if isinstance(mechanism, MappedNoise):
            variance = mechanism.noise.moment(2).upper
            times = [sum(e * e * count for e, count in shape) for shape in mechanism.shapes]
        elif isinstance(mechanism, IndependentNoise):
            variance = mechanism.blocks[0].noise.moment(2).upper
        else:
            vector = cast(VectorLaplace, mechanism)
            variance = Geometric(vector.epsilon, vector.sensitivity).moment(2).upper
        return variance, times

    def _absolute(self, mechanism: Mechanism) -> Enclosure:
        """The mean of the expected sizes of the errors."""
        share = Fraction(1, self.workload.answers)
        if isinstance(mechanism, KNorm):
            return scaled(mechanism.expected_error(), share)
        if isinstance(mechanism, StrategyRelease):
            most = sum(mechanism.mean_errors(), Fraction(0)) * share
            return Enclosure(most, most)
        if isinstance(mechanism, IndependentNoise):
            return mechanism.error().expected
        return scaled(mechanism.error().expected, share)

    def widest(self, mechanism: Mechanism, level: Fraction) -> Fraction:
        """An error that no answer exceeds with this probability, each for itself."""
        if isinstance(mechanism, StrategyRelease):
            return mechanism.widest(level)
        return max(self.reaches(mechanism, level))

    def reaches(self, mechanism: Mechanism, level: Fraction = LEVEL) -> list[Fraction]:
        """For each answer an error that it does not exceed with this probability."""
        if isinstance(mechanism, StrategyRelease):
            return mechanism.half_widths(level)
        if isinstance(mechanism, MappedNoise):
            return mechanism.reaches(level)
        if isinstance(mechanism, IndependentNoise):
            far = Fraction(mechanism.blocks[0].noise.quantile(level))
        elif isinstance(mechanism, VectorLaplace):
            far = Fraction(Geometric(mechanism.epsilon, mechanism.sensitivity).quantile(level))
        else:
            far = cast(KNorm, mechanism).error(level).quantiles[level]  # of all answers together, so of each
        return [far] * self.workload.answers


def _columns(matrix: Matrix) -> Iterator[tuple[int, ...]]:
    return zip(*matrix, strict=True)

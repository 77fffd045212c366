"""All answers of a linear workload from one release: A·x plus Gaussian noise, and least squares for everything else.

A is a whole matrix, so A·x is whole, and round(A·x + g) = A·x + round(g) for Gaussian g: what is released is a
function of the continuous Gaussian mechanism. One unit changes A·x by at most √s in the ℓ2 norm
(`squared_sensitivity`), so noise of variance s/μ² is exactly μ-Gaussian private, in any dimension. Discrete Laplace
noise for the largest change in the ℓ1 norm is ε-private. Estimates of the
cells and all answers are computed from what was released, and agree with each other. Statement and proof:
docs/theory/strategy.md.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, isqrt, prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Enclosure,
    Exact,
    IntegerMatrix,
    NumberLike,
    Size,
    Source,
    ball_of,
    enclose,
    normal_quantile,
    of_fraction,
    read_rate,
    read_rational,
    read_variance,
    rounded_gaussian,
    rounded_gaussian_moment,
    rounded_gaussian_pmf,
    shape_of,
    sqrt_above,
)
from leastnoise.mechanisms.histogram.independent_noise import require_drawable
from leastnoise.mechanisms.histogram.mapped_noise import reach_of
from leastnoise.mechanisms.numeric import Geometric
from leastnoise.mechanisms.numeric.sum_of_geometrics import reach_of_geometrics
from leastnoise.mechanisms.strategy.planning import Strategy
from leastnoise.mechanisms.truths import add_noise, read_whole_vector
from leastnoise.model import (
    LEVEL,
    ErrorEstimate,
    GaussianPrivacy,
    LinearWorkload,
    Mechanism,
    Pure,
    Ranges,
    Reason,
    StrategyCertificate,
    StrategyPart,
)

__all__ = ["Estimates", "PureStrategyMechanism", "StrategyMechanism", "StrategyRelease", "normal_reach"]

_GRID_BITS, _STEP_BITS = 32, 48
_MOST_STEPS = 100
_TWO_OVER_PI = Fraction(63662, 100000)  # rounded up
_MOST_COEFFICIENTS = 1 << 17  # answers times rows
_MOST_KINDS = 1 << 13  # coefficients of all different answers up to which a reach looks at each
_OPEN_SHARE = Fraction(1, 1 << 20)  # of the chance, for what is not known of the coefficients
_CLOSE = 12  # bits of an inverse that is good enough for least squares


@lru_cache(maxsize=64)
def normal_reach(level: Fraction = LEVEL) -> Fraction:
    """At least the z with P(|g| ≤ z) = level for standard normal g.

    >>> round(float(normal_reach()), 6)
    1.959964
    """
    return enclose(lambda: normal_quantile(of_fraction((1 + level) / 2))).upper


@dataclass(frozen=True)
class Estimates:
    """Least squares estimates of F·x, on a grid of 2^-32, with all answers that follow from them.

    Attributes:
        workloads: What was asked, one for each axis of `values`.
        values: The exact least squares solution in multiples of 2^-32, rounded.
    """

    workloads: tuple[LinearWorkload, ...]
    values: NDArray[Any]

    def answers(self) -> NDArray[Any]:
        """All answers, exactly as they follow from the estimates; an axis for each workload."""
        table = self.values
        for axis, workload in enumerate(self.workloads):
            table = np.moveaxis(workload.evaluate(np.moveaxis(table, axis, -1)), -1, axis)
        answers: NDArray[Any] = table * Fraction(1, 1 << _GRID_BITS)
        return answers

    def cells(self) -> NDArray[Any]:
        """The estimates themselves, as fractions."""
        estimates: NDArray[Any] = self.values * Fraction(1, 1 << _GRID_BITS)
        return estimates

    def range(self, first: int, last: int) -> Fraction:
        """The sum of the cells from `first` to `last`, of a workload of cells in a row.

        Raises:
            BadParameter: These are no cells in order.
        """
        Ranges(self.values.shape[0]).place(first, last)
        return Fraction(sum(self.values[first : last + 1].tolist()), 1 << _GRID_BITS)


class StrategyRelease(Mechanism):
    """A·x plus independent whole noise; the truth is the histogram x, whole numbers come out, one per row of A."""

    strategy: Strategy

    @abstractmethod
    def noise(self, size: tuple[int, ...], source: Source | None) -> NDArray[Any]:
        """Draws of the noise."""

    @abstractmethod
    def noise_pmf(self, noise: int, bits: int) -> Enclosure:
        """P(noise)."""

    @property
    @abstractmethod
    def noise_variance(self) -> Fraction:
        """The variance of the noise, at most."""

    @abstractmethod
    def reaches(self, level: Fraction) -> list[Fraction]:
        """For each answer an error of least squares that it does not exceed with this probability."""

    @abstractmethod
    def longest_reach(self, level: Fraction) -> Fraction:
        """At least the largest of them; no list of all answers is made."""

    @abstractmethod
    def mean_errors(self) -> list[Fraction]:
        """The expected absolute error of each answer, at most."""

    def _require_inverse(self) -> None:
        if any(part.precision.closeness < _CLOSE for part in self.strategy.parts):
            raise BadParameter("the inverse of the strategy is too rough for least squares", fix="plan it again")

    @property
    def workloads(self) -> tuple[LinearWorkload, ...]:
        """What is asked, one for each factor."""
        return tuple(part.workload for part in self.strategy.parts)

    def measure(self, truth: Any) -> NDArray[Any]:
        """A·x, exactly."""
        cells = [workload.cells for workload in self.workloads]
        table = read_whole_vector(truth, prod(cells)).astype(object).reshape(cells)
        for axis, part in enumerate(self.strategy.parts):
            moved = part.workload.coordinates(np.moveaxis(table, axis, -1))
            table = np.moveaxis(_times(moved, part.strategy), -1, axis)
        return table.ravel()

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """The measurements plus noise; with `size` that many of them along new first axes."""
        true, shape = self.measure(truth), shape_of(size)
        return add_noise(true, self.noise((*shape, len(true)), source))

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """The product over the measurements."""
        true = self.measure(truth)
        drawn = read_whole_vector(output, len(true))
        masses = [self.noise_pmf(int(y) - int(x), bits) for y, x in zip(drawn, true, strict=True)]
        one = Fraction(1)
        return Enclosure(prod((p.lower for p in masses), start=one), prod((p.upper for p in masses), start=one))

    def estimates(self, released: Any) -> Estimates:
        """Least squares estimates of the cells, from one release. Everything here is public already."""
        rows = [len(part.strategy) for part in self.strategy.parts]
        table = read_whole_vector(released, prod(rows)).astype(object).reshape(rows)
        for axis, part in enumerate(self.strategy.parts):
            table = np.moveaxis(_least_squares(np.moveaxis(table, axis, -1), part), -1, axis)
        shift = _STEP_BITS * len(rows) - _GRID_BITS
        values = (table + (1 << shift - 1)) >> shift
        return Estimates(self.workloads, values)

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """The expected squared error of the goal, and the error of the worst answer at a level, at most."""
        expected = self.expected_square
        return ErrorEstimate("squared", Enclosure(expected, expected), {level: self.widest(level)}, attained=False)

    @property
    def expected_square(self) -> Fraction:
        """The expected squared error of the goal, at most."""
        return self.strategy.error * self.noise_variance / self.strategy.sensitivity

    def widest(self, level: Fraction = LEVEL) -> Fraction:
        """An error that no answer exceeds with this probability, each for itself."""
        longest = prod((workload.longest * workload.rank for workload in self.workloads), start=Fraction(1))
        return self.longest_reach(level) + sqrt_above(longest) * Fraction(2, 1 << _GRID_BITS)

    @property
    def _largest_error(self) -> Fraction:
        """The largest squared error of an answer for noise of variance one, at most."""
        return prod((part.largest_error for part in self.strategy.parts), start=Fraction(1))

    def squared_errors(self) -> list[Fraction]:
        """The expected squared error of each answer, at most."""
        return [error * self.noise_variance for error in self._errors]

    @cached_property
    def _errors(self) -> list[Fraction]:
        """For each answer its squared error for noise of variance one, at most."""
        return outer_product([part.answer_errors for part in self.strategy.parts])

    def half_widths(self, level: Fraction = LEVEL) -> list[Fraction]:
        """For each answer an error that it does not exceed with this probability.

        The grid of the estimates adds a little for each of them that the answer needs.
        """
        lengths = outer_product([[length * w.rank for length in w.lengths()] for w in self.workloads])
        grid = Fraction(2, 1 << _GRID_BITS)
        steps = {length: sqrt_above(length) * grid for length in set(lengths)}
        return [reach + steps[length] for reach, length in zip(self.reaches(level), lengths, strict=True)]

    @abstractmethod
    def reach_at(self, error: Fraction, level: Fraction) -> Fraction:
        """An error that a linear answer of this squared error, at noise of variance one, does not exceed."""

    def range_reach(self, first: int, last: int, level: Fraction = LEVEL) -> Fraction:
        """An error that the sum of some cells in a row does not exceed with this probability."""
        (part,) = self.strategy.parts
        grid = Fraction(2 * (last + 1 - first), 1 << _GRID_BITS)
        return self.reach_at(part.form([int(first <= j <= last) for j in range(part.workload.rank)]), level) + grid

    def cell_half_widths(self, level: Fraction = LEVEL) -> list[Fraction]:
        """For each cell an error that its estimate does not exceed with this probability."""
        (part,) = self.strategy.parts
        precision, grid = part.precision, Fraction(2, 1 << _GRID_BITS)
        return [self.reach_at(form * precision.factor, level) + grid for form in precision.inverse.diagonal()]

    def certificate(self) -> StrategyCertificate:
        """The strategy with its error and bound."""
        return self.strategy.certificate()


@dataclass(frozen=True, init=False)
class StrategyMechanism(StrategyRelease):
    """A·x plus rounded Gaussian noise; the truth is the histogram x, whole numbers come out, one per row of A.

    Args:
        strategy: What to measure.
        mu_squared: μ² of the Gaussian privacy of the release.

    >>> from leastnoise.mechanisms.strategy.planning import plan_strategy
    >>> from leastnoise.model.linear_workloads import PrefixSums
    >>> running = StrategyMechanism(plan_strategy(PrefixSums(4)), mu_squared=1)
    >>> running.event, running.estimates(running.release([5, 0, 2, 7])).answers().shape
    (GaussianPrivacy(mu_squared=Fraction(1, 1)), (4,))
    """

    name: ClassVar[str] = "the best strategy with Gaussian noise"
    strategy: Strategy
    mu_squared: Fraction

    def __init__(self, strategy: Strategy, mu_squared: NumberLike) -> None:
        object.__setattr__(self, "strategy", _of_norm(strategy, "l2"))
        object.__setattr__(self, "mu_squared", read_rational(mu_squared, "mu_squared", above=0))
        read_variance(self.variance)
        self._require_inverse()

    @property
    def variance(self) -> Fraction:
        """σ² of the noise on each measurement, before rounding."""
        return self.strategy.sensitivity / self.mu_squared

    @property
    def event(self) -> GaussianPrivacy:
        """μ-Gaussian privacy."""
        return GaussianPrivacy(self.mu_squared)

    def noise(self, size: tuple[int, ...], source: Source | None) -> NDArray[Any]:
        """Draws of the rounded noise."""
        return np.asarray(rounded_gaussian(self.variance, size, source))

    def noise_pmf(self, noise: int, bits: int) -> Enclosure:
        """P(noise)."""
        return rounded_gaussian_pmf(noise, self.variance, bits)

    @cached_property
    def noise_variance(self) -> Fraction:
        """The variance of the rounded noise, at most: σ² + 1/12 and hardly more."""
        return rounded_gaussian_moment(2, self.variance).upper

    def reaches(self, level: Fraction) -> list[Fraction]:
        """For each answer an error that it does not exceed with this probability.

        The answer is off by Σ a_l·round(g_l) with ‖a‖² = e. That is a normal number of variance e·σ² and a rounding
        of at most Σ|a_l|/2 ≤ √(rows·e)/2.
        """
        return self._roots(normal_reach(level))

    def longest_reach(self, level: Fraction) -> Fraction:
        """The same for the largest e."""
        return self.reach_at(self._largest_error, level)

    def reach_at(self, error: Fraction, level: Fraction) -> Fraction:
        """As `reaches`, for one e."""
        return sqrt_above(error) * self._each(normal_reach(level))

    def mean_errors(self) -> list[Fraction]:
        """E|g| = √(2/π)·σ for the normal part of each answer."""
        return self._roots(sqrt_above(_TWO_OVER_PI))

    def _each(self, factor: Fraction) -> Fraction:
        rows = prod(len(part.strategy) for part in self.strategy.parts)
        return factor * sqrt_above(self.variance) + Fraction(isqrt(rows) + 1, 2)

    def _roots(self, factor: Fraction) -> list[Fraction]:
        each = self._each(factor)
        found = {error: sqrt_above(error) * each for error in set(self._errors)}
        return [found[error] for error in self._errors]

    def reason(self) -> Reason:
        """The bound for all strategies."""
        bound = self.strategy.lower_bound / self.mu_squared
        return Reason(
            f"{self.strategy.name}; no Gaussian noise with linear unbiased answers has a squared error below the bound",
            "Li, Miklau, Hay, McGregor and Rastogi, VLDB Journal 24, 2015; bound and proof in docs/theory/strategy.md",
            Enclosure(bound, bound),
        )


@dataclass(frozen=True, init=False)
class PureStrategyMechanism(StrategyRelease):
    """A·x plus discrete Laplace noise; the truth is the histogram x, whole numbers come out, one per row of A.

    Args:
        strategy: What to measure, planned by `plan_pure_strategy`.
        epsilon: The privacy of the release.

    >>> from leastnoise.mechanisms.strategy.pure_planning import plan_pure_strategy
    >>> from leastnoise.model.linear_workloads import PrefixSums
    >>> running = PureStrategyMechanism(plan_pure_strategy(PrefixSums(4), epsilon=1), epsilon=1)
    >>> running.event, running.estimates(running.release([5, 0, 2, 7])).answers().shape
    (Pure(epsilon=Fraction(1, 1)), (4,))
    """

    name: ClassVar[str] = "a good strategy with Laplace noise"
    strategy: Strategy
    epsilon: Exact

    def __init__(self, strategy: Strategy, epsilon: NumberLike) -> None:
        object.__setattr__(self, "strategy", _of_norm(strategy, "l1"))
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon"))
        require_drawable(self.geometric.sensitivity, self.epsilon)
        self._require_inverse()

    @cached_property
    def geometric(self) -> Geometric:
        """The noise on each measurement."""
        return Geometric(self.epsilon, isqrt(self.strategy.sensitivity))

    @property
    def event(self) -> Pure:
        """ε."""
        return Pure(self.epsilon)

    def noise(self, size: tuple[int, ...], source: Source | None) -> NDArray[Any]:
        """Draws of the noise."""
        return np.asarray(self.geometric.noise(size, source))

    def noise_pmf(self, noise: int, bits: int) -> Enclosure:
        """P(noise)."""
        return self.geometric.noise_pmf(noise, bits)

    @cached_property
    def noise_variance(self) -> Fraction:
        """2α/(1 − α)², rounded up."""
        return self.geometric.moment(2).upper

    def mean_errors(self) -> list[Fraction]:
        """E|Σ a_l·Z_l| ≤ √(2/π)·√2·b·‖a‖ + Σ|a_l| with b = Δ/ε, and at most the root of the expected square.

        Z_l differs by less than one from the difference of two exponential numbers of mean b, which is √(2E)·b·g for
        normal g and exponential E of mean one. Given all E the sum is normal, and E√V ≤ √(EV) for its variance V.
        """
        rows = prod(len(part.strategy) for part in self.strategy.parts)
        mean = enclose(lambda: 1 / ball_of(self.geometric.rate)).upper
        wide = sqrt_above(2 * _TWO_OVER_PI) * mean + isqrt(rows) + 1
        factor = min(wide, sqrt_above(self.noise_variance))
        found = {error: sqrt_above(error) * factor for error in set(self._errors)}
        return [found[error] for error in self._errors]

    def reach_at(self, error: Fraction, level: Fraction) -> Fraction:
        """Chernoff's bound for one e, where no |a_l| is known to be less than √e."""
        return sqrt_above(error) * reach_of(self.geometric, Fraction(257, 256), Fraction(1), level)

    def longest_reach(self, level: Fraction) -> Fraction:
        """The largest of `reaches`; where terms are many, Chernoff's bound for the largest e and the largest b."""
        if self._coefficients:
            return max(self.reaches(level))
        most = prod((part.largest_coefficient for part in self.strategy.parts), start=Fraction(1))
        if not most:
            return Fraction(0)
        return most * reach_of(self.geometric, _above_one(self._largest_error / most**2), Fraction(1), level)

    def reaches(self, level: Fraction) -> list[Fraction]:
        """For each answer an error that it does not exceed with this probability.

        The answer is off by Σ a_l·Z_l with ‖a‖² = e and |a_l| ≤ b: `reach_of` for (e/b², 1), times b. Where the terms
        are few, `reach_of_geometrics` looks at each.
        """
        largest = outer_product([part.largest_coefficients for part in self.strategy.parts])
        found = []
        for error, most in zip(self._errors, largest, strict=True):
            count = _above_one(error / most**2) if most else Fraction(0)
            found.append(most * reach_of(self.geometric, count, Fraction(1), level))
        return [min(pair) for pair in zip(found, self._near_reaches(level), strict=False)] or found

    @cached_property
    def _coefficients(self) -> list[tuple[NDArray[np.float64], Fraction]]:
        """For each answer the sizes of all a_l and how many have it, and an η that they may be off by; none if many."""
        (part, *others) = self.strategy.parts
        if others or part.workload.answers * len(part.strategy) > _MOST_COEFFICIENTS:
            return []
        (numbers, open_yet), below = part.coefficients(), part.precision.denominator
        found = list[tuple[NDArray[np.float64], Fraction]]()
        for row, each in zip(numbers, open_yet, strict=True):
            sizes = np.array([number / below for number in row], dtype=np.float64)
            kinds, counts = np.unique(sizes, return_counts=True)
            found.append((np.stack([kinds, counts.astype(np.float64)]), each))
        different = {law.tobytes(): law.shape[1] for law, _ in found}
        return found if sum(different.values()) <= _MOST_KINDS else []

    def _near_reaches(self, level: Fraction) -> list[Fraction]:
        """The same from all a_l; none where they are many.

        They are known but for an η: the sum of η·Z_l is far off with a small part of the chance only.
        """
        rest, reached, found = 1 - level, dict[bytes, Fraction | None](), list[Fraction]()
        for law, each in self._coefficients:
            weights, counts = law
            if (known := law.tobytes()) not in reached:
                variances = np.full(len(weights), float(self.noise_variance))
                reached[known] = reach_of_geometrics(variances, weights, counts, 1 - rest * (1 - _OPEN_SHARE))
            reach = reached[known]
            if reach is None:
                return []
            off = reach_of(self.geometric, Fraction(int(counts.sum())), Fraction(1), 1 - rest * _OPEN_SHARE)
            found.append(reach + each * off)
        return found

    def reason(self) -> Reason:
        """The bound for strategies, with the least variance that Laplace noise on whole numbers has."""
        least = Geometric(self.epsilon).moment(2).lower * self.strategy.lower_bound
        return Reason(
            f"{self.strategy.name}; no whole strategy with this noise and unbiased answers is below the bound",
            "McKenna, Miklau, Hay and Machanavajjhala, PVLDB 11, 2018; bound and proof in docs/theory/strategy.md",
            Enclosure(least, least),
        )


def _above_one(count: Fraction) -> Fraction:
    """At least a number, with eight digits, and never one: then a single noise would be meant."""
    shift = max(ceil(count).bit_length() - 1, 0)
    rounded = Fraction((ceil(count * 256 / 2**shift) + 1) << shift, 256)
    return rounded if rounded != 1 else Fraction(257, 256)


def _of_norm(strategy: Strategy, norm: str) -> Strategy:
    if strategy.norm != norm:
        noise = "Gaussian" if norm == "l2" else "Laplace"
        raise BadParameter(
            f"this strategy was not planned for {noise} noise",
            given=strategy.norm,
            fix="use plan_strategy for Gaussian and plan_pure_strategy for Laplace noise",
        )
    return strategy


def outer_product(lists: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    """All products of one number of each list, the last list running fastest."""
    found = [Fraction(1)]
    for numbers in lists:
        found = [one * other for one in found for other in numbers]
    return found


def _times(table: NDArray[Any], matrix: IntegerMatrix) -> NDArray[Any]:
    """The product of a matrix with each vector along the last axis."""
    flat = IntegerMatrix(table.reshape(-1, table.shape[-1]), table.shape[-1])
    return (flat @ matrix.transposed()).array().reshape((*table.shape[:-1], len(matrix)))


def _least_squares(table: NDArray[Any], part: StrategyPart) -> NDArray[Any]:
    """G⁻¹·Tᵀ·y for each y along the last axis, in whole multiples of 2^-48.

    Steps u ← u + N·(Tᵀy − G·u) are repeated until they change nothing. Then G⁻¹·r = (I − Eᵀ)⁻¹·N·r for the rest r,
    and no entry of N·r is above one half: with ‖E‖ ≤ 2^-12 all of them are within one multiple.
    """
    precision, size = part.precision, part.workload.rank
    rows = table.reshape(-1, table.shape[-1])
    wanted = (1 << _STEP_BITS) * (IntegerMatrix(rows, table.shape[-1]) @ part.strategy)
    inverse, below = precision.inverse, precision.denominator
    found = IntegerMatrix(np.zeros((len(rows), size), dtype=np.int64), size)
    for _ in range(_MOST_STEPS):
        step = ((wanted - found @ precision.gram) @ inverse).array()
        correction = (2 * step + below) // (2 * below)
        if not correction.any():
            break
        found = found - IntegerMatrix(-correction, size)
    return found.array().reshape((*table.shape[:-1], size))

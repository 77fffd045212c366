"""Several whole numbers plus correlated normal noise, rounded: x + round(M·g), the g_j independent with variance v_j.

x is whole, so x + round(M·g) = round(x + M·g): what is released is a function of x + M·g, which is normal around x with
covariance Σ = M·diag(v)·Mᵀ. If a unit changes x by d, that is μ-Gaussian private with μ² = dᵀΣ⁻¹d (Dong, Roth and Su
2022, Theorem 2.7, after whitening), so the largest such μ² over all changes is the event (docs/theory/gaussian.md).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any, ClassVar

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Enclosure,
    NumberLike,
    RationalMatrix,
    RoundedGaussianMap,
    Rows,
    Size,
    Source,
    read_rational,
)
from leastnoise.mechanisms.numeric.gaussian import Gaussian
from leastnoise.mechanisms.truths import add_noise, read_whole_vector
from leastnoise.model import LEVEL, Certificate, ErrorEstimate, GaussianPrivacy, Mechanism, Reason

__all__ = ["GaussianMap"]


@dataclass(frozen=True, init=False)
class GaussianMap(Mechanism):
    """A vector of whole numbers plus a linear map of independent normal numbers, each coordinate rounded.

    Args:
        matrix: M, exact rationals, one row for each number of the truth and one column for each normal number.
        variances: Those of the normal numbers, one for all or one for each.
        mu_squared: The largest dᵀΣ⁻¹d of all changes d that one unit can make, by whoever knows them; `for_changes`
            computes it.

    >>> noise = GaussianMap.for_changes([[1, 0], [1, 1]], 8, changes=[[1, 1], [0, 1]])
    >>> noise.event, noise.release([12, 40]).shape
    (GaussianPrivacy(mu_squared=Fraction(1, 8)), (2,))
    """

    name: ClassVar[str] = "Gaussian mechanism with correlated noise"
    matrix: tuple[tuple[int | Fraction, ...], ...]
    variances: tuple[Fraction, ...]
    mu_squared: Fraction

    def __init__(self, matrix: Rows, variances: NumberLike | Sequence[NumberLike], mu_squared: NumberLike) -> None:
        noise = RoundedGaussianMap(matrix, variances)
        if not all(2**-100 <= variance <= 2**100 for variance in noise.row_variances()):
            raise BadParameter(
                "matrix must give every number noise with a variance between 2^-100 and 2^100",
                fix="leave out rows of zeros, and measure in a grid whose step is nearer to the noise",
            )
        object.__setattr__(self, "matrix", noise.rows)
        object.__setattr__(self, "variances", noise.variances)
        object.__setattr__(self, "mu_squared", read_rational(mu_squared, "mu_squared", above=0))
        self.__dict__["_noise"] = noise

    @classmethod
    def for_changes(
        cls, matrix: Rows, variances: NumberLike | Sequence[NumberLike], changes: Sequence[Sequence[NumberLike]]
    ) -> GaussianMap:
        """With the exact μ² of the worst of the changes d that one unit can make to the truth, each up to its sign.

        Raises:
            BadParameter: The noise does not cover a change, or there is none.
        """
        noise = RoundedGaussianMap(matrix, variances)
        return cls(matrix, variances, _largest_mu_squared(noise, _read_changes(changes, noise.shape[0])))

    @cached_property
    def _noise(self) -> RoundedGaussianMap:
        return RoundedGaussianMap(self.matrix, self.variances)

    @property
    def event(self) -> GaussianPrivacy:
        """μ² of the worst change."""
        return GaussianPrivacy(self.mu_squared)

    @cached_property
    def coordinates(self) -> tuple[Gaussian, ...]:
        """The law of each number's own noise: that of `Gaussian` with the variance Σ_j M_ij²·v_j."""
        return tuple(Gaussian(variance) for variance in self._noise.row_variances())

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """The vector plus noise; with `size` that many of them along new first axes."""
        true = read_whole_vector(truth, len(self.matrix))
        return add_noise(true, self._noise.draw(size, source))

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth), for noise whose coordinates share no normal number.

        Raises:
            BadParameter: They share one.
        """
        drawn, true = (read_whole_vector(vector, len(self.matrix)) for vector in (output, truth))
        if any(sum(entry != 0 for entry in column) > 1 for column in zip(*self.matrix, strict=True)):
            raise BadParameter(
                "the joint law of correlated noise has no closed form here", fix="use the law of each of `coordinates`"
            )
        steps = (int(y) - int(x) for y, x in zip(drawn, true, strict=True))
        masses = [noise.noise_pmf(step, bits) for noise, step in zip(self.coordinates, steps, strict=True)]
        one = Fraction(1)
        return Enclosure(prod((p.lower for p in masses), start=one), prod((p.upper for p in masses), start=one))

    def error(self) -> ErrorEstimate:
        """The expected absolute error of the number with the most noise, and its 95 % quantile, for every truth."""
        widest = max(self.coordinates, key=lambda noise: noise.variance)
        return ErrorEstimate("absolute", widest.moment(1), {LEVEL: Fraction(widest.quantile())})

    def reason(self) -> Reason:
        """Correlated noise fits the changes that a unit can make."""
        return Reason(
            "noise of this shape has exactly this Gaussian privacy, whatever its correlations, and rounding costs none",
            "Dong, Roth and Su 2022, Theorem 2.7; Dwork and Roth 2014, Proposition 2.1 (post-processing)",
        )

    def certificate(self) -> Certificate:
        """There is none: an exact channel would need rational masses.

        Raises:
            BadParameter: Always.
        """
        raise BadParameter(
            "the masses of the Gaussian mechanism are irrational, so no exact channel can be certified",
            fix="rely on the event, whose profile is exact",
        )


def _read_changes(changes: Sequence[Sequence[NumberLike]], dimension: int) -> RationalMatrix:
    rows = changes.tolist() if hasattr(changes, "tolist") else changes
    if (
        not isinstance(rows, list | tuple)
        or not rows
        or not all(isinstance(row, list | tuple) and len(row) == dimension for row in rows)
    ):
        raise BadParameter(
            f"changes must be vectors of {dimension} numbers", given=type(changes).__name__, fix="pass [[1, 0], [0, 1]]"
        )
    return RationalMatrix([[read_rational(entry, "changes") for entry in row] for row in rows])


def _largest_mu_squared(noise: RoundedGaussianMap, changes: RationalMatrix) -> Fraction:
    """The largest dᵀΣ⁻¹d. Where Σ is singular any solution y of Σ·y = d gives dᵀy, and without one d is not covered."""
    matrix = RationalMatrix(noise.rows)
    covariance = matrix @ matrix.transposed().scaled_rows(noise.variances)
    solved = covariance.solve(changes.transposed())
    if solved is None:
        raise BadParameter("the noise does not cover every one of the changes", fix="give the matrix full row rank")
    columns = zip(changes.rows, solved.transposed().rows, strict=True)
    return max(sum((a * b for a, b in zip(d, y, strict=True)), Fraction(0)) for d, y in columns)

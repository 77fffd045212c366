"""Laplace noise for many whole numbers at once: histograms, and whole linear maps of them.

If one person changes the vector by at most Δ in the ℓ1 norm, independent discrete Laplace noise with α = e^(−ε/Δ) on
every coordinate is ε-private: the ratio of probabilities is α^(‖y−x'‖₁−‖y−x‖₁) and the normaliser does not depend on
the data, so there is no factor 2 (Dwork, McSherry, Nissim and Smith, TCC 2006, Proposition 1). The expected ℓ1 error
is d·2α/(1 − α²), just below dΔ/ε. For a map x ↦ F·x of a histogram x, Δ is the largest ℓ1 norm of a column of F.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Size,
    Source,
    l1_quantile,
    read_integer,
    read_rate,
    read_rational,
    scaled,
    shape_of,
)
from leastnoise.mechanisms.numeric.integer_noise import Geometric
from leastnoise.mechanisms.truths import add_noise, read_whole_vector
from leastnoise.model import LEVEL, Certificate, ErrorEstimate, Mechanism, Pure, Reason

__all__ = ["VectorLaplace"]

_MOST_COORDINATES = 1 << 40


@dataclass(frozen=True, init=False)
class VectorLaplace(Mechanism):
    """A vector of whole numbers plus independent discrete Laplace noise on each.

    Args:
        epsilon: The privacy of one release of the whole vector.
        dimension: How many numbers.
        sensitivity: The most that one person can change the vector, in the ℓ1 norm.
        changes: The changes of the vector that one person can make, one of each opposite pair, if they are fewer than
            all within the sensitivity: then the lower bound in `why` is that of these changes.

    >>> histogram = VectorLaplace("ln(3)", dimension=4)
    >>> histogram.error().expected, histogram.pmf((1, 0, 5, 2), (1, 0, 4, 2)), histogram.release([5, 0, 2, 7]).shape
    (Enclosure(3), Enclosure(1/48), (4,))
    """

    name: ClassVar[str] = "Laplace mechanism for vectors"
    epsilon: Exact
    dimension: int
    sensitivity: int
    changes: tuple[tuple[int, ...], ...] | None

    def __init__(
        self,
        epsilon: NumberLike,
        dimension: NumberLike,
        sensitivity: NumberLike = 1,
        changes: Sequence[tuple[int, ...]] | None = None,
    ) -> None:
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon"))
        count = read_integer(dimension, "dimension", at_least=1, at_most=_MOST_COORDINATES)
        object.__setattr__(self, "dimension", count)
        object.__setattr__(self, "sensitivity", read_integer(sensitivity, "sensitivity", at_least=1))
        object.__setattr__(self, "changes", None if changes is None else tuple(map(tuple, changes)))
        read_rate(self._noise.rate, "epsilon/sensitivity")

    @classmethod
    def for_linear_map(cls, matrix: NDArray[Any] | list[list[int]], epsilon: NumberLike) -> VectorLaplace:
        """The mechanism for F·x, where one person changes one entry of the histogram x by one.

        >>> VectorLaplace.for_linear_map([[1, 0, 0], [1, 1, 0], [1, 1, 1]], epsilon=1).sensitivity
        3
        """
        if not isinstance(matrix, np.ndarray | list | tuple):
            raise BadParameter(
                "matrix must be rows of numbers", given=type(matrix).__name__, fix="pass [[1, 0], [1, 1]]"
            )
        array = np.asarray(matrix, dtype=None if isinstance(matrix, np.ndarray) else object)
        if array.ndim != 2 or not array.size or array.dtype.kind not in "iuO":
            raise BadParameter(
                "matrix must have rows and columns of whole numbers",
                given=f"shape {array.shape} of {array.dtype}",
                fix="multiply by the common denominator and divide what is released by it",
            )
        columns = [tuple(read_integer(entry, "matrix") for entry in column) for column in array.T.tolist()]
        largest = max(sum(map(abs, column)) for column in columns)
        if largest == 0:
            raise BadParameter("matrix is zero", fix="a known answer needs no noise")
        changes = {max(column, tuple(-entry for entry in column)): None for column in columns if any(column)}
        return cls(epsilon, array.shape[0], largest, list(changes))

    @property
    def event(self) -> Pure:
        """epsilon, for the whole vector."""
        return Pure(self.epsilon)

    @property
    def _noise(self) -> Geometric:
        return Geometric(self.epsilon, self.sensitivity)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """The vector plus noise; with `size` that many of them along new first axes.

        The sums are 64 bits wide, or Python's integers where 64 bits might not hold them; they never wrap.
        """
        true = read_whole_vector(truth, self.dimension)
        return add_noise(true, self._noise.noise((*shape_of(size), self.dimension), source))

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """The product of the coordinates' probabilities."""
        pairs = zip(read_whole_vector(output, self.dimension), read_whole_vector(truth, self.dimension), strict=True)
        masses = [self._noise.noise_pmf(int(y) - int(x), bits) for y, x in pairs]
        one = Fraction(1)
        return Enclosure(prod((p.lower for p in masses), start=one), prod((p.upper for p in masses), start=one))

    def quantile(self, level: NumberLike = LEVEL) -> int:
        """An ℓ1 error not exceeded with this probability; the least one unless there are very many coordinates."""
        return l1_quantile(self._noise.rate, self.dimension, read_rational(level, "level", above=0, below=1))

    def error(self) -> ErrorEstimate:
        """The expected ℓ1 error and its 95 % quantile, for every truth."""
        expected = scaled(self._noise.moment(1), self.dimension)
        return ErrorEstimate("l1", expected, {LEVEL: Fraction(self.quantile())})

    def reason(self) -> Reason:
        """No coordinate can do with less if one person can put all of the sensitivity into it; else a packing bound."""
        if self.changes is None:
            one = self._noise.reason().lower_bound
            bound = None if one is None else scaled(one, self.dimension)
        else:
            # The bodies and bounds of vectors are made of the mechanisms for numbers.
            from leastnoise.mechanisms.lower_bounds import changes_bound

            bound = changes_bound(self.changes, self.epsilon)
        return Reason(
            "the simplest noise for a vector; where one person can put the whole sensitivity into any coordinate, each "
            "coordinate alone must be private for all of it, and for sensitivity one this is the least noise that is",
            "Ghosh, Roughgarden and Sundararajan, SIAM J. Comput. 2012, and Geng and Viswanath 2016, per coordinate; "
            "for fewer changes Hardt and Talwar, STOC 2010, Theorem 3.4, on the lattice",
            bound,
        )

    def certificate(self) -> Certificate:
        """That of one coordinate, where one person's whole change may fall."""
        return self._noise.certificate()

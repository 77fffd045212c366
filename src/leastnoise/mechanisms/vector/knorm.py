"""The K-norm mechanism on a lattice: a vector of whole numbers plus noise shaped like what one record can change.

K is a symmetric convex body that contains every change one record can make. The mechanism is
P(y | x) ∝ e^(−ε·steps(y − x)) with steps(z) = ⌈‖z‖_K⌉, the least whole R with z in R·K. Hardt and Talwar (STOC 2010,
section 4) and Tóthmérész (2013, Definitions 2.3 and 2.4) have it for real vectors, without the rounding.

Privacy: for answers x, x' of neighbours x' − x lies in K, so ‖y − x‖ ≤ ‖y − x'‖ + 1 and, rounded up, steps(y − x) is at
most steps(y − x') + 1. The weights of all lattice points add up to the same number for both. So the ratio of the
probabilities is at most e^ε, with no factor 2.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter, NumberTooLarge
from leastnoise.exact import (
    Enclosure,
    Exact,
    IntegerVector,
    NumberLike,
    RationalMatrix,
    Size,
    Source,
    double_of,
    exp_enclosure,
    read_integer,
    read_rate,
    shape_of,
    wide_enough,
)
from leastnoise.mechanisms.lower_bounds import changes_bound, lattice_packing_bound
from leastnoise.mechanisms.truths import add_noise, read_whole_vector
from leastnoise.mechanisms.vector.bodies import Body, FramedBody, total_of
from leastnoise.mechanisms.vector.norms import CountingBody, CrossPolytope
from leastnoise.model import (
    LEVEL,
    Certificate,
    Channel,
    ErrorEstimate,
    Mechanism,
    Privacy,
    PrivacyCertificate,
    Pure,
    Reason,
)
from leastnoise.model.graphs import path

__all__ = ["KNorm"]

_LEAST_RATE = Fraction(1, 10**6)

Basis = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, init=False)
class KNorm(Mechanism):
    """A vector of whole numbers plus lattice noise with P(z) ∝ e^(−(epsilon/sensitivity)·steps(z)).

    Args:
        epsilon: The privacy of one release.
        body: K, on the lattice Z^r.
        sensitivity: The most steps that one record can change the answer by.
        basis: One row per answer: noise z becomes basis·z. For answers that live on another lattice than Z^d; left out,
            it is the identity.
        changes: The changes of the answer that one record can make, one of each opposite pair, if they are fewer than
            all whole vectors in K: then the lower bound in `why` is that of these changes.

    >>> KNorm("ln(3)", CountingBody(2)).pmf((4, 6), (5, 5)), KNorm("ln(3)", CountingBody(2)).error().expected
    (Enclosure(2/99), Enclosure(24/11))
    """

    name: ClassVar[str] = "K-norm mechanism"
    epsilon: Exact
    body: Body
    sensitivity: int
    basis: Basis | None
    changes: tuple[IntegerVector, ...] | None

    def __init__(
        self,
        epsilon: NumberLike,
        body: Body,
        sensitivity: NumberLike = 1,
        basis: Sequence[Sequence[int]] | None = None,
        changes: Sequence[IntegerVector] | None = None,
    ) -> None:
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon"))
        object.__setattr__(self, "sensitivity", read_integer(sensitivity, "sensitivity", at_least=1))
        if not isinstance(body, Body):
            raise BadParameter("body must be a body", given=type(body).__name__, fix="pass for example CountingBody(3)")
        object.__setattr__(self, "body", body)
        object.__setattr__(self, "basis", None if basis is None else _rows(basis, "basis"))
        object.__setattr__(self, "changes", None if changes is None else _rows(changes, "changes"))
        framed = "" if basis is None else ", in a basis"
        object.__setattr__(self, "name", f"{KNorm.name}, {body.name}{framed}")
        if self.rate < _LEAST_RATE:
            raise NumberTooLarge(
                "epsilon/sensitivity must be at least 10^-6",
                given=f"about {double_of(self.rate):.3g}",
                fix="measure in a coarser unit",
            )
        if self.basis is not None:
            _check_basis(self.basis, body)

    @cached_property
    def rate(self) -> Exact:
        """The rate epsilon/sensitivity, for each step."""
        return self.epsilon / self.sensitivity

    @property
    def dimension(self) -> int:
        """How many answers there are."""
        return self.body.dimension if self.basis is None else len(self.basis)

    @property
    def event(self) -> Pure:
        """A pure event."""
        return Pure(self.epsilon)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """An array of whole numbers, one per answer; with `size` an array of such rows."""
        true, shape = read_whole_vector(truth, self.dimension), shape_of(size)
        noise = self.body.draw(self.rate, prod(shape), source)
        if self.basis is not None:
            noise = wide_enough(noise, max(sum(map(abs, row)) for row in self.basis))
            noise = noise @ np.array(self.basis, dtype=noise.dtype).T
        return add_noise(true, noise.reshape((*shape, self.dimension)))

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth) for a tuple of whole numbers; exact where e^rate is rational and the body has corners."""
        true, drawn = read_whole_vector(truth, self.dimension), read_whole_vector(output, self.dimension)
        place = self._coordinates([int(y) - int(x) for y, x in zip(drawn, true, strict=True)])
        if place is None:
            return Enclosure(Fraction(0), Fraction(0))
        steps = int(self.body.steps(np.array([place], dtype=object))[0])
        weight, total = exp_enclosure(-self.rate * steps, bits), self.body.total(self.rate, bits)
        return Enclosure(weight.lower / total.upper, weight.upper / total.lower)

    def expected_error(self) -> Enclosure:
        """E Σ|y_i − x_i|, the same for every truth."""
        return self._expected_error

    @cached_property
    def _expected_error(self) -> Enclosure:
        if self.basis is None:
            return self.body.mean_absolute(self.rate)
        body = _framed(self.body)
        return total_of([body.mean_absolute_along(row, self.rate) for row in self.basis])

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """The expected ℓ₁ error, and a bound that it keeps with a probability of at least `level`."""
        longest = self.body.largest_sum
        if self.basis is not None:
            corners = np.array(_framed(self.body).corners, dtype=object)
            longest = int(np.abs(corners @ np.array(self.basis, dtype=object).T).sum(axis=1).max())
        steps = self.body.quantile(level, self.rate)
        return ErrorEstimate("l1", self.expected_error(), {level: Fraction(longest * steps)})

    def reason(self) -> Reason:
        """Noise no wider in any direction than one record's change; what its corners force on every mechanism."""
        return Reason(
            "each wrong answer gets the least weight that its distance in steps allows; how many answers are within "
            "reach of some records forces an error on every mechanism",
            "Hardt and Talwar, STOC 2010, Theorems 4.3 and 3.4; Tóthmérész 2013, Definition 2.4 and Theorem 4.1",
            self._lower_bound(),
        )

    def certificate(self) -> Certificate:
        """Two neighbouring answers, the outputs on the line through them, and all others merged.

        Raises:
            BadParameter: The law is irrational.
        """
        step = (
            _framed(self.body).corners[0] if isinstance(self.body, FramedBody) else (1,) + (0,) * (self.dimension - 1)
        )
        steps = [int(s) for s in self.body.steps(np.array([[k * v for v in step] for k in range(4)], dtype=object))]
        total = self.body.total(self.rate)
        weights = [exp_enclosure(-self.rate * s) for s in steps]
        if not total.is_exact or not all(weight.is_exact for weight in weights):
            raise BadParameter(
                f"the law of the {self.name} is irrational here, so no exact channel can be certified",
                fix='choose an epsilon with rational e^(epsilon/sensitivity), such as "ln(3)", and a body with corners',
            )
        rows = [[weights[abs(y - x)].lower / total.lower for y in range(-1, 4)] for x in (0, 1)]
        full = [[*row, 1 - sum(row)] for row in rows]
        outputs = [*range(-1, 4), "elsewhere"]
        return PrivacyCertificate(path(2), Privacy(self.epsilon), Channel(full, outputs=outputs))

    def _lower_bound(self) -> Enclosure | None:
        """The packing bound, where every lattice point is known to be as many records away as it is steps."""
        if self.changes is not None:
            return changes_bound(self.changes, self.epsilon)
        if self.sensitivity != 1 or not isinstance(self.body, CrossPolytope | CountingBody):
            return None
        return lattice_packing_bound(self.dimension, self.body.total(self.epsilon))

    def _coordinates(self, difference: list[int]) -> list[int] | None:
        """The lattice point z with basis·z = difference; None if there is none."""
        if self.basis is None:
            return difference
        solved = RationalMatrix(self.basis).solve(RationalMatrix([[entry] for entry in difference]))
        if solved is None or any(row[0].denominator != 1 for row in solved.rows):
            return None
        return [int(row[0]) for row in solved.rows]


def _rows(rows: Any, name: str) -> tuple[tuple[int, ...], ...]:
    if not isinstance(rows, list | tuple) or not all(isinstance(row, list | tuple) for row in rows):
        raise BadParameter(f"{name} must be rows of whole numbers", given=type(rows).__name__, fix="leave it out")
    return tuple(map(tuple, rows))


def _check_basis(basis: Basis, body: Body) -> None:
    _framed(body)
    fits = all(len(row) == body.dimension and all(type(entry) is int for entry in row) for row in basis)
    if not basis or not fits or RationalMatrix(basis).rank() != body.dimension:
        raise BadParameter(
            f"basis must have rows of {body.dimension} whole numbers and independent columns",
            given=basis,
            fix="leave it out for answers on the plain lattice",
        )


def _framed(body: Body) -> FramedBody:
    if not isinstance(body, FramedBody):
        raise BadParameter(
            "a basis needs a body that is known in every basis", given=body.name, fix="use CrossPolytope or Polytope"
        )
    return body

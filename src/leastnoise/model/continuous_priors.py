"""Priors on an interval: what a reader believes about a real answer, as a distribution function.

The N-approximation π_N of Fernandes, McIver and Morgan (LICS 2021, section VI-B) gathers each of N equal pieces of the
interval at its left end, so that the last point, the right end of the interval, has probability zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

from leastnoise.errors import BadPrior
from leastnoise.exact import NumberLike, read_integer, read_rational
from leastnoise.model.priors import Prior

__all__ = ["ContinuousPrior"]

_MOST_STEPS = 1 << 20


@dataclass(frozen=True, init=False)
class ContinuousPrior:
    """A distribution on [low, high] without atoms.

    Args:
        cdf: F, called with a `Fraction`; what it gives counts as exactly the number it is. Where F(low) is not 0 or
            F(high) not 1, the prior is F within the interval: (F(x) − F(low))/(F(high) − F(low)).
        low: The least answer.
        high: The largest one.

    Raises:
        BadPrior: F falls somewhere it was asked, or is the same at both ends.

    >>> rising = ContinuousPrior(lambda x: x * x)
    >>> list(rising.approximation(2).items())
    [(Fraction(0, 1), Fraction(1, 4)), (Fraction(1, 2), Fraction(3, 4)), (Fraction(1, 1), Fraction(0, 1))]
    """

    cdf: Callable[[Fraction], Any]
    low: Fraction
    high: Fraction

    def __init__(self, cdf: Callable[[Fraction], Any], low: NumberLike = 0, high: NumberLike = 1) -> None:
        if not callable(cdf):
            raise BadPrior("cdf must be a function", given=type(cdf).__name__, fix="pass for example lambda x: x")
        object.__setattr__(self, "cdf", cdf)
        object.__setattr__(self, "low", read_rational(low, "low"))
        object.__setattr__(self, "high", read_rational(high, "high"))
        if self.low >= self.high:
            raise BadPrior("low must be below high", given=f"{self.low}, {self.high}", fix="a known answer needs none")

    @classmethod
    def from_density(
        cls, coefficients: Sequence[NumberLike], low: NumberLike = 0, high: NumberLike = 1
    ) -> ContinuousPrior:
        """The prior whose density is in proportion to c₀ + c₁x + c₂x² + …, which must not be negative between the ends.

        >>> ContinuousPrior.from_density([0, 1, -1]).approximation(2)[Fraction(1, 2)]
        Fraction(1, 2)
        """
        exact = [read_rational(c, f"coefficients[{i}]") / (i + 1) for i, c in enumerate(coefficients)]

        def integral(x: Fraction) -> Fraction:
            return sum((c * x ** (i + 1) for i, c in enumerate(exact)), start=Fraction(0))

        return cls(integral, low, high)

    @classmethod
    def from_histogram(cls, edges: Sequence[NumberLike], masses: Sequence[NumberLike]) -> ContinuousPrior:
        """The prior with these masses between the edges, even within each bin; masses are divided by their sum.

        >>> ContinuousPrior.from_histogram([0, 1, 4], [1, 3]).approximation(4)[1]
        Fraction(1, 4)
        """
        ends = [read_rational(edge, f"edges[{i}]") for i, edge in enumerate(edges)]
        read = [read_rational(mass, f"masses[{i}]", at_least=0) for i, mass in enumerate(masses)]
        if len(ends) != len(read) + 1 or any(a >= b for a, b in pairwise(ends)):
            raise BadPrior(
                "a histogram has rising edges, one more than masses",
                given=f"{len(ends)} edges, {len(read)} masses",
                fix="pass for example edges=[0, 10, 100], masses=[0.7, 0.3]",
            )
        sums = list(accumulate(read, initial=Fraction(0)))

        def integral(x: Fraction) -> Fraction:
            bins = zip(pairwise(ends), read, sums[:-1], strict=True)
            found = next(((a, b, mass, before) for (a, b), mass, before in bins if x <= b), None)
            if found is None:
                return sums[-1]
            a, b, mass, before = found
            return before + mass * max(x - a, Fraction(0)) / (b - a)

        return cls(integral, ends[0], ends[-1])

    def approximation(self, steps: NumberLike) -> Prior:
        """π_N: the masses of N equal pieces, each at its left end; the right end of the interval has none."""
        count = read_integer(steps, "steps", at_least=1, at_most=_MOST_STEPS)
        points = [self.low + (self.high - self.low) * k / count for k in range(count + 1)]
        values = [_exact(self.cdf(point)) for point in points]
        if values[0] >= values[-1] or any(a > b for a, b in pairwise(values)):
            raise BadPrior("a distribution function rises and never falls", fix="check the cdf, or the density's signs")
        total = values[-1] - values[0]
        masses = [(b - a) / total for a, b in pairwise(values)]
        return Prior(dict(zip(points, [*masses, Fraction(0)], strict=True)))


def _exact(value: Any) -> Fraction:
    return Fraction(float(value)) if isinstance(value, float) else read_rational(value, "a value of the cdf")

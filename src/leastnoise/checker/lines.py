"""One pair of inputs and one set of outputs: a line P(S|x) − t·P(S|x') in the factor t."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from leastnoise.checker.factors import Factor
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import Exact

__all__ = ["Line"]


@dataclass(frozen=True)
class Line:
    """P(S|x) − t·P(S|x') as a function of t, for rows x and x' at distance `length`."""

    x: int
    neighbour: int
    length: Fraction
    outputs: tuple[int, ...]
    probability: Fraction
    neighbour_probability: Fraction

    def is_above(self, other: Line, factor: Factor) -> bool:
        """Whether A − t·B > A' − t·B', that is A − A' > t·(B − B')."""
        rise = self.probability - other.probability
        run = self.neighbour_probability - other.neighbour_probability
        return factor.compare(rise / run) < 0 if run < 0 else factor.is_exceeded(rise, run)

    def exceeds(self, delta: Fraction, epsilon: Exact) -> bool:
        """Whether P(S|x) > e^(ε·length)·P(S|x') + δ."""
        return Factor(epsilon * self.length).is_exceeded(self.probability - delta, self.neighbour_probability)

    def excess(self, delta: Fraction, epsilon: Exact) -> Fraction | Enclosure:
        """P(S|x) − e^(ε·length)·P(S|x') − δ."""
        return Factor(epsilon * self.length).excess(self.probability - delta, self.neighbour_probability)

    def root(self, delta: Fraction) -> Fraction | None:
        """The t at which the line is at δ; None where it is level."""
        return (self.probability - delta) / self.neighbour_probability if self.neighbour_probability else None

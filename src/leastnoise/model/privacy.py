"""A privacy promise (ε, δ) as an exact value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike, read_exact, read_rational

__all__ = ["Privacy"]


@dataclass(frozen=True, init=False)
class Privacy:
    """P(M(x) ∈ S) ≤ e^ε·P(M(x') ∈ S) + δ for neighbours x, x' and every set S of outputs.

    Args:
        epsilon: Zero or more, read exactly: 0.1 is one tenth, "ln(3)" is the number ln 3.
        delta: From zero up to, not including, one (δ = 1 would promise nothing).

    Raises:
        BadParameter: Not a number, or out of range.

    >>> Privacy("ln(3)"), Privacy(0.5, "1e-6").delta
    (Privacy(epsilon=ln(3), delta=0), Fraction(1, 1000000))
    """

    epsilon: Exact
    delta: Fraction

    def __init__(self, epsilon: NumberLike, delta: NumberLike = 0) -> None:
        object.__setattr__(self, "epsilon", read_exact(epsilon, "epsilon", at_least=0))
        object.__setattr__(self, "delta", read_rational(delta, "delta", at_least=0, below=1))

    @property
    def is_pure(self) -> bool:
        """Whether δ = 0."""
        return self.delta == 0

    def __repr__(self) -> str:
        """The two numbers, exactly."""
        return f"Privacy(epsilon={self.epsilon}, delta={self.delta})"

    def __str__(self) -> str:
        """The promise as the literature writes it."""
        return f"ε = {self.epsilon}" if self.is_pure else f"(ε, δ) = ({self.epsilon}, {self.delta})"

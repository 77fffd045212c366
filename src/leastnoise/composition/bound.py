"""What an accountant answers: an ε that is never too small, the δ it holds at, and the theorem that says so."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from leastnoise.composition.exact_sums import rational_above
from leastnoise.exact.numbers import Exact
from leastnoise.model.privacy import Privacy

__all__ = ["Bound"]


@dataclass(frozen=True)
class Bound:
    """One valid answer to "how much was spent".

    Args:
        name: The composition theorem, in words.
        epsilon: At least the true ε; exact where the theorem is.
        delta: The δ at which it holds.
        citation: Where the theorem is.
        below: What no accountant can go under for these events, where that is known.
    """

    name: str
    epsilon: Exact
    delta: Fraction
    citation: str
    below: Fraction | None = None

    @property
    def privacy(self) -> Privacy:
        """The promise that holds."""
        return Privacy(self.epsilon, self.delta)

    def __str__(self) -> str:
        """The numbers to seven digits, ε rounded up, and the theorem."""
        shown = -(-rational_above(self.epsilon) * 10**6 // 1) / Fraction(10**6)
        return f"ε ≤ {float(shown):.7g} at δ = {float(self.delta):.3g} by {self.name}"

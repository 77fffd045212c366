"""What an accountant answers: an ε that is never too small, the δ it holds at, and the theorem that says so.

The two simplest accountants are here too. Basic composition: (ε₁, δ₁), …, (ε_k, δ_k) together are (Σ ε, Σ δ), whatever
was asked and however it was chosen (C-L2, Theorem 7; Dwork and Roth 2014, Theorem 3.16). Exact, and for δ = 0 the best
there is. Gaussian composition: μ₁, …, μ_k together are √Σ μ² (Dong, Roth and Su 2022, Corollary 3.3), in (ε, δ) as in
`gaussian`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from leastnoise.composition.gaussian import SPARE, epsilon_of
from leastnoise.composition.normal_form import Parts
from leastnoise.exact import Exact, NumberLike, rational_above, read_integer
from leastnoise.model import Privacy

__all__ = ["Bound", "basic_bound", "basic_per_query", "gaussian_bound"]

NAME = "basic composition"
CITATION = "Dwork and Roth 2014, Theorem 3.16"


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


def basic_bound(parts: Parts, delta: Fraction) -> Bound | None:
    """Σ ε at Σ δ, or None where an event has no finite ε or the δ do not fit."""
    if parts.epsilon is None or parts.delta > delta:
        return None
    return Bound(NAME, parts.epsilon, parts.delta, CITATION)


def gaussian_bound(parts: Parts, delta: Fraction) -> Bound | None:
    """ε from Σ μ²; None where an event is not Gaussian-private or no δ is left. Exact for Gaussian events alone."""
    slack = parts.slack(delta)
    if slack <= 0 or not parts.atoms or parts.mu_squared is None:
        return None
    epsilon = epsilon_of(parts.mu_squared, slack)
    below = epsilon / SPARE if parts.is_gaussian and not parts.deltas else None
    return Bound("Gaussian composition", epsilon, delta, "Dong, Roth and Su 2022, Corollaries 2.13 and 3.3", below)


def basic_per_query(total: Privacy, queries: NumberLike) -> Privacy:
    """What each of `queries` equal queries may cost if all together may cost `total`.

    >>> basic_per_query(Privacy(1, "1e-6"), 10)
    Privacy(epsilon=1/10, delta=1/10000000)
    """
    count = read_integer(queries, "queries", at_least=1)
    return Privacy(total.epsilon / count, total.delta / count)

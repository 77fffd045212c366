"""Basic composition: what is spent adds up.

(ε₁, δ₁), …, (ε_k, δ_k) together are (Σ ε, Σ δ), whatever was asked and however it was chosen (C-L2, Theorem 7; Dwork
and Roth 2014, Theorem 3.16). Exact, and for δ = 0 the best there is.
"""

from __future__ import annotations

from fractions import Fraction

from leastnoise.composition.bound import Bound
from leastnoise.composition.normal_form import Parts
from leastnoise.exact.parameters import NumberLike, read_integer
from leastnoise.model.privacy import Privacy

__all__ = ["basic_bound", "basic_per_query"]

NAME = "basic composition"
CITATION = "Dwork and Roth 2014, Theorem 3.16"


def basic_bound(parts: Parts, delta: Fraction) -> Bound | None:
    """Σ ε at Σ δ, or None where an event has no finite ε or the δ do not fit."""
    if parts.epsilon is None or parts.delta > delta:
        return None
    return Bound(NAME, parts.epsilon, parts.delta, CITATION)


def basic_per_query(total: Privacy, queries: NumberLike) -> Privacy:
    """What each of `queries` equal queries may cost if all together may cost `total`.

    >>> basic_per_query(Privacy(1, "1e-6"), 10)
    Privacy(epsilon=1/10, delta=1/10000000)
    """
    count = read_integer(queries, "queries", at_least=1)
    return Privacy(total.epsilon / count, total.delta / count)

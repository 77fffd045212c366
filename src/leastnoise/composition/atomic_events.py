"""Atoms: events that composition does not take apart any further, and the three numbers of an atom.

ε (or none), μ² of Gaussian privacy (or none), and ρ, the least known constant of zero-concentrated privacy. For pure ε
that is ε·tanh(ε/2): the Rényi divergence of randomized response is ln(cosh((α − ½)ε)/cosh(ε/2))/(α − 1), and
ln cosh(√s·ε) is concave in s = (α − ½)², hence below its tangent at s = ¼, which is the line
(s − ¼)·ε·tanh(ε/2) = α(α − 1)·ε·tanh(ε/2). It is below the familiar ε²/2, and the limit α → 1 shows that nothing
smaller holds. For a bounded range it is ε²/8 (Cesar and Rogers 2021) where that is less.

μ of a bounded range ε is that of a pure ε/2. Losses within [t − ε, t] tell at most what two outcomes with just these
two losses tell, of chances p and q with logit p − logit q = ε. Their trade-off curve has one corner, at which
μ = h(x + ε) − h(x) with h = Φ⁻¹ ∘ logistic and x = logit q. h is odd, and concave to the right of zero (van Zwet 1964:
the normal precedes the logistic law in the order of symmetric laws), so the difference is largest at x = −ε/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from leastnoise.composition.gaussian import mu_squared_of_pure
from leastnoise.exact.enclosures import enclose
from leastnoise.exact.numbers import Exact, ball_of
from leastnoise.exact.sums import rational_above, round_up
from leastnoise.model.events import BoundedRange, Concentrated, GaussianPrivacy, Pure

__all__ = ["Atom", "Worst", "epsilon_of", "mu_squared_of", "rho_of"]

_RHO_BITS = 80  # ρ is rounded up to a multiple of 2^-80, so that running totals stay short


@dataclass(frozen=True)
class Worst:
    """The worst of several disjoint parts, or what else is known by no more than three numbers.

    Args:
        epsilon: The pure ε, or None where there is no finite one.
        rho: The ρ.
        mu_squared: The μ², or None where no Gaussian privacy is known.
    """

    epsilon: Exact | None
    rho: Fraction
    mu_squared: Fraction | None = None


Atom: TypeAlias = Pure | Concentrated | Worst


def epsilon_of(atom: Atom) -> Exact | None:
    """The pure ε of an atom, or None.

    >>> epsilon_of(Pure("ln(3)")), epsilon_of(Concentrated("1/8"))
    (ln(3), None)
    """
    return None if isinstance(atom, Concentrated) else atom.epsilon


@lru_cache(maxsize=4096)
def rho_of(atom: Atom) -> Fraction:
    """A ρ for which the atom is ρ-zCDP.

    >>> float(rho_of(Pure(1))), rho_of(BoundedRange(1)), rho_of(Concentrated("1/3"))
    (0.46211715726000974, Fraction(1, 8), Fraction(1, 3))
    """
    if isinstance(atom, Concentrated | Worst):
        return atom.rho
    epsilon = atom.epsilon
    rho = round_up(enclose(lambda: ball_of(epsilon) * (ball_of(epsilon) / 2).tanh()).upper, _RHO_BITS)
    return min(rho, rational_above(epsilon) ** 2 / 8) if isinstance(atom, BoundedRange) else rho


def mu_squared_of(atom: Atom) -> Fraction | None:
    """A μ² for which the atom is μ-Gaussian-private, or None where none is known.

    >>> mu_squared_of(GaussianPrivacy("1/25")), mu_squared_of(Concentrated("1/50"))
    (Fraction(1, 25), None)
    >>> mu_squared_of(BoundedRange(1)) == mu_squared_of(Pure("1/2"))
    True
    """
    if isinstance(atom, Concentrated):
        return atom.mu_squared if isinstance(atom, GaussianPrivacy) else None
    if isinstance(atom, Worst):
        return atom.mu_squared
    return mu_squared_of_pure(atom.epsilon / 2 if isinstance(atom, BoundedRange) else atom.epsilon)

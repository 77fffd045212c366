"""Rényi privacy: at every order α the divergences of the queries add up.

The divergence of a query is (1/(α − 1))·ln E_P[e^((α−1)·loss)] over its loss law (Mironov 2017, Proposition 1), or αρ,
whichever is less. The sum becomes ε by the conversion in `concentrated`. A law that tells more has the larger
divergence, so laws above keep the answer safe.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from leastnoise.composition.bound import Bound
from leastnoise.composition.concentrated import conversion, conversion_guess, good_order
from leastnoise.composition.loss_distribution import LossDistribution
from leastnoise.composition.loss_laws import law_above
from leastnoise.composition.normal_form import Atom, Parts, rho_of
from leastnoise.exact import Ball, ball_of, enclose, of_fraction
from leastnoise.model import Concentrated

__all__ = ["renyi_bound"]

NAME = "Rényi composition"
CITATION = "Mironov 2017, Proposition 1; Canonne, Kamath and Steinke 2020, Proposition 12"
_MOST_GROUPS = 64
_MASS_BITS = 128


@dataclass(frozen=True)
class _Query:
    """One distinct atom: how often, its ρ, and its loss law with the doubles for the search."""

    count: int
    rho: Fraction
    law: LossDistribution | None
    losses: NDArray[np.float64]
    masses: NDArray[np.float64]

    def guess(self, alpha: float) -> float:
        return self.count * min(alpha * float(self.rho), self._law_guess(alpha))

    def divergence(self, order: Fraction) -> Ball:
        """The divergence of all copies at the current working precision."""
        if self.law is None or order * self.rho <= self._law_guess(float(order)):
            return of_fraction(self.count * order * self.rho)
        rate = of_fraction(order - 1)
        term = (rate * ball_of(self.law.top)).exp() / (1 << self.law.bits)
        shrink = (-rate * ball_of(self.law.step)).exp()
        moment = of_fraction(0)
        for mass in self.law.masses:
            moment, term = moment + mass * term, term * shrink
        return self.count * moment.log() / rate

    def _law_guess(self, alpha: float) -> float:
        if self.law is None:
            return math.inf
        exponents = (alpha - 1) * self.losses
        peak = float(exponents.max())
        return (peak + math.log(float((self.masses * np.exp(exponents - peak)).sum()))) / (alpha - 1)


def renyi_bound(parts: Parts, delta: Fraction) -> Bound | None:
    """ε from the sum of the divergences at a good order; None for very many distinct queries or where no δ is left."""
    slack = parts.slack(delta)
    if slack <= 0 or not 0 < len(parts.atoms) <= _MOST_GROUPS:
        return None
    queries = [_query(atom, count) for atom, count in parts.atoms]
    order = good_order(lambda alpha: sum(query.guess(alpha) for query in queries) + conversion_guess(alpha, slack))

    def total() -> Ball:
        return sum((query.divergence(order) for query in queries), start=conversion(order, slack))

    return Bound(NAME, max(enclose(total).upper, Fraction(0)), delta, CITATION)


def _query(atom: Atom, count: int) -> _Query:
    law = None if isinstance(atom, Concentrated) else law_above(atom, _MASS_BITS, tail=0)
    if law is None:
        return _Query(count, rho_of(atom), None, np.empty(0), np.empty(0))
    losses = float(law.top) - float(law.step) * np.arange(len(law.masses), dtype=np.float64)
    return _Query(count, rho_of(atom), law, losses, np.array([mass / 2.0**law.bits for mass in law.masses]))

"""What no ε-private mechanism can beat for a linear map: the packing bound, as a number.

Hardt and Talwar (STOC 2010, Theorem 3.4) and Tóthmérész (2013, Theorem 4.1) state it up to a constant. Here it is with
the constant. Averaging a mechanism over all databases makes its noise ν the same for all of them, so
ν(S + v) ≥ e^(−ε·d(v))·ν(S) for every set S and every v that d(v) records can add to an answer. Adding this up over all
v bounds ν(S) from above, and a measure that puts little on every ball around zero has a large mean norm.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact.balls import Ball as Interval
from leastnoise.exact.balls import of_fraction
from leastnoise.exact.enclosures import Enclosure, enclose
from leastnoise.exact.formulas import least_whole
from leastnoise.exact.numbers import Exact, ball_of
from leastnoise.mechanisms.vector.lattices import Column, coordinates, lattice_basis
from leastnoise.mechanisms.vector.norms import CrossPolytope
from leastnoise.mechanisms.vector.polytope import Polytope

__all__ = ["MOST_COLUMNS", "changes_bound", "lattice_packing_bound", "packing_bound"]

_MOST_ANSWERS = 512  # for which the bound is computed
MOST_COLUMNS = {2: 500, 3: 200, 4: 60, 5: 40, 6: 24, 7: 16, 8: 13}  # for which a hull is found in seconds, by rank


def packing_bound(dimension: int, volume: Fraction, epsilon: Exact, loss: str = "l2") -> Enclosure:
    """d/(d+1)·(d!/ε^d·Vol K/Vol B)^(1/d) for real databases, where d(v) = ‖v‖_K may be any real number.

    The density of ν is at most f = ε^d/(d!·Vol K), the reciprocal of ∫e^(−ε‖v‖_K)dv. The mean norm is least for density
    f on the ball ρB with f·ρ^d·Vol B = 1, and there it is ρ·d/(d+1).

    Args:
        dimension: d.
        volume: Of K.
        epsilon: The privacy.
        loss: The norm in which the error is measured: "l1", "l2" or "l∞"; B is its unit ball.

    >>> packing_bound(1, Fraction(2), Fraction(1), "l1")
    Enclosure(≈ 0.5)
    """
    unit, d = _log_unit_ball(dimension, loss), dimension

    def formula() -> Interval:
        density = of_fraction(d + 1).lgamma() - d * ball_of(epsilon).log() + of_fraction(volume).log()
        bound: Interval = of_fraction(Fraction(d, d + 1)) * ((density - unit()) / d).exp()
        return bound

    return enclose(formula)


def lattice_packing_bound(dimension: int, total: Enclosure) -> Enclosure:
    """The bound for whole answers and the ℓ₁ error, where d(v) is a whole number of records: S − Σ_{s<S} L(s)/Z.

    Z = Σ_v e^(−ε·d(v)) over the differences v of answers, L(s) the number of whole vectors with Σ|y_i| ≤ s, and S the
    least number with L(S) ≥ Z. Rounding each coordinate of a real output at random, up or down without bias, keeps the
    mean of |y_i − x_i| for whole x_i, so ν may be taken to live on whole vectors. No point has more than 1/Z, and the
    mean norm is least if the points nearest to zero all have that much.

    Args:
        dimension: How many answers there are.
        total: Z.

    >>> lattice_packing_bound(1, Enclosure(Fraction(2), Fraction(2)))  # ε = ln 3: the geometric mechanism has 3/4
    Enclosure(1/2)
    """
    ball = CrossPolytope(dimension)

    def least_mean(mass: Fraction) -> Fraction:  # it grows with the mass
        radius = least_whole(lambda s: ball.points_within(s) >= mass)
        last = min(dimension, radius)
        within: int = sum(comb(dimension, k) * comb(radius, k + 1) * 2**k for k in range(last + 1))  # Σ_{s<S} L(s)
        return radius - within / mass

    return Enclosure(least_mean(total.lower), least_mean(total.upper))


@lru_cache(maxsize=64)
def changes_bound(changes: tuple[Column, ...], epsilon: Exact) -> Enclosure | None:
    """`lattice_packing_bound` for whole histograms x and F·x, where one record changes F·x by a column of F.

    Z = Σ_v e^(−ε·d(v)) over v in F·Z^n, d(v) the least number of columns, with signs, that add up to v. A smaller Z
    gives a smaller bound, so what is left out of the sum does no harm. With independent columns v has one such sum, and
    Z = ((1 + α)/(1 − α))^n. Otherwise that holds of any independent columns among them, and of the cone over each
    simplex of the boundary of conv(±columns): the larger of the two sums is taken.

    Args:
        changes: The columns of F, one of each opposite pair; all of one length, not zero.
        epsilon: The privacy.

    >>> from leastnoise.exact import ln
    >>> changes_bound(((1, 1),), ln(3)), changes_bound(((1, 0), (0, 1)), ln(3))
    (Enclosure(1/2), Enclosure(3/4))
    """
    answers = len(changes[0])
    if answers > _MOST_ANSWERS:
        return None
    basis = lattice_basis(changes)
    totals = [CrossPolytope(len(basis)).total(epsilon)]
    if len(basis) < len(changes) <= MOST_COLUMNS.get(len(basis), 0):
        with suppress(TooLarge, BadParameter):  # the other sum is a bound by itself
            totals.append(Polytope(tuple(coordinates(changes, basis))).sum_over_corners(epsilon))
    return lattice_packing_bound(answers, max(totals, key=lambda total: total.lower))


def _log_unit_ball(d: int, loss: str) -> Callable[[], Any]:
    """The logarithm of the volume of the unit ball of a norm."""

    def log_of(number: int) -> Any:
        return of_fraction(number).log()

    formulas: dict[str, Callable[[], Any]] = {
        "l1": lambda: d * log_of(2) - of_fraction(d + 1).lgamma(),
        "l2": lambda: (4 * of_fraction(1).atan()).log() * d / 2 - of_fraction(Fraction(d, 2) + 1).lgamma(),
        "l∞": lambda: d * log_of(2),
    }
    if loss not in formulas:
        raise BadParameter("the loss is unknown", given=loss, fix='pass "l1", "l2" or "l∞"')
    return formulas[loss]
